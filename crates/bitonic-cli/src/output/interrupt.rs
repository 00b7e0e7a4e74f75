//! Left-overs that a signal must not leave behind.
//!
//! While a file that is not finished has a name, the signals that ask a program to end (SIGINT, SIGTERM, SIGHUP) remove it
//! first. A signal that was ignored when the program started, as `nohup` does, stays ignored. Against SIGKILL there is no
//! remedy but to have no name.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// The unfinished file that has a name, if there is one. Whoever removes it for a signal keeps the lock until the process is
/// gone, so that no other one is made.
static UNFINISHED: Mutex<Option<PathBuf>> = Mutex::new(None);

/// Makes a file that is removed if a signal comes before [`finished`].
pub(super) fn make_unfinished<T>(path: &Path, make: impl FnOnce(&Path) -> io::Result<T>) -> io::Result<T> {
    watch_signals();
    let mut unfinished = UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner);
    let made = make(path)?;
    *unfinished = Some(path.to_owned());
    Ok(made)
}

/// Says that the file is finished, or gone.
pub(super) fn finished() {
    *UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner) = None;
}

#[cfg(unix)]
fn watch_signals() {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    use signal_hook::iterator::Signals;
    use std::sync::Once;

    static STARTED: Once = Once::new();
    STARTED.call_once(|| {
        let wanted = [SIGHUP, SIGINT, SIGTERM].into_iter().filter(|&signal| !is_ignored(signal));
        // Without them the program ends as it always did, and the file stays.
        let Ok(mut signals) = Signals::new(wanted) else { return };
        let watch = move || {
            let Some(signal) = signals.forever().next() else { return };
            let unfinished = UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(path) = &*unfinished {
                let _ = std::fs::remove_file(path);
            }
            let _ = signal_hook::low_level::emulate_default_handler(signal);
        };
        let _ = std::thread::Builder::new().name("signals".to_owned()).spawn(watch);
    });
}

#[cfg(not(unix))]
fn watch_signals() {}

/// Whether the process was started with this signal ignored, where the system tells: then it is to stay so.
#[cfg(unix)]
fn is_ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
    mask >> (signal - 1) & 1 == 1
}
