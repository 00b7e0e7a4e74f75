//! The recursion as three loops, the shortest iterative form.
//!
//! ```text
//!   for every stage
//!     for every step
//!       for every position              0  1  2  3  4  5  6  7      distance 2
//!         partner = position ^ distance 2  3  0  1  6  7  4  5
//!         partner below? skip           .  .  x  x  .  .  x  x
//! ```
//!
//! What it costs: every comparator has two positions and is met at both, so the inner loop runs twice as often
//! as there are comparators, with a branch each time. The pattern of the branch is regular and mostly
//! predicted, but the loop is full of work that leads to nothing.
//!
//! The next rung, `iterative_blocks`, visits only the positions whose partner is above them.

use super::{compare_exchange, stages, steps};

#[inline(never)]
pub(crate) fn sort<T: Copy + Ord>(keys: &mut [T]) {
    for block in stages(keys.len()) {
        for distance in steps(block) {
            for position in 0..keys.len() {
                let partner = position ^ distance;
                if partner < position {
                    continue;
                }
                compare_exchange(keys, position, partner, position & block != 0);
            }
        }
    }
}
