//! The device that is measured, of either engine.

mod cuda;
mod opencl;

pub(super) use cuda::Cuda;
pub(super) use opencl::OpenCl;

use super::contender::EngineMode;
use super::job::Rows;
use crate::failure::Failure;
use bitonic::Engine;
use bitonic::key::Bits;
use bitonic_lab::record::DeviceDescription;
use bitonic_ladder::Rung;
use bitonic_testkit::TestKey;
use std::time::Duration;

/// A device of an engine: memory on it, and this project's sorts there.
pub(super) trait MeasuredDevice {
    /// Memory on the device.
    type Buffer;

    /// The engine that the device belongs to.
    const ENGINE: Engine;

    /// The modes in which the engine sorts here, if they differ.
    const MODES: &'static [EngineMode];

    /// Whether [`MeasuredDevice::copy`] works.
    const COPIES: bool;

    /// What is known about the device.
    fn description(&self) -> DeviceDescription;

    /// The number that CUDA has for the device, or would have: peers are told to use the same one.
    fn ordinal(&self) -> usize;

    fn allocate(&self, bytes: usize) -> Result<Self::Buffer, Failure>;

    /// Host memory to the start of a buffer; returns when it is there.
    fn upload(&self, from: &[u8], to: &Self::Buffer) -> Result<(), Failure>;

    /// The start of a buffer to host memory; returns when it is there.
    fn download(&self, from: &Self::Buffer, to: &mut [u8]) -> Result<(), Failure>;

    /// One buffer to another of the same size, and what that takes; returns when it is there.
    fn copy(&self, from: &Self::Buffer, to: &Self::Buffer) -> Result<Duration, Failure>;

    /// Sorts rows of keys, and returns when they are sorted. Values, where there are some, travel with their keys.
    fn sort<K: TestKey>(
        &self,
        mode: EngineMode,
        arrays: &Arrays<Self::Buffer>,
        rows: Rows,
    ) -> Result<Run, Failure>;

    /// Whether a rung runs here.
    fn has(rung: Rung) -> bool;

    /// Lets a rung sort keys that are ordered bits, and returns when they are sorted.
    fn sort_with_rung<B: Bits>(&self, rung: Rung, keys: &Self::Buffer, len: usize) -> Result<Run, Failure>;
}

/// What is sorted: keys, and maybe a value of 32 bits for each.
pub(super) struct Arrays<B> {
    pub(super) keys: B,
    pub(super) values: Option<B>,
}

/// What one sort took on the device.
#[derive(Clone, Copy, Debug)]
pub(super) struct Run {
    /// From the start of its first command on the device to the end of the last one.
    pub(super) span: Duration,
    /// How many kernels went over the keys.
    pub(super) launches: usize,
}
