//! The half-cleaner, and the network that sorts any bitonic sequence.

use super::{Stages, network, side_by_side};
use crate::{Comparator, Network};

/// Pairs wire i with wire i + n/2. The caller checks that the number of wires is even.
pub(crate) fn half_cleaner(wires: usize) -> Network {
    let half = wires / 2;
    let stage: Vec<Comparator> = (0..half).map(|low| Comparator::new(low, low + half)).collect();
    network(wires, if stage.is_empty() { Stages::new() } else { vec![stage] })
}

/// Sorts any bitonic sequence, of any length.
///
/// The wires of even and of odd number both carry a bitonic sequence; sort each, then mend what is left. Seen
/// on 0-1 inputs: in a bitonic sequence the ones, or the zeros, are neighbours, so that the even and the odd wires
/// have nearly the same number of them.
///
/// - Even length: the even wires have at most one zero more or less than the odd ones. One zero less is mended
///   by comparing wires (0,1), (2,3), ..; otherwise the result is sorted.
/// - Odd length, with one even wire more: the even wires have from one zero less to two zeros more. Two more
///   are mended by a second stage that compares (1,2), (3,4), ..
///
/// For a power of two this is the half-cleaner recursion, told from its last stage backwards: the innermost
/// sequences are two wires n/2 apart.
pub(crate) fn bitonic_cleaner(wires: usize) -> Network {
    network(wires, cleaner_stages(0, 1, wires))
}

/// The cleaner on the `length` wires start, start + stride, start + 2 stride, ..
fn cleaner_stages(start: usize, stride: usize, length: usize) -> Stages {
    if length < 2 {
        return Stages::new();
    }
    let mut stages = side_by_side(
        cleaner_stages(start, 2 * stride, length.div_ceil(2)),
        cleaner_stages(start + stride, 2 * stride, length / 2),
    );
    let neighbours = |first: usize| {
        let lows = (first..length - 1).step_by(2).map(|low| start + low * stride);
        lows.map(|low| Comparator::new(low, low + stride)).collect()
    };
    stages.push(neighbours(0));
    if length % 2 == 1 {
        stages.push(neighbours(1));
    }
    stages
}
