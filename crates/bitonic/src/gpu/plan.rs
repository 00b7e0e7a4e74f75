//! From a request to the plan of a device: pure, and the same for every backend.

use super::cut::{Cut, Cuts};
use super::facts::DeviceFacts;
use super::job::Job;
use super::strategy::{check_best, kernel_plan};
use super::tuning::{Measured, Tuning};
use crate::Error;
use crate::plan::{KernelPlan, Memory, Plan};
use crate::request::{Request, What};
use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

/// The plan of a sort on a device with these facts, within a limit for the memory of its arrays.
pub(crate) fn plan(
    request: &Request,
    facts: &DeviceFacts,
    tuning: &Tuning,
    cuts: Cuts,
    limit: Option<u64>,
) -> Result<Plan, Error> {
    plan_with(request, None, facts, cuts, limit, |job| kernel_plan(job, facts, tuning))
}

/// The same with kernels that `kernels` plans for a job, for those who keep such plans; and with the offsets of segments of different
/// lengths, which tell where these are cut. Without, chunks are counted as if segments could be cut wherever memory ends.
pub(crate) fn plan_with(
    request: &Request,
    offsets: Option<&[usize]>,
    facts: &DeviceFacts,
    cuts: Cuts,
    limit: Option<u64>,
    kernels: impl FnOnce(&Job) -> Arc<KernelPlan>,
) -> Result<Plan, Error> {
    request.check(facts.engine)?;
    let job = Job::of(request);
    check_best(&job, facts)?;
    let cut = Cut::new(&job, offsets, facts, cuts, limit)?;
    let kernels = kernels(&cut.at_a_time());
    Ok(of_kernels(request, facts, &cut, &job, kernels))
}

/// The plan of a request whose longest chunk these kernels sort.
pub(crate) fn of_kernels(
    request: &Request,
    facts: &DeviceFacts,
    cut: &Cut<'_>,
    job: &Job,
    kernels: Arc<KernelPlan>,
) -> Plan {
    let chunks = cut.chunks();
    let at_a_time = cut.at_a_time();
    let memory = Memory {
        host: host_bytes(request, job, chunks.map(|chunks| chunks.len)),
        device: at_a_time.stored_bytes() as u64,
        work: kernels.work.bytes() as u64,
    };
    let count = chunks.map_or(1, |chunks| u32::try_from(chunks.count).unwrap_or(u32::MAX));
    Plan {
        request: *request,
        engine: facts.engine,
        device: Cow::Owned(facts.name.clone()),
        algorithm: kernels.algorithm,
        limits: kernels.limits,
        threads: 1,
        instructions: None,
        chunks,
        predicted: predicted(&kernels, &at_a_time, facts).map(|one| one.saturating_mul(count)),
        memory,
        kernels: Some(kernels),
    }
}

/// How long kernels will take, where the speed of a copy is known: memory decides, except in the sort of the tiles.
fn predicted(kernels: &KernelPlan, job: &Job, facts: &DeviceFacts) -> Option<Duration> {
    let copy = 2.0 * job.stored_bytes() as f64 / facts.copy_bytes_per_second?;
    let launch = Measured::of(facts).launch;
    Some(kernels.launches.iter().map(|one| launch + Duration::from_secs_f64(one.copies * copy)).sum())
}

/// What the host needs beyond the caller's arrays: results land there, are checked there,
/// and are copied over the arrays when they are whole.
fn host_bytes(request: &Request, job: &Job, chunk_len: Option<usize>) -> usize {
    let (key, index) = (job.element.key_bytes(), job.element.value_bytes());
    let each = match (request.what, chunk_len) {
        (What::Keys, _) => key,
        (What::Pairs(value), _) if request.carries_values() => key + value.bytes,
        // The indices, and the values in their order.
        (What::Pairs(value), None) => key + index + value.bytes,
        // In chunks, values of usual sizes are merged with their keys; for others, indices are, from one place to another.
        (What::Pairs(value), Some(_)) if matches!(value.bytes, 1 | 2 | 4 | 8 | 16) => key + value.bytes,
        (What::Pairs(value), Some(_)) => key + 2 * size_of::<usize>() + value.bytes,
        // The keys come back for the check.
        (What::Argsort, None) => key + index,
        // The few that come back; obliviously all of them, a chunk at a time.
        (What::Top(_), _) => {
            let (keys, values) = job.array_bytes();
            return match (job.best, chunk_len) {
                (None, Some(len)) => len.saturating_mul(key + index),
                _ => keys.saturating_add(values),
            };
        }
        // Keys and indices as they land, and the keys once more beside the result.
        (What::Argsort, Some(_)) => 2 * key + size_of::<usize>(),
    };
    let of_chunk = match chunk_len {
        Some(len) if job.element.indexed => len.saturating_mul(index),
        _ => 0,
    };
    request.len().saturating_mul(each).saturating_add(of_chunk)
}
