//! The recursive form, with a thread for each half down to a depth, and merges on one thread.
//!
//! ```text
//!   level 0                        sort n                          starts two threads, waits, merges n
//!   level 1             sort n/2             sort n/2              each starts two, waits, merges n/2
//!   level 2          sort n/4  sort n/4   sort n/4  sort n/4       two cores: from here on as in `recursive`
//!
//!   who merges       0000000000000000000000000000000000000000      n keys by one thread, all others are gone
//! ```
//!
//! log2(threads) + 1 levels start threads, so there are two parts for every core. The halves are slices of their own: no two
//! threads have a key in common, and nothing has to be locked.
//!
//! What it costs: the merges. The last one, log2 n steps of n/2 comparators, runs on one thread, the two before it on two, and so
//! on: about n · log2 n comparators one after the other, however many cores there are. That is Amdahl's law. For 2^22 keys and
//! 16 threads, merges above the parts are 100 of 253 steps; counted in comparators they are four fifths of the time. And a
//! thread that only waits for its halves was started for nothing.
//!
//! The next rung, `parallel_merges`, forks the merges, too.

use super::start::a_thread_for_each;
use crate::LadderError;
use crate::cpu::one_thread::log2;
use crate::cpu::one_thread::recursive::{merge, sort_in_direction};
use std::num::NonZero;

pub(crate) fn sort<T: Copy + Ord + Send>(keys: &mut [T], threads: NonZero<usize>) -> Result<(), LadderError> {
    let levels = (threads.ilog2() + 1).min(log2(keys.len()));
    sort_on_threads(keys, false, levels);
    Ok(())
}

fn sort_on_threads<T: Copy + Ord + Send>(keys: &mut [T], descending: bool, levels: u32) {
    if levels == 0 {
        return sort_in_direction(keys, descending);
    }
    let (lower, upper) = keys.split_at_mut(keys.len() / 2);
    a_thread_for_each([(lower, false), (upper, true)], |(half, descending)| {
        sort_on_threads(half, descending, levels - 1);
    });
    merge(keys, descending);
}
