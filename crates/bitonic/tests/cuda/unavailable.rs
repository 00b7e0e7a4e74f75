//! Machines without a CUDA driver, a device or NVRTC: every call is an error that says what to do, and none panics.

use bitonic::cuda::{Device, DeviceChoice, ResidentSorter, devices};
use bitonic::{Engine, Error, Sorter};
use bitonic_testkit::{Pattern, in_child};

/// Libraries that are found by this variable are not found, and a driver that the system has shows no device.
const HIDDEN: [(&str, &str); 2] = [("LD_LIBRARY_PATH", "/nonexistent"), ("CUDA_VISIBLE_DEVICES", "")];

fn assert_unavailable<T: std::fmt::Debug>(result: Result<T, Error>) {
    let Err(Error::EngineUnavailable { engine, reason, advice }) = &result else {
        panic!("without CUDA the answer was {result:?}");
    };
    assert_eq!(*engine, Engine::Cuda);
    assert!(reason.starts_with("the CUDA driver"), "{reason}");
    assert!(advice.contains("install NVIDIA's driver") && advice.contains("the cpu engine"), "{advice}");
}

#[test]
fn without_cuda_devices_cannot_be_listed_or_opened() {
    if in_child("unavailable::without_cuda_devices_cannot_be_listed_or_opened", &HIDDEN) {
        return;
    }
    // More than once: what the first call found out is kept.
    for _ in 0..2 {
        assert_unavailable(devices());
        for choice in [DeviceChoice::Best, DeviceChoice::Index(0), DeviceChoice::Name("H200".to_owned())] {
            assert_unavailable(Device::open(&choice));
            let resident = Device::open(&choice).and_then(|device| ResidentSorter::new(device.context()));
            assert_unavailable(resident);
        }
    }
    assert!(bitonic::devices().iter().all(|device| device.engine != Engine::Cuda));
}

#[test]
fn without_cuda_every_sort_is_refused_and_the_arrays_stay() {
    if in_child("unavailable::without_cuda_every_sort_is_refused_and_the_arrays_stay", &HIDDEN) {
        return;
    }
    let sorter = Sorter::new().engine(Engine::Cuda);
    let before: Vec<u32> = Pattern::Random.generate(1000, 1);
    let indices: Vec<u64> = (0..1000).collect();
    let (mut keys, mut values) = (before.clone(), indices.clone());
    assert_unavailable(sorter.sort(&mut keys));
    assert_unavailable(sorter.sort_rows(&mut keys, 10));
    assert_unavailable(sorter.sort_pairs(&mut keys, &mut values));
    assert_unavailable(sorter.clone().stable(true).sort_pairs(&mut keys, &mut values));
    assert_unavailable(sorter.argsort(&keys));
    assert_unavailable(sorter.plan::<u32>(1000));
    assert_eq!((&keys, &values), (&before, &indices));

    Sorter::new().sort(&mut keys).expect("other engines need no CUDA");
    assert!(keys.is_sorted());
}

#[test]
fn without_nvrtc_a_device_is_not_opened_and_the_advice_says_where_it_is_from() {
    let test = "unavailable::without_nvrtc_a_device_is_not_opened_and_the_advice_says_where_it_is_from";
    if in_child(test, &[("LD_LIBRARY_PATH", "/nonexistent")]) {
        return;
    }
    if devices().is_err() {
        println!("skipped: no CUDA device for {test}");
        return;
    }
    match Device::open(&DeviceChoice::Best) {
        Err(Error::EngineUnavailable { engine: Engine::Cuda, reason, advice }) => {
            assert!(reason.contains("libnvrtc"), "{reason}");
            assert!(advice.contains("nvidia-cuda-nvrtc") && advice.contains("LD_LIBRARY_PATH"), "{advice}");
        }
        Err(error) => panic!("without NVRTC the answer was {error}"),
        Ok(_) => println!("skipped: NVRTC is in a folder of the system, for {test}"),
    }
}
