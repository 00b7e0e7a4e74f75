//! What was measured on and with.

use bitonic::Engine;
use bitonic_testkit::record;

/// What was measured on and with.
#[derive(Clone, Debug)]
pub(super) struct Machine {
    /// The engine that uses the device.
    pub(super) engine: Engine,
    /// The device's name.
    pub(super) device: String,
    /// What sort of device it is.
    pub(super) kind: String,
    /// Whose implementation of the interface it is.
    pub(super) platform: String,
    /// The driver's version; empty if it is not known.
    pub(super) driver: String,
    /// The version of OpenCL or CUDA, and what the device supports of it.
    pub(super) interface: String,
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
    /// This program on this day, and nothing about a device.
    pub(super) fn of_this_program() -> Self {
        Self {
            engine: Engine::Auto,
            device: String::new(),
            kind: String::new(),
            platform: String::new(),
            driver: String::new(),
            interface: String::new(),
            compute_units: 0,
            copy_bytes_per_second: None,
            version: env!("CARGO_PKG_VERSION"),
            commit: record::commit(),
            date: record::today(),
        }
    }
}

/// The version of NVIDIA's driver, which CUDA does not tell: it has numbers of its own.
pub(super) fn nvidia_driver() -> Option<String> {
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
