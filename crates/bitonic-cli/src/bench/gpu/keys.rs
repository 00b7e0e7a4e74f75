//! Keys as bytes for a device, and the bytes that must come back.

use super::measure::Rows;
use crate::failure::Failure;
use crate::random;
use bitonic::Order;
use bitonic::key::{BitMap, Bits};
use bitonic_testkit::{Pattern, TestKey};

/// The same keys in both forms that sorts on a device take.
pub(super) struct Keys {
    /// As they are: the engine's form.
    own: Bytes,
    /// As their ordered bits, the rungs' form, where that differs and was asked for.
    ordered: Option<Bytes>,
}

/// Keys before and after.
pub(super) struct Bytes {
    pub(super) input: Vec<u8>,
    pub(super) expected: Vec<u8>,
}

impl Keys {
    /// Random keys, always the same. The standard library says what is expected.
    pub(super) fn new<K: TestKey>(rows: Rows, for_rungs: bool) -> Result<Self, Failure> {
        const SEED: u64 = 1;
        // The keys, their bits, and up to five arrays of bytes.
        let keys: Vec<K> = random::make_quietly(rows.len(), Pattern::Random, SEED, 7)?;
        let map = BitMap::new(K::TYPE.form(), Order::Ascending);
        let mut bits: Vec<K::Bits> = keys.iter().map(|key| map.to_ordered(key.to_raw_bits())).collect();
        drop(keys);
        let differs = for_rungs && !map.is_identity();
        let own = bytes_of(&bits, |bits| map.from_ordered(bits));
        let ordered = differs.then(|| bytes_of(&bits, |bits| bits));
        for row in bits.chunks_mut(rows.row_length.max(1)) {
            row.sort_unstable();
        }
        let own = Bytes { input: own, expected: bytes_of(&bits, |bits| map.from_ordered(bits)) };
        let ordered = ordered.map(|input| Bytes { input, expected: bytes_of(&bits, |bits| bits) });
        Ok(Self { own, ordered })
    }

    /// The keys as they are.
    pub(super) fn own(&self) -> &Bytes {
        &self.own
    }

    /// The keys' ordered bits.
    pub(super) fn ordered(&self) -> &Bytes {
        self.ordered.as_ref().unwrap_or(&self.own)
    }
}

/// The keys' memory on a device: all that have an OpenCL driver are little-endian.
fn bytes_of<B: Bits>(bits: &[B], map: impl Fn(B) -> B) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(size_of_val(bits));
    for &key in bits {
        bytes.extend_from_slice(&map(key).widen().to_le_bytes()[..size_of::<B>()]);
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read<const N: usize>(bytes: &[u8]) -> impl Iterator<Item = [u8; N]> {
        bytes.chunks_exact(N).map(|key| key.try_into().unwrap())
    }

    #[test]
    fn rows_are_expected_in_order_and_both_forms_are_the_same_keys() {
        let keys = Keys::new::<f32>(Rows::many(10, 100).unwrap(), true).unwrap();
        let floats = |bytes: &[u8]| read(bytes).map(f32::from_le_bytes).collect::<Vec<f32>>();
        let (input, expected) = (floats(&keys.own().input), floats(&keys.own().expected));
        assert!(!input.is_sorted() && expected.chunks(10).all(|row| row.is_sorted()));
        let mut by_rows = input.clone();
        by_rows.chunks_mut(10).for_each(|row| row.sort_unstable_by(f32::total_cmp));
        assert_eq!(by_rows, expected);

        let ordered: Vec<u32> = read(&keys.ordered().expected).map(u32::from_le_bytes).collect();
        assert!(ordered.chunks(10).all(|row| row.is_sorted()));
        assert_ne!(keys.ordered().input, keys.own().input);
    }

    #[test]
    fn where_both_forms_are_equal_there_is_one() {
        assert!(Keys::new::<u16>(Rows::one(64), true).unwrap().ordered.is_none());
        assert!(Keys::new::<i16>(Rows::one(64), false).unwrap().ordered.is_none());
    }
}
