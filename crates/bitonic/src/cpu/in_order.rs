//! Whether keys are in order: what comes from elsewhere is asked, not believed.

use super::stretch::{PartOfRow, Place};
use super::vectorized::{Loop, vectorized};
use crate::key::{BitMap, Bits};
use std::ops::Range;

/// Whether what `map` makes of the keys of every row ascends.
pub(crate) fn is_in_order<B: Bits>(place: Place, keys: &[B], map: BitMap<B>) -> bool {
    vectorized(Neighbours { place, keys, map })
}

/// The same, and whether the numbers of equal keys ascend, too, and none is there twice. There is a number for every key.
pub(crate) fn is_in_stable_order<B: Bits, V: Bits>(
    place: Place,
    keys: &[B],
    numbers: &[V],
    map: BitMap<B>,
) -> bool {
    vectorized(StableNeighbours { place, keys, numbers, map })
}

// The loops below are vectorised: no comparison ends one, none is in a closure, each has a result of its own, and slices of one known
// length.

struct Neighbours<'a, B> {
    place: Place,
    keys: &'a [B],
    map: BitMap<B>,
}

impl<B: Bits> Loop for Neighbours<'_, B> {
    type Output = bool;

    #[inline(always)]
    fn run(self) -> bool {
        let Self { place, keys, map } = self;
        let mut all_ascend = true;
        for PartOfRow { places, .. } in place.rows(keys.len()) {
            let (keys, next) = neighbours(keys, &places);
            let mut is_wrong = false;
            if map.magnitude() == B::ZERO {
                // All but floats: half the instructions.
                for (&key, &next) in keys.iter().zip(next) {
                    is_wrong |= key ^ map.flip() > next ^ map.flip();
                }
            } else {
                for (&key, &next) in keys.iter().zip(next) {
                    is_wrong |= map.to_ordered(key) > map.to_ordered(next);
                }
            }
            all_ascend &= !is_wrong;
        }
        all_ascend
    }
}

struct StableNeighbours<'a, B, V> {
    place: Place,
    keys: &'a [B],
    numbers: &'a [V],
    map: BitMap<B>,
}

impl<B: Bits, V: Bits> Loop for StableNeighbours<'_, B, V> {
    type Output = bool;

    #[inline(always)]
    fn run(self) -> bool {
        let Self { place, keys, numbers, map } = self;
        let mut all_ascend = true;
        for PartOfRow { places, .. } in place.rows(keys.len()) {
            let (keys, next_keys) = neighbours(keys, &places);
            let (numbers, next_numbers) = neighbours(numbers, &places);
            let len = keys.len();
            let (next_keys, numbers, next_numbers) =
                (&next_keys[..len], &numbers[..len], &next_numbers[..len]);
            let mut is_wrong = false;
            for place in 0..len {
                let (key, next) = (map.to_ordered(keys[place]), map.to_ordered(next_keys[place]));
                is_wrong |= (key > next) | ((key == next) & (numbers[place] >= next_numbers[place]));
            }
            all_ascend &= !is_wrong;
        }
        all_ascend
    }
}

/// All elements of a part but the last, and all but the first.
#[inline(always)]
fn neighbours<'a, T>(array: &'a [T], places: &Range<usize>) -> (&'a [T], &'a [T]) {
    let part = &array[places.clone()];
    (&part[..part.len() - 1], &part[1..])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::{Key, Order};

    fn check<K: Key>(ascending: &[K]) {
        let bits: Vec<K::Bits> = ascending.iter().map(|key| key.to_raw_bits()).collect();
        let map = |order| BitMap::new(K::TYPE.form(), order);
        let is_ordered = |bits: &[K::Bits], order| is_in_order(Place::ALONE, bits, map(order));
        let reversed: Vec<K::Bits> = bits.iter().rev().copied().collect();
        assert!(is_ordered(&bits, Order::Ascending) && is_ordered(&reversed, Order::Descending));
        assert!(!is_ordered(&bits, Order::Descending) && !is_ordered(&reversed, Order::Ascending));
        // Long enough for every part of a vector loop, with one pair that is not in order, at every place.
        for len in [2, 3, 15, 16, 17, 64, 65, 100] {
            let numbers: Vec<u32> = (0..len).collect();
            let wide: Vec<u64> = numbers.iter().map(|&number| u64::from(number)).collect();
            let mut keys = vec![bits[1]; len as usize];
            let all = |keys: &[K::Bits], order| {
                [
                    is_in_order(Place::ALONE, keys, map(order)),
                    is_in_stable_order(Place::ALONE, keys, &numbers, map(order)),
                    is_in_stable_order(Place::ALONE, keys, &wide, map(order)),
                ]
            };
            for place in 0..len as usize {
                assert_eq!(all(&keys, Order::Ascending), [true; 3]);
                keys[place] = bits[0];
                assert_eq!(all(&keys, Order::Ascending), [place == 0; 3], "{} at {place} of {len}", K::TYPE);
                let is_last = place == keys.len() - 1;
                assert_eq!(all(&keys, Order::Descending), [is_last; 3], "{} at {place} of {len}", K::TYPE);
                keys[place] = bits[1];
            }
        }
    }

    #[test]
    fn one_pair_that_is_not_in_order_is_found_at_every_place() {
        check(&[0_u8, 1, 255]);
        check(&[0_u16, 256]);
        check(&[1_u32, 1 << 31]);
        check(&[0_u64, 1 << 32, u64::MAX]);
        check(&[1_u128, 1 << 64]);
        check(&[-1_i8, 0]);
        check(&[i32::MIN, -1, 0]);
        check(&[i128::MIN, 0]);
        check(&[-f32::NAN, -1.0, -0.0, 0.0, f32::INFINITY, f32::NAN]);
        check(&[-2.0, -1.0_f64, 1.0]);
        check(&[false, true]);
    }

    #[test]
    fn equal_keys_go_by_their_values() {
        fn is_ordered<B: Bits, V: Bits>(numbers: [u128; 3]) -> bool {
            let map = BitMap::new(crate::key::KeyForm::Unsigned, Order::Descending);
            is_in_stable_order(Place::ALONE, &[9, 5, 5].map(B::truncate), &numbers.map(V::truncate), map)
        }
        for (numbers, expected) in [([1, 0, 1], true), ([1, 1, 0], false), ([1, 0, 0], false)] {
            assert_eq!(is_ordered::<u16, u32>(numbers), expected, "{numbers:?}");
            assert_eq!(is_ordered::<u64, u32>(numbers), expected, "{numbers:?}");
            assert_eq!(is_ordered::<u128, u64>(numbers), expected, "{numbers:?}");
        }
    }

    #[test]
    fn few_keys_are_in_order() {
        for keys in [&[][..], &[7_u32]] {
            assert!(is_in_order(Place::ALONE, keys, BitMap::IDENTITY));
            assert!(is_in_stable_order(Place::ALONE, keys, &vec![1_u32; keys.len()], BitMap::IDENTITY));
        }
    }

    #[test]
    fn rows_are_in_order_each() {
        let is_in_order = |keys: &[u32], start, row_length| {
            is_in_order(Place { start, row_length }, keys, BitMap::IDENTITY)
        };
        let keys = [5, 6, 1, 2, 3, 0];
        assert!(is_in_order(&keys, 1, 3) && is_in_order(&keys, 0, 1));
        assert!(!is_in_order(&keys, 0, 3) && !is_in_order(&keys, 0, 6) && !is_in_order(&keys, 1, 4));
    }
}
