//! Kernels for x86-64.

mod arrangement;
pub(super) mod avx2;
pub(super) mod avx512;
mod partition;
