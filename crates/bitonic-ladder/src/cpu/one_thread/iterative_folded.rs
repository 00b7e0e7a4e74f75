//! One inner loop over the n/2 comparators of a step, each found by its number.
//!
//! ```text
//!   comparator                          0  1  2  3  4  5  6  7         distance 2
//!   quotient  = comparator / distance   0  0  1  1  2  2  3  3         the run of 2 * distance keys it is in
//!   remainder                           0  1  0  1  0  1  0  1         its place in the lower half of the run
//!   position  = quotient * 2 * distance + remainder
//!                                       0  1  4  5  8  9  12 13
//! ```
//!
//! What it costs: a division for every comparator, the slowest integer instruction there is; it takes longer
//! than the comparator itself. A compiler that sees that all distances are powers of two puts shifts in the
//! place of the division and so turns this rung into the next one; the distance is hidden from it here, as it
//! is when it arrives as an argument of a GPU kernel.
//!
//! The next rung, `iterative_shifts`, does without the division.

use super::{compare_exchange, stages, steps};
use std::hint::black_box;

#[inline(never)]
pub(crate) fn sort<T: Copy + Ord>(keys: &mut [T]) {
    for block in stages(keys.len()) {
        for distance in steps(block).map(black_box) {
            for comparator in 0..keys.len() / 2 {
                let (quotient, remainder) = (comparator / distance, comparator % distance);
                let position = quotient * (2 * distance) + remainder;
                compare_exchange(keys, position, position + distance, position & block != 0);
            }
        }
    }
}
