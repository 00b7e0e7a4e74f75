//! The command `bitonic-cluster-sort`: sorts Parquet files on a running cluster.

use bitonic_ballista::{Sort, sort};
use clap::Parser;
use std::path::PathBuf;
use std::process::ExitCode;

/// Sorts Parquet files on a cluster into files that follow one another: part-00000.parquet, part-00001.parquet ..
#[derive(Parser)]
#[command(
    version,
    after_help = "Example: bitonic-cluster-sort rows/ --order \"a desc nulls last, b\" --output sorted/ --scheduler http://node0:50050"
)]
struct Arguments {
    /// Parquet files, or folders of them, that every executor sees under the same path
    #[arg(required = true)]
    input: Vec<PathBuf>,
    /// Keys as in ORDER BY
    #[arg(long)]
    order: String,
    /// A new or empty folder that every executor sees under the same path
    #[arg(long)]
    output: PathBuf,
    /// The scheduler
    #[arg(long, default_value = "http://127.0.0.1:50050")]
    scheduler: String,
    /// Rows of a range: of one file, and of what one core holds in memory
    #[arg(long, default_value_t = 4_000_000)]
    rows_per_range: usize,
    /// MiB of the input that one task reads
    #[arg(long, default_value_t = 128)]
    mib_per_task: usize,
    /// Sampled keys for each range
    #[arg(long, default_value_t = 1_000)]
    sample_per_range: usize,
    /// Compression of the files: uncompressed, snappy, lz4_raw, zstd(1) ..
    #[arg(long, default_value = "snappy")]
    compression: String,
}

#[tokio::main]
async fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let task = Sort {
        rows_per_range: arguments.rows_per_range,
        bytes_per_task: arguments.mib_per_task << 20,
        sample_per_range: arguments.sample_per_range,
        compression: arguments.compression,
        ..Sort::new(arguments.scheduler, arguments.input, arguments.order, &arguments.output)
    };
    match sort(&task).await {
        Ok(outcome) => {
            let longest = outcome.parts.iter().map(|part| part.rows).max().unwrap_or(0);
            println!(
                "{} rows in {} files in {}; the longest has {longest} rows. Sample of {} keys: {:.1} s. Sort: {:.1} s.",
                outcome.rows(),
                outcome.parts.len(),
                arguments.output.display(),
                outcome.sampled,
                outcome.sample_time.as_secs_f64(),
                outcome.sort_time.as_secs_f64()
            );
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("bitonic-cluster-sort: {error}");
            ExitCode::FAILURE
        }
    }
}
