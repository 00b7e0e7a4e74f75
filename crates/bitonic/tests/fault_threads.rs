//! Threads: how many there are, and what becomes of a sort where they are gone.

#![cfg(target_os = "linux")]

use bitonic::{Engine, Sorter};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Enough keys that a second thread takes part.
const KEYS: u32 = 100_000;

/// The tests here count the threads of the process, or fork it: one at a time.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn sort(threads: usize) {
    let mut keys: Vec<u32> = (0..KEYS).rev().collect();
    Sorter::new().engine(Engine::Cpu).threads(threads).sort(&mut keys).unwrap();
    assert!(keys.iter().copied().eq(0..KEYS), "{threads} threads");
}

/// How many threads this process has.
fn threads_now() -> usize {
    std::fs::read_dir("/proc/self/task").unwrap().count()
}

/// Sorts with all numbers of threads leave the pool of the last one behind.
#[test]
fn pools_do_not_pile_up() {
    let _alone = alone();
    sort(0);
    let before = threads_now();
    (2..=40).for_each(sort);
    sort(3);
    let started = Instant::now();
    while threads_now() > before + 3 {
        assert!(started.elapsed() < Duration::from_secs(20), "{} threads, {before} before", threads_now());
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// A forked child has none of its parent's threads. It sorts on its own one instead of waiting for them.
#[test]
fn a_forked_child_sorts_without_the_threads_that_it_lost() {
    let _alone = alone();
    sort(0);
    sort(2);
    // SAFETY: the child calls nothing but the sort, which takes no lock that another thread of the parent may hold, and then
    // ends without running what belongs to the parent.
    let child = unsafe { libc::fork() };
    assert!(child >= 0, "the child was not made");
    if child == 0 {
        sort(0);
        sort(2);
        // SAFETY: ends the process at once.
        unsafe { libc::_exit(7) };
    }
    let started = Instant::now();
    let mut status = 0;
    // SAFETY: `status` is a number to write to, and `child` a child that was not waited for yet.
    while unsafe { libc::waitpid(child, &raw mut status, libc::WNOHANG) } == 0 {
        if started.elapsed() > Duration::from_secs(20) {
            // SAFETY: the child is still there, since it was not waited for.
            unsafe { libc::kill(child, libc::SIGKILL) };
            panic!("the child hangs");
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    assert!(libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 7, "the child ended with {status}");
}
