//! Everything that can be measured: rungs of the ladder, engines of the library, and other sorts, by name.
//!
//! A full name is `place:name`, such as `cpu:recursive` or `opencl:naive_shifts`. The place is what the implementation runs
//! on: a [`RunsOn`]. The place `gpu` stands for CUDA where there is a CUDA device and for OpenCL elsewhere; a name without a
//! place stands for all places.

mod catalogue;
mod engines;
mod ladder;
mod others;

pub use bitonic_ladder::RunsOn;
pub use catalogue::{Chosen, all, choose};
pub use others::sort_with_standard;

use bitonic::key::{Key, KeysMut};
use bitonic::{DeviceChoice, with_keys};
use bitonic_ladder::Rung;
use bitonic_testkit::TestKey;
use engines::EngineSort;
use ladder::RungSort;
use others::OtherSort;
use std::fmt;
use std::num::NonZero;
use std::time::Duration;

/// A sort that can be measured.
#[derive(Clone, Debug, PartialEq)]
pub struct Implementation {
    runs_on: RunsOn,
    sort: Sort,
}

#[derive(Clone, Debug, PartialEq)]
enum Sort {
    Rung(RungSort),
    Engine(EngineSort),
    Other(OtherSort),
}

/// What an implementation's time is expected to grow with; the laboratory foresees by it how long a sort will take.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Algorithm {
    /// Bitonic sort: n log² n.
    Bitonic,
    /// Odd-even transposition: n².
    OddEven,
    /// Anything else: n log n.
    Other,
}

/// How implementations are to sort.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Settings {
    /// How many threads those that have a choice use; `None` is one for every core.
    pub threads: Option<NonZero<usize>>,
    /// The device of those that need one.
    pub device: DeviceChoice,
    /// Whether lengths that an implementation does not take are filled up with the greatest key to one that it takes. The
    /// copies are part of the time.
    pub pad: bool,
}

/// What a device tells of a sort.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DeviceShare {
    /// To the device; `None` where the keys were there before.
    pub upload: Option<Duration>,
    /// From the start of the first kernel to the end of the last one, by the device's clock.
    pub kernels: Duration,
    /// How long kernels ran in this time, where that is known.
    pub busy: Option<Duration>,
    /// From the device; `None` where the keys stay there.
    pub download: Option<Duration>,
    /// How many kernels were launched, where that is known.
    pub launches: Option<u64>,
    /// What the kernels read and wrote in the device's memory, where that is known.
    pub kernel_bytes: Option<u64>,
}

/// Why an implementation did not sort.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{implementation}: {reason}")]
pub struct SortFailed {
    /// Which one.
    pub implementation: String,
    /// What happened, and the way out.
    pub reason: String,
}

impl Implementation {
    /// What it runs on.
    pub fn runs_on(&self) -> RunsOn {
        self.runs_on
    }

    /// Its name, without what it runs on.
    pub fn name(&self) -> &'static str {
        match &self.sort {
            Sort::Rung(rung) => rung.name(),
            Sort::Engine(engine) => engine.name(),
            Sort::Other(other) => other.name(),
        }
    }

    /// What it is, in one line.
    pub fn description(&self) -> &'static str {
        match &self.sort {
            Sort::Rung(rung) => rung.description(),
            Sort::Engine(engine) => engine.description(),
            Sort::Other(other) => other.description(),
        }
    }

    /// Which algorithm it is.
    pub fn algorithm(&self) -> Algorithm {
        match &self.sort {
            Sort::Rung(rung) => rung.algorithm(),
            Sort::Engine(engine) => engine.algorithm(),
            Sort::Other(_) => Algorithm::Other,
        }
    }

    /// Whether it is a rung of the ladder.
    pub fn is_rung(&self) -> bool {
        matches!(self.sort, Sort::Rung(_))
    }

    /// The rung that it is, if it is one.
    pub fn rung(&self) -> Option<Rung> {
        match &self.sort {
            Sort::Rung(rung) => Some(rung.rung()),
            _ => None,
        }
    }

    /// Whether all its work is done by the thread that calls it, so that counters of this thread see all of it.
    pub fn stays_on_its_thread(&self) -> bool {
        self.runs_on == RunsOn::Cpu
            && match &self.sort {
                Sort::Rung(rung) => !rung.is_parallel(),
                Sort::Engine(engine) => engine.is_one_thread(),
                Sort::Other(other) => other.is_one_thread(),
            }
    }

    /// Whether it sorts so many keys without padding.
    pub fn takes(&self, len: usize) -> bool {
        match &self.sort {
            Sort::Rung(rung) => rung.takes(len),
            Sort::Engine(_) | Sort::Other(_) => true,
        }
    }

    /// Sorts keys in place, ascending, and returns what the device, if there is one, tells of it.
    pub fn sort<K: TestKey>(
        &self,
        keys: &mut [K],
        settings: &Settings,
    ) -> Result<Option<DeviceShare>, SortFailed> {
        self.sort_any(keys.into(), settings)
    }

    /// The same for keys of a type that is known at run time. Compiled here, and not again by whoever measures.
    pub fn sort_any(
        &self,
        keys: KeysMut<'_>,
        settings: &Settings,
    ) -> Result<Option<DeviceShare>, SortFailed> {
        if self.takes(keys.len()) || !settings.pad {
            return self.sort_as_it_is(keys, settings);
        }
        with_keys!(keys, keys => {
            let mut padded = Vec::with_capacity(keys.len().next_power_of_two());
            padded.extend_from_slice(keys);
            padded.resize(keys.len().next_power_of_two(), greatest());
            let share = self.sort_as_it_is(padded.as_mut_slice().into(), settings)?;
            keys.copy_from_slice(&padded[..keys.len()]);
            Ok(share)
        })
    }

    fn sort_as_it_is(
        &self,
        keys: KeysMut<'_>,
        settings: &Settings,
    ) -> Result<Option<DeviceShare>, SortFailed> {
        let sorted = match &self.sort {
            Sort::Rung(rung) => rung.sort(keys, self.runs_on, settings).map_err(|error| error.to_string()),
            Sort::Engine(engine) => {
                engine.sort(keys, self.runs_on, settings).map_err(|error| error.to_string())
            }
            Sort::Other(other) => {
                with_keys!(keys, keys => other.sort(keys));
                Ok(None)
            }
        };
        sorted.map_err(|reason| SortFailed { implementation: self.to_string(), reason })
    }
}

/// The greatest value of a type by its total order.
fn greatest<K: TestKey>() -> K {
    let special = K::special().into_iter().max_by_key(|key| Key::to_ordered_bits(*key));
    special.unwrap_or_else(|| K::at(u64::MAX))
}

impl Algorithm {
    /// A rung's.
    pub fn of(rung: Rung) -> Self {
        if rung.is_quadratic() { Self::OddEven } else { Self::Bitonic }
    }

    /// What the time is expected to grow with, up to a factor.
    pub fn work(self, n: usize) -> f64 {
        let n = n.max(2) as f64;
        match self {
            Self::Bitonic => n * n.log2() * (n.log2() + 1.0),
            Self::OddEven => n * n,
            Self::Other => n * n.log2(),
        }
    }

    /// The algorithm in words.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Bitonic => "bitonic",
            Self::OddEven => "odd-even",
            Self::Other => "other",
        }
    }

    /// What the time is expected to grow with, in words.
    pub const fn growth(self) -> &'static str {
        match self {
            Self::Bitonic => "n log² n",
            Self::OddEven => "n²",
            Self::Other => "n log n",
        }
    }
}

impl fmt::Display for Implementation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format!("{}:{}", self.runs_on, self.name()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(name: &str) -> Implementation {
        all().into_iter().find(|implementation| implementation.to_string() == name).unwrap()
    }

    #[test]
    fn a_length_that_a_rung_does_not_take_is_padded_when_asked_for() {
        let recursive = named("cpu:recursive");
        let mut keys = vec![u32::MAX, 5, 3, u32::MAX, 1, 4];
        assert!(recursive.sort(&mut keys, &Settings::default()).is_err());
        recursive.sort(&mut keys, &Settings { pad: true, ..Settings::default() }).unwrap();
        assert_eq!(keys, [1, 3, 4, 5, u32::MAX, u32::MAX]);
        let mut keys = [f32::NAN, -f32::NAN, 0.5];
        recursive.sort(&mut keys, &Settings { pad: true, ..Settings::default() }).unwrap();
        assert!(keys[0].is_nan() && keys[1] == 0.5 && keys[2].is_nan());
    }

    #[test]
    fn counters_see_all_of_what_stays_on_its_thread() {
        for (name, stays) in [
            ("cpu:recursive", true),
            ("cpu:parallel_steps", false),
            ("cpu:bitonic", false),
            ("cpu:bitonic_one_thread", true),
            ("cpu:std", true),
            ("cpu:rayon", false),
            ("opencl:naive_scan", false),
        ] {
            assert_eq!(named(name).stays_on_its_thread(), stays, "{name}");
        }
    }
}
