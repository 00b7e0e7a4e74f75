//! Sorted runs in host memory, merged.
//!
//! ```text
//!   from   [ run 0 | run 1 | run 2 | run 3 | run 4 ]
//!   to     [    0 and 1    |    2 and 3    |   4   ]     one level: neighbours become one run
//!   from   [        0 to 3                 |   4   ]     the next, the other way; and so on until one run is left
//! ```
//!
//! Threads share a merge of two runs by its merge path: wherever the result is cut, a binary search tells how much of what
//! is before the cut comes from either run.
//!
//! Which key is taken next shows where keys come from. Keys that are secret are merged by a network ([`merging`]).

use super::merging;
use super::threads::{both, with_threads_for};
use super::width::Settings;
use crate::Error;
use crate::key::{BitMap, Bits, Key, as_bits, as_bits_mut};
use std::hint::select_unpredictable;
use std::ops::Range;

/// Keys, as bits in memory, and what goes with each of them: `()` for nothing.
pub(crate) struct Elements<'a, B, V> {
    keys: &'a mut [B],
    values: &'a mut [V],
}

impl<'a, B, V> Elements<'a, B, V> {
    /// One value for every key.
    pub(crate) fn new(keys: &'a mut [B], values: &'a mut [V]) -> Self {
        assert_eq!(keys.len(), values.len());
        Self { keys, values }
    }

    pub(crate) fn len(&self) -> usize {
        self.keys.len()
    }

    /// The same for a shorter time.
    fn reborrow(&mut self) -> Elements<'_, B, V> {
        Elements { keys: self.keys, values: self.values }
    }

    /// The same, to read.
    fn as_run(&self) -> SortedRun<'_, B, V> {
        SortedRun { keys: self.keys, values: self.values }
    }

    /// What is before a place, and what is from there on.
    pub(crate) fn split_at(self, place: usize) -> (Self, Self) {
        let (keys, later_keys) = self.keys.split_at_mut(place);
        let (values, later_values) = self.values.split_at_mut(place);
        (Self { keys, values }, Self { keys: later_keys, values: later_values })
    }
}

/// Keys in order, and what goes with each of them, to read.
#[derive(Clone, Copy)]
pub(crate) struct SortedRun<'a, B, V> {
    keys: &'a [B],
    values: &'a [V],
}

impl<'a, B, V> SortedRun<'a, B, V> {
    /// One value for every key.
    pub(crate) fn new(keys: &'a [B], values: &'a [V]) -> Self {
        assert_eq!(keys.len(), values.len());
        Self { keys, values }
    }

    fn len(&self) -> usize {
        self.keys.len()
    }

    fn split_at(self, place: usize) -> (Self, Self) {
        let (keys, later_keys) = self.keys.split_at(place);
        let (values, later_values) = self.values.split_at(place);
        (Self { keys, values }, Self { keys: later_keys, values: later_values })
    }
}

/// Merges the runs of these lengths, which lie in `from` one after the other, each in order by `map`; the result is in
/// `to`, and what is in `from` then, of no use. Of equal keys, those of earlier runs come first: the merge is stable.
///
/// Both hold as many elements as the lengths sum up to. Runs that are in no order come out in none, but with nothing lost.
/// Costs a pass over all elements for every doubling of the number of runs, and a copy if that number of passes is even.
pub(crate) fn merge_runs<'a, B: Bits, V: Copy + Send + Sync>(
    from: Elements<'a, B, V>,
    to: Elements<'a, B, V>,
    lengths: Vec<usize>,
    map: BitMap<B>,
    parallel: bool,
) {
    merge_runs_by(from, to, lengths, |first, second, to| merge(first, second, to, map, parallel));
}

/// The same by any merge of two runs.
fn merge_runs_by<'a, B: Bits, V: Copy>(
    mut from: Elements<'a, B, V>,
    mut to: Elements<'a, B, V>,
    mut lengths: Vec<usize>,
    merge: impl Fn(SortedRun<'_, B, V>, SortedRun<'_, B, V>, Elements<'_, B, V>),
) {
    let mut is_in_place = false;
    while lengths.len() > 1 {
        merge_neighbours(from.as_run(), to.reborrow(), &lengths, &merge);
        lengths = lengths.chunks(2).map(|pair| pair.iter().sum()).collect();
        std::mem::swap(&mut from, &mut to);
        is_in_place = !is_in_place;
    }
    if !is_in_place {
        merge_neighbours(from.as_run(), to, &lengths, &merge);
    }
}

/// Merges the first run with the second, the third with the fourth, and so on. A last one without partner is copied.
fn merge_neighbours<B: Bits, V: Copy>(
    mut from: SortedRun<'_, B, V>,
    mut to: Elements<'_, B, V>,
    lengths: &[usize],
    merge: &impl Fn(SortedRun<'_, B, V>, SortedRun<'_, B, V>, Elements<'_, B, V>),
) {
    for pair in lengths.chunks(2) {
        let (first_len, len) = (pair[0], pair.iter().sum());
        let (both, later_from) = from.split_at(len);
        let (place, later_to) = to.split_at(len);
        let (first, second) = both.split_at(first_len);
        merge(first, second, place);
        (from, to) = (later_from, later_to);
    }
}

/// Merges keys with their values: each argument has as many keys as values, and `merged` the room for both others. Obliviously by a
/// network, if the settings say so.
///
/// # Errors
///
/// [`Error::OutOfMemory`] for the network that moves values; nothing is written then.
pub(crate) fn merge_keys<K: Key, V: Copy + Send + Sync>(
    first: (&[K], &[V]),
    second: (&[K], &[V]),
    merged: (&mut [K], &mut [V]),
    settings: Settings,
) -> Result<(), Error> {
    let map = settings.map::<K>();
    let (first, second) =
        (SortedRun::new(as_bits(first.0), first.1), SortedRun::new(as_bits(second.0), second.1));
    // SAFETY: every bit pattern that is written is one of a key.
    let to = Elements::new(unsafe { as_bits_mut(merged.0) }, merged.1);
    with_threads_for(to.len(), settings.threads, |parallel| {
        if !settings.oblivious {
            merge(first, second, to, map, parallel);
        } else if size_of::<V>() == 0 {
            merging::merge_keys(first.keys, second.keys, to.keys, map, settings, parallel);
        } else {
            let (first, second) = ((first.keys, first.values), (second.keys, second.values));
            return merging::merge_pairs(first, second, (to.keys, to.values), map, settings, parallel);
        }
        Ok(())
    })?
}

/// Merges the runs of these lengths, which lie in `from` one after the other; the result is in `to`. Obliviously by networks, if the
/// settings say so.
pub(crate) fn merge_runs_of_keys<K: Key>(
    from: &mut [K],
    to: &mut [K],
    lengths: Vec<usize>,
    settings: Settings,
) -> Result<(), Error> {
    let map = settings.map::<K>();
    // Vectors of `()` allocate nothing.
    let (mut nothing, mut nothing_else) = (vec![(); from.len()], vec![(); to.len()]);
    // SAFETY: every bit pattern that is written, in either array, is one of a key.
    let (from, to) = unsafe { (as_bits_mut(from), as_bits_mut(to)) };
    with_threads_for(to.len(), settings.threads, |parallel| {
        let (from, to) = (Elements::new(from, &mut nothing), Elements::new(to, &mut nothing_else));
        if settings.oblivious {
            merge_runs_by(from, to, lengths, |first, second, to| {
                merging::merge_keys(first.keys, second.keys, to.keys, map, settings, parallel);
            });
        } else {
            merge_runs(from, to, lengths, map, parallel);
        }
    })
}

/// What one thread merges at a time: some hundred microseconds, beside which handing it over is nothing.
const PART: usize = 1 << 16;

/// Merges two runs into `to`, which has just the room for them.
pub(crate) fn merge<B: Bits, V: Copy + Send + Sync>(
    first: SortedRun<'_, B, V>,
    second: SortedRun<'_, B, V>,
    to: Elements<'_, B, V>,
    map: BitMap<B>,
    parallel: bool,
) {
    if !parallel || to.len() <= PART {
        return merge_part(first, second, to, map);
    }
    let middle = to.len() / 2;
    let of_first = path(first.keys, second.keys, middle, map);
    let (first, later_first) = first.split_at(of_first);
    let (second, later_second) = second.split_at(middle - of_first);
    let (to, later_to) = to.split_at(middle);
    both(
        parallel,
        || merge(first, second, to, map, parallel),
        || merge(later_first, later_second, later_to, map, parallel),
    );
}

/// How many of the first `count` elements of the merged runs come from the first run.
fn path<B: Bits>(first: &[B], second: &[B], count: usize, map: BitMap<B>) -> usize {
    let (mut least, mut most) = (count.saturating_sub(second.len()), count.min(first.len()));
    while least < most {
        let middle = least + (most - least) / 2;
        // If the key at `middle` goes before the last that would come from the second run, more come from the first.
        let goes_before = map.to_ordered(first[middle]) <= map.to_ordered(second[count - 1 - middle]);
        (least, most) = if goes_before { (middle + 1, most) } else { (least, middle) };
    }
    least
}

/// Merges on this thread, from both ends: two chains of loads and comparisons that do not wait for each other, in 0.6 of the
/// time of one. Which run is next is a coin toss that no processor predicts, so there is a choice and no branch.
fn merge_part<B: Bits, V: Copy>(
    first: SortedRun<'_, B, V>,
    second: SortedRun<'_, B, V>,
    to: Elements<'_, B, V>,
    map: BitMap<B>,
) {
    // What is below goes to its places unchecked.
    let len = first.len() + second.len();
    assert_eq!(to.len(), len);
    let mut merge = Merge {
        first,
        second,
        to,
        map,
        rest: Rest { first: 0..first.len(), second: 0..second.len(), to: 0..len },
    };
    // An element from each end, either of which may be of either run: as long as both have two left, the ends cannot meet, not even
    // if the runs are in no order. So many times that holds, whatever the keys are.
    loop {
        let times = merge.rest.first.len().min(merge.rest.second.len()) / 2;
        if times == 0 {
            break;
        }
        for _ in 0..times {
            // SAFETY: a time takes two elements at most from either run, and there were twice as many in each.
            unsafe {
                merge.take_first();
                merge.take_last();
            }
        }
    }
    while !merge.rest.first.is_empty() && !merge.rest.second.is_empty() {
        // SAFETY: both runs have an element left.
        unsafe { merge.take_first() };
    }
    merge.copy_rest();
}

/// A merge on one thread that is under way.
struct Merge<'a, B, V> {
    first: SortedRun<'a, B, V>,
    second: SortedRun<'a, B, V>,
    to: Elements<'a, B, V>,
    map: BitMap<B>,
    rest: Rest,
}

/// The places that are not taken yet, of either run, and not written yet. The last are as many as the others together.
struct Rest {
    first: Range<usize>,
    second: Range<usize>,
    to: Range<usize>,
}

impl<B: Bits, V: Copy> Merge<'_, B, V> {
    /// Takes the element that comes first.
    ///
    /// # Safety
    ///
    /// Both runs have an element left.
    #[inline(always)]
    unsafe fn take_first(&mut self) {
        let (of_first, of_second) = (self.rest.first.start, self.rest.second.start);
        // SAFETY: these are the first places left, of which each run has one; so there is a place to write as well.
        let is_second = unsafe { self.take(of_first, of_second, self.rest.to.start, false) };
        self.rest.second.start += usize::from(is_second);
        self.rest.first.start += usize::from(!is_second);
        self.rest.to.start += 1;
    }

    /// Takes the element that comes last.
    ///
    /// # Safety
    ///
    /// Both runs have an element left.
    #[inline(always)]
    unsafe fn take_last(&mut self) {
        let (of_first, of_second) = (self.rest.first.end - 1, self.rest.second.end - 1);
        self.rest.to.end -= 1;
        // SAFETY: these are the last places left, of which each run has one; so there is a place to write as well.
        let is_second = unsafe { self.take(of_first, of_second, self.rest.to.end, true) };
        self.rest.second.end -= usize::from(is_second);
        self.rest.first.end -= usize::from(!is_second);
    }

    /// Writes the earlier of two elements, or the later one, and tells whether it is that of the second run. Of equal keys, that of the
    /// first run is the earlier.
    ///
    /// # Safety
    ///
    /// The runs have elements at these places, and the result has the place.
    #[inline(always)]
    unsafe fn take(&mut self, of_first: usize, of_second: usize, place: usize, later: bool) -> bool {
        // SAFETY: the caller vouches for all three places; each run, and the result, has as many values as keys.
        unsafe {
            let keys = (*self.second.keys.get_unchecked(of_second), *self.first.keys.get_unchecked(of_first));
            let values =
                (*self.second.values.get_unchecked(of_second), *self.first.values.get_unchecked(of_first));
            let is_second = (self.map.to_ordered(keys.0) < self.map.to_ordered(keys.1)) != later;
            *self.to.keys.get_unchecked_mut(place) = select_unpredictable(is_second, keys.0, keys.1);
            *self.to.values.get_unchecked_mut(place) = select_unpredictable(is_second, values.0, values.1);
            is_second
        }
    }

    /// Copies what is left of the one run that has something left.
    fn copy_rest(self) {
        let Rest { first, second, to } = self.rest;
        let (run, rest) = if first.is_empty() { (self.second, second) } else { (self.first, first) };
        self.to.keys[to.clone()].copy_from_slice(&run.keys[rest.clone()]);
        self.to.values[to].copy_from_slice(&run.values[rest]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::{KeyForm, Order};
    use proptest::prelude::*;

    const ORDERS: [Order; 2] = [Order::Ascending, Order::Descending];

    /// Sorts every run by std's stable sort, each key with its place, and merges them; the result must be what std's
    /// stable sort makes of all keys.
    fn check<B: Bits>(keys: &[B], lengths: &[usize], form: KeyForm, order: Order, parallel: bool) {
        let map = BitMap::new(form, order);
        let mut places: Vec<usize> = (0..keys.len()).collect();
        let mut expected = places.clone();
        expected.sort_by_key(|&place| map.to_ordered(keys[place]));
        let mut rest = places.as_mut_slice();
        for &length in lengths {
            let (run, later) = rest.split_at_mut(length);
            run.sort_by_key(|&place| map.to_ordered(keys[place]));
            rest = later;
        }
        let mut from: Vec<B> = places.iter().map(|&place| keys[place]).collect();
        let (mut to, mut merged) = (vec![B::ZERO; keys.len()], vec![usize::MAX; keys.len()]);
        merge_runs(
            Elements::new(&mut from, &mut places),
            Elements::new(&mut to, &mut merged),
            lengths.to_vec(),
            map,
            parallel,
        );
        assert!(merged == expected, "{} keys in runs of {lengths:?}, {form:?}, {order:?}", keys.len());
        assert!(to.iter().copied().eq(expected.iter().map(|&place| keys[place])));
    }

    /// Cuts a length into runs at places made of these numbers; some are empty.
    fn lengths_of(len: usize, cuts: &[usize]) -> Vec<usize> {
        let mut ends: Vec<usize> = cuts.iter().map(|cut| cut % (len + 1)).chain([len]).collect();
        ends.sort_unstable();
        ends.iter().scan(0, |start, &end| Some(end - std::mem::replace(start, end))).collect()
    }

    proptest! {
        #[test]
        fn any_runs_come_out_as_from_a_stable_sort(
            keys in prop::collection::vec(any::<u32>(), 0..400),
            cuts in prop::collection::vec(any::<usize>(), 0..9),
            form in prop::sample::select(vec![KeyForm::Unsigned, KeyForm::Signed, KeyForm::Float]),
            order in prop::sample::select(ORDERS.to_vec()),
        ) {
            check(&keys, &lengths_of(keys.len(), &cuts), form, order, false);
        }

        #[test]
        fn equal_keys_stay_in_the_order_of_their_runs(
            keys in prop::collection::vec(0..4_u8, 0..400),
            cuts in prop::collection::vec(any::<usize>(), 0..9),
            order in prop::sample::select(ORDERS.to_vec()),
        ) {
            check(&keys, &lengths_of(keys.len(), &cuts), KeyForm::Unsigned, order, false);
        }

        #[test]
        fn runs_in_no_order_lose_nothing(
            mut from in prop::collection::vec(any::<u8>(), 0..60),
            cuts in prop::collection::vec(any::<usize>(), 0..4),
        ) {
            let lengths = lengths_of(from.len(), &cuts);
            let (mut expected, mut to) = (from.clone(), vec![0; from.len()]);
            let (mut nothing, mut nothing_else) = (vec![(); from.len()], vec![(); from.len()]);
            let map = BitMap::new(KeyForm::Unsigned, Order::Ascending);
            let to_elements = Elements::new(&mut to, &mut nothing_else);
            merge_runs(Elements::new(&mut from, &mut nothing), to_elements, lengths, map, false);
            expected.sort_unstable();
            to.sort_unstable();
            prop_assert_eq!(to, expected);
        }

        #[test]
        fn wherever_a_merge_is_cut_both_sides_have_what_belongs_there(
            mut first in prop::collection::vec(0..20_u16, 0..60),
            mut second in prop::collection::vec(0..20_u16, 0..60),
        ) {
            first.sort_unstable();
            second.sort_unstable();
            let map = BitMap::new(KeyForm::Unsigned, Order::Ascending);
            let mut merged: Vec<(u16, bool)> =
                first.iter().map(|&key| (key, false)).chain(second.iter().map(|&key| (key, true))).collect();
            merged.sort();
            for count in 0..=merged.len() {
                let of_first = merged[..count].iter().filter(|&&(_, is_second)| !is_second).count();
                prop_assert_eq!(path(&first, &second, count, map), of_first);
            }
        }
    }

    #[test]
    fn several_threads_merge_as_one_does() {
        let pool =
            rayon::ThreadPoolBuilder::new().num_threads(4).build().expect("four threads can be started");
        let len = 5 * PART + 17;
        let random: Vec<u64> =
            (0..len as u64).map(|index| index.wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(23)).collect();
        let few: Vec<u64> = random.iter().map(|key| key % 3).collect();
        let equal = vec![7; len];
        let one_sided: Vec<u64> = (0..len as u64).rev().collect();
        for keys in [random, few, equal, one_sided] {
            for cuts in [vec![], vec![1], vec![len / 2], vec![PART, 2 * PART, 3 * PART, len - 1]] {
                for order in ORDERS {
                    let lengths = lengths_of(len, &cuts);
                    pool.install(|| check(&keys, &lengths, KeyForm::Float, order, true));
                }
            }
        }
    }
}
