//! Times from the device's own clock.

use super::failure::failure;
use crate::Error;
use opencl3::command_queue::{CL_QUEUE_DEVICE, get_command_queue_info};
use opencl3::device::{Device as RawDevice, cl_device_id};
use opencl3::error_codes::{CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, ClError};
use opencl3::event::Event;
use std::time::Duration;

/// How long the command ran on its device. Waits for it.
///
/// # Errors
///
/// [`Error::Device`] when the command failed, or its queue takes no times.
pub fn event_time(event: &Event) -> Result<Duration, Error> {
    span(event, event)
}

/// From the start of one command to the end of another, later one of the same device. Waits for both.
///
/// # Errors
///
/// [`Error::Device`] when a command failed, or its queue takes no times.
pub fn span(first: &Event, last: &Event) -> Result<Duration, Error> {
    let start = completed(first)
        .and_then(|()| first.profiling_command_start())
        .map_err(|error| failure(&device_name(first), "time a command", &error))?;
    let end = completed(last)
        .and_then(|()| last.profiling_command_end())
        .map_err(|error| failure(&device_name(last), "time a command", &error))?;
    Ok(Duration::from_nanos(end.saturating_sub(start)))
}

/// Waits for a command; an error is the command's own code where the driver tells it.
pub(super) fn completed(event: &Event) -> Result<(), ClError> {
    let Err(error) = event.wait() else { return Ok(()) };
    if error.0 == CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST
        && let Ok(status) = event.command_execution_status()
        && status.0 < 0
    {
        return Err(ClError(status.0));
    }
    Err(error)
}

/// The name of the device that an event belongs to, for messages.
fn device_name(event: &Event) -> String {
    let ask = || -> Result<String, ClError> {
        let queue = event.command_queue()?;
        let device = isize::from(get_command_queue_info(queue, CL_QUEUE_DEVICE)?) as cl_device_id;
        RawDevice::new(device).name()
    };
    ask().unwrap_or_else(|_| "the OpenCL device".to_owned())
}
