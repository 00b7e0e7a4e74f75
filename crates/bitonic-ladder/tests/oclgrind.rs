//! Every kernel of the ladder under Oclgrind: no data race, no access outside of a buffer, no use of memory that nobody
//! wrote, no call that OpenCL does not allow.

use bitonic::opencl::{Argument, Device, DeviceChoice};
use bitonic_ladder::{Options, Rung, RunsOn};
use bitonic_testkit::{Oclgrind, Pattern, PlantedFault, TestKey};

/// Groups of so few that the sorts below have several of them, and local_memory has steps for each of its kernels.
const MOST_ITEMS: usize = 16;

#[test]
fn every_rung_is_clean() {
    let report = Oclgrind::find().max_group_size(MOST_ITEMS).report_of("sort_with_every_rung");
    assert!(report.is_empty(), "{report}");
}

#[test]
fn planted_faults_are_reported() {
    let report = Oclgrind::find().report_of("run_planted_faults");
    for fault in PlantedFault::ALL {
        assert!(fault.is_in(&report), "{} is not reported: {report}", fault.kernel);
    }
}

#[test]
#[ignore = "run by every_rung_is_clean, in a process with Oclgrind"]
fn sort_with_every_rung() {
    let device = oclgrind();
    assert_eq!(device.info().max_group_size, MOST_ITEMS);
    for &rung in Rung::ALL.iter().filter(|rung| rung.runs_on().contains(&RunsOn::OpenCl)) {
        // More than the two grids' worth of keys that odd-even sorts take at a time, and not whole tiles; or more than
        // two tiles of local_memory.
        let len = if rung.is_quadratic() { 75 } else { 128 };
        sorts::<u8>(rung, len);
        sorts::<f32>(rung, len);
        sorts::<u128>(rung, len);
    }
}

fn sorts<K: TestKey>(rung: Rung, len: usize) {
    let mut keys: Vec<K> = Pattern::Special.generate(len, 1);
    let times = rung.sort_timed(&mut keys, &Options::default()).unwrap_or_else(|error| panic!("{error}"));
    assert!(bitonic::is_sorted(&keys, bitonic::Order::Ascending), "{rung}");
    for kernel in times.device.unwrap().kernels.each {
        assert!(kernel.launches > 0, "{} was not checked", kernel.name);
    }
}

#[test]
#[ignore = "run by planted_faults_are_reported, in a process with Oclgrind"]
fn run_planted_faults() {
    let device = oclgrind();
    for fault in PlantedFault::ALL {
        let buffer = device.allocate(4 * PlantedFault::WORDS).unwrap();
        device.upload(&[0; 4 * PlantedFault::WORDS], &buffer).unwrap();
        let kernel = device.program(fault.kernel, fault.source, "").unwrap().kernel(fault.kernel).unwrap();
        let (groups, group_size) = (PlantedFault::GROUPS, PlantedFault::GROUP_SIZE);
        let arguments = [Argument::Buffer(&buffer)];
        // SAFETY: The device is Oclgrind (checked when it was opened), which reports faults and does not do them.
        unsafe { kernel.launch(device.queue(), groups, group_size, &arguments) }.unwrap();
        device.finish().unwrap();
    }
}

/// The only device of a process that the tests above started.
fn oclgrind() -> Device {
    let device = Device::open(&DeviceChoice::Best).unwrap();
    assert_eq!(
        device.info().platform,
        "Oclgrind",
        "this test is run by another one, in a process of its own"
    );
    device
}
