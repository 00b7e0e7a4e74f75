//! Kernels: arguments and launches.

use super::buffer::Buffer;
use super::device::Device;
use super::failure::reason;
use super::program::Program;
use crate::Error;
use opencl3::command_queue::CommandQueue;
use opencl3::error_codes::{
    CL_INVALID_KERNEL_NAME, CL_SUCCESS, ClError, DLOPEN_FUNCTION_NOT_AVAILABLE, DLOPEN_RUNTIME_LOAD_FAILED,
};
use opencl3::event::Event;
use opencl3::kernel::Kernel as RawKernel;
use opencl3::types::{cl_event, cl_mem};
use std::fmt;
use std::ptr;

/// A kernel of a program, with arguments of its own. Made by [`Program::kernel`].
pub struct Kernel {
    device: Device,
    raw: RawKernel,
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
        Ok(Self { device: device.clone(), raw, name: name.to_owned(), max_group_size })
    }

    /// The most work-items that a group of this kernel can have on its device, given the registers and the local memory
    /// that it takes.
    pub fn max_group_size(&self) -> usize {
        self.max_group_size
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
        &mut self,
        queue: &CommandQueue,
        groups: usize,
        group_size: usize,
        arguments: &[Argument<'_>],
    ) -> Result<Event, Error> {
        for (index, argument) in (0..).zip(arguments) {
            // SAFETY: the caller vouches for number and types of the arguments.
            unsafe { self.set(index, argument) }
                .map_err(|error| self.failure("take a kernel's argument", &error))?;
        }
        let mut event = ptr::null_mut();
        // SAFETY: the caller vouches for what the kernel does.
        unsafe { self.enqueue(queue, groups, group_size, &mut event) }?;
        Ok(Event::new(event))
    }

    /// Sets one argument; the others stay as they are.
    ///
    /// # Safety
    ///
    /// The kernel has an argument of this type at this index.
    pub(super) unsafe fn set_argument(&mut self, index: u32, argument: Argument<'_>) -> Result<(), Error> {
        // SAFETY: the caller vouches for the type.
        unsafe { self.set(index, &argument) }
            .map_err(|error| self.failure("take a kernel's argument", &error))
    }

    /// Queues one run with the arguments as they are. An event costs time on some devices, so one is made only where
    /// there is a place for it; the place is a null pointer or holds the event afterwards.
    ///
    /// # Safety
    ///
    /// As for [`Kernel::launch`]; `event` is null or a place to write to.
    pub(super) unsafe fn enqueue(
        &self,
        queue: &CommandQueue,
        groups: usize,
        group_size: usize,
        event: *mut cl_event,
    ) -> Result<(), Error> {
        let global = groups.checked_mul(group_size).ok_or_else(|| Error::Device {
            device: self.device.info().name.clone(),
            operation: "run a kernel",
            reason: format!("kernel '{}': {groups} groups of {group_size} items are too many", self.name),
        })?;
        // opencl3 asks for an event with every command, so the driver is called directly.
        let code = match cl3::load_library() {
            // There is one dimension, with its size in one place each; the caller vouches for what the kernel does.
            Ok(driver) => driver.clEnqueueNDRangeKernel(
                queue.get(),
                self.raw.get(),
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

    /// # Safety
    ///
    /// The kernel has an argument of this type at this index.
    unsafe fn set(&self, index: u32, argument: &Argument<'_>) -> Result<(), ClError> {
        // SAFETY: every value is given with the size of its own type; the caller vouches that the kernel's is the same.
        unsafe {
            match argument {
                Argument::Buffer(buffer) => self.raw.set_arg(index, &buffer.memory()),
                Argument::Memory(memory) => self.raw.set_arg(index, memory),
                Argument::U32(value) => self.raw.set_arg(index, value),
                Argument::U64(value) => self.raw.set_arg(index, value),
                Argument::Local(bytes) => self.raw.set_arg_local_buffer(index, *bytes),
            }
        }
    }

    /// The device's error, with the kernel's name.
    fn failure(&self, operation: &'static str, error: &ClError) -> Error {
        match self.device.failure(operation, error) {
            Error::Device { device, operation, .. } => Error::Device {
                device,
                operation,
                reason: format!("kernel '{}': {}", self.name, reason(error)),
            },
            other => other,
        }
    }
}

/// A kernel without its device, so that the device can keep it.
pub(super) struct IdleKernel {
    raw: RawKernel,
    name: String,
    max_group_size: usize,
}

impl IdleKernel {
    /// The kernel again, on the device that keeps it. Its arguments have to be set anew.
    pub(super) fn wake(self, device: &Device) -> Kernel {
        let Self { raw, name, max_group_size } = self;
        Kernel { device: device.clone(), raw, name, max_group_size }
    }
}

impl Kernel {
    pub(super) fn rest(self) -> IdleKernel {
        let Self { raw, name, max_group_size, .. } = self;
        IdleKernel { raw, name, max_group_size }
    }
}

impl fmt::Debug for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Kernel")
            .field("name", &self.name)
            .field("device", &self.device)
            .finish_non_exhaustive()
    }
}
