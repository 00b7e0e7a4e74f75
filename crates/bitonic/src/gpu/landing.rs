//! Host memory that results land in, kept for the next sort.

use super::lock::lock;
use crate::Error;
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
