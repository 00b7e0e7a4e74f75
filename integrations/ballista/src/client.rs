//! The client: samples the keys, sends the plan, and checks what comes back.

use crate::codec::BitonicCodec;
use crate::parts::{Part, PartFiles, PartFilesExec, part_name};
use crate::ranges::Ranges;
use ballista_core::config::{BALLISTA_SCHEDULER_MAX_PARTITIONS_PER_TASK, BallistaConfig};
use ballista_core::execution_plans::execute_physical_plan;
use ballista_core::extension::SessionConfigExt;
use ballista_core::ids::new_instance_id;
use bitonic_datafusion::BitonicSortExec;
use datafusion::arrow::array::{AsArray, RecordBatch};
use datafusion::arrow::datatypes::Int64Type;
use datafusion::common::config::ConfigOptions;
use datafusion::error::DataFusionError;
use datafusion::functions::math::random;
use datafusion::logical_expr::Operator;
use datafusion::parquet::file::reader::{FileReader, SerializedFileReader};
use datafusion::physical_expr::expressions::{BinaryExpr, lit};
use datafusion::physical_expr::{PhysicalExpr, ScalarFunctionExpr};
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_optimizer::projection_pushdown::ProjectionPushdown;
use datafusion::physical_plan::filter::FilterExec;
use datafusion::physical_plan::projection::{ProjectionExec, ProjectionExpr};
use datafusion::physical_plan::repartition::RepartitionExec;
use datafusion::physical_plan::sorts::sort::SortExec;
use datafusion::physical_plan::sorts::sort_preserving_merge::SortPreservingMergeExec;
use datafusion::physical_plan::{ExecutionPlan, common::collect};
use datafusion::prelude::{ParquetReadOptions, SessionConfig, SessionContext};
use datafusion_proto::protobuf::PhysicalPlanNode;
use std::fmt;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};
use url::Url;

/// What to sort, and into what.
#[derive(Clone, Debug)]
pub struct Sort {
    /// The scheduler, such as `http://127.0.0.1:50050`.
    pub scheduler: String,
    /// Parquet files or folders of them, under the same path on the client and on every executor.
    pub input: Vec<PathBuf>,
    /// Keys as in `ORDER BY`, such as `a desc nulls last, b`.
    pub order: String,
    /// A folder for the result, new or empty, under the same path on the client and on every executor.
    pub output: PathBuf,
    /// How many rows a range should have. An executor holds one for each of its cores, and the sort needs it twice.
    pub rows_per_range: usize,
    /// How many bytes of the input are read by one task.
    pub bytes_per_task: usize,
    /// Keys in the sample for each range. 1,000 keep most ranges within 10 % of the mean.
    pub sample_per_range: usize,
    /// The compression of the files, as Parquet names it: `snappy`, `zstd(1)`, `uncompressed`.
    pub compression: String,
}

impl Sort {
    /// With 4,000,000 rows a range, 128 MiB a task, 1,000 keys of a sample a range, and snappy.
    pub fn new(
        scheduler: impl Into<String>,
        input: Vec<PathBuf>,
        order: impl Into<String>,
        output: impl Into<PathBuf>,
    ) -> Self {
        Self {
            scheduler: scheduler.into(),
            input,
            order: order.into(),
            output: output.into(),
            rows_per_range: 4_000_000,
            bytes_per_task: 128 << 20,
            sample_per_range: 1_000,
            compression: "snappy".into(),
        }
    }
}

/// What was sorted, and how long it took.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The files, in order.
    pub parts: Vec<Part>,
    /// Rows in the sample.
    pub sampled: usize,
    /// The job that took the sample.
    pub sample_time: Duration,
    /// The job that read, shuffled, sorted and wrote.
    pub sort_time: Duration,
}

impl Outcome {
    /// Rows of all files.
    pub fn rows(&self) -> u64 {
        self.parts.iter().map(|part| part.rows).sum()
    }
}

/// Why a sort did not succeed. The folder of the result then has no `_SUCCESS`.
#[derive(Debug)]
pub enum SortError {
    /// The input cannot be read.
    Input(String),
    /// The order cannot be understood.
    Order(String),
    /// The folder of the result cannot be used.
    Output(String),
    /// The cluster failed.
    Cluster(String),
    /// The cluster said success, and it was none.
    Check(String),
}

impl fmt::Display for SortError {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Self::Input(text) | Self::Order(text) | Self::Output(text) | Self::Cluster(text) => {
                write!(f, "{text}")
            }
            Self::Check(text) => write!(
                f,
                "the result is wrong, and is not marked as a success: {text}. Empty the folder and sort again; if it happens again, please report it."
            ),
        }
    }
}

impl std::error::Error for SortError {}

/// Sorts Parquet files on a cluster into one file for each range of keys.
///
/// # Errors
/// See [`SortError`]. Whatever it is, the folder of the result has no `_SUCCESS`; parts that were written stay there.
pub async fn sort(sort: &Sort) -> Result<Outcome, SortError> {
    let table = Table::open(sort).await?;
    let folder = empty_folder(&sort.output)?;
    let ranges = table.rows.div_ceil(sort.rows_per_range.max(1) as u64).clamp(1, MOST_RANGES) as usize;
    let start = Instant::now();
    let sample = table.sample(sort, ranges).await?;
    let sample_time = start.elapsed();
    let sampled = sample.iter().map(RecordBatch::num_rows).sum();
    let start = Instant::now();
    let mut parts = if table.rows == 0 { vec![] } else { table.sort(sort, &sample, ranges, &folder).await? };
    parts.sort_by_key(|part| part.range);
    told_once(&mut parts);
    check(&mut parts, table.rows, &sort.output)?;
    finish(&parts, &sort.output)?;
    Ok(Outcome { parts, sampled, sample_time, sort_time: start.elapsed() })
}

/// Names of files have five digits.
const MOST_RANGES: u64 = 100_000;

/// The input, planned.
struct Table {
    rows: u64,
    /// Reads it, and knows its order.
    sorted: SortExec,
}

impl Table {
    async fn open(sort: &Sort) -> Result<Self, SortError> {
        let mut bytes = 0;
        let mut paths = vec![];
        for path in &sort.input {
            let unreadable = |reason: &dyn fmt::Display| {
                SortError::Input(format!(
                    "{}: {reason}. Give Parquet files or folders of them.",
                    path.display()
                ))
            };
            bytes += size(path).map_err(|error| unreadable(&error))?;
            paths.push(address(path).map_err(|error| unreadable(&error))?);
        }
        if paths.is_empty() {
            return Err(SortError::Input("there is no input. Give Parquet files or folders of them.".into()));
        }
        let tasks = (bytes as usize).div_ceil(sort.bytes_per_task.max(1)).max(1);
        let mut config =
            SessionConfig::new().with_target_partitions(tasks).with_round_robin_repartition(false);
        // Text stays the type that it has in the files.
        config.options_mut().execution.parquet.schema_force_view_types = false;
        let context = SessionContext::new_with_config(config);
        let unreadable = |error: DataFusionError| {
            SortError::Input(format!(
                "{}: {error}. Are they whole Parquet files with one schema?",
                paths.join(", ")
            ))
        };
        let frame =
            context.read_parquet(paths.clone(), ParquetReadOptions::default()).await.map_err(unreadable)?;
        context.register_table("input", frame.into_view()).map_err(unreadable)?;
        let count = async { context.sql("select count(*) from input").await?.collect().await };
        let rows = count.await.map_err(unreadable)?[0].column(0).as_primitive::<Int64Type>().value(0) as u64;
        let ordered = async {
            let query = format!("select * from input order by {}", sort.order);
            context.sql(&query).await?.create_physical_plan().await
        };
        let plan = ordered.await.map_err(|error| {
            SortError::Order(format!(
                "order by {}: {error}. Write it as in SQL, such as \"a desc, b\".",
                sort.order
            ))
        })?;
        let Some(found) = sort_in(&plan) else {
            return Err(SortError::Order(format!(
                "order by {}: this leaves nothing to sort. Name columns of the files.",
                sort.order
            )));
        };
        let input = found.input();
        let split = input.repartitioned(tasks, context.state().config_options()).map_err(unreadable)?;
        let sorted = SortExec::new(found.expr().clone(), split.unwrap_or_else(|| Arc::clone(input)))
            .with_preserve_partitioning(true);
        Ok(Self { rows, sorted })
    }

    /// A random sample of the keys, taken by the cluster.
    async fn sample(&self, sort: &Sort, ranges: usize) -> Result<Vec<RecordBatch>, SortError> {
        let planned = || -> datafusion::error::Result<Arc<dyn ExecutionPlan>> {
            let keys = self.sorted.expr().iter().enumerate().map(|(number, key)| ProjectionExpr {
                expr: Arc::clone(&key.expr),
                alias: format!("key{number}"),
            });
            let keys = ProjectionExec::try_new(keys, Arc::clone(self.sorted.input()))?;
            let keys = ProjectionPushdown::new().optimize(Arc::new(keys), &ConfigOptions::default())?;
            let share = (ranges * sort.sample_per_range.max(1)) as f64 / self.rows as f64;
            if share >= 1.0 {
                return Ok(keys);
            }
            let chance = ScalarFunctionExpr::try_new(
                random(),
                vec![],
                &keys.schema(),
                Arc::new(ConfigOptions::default()),
            )?;
            let chosen: Arc<dyn PhysicalExpr> =
                Arc::new(BinaryExpr::new(Arc::new(chance), Operator::Lt, lit(share)));
            Ok(Arc::new(FilterExec::try_new(chosen, keys)?))
        };
        let plan =
            planned().map_err(|error| SortError::Order(format!("order by {}: {error}", sort.order)))?;
        let schema = plan.schema();
        let mut sample = run(sort, plan, "sample").await?;
        // A table without rows still has a schema.
        sample.push(RecordBatch::new_empty(schema));
        Ok(sample)
    }

    async fn sort(
        &self,
        sort: &Sort,
        sample: &[RecordBatch],
        ranges: usize,
        folder: &str,
    ) -> Result<Vec<Part>, SortError> {
        let planned = || -> datafusion::error::Result<Arc<dyn ExecutionPlan>> {
            let (order, input) = (self.sorted.expr().clone(), self.sorted.input());
            let ranges = Ranges::from_sample(order.clone(), sample, ranges)?;
            let target = PartFiles {
                folder: folder.to_string(),
                compression: sort.compression.clone(),
                order: order.clone(),
                range: ranges.number(&input.schema())?,
            };
            let shuffled =
                RepartitionExec::try_new(Arc::clone(input), ranges.partitioning(&input.schema())?)?;
            let sorted = SortExec::new(order, Arc::new(shuffled)).with_preserve_partitioning(true);
            let sorted: Arc<dyn ExecutionPlan> = match BitonicSortExec::try_from(sorted.clone()) {
                Ok(bitonic) => Arc::new(bitonic),
                Err(DataFusionError::NotImplemented(_)) => Arc::new(sorted),
                Err(error) => return Err(error),
            };
            Ok(Arc::new(PartFilesExec::new(sorted, target)))
        };
        let plan =
            planned().map_err(|error| SortError::Order(format!("order by {}: {error}", sort.order)))?;
        let mut parts = vec![];
        for batch in run(sort, plan, "sort").await? {
            parts.extend(Part::from_batch(&batch).map_err(|error| SortError::Check(error.to_string()))?);
        }
        Ok(parts)
    }
}

/// The sort of a plan, below the merge that needs not be: ranges come in order.
fn sort_in(plan: &Arc<dyn ExecutionPlan>) -> Option<&SortExec> {
    match plan.downcast_ref::<SortPreservingMergeExec>() {
        Some(merge) => merge.input().downcast_ref::<SortExec>(),
        None => plan.downcast_ref::<SortExec>(),
    }
}

/// Bytes of a file, or of the files in a folder.
fn size(path: &Path) -> std::io::Result<u64> {
    let of = std::fs::metadata(path)?;
    if of.is_file() {
        return Ok(of.len());
    }
    std::fs::read_dir(path)?.map(|entry| size(&entry?.path())).sum()
}

/// Runs a plan on the cluster.
async fn run(sort: &Sort, plan: Arc<dyn ExecutionPlan>, name: &str) -> Result<Vec<RecordBatch>, SortError> {
    // One partition a task: less is repeated when an executor is lost, and a range has the memory of a core.
    let session = SessionConfig::new_with_ballista()
        .with_ballista_job_name(&format!("bitonic {name}"))
        .set_str(BALLISTA_SCHEDULER_MAX_PARTITIONS_PER_TASK, "1");
    let rows = async {
        let (config, codec) = (BallistaConfig::default(), BitonicCodec::default());
        let scheduler = sort.scheduler.clone();
        let stream = execute_physical_plan::<PhysicalPlanNode>(
            scheduler,
            &config,
            plan,
            &codec,
            new_instance_id(),
            session,
        );
        collect(stream.await?).await
    };
    rows.await.map_err(|error| {
        SortError::Cluster(format!(
            "the cluster at {} did not finish the {name}: {error}\nAre bitonic-scheduler and at least one bitonic-executor of this version running? Their messages say more.",
            sort.scheduler
        ))
    })
}

/// Makes the folder of the result, and gives its address.
fn empty_folder(path: &Path) -> Result<String, SortError> {
    let unusable = |reason: &dyn fmt::Display| {
        SortError::Output(format!(
            "{}: {reason}. Give a new or empty folder that every executor can write to.",
            path.display()
        ))
    };
    std::fs::create_dir_all(path).map_err(|error| unusable(&error))?;
    if std::fs::read_dir(path).map_err(|error| unusable(&error))?.next().is_some() {
        return Err(unusable(&"there is something in it"));
    }
    address(path).map_err(|error| unusable(&error))
}

/// A path as `file:///..`, in which no character has another meaning. A folder ends in a slash.
fn address(path: &Path) -> std::io::Result<String> {
    let path = std::fs::canonicalize(path)?;
    let address = if path.is_dir() { Url::from_directory_path(&path) } else { Url::from_file_path(&path) };
    Ok(address.map_err(|()| std::io::Error::other("the path is not absolute"))?.to_string())
}

/// When an executor is lost, Ballista may repeat a task that was done, and tell of both. They wrote the same rows to the same file.
fn told_once(parts: &mut Vec<Part>) {
    parts.dedup_by(|again, before| {
        (again.range, again.rows, &again.first, &again.last)
            == (before.range, before.rows, &before.first, &before.last)
    });
}

/// Everything that a wrong result would break. Sizes are then those of the files that are there.
fn check(parts: &mut [Part], rows: u64, folder: &Path) -> Result<(), SortError> {
    let written: u64 = parts.iter().map(|part| part.rows).sum();
    if written != rows {
        return Err(SortError::Check(format!("{written} rows were written of {rows}")));
    }
    for pair in parts.windows(2) {
        if pair[0].range == pair[1].range {
            return Err(SortError::Check(format!("{} was written twice", part_name(pair[0].range))));
        }
        // Equal keys are in one range, so that they may not be in two files either.
        if pair[0].last >= pair[1].first {
            let (before, after) = (part_name(pair[0].range), part_name(pair[1].range));
            return Err(SortError::Check(format!("{before} ends after {after} begins")));
        }
    }
    for part in parts {
        let path = folder.join(part_name(part.range));
        let wrong = |reason: &dyn fmt::Display| SortError::Check(format!("{}: {reason}", path.display()));
        let file = File::open(&path)
            .map_err(|error| wrong(&format!("{error}. Do all executors see this folder under this path?")))?;
        part.bytes = file.metadata().map_err(|error| wrong(&error))?.len();
        let footer = SerializedFileReader::new(file).map_err(|error| wrong(&error))?;
        let found = footer.metadata().file_metadata().num_rows();
        if found as u64 != part.rows {
            return Err(wrong(&format!("it has {found} rows in place of {}", part.rows)));
        }
    }
    Ok(())
}

/// Removes what lost executors left half written, and says that all is well.
fn finish(parts: &[Part], folder: &Path) -> Result<(), SortError> {
    let failed =
        |path: &Path, error: std::io::Error| SortError::Output(format!("{}: {error}", path.display()));
    for entry in std::fs::read_dir(folder).map_err(|error| failed(folder, error))? {
        let path = entry.map_err(|error| failed(folder, error))?.path();
        // An upload that was not finished has the name of the file, and a number after it.
        if path.to_str().is_some_and(|path| path.contains(".parquet#")) {
            std::fs::remove_file(&path).map_err(|error| failed(&path, error))?;
        }
    }
    let line = |part: &Part| format!("{}\t{}\t{}\n", part_name(part.range), part.rows, part.bytes);
    let text: String = parts.iter().map(line).collect();
    let path = folder.join("_SUCCESS");
    std::fs::write(&path, text).map_err(|error| failed(&path, error))
}

#[cfg(test)]
mod tests {
    use super::*;
    use datafusion::arrow::array::{ArrayRef, Int64Array};
    use datafusion::parquet::arrow::ArrowWriter;

    fn part(range: u64, first: u8, last: u8) -> Part {
        Part { range, rows: 10, bytes: 4, first: vec![first], last: vec![last] }
    }

    fn write(path: &Path, rows: i64) {
        let column: ArrayRef = Arc::new(Int64Array::from_iter_values(0..rows));
        let batch = RecordBatch::try_from_iter([("a", column)]).unwrap();
        let mut writer = ArrowWriter::try_new(File::create(path).unwrap(), batch.schema(), None).unwrap();
        writer.write(&batch).unwrap();
        writer.close().unwrap();
    }

    #[test]
    fn wrong_results_are_no_success() {
        let folder = std::env::temp_dir().join(format!("bitonic-ballista-check-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        for range in 0..2 {
            write(&folder.join(part_name(range)), 10);
        }
        let right = [part(0, 1, 3), part(1, 4, 9)];
        check(&mut right.clone(), 20, &folder).unwrap();
        let message =
            |parts: &[Part], rows| check(&mut parts.to_vec(), rows, &folder).unwrap_err().to_string();
        assert!(message(&right, 21).contains("20 rows were written of 21"));
        assert!(message(&right[..1], 20).contains("10 rows were written of 20"));
        assert!(
            message(&[part(0, 1, 3), part(0, 4, 9)], 20).contains("part-00000.parquet was written twice")
        );
        assert!(message(&[part(0, 1, 4), part(1, 4, 9)], 20).contains("ends after"));
        assert!(message(&[part(0, 1, 3), part(2, 4, 9)], 20).contains("part-00002.parquet"));
        write(&folder.join(part_name(1)), 9);
        assert!(message(&right, 20).contains("it has 9 rows in place of 10"));
        std::fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn a_repeated_task_counts_once() {
        let repeated = Part { bytes: 5, ..part(0, 1, 3) };
        let mut parts = vec![part(0, 1, 3), repeated, part(1, 4, 9)];
        told_once(&mut parts);
        assert_eq!(parts.iter().map(|part| part.range).collect::<Vec<_>>(), [0, 1]);
        // Another part of the same range is no repetition.
        let mut parts = vec![part(0, 1, 3), part(0, 1, 2)];
        told_once(&mut parts);
        assert_eq!(parts.len(), 2);
    }

    #[test]
    fn a_folder_with_something_in_it_is_refused() {
        let folder = std::env::temp_dir().join(format!("bitonic-ballista-folder-{}", std::process::id()));
        assert!(empty_folder(&folder).unwrap().ends_with('/'));
        std::fs::write(folder.join("mine"), "").unwrap();
        assert!(empty_folder(&folder).unwrap_err().to_string().contains("something in it"));
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
