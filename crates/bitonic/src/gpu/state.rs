//! What is kept for a device while the process runs, the same for every backend: buffers, kernels, plans, what was tuned.

use super::cache::Cache;
use super::driver::Driver;
use super::execute::Loaded;
use super::job::Job;
use super::lock::lock;
use super::memory::{Buffers, Landing};
use super::strategy::{check_plans, copy_plans, kernel_plan};
use super::strided::Strided;
use super::tuning::Tuning;
use super::{bandwidth, kernel};
use crate::plan::{KernelPlan, Launch};
use crate::{Error, gpu::driver::Source};
use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Mutex, OnceLock};

/// What is kept for a device.
pub struct DeviceState<D: Driver> {
    buffers: Buffers<D::Buffer>,
    landing: Landing,
    kernels: Mutex<HashMap<KernelKey, D::Kernel>>,
    plans: Mutex<HashMap<Job, Arc<KernelPlan>>>,
    check_plans: Mutex<HashMap<Job, [Arc<KernelPlan>; 2]>>,
    copy_plans: Mutex<HashMap<StridedJob, [Arc<KernelPlan>; 2]>>,
    loaded: Mutex<Vec<Arc<Loaded<D>>>>,
    tuning: OnceLock<Tuning>,
    /// Measured in this process.
    copy_bandwidth: OnceLock<f64>,
    /// Kept on disk by another.
    kept_bandwidth: OnceLock<Option<f64>>,
}

/// A job, and where its rows are.
type StridedJob = (Job, Strided);

/// A kernel by its name and the compiler's options.
type KernelKey = (&'static str, String);

impl<D: Driver> Default for DeviceState<D> {
    fn default() -> Self {
        Self {
            buffers: Buffers::default(),
            landing: Landing::default(),
            kernels: Mutex::default(),
            plans: Mutex::default(),
            check_plans: Mutex::default(),
            copy_plans: Mutex::default(),
            loaded: Mutex::default(),
            tuning: OnceLock::new(),
            copy_bandwidth: OnceLock::new(),
            kept_bandwidth: OnceLock::new(),
        }
    }
}

/// More plans than this are made anew: programs that sort arrays of ever new lengths keep no plans for them.
const MOST_KEPT: usize = 256;

/// What is kept for a job, made if need be.
fn planned_once<J: Copy + Eq + Hash, P: Clone>(
    kept: &Mutex<HashMap<J, P>>,
    job: &J,
    make: impl FnOnce() -> P,
) -> P {
    if let Some(plan) = lock(kept).get(job) {
        return plan.clone();
    }
    let plan = make();
    let mut kept = lock(kept);
    if kept.len() >= MOST_KEPT {
        kept.clear();
    }
    kept.insert(*job, plan.clone());
    plan
}

impl<D: Driver> DeviceState<D> {
    /// Buffers that no sort uses at the moment.
    pub(crate) fn buffers(&self) -> &Buffers<D::Buffer> {
        &self.buffers
    }

    /// Host memory that results land in.
    pub(crate) fn landing(&self) -> &Landing {
        &self.landing
    }

    /// What was tuned for the device, read from disk once.
    pub(crate) fn tuning(&self, device: &D) -> &Tuning {
        self.tuning.get_or_init(|| Tuning::load(&device.identity()).unwrap_or_default())
    }

    /// The kernels that sort a job, planned once.
    pub(crate) fn plan(&self, device: &D, job: &Job) -> Arc<KernelPlan> {
        planned_once(&self.plans, job, || kernel_plan(job, device.facts(), self.tuning(device)))
    }

    /// The kernels that check a sort of a job on the device, before it and after it, planned once.
    pub(crate) fn check_plans(&self, device: &D, job: &Job) -> [Arc<KernelPlan>; 2] {
        planned_once(&self.check_plans, job, || check_plans(job, device.facts()))
    }

    /// The kernels that bring rows of a job together and back, planned once.
    pub(crate) fn copy_plans(&self, device: &D, job: &Job, rows: Strided) -> [Arc<KernelPlan>; 2] {
        planned_once(&self.copy_plans, &(*job, rows), || copy_plans(job, rows, device.facts()))
    }

    /// The kernels of a plan, loaded once; `None` if the device lacks what one asks for.
    pub(crate) fn load(&self, device: &D, plan: &Arc<KernelPlan>) -> Result<Option<Arc<Loaded<D>>>, Error> {
        let known = |loaded: &&Arc<Loaded<D>>| Arc::ptr_eq(loaded.plan(), plan);
        // The last is the likeliest.
        if let Some(loaded) = lock(&self.loaded).iter().rev().find(known) {
            return Ok(Some(loaded.clone()));
        }
        let Some(loaded) = Loaded::new(device, plan)? else { return Ok(None) };
        let loaded = Arc::new(loaded);
        let mut all = lock(&self.loaded);
        if all.len() >= MOST_KEPT {
            all.remove(0);
        }
        all.push(loaded.clone());
        Ok(Some(loaded))
    }

    /// The kernel of a launch, built if need be.
    pub(crate) fn kernel(&self, device: &D, launch: &Launch) -> Result<D::Kernel, Error> {
        let own = device.options(launch);
        let options = format!("{own} {}", kernel::options(&launch.constants));
        let key = (launch.kernel, options);
        if let Some(kernel) = lock(&self.kernels).get(&key) {
            return Ok(kernel.clone());
        }
        let row = kernel::kernel(launch.kernel).ok_or_else(|| Error::KernelMissing {
            kernel: launch.kernel.to_owned(),
            device: device.facts().name.clone(),
        })?;
        // Without the lock: others need not wait for this one's compiler.
        let text = row.text(D::PRELUDE);
        let source = Source { file: row.name, kernel: row.name, text: &text, options: key.1.trim() };
        let kernel = device.build(&source)?;
        lock(&self.kernels).insert(key, kernel.clone());
        Ok(kernel)
    }

    /// How fast the device copies its own memory, if that is known: measured in this process, or kept on disk.
    pub(crate) fn known_copy_bandwidth(&self, device: &D) -> Option<f64> {
        let kept = || bandwidth::load(&Cache::of_user(), &device.identity());
        self.copy_bandwidth.get().copied().or_else(|| *self.kept_bandwidth.get_or_init(kept))
    }

    /// The same, measured if need be.
    pub(crate) fn copy_bandwidth(&self, device: &D) -> Result<f64, Error> {
        if let Some(known) = self.known_copy_bandwidth(device) {
            return Ok(known);
        }
        let speed = bandwidth::measure_copies(device)?;
        bandwidth::store(&Cache::of_user(), &device.identity(), speed);
        Ok(*self.copy_bandwidth.get_or_init(|| speed))
    }
}
