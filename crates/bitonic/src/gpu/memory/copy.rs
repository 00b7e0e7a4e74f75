//! Copies within host memory.

use rayon::prelude::*;

/// One core does not keep up with memory or bus; from this size on it is worth waking others.
const PARALLEL_BYTES: usize = 4 << 20;

/// What one core copies at a time.
const PART_BYTES: usize = 1 << 20;

/// Copies bytes, on several cores where that is faster. Both have the same length.
pub(crate) fn copy(from: &[u8], to: &mut [u8]) {
    if from.len() < PARALLEL_BYTES {
        to.copy_from_slice(from);
    } else {
        let parts = to.par_chunks_mut(PART_BYTES).zip(from.par_chunks(PART_BYTES));
        parts.for_each(|(to, from)| to.copy_from_slice(from));
    }
}
