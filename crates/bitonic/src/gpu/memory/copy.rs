//! Copies within host memory.

use super::stream::copy_past_caches;
use rayon::prelude::*;

/// One core does not keep up with memory or bus; from this size on it is worth waking others.
const PARALLEL_BYTES: usize = 4 << 20;

/// What one core copies at a time.
const PART_BYTES: usize = 1 << 20;

/// The same for copies that are shown: whoever looks at them takes as long as copying, or longer.
const PARALLEL_SHOWN_BYTES: usize = 512 << 10;
const SHOWN_PART_BYTES: usize = 128 << 10;

/// What is shown at a time: little enough that it is still in the nearest cache when it was copied.
pub(crate) const BLOCK_BYTES: usize = 32 << 10;

/// Is shown an array on its way, block by block, each with where it begins: at a multiple of [`BLOCK_BYTES`]. Blocks come in any order,
/// and from several threads.
pub(crate) type Look<'a> = &'a (dyn Fn(usize, &[u8]) + Sync);

/// What is shown of a copy: the memory that is the caller's, or will be. That of a device may be slow to read.
#[derive(Clone, Copy)]
#[cfg_attr(
    not(feature = "opencl"),
    allow(dead_code, reason = "only memory that OpenCL maps is shown by all cores")
)]
pub(crate) enum Shown<'a> {
    Nothing,
    /// What is sent.
    Source(Look<'a>),
    /// What has landed.
    Target(Look<'a>),
}

/// Copies a whole array, on several cores where that is faster, and shows it. Both have the same length.
pub(crate) fn copy(from: &[u8], to: &mut [u8], shown: Shown<'_>) {
    let (parallel_from, part_bytes) = match shown {
        Shown::Nothing => (PARALLEL_BYTES, PART_BYTES),
        Shown::Source(_) | Shown::Target(_) => (PARALLEL_SHOWN_BYTES, SHOWN_PART_BYTES),
    };
    let copy_part = |from: &[u8], to: &mut [u8], start| match shown {
        Shown::Nothing => to.copy_from_slice(from),
        Shown::Source(look) => copy_alone(from, to, start, Some(look)),
        Shown::Target(look) => each_block(from, to, start, |place, from, to| {
            to.copy_from_slice(from);
            look(place, to);
        }),
    };
    if from.len() < parallel_from {
        copy_part(from, to, 0);
    } else {
        let parts = to.par_chunks_mut(part_bytes).zip(from.par_chunks(part_bytes)).enumerate();
        parts.for_each(|(number, (to, from))| copy_part(from, to, number * part_bytes));
    }
}

/// Copies bytes that are to be sent soon, and are part of an array from this byte on, on the caller's core alone, and shows them
/// before: they are in the nearest cache then. Both have the same length.
pub(crate) fn copy_alone(from: &[u8], to: &mut [u8], offset: usize, look: Option<Look<'_>>) {
    show_and_copy(from, to, offset, look, |from, to| to.copy_from_slice(from));
}

/// The same for bytes that have arrived, and that nobody reads again soon.
pub(crate) fn land_alone(from: &[u8], to: &mut [u8], offset: usize, look: Option<Look<'_>>) {
    show_and_copy(from, to, offset, look, copy_past_caches);
}

fn show_and_copy(
    from: &[u8],
    to: &mut [u8],
    offset: usize,
    look: Option<Look<'_>>,
    copy: impl Fn(&[u8], &mut [u8]),
) {
    each_block(from, to, offset, |place, from, to| {
        if let Some(look) = look {
            look(place, from);
        }
        copy(from, to);
    });
}

/// Calls `work` for every block of a part that begins so far from the start, with the place of the block.
fn each_block(from: &[u8], to: &mut [u8], start: usize, mut work: impl FnMut(usize, &[u8], &mut [u8])) {
    let blocks = to.chunks_mut(BLOCK_BYTES).zip(from.chunks(BLOCK_BYTES)).enumerate();
    blocks.for_each(|(number, (to, from))| work(start + number * BLOCK_BYTES, from, to));
}

/// Shows an array that is copied elsewhere, on several cores where that is faster.
pub(crate) fn show(array: &[u8], look: Look<'_>) {
    let show_part = |(number, part): (usize, &[u8])| {
        let blocks = part.chunks(BLOCK_BYTES).enumerate();
        blocks.for_each(|(block, bytes)| look(number * SHOWN_PART_BYTES + block * BLOCK_BYTES, bytes));
    };
    if array.len() < PARALLEL_SHOWN_BYTES {
        array.chunks(SHOWN_PART_BYTES).enumerate().for_each(show_part);
    } else {
        array.par_chunks(SHOWN_PART_BYTES).enumerate().for_each(show_part);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;

    #[test]
    fn everything_is_copied_and_every_block_is_shown_once_at_its_place() {
        for bytes in [
            0,
            1,
            BLOCK_BYTES,
            PARALLEL_SHOWN_BYTES - 1,
            PARALLEL_SHOWN_BYTES + 17,
            PART_BYTES + 17,
            PARALLEL_BYTES + 1,
        ] {
            let from: Vec<u8> = (0..bytes).map(|index| (index * 7 % 251) as u8).collect();
            let mut to = vec![0; bytes];
            let seen = Mutex::new(Vec::new());
            let look = |start: usize, block: &[u8]| {
                assert!(from[start..][..block.len()] == *block, "{bytes} bytes, at {start}");
                seen.lock().unwrap().push((start, block.len()));
            };
            let check = |what: &str| {
                let mut seen = std::mem::take(&mut *seen.lock().unwrap());
                seen.sort_unstable();
                let starts = (0..bytes).step_by(BLOCK_BYTES);
                let expected: Vec<_> = starts.map(|start| (start, BLOCK_BYTES.min(bytes - start))).collect();
                assert!(seen == expected, "{bytes} bytes, {what}");
            };
            copy(&from, &mut to, Shown::Nothing);
            assert!(to == from);
            to.fill(0);
            copy(&from, &mut to, Shown::Source(&look));
            check("source");
            assert!(to == from);
            to.fill(0);
            copy(&from, &mut to, Shown::Target(&look));
            check("target");
            assert!(to == from);
            show(&from, &look);
            check("shown");
        }
    }
}
