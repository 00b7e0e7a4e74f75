//! The first k keys in sorted order, with their indices, without sorting the others.
//!
//! Candidates are kept in a buffer of at least 2 k places. Keys that do not come before the last of the best k are passed over, a
//! register at a time: of random keys, nearly all. When the buffer is full it is sorted, and its first k stay.

use super::narrow::try_vec;
use super::width::{self, KeysPlan, Settings};
use super::{pairs, threads};
use crate::Error;
use crate::key::{BitMap, Bits};
use crate::plan::Algorithm;
use crate::request::{Request, What};
use rayon::prelude::*;

/// The first `k` keys in sorted order, and the index of each; equal keys by index.
pub(crate) fn top<B: Bits>(
    keys: &[B],
    map: BitMap<B>,
    k: usize,
    settings: Settings,
) -> Result<(Vec<B>, Vec<usize>), Error> {
    let k = k.min(keys.len());
    if settings.oblivious {
        return pairs::first_obliviously(keys, map, k, settings);
    }
    let indices = width::top(keys, map, k, settings)?;
    let mut best = try_vec(k)?;
    best.extend(indices.iter().map(|&index| keys[index]));
    Ok((best, indices))
}

/// What [`top`] will do with every segment.
pub(crate) fn plan_top<B: Bits>(request: &Request, settings: Settings) -> KeysPlan {
    let length = request.segments.longest();
    let k = match request.what {
        What::Top(k) => k.min(length),
        What::Keys | What::Pairs(_) | What::Argsort => length,
    };
    if settings.oblivious || k >= length / WORTH_SORTING_ALL {
        return pairs::plan_argsort::<B>(length, settings);
    }
    let room = Candidates::<B>::room(k);
    let of_thread = room.saturating_mul(size_of::<B>() + size_of::<usize>());
    KeysPlan {
        algorithm: Algorithm::Selection,
        limits: width::plan::<B>(room, settings).limits,
        scratch_bytes: of_thread.saturating_mul(threads::count_for(length, settings.threads)),
    }
}

/// The buffer has room for so many candidates at least: sorting fewer saves nothing.
const LEAST_ROOM: usize = 512;

/// Where so small a part of the keys is wanted, or a greater one, sorting all takes less than passing over those that are not.
const WORTH_SORTING_ALL: usize = 16;

/// The indices of the first `k` keys in sorted order; equal keys by index. `k` is at most the number of keys.
pub(super) fn top_indices<B: Bits>(
    bits: &[B],
    map: BitMap<B>,
    k: usize,
    settings: Settings,
    first_below: impl Fn(&[B], BitMap<B>, B) -> usize + Sync,
) -> Result<Vec<usize>, Error> {
    if k >= bits.len() / WORTH_SORTING_ALL {
        let mut indices = try_vec(k)?;
        pairs::for_each_index(bits, map, settings, |index| {
            if indices.len() < k {
                indices.push(index);
            }
        })?;
        return Ok(indices);
    }
    let count = threads::count_for(bits.len(), settings.threads);
    // A part for every thread, if each is so long that most of its keys are passed over.
    let part = bits.len().div_ceil(count).max(8 * k).max(1);
    let of_part = |number: usize, bits: &[B]| {
        let mut candidates = Candidates::new(k, settings)?;
        candidates.take_best_of(bits, number * part, map, &first_below)?;
        Ok(candidates)
    };
    if part >= bits.len() {
        return Ok(of_part(0, bits)?.indices);
    }
    let found: Result<Vec<_>, Error> = threads::with_threads_for(bits.len(), settings.threads, |_| {
        bits.par_chunks(part).enumerate().map(|(number, bits)| of_part(number, bits)).collect()
    })?;
    let mut all = Candidates::new(k, settings)?;
    for candidates in found? {
        all.ordered.extend(candidates.ordered);
        all.indices.extend(candidates.indices);
    }
    all.keep_best()?;
    Ok(all.indices)
}

/// Keys that may be among the first, as ordered bits, and their indices. Of equal keys, the one of the lower index comes first.
struct Candidates<B> {
    ordered: Vec<B>,
    indices: Vec<usize>,
    k: usize,
    settings: Settings,
}

impl<B: Bits> Candidates<B> {
    fn new(k: usize, settings: Settings) -> Result<Self, Error> {
        let room = Self::room(k);
        Ok(Self {
            ordered: try_vec(room)?,
            indices: try_vec(room)?,
            k,
            settings: Settings { threads: Some(1), ..settings },
        })
    }

    fn room(k: usize) -> usize {
        k.saturating_mul(2).max(LEAST_ROOM)
    }

    /// Looks at all keys, the first of which has the index `first`.
    fn take_best_of(
        &mut self,
        bits: &[B],
        first: usize,
        map: BitMap<B>,
        first_below: &impl Fn(&[B], BitMap<B>, B) -> usize,
    ) -> Result<(), Error> {
        let room = Self::room(self.k);
        let mut at = 0;
        // The greatest of the best k, once there are so many: an equal key that comes later does not come before it.
        let mut bound = None;
        while at < bits.len() {
            if let Some(bound) = bound {
                at += first_below(&bits[at..], map, bound);
                if at == bits.len() {
                    break;
                }
            }
            self.ordered.push(map.to_ordered(bits[at]));
            self.indices.push(first + at);
            at += 1;
            if self.ordered.len() == room {
                self.keep_best()?;
                bound = self.ordered.last().copied();
                if bound.is_none() {
                    break;
                }
            }
        }
        self.keep_best()
    }

    /// Sorts the candidates and forgets all but the first k.
    fn keep_best(&mut self) -> Result<(), Error> {
        let (elements, packing) = width::sorted_with_indices(&self.ordered, BitMap::IDENTITY, self.settings)?;
        let best = || elements.iter().take(self.k).map(|&element| packing.index(element));
        let mut ordered = try_vec(Self::room(self.k))?;
        ordered.extend(best().map(|place| self.ordered[place]));
        let mut indices = try_vec(Self::room(self.k))?;
        indices.extend(best().map(|place| self.indices[place]));
        (self.ordered, self.indices) = (ordered, indices);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::instructions::{Available, Instructions};
    use crate::key::{Key, Order, as_bits};

    fn check<K: Key>(keys: &[K], what: &str) {
        for instructions in Instructions::ALL.iter().filter_map(|&set| Available::of(set)) {
            for (order, oblivious, threads) in [
                (Order::Ascending, false, Some(1)),
                (Order::Descending, false, Some(3)),
                (Order::Descending, keys.len() < 1000, Some(1)),
            ] {
                let settings = Settings { instructions, order, oblivious, threads, ..Settings::usual() };
                let map = settings.map::<K>();
                let mut expected: Vec<usize> = (0..keys.len()).collect();
                expected.sort_by_key(|&index| map.to_ordered(keys[index].to_raw_bits()));
                for k in [0, 1, 2, 50, 255, 256, 257, 1000, keys.len() / 2, keys.len(), keys.len() + 3] {
                    let (best, indices) = top(as_bits(keys), map, k, settings).unwrap();
                    assert!(indices == expected[..k.min(keys.len())], "{what}: {k} of {}", keys.len());
                    let looked_up = indices.iter().map(|&index| keys[index].to_raw_bits());
                    assert!(best.into_iter().eq(looked_up), "{what}: {k}");
                }
            }
        }
    }

    #[test]
    fn the_first_keys_come_with_the_lowest_indices_whatever_the_keys() {
        let random = |index: u64| (index + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(29);
        type Pattern = (&'static str, fn(u64, u64) -> u64);
        let patterns: [Pattern; 5] = [
            ("random", |random, _| random),
            ("sorted", |_, index| index),
            ("reversed", |_, index| u64::MAX - index),
            ("all equal", |_, _| 5),
            ("few values", |random, _| random % 5),
        ];
        for (name, pattern) in patterns {
            for len in [0, 1, 5, 600, 5000, 70_000] {
                let keys: Vec<u64> = (0..len).map(|index| pattern(random(index), index)).collect();
                check(&keys, name);
                check(&keys.iter().map(|&key| f32::from_bits(key as u32)).collect::<Vec<_>>(), name);
                if len <= 5000 {
                    check(&keys.iter().map(|&key| key as i16).collect::<Vec<_>>(), name);
                    check(&keys.iter().map(|&key| u128::from(key) << 60).collect::<Vec<_>>(), name);
                }
            }
        }
    }
}
