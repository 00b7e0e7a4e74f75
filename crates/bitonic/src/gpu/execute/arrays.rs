//! The caller's arrays, as bytes: what sorts them knows widths only.

use crate::Error;
use crate::cpu::Bounds;
use crate::gpu::element::Element;
use crate::gpu::job::Job;
use rayon::prelude::*;
use std::mem::MaybeUninit;

/// The caller's arrays.
pub(crate) enum HostArrays<'a> {
    /// Keys alone.
    Keys(&'a mut [u8]),
    /// Keys with values that travel with them.
    Pairs { keys: &'a mut [u8], values: &'a mut [u8] },
    /// Keys with values that are put in place by the indices of their keys.
    Gathered { keys: &'a mut [u8], values: ValueBytes<'a> },
    /// Keys that stay, and places for the index of each.
    Indices { keys: &'a [u8], indices: &'a mut [usize] },
    /// Keys that stay, and places for the best `k` of every row and the index of each, one row after the other.
    Best { keys: &'a [u8], k: usize, best: &'a mut [u8], indices: &'a mut [usize] },
}

/// The caller's arrays, and how they are divided.
pub(crate) struct HostData<'a> {
    pub(crate) arrays: HostArrays<'a>,
    /// Where segments of different lengths begin and end: one offset more than segments. The first one begins where the arrays begin.
    pub(crate) offsets: Option<&'a [usize]>,
}

impl<'a> From<HostArrays<'a>> for HostData<'a> {
    fn from(arrays: HostArrays<'a>) -> Self {
        Self { arrays, offsets: None }
    }
}

/// The rows of a job.
pub(super) fn bounds<'a>(job: &Job, offsets: Option<&'a [usize]>) -> Bounds<'a> {
    offsets.map_or(Bounds::rows(job.len(), job.row_length), Bounds::Offsets)
}

/// Values of any type that can be copied.
pub(crate) struct ValueBytes<'a> {
    memory: &'a mut [MaybeUninit<u8>],
    size: usize,
}

impl<'a> ValueBytes<'a> {
    pub(crate) fn new<V: Copy>(values: &'a mut [V]) -> Self {
        // SAFETY: any memory is `MaybeUninit` bytes; the borrow lasts as long as the result, and what is written there are whole
        // values of the same array, in `write`.
        let memory =
            unsafe { std::slice::from_raw_parts_mut(values.as_mut_ptr().cast(), size_of_val(values)) };
        Self { memory, size: size_of::<V>() }
    }

    /// The bytes of a value.
    pub(crate) fn size(&self) -> usize {
        self.size
    }

    /// All values, one after the other. What is written there must be whole values of the same array.
    pub(crate) fn into_memory(self) -> &'a mut [MaybeUninit<u8>] {
        self.memory
    }

    /// The same for a shorter time.
    pub(crate) fn reborrow(&mut self) -> ValueBytes<'_> {
        ValueBytes { memory: self.memory, size: self.size }
    }

    /// Memory for all values, asked for before anything is moved.
    pub(crate) fn reserve(&self) -> Result<Gathered, Error> {
        let bytes = self.memory.len();
        let mut memory = Vec::new();
        memory.try_reserve_exact(bytes).map_err(|_| Error::OutOfMemory { bytes })?;
        Ok(Gathered { memory })
    }

    /// Puts the value with index `indices[i]` at i. There is an index below the number of values for every value.
    pub(crate) fn write(self, mut gathered: Gathered, indices: impl Iterator<Item = usize>) {
        gathered.memory.clear();
        self.gather(&mut gathered, indices);
        self.memory.copy_from_slice(&gathered.memory);
    }

    /// Adds the values with these indices to those that are on their way.
    pub(crate) fn gather(&self, gathered: &mut Gathered, indices: impl Iterator<Item = usize>) {
        match self.size {
            0 => {}
            1 => gathered.gather::<1>(self.memory, indices),
            2 => gathered.gather::<2>(self.memory, indices),
            4 => gathered.gather::<4>(self.memory, indices),
            8 => gathered.gather::<8>(self.memory, indices),
            16 => gathered.gather::<16>(self.memory, indices),
            size => {
                for index in indices {
                    gathered.memory.extend_from_slice(&self.memory[index * size..][..size]);
                }
            }
        }
    }
}

/// Values on their way to their places.
pub(crate) struct Gathered {
    memory: Vec<MaybeUninit<u8>>,
}

impl Gathered {
    /// Those that are on their way, one after the other.
    pub(crate) fn memory(&mut self) -> &mut [MaybeUninit<u8>] {
        &mut self.memory
    }

    /// Values of a size that is known when this is compiled are moved by single instructions.
    fn gather<const SIZE: usize>(
        &mut self,
        values: &[MaybeUninit<u8>],
        indices: impl Iterator<Item = usize>,
    ) {
        let (values, _) = values.as_chunks::<SIZE>();
        indices.for_each(|index| self.memory.extend_from_slice(&values[index]));
    }
}

/// The numbers of a device's values, as wide as the element has them.
pub(super) fn numbers(bytes: &[u8], element: Element) -> impl Iterator<Item = usize> {
    bytes.chunks_exact(element.value_bytes()).map(|bytes| {
        let mut word = [0; 8];
        word[..bytes.len()].copy_from_slice(bytes);
        u64::from_le_bytes(word) as usize
    })
}

/// What one thread makes numbers of at a time, in bytes; from twice that on, others are woken.
const PART_BYTES: usize = 256 << 10;

/// Whether all numbers are indices of their row.
pub(super) fn are_indices(bytes: &[u8], job: &Job, offsets: Option<&[usize]>) -> bool {
    let are_below = |end: usize, part: &[u8]| !numbers(part, job.element).any(|index| index >= end);
    let is_long = bytes.len() >= 2 * PART_BYTES;
    let Some(offsets) = offsets else {
        let is_right = |part: &[u8]| are_below(job.row_length, part);
        return if is_long { bytes.par_chunks(PART_BYTES).all(is_right) } else { is_right(bytes) };
    };
    let (first, each) = (offsets.first().copied().unwrap_or(0), job.element.value_bytes());
    let is_right = |ends: &[usize]| {
        are_below(ends[1] - ends[0], &bytes[(ends[0] - first) * each..(ends[1] - first) * each])
    };
    if is_long { offsets.par_windows(2).all(is_right) } else { offsets.windows(2).all(is_right) }
}

/// Writes the indices of a sorted job, each counted from the start of its row; whether all are such indices. If not, nothing is written.
pub(crate) fn write_indices(bytes: &[u8], job: &Job, offsets: Option<&[usize]>, to: &mut [usize]) -> bool {
    if !are_indices(bytes, job, offsets) {
        return false;
    }
    let write = |(to, part): (&mut [usize], &[u8])| {
        to.iter_mut().zip(numbers(part, job.element)).for_each(|(place, index)| *place = index);
    };
    if bytes.len() < 2 * PART_BYTES {
        write((to, bytes));
    } else {
        let indices = PART_BYTES / job.element.value_bytes();
        to.par_chunks_mut(indices).zip(bytes.par_chunks(PART_BYTES)).for_each(write);
    }
    true
}

/// The indices of a sorted job whose first element is number `start` of the array: counted from the start of the array. `None` if one
/// is no index of its row.
pub(crate) fn indices<'a>(
    bytes: &'a [u8],
    job: &'a Job,
    offsets: Option<&'a [usize]>,
    start: usize,
) -> Option<impl Iterator<Item = usize> + 'a> {
    if !are_indices(bytes, job, offsets) {
        return None;
    }
    let (rows, each) = (bounds(job, offsets), job.element.value_bytes());
    let first = rows.covered().start;
    Some((0..rows.count()).flat_map(move |number| {
        let row = rows.range(number);
        let (begin, end) = (row.start - first, row.end - first);
        numbers(&bytes[begin * each..end * each], job.element).map(move |index| start + begin + index)
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::as_bytes;
    use crate::request::{Request, Segments};

    #[test]
    fn indices_are_written_if_all_are_of_their_row() {
        // On one thread, and on several.
        for rows in [3, 3000] {
            let job = Job::of(&Request::argsort::<u8>(Segments::Rows { rows, row_length: 100 }));
            let mut landed: Vec<u32> = (0..job.len() as u32).map(|place| 99 - place % 100).collect();
            let mut written = vec![7; job.len()];
            landed[250] = 100;
            assert!(!write_indices(as_bytes(&landed), &job, None, &mut written));
            assert!(indices(as_bytes(&landed), &job, None, 0).is_none());
            assert!(written.iter().all(|&index| index == 7));
            landed[250] = 99;
            assert!(write_indices(as_bytes(&landed), &job, None, &mut written));
            assert!(written.iter().zip(&landed).all(|(&index, &number)| index == number as usize));
            let places = indices(as_bytes(&landed), &job, None, 5).unwrap();
            assert!(
                places
                    .zip(written.iter().enumerate())
                    .all(|(place, (at, index))| place == 5 + at / 100 * 100 + index)
            );
        }
    }

    #[test]
    fn indices_of_segments_are_those_of_their_own_segment() {
        let offsets = [5, 5, 7, 10];
        let segments = Segments::offsets(&offsets, 10).unwrap();
        let job = Job::of(&Request::argsort::<u8>(segments));
        let places = |landed: [u32; 5]| {
            Some(indices(as_bytes(&landed), &job, Some(&offsets), 100)?.collect::<Vec<usize>>())
        };
        assert_eq!(places([1, 0, 2, 0, 1]), Some(vec![101, 100, 104, 102, 103]));
        assert_eq!(places([1, 2, 0, 0, 1]), None, "2 is no index of a segment of two");
    }
}
