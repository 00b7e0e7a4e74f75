//! Rows that do not lie one after the other.

use crate::Error;

/// Rows of a matrix in an array, along any axis: element `i` of row `r` is at `r * row_stride + i * stride`. What is between them is in no
/// row, and stays as it is.
///
/// ```
/// # #[cfg(feature = "opencl")] {
/// use bitonic::opencl::Strided;
///
/// // A matrix of 3 rows of 4 keys, which begin 10 keys apart: its rows, and its columns.
/// assert_eq!(Strided::rows(3, 4, 10), Strided { rows: 3, row_length: 4, row_stride: 10, stride: 1 });
/// assert_eq!(Strided::columns(3, 4, 10), Strided { rows: 4, row_length: 3, row_stride: 1, stride: 10 });
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Strided {
    /// How many rows there are.
    pub rows: usize,
    /// The elements of a row.
    pub row_length: usize,
    /// From the beginning of a row to that of the next, in elements.
    pub row_stride: usize,
    /// From an element of a row to the next, in elements.
    pub stride: usize,
}

impl Strided {
    /// The rows of a matrix of `rows` rows of `row_length` elements, which begin `row_stride` elements apart.
    pub const fn rows(rows: usize, row_length: usize, row_stride: usize) -> Self {
        Self { rows, row_length, row_stride, stride: 1 }
    }

    /// The columns of the same matrix.
    pub const fn columns(rows: usize, row_length: usize, row_stride: usize) -> Self {
        Self { rows: row_length, row_length: rows, row_stride: 1, stride: row_stride }
    }

    /// How many elements there are in all rows.
    pub(crate) const fn len(self) -> usize {
        self.rows.saturating_mul(self.row_length)
    }

    /// Whether the rows lie one after the other.
    pub(crate) const fn is_packed(self) -> bool {
        (self.stride == 1 || self.row_length <= 1) && (self.row_stride == self.row_length || self.rows <= 1)
    }

    /// How many elements there are from the first one to the last.
    pub(crate) fn extent(self) -> usize {
        if self.len() == 0 {
            0
        } else {
            reach(self.rows, self.row_stride, reach(self.row_length, self.stride, 1))
        }
    }

    /// Whether every element has a place of its own, among so many.
    ///
    /// # Errors
    ///
    /// [`Error::Strides`].
    pub(crate) fn check(self, len: usize) -> Result<(), Error> {
        let Self { rows, row_length, row_stride, stride } = self;
        let refuse = |reason| Err(Error::Strides { reason });
        if self.len() == 0 {
            return Ok(());
        }
        let (row, column) = (reach(row_length, stride, 1), reach(rows, row_stride, 1));
        let is_apart = |count, stride, least| count == 1 || stride >= least;
        let rows_are_apart = is_apart(row_length, stride, 1) && is_apart(rows, row_stride, row);
        let are_interleaved = is_apart(rows, row_stride, 1) && is_apart(row_length, stride, column);
        if !rows_are_apart && !are_interleaved {
            return refuse(format!(
                "{rows} rows of {row_length} keys overlap with a row stride of {row_stride} and a stride of {stride}: give a row \
                 stride of at least {row}, or, for columns, a stride of at least {column}"
            ));
        }
        let extent = self.extent();
        if extent > len {
            return refuse(format!(
                "{rows} rows of {row_length} keys reach over {extent} keys with a row stride of {row_stride} and a stride of \
                 {stride}, and the array has {len}: give fewer or shorter rows, or smaller strides"
            ));
        }
        Ok(())
    }
}

/// How far so many things of some extent reach that begin a stride apart.
const fn reach(count: usize, stride: usize, extent: usize) -> usize {
    (count - 1).saturating_mul(stride).saturating_add(extent)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn rows_that_overlap_or_leave_the_array_are_refused_and_no_others_of_a_matrix() {
        for rows in 0..4 {
            for row_length in 0..4 {
                for row_stride in 0..12 {
                    for stride in 0..12 {
                        let strided = Strided { rows, row_length, row_stride, stride };
                        let place = |row: usize, column: usize| row * row_stride + column * stride;
                        let places: Vec<usize> = (0..rows)
                            .flat_map(|row| (0..row_length).map(move |column| place(row, column)))
                            .collect();
                        let extent = places.iter().max().map_or(0, |last| last + 1);
                        assert_eq!(strided.extent(), extent, "{strided:?}");
                        let is_allowed = strided.check(extent).is_ok();
                        let different: HashSet<&usize> = places.iter().collect();
                        // There are other ways not to overlap, which no axis of a matrix has.
                        assert!(!is_allowed || different.len() == places.len(), "{strided:?}");
                        let is_matrix = row_stride >= row_length * stride || stride >= rows * row_stride;
                        if is_matrix && row_stride > 0 && stride > 0 {
                            assert!(is_allowed, "{strided:?}");
                        }
                        if is_allowed && extent > 0 {
                            let refused = strided.check(extent - 1).expect_err("it is too short").to_string();
                            assert!(refused.contains(&format!("the array has {}", extent - 1)), "{refused}");
                        }
                        let in_order = places.iter().copied().eq(0..places.len());
                        assert!(!strided.is_packed() || in_order, "{strided:?}");
                    }
                }
            }
        }
        let huge = Strided { rows: usize::MAX, row_length: 2, row_stride: usize::MAX, stride: 1 };
        assert!(huge.check(usize::MAX - 1).is_err());
        let overlapping = Strided::rows(3, 5, 4).check(100).expect_err("they overlap").to_string();
        assert!(overlapping.contains("overlap") && overlapping.contains("at least 5"), "{overlapping}");
    }
}
