//! Rungs on many threads.
//!
//! None of them has a data race, and none needs `unsafe`: every key that a thread may write belongs to a slice
//! that only this thread has, and what is shared is synchronised.

pub(crate) mod odd_even_barriers;
pub(crate) mod odd_even_threads;
pub(crate) mod parallel_guarded;
pub(crate) mod parallel_merges;
pub(crate) mod parallel_recursive;
pub(crate) mod parallel_steps;
mod pool;
mod start;

use crate::LadderError;
use std::num::NonZero;

/// More threads than any machine has cores. Without a limit a slip of the keyboard would start threads for
/// minutes before the system refused.
const MOST_THREADS: usize = 4096;

/// The number of threads asked for; one for every core if none was.
pub(crate) fn count(threads: Option<NonZero<usize>>) -> Result<NonZero<usize>, LadderError> {
    let threads =
        threads.unwrap_or_else(|| std::thread::available_parallelism().unwrap_or(NonZero::<usize>::MIN));
    if threads.get() > MOST_THREADS {
        let reason = format!("a rung starts {MOST_THREADS} at most");
        return Err(LadderError::Threads { threads, reason });
    }
    Ok(threads)
}
