//! Kernels: arguments and launches.

use super::buffer::Buffer;
use super::failure::reason;
use crate::Error;
use cudarc::driver::sys::{self, CUdeviceptr, CUfunction, CUmodule, CUresult};
use cudarc::driver::{CudaContext, CudaStream, DriverError, result};
use std::ffi::{CString, c_void};
use std::fmt;
use std::ptr;
use std::sync::Arc;

/// A kernel of a program. Cheap to clone, and safe to launch from several threads: arguments belong to a launch. Made by
/// [`Program::kernel`](super::Program::kernel).
#[derive(Clone)]
pub struct Kernel {
    module: Arc<Module>,
    function: CUfunction,
    name: Arc<str>,
}

// SAFETY: a function belongs to its module, which lives as long as the kernel, and is tied to no thread.
unsafe impl Send for Kernel {}
// SAFETY: the driver's calls on functions may come from several threads at once.
unsafe impl Sync for Kernel {}

/// What a kernel is given.
#[derive(Clone, Copy, Debug)]
pub enum Argument<'a> {
    /// A buffer, for a pointer.
    Buffer(&'a Buffer),
    /// Device memory that was not allocated by this module, for a pointer.
    Memory(CUdeviceptr),
    /// An `unsigned int`.
    U32(u32),
    /// An `unsigned long long`.
    U64(u64),
}

/// The most arguments of a launch.
const MOST_ARGUMENTS: usize = 16;

impl Kernel {
    pub(super) fn create(module: &Arc<Module>, name: &str) -> Result<Self, Error> {
        let missing = || Error::KernelMissing { kernel: name.to_owned(), device: module.device.clone() };
        let plain = CString::new(name).map_err(|_| missing())?;
        let found = module.context.bind_to_thread().and_then(|()| {
            // SAFETY: the module is loaded in the context that is current.
            unsafe { result::module::get_function(module.raw, plain) }
        });
        match found {
            Ok(function) => Ok(Self { module: module.clone(), function, name: name.into() }),
            Err(DriverError(CUresult::CUDA_ERROR_NOT_FOUND)) => Err(missing()),
            Err(error) => Err(module.failure("take a kernel from a program", name, error)),
        }
    }

    /// Queues one run of `groups` blocks of `group_size` threads each, with all arguments in order; returns without waiting.
    ///
    /// # Errors
    ///
    /// [`Error::Device`] when the driver refuses the run, or an earlier one failed. A run that fails later shows in the next
    /// call that waits for the stream.
    ///
    /// # Safety
    ///
    /// The stream must be of the kernel's context; the arguments must be those of the kernel in number and type, and alive
    /// until the run is done; run with them, the kernel must stay inside its buffers.
    pub unsafe fn launch(
        &self,
        stream: &CudaStream,
        groups: usize,
        group_size: usize,
        arguments: &[Argument<'_>],
    ) -> Result<(), Error> {
        let failed = |error| self.module.failure("run a kernel", &self.name, error);
        let invalid = |_| failed(DriverError(CUresult::CUDA_ERROR_INVALID_VALUE));
        let (groups, group_size) =
            (u32::try_from(groups).map_err(invalid)?, u32::try_from(group_size).map_err(invalid)?);
        let mut values = [0_u64; MOST_ARGUMENTS];
        let mut places = [ptr::null_mut::<c_void>(); MOST_ARGUMENTS];
        if arguments.len() > MOST_ARGUMENTS {
            return Err(failed(DriverError(CUresult::CUDA_ERROR_INVALID_VALUE)));
        }
        for ((argument, value), place) in arguments.iter().zip(&mut values).zip(&mut places) {
            *value = match *argument {
                Argument::Buffer(buffer) => buffer.address(),
                Argument::Memory(address) => address,
                // The driver reads as many bytes as the parameter has, and all machines with CUDA are little-endian.
                Argument::U32(number) => u64::from(number),
                Argument::U64(number) => number,
            };
            *place = ptr::from_mut(value).cast();
        }
        self.module.context.bind_to_thread().map_err(failed)?;
        // SAFETY: the function is of a loaded module; there is a place for every argument, which the driver copies before
        // the call returns; the caller vouches for their types and for what the kernel does.
        let launched = unsafe {
            sys::cuLaunchKernel(
                self.function,
                groups,
                1,
                1,
                group_size,
                1,
                1,
                0,
                stream.cu_stream(),
                places.as_mut_ptr(),
                ptr::null_mut(),
            )
        };
        launched.result().map_err(failed)
    }
}

impl fmt::Debug for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Kernel")
            .field("name", &self.name)
            .field("device", &self.module.device)
            .finish_non_exhaustive()
    }
}

/// A program that the driver has loaded; unloaded when dropped.
pub(super) struct Module {
    context: Arc<CudaContext>,
    raw: CUmodule,
    device: String,
}

// SAFETY: a module belongs to its context and is tied to no thread.
unsafe impl Send for Module {}
// SAFETY: the driver's calls on modules may come from several threads at once.
unsafe impl Sync for Module {}

impl Module {
    /// Loads what the compiler made; `device` is the name for messages.
    ///
    /// # Safety
    ///
    /// The image must be whole: the driver is not told how long it is.
    pub(super) unsafe fn load(
        context: &Arc<CudaContext>,
        device: &str,
        image: &[u8],
    ) -> Result<Self, DriverError> {
        context.bind_to_thread()?;
        // SAFETY: a context is current, and the caller vouches for the image.
        let raw = unsafe { result::module::load_data(image.as_ptr().cast()) }?;
        Ok(Self { context: context.clone(), raw, device: device.to_owned() })
    }

    fn failure(&self, operation: &'static str, kernel: &str, error: DriverError) -> Error {
        let reason = format!("kernel '{kernel}': {}", reason(error));
        Error::Device { device: self.device.clone(), operation, reason }
    }
}

impl Drop for Module {
    fn drop(&mut self) {
        let unloaded = self.context.bind_to_thread().and_then(|()| {
            // SAFETY: nobody has the module or a kernel of it any more.
            unsafe { result::module::unload(self.raw) }
        });
        if let Err(error) = unloaded {
            tracing::debug!(%error, "a CUDA module cannot be unloaded");
        }
    }
}
