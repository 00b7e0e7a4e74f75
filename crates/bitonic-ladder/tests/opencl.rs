//! Rungs through OpenCL, on the best device here: any will do, such as the processor through PoCL.

mod device_kit;

use bitonic::opencl::{Device, DeviceChoice};
use bitonic_ladder::{LadderError, Rung, RunsOn};
use device_kit::options;
use std::time::Duration;

const RUNS_ON: RunsOn = RunsOn::OpenCl;

/// Every launch has its own time.
const TIME_ERROR: Duration = Duration::ZERO;

/// Without a device, no test here means anything.
fn device_for(test: &str) -> Option<Device> {
    match Device::open(&DeviceChoice::Best) {
        Ok(device) => Some(device),
        Err(error) => panic!("{test} needs an OpenCL device, such as PoCL: {error}"),
    }
}

#[test]
fn a_device_that_refuses_memory_leaves_the_keys_as_they_were() {
    // Zeros that nobody has touched yet take no memory of the host; and the device is asked before they are touched.
    let too_many = usize::try_from(device_kit::device_or_skip!().info().max_allocation_bytes + 1)
        .unwrap()
        .next_power_of_two();
    let mut keys = vec![0_u8; too_many];
    keys[0] = 2;
    let refused = Rung::NaiveScan.sort(&mut keys, &options()).unwrap_err();
    assert!(
        matches!(refused, LadderError::Device { reason: bitonic::Error::DeviceMemory { .. }, .. }),
        "{refused}"
    );
    assert_eq!((keys[0], keys[1]), (2, 0));
}
