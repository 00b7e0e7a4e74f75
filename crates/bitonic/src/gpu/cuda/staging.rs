//! Pinned host memory, as CUDA gives it.

use super::device::Device;
use crate::gpu::memory::staging::{CHUNK_BYTES, Chunk};
use cudarc::driver::sys::CUresult;
use cudarc::driver::{CudaContext, DriverError, result};
use std::ptr::NonNull;
use std::sync::Arc;

/// Pinned memory, freed when dropped.
pub(super) struct PinnedChunk {
    memory: NonNull<u8>,
    context: Arc<CudaContext>,
}

// SAFETY: the memory belongs to the chunk alone, and is tied to no thread.
unsafe impl Send for PinnedChunk {}

// SAFETY: this many bytes were allocated, for the host as well, and are freed with the chunk.
unsafe impl Chunk for PinnedChunk {
    fn address(&self) -> NonNull<u8> {
        self.memory
    }
}

impl PinnedChunk {
    pub(super) fn create(device: &Device) -> Result<Self, DriverError> {
        let context = device.context().clone();
        context.bind_to_thread()?;
        // No flags: the host reads it as well as it writes it.
        // SAFETY: a context is current.
        let memory = unsafe { result::malloc_host(CHUNK_BYTES, 0) }?;
        let memory = NonNull::new(memory.cast()).ok_or(DriverError(CUresult::CUDA_ERROR_OUT_OF_MEMORY))?;
        // What the driver leaves there is not known; references are to initialised bytes only.
        // SAFETY: the driver allocated this many bytes, which nobody else has.
        unsafe { memory.write_bytes(0, CHUNK_BYTES) };
        Ok(Self { memory, context })
    }
}

impl Drop for PinnedChunk {
    fn drop(&mut self) {
        let freed = self.context.bind_to_thread().and_then(|()| {
            // SAFETY: the memory is what was allocated, and no transfer of it is under way.
            unsafe { result::free_host(self.memory.as_ptr().cast()) }
        });
        if let Err(error) = freed {
            tracing::debug!(%error, "pinned memory cannot be freed");
        }
    }
}
