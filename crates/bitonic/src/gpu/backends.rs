//! The list of backends.

use super::choice::DeviceChoice;
use super::driver::Driver;
use super::engine::DeviceEngine;
use super::facts::DeviceFacts;
use super::opened;
use crate::{Engine, Error};
use std::sync::Arc;
use std::time::Instant;

/// The backends of this build, the fastest first: a new one is a row here, a folder and a prelude.
pub(crate) static BACKENDS: &[Backend] = &[
    #[cfg(feature = "cuda")]
    Backend::of::<super::cuda::Device>(),
    #[cfg(feature = "opencl")]
    Backend::of::<super::opencl::Device>(),
];

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
            open: |choice| {
                let started = Instant::now();
                let device = D::open(choice)?;
                opened::note(D::ENGINE, &device.facts().name, started.elapsed());
                Ok(Arc::new(device) as Arc<dyn DeviceEngine>)
            },
        }
    }

    /// The backend of an engine.
    ///
    /// # Errors
    ///
    /// [`Error::EngineUnavailable`] if the library was built without it.
    pub(crate) fn find(engine: Engine) -> Result<&'static Self, Error> {
        BACKENDS.iter().find(|backend| backend.engine == engine).ok_or_else(|| Error::EngineUnavailable {
            engine,
            reason: "this program was built without it".to_owned(),
            advice: format!("build bitonic-sort with the feature `{engine}`, or choose the cpu engine"),
        })
    }
}
