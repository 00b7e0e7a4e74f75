//! Keys as bytes for a device, and what must come back.

use super::job::{Job, VALUE_BYTES};
use crate::failure::Failure;
use bitonic::key::{BitMap, Bits, Key};
use bitonic::{Order, with_key_type};
use bitonic_lab::keys;
use bitonic_lab::peer::Fetched;

/// The same keys in both forms that sorts on a device take.
pub(super) struct Keys {
    /// As they are: the engine's form, and the peers'.
    own: Bytes,
    /// As their ordered bits, the rungs' form, where that differs and was asked for.
    ordered: Option<Bytes>,
}

/// Keys before and after, and what travels with them.
pub(super) struct Bytes {
    pub(super) input: Vec<u8>,
    expected: Vec<u8>,
    key_bytes: usize,
    /// The values as they are before: of every key its index. Empty where keys travel alone.
    pub(super) values: Vec<u8>,
}

impl Keys {
    /// The keys of a job, always the same. The standard library says what is expected.
    pub(super) fn new(job: Job, for_rungs: bool) -> Result<Self, Failure> {
        const SEED: u64 = 1;
        // The keys, their bits, and up to five arrays of bytes; as much again for values, which are mostly narrower.
        let copies = if job.has_values { 14 } else { 7 };
        with_key_type!(job.key_type, K => {
            let keys: Vec<K> = keys::make(job.len(), job.pattern, SEED, copies).map_err(Failure::new)?;
            let bits = keys.iter().map(|key| key.to_ordered_bits()).collect();
            drop(keys);
            Ok(Self::of_bits(bits, job, for_rungs))
        })
    }

    /// The keys with these ordered bits.
    fn of_bits<B: Bits>(mut bits: Vec<B>, job: Job, for_rungs: bool) -> Self {
        let map = BitMap::new(job.key_type.form(), Order::Ascending);
        let differs = for_rungs && !map.is_identity();
        let own_input = bytes_of(&bits, |bits| map.from_ordered(bits));
        let ordered_input = differs.then(|| bytes_of(&bits, |bits| bits));
        for row in bits.chunks_mut(job.rows.row_length.max(1)) {
            row.sort_unstable();
        }
        let key_bytes = size_of::<B>();
        let own = Bytes {
            input: own_input,
            expected: bytes_of(&bits, |bits| map.from_ordered(bits)),
            key_bytes,
            values: if job.has_values { indices(job.len()) } else { Vec::new() },
        };
        let ordered = ordered_input.map(|input| Bytes {
            input,
            expected: bytes_of(&bits, |bits| bits),
            key_bytes,
            values: Vec::new(),
        });
        Self { own, ordered }
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

impl Bytes {
    /// What is wrong with a result, if anything is. Right is: the keys in order, and with every key the value of an equal
    /// one, each value once.
    pub(super) fn mistake(&self, result: &Fetched) -> Option<String> {
        let (keys, values) = (result.keys.len(), result.values.len());
        if (keys, values) != (self.input.len(), self.values.len()) {
            return Some(format!("{keys} bytes of keys and {values} of values came back"));
        }
        if let Some(place) = result.keys.iter().zip(&self.expected).position(|(one, other)| one != other) {
            return Some(format!("the first wrong key is at index {}", place / self.key_bytes));
        }
        self.first_wrong_value(result).map(|place| format!("the first wrong value is at index {place}"))
    }

    fn first_wrong_value(&self, result: &Fetched) -> Option<usize> {
        let mut seen = vec![false; self.values.len() / VALUE_BYTES];
        let mut pairs = result.keys.chunks_exact(self.key_bytes).zip(result.values.chunks_exact(VALUE_BYTES));
        pairs.position(|(key, value)| {
            let index = value.iter().rev().fold(0, |number, &byte| number << 8 | usize::from(byte));
            let is_new = seen.get_mut(index).is_some_and(|seen| !std::mem::replace(seen, true));
            !is_new || self.input[index * self.key_bytes..][..self.key_bytes] != *key
        })
    }
}

/// The values' memory on a device.
fn indices(len: usize) -> Vec<u8> {
    (0..len).flat_map(|index| (index as u32).to_le_bytes()).collect()
}

/// The keys' memory on a device: all that have an OpenCL or a CUDA driver are little-endian.
fn bytes_of<B: Bits>(bits: &[B], map: impl Fn(B) -> B) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(size_of_val(bits));
    for &key in bits {
        bytes.extend_from_slice(&map(key).widen().to_le_bytes()[..size_of::<B>()]);
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::super::job::Rows;
    use super::*;
    use bitonic::key::KeyType;
    use bitonic_testkit::Pattern;

    fn job(key_type: KeyType, rows: Rows) -> Job {
        Job { key_type, pattern: Pattern::Random, rows, has_values: false }
    }

    fn read<const N: usize>(bytes: &[u8]) -> impl Iterator<Item = [u8; N]> {
        bytes.chunks_exact(N).map(|key| key.try_into().unwrap())
    }

    #[test]
    fn rows_are_expected_in_order_and_both_forms_are_the_same_keys() {
        let keys = Keys::new(job(KeyType::F32, Rows::many(10, 100).unwrap()), true).unwrap();
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
        assert!(Keys::new(job(KeyType::U16, Rows::one(64)), true).unwrap().ordered.is_none());
        assert!(Keys::new(job(KeyType::I16, Rows::one(64)), false).unwrap().ordered.is_none());
    }

    fn result<const N: usize>(keys: [u16; N], values: &[u32]) -> Fetched {
        Fetched {
            keys: keys.iter().flat_map(|key| key.to_le_bytes()).collect(),
            values: values.iter().flat_map(|value| value.to_le_bytes()).collect(),
        }
    }

    #[test]
    fn wrong_keys_are_found() {
        let Fetched { keys: input, .. } = result([3, 1, 2], &[]);
        let Fetched { keys: expected, .. } = result([1, 2, 3], &[]);
        let bytes = Bytes { input, expected, key_bytes: 2, values: Vec::new() };
        assert_eq!(bytes.mistake(&result([1, 2, 3], &[])), None);
        let mistake = |result: Fetched| bytes.mistake(&result).unwrap();
        assert_eq!(mistake(result([1, 0x102, 3], &[])), "the first wrong key is at index 1");
        assert_eq!(mistake(result([1, 2], &[])), "4 bytes of keys and 0 of values came back");
    }

    #[test]
    fn values_must_be_those_of_equal_keys_and_each_once() {
        let Fetched { keys: input, values } = result([7, 1, 7], &[0, 1, 2]);
        let Fetched { keys: expected, .. } = result([1, 7, 7], &[]);
        let bytes = Bytes { input, expected, key_bytes: 2, values };
        assert_eq!(bytes.mistake(&result([1, 7, 7], &[1, 0, 2])), None);
        assert_eq!(bytes.mistake(&result([1, 7, 7], &[1, 2, 0])), None, "equal keys have no order");
        for wrong in [[1, 0, 0], [1, 1, 2], [0, 1, 2], [1, 0, 3]] {
            assert!(bytes.mistake(&result([1, 7, 7], &wrong)).unwrap().starts_with("the first wrong value"));
        }
        assert!(bytes.mistake(&result([1, 7, 7], &[])).is_some());
    }
}
