//! Random sorts beside those of `SortExec`: the same keys bit for bit, and the same rows for every key.

use crate::tables::{PAYLOADS, Payload, SPREADS, Spread, cut, key_column, key_types, payload_columns};
use bitonic_datafusion::{BitonicSort, BitonicSortExec};
use datafusion::arrow::array::{Array, RecordBatch, UInt32Array};
use datafusion::arrow::compute::{SortOptions, concat_batches};
use datafusion::arrow::datatypes::{Field, Schema, SchemaRef};
use datafusion::arrow::row::{RowConverter, SortField};
use datafusion::config::ConfigOptions;
use datafusion::datasource::memory::MemorySourceConfig;
use datafusion::error::{DataFusionError, Result};
use datafusion::execution::TaskContext;
use datafusion::execution::memory_pool::{FairSpillPool, GreedyMemoryPool, MemoryPool};
use datafusion::execution::runtime_env::RuntimeEnvBuilder;
use datafusion::physical_expr::expressions::Column;
use datafusion::physical_expr::{LexOrdering, PhysicalSortExpr};
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_optimizer::sanity_checker::SanityCheckPlan;
use datafusion::physical_plan::sorts::sort::SortExec;
use datafusion::physical_plan::sorts::sort_preserving_merge::SortPreservingMergeExec;
use datafusion::physical_plan::{ExecutionPlan, ExecutionPlanProperties, common};
use datafusion::prelude::SessionConfig;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use std::collections::HashMap;
use std::sync::Arc;

/// The number of cases, unless the environment says otherwise. One in eight has too little memory for any sort.
const CASES: u64 = 12_000;

/// What is sorted, and how.
#[derive(Clone, Debug)]
struct Case {
    rows: usize,
    keys: Vec<(usize, Spread, u32, SortOptions)>,
    payload: Payload,
    batch_size: usize,
    longest_batch: usize,
    partitions: usize,
    merged: bool,
    fetch: Option<usize>,
    /// Bytes, and whether the pool is fair.
    memory: Option<(usize, bool)>,
}

impl Case {
    fn random(random: &mut StdRng) -> Self {
        let one_of = |random: &mut StdRng, items: &[usize]| items[random.random_range(0..items.len())];
        let rows = match random.random_range(0..100) {
            0 => random.random_range(16_000..50_000),
            1..10 => random.random_range(0..4),
            _ => random.random_range(0..400),
        };
        let count = one_of(random, &[1, 1, 1, 2, 2, 3]);
        let keys = (0..count).map(|_| {
            (
                random.random_range(0..key_types().len()),
                SPREADS[random.random_range(0..SPREADS.len())],
                [0, 0, 1, 5, 10][random.random_range(0..5)],
                SortOptions { descending: random.random(), nulls_first: random.random() },
            )
        });
        let keys = keys.collect();
        let partitions = one_of(random, &[1, 1, 2, 3, 5]);
        let merged = random.random_range(0..4) > 0;
        // Heaps of several partitions know of each other, and leave out rows that no merge above them would take.
        let fetch = (random.random_range(0..3) == 0 && (merged || partitions == 1))
            .then(|| random.random_range(1..rows.max(1) * 5 / 4 + 2));
        Self {
            keys,
            payload: PAYLOADS[random.random_range(0..PAYLOADS.len())],
            batch_size: one_of(random, &[1, 7, 100, 1000, 8192]).max(rows / 500).max(1),
            longest_batch: one_of(random, &[1, 10, 100, 1000, 8192]).max(rows / 500).max(1),
            partitions,
            merged,
            fetch,
            memory: (random.random_range(0..5) == 0)
                .then(|| (rows * one_of(random, &[10, 50, 100, 200, 400]), random.random())),
            rows,
        }
    }

    fn table(&self, random: &mut StdRng) -> RecordBatch {
        let types = key_types();
        let keys = self
            .keys
            .iter()
            .map(|&(kind, spread, nulls, _)| key_column(&types[kind], self.rows, spread, nulls, random));
        let mut columns: Vec<_> = keys.collect();
        columns.extend(payload_columns(self.payload, self.rows, random));
        let fields: Vec<_> = columns
            .iter()
            .enumerate()
            .map(|(number, column)| Field::new(format!("c{number}"), column.data_type().clone(), true))
            .collect();
        RecordBatch::try_new(Arc::new(Schema::new(fields)), columns).unwrap()
    }

    fn order(&self) -> LexOrdering {
        let keys = self.keys.iter().enumerate().map(|(number, &(.., options))| {
            PhysicalSortExpr::new(Arc::new(Column::new(&format!("c{number}"), number)), options)
        });
        LexOrdering::new(keys).unwrap()
    }

    /// The sort as DataFusion plans it.
    fn plan(&self, parts: &[Vec<RecordBatch>], schema: SchemaRef) -> Arc<dyn ExecutionPlan> {
        let input = MemorySourceConfig::try_new_exec(parts, schema, None).unwrap();
        let sort = SortExec::new(self.order(), input)
            .with_preserve_partitioning(self.partitions > 1)
            .with_fetch(self.fetch);
        if self.partitions > 1 && self.merged {
            Arc::new(SortPreservingMergeExec::new(self.order(), Arc::new(sort)).with_fetch(self.fetch))
        } else {
            Arc::new(sort)
        }
    }

    fn context(&self) -> Arc<TaskContext> {
        let mut runtime = RuntimeEnvBuilder::new();
        if let Some((bytes, is_fair)) = self.memory {
            let pool: Arc<dyn MemoryPool> = if is_fair {
                Arc::new(FairSpillPool::new(bytes))
            } else {
                Arc::new(GreedyMemoryPool::new(bytes))
            };
            runtime = runtime.with_memory_pool(pool);
        }
        let config = SessionConfig::new()
            .with_batch_size(self.batch_size)
            .with_sort_spill_reservation_bytes(self.memory.map_or(0, |(bytes, _)| bytes / 10));
        let context = TaskContext::default().with_session_config(config);
        Arc::new(context.with_runtime(runtime.build_arc().unwrap()))
    }
}

/// Every partition of the result.
async fn run(plan: &Arc<dyn ExecutionPlan>, context: &Arc<TaskContext>) -> Result<Vec<Vec<RecordBatch>>> {
    let mut parts = Vec::new();
    for partition in 0..plan.output_partitioning().partition_count() {
        parts.push(common::collect(plan.execute(partition, Arc::clone(context))?).await?);
    }
    Ok(parts)
}

/// What came of a case.
#[derive(Default)]
struct Tally {
    compared: usize,
    handed_back: usize,
    out_of_memory: usize,
    only_ours_out_of_memory: usize,
}

async fn check(case: &Case, random: &mut StdRng, tally: &mut Tally) -> std::result::Result<(), String> {
    let table = case.table(random);
    let parts = cut(&table, case.partitions, case.longest_batch, random);
    let plain = case.plan(&parts, table.schema());
    let rule = BitonicSort::new().with_heap_up_to(0);
    let ours = rule.optimize(case.plan(&parts, table.schema()), &ConfigOptions::new()).unwrap();
    if ours.downcast_ref::<BitonicSortExec>().is_none() {
        return Err(format!("the sort was not taken: {}", ours.name()));
    }
    SanityCheckPlan::new().optimize(Arc::clone(&ours), &ConfigOptions::new()).map_err(|e| e.to_string())?;

    let expected = match run(&plain, &case.context()).await {
        Ok(parts) => parts,
        // Nothing to compare with: this is too little memory for SortExec, too.
        Err(error) if is_out_of_memory(&error) => {
            tally.out_of_memory += 1;
            return Ok(());
        }
        Err(error) => return Err(format!("SortExec: {error}")),
    };
    let found = match run(&ours, &case.context()).await {
        Ok(parts) => parts,
        // Several sorts that share a small pool take what they get: whether it is enough for all is chance, in SortExec, too.
        // Sorts that were handed back run out somewhat more often: see the README.
        Err(error) if is_out_of_memory(&error) && case.merged && case.partitions > 1 => {
            for _ in 0..20 {
                if run(&plain, &case.context()).await.is_err() {
                    tally.out_of_memory += 1;
                    return Ok(());
                }
            }
            tally.only_ours_out_of_memory += 1;
            return Ok(());
        }
        Err(error) => return Err(format!("BitonicSortExec: {error}")),
    };
    tally.compared += 1;
    tally.handed_back += usize::from(ours.metrics().and_then(|metrics| metrics.spill_count()) > Some(0));
    let rows: usize = found.iter().flatten().map(RecordBatch::num_rows).sum();
    if ours.metrics().and_then(|metrics| metrics.output_rows()) != Some(rows) {
        return Err("the metric of rows is wrong".into());
    }

    if expected.len() != found.len() {
        return Err(format!("{} partitions instead of {}", found.len(), expected.len()));
    }
    for (expected, found) in expected.iter().zip(&found) {
        if let Some(batch) = found.iter().find(|batch| batch.num_rows() > case.batch_size) {
            return Err(format!("a batch of {} rows", batch.num_rows()));
        }
        let schema = table.schema();
        let expected = concat_batches(&schema, expected).unwrap();
        let found = concat_batches(&schema, found).map_err(|error| error.to_string())?;
        compare(case, &table, &expected, &found)?;
        // SortExec is not stable, and may have sorted.
        if case.memory.is_none() {
            is_stable(case, &found)?;
        }
    }
    Ok(())
}

fn is_out_of_memory(error: &DataFusionError) -> bool {
    matches!(error.find_root(), DataFusionError::ResourcesExhausted(_))
}

/// The rows of some columns as bytes: equal bytes are equal rows.
fn bytes(batch: &RecordBatch, columns: std::ops::Range<usize>) -> Vec<Vec<u8>> {
    let columns = &batch.columns()[columns];
    let fields = columns.iter().map(|column| SortField::new(column.data_type().clone())).collect();
    let rows = RowConverter::new(fields).unwrap().convert_columns(columns).unwrap();
    rows.iter().map(|row| row.as_ref().to_vec()).collect()
}

fn compare(
    case: &Case,
    table: &RecordBatch,
    expected: &RecordBatch,
    found: &RecordBatch,
) -> std::result::Result<(), String> {
    if expected.num_rows() != found.num_rows() {
        return Err(format!("{} rows instead of {}", found.num_rows(), expected.num_rows()));
    }
    let keys = case.keys.len();
    for column in 0..keys {
        if expected.column(column).to_data() != found.column(column).to_data() {
            return Err(format!(
                "key {column}: {:?} instead of {:?}",
                found.column(column),
                expected.column(column)
            ));
        }
    }
    let all = 0..table.num_columns();
    let key_bytes = bytes(expected, 0..keys);
    let (expected, found) = (bytes(expected, all.clone()), bytes(found, all.clone()));
    let mut start = 0;
    for run in key_bytes.chunk_by(|one, other| one == other) {
        let range = start..start + run.len();
        start = range.end;
        let (mut one, mut other) = (expected[range.clone()].to_vec(), found[range].to_vec());
        one.sort();
        other.sort();
        // Where a limit cuts through rows with equal keys, any of them will do.
        if case.fetch.is_some() && start == expected.len() {
            let mut left = HashMap::<Vec<u8>, usize>::new();
            bytes(table, all.clone()).into_iter().for_each(|row| *left.entry(row).or_default() += 1);
            for row in other {
                match left.get_mut(&row) {
                    Some(count) if *count > 0 => *count -= 1,
                    _ => return Err(format!("a row before row {start} is not one of the input")),
                }
            }
        } else if one != other {
            return Err(format!("the rows before row {start} differ"));
        }
    }
    Ok(())
}

fn is_stable(case: &Case, found: &RecordBatch) -> std::result::Result<(), String> {
    let Some(numbers) = found.columns().get(case.keys.len()) else { return Ok(()) };
    let numbers = numbers.as_any().downcast_ref::<UInt32Array>().unwrap().values();
    let keys = bytes(found, 0..case.keys.len());
    for (place, (pair, keys)) in numbers.windows(2).zip(keys.windows(2)).enumerate() {
        if keys[0] == keys[1] && pair[0] > pair[1] {
            return Err(format!("row {place} is not in the order of the input"));
        }
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn random_sorts_are_those_of_sort_exec() {
    let cases =
        std::env::var("BITONIC_DATAFUSION_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(CASES);
    let mut tally = Tally::default();
    for seed in 0..cases {
        let mut random = StdRng::seed_from_u64(seed);
        let case = Case::random(&mut random);
        if let Err(message) = check(&case, &mut random, &mut tally).await {
            panic!("seed {seed}: {message}\n{case:?}");
        }
    }
    println!(
        "{} of {cases} cases compared, {} of them with spills; out of memory: SortExec in {}, ours alone in {}",
        tally.compared, tally.handed_back, tally.out_of_memory, tally.only_ours_out_of_memory
    );
    assert!(tally.compared as u64 >= cases * 8 / 10, "too many cases had too little memory to say anything");
    assert!(
        tally.only_ours_out_of_memory as u64 <= cases / 100,
        "sorts that are handed back need too much memory"
    );
    assert!(tally.handed_back as u64 >= cases / 200, "hardly a case was handed back");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn large_sorts_are_those_of_sort_exec() {
    let kinds = [3, 7, 10, 13, 29];
    for (number, &kind) in kinds.iter().enumerate() {
        for (payload, has_second) in [
            (Payload::None, true),
            (Payload::None, false),
            (Payload::Integers, false),
            (Payload::Integers, true),
            (Payload::Strings, true),
        ] {
            let mut random = StdRng::seed_from_u64(number as u64);
            let options = SortOptions { descending: number % 2 == 1, nulls_first: number % 3 == 0 };
            let second = SortOptions { descending: number % 2 == 0, nulls_first: true };
            // One key is alone and has any bits: rows are spread over buckets. Two keys begin with every kind of values.
            let keys = if has_second {
                vec![(kind, SPREADS[number % 4], 1, options), (3, Spread::Bits, 0, second)]
            } else {
                vec![(kind, Spread::Bits, (number % 2) as u32, options)]
            };
            let case = Case {
                rows: 300_000,
                keys,
                payload,
                batch_size: 8192,
                longest_batch: 20_000,
                partitions: 1 + number % 3,
                merged: true,
                fetch: (number == 2).then_some(70_000),
                memory: None,
            };
            if let Err(message) = check(&case, &mut random, &mut Tally::default()).await {
                panic!("{message}\n{case:?}");
            }
        }
    }
}
