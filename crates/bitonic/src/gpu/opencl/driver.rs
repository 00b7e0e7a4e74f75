//! The thin device layer on OpenCL.

use super::buffer::{Buffer, Memory};
use super::device::Device;
use super::kernel::Kernel;
use super::platform::devices;
use super::timing::span;
use super::transfer;
use crate::gpu::DeviceState;
use crate::gpu::choice::DeviceChoice;
use crate::gpu::driver::{Command, Driver, RepeatKey, Source, Transfer, check_fits};
use crate::gpu::facts::DeviceFacts;
use crate::gpu::kernel::Part;
use crate::gpu::memory::Look;
use crate::plan::Launch;
use crate::{Engine, Error};
use opencl3::command_queue::{CommandQueue, enqueue_copy_buffer};
use opencl3::error_codes::ClError;
use opencl3::event::Event;
use std::ptr;
use std::time::Duration;

// SAFETY: transfers and copies check the sizes of the buffers, and the driver checks them again.
unsafe impl Driver for Device {
    type Buffer = Buffer;
    type Memory = Memory;
    type Kernel = Kernel;
    type Queue = CommandQueue;
    type Span = Commands;

    const ENGINE: Engine = Engine::OpenCl;

    const PRELUDE: Part = Part { name: "opencl/prelude.c", text: include_str!("prelude.c") };

    fn list() -> Result<Vec<DeviceFacts>, Error> {
        Ok(devices()?.iter().map(|info| info.facts()).collect())
    }

    fn open(choice: &DeviceChoice) -> Result<Self, Error> {
        Device::open(choice)
    }

    fn facts(&self) -> &DeviceFacts {
        Device::facts(self)
    }

    fn identity(&self) -> String {
        Device::identity(self)
    }

    fn state(&self) -> &DeviceState<Self> {
        Device::state(self)
    }

    fn queue(&self) -> &CommandQueue {
        Device::queue(self)
    }

    fn allocate(&self, bytes: usize) -> Result<Buffer, Error> {
        Device::allocate(self, bytes)
    }

    fn upload(&self, from: &[u8], to: &Buffer) -> Result<Transfer, Error> {
        Device::upload(self, from, to)
    }

    fn download(&self, from: &Buffer, to: &mut [u8]) -> Result<Transfer, Error> {
        Device::download(self, from, to)
    }

    fn upload_shown(&self, from: &[u8], to: &Buffer, look: Look<'_>) -> Result<Transfer, Error> {
        transfer::upload(self, from, to, Some(look))
    }

    fn download_shown(&self, from: &Buffer, to: &mut [u8], look: Look<'_>) -> Result<Transfer, Error> {
        transfer::download(self, from, to, Some(look))
    }

    fn copy(&self, from: &Buffer, to: &Buffer) -> Result<Commands, Error> {
        const OPERATION: &str = "copy a buffer";

        check_fits(self, OPERATION, from.bytes(), to)?;
        let (queue, bytes) = (Device::queue(self).get(), from.bytes());
        // SAFETY: both buffers have this many bytes.
        let event =
            unsafe { enqueue_copy_buffer(queue, from.memory(), to.memory(), 0, 0, bytes, 0, ptr::null()) };
        let event = event.map_err(|code| to.failure(self, OPERATION, &ClError(code)))?;
        Ok(Commands { first: Some(Event::new(event)), last: None })
    }

    fn finish(&self) -> Result<(), Error> {
        Device::finish(self)
    }

    fn build(&self, source: &Source<'_>) -> Result<Kernel, Error> {
        self.program(source.file, source.text, source.options)?.kernel(source.kernel)
    }

    fn options(&self, _: &Launch) -> String {
        "-w -cl-std=CL1.2".to_owned()
    }

    fn most_items(&self, kernel: &Kernel) -> usize {
        kernel.max_group_size()
    }

    /// Only the last command and, where they are timed, the first have an event: on some devices every event takes microseconds.
    unsafe fn submit(
        &self,
        queue: &CommandQueue,
        commands: &[Command<'_, Self>],
        timed: bool,
    ) -> Result<Commands, Error> {
        let mut events = Commands { first: None, last: None };
        for (index, command) in commands.iter().enumerate() {
            let Command { kernel, grid, arguments } = command;
            let (is_first, is_last) = (index == 0, index + 1 == commands.len());
            // SAFETY: as the caller says.
            let event = unsafe {
                let has_event = is_last || is_first && timed;
                kernel.launch_now(queue, grid.groups, grid.group_size, arguments.as_slice(), has_event)
            }?;
            if is_first {
                events.first = event;
            } else if is_last {
                events.last = event;
            }
        }
        Ok(events)
    }

    unsafe fn submit_again<'a>(
        &self,
        queue: &CommandQueue,
        _: RepeatKey<Memory>,
        commands: &mut dyn FnMut() -> Vec<Command<'a, Self>>,
        timed: bool,
    ) -> Result<Commands, Error> {
        // SAFETY: as the caller says.
        unsafe { self.submit(queue, &commands(), timed) }
    }

    fn elapsed(&self, first: &Commands, last: &Commands) -> Result<Duration, Error> {
        match (&first.first, last.last()) {
            (Some(first), Some(last)) => span(first, last),
            _ => Ok(Duration::ZERO),
        }
    }
}

/// The events of commands that were queued together: of the first and, if there are several, of the last.
pub struct Commands {
    first: Option<Event>,
    last: Option<Event>,
}

impl Commands {
    fn last(&self) -> Option<&Event> {
        self.last.as_ref().or(self.first.as_ref())
    }

    /// The event of the last command; `None` if there was none.
    pub(super) fn into_last(self) -> Option<Event> {
        self.last.or(self.first)
    }
}
