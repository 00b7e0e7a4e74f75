//! Progress on a terminal, for work that takes longer than a second.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use std::borrow::Cow;
use std::fmt::Write;
use std::io::{IsTerminal, stderr};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

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
        let left = |state: &ProgressState| {
            let part = state.pos() as f64 / state.len().unwrap_or(0).max(1) as f64;
            left_of_work(state.elapsed(), part)
        };
        Self::start(name, "{msg} {wide_bar} {percent:>3} %{left}", Some(amount as u64), left)
    }

    /// Work that takes this long, however much of it gets done: a bar that follows the clock.
    pub(crate) fn timed(name: &'static str, time: Duration) -> Self {
        let end = Instant::now() + time;
        let left = move |_: &ProgressState| left_of_time(end.saturating_duration_since(Instant::now()));
        Self::start(name, "{wide_bar}{left}: {msg}", Some(time.as_millis() as u64), left)
    }

    /// Work whose amount is not known: a spinner and the time it has taken.
    pub(crate) fn spinner(name: &'static str) -> Self {
        Self::start(name, "{spinner} {msg}, {elapsed}", None, |_| String::new())
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

    /// So much time has passed since a bar that follows the clock was started.
    pub(crate) fn follow_clock(&self) {
        if let Some(shown) = &self.shown {
            shown.bar.set_position(shown.bar.elapsed().as_millis() as u64);
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

    fn start(
        name: &'static str,
        template: &str,
        amount: Option<u64>,
        left: impl Fn(&ProgressState) -> String + Clone + Send + Sync + 'static,
    ) -> Self {
        if !stderr().is_terminal() {
            return Self::silent();
        }
        let bar = ProgressBar::with_draw_target(amount, ProgressDrawTarget::hidden()).with_message(name);
        if let Ok(style) = ProgressStyle::with_template(template) {
            let left = move |state: &ProgressState, out: &mut dyn Write| {
                // A text that takes no more has nothing to say.
                let _ = out.write_str(&left(state));
            };
            bar.set_style(style.with_key("left", left));
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

/// What is left of work whose parts take about as long as those before. Nothing before there is one: a guess would be absurd.
fn left_of_work(elapsed: Duration, part: f64) -> String {
    if part <= 0.0 {
        return String::new();
    }
    left_of_time(elapsed.mul_f64((1.0 / part - 1.0).clamp(0.0, 1e6)))
}

/// Whole seconds, rounded up: `, 12 s left`
fn left_of_time(left: Duration) -> String {
    let seconds = left.as_secs_f64().ceil() as u64;
    match (seconds / 60, seconds % 60) {
        (0, seconds) => format!(", {seconds} s left"),
        (minutes, seconds) => format!(", {minutes} min {seconds} s left"),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_is_told_when_something_is_done() {
        let left = |elapsed, part| left_of_work(Duration::from_secs(elapsed), part);
        assert_eq!([left(10, 0.0), left(10, 0.5), left(10, 1.0)], ["", ", 10 s left", ", 0 s left"]);
        assert_eq!(left(100, 0.25), ", 5 min 0 s left");
        assert_eq!(left_of_time(Duration::from_millis(100)), ", 1 s left");
    }
}
