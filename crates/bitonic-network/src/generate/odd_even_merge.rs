//! Batcher's odd-even merge sort and its merge.

use std::ops::Range;

use super::{Stages, network};
use crate::kind::greatest_power_of_two_below;
use crate::{Block, Comparator, Network};

/// Merges runs of 1, 2, 4, .. wires until one is left.
pub(crate) fn sort(wires: usize) -> Network {
    let mut stages = Stages::new();
    let mut blocks = Vec::new();
    let mut run = 1;
    while run < wires {
        let first_stage = stages.len();
        let merges: Vec<Range<usize>> = (0..wires)
            .step_by(2 * run)
            .map(|start| start..(start + 2 * run).min(wires))
            .filter(|block| block.len() > run)
            .collect();
        stages.extend(merge_stages(&merges, run));
        blocks.extend(merges.into_iter().map(|wires| Block { stages: first_stage..stages.len(), wires }));
        run *= 2;
    }
    network(wires, stages).with_blocks(blocks)
}

/// The last merge of the sort: of two ascending runs, the first a power of two long.
pub(crate) fn merge(wires: usize) -> Network {
    if wires < 2 {
        return network(wires, Stages::new());
    }
    let all = 0..wires;
    network(wires, merge_stages(&[all], greatest_power_of_two_below(wires)))
}

/// Merges in every block a first run of `run` wires, a power of two, with the shorter or equal rest.
///
/// The first stage compares the runs wire by wire. After it, at distances run/2, run/4, .., 1, every odd chunk of
/// `distance` wires is compared with the even chunk above it: the last step of the merge of the odd-numbered and
/// the even-numbered keys, unrolled from the innermost recursion outward.
fn merge_stages(blocks: &[Range<usize>], run: usize) -> Stages {
    let distances = std::iter::successors(Some(run), |distance| Some(distance / 2));
    distances
        .take_while(|&distance| distance > 0)
        .map(|distance| {
            let first_chunk = if distance == run { 0 } else { distance };
            let mut stage = Vec::new();
            for block in blocks {
                for chunk in (block.start + first_chunk..block.end).step_by(2 * distance) {
                    let lows = chunk..(chunk + distance).min(block.end.saturating_sub(distance));
                    stage.extend(lows.map(|low| Comparator::new(low, low + distance)));
                }
            }
            stage
        })
        .collect()
}
