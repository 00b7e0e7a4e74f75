//! Rungs on a kind of device: what they sort, keys that are on the device already, and times.
//!
//! The test that takes this module in says which kind: its `RUNS_ON`, the `TIME_ERROR` of its clock, and
//! `device_for(test)`: a device to test on; if there is none, the test ends.

use crate::{RUNS_ON, TIME_ERROR};
use bitonic::DeviceChoice;
use bitonic::Order;
use bitonic::key::KeyType;
use bitonic_ladder::{LadderError, Options, Rung, Sizes};
use bitonic_testkit::{Pattern, SortChecks, SortsKeys, TestKey};

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
pub(crate) use device_or_skip;

pub(crate) fn on_devices() -> impl Iterator<Item = Rung> {
    Rung::ALL.iter().copied().filter(|rung| rung.runs_on().contains(&RUNS_ON))
}

/// What is under test, and the rest by default.
pub(crate) fn options() -> Options {
    Options { runs_on: Some(RUNS_ON), ..Options::default() }
}

struct Adapter(Rung);

impl SortsKeys for Adapter {
    fn sort_keys<K: TestKey>(&self, keys: &mut [K], order: Order) {
        let options = Options { order, ..options() };
        self.0.sort(keys, &options).unwrap_or_else(|error| panic!("{error}"));
    }
}

/// Every type, pattern and order, and short inputs: every step or phase is a launch.
fn passes_the_kit(rung: Rung) {
    let checks = SortChecks::new(format!("{rung} on {RUNS_ON}"));
    match rung.sizes() {
        Sizes::Any => checks.max_len(18),
        Sizes::PowerOfTwo => checks.only_powers_of_two().max_len(64),
    }
    .check_keys(&Adapter(rung));
}

/// More keys than a group has, than a grid has, and of every width.
fn sorts_many_keys(rung: Rung) {
    let widths = [KeyType::U8, KeyType::I16, KeyType::F32, KeyType::F64, KeyType::U128];
    let checks = SortChecks::new(format!("{rung} on {RUNS_ON}")).max_len(0);
    match rung.is_quadratic() {
        false => {
            checks.clone().key_types(&widths).also_lengths([1 << 9, 1 << 12]).check_keys(&Adapter(rung));
            checks.key_types(&[KeyType::U32]).also_lengths([1 << 14, 1 << 16]).check_keys(&Adapter(rung));
        }
        true => {
            checks.clone().key_types(&widths).also_lengths([257, 512]).check_keys(&Adapter(rung));
            checks.key_types(&[KeyType::U32]).also_lengths([2047, 3001]).check_keys(&Adapter(rung));
        }
    }
}

/// Two tests a rung, so that they run in parallel and a failure names its rung.
macro_rules! every_rung {
    ($($name:ident: $rung:ident),+ $(,)?) => {
        $(
            mod $name {
                use bitonic_ladder::Rung;

                #[test]
                fn passes_the_kit() {
                    super::device_or_skip!();
                    super::passes_the_kit(Rung::$rung);
                }

                #[test]
                fn sorts_many_keys() {
                    super::device_or_skip!();
                    super::sorts_many_keys(Rung::$rung);
                }
            }
        )+

        #[test]
        fn no_rung_on_a_device_is_left_out() {
            assert_eq!(on_devices().collect::<Vec<_>>(), [$(Rung::$rung),+]);
        }
    };
}

every_rung! {
    naive_scan: NaiveScan,
    naive_folded: NaiveFolded,
    naive_shifts: NaiveShifts,
    xor_guarded: XorGuarded,
    compare_pair: ComparePair,
    one_item_groups: OneItemGroups,
    local_memory: LocalMemory,
    local_memory_queued: LocalMemoryQueued,
    local_many_steps: LocalManySteps,
    odd_even_two_kernels: OddEvenTwoKernels,
    odd_even_one_kernel: OddEvenOneKernel,
    odd_even_local: OddEvenLocal,
    odd_even_strided: OddEvenStrided,
}

#[test]
fn a_length_that_is_no_power_of_two_is_refused_before_a_device_is_looked_for() {
    device_or_skip!();
    let options = Options { device: DeviceChoice::Name("no such device".to_owned()), ..options() };
    for rung in on_devices() {
        let mut keys = [3_i16, 1, 2];
        let refused = rung.sort(&mut keys, &options).unwrap_err();
        assert_eq!(keys, [3, 1, 2], "{rung}");
        match rung.sizes().contain(3) {
            // The device is looked for, then, and is not there.
            true => {
                assert!(matches!(refused, LadderError::Device { .. }), "{rung}: {refused}");
                let message = refused.to_string();
                assert!(
                    message.starts_with(&format!(
                        "{rung} did not sort: no device is 'no such device': choose one of 0: "
                    )),
                    "{message}"
                );
            }
            false => assert_eq!(refused, LadderError::NotAPowerOfTwo { rung, len: 3 }),
        }
    }
}

#[test]
fn times_tell_what_the_device_did() {
    device_or_skip!();
    let len = 1 << 12;
    let input: Vec<f32> = Pattern::Random.generate(len, 1);
    for rung in on_devices() {
        let mut keys = input.clone();
        let times = rung.sort_timed(&mut keys, &options()).unwrap();
        assert!(bitonic::is_sorted(&keys, Order::Ascending), "{rung}");
        let device = times.device.as_ref().unwrap();
        let kernels = &device.kernels;
        let names: Vec<&str> = kernels.each.iter().map(|kernel| kernel.name).collect();
        assert_eq!(names, rung.kernels());
        // A phase for every key; or twelve stages of 1, 2, .., 12 steps; or one launch for tiles of 2^9, then 1 + 1, 2 + 1 and 3 + 1.
        let launches: usize = kernels.each.iter().map(|kernel| kernel.launches).sum();
        let expected = match rung {
            _ if rung.is_quadratic() => len,
            Rung::LocalManySteps => 1 + 2 + 3 + 4,
            _ => 12 * 13 / 2,
        };
        assert_eq!(launches, expected, "{rung}");
        let busy = kernels.each.iter().map(|kernel| kernel.time).sum();
        assert!(
            kernels.span + TIME_ERROR * launches as u32 >= busy,
            "{rung}: the queue is in order, so kernels do not overlap: {kernels:?}"
        );
        assert!(times.total >= device.upload + kernels.span + device.download, "{rung}: {times:?}");
    }
    let on_the_processor = Rung::Recursive.sort_timed(&mut input.clone(), &Options::default()).unwrap();
    assert_eq!(on_the_processor.device, None);
}

#[test]
fn local_memory_uses_each_of_its_kernels_for_the_steps_that_are_its_own() {
    device_or_skip!();
    let launches = |rung: Rung| -> Vec<(&str, usize)> {
        let mut keys: Vec<u32> = Pattern::Random.generate(1 << 12, 1);
        let each = rung.sort_timed(&mut keys, &options()).unwrap().device.unwrap().kernels.each;
        each.iter().map(|kernel| (kernel.name, kernel.launches)).collect()
    };
    // Tiles of 2^9 keys: nine stages whose bitons fit a tile; then three stages with 1 + 2 + 3 steps in buckets larger than it, and
    // 9 in buckets that fit, each.
    let expected = [("local_small_biton", 45), ("local_big_biton", 27), ("local_big_bucket", 6)];
    assert_eq!(launches(Rung::LocalMemory), expected);
    assert_eq!(launches(Rung::LocalMemoryQueued), expected);
}

#[test]
fn keys_on_the_device_are_sorted_there() {
    let device = device_or_skip!();
    for rung in on_devices() {
        let len = 512;
        let keys: Vec<u64> = Pattern::Random.generate(len, 7);
        // Two more keys than are sorted, which must stay.
        let mut bytes: Vec<u8> = keys.iter().copied().chain([0, 1]).flat_map(u64::to_ne_bytes).collect();
        let buffer = device.allocate(bytes.len()).unwrap();
        device.upload(&bytes, &buffer).unwrap();
        let times = rung.sort_buffer::<u64, _>(&device, &buffer, len).unwrap();
        // 512 keys are one tile, for which one kernel is enough.
        let in_tiles = [Rung::LocalMemory, Rung::LocalMemoryQueued, Rung::LocalManySteps].contains(&rung);
        assert!(times.each.iter().all(|kernel| kernel.launches > 0 || in_tiles), "{rung}");
        device.download(&buffer, &mut bytes).unwrap();
        let sorted: Vec<u64> =
            bytes.chunks_exact(8).map(|bytes| u64::from_ne_bytes(bytes.try_into().unwrap())).collect();
        let mut expected = keys;
        expected.sort_unstable();
        assert!(sorted[..len] == expected && sorted[len..] == [0, 1], "{rung}");
    }
}

#[test]
fn a_buffer_that_cannot_be_sorted_is_refused() {
    let device = device_or_skip!();
    let buffer = device.allocate(64).unwrap();
    assert_eq!(
        Rung::Recursive.sort_buffer::<u32, _>(&device, &buffer, 16),
        Err(LadderError::NotOnDevice { rung: Rung::Recursive })
    );
    for rung in on_devices() {
        let refused = rung.sort_buffer::<u32, _>(&device, &buffer, 32).unwrap_err();
        assert_eq!(refused, LadderError::BufferTooShort { bytes: 64, len: 32, key_bytes: 4 }, "{rung}");
        assert!(rung.sort_buffer::<u8, _>(&device, &buffer, 0).unwrap().span.is_zero(), "{rung}");
        let any_length = rung.sort_buffer::<u8, _>(&device, &buffer, 63);
        match rung.sizes().contain(63) {
            true => assert!(any_length.is_ok(), "{rung}"),
            false => assert_eq!(any_length, Err(LadderError::NotAPowerOfTwo { rung, len: 63 })),
        }
    }
}
