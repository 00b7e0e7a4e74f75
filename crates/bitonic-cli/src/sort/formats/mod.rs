//! The formats that keys are read from and written in.

mod npy;
mod raw;
mod text;

use crate::progress::Progress;
use bitonic::Order;
use bitonic::key::{BitMap, KeyType};
use bitonic_testkit::TestKey;
use std::io::{self, Write};
use std::path::Path;

/// A key that every format can read and write, and that can be made at random.
pub(super) trait FileKey: TestKey + text::TextKey {}

impl<K: TestKey + text::TextKey> FileKey for K {}

/// How keys stand in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    /// Numbers with white space between them; written one a line.
    Text,
    /// The keys' bytes and nothing else, little-endian.
    Raw,
    /// A NumPy array of one dimension.
    Npy,
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

    /// The format that a file's name speaks of.
    pub(super) fn of_name(path: &Path) -> Option<Self> {
        let extension = path.extension()?.to_str()?.to_ascii_lowercase();
        match extension.as_str() {
            "npy" => Some(Self::Npy),
            "bin" | "raw" => Some(Self::Raw),
            "txt" => Some(Self::Text),
            _ => None,
        }
    }

    /// The format of bytes whose name says nothing: NumPy's begin with a mark, the rest is taken for text.
    pub(super) fn of_content(bytes: &[u8]) -> Self {
        if bytes.starts_with(npy::MAGIC) { Self::Npy } else { Self::Text }
    }

    /// The type of the keys in `bytes`: what the format says, or what the user says where it does not.
    pub(super) fn key_type(self, bytes: &[u8], asked: Option<KeyType>) -> Result<KeyType, String> {
        match (self, asked) {
            (Self::Text, Some(asked)) | (Self::Raw, Some(asked)) => Ok(asked),
            (Self::Text, None) => text::infer(bytes),
            (Self::Raw, None) => {
                Err("raw bytes do not say what they are: add --type, such as --type u32".to_owned())
            }
            (Self::Npy, asked) => npy::key_type(bytes, asked),
        }
    }

    /// The keys in `bytes`.
    pub(super) fn decode<K: FileKey>(self, bytes: &[u8]) -> Result<Vec<K>, String> {
        match self {
            Self::Text => text::decode(bytes),
            Self::Raw => raw::decode(bytes),
            Self::Npy => npy::decode(bytes),
        }
    }

    /// Refuses a type that the format has no place for.
    pub(super) fn accept(self, key_type: KeyType) -> Result<(), String> {
        match self {
            Self::Text | Self::Raw => Ok(()),
            Self::Npy => npy::type_name(key_type).map(|_| ()),
        }
    }

    /// Writes the keys. The type must have been [accepted](Self::accept).
    pub(super) fn encode<K: FileKey>(
        self,
        keys: &[K],
        out: &mut dyn Write,
        progress: &Progress,
    ) -> io::Result<()> {
        let append: fn(&[K], &mut Vec<u8>) = match self {
            Self::Text => text::append,
            Self::Raw | Self::Npy => raw::append,
        };
        let mut buffer = Vec::new();
        if self == Self::Npy {
            npy::append_header::<K>(keys.len(), &mut buffer)?;
        }
        for some in keys.chunks(KEYS_PER_WRITE) {
            append(some, &mut buffer);
            out.write_all(&buffer)?;
            buffer.clear();
            progress.advance(some.len());
        }
        out.write_all(&buffer)
    }

    /// Where the key with this index stands in `bytes`, in the words of someone who looks for it there.
    pub(super) fn position_of_key<K: FileKey>(self, bytes: &[u8], index: usize) -> String {
        match self {
            Self::Text => text::position_of_key(bytes, index),
            Self::Raw => format!("key {} (byte {})", index + 1, index * size_of::<K>()),
            Self::Npy => format!("index {index}"),
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
fn with_room_for<K>(len: usize) -> Result<Vec<K>, String> {
    let mut keys = Vec::new();
    match keys.try_reserve_exact(len) {
        Ok(()) => Ok(keys),
        Err(_) => Err(format!("no memory for {len} keys of {} bytes: sort a smaller part", size_of::<K>())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::ProptestConfig;

    /// For properties of parsers: enough cases to be worth it and to be done in seconds. A million, with
    /// `PROPTEST_CASES=1000000`, take about a minute.
    pub(super) fn many_cases() -> ProptestConfig {
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
        assert_eq!(of_name("a.txt"), Some(Format::Text));
        assert_eq!(of_name("numbers"), None);
        assert_eq!(of_name("dir.npy/numbers"), None);
        assert_eq!(Format::of_content(b"\x93NUMPY\x01\x00"), Format::Npy);
        assert_eq!(Format::of_content(b"\x93NUMP"), Format::Text);
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
