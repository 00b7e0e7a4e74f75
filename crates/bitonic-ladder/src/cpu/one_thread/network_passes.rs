//! The network as passes of one function, `half_cleaner(first, last, direction)`, over consecutive blocks.
//!
//! ```text
//!   stage of block 4, step of distance 1, sixteen keys
//!
//!   half_cleaner    0-1   2-3 | 4-5   6-7 | 8-9   10-11 | 12-13   14-15
//!   descending      no -> no -> yes-> yes-> no -> no ---> yes ---> yes    the flag flips where a block ends
//! ```
//!
//! All stages but the last work this way, and the last one, which is ascending everywhere, is a loop of its
//! own: the final merge.
//!
//! What it costs: the flag is handed from each call to the next. A call's direction is known only when one has
//! gone through all the calls before it, so the loop cannot be shared out to threads. The function takes
//! positions in one slice that all calls share, so the compiler has to check bounds, and whether the halves
//! overlap, in every call before it may use vector instructions, and short blocks do not repay that.
//!
//! The next rung, `network_no_dependency`, computes the flag and hands every call its own keys.

use super::{compare_exchange, stages, steps};

#[inline(never)]
pub(crate) fn sort<T: Copy + Ord>(keys: &mut [T]) {
    let len = keys.len();
    for block in stages(len / 2) {
        for width in steps(block).map(|distance| 2 * distance) {
            let mut descending = false;
            for first in (0..len).step_by(width) {
                half_cleaner(keys, first, first + width, descending);
                let block_ends = (first + width).is_multiple_of(block);
                if block_ends {
                    descending = !descending;
                }
            }
        }
    }
    for width in steps(len).map(|distance| 2 * distance) {
        for first in (0..len).step_by(width) {
            half_cleaner(keys, first, first + width, false);
        }
    }
}

/// Compares every key of the first half of `first..last` with the key at the same place of the second half.
fn half_cleaner<T: Copy + Ord>(keys: &mut [T], first: usize, last: usize, descending: bool) {
    let half = (last - first) / 2;
    for low in first..first + half {
        compare_exchange(keys, low, low + half, descending);
    }
}
