//! Rungs that run on the CPU.

pub(crate) mod one_thread;
pub(crate) mod threads;
