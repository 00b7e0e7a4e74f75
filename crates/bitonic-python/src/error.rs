//! The library's errors as Python's.

use bitonic::Error;
use pyo3::PyErr;
use pyo3::exceptions::{PyMemoryError, PyRuntimeError, PyValueError};

/// Memory that was refused is a `MemoryError`, a device that failed a `RuntimeError`; everything else was a wrong argument.
pub(crate) fn raise(error: Error) -> PyErr {
    let text = error.to_string();
    match error {
        Error::OutOfMemory { .. } | Error::DeviceMemory { .. } | Error::LargerThanDevice { .. } => {
            PyMemoryError::new_err(text)
        }
        Error::Device { .. }
        | Error::WrongResult { .. }
        | Error::KernelBuild { .. }
        | Error::KernelMissing { .. }
        | Error::Threads { .. } => PyRuntimeError::new_err(text),
        _ => PyValueError::new_err(text),
    }
}
