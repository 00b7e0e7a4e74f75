//! Keys together with their values in one integer each, which the vector kernels sort.
//!
//! ```text
//!   high                  low
//!   | key | value |              64 bits: keys of up to 32 and values of 32; 128 bits: both of up to 64
//!   | key | index | value |      stable: an index of 32 bits, where all three fit 128 bits
//!   | key | index |              orders: 32 bits for keys of 16 and fewer, if an index has room; 128 bits for longer ones
//! ```
//!
//! Pairs with equal keys come in the order of their indices, or else of their values. Sorting such integers obliviously is sorting the
//! pairs obliviously: what is written where depends on no key and no value.

use super::narrow::try_vec;
use super::packed;
use super::parts::{Bounds, Parts, each_part};
use super::vectorized::{Loop, vectorized};
use super::width::{self, KeysPlan, Settings};
use crate::Error;
use crate::key::{BitMap, Bits, plain_number_bytes};
use std::marker::PhantomData;
use std::mem::MaybeUninit;

/// The integer that holds a key and what travels with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Holder {
    Bits64,
    Bits128,
}

/// An index beside a value has so many bits.
const INDEX_BITS: u32 = u32::BITS;

/// So many integers are on the stack, where asking for memory would take longer than sorting them.
const ON_STACK: usize = 256;

impl Holder {
    /// The smaller one that holds such keys and values; `None` if neither does, or if values are no numbers of 4 or 8 bytes.
    pub(super) fn of<B: Bits, V>(len: usize, stable: bool) -> Option<Self> {
        let index_bits = if stable { INDEX_BITS } else { 0 };
        if stable && len as u64 > 1 << INDEX_BITS {
            return None;
        }
        let value_bits = u8::BITS * plain_number_bytes::<V>()? as u32;
        match B::WIDTH + index_bits + value_bits {
            ..=64 => Some(Self::Bits64),
            65..=128 => Some(Self::Bits128),
            _ => None,
        }
    }

    /// How many bytes it has.
    pub(super) fn bytes(self) -> usize {
        match self {
            Self::Bits64 => size_of::<u64>(),
            Self::Bits128 => size_of::<u128>(),
        }
    }

    /// How so many of them are sorted.
    pub(super) fn plan(self, len: usize, settings: Settings) -> KeysPlan {
        let plan = match self {
            Self::Bits64 => width::plan::<u64>(len, settings),
            Self::Bits128 => width::plan::<u128>(len, settings),
        };
        let scratch_bytes = if len <= ON_STACK { 0 } else { len.saturating_mul(self.bytes()) };
        KeysPlan { scratch_bytes, ..plan }
    }
}

/// Sorts every part of the keys and moves every value with its key. This is the holder of such keys and values.
///
/// # Errors
///
/// Memory was refused; keys and values are as they were.
pub(super) fn sort<B: Bits, V: Copy>(
    keys: &mut [B],
    values: &mut [V],
    holder: Holder,
    bounds: Bounds<'_>,
    map: BitMap<B>,
    stable: bool,
    settings: Settings,
) -> Result<(), Error> {
    let covered = bounds.covered();
    let (keys, values) = (&mut keys[covered.clone()], &mut values[covered]);
    let is_word = size_of::<V>() == size_of::<u32>();
    // SAFETY: V is a number, since it has a holder, and as wide as it is said here.
    unsafe {
        match (holder, is_word, stable) {
            (Holder::Bits64, ..) => sort_as::<B, u32, u64, false>(keys, words(values), bounds, map, settings),
            (_, true, false) => sort_as::<B, u32, u128, false>(keys, words(values), bounds, map, settings),
            (_, true, true) => sort_as::<B, u32, u128, true>(keys, words(values), bounds, map, settings),
            (_, false, false) => sort_as::<B, u64, u128, false>(keys, words(values), bounds, map, settings),
            (_, false, true) => sort_as::<B, u64, u128, true>(keys, words(values), bounds, map, settings),
        }
    }
}

/// Obliviously merges two sorted runs of pairs, which a holder of 128 bits is for where the sort is to be stable: of equal keys those of the
/// first run come first, and each run's in its order. `merged` is as long as both.
///
/// # Errors
///
/// Memory was refused; nothing is written then.
pub(super) fn merge<B: Bits, V: Copy>(
    (first, of_first): (&[B], &[V]),
    (second, of_second): (&[B], &[V]),
    (merged, of_merged): (&mut [B], &mut [V]),
    map: BitMap<B>,
    settings: Settings,
    parallel: bool,
) -> Result<(), Error> {
    // SAFETY: V is a number, since it has a holder, and as wide as it is said here.
    unsafe {
        if size_of::<V>() == size_of::<u32>() {
            let runs = [(first, shared_words::<V, u32>(of_first)), (second, shared_words(of_second))];
            merge_words(runs, (merged, words(of_merged)), map, settings, parallel)
        } else {
            let runs = [(first, shared_words::<V, u64>(of_first)), (second, shared_words(of_second))];
            merge_words(runs, (merged, words(of_merged)), map, settings, parallel)
        }
    }
}

/// Values as their bits.
///
/// # Safety
///
/// V is a number as wide as W: any bits are a value.
unsafe fn words<V, W: Bits>(values: &mut [V]) -> &mut [W] {
    assert!(size_of::<V>() == size_of::<W>() && align_of::<V>() >= align_of::<W>());
    // SAFETY: the caller's promise; the values are borrowed exclusively, and the borrow is handed on.
    unsafe { std::slice::from_raw_parts_mut(values.as_mut_ptr().cast::<W>(), values.len()) }
}

/// The same, to read.
///
/// # Safety
///
/// V is a number as wide as W: any bits are a value.
unsafe fn shared_words<V, W: Bits>(values: &[V]) -> &[W] {
    assert!(size_of::<V>() == size_of::<W>() && align_of::<V>() >= align_of::<W>());
    // SAFETY: the caller's promise; the borrow is handed on.
    unsafe { std::slice::from_raw_parts(values.as_ptr().cast::<W>(), values.len()) }
}

/// [`sort`] with integers of type E, which have an index where it is to be stable. How far a key is shifted is known at compile time.
fn sort_as<B: Bits, W: Bits, E: Bits, const STABLE: bool>(
    keys: &mut [B],
    words: &mut [W],
    bounds: Bounds<'_>,
    map: BitMap<B>,
    settings: Settings,
) -> Result<(), Error> {
    let mut on_stack = [const { MaybeUninit::uninit() }; ON_STACK];
    let mut in_memory: Vec<E>;
    let room = if keys.len() <= ON_STACK {
        &mut on_stack[..keys.len()]
    } else {
        in_memory = try_vec(keys.len())?;
        &mut in_memory.spare_capacity_mut()[..keys.len()]
    };
    pack::<B, W, E, STABLE>(room, keys.iter().zip(&*words).enumerate(), map);
    // SAFETY: a pair was packed into every place.
    let elements = unsafe { &mut *(std::ptr::from_mut(room) as *mut [E]) };
    if bounds.count() == 1 {
        width::sort_on_threads(elements, BitMap::IDENTITY, settings)?;
    } else {
        let parts = Parts::from_first(elements, bounds);
        each_part(bounds, settings.threads, &|number, threads| {
            // SAFETY: every part comes once; the bounds ascend, as `Segments` has checked.
            let part = unsafe { parts.part(number) };
            width::sort_on_threads(part, BitMap::IDENTITY, Settings { threads, ..settings })
        })?;
    }
    unpack::<B, W, E, STABLE>(elements, keys, words, map);
    Ok(())
}

/// [`merge`] with words of this type: the first run backwards and the second behind it are cleaned.
fn merge_words<B: Bits, W: Bits>(
    [first, second]: [(&[B], &[W]); 2],
    (merged, of_merged): (&mut [B], &mut [W]),
    map: BitMap<B>,
    settings: Settings,
    parallel: bool,
) -> Result<(), Error> {
    let (middle, len) = (first.0.len(), merged.len());
    let mut in_memory = try_vec(len)?;
    let (falling, rising) = in_memory.spare_capacity_mut()[..len].split_at_mut(middle);
    let pairs = |run: (_, _)| std::iter::zip::<&[B], &[W]>(run.0, run.1).enumerate();
    pack::<B, W, u128, true>(falling, pairs(first).rev(), map);
    pack::<B, W, u128, true>(rising, pairs(second).map(|(index, pair)| (middle + index, pair)), map);
    // SAFETY: a pair was packed into every place.
    unsafe { in_memory.set_len(len) };
    width::clean(&mut in_memory, BitMap::IDENTITY, settings, parallel);
    unpack::<B, W, u128, true>(&in_memory, merged, of_merged, map);
    Ok(())
}

/// How far up a key is.
const fn key_at<W: Bits>(stable: bool) -> u32 {
    W::WIDTH + if stable { INDEX_BITS } else { 0 }
}

/// Writes an integer for every index with its pair.
#[inline(always)]
fn pack<'a, B: Bits, W: Bits, E: Bits, const STABLE: bool>(
    room: &mut [MaybeUninit<E>],
    pairs: impl Iterator<Item = (usize, (&'a B, &'a W))>,
    map: BitMap<B>,
) {
    room.iter_mut().zip(pairs).for_each(|(place, (index, (&bits, &word)))| {
        let key = map.to_ordered(bits).widen() << key_at::<W>(STABLE);
        let index = if STABLE { (index as u128) << W::WIDTH } else { 0 };
        place.write(E::truncate(key | index | word.widen()));
    });
}

/// Takes keys and words out of integers.
#[inline(always)]
fn unpack<B: Bits, W: Bits, E: Bits, const STABLE: bool>(
    elements: &[E],
    keys: &mut [B],
    words: &mut [W],
    map: BitMap<B>,
) {
    for (bits, element) in keys.iter_mut().zip(elements) {
        *bits = map.from_ordered(B::truncate(element.widen() >> key_at::<W>(STABLE)));
    }
    words.iter_mut().zip(elements).for_each(|(word, element)| *word = W::truncate(element.widen()));
}

/// Keys with their indices in integers of type E, sorted: equal keys by index. An index has the bits that a key leaves.
pub(super) fn ordered<B: Bits, E: Bits>(
    keys: &[B],
    map: BitMap<B>,
    settings: Settings,
) -> Result<Vec<E>, Error> {
    let index_bits = index_bits::<B, E>();
    debug_assert!(packed::index_bits(keys.len()) <= index_bits);
    let mut elements = try_vec(keys.len())?;
    vectorized(PackIndices { keys, map, room: &mut elements.spare_capacity_mut()[..keys.len()] });
    // SAFETY: the loop has written an integer for every key.
    unsafe { elements.set_len(keys.len()) };
    width::sort_on_threads(&mut elements, BitMap::IDENTITY, settings)?;
    Ok(elements)
}

/// Writes every key with its index.
struct PackIndices<'a, B, E> {
    keys: &'a [B],
    map: BitMap<B>,
    room: &'a mut [MaybeUninit<E>],
}

impl<B: Bits, E: Bits> Loop for PackIndices<'_, B, E> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        for (index, (place, &bits)) in self.room.iter_mut().zip(self.keys).enumerate() {
            let key = self.map.to_ordered(bits).widen() << index_bits::<B, E>();
            place.write(E::truncate(key | index as u128));
        }
    }
}

/// The indices in the integers of [`ordered`].
pub(super) fn indices<B: Bits, E: Bits>(elements: &[E]) -> Result<Vec<usize>, Error> {
    let mut indices = try_vec(elements.len())?;
    let room = &mut indices.spare_capacity_mut()[..elements.len()];
    vectorized(TakeIndices { elements, room, keys: PhantomData::<B> });
    // SAFETY: the loop has written an index for every integer.
    unsafe { indices.set_len(elements.len()) };
    Ok(indices)
}

/// Writes the index in every integer.
struct TakeIndices<'a, B, E> {
    elements: &'a [E],
    room: &'a mut [MaybeUninit<usize>],
    keys: PhantomData<B>,
}

impl<B: Bits, E: Bits> Loop for TakeIndices<'_, B, E> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        for (place, &element) in self.room.iter_mut().zip(self.elements) {
            place.write(index::<B, E>(element));
        }
    }
}

/// The index in one of the integers of [`ordered`], which were made of keys of type B.
#[inline(always)]
pub(super) fn index<B: Bits, E: Bits>(element: E) -> usize {
    (element.widen() & ((1 << index_bits::<B, E>()) - 1)) as usize
}

/// The ordered bits of the key in it.
#[inline(always)]
pub(super) fn key<B: Bits, E: Bits>(element: E) -> B {
    B::truncate(element.widen() >> index_bits::<B, E>())
}

const fn index_bits<B: Bits, E: Bits>() -> u32 {
    E::WIDTH.saturating_sub(B::WIDTH)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::instructions::{Available, Instructions};
    use crate::key::{KeyForm, Order};

    /// A number that looks random.
    fn random(index: usize) -> u128 {
        (index as u128 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15_F39C_C060_5CED_C835).rotate_right(41)
    }

    /// Pairs in parts of these lengths, behind and before three others, against the standard library.
    fn check<B: Bits, V: Bits>(lengths: &[usize], stable: bool, map: BitMap<B>, settings: Settings) {
        let mut offsets = vec![3];
        lengths.iter().for_each(|length| offsets.push(offsets[offsets.len() - 1] + length));
        let bounds = Bounds::Offsets(&offsets);
        let len = offsets[lengths.len()] + 3;
        // Few keys and fewer values, so that there are ties of either.
        let mut keys: Vec<B> = (0..len).map(|index| B::truncate((random(index) % 40) << 3)).collect();
        let mut values: Vec<V> = (0..len).map(|index| V::truncate(random(index * 7) % 11)).collect();
        let mut expected: Vec<(B, V)> = std::iter::zip(keys.clone(), values.clone()).collect();
        for ends in offsets.windows(2) {
            let part = &mut expected[ends[0]..ends[1]];
            if stable {
                part.sort_by_key(|pair| map.to_ordered(pair.0));
            } else {
                part.sort_by_key(|pair| (map.to_ordered(pair.0), pair.1));
            }
        }
        let holder = Holder::of::<B, V>(bounds.len(), stable).expect("these fit");
        sort(&mut keys, &mut values, holder, bounds, map, stable, settings).unwrap();
        let sorted: Vec<_> = std::iter::zip(keys, values).collect();
        assert!(sorted == expected, "{} and {} bits, {lengths:?}, stable {stable}", B::WIDTH, V::WIDTH);
    }

    fn check_all<B: Bits, V: Bits>(stable: bool) {
        let some: Vec<usize> = (0..60).map(|number| number * number % 67).collect();
        for instructions in Instructions::ALL.iter().filter_map(|&set| Available::of(set)) {
            for (form, order) in [(KeyForm::Unsigned, Order::Descending), (KeyForm::Float, Order::Ascending)]
            {
                let map = BitMap::new(form, order);
                let settings =
                    Settings { instructions, oblivious: true, threads: Some(2), ..Settings::usual() };
                for lengths in [&[][..], &[0], &[1], &[255], &[256], &[257], &[3000], &[5, 0, 90, 1], &some] {
                    check::<B, V>(lengths, stable, map, settings);
                }
            }
        }
    }

    #[test]
    fn pairs_are_sorted_by_keys_then_by_places_or_by_values() {
        check_all::<u8, u32>(false);
        check_all::<u32, u32>(false);
        check_all::<u32, u64>(false);
        check_all::<u64, u32>(false);
        check_all::<u64, u64>(false);
        check_all::<u16, u32>(true);
        check_all::<u32, u64>(true);
        check_all::<u64, u32>(true);
    }

    #[test]
    fn many_pairs_are_sorted_on_threads() {
        let settings = Settings { oblivious: true, threads: Some(2), ..Settings::usual() };
        check::<u64, u32>(&[70_000, 3, 40_000], true, BitMap::IDENTITY, settings);
        check::<u64, u64>(&[100_000], false, BitMap::IDENTITY, settings);
    }

    fn check_order<B: Bits, E: Bits>(len: usize) {
        let keys: Vec<B> = (0..len).map(|index| B::truncate(random(index) % 50)).collect();
        let map = BitMap::new(KeyForm::Signed, Order::Descending);
        let mut expected: Vec<usize> = (0..len).collect();
        expected.sort_by_key(|&place| map.to_ordered(keys[place]));
        let settings = Settings { oblivious: true, ..Settings::usual() };
        let elements: Vec<E> = ordered(&keys, map, settings).unwrap();
        let indices = elements.iter().map(|&element| index::<B, E>(element));
        assert!(indices.eq(expected.iter().copied()), "{len}");
        let of_elements = elements.iter().map(|&element| map.from_ordered(key::<B, E>(element)));
        assert!(of_elements.eq(expected.iter().map(|&place| keys[place])), "{len}");
    }

    #[test]
    fn orders_hold_keys_and_indices() {
        for len in [0, 1, 2, 100, 5000] {
            check_order::<u64, u128>(len);
            check_order::<u16, u32>(len);
            check_order::<u8, u32>(len);
        }
        check_order::<u16, u32>(1 << 16);
    }

    #[test]
    fn a_holder_has_room_for_all_that_is_asked_for() {
        assert_eq!(Holder::of::<u32, f32>(10, false), Some(Holder::Bits64));
        assert_eq!(Holder::of::<u32, f32>(10, true), Some(Holder::Bits128));
        assert_eq!(Holder::of::<u64, i64>(10, false), Some(Holder::Bits128));
        assert_eq!(Holder::of::<u64, i64>(10, true), None);
        assert_eq!(Holder::of::<u128, u32>(10, false), None);
        assert_eq!(Holder::of::<u8, (u16, u8)>(10, false), None, "one of its bytes may have no value");
        #[cfg(target_pointer_width = "64")]
        assert_eq!(Holder::of::<u64, u32>((1 << 32) + 1, true), None);
    }
}
