//! An input that was read in part, as an input again.

use datafusion::arrow::array::RecordBatch;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::error::{DataFusionError, Result};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{DisplayAs, DisplayFormatType, ExecutionPlan, PlanProperties};
use futures::{StreamExt, stream};
use std::fmt;
use std::sync::{Arc, Mutex};

/// What was read of a partition, and the rest of it.
pub(crate) struct Part {
    pub(crate) partition: usize,
    pub(crate) read: Vec<RecordBatch>,
    /// `None` if nothing is left.
    pub(crate) rest: Option<SendableRecordBatchStream>,
}

/// Gives the batches that were read already, then those that are left. Every partition can be executed once.
pub(crate) struct Replay {
    /// Those of the input: the plan above was made for them.
    properties: Arc<PlanProperties>,
    parts: Mutex<Vec<Part>>,
}

impl Replay {
    pub(crate) fn new(properties: Arc<PlanProperties>, parts: Vec<Part>) -> Self {
        Self { properties, parts: Mutex::new(parts) }
    }
}

impl fmt::Debug for Replay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Replay").finish_non_exhaustive()
    }
}

impl DisplayAs for Replay {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "Replay")
    }
}

impl ExecutionPlan for Replay {
    fn name(&self) -> &str {
        "Replay"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        vec![]
    }

    fn apply_expressions(
        &self,
        _: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        Ok(TreeNodeRecursion::Continue)
    }

    fn with_new_children(self: Arc<Self>, _: Vec<Arc<dyn ExecutionPlan>>) -> Result<Arc<dyn ExecutionPlan>> {
        Ok(self)
    }

    fn execute(&self, partition: usize, _: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        let mut parts = self.parts.lock().map_err(|error| DataFusionError::Internal(error.to_string()))?;
        let Some(place) = parts.iter().position(|part| part.partition == partition) else {
            return Err(DataFusionError::Internal(format!("partition {partition} was given back already")));
        };
        let part = parts.swap_remove(place);
        let rest = part.rest.map_or_else(|| stream::empty().boxed(), StreamExt::boxed);
        let batches = stream::iter(part.read.into_iter().map(Ok)).chain(rest);
        Ok(Box::pin(RecordBatchStreamAdapter::new(self.schema(), batches)))
    }
}
