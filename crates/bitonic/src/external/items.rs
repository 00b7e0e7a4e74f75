//! What is sorted: keys alone, or records with a key in them ([`super::records`]).
//!
//! Everything else in this folder is written once for both, and compiled once: items are bytes there, one after the other, in memory as
//! in the temporary file. What is done with their keys is compiled for every width.

use super::buffer::Buffer;
use super::cut::{self, Rest};
use crate::cpu::fingerprint::Fingerprint;
use crate::cpu::{self, Settings};
use crate::key::{self, BitMap, Bits, KeyType};
use crate::{Error, Sorter};
use bytemuck::Pod;
use std::marker::PhantomData;
use std::ops::Range;

/// A kind of items.
pub(super) trait Items: Send + Sync {
    /// How many buffers as long as a run there are while runs are made.
    fn buffers(&self) -> usize;

    /// How many bytes a sort takes for every item, beside the buffers.
    fn working_bytes(&self) -> usize;

    /// How many bytes an item has at least.
    fn shortest(&self) -> usize;

    /// How many bytes an [`Index`] has for every item.
    fn index_bytes(&self) -> usize;

    /// Whether bytes that were read back are what can have been written.
    fn are_valid(&self, bytes: &[u8]) -> bool;

    /// Finds the items in a buffer, whose last one may be cut off, and tells how many are whole.
    fn index(&self, bytes: &[u8], index: &mut Index) -> Result<usize, Error>;

    /// What stays the same when these items change places.
    fn fingerprint(&self, bytes: &[u8]) -> Fingerprint;

    /// The keys of these items.
    fn keys<'a>(&self, window: &'a Window, items: Range<usize>) -> &'a [u8];

    /// The byte at which an item begins, or, for the number of items, the end of the last.
    fn start(&self, index: &Index, item: usize) -> usize;

    /// How many keys of every window can be merged now; see [`cut::mergeable`].
    fn mergeable(&self, rests: &[Rest<'_>], settings: Settings) -> Vec<usize>;

    /// Sorted runs in pieces of so many elements or so; see [`cut::pieces`].
    fn pieces(&self, keys: &[&[u8]], length: usize, settings: Settings) -> Vec<Vec<Range<usize>>>;

    /// Sorts a run. `spare` is a buffer with any content, to work in.
    fn sort(&self, run: &mut Buffer, spare: &mut Buffer, sorter: &Sorter) -> Result<(), Error>;

    /// Merges parts of runs, which have just as many bytes as `merged`. Of equal keys, those of earlier parts come first.
    fn merge(&self, parts: &[Part<'_>], merged: &mut [u8], settings: Settings) -> Result<(), Error>;
}

/// Where the items of a buffer are, and their keys, for items whose bytes do not say it.
#[derive(Default)]
pub(super) struct Index {
    pub(super) keys: Buffer,
    /// With the end of the last.
    pub(super) starts: Vec<usize>,
}

/// A stretch of a run in memory.
#[derive(Default)]
pub(super) struct Window {
    pub(super) buffer: Buffer,
    pub(super) index: Index,
}

/// Some items of a window.
pub(super) struct Part<'a> {
    pub(super) window: &'a Window,
    pub(super) items: Range<usize>,
}

impl Part<'_> {
    /// The bytes of these items.
    pub(super) fn bytes(&self, items: &dyn Items) -> Range<usize> {
        let place = |item| items.start(&self.window.index, item);
        place(self.items.start)..place(self.items.end)
    }
}

/// The length of the sort whose plan tells how much memory a run takes for an item.
pub(super) const PLANNED: usize = 1 << 20;

/// Calls a function for the width of a key.
macro_rules! with_width {
    ($key:expr, $B:ident => $code:expr) => {
        match $key.bytes() {
            1 => {
                type $B = u8;
                $code
            }
            2 => {
                type $B = u16;
                $code
            }
            4 => {
                type $B = u32;
                $code
            }
            8 => {
                type $B = u64;
                $code
            }
            _ => {
                type $B = u128;
                $code
            }
        }
    };
}
pub(super) use with_width;

/// Keys alone, of one width.
struct KeyItems<B> {
    key: KeyType,
    working_bytes: usize,
    bits: PhantomData<fn() -> B>,
}

/// Keys of a type, whose sort takes so many bytes for each.
pub(super) fn keys(key: KeyType, working_bytes: usize) -> Box<dyn Items> {
    with_width!(key, B => Box::new(KeyItems::<B> { key, working_bytes, bits: PhantomData }))
}

impl<B: Bits + Pod> Items for KeyItems<B> {
    /// One is filled while the other is sorted and written.
    fn buffers(&self) -> usize {
        2
    }

    fn working_bytes(&self) -> usize {
        self.working_bytes
    }

    fn shortest(&self) -> usize {
        size_of::<B>()
    }

    /// Keys lie where they are counted.
    fn index_bytes(&self) -> usize {
        0
    }

    fn are_valid(&self, bytes: &[u8]) -> bool {
        key::are_valid(self.key, bytes)
    }

    fn index(&self, bytes: &[u8], _: &mut Index) -> Result<usize, Error> {
        Ok(bytes.len() / size_of::<B>())
    }

    fn fingerprint(&self, bytes: &[u8]) -> Fingerprint {
        Fingerprint::of_keys::<B>(bytemuck::cast_slice(bytes))
    }

    fn keys<'a>(&self, window: &'a Window, items: Range<usize>) -> &'a [u8] {
        &window.buffer.bytes()[items.start * size_of::<B>()..items.end * size_of::<B>()]
    }

    /// A key begins where it is counted.
    fn start(&self, _: &Index, item: usize) -> usize {
        item * size_of::<B>()
    }

    fn mergeable(&self, rests: &[Rest<'_>], settings: Settings) -> Vec<usize> {
        cut::mergeable::<B>(rests, map(self.key, settings))
    }

    fn pieces(&self, keys: &[&[u8]], length: usize, settings: Settings) -> Vec<Vec<Range<usize>>> {
        cut::pieces::<B>(keys, length, map(self.key, settings))
    }

    fn sort(&self, run: &mut Buffer, _: &mut Buffer, sorter: &Sorter) -> Result<(), Error> {
        sorter.sort_bits::<B>(bytemuck::cast_slice_mut(run.bytes_mut()), self.key).map(drop)
    }

    /// A piece fits the second cache, where the vectorised sort of the engine serves as merge: no branch depends on how the keys of
    /// the runs interleave, and its time not on the number of runs.
    fn merge(&self, parts: &[Part<'_>], merged: &mut [u8], settings: Settings) -> Result<(), Error> {
        let mut rest = &mut *merged;
        for part in parts {
            let keys = self.keys(part.window, part.items.clone());
            let (here, later) = rest.split_at_mut(keys.len());
            here.copy_from_slice(keys);
            rest = later;
        }
        cpu::sort_bits::<B>(bytemuck::cast_slice_mut(merged), map(self.key, settings), settings)
    }
}

/// What brings keys of a type into the order of settings.
pub(super) fn map<B: Bits>(key: KeyType, settings: Settings) -> BitMap<B> {
    settings.map_of(key)
}
