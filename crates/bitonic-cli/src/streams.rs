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
    use super::{AtomicBool, INPUT_IS_CLOSED, OUTPUT_IS_CLOSED, Ordering};
    use rustix::fd::BorrowedFd;
    use rustix::io::{Errno, fcntl_getfd};
    use rustix::stdio::{stdin, stdout};

    extern "C" fn look() {
        let note = |stream: BorrowedFd, is_closed: &AtomicBool| {
            is_closed.store(fcntl_getfd(stream) == Err(Errno::BADF), Ordering::Relaxed);
        };
        note(stdin(), &INPUT_IS_CLOSED);
        note(stdout(), &OUTPUT_IS_CLOSED);
    }

    // SAFETY: the section is a list of functions of the C calling convention, which the loader calls once, on one thread, before
    // `main`; this one may be given arguments and ignores them, as that convention allows. It makes two system calls and
    // stores to atomics: nothing that needs Rust's runtime, and nothing that can panic.
    #[allow(unsafe_code)]
    #[used]
    #[cfg_attr(target_os = "linux", unsafe(link_section = ".init_array"))]
    #[cfg_attr(target_vendor = "apple", unsafe(link_section = "__DATA,__mod_init_func"))]
    static LOOK: extern "C" fn() = look;
}
