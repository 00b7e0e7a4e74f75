//! The key of a given rank, with the smaller keys before it and the others behind: partition and go on in the one part that has it.
//!
//! The pivot is the key of a sample that should be just beyond the rank, so that the part that goes on is small. What gets smaller
//! too slowly is left to the standard library, which has no quadratic case.

use super::generic::partition::LEAST_REGISTERS;
use super::kernels::Kernels;
use super::quicksort::{SAMPLE, Sample, partition, successor};
use super::width::{Settings, select as select_width, sort_tile};
use crate::key::{BitMap, Bits, Key, as_bits_mut};

/// Puts the key that comes at `place` in sorted order there, none that comes later before it and none that comes earlier behind it.
///
/// # Panics
///
/// If there is no such place.
pub(crate) fn select<K: Key>(keys: &mut [K], place: usize, settings: Settings) {
    assert!(place < keys.len());
    // SAFETY: what comes back is a permutation of the bits of keys: valid whatever the type.
    let bits = unsafe { as_bits_mut(keys) };
    select_width(bits, settings.map::<K>(), place, settings);
}

/// So many keys are sorted: sorting them takes no longer than a sample and a partition, which goes key by key where it has few registers.
/// A tile holds them, whatever the instructions.
fn few<B>(kernels: &Kernels<B>) -> usize {
    (2 * SAMPLE).max(LEAST_REGISTERS << kernels.lanes_log2)
}

/// How many keys of a sample the pivot is beyond the expected rank: twice the deviation of a median of 128.
const MARGIN: usize = 12;

/// Selects among the bits of keys by what `map` makes of them. Only the last few are turned into ordered bits and back.
pub(super) fn select_bits<B: Bits>(
    mut keys: &mut [B],
    map: BitMap<B>,
    mut place: usize,
    kernels: &Kernels<B>,
) {
    let few = few(kernels);
    // A partition leaves less than three quarters as a rule; more of them than this allow for uneven ones.
    let mut budget = 4 * (keys.len() / few + 1).ilog2() + 8;
    while keys.len() > few {
        if budget == 0 {
            keys.select_nth_unstable_by_key(place, |&bits| map.to_ordered(bits));
            return;
        }
        budget -= 1;
        let expected = (place as u128 * SAMPLE as u128 / keys.len() as u128) as usize;
        let near = if place < keys.len() / 2 { expected + MARGIN } else { expected.saturating_sub(MARGIN) };
        let pivot = Sample::take(keys, map, kernels).key(near.min(SAMPLE - 1));
        let below = partition(keys, map, pivot, kernels);
        if place < below {
            keys = &mut keys[..below];
            continue;
        }
        keys = &mut keys[below..];
        place -= below;
        // The least key left is the pivot. Where that may be so often that the rank is among its equals, split them off.
        if below == 0 {
            let Some(next) = successor(pivot) else { return };
            let equal = partition(keys, map, next, kernels);
            if place < equal {
                return;
            }
            keys = &mut keys[equal..];
            place -= equal;
        }
    }
    sort_tile(keys, map, kernels);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::instructions::{Available, Instructions};
    use crate::key::Order;

    fn check<K: Key>(keys: &[K], settings: Settings, what: &str) {
        let map = settings.map::<K>();
        let rank = |key: &K| map.to_ordered(key.to_raw_bits());
        let mut expected = keys.to_vec();
        expected.sort_by_key(rank);
        for place in [0, 1, keys.len() / 3, keys.len() / 2, keys.len().saturating_sub(2), keys.len() - 1] {
            let mut selected = keys.to_vec();
            select(&mut selected, place, settings);
            let key = rank(&selected[place]);
            assert!(key == rank(&expected[place]), "{what}: place {place} of {}", keys.len());
            assert!(selected[..place].iter().all(|before| rank(before) <= key), "{what}: place {place}");
            assert!(selected[place..].iter().all(|behind| rank(behind) >= key), "{what}: place {place}");
            selected.sort_by_key(rank);
            assert!(selected.iter().map(rank).eq(expected.iter().map(rank)), "{what}: not a permutation");
        }
    }

    #[test]
    fn the_key_of_every_rank_is_found_whatever_the_keys() {
        let random = |index: u64| (index + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(29);
        type Pattern = (&'static str, fn(u64, u64) -> u64);
        let patterns: [Pattern; 6] = [
            ("random", |random, _| random),
            ("sorted", |_, index| index),
            ("reversed", |_, index| u64::MAX - index),
            ("all equal", |_, _| 5),
            ("all the greatest", |_, _| u64::MAX),
            ("few values", |random, _| random % 5),
        ];
        for instructions in Instructions::ALL.iter().filter_map(|&set| Available::of(set)) {
            for order in [Order::Ascending, Order::Descending] {
                let settings = Settings { instructions, order, ..Settings::usual() };
                for (name, pattern) in patterns {
                    for len in [2, 7, 300, 5000, 40_000] {
                        let keys: Vec<u64> = (0..len).map(|index| pattern(random(index), index)).collect();
                        check(&keys, settings, name);
                        check(&keys.iter().map(|&key| key as u32).collect::<Vec<_>>(), settings, name);
                        check(
                            &keys.iter().map(|&key| f32::from_bits(key as u32)).collect::<Vec<_>>(),
                            settings,
                            name,
                        );
                        check(&keys.iter().map(|&key| key as i8).collect::<Vec<_>>(), settings, name);
                        check(&keys.iter().map(|&key| key as u16).collect::<Vec<_>>(), settings, name);
                        check(
                            &keys.iter().map(|&key| i128::from(key) << 40).collect::<Vec<_>>(),
                            settings,
                            name,
                        );
                    }
                }
            }
        }
    }
}
