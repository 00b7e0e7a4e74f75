#![allow(unsafe_code, reason = "what a kernel does with memory, the compiler cannot see")]
//! What a run needs of a device: kernels, launched on its keys in the order given, and what they took.

use super::source::Source;
use bitonic::Error;
use bitonic::device::{self, Argument, Arguments, Command, DeviceBuffer, Driver, Grid};
use std::iter::once;
use std::time::Duration;

/// A device's queue, and the keys that its kernels sort.
pub(super) trait Queue {
    /// What the device allows.
    fn limits(&self) -> Limits;

    /// Builds the kernel of this name, or takes one that was built before, and says how many work-items a group of it can have.
    /// Kernels have numbers from 0 on, in the order in which they are built.
    fn build(&mut self, name: &str, source: &Source, constants: Constants) -> Result<usize, Error>;

    /// Queues a kernel on the keys.
    ///
    /// # Safety
    ///
    /// The kernel must have as many parameters behind the keys as there are numbers, each as wide as its positions. Run with
    /// them, it must stay inside the buffer.
    unsafe fn launch(&mut self, launch: Launch<'_>) -> Result<(), Error>;

    /// Waits until the device has done all that was queued.
    fn wait(&mut self) -> Result<(), Error>;

    /// What everything took that was waited for.
    fn spent(&self) -> Result<Spent, Error>;
}

/// What a device allows.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// The most work-items of a group.
    pub(super) max_group_size: usize,
    /// The local memory of a group.
    pub(super) local_bytes: usize,
    /// How many groups it runs side by side, at least.
    pub(super) compute_units: usize,
}

/// What a kernel is built with; its text has them in capitals.
#[derive(Clone, Copy, Debug)]
pub(super) struct Constants {
    /// The width of a key.
    pub(super) key_bits: u32,
    /// The width of a position: 32 or 64.
    pub(super) index_bits: u32,
    /// The most work-items that a group will have.
    pub(super) most_items: usize,
}

impl Constants {
    /// As options for a compiler.
    pub(super) fn options(self) -> String {
        let Self { key_bits, index_bits, most_items } = self;
        format!("-DKEY_BITS={key_bits} -DINDEX_BITS={index_bits} -DMOST_ITEMS={most_items}")
    }
}

/// One launch of a kernel.
#[derive(Clone, Copy, Debug)]
pub(super) struct Launch<'a> {
    /// The kernel's number.
    pub(super) kernel: usize,
    pub(super) groups: usize,
    pub(super) group_size: usize,
    /// Its arguments behind the keys. None is larger than the width of a position allows.
    pub(super) numbers: &'a [usize],
    /// The width of a position in the kernel: 32 or 64.
    pub(super) index_bits: u32,
}

/// What kernels took.
#[derive(Clone, Debug, Default)]
pub(super) struct Spent {
    /// From the start of the first to the end of the last.
    pub(super) span: Duration,
    /// All launches of each kernel together, by its number.
    pub(super) each: Vec<Duration>,
}

/// The queue of a device of any backend. It takes the time of stretches: launches of one kernel, one after the other, with no wait
/// between. So a rung that launches one kernel hundreds of times runs as fast as without being measured.
pub(super) struct DeviceQueue<'a, D: Driver> {
    device: &'a D,
    keys: &'a D::Buffer,
    /// What each kernel took so far stands beside it.
    kernels: Vec<(D::Kernel, Duration)>,
    /// The kernel of the stretch that is being made, and its launches.
    stretch: (usize, Vec<Waiting<D::Memory>>),
    /// Stretches that were queued and not waited for.
    in_flight: Vec<(usize, D::Span)>,
    first: Option<D::Span>,
    last: Option<D::Span>,
}

/// A launch that is not queued yet.
type Waiting<M> = (Grid, Arguments<M>);

/// How many launches wait for the device at most. A driver may keep all that it needs of a launch in memory, and odd-even
/// sorts have millions of launches. So many take milliseconds at least, which a wait of microseconds does not change.
const MOST_IN_FLIGHT: usize = 4096;

impl<'a, D: Driver> DeviceQueue<'a, D> {
    pub(super) fn new(device: &'a D, keys: &'a D::Buffer) -> Self {
        let stretch = (0, Vec::new());
        Self { device, keys, kernels: Vec::new(), stretch, in_flight: Vec::new(), first: None, last: None }
    }

    /// Queues the stretch that is being made.
    fn queue(&mut self) -> Result<(), Error> {
        let (number, launches) = &mut self.stretch;
        if launches.is_empty() {
            return Ok(());
        }
        let (kernel, _) = &self.kernels[*number];
        let commands: Vec<Command<'_, D>> =
            launches.drain(..).map(|(grid, arguments)| Command { kernel, grid, arguments }).collect();
        // SAFETY: whoever called `launch` vouched for the numbers and for what the kernel does with them. The buffer is borrowed
        // as long as this queue, which waits for all launches before it ends or fails.
        let span = unsafe { self.device.submit(self.device.queue(), &commands, true) }?;
        self.in_flight.push((*number, span));
        Ok(())
    }
}

impl<D: Driver> Queue for DeviceQueue<'_, D> {
    fn limits(&self) -> Limits {
        let facts = self.device.facts();
        Limits {
            max_group_size: facts.group_size,
            local_bytes: facts.own_local_bytes,
            compute_units: facts.units,
        }
    }

    fn build(&mut self, name: &str, source: &Source, constants: Constants) -> Result<usize, Error> {
        let text = source.with_prelude(D::PRELUDE);
        let options = constants.options();
        let source = device::Source { file: source.file, kernel: name, text: &text, options: &options };
        let kernel = self.device.build(&source)?;
        let most_items = self.device.most_items(&kernel).min(constants.most_items);
        self.kernels.push((kernel, Duration::ZERO));
        Ok(most_items)
    }

    unsafe fn launch(&mut self, launch: Launch<'_>) -> Result<(), Error> {
        let Launch { kernel, groups, group_size, numbers, index_bits } = launch;
        if self.stretch.0 != kernel {
            self.queue()?;
            self.stretch.0 = kernel;
        }
        let numbers = numbers.iter().map(|&number| match index_bits {
            32 => Argument::U32(number as u32),
            _ => Argument::U64(number as u64),
        });
        let arguments = once(Argument::Memory(self.keys.memory())).chain(numbers).collect();
        self.stretch.1.push((Grid::plain(groups, group_size), arguments));
        if self.stretch.1.len() >= MOST_IN_FLIGHT {
            self.wait()?;
        }
        Ok(())
    }

    fn wait(&mut self) -> Result<(), Error> {
        let queued = self.queue();
        // Also after an error: launches queued before it may still use the keys.
        self.device.finish()?;
        queued?;
        for (kernel, span) in self.in_flight.drain(..) {
            self.kernels[kernel].1 += self.device.elapsed(&span, &span)?;
            match self.first {
                None => self.first = Some(span),
                Some(_) => self.last = Some(span),
            }
        }
        Ok(())
    }

    fn spent(&self) -> Result<Spent, Error> {
        let span = match &self.first {
            Some(first) => self.device.elapsed(first, self.last.as_ref().unwrap_or(first))?,
            None => Duration::ZERO,
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
            let text = source.with_prelude(cuda::Device::PRELUDE);
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
