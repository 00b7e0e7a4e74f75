//! Memory on a device.

use super::device::Device;
use super::failure::reason;
use crate::Error;
use crate::gpu::driver::DeviceBuffer;
use opencl3::error_codes::{
    CL_INVALID_BUFFER_SIZE, CL_MEM_OBJECT_ALLOCATION_FAILURE, CL_OUT_OF_HOST_MEMORY, CL_OUT_OF_RESOURCES,
    ClError,
};
use opencl3::memory::{Buffer as RawBuffer, CL_MEM_ALLOC_HOST_PTR, CL_MEM_READ_WRITE, ClMem, cl_mem};
use std::fmt;
use std::ptr;
use std::sync::{Mutex, MutexGuard, TryLockError};

/// Memory on a device, freed when dropped. Made by [`Device::allocate`].
pub struct Buffer {
    raw: RawBuffer<u8>,
    bytes: usize,
    /// Held by whoever reads or writes the memory from the host.
    host_access: Mutex<()>,
}

impl Buffer {
    pub(super) fn create(device: &Device, bytes: usize) -> Result<Self, Error> {
        if bytes as u64 > device.info().max_allocation_bytes {
            return Err(refused(device, bytes));
        }
        // OpenCL has no empty buffers.
        let granted = bytes.max(1);
        // Where memory is shared, ask for a place that the host can reach, so that mapping a buffer copies nothing.
        let place = if device.info().shares_host_memory { CL_MEM_ALLOC_HOST_PTR } else { 0 };
        // SAFETY: no host pointer is given, so there is nothing for the driver to misread.
        let raw = unsafe {
            RawBuffer::create(device.context(), CL_MEM_READ_WRITE | place, granted, ptr::null_mut())
        };
        let raw = raw.map_err(|error| match error.0 {
            CL_MEM_OBJECT_ALLOCATION_FAILURE
            | CL_INVALID_BUFFER_SIZE
            | CL_OUT_OF_RESOURCES
            | CL_OUT_OF_HOST_MEMORY => {
                tracing::debug!(
                    device = device.info().name,
                    bytes,
                    reason = reason(&error),
                    "buffer refused"
                );
                refused(device, bytes)
            }
            _ => device.failure("allocate a buffer", &error),
        })?;
        Ok(Self { raw, bytes, host_access: Mutex::new(()) })
    }

    /// How many bytes were asked for.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// The handle, for calls to OpenCL itself. It is valid as long as the buffer is.
    pub fn memory(&self) -> cl_mem {
        self.raw.get()
    }

    /// The right to touch the memory from the host, for one at a time; `None` when somebody else has it.
    ///
    /// Nobody waits for it: a copy runs on a thread pool, and a pool's thread that waits here could be the one that the
    /// holder waits for.
    pub(super) fn host_access(&self) -> Option<MutexGuard<'_, ()>> {
        match self.host_access.try_lock() {
            Ok(guard) => Some(guard),
            Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }

    /// The error for a command on this buffer: many drivers find memory for it at its first use only.
    pub(super) fn failure(&self, device: &Device, operation: &'static str, error: &ClError) -> Error {
        if error.0 == CL_MEM_OBJECT_ALLOCATION_FAILURE {
            return refused(device, self.bytes);
        }
        device.failure(operation, error)
    }
}

impl DeviceBuffer for Buffer {
    type Memory = Memory;

    fn bytes(&self) -> usize {
        self.bytes
    }

    fn memory(&self) -> Memory {
        Memory(Buffer::memory(self))
    }
}

/// The handle of a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Memory(pub(super) cl_mem);

// SAFETY: a handle is a number to the driver, whose calls on buffers may come from any thread.
unsafe impl Send for Memory {}

impl fmt::Debug for Buffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Buffer").field("bytes", &self.bytes).finish_non_exhaustive()
    }
}

fn refused(device: &Device, bytes: usize) -> Error {
    let info = device.info();
    Error::DeviceMemory {
        device: info.name.clone(),
        bytes: bytes as u64,
        available: info.max_allocation_bytes,
    }
}
