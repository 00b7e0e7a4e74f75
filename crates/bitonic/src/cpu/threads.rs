//! How many threads a sort uses, and when.
//!
//! rayon makes a page of code of every closure that it is given. So it is given closures behind a pointer, in one place for each way to
//! use it: work is compiled once, and what hands it to threads is compiled once for all work.

use crate::Error;
use std::sync::{Arc, Mutex, PoisonError};

/// Below this many elements a second thread costs more than it brings: handing work over takes some microseconds, in
/// which one thread sorts thousands of keys.
pub(super) const PARALLEL_FROM: usize = 1 << 16;

/// More threads than this bring nothing and may exhaust the system.
const MOST_THREADS: usize = 1024;

/// Does both, at the same time if `parallel`.
pub(super) fn both(parallel: bool, first: impl FnOnce() + Send, second: impl FnOnce() + Send) {
    if parallel {
        join(&mut once(first), &mut once(second));
    } else {
        first();
        second();
    }
}

/// Work for a thread, behind a pointer.
type Work<'a> = dyn FnMut() + Send + 'a;

/// What is called once, as [`Work`].
fn once(work: impl FnOnce() + Send) -> impl FnMut() + Send {
    let mut work = Some(work);
    move || {
        if let Some(work) = work.take() {
            work();
        }
    }
}

fn join(first: &mut Work<'_>, second: &mut Work<'_>) {
    rayon::join(first, second);
}

/// Runs `work(parallel)` with the threads asked for: `None` is rayon's current pool (all cores unless the program
/// says otherwise), `Some(1)` this thread alone. A forked child uses this thread alone, too.
fn with_threads(threads: Option<usize>, work: &mut (dyn FnMut(bool) + Send)) -> Result<(), Error> {
    match threads {
        Some(1) => work(false),
        _ if is_forked() => work(false),
        None => work(count(None) > 1),
        Some(_) => pool(count(threads))?.install(|| work(true)),
    }
    Ok(())
}

/// As [`with_threads`], and on this thread alone if there are few elements.
pub(crate) fn with_threads_for<R: Send>(
    len: usize,
    threads: Option<usize>,
    work: impl FnOnce(bool) -> R + Send,
) -> Result<R, Error> {
    let (mut work, mut result) = (Some(work), None);
    with_threads(if len < PARALLEL_FROM { Some(1) } else { threads }, &mut |parallel| {
        result = work.take().map(|work| work(parallel));
    })?;
    Ok(result.expect("work that did not panic has a result"))
}

/// How many threads [`with_threads`] uses.
pub(crate) fn count(threads: Option<usize>) -> usize {
    threads.map_or_else(rayon::current_num_threads, |threads| threads.min(MOST_THREADS))
}

/// How many threads [`with_threads_for`] uses.
pub(crate) fn count_for(len: usize, threads: Option<usize>) -> usize {
    if len < PARALLEL_FROM || is_forked() { 1 } else { count(threads) }
}

/// Whether this process is the forked child of one that sorted on threads. It has the pools of its parent and none of their
/// threads: it would wait for them for ever.
#[cfg(unix)]
fn is_forked() -> bool {
    static FIRST: std::sync::OnceLock<u32> = std::sync::OnceLock::new();
    let process = std::process::id();
    *FIRST.get_or_init(|| process) != process
}

/// Nothing else forks.
#[cfg(not(unix))]
fn is_forked() -> bool {
    false
}

/// The pool of this many threads. The last one is kept, because starting threads costs more than most sorts; a pool of
/// another number takes its place, and the old one ends with the last sort that uses it. So there are never more
/// threads than the sorts that run ask for, and those of one more.
fn pool(threads: usize) -> Result<Arc<rayon::ThreadPool>, Error> {
    static LAST: Mutex<Option<Arc<rayon::ThreadPool>>> = Mutex::new(None);
    let mut last = LAST.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(pool) = last.as_ref().filter(|pool| pool.current_num_threads() == threads) {
        return Ok(pool.clone());
    }
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .thread_name(|index| format!("bitonic-{index}"))
        .build()
        .map_err(|error| Error::Threads { threads, reason: error.to_string() })?;
    Ok(last.insert(Arc::new(pool)).clone())
}
