//! Standard streams that were closed when the program started, as by `>&-`.
//!
//! Before `main`, Rust's runtime opens `/dev/null` in their place. What is written there is lost without an error, and what is
//! read there is an empty input. So they are looked at before the runtime does that, where the system has a place for it.

use std::sync::atomic::{AtomicBool, Ordering};

static INPUT_IS_CLOSED: AtomicBool = AtomicBool::new(false);
static OUTPUT_IS_CLOSED: AtomicBool = AtomicBool::new(false);

/// Whether standard input was closed when the program started.
pub(crate) fn is_input_closed() -> bool {
    INPUT_IS_CLOSED.load(Ordering::Relaxed)
}

/// Whether standard output was closed when the program started.
pub(crate) fn is_output_closed() -> bool {
    OUTPUT_IS_CLOSED.load(Ordering::Relaxed)
}

#[cfg(any(target_os = "linux", target_vendor = "apple"))]
mod before_main {
    use super::{INPUT_IS_CLOSED, OUTPUT_IS_CLOSED, Ordering};
    use rustix::fs::lstat;

    extern "C" fn look() {
        // Where the system shows open files at all, those that it does not show are closed.
        if lstat(OPEN_FILES).is_ok() {
            INPUT_IS_CLOSED.store(lstat(STANDARD_INPUT).is_err(), Ordering::Relaxed);
            OUTPUT_IS_CLOSED.store(lstat(STANDARD_OUTPUT).is_err(), Ordering::Relaxed);
        }
    }

    #[cfg(target_os = "linux")]
    const OPEN_FILES: &str = "/proc/self/fd";
    #[cfg(target_os = "linux")]
    const STANDARD_INPUT: &str = "/proc/self/fd/0";
    #[cfg(target_os = "linux")]
    const STANDARD_OUTPUT: &str = "/proc/self/fd/1";
    #[cfg(target_vendor = "apple")]
    const OPEN_FILES: &str = "/dev/fd";
    #[cfg(target_vendor = "apple")]
    const STANDARD_INPUT: &str = "/dev/fd/0";
    #[cfg(target_vendor = "apple")]
    const STANDARD_OUTPUT: &str = "/dev/fd/1";

    // SAFETY: the section is a list of functions of the C calling convention, which the loader calls once, on one thread, before
    // `main`; this one may be given arguments and ignores them, as that convention allows. It makes three system calls and
    // stores to atomics: nothing that needs Rust's runtime, and nothing that can panic.
    #[allow(unsafe_code)]
    #[used]
    #[cfg_attr(target_os = "linux", unsafe(link_section = ".init_array"))]
    #[cfg_attr(target_vendor = "apple", unsafe(link_section = "__DATA,__mod_init_func"))]
    static LOOK: extern "C" fn() = look;
}
