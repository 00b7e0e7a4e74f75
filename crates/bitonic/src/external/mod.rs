//! More than memory holds: sorted in runs of the memory's size, which are written to a temporary file and merged in one pass.
//!
//! ```
//! use bitonic::external::Sorter;
//!
//! let mut keys = Sorter::new().memory(1 << 20).keys::<u64>()?;
//! for chunk in 0..100 {
//!     let unordered: Vec<u64> = (0..10_000).map(|index| (chunk * 10_000 + index) * 7919 % 1_000_003).collect();
//!     keys.push(&unordered)?;
//! }
//! let mut sorted = keys.sort()?;
//! let mut last = 0;
//! while let Some(chunk) = sorted.next_chunk()? {
//!     assert!(chunk.is_sorted() && last <= chunk[0]);
//!     last = chunk[chunk.len() - 1];
//! }
//! assert!(sorted.summary().runs > 1);
//! # Ok::<(), bitonic::Error>(())
//! ```
//!
//! # Contract
//!
//! - **Order**: that of [`crate::Sorter`]. Records with equal keys stay in the order in which they came.
//! - **Result**: a permutation of the input, bit for bit. The number of items and a sum of their hashes are compared between what came
//!   in, what was read back and what went out; [`Error::Damaged`] comes in place of the end if they differ.
//! - **Memory**: what [`Sorter::memory`] says, and a few MiB. What fits half of it is sorted there, and nothing is written.
//! - **Disk**: as much as the input, in [`Sorter::temp`]. The file has no name, and is gone with the process.
//! - **Threads**: those of the [`crate::Sorter`], and two at a time that mostly wait for the disk. Without a number they are rayon's global pool.
//! - **Errors**: [`Error::Temporary`], [`Error::MemoryLimit`] and those of a sort. What was pushed is lost with the sort then, and the
//!   caller's slices are as they were.
//! - **Oblivious** sorts are refused: the addresses of a merge depend on keys.

mod budget;
mod buffer;
mod cut;
mod intake;
mod items;
mod merge;
mod records;
mod spill;

pub use budget::default_memory;
pub use records::Field;

use crate::Error;
use crate::key::{self, Key, as_bytes};
use buffer::Buffer;
use intake::Intake;
use items::PLANNED;
use merge::Merge;
use records::Form;
use std::marker::PhantomData;
use std::path::PathBuf;

/// A sort of more than memory holds, with options.
#[derive(Clone, Debug)]
#[must_use]
pub struct Sorter {
    options: Options,
}

#[derive(Clone, Debug)]
struct Options {
    sorter: crate::Sorter,
    memory: usize,
    temp: PathBuf,
}

impl Default for Sorter {
    fn default() -> Self {
        let sorter = crate::Sorter::new();
        Self { options: Options { sorter, memory: default_memory(), temp: std::env::temp_dir() } }
    }
}

impl Sorter {
    /// Ascending, with half of the memory that is free now, and the system's folder for temporary files.
    pub fn new() -> Self {
        Self::default()
    }

    /// What sorts the runs: order, engine, threads.
    pub fn sorter(mut self, sorter: crate::Sorter) -> Self {
        self.options.sorter = sorter;
        self
    }

    /// How many bytes of memory the sort may take. Default: [`default_memory`].
    ///
    /// The number of runs is the size of the input by half of this, and each of them needs 8 KiB while they are merged: 64 MiB are
    /// enough for 256 GiB of keys.
    pub fn memory(mut self, bytes: usize) -> Self {
        self.options.memory = bytes;
        self
    }

    /// The folder for the temporary file. Default: the system's.
    pub fn temp(mut self, folder: impl Into<PathBuf>) -> Self {
        self.options.temp = folder.into();
        self
    }

    /// Sorts keys.
    pub fn keys<K: Key>(&self) -> Result<Keys<K>, Error> {
        let working = self.plain()?.plan::<K>(PLANNED)?.memory.host.div_ceil(PLANNED);
        let intake = Intake::new(items::keys(K::TYPE, working), self.options.clone())?;
        Ok(Keys { intake, key: PhantomData })
    }

    /// Sorts records of this many bytes by a key in them.
    ///
    /// ```
    /// use bitonic::external::{Field, Sorter};
    ///
    /// let mut records = Sorter::new().records(3, Field::<u16>::big(1))?;
    /// records.push(b"x\x00\x09y\x00\x03z\x00\x09")?;
    /// let mut sorted = records.sort()?;
    /// assert_eq!(sorted.next_chunk()?, Some(&b"y\x00\x03x\x00\x09z\x00\x09"[..]));
    /// # Ok::<(), bitonic::Error>(())
    /// ```
    pub fn records<K: Key>(&self, size: usize, field: Field<K>) -> Result<Records, Error> {
        let intake = self.records_of::<K>(|| Form::fixed(size, field.place()))?;
        Ok(Records { intake, size })
    }

    /// Sorts bytes of any length, each by the key that it is given with.
    ///
    /// ```
    /// let mut pairs = bitonic::external::Sorter::new().pairs::<f32>()?;
    /// pairs.push(2.5, b"a line")?;
    /// pairs.push(-1.0, b"another")?;
    /// let mut sorted = pairs.sort()?;
    /// let chunk = sorted.next_chunk()?.expect("two pairs make a chunk");
    /// assert_eq!(chunk.collect::<Vec<_>>(), [(-1.0, &b"another"[..]), (2.5, b"a line")]);
    /// # Ok::<(), bitonic::Error>(())
    /// ```
    pub fn pairs<K: Key>(&self) -> Result<Pairs<K>, Error> {
        let intake = self.records_of::<K>(|| Ok(Form::AnyLength))?;
        Ok(Pairs { intake, item: Vec::new(), key: PhantomData })
    }

    fn records_of<K: Key>(&self, form: impl FnOnce() -> Result<Form, Error>) -> Result<Intake, Error> {
        let (sorter, form) = (self.plain()?, form()?);
        let argsort = sorter.plan_argsort::<K>(PLANNED)?.memory.host.div_ceil(PLANNED);
        // In a longer run a short key and its index may no longer fit 32 bits.
        let argsort = argsort.max(size_of::<u64>());
        Intake::new(records::records(K::TYPE, form, argsort), self.options.clone())
    }

    fn plain(&self) -> Result<&crate::Sorter, Error> {
        match self.options.sorter.settings()?.oblivious {
            true => Err(Error::ObliviousMerge),
            false => Ok(&self.options.sorter),
        }
    }
}

/// What was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Summary {
    /// How many keys or records there were.
    pub items: u64,
    /// How many runs were written; none if everything fitted the memory.
    pub runs: usize,
    /// How many bytes they took on disk.
    pub temporary_bytes: u64,
}

/// Keys on their way in.
pub struct Keys<K: Key> {
    intake: Intake,
    key: PhantomData<fn() -> K>,
}

impl<K: Key> Keys<K> {
    /// Takes some more keys.
    pub fn push(&mut self, keys: &[K]) -> Result<(), Error> {
        self.intake.push(as_bytes(keys), size_of::<K>())
    }

    /// Sorts all that came.
    pub fn sort(self) -> Result<SortedKeys<K>, Error> {
        Ok(SortedKeys { output: self.intake.finish()?, key: PhantomData })
    }
}

/// Keys in order, on their way out.
pub struct SortedKeys<K: Key> {
    output: Output,
    key: PhantomData<fn() -> K>,
}

impl<K: Key> SortedKeys<K> {
    /// The next keys, or none after the last. Only then is it known that nothing was lost.
    pub fn next_chunk(&mut self) -> Result<Option<&[K]>, Error> {
        let chunk = self.output.next_chunk()?;
        // SAFETY: what came in were keys. They were sorted as such; and what was read back was checked to be such (`Items::are_valid`).
        Ok(chunk.map(|bytes| unsafe { key::from_bytes(bytes) }))
    }

    /// What was done.
    pub fn summary(&self) -> Summary {
        self.output.summary()
    }
}

/// Records of a fixed size on their way in.
pub struct Records {
    intake: Intake,
    size: usize,
}

impl Records {
    /// Takes some more records, one behind the other. Errors: [`Error::RecordSize`] if they are no whole number; none is taken then.
    pub fn push(&mut self, records: &[u8]) -> Result<(), Error> {
        match records.len().is_multiple_of(self.size) {
            true => self.intake.push(records, self.size),
            false => Err(Error::RecordSize { bytes: records.len(), size: self.size }),
        }
    }

    /// Sorts all that came.
    pub fn sort(self) -> Result<SortedRecords, Error> {
        self.intake.finish().map(SortedRecords)
    }
}

/// Records in order, on their way out.
pub struct SortedRecords(Output);

impl SortedRecords {
    /// The next records, one behind the other, or none after the last. Only then is it known that nothing was lost.
    pub fn next_chunk(&mut self) -> Result<Option<&[u8]>, Error> {
        self.0.next_chunk()
    }

    /// What was done.
    pub fn summary(&self) -> Summary {
        self.0.summary()
    }
}

/// Bytes of any length on their way in, each with a key.
pub struct Pairs<K: Key> {
    intake: Intake,
    item: Vec<u8>,
    key: PhantomData<fn() -> K>,
}

impl<K: Key> Pairs<K> {
    /// Takes a key and its bytes, of which there are less than 4 GiB.
    pub fn push(&mut self, key: K, bytes: &[u8]) -> Result<(), Error> {
        records::pack(key, bytes, &mut self.item)?;
        self.intake.push(&self.item, self.item.len())
    }

    /// Sorts all that came.
    pub fn sort(self) -> Result<SortedPairs<K>, Error> {
        Ok(SortedPairs { output: self.intake.finish()?, key: PhantomData })
    }
}

/// Keys in order with their bytes, on their way out.
pub struct SortedPairs<K: Key> {
    output: Output,
    key: PhantomData<fn() -> K>,
}

impl<K: Key> SortedPairs<K> {
    /// The next keys with their bytes, or none after the last. Only then is it known that nothing was lost.
    pub fn next_chunk(&mut self) -> Result<Option<impl Iterator<Item = (K, &[u8])>>, Error> {
        let Some(mut rest) = self.output.next_chunk()? else { return Ok(None) };
        Ok(Some(std::iter::from_fn(move || {
            let (bits, bytes, length) = records::unpack(rest)?;
            rest = &rest[length..];
            Some((K::from_raw_bits(bits), bytes))
        })))
    }

    /// What was done.
    pub fn summary(&self) -> Summary {
        self.output.summary()
    }
}

/// Items in order, on their way out.
enum Output {
    InMemory { all: Buffer, is_taken: bool, items: u64 },
    Merged(Merge),
}

impl Output {
    fn next_chunk(&mut self) -> Result<Option<&[u8]>, Error> {
        match self {
            Self::InMemory { all, is_taken, .. } => {
                let is_new = !std::mem::replace(is_taken, true) && !all.is_empty();
                Ok(is_new.then_some(all.bytes()))
            }
            Self::Merged(merge) => merge.next_chunk(),
        }
    }

    fn summary(&self) -> Summary {
        match self {
            Self::InMemory { items, .. } => Summary { items: *items, runs: 0, temporary_bytes: 0 },
            Self::Merged(merge) => merge.summary,
        }
    }
}
