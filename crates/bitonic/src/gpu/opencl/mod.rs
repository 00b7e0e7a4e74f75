//! OpenCL devices: find one, build programs for it, run kernels, move data.
//!
//! The library that dispatches to the drivers (`libOpenCL.so.1`, `OpenCL.dll`) is loaded at run time; without it every
//! call here is an [`Error::EngineUnavailable`](crate::Error::EngineUnavailable), and the rest of the crate works.
//!
//! ```no_run
//! use bitonic::opencl::{Argument, Device, DeviceChoice};
//!
//! let device = Device::open(&DeviceChoice::Best)?;
//! let source = "kernel void double_all(global uint *keys) { keys[get_global_id(0)] *= 2; }";
//! let kernel = device.program("double", source, "")?.kernel("double_all")?;
//!
//! let buffer = device.allocate(1024 * 4)?;
//! device.upload(&[1; 1024 * 4], &buffer)?;
//! // SAFETY: 4 groups of 256 items each touch one of the buffer's 1024 words, and it is the kernel's only argument.
//! unsafe { kernel.launch(device.queue(), 4, 256, &[Argument::Buffer(&buffer)])? };
//! let mut result = vec![0; 1024 * 4];
//! device.download(&buffer, &mut result)?;
//! # Ok::<(), bitonic::Error>(())
//! ```

mod buffer;
mod device;
mod driver;
mod failure;
mod kernel;
mod platform;
mod program;
mod resident;
mod staging;
#[cfg(test)]
pub(super) mod testing;
mod timing;
mod transfer;

pub use crate::gpu::choice::{DeviceChoice, DeviceKind};
pub use crate::gpu::driver::Transfer;
pub use crate::gpu::strided::Strided;
pub use buffer::{Buffer, Memory};
pub use device::Device;
pub use driver::Commands;
pub use kernel::{Argument, Kernel};
pub use opencl3;
pub use opencl3::event::Event;
pub use platform::{DeviceInfo, devices};
pub use program::Program;
pub use resident::ResidentSorter;
pub use timing::{event_time, span};
