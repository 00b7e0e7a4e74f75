//! The rule that finds sorts to take over.

use crate::exec::{BitonicSortExec, Replaced};
use crate::form::is_key;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode};
use datafusion::error::Result;
use datafusion::physical_expr::expressions::Column;
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::projection::ProjectionExec;
use datafusion::physical_plan::sorts::sort::SortExec;
use datafusion::physical_plan::sorts::sort_preserving_merge::SortPreservingMergeExec;
use datafusion::physical_plan::{
    ChildrenPropertiesMode, ExecutionPlan, ExecutionPlanProperties, ReplaceChildrenOptions,
};
use std::sync::Arc;

/// Replaces sorts by [`BitonicSortExec`].
///
/// - Taken: a `SortExec` whose keys have types that bitonic sorts; with the `SortPreservingMergeExec` above it, if there is one,
///   also where columns are chosen between them.
/// - Left: other keys, small limits, inputs that are in order already or never end.
/// - On a cluster, the merge is left, too: [`BitonicSort::without_merges`].
/// - It comes after DataFusion's own rules, which know `SortExec` and nothing else: [`enable`](crate::enable).
#[derive(Clone, Debug)]
pub struct BitonicSort {
    heap_up_to: usize,
    takes_merges: bool,
}

impl BitonicSort {
    /// Limits up to this one stay with DataFusion's heap, which keeps no more rows than the limit and lets scans skip rows.
    pub const HEAP_UP_TO: usize = 1 << 16;

    /// With the usual bounds.
    pub fn new() -> Self {
        Self { heap_up_to: Self::HEAP_UP_TO, takes_merges: true }
    }

    /// The greatest limit that stays with DataFusion's heap. Default: [`BitonicSort::HEAP_UP_TO`].
    #[must_use]
    pub fn with_heap_up_to(mut self, rows: usize) -> Self {
        self.heap_up_to = rows;
        self
    }

    /// Only sorts are taken, and the merge above them is left: an engine that runs partitions on several machines has to see it.
    #[must_use]
    pub fn without_merges(mut self) -> Self {
        self.takes_merges = false;
        self
    }

    fn replacement(&self, plan: &Arc<dyn ExecutionPlan>) -> Result<Option<Arc<dyn ExecutionPlan>>> {
        if let Some(sort) = plan.downcast_ref::<SortExec>() {
            return Ok(self.takes(sort)?.then(|| bitonic(Replaced::Sort(Arc::new(sort.clone())))));
        }
        let Some(merge) = plan.downcast_ref::<SortPreservingMergeExec>().filter(|_| self.takes_merges) else {
            return Ok(None);
        };
        if let Some(sort) = merge.input().downcast_ref::<SortExec>() {
            let is_one = merge.expr() == sort.expr() && self.takes_all(merge, sort)?;
            return Ok(
                is_one.then(|| bitonic(Replaced::Merge(Arc::new(merge.clone()), Arc::new(sort.clone()))))
            );
        }
        let Some(projection) = merge.input().downcast_ref::<ProjectionExec>() else { return Ok(None) };
        let Some(sort) = projection.input().downcast_ref::<SortExec>() else { return Ok(None) };
        // Choosing columns is free. What is computed should be computed for all partitions at a time.
        let only_columns = projection.expr().iter().all(|column| column.expr.is::<Column>());
        if !only_columns || !self.takes_all(merge, sort)? {
            return Ok(None);
        }
        let below = SortPreservingMergeExec::new(sort.expr().clone(), Arc::new(sort.clone()))
            .with_fetch(merge.fetch());
        let sorted = bitonic(Replaced::Merge(Arc::new(below), Arc::new(sort.clone())));
        let options = ReplaceChildrenOptions::new(ChildrenPropertiesMode::Recompute);
        let projected = Arc::clone(merge.input()).replace_children(vec![sorted], options)?;
        let in_order = projected.equivalence_properties().ordering_satisfy(merge.expr().clone())?;
        Ok(in_order.then_some(projected))
    }

    /// Whether the sorts of all partitions and their merge can be one sort.
    fn takes_all(&self, merge: &SortPreservingMergeExec, sort: &SortExec) -> Result<bool> {
        // A limit of the sorts alone is one for every partition, and not the merge's.
        let limits_agree = match (sort.fetch(), merge.fetch()) {
            (None, _) => true,
            (Some(of_each), Some(of_all)) => of_each >= of_all,
            (Some(_), None) => false,
        };
        let is_small = merge.fetch().is_some_and(|fetch| fetch <= self.heap_up_to);
        Ok(sort.preserve_partitioning() && limits_agree && !is_small && self.takes(sort)?)
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

fn bitonic(replaced: Replaced) -> Arc<dyn ExecutionPlan> {
    Arc::new(BitonicSortExec::new(replaced))
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
                Some(replacement) => Transformed::yes(replacement),
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
