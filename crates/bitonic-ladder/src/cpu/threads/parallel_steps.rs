//! Every comparator of a step in parallel, and a barrier between steps.
//!
//! ```text
//!   thread 0   ####### |  ####### |  ####### |
//!   thread 1   ######  |  ####### |  ######  |      # comparators of the step, in any order
//!   thread 2   ####### |  ######  |  ####### |      | the barrier: all wait for the last
//!            step 0     step 1     step 2
//! ```
//!
//! The loops of `network_no_dependency`, with the blocks of a step shared out. Blocks are slices of their own,
//! so no two threads have the same key; the join at the end of the parallel loop is the barrier. What it gains
//! over `parallel_guarded`: comparators are shared out instead of positions, so every thread has some in every
//! step, and the loop over two slices becomes vector instructions.
//!
//! What it costs: log2 n · (log2 n + 1) / 2 barriers, and between two of them every key comes from memory and
//! goes back to it once. A thread meets other keys in every step, so its cache is of little use when the keys
//! do not fit into it. The next rung, `parallel_recursive`, keeps a thread with its keys.

use crate::LadderError;
use crate::cpu::one_thread::network_no_dependency::half_cleaner;
use crate::cpu::one_thread::{stages, steps};
use rayon::prelude::*;
use std::num::NonZero;

/// How many comparators a thread takes at a time. They take about a microsecond, so that handing them out,
/// which takes a tenth of one, does not count; a step of a million keys still has hundreds of shares. A power
/// of two, so that whole blocks fit.
const SHARE: usize = 1 << 11;

pub(crate) fn sort<T: Copy + Ord + Send>(keys: &mut [T], threads: NonZero<usize>) -> Result<(), LadderError> {
    super::pool::run_with(threads, || {
        for block in stages(keys.len()) {
            for distance in steps(block) {
                step(keys, block, distance);
            }
        }
    })
}

/// Does the comparators of one step; when it returns, all of them are done.
fn step<T: Copy + Ord + Send>(keys: &mut [T], block: usize, distance: usize) {
    let width = 2 * distance;
    if distance < SHARE {
        // Many small half-cleaners: a share is as many whole ones as make it up.
        keys.par_chunks_mut(2 * SHARE).enumerate().for_each(|(share, keys)| {
            for (index, keys) in keys.chunks_exact_mut(width).enumerate() {
                let first = share * 2 * SHARE + index * width;
                let (lower, upper) = keys.split_at_mut(distance);
                half_cleaner(lower, upper, first & block != 0);
            }
        });
    } else {
        // Few large half-cleaners: a share is a piece of the lower half with the piece of the upper half it is
        // compared to.
        keys.par_chunks_exact_mut(width).enumerate().for_each(|(index, keys)| {
            let first = index * width;
            let (lower, upper) = keys.split_at_mut(distance);
            let shares = lower.par_chunks_exact_mut(SHARE).zip(upper.par_chunks_exact_mut(SHARE));
            shares.for_each(|(lower, upper)| half_cleaner(lower, upper, first & block != 0));
        });
    }
}
