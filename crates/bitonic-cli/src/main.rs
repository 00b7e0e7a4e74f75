#![deny(unsafe_code)]
//! The program `bitonic`.

use bitonic_cli::Host;
use std::process::ExitCode;

fn main() -> ExitCode {
    bitonic_cli::run(Host::Itself, std::env::args_os()).into()
}
