//! The kernels of an instruction set.

use super::kernels::Kernels;
use crate::instructions::Available;

/// Keys that have vector kernels.
pub(crate) trait HasKernels: Sized + 'static {
    /// The kernels of an instruction set. That this processor has it, the argument shows.
    fn kernels(available: Available) -> &'static Kernels<Self>;
}

macro_rules! has_kernels {
    ($($Bits:ty: $table:ident;)+) => {$(
        impl HasKernels for $Bits {
            #[inline]
            fn kernels(available: Available) -> &'static Kernels<Self> {
                match available.set() {
                    #[cfg(target_arch = "x86_64")]
                    crate::instructions::Instructions::Avx512 => &super::x86_64::avx512::$table,
                    #[cfg(target_arch = "x86_64")]
                    crate::instructions::Instructions::Avx2 => &super::x86_64::avx2::$table,
                    #[cfg(target_arch = "aarch64")]
                    crate::instructions::Instructions::Neon => &super::aarch64::neon::$table,
                    _ => &super::portable::$table,
                }
            }
        }
    )+};
}

has_kernels! {
    u16: U16_KERNELS;
    u32: U32_KERNELS;
    u64: U64_KERNELS;
}

/// The kernels for 128-bit keys. Only AVX-512 has some: with shorter registers, and fewer of them, many keys took longer than with the standard library.
#[inline]
pub(crate) fn kernels_of_128_bits(available: Available) -> Option<&'static Kernels<u128>> {
    match available.set() {
        #[cfg(target_arch = "x86_64")]
        crate::instructions::Instructions::Avx512 => Some(&super::x86_64::avx512::U128_KERNELS),
        _ => None,
    }
}
