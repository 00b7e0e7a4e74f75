//! Whether `Auto` should use a device.

use super::choice::DeviceChoice;
use super::chosen::ChosenDevice;
use super::tuning::Crossover;
use super::{cuda, opencl};
use crate::{Engine, Error};
use std::sync::OnceLock;

/// Fewer keys than this no device sorts sooner than the CPU: two transfers and a launch take longer.
const FEWEST: usize = 1 << 9;

/// A device that was measured to sort this many keys faster than the CPU, if there is one; or why none can be used now.
///
/// Costs nothing where nothing was tuned: not even a driver is loaded. Of several, the one on CUDA comes first; where that
/// lacks its compiler, the OpenCL engine of the same driver may serve.
#[inline]
pub(crate) fn worthwhile(len: usize) -> Option<Result<ChosenDevice, Error>> {
    if len < FEWEST { None } else { worthwhile_of_many(len) }
}

fn worthwhile_of_many(len: usize) -> Option<Result<ChosenDevice, Error>> {
    static CROSSOVERS: OnceLock<Vec<Crossover>> = OnceLock::new();

    let crossovers = CROSSOVERS.get_or_init(|| {
        let mut crossovers = Crossover::load_all();
        crossovers.sort_by_key(|crossover| (crossover.engine != Engine::Cuda, crossover.faster_from));
        crossovers
    });
    let mut refused = None;
    for crossover in crossovers.iter().filter(|crossover| len >= crossover.faster_from) {
        match open_by_full_name(crossover) {
            Ok(device) => return Some(Ok(device)),
            Err(error) => {
                tracing::debug!(device = crossover.device, %error, "a device that was tuned cannot be used");
                refused.get_or_insert(error);
            }
        }
    }
    refused.map(Err)
}

/// A choice by name would take any device whose name has this one in it. Opening a device by its index again is cheap.
fn open_by_full_name(crossover: &Crossover) -> Result<ChosenDevice, Error> {
    static FOUND: OnceLock<(Crossover, DeviceChoice)> = OnceLock::new();

    let open = |choice: &DeviceChoice| {
        let unavailable = || Error::EngineUnavailable {
            engine: crossover.engine,
            reason: "it has no devices".to_owned(),
            advice: "run `bitonic tune` again".to_owned(),
        };
        ChosenDevice::open(crossover.engine, choice)?.ok_or_else(unavailable)
    };
    match FOUND.get() {
        Some((known, choice)) if known == crossover => return open(choice),
        _ => {}
    }
    let name = &crossover.device;
    let index = match crossover.engine {
        Engine::Cuda => cuda::devices()?.iter().find(|info| info.name == *name).map(|info| info.index),
        _ => opencl::devices()?.iter().find(|info| info.name == *name).map(|info| info.index),
    };
    match index {
        Some(index) => {
            let choice = DeviceChoice::Index(index);
            let device = open(&choice)?;
            // Another that was found before stays the one that is remembered.
            let _ = FOUND.set((crossover.clone(), choice));
            Ok(device)
        }
        // The error lists the devices there are.
        None => open(&DeviceChoice::Name(name.clone())),
    }
}
