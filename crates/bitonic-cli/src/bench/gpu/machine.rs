//! What was measured on and with.

use bitonic::opencl::Device;
use bitonic_testkit::record;

/// What was measured on and with.
#[derive(Clone, Debug)]
pub(super) struct Machine {
    /// The device's name.
    pub(super) device: String,
    /// What sort of device it is.
    pub(super) kind: String,
    /// Its driver's OpenCL implementation.
    pub(super) platform: String,
    /// The driver's version.
    pub(super) driver: String,
    /// The version of OpenCL.
    pub(super) opencl: String,
    /// How many multiprocessors or cores it has.
    pub(super) compute_units: usize,
    /// How many bytes it reads plus writes a second when it copies its own memory, where that can be measured.
    pub(super) copy_bytes_per_second: Option<f64>,
    /// The version of bitonic.
    pub(super) version: &'static str,
    /// The commit of the sources, with `-dirty` if they were changed since; empty if git does not know.
    pub(super) commit: String,
    /// The day, in UTC.
    pub(super) date: String,
}

impl Machine {
    /// Describes a device and this program.
    pub(super) fn describe(device: &Device) -> Self {
        let info = device.info();
        Self {
            device: info.name.clone(),
            kind: info.kind.to_string(),
            platform: info.platform.clone(),
            driver: info.driver.clone(),
            opencl: info.version.clone(),
            compute_units: info.compute_units,
            copy_bytes_per_second: device.copy_bandwidth().ok(),
            version: env!("CARGO_PKG_VERSION"),
            commit: record::commit(),
            date: record::today(),
        }
    }
}
