//! Memory that is kept for the next sort: buffers on the device, host memory that results land in, pinned memory for transfers.

mod buffers;
mod copy;
mod landing;
pub(crate) mod staging;

pub(crate) use buffers::{Buffers, Role};
pub(crate) use copy::copy;
pub(crate) use landing::{Landing, zeroed};
