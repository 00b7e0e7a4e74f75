//! `bitonic lab once`: one sort and nothing else, for callgrind to count. Not for people.

use crate::failure::Failure;
use bitonic_lab::callgrind::{Job, perform};
use std::ffi::OsString;
use std::process::Command;

/// What `bitonic lab once` is asked for.
#[derive(clap::Args)]
pub(super) struct Arguments {
    implementation: String,
    key_type: String,
    distribution: String,
    size: usize,
    seed: u64,
    sorts: usize,
}

/// Sorts so often.
pub(super) fn run(arguments: Arguments) -> Result<(), Failure> {
    let Arguments { implementation, key_type, distribution, size, seed, sorts } = arguments;
    perform(&Job { implementation, key_type, distribution, size, seed }, sorts).map_err(Failure::new)
}

/// The command that does the same in a process of its own.
pub(super) fn command(program: &OsString, job: &Job, sorts: usize) -> Command {
    let mut command = Command::new(program);
    command.args(["lab", "once", &job.implementation, &job.key_type, &job.distribution]);
    command.args([job.size.to_string(), job.seed.to_string(), sorts.to_string()]);
    command
}
