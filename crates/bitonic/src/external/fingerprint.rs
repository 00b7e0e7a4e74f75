//! What stays the same when items change places: how many there are, and the sum of a hash of each.
//!
//! An item that is lost, doubled or changed on its way through the temporary file changes the sum, but for one case in 2^64. Items
//! that only change places do not.

use crate::key::Bits;
use std::ops::AddAssign;

/// The number of items, and the sum of their hashes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Fingerprint {
    pub(super) items: u64,
    sum: u64,
}

impl AddAssign for Fingerprint {
    fn add_assign(&mut self, other: Self) {
        self.items += other.items;
        self.sum = self.sum.wrapping_add(other.sum);
    }
}

impl Fingerprint {
    pub(super) fn of_keys<B: Bits>(keys: &[B]) -> Self {
        let sum = keys.iter().fold(0_u64, |sum, bits| {
            let bits = bits.widen();
            // For keys of at most 64 bits the second half is a constant.
            sum.wrapping_add(mix(bits as u64 ^ mix((bits >> 64) as u64)))
        });
        Self { items: keys.len() as u64, sum }
    }

    /// Adds an item that is these bytes.
    pub(super) fn add_bytes(&mut self, bytes: &[u8]) {
        let (words, rest) = bytes.as_chunks();
        let fold = |hash: u64, word: u64| (hash.rotate_left(23) ^ word).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let hash = words.iter().fold(bytes.len() as u64, |hash, &word| fold(hash, u64::from_le_bytes(word)));
        let mut last = [0; 8];
        last[..rest.len()].copy_from_slice(rest);
        *self += Self { items: 1, sum: mix(fold(hash, u64::from_le_bytes(last))) };
    }
}

/// Spreads every bit over all others. A sum of the bits themselves would not notice a key that grows while another shrinks.
#[inline(always)]
fn mix(bits: u64) -> u64 {
    let hash = (bits ^ 0xD6E8_FEB8_6659_FD93).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (hash ^ (hash >> 32)).wrapping_mul(0xD6E8_FEB8_6659_FD93)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_does_not_matter_and_everything_else_does() {
        let of = Fingerprint::of_keys::<u64>;
        assert_eq!(of(&[1, 2, 3]), of(&[3, 1, 2]));
        assert_ne!(of(&[1, 2, 3]), of(&[1, 2]));
        assert_ne!(of(&[1, 3]), of(&[2, 2]), "the same sum of keys");
        assert_ne!(of(&[1, 2]), of(&[3, 0]), "the same exclusive or");
        assert_ne!(of(&[0]), of(&[0, 0]));
        let wide = Fingerprint::of_keys::<u128>;
        assert_ne!(wide(&[1 << 64]), wide(&[1]));
        for bit in 0..128 {
            assert_ne!(wide(&[5, 1 << bit]), wide(&[5, 0]), "bit {bit}");
        }
    }

    #[test]
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
