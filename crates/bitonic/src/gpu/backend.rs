//! What an engine on a device provides; everything above it is written once.

use super::chunking::DeviceMemory;
use super::landing::Landing;
use super::launches::Job;
use super::scratch::Memory;
use super::shape::{DeviceLimits, Shape};
use super::tuning::Tuning;
use crate::{Engine, Error};
use std::time::Duration;

/// A device that runs the kernels of a plan.
pub(crate) trait Backend {
    /// Memory on the device.
    type Buffer: Memory;

    /// The engine that it belongs to.
    const ENGINE: Engine;

    /// The device's name.
    fn name(&self) -> &str;

    /// What the device allows.
    fn limits(&self) -> DeviceLimits;

    /// How much memory the device has.
    fn memory(&self) -> DeviceMemory;

    /// What was tuned for it.
    fn tuning(&self) -> Option<&Tuning>;

    /// Whether the host can see the device's memory, so that fetching a result is a copy that cannot fail half way.
    fn shares_host_memory(&self) -> bool;

    /// Host memory that results land in.
    fn landing(&self) -> &Landing;

    /// A buffer of at least this many bytes.
    fn take_buffer(&self, bytes: usize) -> Result<Self::Buffer, Error>;

    /// Keeps a buffer for later, or frees it.
    fn give_buffer(&self, buffer: Self::Buffer);

    /// Host memory to the start of a buffer; returns when it is there.
    fn upload(&self, from: &[u8], to: &Self::Buffer) -> Result<Transfer, Error>;

    /// The start of a buffer to host memory; returns when it is there.
    fn download(&self, from: &Self::Buffer, to: &mut [u8]) -> Result<Transfer, Error>;

    /// Runs all kernels of a job and waits for them. The buffers have the job's keys and, where its layout has values,
    /// values.
    fn run(
        &self,
        job: &Job,
        shape: Shape,
        keys: &Self::Buffer,
        values: Option<&Self::Buffer>,
    ) -> Result<Kernels, Error>;

    /// How fast the device copies its own memory, where that can be known: bytes read plus written, per second.
    fn copy_bandwidth(&self) -> Option<f64>;

    /// The shape for a job: the tuned one if there is one. What is tuned is the sort of one array.
    fn shape(&self, job: &Job) -> Shape {
        self.shape_within(self.limits(), job)
    }

    /// The same for a device of which less is asked than it allows.
    fn shape_within(&self, limits: DeviceLimits, job: &Job) -> Shape {
        let Job { layout, row_length, rows, .. } = *job;
        let tuning = self.tuning().filter(|_| rows == 1);
        match tuning.and_then(|tuning| tuning.shape(limits, layout, row_length)) {
            Some(tuned) if tuned.passes_are_best => tuned.shape,
            Some(tuned) => tuned.shape.by_the_best_way(limits, layout, row_length, rows),
            None => Shape::new(limits, layout, row_length, rows),
        }
    }
}

/// Whether a buffer has so many bytes; if not, the error of the operation that needs them.
pub(super) fn check_fits<D: Backend>(
    device: &D,
    operation: &'static str,
    bytes: usize,
    buffer: &D::Buffer,
) -> Result<(), Error> {
    if bytes <= buffer.bytes() {
        return Ok(());
    }
    let reason = format!("{bytes} bytes do not fit a buffer of {}", buffer.bytes());
    Err(Error::Device { device: device.name().to_owned(), operation, reason })
}

/// What a transfer took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Transfer {
    /// From its start to its end: on the device's clock where the device moves the data, on the host's where the host
    /// does. Waiting for commands queued before does not count.
    pub elapsed: Duration,
    /// How many bytes were moved.
    pub bytes: usize,
}

/// What the kernels of a sort took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Kernels {
    /// From the start of the first to the end of the last, by the device's clock.
    pub span: Duration,
    /// How many there were.
    pub launches: usize,
    /// How many of them read and wrote all of the data.
    pub passes: usize,
}
