//! Some elements of an array of rows: where they are, and what travels with each key.

use std::ops::Range;

/// Where elements are in an array of rows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    /// How many elements are before them.
    pub(crate) start: usize,
    /// The elements of a row.
    pub(crate) row_length: usize,
}

impl Place {
    /// At the start of an array that is one row.
    pub(crate) const ALONE: Self = Self { start: 0, row_length: usize::MAX };

    /// The rows that so many elements here belong to, each with those of them that are its own.
    #[inline(always)]
    pub(super) fn rows(self, len: usize) -> Rows {
        let row_length = self.row_length.max(1);
        Rows {
            row: (self.start / row_length) as u64,
            behind: self.start % row_length,
            row_length,
            begin: 0,
            len,
        }
    }
}

/// See [`Place::rows`].
pub(super) struct Rows {
    row: u64,
    behind: usize,
    row_length: usize,
    begin: usize,
    len: usize,
}

impl Iterator for Rows {
    type Item = PartOfRow;

    #[inline(always)]
    fn next(&mut self) -> Option<PartOfRow> {
        let Self { row, behind, row_length, begin, len } = *self;
        if begin == len {
            return None;
        }
        let end = begin + (len - begin).min(row_length - behind);
        *self = Self { row: row + 1, behind: 0, begin: end, ..*self };
        Some(PartOfRow { row, behind, places: begin..end })
    }
}

/// Elements of one row.
pub(super) struct PartOfRow {
    /// The number of the row.
    pub(super) row: u64,
    /// How many elements of the row are before the first.
    pub(super) behind: usize,
    /// Which of the elements they are.
    pub(super) places: Range<usize>,
}

/// What travels with keys: nothing, or a number of 32 or 64 bits with each.
pub(crate) trait Carried: Copy {
    /// The bits of a number.
    const WIDTH: u32;

    /// The numbers at these places, the first of which is so far behind the start of its row.
    fn numbers(self, places: Range<usize>, behind: usize) -> impl Iterator<Item = u64>;
}

/// Keys alone.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Nothing;

impl Carried for Nothing {
    const WIDTH: u32 = 0;

    #[inline(always)]
    fn numbers(self, places: Range<usize>, _: usize) -> impl Iterator<Item = u64> {
        places.map(|_| 0)
    }
}

impl Carried for &[u32] {
    const WIDTH: u32 = 32;

    #[inline(always)]
    fn numbers(self, places: Range<usize>, _: usize) -> impl Iterator<Item = u64> {
        self[places].iter().map(|&number| u64::from(number))
    }
}

impl Carried for &[u64] {
    const WIDTH: u32 = 64;

    #[inline(always)]
    fn numbers(self, places: Range<usize>, _: usize) -> impl Iterator<Item = u64> {
        self[places].iter().copied()
    }
}

/// The index of each key in its row, as a number of so many bits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Index<const WIDTH: u32>;

impl<const WIDTH: u32> Carried for Index<WIDTH> {
    const WIDTH: u32 = WIDTH;

    #[inline(always)]
    fn numbers(self, places: Range<usize>, behind: usize) -> impl Iterator<Item = u64> {
        (behind..behind + places.len()).map(|index| index as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_rows_are_all_elements_in_turn() {
        for row_length in [1, 2, 3, 7, 100, usize::MAX] {
            for start in [0, 1, 6, 7, 99, 1000] {
                for len in [0, 1, 5, 14, 250] {
                    let mut found = Vec::new();
                    for PartOfRow { row, behind, places } in (Place { start, row_length }).rows(len) {
                        assert!(!places.is_empty());
                        let indices = Index::<64>.numbers(places.clone(), behind);
                        found.extend(places.zip(indices).map(|(place, index)| (place, row, index)));
                    }
                    let expected = (0..len).map(|place| {
                        let number = start + place;
                        (place, (number / row_length) as u64, (number % row_length) as u64)
                    });
                    assert!(found.into_iter().eq(expected), "{start} {row_length} {len}");
                }
            }
        }
    }
}
