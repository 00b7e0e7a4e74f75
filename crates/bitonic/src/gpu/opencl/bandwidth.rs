//! How fast the device copies its own memory: what a pass over the keys can be held against.

use super::buffer::Buffer;
use super::device::Device;
use super::timing::event_time;
use crate::Error;
use crate::gpu::bandwidth::{self, MOST_BYTES};
use crate::gpu::cache::Cache;
use opencl3::command_queue::{enqueue_copy_buffer, enqueue_fill_buffer};
use opencl3::error_codes::ClError;
use opencl3::event::Event;
use std::ptr;

/// The speed from the cache, else measured.
pub(super) fn obtain(device: &Device, cache: &Cache) -> Result<f64, Error> {
    bandwidth::obtain(cache, &device.identity(), || {
        let bytes = MOST_BYTES.min(device.info().max_allocation_bytes / 4) as usize;
        let (from, to) = (device.allocate(bytes)?, device.allocate(bytes)?);
        fill(device, &from)?;
        bandwidth::measure(bytes, || event_time(&copy(device, &from, &to)?))
    })
}

fn fill(device: &Device, buffer: &Buffer) -> Result<(), Error> {
    let pattern = [0x5a_u8];
    // SAFETY: the pattern is one byte, which divides every size, and is copied before the call returns; the buffer has
    // the bytes that are filled.
    let event = unsafe {
        enqueue_fill_buffer(
            device.queue().get(),
            buffer.memory(),
            pattern.as_ptr().cast(),
            pattern.len(),
            0,
            buffer.bytes(),
            0,
            ptr::null(),
        )
    };
    let event = event.map_err(|code| buffer.failure(device, "fill a buffer", &ClError(code)))?;
    Event::new(event).wait().map_err(|error| buffer.failure(device, "fill a buffer", &error))
}

fn copy(device: &Device, from: &Buffer, to: &Buffer) -> Result<Event, Error> {
    // SAFETY: two buffers of this many bytes each.
    let event = unsafe {
        enqueue_copy_buffer(
            device.queue().get(),
            from.memory(),
            to.memory(),
            0,
            0,
            from.bytes(),
            0,
            ptr::null(),
        )
    };
    event.map(Event::new).map_err(|code| to.failure(device, "copy a buffer", &ClError(code)))
}
