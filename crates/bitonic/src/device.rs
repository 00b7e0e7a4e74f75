//! Devices, and the thin layer that backends provide.
//!
//! Most programs need none of this: [`Sorter`](crate::Sorter) opens devices itself, and the `ResidentSorter` of a backend sorts
//! arrays that are on a device already. [`Driver`] is for programs that run kernels of their own on the same devices, such as the
//! ladder and the laboratory of this project.

pub use crate::gpu::auto::{AutoChoice, auto_choice};
pub use crate::gpu::choice::{DeviceChoice, DeviceKind};
pub use crate::gpu::driver::{
    Argument, Arguments, Command, DeviceBuffer, Driver, Grid, MOST_ARGUMENTS, RepeatKey, Source, Transfer,
};
pub use crate::gpu::execute::Kernels;
pub use crate::gpu::facts::DeviceFacts;
pub use crate::gpu::kernel::Part;
pub use crate::gpu::search::{FasterFrom, TuneReport, TuneRow};
pub use crate::gpu::strided::Strided;
pub use crate::gpu::tuned::{TunedDevice, TunedSort, WrongSort, forget_tuned, tuned};
pub use crate::gpu::tuning::Tuning;

use crate::gpu::backends::{BACKENDS, Backend};
use crate::gpu::cut::Cuts;
use crate::gpu::engine::DeviceEngine;
use crate::gpu::execute::{Buffers, sort_buffers};
use crate::gpu::job::Job;
use crate::gpu::strategy::check_best;
use crate::plan::Plan;
use crate::request::Request;
use crate::{Engine, Error};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// The engines that have devices, and that this program was built with, the fastest first.
pub fn engines() -> impl Iterator<Item = Engine> {
    BACKENDS.iter().map(|backend| backend.engine)
}

/// The facts about every device that the backends of this build find, in the order of the backends. Where there is no driver, there
/// is no device of it either.
pub fn list() -> Vec<DeviceFacts> {
    BACKENDS.iter().flat_map(|backend| (backend.list)().unwrap_or_default()).collect()
}

/// The facts about every device of an engine.
///
/// # Errors
///
/// [`Error::EngineUnavailable`] where there is no driver, or this program was built without the engine.
pub fn list_of(engine: Engine) -> Result<Vec<DeviceFacts>, Error> {
    (Backend::find(engine)?.list)()
}

/// Opens a device of an engine.
///
/// # Errors
///
/// [`Error::EngineUnavailable`] without a driver, [`Error::NoSuchDevice`] when no device answers to the choice, [`Error::Device`]
/// when the driver does not open it.
pub fn open(engine: Engine, choice: &DeviceChoice) -> Result<OpenDevice, Error> {
    Ok(OpenDevice { engine: (Backend::find(engine)?.open)(choice)? })
}

/// An open device of any engine.
#[derive(Clone)]
pub struct OpenDevice {
    engine: Arc<dyn DeviceEngine>,
}

impl OpenDevice {
    /// What the device is and allows, and how fast it copies where that is known.
    pub fn facts(&self) -> DeviceFacts {
        self.engine.facts()
    }

    /// The speed of copies from device memory to device memory: bytes read plus bytes written, per second. Measured by the first
    /// call, in well under a second, and kept on disk.
    ///
    /// # Errors
    ///
    /// [`Error::DeviceMemory`] or [`Error::Device`] when the measurement fails.
    pub fn copy_bandwidth(&self) -> Result<f64, Error> {
        self.engine.copy_bandwidth()
    }

    /// Tries strategies and shapes on the device and compares it with the CPU, stores what is best for later sorts with this engine,
    /// and says what was found. It takes about as long as the budget, whatever the device: what does not fit is left for another
    /// call, which begins with it. `progress` hears what is tried next.
    ///
    /// What is found is stored at once, so that it stays when the process is killed. Devices that are open in this process go on with
    /// what they had. Where there is no cache folder, the result serves this report only.
    ///
    /// # Errors
    ///
    /// When not even the default way to sort works: the error of that sort.
    pub fn tune(&self, budget: Duration, progress: &mut dyn FnMut(&str)) -> Result<TuneReport, Error> {
        self.engine.tune(budget, progress)
    }
}

impl fmt::Debug for OpenDevice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("OpenDevice").field(&self.facts().name).finish()
    }
}

/// What a sort on a device with these facts will do: pure, so that the device need not be here. [`Sorter::plan`](crate::Sorter::plan)
/// does the same for the devices that are.
///
/// Where segments of different lengths begin, no request tells: of those that do not fit, chunks are counted as if they were cut
/// wherever memory ends. [`Sorter::plan_segments`](crate::Sorter::plan_segments) knows.
///
/// # Errors
///
/// [`Error::EngineUnavailable`] for what the engine cannot do, [`Error::LargerThanDevice`] when not even a chunk fits its memory.
///
/// ```
/// use bitonic::device::{DeviceFacts, Tuning, plan};
/// use bitonic::{Request, Segments};
///
/// let request = Request::keys::<u32>(Segments::one(1 << 20));
/// let plan = plan(&request, &DeviceFacts::nvidia_h200(), &Tuning::default())?;
/// println!("{plan}");
/// assert_eq!(plan.pass_count(), 5);
/// # Ok::<(), bitonic::Error>(())
/// ```
pub fn plan(request: &Request, facts: &DeviceFacts, tuning: &Tuning) -> Result<Plan, Error> {
    crate::gpu::plan::plan(request, facts, tuning, Cuts::Anywhere, None)
}

/// Sorts what is in buffers of a device on its own queue, and waits: for measuring kernels without transfers. The buffers have the
/// request's keys and, for pairs and indices, values.
///
/// # Errors
///
/// [`Error::Device`] when a buffer is too small or the device fails, [`Error::KernelBuild`] when the compiler refuses a kernel. What
/// is in the buffers is undefined then.
pub fn sort_resident<D: Driver>(
    device: &D,
    request: &Request,
    keys: &D::Buffer,
    values: Option<&D::Buffer>,
) -> Result<Kernels, Error> {
    let job = Job::of(request);
    let other = match job {
        Job { best: Some(_), .. } => Some(BEST),
        Job { ragged: Some(_), .. } => {
            Some("segments of different lengths have a table: see sort_segments_resident")
        }
        _ => None,
    };
    if let Some(reason) = other {
        return Err(refuse(device, reason));
    }
    sort_buffers(device, &job, &device.state().plan(device, &job), Buffers::new(keys, values))
}

const BEST: &str = "the best keys go to buffers of their own: see top_resident";

fn refuse<D: Driver>(device: &D, reason: &str) -> Error {
    Error::Device {
        device: device.facts().name.clone(),
        operation: "sort the buffer",
        reason: reason.to_owned(),
    }
}

/// As [`sort_resident`], of segments of different lengths: `offsets` has one number more than there are segments, of 32 bits, or 64
/// where keys are more than these count.
///
/// # Errors
///
/// As for [`sort_resident`].
pub fn sort_segments_resident<D: Driver>(
    device: &D,
    request: &Request,
    keys: &D::Buffer,
    values: Option<&D::Buffer>,
    offsets: &D::Buffer,
) -> Result<Kernels, Error> {
    request.check(device.facts().engine)?;
    let job = Job::of(request);
    if job.best.is_some() {
        return Err(refuse(device, BEST));
    }
    let buffers = Buffers { offsets: Some(offsets), ..Buffers::new(keys, values) };
    sort_buffers(device, &job, &device.state().plan(device, &job), buffers)
}

/// Takes the best keys of a buffer on a device's own queue, and waits: for measuring kernels without transfers. `best` and `indices` get
/// what [`Request::top`] says, row by row; an index has 32 bits, or 64 where rows are longer than these count.
///
/// # Errors
///
/// As for [`sort_resident`], and [`Error::TopTooLarge`]. [`Error::Device`] for an oblivious request, which sorts all keys with their
/// indices: [`sort_resident`] does that.
pub fn top_resident<D: Driver>(
    device: &D,
    request: &Request,
    keys: &D::Buffer,
    best: &D::Buffer,
    indices: &D::Buffer,
) -> Result<Kernels, Error> {
    let job = Job::of(request);
    if job.best.is_none() {
        return Err(refuse(
            device,
            "all keys are sorted here, and not the best ones alone: see sort_resident",
        ));
    }
    check_best(&job, device.facts())?;
    let buffers = Buffers { input: Some(keys), ..Buffers::new(best, Some(indices)) };
    sort_buffers(device, &job, &device.state().plan(device, &job), buffers)
}
