//! The test kit over the OpenCL engine, on the best device here: any will do, such as the processor through PoCL. And over
//! tables of rows on the CPU engine.

mod device_kit;

use bitonic::key::KeyType;
use bitonic::opencl::{Device, DeviceChoice};
use bitonic::{Engine, Sorter};
use bitonic_testkit::{Pattern, SortChecks};
use device_kit::{ROW_LENGTHS, With, tables};

const ENGINE: Engine = Engine::OpenCl;

/// Without a device, no test here means anything.
fn has_device(test: &str) -> bool {
    if let Err(error) = Device::open(&DeviceChoice::Best) {
        panic!("{test} runs on an OpenCL device; pocl-opencl-icd makes the processor one: {error}");
    }
    true
}

const ROW_TYPES: &[KeyType] = &[KeyType::U32, KeyType::U64, KeyType::F32, KeyType::U8, KeyType::U128];

fn on_cpu(threads: usize) -> Sorter {
    Sorter::new().engine(Engine::Cpu).threads(threads)
}

#[test]
fn rows_on_the_cpu() {
    SortChecks::new("rows, cpu").key_types(ROW_TYPES).check_rows(&With(on_cpu(1)), tables(&ROW_LENGTHS));
}

#[test]
fn rows_on_several_cpu_threads() {
    let checks =
        SortChecks::new("rows, threads").key_types(ROW_TYPES).patterns(&[Pattern::Random, Pattern::Special]);
    // So many keys that threads share them: many rows, and few that are long themselves.
    checks.check_rows(&With(on_cpu(3)), [(1, 70_000), (7, 20_000), (1000, 100), (100_003, 2), (100_003, 1)]);
}

#[test]
fn rows_obliviously_on_the_cpu() {
    let checks = SortChecks::new("oblivious rows, cpu").key_types(ROW_TYPES);
    checks.check_rows(&With(on_cpu(1).oblivious(true)), tables(&ROW_LENGTHS));
}
