//! Records with a key in them: of a fixed size, or of any length with the key before them.
//!
//! ```text
//!   fixed       [ ...... key ........... ]                  as they are in the caller's files
//!   any length  [ length | key | bytes .............. ]     a form of our own
//! ```

use super::buffer::Buffer;
use super::cut::{self, Rest};
use super::items::{Index, Items, Part, Window, map, with_width};
use crate::cpu::fingerprint::Fingerprint;
use crate::cpu::{Settings, for_each_index, try_vec};
use crate::key::{Bits, Key, KeyType, bits_as_bytes, valid_bits};
use crate::{Error, Sorter};
use bytemuck::Pod;
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
    place: Place,
    key: PhantomData<fn() -> K>,
}

impl<K: Key> Field<K> {
    /// A key at this offset, its lowest byte first.
    pub fn little(offset: usize) -> Self {
        let place = Place { offset, length: size_of::<K>(), is_big_endian: false };
        Self { place, key: PhantomData }
    }

    /// A key at this offset, its highest byte first.
    pub fn big(offset: usize) -> Self {
        let place = Place { offset, length: size_of::<K>(), is_big_endian: true };
        Self { place, key: PhantomData }
    }

    /// The key of a record. Bytes past the end of a short one are 0.
    pub fn read(&self, record: &[u8]) -> K {
        K::from_raw_bits(self.place.read(record))
    }

    /// Where the bytes are.
    pub(super) fn place(&self) -> Place {
        self.place
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
        Self { place: Place { offset, length, is_big_endian: true }, key: PhantomData }
    }
}

/// Where the bits of a key are in a record, and the order of their bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    offset: usize,
    length: usize,
    is_big_endian: bool,
}

impl Place {
    /// As it is in memory, at the beginning.
    fn native<B>() -> Self {
        Self { offset: 0, length: size_of::<B>(), is_big_endian: cfg!(target_endian = "big") }
    }

    /// The bits. Bytes past the end of a short record are 0.
    fn read<B: Bits>(self, record: &[u8]) -> B {
        let mut bytes = [0; 16];
        let field = record.get(self.offset..).unwrap_or_default();
        let field = &field[..field.len().min(self.length)];
        B::truncate(match self.is_big_endian {
            false => {
                bytes[..field.len()].copy_from_slice(field);
                u128::from_le_bytes(bytes)
            }
            true => {
                bytes[16 - self.length..][..field.len()].copy_from_slice(field);
                u128::from_be_bytes(bytes)
            }
        })
    }

    fn end(self) -> usize {
        self.offset.saturating_add(self.length)
    }
}

/// What records look like.
#[derive(Clone, Copy)]
pub(super) enum Form {
    Fixed { size: usize, place: Place },
    AnyLength,
}

impl Form {
    /// Records of a fixed size.
    pub(super) fn fixed(size: usize, place: Place) -> Result<Self, Error> {
        match place.end() > size || size == 0 {
            true => Err(Error::RecordKey { offset: place.offset, length: place.length, size }),
            false => Ok(Self::Fixed { size, place }),
        }
    }
}

/// The number of bytes of an item of any length.
type Length = u32;

/// An item of a key and some bytes.
pub(super) fn pack<K: Key>(key: K, bytes: &[u8], item: &mut Vec<u8>) -> Result<(), Error> {
    let Ok(length) = Length::try_from(bytes.len()) else {
        return Err(Error::RecordLength { bytes: bytes.len(), most: Length::MAX as usize });
    };
    item.clear();
    item.extend_from_slice(&length.to_ne_bytes());
    item.extend_from_slice(crate::key::as_bytes(&[key]));
    item.extend_from_slice(bytes);
    Ok(())
}

/// The bits of the key and the bytes of the item at the front, and how long it is; none if it is cut off.
pub(super) fn unpack<B: Bits>(items: &[u8]) -> Option<(B, &[u8], usize)> {
    let (length, rest) = items.split_first_chunk()?;
    let (key, rest) = rest.split_at_checked(size_of::<B>())?;
    let bytes = rest.get(..Length::from_ne_bytes(*length) as usize)?;
    Some((Place::native::<B>().read(key), bytes, size_of::<Length>() + size_of::<B>() + bytes.len()))
}

/// Records with keys of one width.
struct RecordItems<B> {
    key: KeyType,
    form: Form,
    working_bytes: usize,
    bits: PhantomData<fn() -> B>,
}

/// Records with keys of a type, whose argsort takes so many bytes for each.
pub(super) fn records(key: KeyType, form: Form, argsort: usize) -> Box<dyn Items> {
    // Beside the argsort and its result: the keys, and where each record begins.
    let working_bytes = argsort + key.bytes() + 2 * size_of::<usize>();
    with_width!(key, B => Box::new(RecordItems::<B> { key, form, working_bytes, bits: PhantomData }))
}

impl<B: Bits> RecordItems<B> {
    /// The bits of the key of the item at the front, and how long it is; none if it is cut off.
    fn first(&self, bytes: &[u8]) -> Option<(B, usize)> {
        match self.form {
            Form::Fixed { size, place } => Some((valid_bits(self.key, place.read(bytes.get(..size)?)), size)),
            Form::AnyLength => unpack(bytes).map(|(bits, _, length)| (bits, length)),
        }
    }

    /// The ranges of all items.
    fn items<'a>(&'a self, bytes: &'a [u8]) -> impl Iterator<Item = (B, Range<usize>)> + 'a {
        let mut start = 0;
        std::iter::from_fn(move || {
            let (bits, length) = self.first(&bytes[start..])?;
            let item = start..start + length;
            start = item.end;
            Some((bits, item))
        })
    }
}

impl<B: Bits + Pod> Items for RecordItems<B> {
    /// One is filled while another is sorted into the third, which is written.
    fn buffers(&self) -> usize {
        3
    }

    fn working_bytes(&self) -> usize {
        self.working_bytes
    }

    fn shortest(&self) -> usize {
        match self.form {
            Form::Fixed { size, .. } => size,
            Form::AnyLength => size_of::<Length>() + size_of::<B>(),
        }
    }

    fn index_bytes(&self) -> usize {
        size_of::<B>() + size_of::<usize>()
    }

    /// Their keys are made of any bytes.
    fn are_valid(&self, _: &[u8]) -> bool {
        true
    }

    fn index(&self, bytes: &[u8], Index { keys, starts }: &mut Index) -> Result<usize, Error> {
        let count = self.items(bytes).count();
        starts.clear();
        keys.clear();
        starts.try_reserve_exact(count + 1).map_err(|_| Error::OutOfMemory { bytes: bytes.len() })?;
        keys.reserve(count * size_of::<B>())?;
        starts.push(0);
        for (bits, item) in self.items(bytes) {
            keys.extend(bits_as_bytes(&[bits]));
            starts.push(item.end);
        }
        Ok(count)
    }

    fn fingerprint(&self, bytes: &[u8]) -> Fingerprint {
        let mut fingerprint = Fingerprint::default();
        self.items(bytes).for_each(|(_, item)| fingerprint.add_bytes(&bytes[item]));
        fingerprint
    }

    fn keys<'a>(&self, window: &'a Window, items: Range<usize>) -> &'a [u8] {
        &window.index.keys.bytes()[items.start * size_of::<B>()..items.end * size_of::<B>()]
    }

    fn start(&self, index: &Index, item: usize) -> usize {
        index.starts.get(item).copied().unwrap_or(0)
    }

    fn mergeable(&self, rests: &[Rest<'_>], settings: Settings) -> Vec<usize> {
        cut::mergeable::<B>(rests, map(self.key, settings))
    }

    fn pieces(&self, keys: &[&[u8]], length: usize, settings: Settings) -> Vec<Vec<Range<usize>>> {
        cut::pieces::<B>(keys, length, map(self.key, settings))
    }

    fn sort(&self, run: &mut Buffer, spare: &mut Buffer, sorter: &Sorter) -> Result<(), Error> {
        let bytes = run.bytes();
        let items = self.items(bytes).count();
        let (mut keys, mut starts, mut order) = (try_vec(items)?, try_vec(items + 1)?, try_vec(items)?);
        starts.push(0);
        for (bits, item) in self.items(bytes) {
            keys.push(bits);
            starts.push(item.end);
        }
        sorter.argsort_bits::<B>(&keys, self.key, |item| order.push(item))?;
        spare.reserve(bytes.len())?;
        spare.resize(bytes.len());
        let mut rest = spare.bytes_mut();
        for item in order {
            let record: &[u8] = &bytes[starts[item]..starts[item + 1]];
            let (place, later) = rest.split_at_mut(record.len());
            place.copy_from_slice(record);
            rest = later;
        }
        std::mem::swap(run, spare);
        Ok(())
    }

    fn merge(&self, parts: &[Part<'_>], merged: &mut [u8], settings: Settings) -> Result<(), Error> {
        let count = parts.iter().map(|part| part.items.len()).sum();
        let (mut keys, mut records) = (try_vec::<B>(count)?, try_vec::<&[u8]>(count)?);
        for Part { window, items } in parts {
            keys.extend_from_slice(bytemuck::cast_slice(self.keys(window, items.clone())));
            let (bytes, starts) = (window.buffer.bytes(), &window.index.starts[items.start..=items.end]);
            records.extend(starts.windows(2).map(|ends| &bytes[ends[0]..ends[1]]));
        }
        let mut rest = merged;
        for_each_index(&keys, map(self.key, settings), settings, |item| {
            let (place, later) = std::mem::take(&mut rest).split_at_mut(records[item].len());
            place.copy_from_slice(records[item]);
            rest = later;
        })
    }
}
