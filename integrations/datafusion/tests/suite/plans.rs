//! What the rule takes, what it leaves, and what sessions see of it.

use bitonic_datafusion::{BitonicSort, BitonicSortExec, enable};
use datafusion::arrow::array::{Array, Int64Array, RecordBatch, StringArray, UInt32Array};
use datafusion::arrow::datatypes::{DataType, Field, Schema};
use datafusion::arrow::util::pretty::pretty_format_batches;
use datafusion::datasource::MemTable;
use datafusion::execution::SessionStateBuilder;
use datafusion::execution::memory_pool::FairSpillPool;
use datafusion::execution::runtime_env::RuntimeEnvBuilder;
use datafusion::physical_expr::{LexOrdering, PhysicalSortExpr};
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_optimizer::sanity_checker::SanityCheckPlan;
use datafusion::physical_plan::sorts::sort::SortExec;
use datafusion::physical_plan::{ExecutionPlan, ExecutionPlanProperties, collect, displayable};
use datafusion::prelude::{SessionConfig, SessionContext};
use futures::StreamExt;
use std::sync::Arc;

const ROWS: i64 = 100_000;

/// A session with the table `t`: two numbers, a text.
fn session(partitions: i64, memory: Option<usize>) -> SessionContext {
    let mut runtime = RuntimeEnvBuilder::new();
    if let Some(bytes) = memory {
        runtime = runtime.with_memory_pool(Arc::new(FairSpillPool::new(bytes)));
    }
    let config = SessionConfig::new()
        .with_target_partitions(partitions as usize)
        .with_batch_size(1000)
        .with_sort_spill_reservation_bytes(100_000);
    let builder = SessionStateBuilder::new().with_default_features().with_config(config);
    let state = enable(builder.with_runtime_env(runtime.build_arc().unwrap())).build();
    let context = SessionContext::new_with_state(state);
    let schema = Arc::new(Schema::new(vec![
        Field::new("a", DataType::Int64, true),
        Field::new("b", DataType::UInt32, false),
        Field::new("s", DataType::Utf8, false),
    ]));
    let parts = (0..partitions).map(|partition| {
        let rows = ROWS / partitions;
        (0..rows)
            .step_by(1000)
            .map(|start| {
                let rows = (start..rows.min(start + 1000)).map(|row| row * partitions + partition);
                let a: Int64Array =
                    rows.clone().map(|row| (row % 97 != 0).then_some(row * 7919 % 10_007)).collect();
                let b: UInt32Array = rows.clone().map(|row| row as u32).collect();
                let s = StringArray::from_iter_values(rows.map(|row| format!("row {row}")));
                RecordBatch::try_new(Arc::clone(&schema), vec![Arc::new(a), Arc::new(b), Arc::new(s)])
                    .unwrap()
            })
            .collect()
    });
    let table = MemTable::try_new(Arc::clone(&schema), parts.collect()).unwrap();
    context.register_table("t", Arc::new(table)).unwrap();
    context
}

async fn plan_of(context: &SessionContext, query: &str) -> Arc<dyn ExecutionPlan> {
    context.sql(query).await.unwrap().create_physical_plan().await.unwrap()
}

fn shown(plan: &Arc<dyn ExecutionPlan>) -> String {
    displayable(plan.as_ref()).indent(false).to_string()
}

#[tokio::test]
async fn explain_shows_the_sort() {
    let plan = shown(&plan_of(&session(1, None), "select * from t order by a desc, b").await);
    assert!(
        plan.starts_with(
            "BitonicSortExec: expr=[a@0 DESC, b@1 ASC NULLS LAST], preserve_partitioning=[false]\n"
        ),
        "{plan}"
    );
    let rows =
        session(1, None).sql("explain select * from t order by a").await.unwrap().collect().await.unwrap();
    assert!(pretty_format_batches(&rows).unwrap().to_string().contains("BitonicSortExec"));
}

#[tokio::test]
async fn sorts_and_their_merge_are_one() {
    let context = session(3, None);
    let plan = plan_of(&context, "select * from t order by a").await;
    let text = shown(&plan);
    assert!(text.starts_with("BitonicSortExec: expr=[a@0 ASC NULLS LAST], merge=[true]\n"), "{text}");
    assert!(!text.contains("SortPreservingMergeExec"), "{text}");
    assert_eq!(plan.output_partitioning().partition_count(), 1);
    assert_eq!(plan.output_ordering().unwrap().to_string(), "a@0 ASC NULLS LAST");
}

#[tokio::test]
async fn columns_chosen_between_sorts_and_merge_are_no_hindrance() {
    let context = session(3, None);
    for query in ["select b, a from t order by a, b", "select b as x from t order by a limit 70000"] {
        let plan = plan_of(&context, query).await;
        let text = shown(&plan);
        assert!(text.contains("BitonicSortExec") && text.contains("merge=[true]"), "{text}");
        assert!(!text.contains("SortPreservingMergeExec"), "{text}");
        SanityCheckPlan::new().optimize(plan, context.state().config_options()).unwrap();
    }
    // Nothing that is computed moves to one partition.
    let text = shown(&plan_of(&context, "select a, x from (select a, b + 1 as x from t) order by a").await);
    assert!(text.contains("BitonicSortExec"), "{text}");
}

#[tokio::test]
async fn expressions_are_keys() {
    let plan = shown(&plan_of(&session(1, None), "select * from t order by a % 10, -a").await);
    assert!(plan.contains("BitonicSortExec"), "{plan}");
}

#[tokio::test]
async fn other_keys_stay() {
    for order in ["s", "a, s", "s, a", "a, [b]"] {
        let context = session(1, None);
        let Ok(frame) = context.sql(&format!("select * from t order by {order}")).await else { continue };
        let plan = shown(&frame.create_physical_plan().await.unwrap());
        assert!(plan.contains("SortExec: ") && !plan.contains("BitonicSortExec"), "{order}: {plan}");
    }
}

#[tokio::test]
async fn small_limits_stay_with_the_heap() {
    for partitions in [1, 3] {
        let context = session(partitions, None);
        let at = BitonicSort::HEAP_UP_TO;
        let plan = shown(&plan_of(&context, &format!("select * from t order by a limit {at}")).await);
        assert!(plan.contains("SortExec: TopK") && !plan.contains("BitonicSortExec"), "{plan}");
        let plan = shown(&plan_of(&context, &format!("select * from t order by a limit {}", at + 1)).await);
        assert!(plan.contains("BitonicSortExec: fetch=65537"), "{plan}");
    }
}

#[tokio::test]
async fn what_is_in_order_stays() {
    let context = session(1, None);
    let plan = shown(&plan_of(&context, "select * from (select * from t order by a) order by a").await);
    assert_eq!(plan.matches("SortExec").count(), 1, "{plan}");
}

#[tokio::test]
async fn plans_pass_the_sanity_check() {
    for query in [
        "select a, sum(b) over (partition by a order by b) from t",
        "select a, count(*) from t group by a order by a",
        "select x.a from (select * from t order by a) x join t y on x.a = y.a order by x.b desc",
        "select * from t order by a limit 70000 offset 5",
    ] {
        for partitions in [1, 4] {
            let context = session(partitions, None);
            let plan = plan_of(&context, query).await;
            assert!(shown(&plan).contains("BitonicSortExec"), "{query}");
            SanityCheckPlan::new().optimize(plan, context.state().config_options()).unwrap();
        }
    }
}

#[tokio::test]
async fn children_can_be_replaced() {
    let plan = plan_of(&session(3, None), "select * from t order by a").await;
    let children = plan.children().into_iter().cloned().collect();
    let again = Arc::clone(&plan).replace_children(
        children,
        datafusion::physical_plan::ReplaceChildrenOptions::new(
            datafusion::physical_plan::ChildrenPropertiesMode::Recompute,
        ),
    );
    assert_eq!(shown(&again.unwrap()), shown(&plan));
    assert_eq!(shown(&Arc::clone(&plan).reset_state().unwrap()), shown(&plan));
}

async fn check_sorted(context: &SessionContext) -> Arc<dyn ExecutionPlan> {
    let plan = plan_of(context, "select a, s from t order by a desc nulls last").await;
    let batches = collect(Arc::clone(&plan), context.task_ctx()).await.unwrap();
    let keys: Vec<Option<i64>> = batches
        .iter()
        .flat_map(|batch| {
            let keys = batch.column(0).as_any().downcast_ref::<Int64Array>().unwrap();
            keys.iter().collect::<Vec<_>>()
        })
        .collect();
    assert_eq!(keys.len() as i64, ROWS / 4 * 4);
    assert!(keys.windows(2).all(|pair| pair[0] >= pair[1]));
    plan
}

#[tokio::test]
async fn metrics_are_a_sorts() {
    let context = session(4, None);
    let metrics = check_sorted(&context).await.metrics().unwrap();
    assert_eq!(metrics.output_rows(), Some(ROWS as usize));
    assert!(metrics.elapsed_compute() > Some(0));
    assert_eq!(metrics.spill_count().unwrap_or(0), 0);
}

#[tokio::test]
async fn too_little_memory_spills() {
    // All rows together need 4.5 MB.
    for partitions in [1, 4] {
        let context = session(partitions, Some(3_000_000));
        let metrics = check_sorted(&context).await.metrics().unwrap();
        assert!(metrics.spill_count() > Some(0), "{metrics}");
        assert_eq!(metrics.output_rows(), Some(ROWS as usize));
    }
}

#[tokio::test]
async fn memory_is_given_back() {
    let context = session(1, Some(1 << 30));
    check_sorted(&context).await;
    assert_eq!(context.runtime_env().memory_pool.reserved(), 0);
}

#[tokio::test]
async fn dropped_streams_end_their_work() {
    let context = session(2, Some(1 << 30));
    let frame = context.sql("select * from t order by a").await.unwrap();
    let mut stream = frame.execute_stream().await.unwrap();
    assert!(stream.next().await.unwrap().is_ok());
    assert!(context.runtime_env().memory_pool.reserved() > 0);
    drop(stream);
    for _ in 0..1000 {
        if context.runtime_env().memory_pool.reserved() == 0 {
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
    panic!("{} bytes are still reserved", context.runtime_env().memory_pool.reserved());
}

#[tokio::test]
async fn errors_of_the_input_come_through() {
    let context = session(2, None);
    let error = context
        .sql("select a / (b - b) as x from t order by x")
        .await
        .unwrap()
        .collect()
        .await
        .expect_err("a division by zero");
    assert!(error.to_string().contains("Divide by zero"), "{error}");
}

#[tokio::test]
async fn a_cluster_keeps_its_merges() {
    let context = session(3, None);
    let state = SessionStateBuilder::new_from_existing(context.state())
        .with_physical_optimizer_rules(
            SessionStateBuilder::new().with_default_features().build().physical_optimizers().to_vec(),
        )
        .with_physical_optimizer_rule(Arc::new(BitonicSort::new().without_merges()))
        .build();
    let plan = shown(&plan_of(&SessionContext::new_with_state(state), "select * from t order by a").await);
    assert!(
        plan.starts_with("SortPreservingMergeExec: [a@0 ASC NULLS LAST]\n  BitonicSortExec: ")
            && plan.contains("preserve_partitioning=[true]"),
        "{plan}"
    );
}

#[tokio::test]
async fn sorts_are_taken_over_by_hand_and_given_back() {
    let context = session(3, None);
    let input = plan_of(&context, "select * from t").await;
    let order = |name: &str| {
        let column = datafusion::physical_expr::expressions::col(name, &input.schema()).unwrap();
        LexOrdering::new([PhysicalSortExpr::new_default(column)]).unwrap()
    };
    let sort = SortExec::new(order("a"), Arc::clone(&input)).with_preserve_partitioning(true);
    let taken = BitonicSortExec::try_from(sort.clone()).unwrap();
    let given_back = taken.replaced_sort().unwrap();
    assert_eq!(given_back.expr(), sort.expr());
    assert!(given_back.preserve_partitioning());
    let message = BitonicSortExec::try_from(SortExec::new(order("s"), input)).unwrap_err().to_string();
    assert!(message.contains("s@2") && message.contains("Utf8"), "{message}");
}
