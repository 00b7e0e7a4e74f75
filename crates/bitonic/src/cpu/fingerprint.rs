//! What stays the same when elements change places: how many there are, and two sums of a mixed value of each.
//!
//! An element is one to three words of 64 bits: a key, and what travels with it. They are mixed one after the other:
//!
//! ```text
//!   hash of no word    0
//!   hash of one more   mix(hash before ^ word)
//!   first sum          + hash of all words
//!   second sum         + hash of all words but the last + the lower half of the hash of all x its upper half
//!   both sums          x an odd number for every row, so that an element that went to another row is noticed
//! ```
//!
//! **One changed element is always noticed**, and so is a single wrong bit. `mix` is a bijection of 64 bits: an exclusive or of the word
//! with its own upper half, a product with an odd number, and such an exclusive or again, each of which can be undone. So the hash of all
//! words is another one when one of the words is, and with it the first sum, which is a sum modulo 2^64, and stays another one when it
//! is multiplied by an odd number. If the last two words change, the two sums tell: the hash of all words and the one before are both
//! known from them, and from these the two words are.
//!
//! **Several changed elements** could cancel out in both sums: one case in 2^128 for values that are mixed well. The products are there
//! because sums of products with a constant alone would cancel out where keys grow and shrink by the same amounts.

#[cfg(feature = "external")]
use super::stretch::Nothing;
use super::stretch::{Carried, PartOfRow, Place};
use super::vectorized::{Loop, vectorized};
use crate::key::Bits;
use std::ops::AddAssign;

/// The number of elements, and the sums of what they are mixed to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Fingerprint {
    pub(crate) items: u64,
    sums: [u64; 2],
}

impl AddAssign for Fingerprint {
    fn add_assign(&mut self, other: Self) {
        self.items += other.items;
        self.sums = plus(self.sums, other.sums);
    }
}

impl Fingerprint {
    /// Of keys alone.
    #[cfg(feature = "external")]
    pub(crate) fn of_keys<B: Bits>(keys: &[B]) -> Self {
        Self::of_elements(Place::ALONE, keys, Nothing)
    }

    /// Of some keys of an array of rows, and what travels with each.
    pub(crate) fn of_elements<B: Bits, V: Carried>(place: Place, keys: &[B], values: V) -> Self {
        vectorized(Elements { place, keys, values })
    }

    /// Adds an element that is these bytes.
    #[cfg(feature = "external")]
    pub(crate) fn add_bytes(&mut self, bytes: &[u8]) {
        let (words, rest) = bytes.as_chunks();
        let mut last = [0; 8];
        last[..rest.len()].copy_from_slice(rest);
        let words = words.iter().chain(std::iter::once(&last)).map(|&word| u64::from_le_bytes(word));
        // Its length is part of it: zeros at the end are.
        let start = Mixed { before: 0, hash: bytes.len() as u64 };
        *self += Self { items: 1, sums: words.fold(start, Mixed::word).sums() };
    }
}

struct Elements<'a, B, V> {
    place: Place,
    keys: &'a [B],
    values: V,
}

impl<B: Bits, V: Carried> Loop for Elements<'_, B, V> {
    type Output = Fingerprint;

    #[inline(always)]
    fn run(self) -> Fingerprint {
        let Self { place, keys, values } = self;
        let mut sums = [0_u64; 2];
        // No closures: one that is not inlined would lack the vector instructions.
        for PartOfRow { row, behind, places } in place.rows(keys.len()) {
            let keys = &keys[places.clone()];
            let mut of_row = [0_u64; 2];
            if B::WIDTH == 32 && V::WIDTH == 0 {
                // Two from one load, which saves spreading them over two registers.
                let (first, words, last) = bytemuck::pod_align_to::<B, u64>(keys);
                for &word in words {
                    let (lower, upper) =
                        (mixed::<u64, V>(word & 0xFFFF_FFFF, 0), mixed::<u64, V>(word >> 32, 0));
                    of_row = plus(of_row, plus(lower, upper));
                }
                for &key in first.iter().chain(last) {
                    of_row = plus(of_row, mixed::<B, V>(key, 0));
                }
            } else {
                for (&key, number) in keys.iter().zip(values.numbers(places, behind)) {
                    of_row = plus(of_row, mixed::<B, V>(key, number));
                }
            }
            let factor = mix(row) | 1;
            sums = plus(sums, [of_row[0].wrapping_mul(factor), of_row[1].wrapping_mul(factor)]);
        }
        Fingerprint { items: keys.len() as u64, sums }
    }
}

#[inline(always)]
fn plus(sums: [u64; 2], more: [u64; 2]) -> [u64; 2] {
    [sums[0].wrapping_add(more[0]), sums[1].wrapping_add(more[1])]
}

/// What an element adds to the sums.
#[inline(always)]
fn mixed<B: Bits, V: Carried>(key: B, number: u64) -> [u64; 2] {
    let (bits, start) = (key.widen(), Mixed { before: 0, hash: 0 });
    if B::WIDTH + V::WIDTH <= 64 {
        let above = if V::WIDTH == 0 { 0 } else { number << (64 - V::WIDTH) };
        return start.word(bits as u64 | above).sums();
    }
    let mut mixed = start.word(bits as u64);
    if B::WIDTH > 64 {
        mixed = mixed.word((bits >> 64) as u64);
    }
    if V::WIDTH > 0 {
        mixed = mixed.word(number);
    }
    mixed.sums()
}

/// An element of which some words are mixed.
#[derive(Clone, Copy)]
struct Mixed {
    before: u64,
    hash: u64,
}

impl Mixed {
    #[inline(always)]
    fn word(self, word: u64) -> Self {
        Self { before: self.hash, hash: mix(self.hash ^ word) }
    }

    #[inline(always)]
    fn sums(self) -> [u64; 2] {
        let halves = (self.hash & 0xFFFF_FFFF).wrapping_mul(self.hash >> 32);
        [self.hash, self.before.wrapping_add(halves)]
    }
}

/// A prime close to 2^32 divided by the golden ratio. Of 32 bits: vector units have products of 32 by 32 bits.
const ODD: u64 = 0x9E37_79B1;

/// A bijection that lets every bit change many others, of few instructions that vector units have. What is only in the upper half of a
/// word, as in floats that are small whole numbers, comes to the lower half first, because products carry upwards only.
#[inline(always)]
fn mix(word: u64) -> u64 {
    let product = (word ^ (word >> 32)).wrapping_mul(ODD);
    product ^ (product >> 32)
}

#[cfg(test)]
mod tests {
    use super::*;

    use crate::cpu::stretch::{Index, Nothing};

    fn of_keys<B: Bits>(keys: &[B]) -> Fingerprint {
        Fingerprint::of_elements(Place::ALONE, keys, Nothing)
    }

    #[test]
    fn the_order_does_not_matter_and_everything_else_does() {
        let of = of_keys::<u64>;
        assert_eq!(of(&[1, 2, 3]), of(&[3, 1, 2]));
        assert_ne!(of(&[1, 2, 3]), of(&[1, 2]));
        assert_ne!(of(&[1, 3]), of(&[2, 2]), "the same sum of keys");
        assert_ne!(of(&[1, 2]), of(&[3, 0]), "the same exclusive or");
        assert_ne!(of(&[0, 3, 5, 6]), of(&[1, 2, 4, 7]), "the same sums of keys and of squares");
        assert_ne!(of(&[0]), of(&[0, 0]));
    }

    #[test]
    fn mixing_can_be_undone() {
        /// The inverse of an odd number modulo 2^64, by Newton's iteration.
        fn inverse(odd: u64) -> u64 {
            (0..6).fold(odd, |inverse, _| inverse.wrapping_mul(2_u64.wrapping_sub(odd.wrapping_mul(inverse))))
        }
        assert_eq!(inverse(ODD).wrapping_mul(ODD), 1);
        for number in 0..1000_u64 {
            let word = number.wrapping_mul(0xD6E8_FEB8_6659_FD93).rotate_left(number as u32);
            let product = (mix(word) ^ (mix(word) >> 32)).wrapping_mul(inverse(ODD));
            assert_eq!(product ^ (product >> 32), word);
        }
    }

    /// Every bit of every key and every number counts, at every place.
    fn check_bits<B: Bits>(numbers: u32, of: impl Fn(&[B], &[u64]) -> Fingerprint) {
        let mut keys: Vec<B> = (0..21_u128).map(|key| B::truncate(key * 0x0123_4567_89AB_CDEF)).collect();
        let mut values: Vec<u64> = (0..21).collect();
        let before = of(&keys, &values);
        for place in 0..keys.len() {
            for bit in 0..B::WIDTH {
                let key = keys[place];
                keys[place] = key ^ B::truncate(1 << bit);
                let after = of(&keys, &values);
                assert_ne!(before.sums[0], after.sums[0], "bit {bit} of key {place}, {} bits", B::WIDTH);
                keys[place] = key;
            }
            for bit in 0..numbers {
                values[place] ^= 1 << bit;
                let after = of(&keys, &values);
                assert_ne!(before.sums[0], after.sums[0], "bit {bit} of number {place}, {} bits", B::WIDTH);
                values[place] ^= 1 << bit;
            }
        }
        keys.swap(2, 9);
        values.swap(2, 9);
        assert_eq!(before, of(&keys, &values), "elements that changed places");
        values.swap(2, 9);
        assert_eq!(before == of(&keys, &values), numbers == 0, "values that went to other keys");
    }

    #[test]
    fn every_bit_of_every_element_counts() {
        fn check_width<B: Bits>() {
            check_bits::<B>(0, |keys, _| of_keys(keys));
            check_bits::<B>(32, |keys, values| {
                let values: Vec<u32> = values.iter().map(|&value| value as u32).collect();
                Fingerprint::of_elements(Place::ALONE, keys, &values[..])
            });
            check_bits::<B>(64, |keys, values| Fingerprint::of_elements(Place::ALONE, keys, values));
        }
        check_width::<u8>();
        check_width::<u16>();
        check_width::<u32>();
        check_width::<u64>();
        check_width::<u128>();
    }

    #[test]
    fn rows_and_indices_count() {
        let of = |keys: &[u32]| Fingerprint::of_elements(Place { start: 4, row_length: 4 }, keys, Nothing);
        let keys = [1, 2, 3, 4, 5, 6, 7, 8];
        assert_eq!(of(&keys), of(&[4, 3, 2, 1, 8, 7, 6, 5]));
        assert_ne!(of(&keys), of(&[5, 2, 3, 4, 1, 6, 7, 8]), "two elements went to the other's row");

        let place = Place { start: 6, row_length: 4 };
        let indexed = Fingerprint::of_elements(place, &keys, Index::<32>);
        assert_eq!(indexed, Fingerprint::of_elements(place, &keys, &[2_u32, 3, 0, 1, 2, 3, 0, 1][..]));
        let indexed = Fingerprint::of_elements(place, &keys, Index::<64>);
        assert_eq!(indexed, Fingerprint::of_elements(place, &keys, &[2_u64, 3, 0, 1, 2, 3, 0, 1][..]));

        let mut parts = Fingerprint::of_elements(place, &keys[..3], Index::<64>);
        parts += Fingerprint::of_elements(Place { start: 9, ..place }, &keys[3..], Index::<64>);
        assert_eq!(parts, indexed, "in two parts");
    }

    #[test]
    #[cfg(feature = "external")]
    fn every_byte_of_a_record_counts() {
        let of = |bytes: &[u8]| {
            let mut fingerprint = Fingerprint::default();
            fingerprint.add_bytes(bytes);
            fingerprint
        };
        let record: Vec<u8> = (0..29).collect();
        for at in 0..record.len() {
            let mut changed = record.clone();
            changed[at] ^= 0x80;
            assert_ne!(of(&changed), of(&record), "byte {at}");
        }
        assert_ne!(of(&[0; 8]), of(&[0; 9]));
    }
}
