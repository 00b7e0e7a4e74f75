//! Runs plans: `execute(plan, arrays)`. One way for every operation and every backend.
//!
//! ```text
//!   the caller's arrays   [               ]   untouched while the device is at work
//!                                 ↓           up, sorted, down
//!   landed                [               ]   in memory of our own: checked there
//!                                 ↓           copied over the caller's arrays: nothing can fail any more
//! ```
//!
//! Arrays that the device does not hold go up chunk by chunk ([`chunks`]); the last arrow is a merge then. What only the best keys are
//! taken from stays as it is, and what is found is the caller's when the last chunk is done.

mod arrays;
mod check;
mod chunks;
mod landed;
mod loaded;
mod resident;
mod strided;
mod verified;
mod whole;

pub(crate) use arrays::{HostArrays, HostData, ValueBytes};
pub(crate) use loaded::{DeviceArrays, Loaded, Submission};
pub use resident::Kernels;
pub(crate) use resident::{Buffers, enqueue, sort_buffers};
pub(crate) use strided::sort_strided;
pub(crate) use verified::Verification;

use super::cut::{Cut, Cuts, limit_of_user};
use super::driver::Driver;
use super::facts::DeviceFacts;
use super::job::Job;
use super::plan::of_kernels;
use crate::Error;
use crate::plan::{KernelPlan, Plan};
use crate::report::DeviceTimes;
use std::sync::Arc;

/// What a sort may use besides the device.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Means {
    /// The bytes that its arrays may have of the device's memory.
    pub(crate) limit: Option<u64>,
    /// Where arrays may be cut that need more.
    pub(crate) cuts: Cuts,
    /// The host's threads.
    pub(crate) threads: Option<usize>,
}

impl Means {
    /// With at most `limit` bytes or, if that is `None`, what the user's settings say.
    pub(crate) fn new(limit: Option<u64>, cuts: Cuts, threads: Option<usize>) -> Result<Self, Error> {
        let limit = match limit {
            Some(limit) => Some(limit),
            None => limit_of_user()?,
        };
        Ok(Self { limit, cuts, threads })
    }
}

/// What a sort did.
pub(crate) struct Done {
    /// The plan that ran: the one that was asked for, or its fallback where the device refused something.
    pub(crate) plan: Plan,
    pub(crate) times: DeviceTimes,
}

/// Sorts the caller's arrays as the plan says. They are as they were if anything fails, or fully sorted.
pub(crate) fn execute<D: Driver>(
    device: &D,
    plan: &Plan,
    mut data: HostData<'_>,
    means: &Means,
) -> Result<Done, Error> {
    let job = Job::of(&plan.request);
    let facts = facts_of(device);
    let mut cut = Cut::new(&job, data.offsets, &facts, means.cuts, means.limit)?;
    let done = |cut: &Cut<'_>, kernels: Arc<KernelPlan>, times| Done {
        plan: of_kernels(&plan.request, &facts, cut, &job, kernels),
        times: DeviceTimes { copy_bytes_per_second: facts.copy_bytes_per_second, ..times },
    };
    if cut.is_whole() {
        let kernels = match &plan.kernels {
            Some(kernels) => kernels.clone(),
            None => device.state().plan(device, &job),
        };
        match whole::sort(device, &plan.request, &job, &kernels, &mut data) {
            Ok((kernels, times)) => return Ok(done(&cut, kernels, times)),
            Err(error) => cut = cut.after(error, job.len())?,
        }
    }
    let chunked = chunks::sort(device, &plan.request, &job, cut, data, means.threads)?;
    let mut done = done(&cut, chunked.kernels, chunked.times);
    // A device that refuses memory makes them more than were planned.
    done.plan.chunks = Some(chunked.chunks);
    Ok(done)
}

/// The facts about a device, with the speed of its copies where that is known.
pub(crate) fn facts_of<D: Driver>(device: &D) -> DeviceFacts {
    let copy_bytes_per_second = device.state().known_copy_bandwidth(device);
    DeviceFacts { copy_bytes_per_second, ..device.facts().clone() }
}

/// The error for a result of these kernels that no sort can have.
pub(crate) fn wrong_result<D: Driver>(device: &D, kernels: &KernelPlan, finding: &'static str) -> Error {
    let DeviceFacts { name, platform, driver, .. } = device.facts();
    Error::WrongResult {
        device: name.clone(),
        driver: format!("{platform} {driver}"),
        plan: words_of(kernels),
        finding,
    }
}

/// A plan in a line: the algorithm, the tile, and the kernels, each once.
fn words_of(kernels: &KernelPlan) -> String {
    let mut names: Vec<&str> = kernels.launches.iter().map(|launch| launch.kernel).collect();
    names.dedup();
    format!("{}, tiles of {} keys, kernels {}", kernels.algorithm, kernels.tile_keys(), names.join(", "))
}

#[cfg(test)]
mod tests;
