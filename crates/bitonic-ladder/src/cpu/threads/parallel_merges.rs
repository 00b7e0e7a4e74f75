//! The recursive form, with the top levels of sorts and of merges forked.
//!
//! ```text
//!   level 0                      sort n                         forks; its merge forks, too
//!   level 1             sort n/2        sort n/2                forks
//!   level 2          sort n/4  n/4    sort n/4  n/4             two threads: from here on as in `recursive`
//!
//!   who merges          0000000000      1111111111              after one half-cleaner of n keys by one thread
//! ```
//!
//! log2(threads) + 1 levels fork: one more than would give every thread a part, so that a thread which is done
//! early finds a second one. The two halves are slices of their own, so the two threads that sort them have no
//! key in common, and each stays with its part, which a cache may hold, until it is sorted. Threads are those of
//! a pool that waits for work; nobody starts one to let it wait.
//!
//! What it costs: the half-cleaners above the parts run on one thread while the others wait, n/2 comparators in
//! the last merge alone. `parallel_recursive` leaves whole merges to one thread, log2 n times as much; here only
//! their first steps are left. The half-cleaner is the one of `recursive`, so that the two can be compared;
//! `parallel_steps` has the faster one of `network_no_dependency`.

use crate::LadderError;
use crate::cpu::one_thread::recursive::{self, half_cleaner};
use std::num::NonZero;

pub(crate) fn sort<T: Copy + Ord + Send>(keys: &mut [T], threads: NonZero<usize>) -> Result<(), LadderError> {
    let forking_levels = threads.get().next_power_of_two().ilog2() + 1;
    super::pool::run_with(threads, || sort_in_direction(keys, false, forking_levels))
}

fn sort_in_direction<T: Copy + Ord + Send>(keys: &mut [T], descending: bool, forking_levels: u32) {
    if forking_levels == 0 || keys.len() < 2 {
        return recursive::sort_in_direction(keys, descending);
    }
    let (lower, upper) = keys.split_at_mut(keys.len() / 2);
    rayon::join(
        || sort_in_direction(lower, false, forking_levels - 1),
        || sort_in_direction(upper, true, forking_levels - 1),
    );
    merge(keys, descending, forking_levels);
}

/// Sorts a bitonic slice.
fn merge<T: Copy + Ord + Send>(keys: &mut [T], descending: bool, forking_levels: u32) {
    if forking_levels == 0 || keys.len() < 2 {
        return recursive::merge(keys, descending);
    }
    half_cleaner(keys, descending);
    let (lower, upper) = keys.split_at_mut(keys.len() / 2);
    rayon::join(
        || merge(lower, descending, forking_levels - 1),
        || merge(upper, descending, forking_levels - 1),
    );
}
