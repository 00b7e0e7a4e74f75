//! What is sorted: keys alone, or records with a key in them ([`super::records`]).
//!
//! Everything else in this folder is written once for both. Items lie in buffers of units, one after the other: a unit is a key, or
//! a byte of a record. In the temporary file they lie in the same form.

use super::fingerprint::Fingerprint;
use crate::cpu::{self, Settings};
use crate::key::{self, Bits, Key};
use crate::{Error, Sorter};
use std::io;
use std::marker::PhantomData;
use std::ops::Range;

/// A kind of items.
pub(super) trait Items: Clone + Send + Sync + 'static {
    /// What buffers are made of.
    type Unit: Copy + Send + Sync + 'static;
    type Key: Key;
    /// Where the items of a buffer are, and their keys.
    type Index: Default + Send + Sync + 'static;

    /// A unit to fill new buffers with.
    fn nothing() -> Self::Unit;

    /// How many buffers as long as a run there are while runs are made.
    const BUFFERS: usize;

    /// How many bytes a sort takes for every item, beside the buffers.
    fn working_bytes(&self) -> usize;

    /// The units' memory.
    fn bytes(units: &[Self::Unit]) -> &[u8];

    /// Lets `read` write the units' memory. Bytes that are no units are an error, and none of them stay.
    fn fill(units: &mut [Self::Unit], read: &mut dyn FnMut(&mut [u8]) -> io::Result<()>) -> io::Result<()>;

    /// Finds the items in a buffer, whose last one may be cut off, and tells how many are whole.
    fn index(&self, units: &[Self::Unit], index: &mut Self::Index) -> usize;

    /// What stays the same when these items change places.
    fn fingerprint(&self, units: &[Self::Unit]) -> Fingerprint;

    /// The keys of the items that were found.
    fn keys<'a>(&self, units: &'a [Self::Unit], index: &'a Self::Index) -> &'a [Self::Key];

    /// The unit at which an item begins, or, for the number of items, the end of the last.
    fn start(&self, index: &Self::Index, item: usize) -> usize;

    /// Sorts a run. `spare` is a buffer with any content, to work in.
    fn sort(
        &self,
        run: &mut Vec<Self::Unit>,
        spare: &mut Vec<Self::Unit>,
        sorter: &Sorter,
    ) -> Result<(), Error>;

    /// Merges parts of runs, which have just as many units as `merged`. Of equal keys, those of earlier parts come first.
    fn merge(
        &self,
        parts: &[Part<'_, Self>],
        merged: &mut [Self::Unit],
        settings: Settings,
    ) -> Result<(), Error>;
}

/// A stretch of a run in memory.
pub(super) struct Window<I: Items> {
    pub(super) units: Vec<I::Unit>,
    pub(super) index: I::Index,
}

/// Some items of a window.
pub(super) struct Part<'a, I: Items> {
    pub(super) window: &'a Window<I>,
    pub(super) items: Range<usize>,
}

impl<I: Items> Part<'_, I> {
    /// The units of these items.
    pub(super) fn units(&self, items: &I) -> Range<usize> {
        let place = |item| items.start(&self.window.index, item);
        place(self.items.start)..place(self.items.end)
    }
}

/// Keys alone.
pub(super) struct KeyItems<K> {
    working_bytes: usize,
    key: PhantomData<fn() -> K>,
}

impl<K> Clone for KeyItems<K> {
    fn clone(&self) -> Self {
        Self { working_bytes: self.working_bytes, key: PhantomData }
    }
}

impl<K: Key> KeyItems<K> {
    pub(super) fn new(sorter: &Sorter) -> Result<Self, Error> {
        let plan = sorter.plan::<K>(PLANNED)?;
        Ok(Self { working_bytes: plan.memory.host.div_ceil(PLANNED), key: PhantomData })
    }
}

/// The length of the sort whose plan tells how much memory a run takes for an item.
pub(super) const PLANNED: usize = 1 << 20;

impl<K: Key> Items for KeyItems<K> {
    type Unit = K;
    type Key = K;
    /// A key begins where it is counted.
    type Index = ();

    /// One is filled while the other is sorted and written.
    const BUFFERS: usize = 2;

    fn nothing() -> K {
        K::from_raw_bits(K::Bits::ZERO)
    }

    fn working_bytes(&self) -> usize {
        self.working_bytes
    }

    fn bytes(units: &[K]) -> &[u8] {
        key::as_bytes(units)
    }

    fn fill(units: &mut [K], read: &mut dyn FnMut(&mut [u8]) -> io::Result<()>) -> io::Result<()> {
        match key::fill_from_bytes(units, read)? {
            true => Ok(()),
            false => Err(io::Error::new(io::ErrorKind::InvalidData, "it holds bytes that nobody wrote")),
        }
    }

    fn index(&self, units: &[K], (): &mut ()) -> usize {
        units.len()
    }

    fn fingerprint(&self, units: &[K]) -> Fingerprint {
        Fingerprint::of_keys(units)
    }

    fn keys<'a>(&self, units: &'a [K], (): &'a ()) -> &'a [K] {
        units
    }

    fn start(&self, (): &(), item: usize) -> usize {
        item
    }

    fn sort(&self, run: &mut Vec<K>, _: &mut Vec<K>, sorter: &Sorter) -> Result<(), Error> {
        sorter.sort(run).map(drop)
    }

    /// A piece fits the second cache, where the vectorised sort of the engine serves as merge: no branch depends on how the keys of
    /// the runs interleave, and its time not on the number of runs.
    fn merge(&self, parts: &[Part<'_, Self>], merged: &mut [K], settings: Settings) -> Result<(), Error> {
        let mut rest = &mut *merged;
        for part in parts {
            let (here, later) = rest.split_at_mut(part.items.len());
            here.copy_from_slice(&part.window.units[part.items.clone()]);
            rest = later;
        }
        cpu::sort(merged, settings)
    }
}
