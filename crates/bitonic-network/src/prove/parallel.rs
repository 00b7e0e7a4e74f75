//! Searching numbered tasks for the first that fails, on all cores.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

/// What the first of the tasks `0..tasks` that fails reports; `None` if none does.
///
/// Every core makes a worker and takes the next task for it until one has failed. The answer does not depend on
/// timing: tasks are taken in order, and those below a failed one are still finished.
pub(super) fn first_failure<Failure, Worker>(
    tasks: u64,
    make_worker: impl Fn() -> Worker + Sync,
) -> Option<Failure>
where
    Failure: Send,
    Worker: FnMut(u64) -> Option<Failure>,
{
    let next = AtomicU64::new(0);
    let first: Mutex<Option<(u64, Failure)>> = Mutex::new(None);
    // The number of the first failed task known so far.
    let end = AtomicU64::new(tasks);
    let work = || {
        let mut worker = make_worker();
        loop {
            let task = next.fetch_add(1, Ordering::Relaxed);
            if task >= end.load(Ordering::Relaxed) {
                return;
            }
            if let Some(failure) = worker(task) {
                let mut first = first.lock().expect("no worker panics while it holds the lock");
                if first.as_ref().is_none_or(|(earliest, _)| task < *earliest) {
                    end.fetch_min(task, Ordering::Relaxed);
                    *first = Some((task, failure));
                }
            }
        }
    };
    let cores = thread::available_parallelism().map_or(1, |cores| cores.get() as u64);
    thread::scope(|scope| {
        for _ in 1..cores.min(tasks) {
            scope.spawn(work);
        }
        work();
    });
    first.into_inner().expect("no worker panics while it holds the lock").map(|(_, failure)| failure)
}

#[cfg(test)]
mod tests {
    use super::first_failure;

    #[test]
    fn the_first_failure_is_found_whatever_the_timing() {
        let fails_from = |first: u64| move || move |task: u64| (task >= first).then_some(task);
        for first in [0, 1, 17, 998, 999] {
            assert_eq!(first_failure(1000, fails_from(first)), Some(first));
        }
        assert_eq!(first_failure(1000, fails_from(1000)), None);
        assert_eq!(first_failure(0, fails_from(0)), None);
    }
}
