//! The operator at the end: writes every range as a file of its own, and checks it on the way.

use crate::ranges::{Keys, options_of};
use datafusion::arrow::array::{ArrayRef, AsArray, BinaryArray, RecordBatch, UInt64Array};
use datafusion::arrow::datatypes::{DataType, Field, Schema, SchemaRef, UInt64Type};
use datafusion::arrow::row::Rows;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::datasource::listing::ListingTableUrl;
use datafusion::error::{DataFusionError, Result};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::object_store::ObjectStore;
use datafusion::object_store::buffered::BufWriter;
use datafusion::parquet::arrow::AsyncArrowWriter;
use datafusion::parquet::basic::Compression;
use datafusion::parquet::file::properties::WriterProperties;
use datafusion::physical_expr::{EquivalenceProperties, LexOrdering, OrderingRequirements, PhysicalExpr};
use datafusion::physical_plan::execution_plan::{Boundedness, EmissionType};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, ExecutionPlan, ExecutionPlanProperties, Partitioning, PlanProperties,
    ReplaceChildrenOptions,
};
use futures::{StreamExt, stream};
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

/// Writes each range of a sorted partition as `part-NNNNN.parquet`, where the number is that of the range.
///
/// - Result: one row for each file: number of the range, rows, bytes, and the first and the last key as bytes that compare as the
///   keys do. An empty range has no file.
/// - Checked: rows come in order, and so do ranges. Otherwise the task fails.
/// - Files appear whole or not at all; a task that is repeated replaces them.
/// - Memory: that of a Parquet row group, 2^20 rows, while it is encoded.
#[derive(Debug)]
pub struct PartFilesExec {
    input: Arc<dyn ExecutionPlan>,
    target: PartFiles,
    properties: Arc<PlanProperties>,
}

/// What is written, and where.
#[derive(Clone, Debug)]
pub struct PartFiles {
    /// The folder as an address, such as `file:///data/sorted/`.
    pub folder: String,
    /// A name that Parquet knows: `uncompressed`, `snappy`, `lz4_raw`, `zstd(1)`.
    pub compression: String,
    /// The order that rows are in.
    pub order: LexOrdering,
    /// The number of a row's range: [`Ranges::number`](crate::Ranges::number).
    pub range: Arc<dyn PhysicalExpr>,
}

/// The name of the file of a range.
pub(crate) fn part_name(range: u64) -> String {
    format!("part-{range:05}.parquet")
}

/// The columns of [`PartFilesExec`].
fn schema() -> SchemaRef {
    Arc::new(Schema::new(vec![
        Field::new("range", DataType::UInt64, false),
        Field::new("rows", DataType::UInt64, false),
        Field::new("bytes", DataType::UInt64, false),
        Field::new("first", DataType::Binary, false),
        Field::new("last", DataType::Binary, false),
    ]))
}

/// A file that was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// The number of its range.
    pub range: u64,
    /// How many rows it has.
    pub rows: u64,
    /// Its size.
    pub bytes: u64,
    pub(crate) first: Vec<u8>,
    pub(crate) last: Vec<u8>,
}

impl Part {
    pub(crate) fn to_batch(&self) -> Result<RecordBatch> {
        let number = |number: u64| Arc::new(UInt64Array::from(vec![number])) as ArrayRef;
        let key = |key: &[u8]| Arc::new(BinaryArray::from_vec(vec![key])) as ArrayRef;
        let columns = vec![
            number(self.range),
            number(self.rows),
            number(self.bytes),
            key(&self.first),
            key(&self.last),
        ];
        Ok(RecordBatch::try_new(schema(), columns)?)
    }

    /// The files that a batch of [`PartFilesExec`] names.
    pub(crate) fn from_batch(batch: &RecordBatch) -> Result<Vec<Self>> {
        if batch.schema().fields() != schema().fields() {
            return Err(DataFusionError::Internal(format!("these are no files: {}", batch.schema())));
        }
        let number = |column: usize| batch.column(column).as_primitive::<UInt64Type>();
        let key = |column: usize| batch.column(column).as_binary::<i32>();
        let part = |row| Self {
            range: number(0).value(row),
            rows: number(1).value(row),
            bytes: number(2).value(row),
            first: key(3).value(row).to_vec(),
            last: key(4).value(row).to_vec(),
        };
        Ok((0..batch.num_rows()).map(part).collect())
    }
}

impl PartFilesExec {
    /// Over an input whose partitions are in `target.order`.
    pub fn new(input: Arc<dyn ExecutionPlan>, target: PartFiles) -> Self {
        let properties = PlanProperties::new(
            EquivalenceProperties::new(schema()),
            Partitioning::UnknownPartitioning(input.output_partitioning().partition_count()),
            EmissionType::Final,
            Boundedness::Bounded,
        );
        Self { input, target, properties: Arc::new(properties) }
    }

    /// What is written, and where.
    pub fn target(&self) -> &PartFiles {
        &self.target
    }
}

impl DisplayAs for PartFilesExec {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter) -> fmt::Result {
        let PartFiles { folder, compression, order, .. } = &self.target;
        write!(f, "PartFilesExec: order=[{order}], folder={folder}, compression={compression}")
    }
}

impl ExecutionPlan for PartFilesExec {
    fn name(&self) -> &str {
        "PartFilesExec"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn required_input_ordering(&self) -> Vec<Option<OrderingRequirements>> {
        vec![Some(OrderingRequirements::from(self.target.order.clone()))]
    }

    fn benefits_from_input_partitioning(&self) -> Vec<bool> {
        vec![false]
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        vec![&self.input]
    }

    fn apply_expressions(
        &self,
        f: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        for key in &self.target.order {
            if f(&key.expr)? == TreeNodeRecursion::Stop {
                return Ok(TreeNodeRecursion::Stop);
            }
        }
        f(&self.target.range)
    }

    fn replace_children(
        self: Arc<Self>,
        mut children: Vec<Arc<dyn ExecutionPlan>>,
        _: ReplaceChildrenOptions,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let (Some(input), true) = (children.pop(), children.is_empty()) else {
            return Err(DataFusionError::Internal("PartFilesExec has one child".into()));
        };
        Ok(Arc::new(Self::new(input, self.target.clone())))
    }

    fn with_new_children(
        self: Arc<Self>,
        mut children: Vec<Arc<dyn ExecutionPlan>>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let (Some(input), true) = (children.pop(), children.is_empty()) else {
            return Err(DataFusionError::Internal("PartFilesExec has one child".into()));
        };
        Ok(Arc::new(Self::new(input, self.target.clone())))
    }

    fn execute(&self, partition: usize, context: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        let folder = ListingTableUrl::parse(&self.target.folder)?;
        let compression = self.target.compression.parse::<Compression>()?;
        let work = Work {
            store: context.runtime_env().object_store(&folder)?,
            folder,
            properties: WriterProperties::builder().set_compression(compression).build(),
            input: self.input.execute(partition, context)?,
            target: self.target.clone(),
            keys: None,
            last: None,
            open: None,
            parts: vec![],
        };
        let batches = stream::once(work.run()).flat_map(|parts| match parts {
            Ok(parts) => stream::iter(parts.iter().map(Part::to_batch).collect::<Vec<_>>()),
            Err(error) => stream::iter(vec![Err(error)]),
        });
        Ok(Box::pin(RecordBatchStreamAdapter::new(schema(), batches)))
    }
}

/// One partition that is being written.
struct Work {
    input: SendableRecordBatchStream,
    target: PartFiles,
    store: Arc<dyn ObjectStore>,
    folder: ListingTableUrl,
    properties: WriterProperties,
    keys: Option<Keys>,
    /// The last key that was written.
    last: Option<Vec<u8>>,
    open: Option<Open>,
    parts: Vec<Part>,
}

/// The file that is being written. It is not there until it is finished.
struct Open {
    writer: AsyncArrowWriter<BufWriter>,
    range: u64,
    rows: u64,
    first: Vec<u8>,
}

impl Work {
    async fn run(mut self) -> Result<Vec<Part>> {
        while let Some(batch) = self.input.next().await {
            let batch = batch?;
            if batch.num_rows() == 0 {
                continue;
            }
            let rows = self.rows(&batch)?;
            self.check_order(&rows)?;
            for (range, place) in self.ranges(&batch)? {
                self.write(range, &batch, place, &rows).await?;
            }
        }
        self.close().await?;
        Ok(self.parts)
    }

    /// The keys of a batch.
    fn rows(&mut self, batch: &RecordBatch) -> Result<Rows> {
        let column = |key: &Arc<dyn PhysicalExpr>| key.evaluate(batch)?.into_array(batch.num_rows());
        let columns: Vec<_> = self.target.order.iter().map(|key| column(&key.expr)).collect::<Result<_>>()?;
        if self.keys.is_none() {
            self.keys = Some(Keys::new(&options_of(&self.target.order), &columns)?);
        }
        match &self.keys {
            Some(keys) => keys.rows(&columns),
            None => Err(DataFusionError::Internal("keys were made above".into())),
        }
    }

    fn check_order(&self, rows: &Rows) -> Result<()> {
        let starts_right = self.last.as_ref().is_none_or(|last| last.as_slice() <= rows.row(0).as_ref());
        if starts_right && (1..rows.num_rows()).all(|row| rows.row(row - 1) <= rows.row(row)) {
            return Ok(());
        }
        Err(DataFusionError::Execution(format!(
            "rows for {} are not in the order [{}], so nothing more of them is written. The sort below is at fault: please report it.",
            self.target.folder, self.target.order
        )))
    }

    /// The ranges in a batch that is in order, and the rows of each.
    fn ranges(&self, batch: &RecordBatch) -> Result<Vec<(u64, Range<usize>)>> {
        let numbers = |batch: &RecordBatch| -> Result<Vec<u64>> {
            let numbers = self.target.range.evaluate(batch)?.into_array(batch.num_rows())?;
            Ok(numbers.as_primitive::<UInt64Type>().values().to_vec())
        };
        let rows = batch.num_rows();
        // Ranges do not fall as keys rise: where the ends agree, so does everything between.
        let (first, last) = (numbers(&batch.slice(0, 1))?, numbers(&batch.slice(rows - 1, 1))?);
        if first == last {
            return Ok(vec![(first[0], 0..rows)]);
        }
        let mut ranges: Vec<(u64, Range<usize>)> = vec![];
        for (row, number) in numbers(batch)?.into_iter().enumerate() {
            match ranges.last_mut() {
                Some((range, place)) if *range == number => place.end = row + 1,
                _ => ranges.push((number, row..row + 1)),
            }
        }
        Ok(ranges)
    }

    async fn write(
        &mut self,
        range: u64,
        batch: &RecordBatch,
        place: Range<usize>,
        rows: &Rows,
    ) -> Result<()> {
        if self.open.as_ref().is_some_and(|open| open.range != range) {
            self.close().await?;
        }
        if let Some(before) = self.parts.last().filter(|before| before.range >= range) {
            return Err(DataFusionError::Internal(format!(
                "range {range} comes after range {} of a sorted partition",
                before.range
            )));
        }
        if self.open.is_none() {
            let path = self.folder.prefix().clone().join(part_name(range));
            self.open = Some(Open {
                writer: AsyncArrowWriter::try_new(
                    BufWriter::new(Arc::clone(&self.store), path),
                    batch.schema(),
                    Some(self.properties.clone()),
                )?,
                range,
                rows: 0,
                first: rows.row(place.start).as_ref().to_vec(),
            });
        }
        if let Some(open) = &mut self.open {
            open.writer.write(&batch.slice(place.start, place.len())).await?;
            open.rows += place.len() as u64;
        }
        self.last = Some(rows.row(place.end - 1).as_ref().to_vec());
        Ok(())
    }

    async fn close(&mut self) -> Result<()> {
        let (Some(mut open), Some(last)) = (self.open.take(), self.last.clone()) else { return Ok(()) };
        open.writer.finish().await?;
        let bytes = open.writer.bytes_written() as u64;
        self.parts.push(Part { range: open.range, rows: open.rows, bytes, first: open.first, last });
        Ok(())
    }
}
