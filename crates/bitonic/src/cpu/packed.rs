//! Keys with their indices in 64-bit elements, which the vector kernels sort.
//!
//! ```text
//!   63                                    i i-1               0
//!   | the key's distance from the least key | index of the key |     i bits hold any index
//!   |  or as much of its upper part as fits |                  |
//! ```
//!
//! No two elements are equal, and equal keys are in the order of their indices. Where only a part of each distance fits, the keys
//! of equal parts are put in order afterwards ([`Packing::mend`]). They lie close together, so that now their distances fit.

use super::narrow::{counts, try_vec};
use super::vectorized::{Loop, vectorized};
use super::width::{Settings, Width};
use crate::Error;
use crate::key::{BitMap, Bits};
use std::mem::MaybeUninit;

/// Where the parts of an element are.
#[derive(Clone, Copy, Debug)]
pub(super) struct Packing<B> {
    /// The least key's ordered bits.
    least: B,
    /// How many low bits of a distance are left out.
    dropped: u32,
    /// How many bits an index takes.
    index_bits: u32,
}

impl<B: Bits> Packing<B> {
    /// Of whole keys, whatever they are; `None` if a key and an index do not fit.
    pub(super) fn of_any_keys(len: usize) -> Option<Self> {
        let index_bits = index_bits(len);
        (B::WIDTH + index_bits <= u64::BITS).then_some(Self { least: B::ZERO, dropped: 0, index_bits })
    }

    /// Of whole keys if any fit, else of these keys as they are spread.
    fn of(keys: Keys<'_, B>) -> Self {
        Self::of_any_keys(keys.bits.len()).unwrap_or_else(|| {
            let ends = vectorized(Ends(keys));
            let index_bits = index_bits(keys.bits.len());
            let spread = ends.1.widen().saturating_sub(ends.0.widen());
            let spread_bits = u128::BITS - spread.leading_zeros();
            Self { least: ends.0, dropped: spread_bits.saturating_sub(u64::BITS - index_bits), index_bits }
        })
    }

    /// Whether an element holds all of its key.
    pub(super) fn holds_keys(self) -> bool {
        self.dropped == 0
    }

    /// The element of a key.
    #[inline(always)]
    pub(super) fn pack(self, ordered: B, index: usize) -> u64 {
        (ordered.distance(self.least, self.dropped) << self.index_bits) | index as u64
    }

    /// The index in an element.
    #[inline(always)]
    pub(super) fn index(self, element: u64) -> usize {
        (element & !(u64::MAX << self.index_bits)) as usize
    }

    /// The ordered bits in an element that holds all of its key.
    #[inline(always)]
    pub(super) fn key(self, element: u64) -> B {
        debug_assert!(self.holds_keys());
        B::truncate(self.least.widen() + u128::from(element >> self.index_bits))
    }

    /// Whether two elements have the same part of a distance.
    #[inline(always)]
    fn have_equal_parts(self, one: u64, other: u64) -> bool {
        (one ^ other) >> self.index_bits == 0
    }

    /// Puts elements that are in order as far as they show it into the order of their keys.
    fn mend(
        self,
        elements: &mut [u64],
        keys: Keys<'_, B>,
        depth: u32,
        settings: Settings,
    ) -> Result<(), Error> {
        if self.holds_keys() {
            return Ok(());
        }
        let mut place = 1;
        loop {
            place += vectorized(Different { packing: self, elements: &elements[place - 1..] });
            if place >= elements.len() {
                return Ok(());
            }
            let start = place - 1;
            let first = elements[start];
            let rest = elements[place..].iter();
            let end = place + rest.take_while(|&&element| self.have_equal_parts(first, element)).count();
            let run = &mut elements[start..end];
            if run.len() <= SHORT_RUN {
                self.mend_short(run, keys);
            } else {
                self.mend_long(run, keys, depth, settings)?;
            }
            if end == elements.len() {
                return Ok(());
            }
            place = end + 1;
        }
    }

    /// By insertion, which keeps equal keys in the order of their indices.
    fn mend_short(self, run: &mut [u64], keys: Keys<'_, B>) {
        let mut ordered = [B::ZERO; SHORT_RUN];
        for place in 0..run.len() {
            let element = run[place];
            let key = keys.ordered(self.index(element));
            let later = ordered[..place].iter().rev().take_while(|&&before| before > key).count();
            let at = place - later;
            ordered.copy_within(at..place, at + 1);
            run.copy_within(at..place, at + 1);
            (ordered[at], run[at]) = (key, element);
        }
    }

    /// As keys of their own, whose distances are shorter.
    fn mend_long(
        self,
        run: &mut [u64],
        keys: Keys<'_, B>,
        depth: u32,
        settings: Settings,
    ) -> Result<(), Error> {
        if depth == MOST_DEPTH {
            run.sort_unstable_by_key(|&element| (keys.ordered(self.index(element)), element));
            return Ok(());
        }
        let mut of_run = try_vec(run.len())?;
        of_run.extend(run.iter().map(|&element| keys.ordered(self.index(element))));
        if of_run.iter().all(|&key| key == of_run[0]) {
            return Ok(());
        }
        let (places, packing) =
            sorted_at(Keys { bits: &of_run, map: BitMap::IDENTITY }, depth + 1, settings)?;
        drop(of_run);
        let mut before = try_vec(run.len())?;
        before.extend_from_slice(run);
        run.iter_mut().zip(places).for_each(|(element, place)| *element = before[packing.index(place)]);
        Ok(())
    }
}

/// A run of so many elements with equal parts is sorted on the stack.
const SHORT_RUN: usize = 24;

/// So often keys are packed anew because their distances did not fit. For 64 bits once is enough.
const MOST_DEPTH: u32 = 1;

/// The most memory that [`sorted`] takes for a key at any moment, the elements that it returns included: where distances do not fit,
/// the elements, the keys of one run, and their elements.
pub(super) fn bytes_per_key<B: Bits>(len: usize) -> usize {
    let element = size_of::<u64>();
    if Packing::<B>::of_any_keys(len).is_some() {
        return element;
    }
    2 * element + size_of::<B>().max(element)
}

/// Keys as they are in memory, to be put in the order of what the map makes of them.
#[derive(Clone, Copy)]
struct Keys<'a, B> {
    bits: &'a [B],
    map: BitMap<B>,
}

impl<B: Bits> Keys<'_, B> {
    #[inline(always)]
    fn ordered(self, index: usize) -> B {
        self.map.to_ordered(self.bits[index])
    }
}

/// The elements of all keys, in the order of the keys. Oblivious if asked for and if any key fits with its index.
pub(super) fn sorted<B: Bits>(
    bits: &[B],
    map: BitMap<B>,
    settings: Settings,
) -> Result<(Vec<u64>, Packing<B>), Error> {
    sorted_at(Keys { bits, map }, 0, settings)
}

fn sorted_at<B: Bits>(
    keys: Keys<'_, B>,
    depth: u32,
    settings: Settings,
) -> Result<(Vec<u64>, Packing<B>), Error> {
    let packing = Packing::of(keys);
    if is_counted::<B>(keys.bits.len(), settings) {
        let elements = in_counted_order(keys, |ordered, index| packing.pack(ordered, index))?;
        return Ok((elements, packing));
    }
    let mut elements = pack_all(keys, packing)?;
    u64::sort_on_threads(&mut elements, BitMap::IDENTITY, settings)?;
    packing.mend(&mut elements, keys, depth, settings)?;
    Ok((elements, packing))
}

/// From so many 8-bit keys on, going through 256 counters takes less time than sorting.
const COUNTED_FROM: usize = 256;

/// Whether so many keys have so few values that each goes to its place at once. Where it goes shows the key.
pub(super) fn is_counted<B: Bits>(len: usize, settings: Settings) -> bool {
    B::WIDTH == 8 && len >= COUNTED_FROM && !settings.oblivious
}

/// The indices of 8-bit keys, in the order of the keys.
pub(super) fn counted_order<B: Bits>(bits: &[B], map: BitMap<B>) -> Result<Vec<usize>, Error> {
    in_counted_order(Keys { bits, map }, |_, index| index)
}

/// What is made of each 8-bit key and its index, in the order of the keys: a key's place is behind all smaller ones, and behind its equals
/// that came before.
fn in_counted_order<B: Bits, T>(keys: Keys<'_, B>, make: impl Fn(B, usize) -> T) -> Result<Vec<T>, Error> {
    let bytes: &[u8] = bytemuck::cast_slice(keys.bits);
    let counts = counts(bytes);
    let mut places = [0; 256];
    let mut before = 0;
    for ordered in 0..=u8::MAX {
        let raw = keys.map.from_ordered(B::truncate(u128::from(ordered))).widen() as usize;
        places[raw] = before;
        before += counts[raw];
    }
    let mut made = try_vec(bytes.len())?;
    let room = &mut made.spare_capacity_mut()[..bytes.len()];
    for (index, &byte) in bytes.iter().enumerate() {
        let place = &mut places[usize::from(byte)];
        room[*place].write(make(keys.ordered(index), index));
        *place += 1;
    }
    // SAFETY: every value has as many places as there are keys of it, all places together are the room, and every key wrote one.
    unsafe { made.set_len(bytes.len()) };
    Ok(made)
}

/// The elements of all keys, in the order of their indices.
fn pack_all<B: Bits>(keys: Keys<'_, B>, packing: Packing<B>) -> Result<Vec<u64>, Error> {
    let mut elements = try_vec(keys.bits.len())?;
    let room = &mut elements.spare_capacity_mut()[..keys.bits.len()];
    vectorized(PackAll { keys, packing, room });
    // SAFETY: the loop has written an element for every key.
    unsafe { elements.set_len(keys.bits.len()) };
    Ok(elements)
}

/// Writes the element of every key.
struct PackAll<'a, B> {
    keys: Keys<'a, B>,
    packing: Packing<B>,
    room: &'a mut [MaybeUninit<u64>],
}

impl<B: Bits> Loop for PackAll<'_, B> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        for (index, (place, &bits)) in self.room.iter_mut().zip(self.keys.bits).enumerate() {
            place.write(self.packing.pack(self.keys.map.to_ordered(bits), index));
        }
    }
}

/// The least and the greatest ordered bits.
struct Ends<'a, B>(Keys<'a, B>);

impl<B: Bits> Loop for Ends<'_, B> {
    type Output = (B, B);

    #[inline(always)]
    fn run(self) -> (B, B) {
        let mut ends = (B::MAX, B::ZERO);
        for &bits in self.0.bits {
            let ordered = self.0.map.to_ordered(bits);
            ends = (ends.0.min(ordered), ends.1.max(ordered));
        }
        ends
    }
}

/// How many elements differ in their parts from the one after them, before the first that does not. There is one element at least.
struct Different<'a, B> {
    packing: Packing<B>,
    elements: &'a [u64],
}

impl<B: Bits> Loop for Different<'_, B> {
    type Output = usize;

    #[inline(always)]
    fn run(self) -> usize {
        /// So many are looked at before it is asked whether any is equal.
        const AT_ONCE: usize = 64;

        let later = &self.elements[1..];
        let mut count = 0;
        for (ones, others) in self.elements.chunks_exact(AT_ONCE).zip(later.chunks_exact(AT_ONCE)) {
            let mut is_any = false;
            for (&one, &other) in ones.iter().zip(others) {
                is_any |= self.packing.have_equal_parts(one, other);
            }
            if is_any {
                break;
            }
            count += AT_ONCE;
        }
        let mut rest = self.elements[count..].iter().zip(&later[count..]);
        let equal = rest.position(|(&one, &other)| self.packing.have_equal_parts(one, other));
        equal.map_or(later.len(), |place| count + place)
    }
}

/// How many bits hold any index of so many keys.
pub(super) fn index_bits(len: usize) -> u32 {
    usize::BITS - len.saturating_sub(1).leading_zeros()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::Order;

    /// Whether the indices are those that a sort of key and index gives.
    fn check<B: Bits>(bits: &[B], map: BitMap<B>, what: &str) {
        let (elements, packing) = sorted(bits, map, Settings::usual()).unwrap();
        let indices: Vec<usize> = elements.iter().map(|&element| packing.index(element)).collect();
        let mut expected: Vec<usize> = (0..bits.len()).collect();
        expected.sort_by_key(|&index| map.to_ordered(bits[index]));
        assert!(indices == expected, "{what}, {} keys of {} bits", bits.len(), B::WIDTH);
        if packing.holds_keys() {
            let mut keys = elements.iter().zip(&indices);
            assert!(
                keys.all(|(&element, &index)| packing.key(element) == map.to_ordered(bits[index])),
                "{what}"
            );
        }
    }

    /// A number that looks random.
    fn random(index: usize) -> u128 {
        let half =
            |seed: u128| (seed ^ 0x5DEE_CE66).wrapping_mul(0xDA94_2042_E4DD_58B5_9E37_79B9_7F4A_7C15) >> 17;
        half(half(index as u128 + 1))
    }

    fn check_width<B: Bits>() {
        type Pattern = (&'static str, fn(usize) -> u128);
        let patterns: [Pattern; 9] = [
            ("random", random),
            ("all equal", |_| 77),
            ("three values far apart", |index| (random(index) % 3) << 62),
            ("all close but one", |index| if index == 5 { u128::MAX } else { random(index) >> 90 }),
            ("two clusters", |index| (random(index) & 1) << 63 | (random(index) >> 100)),
            ("close to a far end", |index| u128::MAX - (random(index) >> 110)),
            ("clusters within clusters", |index| {
                let random = random(index);
                (random & 1) << 127 | (random & 2) << 61 | (random & 4) << 30 | (random >> 123)
            }),
            ("descending", |index| u128::MAX - (index as u128) * 3),
            ("short runs", |index| random(index / 3) << 20 ^ (random(index) >> 120)),
        ];
        for (name, pattern) in patterns {
            for len in [0, 1, 2, 3, 23, 24, 25, 26, 100, 1000, 5000] {
                let bits: Vec<B> = (0..len).map(|index| B::truncate(pattern(index))).collect();
                for order in [Order::Ascending, Order::Descending] {
                    for form in [crate::key::KeyForm::Unsigned, crate::key::KeyForm::Float] {
                        check(&bits, BitMap::new(form, order), name);
                    }
                }
            }
        }
    }

    #[test]
    fn indices_come_in_the_order_of_key_and_index_for_every_width_and_spread() {
        check_width::<u8>();
        check_width::<u16>();
        check_width::<u32>();
        check_width::<u64>();
        check_width::<u128>();
    }

    #[test]
    fn keys_of_8_bits_are_counted_unless_that_would_show_them() {
        let oblivious = Settings { oblivious: true, ..Settings::usual() };
        assert!(is_counted::<u8>(COUNTED_FROM, Settings::usual()));
        assert!(!is_counted::<u8>(COUNTED_FROM - 1, Settings::usual()));
        assert!(!is_counted::<u8>(COUNTED_FROM, oblivious) && !is_counted::<u16>(1 << 20, Settings::usual()));
    }

    #[test]
    fn what_fits_is_not_mended_and_what_does_not_is() {
        let keys: Vec<u64> = (0..1000).map(|index| random(index) as u64).collect();
        let spread = Packing::of(Keys { bits: &keys, map: BitMap::IDENTITY });
        assert_eq!((spread.dropped, spread.index_bits), (10, 10));
        let close: Vec<u64> = keys.iter().map(|key| u64::MAX - (key >> 10)).collect();
        assert!(Packing::of(Keys { bits: &close, map: BitMap::IDENTITY }).holds_keys());
        assert!(Packing::<u32>::of_any_keys(1 << 32).is_some());
        #[cfg(target_pointer_width = "64")]
        assert!(Packing::<u32>::of_any_keys((1 << 32) + 1).is_none());
    }
}
