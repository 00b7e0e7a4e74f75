//! Ordinary queries of a Ballista client.

use crate::tables::{Keys, folder, start, write};
use ballista_core::extension::SessionStateExt;
use datafusion::arrow::array::AsArray;
use datafusion::arrow::compute::concat_batches;
use datafusion::arrow::datatypes::Int64Type;
use datafusion::arrow::util::pretty::pretty_format_batches;
use datafusion::execution::SessionState;
use datafusion::prelude::{ParquetReadOptions, SessionContext};

#[tokio::test]
async fn order_by_is_sorted_by_bitonic_on_executors() {
    let cluster = start("queries", 2);
    let input = folder("queries-in");
    write(&input, 100_000, 4, Keys::Random);
    let context =
        SessionContext::new_with_state(SessionState::new_ballista_state(cluster.address()).unwrap());
    context.register_parquet("t", input.to_str().unwrap(), ParquetReadOptions::default()).await.unwrap();
    let run = async |query: &str| match context.sql(query).await.unwrap().collect().await {
        Ok(rows) => rows,
        Err(error) => panic!("{query}: {error}\n{}", cluster.messages()),
    };
    let plan = run("explain select k, id from t order by k desc, id").await;
    let plan = pretty_format_batches(&plan).unwrap().to_string();
    assert!(plan.contains("BitonicSortExec"), "{plan}");
    let rows = run("select k, id from t order by k desc, id").await;
    let rows = concat_batches(&rows[0].schema(), &rows).unwrap();
    assert_eq!(rows.num_rows(), 100_000);
    let keys = rows.column(0).as_primitive::<Int64Type>();
    // Nulls come first in a descending order.
    let keys: Vec<Option<i64>> = keys.iter().collect();
    assert!(keys[0].is_none());
    let keys: Vec<i64> = keys.into_iter().flatten().collect();
    assert!(keys.is_sorted_by(|left, right| left >= right));
    std::fs::remove_dir_all(input).unwrap();
}
