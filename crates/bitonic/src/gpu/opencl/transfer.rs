//! Between host memory and buffers, by the shortest route that the device has.

use super::buffer::Buffer;
use super::device::Device;
use super::failure::failure;
use super::staging::PinnedChunk;
use super::timing::{completed, span};
use crate::Error;
use crate::gpu::driver::{Transfer, check_fits};
use crate::gpu::memory::staging::{STAGED_FROM_BYTES, Staging};
use crate::gpu::memory::{Look, Shown, copy, show};
use opencl3::command_queue::{enqueue_map_buffer, enqueue_read_buffer, enqueue_write_buffer};
use opencl3::error_codes::{CL_MAP_FAILURE, ClError};
use opencl3::event::Event;
use opencl3::memory::{CL_MAP_READ, CL_MAP_WRITE_INVALIDATE_REGION};
use opencl3::types::{CL_BLOCKING, CL_NON_BLOCKING, cl_bool, cl_map_flags, cl_mem};
use std::ptr;
use std::slice;
use std::time::{Duration, Instant};

/// Host memory to the start of a buffer, shown on its way.
pub(super) fn upload(
    device: &Device,
    from: &[u8],
    to: &Buffer,
    look: Option<Look<'_>>,
) -> Result<Transfer, Error> {
    upload_by(Route::shortest(device, from.len()), device, from, to, look)
}

/// The start of a buffer to host memory, shown when it is there.
pub(super) fn download(
    device: &Device,
    from: &Buffer,
    to: &mut [u8],
    look: Option<Look<'_>>,
) -> Result<Transfer, Error> {
    // Whatever failed before must show before the caller's memory is touched.
    device.finish()?;
    download_by(Route::shortest(device, to.len()), device, from, to, look)
}

/// How data gets to the device or back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Route {
    /// The device works in the host's memory: map the buffer and copy.
    Mapped,
    /// One command, and the driver sees to the rest.
    Direct,
    /// Through pinned memory, in chunks that overlap.
    Staged,
}

impl Route {
    fn shortest(device: &Device, bytes: usize) -> Self {
        if device.info().shares_host_memory {
            Self::Mapped
        } else if bytes < STAGED_FROM_BYTES {
            Self::Direct
        } else {
            Self::Staged
        }
    }
}

const UPLOAD: &str = "upload data";
const DOWNLOAD: &str = "download data";

fn upload_by(
    route: Route,
    device: &Device,
    from: &[u8],
    to: &Buffer,
    look: Option<Look<'_>>,
) -> Result<Transfer, Error> {
    check_fits(device, UPLOAD, from.len(), to)?;
    if from.is_empty() {
        return Ok(Transfer::default());
    }
    let staging = if route == Route::Staged { device.staging(from.len()) } else { None };
    let elapsed = match (route, staging) {
        (Route::Mapped, _) => {
            let access = CL_MAP_WRITE_INVALIDATE_REGION;
            let shown = look.map_or(Shown::Nothing, Shown::Source);
            with_mapped(device, UPLOAD, to, from.len(), access, |memory| copy(from, memory, shown))?
        }
        (Route::Staged, Some(mut staging)) => {
            let events = settled(device, UPLOAD, to, write_staged(device, from, to, &mut staging, look))?;
            total(device, &events)?
        }
        _ => {
            if let Some(look) = look {
                show(from, look);
            }
            // SAFETY: the command is done when the call returns, so that it does not outlive the borrowed memory.
            unsafe { write(device, CL_BLOCKING, from, to, 0) }
                .map_err(|error| to.failure(device, UPLOAD, &error))
                .and_then(|event| span(&event, &event))?
        }
    };
    Ok(Transfer { elapsed, bytes: from.len() })
}

fn download_by(
    route: Route,
    device: &Device,
    from: &Buffer,
    to: &mut [u8],
    look: Option<Look<'_>>,
) -> Result<Transfer, Error> {
    check_fits(device, DOWNLOAD, to.len(), from)?;
    if to.is_empty() {
        return Ok(Transfer::default());
    }
    let bytes = to.len();
    let staging = if route == Route::Staged { device.staging(bytes) } else { None };
    let elapsed = match (route, staging) {
        (Route::Mapped, _) => {
            let shown = look.map_or(Shown::Nothing, Shown::Target);
            with_mapped(device, DOWNLOAD, from, bytes, CL_MAP_READ, |memory| copy(memory, to, shown))?
        }
        (Route::Staged, Some(mut staging)) => {
            let events = settled(device, DOWNLOAD, from, read_staged(device, from, to, &mut staging, look))?;
            total(device, &events)?
        }
        _ => {
            // SAFETY: the command is done when the call returns, so that it does not outlive the borrowed memory.
            let elapsed = unsafe { read(device, CL_BLOCKING, from, 0, to) }
                .map_err(|error| from.failure(device, DOWNLOAD, &error))
                .and_then(|event| span(&event, &event))?;
            if let Some(look) = look {
                show(to, look);
            }
            elapsed
        }
    };
    Ok(Transfer { elapsed, bytes })
}

/// Maps the start of a buffer, lets `work` read or write it, and gives it back to the device.
fn with_mapped(
    device: &Device,
    operation: &'static str,
    buffer: &Buffer,
    bytes: usize,
    access: cl_map_flags,
    work: impl FnOnce(&mut [u8]),
) -> Result<Duration, Error> {
    let Some(_host_access) = buffer.host_access() else {
        let reason = "another transfer of the same buffer is under way".to_owned();
        return Err(Error::Device { device: device.info().name.clone(), operation, reason });
    };
    let failed = |error| buffer.failure(device, operation, &error);
    let mut memory: cl_mem = ptr::null_mut();
    // SAFETY: the buffer has these bytes.
    let event = unsafe {
        enqueue_map_buffer(
            device.queue().get(),
            buffer.memory(),
            CL_BLOCKING,
            access,
            0,
            bytes,
            &mut memory,
            0,
            ptr::null(),
        )
    };
    drop(Event::new(event.map_err(|code| failed(ClError(code)))?));
    if memory.is_null() {
        return Err(failed(ClError(CL_MAP_FAILURE)));
    }
    let started = Instant::now();
    // SAFETY: the driver mapped this many bytes here and the device keeps off them until they are given back below; the
    // lock keeps other threads of the host off.
    work(unsafe { slice::from_raw_parts_mut(memory.cast(), bytes) });
    // SAFETY: this is what was mapped above, and nobody has a reference to it any more.
    let event = unsafe { device.queue().enqueue_unmap_mem_object(buffer.memory(), memory, &[]) };
    completed(&event.map_err(failed)?).map_err(failed)?;
    Ok(started.elapsed())
}

/// Through pinned memory to the start of a buffer.
fn write_staged(
    device: &Device,
    from: &[u8],
    to: &Buffer,
    staging: &mut Staging<'_, PinnedChunk>,
    look: Option<Look<'_>>,
) -> Result<Vec<Event>, ClError> {
    let start = |chunk: &[u8], offset| {
        // SAFETY: the chunk stays, and stays as it is, until its event is waited for or, after an error, `settled`.
        let event = unsafe { write(device, CL_NON_BLOCKING, chunk, to, offset) }?;
        device.queue().flush()?;
        Ok(event)
    };
    staging.send(from, look, start, completed)
}

/// From the start of a buffer through pinned memory.
fn read_staged(
    device: &Device,
    from: &Buffer,
    to: &mut [u8],
    staging: &mut Staging<'_, PinnedChunk>,
    look: Option<Look<'_>>,
) -> Result<Vec<Event>, ClError> {
    let start = |chunk: &mut [u8], offset| {
        // SAFETY: the chunk stays, and is left alone, until its event is waited for or, after an error, `settled`.
        let event = unsafe { read(device, CL_NON_BLOCKING, from, offset, chunk) }?;
        device.queue().flush()?;
        Ok(event)
    };
    staging.fetch(to, look, start, completed)
}

/// The events; or, after an error, the error, once no command is under way that could still use a chunk.
fn settled(
    device: &Device,
    operation: &'static str,
    buffer: &Buffer,
    events: Result<Vec<Event>, ClError>,
) -> Result<Vec<Event>, Error> {
    events.map_err(|error| {
        // The first error says more than what follows from it.
        let _ = device.finish();
        buffer.failure(device, operation, &error)
    })
}

/// From the start of the first to the end of the last, which are in no order.
fn total(device: &Device, events: &[Event]) -> Result<Duration, Error> {
    let (mut start, mut end) = (u64::MAX, 0);
    for event in events {
        let times =
            event.profiling_command_start().and_then(|start| Ok((start, event.profiling_command_end()?)));
        let times = times.map_err(|error| failure(&device.info().name, "time a command", &error))?;
        (start, end) = (start.min(times.0), end.max(times.1));
    }
    Ok(Duration::from_nanos(end.saturating_sub(start)))
}

/// # Safety
///
/// Unless the call blocks, the memory must stay as it is until the event is complete.
unsafe fn write(
    device: &Device,
    blocking: cl_bool,
    from: &[u8],
    to: &Buffer,
    offset: usize,
) -> Result<Event, ClError> {
    let queue = device.queue().get();
    // SAFETY: the memory has these bytes, and the caller keeps it; the driver checks the buffer's end.
    let event = unsafe {
        enqueue_write_buffer(
            queue,
            to.memory(),
            blocking,
            offset,
            from.len(),
            from.as_ptr().cast(),
            0,
            ptr::null(),
        )
    };
    event.map(Event::new).map_err(ClError)
}

/// # Safety
///
/// Unless the call blocks, the memory must be left alone until the event is complete.
unsafe fn read(
    device: &Device,
    blocking: cl_bool,
    from: &Buffer,
    offset: usize,
    to: &mut [u8],
) -> Result<Event, ClError> {
    let queue = device.queue().get();
    // SAFETY: the memory has these bytes, and the caller keeps it; the driver checks the buffer's end.
    let event = unsafe {
        enqueue_read_buffer(
            queue,
            from.memory(),
            blocking,
            offset,
            to.len(),
            to.as_mut_ptr().cast(),
            0,
            ptr::null(),
        )
    };
    event.map(Event::new).map_err(ClError)
}

#[cfg(test)]
mod tests {
    use super::super::testing;
    use super::*;
    use crate::gpu::memory::staging::CHUNK_BYTES;

    const ROUTES: [Route; 3] = [Route::Mapped, Route::Direct, Route::Staged];

    fn pattern(bytes: usize) -> Vec<u8> {
        (0_u32..).map(|index| (index.wrapping_mul(0x9e37_79b9) >> 24) as u8).take(bytes).collect()
    }

    #[test]
    fn what_goes_up_comes_down_by_every_route_at_every_size() {
        let device = testing::device();
        for bytes in [0, 1, 255, CHUNK_BYTES - 1, CHUNK_BYTES, 3 * CHUNK_BYTES + 17, 5 * CHUNK_BYTES] {
            let sent = pattern(bytes);
            let buffer = device.allocate(bytes).expect("a device has this much memory");
            for route in ROUTES {
                let up = upload_by(route, &device, &sent, &buffer, None);
                assert_eq!(up.map(|up| up.bytes), Ok(bytes), "{route:?}");
                for back in ROUTES {
                    let mut received = vec![0; bytes];
                    let down = download_by(back, &device, &buffer, &mut received, None);
                    assert_eq!(down.map(|down| down.bytes), Ok(bytes), "{back:?}");
                    assert!(sent == received, "{bytes} bytes, up {route:?}, down {back:?}");
                }
                let erased = upload_by(Route::Direct, &device, &vec![0xff; bytes], &buffer, None);
                assert!(erased.is_ok());
            }
        }
    }

    #[test]
    fn a_transfer_touches_no_more_than_its_own_bytes() {
        let device = testing::device();
        let buffer = device.allocate(1000).expect("a device has this much memory");
        for route in ROUTES {
            upload_by(route, &device, &[7; 1000], &buffer, None).expect("the buffer has 1000 bytes");
            upload_by(route, &device, &[8; 10], &buffer, None).expect("the buffer has 10 bytes");
            let mut received = [0; 1000];
            download_by(route, &device, &buffer, &mut received[..900], None)
                .expect("the buffer has 900 bytes");
            assert!(
                received[..10] == [8; 10] && received[10..900] == [7; 890] && received[900..] == [0; 100]
            );
        }
    }

    #[test]
    fn more_than_the_buffer_holds_is_refused_by_every_route() {
        let device = testing::device();
        let buffer = device.allocate(10).expect("a device has this much memory");
        for route in ROUTES {
            let up = upload_by(route, &device, &[1; 11], &buffer, None);
            let down = download_by(route, &device, &buffer, &mut [1; 11], None);
            for refused in [up, down] {
                let Err(Error::Device { reason, .. }) = refused else {
                    panic!("{route:?} took 11 of 10 bytes")
                };
                assert_eq!(reason, "11 bytes do not fit a buffer of 10");
            }
        }
    }

    #[test]
    fn two_mapped_transfers_of_one_buffer_at_once_are_refused() {
        let device = testing::device();
        let buffer = device.allocate(10).expect("a device has this much memory");
        let busy = buffer.host_access();
        assert!(matches!(upload_by(Route::Mapped, &device, &[1], &buffer, None), Err(Error::Device { .. })));
        drop(busy);
        assert!(upload_by(Route::Mapped, &device, &[1], &buffer, None).is_ok());
    }

    #[test]
    fn transfers_go_on_when_no_pinned_memory_is_left() {
        let device = testing::device();
        let held: Vec<_> = std::iter::from_fn(|| device.staging(1)).collect();
        assert!(!held.is_empty() && device.staging(1).is_none());

        let sent = pattern(CHUNK_BYTES + 1);
        let buffer = device.allocate(sent.len()).expect("a device has this much memory");
        let mut received = vec![0; sent.len()];
        assert!(upload_by(Route::Staged, &device, &sent, &buffer, None).is_ok());
        assert!(download_by(Route::Staged, &device, &buffer, &mut received, None).is_ok());
        assert!(sent == received);
    }

    #[test]
    fn the_route_is_chosen_by_memory_and_size() {
        let device = testing::device();
        let [small, large] =
            [STAGED_FROM_BYTES - 1, STAGED_FROM_BYTES].map(|bytes| Route::shortest(&device, bytes));
        let expected = if device.info().shares_host_memory {
            [Route::Mapped; 2]
        } else {
            [Route::Direct, Route::Staged]
        };
        assert_eq!([small, large], expected);
    }
}
