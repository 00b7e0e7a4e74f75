#![allow(unsafe_code, reason = "launching a kernel is foreign code")]
//! Rungs through OpenCL.

use super::device::Backend;
use super::queue::{Constants, Launch, Limits, Queue, Spent};
use super::source::{Dialect, Source};
use bitonic::Error;
use bitonic::opencl::{Argument, Buffer, Device, DeviceChoice, Event, Kernel, Transfer, event_time, span};
use std::time::Duration;

impl Backend for Device {
    type Buffer = Buffer;

    fn open(choice: &DeviceChoice) -> Result<Self, Error> {
        Device::open(choice)
    }

    fn allocate(&self, bytes: usize) -> Result<Buffer, Error> {
        Device::allocate(self, bytes)
    }

    fn bytes(buffer: &Buffer) -> usize {
        buffer.bytes()
    }

    fn upload(&self, from: &[u8], to: &Buffer) -> Result<Transfer, Error> {
        Device::upload(self, from, to)
    }

    fn download(&self, from: &Buffer, to: &mut [u8]) -> Result<Transfer, Error> {
        Device::download(self, from, to)
    }

    fn queue<'a>(&'a self, keys: &'a Buffer) -> Box<dyn Queue + 'a> {
        Box::new(OpenClQueue {
            device: self,
            keys,
            kernels: Vec::new(),
            in_flight: Vec::new(),
            first: None,
            last: None,
        })
    }
}

/// How many launches wait for the device at most. A driver may keep all that it needs of a launch in memory, and odd-even
/// sorts have millions of launches. So many take milliseconds at least, which a wait of microseconds does not change.
const MOST_IN_FLIGHT: usize = 4096;

/// The queue of a device. It takes the time of every single launch.
struct OpenClQueue<'a> {
    device: &'a Device,
    keys: &'a Buffer,
    /// What each kernel took so far stands beside it.
    kernels: Vec<(Kernel, Duration)>,
    /// Launches that were not waited for: the kernel's number, and what tells its time.
    in_flight: Vec<(usize, Event)>,
    first: Option<Event>,
    last: Option<Event>,
}

impl Queue for OpenClQueue<'_> {
    fn limits(&self) -> Limits {
        let info = self.device.info();
        Limits {
            max_group_size: info.max_group_size,
            local_bytes: info.local_bytes,
            compute_units: info.compute_units,
        }
    }

    fn build(&mut self, name: &str, source: &Source, constants: Constants) -> Result<usize, Error> {
        let text = source.in_dialect(Dialect::OpenCl);
        let kernel = self.device.program(source.file, &text, &constants.options())?.kernel(name)?;
        let max_group_size = kernel.max_group_size();
        self.kernels.push((kernel, Duration::ZERO));
        Ok(max_group_size)
    }

    unsafe fn launch(&mut self, launch: Launch<'_>) -> Result<(), Error> {
        let arguments = launch.arguments(Argument::Buffer(self.keys), Argument::U32, Argument::U64);
        let Launch { kernel, groups, group_size, .. } = launch;
        let (built, _) = &mut self.kernels[kernel];
        // SAFETY: the caller vouches for the numbers and for what the kernel does with them. The driver keeps a buffer until
        // no launch uses it any more.
        let event = unsafe { built.launch(self.device.queue(), groups, group_size, &arguments) }?;
        self.in_flight.push((kernel, event));
        if self.in_flight.len() >= MOST_IN_FLIGHT {
            self.wait()?;
        }
        Ok(())
    }

    fn wait(&mut self) -> Result<(), Error> {
        self.device.finish()?;
        for (kernel, event) in self.in_flight.drain(..) {
            self.kernels[kernel].1 += event_time(&event)?;
            match self.first {
                None => self.first = Some(event),
                Some(_) => self.last = Some(event),
            }
        }
        Ok(())
    }

    fn spent(&self) -> Result<Spent, Error> {
        let span = match &self.first {
            Some(first) => span(first, self.last.as_ref().unwrap_or(first))?,
            None => Duration::ZERO,
        };
        Ok(Spent { span, each: self.kernels.iter().map(|(_, time)| *time).collect() })
    }
}
