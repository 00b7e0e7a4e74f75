//! Sorts of arrays that are on the device already.

use super::loaded::{DeviceArrays, Submission, WorkBuffers};
use crate::Error;
use crate::gpu::driver::{DeviceBuffer, Driver};
use crate::gpu::job::Job;
use crate::plan::KernelPlan;
use std::sync::Arc;
use std::time::Duration;

/// What the kernels of a sort took.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Kernels {
    /// From the start of the first to the end of the last, by the device's clock.
    pub span: Duration,
    /// What ran: the plan that was asked for, or its fallback where the device refused something.
    pub plan: Arc<KernelPlan>,
}

/// The arrays of a job, in buffers of a device.
pub(crate) struct Buffers<'a, B> {
    /// The keys; or places for the best of them.
    pub(crate) keys: &'a B,
    /// The values, where elements have such.
    pub(crate) values: Option<&'a B>,
    /// The keys that only the best are taken from.
    pub(crate) input: Option<&'a B>,
    /// The table of segments, where these have different lengths.
    pub(crate) offsets: Option<&'a B>,
}

impl<B> Clone for Buffers<'_, B> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<B> Copy for Buffers<'_, B> {}

impl<'a, B> Buffers<'a, B> {
    pub(crate) fn new(keys: &'a B, values: Option<&'a B>) -> Self {
        Self { keys, values, input: None, offsets: None }
    }
}

/// Sorts arrays in buffers of the device on its own queue, or puts the best elements of the input into them, and waits.
pub(crate) fn sort_buffers<D: Driver>(
    device: &D,
    job: &Job,
    plan: &Arc<KernelPlan>,
    buffers: Buffers<'_, D::Buffer>,
) -> Result<Kernels, Error> {
    let (key_bytes, value_bytes) = job.array_bytes();
    for (bytes, buffer) in [
        (key_bytes, Some(buffers.keys)),
        (value_bytes, buffers.values),
        (job.input_bytes(), buffers.input),
        (job.offset_bytes(), buffers.offsets),
    ] {
        let given = buffer.map_or(0, DeviceBuffer::bytes);
        if given < bytes {
            let reason = format!("{bytes} bytes are to be sorted, but the buffer has {given}");
            let device = device.facts().name.clone();
            return Err(Error::Device { device, operation: "sort the buffer", reason });
        }
    }
    let mut plan = plan.clone();
    loop {
        match try_sort(device, &plan, buffers) {
            Ok(Some(span)) => return Ok(Kernels { span, plan }),
            refused => plan = next(&plan, refused.err(), device)?,
        }
    }
}

/// Sorts by just this plan; `None` if the device lacks what one of its kernels asks for.
fn try_sort<D: Driver>(
    device: &D,
    plan: &Arc<KernelPlan>,
    buffers: Buffers<'_, D::Buffer>,
) -> Result<Option<Duration>, Error> {
    if plan.launches.is_empty() {
        return Ok(Some(Duration::ZERO));
    }
    let Some(loaded) = device.state().load(device, plan)? else { return Ok(None) };
    let work = WorkBuffers::take(device, plan.work)?;
    let arrays = DeviceArrays {
        keys: buffers.keys.memory(),
        values: buffers.values.map(DeviceBuffer::memory),
        input: buffers.input.map(DeviceBuffer::memory),
        offsets: buffers.offsets.map(DeviceBuffer::memory),
        work: work.memory(),
    };
    // SAFETY: the buffers are the device's, hold the job's elements, as the caller checked, or have the bytes that the plan works
    // in; whoever else uses them queues commands on the same queue, which is in order.
    let span = unsafe { loaded.submit(device, device.queue(), &arrays, Submission::Timed) };
    // Also after an error: kernels queued before it may still use the buffers.
    let finished = device.finish();
    drop(work);
    let span = span?;
    finished?;
    device.elapsed(&span, &span).map(Some)
}

/// The plan to go on with when the device refused one: its memory, with this error, or its clusters.
fn next<D: Driver>(plan: &KernelPlan, refused: Option<Error>, device: &D) -> Result<Arc<KernelPlan>, Error> {
    let name = || device.facts().name.clone();
    let needs_less = |other: &&Arc<KernelPlan>| match &refused {
        Some(_) => other.work.bytes() < plan.work.bytes(),
        None => other.cluster() < plan.cluster(),
    };
    let less = match &refused {
        Some(error) if !matches!(error, Error::DeviceMemory { .. }) => return Err(error.clone()),
        _ => plan.fallbacks().find(needs_less).cloned(),
    };
    let Some(less) = less else {
        return Err(refused.unwrap_or_else(|| Error::Device {
            device: name(),
            operation: "sort",
            reason: format!("it has no {} groups that share their local memory", plan.cluster()),
        }));
    };
    tracing::info!(
        device = name(),
        refused = %plan.algorithm,
        bytes = plan.work.bytes(),
        instead = %less.algorithm,
        "the device refused a plan; its fallback goes on"
    );
    Ok(less)
}

/// What was queued: the kernels of this plan.
pub(crate) struct Queued<S> {
    pub(crate) plan: Arc<KernelPlan>,
    /// `None` if the plan has no kernels.
    pub(crate) span: Option<S>,
}

/// Queues a sort of arrays that are on the device and returns without waiting: by the first plan of the chain that works in so many
/// bytes at most, and whose kernels the device has.
///
/// # Safety
///
/// As for [`Loaded::submit`](super::Loaded::submit), for the job of the plan; `arrays` makes the arrays for a plan's work memory.
pub(crate) unsafe fn enqueue<D: Driver>(
    device: &D,
    queue: &D::Queue,
    plan: &Arc<KernelPlan>,
    work_bytes: usize,
    arrays: impl Fn(&KernelPlan) -> DeviceArrays<D::Memory>,
    how: Submission,
) -> Result<Queued<D::Span>, Error> {
    if plan.launches.is_empty() {
        return Ok(Queued { plan: plan.clone(), span: None });
    }
    let chain = std::iter::once(plan).chain(plan.fallbacks());
    for plan in chain.filter(|plan| plan.work.bytes() <= work_bytes) {
        if let Some(loaded) = device.state().load(device, plan)? {
            // SAFETY: as the caller says.
            let span = unsafe { loaded.submit(device, queue, &arrays(plan), how) }?;
            return Ok(Queued { plan: plan.clone(), span: Some(span) });
        }
    }
    let (needed, name) = (plan.work.bytes(), device.facts().name.clone());
    let reason = format!("the workspace has {work_bytes} bytes, and the sort needs {needed}");
    Err(Error::Device { device: name, operation: "sort the array", reason })
}
