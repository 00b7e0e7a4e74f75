//! Whether `Auto` should use a device.

use super::device::Device;
use super::platform::devices;
use crate::Error;
use crate::gpu::choice::DeviceChoice;
use crate::gpu::tuning::Crossover;
use std::sync::OnceLock;

/// The device that was measured to sort this many keys faster than the CPU, if there is one; or why it cannot be used now.
///
/// Costs nothing where nothing was tuned: not even a driver is loaded.
pub(crate) fn worthwhile(len: usize) -> Option<Result<Device, Error>> {
    static CROSSOVER: OnceLock<Option<Crossover>> = OnceLock::new();

    let crossover = CROSSOVER.get_or_init(Crossover::load).as_ref()?;
    (len >= crossover.faster_from).then(|| open_by_full_name(&crossover.device))
}

/// A choice by name would take any device whose name has this one in it. Drivers are asked for their list once.
fn open_by_full_name(name: &str) -> Result<Device, Error> {
    static CHOICE: OnceLock<DeviceChoice> = OnceLock::new();

    if let Some(choice) = CHOICE.get() {
        return Device::open(choice);
    }
    let found = devices()?.into_iter().find(|info| info.name == name);
    match found {
        Some(info) => Device::open(CHOICE.get_or_init(|| DeviceChoice::Index(info.index))),
        // The error lists the devices there are.
        None => Device::open(&DeviceChoice::Name(name.to_owned())),
    }
}
