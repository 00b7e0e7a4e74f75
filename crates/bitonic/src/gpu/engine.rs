//! A device of any backend, behind one interface without type parameters.

use super::against_cpu;
use super::driver::Driver;
use super::execute::{Done, HostData, Means, execute, facts_of};
use super::facts::DeviceFacts;
use super::plan::plan_with;
use super::search::{self, TuneReport};
use super::tuning::{Crossover, SortKind};
use crate::Error;
use crate::plan::Plan;
use crate::request::Request;
use std::time::Duration;

/// An open device that plans and sorts.
pub(crate) trait DeviceEngine: Send + Sync {
    /// What the device is and allows, and how fast it copies where that is known.
    fn facts(&self) -> DeviceFacts;

    /// What a sort will do, with the offsets of segments of different lengths. Asks the device nothing.
    fn plan(&self, request: &Request, offsets: Option<&[usize]>, means: &Means) -> Result<Plan, Error>;

    /// Sorts as planned. The arrays are as they were if anything fails, or fully sorted.
    fn execute(&self, plan: &Plan, data: HostData<'_>, means: &Means) -> Result<Done, Error>;

    /// How fast the device copies its own memory; measured if nobody has.
    fn copy_bandwidth(&self) -> Result<f64, Error>;

    /// Tries shapes, stores the best for later sorts, and says what was found.
    fn tune(&self, budget: Duration, progress: &mut dyn FnMut(&str)) -> Result<TuneReport, Error>;

    /// Compares the device with the CPU at one length, 2^`log2`.
    fn compare(&self, kind: SortKind, log2: u32) -> Result<Crossover, Error>;
}

impl<D: Driver> DeviceEngine for D {
    fn facts(&self) -> DeviceFacts {
        facts_of(self)
    }

    fn plan(&self, request: &Request, offsets: Option<&[usize]>, means: &Means) -> Result<Plan, Error> {
        let facts = facts_of(self);
        plan_with(request, offsets, &facts, means.cuts, means.limit, |job| self.state().plan(self, job))
    }

    fn execute(&self, plan: &Plan, data: HostData<'_>, means: &Means) -> Result<Done, Error> {
        execute(self, plan, data, means)
    }

    fn copy_bandwidth(&self) -> Result<f64, Error> {
        self.state().copy_bandwidth(self)
    }

    fn tune(&self, budget: Duration, progress: &mut dyn FnMut(&str)) -> Result<TuneReport, Error> {
        search::tune(self, budget, progress)
    }

    fn compare(&self, kind: SortKind, log2: u32) -> Result<Crossover, Error> {
        against_cpu::at_length(self, kind, log2)
    }
}
