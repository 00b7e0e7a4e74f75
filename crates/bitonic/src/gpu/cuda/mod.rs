//! CUDA devices: find one, compile programs for it, run kernels, move data.
//!
//! The driver (`libcuda.so.1`, `nvcuda.dll`) and the compiler NVRTC are loaded at run time; without them every call here
//! is an [`Error::EngineUnavailable`](crate::Error::EngineUnavailable), and the rest of the crate works.
//!
//! ```no_run
//! use bitonic::cuda::{Argument, Device, DeviceChoice};
//!
//! let device = Device::open(&DeviceChoice::Best)?;
//! let source = r#"extern "C" __global__ void double_all(unsigned *keys) {
//!     keys[blockIdx.x * blockDim.x + threadIdx.x] *= 2;
//! }"#;
//! let kernel = device.program("double", source, "")?.kernel("double_all")?;
//!
//! let buffer = device.allocate(1024 * 4)?;
//! device.upload(&[1; 1024 * 4], &buffer)?;
//! // SAFETY: 4 blocks of 256 threads each touch one of the buffer's 1024 words, and it is the kernel's only argument.
//! unsafe { kernel.launch(device.stream(), 4, 256, &[Argument::Buffer(&buffer)])? };
//! let mut result = vec![0; 1024 * 4];
//! device.download(&buffer, &mut result)?;
//! # Ok::<(), bitonic::Error>(())
//! ```

mod buffer;
mod compiler;
mod description;
mod device;
mod driver;
mod failure;
mod graph;
mod kernel;
mod library;
mod program;
mod resident;
mod staging;
mod timing;
mod transfer;

pub use crate::gpu::choice::DeviceChoice;
pub use crate::gpu::driver::Transfer;
pub use crate::gpu::strided::Strided;
pub use buffer::Buffer;
pub use compiler::{architectures, compile};
pub use cudarc;
pub use description::{DeviceInfo, devices};
pub use device::Device;
pub use driver::Moments;
pub use kernel::{Argument, Kernel};
pub use program::Program;
pub use resident::{ResidentSorter, WithWorkspace};
pub use timing::Moment;
