//! Host memory that results land in, kept for the next sort.

use crate::Error;
use crate::gpu::lock::lock;
use crate::key::Bits;
use std::alloc::{Layout, alloc_zeroed};
use std::sync::Mutex;

/// Keys and values of one sort. More are freed.
const KEPT: usize = 2;

/// The most that is kept on the host.
const KEPT_LANDING_BYTES: usize = 1 << 30;

/// Host memory for results on their way: they are copied over the caller's arrays only when whole.
#[derive(Default)]
pub(crate) struct Landing {
    kept: Mutex<Vec<Vec<u8>>>,
}

impl Landing {
    /// Exactly this many bytes, of any value.
    pub(crate) fn take(&self, bytes: usize) -> Result<Vec<u8>, Error> {
        let kept = {
            let mut kept = lock(&self.kept);
            let place = kept.iter().position(|memory| memory.capacity() >= bytes);
            place.map(|place| kept.swap_remove(place))
        };
        let mut memory = kept.unwrap_or_default();
        if memory.capacity() < bytes {
            memory = Vec::new();
            memory.try_reserve_exact(bytes).map_err(|_| Error::OutOfMemory { bytes })?;
        }
        memory.resize(bytes, 0);
        Ok(memory)
    }

    /// Keeps the memory for later, or frees it.
    pub(crate) fn give(&self, memory: Vec<u8>) {
        let mut kept = lock(&self.kept);
        kept.push(memory);
        while kept.len() > KEPT || kept.iter().map(Vec::capacity).sum::<usize>() > KEPT_LANDING_BYTES {
            kept.remove(0);
        }
    }
}

/// Memory for so many numbers, all zero, for results that are too large to be kept. The system clears a page when it is
/// first touched, so that this takes no time.
pub(crate) fn zeroed<B: Bits>(len: usize) -> Result<Vec<B>, Error> {
    if len == 0 {
        return Ok(Vec::new());
    }
    let refused = || Error::OutOfMemory { bytes: len.saturating_mul(size_of::<B>()) };
    let layout = Layout::array::<B>(len).map_err(|_| refused())?;
    // SAFETY: the layout is not empty, as neither is a number nor their count.
    let memory = unsafe { alloc_zeroed(layout) }.cast::<B>();
    if memory.is_null() {
        return Err(refused());
    }
    // SAFETY: the memory was allocated by the global allocator with the layout of just so many numbers, and zeros are numbers.
    Ok(unsafe { Vec::from_raw_parts(memory, len, len) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zeroed_memory_is_as_long_as_asked_for_and_too_much_is_refused() {
        assert_eq!(zeroed::<u128>(0), Ok(vec![]));
        assert_eq!(zeroed::<u16>(1000), Ok(vec![0; 1000]));
        assert_eq!(zeroed::<u64>(usize::MAX), Err(Error::OutOfMemory { bytes: usize::MAX }));
        let bytes = usize::MAX / 4;
        assert_eq!(zeroed::<u8>(bytes), Err(Error::OutOfMemory { bytes }));
    }
}
