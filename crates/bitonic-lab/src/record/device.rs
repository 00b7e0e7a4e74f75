//! The device that something was measured on.

use crate::implementation::{Place, Settings};
use bitonic::{cuda, opencl};

/// A device that something was measured on.
#[derive(Clone, Debug, PartialEq)]
pub struct DeviceDescription {
    /// The device's name.
    pub name: String,
    /// What sort of device it is: a GPU, a processor.
    pub kind: String,
    /// Whose implementation of the interface it is.
    pub platform: String,
    /// The driver's version; empty if it is not known.
    pub driver: String,
    /// The version of OpenCL or CUDA, and what the device supports of it.
    pub interface: String,
    /// How many multiprocessors or cores it has.
    pub compute_units: usize,
    /// How many bytes it reads plus writes a second when it copies its own memory, where that can be measured.
    pub copy_bytes_per_second: Option<f64>,
}

impl DeviceDescription {
    /// The device of these settings at a place. Measures how fast it copies its memory.
    ///
    /// # Errors
    ///
    /// If there is none. The processor is not a device.
    pub fn open(place: Place, settings: &Settings) -> Result<Self, bitonic::Error> {
        match place {
            Place::Cuda => cuda::Device::open(&settings.device).map(|device| Self::of_cuda(&device)),
            _ => opencl::Device::open(&settings.device).map(|device| Self::of_opencl(&device)),
        }
    }

    /// An OpenCL device.
    pub fn of_opencl(device: &opencl::Device) -> Self {
        let info = device.info();
        Self {
            name: info.name.clone(),
            kind: info.kind.to_string(),
            platform: info.platform.clone(),
            driver: info.driver.clone(),
            interface: info.version.clone(),
            compute_units: info.compute_units,
            copy_bytes_per_second: device.copy_bandwidth().ok(),
        }
    }

    /// A CUDA device.
    pub fn of_cuda(device: &cuda::Device) -> Self {
        let info = device.info();
        let (major, minor) = info.compute_capability;
        Self {
            name: info.name.clone(),
            kind: "gpu".to_owned(),
            platform: "NVIDIA CUDA".to_owned(),
            driver: nvidia_driver().unwrap_or_default(),
            interface: format!("CUDA {}, compute capability {major}.{minor}", info.driver),
            compute_units: info.multiprocessors,
            copy_bytes_per_second: device.copy_bandwidth().ok(),
        }
    }
}

/// The version of NVIDIA's driver, which CUDA does not tell: it has numbers of its own.
fn nvidia_driver() -> Option<String> {
    driver_of(&std::fs::read_to_string("/proc/driver/nvidia/version").ok()?)
}

/// The version in the kernel module's first line, `NVRM version: NVIDIA UNIX ... Kernel Module for x86_64  580.159.04  ...`:
/// the only word that is numbers between points.
fn driver_of(text: &str) -> Option<String> {
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
        assert_eq!(driver_of(text).as_deref(), Some("580.159.04"));
        assert_eq!(driver_of("NVRM version: none\nGCC version: 12.3.0"), None);
        assert_eq!(driver_of(""), None);
    }
}
