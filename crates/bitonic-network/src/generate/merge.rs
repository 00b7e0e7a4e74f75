//! Merges of two ascending runs of any lengths, on any wires: bitonic, and Batcher's odd-even merge.

use std::ops::Range;

use super::{Stages, network, side_by_side};
use crate::{Comparator, Merging, Network};

/// The merge of a run on the first wires with one on the others.
pub(crate) fn two_runs(first: usize, second: usize, merging: Merging) -> Network {
    let wires = first + second;
    network(wires, stages(Run::on(0..first), Run::on(first..wires), merging))
}

/// The merge of two runs, the first above the second.
pub(super) fn stages(first: Run, second: Run, merging: Merging) -> Stages {
    match merging {
        Merging::Bitonic => bitonic(first, second),
        Merging::OddEven => odd_even(first, second),
    }
}

/// Wires at equal distances that carry an ascending run.
#[derive(Clone, Copy)]
pub(super) struct Run {
    start: usize,
    stride: usize,
    length: usize,
}

impl Run {
    /// The run on these wires.
    pub(super) fn on(wires: Range<usize>) -> Self {
        Self { start: wires.start, stride: 1, length: wires.len() }
    }

    fn wire(self, index: usize) -> usize {
        self.start + index * self.stride
    }

    /// Its keys 0, 2, 4, ..
    fn even_keys(self) -> Self {
        Self { stride: 2 * self.stride, length: self.length.div_ceil(2), ..self }
    }

    /// Its keys 1, 3, 5, ..
    fn odd_keys(self) -> Self {
        Self { start: self.wire(1), stride: 2 * self.stride, length: self.length / 2 }
    }
}

/// The wire of key `index`, counted through both runs.
fn wire_of(first: Run, second: Run, index: usize) -> usize {
    match index.checked_sub(first.length) {
        Some(in_second) => second.wire(in_second),
        None => first.wire(index),
    }
}

/// The bitonic merge in flip form.
///
/// It is the merge of two runs of the same length, a power of two, without the wires that are not there:
///
/// ```text
///   before the first run   -infinity   a comparator has it on its lower wire, where the smaller key stays
///   first run              ▁▂▃         here runs of 3 and 6 keys,
///   second run             ▁▂▃▄▅▆      merged as two runs of 8
///   behind the second run  +infinity   a comparator has it on its upper wire, where the larger key stays
/// ```
///
/// Nothing moves the imagined keys, so their comparators are left out. So are comparators of two keys that nothing
/// has moved yet behind the flip: both are of the same run, and in order. Of the others every one is needed.
fn bitonic(first: Run, second: Run) -> Stages {
    if first.length == 0 || second.length == 0 {
        return Stages::new();
    }
    let half = first.length.max(second.length).next_power_of_two();
    let flip = 2 * half - 1;
    // The places of the wires that are there, among all 2 * half.
    let places = half - first.length..half + second.length;
    let mut moved = vec![false; places.len()];
    let distances = std::iter::successors(Some(half / 2), |distance| Some(distance / 2));
    std::iter::once(flip)
        .chain(distances.take_while(|&distance| distance > 0))
        .map(|mask| {
            let mut stage = Vec::new();
            for place in places.clone() {
                if place ^ mask < place || place ^ mask >= places.end {
                    continue;
                }
                let [low, high] = [place, place ^ mask].map(|place| place - places.start);
                if mask == flip || moved[low] || moved[high] {
                    (moved[low], moved[high]) = (true, true);
                    stage.push(Comparator::new(wire_of(first, second, low), wire_of(first, second, high)));
                }
            }
            stage
        })
        .collect()
}

/// Batcher's odd-even merge.
///
/// The keys of even number of both runs are merged, and those of odd number; then all keys are nearly in order, and
/// one stage that compares keys 1 and 2, 3 and 4, .. is enough. On 0-1 inputs: each run has as many zeros of even
/// number as of odd number, or one more, so the even keys have from none to two zeros more. None and one are in
/// order when the two sequences alternate; two are mended by the last stage.
///
/// If the first run is odd, the places of even and odd keys change roles in the second run. The pairs of the last
/// stage stay the same two wires, so it does not matter which of them carries which.
fn odd_even(first: Run, second: Run) -> Stages {
    match (first.length, second.length) {
        (0, _) | (_, 0) => Stages::new(),
        (1, 1) => vec![vec![Comparator::new(first.start, second.start)]],
        (m, n) => {
            let mut stages = side_by_side(
                odd_even(first.even_keys(), second.even_keys()),
                odd_even(first.odd_keys(), second.odd_keys()),
            );
            let pair = |low| Comparator::new(wire_of(first, second, low), wire_of(first, second, low + 1));
            stages.push((1..m + n - 1).step_by(2).map(pair).collect());
            stages
        }
    }
}
