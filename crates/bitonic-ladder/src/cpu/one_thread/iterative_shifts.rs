//! The comparators by number, without a division.
//!
//! ```text
//!   comparator          c                  0  1  2  3  4  5  6  7      distance 2 = 2^1
//!   keys skipped        (c >> 1) << 1      0  0  2  2  4  4  6  6      the upper halves before it
//!   position            c + skipped        0  1  4  5  8  9  12 13
//!   direction           bit `block_log2` of the position
//! ```
//!
//! Everything is a power of two, so the loops count logarithms and shifts do what the division did. The
//! direction is one bit, and is applied by xor to the outcome of the comparison: there is no branch from the
//! number of a comparator to the exchange of its keys.
//!
//! What it costs: a few instructions more for each comparator than `iterative_blocks`, which only adds 1. In
//! return no iteration needs anything from another, and the body of the inner loop is, line for line, what one
//! thread of a GPU does.

use super::{compare_exchange, log2};

#[inline(never)]
pub(crate) fn sort<T: Copy + Ord>(keys: &mut [T]) {
    for block_log2 in 1..=log2(keys.len()) {
        for distance_log2 in (0..block_log2).rev() {
            for comparator in 0..keys.len() / 2 {
                let skipped = (comparator >> distance_log2) << distance_log2;
                let position = comparator + skipped;
                let descending = (position >> block_log2) & 1 == 1;
                compare_exchange(keys, position, position + (1 << distance_log2), descending);
            }
        }
    }
}
