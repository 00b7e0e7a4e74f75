//! The rule that finds sorts to take over.

use crate::exec::{BitonicSortExec, Replaced};
use crate::form::is_key;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode};
use datafusion::error::Result;
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::sorts::sort::SortExec;
use datafusion::physical_plan::sorts::sort_preserving_merge::SortPreservingMergeExec;
use datafusion::physical_plan::{ExecutionPlan, ExecutionPlanProperties};
use std::sync::Arc;

/// Replaces sorts by [`BitonicSortExec`].
///
/// - Taken: a `SortExec` whose keys have types that bitonic sorts; with the `SortPreservingMergeExec` above it, if there is one.
/// - Left: other keys, small limits, inputs that are in order already or never end.
/// - It comes after DataFusion's own rules, which know `SortExec` and nothing else: [`enable`](crate::enable).
#[derive(Clone, Debug)]
pub struct BitonicSort {
    heap_up_to: usize,
}

impl BitonicSort {
    /// Limits up to this one stay with DataFusion's heap, which keeps no more rows than the limit and lets scans skip rows.
    pub const HEAP_UP_TO: usize = 1 << 16;

    /// With the usual bounds.
    pub fn new() -> Self {
        Self { heap_up_to: Self::HEAP_UP_TO }
    }

    /// The greatest limit that stays with DataFusion's heap. Default: [`BitonicSort::HEAP_UP_TO`].
    #[must_use]
    pub fn with_heap_up_to(mut self, rows: usize) -> Self {
        self.heap_up_to = rows;
        self
    }

    fn replacement(&self, plan: &Arc<dyn ExecutionPlan>) -> Result<Option<Replaced>> {
        if let Some(sort) = plan.downcast_ref::<SortExec>() {
            return Ok(self.takes(sort)?.then(|| Replaced::Sort(Arc::new(sort.clone()))));
        }
        let Some(merge) = plan.downcast_ref::<SortPreservingMergeExec>() else { return Ok(None) };
        let Some(sort) = merge.input().downcast_ref::<SortExec>() else { return Ok(None) };
        // A limit of the sorts alone is one for every partition, and not the merge's.
        let limits_agree = match (sort.fetch(), merge.fetch()) {
            (None, _) => true,
            (Some(of_each), Some(of_all)) => of_each >= of_all,
            (Some(_), None) => false,
        };
        let fetch_stays = merge.fetch().is_some_and(|fetch| fetch <= self.heap_up_to);
        let is_one =
            sort.preserve_partitioning() && merge.expr() == sort.expr() && limits_agree && !fetch_stays;
        Ok((is_one && self.takes(sort)?)
            .then(|| Replaced::Merge(Arc::new(merge.clone()), Arc::new(sort.clone()))))
    }

    fn takes(&self, sort: &SortExec) -> Result<bool> {
        let input = sort.input();
        if sort.fetch().is_some_and(|fetch| fetch <= self.heap_up_to) || input.boundedness().is_unbounded() {
            return Ok(false);
        }
        for key in sort.expr() {
            if !is_key(&key.expr.data_type(&input.schema())?) {
                return Ok(false);
            }
        }
        let (prefix, is_sorted) =
            input.equivalence_properties().extract_common_sort_prefix(sort.expr().clone())?;
        // The heap ends early on an input that is partly in order.
        let ends_early = sort.fetch().is_some() && !prefix.is_empty();
        Ok(!is_sorted && !ends_early)
    }
}

impl Default for BitonicSort {
    fn default() -> Self {
        Self::new()
    }
}

impl PhysicalOptimizerRule for BitonicSort {
    fn optimize(&self, plan: Arc<dyn ExecutionPlan>, _: &ConfigOptions) -> Result<Arc<dyn ExecutionPlan>> {
        plan.transform_down(|plan| {
            Ok(match self.replacement(&plan)? {
                Some(replaced) => Transformed::yes(Arc::new(BitonicSortExec::new(replaced)) as _),
                None => Transformed::no(plan),
            })
        })
        .data()
    }

    fn name(&self) -> &str {
        "BitonicSort"
    }

    fn schema_check(&self) -> bool {
        true
    }
}
