//! What is done with keys that are in order already: merge them, find places in them, drop those that repeat.

use crate::cpu::merge::{merge_keys, merge_runs_of_keys};
use crate::cpu::try_vec;
use crate::key::Key;
use crate::permutation::invert_permutation;
use crate::request::Segments;
use crate::{Error, Sorter};

/// Merges two slices in ascending order into a third. Of equal keys, those of the first slice come first; keys that are equal have
/// equal bits, so this is seen only with [`Sorter::merge_pairs`].
///
/// - Errors: [`Error::OutputLength`] if the third is not as long as both together; nothing is written then.
/// - Slices that are not in order come out in none, but with nothing lost.
///
/// ```
/// let mut merged = [0; 5];
/// bitonic::merge(&[1, 4, 9], &[2, 4], &mut merged)?;
/// assert_eq!(merged, [1, 2, 4, 4, 9]);
/// # Ok::<(), bitonic::Error>(())
/// ```
pub fn merge<K: Key>(first: &[K], second: &[K], merged: &mut [K]) -> Result<(), Error> {
    Sorter::new().merge(first, second, merged)
}

/// The sorted slices merged into one vector, in ascending order: a tree of merges of two, all in two arrays.
///
/// ```
/// assert_eq!(bitonic::merge_many(&[&[1, 9][..], &[4], &[], &[2, 3]])?, [1, 2, 3, 4, 9]);
/// # Ok::<(), bitonic::Error>(())
/// ```
pub fn merge_many<K: Key>(slices: &[&[K]]) -> Result<Vec<K>, Error> {
    Sorter::new().merge_many(slices)
}

/// Where each of these keys would go in a slice in ascending order, before keys that are equal: how many keys are less.
///
/// ```
/// let sorted = [10, 20, 20, 30];
/// assert_eq!(bitonic::searchsorted(&sorted, &[20, 5, 31]), [1, 0, 4]);
/// assert_eq!(bitonic::searchsorted_right(&sorted, &[20, 5, 31]), [3, 0, 4]);
/// ```
pub fn searchsorted<K: Key>(sorted: &[K], keys: &[K]) -> Vec<usize> {
    keys.iter()
        .map(|key| sorted.partition_point(|other| other.to_ordered_bits() < key.to_ordered_bits()))
        .collect()
}

/// As [`searchsorted`], behind keys that are equal: how many keys are at most as large.
pub fn searchsorted_right<K: Key>(sorted: &[K], keys: &[K]) -> Vec<usize> {
    keys.iter()
        .map(|key| sorted.partition_point(|other| other.to_ordered_bits() <= key.to_ordered_bits()))
        .collect()
}

/// Moves the first of every run of equal keys to the front and returns how many there are. In a sorted slice, these are the different
/// keys in order; what is behind them, is of no use. Equal are keys with equal bits: -0.0 and 0.0 differ.
///
/// ```
/// let mut keys = [1, 1, 2, 5, 5, 5];
/// let count = bitonic::unique(&mut keys);
/// assert_eq!(keys[..count], [1, 2, 5]);
/// ```
pub fn unique<K: Key>(keys: &mut [K]) -> usize {
    let mut count = 0;
    for place in 0..keys.len() {
        let is_new = count == 0 || keys[count - 1].to_raw_bits() != keys[place].to_raw_bits();
        // Written always, counted where it is new: no branch that depends on the keys.
        keys[count] = keys[place];
        count += usize::from(is_new);
    }
    count
}

/// The rank of every key: how many keys come before it in ascending order, of equal keys those with lower indices. The keys stay as
/// they are.
///
/// ```
/// assert_eq!(bitonic::rank(&[30, 10, 20, 10])?, [3, 0, 2, 1]);
/// # Ok::<(), bitonic::Error>(())
/// ```
pub fn rank<K: Key>(keys: &[K]) -> Result<Vec<usize>, Error> {
    invert_permutation(&Sorter::new().argsort(keys)?)
}

impl Sorter {
    /// As [`merge`], in this sorter's order and with its threads. On the CPU, whatever the engine, as all merges of keys in host memory.
    ///
    /// - With [`oblivious(true)`](Sorter::oblivious) a merging network does it, for slices of any two lengths: no branch and no address
    ///   depends on a key. The result is the same. n keys take n / 2 comparisons log2 n times, where a merge makes n.
    ///
    /// ```
    /// let mut merged = [0; 5];
    /// bitonic::Sorter::new().oblivious(true).merge(&[1, 4, 9], &[2, 4], &mut merged)?;
    /// assert_eq!(merged, [1, 2, 4, 4, 9]);
    /// # Ok::<(), bitonic::Error>(())
    /// ```
    pub fn merge<K: Key>(&self, first: &[K], second: &[K], merged: &mut [K]) -> Result<(), Error> {
        // Slices of `()` take no memory.
        let nothing = vec![(); first.len().max(second.len()).max(merged.len())];
        let mut no_values = nothing.clone();
        let (of_first, of_second) = (&nothing[..first.len()], &nothing[..second.len()]);
        let of_merged = merged.len();
        self.merge_pairs((first, of_first), (second, of_second), (merged, &mut no_values[..of_merged]))
    }

    /// Merges keys with their values: each argument is a slice of keys and one of as many values. Of equal keys, those of the first
    /// come first: the merge is stable.
    ///
    /// - With [`oblivious(true)`](Sorter::oblivious) keys and values go through a merging network, and the result is the same. It needs
    ///   memory for every key with its place.
    /// - Errors: [`Error::LengthMismatch`], [`Error::OutputLength`] and, obliviously, [`Error::OutOfMemory`]; nothing is written then.
    ///
    /// ```
    /// use bitonic::Sorter;
    ///
    /// let (mut keys, mut values) = ([0; 3], [""; 3]);
    /// Sorter::new().merge_pairs((&[1, 2], &["a", "b"]), (&[1], &["c"]), (&mut keys, &mut values))?;
    /// assert_eq!((keys, values), ([1, 1, 2], ["a", "c", "b"]));
    /// # Ok::<(), bitonic::Error>(())
    /// ```
    pub fn merge_pairs<K: Key, V: Copy + Send + Sync>(
        &self,
        first: (&[K], &[V]),
        second: (&[K], &[V]),
        merged: (&mut [K], &mut [V]),
    ) -> Result<(), Error> {
        for (keys, values) in [first, second, (&*merged.0, &*merged.1)] {
            if keys.len() != values.len() {
                return Err(Error::LengthMismatch { keys: keys.len(), values: values.len() });
            }
        }
        let (needed, given) = (first.0.len() + second.0.len(), merged.0.len());
        if needed != given {
            return Err(Error::OutputLength { needed, given });
        }
        merge_keys(first, second, merged, self.settings()?)
    }

    /// As [`merge_many`], in this sorter's order and with its threads; with [`oblivious(true)`](Sorter::oblivious) every merge of two is
    /// that of [`Sorter::merge`].
    pub fn merge_many<K: Key>(&self, slices: &[&[K]]) -> Result<Vec<K>, Error> {
        let len = slices.iter().map(|slice| slice.len()).sum();
        let (mut from, mut to): (Vec<K>, Vec<K>) = (try_vec(len)?, try_vec(len)?);
        slices.iter().for_each(|slice| from.extend_from_slice(slice));
        to.extend_from_slice(&from);
        let lengths = slices.iter().map(|slice| slice.len()).collect();
        merge_runs_of_keys(&mut from, &mut to, lengths, self.settings()?)?;
        Ok(to)
    }

    /// Merges every row of one matrix with the row of the same number of another: both are in this sorter's order, row by row. Each
    /// merge is that of [`Sorter::merge`], obliviously, too.
    ///
    /// - Errors: [`Error::Rows`] if either is no whole number of rows or they have different numbers of rows,
    ///   [`Error::OutputLength`].
    ///
    /// ```
    /// let mut merged = [0; 6];
    /// bitonic::Sorter::new().merge_rows((&[1, 4, 2, 8], 2), (&[3, 9], 1), &mut merged)?;
    /// assert_eq!(merged, [1, 3, 4, 2, 8, 9]);
    /// # Ok::<(), bitonic::Error>(())
    /// ```
    pub fn merge_rows<K: Key>(
        &self,
        (first, first_length): (&[K], usize),
        (second, second_length): (&[K], usize),
        merged: &mut [K],
    ) -> Result<(), Error> {
        let rows = Segments::rows(first.len(), first_length)?.count();
        if Segments::rows(second.len(), second_length)?.count() != rows {
            return Err(Error::Rows { len: second.len(), row_length: second_length });
        }
        let (needed, given) = (first.len() + second.len(), merged.len());
        if needed != given {
            return Err(Error::OutputLength { needed, given });
        }
        for row in 0..rows {
            let (first, second) = (&first[row * first_length..], &second[row * second_length..]);
            let length = first_length + second_length;
            let merged = &mut merged[row * length..][..length];
            self.merge(&first[..first_length], &second[..second_length], merged)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::Order;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn merging_is_what_a_stable_sort_of_both_gives(
            mut first in prop::collection::vec(-20_i16..20, 0..80),
            mut second in prop::collection::vec(-20_i16..20, 0..80),
            descending in any::<bool>(),
            oblivious in any::<bool>(),
        ) {
            let order = if descending { Order::Descending } else { Order::Ascending };
            let sorter = Sorter::new().order(order).oblivious(oblivious);
            sorter.sort(&mut first).unwrap();
            sorter.sort(&mut second).unwrap();
            let of_first: Vec<usize> = (0..first.len()).collect();
            let of_second: Vec<usize> = (first.len()..first.len() + second.len()).collect();
            let mut all = [first.clone(), second.clone()].concat();
            let (mut keys, mut values) = (vec![0; all.len()], vec![0; all.len()]);
            sorter.merge_pairs((&first, &of_first), (&second, &of_second), (&mut keys, &mut values)).unwrap();
            prop_assert_eq!(&values, &sorter.argsort(&all).unwrap());
            let mut alone = vec![0; all.len()];
            sorter.merge(&first, &second, &mut alone).unwrap();
            prop_assert_eq!(&sorter.merge_many(&[&first, &second, &[], &first]).unwrap(), &{
                let mut all = [all.clone(), first.clone()].concat();
                sorter.sort(&mut all).unwrap();
                all
            });
            sorter.sort(&mut all).unwrap();
            prop_assert_eq!(&keys, &all);
            prop_assert_eq!(&alone, &all);
            let mut rows = vec![0; 2 * all.len()];
            let twice = |keys: &[i16]| [keys, keys].concat();
            let (first, second) = ((&twice(&first)[..], first.len()), (&twice(&second)[..], second.len()));
            if first.1 > 0 && second.1 > 0 {
                sorter.merge_rows(first, second, &mut rows).unwrap();
                prop_assert_eq!(&rows, &twice(&all));
            }
        }

        #[test]
        fn places_and_different_keys_are_those_of_the_standard_library(
            mut keys in prop::collection::vec(any::<i8>(), 0..200),
            wanted in prop::collection::vec(any::<i8>(), 0..50),
        ) {
            keys.sort_unstable();
            let less: Vec<usize> =
                wanted.iter().map(|key| keys.iter().filter(|other| *other < key).count()).collect();
            let at_most: Vec<usize> =
                wanted.iter().map(|key| keys.iter().filter(|other| *other <= key).count()).collect();
            prop_assert_eq!(searchsorted(&keys, &wanted), less);
            prop_assert_eq!(searchsorted_right(&keys, &wanted), at_most);
            let mut expected = keys.clone();
            expected.dedup();
            let count = unique(&mut keys);
            prop_assert_eq!(&keys[..count], &expected[..]);
        }
    }

    #[test]
    fn lengths_that_do_not_match_are_refused_and_nothing_is_written() {
        let mut merged = [7; 3];
        assert_eq!(merge(&[1], &[2], &mut merged), Err(Error::OutputLength { needed: 2, given: 3 }));
        let sorter = Sorter::new();
        assert!(sorter.merge_rows((&[1, 2, 3], 2), (&[4], 1), &mut merged).is_err());
        assert!(sorter.merge_rows((&[1, 2], 2), (&[4, 5], 1), &mut merged).is_err());
        assert!(sorter.merge_rows((&[1, 2], 2), (&[4, 5], 2), &mut merged).is_err());
        assert_eq!(merged, [7; 3]);
        let pairs = sorter.merge_pairs((&[1], &[1, 2]), (&[2], &[3]), (&mut [0, 0], &mut [0, 0]));
        assert_eq!(pairs, Err(Error::LengthMismatch { keys: 1, values: 2 }));
    }

    #[test]
    fn many_keys_are_merged_on_threads() {
        let first: Vec<u32> = (0..200_000).map(|number| 2 * number).collect();
        let second: Vec<u32> = (0..100_000).map(|number| 3 * number + 1).collect();
        let mut merged = vec![0; 300_000];
        Sorter::new().threads(3).merge(&first, &second, &mut merged).unwrap();
        let mut expected = [first, second].concat();
        expected.sort_unstable();
        assert_eq!(merged, expected);
    }
}
