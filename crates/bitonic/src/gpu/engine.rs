//! A device of any backend, behind one interface without type parameters, and the list of backends.

use super::choice::DeviceChoice;
use super::driver::Driver;
use super::execute::{Done, HostArrays, Means, execute, facts_of};
use super::facts::DeviceFacts;
use super::plan::plan;
use super::search::{self, Effort, TuneReport};
use crate::plan::Plan;
use crate::request::Request;
use crate::{Engine, Error};
use std::sync::Arc;

/// An open device that plans and sorts.
pub(crate) trait DeviceEngine: Send + Sync {
    /// What the device is and allows, and how fast it copies where that is known.
    fn facts(&self) -> DeviceFacts;

    /// What a sort will do. Asks the device nothing.
    fn plan(&self, request: &Request, means: &Means) -> Result<Plan, Error>;

    /// Sorts as planned. The arrays are as they were if anything fails, or fully sorted.
    fn execute(&self, plan: &Plan, arrays: HostArrays<'_>, means: &Means) -> Result<Done, Error>;

    /// How fast the device copies its own memory; measured if nobody has.
    fn copy_bandwidth(&self) -> Result<f64, Error>;

    /// Tries shapes, stores the best for later sorts, and says what was found.
    fn tune(&self, effort: Effort, progress: &mut dyn FnMut(usize, usize)) -> Result<TuneReport, Error>;
}

impl<D: Driver> DeviceEngine for D {
    fn facts(&self) -> DeviceFacts {
        facts_of(self)
    }

    fn plan(&self, request: &Request, means: &Means) -> Result<Plan, Error> {
        plan(request, &facts_of(self), self.state().tuning(self), means.cuts, means.limit)
    }

    fn execute(&self, plan: &Plan, arrays: HostArrays<'_>, means: &Means) -> Result<Done, Error> {
        execute(self, plan, arrays, means)
    }

    fn copy_bandwidth(&self) -> Result<f64, Error> {
        self.state().copy_bandwidth(self)
    }

    fn tune(&self, effort: Effort, progress: &mut dyn FnMut(usize, usize)) -> Result<TuneReport, Error> {
        search::tune(self, effort, progress)
    }
}

/// A row of the list of backends.
pub(crate) struct Backend {
    pub(crate) engine: Engine,
    /// The facts about every device.
    pub(crate) list: fn() -> Result<Vec<DeviceFacts>, Error>,
    pub(crate) open: fn(&DeviceChoice) -> Result<Arc<dyn DeviceEngine>, Error>,
}

impl Backend {
    /// The row of a driver.
    pub(crate) const fn of<D: Driver>() -> Self {
        Self {
            engine: D::ENGINE,
            list: D::list,
            open: |choice| D::open(choice).map(|device| Arc::new(device) as Arc<dyn DeviceEngine>),
        }
    }

    /// The backend of an engine.
    ///
    /// # Errors
    ///
    /// [`Error::EngineUnavailable`] if the library was built without it.
    pub(crate) fn find(engine: Engine) -> Result<&'static Self, Error> {
        super::BACKENDS.iter().find(|backend| backend.engine == engine).ok_or_else(|| {
            Error::EngineUnavailable {
                engine,
                reason: "this program was built without it".to_owned(),
                advice: format!("build bitonic-sort with the feature `{engine}`, or choose the cpu engine"),
            }
        })
    }
}
