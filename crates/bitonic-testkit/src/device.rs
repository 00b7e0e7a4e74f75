//! Devices that not every machine has.

use std::env;
use std::fmt::Display;

/// The device that was opened for the test of this name; `None`, with a line that says that the test is skipped and why, where
/// there is none. Machines that must have one set the variable, and there a missing device is a failure.
///
/// ```
/// use bitonic::cuda::{Device, DeviceChoice};
/// use bitonic_testkit::device_or_skip;
///
/// # fn keys_on_the_device_are_sorted() {
/// let opened = Device::open(&DeviceChoice::Best);
/// let Some(device) = device_or_skip("keys_on_the_device_are_sorted", opened, "BITONIC_REQUIRE_CUDA") else {
///     return;
/// };
/// // .. what is to be seen with a device.
/// # }
/// ```
///
/// # Panics
///
/// If there is no device and the variable is set, to whatever.
pub fn device_or_skip<D, E: Display>(test: &str, opened: Result<D, E>, variable: &str) -> Option<D> {
    match opened {
        Ok(device) => Some(device),
        Err(error) if env::var_os(variable).is_some() => {
            panic!("{test} needs a device, because {variable} is set: {error}")
        }
        Err(error) => {
            println!("skipped: no device for {test}: {error}");
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MISSING: Result<u8, &str> = Err("there is no driver");

    /// Every process of the tests has it.
    const SET: &str = "CARGO_PKG_NAME";

    #[test]
    fn a_device_that_is_there_is_used_whether_it_is_required_or_not() {
        for variable in [SET, "BITONIC_REQUIRE_NOTHING"] {
            assert_eq!(device_or_skip("a test", Ok::<_, &str>(7), variable), Some(7));
        }
    }

    #[test]
    fn a_test_without_its_device_is_skipped() {
        assert_eq!(device_or_skip("a test", MISSING, "BITONIC_REQUIRE_NOTHING"), None);
    }

    #[test]
    #[should_panic(expected = "a test needs a device, because CARGO_PKG_NAME is set: there is no driver")]
    fn a_device_that_is_required_and_missing_is_a_failure() {
        device_or_skip("a test", MISSING, SET);
    }
}
