//! The ways to sort on a device. A strategy is one file: when it fits, its launches, its memory, its words.
//!
//! [`kernel_plan`] asks all of them and takes the fastest that fits; the others, each of which needs less, are its fallbacks.

mod best;
mod cluster;
mod columnsort;
mod counted;
mod merged_rows;
mod network;
mod rows;
mod segments;
mod strided;
mod tally;
mod verify;

pub(crate) use best::check_best;
pub(crate) use network::Network;
pub(crate) use strided::copy_plans;
pub(crate) use verify::{OTHER_ELEMENTS, WORDS_BYTES, check_plans};

#[cfg(all(test, feature = "cuda"))]
pub(crate) use columnsort::Columnsort;

use super::facts::DeviceFacts;
use super::job::Job;
use super::kernel::{Arrays, Builder, Tile};
use super::tuning::{Measured, StrategyName, Tuning};
use crate::plan::{Algorithm, KernelPlan, Launch, Limits, Step, WorkMemory, passes};
use std::fmt::Debug;
use std::sync::Arc;

/// A way to sort a job.
pub(crate) trait Strategy: Debug {
    fn algorithm(&self) -> Algorithm;

    /// Every kernel of the sort, in order.
    fn launches(&self, job: &Job, facts: &DeviceFacts) -> Vec<Launch>;

    /// What the kernels need beyond the arrays.
    fn work(&self, job: &Job) -> WorkMemory {
        let _ = job;
        WorkMemory::default()
    }
}

/// A strategy that fits a job.
pub(crate) struct Candidate {
    /// The lower, the faster for this job, as measured.
    rank: u32,
    strategy: Box<dyn Strategy>,
}

/// Whether a strategy fits a job on a device.
type Fit = fn(&Job, &DeviceFacts, &Tuning) -> Option<Candidate>;

/// The list of strategies: a new one is a row here and a file.
const STRATEGIES: &[(StrategyName, Fit)] = &[
    (StrategyName::Network, network::fit),
    // The same network, in rows that leave out what is past their ends.
    (StrategyName::Network, rows::fit),
    (StrategyName::MergedRows, merged_rows::fit),
    (StrategyName::Cluster, cluster::fit),
    (StrategyName::Columnsort, columnsort::fit),
    (StrategyName::Counted, counted::fit),
    (StrategyName::Tally, tally::fit),
];

/// Ranks, from the fastest to the slowest where several strategies fit.
mod rank {
    /// Rows are somewhat longer than a power of two.
    pub(super) const MERGED_ROWS: u32 = 0;
    /// Rows fit tiles with none of their places left empty.
    pub(super) const ROWS: u32 = 1;
    /// The array fits one tile.
    pub(super) const TILE: u32 = 2;
    /// There are few keys that an element can have.
    pub(super) const TALLY: u32 = 3;
    pub(super) const COUNTED: u32 = 4;
    pub(super) const SHORT_CLUSTER: u32 = 5;
    pub(super) const COLUMNSORT: u32 = 6;
    pub(super) const CLUSTER: u32 = 7;
    pub(super) const NETWORK: u32 = 8;
}

/// The strategies that fit, the fastest first: by what was tuned, then by rank.
fn candidates(job: &Job, facts: &DeviceFacts, tuning: &Tuning) -> Vec<(StrategyName, Candidate)> {
    let fit = |&(name, fit): &(StrategyName, Fit)| Some((name, fit(job, facts, tuning)?));
    let mut candidates: Vec<(StrategyName, Candidate)> = STRATEGIES.iter().filter_map(fit).collect();
    let tuned = tuned_strategy(job, tuning);
    candidates.sort_by_key(|(name, candidate)| (Some(*name) != tuned, candidate.rank));
    candidates
}

/// What is tuned are keys as wide as their element, in one array: with values, other strategies fit and others are fast.
fn tuned_strategy(job: &Job, tuning: &Tuning) -> Option<StrategyName> {
    let bytes = job.element.bytes();
    tuning.strategy(bytes, job.row_length).filter(|_| job.rows == 1 && job.element.key_bytes() == bytes)
}

/// The kernels of every strategy that fits, the fastest by rank first, each without a fallback: for `bitonic tune`.
pub(crate) fn each_strategy(
    job: &Job,
    facts: &DeviceFacts,
    tuning: &Tuning,
) -> Vec<(StrategyName, Arc<KernelPlan>)> {
    let limits = Network::new(job, facts, tuning).shape.limits();
    let plan = |(name, candidate): (StrategyName, Candidate)| {
        (name, Arc::new(of_strategy(&*candidate.strategy, job, facts, limits)))
    };
    candidates(job, facts, tuning).into_iter().map(plan).collect()
}

/// The kernels of the fastest strategy that fits, with the others as fallbacks.
pub(crate) fn kernel_plan(job: &Job, facts: &DeviceFacts, tuning: &Tuning) -> Arc<KernelPlan> {
    if job.best.is_some() {
        return best::kernel_plan(job, facts, tuning);
    }
    if let Some(ragged) = job.ragged {
        return segments::kernel_plan(job, ragged, facts, tuning);
    }
    let limits = Network::new(job, facts, tuning).shape.limits();
    let mut plan: Option<Arc<KernelPlan>> = None;
    for (_, candidate) in candidates(job, facts, tuning).iter().rev() {
        let next = of_strategy(&*candidate.strategy, job, facts, limits);
        // What needs neither less memory nor smaller clusters would be refused as well.
        let fallback = plan.take().and_then(|plan| first_below(&plan, &next));
        plan = Some(Arc::new(KernelPlan { fallback, ..next }));
    }
    // The network fits every job.
    plan.unwrap_or_else(|| Arc::new(of_strategy(&Network::new(job, facts, tuning), job, facts, limits)))
}

/// The first plan of a chain that needs less memory or smaller clusters than another.
fn first_below(chain: &Arc<KernelPlan>, than: &KernelPlan) -> Option<Arc<KernelPlan>> {
    let needs_less =
        |plan: &KernelPlan| plan.work.bytes() < than.work.bytes() || plan.cluster() < than.cluster();
    std::iter::once(chain).chain(chain.fallbacks()).find(|plan| needs_less(plan)).cloned()
}

/// The kernels of one strategy, without a fallback, on a device where the network is cut by these limits.
pub(crate) fn of_strategy(
    strategy: &dyn Strategy,
    job: &Job,
    facts: &DeviceFacts,
    limits: Limits,
) -> KernelPlan {
    let is_empty = job.row_length == 0 || job.rows == 0;
    let mut launches = if is_empty { Vec::new() } else { strategy.launches(job, facts) };
    overlap(&mut launches, job, facts);
    let algorithm = strategy.algorithm();
    KernelPlan {
        algorithm,
        launches,
        element_bytes: job.element.bytes(),
        work: if is_empty { WorkMemory::default() } else { strategy.work(job) },
        measured_on: Measured::of(facts).device,
        limits,
        network_passes: (algorithm != Algorithm::Network).then(|| passes(job.row_length, limits).count()),
        fallback: None,
    }
}

/// Lets kernels start early where the device can do that and it pays.
///
/// Then a group takes a unit for itself, by asking for more local memory than two of them find there. A kernel that is started
/// early would otherwise put two groups where the first ones have ended, and have others wait for them.
fn overlap(launches: &mut [Launch], job: &Job, facts: &DeviceFacts) {
    if !facts.overlaps_kernels || job.len() > Measured::of(facts).overlapped_up_to {
        return;
    }
    for (index, launch) in launches.iter_mut().enumerate() {
        launch.overlaps = index > 0;
        if launch.local_bytes > 0 && launch.groups <= facts.units {
            let alone = facts.local_bytes / 2 + 1024;
            launch.local_bytes = launch.local_bytes.max(alone).min(facts.local_bytes);
        }
    }
}

/// The builder of a job's launches, with `work_elements` places in the working memory.
fn builder(job: &Job, arrays: Arrays, work_elements: usize) -> Builder<'_> {
    Builder { job, wide_index: needs_wide_index(job, work_elements), arrays }
}

/// Whether some place, or one that is looked at past the end, may need more than 32 bits.
fn needs_wide_index(job: &Job, work_elements: usize) -> bool {
    const LARGEST_TILE: u128 = 1 << 16;
    let padded = job.row_length.next_power_of_two();
    let in_rows = match job.ragged {
        Some(ragged) => ragged.len as u128,
        None => (job.rows as u128) * (padded as u128),
    };
    // Tiles of long rows, and of a cluster's, reach past the end of each row; those of short rows past the end of all.
    let past_the_end = if job.rows == 1 { LARGEST_TILE } else { 0 };
    job.wide_index || (in_rows + past_the_end).max(work_elements as u128) + LARGEST_TILE > 1 << 31
}

/// The steps of a sort of 2^log2 elements.
fn steps_of_sort(log2: u32) -> u32 {
    Step::first_of_merge(log2 + 1).number()
}

/// What so many steps in a tile cost, in copies: at least the loading and storing.
fn copies_of(steps: u32, measured: &Measured) -> f64 {
    (f64::from(steps) / measured.steps_per_copy).max(1.0)
}

/// Whether there are so many rows that sorting each by one group pays. One that is longer than a tile takes long, so others have to be
/// sorted at the same time.
fn has_enough_rows(job: &Job, facts: &DeviceFacts) -> bool {
    let is_longer = Step::merges(job.row_length) > Measured::of(facts).large_tile_log2;
    job.rows > if is_longer { facts.units / 4 } else { 1 }
}

/// Whether a tile's local memory and work-items fit the device.
fn tile_fits(tile: Tile, job: &Job, facts: &DeviceFacts) -> bool {
    tile.items() <= facts.group_size && tile.local_bytes(job.element) <= facts.local_bytes
}

#[cfg(test)]
mod tests;
