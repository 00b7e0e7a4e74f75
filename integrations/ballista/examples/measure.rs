//! Measures sorts on clusters of this machine: time, memory, bytes shuffled, as executors are added.
//!
//! ```sh
//! cargo build --release --bins
//! cargo run --release --example measure -- --rows 100000000 --executors 1,2,3 --runs 3 --check
//! ```
//!
//! It writes the table, then starts a new cluster for every run, each executor with one core. `--check` compares the first result
//! with that of bitonic-datafusion on one machine, row by row.

#[path = "../tests/suite/cluster.rs"]
mod cluster;

use bitonic_ballista::{Sort, sort};
use clap::Parser;
use cluster::{Cluster, bytes_in};
use datafusion::arrow::array::{ArrayRef, AsArray, Int64Array, RecordBatch};
use datafusion::arrow::datatypes::Int64Type;
use datafusion::error::Result;
use datafusion::execution::SessionStateBuilder;
use datafusion::parquet::arrow::ArrowWriter;
use datafusion::parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use datafusion::prelude::{ParquetReadOptions, SessionConfig, SessionContext};
use futures::StreamExt;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

/// Measures sorts on clusters of this machine
#[derive(Parser)]
struct Arguments {
    /// Rows of the table: a random 64-bit key, and the row's number
    #[arg(long, default_value_t = 100_000_000)]
    rows: usize,
    /// Numbers of executors
    #[arg(long, value_delimiter = ',', default_values_t = [1, 2, 3])]
    executors: Vec<usize>,
    /// Runs for each number of executors; they take turns
    #[arg(long, default_value_t = 3)]
    runs: usize,
    /// Rows of a range
    #[arg(long, default_value_t = 4_000_000)]
    rows_per_range: usize,
    /// Memory of an executor for sorts and shuffles in MiB
    #[arg(long, default_value_t = 1024)]
    memory_mib: u64,
    /// Kill the last executor when the first part is there
    #[arg(long)]
    kill: bool,
    /// Compare the first result with that of one machine
    #[arg(long)]
    check: bool,
    /// Where tables and results lie
    #[arg(long, default_value = "/tmp/bitonic-cluster")]
    folder: PathBuf,
}

#[tokio::main]
async fn main() -> Result<()> {
    let arguments = Arguments::parse();
    let input = arguments.folder.join(format!("rows-{}", arguments.rows));
    write(&input, arguments.rows)?;
    println!("{} rows, {} bytes of Parquet", arguments.rows, bytes_in(&input));
    println!(
        "executors\trun\tsample s\tsort s\tparts\tlongest\tshuffled MB\tloopback MB\tpeak MiB of each executor"
    );
    let mut first = true;
    for run in 0..arguments.runs {
        for &executors in &arguments.executors {
            let output = arguments.folder.join("sorted");
            let _ = fs::remove_dir_all(&output);
            measure(&arguments, &input, &output, executors, run).await?;
            if first && arguments.check {
                let start = Instant::now();
                let rows = compare(&input, &output).await?;
                println!(
                    "{rows} rows are equal to those of one machine; sorting there and comparing took {:.1} s",
                    start.elapsed().as_secs_f64()
                );
            }
            first = false;
        }
    }
    fs::remove_dir_all(arguments.folder.join("sorted"))?;
    Ok(())
}

async fn measure(
    arguments: &Arguments,
    input: &Path,
    output: &Path,
    executors: usize,
    run: usize,
) -> Result<()> {
    // Examples lie in a folder beside the programs.
    let here = std::env::current_exe()?;
    let programs = here.parent().and_then(Path::parent).unwrap_or(Path::new("."));
    let mut cluster =
        Cluster::start(programs, arguments.folder.join("cluster"), executors, arguments.memory_mib);
    let before = loopback_bytes();
    let task = Sort {
        rows_per_range: arguments.rows_per_range,
        ..Sort::new(cluster.address(), vec![input.to_path_buf()], "k", output)
    };
    let job = tokio::spawn(async move { sort(&task).await });
    if arguments.kill {
        while !job.is_finished() && bytes_in(output) == 0 {
            tokio::time::sleep(std::time::Duration::from_millis(10)).await;
        }
        println!("executor {} is killed", executors - 1);
        cluster.kill(executors - 1);
    }
    // Ballista removes what was shuffled as soon as a job is done, so it is watched while it grows.
    let shuffled =
        || (0..executors).map(|executor| bytes_in(&cluster.executor_folder(executor))).sum::<u64>();
    let mut most_shuffled = 0;
    while !job.is_finished() {
        most_shuffled = most_shuffled.max(shuffled());
        tokio::time::sleep(std::time::Duration::from_millis(500)).await;
    }
    let outcome = match job.await {
        Ok(Ok(outcome)) => outcome,
        Ok(Err(error)) => panic!("{error}\n{}", cluster.messages()),
        Err(error) => panic!("the client panicked: {error}"),
    };
    let loopback = loopback_bytes() - before;
    let peaks: Vec<String> = cluster.peak_memory().iter().map(|bytes| (bytes >> 20).to_string()).collect();
    println!(
        "{executors}\t{run}\t{:.1}\t{:.1}\t{}\t{}\t{}\t{}\t{}",
        outcome.sample_time.as_secs_f64(),
        outcome.sort_time.as_secs_f64(),
        outcome.parts.len(),
        outcome.parts.iter().map(|part| part.rows).max().unwrap_or(0),
        most_shuffled / 1_000_000,
        loopback / 1_000_000,
        peaks.join(" ")
    );
    Ok(())
}

/// Bytes that went over the loopback since the machine started.
fn loopback_bytes() -> u64 {
    let text = fs::read_to_string("/proc/net/dev").unwrap_or_default();
    let line = text.lines().find_map(|line| line.trim().strip_prefix("lo:"));
    line.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or(0)
}

/// Ten files, once.
fn write(folder: &Path, rows: usize) -> Result<()> {
    const FILES: usize = 10;
    const BATCH: usize = 1 << 20;
    if folder.join("written").exists() {
        return Ok(());
    }
    fs::create_dir_all(folder)?;
    let mut random = StdRng::seed_from_u64(18);
    for file in 0..FILES {
        let (start, end) = (file * rows / FILES, (file + 1) * rows / FILES);
        let mut writer: Option<ArrowWriter<File>> = None;
        for start in (start..end).step_by(BATCH) {
            let numbers = start..end.min(start + BATCH);
            let key = Int64Array::from_iter_values(numbers.clone().map(|_| random.random()));
            let own = Int64Array::from_iter_values(numbers.map(|row| row as i64));
            let columns: [(&str, ArrayRef); 2] = [("k", Arc::new(key)), ("id", Arc::new(own))];
            let batch = RecordBatch::try_from_iter(columns)?;
            let writer = match &mut writer {
                Some(writer) => writer,
                None => {
                    let out = File::create(folder.join(format!("in-{file}.parquet")))?;
                    writer.insert(ArrowWriter::try_new(out, batch.schema(), None)?)
                }
            };
            writer.write(&batch)?;
        }
        if let Some(writer) = writer {
            writer.close()?;
        }
    }
    File::create(folder.join("written"))?;
    Ok(())
}

/// Rows of the parts, one after another, against the sort of one machine. Rows with equal keys may come in any order.
async fn compare(input: &Path, output: &Path) -> Result<usize> {
    let builder = SessionStateBuilder::new()
        .with_default_features()
        .with_config(SessionConfig::new().with_target_partitions(2));
    let context = SessionContext::new_with_state(bitonic_datafusion::enable(builder).build());
    context.register_parquet("t", &input.display().to_string(), ParquetReadOptions::default()).await?;
    let mut expected = context.sql("select k, id from t order by k").await?.execute_stream().await?;
    let mut names: Vec<PathBuf> = fs::read_dir(output)?.flatten().map(|entry| entry.path()).collect();
    names.retain(|path| path.extension().is_some_and(|ending| ending == "parquet"));
    names.sort();
    let mut found = names.into_iter().flat_map(|path| {
        let file = File::open(path).expect("a part can be opened");
        let reader = ParquetRecordBatchReaderBuilder::try_new(file).expect("a part is a Parquet file");
        pairs(reader.build().expect("a part can be read").map(|batch| batch.expect("a part is whole")))
    });
    let mut rows = 0;
    let mut key = None;
    let (mut left, mut right) = (vec![], vec![]);
    while let Some(batch) = expected.next().await {
        for (wanted, wanted_id) in pairs(std::iter::once(batch?)) {
            let (k, id) = found.next().unwrap_or_else(|| panic!("the parts end after {rows} rows"));
            assert_eq!(k, wanted, "row {rows} differs");
            if key != Some(k) {
                left.sort_unstable();
                right.sort_unstable();
                assert_eq!(left, right, "rows with the key {key:?} differ");
                left.clear();
                right.clear();
                key = Some(k);
            }
            left.push(wanted_id);
            right.push(id);
            rows += 1;
        }
    }
    left.sort_unstable();
    right.sort_unstable();
    assert_eq!(left, right, "rows with the last key differ");
    assert!(found.next().is_none(), "the parts have more than {rows} rows");
    Ok(rows)
}

fn pairs(batches: impl Iterator<Item = RecordBatch>) -> impl Iterator<Item = (i64, i64)> {
    batches.flat_map(|batch| {
        let column =
            |name: &str| batch.column_by_name(name).expect("k and id").as_primitive::<Int64Type>().clone();
        let (key, own) = (column("k"), column("id"));
        (0..batch.num_rows()).map(move |row| (key.value(row), own.value(row)))
    })
}
