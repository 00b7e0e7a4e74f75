//! Odd-even transposition, the simplest network: it compares neighbours only.
//!
//! ```text
//!   phase 0    0-1   2-3   4-5   6-7        pairs that start at an even position
//!   phase 1      1-2   3-4   5-6            pairs that start at an odd one
//!   phase 2    0-1   2-3   4-5   6-7        .. n phases in all
//! ```
//!
//! What it costs: a key moves one place a phase, and may have to go from one end to the other, so n phases are
//! needed, with (n - 1) · n/2 comparators in all: for a million keys five thousand times as many as in bitonic
//! sort. What it gains: any length, no direction, and neighbours only, so that a thread needs to know no more
//! than its own keys and those next to them; `odd_even_threads` makes use of that.

use super::compare_exchange;

#[inline(never)]
pub(crate) fn sort<T: Copy + Ord>(keys: &mut [T]) {
    for phase in 0..keys.len() {
        for pair in keys[phase % 2..].chunks_exact_mut(2) {
            compare_exchange(pair, 0, 1, false);
        }
    }
}
