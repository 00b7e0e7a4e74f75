//! Memory on a device.

use super::device::Device;
use crate::Error;
use crate::gpu::driver::DeviceBuffer;
use cudarc::driver::sys::{self, CUdeviceptr, CUresult};
use cudarc::driver::{CudaContext, DriverError};
use std::fmt;
use std::sync::Arc;

/// Memory on a device, freed when dropped. Made by [`Device::allocate`].
pub struct Buffer {
    context: Arc<CudaContext>,
    address: CUdeviceptr,
    bytes: usize,
}

impl Buffer {
    pub(super) fn create(device: &Device, bytes: usize) -> Result<Self, Error> {
        let context = device.context().clone();
        let mut address = 0;
        let allocated = context.bind_to_thread().and_then(|()| {
            // CUDA has no empty buffers.
            // SAFETY: there is a place for the address, and a context is current.
            unsafe { sys::cuMemAlloc_v2(&mut address, bytes.max(1)) }.result()
        });
        match allocated {
            Ok(()) => Ok(Self { context, address, bytes }),
            Err(DriverError(CUresult::CUDA_ERROR_OUT_OF_MEMORY)) => Err(Error::DeviceMemory {
                device: device.info().name.clone(),
                bytes: bytes as u64,
                available: device.info().global_bytes,
            }),
            Err(error) => Err(device.failure("allocate a buffer", error)),
        }
    }

    /// How many bytes were asked for.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// The address, for calls to CUDA itself. It is valid as long as the buffer is.
    pub fn address(&self) -> CUdeviceptr {
        self.address
    }
}

impl DeviceBuffer for Buffer {
    type Memory = CUdeviceptr;

    fn bytes(&self) -> usize {
        self.bytes
    }

    fn memory(&self) -> CUdeviceptr {
        self.address
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        let freed = self.context.bind_to_thread().and_then(|()| {
            // SAFETY: the address is one that was allocated, and nobody has it any more; the driver waits for kernels that
            // still use it.
            unsafe { sys::cuMemFree_v2(self.address) }.result()
        });
        if let Err(error) = freed {
            tracing::debug!(%error, "a buffer on a CUDA device cannot be freed");
        }
    }
}

impl fmt::Debug for Buffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Buffer").field("bytes", &self.bytes).finish_non_exhaustive()
    }
}
