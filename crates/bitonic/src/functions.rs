//! The operations as functions: those of a [`Sorter`] that was told nothing.

use crate::cpu::{self, Settings};
use crate::gpu::auto::worthwhile;
use crate::key::{BitMap, Key, Order, as_bits, as_bits_mut};
use crate::request::{Request, Segments};
use crate::{Engine, Error, Sorter, TopK};

/// Sorts keys in place, ascending.
///
/// Order, result and memory as in [`Sorter::sort`]. It cannot fail: the CPU sorts what no other engine can.
///
/// ```
/// let mut keys = [3, 1, 2];
/// bitonic::sort(&mut keys);
/// assert_eq!(keys, [1, 2, 3]);
/// ```
#[inline]
pub fn sort<K: Key>(keys: &mut [K]) {
    sort_in(keys, Order::Ascending);
}

/// Sorts keys in place, whatever happens.
#[inline]
fn sort_in<K: Key>(keys: &mut [K], order: Order) {
    if worthwhile(&Request::keys::<K>(Segments::one(keys.len()))).is_some()
        && Sorter::new().order(order).sort(keys).is_ok()
    {
        return;
    }
    let settings = Settings { order, ..Settings::usual() };
    let sorted = cpu::sort_in_any_case(keys, settings);
    debug_assert!(sorted.is_ok(), "the network sorts in place on the current threads");
}

/// Sorts keys in place, ascending, and moves every value with its key. Not stable; see [`Sorter::stable`].
///
/// ```
/// let mut keys = [3_u64, 1, 2];
/// let mut values = ["three", "one", "two"];
/// bitonic::sort_pairs(&mut keys, &mut values)?;
/// assert_eq!(values, ["one", "two", "three"]);
/// # Ok::<(), bitonic::Error>(())
/// ```
pub fn sort_pairs<K: Key, V: Copy + Send>(keys: &mut [K], values: &mut [V]) -> Result<(), Error> {
    let request = Request::pairs::<K, V>(Segments::one(keys.len()));
    if keys.len() == values.len() && worthwhile(&request).is_none() {
        let settings = Settings::usual();
        // SAFETY: the sort gives back a permutation of the keys' bits.
        return cpu::sort_pairs(unsafe { as_bits_mut(keys) }, values, settings.map::<K>(), false, settings);
    }
    Sorter::new().sort_pairs(keys, values).map(|_| ())
}

/// Sorts every row of `row_length` keys for itself, in place, ascending; see [`Sorter::sort_rows`].
///
/// ```
/// let mut keys = [3, 1, 2, 9, 7, 8];
/// bitonic::sort_rows(&mut keys, 3)?;
/// assert_eq!(keys, [1, 2, 3, 7, 8, 9]);
/// # Ok::<(), bitonic::Error>(())
/// ```
pub fn sort_rows<K: Key>(keys: &mut [K], row_length: usize) -> Result<(), Error> {
    Sorter::new().sort_rows(keys, row_length).map(|_| ())
}

/// The index of every key in ascending order; equal keys by lowest index. The keys stay as they are.
///
/// ```
/// assert_eq!(bitonic::argsort(&[30, 10, 20, 10])?, [1, 3, 2, 0]);
/// # Ok::<(), bitonic::Error>(())
/// ```
pub fn argsort<K: Key>(keys: &[K]) -> Result<Vec<usize>, Error> {
    Sorter::new().argsort(keys)
}

/// Whether the keys are in this order: every key at most as large (or, descending, at least as large) as the next.
///
/// The order is the sort's own, so a slice with NaNs can be sorted too.
///
/// ```
/// use bitonic::Order;
///
/// assert!(bitonic::is_sorted(&[-0.0_f64, 0.0, f64::NAN], Order::Ascending));
/// assert!(!bitonic::is_sorted(&[0.0_f64, -0.0], Order::Ascending));
/// ```
pub fn is_sorted<K: Key>(keys: &[K], order: Order) -> bool {
    let map = BitMap::new(K::TYPE.form(), order);
    as_bits(keys).is_sorted_by_key(|&bits| map.to_ordered(bits))
}

/// Sorts keys in place, descending. It cannot fail, as [`sort`].
///
/// ```
/// let mut keys = [3, 1, 2];
/// bitonic::sort_descending(&mut keys);
/// assert_eq!(keys, [3, 2, 1]);
/// ```
pub fn sort_descending<K: Key>(keys: &mut [K]) {
    sort_in(keys, Order::Descending);
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
    Sorter::new().engine(Engine::Cpu).oblivious(true).sort(keys).map(drop)
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
