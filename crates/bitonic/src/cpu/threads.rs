//! How many threads a sort uses, and when.

use crate::Error;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// Below this many elements a second thread costs more than it brings: handing work over takes some microseconds, in
/// which one thread sorts thousands of keys.
pub(super) const PARALLEL_FROM: usize = 1 << 16;

/// More threads than this bring nothing and may exhaust the system.
const MOST_THREADS: usize = 1024;

/// Does both, at the same time if `parallel`.
pub(super) fn both(parallel: bool, first: impl FnOnce() + Send, second: impl FnOnce() + Send) {
    if parallel {
        rayon::join(first, second);
    } else {
        first();
        second();
    }
}

/// Runs `work(parallel)` with the threads asked for: `None` is rayon's current pool (all cores unless the program
/// says otherwise), `Some(1)` this thread alone.
fn with_threads<R: Send>(threads: Option<usize>, work: impl FnOnce(bool) -> R + Send) -> Result<R, Error> {
    match threads {
        None => Ok(work(count(None) > 1)),
        Some(1) => Ok(work(false)),
        Some(_) => Ok(pool(count(threads))?.install(|| work(true))),
    }
}

/// As [`with_threads`], and on this thread alone if there are few elements.
pub(crate) fn with_threads_for<R: Send>(
    len: usize,
    threads: Option<usize>,
    work: impl FnOnce(bool) -> R + Send,
) -> Result<R, Error> {
    with_threads(if len < PARALLEL_FROM { Some(1) } else { threads }, work)
}

/// How many threads [`with_threads`] uses.
pub(crate) fn count(threads: Option<usize>) -> usize {
    threads.map_or_else(rayon::current_num_threads, |threads| threads.min(MOST_THREADS))
}

/// How many threads [`with_threads_for`] uses.
pub(crate) fn count_for(len: usize, threads: Option<usize>) -> usize {
    if len < PARALLEL_FROM { 1 } else { count(threads) }
}

/// Pools are kept, because starting threads costs more than most sorts.
fn pool(threads: usize) -> Result<Arc<rayon::ThreadPool>, Error> {
    static POOLS: OnceLock<Mutex<HashMap<usize, Arc<rayon::ThreadPool>>>> = OnceLock::new();
    let mut pools = POOLS.get_or_init(Mutex::default).lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(pool) = pools.get(&threads) {
        return Ok(pool.clone());
    }
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .thread_name(|index| format!("bitonic-{index}"))
        .build()
        .map_err(|error| Error::Threads { threads, reason: error.to_string() })?;
    Ok(pools.entry(threads).or_insert(Arc::new(pool)).clone())
}
