//! From OpenCL's codes to the library's errors.

use crate::{Engine, Error};
use opencl3::error_codes::{ClError, DLOPEN_FUNCTION_NOT_AVAILABLE, DLOPEN_RUNTIME_LOAD_FAILED, error_text};

/// What to install when there is no loader, no platform or no device.
const ADVICE: &str = "install the OpenCL loader (package ocl-icd-libopencl1) and a driver: the one of the GPU's vendor, \
                      or pocl-opencl-icd for the processor; or choose the cpu engine";

/// The error for a code that a driver returned while it should have done `operation`.
pub(super) fn failure(device: &str, operation: &'static str, error: &ClError) -> Error {
    match error.0 {
        DLOPEN_RUNTIME_LOAD_FAILED => unavailable("the OpenCL loader (libOpenCL.so.1) is not installed"),
        DLOPEN_FUNCTION_NOT_AVAILABLE => unavailable("the OpenCL loader lacks a function of OpenCL 1.2"),
        _ => Error::Device { device: device.to_owned(), operation, reason: reason(error) },
    }
}

/// The error for a machine without OpenCL.
pub(super) fn unavailable(reason: &str) -> Error {
    Error::EngineUnavailable { engine: Engine::OpenCl, reason: reason.to_owned(), advice: ADVICE.to_owned() }
}

/// A code's name and number.
pub(super) fn reason(error: &ClError) -> String {
    format!("{} ({})", error_text(error.0), error.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use opencl3::error_codes::CL_OUT_OF_RESOURCES;

    #[test]
    fn a_missing_loader_is_an_unavailable_engine_and_the_advice_names_packages() {
        let error = failure("any device", "list its platforms", &ClError(DLOPEN_RUNTIME_LOAD_FAILED));
        let Error::EngineUnavailable { engine, reason, advice } = &error else {
            panic!("a missing loader became {error:?}");
        };
        assert_eq!(*engine, Engine::OpenCl);
        assert!(reason.contains("loader"), "{reason}");
        assert!(advice.contains("ocl-icd-libopencl1") && advice.contains("pocl-opencl-icd"), "{advice}");
    }

    #[test]
    fn other_codes_keep_their_name_and_number() {
        let error = failure("a GPU", "run a kernel", &ClError(CL_OUT_OF_RESOURCES));
        let text = error.to_string();
        assert!(text.starts_with("a GPU could not run a kernel: CL_OUT_OF_RESOURCES (-5); "), "{text}");
    }
}
