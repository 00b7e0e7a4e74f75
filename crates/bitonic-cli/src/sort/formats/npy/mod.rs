//! NumPy's `.npy`: a mark, a version, a header that is a Python dictionary, then the keys' bytes.
//!
//! ```text
//! \x93NUMPY  major  minor  length (2 bytes; 4 from version 2 on)  {'descr': '<u4', 'fortran_order': False, 'shape': (3,), }
//! ```

mod header;

use super::raw::{ByteOrder, decode_from};
use bitonic::Key;
use bitonic::key::KeyType;
use header::Header;
pub(in crate::sort) use header::Shape;
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

/// Reads the keys of an array, in the order in which they are stored.
pub(super) fn decode<K: Key>(bytes: &[u8]) -> Result<Vec<K>, String> {
    let Array { start, layout, .. } = expect_all_keys(K::TYPE, bytes, bytes.len() as u64)?;
    decode_from(bytes, start, layout.byte_order)
}

/// The array whose file begins like this, if the file is as long as its header says.
pub(super) fn expect_all_keys(key_type: KeyType, head: &[u8], file_length: u64) -> Result<Array, String> {
    let size = key_type.bytes();
    let array = Array::read(head)?;
    let found = file_length - array.start as u64;
    let len = array.layout.len();
    let expected = len.and_then(|len| len.checked_mul(size));
    if expected.map(|bytes| bytes as u64) != Some(found) {
        let said = match len {
            Some(len) => format!("{len} keys of {size} bytes, {} bytes in all", len as u128 * size as u128),
            None => {
                format!("shape {}, more keys of {size} bytes than this machine can count", array.layout.shape)
            }
        };
        return Err(format!(
            "the header says {said}, but {found} follow it: the file is cut off or damaged, save it again"
        ));
    }
    Ok(array)
}

/// How the array's keys are stored.
pub(super) fn layout(bytes: &[u8]) -> Result<Layout, String> {
    Ok(Array::read(bytes)?.layout)
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
pub(super) fn append_header(key_type: KeyType, layout: &Layout, out: &mut Vec<u8>) -> io::Result<()> {
    let name = type_name(key_type).map_err(|reason| io::Error::new(io::ErrorKind::InvalidInput, reason))?;
    let order = match layout.byte_order {
        _ if key_type.bytes() == 1 => '|',
        ByteOrder::Little => '<',
        ByteOrder::Big => '>',
    };
    let fortran_order = if layout.fortran_order { "True" } else { "False" };
    let dictionary = format!(
        "{{'descr': '{order}{name}', 'fortran_order': {fortran_order}, 'shape': {}, }}",
        layout.shape
    );
    let before = MAGIC.len() + 4;
    let total = (before + dictionary.len() + 1).next_multiple_of(64);
    // Version 1 has room for 65535 bytes, which are thousands of dimensions.
    let length = u16::try_from(total - before).map_err(|_| io::ErrorKind::InvalidInput)?;
    out.extend_from_slice(MAGIC);
    out.extend_from_slice(&[1, 0]);
    out.extend_from_slice(&length.to_le_bytes());
    out.extend_from_slice(dictionary.as_bytes());
    out.resize(total - 1, b' ');
    out.push(b'\n');
    Ok(())
}

/// How an array's keys are stored.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::sort) struct Layout {
    pub(super) byte_order: ByteOrder,
    pub(in crate::sort) shape: Shape,
    /// Whether the first index is the one that changes from key to key, and not the last.
    pub(in crate::sort) fortran_order: bool,
}

impl Layout {
    /// So many keys, one after the other.
    pub(in crate::sort) fn flat(len: usize) -> Self {
        Self { byte_order: ByteOrder::Little, shape: Shape(vec![len]), fortran_order: false }
    }

    /// So many keys one after the other, with the same order of bytes.
    pub(in crate::sort) fn flattened(&self, len: usize) -> Self {
        Self { byte_order: self.byte_order, ..Self::flat(len) }
    }

    /// The same with another length of a dimension.
    pub(in crate::sort) fn with_length(mut self, dimension: usize, length: usize) -> Self {
        self.shape.0[dimension] = length;
        self
    }

    /// The lengths of the dimensions, the one that changes from key to key last.
    pub(in crate::sort) fn stored_lengths(&self) -> Vec<usize> {
        let mut lengths = self.shape.0.clone();
        if self.fortran_order {
            lengths.reverse();
        }
        lengths
    }

    /// The index of a key as Python writes it.
    pub(super) fn index_of(&self, stored: usize) -> String {
        let mut rest = stored;
        let mut indices: Vec<String> = Vec::new();
        for length in self.stored_lengths().into_iter().rev() {
            indices.push((rest % length.max(1)).to_string());
            rest /= length.max(1);
        }
        if !self.fortran_order {
            indices.reverse();
        }
        match indices.as_slice() {
            [only] => format!("index {only}"),
            _ => format!("index ({})", indices.join(", ")),
        }
    }

    /// The number of keys, if it can be counted.
    fn len(&self) -> Option<usize> {
        self.shape.0.iter().try_fold(1, |product: usize, &length| product.checked_mul(length))
    }
}

/// An array that can be sorted.
#[derive(Debug, PartialEq)]
pub(super) struct Array {
    key_type: KeyType,
    pub(super) layout: Layout,
    /// Where the keys begin in the file.
    pub(super) start: usize,
}

impl Array {
    fn read(bytes: &[u8]) -> Result<Self, String> {
        let Header { descr, shape, fortran_order, end } = Header::read(bytes)?;
        let (key_type, byte_order) = parse_descr(&descr)?;
        Ok(Self { key_type, layout: Layout { byte_order, shape, fortran_order }, start: end })
    }
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
                match append_header(K::TYPE, &Layout::flat(keys.len()), &mut bytes) {
                    Ok(()) => {
                        assert_eq!(bytes.len() % 64, 0);
                        super::super::raw::append(&keys, ByteOrder::Little, &mut bytes);
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
        append_header(KeyType::U32, &Layout::flat(3), &mut bytes).unwrap();
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
    fn arrays_of_any_shape_come_back_as_they_were_stored() {
        for (shape, lengths) in [("()", vec![]), ("(2, 3)", vec![2, 3]), ("(0, 7, 1)", vec![0, 7, 1])] {
            for (descr, byte_order) in [("<u2", ByteOrder::Little), (">u2", ByteOrder::Big)] {
                for (word, fortran_order) in [("False", false), ("True", true)] {
                    let dictionary =
                        format!("{{'descr': '{descr}', 'fortran_order': {word}, 'shape': {shape}, }}");
                    let read = layout(&file(1, &dictionary, &[])).unwrap();
                    assert_eq!(read, Layout { byte_order, shape: Shape(lengths.clone()), fortran_order });
                    let mut written = Vec::new();
                    append_header(KeyType::U16, &read, &mut written).unwrap();
                    assert_eq!(layout(&written), Ok(read), "{dictionary}");
                }
            }
        }
        assert_eq!(decode::<u8>(&array("'|u1'", "()", &[7])), Ok(vec![7]));
        assert_eq!(decode::<u8>(&array("'|u1'", "(2, 2)", &[7, 8, 9, 10])), Ok(vec![7, 8, 9, 10]));
        let absurd = decode::<u8>(&array("'|u1'", "(4294967296, 4294967296)", &[7])).unwrap_err();
        assert!(
            absurd.contains("more keys of 1 bytes than this machine can count, but 1 follow it"),
            "{absurd}"
        );
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
        let shape = prop_oneof!["\\([0-9]{0,20}L?,?\\)", "\\(2, 3\\)", "\\(\\)", "[(),0-9]{0,9}"];
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
