#![allow(unsafe_code, reason = "launching a kernel is foreign code, and so is the memory that devices write")]
//! One sort on a device: building and launching kernels, waiting, and adding up what they took.
//!
//! This is the only file of the ladder with unsafe code.

use crate::times::{KernelTime, KernelTimes};
use bitonic::Error;
use bitonic::key::Bits;
use bitonic::opencl::{Argument, Buffer, Device, DeviceInfo, Event, Kernel, event_time, span};
use std::iter::once;
use std::time::Duration;

/// The source of a file in `kernels/`, with what all kernels share before it.
pub(super) struct Source {
    pub(super) file: &'static str,
    pub(super) text: &'static str,
}

/// Reads `kernels/$file.cl` when the ladder is compiled. A device's compiler names this file and its lines, too.
macro_rules! source {
    ($file:literal) => {
        $crate::gpu::opencl::run::Source {
            file: $file,
            text: concat!(
                include_str!("kernels/key.cl"),
                "#line 1 \"",
                $file,
                ".cl\"\n",
                include_str!(concat!("kernels/", $file, ".cl"))
            ),
        }
    };
}
pub(super) use source;

/// How many launches wait for the device at most. A driver may keep all that it needs of a launch in memory, and odd-even
/// sorts have millions of launches. So many take milliseconds at least, which a wait of microseconds does not change.
const MOST_IN_FLIGHT: usize = 4096;

/// Keys on a device, and what was done to them so far.
pub(super) struct Run<'a> {
    device: &'a Device,
    keys: &'a Buffer,
    len: usize,
    key_bits: u32,
    index_bits: u32,
    in_flight: Vec<(usize, Event)>,
    first: Option<Event>,
    last: Option<Event>,
    each: Vec<KernelTime>,
}

/// A kernel that is built and can be launched by the run that built it.
pub(super) struct RungKernel {
    kernel: Kernel,
    /// Its place in the run's list of times.
    place: usize,
}

impl<'a> Run<'a> {
    /// A run on the first `len` keys of a buffer; the keys have `key_bits` bits.
    pub(super) fn new(device: &'a Device, keys: &'a Buffer, len: usize, key_bits: u32) -> Self {
        assert!(len <= keys.bytes() / (key_bits as usize / 8), "the buffer holds the keys");
        // With 2^31 keys the largest number that a kernel computes, a position one grid further on, is below 2^32.
        let index_bits = if len <= 1 << 31 { 32 } else { 64 };
        Self {
            device,
            keys,
            len,
            key_bits,
            index_bits,
            in_flight: Vec::new(),
            first: None,
            last: None,
            each: Vec::new(),
        }
    }

    /// How many keys there are.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// How many bytes a key has.
    pub(super) fn key_bytes(&self) -> usize {
        self.key_bits as usize / 8
    }

    /// What the device can do.
    pub(super) fn limits(&self) -> &DeviceInfo {
        self.device.info()
    }

    /// The kernel of this name, built from its source the first time. `group` is what the kernel sees as `GROUP`.
    pub(super) fn kernel(
        &mut self,
        name: &'static str,
        source: Source,
        group: usize,
    ) -> Result<RungKernel, Error> {
        let Self { key_bits, index_bits, .. } = self;
        let options = format!("-D KEY_BITS={key_bits} -D INDEX_BITS={index_bits} -D GROUP={group}");
        let kernel = self.device.program(source.file, source.text, &options)?.kernel(name)?;
        self.each.push(KernelTime { name, launches: 0, time: Duration::ZERO });
        Ok(RungKernel { kernel, place: self.each.len() - 1 })
    }

    /// Queues a kernel on the keys. `numbers` are its arguments after the keys.
    pub(super) fn launch(
        &mut self,
        kernel: &mut RungKernel,
        groups: usize,
        group_size: usize,
        numbers: &[usize],
    ) -> Result<(), Error> {
        let numbers = numbers.iter().map(|&number| match self.index_bits {
            // No number is larger than the number of keys, which 32 bits hold here.
            32 => Argument::U32(number as u32),
            _ => Argument::U64(number as u64),
        });
        let arguments: Vec<Argument<'_>> = once(Argument::Buffer(self.keys)).chain(numbers).collect();
        // SAFETY: The kernels are those of this folder. All take a pointer to keys and then numbers of the width that they
        // were built with; the loops beside this file pass as many numbers as their kernels have. The comparators of a
        // step are pairs of positions below the number of keys, which the buffer holds (checked when the run was made),
        // and no two of a launch have a position in common. A buffer of another device is refused by the driver. The
        // tests run every kernel where each access is checked.
        let event = unsafe { kernel.kernel.launch(self.device.queue(), groups, group_size, &arguments) }?;
        self.in_flight.push((kernel.place, event));
        if self.in_flight.len() >= MOST_IN_FLIGHT {
            self.wait()?;
        }
        Ok(())
    }

    /// Waits until the device has done all that was queued.
    pub(super) fn wait(&mut self) -> Result<(), Error> {
        self.device.finish()?;
        for (place, event) in self.in_flight.drain(..) {
            self.each[place].launches += 1;
            self.each[place].time += event_time(&event)?;
            match self.first {
                None => self.first = Some(event),
                Some(_) => self.last = Some(event),
            }
        }
        Ok(())
    }

    /// Waits for the device and says what everything took.
    pub(super) fn finish(mut self) -> Result<KernelTimes, Error> {
        self.wait()?;
        let span = match &self.first {
            Some(first) => span(first, self.last.as_ref().unwrap_or(first))?,
            None => Duration::ZERO,
        };
        Ok(KernelTimes { span, each: self.each })
    }
}

impl RungKernel {
    /// The largest power of two that is no more than `wanted` and that the device allows as the group size of this kernel.
    pub(super) fn group_size(&self, wanted: usize) -> usize {
        let most = wanted.min(self.kernel.max_group_size());
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
    use bitonic::opencl::DeviceChoice;

    /// Arrays that need such positions are too large for a test; the kernels sort small ones with them as well.
    #[test]
    fn every_rung_sorts_with_positions_of_64_bits() {
        let device = Device::open(&DeviceChoice::Best)
            .unwrap_or_else(|error| panic!("this test needs an OpenCL device, such as PoCL: {error}"));
        for (rung, opencl) in Rung::ALL.iter().filter_map(|rung| Some((rung, rung.on_opencl()?))) {
            // Numbers that are all different and in no order.
            let mut keys: Vec<u32> = (0..1024).map(|index| index * 389 % 1024).collect();
            let buffer = device.allocate(size_of_val(&keys[..])).unwrap();
            device.upload(bytes_of(&keys), &buffer).unwrap();
            let mut run = Run { index_bits: 64, ..Run::new(&device, &buffer, keys.len(), 32) };
            (opencl.host_loop)(&mut run).unwrap();
            run.finish().unwrap();
            device.download(&buffer, bytes_of_mut(&mut keys)).unwrap();
            assert!(keys.into_iter().eq(0..1024), "{rung}");
        }
    }
}
