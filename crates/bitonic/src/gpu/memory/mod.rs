//! Memory that is kept for the next sort: buffers on the device, host memory that results land in, pinned memory for transfers.

mod buffers;
mod copy;
mod kept;
mod landing;
pub(crate) mod staging;
mod stream;

pub(crate) use buffers::{Buffers, Role};
pub(crate) use copy::{BLOCK_BYTES, Look, Shown, copy, show};
pub(crate) use kept::Kept;
pub(crate) use landing::{Landing, Words};
