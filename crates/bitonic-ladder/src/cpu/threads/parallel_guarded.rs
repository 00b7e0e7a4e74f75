//! The guarded loop over all positions as a parallel loop: one directive more than on one thread.
//!
//! ```text
//!   for every stage
//!     for every step                     thread 0        thread 1        thread 2        thread 3
//!       for every position k, shared out  0  1  2  3      4  5  6  7      8  9 10 11     12 13 14 15
//!
//!         distance 1                      0-1   2-3       4-5   6-7       8-9  10-11    12-13  14-15
//!         distance 4                      0-4 1-5 2-6 3-7   .  .  .  .    8-12 9-13 ..    .  .  .  .
//! ```
//!
//! Positions are handed out in whole ranges, as a static schedule does. A thread compares k with its partner k xor distance if the
//! partner is above k. No two threads touch the same key within a step, because every key belongs to one comparator;
//! between two steps all threads meet.
//!
//! What it costs: a guard for every position, twice as many as there are comparators. And in the steps whose distance is at least
//! a thread's range, whole ranges have their partners below them: half of the threads find the guard shut at every position
//! and wait for the others. This rung hands out no work for such ranges; a thread would find none in them.
//!
//! The next rung, `parallel_steps`, shares out comparators instead of positions. `xor_guarded` is this loop's body on a device.

use crate::LadderError;
use crate::cpu::one_thread::{compare_exchange, ordered, stages, steps};
use rayon::prelude::*;
use std::num::NonZero;

pub(crate) fn sort<T: Copy + Ord + Send>(keys: &mut [T], threads: NonZero<usize>) -> Result<(), LadderError> {
    // A power of two, so that the partners of a range are a range.
    let ranges = threads.get().next_power_of_two();
    let range = (keys.len() / ranges).max(1);
    super::pool::run_with(threads, || {
        for block in stages(keys.len()) {
            for distance in steps(block) {
                step(keys, block, distance, range);
            }
        }
    })
}

/// Does the comparators of one step; when it returns, all of them are done.
fn step<T: Copy + Ord + Send>(keys: &mut [T], block: usize, distance: usize, range: usize) {
    if distance < range {
        // Both keys of a comparator are in the same range.
        keys.par_chunks_exact_mut(range).with_max_len(1).enumerate().for_each(|(index, keys)| {
            let first = index * range;
            for k in 0..range {
                let partner = k ^ distance;
                if partner > k {
                    compare_exchange(keys, k, partner, (first + k) & block != 0);
                }
            }
        });
    } else {
        // The guard is open for all of a range or for none of it: ranges in lower halves have their partners in upper halves.
        keys.par_chunks_exact_mut(2 * distance).enumerate().for_each(|(index, keys)| {
            let descending = (index * 2 * distance) & block != 0;
            let (lower, upper) = keys.split_at_mut(distance);
            let ranges = lower.par_chunks_exact_mut(range).zip(upper.par_chunks_exact_mut(range));
            ranges.with_max_len(1).for_each(|(lower, upper)| {
                for (low, high) in lower.iter_mut().zip(upper) {
                    (*low, *high) = ordered(*low, *high, descending);
                }
            });
        });
    }
}
