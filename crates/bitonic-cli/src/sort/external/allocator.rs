//! What becomes of memory that is given back.

/// Has large pieces of memory go back to the system as soon as nobody uses them.
///
/// The allocator of glibc keeps them for later, pieces of up to 32 MiB for each thread, once it has seen some come and go. A sort counts
/// what it uses, and not what lies there. Sorts reuse what they need often, so it costs them little.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[allow(unsafe_code, reason = "glibc is told by a call that only C has")]
pub(super) fn give_back_large_pieces() {
    const LARGE: libc::c_int = 1 << 20;
    // SAFETY: glibc knows this parameter and takes any length for it. It is set before the sort starts threads, and those that are there
    // already wait.
    unsafe { libc::mallopt(libc::M_MMAP_THRESHOLD, LARGE) };
}

/// Other allocators are left as they are.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub(super) fn give_back_large_pieces() {}
