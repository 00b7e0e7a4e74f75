//! Kernels: arguments and launches.

use super::buffer::{Buffer, Memory};
use super::device::Device;
use super::failure::{Health, reason};
use super::program::Program;
use crate::Error;
use crate::gpu::driver;
use crate::gpu::lock::lock;
use opencl3::command_queue::CommandQueue;
use opencl3::error_codes::{
    CL_INVALID_KERNEL_NAME, CL_SUCCESS, ClError, DLOPEN_FUNCTION_NOT_AVAILABLE, DLOPEN_RUNTIME_LOAD_FAILED,
};
use opencl3::event::Event;
use opencl3::kernel::Kernel as RawKernel;
use opencl3::types::{cl_event, cl_mem};
use std::fmt;
use std::ptr;
use std::sync::{Arc, Mutex};

/// A kernel of a program. Cheap to clone, and safe to launch from several threads. Made by [`Program::kernel`].
#[derive(Clone)]
pub struct Kernel {
    shared: Arc<Shared>,
}

struct Shared {
    /// The device keeps its kernels, so they do not keep the device.
    device: Health,
    /// Arguments belong to the kernel until it is queued, so one thread at a time sets them and queues it.
    raw: Mutex<RawKernel>,
    name: String,
    max_group_size: usize,
}

/// What a kernel is given.
#[derive(Clone, Copy, Debug)]
pub enum Argument<'a> {
    /// A buffer, for a `global` pointer.
    Buffer(&'a Buffer),
    /// A buffer that was not made by this module, for a `global` pointer.
    Memory(cl_mem),
    /// A `uint`.
    U32(u32),
    /// A `ulong`.
    U64(u64),
    /// This many bytes of local memory, for a `local` pointer.
    Local(usize),
}

impl From<driver::Argument<Memory>> for Argument<'_> {
    fn from(argument: driver::Argument<Memory>) -> Self {
        match argument {
            driver::Argument::Memory(Memory(memory)) => Self::Memory(memory),
            driver::Argument::U32(number) => Self::U32(number),
            driver::Argument::U64(number) => Self::U64(number),
        }
    }
}

impl Kernel {
    pub(super) fn create(device: &Device, program: &Program, name: &str) -> Result<Self, Error> {
        let missing = || Error::KernelMissing { kernel: name.to_owned(), device: device.info().name.clone() };
        if name.contains('\0') {
            return Err(missing());
        }
        let raw = RawKernel::create(program.raw(), name).map_err(|error| match error.0 {
            CL_INVALID_KERNEL_NAME => missing(),
            _ => device.failure("take a kernel from a program", &error),
        })?;
        let max_group_size = raw
            .get_work_group_size(device.context().default_device())
            .map_err(|error| device.failure("tell a kernel's limits", &error))?;
        let shared = Shared {
            device: device.health().clone(),
            raw: Mutex::new(raw),
            name: name.to_owned(),
            max_group_size,
        };
        Ok(Self { shared: Arc::new(shared) })
    }

    /// The most work-items that a group of this kernel can have on its device, given the registers and the local memory
    /// that it takes.
    pub fn max_group_size(&self) -> usize {
        self.shared.max_group_size
    }

    /// Queues one run of `groups` times `group_size` work-items, with all arguments in order; returns without waiting.
    ///
    /// # Errors
    ///
    /// [`Error::Device`] when the driver refuses an argument or the run. A run that fails later shows in its event, and
    /// in [`Device::finish`].
    ///
    /// # Safety
    ///
    /// The arguments must be those of the kernel in number and type, of the queue's context, and alive until the run is
    /// done; run with them, the kernel must stay inside its buffers.
    pub unsafe fn launch(
        &self,
        queue: &CommandQueue,
        groups: usize,
        group_size: usize,
        arguments: &[Argument<'_>],
    ) -> Result<Event, Error> {
        // SAFETY: as the caller says.
        let event = unsafe { self.launch_now(queue, groups, group_size, arguments, true) }?;
        event.ok_or_else(|| self.failure("run a kernel", &ClError(DLOPEN_FUNCTION_NOT_AVAILABLE)))
    }

    /// The same. An event costs time on some devices, so one is made only where the launch is `timed`.
    ///
    /// # Safety
    ///
    /// As for [`Kernel::launch`].
    pub(super) unsafe fn launch_now<'a, A: Copy + Into<Argument<'a>>>(
        &self,
        queue: &CommandQueue,
        groups: usize,
        group_size: usize,
        arguments: &[A],
        timed: bool,
    ) -> Result<Option<Event>, Error> {
        let raw = lock(&self.shared.raw);
        for (index, &argument) in (0..).zip(arguments) {
            // SAFETY: the caller vouches for number and types of the arguments.
            unsafe { set(&raw, index, &argument.into()) }
                .map_err(|error| self.failure("take a kernel's argument", &error))?;
        }
        let mut event: cl_event = ptr::null_mut();
        let place: *mut cl_event = if timed { &mut event } else { ptr::null_mut() };
        // SAFETY: there is a place for the event if one is asked for; the caller vouches for what the kernel does.
        unsafe { self.enqueue(&raw, queue, groups, group_size, place) }?;
        Ok((!event.is_null()).then(|| Event::new(event)))
    }

    /// Queues one run with the arguments as they are.
    ///
    /// # Safety
    ///
    /// As for [`Kernel::launch`]; `event` is null or a place to write to.
    unsafe fn enqueue(
        &self,
        raw: &RawKernel,
        queue: &CommandQueue,
        groups: usize,
        group_size: usize,
        event: *mut cl_event,
    ) -> Result<(), Error> {
        let global = groups.checked_mul(group_size).ok_or_else(|| Error::Device {
            device: self.shared.device.name().to_owned(),
            operation: "run a kernel",
            reason: format!(
                "kernel '{}': {groups} groups of {group_size} items are too many",
                self.shared.name
            ),
        })?;
        // opencl3 asks for an event with every command, so the driver is called directly.
        let code = match cl3::load_library() {
            // There is one dimension, with its size in one place each; the caller vouches for what the kernel does.
            Ok(driver) => driver.clEnqueueNDRangeKernel(
                queue.get(),
                raw.get(),
                1,
                ptr::null(),
                &global,
                &group_size,
                0,
                ptr::null(),
                event,
            ),
            Err(_) => Some(DLOPEN_RUNTIME_LOAD_FAILED),
        };
        match code.unwrap_or(DLOPEN_FUNCTION_NOT_AVAILABLE) {
            CL_SUCCESS => Ok(()),
            code => Err(self.failure("run a kernel", &ClError(code))),
        }
    }

    /// The device's error, with the kernel's name.
    fn failure(&self, operation: &'static str, error: &ClError) -> Error {
        let Shared { device, name, .. } = &*self.shared;
        match device.failure(operation, error) {
            Error::Device { device, operation, .. } => {
                Error::Device { device, operation, reason: format!("kernel '{name}': {}", reason(error)) }
            }
            other => other,
        }
    }
}

/// # Safety
///
/// The kernel has an argument of this type at this index.
unsafe fn set(kernel: &RawKernel, index: u32, argument: &Argument<'_>) -> Result<(), ClError> {
    // SAFETY: every value is given with the size of its own type; the caller vouches that the kernel's is the same.
    unsafe {
        match argument {
            Argument::Buffer(buffer) => kernel.set_arg(index, &buffer.memory()),
            Argument::Memory(memory) => kernel.set_arg(index, memory),
            Argument::U32(value) => kernel.set_arg(index, value),
            Argument::U64(value) => kernel.set_arg(index, value),
            Argument::Local(bytes) => kernel.set_arg_local_buffer(index, *bytes),
        }
    }
}

impl fmt::Debug for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Kernel")
            .field("name", &self.shared.name)
            .field("device", &self.shared.device.name())
            .finish_non_exhaustive()
    }
}
