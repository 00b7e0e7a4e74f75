//! Tuning of a device, in a process and a cache of its own.

use crate::device_or_skip;
use bitonic::device::{self, DeviceChoice, Effort};
use bitonic::{Engine, Sorter};
use bitonic_testkit::{in_child, is_child};
use std::fs;
use std::path::Path;

#[test]
fn tuning_stores_what_it_finds_and_sorts_stay_right() {
    let cache = Path::new(env!("CARGO_TARGET_TMPDIR")).join("cuda-tune");
    let test = "tune::tuning_stores_what_it_finds_and_sorts_stay_right";
    if !is_child() {
        device_or_skip!();
        // A run before this one may have left it.
        let _ = fs::remove_dir_all(&cache);
    }
    if in_child(test, &[("BITONIC_CACHE_DIR", &cache)]) {
        return;
    }
    let device = device_or_skip!();
    let mut steps = Vec::new();
    let open = device::open(Engine::Cuda, &DeviceChoice::Best).unwrap();
    let report = open.tune(Effort::Quick, &mut |done, total| steps.push((done, total))).unwrap();
    assert_eq!((report.device, report.stored), (device.info().name.clone(), true));
    let (done, total) = *steps.last().expect("there are steps");
    assert_eq!((done, steps.len()), (total, total));
    for row in &report.rows {
        assert!(row.best_time <= row.default_time && row.tried > row.refused, "{row:?}");
    }
    let mut keys: Vec<u32> = (0..1 << 20).map(|number: u32| number.wrapping_mul(0x9e37_79b9)).collect();
    Sorter::new().engine(Engine::Cuda).sort(&mut keys).unwrap();
    assert!(keys.is_sorted());
    let stored = |start: &str| {
        let names = fs::read_dir(&cache).unwrap().map(|entry| entry.unwrap().file_name());
        names.filter(|name| name.to_string_lossy().starts_with(start)).count()
    };
    assert_eq!(stored("tuning-"), 1);
    assert_eq!(
        stored("auto-"),
        1,
        "Auto knows from which length on the device is faster, or that it never is"
    );
}
