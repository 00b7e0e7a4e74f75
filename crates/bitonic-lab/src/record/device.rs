//! The device that something was measured on.

use crate::implementation::{RunsOn, Settings};
use bitonic::device::{self, DeviceFacts};

/// A device that something was measured on.
#[derive(Clone, Debug, PartialEq)]
pub struct DeviceDescription {
    /// The device's name.
    pub name: String,
    /// What sort of device it is: a GPU, a processor.
    pub kind: String,
    /// Whose implementation of the interface it is.
    pub platform: String,
    /// The driver's version; empty if it is not known.
    pub driver: String,
    /// The version of OpenCL or CUDA, and what the device supports of it.
    pub interface: String,
    /// How many multiprocessors or cores it has.
    pub compute_units: usize,
    /// Its memory.
    pub memory_bytes: u64,
    /// What a group can share.
    pub local_bytes: usize,
    /// How many bytes it reads plus writes a second when it copies its own memory, where that can be measured.
    pub copy_bytes_per_second: Option<f64>,
}

impl DeviceDescription {
    /// The device of these settings. Measures how fast it copies its memory.
    ///
    /// # Errors
    ///
    /// If there is none. The processor is not a device.
    pub fn open(runs_on: RunsOn, settings: &Settings) -> Result<Self, bitonic::Error> {
        let device = device::open(runs_on.engine(), &settings.device)?;
        let copy = device.copy_bandwidth().ok();
        Ok(Self::of(&device.facts(), copy))
    }

    /// A device with these facts, which copies so many bytes a second.
    pub fn of(facts: &DeviceFacts, copy_bytes_per_second: Option<f64>) -> Self {
        Self {
            name: facts.name.clone(),
            kind: facts.kind.to_string(),
            platform: facts.platform.clone(),
            driver: facts.driver.clone(),
            interface: facts.interface.clone(),
            compute_units: facts.units,
            memory_bytes: facts.memory_bytes,
            local_bytes: facts.local_bytes,
            copy_bytes_per_second,
        }
    }
}
