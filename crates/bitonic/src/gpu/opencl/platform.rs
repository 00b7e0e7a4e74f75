//! The devices that the installed drivers offer.

use super::failure::failure;
use crate::gpu::choice::{Candidate, DeviceKind};
use crate::gpu::facts::DeviceFacts;
use crate::gpu::lock::lock;
use crate::{Engine, Error};
use opencl3::device::{
    CL_DEVICE_TYPE_ACCELERATOR, CL_DEVICE_TYPE_ALL, CL_DEVICE_TYPE_CPU, CL_DEVICE_TYPE_GPU,
    Device as RawDevice,
};
use opencl3::error_codes::{CL_PLATFORM_NOT_FOUND_KHR, ClError};
use opencl3::platform::{Platform, get_platforms};
use std::sync::Mutex;

/// Every usable OpenCL device: of all platforms, present, and with a compiler.
///
/// The list is empty when the loader is installed but no driver, or no driver has a device. A driver that fails to
/// describe its devices is left out, with a `tracing` event. Costs a few dozen calls to each driver; the first call in a
/// process also loads the drivers.
///
/// # Errors
///
/// [`Error::EngineUnavailable`] when there is no loader.
///
/// ```no_run
/// for device in bitonic::opencl::devices()? {
///     println!("{}: {} ({})", device.index, device.name, device.kind);
/// }
/// # Ok::<(), bitonic::Error>(())
/// ```
pub fn devices() -> Result<Vec<DeviceInfo>, Error> {
    Ok(list()?.into_iter().map(|found| found.info).collect())
}

/// One OpenCL device, as its driver describes it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct DeviceInfo {
    /// Its place in the list of all devices, from 0; the same in every run while the drivers stay the same.
    pub index: usize,
    /// The device's name.
    pub name: String,
    /// Who made it.
    pub vendor: String,
    /// The name of the platform, that is, of the driver's OpenCL implementation.
    pub platform: String,
    /// The driver's version.
    pub driver: String,
    /// The version of OpenCL, such as `OpenCL 3.0 CUDA`.
    pub version: String,
    /// What sort of device it is.
    pub kind: DeviceKind,
    /// How many work-groups it runs side by side: cores or multiprocessors.
    pub compute_units: usize,
    /// The most work-items in a work-group. A kernel may allow fewer:
    /// [`Kernel::max_group_size`](super::Kernel::max_group_size).
    pub max_group_size: usize,
    /// The local memory of a work-group.
    pub local_bytes: usize,
    /// The device's memory.
    pub global_bytes: u64,
    /// The largest buffer.
    pub max_allocation_bytes: u64,
    /// The alignment that the start of a sub-buffer needs.
    pub base_alignment_bytes: usize,
    /// Whether the device works in the host's memory, so that a transfer is at most a copy within it.
    pub shares_host_memory: bool,
    /// Whether kernels can use sub-groups.
    pub sub_groups: bool,
    /// The width of an address on the device: 32 or 64.
    pub address_bits: u32,
}

impl DeviceInfo {
    /// What plans need to know.
    pub(super) fn facts(&self) -> DeviceFacts {
        DeviceFacts {
            engine: Engine::OpenCl,
            index: self.index,
            name: self.name.clone(),
            platform: self.platform.clone(),
            driver: self.driver.clone(),
            interface: self.version.clone(),
            kind: self.kind,
            units: self.compute_units,
            group_size: self.max_group_size,
            local_bytes: self.local_bytes,
            own_local_bytes: self.local_bytes,
            memory_bytes: self.global_bytes,
            buffer_bytes: self.max_allocation_bytes,
            shares_host_memory: self.shares_host_memory,
            cluster_log2: 0,
            overlaps_kernels: false,
            // Seen to work and to pay on an NVIDIA H200. What comes back from any device is checked.
            exchanges_in_passes: self.kind == DeviceKind::Gpu,
            has_work_memory: self.kind == DeviceKind::Gpu,
            copy_bytes_per_second: None,
        }
    }

    pub(super) fn candidate(&self) -> Candidate<'_> {
        let Self { index, name, platform, kind, compute_units: units, .. } = self;
        Candidate { index: *index, name, platform, kind: *kind, units: *units }
    }
}

/// A device with the handle to open it by.
pub(super) struct Found {
    pub(super) info: DeviceInfo,
    pub(super) raw: RawDevice,
}

/// What [`devices`] lists, with handles.
///
/// One thread at a time: the first question makes drivers start up, and some (PoCL 3.1) tell a second thread that asks
/// meanwhile that they have no devices.
pub(super) fn list() -> Result<Vec<Found>, Error> {
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let _turn = lock(&ONE_AT_A_TIME);

    let platforms = match get_platforms() {
        Ok(platforms) => platforms,
        Err(ClError(CL_PLATFORM_NOT_FOUND_KHR)) => Vec::new(),
        Err(error) => return Err(failure("the OpenCL loader", "list the platforms", &error)),
    };
    let mut found = Vec::new();
    for platform in platforms {
        if let Err(error) = add_devices(&platform, &mut found) {
            tracing::debug!(%error, "an OpenCL platform does not list its devices and is left out");
        }
    }
    Ok(found)
}

fn add_devices(platform: &Platform, found: &mut Vec<Found>) -> Result<(), ClError> {
    let platform_name = platform.name()?;
    for id in platform.get_devices(CL_DEVICE_TYPE_ALL)? {
        let raw = RawDevice::new(id);
        match describe(&raw, &platform_name, found.len()) {
            Ok(Some(info)) => found.push(Found { info, raw }),
            Ok(None) => {
                tracing::debug!(platform = platform_name, "an OpenCL device without compiler is left out")
            }
            Err(error) => tracing::debug!(
                %error, platform = platform_name,
                "an OpenCL device does not describe itself and is left out"
            ),
        }
    }
    Ok(())
}

/// The device's description; `None` when it is absent or cannot compile.
fn describe(device: &RawDevice, platform: &str, index: usize) -> Result<Option<DeviceInfo>, ClError> {
    if !(device.available()? && device.compiler_available()?) {
        return Ok(None);
    }
    Ok(Some(DeviceInfo {
        index,
        name: device.name()?.trim().to_owned(),
        vendor: device.vendor()?.trim().to_owned(),
        platform: platform.trim().to_owned(),
        driver: device.driver_version()?.trim().to_owned(),
        version: device.version()?.trim().to_owned(),
        kind: kind(device.dev_type()?),
        compute_units: device.max_compute_units()? as usize,
        max_group_size: device.max_work_group_size()?,
        local_bytes: device.local_mem_size()? as usize,
        global_bytes: device.global_mem_size()?,
        max_allocation_bytes: device.max_mem_alloc_size()?,
        base_alignment_bytes: device.mem_base_addr_align()? as usize / 8,
        shares_host_memory: device.host_unified_memory()?,
        sub_groups: has_sub_groups(device)?,
        address_bits: device.address_bits()?,
    }))
}

/// A device may have several types at once, such as "GPU and default".
fn kind(types: u64) -> DeviceKind {
    if types & CL_DEVICE_TYPE_GPU != 0 {
        DeviceKind::Gpu
    } else if types & CL_DEVICE_TYPE_ACCELERATOR != 0 {
        DeviceKind::Accelerator
    } else if types & CL_DEVICE_TYPE_CPU != 0 {
        DeviceKind::Cpu
    } else {
        DeviceKind::Other
    }
}

/// Sub-groups are an extension before OpenCL 2.1, and an optional feature from 3.0 on; a device that is too old for the
/// question has none.
fn has_sub_groups(device: &RawDevice) -> Result<bool, ClError> {
    let extensions = device.extensions()?;
    let by_extension =
        extensions.split_whitespace().any(|name| matches!(name, "cl_khr_subgroups" | "cl_intel_subgroups"));
    Ok(by_extension || device.max_num_sub_groups().is_ok_and(|most| most > 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_of_several_types_is_the_fastest_of_them() {
        use opencl3::device::CL_DEVICE_TYPE_DEFAULT;

        assert_eq!(kind(CL_DEVICE_TYPE_CPU | CL_DEVICE_TYPE_DEFAULT), DeviceKind::Cpu);
        assert_eq!(kind(CL_DEVICE_TYPE_GPU | CL_DEVICE_TYPE_CPU), DeviceKind::Gpu);
        assert_eq!(kind(CL_DEVICE_TYPE_ACCELERATOR), DeviceKind::Accelerator);
        assert_eq!(kind(CL_DEVICE_TYPE_DEFAULT), DeviceKind::Other);
    }
}
