//! What a sort needs of a device beside its queue.

use super::queue::Queue;
use bitonic::Error;
use bitonic::opencl::{DeviceChoice, Transfer};

/// A device that rungs work on: [`bitonic::opencl::Device`] or [`bitonic::cuda::Device`]. Nothing else can be one.
///
/// Its `Buffer` is [`bitonic::opencl::Buffer`] or [`bitonic::cuda::Buffer`].
pub trait RungDevice: Backend {}

impl RungDevice for bitonic::opencl::Device {}
impl RungDevice for bitonic::cuda::Device {}

/// What makes a type a [`RungDevice`]. Nobody outside of this crate can name it.
pub trait Backend: Sized {
    /// Memory on the device.
    type Buffer;

    /// Opens a device.
    fn open(choice: &DeviceChoice) -> Result<Self, Error>;

    /// A buffer on the device.
    fn allocate(&self, bytes: usize) -> Result<Self::Buffer, Error>;

    /// How many bytes a buffer has.
    fn bytes(buffer: &Self::Buffer) -> usize;

    /// Host memory to the start of a buffer; returns when it is there.
    fn upload(&self, from: &[u8], to: &Self::Buffer) -> Result<Transfer, Error>;

    /// The start of a buffer to host memory; returns when it is there.
    fn download(&self, from: &Self::Buffer, to: &mut [u8]) -> Result<Transfer, Error>;

    /// The device's queue, for kernels on the keys in a buffer.
    fn queue<'a>(&'a self, keys: &'a Self::Buffer) -> Box<dyn Queue + 'a>;
}
