//! Buffers on the device, kept for the next sort.

use super::lock::lock;
use crate::Error;
use std::sync::Mutex;

/// Keys, values and working memory of one sort. More are freed, so that a device is not filled with what nobody uses.
const KEPT: usize = 3;

/// No more than this share of the device's memory is kept.
const KEPT_SHARE: u64 = 4;

/// Something that takes memory.
pub(crate) trait Memory {
    /// How much.
    fn bytes(&self) -> usize;
}

/// Buffers that no sort uses at the moment.
pub(super) struct Scratch<B> {
    buffers: Mutex<Vec<B>>,
}

impl<B> Default for Scratch<B> {
    fn default() -> Self {
        Self { buffers: Mutex::default() }
    }
}

impl<B: Memory> Scratch<B> {
    /// A buffer of at least this many bytes, and at most four times as many, the smallest that there is; a new one if none is
    /// kept. The same sort gets the same buffers again, whatever the order in which they were given back.
    pub(super) fn take(&self, bytes: usize, allocate: impl Fn() -> Result<B, Error>) -> Result<B, Error> {
        {
            let mut buffers = lock(&self.buffers);
            let fits = |buffer: &B| (bytes..=bytes.saturating_mul(4)).contains(&buffer.bytes());
            let fitting = (0..buffers.len()).filter(|&place| fits(&buffers[place]));
            if let Some(place) = fitting.min_by_key(|&place| buffers[place].bytes()) {
                return Ok(buffers.remove(place));
            }
        }
        match allocate() {
            Err(Error::DeviceMemory { .. }) if self.clear() => allocate(),
            result => result,
        }
    }

    /// Keeps a buffer for later, or frees it, on a device with this much memory.
    pub(super) fn give(&self, buffer: B, device_bytes: u64) {
        let mut buffers = lock(&self.buffers);
        buffers.push(buffer);
        let most = device_bytes / KEPT_SHARE;
        while buffers.len() > KEPT || buffers.iter().map(|buffer| buffer.bytes() as u64).sum::<u64>() > most {
            buffers.remove(0);
        }
    }

    /// Frees everything; whether there was anything.
    fn clear(&self) -> bool {
        let freed = std::mem::take(&mut *lock(&self.buffers));
        !freed.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    #[derive(Debug, PartialEq)]
    struct Bytes(usize);

    impl Memory for Bytes {
        fn bytes(&self) -> usize {
            self.0
        }
    }

    const DEVICE_BYTES: u64 = 4000;

    fn refused() -> Error {
        Error::DeviceMemory { device: "a device".to_owned(), bytes: 1, available: DEVICE_BYTES }
    }

    #[test]
    fn a_kept_buffer_is_taken_if_it_is_neither_too_small_nor_far_too_large() {
        let scratch = Scratch::default();
        scratch.give(Bytes(100), DEVICE_BYTES);
        let new = |bytes| move || Ok(Bytes(bytes));
        assert_eq!(scratch.take(101, new(101)), Ok(Bytes(101)));
        assert_eq!(
            scratch.take(24, new(24)),
            Ok(Bytes(24)),
            "a hundred bytes would be more than four times as many"
        );
        assert_eq!(scratch.take(25, || Err(refused())), Ok(Bytes(100)));
        assert_eq!(scratch.take(25, new(25)), Ok(Bytes(25)), "the buffer is in use");
    }

    #[test]
    fn what_is_kept_is_freed_when_the_device_has_no_memory_left() {
        let scratch = Scratch::default();
        scratch.give(Bytes(100), DEVICE_BYTES);
        let attempts = Cell::new(0);
        let full_once = || {
            attempts.set(attempts.get() + 1);
            if attempts.get() == 1 { Err(refused()) } else { Ok(Bytes(900)) }
        };
        assert_eq!(scratch.take(900, full_once), Ok(Bytes(900)));
        assert_eq!(attempts.get(), 2);
        assert_eq!(scratch.take(100, || Err(refused())), Err(refused()), "nothing is left to free");
    }

    #[test]
    fn the_smallest_buffer_that_fits_is_taken() {
        let scratch = Scratch::default();
        for bytes in [120, 100, 200] {
            scratch.give(Bytes(bytes), DEVICE_BYTES);
        }
        assert_eq!(scratch.take(90, || Err(refused())), Ok(Bytes(100)));
        assert_eq!(scratch.take(90, || Err(refused())), Ok(Bytes(120)));
    }

    #[test]
    fn three_buffers_and_a_quarter_of_the_memory_are_kept() {
        let scratch = Scratch::default();
        for bytes in [10, 100, 200, 300] {
            scratch.give(Bytes(bytes), DEVICE_BYTES);
        }
        assert_eq!(*lock(&scratch.buffers), [Bytes(100), Bytes(200), Bytes(300)]);
        scratch.give(Bytes(600), DEVICE_BYTES);
        assert_eq!(*lock(&scratch.buffers), [Bytes(300), Bytes(600)]);
        scratch.give(Bytes(1001), DEVICE_BYTES);
        assert_eq!(*lock(&scratch.buffers), []);
    }
}
