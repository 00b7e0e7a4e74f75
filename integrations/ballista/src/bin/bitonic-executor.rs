//! The command `bitonic-executor`: a process of a cluster that reads, shuffles, sorts and writes.

use bitonic_ballista::{Executor, executor, log_to_stderr};
use clap::Parser;
use std::path::PathBuf;
use std::process::ExitCode;

/// Runs an executor of a cluster: one for each machine.
#[derive(Parser)]
#[command(
    version,
    after_help = "Example: bitonic-executor --scheduler node0:50050 --bind 0.0.0.0 --memory-mib 48000 --folder /scratch/bitonic"
)]
struct Arguments {
    /// The scheduler: HOST:PORT
    #[arg(long, default_value = "127.0.0.1:50050", value_parser = host_and_port)]
    scheduler: (String, u16),
    /// The address to listen on
    #[arg(long, default_value = "127.0.0.1")]
    bind: String,
    /// The name by which others reach this machine [default: the address that the scheduler sees]
    #[arg(long)]
    host: Option<String>,
    /// The port where other executors fetch shuffled data
    #[arg(long, default_value_t = 50051)]
    port: u16,
    /// Partitions to work on at a time; 0 for as many as there are cores
    #[arg(long, default_value_t = 0)]
    cores: usize,
    /// Memory for sorts and shuffles in MiB, for all cores together; what does not fit is spilled
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..))]
    memory_mib: u64,
    /// A folder for shuffled and spilled data
    #[arg(long)]
    folder: PathBuf,
}

fn host_and_port(text: &str) -> Result<(String, u16), String> {
    let parsed = text.rsplit_once(':').and_then(|(host, port)| Some((host.to_string(), port.parse().ok()?)));
    parsed.ok_or_else(|| "this is not HOST:PORT, such as node0:50050".into())
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    log_to_stderr();
    let (scheduler_host, scheduler_port) = arguments.scheduler;
    let described = format!("scheduler {scheduler_host}:{scheduler_port}, port {}", arguments.port);
    let cores = match arguments.cores {
        0 => std::thread::available_parallelism().map_or(1, |cores| cores.get()),
        cores => cores,
    };
    let config = Executor {
        scheduler_host,
        scheduler_port,
        bind: arguments.bind,
        host: arguments.host,
        port: arguments.port,
        cores,
        memory: arguments.memory_mib << 20,
        folder: arguments.folder,
    };
    let runtime =
        tokio::runtime::Builder::new_multi_thread().enable_all().thread_stack_size(32 << 20).build();
    let result = runtime
        .map_err(|error| error.to_string())
        .and_then(|runtime| runtime.block_on(executor(config)).map_err(|error| error.to_string()));
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!(
                "bitonic-executor: {described}: {error}. Does the scheduler run, and is the port free?"
            );
            ExitCode::FAILURE
        }
    }
}
