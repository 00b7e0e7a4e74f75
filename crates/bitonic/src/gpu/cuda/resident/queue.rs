//! How sorts of arrays on the device are queued: checked, with memory to work in or without, on streams and in graphs.

use super::ResidentSorter;
use crate::Error;
use crate::gpu::execute::{DeviceArrays, Submission, enqueue};
use crate::gpu::job::Job;
use crate::gpu::lock::lock;
use crate::plan::KernelPlan;
use cudarc::driver::sys::{self, CUdeviceptr};
use cudarc::driver::{CudaStream, DevicePtrMut};
use std::sync::Arc;

/// Memory to work in.
#[derive(Clone, Copy)]
pub(super) struct Work {
    pub(super) address: CUdeviceptr,
    pub(super) bytes: usize,
}

impl ResidentSorter {
    /// Queues the kernels of a job, in place or with a workspace, and those that check it.
    ///
    /// # Safety
    ///
    /// Stream and arrays must belong to the sorter's context; the arrays must hold the job's elements and be used by nobody else until the
    /// last kernel is done. The workspace is checked here.
    pub(super) unsafe fn queue(
        &self,
        stream: &CudaStream,
        job: &Job,
        arrays: DeviceArrays<CUdeviceptr>,
        workspace: Option<&mut impl DevicePtrMut<u8>>,
    ) -> Result<(), Error> {
        let Some(workspace) = workspace else {
            // SAFETY: as the caller says.
            return unsafe { self.queue_in(stream, job, arrays, None) };
        };
        self.check_contexts([workspace.stream()])?;
        let bytes = workspace.len();
        let (address, _work_recorded_after) = workspace.device_ptr_mut(stream);
        // SAFETY: as the caller says, and the workspace is borrowed exclusively.
        unsafe { self.queue_in(stream, job, arrays, Some(Work { address, bytes })) }
    }

    /// How what is queued on a stream is queued.
    pub(super) fn submission(&self, stream: &CudaStream) -> Result<Submission, Error> {
        Ok(if self.device.is_captured(stream)? { Submission::Once } else { Submission::Untimed })
    }

    /// The same with memory to work in of this context, that nobody else uses until the last kernel is done.
    ///
    /// # Safety
    ///
    /// As for [`ResidentSorter::queue`].
    pub(super) unsafe fn queue_in(
        &self,
        stream: &CudaStream,
        job: &Job,
        arrays: DeviceArrays<CUdeviceptr>,
        work: Option<Work>,
    ) -> Result<(), Error> {
        let how = self.submission(stream)?;
        if how != Submission::Once {
            let (key_bytes, value_bytes) = job.array_bytes();
            self.check_range(arrays.keys, key_bytes)?;
            arrays.values.map_or(Ok(()), |values| self.check_range(values, value_bytes))?;
            let input_bytes = if job.best.is_some() { job.input_bytes() } else { key_bytes };
            arrays.input.map_or(Ok(()), |input| self.check_range(input, input_bytes))?;
            arrays.offsets.map_or(Ok(()), |offsets| self.check_range(offsets, job.offset_bytes()))?;
        }
        // SAFETY: as the caller says.
        let arrays = unsafe { self.with_source(stream, job, arrays, work) }?;
        // SAFETY: as the caller says.
        let sort = || unsafe { self.queue_sort(stream, job, arrays, work, how) };
        let Some(verified) = &self.verified else { return sort().map(drop) };
        let mut verified = lock(verified);
        let failed = |error| self.device.failure("queue a check", error);
        // A graph can neither wait for what is outside of it nor be waited for.
        if let (Some(last), Submission::Untimed) = (&verified.last, how) {
            stream.wait(last).map_err(failed)?;
        }
        // SAFETY: as the caller says. The check before this one is waited for.
        let queued = unsafe { verified.checks.queue(stream, job, &arrays, how, sort) };
        if how == Submission::Once {
            return queued.map(drop);
        }
        // Also after an error: kernels that were queued before it are waited for, too.
        let recorded = stream.record_event(None).map(|event| verified.last = Some(event));
        queued.and(recorded.map_err(failed))
    }

    /// The arrays of a sort to another array. Plans that move keys to the working memory first read them where they are; for others, a copy
    /// is queued, which is then sorted in place. So it is for sorts that are checked: the checks look at one array.
    ///
    /// # Safety
    ///
    /// As for [`ResidentSorter::queue`].
    unsafe fn with_source(
        &self,
        stream: &CudaStream,
        job: &Job,
        arrays: DeviceArrays<CUdeviceptr>,
        work: Option<Work>,
    ) -> Result<DeviceArrays<CUdeviceptr>, Error> {
        let Some(source) = arrays.input.filter(|_| job.best.is_none()) else { return Ok(arrays) };
        let plan = self.plan(job);
        let has_room = work.is_some_and(|work| work.bytes >= plan.work.bytes());
        if plan.reads_source()
            && has_room
            && self.verified.is_none()
            && self.device.state().load(&self.device, &plan)?.is_some()
        {
            return Ok(arrays);
        }
        let (bytes, _) = job.array_bytes();
        if bytes > 0 && source != arrays.keys {
            let bound = self.device.context().bind_to_thread();
            let copied = bound.and_then(|()| {
                // SAFETY: as the caller says, both arrays have this many bytes.
                unsafe { sys::cuMemcpyDtoDAsync_v2(arrays.keys, source, bytes, stream.cu_stream()) }.result()
            });
            copied.map_err(|error| self.device.failure("copy the keys", error))?;
        }
        Ok(DeviceArrays { input: None, ..arrays })
    }

    /// Queues the kernels that sort a job; which plan they are of.
    ///
    /// # Safety
    ///
    /// As for [`ResidentSorter::queue_in`].
    unsafe fn queue_sort(
        &self,
        stream: &CudaStream,
        job: &Job,
        arrays: DeviceArrays<CUdeviceptr>,
        work: Option<Work>,
        how: Submission,
    ) -> Result<Arc<KernelPlan>, Error> {
        let Some(Work { address, bytes: given }) = work else {
            let plan = self.plan(&Job { in_place: true, ..*job });
            // SAFETY: as the caller says.
            let queued = unsafe { enqueue(&self.device, stream, &plan, 0, |_| arrays, how) };
            return queued.map(|queued| queued.plan);
        };
        let plan = self.plan(job);
        // Who gives a workspace wants it used: one that is too small for every plan that would is an error.
        let needs = std::iter::once(&plan).chain(plan.fallbacks()).map(|plan| plan.work.bytes());
        let least = needs.filter(|&bytes| bytes > 0).min().unwrap_or(0);
        if given < least {
            let needed = plan.work.bytes();
            return Err(self.refuse(format!("the workspace has {given} bytes, and the sort needs {needed}")));
        }
        self.check_alignment(address)?;
        let with_work = |plan: &KernelPlan| {
            let work = plan.work.offsets().map(|offset| Some(address + offset as u64));
            DeviceArrays { work, ..arrays }
        };
        // A workspace that was asked for more keys may be smaller, because they are too many for buckets: the plan's fallback fits.
        // SAFETY: as the caller says, and the workspace is large enough for the plan that is taken.
        unsafe { enqueue(&self.device, stream, &plan, given, with_work, how) }.map(|queued| queued.plan)
    }

    pub(super) fn check_alignment(&self, workspace: CUdeviceptr) -> Result<(), Error> {
        if workspace.is_multiple_of(WORKSPACE_ALIGNMENT) {
            return Ok(());
        }
        Err(self.refuse(format!("the workspace does not start at a multiple of {WORKSPACE_ALIGNMENT} bytes")))
    }

    /// Whether an array is as long as it says: any type can be an array to cudarc, and tell any length. The driver knows what it
    /// has allocated. Where it does not, because the memory came another way, nothing can be told.
    pub(super) fn check_range(&self, address: CUdeviceptr, bytes: usize) -> Result<(), Error> {
        let (mut base, mut size) = (0, 0);
        let asked = self.device.context().bind_to_thread().and_then(|()| {
            // SAFETY: there are places for both answers, and the address is only looked up.
            unsafe { sys::cuMemGetAddressRange_v2(&mut base, &mut size, address) }.result()
        });
        if asked.is_err() || bytes == 0 || address - base + bytes as u64 <= size as u64 {
            return Ok(());
        }
        let there = (base + size as u64).saturating_sub(address);
        Err(self.refuse(format!("{bytes} bytes are to be sorted, but the array has {there}")))
    }
}

/// Elements of the workspace are loaded 16 bytes at once, at most.
pub(super) const WORKSPACE_ALIGNMENT: u64 = 16;
