//! The peer that sorts with numpy, on the processor.

use super::Program;
use std::path::Path;
use std::process::Command;

const SOURCE: &str = include_str!("../../peers/numpy/peer.py");

/// What to do where it does not start.
pub(super) fn advice(python: &Path) -> String {
    let name = python.display();
    format!(
        "install numpy with `{name} -m pip install numpy`, or name an interpreter that has it with --python"
    )
}

/// The interpreter with the peer's source. Whether there is a numpy for it, it says itself.
pub(super) fn program(python: &Path) -> Program {
    let mut command = Command::new(python);
    // Sorts are compared on one thread.
    command.args(["-c", SOURCE]).env("OMP_NUM_THREADS", "1");
    Program { command, folder: None }
}
