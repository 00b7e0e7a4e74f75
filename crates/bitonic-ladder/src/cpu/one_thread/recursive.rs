//! Bitonic sort as it is defined, and the yardstick for the loops that follow.
//!
//! ```text
//!   sort     sort the lower half up | sort the upper half down     together they rise, then fall: bitonic
//!            merge
//!
//!   merge    half-cleaner: every key of the lower half against the key at the same place of the upper half
//!            merge the lower half   | merge the upper half         both bitonic, every key in its half
//! ```
//!
//! What it costs: calls, down to single keys, two for every key of every merge. What it gains: it goes depth
//! first, so a merge that fits a cache is finished there before the next begins.
//!
//! The next rung, `iterative_scan`, tries to save the calls with loops.

use super::compare_exchange;

#[inline(never)]
pub(crate) fn sort<T: Copy + Ord>(keys: &mut [T]) {
    sort_in_direction(keys, false);
}

pub(crate) fn sort_in_direction<T: Copy + Ord>(keys: &mut [T], descending: bool) {
    if keys.len() < 2 {
        return;
    }
    let (lower, upper) = keys.split_at_mut(keys.len() / 2);
    sort_in_direction(lower, false);
    sort_in_direction(upper, true);
    merge(keys, descending);
}

/// Sorts a bitonic slice.
pub(crate) fn merge<T: Copy + Ord>(keys: &mut [T], descending: bool) {
    if keys.len() < 2 {
        return;
    }
    half_cleaner(keys, descending);
    let (lower, upper) = keys.split_at_mut(keys.len() / 2);
    merge(lower, descending);
    merge(upper, descending);
}

/// One step: afterwards both halves of a bitonic slice are bitonic, and every key is in the half it belongs to.
pub(crate) fn half_cleaner<T: Copy + Ord>(keys: &mut [T], descending: bool) {
    let half = keys.len() / 2;
    for low in 0..half {
        compare_exchange(keys, low, low + half, descending);
    }
}
