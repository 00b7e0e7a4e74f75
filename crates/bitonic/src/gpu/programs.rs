//! Programs that a device keeps in memory.

use super::lock::lock;
use crate::Error;
use std::collections::HashMap;
use std::sync::{Arc, Mutex};

/// The programs built in this process for one device, by source and options.
///
/// Every program has a lock of its own, so that two threads that want the same one build it once, and those that want
/// one that is there do not wait for a build.
pub(super) struct Programs<P> {
    slots: Mutex<HashMap<(String, String), Slot<P>>>,
}

type Slot<P> = Arc<Mutex<Option<Arc<P>>>>;

impl<P> Default for Programs<P> {
    fn default() -> Self {
        Self { slots: Mutex::default() }
    }
}

impl<P> Programs<P> {
    /// The program from memory, else what `build` makes.
    pub(super) fn obtain(
        &self,
        source: &str,
        options: &str,
        build: impl FnOnce() -> Result<P, Error>,
    ) -> Result<Arc<P>, Error> {
        let slot = lock(&self.slots).entry((source.to_owned(), options.to_owned())).or_default().clone();
        let mut slot = lock(&slot);
        match &*slot {
            Some(program) => Ok(program.clone()),
            None => Ok(slot.insert(Arc::new(build()?)).clone()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::thread;

    #[test]
    fn threads_that_want_one_program_build_it_once_and_a_failure_is_tried_again() {
        let programs = Programs::default();
        let refused = || Error::KernelMissing { kernel: "k".to_owned(), device: "d".to_owned() };
        assert_eq!(programs.obtain("source", "-D1", || Err(refused())), Err(refused()));
        let built = AtomicUsize::new(0);
        let obtain = || programs.obtain("source", "-D1", || Ok(built.fetch_add(1, Ordering::Relaxed)));
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| assert_eq!(obtain(), Ok(Arc::new(0))));
            }
        });
        assert_eq!(programs.obtain("source", "-D2", || Ok(7)), Ok(Arc::new(7)), "other options");
        assert_eq!(programs.obtain("source", "-D1", || Err(refused())), Ok(Arc::new(0)));
    }
}
