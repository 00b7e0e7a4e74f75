//! How a rung is to sort.

use crate::RunsOn;
use bitonic::DeviceChoice;
use bitonic::Order;
use std::num::NonZero;

/// How a rung is to sort. The default is ascending, with all cores, or on the best OpenCL device.
///
/// A rung takes from it what concerns it: one thread has no use for a number of threads, and no rung on the
/// processor for a device.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Options {
    /// The direction.
    pub order: Order,
    /// How many threads a [parallel](crate::Rung::is_parallel) rung uses; `None` is one for every core.
    pub threads: Option<NonZero<usize>>,
    /// What a rung [runs on](crate::Rung::runs_on); `None` is the first that the rung has. One that the rung does not have is
    /// an error.
    pub runs_on: Option<RunsOn>,
    /// Which of the devices there a rung on a device uses.
    pub device: DeviceChoice,
}
