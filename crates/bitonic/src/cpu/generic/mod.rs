//! The algorithms, once, over the [`Vector`](vector::Vector) trait. Architectures only instantiate them.

pub(crate) mod columns;
pub(crate) mod merge;
pub(crate) mod ordered;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
pub(crate) mod orders;
pub(crate) mod partition;
pub(crate) mod places;
mod rows;
pub(crate) mod scan;
mod unrolled;
pub(crate) mod vector;
