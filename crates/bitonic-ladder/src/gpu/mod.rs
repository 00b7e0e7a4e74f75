//! Rungs on devices.
//!
//! A rung is a kernel, in `kernels/`, and the host's loop around it, in `rungs/`. The kernel opens with what the rung
//! teaches; the loop says how the kernel is launched: how many work-items in a group, how many groups, and whether the
//! host waits. The words are those of the rungs on the processor: a *stage* sorts blocks, its *steps* compare keys at a
//! *distance*.
//!
//! Both are written once, and work through OpenCL and through CUDA:
//!
//! ```text
//!   rungs/      the loop           calls a run           kernels/    the kernel      with a prelude before it
//!   run         a sort under way   calls a queue         source      its whole text, with the prelude of a backend
//!   queue       what a run needs: build, launch, wait; over the device layer of the library
//! ```

mod queue;
mod run;
pub(crate) mod rungs;
mod source;

use crate::times::{DeviceTimes, KernelTimes};
use bitonic::DeviceChoice;
use bitonic::Error;
use bitonic::device::Driver;
use bitonic::key::Bits;
use run::{Run, bytes_of, bytes_of_mut};

/// A rung as the files in `rungs/` define it.
pub(crate) struct DeviceRung {
    /// The names of its kernels, in the order in which the loop asks for them.
    pub(crate) kernels: &'static [&'static str],
    /// The files with their texts.
    pub(crate) sources: &'static [source::Source],
    /// Queues everything that sorts the keys of the run in ascending order. There are at least two keys.
    host_loop: fn(&mut Run<'_>) -> Result<(), Error>,
}

impl DeviceRung {
    /// Sorts the host's keys on a device: upload, kernels, download. The keys are written when all of them are back in the
    /// host's memory, and not touched otherwise.
    pub(crate) fn sort<D: Driver, B: Bits>(
        &self,
        bits: &mut [B],
        choice: &DeviceChoice,
    ) -> Result<DeviceTimes, Error> {
        let device = D::open(choice)?;
        let buffer = device.allocate(size_of_val(bits))?;
        let mut sorted = copy_of(bits)?;
        let upload = device.upload(bytes_of(bits), &buffer)?.elapsed;
        let kernels = self.sort_buffer::<D, B>(&device, &buffer, bits.len())?;
        let download = device.download(&buffer, bytes_of_mut(&mut sorted))?.elapsed;
        bits.copy_from_slice(&sorted);
        Ok(DeviceTimes { upload, kernels, download })
    }

    /// Sorts the first `len` keys of a buffer, which is at least as long, and waits until they are sorted.
    pub(crate) fn sort_buffer<D: Driver, B: Bits>(
        &self,
        device: &D,
        keys: &D::Buffer,
        len: usize,
    ) -> Result<KernelTimes, Error> {
        let mut run = Run::new(device, keys, len, B::WIDTH);
        if len > 1 {
            (self.host_loop)(&mut run)?;
        }
        run.finish()
    }
}

/// Room for the result, asked for before the device does any work.
fn copy_of<B: Bits>(bits: &[B]) -> Result<Vec<B>, Error> {
    let mut copy = Vec::new();
    copy.try_reserve_exact(bits.len()).map_err(|_| Error::OutOfMemory { bytes: size_of_val(bits) })?;
    copy.extend_from_slice(bits);
    Ok(copy)
}
