//! Threads that are started for one job each, as programs do that know of no pool.

use std::sync::{Mutex, PoisonError};
use std::thread;

/// Starts a thread for every job and waits for all of them. A job whose thread the system refuses is done by the caller, after
/// the others: the result is the same, and nothing is left half done.
pub(super) fn a_thread_for_each<J: Send>(jobs: impl IntoIterator<Item = J>, work: impl Fn(J) + Sync) {
    let jobs: Vec<Mutex<Option<J>>> = jobs.into_iter().map(|job| Mutex::new(Some(job))).collect();
    let do_it = |slot: &Mutex<Option<J>>| {
        let job = slot.lock().unwrap_or_else(PoisonError::into_inner).take();
        job.into_iter().for_each(&work);
    };
    thread::scope(|scope| {
        for (index, slot) in jobs.iter().enumerate() {
            // A refusal leaves the job in its slot.
            let _ = thread::Builder::new()
                .name(format!("ladder-{index}"))
                .spawn_scoped(scope, move || do_it(slot));
        }
    });
    jobs.iter().for_each(do_it);
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn every_job_is_done_once() {
        let done = AtomicUsize::new(0);
        a_thread_for_each(0..10_usize, |job| {
            done.fetch_add(1 << (2 * job), Ordering::Relaxed);
        });
        assert_eq!(done.into_inner(), 0b0101_0101_0101_0101_0101);
    }
}
