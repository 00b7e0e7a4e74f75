//! Four loops that meet every comparator exactly once.
//!
//! ```text
//!   for every stage
//!     for every step
//!       for every run of 2 * distance keys     | 0  1  2  3 | 4  5  6  7 |     distance 2
//!         for the positions of its lower half    *  *         *  *
//! ```
//!
//! What it costs: nothing that the recursive form does not cost too. The direction is the same for a whole run,
//! so it is computed outside of the inner loop. But the inner loop has a length that changes from step to step,
//! 1 at the end, and the number of a comparator within its step is nowhere to be seen: a GPU, which starts one
//! thread for each comparator and gives it a number, cannot use the form as it is.
//!
//! The next rung, `iterative_folded`, makes one loop of the inner two.

use super::{compare_exchange, stages, steps};

#[inline(never)]
pub(crate) fn sort<T: Copy + Ord>(keys: &mut [T]) {
    for block in stages(keys.len()) {
        for distance in steps(block) {
            for first in (0..keys.len()).step_by(2 * distance) {
                let descending = first & block != 0;
                for position in first..first + distance {
                    compare_exchange(keys, position, position + distance, descending);
                }
            }
        }
    }
}
