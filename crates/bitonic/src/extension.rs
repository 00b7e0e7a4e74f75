//! The sorts as methods of slices and vectors.

use crate::functions::{argsort, sort, sort_descending, top_k};
use crate::permutation::sort_by_key;
use crate::{Error, Key, SortKey, TopK};

/// Sorts as methods: `use bitonic::BitonicSort`, and slices, arrays and vectors of keys have them.
///
/// ```
/// use bitonic::BitonicSort;
///
/// let mut keys = vec![3, 1, 2];
/// keys.bitonic_sort();
/// assert_eq!(keys, [1, 2, 3]);
/// assert_eq!(keys.bitonic_top_k(2)?.keys, [3, 2]);
/// # Ok::<(), bitonic::Error>(())
/// ```
pub trait BitonicSort<K: Key> {
    /// [`sort`].
    fn bitonic_sort(&mut self);

    /// [`sort_descending`].
    fn bitonic_sort_descending(&mut self);

    /// [`argsort`].
    ///
    /// # Errors
    ///
    /// Those of [`Sorter::argsort`](crate::Sorter::argsort).
    fn bitonic_argsort(&self) -> Result<Vec<usize>, Error>;

    /// [`top_k`].
    ///
    /// # Errors
    ///
    /// Those of [`Sorter::top_k`](crate::Sorter::top_k).
    fn bitonic_top_k(&self, k: usize) -> Result<TopK<K>, Error>;
}

impl<K: Key> BitonicSort<K> for [K] {
    fn bitonic_sort(&mut self) {
        sort(self);
    }

    fn bitonic_sort_descending(&mut self) {
        sort_descending(self);
    }

    fn bitonic_argsort(&self) -> Result<Vec<usize>, Error> {
        argsort(self)
    }

    fn bitonic_top_k(&self, k: usize) -> Result<TopK<K>, Error> {
        top_k(self, k)
    }
}

/// Sorts of items of any type as methods.
///
/// ```
/// use bitonic::BitonicSortByKey;
///
/// let mut words = ["kiwi", "fig", "banana"];
/// words.bitonic_sort_by_key(|word| word.len())?;
/// assert_eq!(words, ["fig", "kiwi", "banana"]);
/// # Ok::<(), bitonic::Error>(())
/// ```
pub trait BitonicSortByKey<T> {
    /// [`sort_by_key`].
    ///
    /// # Errors
    ///
    /// Those of [`sort_by_key`].
    fn bitonic_sort_by_key<S: SortKey>(&mut self, key_of: impl FnMut(&T) -> S) -> Result<(), Error>;
}

impl<T> BitonicSortByKey<T> for [T] {
    fn bitonic_sort_by_key<S: SortKey>(&mut self, key_of: impl FnMut(&T) -> S) -> Result<(), Error> {
        sort_by_key(self, key_of)
    }
}
