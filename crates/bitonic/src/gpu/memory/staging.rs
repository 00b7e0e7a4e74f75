//! Pinned host memory that transfers pass through.
//!
//! A device reads and writes pinned memory by itself, at the full speed of its bus; a caller's memory is not pinned. So
//! the host copies a chunk into pinned memory while the chunk before it travels.
//!
//! ```text
//!   host    copies 0 | copies 1 | copies 2 | waits for 0 | copies 3 | waits for 1 | copies 4 ...
//!   bus                0 travels                         | 1 travels              | 2 travels ...
//! ```

use super::copy::{Look, Shown, copy};
use crate::gpu::lock::lock;
use std::fmt::Display;
use std::ptr::NonNull;
use std::slice;
use std::sync::Mutex;

/// Long enough that the start of a transfer does not count, short enough that the first and the last chunk, which travel
/// while the host waits, do not either.
pub(crate) const CHUNK_BYTES: usize = 8 << 20;

/// One chunk travels, one is copied by the host, and one is ready for the device to go on with at once.
pub(crate) const CHUNKS: usize = 3;

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
    /// Sends all bytes, chunk after chunk, shows them meanwhile, and returns when they have arrived, with the event of every chunk.
    ///
    /// `start` starts the transfer of a chunk's memory to an offset. The memory stays as it is until `wait` returned for the
    /// event. After an error, transfers may be under way: the caller waits for them.
    pub(crate) fn send<T, E>(
        &mut self,
        from: &[u8],
        look: Option<Look<'_>>,
        mut start: impl FnMut(&[u8], usize) -> Result<T, E>,
        wait: impl Fn(&T) -> Result<(), E>,
    ) -> Result<Vec<T>, E> {
        let mut events: Vec<T> = Vec::with_capacity(from.len().div_ceil(CHUNK_BYTES));
        for (number, piece) in from.chunks(CHUNK_BYTES).enumerate() {
            if let Some(previous) = number.checked_sub(CHUNKS) {
                wait(&events[previous])?;
            }
            let chunk = &mut self.chunk(number)[..piece.len()];
            let offset = number * CHUNK_BYTES;
            copy(piece, chunk, look.map_or(Shown::Nothing, |look| Shown::Source(offset, look)));
            events.push(start(chunk, offset)?);
        }
        events.iter().try_for_each(wait)?;
        Ok(events)
    }

    /// Fetches as many bytes as there is place for, shows those that have landed, and returns when all are there, with the event of
    /// every chunk. As many transfers are under way as there are chunks.
    ///
    /// `start` starts the transfer from an offset to a chunk's memory, which is left alone until `wait` returned for the
    /// event. After an error, transfers may be under way: the caller waits for them.
    pub(crate) fn fetch<T, E>(
        &mut self,
        to: &mut [u8],
        look: Option<Look<'_>>,
        mut start: impl FnMut(&mut [u8], usize) -> Result<T, E>,
        wait: impl Fn(&T) -> Result<(), E>,
    ) -> Result<Vec<T>, E> {
        let bytes = to.len();
        let pieces = bytes.div_ceil(CHUNK_BYTES);
        let mut request = |staging: &mut Self, number: usize| {
            let offset = number * CHUNK_BYTES;
            start(&mut staging.chunk(number)[..CHUNK_BYTES.min(bytes - offset)], offset)
        };
        let mut events = Vec::with_capacity(pieces);
        for number in 0..pieces.min(CHUNKS) {
            events.push(request(self, number)?);
        }
        for (number, piece) in to.chunks_mut(CHUNK_BYTES).enumerate() {
            wait(&events[number])?;
            let shown = look.map_or(Shown::Nothing, |look| Shown::Target(number * CHUNK_BYTES, look));
            copy(&self.chunk(number)[..piece.len()], piece, shown);
            if number + CHUNKS < pieces {
                events.push(request(self, number + CHUNKS)?);
            }
        }
        Ok(events)
    }

    /// The chunk that piece `number` of a transfer goes through. No command on it is under way.
    fn chunk(&mut self, number: usize) -> &mut [u8] {
        let address = self.chunks[number % CHUNKS].address();
        // SAFETY: the memory is there for reading and writing as long as the chunk, which nobody else has; and no command
        // is under way.
        unsafe { slice::from_raw_parts_mut(address.as_ptr(), CHUNK_BYTES) }
    }
}

impl<C: Chunk> Drop for Staging<'_, C> {
    fn drop(&mut self) {
        lock(&self.pool.sets).idle.push(std::mem::take(&mut self.chunks));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::{Cell, RefCell};
    use std::convert::Infallible;

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

    const LENGTHS: [usize; 6] = [0, 1, CHUNK_BYTES - 1, CHUNK_BYTES, 3 * CHUNK_BYTES + 17, 5 * CHUNK_BYTES];

    fn pattern(bytes: usize) -> Vec<u8> {
        (0_u32..).map(|index| (index.wrapping_mul(0x9e37_79b9) >> 24) as u8).take(bytes).collect()
    }

    /// A transfer that moves its bytes as late as it may: when it is waited for.
    struct Late {
        memory: *mut u8,
        bytes: usize,
        offset: usize,
        done: Cell<bool>,
    }

    impl Late {
        fn new(memory: *mut u8, bytes: usize, offset: usize) -> Self {
            Self { memory, bytes, offset, done: Cell::new(false) }
        }

        fn once(&self, work: impl FnOnce(&mut [u8])) -> Result<(), Infallible> {
            if !self.done.replace(true) {
                // SAFETY: the chunk has these bytes, and whoever started the transfer leaves them alone until now.
                work(unsafe { slice::from_raw_parts_mut(self.memory, self.bytes) });
            }
            Ok(())
        }
    }

    #[test]
    fn what_is_sent_late_arrives_whole() {
        let pool = Pool::default();
        for bytes in LENGTHS {
            let sent = pattern(bytes);
            let device = RefCell::new(vec![0; bytes]);
            let mut staging = pool.take(allocate).expect("nobody else takes one");
            let events = staging.send(
                &sent,
                None,
                |chunk, offset| Ok(Late::new(chunk.as_ptr().cast_mut(), chunk.len(), offset)),
                |late| {
                    let mut device = device.borrow_mut();
                    let place = late.offset..late.offset + late.bytes;
                    late.once(|memory| device[place].copy_from_slice(memory))
                },
            );
            assert_eq!(events.map(|events| events.len()), Ok(bytes.div_ceil(CHUNK_BYTES)));
            assert!(device.into_inner() == sent, "{bytes} bytes");
        }
    }

    #[test]
    fn what_is_fetched_late_arrives_whole() {
        let pool = Pool::default();
        for bytes in LENGTHS {
            let device = pattern(bytes);
            let mut received = vec![0; bytes];
            let mut staging = pool.take(allocate).expect("nobody else takes one");
            let events = staging.fetch(
                &mut received,
                None,
                |chunk, offset| Ok(Late::new(chunk.as_mut_ptr(), chunk.len(), offset)),
                |late| {
                    let place = late.offset..late.offset + late.bytes;
                    late.once(|memory| memory.copy_from_slice(&device[place]))
                },
            );
            assert_eq!(events.map(|events| events.len()), Ok(bytes.div_ceil(CHUNK_BYTES)));
            assert!(received == device, "{bytes} bytes");
        }
    }

    #[test]
    fn transfers_overlap_as_far_as_there_are_chunks() {
        let pool = Pool::default();
        let bytes = 5 * CHUNK_BYTES;
        let mut staging = pool.take(allocate).expect("nobody else takes one");
        let started = Cell::new(0);
        let before_each_wait = RefCell::new(Vec::new());
        let start = || {
            started.set(started.get() + 1);
            Ok::<_, Infallible>(())
        };
        let wait = |_: &()| {
            before_each_wait.borrow_mut().push(started.get());
            Ok(())
        };
        staging.send(&vec![0; bytes], None, |_, _| start(), wait).expect("it cannot fail");
        assert_eq!(before_each_wait.take(), [3, 4, 5, 5, 5, 5, 5]);
        started.set(0);
        staging.fetch(&mut vec![0; bytes], None, |_, _| start(), wait).expect("it cannot fail");
        assert_eq!(before_each_wait.take(), [3, 4, 5, 5, 5]);
    }

    #[test]
    fn an_error_ends_the_transfer_at_once() {
        let pool = Pool::default();
        let mut staging = pool.take(allocate).expect("nobody else takes one");
        let third_fails = || {
            let mut started = 0;
            move || {
                started += 1;
                if started == 3 { Err("the third fails") } else { Ok(()) }
            }
        };
        let mut start = third_fails();
        let sent = staging.send(&vec![0; 5 * CHUNK_BYTES], None, |_, _| start(), |()| Ok(()));
        let mut start = third_fails();
        let fetched = staging.fetch(&mut vec![0; 5 * CHUNK_BYTES], None, |_, _| start(), |()| Ok(()));
        assert_eq!([sent, fetched], [Err("the third fails"), Err("the third fails")]);
    }

    #[test]
    fn sets_are_used_again_and_their_number_is_limited() {
        let pool = Pool::default();
        let made = Cell::new(0);
        let count = || {
            made.set(made.get() + 1);
            allocate()
        };
        assert!(pool.take(|| Err::<HostChunk, _>("refused")).is_none());
        for _ in 0..3 {
            assert!(pool.take(count).is_some());
        }
        assert_eq!(made.get(), CHUNKS, "a set that was given back is taken again");
        let held: Vec<_> = std::iter::from_fn(|| pool.take(count)).collect();
        assert_eq!((held.len(), made.get()), (MOST_SETS, MOST_SETS * CHUNKS));
        drop(held);
        assert!(pool.take(|| Err("nothing is allocated any more")).is_some());
    }
}
