//! The algorithms, once, over the [`Vector`](vector::Vector) trait. Architectures only instantiate them.

pub(crate) mod columns;
pub(crate) mod merge;
pub(crate) mod ordered;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
pub(crate) mod orders;
pub(crate) mod partition;
mod rows;
pub(crate) mod scan;
pub(crate) mod vector;
