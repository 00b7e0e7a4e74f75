//! What was measured, as data with the name of its device: in this library ([`measured`]), and by `bitonic tune` ([`stored`]).

mod crossover;
mod kind;
mod measured;
mod no_device;
mod stored;

pub(crate) use crossover::Crossover;
pub(crate) use kind::{Operation, SortKind};
pub(crate) use measured::{ClusterRow, CountedRow, MatrixRow, Measured};
pub(crate) use no_device::NoDevice;
pub use stored::Tuning;
pub(crate) use stored::{NetworkShape, Stored, StrategyName, TunedShape};
