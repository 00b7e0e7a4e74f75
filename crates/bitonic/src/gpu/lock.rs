//! Locks.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// The lock, also after a thread panicked with it: no state behind a lock of this folder is ever left half changed.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
