//! Tuning of a device, in a process and a cache of its own.

use crate::device_or_skip;
use bitonic::device::{self, DeviceChoice};
use bitonic::{Engine, Sorter};
use bitonic_testkit::{in_child, is_child};
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

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
    let mut steps = 0;
    let open = device::open(Engine::Cuda, &DeviceChoice::Best).unwrap();
    let (budget, started) = (Duration::from_secs(20), Instant::now());
    let report = open.tune(budget, &mut |_| steps += 1).unwrap();
    // No step begins that would end later, as far as those before it tell.
    assert!(started.elapsed() < 2 * budget, "{:?}", started.elapsed());
    assert_eq!((report.device.clone(), report.stored), (device.info().name.clone(), true));
    assert!(steps > 0 && !report.rows.is_empty() && !report.faster_from.is_empty(), "{report:?}");
    let shown = device::tuned();
    assert_eq!(shown.len(), 1, "{shown:?}");
    assert_eq!((&shown[0].device, shown[0].sorts.len()), (&report.device, report.rows.len()));
    assert_eq!(shown[0].faster_from, report.faster_from);
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
