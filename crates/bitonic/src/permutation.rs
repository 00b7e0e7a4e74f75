//! Permutations: what [`argsort`](crate::argsort) gives, applied and inverted; and sorts of any items by a key, which are permutations.

use crate::cpu::{self, Settings, try_vec};
use crate::key::{Key, as_bits};
use crate::{Error, Sorter};
use std::cmp::Reverse;

/// Puts `items[indices[i]]` at i, for every i. Items of any type are moved, none is cloned.
///
/// - Memory: for less than 2 MiB of items, one more array of them; for more, about 2 bytes for each item and 1 MiB, or a bit for each
///   item of more than 128 bytes. Where that is refused, a bit for each item.
/// - Errors: [`Error::NoPermutation`] if an index is not there just once, [`Error::OutputLength`] if there are not as many indices as
///   items; nothing is moved then.
///
/// ```
/// let keys = [30, 10, 20];
/// let mut names = ["thirty".to_string(), "ten".to_string(), "twenty".to_string()];
/// bitonic::apply_permutation(&mut names, &bitonic::argsort(&keys)?)?;
/// assert_eq!(names, ["ten", "twenty", "thirty"]);
/// # Ok::<(), bitonic::Error>(())
/// ```
pub fn apply_permutation<T>(items: &mut [T], indices: &[usize]) -> Result<(), Error> {
    cpu::permute::check(indices, items.len())?;
    cpu::permute::permute(items, |place| indices[place])
}

/// The permutation that undoes another: where `indices[i]` is j, the result has i at j. Of an argsort, this is the rank of every key.
///
/// - Errors: [`Error::NoPermutation`] if an index is not there just once.
///
/// ```
/// assert_eq!(bitonic::invert_permutation(&[2, 0, 1])?, [1, 2, 0]);
/// # Ok::<(), bitonic::Error>(())
/// ```
pub fn invert_permutation(indices: &[usize]) -> Result<Vec<usize>, Error> {
    cpu::permute::check(indices, indices.len())?;
    let mut inverse = try_vec(indices.len())?;
    inverse.resize(indices.len(), 0);
    for (place, &index) in indices.iter().enumerate() {
        inverse[index] = place;
    }
    Ok(inverse)
}

/// What items can be sorted by: a [`Key`]; `Reverse` of one, for descending order; an `Option` of one of at most 64 bits, `None` first;
/// two or three of them, of at most 128 bits together, compared one after the other.
pub trait SortKey: sealed::Sealed {
    /// One key that has the same order.
    type Packed: Key;

    /// The one key.
    fn pack(self) -> Self::Packed;
}

mod sealed {
    pub trait Sealed {}
}

impl<K: Key> sealed::Sealed for K {}

impl<K: Key> SortKey for K {
    type Packed = K;

    fn pack(self) -> K {
        self
    }
}

/// A key's ordered bits, below so many of another.
fn ordered<K: Key>(key: K) -> u128 {
    use crate::key::Bits;
    key.to_ordered_bits().widen()
}

const fn bits_of<K>() -> u32 {
    8 * size_of::<K>() as u32
}

impl<K: Key> sealed::Sealed for Reverse<K> {}

impl<K: Key> SortKey for Reverse<K> {
    type Packed = u128;

    fn pack(self) -> u128 {
        ordered(self.0) ^ (u128::MAX >> (u128::BITS - bits_of::<K>()))
    }
}

impl<K: Key> sealed::Sealed for Option<K> {}

impl<K: Key> SortKey for Option<K> {
    type Packed = u128;

    fn pack(self) -> u128 {
        const { assert!(size_of::<K>() <= 8, "an optional key has at most 64 bits") };
        self.map_or(0, |key| 1 << u64::BITS | ordered(key))
    }
}

impl<A: Key, B: Key> sealed::Sealed for (A, B) {}

impl<A: Key, B: Key> SortKey for (A, B) {
    type Packed = u128;

    fn pack(self) -> u128 {
        const { assert!(size_of::<A>() + size_of::<B>() <= 16, "keys together have at most 128 bits") };
        ordered(self.0) << bits_of::<B>() | ordered(self.1)
    }
}

impl<A: Key, B: Key, C: Key> sealed::Sealed for (A, B, C) {}

impl<A: Key, B: Key, C: Key> SortKey for (A, B, C) {
    type Packed = u128;

    fn pack(self) -> u128 {
        const {
            assert!(
                size_of::<A>() + size_of::<B>() + size_of::<C>() <= 16,
                "keys together have at most 128 bits"
            )
        };
        (ordered(self.0) << bits_of::<B>() | ordered(self.1)) << bits_of::<C>() | ordered(self.2)
    }
}

/// Sorts items of any type by a key of each: stable, ascending. `key_of` is called once for every item, in their order, before any is
/// moved: if it panics, the items are as they were.
///
/// - Memory: for a key and an index of each item, and what [`apply_permutation`] takes.
/// - Errors: [`Error::OutOfMemory`]; nothing is moved then.
///
/// ```
/// use std::cmp::Reverse;
///
/// let mut people = [("Ada".to_string(), 36), ("Grace".to_string(), 85), ("Alan".to_string(), 41)];
/// bitonic::sort_by_key(&mut people, |person| Reverse(person.1))?;
/// assert_eq!(people[0].0, "Grace");
/// bitonic::sort_by_key(&mut people, |person| (person.0.len() as u32, person.1))?;
/// assert_eq!(people[0].0, "Ada");
/// # Ok::<(), bitonic::Error>(())
/// ```
pub fn sort_by_key<T, S: SortKey>(items: &mut [T], key_of: impl FnMut(&T) -> S) -> Result<(), Error> {
    sort_items(items, key_of, Settings::usual())
}

impl Sorter {
    /// As [`sort_by_key`], in this sorter's order and with its threads. It runs on the CPU. Items with equal keys keep their
    /// order. There is no oblivious way: items that are moved by index show where each key went.
    ///
    /// ```
    /// use bitonic::{Order, Sorter};
    ///
    /// let mut words = ["kiwi", "fig", "banana"];
    /// Sorter::new().order(Order::Descending).sort_by_key(&mut words, |word| word.len())?;
    /// assert_eq!(words, ["banana", "kiwi", "fig"]);
    /// # Ok::<(), bitonic::Error>(())
    /// ```
    pub fn sort_by_key<T, S: SortKey>(
        &self,
        items: &mut [T],
        key_of: impl FnMut(&T) -> S,
    ) -> Result<(), Error> {
        sort_items(items, key_of, Settings { oblivious: false, ..self.settings()? })
    }
}

fn sort_items<T, S: SortKey>(
    items: &mut [T],
    mut key_of: impl FnMut(&T) -> S,
    settings: Settings,
) -> Result<(), Error> {
    let key_of = |item: &T| as_bits(&[key_of(item).pack()])[0];
    cpu::sort_items(items, key_of, settings.map::<S::Packed>(), settings)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::Order;
    use std::panic::{AssertUnwindSafe, catch_unwind};

    /// Whether our order of these is that of the standard library, which is stable too.
    fn check<S: SortKey>(of: impl Fn(u64) -> S, expected: impl Fn(&u64, &u64) -> std::cmp::Ordering) {
        let numbers: Vec<u64> =
            (0..3000).map(|index: u64| index.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40).collect();
        let mut items: Vec<String> = numbers.iter().map(u64::to_string).collect();
        let mut sorted = numbers;
        sorted.sort_by(expected);
        sort_by_key(&mut items, |item| of(item.parse().unwrap())).unwrap();
        assert!(items.iter().eq(sorted.iter().map(u64::to_string).collect::<Vec<_>>().iter()));
    }

    #[test]
    fn every_kind_of_key_gives_the_order_of_the_standard_library() {
        check(|number| number, u64::cmp);
        check(|number| number % 7, |one, other| (one % 7).cmp(&(other % 7)));
        check(Reverse, |one, other| other.cmp(one));
        check(|number| Reverse(number as u8), |one, other| (*other as u8).cmp(&(*one as u8)));
        check(|number| Reverse(-(number as f32)), |one, other| (*one as f32).total_cmp(&(*other as f32)));
        check(|number| (number as i8, number), |one, other| (*one as i8, one).cmp(&(*other as i8, other)));
        let three = |number: u64| ((number % 3) as u8, number as i16, -(number as i64));
        check(three, |one, other| three(*one).cmp(&three(*other)));
        let optional = |number: u64| (!number.is_multiple_of(3)).then_some(number as i32);
        check(optional, |one, other| optional(*one).cmp(&optional(*other)));
        let eights = |number: u64| (number as u128) << 100 | u128::from(number);
        check(|number| Reverse(eights(number)), |one, other| eights(*other).cmp(&eights(*one)));
    }

    #[test]
    fn a_key_that_panics_loses_nothing() {
        let mut items: Vec<String> = (0..100).rev().map(|number| number.to_string()).collect();
        let before = items.clone();
        let mut calls = 0;
        let sort = AssertUnwindSafe(|| {
            sort_by_key(&mut items, |item| {
                calls += 1;
                assert!(calls < 70, "a fault of the caller's");
                item.len()
            })
        });
        assert!(catch_unwind(sort).is_err());
        assert_eq!(items, before);
    }

    #[test]
    fn the_sorters_order_is_followed_and_equal_keys_keep_their_order() {
        let mut items = [(1, 'a'), (2, 'b'), (1, 'c'), (2, 'd')];
        Sorter::new().order(Order::Descending).sort_by_key(&mut items, |item| item.0).unwrap();
        assert_eq!(items, [(2, 'b'), (2, 'd'), (1, 'a'), (1, 'c')]);
    }

    #[test]
    fn an_inverse_undoes_a_permutation() {
        let keys = [5, 1, 4, 1, 3];
        let order = crate::argsort(&keys).unwrap();
        let ranks = invert_permutation(&order).unwrap();
        assert_eq!(ranks, [4, 0, 3, 1, 2]);
        let mut items = keys;
        apply_permutation(&mut items, &order).unwrap();
        apply_permutation(&mut items, &ranks).unwrap();
        assert_eq!(items, keys);
        assert!(invert_permutation(&[0, 0]).is_err() && apply_permutation(&mut [1, 2], &[0]).is_err());
    }
}
