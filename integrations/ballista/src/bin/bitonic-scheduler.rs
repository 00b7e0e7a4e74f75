//! The command `bitonic-scheduler`: the one process of a cluster that plans and hands out work.

use bitonic_ballista::{Scheduler, log_to_stderr, scheduler};
use clap::Parser;
use std::process::ExitCode;

/// Runs the scheduler of a cluster. Executors and clients connect to it; there is one.
#[derive(Parser)]
#[command(version, after_help = "Example: bitonic-scheduler --bind 0.0.0.0 --host node0")]
struct Arguments {
    /// The address to listen on
    #[arg(long, default_value = "127.0.0.1")]
    bind: String,
    /// The name by which executors reach this machine
    #[arg(long, default_value = "localhost")]
    host: String,
    /// The port to listen on
    #[arg(long, default_value_t = 50050)]
    port: u16,
    /// Seconds without a sign of life after which an executor is given up; busy ones give one every 5 seconds
    #[arg(long, default_value_t = 60, value_parser = clap::value_parser!(u64).range(8..))]
    executor_timeout: u64,
}

fn main() -> ExitCode {
    let Arguments { bind, host, port, executor_timeout } = Arguments::parse();
    log_to_stderr();
    let address = format!("{bind}:{port}");
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        // Plans are walked recursively.
        .thread_stack_size(32 << 20)
        .build();
    let result = runtime.map_err(|error| error.to_string()).and_then(|runtime| {
        let run = scheduler(Scheduler { bind, host, port, executor_timeout });
        runtime.block_on(run).map_err(|error| error.to_string())
    });
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!(
                "bitonic-scheduler: {address}: {error}. Is the address right, and the port free (--bind, --port)?"
            );
            ExitCode::FAILURE
        }
    }
}
