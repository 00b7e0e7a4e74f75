//! The CUDA devices of this machine.

use super::failure::failure;
use super::library;
use crate::gpu::choice::{Candidate, DeviceKind};
use crate::gpu::facts::DeviceFacts;
use crate::{Engine, Error};
use cudarc::driver::result::device;
use cudarc::driver::sys::{CUdevice, CUdevice_attribute, CUresult};
use cudarc::driver::{DriverError, sys};

const PLATFORM: &str = "NVIDIA CUDA";

/// Every CUDA device, in the driver's order.
///
/// A device that does not describe itself is left out, with a `tracing` event. The first call in a process starts the
/// driver, which takes up to a second; no context is made.
///
/// # Errors
///
/// [`Error::EngineUnavailable`] when there is no driver, it does not start, or it has no device.
///
/// ```no_run
/// for device in bitonic::cuda::devices()? {
///     println!("{}: {} ({} multiprocessors)", device.index, device.name, device.multiprocessors);
/// }
/// # Ok::<(), bitonic::Error>(())
/// ```
pub fn devices() -> Result<Vec<DeviceInfo>, Error> {
    library::driver()?;
    let count = device::get_count().map_err(|error| failure("the CUDA driver", "list its devices", error))?;
    let mut found = Vec::new();
    for ordinal in 0..count {
        match describe(ordinal) {
            Ok(info) => found.push(info),
            Err(error) => {
                tracing::debug!(ordinal, %error, "a CUDA device does not describe itself and is left out")
            }
        }
    }
    Ok(found)
}

/// One CUDA device, as the driver describes it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct DeviceInfo {
    /// The driver's number for it, from 0: the ordinal.
    pub index: usize,
    /// The device's name.
    pub name: String,
    /// The version of CUDA that the driver has, such as `13.0`.
    pub driver: String,
    /// The compute capability: major and minor number, such as (9, 0).
    pub compute_capability: (u32, u32),
    /// How many blocks run side by side, at least.
    pub multiprocessors: usize,
    /// The most threads of a block. A kernel may allow fewer.
    pub max_group_size: usize,
    /// The shared memory that a block can have without asking.
    pub shared_bytes: usize,
    /// The shared memory that a block can have when its kernel asks for it.
    pub max_shared_bytes: usize,
    /// Whether blocks can run as clusters that share their memory.
    pub clusters: bool,
    /// The device's memory.
    pub global_bytes: u64,
}

/// Blocks that can share their memory on devices that have clusters, as a base-2 logarithm; more than 8 need the driver's leave,
/// which devices so far give. It can be asked only with the kernel at hand: where it refuses, a plan's fallback goes on.
const CLUSTER_LOG2: u32 = 4;

impl DeviceInfo {
    /// What plans need to know.
    pub(super) fn facts(&self) -> DeviceFacts {
        let (major, minor) = self.compute_capability;
        DeviceFacts {
            engine: Engine::Cuda,
            index: self.index,
            name: self.name.clone(),
            platform: PLATFORM.to_owned(),
            driver: kernel_driver().unwrap_or_else(|| self.driver.clone()),
            interface: format!("CUDA {}, compute capability {major}.{minor}", self.driver),
            kind: DeviceKind::Gpu,
            units: self.multiprocessors,
            group_size: self.max_group_size,
            local_bytes: self.max_shared_bytes,
            own_local_bytes: self.shared_bytes,
            memory_bytes: self.global_bytes,
            buffer_bytes: self.global_bytes,
            shares_host_memory: false,
            cluster_log2: if self.clusters { CLUSTER_LOG2 } else { 0 },
            overlaps_kernels: self.compute_capability >= (9, 0),
            exchanges_in_passes: true,
            has_work_memory: true,
            copy_bytes_per_second: None,
        }
    }

    pub(super) fn candidate(&self) -> Candidate<'_> {
        let Self { index, name, multiprocessors: units, .. } = self;
        Candidate { index: *index, name, platform: PLATFORM, kind: DeviceKind::Gpu, units: *units }
    }
}

/// The description of a device; the driver has been started.
pub(super) fn describe(ordinal: i32) -> Result<DeviceInfo, DriverError> {
    let handle = device::get(ordinal)?;
    let number = |attribute| attribute_of(handle, attribute);
    // SAFETY: the handle is the driver's own.
    let global_bytes = unsafe { device::total_mem(handle) }? as u64;
    Ok(DeviceInfo {
        index: ordinal as usize,
        name: device::get_name(handle)?.trim().to_owned(),
        driver: driver_version()?,
        compute_capability: (
            number(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)? as u32,
            number(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)? as u32,
        ),
        multiprocessors: number(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)?,
        max_group_size: number(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK)?,
        shared_bytes: number(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK)?,
        max_shared_bytes: number(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN)?,
        clusters: clusters(handle)?,
        global_bytes,
    })
}

/// Drivers that do not know the attribute have no devices with clusters.
fn clusters(handle: CUdevice) -> Result<bool, DriverError> {
    match attribute_of(handle, CUdevice_attribute::CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH) {
        Err(DriverError(CUresult::CUDA_ERROR_INVALID_VALUE)) => Ok(false),
        answer => answer.map(|number| number > 0),
    }
}

fn attribute_of(handle: CUdevice, attribute: CUdevice_attribute) -> Result<usize, DriverError> {
    // SAFETY: the handle is the driver's own.
    let number = unsafe { device::get_attribute(handle, attribute) }?;
    Ok(usize::try_from(number).unwrap_or(0))
}

fn driver_version() -> Result<String, DriverError> {
    let mut version = 0;
    // SAFETY: there is a place for the number.
    unsafe { sys::cuDriverGetVersion(&mut version) }.result()?;
    Ok(format!("{}.{}", version / 1000, version % 1000 / 10))
}

/// The version of the driver in the kernel, which CUDA does not tell: it has numbers of its own.
fn kernel_driver() -> Option<String> {
    kernel_driver_in(&std::fs::read_to_string("/proc/driver/nvidia/version").ok()?)
}

/// The version in the kernel module's first line, `NVRM version: NVIDIA UNIX ... Kernel Module for x86_64  580.159.04  ...`:
/// the only word that is numbers between points.
fn kernel_driver_in(text: &str) -> Option<String> {
    let is_version = |word: &&str| {
        word.contains('.')
            && word.split('.').all(|part| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit()))
    };
    text.lines().next()?.split_whitespace().find(is_version).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_driver_s_version_is_found_in_the_kernel_module_s_words() {
        let text = "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.159.04  Release Build  (a@b)\nGCC version: 12.3.0\n";
        assert_eq!(kernel_driver_in(text).as_deref(), Some("580.159.04"));
        assert_eq!(kernel_driver_in("NVRM version: none\nGCC version: 12.3.0"), None);
        assert_eq!(kernel_driver_in(""), None);
    }
}
