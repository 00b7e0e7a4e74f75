#![allow(unsafe_code, reason = "launching a kernel is foreign code")]
//! Rungs through CUDA.

use super::device::Backend;
use super::queue::{Constants, Launch, Limits, Queue, Spent};
use super::source::{Dialect, Source};
use bitonic::Error;
use bitonic::cuda::{Argument, Buffer, Device, DeviceChoice, Kernel, Moment, Transfer};
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
        Box::new(CudaQueue {
            device: self,
            keys,
            kernels: Vec::new(),
            stretches: Vec::new(),
            first: None,
            last: None,
        })
    }
}

/// The stream of a device. It takes the time of stretches: launches of one kernel, one after the other, with no wait between.
///
/// CUDA has no time for a launch, only moments, which are queued like launches and take the device time as well. So there is
/// one where the kernel changes and where the host waits, and none between two launches of the same kernel: a rung that
/// launches one kernel hundreds of times runs as fast as without being measured.
struct CudaQueue<'a> {
    device: &'a Device,
    keys: &'a Buffer,
    /// What each kernel took so far stands beside it.
    kernels: Vec<(Kernel, Duration)>,
    /// Launches that were not waited for: the kernel's number, and the moment before the first of them.
    stretches: Vec<(usize, Moment)>,
    first: Option<Moment>,
    last: Option<Moment>,
}

impl Queue for CudaQueue<'_> {
    fn limits(&self) -> Limits {
        let info = self.device.info();
        Limits {
            max_group_size: info.max_group_size,
            local_bytes: info.shared_bytes,
            compute_units: info.multiprocessors,
        }
    }

    fn build(&mut self, name: &str, source: &Source, constants: Constants) -> Result<usize, Error> {
        let text = source.in_dialect(Dialect::Cuda);
        let kernel = self.device.program(source.file, &text, &constants.options())?.kernel(name)?;
        self.kernels.push((kernel, Duration::ZERO));
        // The prelude lets the compiler take no more registers than so many threads can have.
        Ok(constants.most_items.min(self.device.info().max_group_size))
    }

    unsafe fn launch(&mut self, launch: Launch<'_>) -> Result<(), Error> {
        let arguments = launch.arguments(Argument::Buffer(self.keys), Argument::U32, Argument::U64);
        let Launch { kernel, groups, group_size, .. } = launch;
        if self.stretches.last().is_none_or(|&(current, _)| current != kernel) {
            self.stretches.push((kernel, Moment::record(self.device, self.device.stream())?));
        }
        let (built, _) = &self.kernels[kernel];
        // SAFETY: the caller vouches for the numbers and for what the kernel does with them. The driver frees a buffer when no
        // launch uses it any more.
        unsafe { built.launch(self.device.stream(), groups, group_size, &arguments) }
    }

    fn wait(&mut self) -> Result<(), Error> {
        if self.stretches.is_empty() {
            return self.device.finish();
        }
        let end = Moment::record(self.device, self.device.stream())?;
        self.device.finish()?;
        let ends = self.stretches.iter().skip(1).map(|(_, start)| start).chain([&end]);
        for ((kernel, start), end) in self.stretches.iter().zip(ends) {
            self.kernels[*kernel].1 += start.until(self.device, end)?;
        }
        let first = self.stretches.drain(..).next();
        self.first = self.first.take().or(first.map(|(_, start)| start));
        self.last = Some(end);
        Ok(())
    }

    fn spent(&self) -> Result<Spent, Error> {
        let span = match (&self.first, &self.last) {
            (Some(first), Some(last)) => first.until(self.device, last)?,
            _ => Duration::ZERO,
        };
        Ok(Spent { span, each: self.kernels.iter().map(|(_, time)| *time).collect() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Rung;
    use crate::gpu::run::Run;
    use bitonic::cuda;
    use rayon::prelude::*;

    /// Those with lasting users, and the newest of the data centre.
    const ARCHITECTURES: [u32; 4] = [75, 80, 90, 100];

    /// The queue of a device that is not here: kernels are compiled for it, and launches checked against what they were
    /// compiled for.
    struct Absent {
        architecture: u32,
        /// The most threads of each kernel's blocks.
        most_items: Vec<usize>,
        /// The width of a position in each.
        index_bits: Vec<u32>,
    }

    impl Queue for Absent {
        /// What every device since compute capability 7.5 allows; the number of multiprocessors is an H200's.
        fn limits(&self) -> Limits {
            Limits { max_group_size: 1024, local_bytes: 48 << 10, compute_units: 132 }
        }

        fn build(&mut self, name: &str, source: &Source, constants: Constants) -> Result<usize, Error> {
            let text = source.in_dialect(Dialect::Cuda);
            let image = cuda::compile(source.file, &text, &constants.options(), self.architecture)?;
            let symbol = format!("\0{name}\0");
            let is_there = image.windows(symbol.len()).any(|window| window == symbol.as_bytes());
            assert!(is_there, "{} has no kernel {name}", source.file);
            self.most_items.push(constants.most_items);
            self.index_bits.push(constants.index_bits);
            Ok(constants.most_items)
        }

        unsafe fn launch(&mut self, launch: Launch<'_>) -> Result<(), Error> {
            let Launch { kernel, groups, group_size, index_bits, .. } = launch;
            assert!(groups > 0 && group_size > 0 && group_size <= self.most_items[kernel], "{launch:?}");
            assert_eq!(index_bits, self.index_bits[kernel], "{launch:?}");
            Ok(())
        }

        fn wait(&mut self) -> Result<(), Error> {
            Ok(())
        }

        fn spent(&self) -> Result<Spent, Error> {
            Ok(Spent { span: Duration::ZERO, each: vec![Duration::ZERO; self.most_items.len()] })
        }
    }

    #[test]
    fn every_kernel_compiles_for_every_width_and_architecture() {
        let known = match cuda::architectures() {
            Ok(known) => known,
            Err(error) => {
                let test = "every_kernel_compiles_for_every_width_and_architecture";
                println!("skipped: no NVRTC for {test}: {error}");
                return;
            }
        };
        let mut work = Vec::new();
        for architecture in ARCHITECTURES.into_iter().filter(|architecture| known.contains(architecture)) {
            for (&rung, on_device) in Rung::ALL.iter().filter_map(|rung| Some((rung, rung.on_device()?))) {
                for key_bits in [8, 16, 32, 64, 128] {
                    work.extend(
                        [32, 64].map(|index_bits| (architecture, rung, on_device, key_bits, index_bits)),
                    );
                }
            }
        }
        assert!(!work.is_empty(), "NVRTC knows none of {ARCHITECTURES:?}, only {known:?}");
        work.into_par_iter().for_each(|(architecture, rung, on_device, key_bits, index_bits)| {
            let queue = Absent { architecture, most_items: Vec::new(), index_bits: Vec::new() };
            let mut run = Run::on_queue(Box::new(queue), 1 << 11, key_bits, index_bits);
            (on_device.host_loop)(&mut run)
                .unwrap_or_else(|error| panic!("{rung}, keys of {key_bits} bits: {error}"));
            let times = run.finish().expect("nothing can fail where nothing is done");
            let names: Vec<&str> = times.each.iter().map(|kernel| kernel.name).collect();
            assert_eq!(names, rung.kernels());
        });
    }
}
