#![allow(unsafe_code, reason = "what a kernel does with memory, the compiler cannot see")]
//! What a run needs of a device: kernels, launched on its keys in the order given, and what they took.

use super::source::Source;
use bitonic::Error;
use std::iter::once;
use std::time::Duration;

/// A device's queue, and the keys that its kernels sort.
pub trait Queue {
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
pub struct Limits {
    /// The most work-items of a group.
    pub(super) max_group_size: usize,
    /// The local memory of a group.
    pub(super) local_bytes: usize,
    /// How many groups it runs side by side, at least.
    pub(super) compute_units: usize,
}

/// What a kernel is built with; its text has them in capitals.
#[derive(Clone, Copy, Debug)]
pub struct Constants {
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
pub struct Launch<'a> {
    /// The kernel's number.
    pub(super) kernel: usize,
    pub(super) groups: usize,
    pub(super) group_size: usize,
    /// Its arguments behind the keys. None is larger than the width of a position allows.
    pub(super) numbers: &'a [usize],
    /// The width of a position in the kernel: 32 or 64.
    pub(super) index_bits: u32,
}

impl Launch<'_> {
    /// All arguments of the kernel: the keys, then every number as wide as a position. The three make a driver's arguments.
    pub(super) fn arguments<A>(&self, keys: A, narrow: fn(u32) -> A, wide: fn(u64) -> A) -> Vec<A> {
        let numbers = self.numbers.iter().map(|&number| match self.index_bits {
            32 => narrow(number as u32),
            _ => wide(number as u64),
        });
        once(keys).chain(numbers).collect()
    }
}

/// What kernels took.
#[derive(Clone, Debug, Default)]
pub struct Spent {
    /// From the start of the first to the end of the last.
    pub(super) span: Duration,
    /// All launches of each kernel together, by its number.
    pub(super) each: Vec<Duration>,
}
