//! Host memory for results, and for what they take the place of; it stays for the next sort.

use crate::Error;
use crate::gpu::lock::lock;
use std::alloc::{Layout, alloc_zeroed};
use std::sync::Mutex;

/// Keys and values of one sort. More are freed.
const KEPT: usize = 2;

/// The most that is kept on the host.
const KEPT_LANDING_BYTES: usize = 1 << 30;

/// Host memory for results on their way that do not belong where the keys came from, and for what arrays were like before.
#[derive(Default)]
pub(crate) struct Landing {
    kept: Mutex<Vec<Words>>,
}

impl Landing {
    /// Exactly this many bytes, of any value.
    pub(crate) fn take(&self, bytes: usize) -> Result<Words, Error> {
        if bytes > 0 {
            let mut kept = lock(&self.kept);
            if let Some(place) = kept.iter().position(|memory| memory.capacity() >= bytes) {
                return Ok(Words { bytes, ..kept.swap_remove(place) });
            }
        }
        Words::zeroed(bytes, 1)
    }

    /// Keeps the memory for later, or frees it.
    pub(crate) fn give(&self, memory: Words) {
        if memory.bytes == 0 {
            return;
        }
        let mut kept = lock(&self.kept);
        kept.push(memory);
        while kept.len() > KEPT || kept.iter().map(Words::capacity).sum::<usize>() > KEPT_LANDING_BYTES {
            kept.remove(0);
        }
    }
}

/// Memory that is aligned for keys of any width.
pub(crate) struct Words {
    words: Vec<u128>,
    bytes: usize,
}

impl Words {
    /// Zeros for so many numbers of so many bytes.
    pub(crate) fn zeroed(len: usize, each: usize) -> Result<Self, Error> {
        let bytes = len.checked_mul(each).ok_or(Error::OutOfMemory { bytes: usize::MAX })?;
        Ok(Self { words: zeroed(bytes.div_ceil(size_of::<u128>()))?, bytes })
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &bytemuck::cast_slice(&self.words)[..self.bytes]
    }

    pub(crate) fn bytes_mut(&mut self) -> &mut [u8] {
        &mut bytemuck::cast_slice_mut(&mut self.words)[..self.bytes]
    }

    /// How many bytes there could be.
    fn capacity(&self) -> usize {
        size_of_val(self.words.as_slice())
    }
}

/// So many zeros. The system clears a page when it is first touched, so that this takes no time.
fn zeroed(len: usize) -> Result<Vec<u128>, Error> {
    if len == 0 {
        return Ok(Vec::new());
    }
    let refused = || Error::OutOfMemory { bytes: len.saturating_mul(size_of::<u128>()) };
    let layout = Layout::array::<u128>(len).map_err(|_| refused())?;
    // SAFETY: the layout is not empty, as neither is a number nor their count.
    let memory = unsafe { alloc_zeroed(layout) }.cast::<u128>();
    if memory.is_null() {
        return Err(refused());
    }
    ask_for_large_pages(memory.cast(), layout.size());
    // SAFETY: the memory was allocated by the global allocator with the layout of just so many numbers, and zeros are numbers.
    Ok(unsafe { Vec::from_raw_parts(memory, len, len) })
}

/// Lets the system clear large pages where it can: hundreds of times fewer of them are touched for the first time.
#[cfg(all(target_os = "linux", feature = "devices"))]
fn ask_for_large_pages(memory: *mut u8, bytes: usize) {
    const PAGE: usize = 2 << 20;

    let before = memory.align_offset(PAGE).min(bytes);
    let whole = (bytes - before) / PAGE * PAGE;
    if whole > 0 {
        // SAFETY: these bytes are within the memory, which stays as it is: the advice changes the size of pages alone.
        let advised = unsafe {
            rustix::mm::madvise(memory.add(before).cast(), whole, rustix::mm::Advice::LinuxHugepage)
        };
        if let Err(error) = advised {
            tracing::debug!(%error, "no large pages for memory that results land in");
        }
    }
}

#[cfg(not(all(target_os = "linux", feature = "devices")))]
fn ask_for_large_pages(_: *mut u8, _: usize) {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zeroed_memory_is_as_long_as_asked_for_and_too_much_is_refused() {
        let bytes = |len, each| Words::zeroed(len, each).map(|words| words.bytes().to_vec());
        assert_eq!(bytes(0, 16), Ok(vec![]));
        assert_eq!(bytes(1000, 2), Ok(vec![0; 2000]));
        assert_eq!(bytes(usize::MAX, 8), Err(Error::OutOfMemory { bytes: usize::MAX }));
        let refused = bytes(usize::MAX / 4, 1);
        assert!(
            matches!(refused, Err(Error::OutOfMemory { bytes }) if bytes >= usize::MAX / 4),
            "{refused:?}"
        );
    }

    #[test]
    fn memory_is_kept_for_the_next_sort_and_has_just_the_bytes_asked_for() {
        let landing = Landing::default();
        let mut memory = landing.take(100).unwrap();
        memory.bytes_mut().fill(7);
        landing.give(memory);
        landing.give(landing.take(0).unwrap());
        let again = landing.take(99).unwrap();
        assert_eq!(again.bytes(), [7; 99]);
        let other = landing.take(99).unwrap();
        assert_eq!(other.bytes(), [0; 99], "the first is in use");
        assert_eq!((lock(&landing.kept).len(), again.capacity()), (0, 112));
    }
}
