//! How the memory is shared out.
//!
//! ```text
//!   making runs   [ run that is filled | run that is sorted or written | what its sort works in ]
//!   merging       [ run 0: window, its index, next window | run 1: .. | .. | last run: .. | three chunks of the result ]
//! ```

use super::items::Items;
use crate::Error;
use std::fs;

/// Of what the system has free, this part is taken by default: others want some, too, and files pass through the rest.
const PART_OF_FREE: u64 = 2;

/// What is taken where the system does not say how much is free.
const WHERE_UNKNOWN: u64 = 1 << 30;

/// A run has two windows of 4 KiB at least, or shorter ones and an index: shorter reads take longer to ask for than to do.
const LEAST_OF_RUN: usize = 8 << 10;

/// Longer windows are no faster to read.
const LONGEST_WINDOW: usize = 8 << 20;

/// Results go out in chunks of this part of the memory, and are no longer than a window.
const CHUNK: usize = 16;

/// One chunk is made while another is on its way and a third is being written.
pub(super) const CHUNKS: usize = 3;

/// How much memory a sort of more than memory may take: half of what is free now, within the limit of the process's group.
pub fn default_memory() -> usize {
    let bytes = free().map_or(WHERE_UNKNOWN, |free| free / PART_OF_FREE);
    usize::try_from(bytes).unwrap_or(usize::MAX).max(Budget::LEAST)
}

/// What the system says is free, in bytes.
fn free() -> Option<u64> {
    let text = fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let machine = line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()? * 1024;
    Some(GROUP_LIMITS.iter().filter_map(|path| limit(path)).fold(machine, u64::min))
}

/// Where Linux says how much memory a container may have, in either version of control groups.
const GROUP_LIMITS: [&str; 2] = ["/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"];

fn limit(path: &str) -> Option<u64> {
    fs::read_to_string(path).ok()?.trim().parse().ok()
}

/// So many bytes, and what they are used for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Budget {
    pub(super) bytes: usize,
}

impl Budget {
    /// The least memory: windows of two runs, and chunks.
    const LEAST: usize = 64 << 10;

    pub(super) fn new(bytes: usize) -> Result<Self, Error> {
        match bytes < Self::LEAST {
            true => Err(Error::MemoryLimit { bytes, runs: 2 }),
            false => Ok(Self { bytes }),
        }
    }

    /// How many bytes of the result are handed out at a time.
    pub(super) fn chunk(self) -> usize {
        (self.bytes / CHUNK).min(LONGEST_WINDOW)
    }

    /// How many bytes of each of so many runs are in a window. Each run has two, and the index of one.
    pub(super) fn window(self, runs: usize, items: &dyn Items) -> Result<usize, Error> {
        let of_run = (self.bytes - CHUNKS * self.chunk()) / runs.max(1);
        if of_run < LEAST_OF_RUN {
            return Err(Error::MemoryLimit { bytes: self.bytes, runs });
        }
        // As if all items were the shortest: so many bytes of an index belong to so many of a window.
        let [bytes, shortest, index] =
            [of_run, items.shortest(), items.index_bytes()].map(|bytes| bytes as u128);
        let window = (bytes * shortest / (2 * shortest + index)) as usize;
        Ok(window.min(LONGEST_WINDOW))
    }
}

#[cfg(test)]
mod tests {
    use super::super::items::keys;
    use super::super::records::{Form, records};
    use super::*;
    use crate::key::KeyType;

    #[test]
    fn windows_and_chunks_take_no_more_than_there_is() {
        for items in [keys(KeyType::U16, 0), records(KeyType::U64, Form::AnyLength, 0)] {
            for bytes in [Budget::LEAST, 1 << 20, 100_000_000, 1 << 32] {
                let budget = Budget::new(bytes).unwrap();
                let mut runs = 1;
                while let Ok(window) = budget.window(runs, &*items) {
                    let index = window / items.shortest() * items.index_bytes();
                    let taken = runs * (2 * window + index) + CHUNKS * budget.chunk();
                    assert!(taken <= bytes, "{bytes} bytes, {runs} runs");
                    assert!(window >= LEAST_OF_RUN / 4);
                    runs += 1 + runs / 3;
                }
                assert!(runs > 2);
                assert_eq!(budget.window(runs, &*items).unwrap_err(), Error::MemoryLimit { bytes, runs });
            }
        }
        assert!(Budget::new(Budget::LEAST - 1).is_err());
    }

    #[test]
    fn some_memory_is_free() {
        assert!(default_memory() >= Budget::LEAST);
    }
}
