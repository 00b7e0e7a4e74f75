//! Merging networks of tens of thousands of wires, proved over all their 0-1 inputs by thresholds.
//!
//! A two-run 0-1 input is given by two numbers: i, the ones of the first run, and j, the ones of the second.
//!
//! ```text
//!            first run, i = 2    second run, j = 3
//!   wires    0  0  0  0  1  1  |  0  0  0  1  1  1
//! ```
//!
//! There are only (n/2 + 1)^2 of them, but for 2^16 wires that is still 10^9 inputs with 2^16 keys each. The
//! way out is never to look at a single input. Fix i and let j grow: keys only ever turn from 0 to 1, on the inputs
//! and, since AND and OR are monotone, on every wire behind every stage. So for a fixed i all there is to know
//! about a wire is one number, its **threshold**: the least j from which on the wire carries a one.
//!
//! ```text
//!   j            0 1 2 3 4 5 6                     The min output carries a one when both inputs do:
//!   threshold 2  0 0 1 1 1 1 1   ──●── 5           its threshold is the greater of the two.
//!   threshold 5  0 0 0 0 0 1 1   ──●── 2           The max output does when either does: the smaller.
//! ```
//!
//! A comparator on thresholds is therefore a comparator again, pointing the other way, and one evaluation of the
//! network on numbers stands for all j at once. The outputs are sorted for every j exactly if no wire gets its one
//! before the wire above it does: if the thresholds do not increase with the wire number. Where they do, at
//! `t[w] < t[w + 1]`, the input `(i, j = t[w])` leaves a one on wire w and a zero on wire w + 1.
//!
//! On the input, a wire of the first run has the threshold 0 (it carries a one whatever j is) or a number that j
//! never reaches, as i says; a wire w of the second run has the threshold n - w.
//!
//! Bitonic 0-1 inputs have the same shape. Seen as a circle, their ones are neighbours: they begin on some wire,
//! `start`, and `length` of them follow each other, if need be past the last wire on to wire 0.
//!
//! ```text
//!   0 0 1 1 1 0 0 0 0    start 2, length 3: rises, then falls
//!   1 1 0 0 0 1 1 1 1    start 5, length 6: falls, then rises
//! ```
//!
//! Fix the start, and ones appear as the length grows: wire w carries one when the length is more than the way
//! from start to w round the circle.
//!
//! A block of neighbouring i (or starts) goes through the network together, a vector of thresholds on each wire,
//! and the blocks are spread over the cores.

use super::parallel::first_failure;
use crate::Network;

/// The most wires: at this size a proof takes a minute or two, with each doubling more than four times as long.
pub(super) const MAX_WIRES: usize = 1 << 17;

/// So many neighbouring i (or starts) go through the network together: enough to fill vector registers, few
/// enough that 2^16 wires of them, 2 MiB, stay in the cache next to a core.
const COLUMNS: usize = 16;

/// An input of two ascending runs, the first on the wires `0..split`, that the network does not sort.
pub(super) fn unsorted_two_runs(network: &Network, split: usize) -> Option<Vec<bool>> {
    let wires = network.wires();
    let never = wires - split + 1;
    let initial = |first_ones: usize, wire: usize| match wire.checked_sub(split) {
        Some(_) => wires - wire,
        None if wire + first_ones >= split => 0,
        None => never,
    };
    let (first_ones, second_ones) = first_increase(network, split + 1, never, initial)?;
    let is_one = |wire: usize| initial(first_ones, wire) <= second_ones;
    Some((0..wires).map(is_one).collect())
}

/// A bitonic input that the network does not sort.
pub(super) fn unsorted_bitonic(network: &Network) -> Option<Vec<bool>> {
    let wires = network.wires();
    // One less than the length at which the wire gets its one, so that 2^16 wires need 16 bits.
    let initial = |start: usize, wire: usize| if wire >= start { wire - start } else { wire + wires - start };
    let (start, length_less_one) = first_increase(network, wires, wires.saturating_sub(1), initial)?;
    let is_one = |wire: usize| initial(start, wire) <= length_less_one;
    Some((0..wires).map(is_one).collect())
}

/// The first of the columns `0..columns` for which some wire leaves the network with a smaller threshold than the
/// wire above it, and that threshold. `initial(column, wire)`, at most `greatest`, is the threshold on the input.
fn first_increase(
    network: &Network,
    columns: usize,
    greatest: usize,
    initial: impl Fn(usize, usize) -> usize + Sync,
) -> Option<(usize, usize)> {
    if greatest <= usize::from(u16::MAX) {
        first_increase_as::<i16>(network, columns, initial)
    } else {
        first_increase_as::<i32>(network, columns, initial)
    }
}

/// A threshold as it is stored: in 16 bits where they suffice, since a processor compares twice as many of them at
/// once and the cache holds twice as many. Signed, because the oldest vector units have no unsigned minimum.
trait Threshold: Copy + Ord {
    fn new(value: usize) -> Self;
    fn value(self) -> usize;
}

impl Threshold for i16 {
    fn new(value: usize) -> Self {
        (value as i32 + i32::from(Self::MIN)) as Self
    }

    fn value(self) -> usize {
        (i32::from(self) - i32::from(Self::MIN)) as usize
    }
}

impl Threshold for i32 {
    fn new(value: usize) -> Self {
        value as Self
    }

    fn value(self) -> usize {
        self as usize
    }
}

fn first_increase_as<T: Threshold>(
    network: &Network,
    columns: usize,
    initial: impl Fn(usize, usize) -> usize + Sync,
) -> Option<(usize, usize)> {
    let initial = &initial;
    first_failure(columns.div_ceil(COLUMNS) as u64, || {
        let mut wires = vec![[T::new(0); COLUMNS]; network.wires()];
        move |block| {
            // In the last block, columns past the last one repeat it.
            let block_columns: [usize; COLUMNS] =
                std::array::from_fn(|index| (block as usize * COLUMNS + index).min(columns - 1));
            for (wire, thresholds) in wires.iter_mut().enumerate() {
                for (threshold, &column) in thresholds.iter_mut().zip(&block_columns) {
                    *threshold = T::new(initial(column, wire));
                }
            }
            run(network, &mut wires);
            let (index, threshold) = find_increase(&wires)?;
            Some((block_columns[index], threshold.value()))
        }
    })
}

/// Sends thresholds through the network.
fn run<T: Threshold>(network: &Network, wires: &mut [[T; COLUMNS]]) {
    for stage in network.stages() {
        for &comparator in stage.comparators() {
            let (min, max) = (comparator.min(), comparator.max());
            let (mut at_min, mut at_max) = (wires[min], wires[max]);
            for (a, b) in at_min.iter_mut().zip(&mut at_max) {
                (*a, *b) = ((*a).max(*b), (*a).min(*b));
            }
            (wires[min], wires[max]) = (at_min, at_max);
        }
    }
}

/// The first column in which a wire has a smaller threshold than the wire above it, and that threshold.
fn find_increase<T: Threshold>(wires: &[[T; COLUMNS]]) -> Option<(usize, T)> {
    let mut increases = [false; COLUMNS];
    for pair in wires.windows(2) {
        for ((increases, lower), upper) in increases.iter_mut().zip(&pair[0]).zip(&pair[1]) {
            *increases |= lower < upper;
        }
    }
    let index = increases.iter().position(|&increases| increases)?;
    let increase = wires.windows(2).find(|pair| pair[0][index] < pair[1][index])?;
    Some((index, increase[0][index]))
}
