//! The peer that sorts with PyTorch.

use super::Program;
use std::path::Path;
use std::process::Command;

const SOURCE: &str = include_str!("../../peers/pytorch/peer.py");

/// What to do where it does not start.
pub(super) const ADVICE: &str =
    "install PyTorch for CUDA where python3 finds it, or name a peer in BITONIC_TORCH_PEER";

/// The interpreter with the peer's source. Whether there is a PyTorch for it, it says itself.
pub(super) fn program(python: &Path) -> Program {
    let mut command = Command::new(python);
    command.args(["-c", SOURCE]);
    Program { command, folder: None }
}
