//! How long a rung took, and what for.

use std::time::Duration;

/// How long a rung took.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Times {
    /// From the caller's keys to the caller's keys, by the clock.
    pub total: Duration,
    /// What the device did in this time, by the device's own clock; `None` for rungs on the processor.
    pub device: Option<DeviceTimes>,
}

/// What a device did for a sort.
///
/// The parts are less than the total: allocating the buffer, opening the device and building the kernels in the first
/// call, and the mapping of keys to ordered bits are in none of them.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DeviceTimes {
    /// Bringing the keys to the device.
    pub upload: Duration,
    /// Sorting them there.
    pub kernels: KernelTimes,
    /// Bringing them back.
    pub download: Duration,
}

/// How long keys that are on a device took to be sorted there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct KernelTimes {
    /// From the start of the first kernel to the end of the last one. What the device waits for the host in between is
    /// part of it.
    pub span: Duration,
    /// Every kernel of the rung, in the order of [`Rung::kernels`](crate::Rung::kernels). What their times add up to is what
    /// the device was busy; the rest of the span, it waited.
    pub each: Vec<KernelTime>,
}

/// One kernel's part of a sort.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct KernelTime {
    /// The kernel's name.
    pub name: &'static str,
    /// How often it was launched.
    pub launches: usize,
    /// How long its launches ran, all together.
    ///
    /// On OpenCL these are the times of the launches alone. CUDA has none for a single launch; there, what passes between
    /// launches of the same kernel that follow each other without a wait counts as theirs.
    pub time: Duration,
}
