//! The host's loops, one file a rung.

pub(crate) mod compare_pair;
pub(crate) mod local_many_steps;
pub(crate) mod local_memory;
pub(crate) mod naive;
pub(crate) mod odd_even_local;
pub(crate) mod odd_even_one_kernel;
pub(crate) mod odd_even_strided;
pub(crate) mod odd_even_two_kernels;
pub(crate) mod one_item_groups;
pub(crate) mod xor_guarded;
