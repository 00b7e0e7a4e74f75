//! The CUDA engine. Tests that need a GPU run where one is; elsewhere each says by name that it was skipped, unless
//! `BITONIC_REQUIRE_CUDA` is set, which makes a missing device a failure.

#[path = "../device_kit/mod.rs"]
mod device_kit;
mod resident;
mod transfer;
mod tune;
mod unavailable;
mod workspace;

use bitonic::Engine;
use bitonic::cuda::{Device, DeviceChoice};

const ENGINE: Engine = Engine::Cuda;

fn has_device(test: &str) -> bool {
    device_for(test).is_some()
}

/// The device to test on; `None`, with a line that says so, where there is none.
fn device_for(test: &str) -> Option<Device> {
    bitonic_testkit::device_or_skip(test, Device::open(&DeviceChoice::Best), "BITONIC_REQUIRE_CUDA")
}

/// The device to test on; where there is none, the test ends here, and says so with its name.
macro_rules! device_or_skip {
    () => {{
        fn here() {}
        let here = std::any::type_name_of_val(&here);
        match crate::device_for(here.trim_end_matches("::here")) {
            Some(device) => device,
            None => return,
        }
    }};
}
use device_or_skip;
