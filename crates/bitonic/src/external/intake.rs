//! Runs are made: items fill one buffer while another is sorted and written.
//!
//! ```text
//!   thread of the caller     | fill A | fill B | .. wait ..  | fill A | ..
//!   thread that sorts                 | sort A      | sort B      | ..
//!   thread that writes                              | write A | .. | write B |
//! ```
//!
//! A run is sorted while the one before it is written, and two buffers are enough for that: who fills them waits meanwhile. Nothing is
//! written as long as everything fits one buffer.

use super::budget::Budget;
use super::buffer::Buffer;
use super::items::Items;
use super::merge::{Merge, spawn};
use super::spill::Spill;
use super::{Options, Output};
use crate::Error;
use crate::cpu::fingerprint::Fingerprint;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;

/// Items on their way in.
pub(super) struct Intake {
    items: Arc<dyn Items>,
    options: Options,
    budget: Budget,
    filling: Buffer,
    count: usize,
    given: Fingerprint,
    writer: Option<Writer>,
    /// What went wrong, and goes on being wrong.
    failed: Option<Error>,
}

impl Intake {
    pub(super) fn new(items: Box<dyn Items>, options: Options) -> Result<Self, Error> {
        let (items, budget) = (items.into(), Budget::new(options.memory)?);
        let (filling, given) = (Buffer::default(), Fingerprint::default());
        Ok(Self { items, options, budget, filling, count: 0, given, writer: None, failed: None })
    }

    /// Takes items of `length` bytes each.
    pub(super) fn push(&mut self, bytes: &[u8], length: usize) -> Result<(), Error> {
        if let Some(error) = &self.failed {
            return Err(error.clone());
        }
        let pushed = self.push_all(bytes, length);
        match &pushed {
            Ok(()) => self.given += self.items.fingerprint(bytes),
            Err(error) => self.failed = Some(error.clone()),
        }
        pushed
    }

    fn push_all(&mut self, mut bytes: &[u8], length: usize) -> Result<(), Error> {
        while !bytes.is_empty() {
            let room = self.room(length);
            if room == 0 {
                self.hand_over()?;
                continue;
            }
            let (now, later) = bytes.split_at(bytes.len().min(room.saturating_mul(length)));
            self.reserve(now.len())?;
            self.filling.extend(now);
            self.count += now.len() / length;
            bytes = later;
        }
        Ok(())
    }

    /// How many items of this length the buffer still takes: an empty one takes one of any length.
    fn room(&self, length: usize) -> usize {
        let needed =
            |bytes: usize, items: usize| self.items.buffers() * bytes + items * self.items.working_bytes();
        let left = self.budget.bytes.saturating_sub(needed(self.filling.len(), self.count));
        (left / needed(length, 1)).max(usize::from(self.count == 0))
    }

    /// Makes room for so many bytes. The first buffer grows as it is filled, so that few items take little memory. A later one is as
    /// long as a run at once: growing, it would lie in memory twice, beside the run before it.
    fn reserve(&mut self, more: usize) -> Result<(), Error> {
        let (len, capacity) = (self.filling.len(), self.filling.capacity());
        if len + more <= capacity {
            return Ok(());
        }
        let longest = self.budget.bytes / self.items.buffers();
        let wanted = if self.writer.is_some() { longest } else { (2 * capacity).min(longest) };
        self.filling.reserve(wanted.max(len + more))
    }

    /// Gives the full buffer to be sorted and written, and takes an empty one.
    fn hand_over(&mut self) -> Result<(), Error> {
        if self.writer.is_none() {
            let spill = Spill::create(&self.options.temp)?;
            self.writer = Some(Writer::start(self.items.clone(), self.options.clone(), spill)?);
        }
        let full = std::mem::take(&mut self.filling);
        self.count = 0;
        let handed = self.writer.as_mut().map(|writer| writer.hand_over(full));
        match handed {
            Some(Some(empty)) => {
                self.filling = empty;
                Ok(())
            }
            // The writer ended: it tells why.
            _ => self.writer.take().map_or(Ok(()), |writer| writer.finish().map(drop)),
        }
    }

    /// Sorts what is left, and merges all runs.
    pub(super) fn finish(mut self) -> Result<Output, Error> {
        if let Some(error) = self.failed {
            return Err(error);
        }
        if self.writer.is_some() && !self.filling.is_empty() {
            self.hand_over()?;
        }
        let Some(writer) = self.writer else {
            let Self { items, options, given, filling: mut all, .. } = self;
            items.sort(&mut all, &mut Buffer::default(), &options.sorter)?;
            return match items.fingerprint(all.bytes()) == given {
                true => Ok(Output::InMemory { all, is_taken: false, items: given.items }),
                false => Err(Error::Damaged),
            };
        };
        drop(std::mem::take(&mut self.filling));
        let spill = writer.finish()?;
        Ok(Output::Merged(Merge::start(self.items, self.options, self.budget, spill, self.given)?))
    }
}

/// The thread that sorts runs, and the one that writes them.
struct Writer {
    full: SyncSender<Buffer>,
    empty: Receiver<Buffer>,
    sorting: JoinHandle<Result<(), Error>>,
    writing: JoinHandle<Result<Spill, Error>>,
}

impl Writer {
    fn start(items: Arc<dyn Items>, options: Options, mut spill: Spill) -> Result<Self, Error> {
        let (full, to_sort) = sync_channel::<Buffer>(0);
        let (sorted, to_write) = sync_channel::<Buffer>(0);
        let (done, empty) = sync_channel(2);
        // The second buffer, whose memory is taken when it is filled.
        let _ = done.send(Buffer::default());
        let budget = Budget::new(options.memory)?;
        let sorting = spawn("bitonic-runs", move || {
            let mut spare = Buffer::default();
            for (before, mut run) in to_sort.into_iter().enumerate() {
                // Rather now than after all runs are written.
                budget.window(before + 1, &*items)?;
                items.sort(&mut run, &mut spare, &options.sorter)?;
                if sorted.send(run).is_err() {
                    // The other thread ended, and tells why.
                    break;
                }
            }
            Ok(())
        })?;
        let writing = spawn("bitonic-write", move || {
            for mut run in to_write {
                spill.write(run.bytes())?;
                run.clear();
                // Nobody takes it at the end.
                let _ = done.send(run);
            }
            Ok(spill)
        })?;
        Ok(Self { full, empty, sorting, writing })
    }

    /// Gives a full buffer for an empty one; none if a thread has ended.
    fn hand_over(&mut self, run: Buffer) -> Option<Buffer> {
        self.full.send(run).ok()?;
        self.empty.recv().ok()
    }

    /// Waits for the last run.
    fn finish(self) -> Result<Spill, Error> {
        let Self { full, empty, sorting, writing } = self;
        drop(full);
        // Buffers that come back are given up at once.
        empty.into_iter().for_each(drop);
        let sorted = sorting.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        let written = writing.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        sorted.and(written)
    }
}
