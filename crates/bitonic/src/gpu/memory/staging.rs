//! Pinned host memory that transfers pass through.
//!
//! A device reads and writes pinned memory by itself, at the full speed of its bus; a caller's memory is not pinned. One core copies
//! much slower than a bus carries. So several workers copy pieces of the array, each through two chunks of its own: one of them
//! travels while the worker copies the other. Nobody waits for all.
//!
//! ```text
//!   worker 0   copies 0 | copies 2 | waits for 0, copies 5 | waits for 2, copies 6 ...
//!   worker 1   copies 1 | copies 3  | waits for 1, copies 4 ...
//!   bus                 | 0 | 1 | 2 | 3 | 4 ...
//! ```

use super::copy::{BLOCK_BYTES, Look, Shown, copy_alone};
use crate::gpu::lock::lock;
use std::fmt::Display;
use std::ptr::NonNull;
use std::slice;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

/// Long enough that the start of a transfer does not count.
pub(crate) const CHUNK_BYTES: usize = 2 << 20;

/// One travels, one is copied by the host.
const CHUNKS_OF_WORKER: usize = 2;

/// So many copy, and look at what they copy, as fast as a bus carries; more get into each other's way.
const MOST_WORKERS: usize = 8;

/// The chunks of a set.
pub(crate) const CHUNKS: usize = CHUNKS_OF_WORKER * MOST_WORKERS;

/// Shorter pieces, of arrays that are short themselves, would keep the driver busier than the bus.
const LEAST_PIECE_BYTES: usize = 512 << 10;

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

/// The sets of chunks of a device: made when first needed, and kept.
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
    /// A set that is nobody else's; `None` when there are enough already, or pinned memory is refused.
    pub(crate) fn take<E: Display>(&self, allocate: impl Fn() -> Result<C, E>) -> Option<Staging<'_, C>> {
        let mut sets = lock(&self.sets);
        if let Some(chunks) = sets.idle.pop() {
            return Some(Staging { pool: self, chunks });
        }
        if sets.made == MOST_SETS {
            return None;
        }
        match (0..CHUNKS).map(|_| allocate()).collect() {
            Ok(chunks) => {
                sets.made += 1;
                Some(Staging { pool: self, chunks })
            }
            Err(error) => {
                tracing::debug!(%error, "no pinned memory; transfers go without");
                None
            }
        }
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
        let piece_bytes = piece_bytes(from.len());
        let pieces = Mutex::new(from.chunks(piece_bytes).enumerate());
        self.share(from.len().div_ceil(piece_bytes), |chunks, has_failed| {
            let mut events: Vec<T> = Vec::new();
            while let Some((number, piece)) = next(&pieces, has_failed) {
                let turn = events.len();
                if let Some(previous) = turn.checked_sub(chunks.len()) {
                    wait(&events[previous])?;
                }
                let offset = number * piece_bytes;
                let chunk = &mut memory(&mut chunks[turn % chunks.len()])[..piece.len()];
                copy_alone(piece, chunk, look.map_or(Shown::Nothing, |look| Shown::Source(offset, look)));
                events.push(start(chunk, offset)?);
            }
            let started_last = events.len().saturating_sub(chunks.len());
            events[started_last..].iter().try_for_each(&wait)?;
            Ok(events)
        })
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
        let piece_bytes = piece_bytes(to.len());
        let count = to.len().div_ceil(piece_bytes);
        let pieces = Mutex::new(to.chunks_mut(piece_bytes).enumerate());
        self.share(count, |chunks, has_failed| {
            let request = |chunk: &mut C| {
                let Some((number, piece)) = next(&pieces, has_failed) else { return Ok(None) };
                let event = start(&mut memory(chunk)[..piece.len()], number * piece_bytes)?;
                Ok(Some((number, piece, event)))
            };
            let mut requested = chunks.iter_mut().map(request).collect::<Result<Vec<_>, E>>()?;
            let mut events = Vec::new();
            for turn in (0..chunks.len()).cycle() {
                let Some((number, piece, event)) = requested[turn].take() else { break };
                wait(&event)?;
                events.push(event);
                let shown = look.map_or(Shown::Nothing, |look| Shown::Target(number * piece_bytes, look));
                copy_alone(&memory(&mut chunks[turn])[..piece.len()], piece, shown);
                requested[turn] = request(&mut chunks[turn])?;
            }
            Ok(events)
        })
    }

    /// Lets workers take part, each with chunks of its own and a flag that says that another has failed; as many as there are threads
    /// and pieces for. Returns all that they return, or one of their errors.
    fn share<T: Send, E: Send>(
        &mut self,
        pieces: usize,
        work: impl Fn(&mut [C], &AtomicBool) -> Result<Vec<T>, E> + Sync,
    ) -> Result<Vec<T>, E> {
        let has_failed = AtomicBool::new(false);
        let results = Mutex::new(Vec::new());
        let take_part = |chunks: &mut [C]| {
            let result = work(chunks, &has_failed);
            if result.is_err() {
                has_failed.store(true, Ordering::Relaxed);
            }
            lock(&results).push(result);
        };
        let workers = MOST_WORKERS.min(pieces).min(rayon::current_num_threads());
        let mut chunks = self.chunks.chunks_mut(CHUNKS_OF_WORKER);
        if let Some(own) = chunks.next() {
            rayon::in_place_scope(|scope| {
                for chunks in chunks.take(workers.saturating_sub(1)) {
                    scope.spawn(|_| take_part(chunks));
                }
                take_part(own);
            });
        }
        let results = results.into_inner().unwrap_or_else(PoisonError::into_inner);
        let events = results.into_iter().collect::<Result<Vec<_>, E>>()?;
        Ok(events.into_iter().flatten().collect())
    }
}

/// So long that every worker has pieces, if that is not too short: whole blocks, at most a chunk.
fn piece_bytes(bytes: usize) -> usize {
    bytes.div_ceil(CHUNKS).next_multiple_of(BLOCK_BYTES).clamp(LEAST_PIECE_BYTES, CHUNK_BYTES)
}

/// The next piece, unless somebody has failed.
fn next<I: Iterator>(pieces: &Mutex<I>, has_failed: &AtomicBool) -> Option<I::Item> {
    if has_failed.load(Ordering::Relaxed) { None } else { lock(pieces).next() }
}

/// A chunk's memory. No command on it is under way.
fn memory<C: Chunk>(chunk: &mut C) -> &mut [u8] {
    // SAFETY: the memory is there for reading and writing as long as the chunk, which nobody else has; and no command is under way.
    unsafe { slice::from_raw_parts_mut(chunk.address().as_ptr(), CHUNK_BYTES) }
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
                let mut staging = pool.take(allocate).expect("nobody else takes one");
                let events = staging.send(
                    &sent,
                    Some(&look),
                    |chunk, offset| Ok(Late::new(chunk.as_ptr().cast_mut(), chunk.len(), offset)),
                    |late| {
                        let place = late.offset..late.offset + late.bytes;
                        late.once(|memory| lock(&device)[place].copy_from_slice(memory))
                    },
                );
                assert_eq!(events.map(|events| events.len()), Ok(bytes.div_ceil(piece_bytes(bytes))));
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
                let mut staging = pool.take(allocate).expect("nobody else takes one");
                let events = staging.fetch(
                    &mut received,
                    Some(&look),
                    |chunk, offset| Ok(Late::new(chunk.as_mut_ptr(), chunk.len(), offset)),
                    |late| {
                        let place = late.offset..late.offset + late.bytes;
                        late.once(|memory| memory.copy_from_slice(&device[place]))
                    },
                );
                assert_eq!(events.map(|events| events.len()), Ok(bytes.div_ceil(piece_bytes(bytes))));
                assert!(received == device && *lock(&shown) == device, "{bytes} bytes");
            }
        });
    }

    #[test]
    fn a_worker_has_as_many_transfers_under_way_as_it_has_chunks() {
        let one = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a thread");
        one.install(|| {
            let pool = Pool::default();
            let mut staging = pool.take(allocate).expect("nobody else takes one");
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
            let bytes = 5 * LEAST_PIECE_BYTES;
            staging.send(&vec![0; bytes], None, |_, _| start(), wait).expect("it cannot fail");
            assert_eq!(std::mem::take(&mut *lock(&before_each_wait)), [2, 3, 4, 5, 5]);
            started.store(0, Ordering::Relaxed);
            staging.fetch(&mut vec![0; bytes], None, |_, _| start(), wait).expect("it cannot fail");
            assert_eq!(*lock(&before_each_wait), [2, 3, 4, 5, 5]);
        });
    }

    #[test]
    fn an_error_ends_the_transfer() {
        with_threads(|| {
            let pool = Pool::default();
            let mut staging = pool.take(allocate).expect("nobody else takes one");
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
    fn sets_are_used_again_and_their_number_is_limited() {
        let pool = Pool::default();
        let made = AtomicUsize::new(0);
        let count = || {
            made.fetch_add(1, Ordering::Relaxed);
            allocate()
        };
        let made = || made.load(Ordering::Relaxed);
        assert!(pool.take(|| Err::<HostChunk, _>("refused")).is_none());
        for _ in 0..3 {
            assert!(pool.take(count).is_some());
        }
        assert_eq!(made(), CHUNKS, "a set that was given back is taken again");
        let held: Vec<_> = std::iter::from_fn(|| pool.take(count)).collect();
        assert_eq!((held.len(), made()), (MOST_SETS, MOST_SETS * CHUNKS));
        drop(held);
        assert!(pool.take(|| Err("nothing is allocated any more")).is_some());
    }
}
