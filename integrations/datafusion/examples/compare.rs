//! DataFusion as it comes, DataFusion told to sort in place, and bitonic, on the same tables in memory.
//!
//! `cargo run --release --example compare [ROWS [RUNS [QUERY]]]`; QUERY is a part of a query's name.
//!
//! The last column compares the time of processors, which says more than time on the clock where other programs run.

use bitonic_datafusion::enable;
use datafusion::arrow::array::{ArrayRef, Float64Array, Int32Array, Int64Array, RecordBatch, StringArray};
use datafusion::datasource::MemTable;
use datafusion::error::Result;
use datafusion::execution::SessionStateBuilder;
use datafusion::prelude::{SessionConfig, SessionContext};
use futures::StreamExt;
use rand::rngs::StdRng;
use rand::{Rng, RngExt, SeedableRng};
use std::sync::Arc;
use std::time::Instant;

const QUERIES: [(&str, &str); 8] = [
    ("key only", "select k from t order by k"),
    ("key + 1 column", "select k, a from t order by k"),
    ("two keys + 4 columns", "select g, k, a, i, f, s from t order by g, k desc"),
    ("small key + 1 column", "select g, a from t order by g"),
    ("float key + 1 column", "select f, a from t order by f desc"),
    ("sorted key + 1 column", "select n, a from t order by n"),
    ("limit 100", "select k, a from t order by k limit 100"),
    ("limit 100000", "select k, a from t order by k limit 100000"),
];

fn table(rows: usize, partitions: usize) -> Result<MemTable> {
    let mut random = StdRng::seed_from_u64(1);
    let mut parts = vec![vec![]; partitions];
    let mut start = 0;
    while start < rows {
        let count = 8192.min(rows - start);
        let random = &mut random;
        let columns: Vec<(&str, ArrayRef)> = vec![
            ("k", Arc::new((0..count).map(|_| random.next_u64() as i64).collect::<Int64Array>())),
            ("a", Arc::new((0..count).map(|_| random.next_u64() as i64).collect::<Int64Array>())),
            ("g", Arc::new((0..count).map(|_| random.random_range(0..1000)).collect::<Int32Array>())),
            ("i", Arc::new((0..count).map(|_| random.next_u64() as i32).collect::<Int32Array>())),
            ("f", Arc::new((0..count).map(|_| random.random::<f64>()).collect::<Float64Array>())),
            ("n", Arc::new((start..start + count).map(|row| row as i64).collect::<Int64Array>())),
            (
                "s",
                Arc::new(StringArray::from_iter_values(
                    (0..count).map(|_| format!("name {}", random.random_range(0..1_000_000))),
                )),
            ),
        ];
        let batch = RecordBatch::try_from_iter(columns)?;
        // Neighbours stay in one partition, so that a sorted column is sorted in each.
        parts[start * partitions / rows].push(batch);
        start += count;
    }
    MemTable::try_new(parts.iter().flatten().next().expect("there are rows").schema(), parts)
}

/// The time that the processors have spent on this program, in hundredths of a second as Linux tells it; 0 elsewhere.
fn processor_time() -> f64 {
    let about = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // The name of the program, in brackets, may have spaces.
    let numbers = about.rsplit_once(')').map_or("", |(_, numbers)| numbers).split_whitespace();
    numbers.skip(11).take(2).filter_map(|number| number.parse::<f64>().ok()).sum()
}

#[tokio::main]
async fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |place: usize, usual| {
        arguments.get(place).map_or(usual, |text| text.parse().expect("ROWS and RUNS are numbers"))
    };
    let (rows, runs) = (number(0, 10_000_000), number(1, 5));
    let part_of_name = arguments.get(2).map_or("", String::as_str);
    let partitions = std::thread::available_parallelism()?.get();
    let table = Arc::new(table(rows, partitions)?);

    let usual = SessionConfig::new().with_target_partitions(partitions);
    let tuned = usual.clone().with_sort_in_place_threshold_bytes(usize::MAX);
    let builder =
        |config: SessionConfig| SessionStateBuilder::new().with_default_features().with_config(config);
    let sessions = [builder(usual.clone()), builder(tuned), enable(builder(usual))]
        .map(|builder| SessionContext::new_with_state(builder.build()));
    for session in &sessions {
        session.register_table("t", table.clone())?;
    }

    println!("{rows} rows in {partitions} partitions, nanoseconds a row, medians of {runs} runs\n");
    println!("| query | DataFusion | tuned | bitonic | to DataFusion | to tuned | processors |");
    println!("|---|---:|---:|---:|---:|---:|---:|");
    for (name, query) in QUERIES.into_iter().filter(|(name, _)| name.contains(part_of_name)) {
        let mut times = vec![vec![]; sessions.len()];
        let mut processors = vec![0.0; sessions.len()];
        for _ in 0..runs {
            for ((session, times), processors) in sessions.iter().zip(&mut times).zip(&mut processors) {
                let frame = session.sql(query).await?;
                *processors -= processor_time();
                let start = Instant::now();
                let mut stream = frame.execute_stream().await?;
                let mut found = 0;
                while let Some(batch) = stream.next().await {
                    found += batch?.num_rows();
                }
                times.push(start.elapsed().as_secs_f64() * 1e9 / rows as f64);
                *processors += processor_time();
                let limit = query.split_once("limit ").and_then(|(_, limit)| limit.parse().ok());
                assert_eq!(found, limit.unwrap_or(rows).min(rows), "rows of {query}");
            }
        }
        let [plain, tuned, ours] = std::array::from_fn(|number| {
            times[number].sort_by(f64::total_cmp);
            times[number][runs / 2]
        });
        println!(
            "| {name} | {plain:.1} | {tuned:.1} | {ours:.1} | {:.2} | {:.2} | {:.2} |",
            plain / ours,
            tuned / ours,
            processors[1] / processors[2]
        );
    }
    Ok(())
}
