//! Plain loops that the compiler vectorises, compiled for every instruction set.

use crate::instructions::Available;
#[cfg(target_arch = "x86_64")]
use crate::instructions::Instructions;

/// A loop. Its `run` must be `#[inline(always)]`: what is not inlined is compiled without the vector instructions.
pub(super) trait Loop {
    type Output;

    fn run(self) -> Self::Output;
}

/// Runs a loop as it was compiled for this processor.
#[inline]
pub(super) fn vectorized<L: Loop>(work: L) -> L::Output {
    match Available::detected().set() {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: this processor has the instruction set.
        Instructions::Avx512 => unsafe { with_avx512(work) },
        #[cfg(target_arch = "x86_64")]
        // SAFETY: as above.
        Instructions::Avx2 => unsafe { with_avx2(work) },
        _ => work.run(),
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,bmi2,popcnt")]
fn with_avx512<L: Loop>(work: L) -> L::Output {
    work.run()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi2,popcnt")]
fn with_avx2<L: Loop>(work: L) -> L::Output {
    work.run()
}
