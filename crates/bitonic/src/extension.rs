//! The sorts as methods of slices and vectors.

use crate::{Error, Key, Order, SortKey, Sorter, TopK};

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
    /// [`sort`](crate::sort).
    fn bitonic_sort(&mut self);

    /// [`sort_descending`].
    fn bitonic_sort_descending(&mut self);

    /// [`argsort`](crate::argsort).
    ///
    /// # Errors
    ///
    /// Those of [`Sorter::argsort`].
    fn bitonic_argsort(&self) -> Result<Vec<usize>, Error>;

    /// [`top_k`].
    ///
    /// # Errors
    ///
    /// Those of [`Sorter::top_k`].
    fn bitonic_top_k(&self, k: usize) -> Result<TopK<K>, Error>;
}

impl<K: Key> BitonicSort<K> for [K] {
    fn bitonic_sort(&mut self) {
        crate::sort(self);
    }

    fn bitonic_sort_descending(&mut self) {
        sort_descending(self);
    }

    fn bitonic_argsort(&self) -> Result<Vec<usize>, Error> {
        crate::argsort(self)
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
    /// [`sort_by_key`](crate::sort_by_key).
    ///
    /// # Errors
    ///
    /// Those of [`sort_by_key`](crate::sort_by_key).
    fn bitonic_sort_by_key<S: SortKey>(&mut self, key_of: impl FnMut(&T) -> S) -> Result<(), Error>;
}

impl<T> BitonicSortByKey<T> for [T] {
    fn bitonic_sort_by_key<S: SortKey>(&mut self, key_of: impl FnMut(&T) -> S) -> Result<(), Error> {
        crate::sort_by_key(self, key_of)
    }
}

/// Sorts keys in place, descending. It cannot fail, as [`sort`](crate::sort).
///
/// ```
/// let mut keys = [3, 1, 2];
/// bitonic::sort_descending(&mut keys);
/// assert_eq!(keys, [3, 2, 1]);
/// ```
pub fn sort_descending<K: Key>(keys: &mut [K]) {
    crate::sort_in(keys, Order::Descending);
}

/// Sorts keys in place, ascending, on the CPU, so that no branch and no address depends on a key: see [`Sorter::oblivious`].
///
/// - Errors: none on the CPU of a machine whose threads can be started; the keys are as they were then.
///
/// ```
/// let mut secrets = [3_u64, 1, 2];
/// bitonic::sort_oblivious(&mut secrets)?;
/// assert_eq!(secrets, [1, 2, 3]);
/// # Ok::<(), bitonic::Error>(())
/// ```
pub fn sort_oblivious<K: Key>(keys: &mut [K]) -> Result<(), Error> {
    Sorter::new().engine(crate::Engine::Cpu).oblivious(true).sort(keys).map(drop)
}

/// The `k` largest keys and their indices, the largest first: see [`Sorter::top_k`].
///
/// ```
/// let top = bitonic::top_k(&[10, 40, 20, 30], 2)?;
/// assert_eq!((top.keys, top.indices), (vec![40, 30], vec![1, 3]));
/// # Ok::<(), bitonic::Error>(())
/// ```
pub fn top_k<K: Key>(keys: &[K], k: usize) -> Result<TopK<K>, Error> {
    Sorter::new().top_k(keys, k)
}

/// Puts the key that comes at `place` in ascending order there: see [`Sorter::select_nth`].
///
/// ```
/// let mut keys = [5, 1, 4, 2, 3];
/// assert_eq!(*bitonic::select_nth(&mut keys, 0)?.1, 1);
/// # Ok::<(), bitonic::Error>(())
/// ```
pub fn select_nth<K: Key>(keys: &mut [K], place: usize) -> Result<(&mut [K], &mut K, &mut [K]), Error> {
    Sorter::new().select_nth(keys, place)
}

/// Sorts the first `k` keys of the ascending order into their places: see [`Sorter::partial_sort`].
///
/// ```
/// let mut keys = [5, 1, 4, 2, 3];
/// bitonic::partial_sort(&mut keys, 2)?;
/// assert_eq!(keys[..2], [1, 2]);
/// # Ok::<(), bitonic::Error>(())
/// ```
pub fn partial_sort<K: Key>(keys: &mut [K], k: usize) -> Result<(), Error> {
    Sorter::new().partial_sort(keys, k)
}

/// Sorts every segment of keys for itself, in place, ascending: see [`Sorter::sort_segments`].
///
/// ```
/// let mut keys = [3, 1, 2, 9, 7, 8];
/// bitonic::sort_segments(&mut keys, &[0, 2, 6])?;
/// assert_eq!(keys, [1, 3, 2, 7, 8, 9]);
/// # Ok::<(), bitonic::Error>(())
/// ```
pub fn sort_segments<K: Key>(keys: &mut [K], offsets: &[usize]) -> Result<(), Error> {
    Sorter::new().sort_segments(keys, offsets).map(drop)
}
