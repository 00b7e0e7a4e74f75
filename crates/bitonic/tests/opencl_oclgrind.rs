//! Every kernel of the engine under Oclgrind: no data race, no access outside of an array, no use of memory that nobody
//! wrote, no call that OpenCL does not allow.

use bitonic::key::{KeyType, f16};
use bitonic::opencl::{Argument, Device, DeviceChoice};
use bitonic::plan::{Place, Plan, Step};
use bitonic::{Engine, Order, Sorter};
use bitonic_testkit::{Oclgrind, Pattern, PlantedFault, SortChecks, SortsRows, TestKey};

/// Work-items of a group in the tests of tiles: enough that local memory is shared by many, and so few that some hundred
/// keys make several groups.
const ITEMS: usize = 16;
/// Tiles so short that a thousand keys need every kind of pass over memory: with a flip and without.
const FEW_ITEMS: usize = 2;

#[test]
fn keys_are_clean() {
    assert_clean(ITEMS, "sort_keys");
}

#[test]
fn pairs_are_clean() {
    assert_clean(ITEMS, "sort_pairs_of_every_layout");
}

#[test]
fn indices_are_clean() {
    // A process for each, because they read values that were not uploaded: see `report_of`.
    for test in
        ["argsort_8_bits", "argsort_16_bits", "argsort_32_bits", "argsort_64_bits", "argsort_128_bits"]
    {
        assert_clean(ITEMS, test);
    }
}

#[test]
fn rows_are_clean() {
    assert_clean(ITEMS, "sort_rows");
}

#[test]
fn the_best_keys_are_found_cleanly() {
    for test in ["find_the_best", "find_the_best_of_wide_keys"] {
        assert_clean(ITEMS, test);
    }
}

#[test]
fn passes_over_memory_are_clean() {
    assert_clean(FEW_ITEMS, "sort_in_many_passes");
}

fn assert_clean(items: usize, test: &str) {
    let report = Oclgrind::find().max_group_size(items).report_of(test);
    assert!(report.is_empty(), "{report}");
}

#[test]
fn planted_faults_are_reported() {
    let report = Oclgrind::find().report_of("run_planted_faults");
    for fault in PlantedFault::ALL {
        assert!(fault.is_in(&report), "{} is not reported: {report}", fault.kernel);
    }
}

/// Two tiles, the second of them not whole.
const LEN: usize = 200;

#[test]
#[ignore = "run by keys_are_clean, in a process with Oclgrind"]
fn sort_keys() {
    let sorter = on_oclgrind(ITEMS);
    keys::<u8>(&sorter, LEN, Order::Ascending);
    keys::<i16>(&sorter, LEN, Order::Descending);
    keys::<f32>(&sorter, LEN, Order::Descending);
    keys::<f64>(&sorter, LEN, Order::Ascending);
    keys::<i128>(&sorter, LEN, Order::Descending);
    // Less than a tile, whole tiles, and more than two.
    for len in [1, 77, 256, 300] {
        keys::<f32>(&sorter, len, Order::Ascending);
    }
}

#[test]
#[ignore = "run by pairs_are_clean, in a process with Oclgrind"]
fn sort_pairs_of_every_layout() {
    let sorter = on_oclgrind(ITEMS);
    every_value::<i8>(&sorter, LEN);
    every_value::<f16>(&sorter, LEN);
    every_value::<u32>(&sorter, LEN);
    every_value::<i64>(&sorter, LEN);
    every_value::<u128>(&sorter, LEN);
}

#[test]
#[ignore = "run by indices_are_clean, in a process with Oclgrind"]
fn argsort_8_bits() {
    indices::<u8>(&on_oclgrind(ITEMS), LEN);
}

#[test]
#[ignore = "run by indices_are_clean, in a process with Oclgrind"]
fn argsort_16_bits() {
    indices::<f16>(&on_oclgrind(ITEMS), LEN);
}

#[test]
#[ignore = "run by indices_are_clean, in a process with Oclgrind"]
fn argsort_32_bits() {
    indices::<i32>(&on_oclgrind(ITEMS), LEN);
}

#[test]
#[ignore = "run by indices_are_clean, in a process with Oclgrind"]
fn argsort_64_bits() {
    indices::<f64>(&on_oclgrind(ITEMS), LEN);
}

#[test]
#[ignore = "run by indices_are_clean, in a process with Oclgrind"]
fn argsort_128_bits() {
    indices::<u128>(&on_oclgrind(ITEMS), LEN);
}

/// So many keys that groups share a row, and go through it in several rounds.
#[test]
#[ignore = "run by the_best_keys_are_found_cleanly, in a process with Oclgrind"]
fn find_the_best() {
    best::<f32>(&on_oclgrind(ITEMS), 2, 3001, 5);
}

#[test]
#[ignore = "run by the_best_keys_are_found_cleanly, in a process with Oclgrind"]
fn find_the_best_of_wide_keys() {
    best::<u128>(&on_oclgrind(ITEMS), 1, 2500, 20);
}

#[test]
#[ignore = "run by rows_are_clean, in a process with Oclgrind"]
fn sort_rows() {
    let sorter = on_oclgrind(ITEMS);
    let short = [(1, 200), (3, 50), (8, 40), (100, 3), (128, 2)];
    let long = [(150, 3), (256, 2)];
    let checks = SortChecks::new("rows under Oclgrind").patterns(&[Pattern::Special]);
    checks
        .clone()
        .key_types(&[KeyType::F32])
        .check_rows(&Rows(sorter.clone()), short.into_iter().chain(long));
    // Rows that end inside a tile, in tiles that end inside a row.
    checks
        .key_types(&[KeyType::U8, KeyType::F16, KeyType::I64, KeyType::U128])
        .check_rows(&Rows(sorter), [(3, 50)]);
}

#[test]
#[ignore = "run by passes_over_memory_are_clean, in a process with Oclgrind"]
fn sort_in_many_passes() {
    let sorter = on_oclgrind(FEW_ITEMS);
    in_many_passes::<u8>(&sorter);
    in_many_passes::<f16>(&sorter);
    in_many_passes::<i32>(&sorter);
    in_many_passes::<f64>(&sorter);
    in_many_passes::<u128>(&sorter);
    let len = shortest(|len| sorter.plan_pairs::<f32, u32>(len).unwrap());
    pairs::<f32, u32>(&sorter, len, |index| index as u32);
    let len = shortest(|len| sorter.plan_pairs::<i128, u64>(len).unwrap());
    pairs::<i128, u64>(&sorter, len, |index| index as u64);
}

fn in_many_passes<K: TestKey>(sorter: &Sorter) {
    let len = shortest(|len| sorter.plan::<K>(len).unwrap());
    keys::<K>(sorter, len, Order::Descending);
}

/// The shortest length, but for a few keys, whose plan has every kind of pass.
fn shortest(plan: impl Fn(usize) -> Plan) -> usize {
    let lengths = (5..12).map(|log2| (1 << log2) + 5);
    let plans = || lengths.clone().map(|len| (len, plan(len)));
    match plans().find(|(_, plan)| has_every_pass(plan)) {
        Some((len, _)) => len,
        None => panic!("with tiny tiles, few keys need many passes: {}", plans().last().expect("lengths").1),
    }
}

/// Passes over memory with a flip and without, and merges inside tiles.
fn has_every_pass(plan: &Plan) -> bool {
    let flips = |start: u32| start == Step::first_of_merge(Step::new(start).merge()).number();
    let launches = &plan.kernels.as_ref().expect("a device has kernels").launches;
    let at = |place| launches.iter().filter(move |launch| launch.place == Some(place));
    let (with, without): (Vec<_>, Vec<_>) = at(Place::Memory).partition(|launch| flips(launch.steps.start));
    let tiles = at(Place::Tile).count();
    !with.is_empty() && !without.is_empty() && tiles > 1
}

fn keys<K: TestKey>(sorter: &Sorter, len: usize, order: Order) {
    let mut keys: Vec<K> = Pattern::Special.generate(len, 1);
    let report = sorter.clone().order(order).sort(&mut keys).unwrap();
    assert_eq!(report.engine(), Engine::OpenCl);
    assert!(bitonic::is_sorted(&keys, order), "{len} keys");
}

/// Values of 4 and 8 bytes, which travel with the keys.
fn every_value<K: TestKey>(sorter: &Sorter, len: usize) {
    pairs::<K, u32>(sorter, len, |index| index as u32);
    pairs::<K, u64>(sorter, len, |index| index as u64);
}

fn pairs<K: TestKey, V: Copy + Send + PartialEq>(sorter: &Sorter, len: usize, value: impl Fn(usize) -> V) {
    let before: Vec<K> = Pattern::Special.generate(len, 1);
    let (mut keys, mut values) = (before.clone(), (0..len).map(&value).collect::<Vec<V>>());
    let report = sorter.sort_pairs(&mut keys, &mut values).unwrap();
    assert_eq!(report.engine(), Engine::OpenCl);
    assert!(bitonic::is_sorted(&keys, Order::Ascending), "{len} pairs");
    for (index, key) in before.iter().enumerate() {
        let place = values.iter().position(|&found| found == value(index)).expect("no value is lost");
        assert_eq!(keys[place].to_raw_bits(), key.to_raw_bits(), "a value left its key");
    }
}

fn indices<K: TestKey>(sorter: &Sorter, len: usize) {
    let keys: Vec<K> = Pattern::FewUnique.generate(len, 1);
    let mut expected: Vec<usize> = (0..len).collect();
    expected.sort_by_key(|&index| keys[index].to_ordered_bits());
    assert_eq!(sorter.argsort(&keys).unwrap(), expected);
}

fn best<K: TestKey + PartialEq>(sorter: &Sorter, rows: usize, row_length: usize, k: usize) {
    let keys: Vec<K> = Pattern::Random.generate(rows * row_length, 1);
    let plan = sorter.plan_top_k_rows::<K>(keys.len(), row_length, k).unwrap();
    let launches = &plan.kernels.as_ref().expect("a device was asked").launches;
    assert!(launches.len() > 2 && launches[1].groups > rows, "{plan}");
    let found = sorter.top_k_rows(&keys, row_length, k).unwrap();
    let expected = Sorter::new().engine(Engine::Cpu).top_k_rows(&keys, row_length, k).unwrap();
    assert_eq!(found, expected);
}

struct Rows(Sorter);

impl SortsRows for Rows {
    fn sort_rows<K: TestKey>(&self, keys: &mut [K], row_length: usize, order: Order) {
        let report = self.0.clone().order(order).sort_rows(keys, row_length).unwrap();
        assert_eq!(report.engine(), Engine::OpenCl);
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

/// On the only device of a process that the tests above started.
fn on_oclgrind(items: usize) -> Sorter {
    assert_eq!(oclgrind().info().max_group_size, items);
    Sorter::new().engine(Engine::OpenCl)
}

fn oclgrind() -> Device {
    let device = Device::open(&DeviceChoice::Best).unwrap();
    assert_eq!(
        device.info().platform,
        "Oclgrind",
        "this test is run by another one, in a process of its own"
    );
    device
}
