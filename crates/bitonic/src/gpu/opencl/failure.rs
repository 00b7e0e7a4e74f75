//! From OpenCL's codes to the library's errors.

use crate::{Engine, Error};
use opencl3::error_codes::{
    CL_CONTEXT_TERMINATED_KHR, CL_DEVICE_NOT_AVAILABLE, CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST,
    CL_INVALID_COMMAND_QUEUE, CL_INVALID_CONTEXT, CL_OUT_OF_RESOURCES, ClError,
    DLOPEN_FUNCTION_NOT_AVAILABLE, DLOPEN_RUNTIME_LOAD_FAILED, error_text,
};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

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

/// What errors need to know of a device, and whether one of them may have cost it its context.
#[derive(Clone)]
pub(super) struct Health {
    name: Arc<str>,
    lost: Arc<AtomicBool>,
}

impl Health {
    pub(super) fn new(name: &str) -> Self {
        Self { name: name.into(), lost: Arc::default() }
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Whether the device may be lost.
    pub(super) fn is_lost(&self) -> bool {
        self.lost.load(Ordering::Relaxed)
    }

    /// The error for a code; notes that the device may be lost when the code says so.
    pub(super) fn failure(&self, operation: &'static str, error: &ClError) -> Error {
        if matches!(
            error.0,
            CL_CONTEXT_TERMINATED_KHR
                | CL_DEVICE_NOT_AVAILABLE
                | CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST
                | CL_INVALID_COMMAND_QUEUE
                | CL_INVALID_CONTEXT
                | CL_OUT_OF_RESOURCES
        ) {
            tracing::debug!(device = self.name(), operation, %error, "the device may be lost");
            self.lost.store(true, Ordering::Relaxed);
        }
        failure(&self.name, operation, error)
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
