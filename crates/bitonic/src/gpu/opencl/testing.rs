//! What the tests of this folder share.

use super::device::Registry;
use super::{Device, DeviceChoice};

/// A device to test on, with nothing in its memory or queue but what the test puts there.
pub(crate) fn device() -> Device {
    Registry::default().open(&DeviceChoice::Best).unwrap_or_else(|error| {
        panic!("these tests run on an OpenCL device; pocl-opencl-icd makes the processor one: {error}")
    })
}
