//! Rungs on OpenCL devices.
//!
//! A rung is a kernel, in `kernels/`, and the host's loop around it, in a file here. The kernel opens with what the rung
//! teaches; the loop says how the kernel is launched: how many work-items in a group, how many groups, and whether the
//! host waits. The words are those of the rungs on the processor: a *stage* sorts blocks, its *steps* compare keys at a
//! *distance*.
//!
//! Everything else is the same for all rungs and stands here and in [`run`]: keys are brought to the device as ordered bits,
//! the loop runs, and only when all of them are back in the host's memory are the caller's keys written.

pub(crate) mod compare_pair;
pub(crate) mod local_memory;
pub(crate) mod naive;
pub(crate) mod odd_even_local;
pub(crate) mod odd_even_one_kernel;
pub(crate) mod odd_even_two_kernels;
pub(crate) mod one_item_groups;
mod run;
pub(crate) mod xor_guarded;

use crate::times::{DeviceTimes, KernelTimes};
use bitonic::Error;
use bitonic::key::Bits;
use bitonic::opencl::{Buffer, Device, DeviceChoice};
use run::{Run, bytes_of, bytes_of_mut};

/// A rung as this folder's files define it.
pub(crate) struct OpenClRung {
    /// The names of its kernels, in the order in which the loop asks for them.
    pub(crate) kernels: &'static [&'static str],
    /// Queues everything that sorts the keys of the run in ascending order. There are at least two keys.
    host_loop: fn(&mut Run<'_>) -> Result<(), Error>,
}

impl OpenClRung {
    /// Sorts the host's keys on a device: upload, kernels, download. The keys are written when everything went well, and
    /// not touched otherwise.
    pub(crate) fn sort<B: Bits>(&self, bits: &mut [B], choice: &DeviceChoice) -> Result<DeviceTimes, Error> {
        let device = Device::open(choice)?;
        let buffer = device.allocate(size_of_val(bits))?;
        let mut sorted = copy_of(bits)?;
        let upload = device.upload(bytes_of(bits), &buffer)?.elapsed;
        let kernels = self.sort_buffer::<B>(&device, &buffer, bits.len())?;
        let download = device.download(&buffer, bytes_of_mut(&mut sorted))?.elapsed;
        bits.copy_from_slice(&sorted);
        Ok(DeviceTimes { upload, kernels, download })
    }

    /// Sorts the first `len` keys of a buffer, which is at least as long, and waits until they are sorted.
    pub(crate) fn sort_buffer<B: Bits>(
        &self,
        device: &Device,
        keys: &Buffer,
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
