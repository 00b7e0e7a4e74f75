//! Rungs on devices.

pub(crate) mod opencl;
