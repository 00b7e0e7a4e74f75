//! Selection networks: the k largest keys, sorted, on the last k wires.
//!
//! ```text
//!   wires      16 keys, k = 4
//!   0 ..  3    sort ─┐ merge, keep
//!   4 ..  7    sort ─┴ the larger 4 ──┐ merge, keep
//!   8 .. 11    sort ─┐ merge, keep    │ the larger 4
//!  12 .. 15    sort ─┴ the larger 4 ──┴──────────────── the 4 largest, ascending
//! ```
//!
//! It is a merge sort whose merges see no more than the k largest keys of either part, and of whose comparators only
//! those are kept that lead to the last k wires. Of a bitonic merge of two runs of k keys that leaves the flip, which
//! puts the k larger keys on the second run's wires, and the half-cleaners of that half.

use std::ops::Range;

use super::merge::{self, Run};
use super::{Stages, network, side_by_side};
use crate::kind::greatest_power_of_two_below;
use crate::{Block, Merging, Network};

/// The network. The caller checks that k is at most the number of wires.
pub(crate) fn largest(wires: usize, k: usize, merging: Merging) -> Network {
    let mut blocks = Vec::new();
    let mut stages = select(0..wires, k, merging, &mut blocks);
    keep_needed(&mut stages, wires, wires - k..wires);
    network(wires, stages).with_blocks(blocks)
}

/// Sorts the k largest keys of these wires onto the last k of them.
///
/// A merge starts when both parts are done, which keeps it one block of stages. Where the parts are no powers of two,
/// its first comparators could start earlier, and up to two stages would be saved.
fn select(wires: Range<usize>, k: usize, merging: Merging, blocks: &mut Vec<Block>) -> Stages {
    if wires.len() < 2 || k == 0 {
        return Stages::new();
    }
    let middle = wires.start + first_part(wires.len(), merging);
    let parts = [wires.start..middle, middle..wires.end];
    let [first, second] = parts.clone().map(|part| select(part, k, merging, blocks));
    let mut stages = side_by_side(first, second);
    let first_stage = stages.len();
    let [first, second] = parts.map(|part| part.end - k.min(part.len())..part.end);
    let merged = first.start..second.end;
    stages.extend(merge::stages(Run::on(first), Run::on(second), merging));
    blocks.push(Block { stages: first_stage..stages.len(), wires: merged });
    stages
}

/// How many of so many wires make the first of two parts.
///
/// Each way has fewest comparators with its own: all selections of up to a quarter of up to 100 wires together have
/// 417,861 bitonic ones with halves and 438,324 with powers of two, but 394,163 and 379,771 odd-even ones.
fn first_part(wires: usize, merging: Merging) -> usize {
    match merging {
        Merging::Bitonic => wires.div_ceil(2),
        Merging::OddEven => greatest_power_of_two_below(wires),
    }
}

/// Drops every comparator of whose two keys neither can reach one of the outputs.
fn keep_needed(stages: &mut Stages, wires: usize, outputs: Range<usize>) {
    let mut needed = vec![false; wires];
    needed[outputs].fill(true);
    for stage in stages.iter_mut().rev() {
        stage.retain(|comparator| {
            let is_needed = needed[comparator.min()] || needed[comparator.max()];
            if is_needed {
                (needed[comparator.min()], needed[comparator.max()]) = (true, true);
            }
            is_needed
        });
    }
}
