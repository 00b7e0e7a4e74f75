//! Times from the device's own clock.

use super::device::Device;
use super::library;
use crate::Error;
use cudarc::driver::sys::{CUevent_flags, CUresult};
use cudarc::driver::{CudaEvent, CudaStream, DriverError};
use std::time::Duration;

/// A moment on a stream, for measuring how long what is queued between two of them takes.
///
/// ```no_run
/// use bitonic::cuda::{Device, DeviceChoice, Moment};
///
/// let device = Device::open(&DeviceChoice::Best)?;
/// let before = Moment::record(&device, device.stream())?;
/// // .. queue kernels ..
/// let after = Moment::record(&device, device.stream())?;
/// println!("{:?}", before.until(&device, &after)?);
/// # Ok::<(), bitonic::Error>(())
/// ```
#[derive(Debug)]
pub struct Moment {
    event: CudaEvent,
}

impl Moment {
    /// The moment when everything queued on the stream so far is done. The stream is one of the device's context. Returns
    /// without waiting; the device takes some time for it, as for a very short kernel.
    ///
    /// # Errors
    ///
    /// [`Error::Device`] when the driver refuses, or something queued before failed.
    pub fn record(device: &Device, stream: &CudaStream) -> Result<Self, Error> {
        let event = stream.record_event(Some(CUevent_flags::CU_EVENT_DEFAULT));
        event.map(|event| Self { event }).map_err(|error| device.failure("note a time", error))
    }

    /// Waits until it has come.
    pub(super) fn wait(&self, device: &Device) -> Result<(), Error> {
        self.event.synchronize().map_err(|error| device.failure("finish its work", error))
    }

    /// From this moment to a later one of the same device. Waits for both.
    ///
    /// # Errors
    ///
    /// [`Error::Device`] when something queued before one of them failed.
    pub fn until(&self, device: &Device, later: &Self) -> Result<Duration, Error> {
        let milliseconds =
            elapsed(&self.event, &later.event).map_err(|error| device.failure("measure a time", error))?;
        Ok(Duration::from_secs_f64(f64::from(milliseconds.max(0.0)) / 1e3))
    }
}

fn elapsed(first: &CudaEvent, last: &CudaEvent) -> Result<f32, DriverError> {
    first.synchronize()?;
    last.synchronize()?;
    let function = library::elapsed_time().ok_or(DriverError(CUresult::CUDA_ERROR_NOT_SUPPORTED))?;
    let mut milliseconds = 0.0;
    // SAFETY: both events are alive, and there is a place for the number.
    unsafe { function(&mut milliseconds, first.cu_event(), last.cu_event()) }.result()?;
    Ok(milliseconds)
}
