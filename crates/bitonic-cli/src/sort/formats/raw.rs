//! Raw keys: their bytes and nothing else.

use super::with_room_for;
use bitonic::Key;
use bitonic::key::{Bits, KeyType};

/// Reads little-endian keys.
pub(super) fn decode<K: Key>(bytes: &[u8]) -> Result<Vec<K>, String> {
    expect_whole_keys(K::TYPE, bytes.len() as u64)?;
    decode_from(bytes, 0, ByteOrder::Little)
}

/// Refuses a number of bytes that are no whole number of keys.
pub(super) fn expect_whole_keys(key_type: KeyType, bytes: u64) -> Result<(), String> {
    let size = key_type.bytes() as u64;
    match bytes % size {
        0 => Ok(()),
        rest => Err(format!(
            "{bytes} bytes are no whole number of {key_type} keys of {size} bytes, {rest} too many: the file is cut off or \
             has another --type"
        )),
    }
}

/// The order of a key's bytes in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::sort) enum ByteOrder {
    Little,
    Big,
}

/// Reads all whole keys from `start` on.
pub(super) fn decode_from<K: Key>(bytes: &[u8], start: usize, order: ByteOrder) -> Result<Vec<K>, String> {
    let data = &bytes[start..];
    let mut keys = with_room_for(data.len() / size_of::<K>())?;
    decode_into(data, start as u64, order, &mut keys)?;
    Ok(keys)
}

/// Appends the keys that these bytes are, which begin at a place of their file.
pub(in crate::sort) fn decode_into<K: Key>(
    data: &[u8],
    place: u64,
    order: ByteOrder,
    keys: &mut Vec<K>,
) -> Result<(), String> {
    let size = size_of::<K>();
    let before = keys.len();
    // A loop for either order has no choice in it, and becomes a copy.
    match order {
        ByteOrder::Little => {
            keys.extend(data.chunks_exact(size).map(|chunk| key::<K>(chunk, ByteOrder::Little)))
        }
        ByteOrder::Big => keys.extend(data.chunks_exact(size).map(|chunk| key::<K>(chunk, ByteOrder::Big))),
    }
    if !matches!(K::TYPE, KeyType::Bool | KeyType::Char) {
        return Ok(());
    }
    for (index, chunk) in data.chunks_exact(size).enumerate() {
        let bits = K::Bits::truncate(widen(chunk, order));
        if keys[before + index].to_raw_bits() != bits {
            return Err(no_key(place + (index * size) as u64, bits.widen(), K::TYPE));
        }
    }
    Ok(())
}

#[inline(always)]
fn key<K: Key>(chunk: &[u8], order: ByteOrder) -> K {
    K::from_raw_bits(K::Bits::truncate(widen(chunk, order)))
}

#[inline(always)]
fn widen(chunk: &[u8], order: ByteOrder) -> u128 {
    let mut wide = [0; 16];
    match order {
        ByteOrder::Little => {
            wide[..chunk.len()].copy_from_slice(chunk);
            u128::from_le_bytes(wide)
        }
        ByteOrder::Big => {
            wide[16 - chunk.len()..].copy_from_slice(chunk);
            u128::from_be_bytes(wide)
        }
    }
}

/// Only `bool` and `char` have bits that are no value.
#[cold]
fn no_key(place: u64, bits: u128, key_type: KeyType) -> String {
    let (what, instead) = match key_type {
        KeyType::Bool => ("only 0 and 1 are", KeyType::U8),
        _ => ("Unicode ends at 0x10ffff and leaves out 0xd800 to 0xdfff", KeyType::U32),
    };
    format!("byte {place}: {bits:#x} is no {key_type}, {what}: read it as {instead}")
}

/// Appends the keys' bytes.
pub(super) fn append<K: Key>(keys: &[K], order: ByteOrder, out: &mut Vec<u8>) {
    let size = size_of::<K>();
    let start = out.len();
    out.resize(start + size_of_val(keys), 0);
    let places = keys.iter().zip(out[start..].chunks_exact_mut(size));
    // A loop for either order has no choice in it, and becomes a copy.
    match order {
        ByteOrder::Little => places.for_each(|(key, place)| {
            place.copy_from_slice(&key.to_raw_bits().widen().to_le_bytes()[..size]);
        }),
        ByteOrder::Big => places.for_each(|(key, place)| {
            place.copy_from_slice(&key.to_raw_bits().widen().to_be_bytes()[16 - size..]);
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bitonic_testkit::Pattern;
    use proptest::prelude::*;

    #[test]
    fn every_type_reads_back_bit_for_bit() {
        for &key_type in KeyType::ALL {
            bitonic::with_key_type!(key_type, K => {
                let keys: Vec<K> = Pattern::Special.generate(1000, 1);
                let mut bytes = Vec::new();
                append(&keys, ByteOrder::Little, &mut bytes);
                assert_eq!(bytes.len(), 1000 * size_of::<K>());
                let back: Vec<K> = decode(&bytes).unwrap();
                assert!(back.iter().zip(&keys).all(|(a, b)| a.to_raw_bits() == b.to_raw_bits()), "{key_type}");
            });
        }
    }

    #[test]
    fn bytes_are_little_endian_unless_said_otherwise() {
        assert_eq!(decode::<u32>(&[1, 2, 3, 4]), Ok(vec![0x0403_0201]));
        assert_eq!(decode_from::<u32>(&[9, 1, 2, 3, 4], 1, ByteOrder::Big), Ok(vec![0x0102_0304]));
        let mut bytes = Vec::new();
        append(&[-2_i16], ByteOrder::Little, &mut bytes);
        append(&[-2_i16], ByteOrder::Big, &mut bytes);
        assert_eq!(bytes, [0xfe, 0xff, 0xff, 0xfe]);
    }

    #[test]
    fn a_cut_key_and_bits_that_are_no_key_are_refused() {
        assert_eq!(
            decode::<u32>(&[0; 7]).unwrap_err(),
            "7 bytes are no whole number of u32 keys of 4 bytes, 3 too many: the file is cut off or has another --type"
        );
        assert_eq!(
            decode::<bool>(&[0, 1, 2]).unwrap_err(),
            "byte 2: 0x2 is no bool, only 0 and 1 are: read it as u8"
        );
        assert!(decode::<char>(&[0, 0xd8, 0, 0]).unwrap_err().starts_with("byte 0: 0xd800 is no char, "));
    }

    proptest! {
        #![proptest_config(super::super::tests::many_cases())]
        #[test]
        fn arbitrary_bytes_are_read_or_refused_without_a_panic(bytes: Vec<u8>) {
            let read = decode::<char>(&bytes);
            prop_assert_eq!(read.is_ok(), bytes.len() % 4 == 0 && bytes.chunks_exact(4).all(|chunk| {
                char::from_u32(u32::from_le_bytes(chunk.try_into().unwrap())).is_some()
            }));
            prop_assert_eq!(decode::<bool>(&bytes).is_ok(), bytes.iter().all(|&byte| byte < 2));
            for size in [1, 2, 4, 8, 16] {
                let whole = bytes.len() % size == 0;
                let read = match size {
                    1 => decode::<i8>(&bytes).is_ok(),
                    2 => decode::<bitonic::key::bf16>(&bytes).is_ok(),
                    4 => decode::<f32>(&bytes).is_ok(),
                    8 => decode::<f64>(&bytes).is_ok(),
                    _ => decode::<i128>(&bytes).is_ok(),
                };
                prop_assert_eq!(read, whole);
            }
        }
    }
}
