//! The operator: reads its input, sorts it in memory, or hands everything to `SortExec`.

use crate::form::is_key;
use crate::replay::{Part, Replay};
use crate::sorted::{self, Ask, FEW_ROWS, Outcome, Sorted};
use datafusion::arrow::array::{Array, RecordBatch};
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::common::Statistics;
use datafusion::common::runtime::SpawnedTask;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::common::utils::memory::get_record_batch_memory_size;
use datafusion::error::{DataFusionError, Result};
use datafusion::execution::memory_pool::{MemoryConsumer, MemoryReservation};
use datafusion::execution::{RecordBatchStream, SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::{LexOrdering, PhysicalExpr};
use datafusion::physical_plan::common::spawn_buffered;
use datafusion::physical_plan::execution_plan::CardinalityEffect;
use datafusion::physical_plan::metrics::{
    BaselineMetrics, ExecutionPlanMetricsSet, MetricValue, MetricsSet, Time,
};
use datafusion::physical_plan::sorts::sort::SortExec;
use datafusion::physical_plan::sorts::sort_preserving_merge::SortPreservingMergeExec;
use datafusion::physical_plan::stream::{RecordBatchReceiverStreamBuilder, RecordBatchStreamAdapter};
use datafusion::physical_plan::{
    ChildStats, ChildrenPropertiesMode, DisplayAs, DisplayFormatType, EmptyRecordBatchStream, ExecutionPlan,
    ExecutionPlanProperties, InputDistributionRequirements, PlanProperties, ReplaceChildrenOptions,
    StatisticsArgs,
};
use futures::{Stream, StreamExt, TryStreamExt, stream};
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

/// A sort by bitonic, in place of a `SortExec`, or of a `SortPreservingMergeExec` and the `SortExec` under it.
///
/// - Result: that of the plan it replaces; rows with equal keys come in the order of the input.
/// - Memory: batches, a copy of them, and 8 or 24 bytes a row, all reserved from the session's pool. If the pool refuses, what was
///   read and what is left to read goes to the replaced plan.
/// - Metrics: rows, batches, computing time; the spills of the replaced plan, if it had to sort.
#[derive(Debug)]
pub struct BitonicSortExec {
    replaced: Replaced,
    metrics: ExecutionPlanMetricsSet,
}

/// The plan that would sort otherwise. It has the properties of the result, and sorts what does not fit.
#[derive(Clone, Debug)]
pub(crate) enum Replaced {
    Sort(Arc<SortExec>),
    /// The sort of every partition, and the merge of them.
    Merge(Arc<SortPreservingMergeExec>, Arc<SortExec>),
}

impl Replaced {
    fn sort(&self) -> &Arc<SortExec> {
        match self {
            Self::Sort(sort) | Self::Merge(_, sort) => sort,
        }
    }

    fn plan(&self) -> &dyn ExecutionPlan {
        match self {
            Self::Sort(sort) => sort.as_ref(),
            Self::Merge(merge, _) => merge.as_ref(),
        }
    }

    /// The partitions that become one of the result.
    fn partitions(&self, partition: usize) -> Vec<usize> {
        match self {
            Self::Sort(_) => vec![partition],
            Self::Merge(_, sort) => (0..sort.input().output_partitioning().partition_count()).collect(),
        }
    }

    pub(crate) fn fetch(&self) -> Option<usize> {
        self.plan().fetch()
    }

    /// The same over another input.
    fn over(&self, input: Arc<dyn ExecutionPlan>, properties: ChildrenPropertiesMode) -> Result<Self> {
        let options = ReplaceChildrenOptions::new(properties);
        let sort = as_sort(Arc::clone(self.sort()).replace_children(vec![input], options)?)?;
        Ok(match self {
            Self::Sort(_) => Self::Sort(sort),
            Self::Merge(merge, _) => {
                let options = ReplaceChildrenOptions::new(properties);
                let merge = Arc::clone(merge).replace_children(vec![sort.clone()], options)?;
                Self::Merge(as_merge(merge)?, sort)
            }
        })
    }

    fn reset(&self) -> Result<Self> {
        let sort = as_sort(Arc::clone(self.sort()).reset_state()?)?;
        Ok(match self {
            Self::Sort(_) => Self::Sort(sort),
            Self::Merge(merge, _) => {
                let options = ReplaceChildrenOptions::new(ChildrenPropertiesMode::Keep);
                Self::Merge(as_merge(Arc::clone(merge).replace_children(vec![sort.clone()], options)?)?, sort)
            }
        })
    }
}

fn as_sort(plan: Arc<dyn ExecutionPlan>) -> Result<Arc<SortExec>> {
    let sort = plan.downcast_ref::<SortExec>().cloned();
    sort.map(Arc::new).ok_or_else(|| DataFusionError::Internal("a SortExec became something else".into()))
}

fn as_merge(plan: Arc<dyn ExecutionPlan>) -> Result<Arc<SortPreservingMergeExec>> {
    let merge = plan.downcast_ref::<SortPreservingMergeExec>().cloned();
    merge
        .map(Arc::new)
        .ok_or_else(|| DataFusionError::Internal("a SortPreservingMergeExec became something else".into()))
}

impl BitonicSortExec {
    pub(crate) fn new(replaced: Replaced) -> Self {
        Self { replaced, metrics: ExecutionPlanMetricsSet::new() }
    }

    /// The keys, their directions, and where nulls go.
    pub fn expr(&self) -> &LexOrdering {
        self.replaced.sort().expr()
    }

    /// The sort that it replaces; `None` where it replaces a merge, too. With it, a plan can be written down and read elsewhere.
    pub fn replaced_sort(&self) -> Option<&SortExec> {
        match &self.replaced {
            Replaced::Sort(sort) => Some(sort),
            Replaced::Merge(..) => None,
        }
    }

    fn input(&self) -> &Arc<dyn ExecutionPlan> {
        self.replaced.sort().input()
    }
}

/// Takes a sort over, whatever its limit and input are.
///
/// # Errors
/// A key has a type that bitonic does not sort: `DataFusionError::NotImplemented`.
impl TryFrom<SortExec> for BitonicSortExec {
    type Error = DataFusionError;

    fn try_from(sort: SortExec) -> Result<Self> {
        for key in sort.expr() {
            let data_type = key.expr.data_type(&sort.input().schema())?;
            if !is_key(&data_type) {
                return Err(DataFusionError::NotImplemented(format!(
                    "bitonic does not sort by {}, which is of type {data_type}: leave this sort to SortExec",
                    key.expr
                )));
            }
        }
        Ok(Self::new(Replaced::Sort(Arc::new(sort))))
    }
}

impl DisplayAs for BitonicSortExec {
    fn fmt_as(&self, form: DisplayFormatType, f: &mut fmt::Formatter) -> fmt::Result {
        match form {
            DisplayFormatType::Default | DisplayFormatType::Verbose => {
                write!(f, "BitonicSortExec: ")?;
                if let Some(fetch) = self.fetch() {
                    write!(f, "fetch={fetch}, ")?;
                }
                write!(f, "expr=[{}], ", self.expr())?;
                match &self.replaced {
                    Replaced::Sort(sort) => {
                        write!(f, "preserve_partitioning=[{}]", sort.preserve_partitioning())
                    }
                    Replaced::Merge(..) => write!(f, "merge=[true]"),
                }
            }
            DisplayFormatType::TreeRender => {
                writeln!(f, "{}", self.expr())?;
                self.fetch().map_or(Ok(()), |fetch| writeln!(f, "limit={fetch}"))
            }
        }
    }
}

impl ExecutionPlan for BitonicSortExec {
    fn name(&self) -> &str {
        "BitonicSortExec"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        self.replaced.plan().properties()
    }

    fn input_distribution_requirements(&self) -> InputDistributionRequirements {
        // Those of the sort: for its own partitions, or for the one that there must be.
        self.replaced.sort().input_distribution_requirements()
    }

    fn benefits_from_input_partitioning(&self) -> Vec<bool> {
        vec![false]
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        vec![self.input()]
    }

    fn apply_expressions(
        &self,
        f: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        self.replaced.sort().apply_expressions(f)
    }

    fn dynamic_expressions_produced(&self) -> Vec<Arc<dyn PhysicalExpr>> {
        self.replaced.sort().dynamic_expressions_produced()
    }

    fn replace_children(
        self: Arc<Self>,
        mut children: Vec<Arc<dyn ExecutionPlan>>,
        options: ReplaceChildrenOptions,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let (Some(input), true) = (children.pop(), children.is_empty()) else {
            return Err(DataFusionError::Internal("BitonicSortExec has one child".into()));
        };
        Ok(Arc::new(Self::new(self.replaced.over(input, options.children_properties)?)))
    }

    fn with_new_children(
        self: Arc<Self>,
        children: Vec<Arc<dyn ExecutionPlan>>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        self.replace_children(children, ReplaceChildrenOptions::new(ChildrenPropertiesMode::Recompute))
    }

    fn reset_state(self: Arc<Self>) -> Result<Arc<dyn ExecutionPlan>> {
        Ok(Arc::new(Self::new(self.replaced.reset()?)))
    }

    fn execute(&self, partition: usize, context: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        let partitions = self.replaced.partitions(partition);
        let many = partitions.len() > 1;
        let parts = partitions.into_iter().map(|partition| {
            let input = self.input().execute(partition, Arc::clone(&context))?;
            // Partitions are computed at the same time, as a merge would have it.
            let input = if many { spawn_buffered(input, 2) } else { input };
            Ok(Part { partition, read: vec![], rest: Some(input) })
        });
        let baseline = BaselineMetrics::new(&self.metrics, partition);
        let work = Work {
            parts: parts.collect::<Result<Vec<_>>>()?,
            ask: Arc::new(Ask {
                schema: self.schema(),
                order: self.expr().clone(),
                fetch: self.fetch(),
                batch_size: context.session_config().batch_size(),
            }),
            reservation: MemoryConsumer::new(format!("BitonicSort[{partition}]"))
                .with_can_spill(true)
                .register(context.memory_pool()),
            compute: baseline.elapsed_compute().clone(),
            partition,
            replaced: self.replaced.clone(),
            context,
        };
        let batches = stream::once(work.run()).try_flatten();
        let inner = Box::pin(RecordBatchStreamAdapter::new(self.schema(), batches));
        Ok(Box::pin(Watched { inner, baseline }))
    }

    fn metrics(&self) -> Option<MetricsSet> {
        let mut metrics = self.metrics.clone_inner();
        // Rows and times are counted here, whoever sorts; only the replaced sort knows of spills.
        for metric in self.replaced.sort().metrics().iter().flat_map(MetricsSet::iter) {
            if matches!(
                metric.value(),
                MetricValue::SpillCount(_) | MetricValue::SpilledBytes(_) | MetricValue::SpilledRows(_)
            ) {
                metrics.push(Arc::clone(metric));
            }
        }
        Some(metrics)
    }

    fn child_stats_requests(&self, partition: Option<usize>) -> Vec<ChildStats> {
        match &self.replaced {
            Replaced::Sort(sort) => sort.child_stats_requests(partition),
            Replaced::Merge(..) => vec![ChildStats::At(None)],
        }
    }

    fn statistics_from_inputs(
        &self,
        inputs: &[Arc<Statistics>],
        _: &StatisticsArgs,
    ) -> Result<Arc<Statistics>> {
        Ok(Arc::new(inputs[0].as_ref().clone().with_fetch(self.fetch(), 0, 1)?))
    }

    fn fetch(&self) -> Option<usize> {
        self.replaced.fetch()
    }

    fn cardinality_effect(&self) -> CardinalityEffect {
        self.replaced.sort().cardinality_effect()
    }
}

/// One execution.
struct Work {
    parts: Vec<Part>,
    ask: Arc<Ask>,
    reservation: MemoryReservation,
    compute: Time,
    partition: usize,
    replaced: Replaced,
    context: Arc<TaskContext>,
}

impl Work {
    async fn run(mut self) -> Result<SendableRecordBatchStream> {
        if !self.read().await? {
            return self.hand_back();
        }
        let counts: Vec<usize> = self.parts.iter().map(|part| part.read.len()).collect();
        let batches: Vec<_> = self.parts.iter_mut().flat_map(|part| part.read.drain(..)).collect();
        let rows: usize = batches.iter().map(RecordBatch::num_rows).sum();
        if rows == 0 {
            return Ok(Box::pin(EmptyRecordBatchStream::new(self.ask.schema.clone())));
        }
        let (ask, compute) = (self.ask.clone(), self.compute.clone());
        let reservation = self.reservation.take();
        let sort = move || {
            let _timer = compute.timer();
            sorted::sort(&ask, batches, reservation)
        };
        let outcome = if rows <= FEW_ROWS {
            sort()?
        } else {
            SpawnedTask::spawn_blocking(sort)
                .join_unwind()
                .await
                .map_err(|error| DataFusionError::ExecutionJoin(Box::new(error)))??
        };
        match outcome {
            Outcome::Sorted(sorted) => Ok(emit(self.ask.schema.clone(), sorted, self.compute)),
            Outcome::Refused(batches) => {
                let mut batches = batches.into_iter();
                for (part, count) in self.parts.iter_mut().zip(counts) {
                    part.read = batches.by_ref().take(count).collect();
                }
                self.hand_back()
            }
        }
    }

    /// Reads the input until it ends, or memory does: `false`.
    async fn read(&mut self) -> Result<bool> {
        while let Some((place, batch)) = next_of(&mut self.parts).await? {
            if batch.num_rows() == 0 {
                continue;
            }
            let bytes = bytes_for(&batch);
            self.parts[place].read.push(batch);
            if self.reservation.try_grow(bytes).is_err() {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Lets the replaced plan sort what was read and what is left.
    fn hand_back(self) -> Result<SendableRecordBatchStream> {
        // It reserves the same batches again as it reads them.
        drop(self.reservation);
        let properties = self.replaced.sort().input().properties().clone();
        let replay = Arc::new(Replay::new(properties, self.parts));
        self.replaced.over(replay, ChildrenPropertiesMode::Keep)?.plan().execute(self.partition, self.context)
    }
}

/// The next batch of any part, and the part's place; `None` when all have ended.
async fn next_of(parts: &mut [Part]) -> Result<Option<(usize, RecordBatch)>> {
    std::future::poll_fn(|context| {
        let mut waiting = false;
        for (place, part) in parts.iter_mut().enumerate() {
            let Some(rest) = &mut part.rest else { continue };
            match rest.poll_next_unpin(context) {
                Poll::Ready(Some(batch)) => return Poll::Ready(batch.map(|batch| Some((place, batch)))),
                Poll::Ready(None) => part.rest = None,
                Poll::Pending => waiting = true,
            }
        }
        if waiting { Poll::Pending } else { Poll::Ready(Ok(None)) }
    })
    .await
}

/// A batch, and the copy that is made of it. `SortExec` reserves as much.
fn bytes_for(batch: &RecordBatch) -> usize {
    let copy = batch.columns().iter().map(|array| {
        let data = array.to_data();
        data.get_slice_memory_size().unwrap_or_else(|_| array.get_array_memory_size())
    });
    get_record_batch_memory_size(batch) + copy.sum::<usize>()
}

/// Sorted rows as a stream of batches.
fn emit(schema: SchemaRef, sorted: Sorted, compute: Time) -> SendableRecordBatchStream {
    if !sorted.is_much() {
        let batches = (0..sorted.len()).map(move |number| {
            let _timer = compute.timer();
            sorted.batch(number)
        });
        return Box::pin(RecordBatchStreamAdapter::new(schema, stream::iter(batches)));
    }
    // Every thread makes two batches at a time, and as many wait to be taken.
    let group = 2 * rayon::current_num_threads();
    let mut builder = RecordBatchReceiverStreamBuilder::new(schema, group);
    let sender = builder.tx();
    builder.spawn_blocking(move || {
        for start in (0..sorted.len()).step_by(group) {
            let timer = compute.timer();
            let batches = sorted.batches(start..sorted.len().min(start + group));
            timer.done();
            for batch in batches {
                // Nobody takes batches any more: the query was cancelled, or has enough.
                if sender.blocking_send(batch).is_err() {
                    return Ok(());
                }
            }
        }
        Ok(())
    });
    builder.build()
}

/// A stream whose batches are counted.
struct Watched {
    inner: SendableRecordBatchStream,
    baseline: BaselineMetrics,
}

impl Stream for Watched {
    type Item = Result<RecordBatch>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let poll = self.inner.poll_next_unpin(context);
        self.baseline.record_poll(poll)
    }
}

impl RecordBatchStream for Watched {
    fn schema(&self) -> SchemaRef {
        self.inner.schema()
    }
}
