//! Whether keys are in order: what comes from elsewhere is asked, not believed.

use super::stretch::{Carried, PartOfRow, Place};
use super::vectorized::{Loop, vectorized};
use crate::key::{BitMap, Bits};

/// Whether what `map` makes of the keys of every row ascends; with numbers, whether those of equal keys ascend, too, and none is there
/// twice.
pub(crate) fn is_in_order<B: Bits, V: Carried>(place: Place, keys: &[B], values: V, map: BitMap<B>) -> bool {
    vectorized(Neighbours { place, keys, values, map })
}

struct Neighbours<'a, B, V> {
    place: Place,
    keys: &'a [B],
    values: V,
    map: BitMap<B>,
}

impl<B: Bits, V: Carried> Loop for Neighbours<'_, B, V> {
    type Output = bool;

    /// No comparison ends the loop: it would not be vectorised.
    #[inline(always)]
    fn run(self) -> bool {
        let Self { place, keys, values, map } = self;
        let mut is_wrong = false;
        place.for_each_row(keys.len(), |PartOfRow { behind, places, .. }| {
            let (lower, upper) = (places.start..places.end - 1, places.start + 1..places.end);
            let neighbours = keys[lower.clone()].iter().zip(&keys[upper.clone()]);
            if V::WIDTH == 0 {
                for (&key, &next) in neighbours {
                    is_wrong |= map.to_ordered(key) > map.to_ordered(next);
                }
            } else {
                let numbers = values.numbers(lower, behind).zip(values.numbers(upper, behind + 1));
                for ((&key, &next), (number, next_number)) in neighbours.zip(numbers) {
                    let (key, next) = (map.to_ordered(key), map.to_ordered(next));
                    is_wrong |= (key > next) | ((key == next) & (number >= next_number));
                }
            }
        });
        !is_wrong
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cpu::stretch::Nothing;
    use crate::key::{Key, Order};

    fn check<K: Key>(ascending: &[K]) {
        let bits: Vec<K::Bits> = ascending.iter().map(|key| key.to_raw_bits()).collect();
        let map = |order| BitMap::new(K::TYPE.form(), order);
        let is_ordered = |bits: &[K::Bits], order| is_in_order(Place::ALONE, bits, Nothing, map(order));
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
                    is_in_order(Place::ALONE, keys, Nothing, map(order)),
                    is_in_order(Place::ALONE, keys, &numbers[..], map(order)),
                    is_in_order(Place::ALONE, keys, &wide[..], map(order)),
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
        fn map<B: Bits>() -> BitMap<B> {
            BitMap::new(crate::key::KeyForm::Unsigned, Order::Descending)
        }
        for (values, is_ordered) in [([1_u32, 0, 1], true), ([1, 1, 0], false), ([1, 0, 0], false)] {
            assert_eq!(
                is_in_order(Place::ALONE, &[9_u16, 5, 5], &values[..], map()),
                is_ordered,
                "{values:?}"
            );
            let wide = values.map(u64::from);
            assert_eq!(
                is_in_order(Place::ALONE, &[9_u128, 5, 5], &wide[..], map()),
                is_ordered,
                "{values:?}"
            );
        }
    }

    #[test]
    fn few_keys_are_in_order() {
        for keys in [&[][..], &[7_u32]] {
            assert!(is_in_order(Place::ALONE, keys, Nothing, BitMap::IDENTITY));
            assert!(is_in_order(Place::ALONE, keys, &vec![1_u32; keys.len()][..], BitMap::IDENTITY));
        }
    }

    #[test]
    fn rows_are_in_order_each() {
        let is_in_order = |keys: &[u32], start, row_length| {
            is_in_order(Place { start, row_length }, keys, Nothing, BitMap::IDENTITY)
        };
        let keys = [5, 6, 1, 2, 3, 0];
        assert!(is_in_order(&keys, 1, 3) && is_in_order(&keys, 0, 1));
        assert!(!is_in_order(&keys, 0, 3) && !is_in_order(&keys, 0, 6) && !is_in_order(&keys, 1, 4));
    }
}
