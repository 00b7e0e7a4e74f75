//! `cargo bench -p bitonic-bench --bench cpu -- [OPTIONS]`: see the documentation of the crate.

use bitonic_bench::arguments::Arguments;
use clap::Parser;
use std::process::ExitCode;

fn main() -> ExitCode {
    // `cargo bench` passes --bench; `cargo test --all-targets` runs the same program without it, and means no benchmark.
    if !std::env::args().any(|argument| argument == "--bench") {
        eprintln!("nothing measured: run it with `cargo bench -p bitonic-bench --bench cpu`");
        return ExitCode::SUCCESS;
    }
    match bitonic_bench::run(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("cpu benchmark: {error}");
            ExitCode::from(2)
        }
    }
}
