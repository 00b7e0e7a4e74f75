//! Progress on a terminal, for work that takes longer than a second.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::borrow::Cow;
use std::io::{IsTerminal, stderr};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

/// Work that ends sooner shows nothing.
const QUIET_TIME: Duration = Duration::from_secs(1);

const TICK: Duration = Duration::from_millis(100);

/// Shows how far a piece of work is, from its start until this is dropped. Silent where standard error is no terminal.
pub(crate) struct Progress {
    shown: Option<Shown>,
}

struct Shown {
    bar: ProgressBar,
    /// Dropped when the work is done, which ends the thread.
    done: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Progress {
    /// Work whose amount is known: a bar.
    pub(crate) fn bar(name: &'static str, amount: usize) -> Self {
        Self::start(name, "{msg} {wide_bar} {percent:>3} %, {eta} left", Some(amount as u64))
    }

    /// Work whose amount is not known: a spinner and the time it has taken.
    pub(crate) fn spinner(name: &'static str) -> Self {
        Self::start(name, "{spinner} {msg}, {elapsed}", None)
    }

    /// Work that must not show anything.
    pub(crate) fn silent() -> Self {
        Self { shown: None }
    }

    /// So much more is done.
    pub(crate) fn advance(&self, amount: usize) {
        if let Some(shown) = &self.shown {
            shown.bar.inc(amount as u64);
        }
    }

    /// So much of so much is done.
    pub(crate) fn reach(&self, done: usize, amount: usize) {
        if let Some(shown) = &self.shown {
            shown.bar.set_length(amount as u64);
            shown.bar.set_position(done as u64);
        }
    }

    /// Does something that writes to the terminal, with the bar out of the way.
    pub(crate) fn aside<T>(&self, work: impl FnOnce() -> T) -> T {
        match &self.shown {
            Some(shown) => shown.bar.suspend(work),
            None => work(),
        }
    }

    /// What is being done from now on.
    pub(crate) fn name(&self, name: impl Into<Cow<'static, str>>) {
        if let Some(shown) = &self.shown {
            shown.bar.set_message(name);
        }
    }

    fn start(name: &'static str, template: &str, amount: Option<u64>) -> Self {
        if !stderr().is_terminal() {
            return Self::silent();
        }
        let bar = ProgressBar::with_draw_target(amount, ProgressDrawTarget::hidden()).with_message(name);
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        let (done, wait) = channel();
        let later = bar.clone();
        let thread = std::thread::spawn(move || {
            if wait.recv_timeout(QUIET_TIME) == Err(RecvTimeoutError::Timeout) {
                later.set_draw_target(ProgressDrawTarget::stderr());
                later.enable_steady_tick(TICK);
            }
        });
        Self { shown: Some(Shown { bar, done: Some(done), thread: Some(thread) }) }
    }
}

impl Drop for Shown {
    fn drop(&mut self) {
        drop(self.done.take());
        if let Some(thread) = self.thread.take() {
            // A thread that only waits and draws; had it panicked, there would be nothing to clear.
            let _ = thread.join();
        }
        self.bar.finish_and_clear();
    }
}
