//! Pinned host memory that transfers pass through.
//!
//! A device reads and writes pinned memory by itself, at the full speed of its bus; a caller's memory is not pinned. One core copies
//! much slower than a bus carries. So many workers copy pieces of the array, through chunks of pinned memory that travel while other
//! pieces are copied. Nobody waits for all.
//!
//! What is sent goes through chunks that are a worker's own: lines that another core wrote last would have to be fetched from its
//! cache. What has landed is in no core's cache: there, a worker takes the chunk that was requested first.
//!
//! ```text
//!   worker 0   copies 0 | waits for 0, copies 3 | waits for 3, copies 5 ...
//!   worker 1   copies 1    | waits for 1, copies 4 | ...
//!   worker 2     copies 2 | waits for 2, copies 6 | ...
//!   bus                 | 0  | 2 | 1 |          | 3 | 6 | 4 ...
//! ```

use super::copy::{BLOCK_BYTES, Look, copy_alone, land_alone};
use crate::gpu::lock::lock;
use std::collections::VecDeque;
use std::fmt::Display;
use std::ops::Range;
use std::ptr::NonNull;
use std::slice;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

/// Long enough that the start of a transfer does not count.
pub(crate) const CHUNK_BYTES: usize = 2 << 20;

/// The most that copy. On a machine with 16 cores, all of them just keep an H200's bus busy.
const MOST_WORKERS: usize = 16;

/// The most chunks of a set. With two for a worker, sorts took as long, and pinning them longer.
pub(crate) const CHUNKS: usize = MOST_WORKERS;

/// Shorter pieces would keep the driver busier than the bus.
const LEAST_PIECE_BYTES: usize = 1 << 20;

/// A piece has this share of what is before it, or behind it: the bus starts soon, and when it has stopped, little is left to copy.
const SHARE_OF_REST: usize = 4;

/// Below this, one plain command is faster than the bookkeeping of chunks, and drivers have pinned memory for it.
pub(crate) const STAGED_FROM_BYTES: usize = 256 << 10;

/// At most this many transfers at once are staged; pinned memory is dear, and the bus is shared anyway.
const MOST_SETS: usize = 4;

/// Pinned memory.
///
/// # Safety
///
/// The address must be that of [`CHUNK_BYTES`] bytes which the host can read and write as long as the chunk lives, and
/// which belong to the chunk alone.
pub(crate) unsafe trait Chunk: Send {
    /// Where it is.
    fn address(&self) -> NonNull<u8>;
}

/// The sets of chunks of a device: made as far as they are needed, and kept.
///
/// A transfer takes a set out and so holds no lock while it works. That matters: it copies on a thread pool, and a
/// thread that waits there may take up another transfer in between.
pub(crate) struct Pool<C> {
    sets: Mutex<Sets<C>>,
}

struct Sets<C> {
    idle: Vec<Vec<C>>,
    made: usize,
}

impl<C> Default for Pool<C> {
    fn default() -> Self {
        Self { sets: Mutex::new(Sets { idle: Vec::new(), made: 0 }) }
    }
}

impl<C: Chunk> Pool<C> {
    /// A set that is nobody else's, for a transfer of so many bytes; `None` when there are enough already, or pinned memory is refused.
    pub(crate) fn take<E: Display>(
        &self,
        bytes: usize,
        allocate: impl Fn() -> Result<C, E>,
    ) -> Option<Staging<'_, C>> {
        let mut sets = lock(&self.sets);
        let mut chunks = match sets.idle.pop() {
            Some(chunks) => chunks,
            None if sets.made == MOST_SETS => return None,
            None => {
                sets.made += 1;
                Vec::new()
            }
        };
        // Pinning takes long: a short array does not need all chunks.
        while chunks.len() < bytes.div_ceil(CHUNK_BYTES).clamp(1, CHUNKS) {
            match allocate() {
                Ok(chunk) => chunks.push(chunk),
                Err(error) => {
                    tracing::debug!(%error, chunks = chunks.len(), "no more pinned memory");
                    break;
                }
            }
        }
        if chunks.is_empty() {
            sets.made -= 1;
            return None;
        }
        Some(Staging { pool: self, chunks })
    }
}

/// A set of chunks in use; goes back to its pool when dropped. By then no command on it may be under way.
pub(crate) struct Staging<'pool, C: Chunk> {
    pool: &'pool Pool<C>,
    chunks: Vec<C>,
}

impl<C: Chunk> Staging<'_, C> {
    /// Sends all bytes, shows them meanwhile, and returns when they have arrived, with the events of all pieces, in no order.
    ///
    /// `start` starts the transfer of a chunk's memory to an offset. The memory stays as it is until `wait` returned for the
    /// event. After an error, transfers may be under way: the caller waits for them.
    pub(crate) fn send<T: Send, E: Send>(
        &mut self,
        from: &[u8],
        look: Option<Look<'_>>,
        start: impl Fn(&[u8], usize) -> Result<T, E> + Sync,
        wait: impl Fn(&T) -> Result<(), E> + Sync,
    ) -> Result<Vec<T>, E> {
        let pieces = Mutex::new(Pieces::of(from.len()));
        let workers = self.workers();
        let share_len = self.chunks.len() / workers;
        let shares = Mutex::new(self.chunks.chunks_mut(share_len));
        let arrived = Mutex::new(Vec::new());
        share(workers, |goes_on| {
            let Some(chunks) = take(&shares, Iterator::next) else { return Ok(()) };
            let mut under_way = VecDeque::with_capacity(chunks.len());
            for turn in (0..chunks.len()).cycle() {
                let place = if goes_on() { take(&pieces, Iterator::next) } else { None };
                if (place.is_none() || under_way.len() == chunks.len())
                    && let Some(event) = under_way.pop_front()
                {
                    wait(&event)?;
                    lock(&arrived).push(event);
                }
                match place {
                    Some(place) => {
                        let offset = place.start;
                        let piece = &mut memory(&mut chunks[turn])[..place.len()];
                        copy_alone(&from[place], piece, offset, look);
                        under_way.push_back(start(piece, offset)?);
                    }
                    None if under_way.is_empty() => break,
                    None => {}
                }
            }
            Ok(())
        })?;
        Ok(into_inner(arrived))
    }

    /// Fetches as many bytes as there is place for, shows those that have landed, and returns when all are there, with the events
    /// of all pieces, in no order.
    ///
    /// `start` starts the transfer from an offset to a chunk's memory, which is left alone until `wait` returned for the
    /// event. After an error, transfers may be under way: the caller waits for them.
    pub(crate) fn fetch<T: Send, E: Send>(
        &mut self,
        to: &mut [u8],
        look: Option<Look<'_>>,
        start: impl Fn(&mut [u8], usize) -> Result<T, E> + Sync,
        wait: impl Fn(&T) -> Result<(), E> + Sync,
    ) -> Result<Vec<T>, E> {
        let workers = self.workers();
        // What is left of the memory goes along: a piece is cut off its start.
        let rest = Mutex::new((Pieces::of(to.len()), to));
        let request = |chunk: &mut C| {
            let (offset, piece) = {
                let (pieces, rest) = &mut *lock(&rest);
                let Some(place) = pieces.next() else { return Ok(None) };
                let (piece, later) = std::mem::take(rest).split_at_mut(place.len());
                *rest = later;
                (place.start, piece)
            };
            let event = start(&mut memory(chunk)[..piece.len()], offset)?;
            Ok(Some((offset, piece, event)))
        };
        let mut requested = VecDeque::new();
        for chunk in &mut self.chunks {
            let Some(piece) = request(chunk)? else { break };
            requested.push_back((chunk, piece));
        }
        let (requested, landed) = (Mutex::new(requested), Mutex::new(Vec::new()));
        share(workers, |goes_on| {
            while goes_on()
                && let Some((chunk, (offset, piece, event))) = take(&requested, VecDeque::pop_front)
            {
                wait(&event)?;
                lock(&landed).push(event);
                land_alone(&memory(chunk)[..piece.len()], piece, offset, look);
                if let Some(piece) = request(chunk)? {
                    lock(&requested).push_back((chunk, piece));
                }
            }
            Ok(())
        })?;
        Ok(into_inner(landed))
    }

    /// As many as there are threads and chunks for.
    fn workers(&self) -> usize {
        MOST_WORKERS.min(rayon::current_num_threads()).min(self.chunks.len())
    }
}

/// Lets so many workers take part, and returns one of their errors, if there is any. Each can ask whether it goes on: not after an error
/// of another.
fn share<E: Send>(workers: usize, work: impl Fn(&dyn Fn() -> bool) -> Result<(), E> + Sync) -> Result<(), E> {
    let (has_failed, failure) = (AtomicBool::new(false), Mutex::new(None));
    let take_part = || {
        if let Err(error) = work(&|| !has_failed.load(Ordering::Relaxed)) {
            has_failed.store(true, Ordering::Relaxed);
            lock(&failure).get_or_insert(error);
        }
    };
    rayon::in_place_scope(|scope| {
        for _ in 1..workers {
            scope.spawn(|_| take_part());
        }
        take_part();
    });
    into_inner(failure).map_or(Ok(()), Err)
}

/// The places of an array that travel one by one: short ones first and last, whole blocks all but the last.
struct Pieces {
    start: usize,
    end: usize,
}

impl Pieces {
    fn of(bytes: usize) -> Self {
        Self { start: 0, end: bytes }
    }
}

impl Iterator for Pieces {
    type Item = Range<usize>;

    fn next(&mut self) -> Option<Range<usize>> {
        let (start, rest) = (self.start, self.end - self.start);
        let share = (start.min(rest) / SHARE_OF_REST).next_multiple_of(BLOCK_BYTES);
        let bytes = share.clamp(LEAST_PIECE_BYTES, CHUNK_BYTES).min(rest);
        self.start += bytes;
        (bytes > 0).then_some(start..start + bytes)
    }
}

/// A chunk's memory. No command on it is under way.
fn memory<C: Chunk>(chunk: &mut C) -> &mut [u8] {
    // SAFETY: the memory is there for reading and writing as long as the chunk, which nobody else has; and no command is under way.
    unsafe { slice::from_raw_parts_mut(chunk.address().as_ptr(), CHUNK_BYTES) }
}

/// The next one. A function, so that the lock is not held for longer: in the condition of a loop it would be, for a turn of it.
fn take<S, T>(shared: &Mutex<S>, next: impl FnOnce(&mut S) -> Option<T>) -> Option<T> {
    next(&mut lock(shared))
}

fn into_inner<T>(mutex: Mutex<T>) -> T {
    mutex.into_inner().unwrap_or_else(PoisonError::into_inner)
}

impl<C: Chunk> Drop for Staging<'_, C> {
    fn drop(&mut self) {
        lock(&self.pool.sets).idle.push(std::mem::take(&mut self.chunks));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::convert::Infallible;
    use std::sync::atomic::AtomicUsize;
    use std::time::{Duration, Instant};

    struct HostChunk(Box<[u8]>);

    // SAFETY: the box has this many bytes, and belongs to the chunk.
    unsafe impl Chunk for HostChunk {
        fn address(&self) -> NonNull<u8> {
            NonNull::from(&self.0[0])
        }
    }

    fn allocate() -> Result<HostChunk, Infallible> {
        Ok(HostChunk(vec![0; CHUNK_BYTES].into()))
    }

    /// Calls `check` where there are one, three and many threads.
    fn with_threads(check: impl Fn() + Sync) {
        for threads in [1, 3, 2 * MOST_WORKERS] {
            rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads").install(&check);
        }
    }

    const ALL_CHUNKS: usize = CHUNKS * CHUNK_BYTES;
    const LENGTHS: [usize; 7] = [
        0,
        1,
        LEAST_PIECE_BYTES - 1,
        LEAST_PIECE_BYTES,
        CHUNK_BYTES + 17,
        ALL_CHUNKS,
        ALL_CHUNKS + CHUNK_BYTES + 17,
    ];

    fn pattern(bytes: usize) -> Vec<u8> {
        (0_u32..).map(|index| (index.wrapping_mul(0x9e37_79b9) >> 24) as u8).take(bytes).collect()
    }

    /// A transfer that moves its bytes as late as it may: when it is waited for.
    struct Late {
        memory: *mut u8,
        bytes: usize,
        offset: usize,
        done: AtomicBool,
    }

    // SAFETY: the memory is a chunk's, which no other thread has.
    unsafe impl Send for Late {}

    impl Late {
        fn new(memory: *mut u8, bytes: usize, offset: usize) -> Self {
            Self { memory, bytes, offset, done: AtomicBool::new(false) }
        }

        fn once(&self, work: impl FnOnce(&mut [u8])) -> Result<(), Infallible> {
            if !self.done.swap(true, Ordering::Relaxed) {
                // SAFETY: the chunk has these bytes, and whoever started the transfer leaves them alone until now.
                work(unsafe { slice::from_raw_parts_mut(self.memory, self.bytes) });
            }
            Ok(())
        }
    }

    #[test]
    fn what_is_sent_late_arrives_whole_and_is_shown() {
        with_threads(|| {
            let pool = Pool::default();
            for bytes in LENGTHS {
                let sent = pattern(bytes);
                let (device, shown) = (Mutex::new(vec![0; bytes]), Mutex::new(vec![0; bytes]));
                let look = |offset: usize, block: &[u8]| {
                    lock(&shown)[offset..][..block.len()].copy_from_slice(block)
                };
                let mut staging = pool.take(ALL_CHUNKS, allocate).expect("nobody else takes one");
                let events = staging.send(
                    &sent,
                    Some(&look),
                    |chunk, offset| Ok(Late::new(chunk.as_ptr().cast_mut(), chunk.len(), offset)),
                    |late| {
                        let place = late.offset..late.offset + late.bytes;
                        late.once(|memory| lock(&device)[place].copy_from_slice(memory))
                    },
                );
                assert_eq!(events.map(|events| events.len()), Ok(Pieces::of(bytes).count()));
                assert!(*lock(&device) == sent && *lock(&shown) == sent, "{bytes} bytes");
            }
        });
    }

    #[test]
    fn what_is_fetched_late_arrives_whole_and_is_shown() {
        with_threads(|| {
            let pool = Pool::default();
            for bytes in LENGTHS {
                let device = pattern(bytes);
                let mut received = vec![0; bytes];
                let shown = Mutex::new(vec![0; bytes]);
                let look = |offset: usize, block: &[u8]| {
                    lock(&shown)[offset..][..block.len()].copy_from_slice(block)
                };
                let mut staging = pool.take(ALL_CHUNKS, allocate).expect("nobody else takes one");
                let events = staging.fetch(
                    &mut received,
                    Some(&look),
                    |chunk, offset| Ok(Late::new(chunk.as_mut_ptr(), chunk.len(), offset)),
                    |late| {
                        let place = late.offset..late.offset + late.bytes;
                        late.once(|memory| memory.copy_from_slice(&device[place]))
                    },
                );
                assert_eq!(events.map(|events| events.len()), Ok(Pieces::of(bytes).count()));
                assert!(received == device && *lock(&shown) == device, "{bytes} bytes");
            }
        });
    }

    #[test]
    fn pieces_are_whole_blocks_and_short_at_both_ends() {
        for bytes in LENGTHS {
            let pieces: Vec<_> = Pieces::of(bytes).collect();
            let ends: Vec<_> = [0].into_iter().chain(pieces.iter().map(|piece| piece.end)).collect();
            assert!(pieces.iter().zip(&ends).all(|(piece, &end)| piece.start == end), "{pieces:?}");
            assert_eq!(ends.last(), Some(&bytes));
            assert!(pieces.iter().all(|piece| piece.start.is_multiple_of(BLOCK_BYTES)), "{pieces:?}");
            assert!(pieces.iter().all(|piece| piece.len() <= CHUNK_BYTES), "{pieces:?}");
            if bytes > ALL_CHUNKS {
                assert!(
                    pieces[0].len() == LEAST_PIECE_BYTES
                        && pieces.iter().any(|piece| piece.len() == CHUNK_BYTES)
                );
                assert!(pieces[pieces.len() - 1].len() <= LEAST_PIECE_BYTES, "{pieces:?}");
            }
        }
    }

    #[test]
    fn as_many_transfers_are_under_way_as_there_are_chunks() {
        let one = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a thread");
        one.install(|| {
            let pool = Pool::default();
            let mut staging = pool.take(ALL_CHUNKS, allocate).expect("nobody else takes one");
            let started = AtomicUsize::new(0);
            let before_each_wait = Mutex::new(Vec::new());
            let start = || {
                started.fetch_add(1, Ordering::Relaxed);
                Ok::<_, Infallible>(())
            };
            let wait = |(): &()| {
                lock(&before_each_wait).push(started.load(Ordering::Relaxed));
                Ok(())
            };
            let bytes = ALL_CHUNKS;
            let pieces = Pieces::of(bytes).count();
            let expected: Vec<_> = (CHUNKS..CHUNKS + pieces).map(|count| count.min(pieces)).collect();
            staging.send(&vec![0; bytes], None, |_, _| start(), wait).expect("it cannot fail");
            assert_eq!(std::mem::take(&mut *lock(&before_each_wait)), expected);
            started.store(0, Ordering::Relaxed);
            staging.fetch(&mut vec![0; bytes], None, |_, _| start(), wait).expect("it cannot fail");
            assert_eq!(*lock(&before_each_wait), expected);
        });
    }

    #[test]
    fn several_workers_copy_at_once() {
        let two = rayon::ThreadPoolBuilder::new().num_threads(2).build().expect("threads");
        let pool = Pool::default();
        let mut staging = pool.take(ALL_CHUNKS, allocate).expect("nobody else takes one");
        let bytes = ALL_CHUNKS;
        for fetches in [false, true] {
            let (inside, met) = (AtomicUsize::new(0), AtomicBool::new(false));
            // Whoever copies waits a little for somebody else who does.
            let look = |_: usize, _: &[u8]| {
                inside.fetch_add(1, Ordering::Relaxed);
                let since = Instant::now();
                while !met.load(Ordering::Relaxed) && since.elapsed() < Duration::from_millis(20) {
                    met.fetch_or(inside.load(Ordering::Relaxed) > 1, Ordering::Relaxed);
                    std::thread::yield_now();
                }
                inside.fetch_sub(1, Ordering::Relaxed);
            };
            let events = two.install(|| {
                let start = Ok::<(), Infallible>;
                if fetches {
                    staging.fetch(&mut vec![0; bytes], Some(&look), |_, _| start(()), |()| Ok(()))
                } else {
                    staging.send(&vec![0; bytes], Some(&look), |_, _| start(()), |()| Ok(()))
                }
            });
            assert!(events.is_ok() && met.into_inner(), "fetches: {fetches}");
        }
    }

    #[test]
    fn an_error_ends_the_transfer() {
        with_threads(|| {
            let pool = Pool::default();
            let mut staging = pool.take(ALL_CHUNKS, allocate).expect("nobody else takes one");
            let (started, third_fails) = (AtomicUsize::new(0), "the third fails");
            let start = || {
                // Long after the third, no more are started: every worker has seen that it failed.
                if started.fetch_add(1, Ordering::Relaxed) < 2 { Ok(()) } else { Err(third_fails) }
            };
            let bytes = 4 * ALL_CHUNKS;
            let sent = staging.send(&vec![0; bytes], None, |_, _| start(), |()| Ok(()));
            assert!(started.swap(0, Ordering::Relaxed) <= 2 + MOST_WORKERS);
            let fetched = staging.fetch(&mut vec![0; bytes], None, |_, _| start(), |()| Ok(()));
            assert!(started.load(Ordering::Relaxed) <= 2 + MOST_WORKERS);
            assert_eq!([sent, fetched], [Err(third_fails), Err(third_fails)]);
        });
    }

    #[test]
    fn sets_are_used_again_grow_as_needed_and_their_number_is_limited() {
        let pool = Pool::default();
        let made = AtomicUsize::new(0);
        let count = || {
            made.fetch_add(1, Ordering::Relaxed);
            allocate()
        };
        let made = || made.load(Ordering::Relaxed);
        assert!(pool.take(ALL_CHUNKS, || Err::<HostChunk, _>("refused")).is_none());
        for (bytes, chunks) in [(1, 1), (2 * CHUNK_BYTES, 2), (1, 2), (ALL_CHUNKS + 1, CHUNKS), (1, CHUNKS)] {
            assert!(pool.take(bytes, count).is_some());
            assert_eq!(made(), chunks, "a set that was given back is taken again");
        }
        let held: Vec<_> = std::iter::from_fn(|| pool.take(ALL_CHUNKS, count)).collect();
        assert_eq!((held.len(), made()), (MOST_SETS, MOST_SETS * CHUNKS));
        drop(held);
        let refused = || Err("nothing is allocated any more");
        assert!(pool.take(ALL_CHUNKS, refused).is_some());
    }

    #[test]
    fn transfers_go_with_the_chunks_there_are() {
        let pool = Pool::default();
        let left = AtomicUsize::new(3);
        let allocate = || {
            let take_one = |left: usize| left.checked_sub(1);
            let taken = left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take_one);
            taken.map_err(|_| "refused").map(|_| HostChunk(vec![0; CHUNK_BYTES].into()))
        };
        let mut staging = pool.take(ALL_CHUNKS, allocate).expect("there are three");
        let sent = pattern(5 * CHUNK_BYTES);
        let device = Mutex::new(vec![0; sent.len()]);
        let start = |chunk: &[u8], offset: usize| {
            lock(&device)[offset..][..chunk.len()].copy_from_slice(chunk);
            Ok::<_, Infallible>(())
        };
        staging.send(&sent, None, start, |()| Ok(())).expect("it cannot fail");
        assert!(into_inner(device) == sent);
    }
}
