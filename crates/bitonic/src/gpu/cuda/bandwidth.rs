//! How fast the device copies its own memory: what a pass over the keys can be held against.

use super::buffer::Buffer;
use super::device::Device;
use super::timing::Moment;
use crate::Error;
use crate::gpu::bandwidth::{self, MOST_BYTES};
use crate::gpu::cache::Cache;
use cudarc::driver::sys;
use std::time::Duration;

/// The speed from the cache, else measured.
pub(super) fn obtain(device: &Device, cache: &Cache) -> Result<f64, Error> {
    bandwidth::obtain(cache, &device.identity(), || {
        let bytes = MOST_BYTES.min(device.info().global_bytes / 8) as usize;
        let (from, to) = (device.allocate(bytes)?, device.allocate(bytes)?);
        fill(device, &from)?;
        bandwidth::measure(bytes, || copy(device, &from, &to))
    })
}

fn fill(device: &Device, buffer: &Buffer) -> Result<(), Error> {
    let failed = |error| device.failure("fill a buffer", error);
    device.context().bind_to_thread().map_err(failed)?;
    // SAFETY: the buffer has the bytes that are filled.
    let code =
        unsafe { sys::cuMemsetD8Async(buffer.address(), 0x5a, buffer.bytes(), device.stream().cu_stream()) };
    code.result().map_err(failed)?;
    device.finish()
}

fn copy(device: &Device, from: &Buffer, to: &Buffer) -> Result<Duration, Error> {
    let failed = |error| device.failure("copy a buffer", error);
    let first = Moment::record(device, device.stream())?;
    // SAFETY: two buffers of this many bytes each.
    let code = unsafe {
        sys::cuMemcpyDtoDAsync_v2(to.address(), from.address(), from.bytes(), device.stream().cu_stream())
    };
    code.result().map_err(failed)?;
    let last = Moment::record(device, device.stream())?;
    device.finish()?;
    first.until(device, &last)
}
