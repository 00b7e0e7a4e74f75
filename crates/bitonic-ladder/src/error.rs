//! Why a rung did not sort.

use crate::Rung;
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
}

fn names() -> String {
    Rung::ALL.iter().map(|rung| rung.name()).collect::<Vec<_>>().join(", ")
}
