//! Sorts Parquet files on a cluster: [Ballista](https://datafusion.apache.org/ballista/) with bitonic's sort, and a shuffle by ranges.
//!
//! ```text
//!   files          executors                    executors                      files
//!  ┌──────┐   read, number of range        sort of one range               ┌────────────┐
//!  │ in 0 │ ─▶ ───────────────────┐      ┌──────────────────── BitonicSort │ part-00000 │
//!  │ in 1 │ ─▶ ───────────────────┼──────┼──────────────────── BitonicSort │ part-00001 │
//!  │ in 2 │ ─▶ ───────────────────┘      └──────────────────── BitonicSort │ part-00002 │
//!  └──────┘                 Ballista's shuffle                             └────────────┘
//! ```
//!
//! [`sort`] is the client. [`scheduler`] and [`executor`] make the other processes.
//!
//! # Contract
//!
//! - **Result**: files `part-00000.parquet`, `part-00001.parquet` .. whose rows, read in this order, are those of the input in
//!   order, each once. Rows with equal keys are in one file, in any order.
//! - **Success** is said only after everything was checked: rows of each file come in order, files come in order, and together
//!   they have as many rows as the input. Then, and only then, the file `_SUCCESS` is written.
//! - **Memory**: an executor holds the ranges that it sorts at this time, one for each core, and never the whole.
//! - **Failure**: work of an executor that is lost is repeated elsewhere; what cannot be repeated is an error.

mod client;
mod cluster;
mod codec;
mod parts;
mod ranges;

pub use client::{Outcome, Sort, SortError, sort};
pub use cluster::{Executor, Scheduler, executor, log_to_stderr, scheduler, scheduler_session};
pub use codec::BitonicCodec;
pub use parts::{Part, PartFiles, PartFilesExec};
pub use ranges::{RANGE_FUNCTION, Ranges, range_function};
