//! From the driver's codes to the library's errors.

use crate::{Engine, Error};
use cudarc::driver::DriverError;

/// What to do without a driver or a device.
const DRIVER_ADVICE: &str =
    "install NVIDIA's driver for the GPU, or choose the opencl engine for other devices, or the cpu engine";

/// What to do without the compiler.
const COMPILER_ADVICE: &str = "NVRTC comes with the CUDA toolkit and with the PyPI package nvidia-cuda-nvrtc: put the \
                               folder of its library on LD_LIBRARY_PATH; or choose the opencl engine, which comes with \
                               the driver, or the cpu engine";

/// The error for a code that the driver returned while the device should have done `operation`.
pub(super) fn failure(device: &str, operation: &'static str, error: DriverError) -> Error {
    Error::Device { device: device.to_owned(), operation, reason: reason(error) }
}

/// The error for a machine without a CUDA device or its driver.
pub(super) fn unavailable(reason: String) -> Error {
    Error::EngineUnavailable { engine: Engine::Cuda, reason, advice: DRIVER_ADVICE.to_owned() }
}

/// The error for a machine without the compiler.
pub(super) fn no_compiler(reason: String) -> Error {
    Error::EngineUnavailable { engine: Engine::Cuda, reason, advice: COMPILER_ADVICE.to_owned() }
}

/// A code's name and number.
pub(super) fn reason(error: DriverError) -> String {
    format!("{:?} ({})", error.0, error.0 as u32)
}
