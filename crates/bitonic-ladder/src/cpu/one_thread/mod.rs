//! Rungs on one thread.
//!
//! Every rung of bitonic sort runs the same comparators, and does them with the same [`compare_exchange`]; only
//! the loops around it differ, so a difference in time is a difference of the loops. For the same reason no
//! rung is inlined into its caller: a profiler shows each under its own name.
//!
//! The words are the same in all of them. A *stage* turns bitonic blocks of length `block` into sorted ones,
//! alternately ascending and descending, and its *steps* compare keys at a `distance` of half a block, a
//! quarter of it, and so on down to 1. For eight keys, with the direction of every block:
//!
//! ```text
//!   stage       block 2    block 4        block 8
//!   distance    1          2      1       4    2    1
//!   keys 0-1    up         up     up      up   up   up
//!   keys 2-3    down       up     up      up   up   up
//!   keys 4-5    up         down   down    up   up   up
//!   keys 6-7    down       down   down    up   up   up
//! ```
//!
//! So the direction of a key's block is a bit of the key's position: `position & block`.

pub(crate) mod iterative_blocks;
pub(crate) mod iterative_folded;
pub(crate) mod iterative_scan;
pub(crate) mod iterative_shifts;
pub(crate) mod network_no_dependency;
pub(crate) mod network_passes;
pub(crate) mod odd_even;
pub(crate) mod recursive;

use std::hint::select_unpredictable;

/// The stages of a bitonic sort, by the length of the blocks they sort: 2, 4, 8, .., `len`.
pub(crate) fn stages(len: usize) -> impl Iterator<Item = usize> {
    (1..=log2(len)).map(|block_log2| 1 << block_log2)
}

/// The steps of a stage, by the distance between the keys they compare: half of the block, .., 4, 2, 1.
pub(crate) fn steps(block: usize) -> impl Iterator<Item = usize> {
    (0..log2(block)).rev().map(|distance_log2| 1 << distance_log2)
}

/// The logarithm of a power of two, and 0 for 0: nothing and a single key both need no stage.
pub(crate) fn log2(len: usize) -> u32 {
    len.checked_ilog2().unwrap_or(0)
}

/// A comparator: afterwards the keys at `low` and `high` are in ascending order, or in descending order if
/// `descending`.
#[inline(always)]
pub(crate) fn compare_exchange<T: Copy + Ord>(keys: &mut [T], low: usize, high: usize, descending: bool) {
    (keys[low], keys[high]) = ordered(keys[low], keys[high], descending);
}

/// Two keys in ascending order, or in descending order if `descending`.
///
/// Whether two random keys are to be exchanged cannot be predicted, so they are selected and not jumped over:
/// mispredicted branches would double the time of every rung and hide what it is to show.
#[inline(always)]
pub(crate) fn ordered<T: Copy + Ord>(first: T, second: T, descending: bool) -> (T, T) {
    let exchange = (second < first) ^ descending;
    (select_unpredictable(exchange, second, first), select_unpredictable(exchange, first, second))
}
