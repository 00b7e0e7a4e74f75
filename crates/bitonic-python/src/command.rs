//! The command `bitonic`, inside Python.

use bitonic_cli::Host;
use pyo3::prelude::*;
use std::ffi::OsString;

/// Runs the command with these arguments, the first of which is its name, and gives its exit code. It uses the standard streams of the
/// process, not ``sys.stdout``, and answers signals as a program does: see ``__main__.py``.
#[pyfunction]
pub(crate) fn command(py: Python<'_>, arguments: Vec<OsString>) -> u8 {
    py.detach(|| bitonic_cli::run(Host::Another, arguments))
}
