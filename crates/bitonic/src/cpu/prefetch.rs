//! Asking for memory before it is needed.

/// How many bytes ahead of a read memory is asked for. Processors foresee streams as well, but stop at the end of a page: of 2^24
/// keys, a quarter of the time of partitions is saved, and nothing is lost where caches hold all keys.
pub(in crate::cpu) const AHEAD: usize = 4096;

/// Asks for the cache line at an address, which may be any: what is not there is not fetched. Does nothing on processors
/// whose instruction for it Rust does not offer.
#[inline(always)]
pub(in crate::cpu) fn prefetch<T>(address: *const T) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: every x86-64 processor has the instruction, and it accesses nothing that a program can observe.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(address.cast()) }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = address;
}
