//! NumPy's `.npy`: a mark, a version, a header that is a Python dictionary, then the keys' bytes.
//!
//! ```text
//! \x93NUMPY  major  minor  length (2 bytes; 4 from version 2 on)  {'descr': '<u4', 'fortran_order': False, 'shape': (3,), }
//! ```

mod header;

use super::raw::{ByteOrder, decode_from};
use bitonic::Key;
use bitonic::key::KeyType;
use header::{Header, Shape};
use std::io;

/// What every file begins with.
pub(super) const MAGIC: &[u8] = b"\x93NUMPY";

/// NumPy's types that are key types, without the byte order.
const TYPES: &[(&str, KeyType)] = &[
    ("b1", KeyType::Bool),
    ("u1", KeyType::U8),
    ("u2", KeyType::U16),
    ("u4", KeyType::U32),
    ("u8", KeyType::U64),
    ("i1", KeyType::I8),
    ("i2", KeyType::I16),
    ("i4", KeyType::I32),
    ("i8", KeyType::I64),
    ("f2", KeyType::F16),
    ("f4", KeyType::F32),
    ("f8", KeyType::F64),
    ("U1", KeyType::Char),
];

/// The type that the header names; `asked` must be the same.
pub(super) fn key_type(bytes: &[u8], asked: Option<KeyType>) -> Result<KeyType, String> {
    let found = Array::read(bytes)?.key_type;
    match asked {
        Some(asked) if type_name(asked) != type_name(found) => {
            Err(format!("the array holds {found} and not {asked}: leave out --type"))
        }
        _ => Ok(asked.unwrap_or(found)),
    }
}

/// Reads the keys of an array with one dimension.
pub(super) fn decode<K: Key>(bytes: &[u8]) -> Result<Vec<K>, String> {
    let array = Array::read(bytes)?;
    let expected = array.len.checked_mul(size_of::<K>());
    let found = bytes.len() - array.start;
    if expected != Some(found) {
        let expected = array.len as u128 * size_of::<K>() as u128;
        return Err(format!(
            "the header says {} keys of {} bytes, {expected} bytes in all, but {found} follow it: the file is cut off \
             or damaged, save it again",
            array.len,
            size_of::<K>()
        ));
    }
    decode_from(bytes, array.start, array.byte_order)
}

/// NumPy's name of a type, without the byte order.
pub(super) fn type_name(key_type: KeyType) -> Result<&'static str, String> {
    let stored = match key_type {
        KeyType::Usize if usize::BITS == 32 => KeyType::U32,
        KeyType::Usize => KeyType::U64,
        KeyType::Isize if isize::BITS == 32 => KeyType::I32,
        KeyType::Isize => KeyType::I64,
        other => other,
    };
    match TYPES.iter().find(|(_, known)| *known == stored) {
        Some((name, _)) => Ok(name),
        None => Err(format!("NumPy has no type for {key_type} keys: choose --output-format text or raw")),
    }
}

/// Appends everything that stands before the keys, so that they begin at a multiple of 64 bytes as NumPy has it.
pub(super) fn append_header<K: Key>(len: usize, out: &mut Vec<u8>) -> io::Result<()> {
    let name = type_name(K::TYPE).map_err(|reason| io::Error::new(io::ErrorKind::InvalidInput, reason))?;
    let order = if size_of::<K>() == 1 { '|' } else { '<' };
    let dictionary = format!("{{'descr': '{order}{name}', 'fortran_order': False, 'shape': ({len},), }}");
    let before = MAGIC.len() + 4;
    let total = (before + dictionary.len() + 1).next_multiple_of(64);
    out.extend_from_slice(MAGIC);
    out.extend_from_slice(&[1, 0]);
    // The dictionary is far below the 65535 bytes that version 1 has room for.
    out.extend_from_slice(&((total - before) as u16).to_le_bytes());
    out.extend_from_slice(dictionary.as_bytes());
    out.resize(total - 1, b' ');
    out.push(b'\n');
    Ok(())
}

/// An array of one dimension that can be sorted.
#[derive(Debug, PartialEq)]
struct Array {
    key_type: KeyType,
    byte_order: ByteOrder,
    len: usize,
    /// Where the keys begin in the file.
    start: usize,
}

impl Array {
    fn read(bytes: &[u8]) -> Result<Self, String> {
        let Header { descr, shape, end } = Header::read(bytes)?;
        let (key_type, byte_order) = parse_descr(&descr)?;
        let &[len] = shape.0.as_slice() else { return Err(wrong_dimensions(&shape)) };
        Ok(Self { key_type, byte_order, len, start: end })
    }
}

fn wrong_dimensions(shape: &Shape) -> String {
    format!(
        "the array has shape {shape}, and only one dimension can be sorted: flatten it in Python with \
         numpy.save('flat.npy', array.ravel())"
    )
}

/// A byte order and a type, such as `<u4`.
fn parse_descr(descr: &str) -> Result<(KeyType, ByteOrder), String> {
    let found = descr.split_at_checked(1).and_then(|(order, name)| {
        let (_, key_type) = TYPES.iter().find(|(known, _)| *known == name)?;
        let byte_order = match order {
            "<" => ByteOrder::Little,
            ">" => ByteOrder::Big,
            "=" if cfg!(target_endian = "big") => ByteOrder::Big,
            "=" => ByteOrder::Little,
            "|" if key_type.bytes() == 1 => ByteOrder::Little,
            _ => return None,
        };
        Some((*key_type, byte_order))
    });
    found.ok_or_else(|| {
        let known: Vec<&str> = TYPES.iter().map(|(name, _)| *name).collect();
        format!(
            "NumPy type '{}' cannot be sorted: convert it with array.astype() to one of {}",
            descr.escape_debug(),
            known.join(", ")
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use bitonic_testkit::Pattern;
    use proptest::prelude::*;

    /// A file with this dictionary.
    fn file(version: u8, dictionary: &str, data: &[u8]) -> Vec<u8> {
        let mut bytes = [MAGIC, &[version, 0]].concat();
        match version {
            1 => bytes.extend((dictionary.len() as u16).to_le_bytes()),
            _ => bytes.extend((dictionary.len() as u32).to_le_bytes()),
        }
        bytes.extend_from_slice(dictionary.as_bytes());
        bytes.extend_from_slice(data);
        bytes
    }

    fn array(descr: &str, shape: &str, data: &[u8]) -> Vec<u8> {
        file(1, &format!("{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, }}\n"), data)
    }

    #[test]
    fn every_type_that_numpy_has_reads_back() {
        for &key_type in KeyType::ALL {
            bitonic::with_key_type!(key_type, K => {
                let keys: Vec<K> = Pattern::Special.generate(100, 3);
                let mut bytes = Vec::new();
                match append_header::<K>(keys.len(), &mut bytes) {
                    Ok(()) => {
                        assert_eq!(bytes.len() % 64, 0);
                        super::super::raw::append(&keys, &mut bytes);
                        assert_eq!(super::key_type(&bytes, Some(key_type)), Ok(key_type));
                        let back: Vec<K> = decode(&bytes).unwrap();
                        assert!(back.iter().zip(&keys).all(|(a, b)| a.to_raw_bits() == b.to_raw_bits()));
                    }
                    Err(error) => assert_eq!(
                        error.to_string(),
                        format!("NumPy has no type for {key_type} keys: choose --output-format text or raw")
                    ),
                }
            });
        }
    }

    #[test]
    fn the_header_is_the_one_numpy_writes() {
        let mut bytes = Vec::new();
        append_header::<u32>(3, &mut bytes).unwrap();
        let mut expected =
            b"\x93NUMPY\x01\x00\x76\x00{'descr': '<u4', 'fortran_order': False, 'shape': (3,), }".to_vec();
        expected.resize(127, b' ');
        expected.push(b'\n');
        assert_eq!(bytes, expected);
    }

    #[test]
    fn versions_and_byte_orders_are_read() {
        let dictionary = "{'descr': '>i4', 'fortran_order': False, 'shape': (2,)}";
        for version in 1..=3 {
            let bytes = file(version, dictionary, &[0, 0, 0, 1, 255, 255, 255, 254]);
            assert_eq!(decode::<i32>(&bytes), Ok(vec![1, -2]), "version {version}");
        }
        let reordered = "  {\"shape\":(2L,),'fortran_order':True,'descr':'|b1'}  ";
        assert_eq!(decode::<bool>(&file(1, reordered, &[1, 0])), Ok(vec![true, false]));
        assert_eq!(decode::<u8>(&array("'|u1'", "(0,)", &[])), Ok(vec![]));
    }

    #[test]
    fn a_header_that_lies_about_its_shape_is_refused_without_the_memory_it_asks_for() {
        assert_eq!(
            decode::<u32>(&array("'<u4'", "(3,)", &[0; 8])).unwrap_err(),
            "the header says 3 keys of 4 bytes, 12 bytes in all, but 8 follow it: the file is cut off or damaged, save \
             it again"
        );
        let more = decode::<u32>(&array("'<u4'", "(1,)", &[0; 8])).unwrap_err();
        assert!(more.contains("4 bytes in all, but 8 follow it"), "{more}");
        let absurd = decode::<u32>(&array("'<u4'", "(18446744073709551615,)", &[0; 8])).unwrap_err();
        assert!(absurd.contains("73786976294838206460 bytes in all, but 8 follow it"), "{absurd}");
        let beyond = decode::<u32>(&array("'<u4'", "(99999999999999999999,)", &[0; 8])).unwrap_err();
        assert!(beyond.contains("'99999999999999999999'"), "{beyond}");
    }

    #[test]
    fn what_cannot_be_sorted_is_named() {
        let refused = |descr, shape| key_type(&array(descr, shape, &[]), None).unwrap_err();
        assert_eq!(
            refused("'<u4'", "(3, 4)"),
            "the array has shape (3, 4), and only one dimension can be sorted: flatten it in Python with \
             numpy.save('flat.npy', array.ravel())"
        );
        assert!(refused("'<u4'", "()").starts_with("the array has shape (), and"));
        assert_eq!(
            refused("'<c8'", "(3,)"),
            "NumPy type '<c8' cannot be sorted: convert it with array.astype() to one of b1, u1, u2, u4, u8, i1, i2, \
             i4, i8, f2, f4, f8, U1"
        );
        for descr in ["''", "'u4'", "'|u4'", "'ä'", "'<U2'"] {
            assert!(refused(descr, "(3,)").contains("cannot be sorted"), "{descr}");
        }
        assert!(refused("[('a', '<u4')]", "(3,)").contains("several fields"));
        let message = key_type(&array("'<u4'", "(1,)", &[0; 4]), Some(KeyType::I64)).unwrap_err();
        assert_eq!(message, "the array holds u32 and not i64: leave out --type");
    }

    /// Valid files, cut and damaged.
    fn files() -> impl Strategy<Value = Vec<u8>> {
        let descr = prop_oneof!["'[<>|=]?[buifU][0-9]{1,2}'", "\\[\\('a', '<u4'\\)\\]", "[ -~]{0,9}"];
        let shape = prop_oneof!["\\([0-9]{0,20}L?,?\\)", "\\(2, 3\\)", "[(),0-9]{0,9}"];
        let made = (1..=4_u8, descr, shape, prop::collection::vec(any::<u8>(), 0..20));
        let made = made.prop_map(|(version, descr, shape, data)| {
            file(version, &format!("{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, }}"), &data)
        });
        let damaged =
            (made, any::<prop::sample::Index>(), any::<Option<u8>>()).prop_map(|(mut bytes, at, damage)| {
                let at = at.index(bytes.len());
                match damage {
                    Some(byte) => bytes[at] = byte,
                    None => bytes.truncate(at),
                }
                bytes
            });
        let arbitrary = any::<Vec<u8>>().prop_map(|bytes| [MAGIC, &bytes].concat());
        prop_oneof![4 => damaged, 1 => arbitrary, 1 => any::<Vec<u8>>()]
    }

    proptest! {
        #![proptest_config(super::super::tests::many_cases())]
        #[test]
        fn arbitrary_files_are_read_or_refused_without_a_panic(bytes in files()) {
            if let Ok(found) = key_type(&bytes, None) {
                bitonic::with_key_type!(found, K => {
                    if let Ok(keys) = decode::<K>(&bytes) {
                        prop_assert!(size_of_val(keys.as_slice()) < bytes.len());
                    }
                });
            }
        }
    }
}
