//! Batcher's bitonic sorter in both forms, and the merge of the flip form.

use super::{Stages, network, side_by_side};
use crate::kind::greatest_power_of_two_below;
use crate::properties::ceil_log2;
use crate::{Block, Comparator, Network};

/// The sorter in flip form: merges of 2, 4, 8, .. wires, every comparator ascending.
pub(crate) fn flip(wires: usize) -> Network {
    let mut stages = Stages::new();
    let mut blocks = Vec::new();
    for exponent in 1..=ceil_log2(wires) {
        let first_stage = stages.len();
        stages.extend(flip_merge_stages(wires, exponent));
        for start in (0..wires).step_by(1 << exponent) {
            let end = (start + (1 << exponent)).min(wires);
            // What lies behind the last whole block may be one wire, or a run sorted before: shade merges only.
            if end - start > 1 << (exponent - 1) {
                blocks.push(Block { stages: first_stage..stages.len(), wires: start..end });
            }
        }
    }
    network(wires, stages).with_blocks(blocks)
}

/// The last merge of the flip form: of two ascending runs, the first a power of two long.
pub(crate) fn flip_merge(wires: usize) -> Network {
    network(wires, flip_merge_stages(wires, ceil_log2(wires)))
}

/// The merges of every block of 2^exponent wires: a flip stage, then half-cleaners at distances from a quarter of
/// the block down to 1. Without the comparators that reach past the last wire.
fn flip_merge_stages(wires: usize, exponent: u32) -> Stages {
    let flip = (exponent > 0).then(|| (1_usize << exponent) - 1);
    let distances = (0..exponent.saturating_sub(1)).rev().map(|step| 1_usize << step);
    flip.into_iter()
        .chain(distances)
        .map(|mask| {
            (0..wires)
                .map(|wire| Comparator::new(wire, wire ^ mask))
                .filter(|comparator| comparator.is_ascending() && comparator.bottom() < wires)
                .collect()
        })
        .collect()
}

/// The sorter in the textbook's form: sort the halves in opposite directions, then merge the bitonic sequence.
pub(crate) fn alternating(wires: usize) -> Network {
    let mut blocks = Vec::new();
    let stages = alternating_sort(0, wires, Direction::Ascending, &mut blocks);
    network(wires, stages).with_blocks(blocks)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Direction {
    Ascending,
    Descending,
}

impl Direction {
    fn opposite(self) -> Self {
        match self {
            Self::Ascending => Self::Descending,
            Self::Descending => Self::Ascending,
        }
    }

    fn comparator(self, low: usize, high: usize) -> Comparator {
        match self {
            Self::Ascending => Comparator::new(low, high),
            Self::Descending => Comparator::new(high, low),
        }
    }
}

fn alternating_sort(start: usize, length: usize, direction: Direction, blocks: &mut Vec<Block>) -> Stages {
    if length < 2 {
        return Stages::new();
    }
    // A power of two can be merged from a sequence that rises then falls: the textbook's picture, direction by
    // block parity. Other lengths need the one in which a missing wire at the end would continue the second
    // half: falling then rising for an ascending merge.
    let first_direction = if length.is_power_of_two() { Direction::Ascending } else { direction.opposite() };
    let half = length / 2;
    let first = alternating_sort(start, half, first_direction, blocks);
    let second = alternating_sort(start + half, length - half, first_direction.opposite(), blocks);
    let mut stages = side_by_side(first, second);
    let first_stage = stages.len();
    stages.extend(alternating_merge(start, length, direction));
    blocks.push(Block { stages: first_stage..stages.len(), wires: start..start + length });
    stages
}

/// Half-cleaners at the greatest power of two below the length, then at the greatest below that, ..
fn alternating_merge(start: usize, length: usize, direction: Direction) -> Stages {
    if length < 2 {
        return Stages::new();
    }
    let distance = greatest_power_of_two_below(length);
    let cleaner = (start..start + length - distance).map(|low| direction.comparator(low, low + distance));
    let mut stages = vec![cleaner.collect()];
    stages.extend(side_by_side(
        alternating_merge(start, distance, direction),
        alternating_merge(start + distance, length - distance, direction),
    ));
    stages
}
