//! Records with a key in them: of a fixed size, or of any length with the key before them.
//!
//! ```text
//!   fixed       [ ...... key ........... ]                  as they are in the caller's files
//!   any length  [ length | key | bytes .............. ]     a form of our own
//! ```

use super::fingerprint::Fingerprint;
use super::items::{Items, PLANNED, Part};
use crate::cpu::{Settings, for_each_index, try_vec};
use crate::key::{Bits, Key, as_bytes};
use crate::{Error, Sorter};
use std::io;
use std::marker::PhantomData;
use std::ops::Range;

/// Where a record's key is, and how its bytes are to be read.
///
/// ```
/// use bitonic::external::Field;
///
/// assert_eq!(Field::<u16>::little(1).read(&[9, 1, 2]), 0x0201);
/// assert_eq!(Field::<u16>::big(1).read(&[9, 1, 2]), 0x0102);
/// // The first ten bytes, compared as bytes: the keys of the sort benchmark's records.
/// let first = Field::bytes(0, 10);
/// assert!(first.read(b"AAAAAAAAAA, and more") < first.read(b"AAAAAAAAAB"));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field<K> {
    offset: usize,
    length: usize,
    is_big_endian: bool,
    key: PhantomData<fn() -> K>,
}

impl<K: Key> Field<K> {
    /// A key at this offset, its lowest byte first.
    pub fn little(offset: usize) -> Self {
        Self { offset, length: size_of::<K>(), is_big_endian: false, key: PhantomData }
    }

    /// A key at this offset, its highest byte first.
    pub fn big(offset: usize) -> Self {
        Self { is_big_endian: true, ..Self::little(offset) }
    }

    /// The key of a record. Bytes past the end of a short one are 0.
    pub fn read(&self, record: &[u8]) -> K {
        let mut bytes = [0; 16];
        let field = record.get(self.offset..).unwrap_or_default();
        let field = &field[..field.len().min(self.length)];
        let bits = match self.is_big_endian {
            false => {
                bytes[..field.len()].copy_from_slice(field);
                u128::from_le_bytes(bytes)
            }
            true => {
                bytes[16 - self.length..][..field.len()].copy_from_slice(field);
                u128::from_be_bytes(bytes)
            }
        };
        K::from_raw_bits(K::Bits::truncate(bits))
    }

    /// Where the field ends.
    fn end(&self) -> usize {
        self.offset.saturating_add(self.length)
    }
}

impl Field<u128> {
    /// So many bytes at this offset, at most 16, which are compared byte by byte from the first on.
    ///
    /// # Panics
    ///
    /// If there are more than 16.
    pub fn bytes(offset: usize, length: usize) -> Self {
        assert!(length <= 16, "a key has at most 16 bytes, and not {length}");
        Self { offset, length, is_big_endian: true, key: PhantomData }
    }
}

/// Records.
pub(super) struct RecordItems<K> {
    form: Form<K>,
    working_bytes: usize,
}

enum Form<K> {
    Fixed { size: usize, field: Field<K> },
    AnyLength,
}

impl<K> Clone for Form<K> {
    fn clone(&self) -> Self {
        match self {
            Self::Fixed { size, field } => {
                Self::Fixed { size: *size, field: Field { key: PhantomData, ..*field } }
            }
            Self::AnyLength => Self::AnyLength,
        }
    }
}

impl<K> Clone for RecordItems<K> {
    fn clone(&self) -> Self {
        Self { form: self.form.clone(), working_bytes: self.working_bytes }
    }
}

/// The number of bytes of an item of any length.
type Length = u32;

impl<K: Key> RecordItems<K> {
    /// Records of a fixed size.
    pub(super) fn fixed(size: usize, field: Field<K>, sorter: &Sorter) -> Result<Self, Error> {
        match field.end() > size || size == 0 {
            true => Err(Error::RecordKey { offset: field.offset, length: field.length, size }),
            false => Self::new(Form::Fixed { size, field }, sorter),
        }
    }

    /// Bytes of any length, each with a key.
    pub(super) fn any_length(sorter: &Sorter) -> Result<Self, Error> {
        Self::new(Form::AnyLength, sorter)
    }

    fn new(form: Form<K>, sorter: &Sorter) -> Result<Self, Error> {
        let argsort = sorter.plan_argsort::<K>(PLANNED)?.memory.host.div_ceil(PLANNED);
        // Beside the argsort and its result: the keys, and where each record begins.
        let working_bytes = argsort + size_of::<K>() + 2 * size_of::<usize>();
        Ok(Self { form, working_bytes })
    }

    /// An item of a key and some bytes.
    pub(super) fn pack(key: K, bytes: &[u8], item: &mut Vec<u8>) -> Result<(), Error> {
        let Ok(length) = Length::try_from(bytes.len()) else {
            return Err(Error::RecordLength { bytes: bytes.len(), most: Length::MAX as usize });
        };
        item.clear();
        item.extend_from_slice(&length.to_ne_bytes());
        item.extend_from_slice(as_bytes(&[key]));
        item.extend_from_slice(bytes);
        Ok(())
    }

    /// The key and the bytes of the item at the front, and how long it is; none if it is cut off.
    pub(super) fn unpack(units: &[u8]) -> Option<(K, &[u8], usize)> {
        let (length, rest) = units.split_first_chunk()?;
        let (key, rest) = rest.split_at_checked(size_of::<K>())?;
        let bytes = rest.get(..Length::from_ne_bytes(*length) as usize)?;
        let key = Field::<K> { is_big_endian: cfg!(target_endian = "big"), ..Field::little(0) }.read(key);
        Some((key, bytes, size_of::<Length>() + size_of::<K>() + bytes.len()))
    }

    /// The key of the item at the front, and how long it is; none if it is cut off.
    fn first(&self, units: &[u8]) -> Option<(K, usize)> {
        match &self.form {
            Form::Fixed { size, field } => Some((field.read(units.get(..*size)?), *size)),
            Form::AnyLength => Self::unpack(units).map(|(key, _, length)| (key, length)),
        }
    }

    /// The ranges of all items.
    fn items<'a>(&'a self, units: &'a [u8]) -> impl Iterator<Item = (K, Range<usize>)> + 'a {
        let mut start = 0;
        std::iter::from_fn(move || {
            let (key, length) = self.first(&units[start..])?;
            let item = start..start + length;
            start = item.end;
            Some((key, item))
        })
    }
}

/// The keys of records, and where the records begin.
pub(super) struct RecordIndex<K> {
    keys: Vec<K>,
    /// With the end of the last.
    starts: Vec<usize>,
}

impl<K> Default for RecordIndex<K> {
    fn default() -> Self {
        Self { keys: Vec::new(), starts: vec![0] }
    }
}

impl<K: Key> Items for RecordItems<K> {
    type Unit = u8;
    type Key = K;
    type Index = RecordIndex<K>;

    /// One is filled while another is sorted into the third, which is written.
    const BUFFERS: usize = 3;

    fn nothing() -> u8 {
        0
    }

    fn working_bytes(&self) -> usize {
        self.working_bytes
    }

    fn bytes(units: &[u8]) -> &[u8] {
        units
    }

    fn fill(units: &mut [u8], read: &mut dyn FnMut(&mut [u8]) -> io::Result<()>) -> io::Result<()> {
        read(units)
    }

    fn index(&self, units: &[u8], index: &mut RecordIndex<K>) -> usize {
        index.keys.clear();
        index.starts.clear();
        index.starts.push(0);
        for (key, item) in self.items(units) {
            index.keys.push(key);
            index.starts.push(item.end);
        }
        index.keys.len()
    }

    fn fingerprint(&self, units: &[u8]) -> Fingerprint {
        let mut fingerprint = Fingerprint::default();
        self.items(units).for_each(|(_, item)| fingerprint.add_bytes(&units[item]));
        fingerprint
    }

    fn keys<'a>(&self, _: &'a [u8], index: &'a RecordIndex<K>) -> &'a [K] {
        &index.keys
    }

    fn start(&self, index: &RecordIndex<K>, item: usize) -> usize {
        index.starts[item]
    }

    fn sort(&self, run: &mut Vec<u8>, spare: &mut Vec<u8>, sorter: &Sorter) -> Result<(), Error> {
        let items = self.items(run).count();
        let mut index = RecordIndex { keys: try_vec(items)?, starts: try_vec(items + 1)? };
        self.index(run, &mut index);
        let mut order: Vec<usize> = try_vec(items)?;
        order.resize(items, 0);
        sorter.argsort_into(&index.keys, &mut order)?;
        spare.clear();
        spare.try_reserve_exact(run.len()).map_err(|_| Error::OutOfMemory { bytes: run.len() })?;
        for item in order {
            spare.extend_from_slice(&run[index.starts[item]..index.starts[item + 1]]);
        }
        std::mem::swap(run, spare);
        Ok(())
    }

    fn merge(&self, parts: &[Part<'_, Self>], merged: &mut [u8], settings: Settings) -> Result<(), Error> {
        let count = parts.iter().map(|part| part.items.len()).sum();
        let (mut keys, mut records) = (try_vec::<K>(count)?, try_vec::<&[u8]>(count)?);
        for Part { window, items } in parts {
            keys.extend_from_slice(&window.index.keys[items.clone()]);
            let starts = window.index.starts[items.start..=items.end].windows(2);
            records.extend(starts.map(|ends| &window.units[ends[0]..ends[1]]));
        }
        let mut rest = merged;
        for_each_index(&keys, settings, |item| {
            let (place, later) = std::mem::take(&mut rest).split_at_mut(records[item].len());
            place.copy_from_slice(records[item]);
            rest = later;
        })
    }
}
