//! What was measured, as data with the name of its device: in this library ([`measured`]), and by `bitonic tune` ([`stored`]).

mod crossover;
mod measured;
mod stored;

pub(crate) use crossover::Crossover;
pub(crate) use measured::{BucketRow, ClusterRow, CountedRow, MatrixRow, Measured};
pub use stored::Tuning;
pub(crate) use stored::{NetworkShape, TunedShape};
