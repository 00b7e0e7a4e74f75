//! How bitonic's operators travel from the scheduler to executors.

use crate::parts::{PartFiles, PartFilesExec};
use ballista_core::serde::BallistaPhysicalExtensionCodec;
use bitonic_datafusion::BitonicSortExec;
use datafusion::arrow::datatypes::Schema;
use datafusion::error::{DataFusionError, Result};
use datafusion::execution::TaskContext;
use datafusion::physical_expr::{LexOrdering, PhysicalExpr};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::sorts::sort::SortExec;
use datafusion_proto::physical_plan::from_proto::parse_physical_sort_exprs;
use datafusion_proto::physical_plan::to_proto::serialize_physical_sort_exprs;
use datafusion_proto::physical_plan::{
    PhysicalExtensionCodec, PhysicalPlanDecodeContext, PhysicalProtoConverterExtension,
};
use datafusion_proto::protobuf::{PhysicalExprNode, PhysicalSortExprNode};
use prost::Message;
use std::sync::Arc;

/// Messages of this codec begin so, and those of Ballista do not: they begin with the number of a field.
const MARK: &[u8] = b"\0bitonic-ballista 1\0";

/// Writes and reads [`BitonicSortExec`] and [`PartFilesExec`], and leaves everything else to Ballista's own codec.
///
/// Scheduler, executors and client must have it.
#[derive(Debug, Default)]
pub struct BitonicCodec {
    ballista: BallistaPhysicalExtensionCodec,
}

#[derive(Clone, PartialEq, Message)]
struct Node {
    #[prost(oneof = "Operator", tags = "1, 2")]
    operator: Option<Operator>,
}

#[derive(Clone, PartialEq, prost::Oneof)]
enum Operator {
    #[prost(message, tag = "1")]
    Sort(SortNode),
    // Boxed, since it is much larger.
    #[prost(message, boxed, tag = "2")]
    PartFiles(Box<PartFilesNode>),
}

#[derive(Clone, PartialEq, Message)]
struct SortNode {
    #[prost(message, repeated, tag = "1")]
    order: Vec<PhysicalSortExprNode>,
    #[prost(uint64, optional, tag = "2")]
    fetch: Option<u64>,
    #[prost(bool, tag = "3")]
    preserve_partitioning: bool,
}

#[derive(Clone, PartialEq, Message)]
struct PartFilesNode {
    #[prost(message, repeated, tag = "1")]
    order: Vec<PhysicalSortExprNode>,
    #[prost(message, optional, tag = "2")]
    range: Option<PhysicalExprNode>,
    #[prost(string, tag = "3")]
    folder: String,
    #[prost(string, tag = "4")]
    compression: String,
}

impl PhysicalExtensionCodec for BitonicCodec {
    fn try_decode(
        &self,
        bytes: &[u8],
        inputs: &[Arc<dyn ExecutionPlan>],
        context: &TaskContext,
        converter: &dyn PhysicalProtoConverterExtension,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let Some(message) = bytes.strip_prefix(MARK) else {
            return self.ballista.try_decode(bytes, inputs, context, converter);
        };
        let node = Node::decode(message).map_err(|error| unreadable(&error.to_string()))?;
        let [input] = inputs else {
            return Err(unreadable(&format!("{} inputs in place of one", inputs.len())));
        };
        let reader = Reader { codec: self, context, converter, schema: &input.schema() };
        match node.operator {
            Some(Operator::Sort(sort)) => {
                let sorted = SortExec::new(reader.order(&sort.order)?, Arc::clone(input))
                    .with_fetch(sort.fetch.map(|fetch| fetch as usize))
                    .with_preserve_partitioning(sort.preserve_partitioning);
                Ok(Arc::new(BitonicSortExec::try_from(sorted)?))
            }
            Some(Operator::PartFiles(files)) => {
                let target = PartFiles {
                    order: reader.order(&files.order)?,
                    range: reader.expression(files.range.as_ref())?,
                    folder: files.folder,
                    compression: files.compression,
                };
                Ok(Arc::new(PartFilesExec::new(Arc::clone(input), target)))
            }
            None => Err(unreadable("the operator is missing")),
        }
    }

    fn try_encode(
        &self,
        node: Arc<dyn ExecutionPlan>,
        bytes: &mut Vec<u8>,
        converter: &dyn PhysicalProtoConverterExtension,
    ) -> Result<()> {
        let order =
            |order: &LexOrdering| serialize_physical_sort_exprs(order.iter().cloned(), self, converter);
        let operator = if let Some(exec) = node.downcast_ref::<BitonicSortExec>() {
            let Some(sort) = exec.replaced_sort() else {
                return Err(DataFusionError::NotImplemented(
                    "a BitonicSortExec that merges partitions cannot leave its machine: plan with BitonicSort::without_merges".into(),
                ));
            };
            Operator::Sort(SortNode {
                order: order(sort.expr())?,
                fetch: sort.fetch().map(|fetch| fetch as u64),
                preserve_partitioning: sort.preserve_partitioning(),
            })
        } else if let Some(files) = node.downcast_ref::<PartFilesExec>() {
            let target = files.target();
            Operator::PartFiles(Box::new(PartFilesNode {
                order: order(&target.order)?,
                range: Some(converter.physical_expr_to_proto(&target.range, self)?),
                folder: target.folder.clone(),
                compression: target.compression.clone(),
            }))
        } else {
            return self.ballista.try_encode(node, bytes, converter);
        };
        bytes.extend_from_slice(MARK);
        Node { operator: Some(operator) }
            .encode(bytes)
            .map_err(|error| DataFusionError::Internal(format!("an operator cannot be written: {error}")))
    }
}

/// Reads expressions over the columns of an input.
struct Reader<'a> {
    codec: &'a BitonicCodec,
    context: &'a TaskContext,
    converter: &'a dyn PhysicalProtoConverterExtension,
    schema: &'a Schema,
}

impl Reader<'_> {
    fn order(&self, keys: &[PhysicalSortExprNode]) -> Result<LexOrdering> {
        let context = PhysicalPlanDecodeContext::new(self.context, self.codec);
        let keys = parse_physical_sort_exprs(keys, &context, self.schema, self.converter)?;
        LexOrdering::new(keys).ok_or_else(|| unreadable("an order without keys"))
    }

    fn expression(&self, expression: Option<&PhysicalExprNode>) -> Result<Arc<dyn PhysicalExpr>> {
        let context = PhysicalPlanDecodeContext::new(self.context, self.codec);
        let expression = expression.ok_or_else(|| unreadable("the number of the range is missing"))?;
        self.converter.proto_to_physical_expr(expression, self.schema, &context)
    }
}

fn unreadable(reason: &str) -> DataFusionError {
    DataFusionError::Internal(format!(
        "an operator of bitonic cannot be read: {reason}. Scheduler, executors and client must be of one version."
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::scheduler_session;
    use crate::ranges::Ranges;
    use ballista_core::extension::SessionConfigExt;
    use datafusion::arrow::array::RecordBatch;
    use datafusion::physical_expr::PhysicalSortExpr;
    use datafusion::physical_expr::expressions::col;
    use datafusion::physical_plan::displayable;
    use datafusion::physical_plan::repartition::RepartitionExec;
    use datafusion::prelude::{SessionConfig, SessionContext};
    use datafusion_proto::bytes::{
        physical_plan_from_bytes_with_extension_codec, physical_plan_to_bytes_with_extension_codec,
    };

    /// What the client sends: read, range shuffle, sort, write.
    #[tokio::test]
    async fn plans_arrive_as_they_were_sent() {
        let state = scheduler_session(SessionConfig::new_with_ballista()).unwrap();
        let context = SessionContext::new_with_state(state);
        let rows =
            context.sql("select * from (values (3, 'c'), (null, 'n'), (1, 'a')) as t(k, s)").await.unwrap();
        let input = rows.clone().create_physical_plan().await.unwrap();
        let key = PhysicalSortExpr::new_default(col("k", &input.schema()).unwrap()).desc().nulls_last();
        let order = LexOrdering::new([key]).unwrap();
        let sample: Vec<RecordBatch> = rows.select_columns(&["k"]).unwrap().collect().await.unwrap();
        let ranges = Ranges::from_sample(order.clone(), &sample, 3).unwrap();
        let shuffled =
            RepartitionExec::try_new(Arc::clone(&input), ranges.partitioning(&input.schema()).unwrap())
                .unwrap();
        let sort = SortExec::new(order.clone(), Arc::new(shuffled)).with_preserve_partitioning(true);
        let target = PartFiles {
            folder: "file:///somewhere/".into(),
            compression: "zstd(1)".into(),
            order,
            range: ranges.number(&input.schema()).unwrap(),
        };
        let plan: Arc<dyn ExecutionPlan> =
            Arc::new(PartFilesExec::new(Arc::new(BitonicSortExec::try_from(sort).unwrap()), target));
        let codec = BitonicCodec::default();
        let bytes = physical_plan_to_bytes_with_extension_codec(Arc::clone(&plan), &codec).unwrap();
        let arrived =
            physical_plan_from_bytes_with_extension_codec(&bytes, &context.task_ctx(), &codec).unwrap();
        let shown = |plan: &Arc<dyn ExecutionPlan>| displayable(plan.as_ref()).indent(true).to_string();
        assert_eq!(shown(&plan), shown(&arrived));
        assert!(shown(&arrived).contains("BitonicSortExec"), "{}", shown(&arrived));
        let range = |plan: &Arc<dyn ExecutionPlan>| {
            let files = plan.downcast_ref::<PartFilesExec>().unwrap();
            files.target().range.to_string()
        };
        assert_eq!(range(&plan), range(&arrived));
    }

    #[test]
    fn what_cannot_be_read_names_the_way_out() {
        let context = SessionContext::new();
        let bytes = [MARK, &[1, 2, 3]].concat();
        let converter = datafusion_proto::physical_plan::DefaultPhysicalProtoConverter {};
        let error = BitonicCodec::default().try_decode(&bytes, &[], &context.task_ctx(), &converter);
        assert!(error.unwrap_err().to_string().contains("must be of one version"));
    }
}
