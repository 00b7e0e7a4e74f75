//! Tests that need a GPU run where one is; elsewhere each says by name that it was skipped, unless `BITONIC_REQUIRE_CUDA` is
//! set, which makes a missing device a failure.

use bitonic::cuda::{Device, DeviceChoice};
use std::env;

/// The device to test on; `None`, with a line that says so, where there is none.
pub(crate) fn device_for(test: &str) -> Option<Device> {
    match Device::open(&DeviceChoice::Best) {
        Ok(device) => Some(device),
        Err(error) if env::var_os("BITONIC_REQUIRE_CUDA").is_some() => {
            panic!("{test} needs a CUDA device: {error}")
        }
        Err(error) => {
            println!("skipped: no CUDA device for {test}: {error}");
            None
        }
    }
}
