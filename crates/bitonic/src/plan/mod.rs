//! A sort is a plan: what will be done, in which passes, with how much memory, known before anything runs.
//!
//! Planning is pure: a [`Request`], the facts about a device and what was measured on it give the plan, and no device is asked.
//! An engine runs just what its plan says; `bitonic explain` prints the same object.

mod chunks;
mod kernels;
mod passes;
mod step;
mod text;

pub use chunks::Chunks;
pub use kernels::{KernelPlan, Launch, Parameter, Place, WorkMemory};
pub use passes::{Limits, Pass, passes};
pub use step::Step;

use crate::engine::Engine;
use crate::instructions::Instructions;
use crate::request::Request;
use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// How the keys get into order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Algorithm {
    /// The bitonic network in flip form, in place: what is compared does not depend on the keys.
    Network,
    /// Columnsort: sorts of tiles between rearrangements of the whole array, in a second one. What is compared and what is moved
    /// does not depend on the keys.
    Columnsort,
    /// Every key to one of many buckets, whose elements were counted before, and the network in every bucket.
    Buckets,
    /// Partitioning in place around pivots until a part fits a tile, and the network there.
    Partition,
    /// Counting how often each value occurs.
    Counting,
    /// The standard library's sort.
    Standard,
    /// Going through all keys, with a bound that the best so far set, and sorting only those that come before it.
    Selection,
    /// The network in the first keys of every row, a power of two of them, and in the rest of it, and a merge of the two.
    MergedRows,
    /// The network in every segment that fits a tile, and merges of sorted tiles in longer ones.
    Segments,
}

impl fmt::Display for Algorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Network => "bitonic network in flip form",
            Self::Columnsort => "columnsort, with the network in every column",
            Self::Buckets => "buckets, with the network in every one",
            Self::Partition => "partition in place, then the network in every tile",
            Self::Counting => "counting",
            Self::Standard => "the standard library's sort",
            Self::Selection => "selection by a bound, with a sort of what comes before it",
            Self::MergedRows => "the network in two parts of every row, and a merge of them",
            Self::Segments => "the network in every segment, and merges of tiles in long ones",
        })
    }
}

/// What a sort will do. Made by [`Sorter::plan`](crate::Sorter::plan) and its like; printed by its `Display`.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Plan {
    /// What the sort is asked to do.
    pub request: Request,
    /// The engine that will run it; never [`Engine::Auto`].
    pub engine: Engine,
    /// What the engine will run on.
    pub device: Cow<'static, str>,
    /// How the keys get into order.
    pub algorithm: Algorithm,
    /// The limits that cut the network into passes.
    pub limits: Limits,
    /// How many CPU threads share the work; on a device, 1.
    pub threads: usize,
    /// The instruction set, if it is the CPU engine.
    pub instructions: Option<Instructions>,
    /// The kernels, if it is the engine of a device; then all passes are those of every chunk, or of the longest, where segments have
    /// different lengths.
    pub kernels: Option<Arc<KernelPlan>>,
    /// The chunks, if the keys are more than the device holds.
    pub chunks: Option<Chunks>,
    /// Memory beyond the caller's arrays.
    pub memory: Memory,
    /// How long the kernels are expected to take, from the measured speed of a copy; `None` if that is not known.
    pub predicted: Option<Duration>,
}

/// Memory beyond the caller's arrays, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Memory {
    /// On the host; 0 when the sort is in place there.
    pub host: usize,
    /// On the device, for the arrays, at a time.
    pub device: u64,
    /// On the device, to work in.
    pub work: u64,
}

impl Plan {
    /// The keys that are sorted at a time: a segment, or a chunk of one.
    pub fn sorted_length(&self) -> usize {
        self.request.segments.longest().div_ceil(self.segment_pieces())
    }

    fn segment_pieces(&self) -> usize {
        self.chunks.map_or(1, |chunks| chunks.row_pieces)
    }

    /// The passes of the network over the data, in order, if it is the CPU's network; kernels tell their own.
    pub fn passes(&self) -> impl Iterator<Item = Pass> {
        let is_listed = self.algorithm == Algorithm::Network && self.kernels.is_none();
        is_listed.then(|| passes(self.sorted_length(), self.limits)).into_iter().flatten()
    }

    /// How many times the data is gone through; for a partition, where it depends on the keys, as many as even parts need.
    pub fn pass_count(&self) -> usize {
        let length = self.sorted_length();
        if length < 2 {
            return 0;
        }
        match (&self.kernels, self.algorithm) {
            (Some(kernels), _) => kernels.passes(),
            (None, Algorithm::Network) => self.passes().count(),
            (None, Algorithm::Partition) => {
                1 + Step::merges(length).saturating_sub(self.limits.tile_log2) as usize
            }
            // The standard library's quicksort halves parts down to about 32 keys.
            (None, Algorithm::Standard) => 1 + Step::merges(length).saturating_sub(5) as usize,
            (None, Algorithm::Counting | Algorithm::Columnsort | Algorithm::Buckets) => 2,
            (None, Algorithm::MergedRows | Algorithm::Selection | Algorithm::Segments) => 1,
        }
    }

    /// How many keys are brought in order without going back to main memory: a tile, or those of groups that sort together.
    pub fn tile_keys(&self) -> usize {
        match &self.kernels {
            Some(kernels) => kernels.tile_keys(),
            None => 1 << self.limits.tile_log2,
        }
    }

    /// The number of comparators of the network, each of which looks at two keys.
    pub fn comparators(&self) -> u128 {
        let of_all_steps = |length| -> u128 {
            (0..Step::count(length)).map(|number| comparators_of(Step::new(number), length)).sum()
        };
        let (length, pieces) = (self.request.segments.longest(), self.segment_pieces());
        let longer = length % pieces;
        let of_segment = of_all_steps(length / pieces) * (pieces - longer) as u128
            + of_all_steps(length.div_ceil(pieces)) * longer as u128;
        of_segment * self.request.segments.count() as u128
    }

    /// What a pass reads and writes if none of it is in a cache.
    pub fn bytes_of_pass(&self) -> u128 {
        match self.kernels {
            Some(_) => 2 * u128::from(self.memory.device),
            None => {
                2 * self.request.len() as u128
                    * (self.request.key.bytes() + self.request.value_bytes()) as u128
            }
        }
    }

    /// The plan in one line, for reports.
    pub fn summary(&self) -> PlanSummary {
        PlanSummary {
            algorithm: self.algorithm,
            passes: self.pass_count(),
            threads: self.kernels.is_none().then_some(self.threads),
            chunks: self.chunks,
            host_bytes: self.memory.host,
        }
    }
}

/// How many comparators a step has on n keys: of every block of 2^span keys, each index in the upper half that exists
/// has its partner below.
fn comparators_of(step: Step, n: usize) -> u128 {
    let half = 1_u128 << (step.span() - 1);
    let n = n as u128;
    n / (2 * half) * half + (n % (2 * half)).saturating_sub(half)
}

/// A [`Plan`] in one line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PlanSummary {
    /// How the keys get into order.
    pub algorithm: Algorithm,
    /// The number of passes over the data.
    pub passes: usize,
    /// How many threads share the work, if it is the CPU's.
    pub threads: Option<usize>,
    /// The chunks, if the keys are more than the device holds.
    pub chunks: Option<Chunks>,
    /// Memory needed on the host beyond the caller's arrays, in bytes.
    pub host_bytes: usize,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comparators_are_counted_as_the_steps_make_them() {
        for n in 0..200 {
            for number in 0..Step::count(n) {
                let step = Step::new(number);
                assert_eq!(comparators_of(step, n), step.comparators(n).count() as u128, "n = {n}, {step:?}");
            }
        }
    }
}
