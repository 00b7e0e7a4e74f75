//! Runs the launches of a job on a queue, over arrays that are on the device already.

use super::buffer::Buffer;
use super::device::Device;
use super::kernel::{Argument, IdleKernel, Kernel};
use super::program::Program;
use super::timing::span;
use crate::gpu::backend::{Backend, Kernels, Transfer};
use crate::gpu::choice::DeviceKind;
use crate::gpu::chunking::DeviceMemory;
use crate::gpu::landing::Landing;
use crate::gpu::launches::{Job, Launch, Parameter};
use crate::gpu::lock::lock;
use crate::gpu::shape::{DeviceLimits, Shape};
use crate::gpu::source::{Dialect, Variant};
use crate::gpu::tuning::Tuning;
use crate::{Engine, Error};
use opencl3::command_queue::CommandQueue;
use opencl3::event::Event;
use opencl3::types::cl_mem;
use std::collections::HashMap;
use std::ptr;
use std::sync::Mutex;
use std::time::Duration;

/// The arrays of a job: keys, values where its layout has them, and memory to work in where its shape needs it.
#[derive(Clone, Copy)]
pub(super) struct Arrays {
    keys: cl_mem,
    values: Option<cl_mem>,
    work: [Option<cl_mem>; 3],
}

impl Arrays {
    /// Of handles, which must be valid and large enough for the job, in place.
    pub(super) fn of_handles(keys: cl_mem, values: Option<cl_mem>) -> Self {
        Self { keys, values, work: [None; 3] }
    }

    /// What a kernel is given for a parameter; `None` for an array that there is not.
    fn argument(&self, parameter: Parameter, wide_index: bool) -> Option<Argument<'static>> {
        let [work_keys, work_values, control] = self.work;
        let memory = match parameter {
            Parameter::Keys => Some(self.keys),
            Parameter::Values => self.values,
            Parameter::WorkKeys => work_keys,
            Parameter::WorkValues => work_values,
            Parameter::Control => control,
            Parameter::Place(number) if wide_index => return Some(Argument::U64(number as u64)),
            Parameter::Place(number) => return Some(Argument::U32(number as u32)),
            Parameter::Number(number) => return Some(Argument::U32(number)),
        };
        memory.map(Argument::Memory)
    }
}

/// Memory to work in, given back afterwards: for keys, for values and to keep account in.
struct Work<'a> {
    device: &'a Device,
    buffers: [Option<Buffer>; 3],
}

impl<'a> Work<'a> {
    fn new(device: &'a Device, job: &Job, shape: Shape) -> Result<Self, Error> {
        let mut work = Self { device, buffers: [const { None }; 3] };
        let elements = job.work_elements(shape);
        let (keys, values) = (elements * job.layout.key_bytes(), elements * job.layout.value_bytes());
        let control = job.work_bytes(shape) - job.control_offset(shape);
        for (buffer, bytes) in work.buffers.iter_mut().zip([keys, values, control]) {
            *buffer = if bytes > 0 { Some(device.take_buffer(bytes)?) } else { None };
        }
        Ok(work)
    }

    fn handles(&self) -> [Option<cl_mem>; 3] {
        self.buffers.each_ref().map(|buffer| buffer.as_ref().map(Buffer::memory))
    }
}

impl Drop for Work<'_> {
    fn drop(&mut self) {
        for buffer in self.buffers.iter_mut().filter_map(Option::take) {
            self.device.give_buffer(buffer);
        }
    }
}

/// What a job left in the queue.
pub(super) struct Queued {
    /// The first and the last kernel.
    pub(super) events: Option<(Event, Event)>,
    /// How many kernels there are.
    pub(super) launches: usize,
    /// How many of them read and write all of the data.
    pub(super) passes: usize,
}

impl Backend for Device {
    type Buffer = Buffer;

    const ENGINE: Engine = Engine::OpenCl;

    fn name(&self) -> &str {
        &self.info().name
    }

    fn limits(&self) -> DeviceLimits {
        let info = self.info();
        DeviceLimits {
            group_size: info.max_group_size,
            local_bytes: info.local_bytes,
            is_cpu: info.kind == DeviceKind::Cpu,
            exchanging_passes: false,
            second_array: false,
            buckets: false,
            most_cluster_log2: 0,
        }
    }

    fn memory(&self) -> DeviceMemory {
        let info = self.info();
        DeviceMemory { bytes: info.global_bytes, buffer_bytes: info.max_allocation_bytes }
    }

    fn tuning(&self) -> Option<&Tuning> {
        self.stored_tuning()
    }

    fn shares_host_memory(&self) -> bool {
        self.info().shares_host_memory
    }

    fn landing(&self) -> &Landing {
        self.landing_memory()
    }

    fn take_buffer(&self, bytes: usize) -> Result<Buffer, Error> {
        self.scratch().take(bytes, || self.allocate(bytes))
    }

    fn give_buffer(&self, buffer: Buffer) {
        self.scratch().give(buffer, self.info().global_bytes);
    }

    fn upload(&self, from: &[u8], to: &Buffer) -> Result<Transfer, Error> {
        Device::upload(self, from, to)
    }

    fn download(&self, from: &Buffer, to: &mut [u8]) -> Result<Transfer, Error> {
        Device::download(self, from, to)
    }

    fn run(&self, job: &Job, shape: Shape, keys: &Buffer, values: Option<&Buffer>) -> Result<Kernels, Error> {
        let work = Work::new(self, job, shape)?;
        let arrays = Arrays { keys: keys.memory(), values: values.map(Buffer::memory), work: work.handles() };
        // SAFETY: the buffers are the device's and, as the caller says, hold the job's elements; whoever else uses them
        // queues commands on the same in-order queue.
        let queued = unsafe { enqueue(self, self.queue(), job, shape, arrays) };
        // Also after an error: kernels queued before it may still use the buffers.
        let finished = self.finish();
        drop(work);
        let queued = queued?;
        finished?;
        let span = match &queued.events {
            Some((first, last)) => span(first, last)?,
            None => Duration::ZERO,
        };
        Ok(Kernels { span, launches: queued.launches, passes: queued.passes })
    }

    fn copy_bandwidth(&self) -> Option<f64> {
        Device::copy_bandwidth(self).ok()
    }
}

/// Queues all kernels of a job. Returns without waiting; only building kernels takes time, once.
///
/// # Safety
///
/// The arrays must belong to the queue's context, which must be the device's, hold the job's elements, and be used
/// by nobody else until the last kernel is done.
pub(super) unsafe fn enqueue(
    device: &Device,
    queue: &CommandQueue,
    job: &Job,
    shape: Shape,
    arrays: Arrays,
) -> Result<Queued, Error> {
    let launches = job.launches(shape);
    let mut kernels = Borrowed { device, kernels: HashMap::new() };
    for launch in &launches {
        kernels.obtain(launch.kernel)?;
    }
    let (mut first, mut last) = (ptr::null_mut(), ptr::null_mut());
    for (index, launch) in launches.iter().enumerate() {
        let event: *mut _ = match index {
            0 => &mut first,
            _ if index + 1 == launches.len() => &mut last,
            _ => ptr::null_mut(),
        };
        // SAFETY: as the caller says; and kernels stay inside the arrays, as the tests see on every device.
        if let Err(error) = unsafe { kernels.run(queue, launch, arrays, event) } {
            if !first.is_null() {
                drop(Event::new(first));
            }
            return Err(error);
        }
    }
    let events = match (first.is_null(), last.is_null()) {
        (true, _) => None,
        (false, false) => Some((Event::new(first), Event::new(last))),
        (false, true) => {
            let only = Event::new(first);
            // Two owners of one event.
            retain(device, &only)?;
            Some((Event::new(only.get()), only))
        }
    };
    let passes = launches.iter().filter(|launch| launch.is_pass()).count();
    Ok(Queued { events, launches: launches.len(), passes })
}

fn retain(device: &Device, event: &Event) -> Result<(), Error> {
    // SAFETY: the event is alive.
    unsafe { cl3::event::retain_event(event.get()) }
        .map_err(|code| device.failure("keep an event", &opencl3::error_codes::ClError(code)))
}

/// Kernels that nobody uses at the moment, ready with their program.
#[derive(Default)]
pub(super) struct Idle {
    kernels: Mutex<HashMap<Variant, Vec<IdleKernel>>>,
}

/// The kernels of one job, given back afterwards.
struct Borrowed<'a> {
    device: &'a Device,
    kernels: HashMap<Variant, Kernel>,
}

impl Borrowed<'_> {
    /// Takes a kernel, building it if need be.
    fn obtain(&mut self, variant: Variant) -> Result<(), Error> {
        if self.kernels.contains_key(&variant) {
            return Ok(());
        }
        let idle = lock(&self.device.idle().kernels).get_mut(&variant).and_then(Vec::pop);
        let kernel = match idle {
            Some(idle) => idle.wake(self.device),
            None => program(self.device, variant)?.kernel(variant.name())?,
        };
        self.kernels.insert(variant, kernel);
        Ok(())
    }

    /// # Safety
    ///
    /// As for [`enqueue`]; `event` is null or a place for one.
    unsafe fn run(
        &mut self,
        queue: &CommandQueue,
        launch: &Launch,
        arrays: Arrays,
        event: *mut opencl3::types::cl_event,
    ) -> Result<(), Error> {
        let missing = || Error::KernelMissing {
            kernel: launch.kernel.name().to_owned(),
            device: self.device.info().name.clone(),
        };
        let kernel = self.kernels.get_mut(&launch.kernel).ok_or_else(missing)?;
        for (place, &parameter) in (0..).zip(launch.parameters().as_slice()) {
            let argument = arrays.argument(parameter, launch.kernel.wide_index).ok_or_else(missing)?;
            // SAFETY: these are the parameters of the kernel, by its layout and kind; the caller vouches for the arrays.
            unsafe { kernel.set_argument(place, argument) }?;
        }
        // SAFETY: as the caller says.
        unsafe { kernel.enqueue(queue, launch.groups, launch.group_size, event) }
    }
}

impl Drop for Borrowed<'_> {
    fn drop(&mut self) {
        let mut idle = lock(&self.device.idle().kernels);
        for (variant, kernel) in self.kernels.drain() {
            idle.entry(variant).or_default().push(kernel.rest());
        }
    }
}

/// The program of a kernel, built if need be.
fn program(device: &Device, variant: Variant) -> Result<Program, Error> {
    let options = format!("-w -cl-std=CL1.2 {}", variant.options());
    device.program(variant.name(), &variant.source(Dialect::OpenCl), &options)
}

/// Builds the kernels of a job, so that its first run does not wait for the compiler.
pub(super) fn prepare(device: &Device, job: &Job, shape: Shape) -> Result<(), Error> {
    job.launches(shape).iter().try_for_each(|launch| program(device, launch.kernel).map(drop))
}
