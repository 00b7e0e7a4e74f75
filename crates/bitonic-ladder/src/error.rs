//! Why a rung did not sort.

use crate::{Rung, RunsOn};
use std::num::NonZero;

/// Why a rung was not found or did not sort. The caller's keys are as they were.
///
/// Every message says what to do next.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LadderError {
    /// The rung takes powers of two only, and the slice has another length.
    #[error(
        "{rung} sorts powers of two only, and {len} is none: give it {below} or {above} keys, or call \
         bitonic::sort, which takes any length",
        below = (len + 1).next_power_of_two() / 2,
        above = len.next_power_of_two()
    )]
    NotAPowerOfTwo {
        /// The rung that refused.
        rung: Rung,
        /// The number of keys it was given.
        len: usize,
    },

    /// No rung has this name.
    #[error("unknown rung '{name}': use one of {known}", known = names())]
    UnknownRung {
        /// The name given.
        name: String,
    },

    /// The threads asked for could not be started.
    #[error("{threads} threads could not be started: {reason}; ask for fewer")]
    Threads {
        /// The number asked for.
        threads: NonZero<usize>,
        /// What the system said.
        reason: String,
    },

    /// The device that the rung works on is missing, or failed.
    #[error("{rung} did not sort: {reason}")]
    Device {
        /// The rung that needs the device.
        rung: Rung,
        /// What is wrong, and what to do.
        reason: bitonic::Error,
    },

    /// The rung does not run on what was asked for.
    #[error("{rung} does not work on {runs_on}: choose {choices}, or another rung", choices = choices(*rung))]
    NotThere {
        /// The rung that refused.
        rung: Rung,
        /// What was asked for.
        runs_on: RunsOn,
    },

    /// The rung works on the processor, and was given keys on a device.
    #[error(
        "{rung} works on the processor, not on keys in the memory of a device: give it a slice, or choose a rung whose \
         places are opencl and cuda"
    )]
    NotOnDevice {
        /// The rung that refused.
        rung: Rung,
    },

    /// The buffer has no room for as many keys as it is said to hold.
    #[error(
        "a buffer of {bytes} bytes does not hold {len} keys of {key_bytes} bytes: give the number of its keys"
    )]
    BufferTooShort {
        /// The length of the buffer.
        bytes: usize,
        /// The number of keys it was said to hold.
        len: usize,
        /// The size of a key.
        key_bytes: usize,
    },
}

fn names() -> String {
    Rung::ALL.iter().map(|rung| rung.name()).collect::<Vec<_>>().join(", ")
}

fn choices(rung: Rung) -> String {
    rung.runs_on().iter().map(|runs_on| runs_on.name()).collect::<Vec<_>>().join(" or ")
}
