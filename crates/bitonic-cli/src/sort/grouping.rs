//! What is sorted for itself: all keys, rows of a length, or the rows along an axis of an array.
//!
//! ```text
//!   stored  [outer][length][inner]     the axis is in the middle; inner = 1 if it is the last
//!   rows    [outer][inner][length]     what the library sorts
//! ```

use super::formats::{Layout, with_room_for};
use crate::failure::Failure;
use bitonic::key::{Key, KeyType};
use bitonic::plan::Plan;
use bitonic::{Error, Report, Sorter, with_key_type};

/// What is sorted for itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Grouping {
    All,
    Rows(usize),
    Axis(Axis),
}

/// An axis of an array: how many keys there are along it, and between two that follow each other along it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Axis {
    /// Its number among the dimensions of the array.
    dimension: usize,
    length: usize,
    inner: usize,
}

impl Grouping {
    /// What `--rows` and `--axis` ask for of keys that are an array with this layout, if they are one.
    pub(super) fn of(
        rows: Option<Option<usize>>,
        axis: Option<i64>,
        layout: Option<&Layout>,
    ) -> Result<Self, String> {
        let dimensions = layout.map_or(1, |layout| layout.shape.0.len());
        let last = || layout.and_then(|layout| layout.shape.0.last().copied());
        match (rows, axis, layout) {
            (Some(None), _, Some(layout)) if dimensions > 0 => Axis::of(layout, -1).map(Self::Axis),
            (Some(Some(length)), _, Some(layout)) if dimensions > 1 && last() == Some(length) => {
                Axis::of(layout, -1).map(Self::Axis)
            }
            (Some(Some(length)), _, Some(layout)) if dimensions > 1 => Err(format!(
                "the array has shape {}, and its rows are not of {length}: say --rows without a length",
                layout.shape
            )),
            (Some(None), ..) => {
                Err("only an array of NumPy says how long its rows are: say it with --rows LEN".to_owned())
            }
            (_, Some(axis), Some(layout)) => Axis::of(layout, axis).map(Self::Axis),
            (_, Some(_), None) => {
                Err("only an array of NumPy has axes: say --rows LEN for rows of other keys".to_owned())
            }
            (Some(Some(length)), ..) => Ok(Self::Rows(length)),
            (None, None, Some(layout)) if dimensions > 1 => Err(format!(
                "the array has shape {}: say --rows to sort every row, --axis 0 for every column, or flatten it in \
                 Python with array.ravel()",
                layout.shape
            )),
            (None, None, _) => Ok(Self::All),
        }
    }

    /// The length of each of them, among this many keys. Refuses rows that the keys do not make.
    pub(super) fn length(self, len: usize) -> Result<usize, Error> {
        match self {
            Self::All => Ok(len),
            Self::Axis(axis) => Ok(axis.length),
            Self::Rows(row_length) if len.checked_rem(row_length).unwrap_or(len) == 0 => Ok(row_length),
            Self::Rows(row_length) => Err(Error::Rows { len, row_length }),
        }
    }

    /// What a sort of this many keys will do.
    pub(super) fn plan(self, sorter: &Sorter, key_type: KeyType, len: usize) -> Result<Plan, Error> {
        with_key_type!(key_type, K => match self {
            Self::All => sorter.plan::<K>(len),
            Self::Rows(length) | Self::Axis(Axis { length, .. }) => sorter.plan_rows::<K>(len, length),
        })
    }

    /// Sorts each of them.
    pub(super) fn sort<K: Key>(self, sorter: &Sorter, keys: &mut [K]) -> Result<Report, Failure> {
        match self {
            Self::All => Ok(sorter.sort(keys)?),
            Self::Rows(length) | Self::Axis(Axis { length, inner: 1, .. }) => {
                Ok(sorter.sort_rows(keys, length)?)
            }
            Self::Axis(axis) => {
                let mut rows = axis.rows(keys).map_err(Failure::new)?;
                let report = sorter.sort_rows(&mut rows, axis.length)?;
                for (at, key) in rows.into_iter().enumerate() {
                    keys[axis.stored(at)] = key;
                }
                Ok(report)
            }
        }
    }

    /// The places that the keys of each of them have in order, from 0.
    pub(super) fn argsort<K: Key>(self, sorter: &Sorter, keys: &[K]) -> Result<Vec<i64>, Failure> {
        let indices = match self {
            Self::All => sorter.argsort(keys)?,
            Self::Rows(length) | Self::Axis(Axis { length, inner: 1, .. }) => {
                sorter.argsort_rows(keys, length)?
            }
            Self::Axis(axis) => {
                let rows = sorter.argsort_rows(&axis.rows(keys).map_err(Failure::new)?, axis.length)?;
                let mut indices = vec![0; rows.len()];
                for (at, index) in rows.into_iter().enumerate() {
                    indices[axis.stored(at)] = index;
                }
                indices
            }
        };
        Ok(indices.into_iter().map(|index| index as i64).collect())
    }

    /// Keeps the first `most` of each of them, and says how what is left is stored.
    pub(super) fn cut<K>(self, most: usize, keys: &mut Vec<K>, layout: Layout) -> Result<Layout, Failure> {
        let length = self.length(keys.len())?;
        if length <= most {
            return Ok(layout);
        }
        let inner = if let Self::Axis(axis) = self { axis.inner } else { 1 };
        let mut places = 0..;
        keys.retain(|_| places.next().is_some_and(|place: usize| place / inner % length < most));
        Ok(match self {
            Self::Axis(axis) => layout.with_length(axis.dimension, most),
            Self::All | Self::Rows(_) => layout.flattened(keys.len()),
        })
    }

    /// The keys with each of them in one piece.
    pub(super) fn in_rows<K: Key>(self, keys: Vec<K>) -> Result<Vec<K>, String> {
        match self {
            Self::Axis(axis) if axis.inner != 1 => axis.rows(&keys),
            _ => Ok(keys),
        }
    }

    /// Where the key is stored that has this index in [`Self::in_rows`].
    pub(super) fn stored(self, index: usize) -> usize {
        match self {
            Self::Axis(axis) => axis.stored(index),
            Self::All | Self::Rows(_) => index,
        }
    }
}

impl Axis {
    /// An axis as NumPy counts them: from 0, or from the last, which is -1.
    fn of(layout: &Layout, axis: i64) -> Result<Self, String> {
        let lengths = layout.stored_lengths();
        let count = lengths.len() as i64;
        let index = if axis < 0 { axis + count } else { axis };
        if !(0..count).contains(&index) {
            return Err(match count {
                0 => "the array is one key and has no axes: leave out --axis".to_owned(),
                _ => format!(
                    "the array has shape {} and no axis {axis}: choose one from {} to {}",
                    layout.shape,
                    -count,
                    count - 1
                ),
            });
        }
        let at = if layout.fortran_order { count - 1 - index } else { index } as usize;
        // An array without keys may have any lengths beside the one that is 0.
        let inner =
            lengths[at + 1..].iter().fold(1, |product: usize, &length| product.saturating_mul(length));
        Ok(Self { dimension: index as usize, length: lengths[at], inner })
    }

    fn stored(self, index: usize) -> usize {
        let (row, along) = (index / self.length, index % self.length);
        let (outer, inner) = (row / self.inner, row % self.inner);
        (outer * self.length + along) * self.inner + inner
    }

    fn rows<K: Copy>(self, keys: &[K]) -> Result<Vec<K>, String> {
        let mut rows = with_room_for(keys.len())?;
        rows.extend((0..keys.len()).map(|index| keys[self.stored(index)]));
        Ok(rows)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layout(lengths: &[usize], fortran_order: bool) -> Layout {
        let mut layout = Layout::flat(0);
        layout.shape.0 = lengths.to_vec();
        layout.fortran_order = fortran_order;
        layout
    }

    /// Sorted along an axis, key by key as the definition has it.
    fn expected(keys: &[i32], lengths: &[usize], fortran_order: bool, axis: usize) -> Vec<i32> {
        let stride = |dimension: usize| -> usize {
            match fortran_order {
                false => lengths[dimension + 1..].iter().product(),
                true => lengths[..dimension].iter().product(),
            }
        };
        let mut sorted = keys.to_vec();
        for start in 0..keys.len() {
            if start / stride(axis) % lengths[axis] == 0 {
                let along: Vec<usize> = (0..lengths[axis]).map(|step| start + step * stride(axis)).collect();
                let mut row: Vec<i32> = along.iter().map(|&at| keys[at]).collect();
                row.sort_unstable();
                along.iter().zip(row).for_each(|(&at, key)| sorted[at] = key);
            }
        }
        sorted
    }

    #[test]
    fn every_axis_of_every_order_is_sorted() {
        for lengths in [&[6][..], &[3, 4], &[4, 1], &[2, 3, 5], &[2, 1, 3, 2]] {
            let len = lengths.iter().product::<usize>() as i32;
            let keys: Vec<i32> = (0..len).map(|at| at * 7919 % 31 - 9).collect();
            for fortran_order in [false, true] {
                let layout = layout(lengths, fortran_order);
                for axis in 0..lengths.len() {
                    let wanted = expected(&keys, lengths, fortran_order, axis);
                    for axis in [axis as i64, axis as i64 - lengths.len() as i64] {
                        let grouping = Grouping::of(None, Some(axis), Some(&layout)).unwrap();
                        let mut sorted = keys.clone();
                        grouping.sort(&Sorter::new(), &mut sorted).unwrap();
                        assert_eq!(sorted, wanted, "{lengths:?}, Fortran {fortran_order}, axis {axis}");
                        let in_rows = grouping.in_rows(sorted.clone()).unwrap();
                        for (at, key) in in_rows.iter().enumerate() {
                            assert_eq!(*key, sorted[grouping.stored(at)]);
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn the_first_of_every_row_of_every_axis_are_kept_and_the_shape_says_so() {
        let lengths = [2, 3, 4];
        let keys: Vec<usize> = (0..24).collect();
        for fortran_order in [false, true] {
            let layout = layout(&lengths, fortran_order);
            for dimension in 0..3 {
                for most in 0..5 {
                    let grouping = Grouping::of(None, Some(dimension as i64), Some(&layout)).unwrap();
                    let mut kept = keys.clone();
                    let cut = grouping.cut(most, &mut kept, layout.clone()).unwrap();
                    let mut shape = lengths.to_vec();
                    shape[dimension] = shape[dimension].min(most);
                    assert_eq!(cut.shape.0, shape);
                    // In the order of memory, the number of a key says which it is.
                    let index = |key: usize| match fortran_order {
                        false => [key / 12, key / 4 % 3, key % 4][dimension],
                        true => [key % 2, key / 2 % 3, key / 6][dimension],
                    };
                    let wanted = keys.iter().copied().filter(|&key| index(key) < most);
                    assert!(kept.into_iter().eq(wanted), "{dimension}, {most}, Fortran {fortran_order}");
                }
            }
        }
        let mut rows = vec![1, 2, 3, 4, 5, 6];
        let cut = Grouping::Rows(3).cut(2, &mut rows, Layout::flat(6)).unwrap();
        assert_eq!((rows, cut.shape.0), (vec![1, 2, 4, 5], vec![4]));
    }

    #[test]
    fn indices_are_those_within_the_row() {
        let layout = layout(&[2, 2], false);
        let columns = Grouping::of(None, Some(0), Some(&layout)).unwrap();
        assert_eq!(columns.argsort(&Sorter::new(), &[3, 1, 2, 4]).unwrap(), [1, 0, 0, 1]);
        assert_eq!(Grouping::Rows(2).argsort(&Sorter::new(), &[3, 1, 2, 4]).unwrap(), [1, 0, 0, 1]);
        assert_eq!(Grouping::All.argsort(&Sorter::new(), &[3, 1, 2, 4]).unwrap(), [1, 2, 0, 3]);
    }

    #[test]
    fn what_has_no_such_rows_or_axis_is_refused_with_the_way_out() {
        let matrix = layout(&[3, 4], false);
        let refused = |rows, axis, layout| Grouping::of(rows, axis, layout).unwrap_err();
        assert_eq!(
            refused(None, None, Some(&matrix)),
            "the array has shape (3, 4): say --rows to sort every row, --axis 0 for every column, or flatten it in Python \
             with array.ravel()"
        );
        assert!(refused(Some(None), None, None).ends_with("say it with --rows LEN"));
        assert!(refused(None, Some(0), None).ends_with("say --rows LEN for rows of other keys"));
        assert!(refused(Some(Some(3)), None, Some(&matrix)).ends_with("say --rows without a length"));
        assert!(refused(None, Some(2), Some(&matrix)).ends_with("choose one from -2 to 1"));
        assert!(refused(None, Some(i64::MIN), Some(&matrix)).ends_with("choose one from -2 to 1"));
        assert!(refused(None, Some(0), Some(&layout(&[], false))).ends_with("leave out --axis"));
        assert_eq!(Grouping::of(None, None, Some(&layout(&[], false))), Ok(Grouping::All));
        assert_eq!(Grouping::of(Some(Some(3)), None, Some(&layout(&[6], false))), Ok(Grouping::Rows(3)));
        let huge = layout(&[0, usize::MAX, usize::MAX], false);
        assert!(Grouping::of(None, Some(0), Some(&huge)).unwrap().sort(&Sorter::new(), &mut [0; 0]).is_ok());
    }
}
