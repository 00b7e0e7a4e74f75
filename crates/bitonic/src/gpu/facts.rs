//! What a plan needs to know of a device. Facts are data: a plan for a device that is not here is a plan, too.

use super::choice::DeviceKind;
use crate::Engine;

/// What a device is and allows.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct DeviceFacts {
    /// The engine that uses it.
    pub engine: Engine,
    /// Its number in the list of the engine's devices.
    pub index: usize,
    /// Its name.
    pub name: String,
    /// The name of the driver's platform.
    pub platform: String,
    /// The driver's version.
    pub driver: String,
    /// The version of the interface, and what the device has of it, such as `CUDA 13.0, compute capability 9.0`.
    pub interface: String,
    /// What sort of device it is.
    pub kind: DeviceKind,
    /// Cores or multiprocessors.
    pub units: usize,
    /// The most work-items in a group.
    pub group_size: usize,
    /// The local memory that a group can have, in bytes.
    pub local_bytes: usize,
    /// The part of it that a kernel can declare itself, in bytes; the rest comes with a launch.
    pub own_local_bytes: usize,
    /// The device's memory, in bytes.
    pub memory_bytes: u64,
    /// The largest buffer, in bytes.
    pub buffer_bytes: u64,
    /// Whether the host can see the device's memory, so that a transfer is a plain copy.
    pub shares_host_memory: bool,
    /// The base-2 logarithm of the work-groups that can share their local memory; 0 where they cannot.
    pub cluster_log2: u32,
    /// Whether a kernel can be started before the one before it has ended, and wait for it inside.
    pub overlaps_kernels: bool,
    /// Whether passes over memory may exchange elements in local memory, and so have more steps: on GPUs, which have fast local memory.
    pub exchanges_in_passes: bool,
    /// Whether a sort may have memory on the device beyond its arrays.
    pub has_work_memory: bool,
    /// How fast the device copies its own memory, bytes read plus written, per second; `None` where nobody has measured it.
    pub copy_bytes_per_second: Option<f64>,
}

impl DeviceFacts {
    /// Whether work-items are lanes of a processor's vector units: few registers, and caches instead of local memory.
    pub(crate) fn is_cpu(&self) -> bool {
        self.kind == DeviceKind::Cpu
    }

    /// The facts of an NVIDIA H200 through CUDA: a plan can be made for it anywhere.
    pub fn nvidia_h200() -> Self {
        Self {
            engine: Engine::Cuda,
            index: 0,
            name: "NVIDIA H200".to_owned(),
            platform: "NVIDIA CUDA".to_owned(),
            driver: "580.159.04".to_owned(),
            interface: "CUDA 13.0, compute capability 9.0".to_owned(),
            kind: DeviceKind::Gpu,
            units: 132,
            group_size: 1024,
            local_bytes: 227 << 10,
            own_local_bytes: 48 << 10,
            memory_bytes: 150_110_011_392,
            buffer_bytes: 150_110_011_392,
            shares_host_memory: false,
            cluster_log2: 4,
            overlaps_kernels: true,
            exchanges_in_passes: true,
            has_work_memory: true,
            copy_bytes_per_second: Some(4.1e12),
        }
    }

    /// The facts of a GPU with what every GPU has, through OpenCL: groups of 256 work-items with 16 KiB, 1 GiB of memory.
    pub fn plain_gpu() -> Self {
        Self {
            engine: Engine::OpenCl,
            index: 0,
            name: "a plain GPU".to_owned(),
            platform: "OpenCL".to_owned(),
            driver: "1".to_owned(),
            interface: "OpenCL 1.2".to_owned(),
            kind: DeviceKind::Gpu,
            units: 8,
            group_size: 256,
            local_bytes: 16 << 10,
            own_local_bytes: 16 << 10,
            memory_bytes: 1 << 30,
            buffer_bytes: 1 << 30,
            shares_host_memory: false,
            cluster_log2: 0,
            overlaps_kernels: false,
            exchanges_in_passes: true,
            has_work_memory: false,
            copy_bytes_per_second: None,
        }
    }

    /// The facts of a processor with two cores as an OpenCL device, as PoCL makes it one.
    pub fn pocl() -> Self {
        Self {
            name: "a processor with two cores".to_owned(),
            platform: "Portable Computing Language".to_owned(),
            kind: DeviceKind::Cpu,
            units: 2,
            group_size: 4096,
            local_bytes: 2 << 20,
            own_local_bytes: 2 << 20,
            memory_bytes: 16 << 30,
            buffer_bytes: 4 << 30,
            shares_host_memory: true,
            exchanges_in_passes: false,
            ..Self::plain_gpu()
        }
    }
}

/// How much of a device's memory the arrays of a sort may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Allowance {
    /// In all.
    pub(crate) bytes: u64,
    /// In one buffer.
    pub(crate) buffer_bytes: u64,
}

impl Allowance {
    /// Of every device, so much is left to its driver, its kernels and a desktop: a sixteenth of its memory, at most 1 GiB. A CUDA
    /// context with its kernels takes about half of that on the largest devices.
    const RESERVED_SHARE: u64 = 16;
    const MOST_RESERVED: u64 = 1 << 30;

    /// What a sort may have of this device, with at most `limit` bytes.
    pub(crate) fn of(facts: &DeviceFacts, limit: Option<u64>) -> Self {
        let reserved = (facts.memory_bytes / Self::RESERVED_SHARE).min(Self::MOST_RESERVED);
        let bytes = (facts.memory_bytes - reserved).min(limit.unwrap_or(u64::MAX));
        Self { bytes, buffer_bytes: facts.buffer_bytes.min(bytes) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reserve_a_limit_and_the_largest_buffer_bound_what_a_sort_may_have() {
        const GIB: u64 = 1 << 30;
        let of = |memory_bytes, buffer_bytes, limit| {
            let facts = DeviceFacts { memory_bytes, buffer_bytes, ..DeviceFacts::plain_gpu() };
            let Allowance { bytes, buffer_bytes } = Allowance::of(&facts, limit);
            (bytes, buffer_bytes)
        };
        assert_eq!(of(8 * GIB, 8 * GIB, None), (8 * GIB - GIB / 2, 8 * GIB - GIB / 2));
        assert_eq!(of(128 * GIB, 32 * GIB, None), (127 * GIB, 32 * GIB));
        assert_eq!(of(128 * GIB, 32 * GIB, Some(GIB)), (GIB, GIB));
        assert_eq!(of(2 * GIB, GIB, Some(128 * GIB)), (2 * GIB - GIB / 8, GIB));
    }
}
