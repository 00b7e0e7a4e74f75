//! Keys of a type that is known at run time: what the command does with them, one call for each type. All around these calls is
//! compiled once.

use super::formats::{FileKey, Format, Layout, first_out_of_order, show};
use super::grouping::Grouping;
use crate::failure::Failure;
use bitonic::key::{KeyType, Order};
use bitonic::{Error, Report, Sorter};
use std::ops::Range;

/// Keys of one type.
pub(super) trait AnyKeys {
    fn key_type(&self) -> KeyType;

    fn len(&self) -> usize;

    /// One of them as text.
    fn show(&self, index: usize) -> String;

    /// Sorts each group.
    fn sort(&mut self, grouping: Grouping, sorter: &Sorter) -> Result<Report, Failure>;

    /// The places that the keys of each group have in order, from 0.
    fn argsort(&self, grouping: Grouping, sorter: &Sorter) -> Result<Vec<i64>, Failure>;

    /// Merges parts that are in order, each of which ends at one of these places.
    fn merge(&mut self, ends: &[usize], sorter: &Sorter) -> Result<(), Failure>;

    /// Sorts them as the sorter says, and moves the number of a line with each.
    fn sort_with_lines(&mut self, lines: &mut [usize], sorter: &Sorter) -> Result<Report, Error>;

    /// Keeps the first of the lines with equal keys. Both are in the order of the keys.
    fn keep_first_of_equals(&self, lines: &mut Vec<usize>);

    /// The first of these keys that should stand before its predecessor.
    fn first_out_of_order(&self, keys: Range<usize>, order: Order) -> Option<usize>;

    /// Puts each group in one piece.
    fn put_in_rows(&mut self, grouping: Grouping) -> Result<(), String>;

    /// Keeps the first of equal keys that stand together.
    fn keep_different(&mut self);

    /// Keeps the first of each group, and says how what is left is stored.
    fn cut(&mut self, grouping: Grouping, most: usize, layout: Layout) -> Result<Layout, Failure>;

    /// Appends some of them as they stand in a file.
    fn append(&self, keys: Range<usize>, format: Format, layout: &Layout, out: &mut Vec<u8>);
}

impl<K: FileKey> AnyKeys for Vec<K> {
    fn key_type(&self) -> KeyType {
        K::TYPE
    }

    fn len(&self) -> usize {
        self.len()
    }

    fn show(&self, index: usize) -> String {
        show(self[index])
    }

    fn sort(&mut self, grouping: Grouping, sorter: &Sorter) -> Result<Report, Failure> {
        grouping.sort(sorter, self)
    }

    fn argsort(&self, grouping: Grouping, sorter: &Sorter) -> Result<Vec<i64>, Failure> {
        grouping.argsort(sorter, self)
    }

    fn merge(&mut self, ends: &[usize], sorter: &Sorter) -> Result<(), Failure> {
        let starts = std::iter::once(0).chain(ends.iter().copied());
        let parts: Vec<&[K]> = starts.zip(ends).map(|(start, &end)| &self[start..end]).collect();
        *self = sorter.merge_many(&parts)?;
        Ok(())
    }

    fn sort_with_lines(&mut self, lines: &mut [usize], sorter: &Sorter) -> Result<Report, Error> {
        sorter.sort_pairs(self, lines)
    }

    fn keep_first_of_equals(&self, lines: &mut Vec<usize>) {
        let mut before = None;
        let mut bits = self.iter().map(|key| Some(key.to_raw_bits()));
        lines.retain(|_| {
            let here = bits.next().flatten();
            std::mem::replace(&mut before, here) != here
        });
    }

    fn first_out_of_order(&self, keys: Range<usize>, order: Order) -> Option<usize> {
        first_out_of_order(&self[keys.clone()], order).map(|index| keys.start + index)
    }

    fn put_in_rows(&mut self, grouping: Grouping) -> Result<(), String> {
        *self = grouping.in_rows(std::mem::take(self))?;
        Ok(())
    }

    fn keep_different(&mut self) {
        let different = bitonic::unique(self);
        self.truncate(different);
    }

    fn cut(&mut self, grouping: Grouping, most: usize, layout: Layout) -> Result<Layout, Failure> {
        grouping.cut(most, self, layout)
    }

    fn append(&self, keys: Range<usize>, format: Format, layout: &Layout, out: &mut Vec<u8>) {
        format.append_keys(&self[keys], layout, out);
    }
}
