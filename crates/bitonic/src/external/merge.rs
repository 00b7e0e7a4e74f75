//! All runs become one, in one pass.
//!
//! ```text
//!   thread that reads        window after window of every run, one ahead of what is merged
//!   thread that merges       rounds: as far as all windows reach, in pieces that fit a cache, on all cores
//!   thread of the caller     chunk after chunk of the result
//! ```
//!
//! A round takes one window of one run whole, and of the others what goes before its end ([`super::cut`]). So it merges as much as a
//! window has, on average.

use super::budget::{Budget, CHUNKS};
use super::buffer::Buffer;
use super::cut::Rest;
use super::items::{Items, Part, Window};
use super::spill::Spill;
use super::{Options, Summary};
use crate::Error;
use crate::cpu::fingerprint::Fingerprint;
use crate::cpu::{Settings, with_threads_for};
use rayon::prelude::*;
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::thread::JoinHandle;

/// Pieces of so many bytes, with what they are merged from, fit the second cache of most processors.
const PIECE: usize = 256 << 10;

/// A merge under way, as its caller sees it.
pub(super) struct Merge {
    chunks: Receiver<Message>,
    empty: Sender<Buffer>,
    thread: Option<JoinHandle<()>>,
    /// The chunk that the caller has.
    current: Buffer,
    is_done: bool,
    pub(super) summary: Summary,
}

enum Message {
    /// Some of the result.
    Chunk(Buffer),
    /// All of it came, and it is what was given.
    Done,
    Failed(Error),
}

impl Merge {
    pub(super) fn start(
        items: Arc<dyn Items>,
        options: Options,
        budget: Budget,
        spill: Spill,
        given: Fingerprint,
    ) -> Result<Self, Error> {
        let summary = Summary { items: given.items, runs: spill.runs.len(), temporary_bytes: spill.len() };
        let (result, chunks) = sync_channel(1);
        let (empty, to_fill) = channel();
        // The caller has one, which comes back with the first question.
        for _ in 1..CHUNKS {
            let _ = empty.send(Buffer::default());
        }
        let settings = options.sorter.settings()?;
        let window = budget.window(spill.runs.len(), &*items)?;
        let rounds = Rounds {
            runs: Vec::new(),
            loader: Loader::start(spill, window, items.clone())?,
            settings,
            chunk: budget.chunk(),
            items,
            read: Fingerprint::default(),
            written: Fingerprint::default(),
        };
        let work = move || {
            let done = match rounds.run(given, &to_fill, &result) {
                Ok(()) => Message::Done,
                Err(error) => Message::Failed(error),
            };
            // Nobody may be waiting for it any more.
            let _ = result.send(done);
        };
        let thread = spawn("bitonic-merge", work)?;
        let current = Buffer::default();
        Ok(Self { chunks, empty, thread: Some(thread), current, is_done: false, summary })
    }

    /// The next chunk, or nothing after the last.
    pub(super) fn next_chunk(&mut self) -> Result<Option<&[u8]>, Error> {
        if self.is_done {
            return Ok(None);
        }
        // The thread may have ended already.
        let _ = self.empty.send(std::mem::take(&mut self.current));
        match self.chunks.recv() {
            Ok(Message::Chunk(chunk)) => {
                self.current = chunk;
                Ok(Some(self.current.bytes()))
            }
            Ok(Message::Done) => {
                self.is_done = true;
                Ok(None)
            }
            Ok(Message::Failed(error)) => Err(error),
            Err(_) => match self.thread.take().map(JoinHandle::join) {
                Some(Err(panic)) => std::panic::resume_unwind(panic),
                // It has failed, and was asked once more.
                _ => Err(Error::Damaged),
            },
        }
    }
}

/// Starts a thread with a name.
pub(super) fn spawn<T: Send + 'static>(
    name: &str,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<JoinHandle<T>, Error> {
    let thread = std::thread::Builder::new().name(name.to_owned()).spawn(work);
    thread.map_err(|error| Error::Threads { threads: 1, reason: error.to_string() })
}

/// The thread that merges.
struct Rounds {
    items: Arc<dyn Items>,
    runs: Vec<Run>,
    loader: Loader,
    settings: Settings,
    /// How many bytes of the result are handed out at a time.
    chunk: usize,
    read: Fingerprint,
    written: Fingerprint,
}

/// A run that is being merged.
struct Run {
    window: Window,
    /// The items of the window that are not merged yet.
    rest: Range<usize>,
    /// Where the next window begins and the run ends, in the temporary file.
    unread: Range<u64>,
    /// Windows that were asked for and are not here yet.
    awaited: usize,
    loaded: VecDeque<Buffer>,
}

impl Run {
    fn has_more(&self) -> bool {
        self.awaited > 0 || !self.loaded.is_empty() || !self.unread.is_empty()
    }
}

impl Rounds {
    fn run(
        mut self,
        given: Fingerprint,
        empty: &Receiver<Buffer>,
        result: &SyncSender<Message>,
    ) -> Result<(), Error> {
        for unread in self.loader.extents.clone() {
            let (window, loaded) = (Window::default(), VecDeque::new());
            self.runs.push(Run { window, rest: 0..0, unread, awaited: 0, loaded });
        }
        // The window after it is asked for when the first one is here.
        for run in 0..self.runs.len() {
            self.ask(run, Buffer::default())?;
        }
        loop {
            for run in 0..self.runs.len() {
                while self.runs[run].rest.is_empty() && self.runs[run].has_more() {
                    self.advance(run)?;
                }
            }
            let takes = self.items.mergeable(&self.rests(), self.settings);
            if takes.iter().all(|&take| take == 0) {
                break;
            }
            if !self.round(&takes, empty, result)? {
                return Ok(());
            }
            for (run, take) in self.runs.iter_mut().zip(takes) {
                run.rest.start += take;
            }
        }
        match self.read == given && self.written == given {
            true => Ok(()),
            false => Err(Error::Damaged),
        }
    }

    /// What is not merged yet of every window.
    fn rests(&self) -> Vec<Rest<'_>> {
        let mut rests = Vec::with_capacity(self.runs.len());
        for run in &self.runs {
            let keys = self.items.keys(&run.window, run.rest.clone());
            rests.push(Rest { keys, has_more: run.has_more() });
        }
        rests
    }

    /// Asks for the next window of a run, to be read into this buffer.
    fn ask(&mut self, run: usize, buffer: Buffer) -> Result<(), Error> {
        let Run { unread, awaited, loaded, .. } = &mut self.runs[run];
        debug_assert_eq!(*awaited + loaded.len(), 0, "the memory is shared out for one window ahead");
        if unread.is_empty() {
            return Ok(());
        }
        let bytes = (unread.end - unread.start).min(self.loader.window as u64);
        self.loader.ask(Order { run, place: unread.start, bytes: bytes as usize, buffer })?;
        unread.start += bytes;
        *awaited += 1;
        Ok(())
    }

    /// Puts the next window of a run in the place of the one that is merged, and asks for another.
    fn advance(&mut self, run: usize) -> Result<(), Error> {
        while self.runs[run].loaded.is_empty() {
            let (of, window) = self.loader.wait()?;
            self.runs[of].awaited -= 1;
            self.runs[of].loaded.push_back(window);
        }
        let here = &mut self.runs[run];
        let Some(mut next) = here.loaded.pop_front() else { return Ok(()) };
        // An item may begin in one window and end in the next.
        let merged = self.items.start(&here.window.index, here.rest.end);
        next.prepend(&here.window.buffer.bytes()[merged..])?;
        let old = std::mem::replace(&mut here.window.buffer, next);
        here.rest = 0..self.items.index(here.window.buffer.bytes(), &mut here.window.index)?;
        let whole = self.items.start(&here.window.index, here.rest.end);
        self.read += self.items.fingerprint(&here.window.buffer.bytes()[..whole]);
        self.ask(run, old)
    }

    /// Merges so many items of every run, and hands them out. Tells whether somebody still takes them.
    fn round(
        &mut self,
        takes: &[usize],
        empty: &Receiver<Buffer>,
        result: &SyncSender<Message>,
    ) -> Result<bool, Error> {
        let Self { items, runs, settings, chunk, written, .. } = self;
        let items = &**items;
        let taken: Vec<Part<'_>> = runs
            .iter()
            .zip(takes)
            .filter(|(_, take)| **take > 0)
            .map(|(run, &take)| Part { window: &run.window, items: run.rest.start..run.rest.start + take })
            .collect();
        let keys: Vec<&[u8]> = taken.iter().map(|part| items.keys(part.window, part.items.clone())).collect();
        let bytes: usize = taken.iter().map(|part| part.bytes(items).len()).sum();
        let count: usize = takes.iter().sum();
        let length = (PIECE / bytes.div_ceil(count)).max(1);
        let pieces = items.pieces(&keys, length, *settings);
        let pieces: Vec<Piece<'_>> =
            pieces.into_iter().map(|ranges| Piece::new(items, &taken, ranges)).collect();
        let mut rest = pieces.as_slice();
        while !rest.is_empty() {
            let (now, later) = rest.split_at(Piece::that_fit(rest, *chunk));
            let Ok(mut merged) = empty.recv() else { return Ok(false) };
            *written += merge_pieces(items, now, &mut merged, *settings)?;
            if result.send(Message::Chunk(merged)).is_err() {
                return Ok(false);
            }
            rest = later;
        }
        Ok(true)
    }
}

/// Parts of all runs that are merged by one thread.
struct Piece<'a> {
    parts: Vec<Part<'a>>,
    bytes: usize,
}

impl<'a> Piece<'a> {
    /// The ranges are counted from the start of what is taken of every window.
    fn new(items: &dyn Items, taken: &[Part<'a>], ranges: Vec<Range<usize>>) -> Self {
        let part = |(all, range): (&Part<'a>, Range<usize>)| Part {
            window: all.window,
            items: all.items.start + range.start..all.items.start + range.end,
        };
        let parts: Vec<Part<'a>> =
            taken.iter().zip(ranges).map(part).filter(|part| !part.items.is_empty()).collect();
        let bytes = parts.iter().map(|part| part.bytes(items).len()).sum();
        Self { parts, bytes }
    }

    /// How many pieces make a chunk: one at least.
    fn that_fit(pieces: &[Self], chunk: usize) -> usize {
        let mut bytes = 0;
        let fit = pieces.iter().take_while(|piece| {
            bytes += piece.bytes;
            bytes <= chunk
        });
        fit.count().max(1)
    }
}

/// Merges pieces into a buffer, each on a thread.
fn merge_pieces(
    items: &dyn Items,
    pieces: &[Piece<'_>],
    merged: &mut Buffer,
    settings: Settings,
) -> Result<Fingerprint, Error> {
    let bytes: usize = pieces.iter().map(|piece| piece.bytes).sum();
    merged.reserve(bytes)?;
    merged.resize(bytes);
    let mut rest = merged.bytes_mut();
    let mut places = Vec::with_capacity(pieces.len());
    for piece in pieces {
        let (place, later) = rest.split_at_mut(piece.bytes);
        places.push((piece, place));
        rest = later;
    }
    let on_one = Settings { threads: Some(1), ..settings };
    let merge = |(piece, place): (&Piece<'_>, &mut [u8])| -> Result<Fingerprint, Error> {
        items.merge(&piece.parts, place, on_one)?;
        Ok(items.fingerprint(place))
    };
    let add = |mut sum: Fingerprint, more: Fingerprint| {
        sum += more;
        Ok(sum)
    };
    with_threads_for(bytes, settings.threads, |parallel| match parallel {
        true => places.into_par_iter().map(merge).try_reduce(Fingerprint::default, add),
        false => places.into_iter().map(merge).try_fold(Fingerprint::default(), |sum, more| add(sum, more?)),
    })?
}

/// The thread that reads.
struct Loader {
    orders: Sender<Order>,
    loaded: Receiver<Loaded>,
    /// Where each run is, in bytes.
    extents: Vec<Range<u64>>,
    /// How many bytes a window has.
    window: usize,
}

/// A window that was read, of this run.
type Loaded = Result<(usize, Buffer), Error>;

/// A window to be read.
struct Order {
    run: usize,
    place: u64,
    bytes: usize,
    buffer: Buffer,
}

impl Loader {
    fn start(mut spill: Spill, window: usize, items: Arc<dyn Items>) -> Result<Self, Error> {
        let extents = spill.runs.clone();
        let (orders, to_do) = channel::<Order>();
        let (done, loaded) = channel();
        let work = move || {
            for Order { run, place, bytes, mut buffer } in to_do {
                // Most buffers have this length already.
                let read = buffer.reserve(bytes).and_then(|()| {
                    buffer.resize(bytes);
                    spill.read(place, buffer.bytes_mut(), |bytes| items.are_valid(bytes))?;
                    Ok((run, buffer))
                });
                if done.send(read).is_err() {
                    return;
                }
            }
        };
        spawn("bitonic-read", work)?;
        // Whole keys, whatever their size is.
        Ok(Self { orders, loaded, extents, window: window - window % 16 })
    }

    fn ask(&self, order: Order) -> Result<(), Error> {
        self.orders.send(order).map_err(|_| Error::Damaged)
    }

    fn wait(&self) -> Loaded {
        self.loaded.recv().map_err(|_| Error::Damaged)?
    }
}

#[cfg(test)]
mod tests {
    use super::super::items::keys;
    use super::*;
    use crate::Sorter;
    use crate::key::KeyType;

    /// Merges these runs, told that `given` was pushed, and gives what came out.
    fn merged(runs: &[&[u32]], given: &[u32], bytes: usize) -> Result<Vec<u32>, Error> {
        let sorter = Sorter::new();
        let mut spill = Spill::create(&std::env::temp_dir())?;
        for run in runs {
            spill.write(bytemuck::cast_slice(run))?;
        }
        let items = keys(KeyType::U32, 0).into();
        let options = Options { sorter, memory: bytes, temp: std::env::temp_dir() };
        let given = Fingerprint::of_keys(given);
        let mut merge = Merge::start(items, options, Budget::new(bytes)?, spill, given)?;
        let mut all = Vec::new();
        while let Some(chunk) = merge.next_chunk()? {
            all.extend_from_slice(bytemuck::cast_slice(chunk));
        }
        assert_eq!(merge.next_chunk(), Ok(None));
        Ok(all)
    }

    #[test]
    fn runs_of_any_length_become_one() {
        let long: Vec<u32> = (0..100_000).map(|key| key * 3).collect();
        let equal = vec![150_000; 50_000];
        let runs: [&[u32]; 5] = [&long, &[], &equal, &[0, 7], &long[..30_000]];
        let mut expected = runs.concat();
        expected.sort_unstable();
        for bytes in [1 << 16, 1 << 18, 1 << 24] {
            assert!(merged(&runs, &expected, bytes).unwrap() == expected, "{bytes} bytes");
        }
        assert_eq!(merged(&[], &[], 1 << 16), Ok(Vec::new()));
    }

    #[test]
    fn what_is_lost_doubled_or_changed_in_the_file_is_noticed() {
        let given: Vec<u32> = (0..20_000).collect();
        let mut changed = given.clone();
        changed[12_345] ^= 1 << 20;
        let mut swapped = given.clone();
        swapped[5] = 6;
        for damaged in [&given[1..], &changed, &swapped, &[given.as_slice(), &[7]].concat()] {
            assert_eq!(merged(&[damaged], &given, 1 << 16), Err(Error::Damaged));
        }
    }

    #[test]
    fn a_merge_that_nobody_asks_on_ends() {
        let sorter = Sorter::new();
        let mut spill = Spill::create(&std::env::temp_dir()).unwrap();
        let run: Vec<u32> = (0..1_000_000).collect();
        spill.write(bytemuck::cast_slice(&run)).unwrap();
        let items = keys(KeyType::U32, 0).into();
        let options = Options { sorter, memory: 1 << 16, temp: std::env::temp_dir() };
        let budget = Budget::new(1 << 16).unwrap();
        let mut merge = Merge::start(items, options, budget, spill, Fingerprint::of_keys(&run)).unwrap();
        assert!(merge.next_chunk().unwrap().is_some());
        let thread = merge.thread.take().unwrap();
        drop(merge);
        thread.join().unwrap();
    }
}
