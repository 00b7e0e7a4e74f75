//! Rows that threads work on side by side. What is done with a row depends on types; who does which row does not, and is compiled
//! once.

use super::threads;
use crate::Error;
use rayon::prelude::*;
use std::marker::PhantomData;

/// The rows of an array.
pub(super) struct Rows<'a, T> {
    start: *mut T,
    row_length: usize,
    rows: usize,
    array: PhantomData<&'a mut [T]>,
}

// SAFETY: threads get different rows, each of which is as good as a slice of its own.
unsafe impl<T: Send> Sync for Rows<'_, T> {}

impl<'a, T> Rows<'a, T> {
    /// The whole rows of this length.
    pub(super) fn new(array: &'a mut [T], row_length: usize) -> Self {
        let rows = array.len().checked_div(row_length).unwrap_or(0);
        Self { start: array.as_mut_ptr(), row_length, rows, array: PhantomData }
    }

    /// A row.
    ///
    /// # Safety
    ///
    /// Nobody else has the row of this number.
    #[expect(clippy::mut_from_ref, reason = "rows do not overlap")]
    pub(super) unsafe fn row(&self, number: usize) -> &mut [T] {
        assert!(number < self.rows);
        // SAFETY: the row lies in the array, which is borrowed exclusively, and the caller has it alone.
        unsafe { std::slice::from_raw_parts_mut(self.start.add(number * self.row_length), self.row_length) }
    }
}

/// Calls `work` once with the number of every row of an array of this length, on as many threads as are asked for and the length is
/// worth. Stops at an error.
pub(super) fn each_row(
    len: usize,
    row_length: usize,
    threads: Option<usize>,
    work: &(dyn Fn(usize) -> Result<(), Error> + Sync),
) -> Result<(), Error> {
    let rows = len.checked_div(row_length).unwrap_or(0);
    threads::with_threads_for(len, threads, |parallel| {
        if parallel { (0..rows).into_par_iter().try_for_each(work) } else { (0..rows).try_for_each(work) }
    })?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_comes_once_and_is_the_row_of_its_number() {
        for (len, row_length) in [(0, 0), (0, 3), (6, 3), (200_000, 100)] {
            let mut array: Vec<usize> = (0..len).collect();
            let rows = Rows::new(&mut array, row_length);
            let number_of_row = |number| {
                // SAFETY: every number comes once.
                let row = unsafe { rows.row(number) };
                assert!(row.iter().copied().eq(number * row_length..(number + 1) * row_length));
                row.fill(number);
                Ok(())
            };
            assert_eq!(each_row(len, row_length, Some(2), &number_of_row), Ok(()));
            assert!(array.iter().enumerate().all(|(place, &number)| number == place / row_length.max(1)));
        }
    }

    #[test]
    fn an_error_of_a_row_is_the_error_of_all() {
        let failed = || Error::OutOfMemory { bytes: 7 };
        assert_eq!(
            each_row(10, 2, None, &|number| if number == 3 { Err(failed()) } else { Ok(()) }),
            Err(failed())
        );
    }
}
