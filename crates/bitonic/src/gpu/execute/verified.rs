//! Sorts of arrays that stay on the device, checked there by the kernels of `kernels/verify.c`. Nothing is waited for: what they find is
//! in a word of the device's memory until somebody asks.

use super::check::{NOT_IN_ORDER, OTHER_ELEMENTS};
use super::loaded::{DeviceArrays, Submission};
use super::resident::enqueue;
use super::{words_of, wrong_result};
use crate::Error;
use crate::gpu::driver::{DeviceBuffer, Driver};
use crate::gpu::job::Job;
use crate::gpu::strategy::{self, WORDS_BYTES};
use crate::plan::KernelPlan;
use std::fmt;
use std::sync::Arc;

/// The checks of sorts, one sort after the other.
pub(crate) struct Verification<D: Driver> {
    device: D,
    /// The verdict, and the sums of every group.
    words: D::Buffer,
    /// How many sorts were queued since the verdict was asked for, and the plan of the last.
    sorts: usize,
    last: Option<Arc<KernelPlan>>,
}

impl<D: Driver> Verification<D> {
    pub(crate) fn new(device: &D) -> Result<Self, Error> {
        let words = device.allocate(WORDS_BYTES)?;
        device.upload(&[0; WORDS_BYTES], &words)?;
        Ok(Self { device: device.clone(), words, sorts: 0, last: None })
    }

    /// Where the verdict is: its first 32 bits.
    pub(crate) fn memory(&self) -> D::Memory {
        self.words.memory()
    }

    /// Loads the kernels for a job.
    pub(crate) fn load(device: &D, job: &Job) -> Result<(), Error> {
        for plan in device.state().check_plans(device, job) {
            device.state().load(device, &plan)?;
        }
        Ok(())
    }

    /// Queues a sort, by `sort`, between the kernels that check it. What comes back is the span of the last kernel.
    ///
    /// # Safety
    ///
    /// As for [`enqueue`], for the job and the arrays of the sort; nobody else may use the words of this verification until the last
    /// kernel is done.
    pub(crate) unsafe fn queue(
        &mut self,
        queue: &D::Queue,
        job: &Job,
        arrays: &DeviceArrays<D::Memory>,
        how: Submission,
        sort: impl FnOnce() -> Result<Arc<KernelPlan>, Error>,
    ) -> Result<Option<D::Span>, Error> {
        let words = Some(self.memory());
        let arrays = DeviceArrays { work: [None, None, words], ..*arrays };
        let [before, after] = self.device.state().check_plans(&self.device, job);
        // SAFETY: as the caller says, and the words are as many as the kernels use.
        unsafe { enqueue(&self.device, queue, &before, 0, |_| arrays, how) }?;
        self.last = Some(sort()?);
        self.sorts += 1;
        // SAFETY: as above.
        unsafe { enqueue(&self.device, queue, &after, 0, |_| arrays, how) }.map(|queued| queued.span)
    }

    /// Reads the verdict on all sorts that were queued since it was read, and begins anew. The caller has waited for them.
    ///
    /// # Errors
    ///
    /// [`Error::WrongResult`] if one of them was wrong.
    pub(crate) fn verdict(&mut self) -> Result<(), Error> {
        let mut word = [0; size_of::<u32>()];
        self.device.download(&self.words, &mut word)?;
        let sorts = std::mem::take(&mut self.sorts);
        let verdict = u32::from_ne_bytes(word);
        if verdict == 0 {
            return Ok(());
        }
        self.device.upload(&[0; WORDS_BYTES], &self.words)?;
        let finding = if verdict & strategy::OTHER_ELEMENTS != 0 { OTHER_ELEMENTS } else { NOT_IN_ORDER };
        let nothing = Arc::new(KernelPlan::nothing());
        let last = self.last.as_ref().unwrap_or(&nothing);
        let error = wrong_result(&self.device, last, finding);
        match error {
            // It may have been another one, or one that a graph repeated.
            Error::WrongResult { device, driver, .. } if sorts != 1 => {
                let plan = format!("one of several sorts, the last of which is {}", words_of(last));
                Err(Error::WrongResult { device, driver, plan, finding })
            }
            error => Err(error),
        }
    }
}

impl<D: Driver> fmt::Debug for Verification<D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Verification").field("sorts", &self.sorts).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
