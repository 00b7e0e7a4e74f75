#![allow(unsafe_code, reason = "launching a kernel is foreign code, and so is the memory that devices write")]
//! One sort on a device: building and launching kernels, waiting, and adding up what they took.

use super::queue::{Constants, DeviceQueue, Launch, Limits, Queue};
use super::source::Source;
use crate::times::{KernelTime, KernelTimes};
use bitonic::Error;
use bitonic::device::{DeviceBuffer, Driver};
use bitonic::key::Bits;

/// Keys on a device, and what was done to them so far.
pub(super) struct Run<'a> {
    queue: Box<dyn Queue + 'a>,
    len: usize,
    key_bits: u32,
    index_bits: u32,
    /// The name of every kernel, and how often it was launched.
    kernels: Vec<(&'static str, usize)>,
}

/// A kernel that is built and can be launched by the run that built it.
#[derive(Clone, Copy)]
pub(super) struct RungKernel {
    number: usize,
    max_group_size: usize,
}

impl<'a> Run<'a> {
    /// A run on the first `len` keys of a buffer; the keys have `key_bits` bits.
    pub(super) fn new<D: Driver>(device: &'a D, keys: &'a D::Buffer, len: usize, key_bits: u32) -> Self {
        assert!(len <= keys.bytes() / (key_bits as usize / 8), "the buffer holds the keys");
        // With 2^31 keys the largest number that a kernel computes, a position one grid further on, is below 2^32.
        let index_bits = if len <= 1 << 31 { 32 } else { 64 };
        Self::on_queue(Box::new(DeviceQueue::new(device, keys)), len, key_bits, index_bits)
    }

    /// A run whose queue has a buffer with so many keys.
    pub(super) fn on_queue(queue: Box<dyn Queue + 'a>, len: usize, key_bits: u32, index_bits: u32) -> Self {
        Self { queue, len, key_bits, index_bits, kernels: Vec::new() }
    }

    /// How many keys there are.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// How many bytes a key has.
    pub(super) fn key_bytes(&self) -> usize {
        self.key_bits as usize / 8
    }

    /// What the device allows.
    pub(super) fn limits(&self) -> Limits {
        self.queue.limits()
    }

    /// The kernel of this name, built from its source the first time, for groups of at most so many work-items.
    pub(super) fn kernel(
        &mut self,
        name: &'static str,
        source: Source,
        most_items: usize,
    ) -> Result<RungKernel, Error> {
        let Self { key_bits, index_bits, .. } = *self;
        let max_group_size =
            self.queue.build(name, &source, Constants { key_bits, index_bits, most_items })?;
        self.kernels.push((name, 0));
        Ok(RungKernel { number: self.kernels.len() - 1, max_group_size: max_group_size.min(most_items) })
    }

    /// Queues a kernel on the keys. `numbers` are its arguments after the keys.
    pub(super) fn launch(
        &mut self,
        kernel: RungKernel,
        groups: usize,
        group_size: usize,
        numbers: &[usize],
    ) -> Result<(), Error> {
        let Self { index_bits, .. } = *self;
        let launch = Launch { kernel: kernel.number, groups, group_size, numbers, index_bits };
        // SAFETY: The kernels are those of this folder. All take a pointer to keys and then numbers of the width that they
        // were built with; the loops in `rungs/` pass as many numbers as their kernels have. The comparators of a
        // step are pairs of positions below the number of keys, which the buffer holds (checked when the run was made),
        // and no two of a launch have a position in common. A buffer of another device, which the caller was told not to
        // give, is refused by OpenCL, and on CUDA a fault of the device that its driver reports. The tests run every kernel
        // where each access is checked.
        unsafe { self.queue.launch(launch) }?;
        self.kernels[kernel.number].1 += 1;
        Ok(())
    }

    /// Waits until the device has done all that was queued.
    pub(super) fn wait(&mut self) -> Result<(), Error> {
        self.queue.wait()
    }

    /// Waits for the device and says what everything took.
    pub(super) fn finish(mut self) -> Result<KernelTimes, Error> {
        self.wait()?;
        let spent = self.queue.spent()?;
        let kernels = self.kernels.into_iter().zip(spent.each);
        let each = kernels.map(|((name, launches), time)| KernelTime { name, launches, time });
        Ok(KernelTimes { span: spent.span, each: each.collect() })
    }
}

impl RungKernel {
    /// As many work-items as wanted, or as the device allows in a group of this kernel.
    pub(super) fn most(self, wanted: usize) -> usize {
        wanted.min(self.max_group_size).max(1)
    }

    /// The largest power of two that is no more than `wanted` and that the device allows as the group size of this kernel.
    pub(super) fn group_size(self, wanted: usize) -> usize {
        let most = wanted.min(self.max_group_size);
        most.checked_ilog2().map_or(1, |log2| 1 << log2)
    }
}

/// The keys' memory, to read.
pub(super) fn bytes_of<B: Bits>(bits: &[B]) -> &[u8] {
    // SAFETY: `Bits` is implemented for the unsigned integers only: initialised bytes without padding. The borrow lasts as
    // long as the result.
    unsafe { std::slice::from_raw_parts(bits.as_ptr().cast(), size_of_val(bits)) }
}

/// The keys' memory, to write.
pub(super) fn bytes_of_mut<B: Bits>(bits: &mut [B]) -> &mut [u8] {
    // SAFETY: as in `bytes_of`; and any bytes are valid unsigned integers.
    unsafe { std::slice::from_raw_parts_mut(bits.as_mut_ptr().cast(), size_of_val(bits)) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Rung;
    use bitonic::{cuda, opencl};
    use bitonic_testkit::device_or_skip;

    /// Arrays that need such positions are too large for a test; the kernels sort small ones with them as well.
    fn every_rung_sorts_with_positions_of_64_bits(device: &impl Driver) {
        for (rung, on_device) in Rung::ALL.iter().filter_map(|rung| Some((rung, rung.on_device()?))) {
            // Numbers that are all different and in no order.
            let mut keys: Vec<u32> = (0..1024).map(|index| index * 389 % 1024).collect();
            let buffer = device.allocate(size_of_val(&keys[..])).unwrap();
            device.upload(bytes_of(&keys), &buffer).unwrap();
            let mut run = Run { index_bits: 64, ..Run::new(device, &buffer, keys.len(), 32) };
            (on_device.host_loop)(&mut run).unwrap();
            run.finish().unwrap();
            device.download(&buffer, bytes_of_mut(&mut keys)).unwrap();
            assert!(keys.into_iter().eq(0..1024), "{rung}");
        }
    }

    #[test]
    fn every_rung_sorts_with_positions_of_64_bits_on_opencl() {
        let device = opencl::Device::open(&opencl::DeviceChoice::Best)
            .unwrap_or_else(|error| panic!("this test needs an OpenCL device, such as PoCL: {error}"));
        every_rung_sorts_with_positions_of_64_bits(&device);
    }

    #[test]
    fn every_rung_sorts_with_positions_of_64_bits_on_cuda() {
        let test = "every_rung_sorts_with_positions_of_64_bits_on_cuda";
        let opened = cuda::Device::open(&cuda::DeviceChoice::Best);
        let Some(device) = device_or_skip(test, opened, "BITONIC_REQUIRE_CUDA") else { return };
        every_rung_sorts_with_positions_of_64_bits(&device);
    }
}
