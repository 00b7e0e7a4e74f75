//! Rungs through CUDA. Tests that need a GPU run where one is; elsewhere each says by name that it was skipped, unless
//! `BITONIC_REQUIRE_CUDA` is set, which makes a missing device a failure.

mod device_kit;

use bitonic::cuda::{Device, DeviceChoice, devices};
use bitonic::{Engine, Error};
use bitonic_ladder::{LadderError, Options, Rung, RunsOn};
use bitonic_testkit::{Pattern, in_child};
use device_kit::{device_or_skip, on_devices, options};
use std::time::Duration;

const RUNS_ON: RunsOn = RunsOn::Cuda;

/// The driver rounds the time between two moments.
const TIME_ERROR: Duration = Duration::from_micros(1);

/// The device to test on; `None`, with a line that says so, where there is none.
fn device_for(test: &str) -> Option<Device> {
    bitonic_testkit::device_or_skip(test, Device::open(&DeviceChoice::Best), "BITONIC_REQUIRE_CUDA")
}

/// As many as a GPU is made for. Quadratic rungs would take seconds.
#[test]
fn rungs_sort_a_million_keys() {
    device_or_skip!();
    for rung in on_devices().filter(|rung| !rung.is_quadratic()) {
        let mut keys: Vec<u32> = Pattern::Random.generate(1 << 20, 1);
        let mut expected = keys.clone();
        expected.sort_unstable();
        rung.sort(&mut keys, &options()).unwrap();
        assert!(keys == expected, "{rung}");
    }
}

/// What every rung says where it cannot work; its keys must be as they were.
fn refusals(options: &Options) -> impl Iterator<Item = (Rung, Error)> {
    on_devices().map(move |rung| {
        let before: Vec<i64> = Pattern::Random.generate(64, 1);
        let mut keys = before.clone();
        let refused = rung.sort(&mut keys, options);
        assert_eq!(keys, before, "{rung}");
        match refused {
            Err(LadderError::Device { rung: named, reason }) => {
                assert_eq!(named, rung);
                (rung, reason)
            }
            other => panic!("{rung}: {other:?}"),
        }
    })
}

#[test]
fn without_cuda_every_rung_says_what_to_install_and_leaves_the_keys_alone() {
    // Libraries that are found by this variable are not found, and a driver that the system has shows no device.
    let hidden = [("LD_LIBRARY_PATH", "/nonexistent"), ("CUDA_VISIBLE_DEVICES", "")];
    if in_child("without_cuda_every_rung_says_what_to_install_and_leaves_the_keys_alone", &hidden) {
        return;
    }
    for device in [DeviceChoice::Best, DeviceChoice::Index(0), DeviceChoice::Name("H200".to_owned())] {
        for (rung, reason) in refusals(&Options { device, ..options() }) {
            let Error::EngineUnavailable { engine: Engine::Cuda, reason, advice } = reason else {
                panic!("{rung}: {reason}");
            };
            assert!(reason.starts_with("the CUDA driver"), "{rung}: {reason}");
            assert!(advice.contains("install NVIDIA's driver"), "{rung}: {advice}");
        }
    }
}

#[test]
fn without_nvrtc_every_rung_says_where_it_is_from() {
    let test = "without_nvrtc_every_rung_says_where_it_is_from";
    if in_child(test, &[("LD_LIBRARY_PATH", "/nonexistent")]) {
        return;
    }
    if devices().is_err() {
        println!("skipped: no CUDA device for {test}");
        return;
    }
    if Device::open(&DeviceChoice::Best).is_ok() {
        println!("skipped: NVRTC is in a folder of the system, for {test}");
        return;
    }
    for (rung, reason) in refusals(&options()) {
        let Error::EngineUnavailable { engine: Engine::Cuda, reason, advice } = reason else {
            panic!("{rung}: {reason}");
        };
        assert!(reason.contains("libnvrtc") && advice.contains("nvidia-cuda-nvrtc"), "{reason}; {advice}");
    }
}
