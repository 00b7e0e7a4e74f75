//! The formats that keys are read from and written in.

mod npy;
mod npz;
mod raw;
pub(super) mod text;

pub(super) use npy::Layout;
pub(super) use npz::array as array_of_archive;
pub(super) use raw::decode_into;

use super::keys::AnyKeys;
use crate::progress::Progress;
use bitonic::Order;
use bitonic::key::{BitMap, KeyType};
use bitonic_testkit::TestKey;
pub(super) use raw::ByteOrder;
use std::io::{self, Write};
use std::path::Path;
use text::Digits;

/// A key that every format can read and write, and that can be made at random.
pub(super) trait FileKey: TestKey + text::TextKey {}

impl<K: TestKey + text::TextKey> FileKey for K {}

/// Why one of several inputs is refused.
#[derive(Debug, PartialEq)]
pub(super) struct Refusal {
    /// Which input.
    pub(super) source: usize,
    /// What is wrong, where, and the way out.
    pub(super) reason: String,
}

/// How keys stand in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    /// Numbers with white space between them; written one a line.
    Text,
    /// The keys' bytes and nothing else, little-endian.
    Raw,
    /// A NumPy array.
    Npy,
}

/// How an input is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum InputFormat {
    Keys(Format),
    /// An archive of NumPy arrays, one of which is taken.
    Npz,
}

impl InputFormat {
    /// Every way to read an input.
    pub(super) const ALL: &[Self] =
        &[Self::Keys(Format::Text), Self::Keys(Format::Raw), Self::Keys(Format::Npy), Self::Npz];

    /// Its name on the command line.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Keys(format) => format.name(),
            Self::Npz => "npz",
        }
    }

    /// The format that a file's name speaks of.
    pub(super) fn of_name(path: &Path) -> Option<Self> {
        match extension(path)?.as_str() {
            "npz" => Some(Self::Npz),
            _ => Format::of_name(path).map(Self::Keys),
        }
    }

    /// The format of bytes whose name says nothing: NumPy's begin with a mark, the rest is taken for text.
    pub(super) fn of_content(bytes: &[u8]) -> Self {
        if bytes.starts_with(npy::MAGIC) {
            Self::Keys(Format::Npy)
        } else if bytes.starts_with(npz::MAGIC) {
            Self::Npz
        } else {
            Self::Keys(Format::Text)
        }
    }
}

/// The end of a file's name after its last point, in small letters.
pub(super) fn extension(path: &Path) -> Option<String> {
    Some(path.extension()?.to_str()?.to_ascii_lowercase())
}

/// How many keys are encoded before they are written: enough that a write costs little beside them.
const KEYS_PER_WRITE: usize = 1 << 14;

impl Format {
    /// Every format.
    pub(super) const ALL: &[Self] = &[Self::Text, Self::Raw, Self::Npy];

    /// The format's name on the command line.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Raw => "raw",
            Self::Npy => "npy",
        }
    }

    /// Whether people can read it.
    pub(super) fn is_text(self) -> bool {
        self == Self::Text
    }

    /// The format that a file's name speaks of.
    pub(super) fn of_name(path: &Path) -> Option<Self> {
        match extension(path)?.as_str() {
            "npy" => Some(Self::Npy),
            "bin" | "raw" => Some(Self::Raw),
            "txt" | "text" | "csv" | "tsv" => Some(Self::Text),
            _ => None,
        }
    }

    /// The type of the keys in `bytes`, if the format says it. Another one that was asked for is refused.
    fn key_type(self, bytes: &[u8], asked: Option<KeyType>) -> Result<Option<KeyType>, String> {
        match (self, asked) {
            (Self::Text, _) => Ok(None),
            (Self::Raw, Some(asked)) => Ok(Some(asked)),
            (Self::Raw, None) => {
                Err("raw bytes do not say what they are: add --type, such as --type u32".to_owned())
            }
            (Self::Npy, asked) => npy::key_type(bytes, asked).map(Some),
        }
    }

    /// The type of the keys of this input and of those before it, as far as it is known.
    pub(super) fn key_type_after(
        self,
        before: Option<KeyType>,
        bytes: &[u8],
        asked: Option<KeyType>,
    ) -> Result<Option<KeyType>, String> {
        match (before, self.key_type(bytes, asked)?) {
            (Some(before), Some(here)) if before != here => Err(format!(
                "the keys are {here}, and those before it {before}: sort them apart, or convert one in Python with array.astype()"
            )),
            (before, here) => Ok(before.or(here)),
        }
    }

    /// The keys in `bytes`.
    pub(super) fn decode<K: FileKey>(self, bytes: &[u8], digits: Digits) -> Result<Vec<K>, String> {
        match self {
            Self::Text => {
                let decoded = text::decode(text::places(&[bytes], K::COMMENTS), digits);
                decoded.map_err(|refusal| refusal.reason)
            }
            Self::Raw => raw::decode(bytes),
            Self::Npy => npy::decode(bytes),
        }
    }

    /// How the array in `bytes` is stored, if it is one.
    pub(super) fn layout(self, bytes: &[u8]) -> Result<Option<Layout>, String> {
        match self {
            Self::Text | Self::Raw => Ok(None),
            Self::Npy => npy::layout(bytes).map(Some),
        }
    }

    /// Refuses a type that the format has no place for.
    pub(super) fn accept(self, key_type: KeyType) -> Result<(), String> {
        match self {
            Self::Text | Self::Raw => Ok(()),
            Self::Npy => npy::type_name(key_type).map(|_| ()),
        }
    }

    /// Writes the keys, as an array with this layout where the format has arrays. The type must have been
    /// [accepted](Self::accept).
    pub(super) fn encode(
        self,
        keys: &dyn AnyKeys,
        layout: &Layout,
        out: &mut dyn Write,
        progress: &Progress,
    ) -> io::Result<()> {
        let mut buffer = Vec::new();
        self.append_head(keys.key_type(), layout, &mut buffer)?;
        for start in (0..keys.len()).step_by(KEYS_PER_WRITE) {
            let some = start..keys.len().min(start + KEYS_PER_WRITE);
            keys.append(some.clone(), self, layout, &mut buffer);
            out.write_all(&buffer)?;
            buffer.clear();
            progress.advance(some.len());
        }
        out.write_all(&buffer)
    }

    /// Appends what stands before the keys.
    pub(super) fn append_head(self, key_type: KeyType, layout: &Layout, out: &mut Vec<u8>) -> io::Result<()> {
        match self {
            Self::Text | Self::Raw => Ok(()),
            Self::Npy => npy::append_header(key_type, layout, out),
        }
    }

    /// Appends some of the keys.
    pub(super) fn append_keys<K: FileKey>(self, keys: &[K], layout: &Layout, out: &mut Vec<u8>) {
        match self {
            Self::Text => text::append(keys, out),
            Self::Raw => raw::append(keys, ByteOrder::Little, out),
            Self::Npy => raw::append(keys, layout.byte_order, out),
        }
    }

    /// Where the keys begin in a file of this length that begins like this, and the order of their bytes. Refuses a file that does not
    /// hold whole keys of this type to its end. Text has no such place.
    pub(super) fn stretch(
        self,
        key_type: KeyType,
        head: &[u8],
        length: u64,
    ) -> Result<(u64, ByteOrder), String> {
        match self {
            Self::Text | Self::Raw => {
                raw::expect_whole_keys(key_type, length).map(|()| (0, ByteOrder::Little))
            }
            Self::Npy => {
                let array = npy::expect_all_keys(key_type, head, length)?;
                Ok((array.start as u64, array.layout.byte_order))
            }
        }
    }

    /// Where the key with this index stands in `bytes`, in the words of someone who looks for it there.
    pub(super) fn position_of_key(self, key_type: KeyType, bytes: &[u8], index: usize) -> String {
        match self {
            Self::Text => match text::places(&[bytes], text::comments(key_type)).nth(index) {
                Some(place) => place.position().to_string(),
                None => "its end".to_owned(),
            },
            Self::Raw => format!("key {} (byte {})", index + 1, index * key_type.bytes()),
            Self::Npy => {
                npy::layout(bytes).map_or_else(|_| index.to_string(), |layout| layout.index_of(index))
            }
        }
    }
}

/// One key as text.
pub(super) fn show<K: FileKey>(key: K) -> String {
    let mut line = Vec::new();
    key.append(&mut line);
    String::from_utf8_lossy(&line).into_owned()
}

/// The index of the first key that should stand before its predecessor.
pub(super) fn first_out_of_order<K: FileKey>(keys: &[K], order: Order) -> Option<usize> {
    let map = BitMap::new(K::TYPE.form(), order);
    let ordered = |key: K| map.to_ordered(key.to_raw_bits());
    keys.windows(2).position(|pair| ordered(pair[1]) < ordered(pair[0])).map(|before| before + 1)
}

/// An empty vector with room for this many keys.
pub(super) fn with_room_for<K>(len: usize) -> Result<Vec<K>, String> {
    let mut keys = Vec::new();
    match keys.try_reserve_exact(len) {
        Ok(()) => Ok(keys),
        Err(_) => Err(format!("no memory for {len} keys of {} bytes: sort a smaller part", size_of::<K>())),
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use proptest::prelude::ProptestConfig;

    /// For properties of parsers: enough cases to be worth it and to be done in seconds. A million, with
    /// `PROPTEST_CASES=1000000`, take about a minute.
    pub(in crate::sort) fn many_cases() -> ProptestConfig {
        const CASES: u32 = 20_000;
        match std::env::var_os("PROPTEST_CASES") {
            Some(_) => ProptestConfig::default(),
            None => ProptestConfig::with_cases(CASES),
        }
    }

    #[test]
    fn names_and_contents_tell_the_format() {
        let of_name = |name: &str| Format::of_name(Path::new(name));
        assert_eq!(of_name("a.npy"), Some(Format::Npy));
        assert_eq!(of_name("dir.bin/a.RAW"), Some(Format::Raw));
        assert_eq!(of_name("a.bin"), Some(Format::Raw));
        for text in ["a.txt", "a.text", "a.csv", "a.TSV"] {
            assert_eq!(of_name(text), Some(Format::Text), "{text}");
        }
        assert_eq!(of_name("numbers"), None);
        assert_eq!(of_name("dir.npy/numbers"), None);
        assert_eq!(of_name("a.npz"), None, "archives are not written");
        assert_eq!(InputFormat::of_name(Path::new("a.npz")), Some(InputFormat::Npz));
        assert_eq!(InputFormat::of_name(Path::new("a.npy")), Some(InputFormat::Keys(Format::Npy)));
        let of_content = InputFormat::of_content;
        assert_eq!(of_content(b"\x93NUMPY\x01\x00"), InputFormat::Keys(Format::Npy));
        assert_eq!(of_content(b"\x93NUMP"), InputFormat::Keys(Format::Text));
        assert_eq!(of_content(b"PK\x03\x04"), InputFormat::Npz);
    }

    #[test]
    fn the_first_key_out_of_order_is_found_in_both_directions() {
        assert_eq!(first_out_of_order(&[1, 2, 2, 1, 0], Order::Ascending), Some(3));
        assert_eq!(first_out_of_order(&[1, 2, 2, 1, 0], Order::Descending), Some(1));
        assert_eq!(first_out_of_order(&[-0.0, 0.0, f32::NAN], Order::Ascending), None);
        assert_eq!(first_out_of_order(&[0.0, -0.0], Order::Ascending), Some(1));
        assert_eq!(first_out_of_order::<u8>(&[], Order::Ascending), None);
    }
}
