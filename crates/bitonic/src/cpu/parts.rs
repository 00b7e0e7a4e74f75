//! Parts of an array that threads work on side by side. What is done with a part depends on types; who does which part does not, and
//! is compiled once.

use super::threads::{self, PARALLEL_FROM, both};
use crate::Error;
use rayon::prelude::*;
use std::marker::PhantomData;
use std::ops::Range;

/// Where the parts of an array begin and end.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Bounds<'a> {
    /// Rows of equal length, one after the other.
    Rows {
        /// How many there are.
        rows: usize,
        /// The elements of a row.
        row_length: usize,
    },
    /// Each part ends where the next begins: one offset more than there are parts, in ascending order.
    Offsets(&'a [usize]),
}

impl Bounds<'_> {
    /// The whole rows of this length in an array.
    pub(crate) fn rows(len: usize, row_length: usize) -> Self {
        Self::Rows { rows: len.checked_div(row_length).unwrap_or(0), row_length }
    }

    /// How many parts there are.
    pub(crate) fn count(self) -> usize {
        match self {
            Self::Rows { rows, .. } => rows,
            Self::Offsets(offsets) => offsets.len().saturating_sub(1),
        }
    }

    /// Where a part is.
    pub(crate) fn range(self, number: usize) -> Range<usize> {
        match self {
            Self::Rows { row_length, .. } => number * row_length..(number + 1) * row_length,
            Self::Offsets(offsets) => offsets[number]..offsets[number + 1],
        }
    }

    /// From where the first part begins to where the last ends.
    pub(crate) fn covered(self) -> Range<usize> {
        match self {
            Self::Rows { rows, row_length } => 0..rows * row_length,
            Self::Offsets([first, .., last]) => *first..*last,
            Self::Offsets(_) => 0..0,
        }
    }

    /// How many elements all parts have.
    pub(crate) fn len(self) -> usize {
        self.covered().len()
    }
}

/// The parts of an array.
pub(super) struct Parts<'a, T> {
    start: *mut T,
    len: usize,
    /// What the bounds count from: the array begins there.
    origin: usize,
    bounds: Bounds<'a>,
    array: PhantomData<&'a mut [T]>,
}

// SAFETY: threads get different parts, each of which is as good as a slice of its own.
unsafe impl<T: Send> Sync for Parts<'_, T> {}

impl<'a, T> Parts<'a, T> {
    /// The parts of a whole array.
    pub(super) fn new(array: &'a mut [T], bounds: Bounds<'a>) -> Self {
        Self { start: array.as_mut_ptr(), len: array.len(), origin: 0, bounds, array: PhantomData }
    }

    /// The parts of an array that begins with the first part.
    pub(super) fn from_first(array: &'a mut [T], bounds: Bounds<'a>) -> Self {
        Self { origin: bounds.covered().start, ..Self::new(array, bounds) }
    }

    /// Where a part is in the array.
    pub(super) fn range(&self, number: usize) -> Range<usize> {
        let Range { start, end } = self.bounds.range(number);
        start - self.origin..end - self.origin
    }

    /// A part.
    ///
    /// # Safety
    ///
    /// Nobody else has the part of this number, and the bounds ascend.
    #[expect(clippy::mut_from_ref, reason = "parts do not overlap")]
    pub(super) unsafe fn part(&self, number: usize) -> &mut [T] {
        // SAFETY: the caller's promise.
        unsafe { self.parts(number..number + 1) }
    }

    /// Parts that follow each other, at least one, with nothing between them.
    ///
    /// # Safety
    ///
    /// Nobody else has the parts of these numbers, and the bounds ascend.
    #[expect(clippy::mut_from_ref, reason = "parts do not overlap")]
    pub(super) unsafe fn parts(&self, numbers: Range<usize>) -> &mut [T] {
        let (start, end) = (self.range(numbers.start).start, self.range(numbers.end - 1).end);
        assert!(start <= end && end <= self.len);
        // SAFETY: the parts lie in the array, which is borrowed exclusively. Bounds that ascend make parts that do not overlap, and the
        // caller has these alone.
        unsafe { std::slice::from_raw_parts_mut(self.start.add(start), end - start) }
    }
}

/// Calls `work` once with the number of every part, and with whether a long part may use several threads. Uses as many threads as are
/// asked for and the length of all parts is worth. Stops at an error.
pub(super) fn each_part(
    bounds: Bounds<'_>,
    threads: Option<usize>,
    work: &(dyn Fn(usize, Option<usize>) -> Result<(), Error> + Sync),
) -> Result<(), Error> {
    each_batch(bounds, 1, threads, &|numbers, threads| work(numbers.start, threads))
}

/// The same with so many parts at a time; with fewer, where several threads would wait for one that has much more than others.
pub(super) fn each_batch(
    bounds: Bounds<'_>,
    parts: usize,
    threads: Option<usize>,
    work: &(dyn Fn(Range<usize>, Option<usize>) -> Result<(), Error> + Sync),
) -> Result<(), Error> {
    let batch = |number: usize| number * parts..bounds.count().min((number + 1) * parts);
    let batches = bounds.count().div_ceil(parts);
    threads::with_threads_for(bounds.len(), threads, |parallel| {
        if parallel {
            (0..batches).into_par_iter().try_for_each(|number| shared(bounds, batch(number), work))
        } else {
            (0..batches).try_for_each(|number| work(batch(number), Some(1)))
        }
    })?
}

/// Calls `work` with parts that follow each other, halves of them at the same time where they have more elements than one thread should
/// have alone.
fn shared(
    bounds: Bounds<'_>,
    numbers: Range<usize>,
    work: &(dyn Fn(Range<usize>, Option<usize>) -> Result<(), Error> + Sync),
) -> Result<(), Error> {
    let elements = bounds.range(numbers.end - 1).end - bounds.range(numbers.start).start;
    if numbers.len() == 1 || elements <= PARALLEL_FROM {
        // Within a pool, its threads are those of a sort that is told no number.
        return work(numbers, None);
    }
    let middle = numbers.start + numbers.len() / 2;
    let (mut first, mut second) = (Ok(()), Ok(()));
    both(
        true,
        || first = shared(bounds, numbers.start..middle, work),
        || second = shared(bounds, middle..numbers.end, work),
    );
    first.and(second)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

    #[test]
    fn every_part_comes_once_and_is_the_part_of_its_number() {
        let uneven: Vec<usize> = (0..600).map(|number| number * number / 2).collect();
        let all_bounds = [
            (0, Bounds::rows(0, 0)),
            (0, Bounds::rows(0, 3)),
            (6, Bounds::rows(6, 3)),
            (200_000, Bounds::rows(200_000, 100)),
            (200_000, Bounds::Offsets(&uneven)),
            (9, Bounds::Offsets(&[])),
            (9, Bounds::Offsets(&[4])),
            (9, Bounds::Offsets(&[2, 2, 5, 5, 5, 9, 9])),
        ];
        for (len, bounds) in all_bounds {
            let mut array: Vec<usize> = (0..len).collect();
            let parts = Parts::new(&mut array, bounds);
            let number_of_part = |number, _| {
                // SAFETY: every number comes once, and the bounds ascend.
                let part = unsafe { parts.part(number) };
                assert!(part.iter().copied().eq(bounds.range(number)));
                part.fill(usize::MAX);
                Ok(())
            };
            assert_eq!(each_part(bounds, Some(2), &number_of_part), Ok(()));
            assert_eq!(array.iter().filter(|&&number| number == usize::MAX).count(), bounds.len());
            for together in [1, 3, 256] {
                let count = AtomicUsize::new(0);
                let count_parts = |numbers: Range<usize>, _| {
                    assert!((1..=together).contains(&numbers.len()));
                    let elements = bounds.range(numbers.end - 1).end - bounds.range(numbers.start).start;
                    assert!(numbers.len() == 1 || elements <= PARALLEL_FROM, "{elements} for one thread");
                    count.fetch_add(numbers.len(), Relaxed);
                    Ok(())
                };
                assert_eq!(each_batch(bounds, together, Some(2), &count_parts), Ok(()));
                assert_eq!(count.into_inner(), bounds.count());
            }
        }
    }

    #[test]
    fn an_error_of_a_part_is_the_error_of_all() {
        let failed = || Error::OutOfMemory { bytes: 7 };
        let fourth_fails = |number, _| if number == 3 { Err(failed()) } else { Ok(()) };
        assert_eq!(each_part(Bounds::rows(10, 2), None, &fourth_fails), Err(failed()));
    }
}
