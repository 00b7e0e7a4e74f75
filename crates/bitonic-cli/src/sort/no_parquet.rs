//! Parquet files in a build that cannot read them.

use super::Arguments;
use crate::failure::Failure;
use std::time::Instant;

/// Says how to get a build that can.
pub(super) fn run(_: Instant, _: &Arguments) -> Result<(), Failure> {
    Err(Failure::new(
        "this build of the command has no Parquet: install it with 'cargo install bitonic-cli --features parquet'",
    ))
}
