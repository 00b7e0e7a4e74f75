//! The sort of [DataFusion](https://datafusion.apache.org), taken over by bitonic.
//!
//! ```
//! # #[tokio::main]
//! # async fn main() -> datafusion::error::Result<()> {
//! use datafusion::execution::SessionStateBuilder;
//! use datafusion::prelude::SessionContext;
//!
//! let state = bitonic_datafusion::enable(SessionStateBuilder::new().with_default_features()).build();
//! let context = SessionContext::new_with_state(state);
//! let rows = context.sql("select * from (values (3), (1), (2)) as t(a) order by a").await?.collect().await?;
//! assert_eq!(rows.iter().map(|batch| batch.num_rows()).sum::<usize>(), 3);
//! # Ok(())
//! # }
//! ```
//!
//! # Contract
//!
//! - **Order**: the order of DataFusion's own `SortExec`, bit for bit in the keys: directions, nulls first or last, floats
//!   by IEEE 754 total order. Rows with equal keys come in the order of the input: partition by partition, batch by batch.
//! - **Keys**: any number of integers, floats, decimals up to 128 bits, dates, times, timestamps, durations and booleans, as
//!   columns or as expressions. What has another key, such as a string, stays with `SortExec`.
//! - **Memory**: reserved from the session's pool before it is used. When the pool refuses, everything goes to `SortExec`,
//!   which can spill.
//! - **Limits**: up to [`BitonicSort::HEAP_UP_TO`] rows stay with DataFusion's heap.

mod codes;
mod columns;
mod exec;
mod form;
mod numbers;
mod replay;
mod rule;
mod sorted;
mod spread;

pub use exec::BitonicSortExec;
pub use rule::BitonicSort;

use datafusion::execution::SessionStateBuilder;
use std::sync::Arc;

/// A session whose sorts are bitonic's: the rule [`BitonicSort`] comes after all other physical optimizer rules.
pub fn enable(builder: SessionStateBuilder) -> SessionStateBuilder {
    builder.with_physical_optimizer_rule(Arc::new(BitonicSort::new()))
}
