//! Between host memory and buffers: small ones by one command, large ones through pinned memory, in chunks that overlap.

use super::buffer::Buffer;
use super::device::Device;
use super::timing::Moment;
use crate::Error;
use crate::gpu::driver::{Transfer, check_fits};
use crate::gpu::lock::lock;
use crate::gpu::memory::staging::STAGED_FROM_BYTES;
use crate::gpu::memory::{Look, show};
use cudarc::driver::sys;
use std::sync::Mutex;

const UPLOAD: &str = "upload data";
const DOWNLOAD: &str = "download data";

/// Host memory to the start of a buffer, shown on its way.
pub(super) fn upload(
    device: &Device,
    from: &[u8],
    to: &Buffer,
    look: Option<Look<'_>>,
) -> Result<Transfer, Error> {
    check_fits(device, UPLOAD, from.len(), to)?;
    let started = Mutex::default();
    let start = |chunk: &[u8], offset| {
        begin(device, &started)?;
        // SAFETY: the host leaves the chunk as it is until the moment that is recorded here is waited for or, after an
        // error, the device has finished; the buffer has these bytes behind the offset.
        unsafe { write(device, chunk, to, offset) }?;
        Moment::record(device, device.stream())
    };
    let mut staging = if from.len() < STAGED_FROM_BYTES { None } else { device.staging(from.len()) };
    let moments = match &mut staging {
        Some(staging) => staging.send(from, look, start, |moment| moment.wait(device)),
        None => {
            let moment = at_once(from, start);
            // While it travels.
            if let Some(look) = look {
                show(from, look);
            }
            moment
        }
    };
    settled(device, from.len(), started, moments)
}

/// The start of a buffer to host memory, shown when it is there.
pub(super) fn download(
    device: &Device,
    from: &Buffer,
    to: &mut [u8],
    look: Option<Look<'_>>,
) -> Result<Transfer, Error> {
    check_fits(device, DOWNLOAD, to.len(), from)?;
    // Whatever failed before must show before the caller's memory is touched.
    device.finish()?;
    let bytes = to.len();
    let started = Mutex::default();
    let start = |chunk: &mut [u8], offset| {
        begin(device, &started)?;
        // SAFETY: the host leaves the chunk alone until the moment that is recorded here is waited for or, after an error,
        // the device has finished; the buffer has these bytes behind the offset.
        unsafe { read(device, from, offset, chunk) }?;
        Moment::record(device, device.stream())
    };
    let mut staging = if bytes < STAGED_FROM_BYTES { None } else { device.staging(bytes) };
    let moments = match &mut staging {
        Some(staging) => staging.fetch(to, look, start, |moment| moment.wait(device)),
        None => at_once(&mut *to, start),
    };
    let down = settled(device, bytes, started, moments)?;
    if let (None, Some(look)) = (staging, look) {
        show(to, look);
    }
    Ok(down)
}

/// The moment before the first chunk; what the host does before it does not count.
fn begin(device: &Device, started: &Mutex<Option<Moment>>) -> Result<(), Error> {
    let mut started = lock(started);
    if started.is_none() {
        *started = Some(Moment::record(device, device.stream())?);
    }
    Ok(())
}

/// Everything as one chunk; nothing for nothing.
fn at_once<M: AsRef<[u8]>>(
    memory: M,
    start: impl FnOnce(M, usize) -> Result<Moment, Error>,
) -> Result<Vec<Moment>, Error> {
    if memory.as_ref().is_empty() { Ok(Vec::new()) } else { Ok(vec![start(memory, 0)?]) }
}

/// What the transfer took; or, after an error, the error. No command is under way any more that could use the memory.
fn settled(
    device: &Device,
    bytes: usize,
    started: Mutex<Option<Moment>>,
    moments: Result<Vec<Moment>, Error>,
) -> Result<Transfer, Error> {
    let last = Moment::record(device, device.stream());
    let finished = device.finish();
    // The first error says more than what follows from it.
    moments?;
    finished?;
    match &*lock(&started) {
        Some(first) => Ok(Transfer { elapsed: first.until(device, &last?)?, bytes }),
        None => Ok(Transfer::default()),
    }
}

/// # Safety
///
/// The host's memory must stay as it is until the copy is done, and the buffer have the bytes.
unsafe fn write(device: &Device, from: &[u8], to: &Buffer, offset: usize) -> Result<(), Error> {
    let failed = |error| device.failure(UPLOAD, error);
    // Every time: a thread that copied on a pool may have worked for another device in between.
    device.context().bind_to_thread().map_err(failed)?;
    let (to, stream) = (to.address() + offset as u64, device.stream().cu_stream());
    // SAFETY: as the caller says.
    unsafe { sys::cuMemcpyHtoDAsync_v2(to, from.as_ptr().cast(), from.len(), stream) }
        .result()
        .map_err(failed)
}

/// # Safety
///
/// The host's memory must be left alone until the copy is done, and the buffer have the bytes.
unsafe fn read(device: &Device, from: &Buffer, offset: usize, to: &mut [u8]) -> Result<(), Error> {
    let failed = |error| device.failure(DOWNLOAD, error);
    device.context().bind_to_thread().map_err(failed)?;
    let (from, stream) = (from.address() + offset as u64, device.stream().cu_stream());
    // SAFETY: as the caller says.
    unsafe { sys::cuMemcpyDtoHAsync_v2(to.as_mut_ptr().cast(), from, to.len(), stream) }
        .result()
        .map_err(failed)
}
