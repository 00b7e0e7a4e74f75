//! Sorts of rows that do not lie one after the other: brought together, sorted, and brought back.

use super::loaded::{DeviceArrays, Submission};
use super::resident::enqueue;
use crate::Error;
use crate::gpu::driver::Driver;
use crate::gpu::job::Job;
use crate::gpu::strided::Strided;

/// Queues a sort of rows, by `sort`, between the kernels that bring them to `packed`, one after the other, and back. What comes back is the
/// span of the last kernel; nothing is waited for.
///
/// # Safety
///
/// Queue and arrays must belong to the device's context. The rows must be within the keys and not overlap, `packed` must have room for them, and
/// nobody else may use either until the last kernel is done.
pub(crate) unsafe fn sort_strided<D: Driver>(
    device: &D,
    queue: &D::Queue,
    (job, rows): (&Job, Strided),
    (keys, packed): (D::Memory, D::Memory),
    how: Submission,
    sort: impl FnOnce() -> Result<(), Error>,
) -> Result<Option<D::Span>, Error> {
    let [gather, scatter] = device.state().copy_plans(device, job, rows);
    let arrays = DeviceArrays { work: [Some(packed), None, None], ..DeviceArrays::in_place(keys, None) };
    // SAFETY: as the caller says.
    unsafe { enqueue(device, queue, &gather, 0, |_| arrays, how) }?;
    sort()?;
    // SAFETY: as the caller says.
    unsafe { enqueue(device, queue, &scatter, 0, |_| arrays, how) }.map(|queued| queued.span)
}
