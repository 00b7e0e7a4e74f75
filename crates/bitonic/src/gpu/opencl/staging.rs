//! Pinned host memory, as OpenCL gives it.

use super::device::Device;
use crate::gpu::memory::staging::{CHUNK_BYTES, Chunk};
use opencl3::command_queue::enqueue_map_buffer;
use opencl3::error_codes::{CL_MAP_FAILURE, ClError};
use opencl3::event::Event;
use opencl3::memory::{Buffer as RawBuffer, CL_MAP_READ, CL_MAP_WRITE, CL_MEM_ALLOC_HOST_PTR, ClMem};
use opencl3::types::{CL_BLOCKING, cl_mem};
use std::ptr::{self, NonNull};

/// A pinned buffer, mapped as long as it lives.
pub(super) struct PinnedChunk {
    memory: NonNull<u8>,
    /// Keeps the memory.
    _raw: RawBuffer<u8>,
}

// SAFETY: the memory belongs to the chunk alone, and is tied to no thread.
unsafe impl Send for PinnedChunk {}

// SAFETY: the buffer has this many bytes, is mapped for reading and writing as long as it lives, and is used by nothing else.
unsafe impl Chunk for PinnedChunk {
    fn address(&self) -> NonNull<u8> {
        self.memory
    }
}

impl PinnedChunk {
    pub(super) fn create(device: &Device) -> Result<Self, ClError> {
        // SAFETY: no host pointer is given; the driver allocates.
        let raw = unsafe {
            RawBuffer::create(device.context(), CL_MEM_ALLOC_HOST_PTR, CHUNK_BYTES, ptr::null_mut())
        }?;
        let mut memory: cl_mem = ptr::null_mut();
        // SAFETY: the region is the whole buffer, which nothing else uses.
        let event = unsafe {
            enqueue_map_buffer(
                device.queue().get(),
                raw.get(),
                CL_BLOCKING,
                CL_MAP_READ | CL_MAP_WRITE,
                0,
                CHUNK_BYTES,
                &mut memory,
                0,
                ptr::null(),
            )
        };
        drop(Event::new(event.map_err(ClError)?));
        let memory = NonNull::new(memory.cast()).ok_or(ClError(CL_MAP_FAILURE))?;
        Ok(Self { memory, _raw: raw })
    }
}
