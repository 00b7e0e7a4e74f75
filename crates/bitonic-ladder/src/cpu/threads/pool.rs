//! Pools of threads that wait for work.

use crate::LadderError;
use rayon::ThreadPool;
use std::collections::HashMap;
use std::num::NonZero;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

/// Runs `work` on a pool of exactly this many threads. Pools are kept: starting threads costs more than many a
/// sort, and would be measured with it.
pub(super) fn run_with<R: Send>(
    threads: NonZero<usize>,
    work: impl FnOnce() -> R + Send,
) -> Result<R, LadderError> {
    Ok(pool(threads)?.install(work))
}

fn pool(threads: NonZero<usize>) -> Result<Arc<ThreadPool>, LadderError> {
    static POOLS: LazyLock<Mutex<HashMap<NonZero<usize>, Arc<ThreadPool>>>> = LazyLock::new(Mutex::default);
    let mut pools = POOLS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(pool) = pools.get(&threads) {
        return Ok(pool.clone());
    }
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(threads.get())
        .thread_name(|index| format!("ladder-{index}"))
        .build()
        .map_err(|error| LadderError::Threads { threads, reason: error.to_string() })?;
    Ok(pools.entry(threads).or_insert(Arc::new(pool)).clone())
}
