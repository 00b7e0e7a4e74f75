//! The network as passes of half-cleaners that need nothing from each other.
//!
//! ```text
//!   stage of block 4, step of distance 1, sixteen keys
//!
//!   half_cleaner    [0 1]  [2 3]  [4 5]  [6 7]  [8 9]  [10 11]  [12 13]  [14 15]  slices of their own
//!   first & block   no     no     yes    yes    no     no       yes      yes      the direction, from the index
//! ```
//!
//! Computed so, the direction of the last stage is ascending everywhere without being told, because no position
//! reaches `block` there: the final merge is one more turn of the same loops.
//!
//! What it gains: on one thread the flag alone cost little. But calls that are independent can be given slices
//! of their own, and a half-cleaner whose halves are slices of their own is a loop that the compiler turns into
//! vector instructions without a doubt: several comparators at once. And independent calls can run at the same
//! time, which is `parallel_steps`.

use super::{ordered, stages, steps};

#[inline(never)]
pub(crate) fn sort<T: Copy + Ord>(keys: &mut [T]) {
    for block in stages(keys.len()) {
        for width in steps(block).map(|distance| 2 * distance) {
            for (index, keys) in keys.chunks_exact_mut(width).enumerate() {
                let first = index * width;
                let (lower, upper) = keys.split_at_mut(width / 2);
                half_cleaner(lower, upper, first & block != 0);
            }
        }
    }
}

/// Compares every key of `lower` with the key at the same place of `upper`.
pub(crate) fn half_cleaner<T: Copy + Ord>(lower: &mut [T], upper: &mut [T], descending: bool) {
    for (low, high) in lower.iter_mut().zip(upper) {
        (*low, *high) = ordered(*low, *high, descending);
    }
}
