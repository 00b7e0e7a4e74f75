//! Whether `Auto` should use a device.

use super::backends::{BACKENDS, Backend};
use super::choice::DeviceChoice;
use super::engine::DeviceEngine;
use super::tuning::Crossover;
use crate::Error;
use std::sync::{Arc, OnceLock};

/// Fewer keys than this no device sorts sooner than the CPU: two transfers and a launch take longer.
const FEWEST: usize = 1 << 9;

/// A device that was measured to sort this many keys faster than the CPU, if there is one; or why none can be used now.
///
/// Costs nothing where nothing was tuned: not even a driver is loaded. Of several, the first in the list of backends counts; where
/// that lacks its compiler, another backend of the same driver may serve.
#[inline]
pub(crate) fn worthwhile(len: usize) -> Option<Result<Arc<dyn DeviceEngine>, Error>> {
    if len < FEWEST { None } else { worthwhile_of_many(len) }
}

fn worthwhile_of_many(len: usize) -> Option<Result<Arc<dyn DeviceEngine>, Error>> {
    static CROSSOVERS: OnceLock<Vec<Crossover>> = OnceLock::new();

    let crossovers = CROSSOVERS.get_or_init(|| {
        let mut crossovers = Crossover::load_all();
        let place = |crossover: &Crossover| BACKENDS.iter().position(|row| row.engine == crossover.engine);
        crossovers.sort_by_key(|crossover| (place(crossover), crossover.faster_from));
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
fn open_by_full_name(crossover: &Crossover) -> Result<Arc<dyn DeviceEngine>, Error> {
    static FOUND: OnceLock<(Crossover, DeviceChoice)> = OnceLock::new();

    let backend = Backend::find(crossover.engine)?;
    match FOUND.get() {
        Some((known, choice)) if known == crossover => return (backend.open)(choice),
        _ => {}
    }
    let name = &crossover.device;
    let index = (backend.list)()?.iter().find(|facts| facts.name == *name).map(|facts| facts.index);
    match index {
        Some(index) => {
            let choice = DeviceChoice::Index(index);
            let device = (backend.open)(&choice)?;
            // Another that was found before stays the one that is remembered.
            let _ = FOUND.set((crossover.clone(), choice));
            Ok(device)
        }
        // The error lists the devices there are.
        None => (backend.open)(&DeviceChoice::Name(name.clone())),
    }
}
