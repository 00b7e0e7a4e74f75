//! The test kit over an engine on a device: the same tests for every such engine.
//!
//! The test that takes this module in gives its engine's name as `ENGINE`, and `has_device(test)`: whether there is a device
//! to test on; if not, the test ends.

use crate::{ENGINE, has_device};
use bitonic::key::KeyType;
use bitonic::{Engine, Order, Sorter};
use bitonic_testkit::{ArgSorts, Pattern, SortChecks, SortsKeys, SortsPairs, SortsRows, TestKey};
use std::thread;

pub(crate) struct With(pub(crate) Sorter);

/// The engine to test; where it has no device, the test ends here.
macro_rules! on_device {
    () => {{
        fn here() {}
        let here = std::any::type_name_of_val(&here);
        if !has_device(here.trim_end_matches("::here")) {
            return;
        }
        Sorter::new().engine(ENGINE)
    }};
}

mod chunks;
#[path = "../nan/mod.rs"]
mod nan;
mod segments;
mod top;

impl SortsKeys for With {
    fn sort_keys<K: TestKey>(&self, keys: &mut [K], order: Order) {
        let report = self.0.clone().order(order).sort(keys).unwrap();
        let times = report.times.expect("a device was used");
        assert_eq!((report.engine(), report.len(), report.fallback), (ENGINE, keys.len(), None));
        assert_eq!(times.launches == 0, keys.is_empty());
        assert_eq!(times.uploaded_bytes, size_of_val(keys) as u64);
        assert_eq!(times.downloaded_bytes, size_of_val(keys) as u64);
    }
}

impl ArgSorts for With {
    fn argsort<K: TestKey>(&self, keys: &[K], order: Order) -> Vec<usize> {
        self.0.clone().order(order).argsort(keys).unwrap()
    }
}

impl SortsRows for With {
    fn sort_rows<K: TestKey>(&self, keys: &mut [K], row_length: usize, order: Order) {
        let report = self.0.clone().order(order).sort_rows(keys, row_length).unwrap();
        assert_eq!((report.len(), report.fallback), (keys.len(), None));
    }
}

struct Pairs {
    sorter: Sorter,
    stable: bool,
}

impl SortsPairs for Pairs {
    fn is_stable(&self) -> bool {
        self.stable
    }
    fn sort_pairs<K: TestKey, V: Copy + Send>(&self, keys: &mut [K], values: &mut [V], order: Order) {
        let report = self.sorter.clone().order(order).stable(self.stable).sort_pairs(keys, values).unwrap();
        assert_eq!((report.engine(), report.fallback), (ENGINE, None));
    }
}

// Compiling a kernel takes the time of thousands of sorts, and there is one for every width and size of tile. So each
// size is met with some width, each width with some sizes, and what is alike is left out.

/// All lengths up to this one: they share a tile.
const SMALL: usize = 70;
const AROUND_TILES: [usize; 8] = [255, 256, 257, 4095, 4096, 4097, 8191, 8193];
/// Lengths that end somewhere in a tile, and in a block of a pass over memory.
const UNEVEN: [usize; 2] = [3 << 12, 10_007];
/// Lengths whose tile is shorter than the longest.
const SHORT_TILES: [usize; 5] = [3 << 7, 511, 1009, 1025, 2049];

/// One type of each width: kernels know the width and, by an argument, the form.
const WIDTHS: &[KeyType] = &[KeyType::I8, KeyType::F16, KeyType::F32, KeyType::I64, KeyType::U128];

fn checks(name: &str) -> SortChecks {
    SortChecks::new(name).max_len(SMALL)
}

#[test]
fn keys_of_every_type() {
    checks("keys").also_lengths(AROUND_TILES.into_iter().chain(UNEVEN)).check_keys(&With(on_device!()));
}

#[test]
fn keys_in_short_tiles() {
    let types = [KeyType::F32, KeyType::Char, KeyType::I64];
    checks("short tiles")
        .max_len(0)
        .key_types(&types)
        .also_lengths(SHORT_TILES)
        .check_keys(&With(on_device!()));
}

/// Lengths around the borders of the tiles that the plan has for this device, whatever it is.
#[test]
fn keys_around_the_tiles_of_the_plan() {
    let plan = on_device!().oblivious(true).plan::<f32>(1 << 20).unwrap();
    let kernels = plan.kernels.expect("a device runs kernels");
    let constants = &kernels.launches[0].constants;
    let tile_log2 = constants.iter().find(|(name, _)| *name == "TILE_LOG2").expect("it sorts tiles").1;
    let tile = 1_usize << tile_log2;
    let lengths =
        [1, 2, 4, 8, 16].into_iter().flat_map(|tiles| [tiles * tile - 1, tiles * tile, tiles * tile + 1]);
    let checks = checks("around tiles").max_len(0).key_types(&[KeyType::F32]).also_lengths(lengths);
    checks.check_keys(&With(on_device!()));
}

#[test]
fn pairs() {
    let checks = checks("pairs").also_lengths([4096, 4097, 3 << 12]);
    checks.check_pairs(&Pairs { sorter: on_device!(), stable: false });
}

#[test]
fn stable_pairs() {
    let checks = checks("stable pairs").key_types(WIDTHS).also_lengths(AROUND_TILES).also_lengths([3 << 12]);
    checks.check_pairs(&Pairs { sorter: on_device!(), stable: true });
}

#[test]
fn argsort() {
    let checks = checks("argsort").key_types(WIDTHS).also_lengths(AROUND_TILES.into_iter().chain(UNEVEN));
    checks.check_argsort(&With(on_device!()));
}

/// Patterns in which ties, padding and order go wrong, for lengths at which all of them take long.
const TELLING: &[Pattern] = &[Pattern::Random, Pattern::AllMax];

/// With a tile of 2^12 and 3 steps to a pass, 17 merges have passes over memory of every number of steps, with a flip and
/// without.
#[test]
fn every_pass_over_memory_at_every_width() {
    let checks = checks("all passes").max_len(0).key_types(WIDTHS).patterns(&[Pattern::Special]);
    // Values of 8 bytes, then of 4: the checks choose by the length.
    let checks = checks.also_lengths([(1 << 16) + 1, 1 << 17]);
    checks.check_keys(&With(on_device!()));
    checks.check_pairs(&Pairs { sorter: on_device!(), stable: false });
    checks.check_argsort(&With(on_device!()));
}

#[test]
fn millions_of_keys() {
    let sorter = With(on_device!());
    for key_type in [KeyType::U32, KeyType::U64, KeyType::F32] {
        let checks = checks("millions").max_len(0).patterns(TELLING).key_types(&[key_type]);
        checks.also_lengths([3 << 16, 1_000_003]).check_keys(&sorter);
    }
    let checks = checks("millions").max_len(0).patterns(TELLING).key_types(&[KeyType::U32]);
    checks.also_lengths([(1 << 21) + 1, 1 << 22]).check_keys(&sorter);
}

#[test]
fn millions_of_pairs() {
    let checks = checks("millions of pairs").max_len(0).patterns(TELLING).key_types(&[KeyType::U32]);
    // Multiples of 4: values of 4 bytes.
    let checks = checks.also_lengths([3 << 18, 1_000_004]);
    checks.check_pairs(&Pairs { sorter: on_device!(), stable: false });
    checks.check_argsort(&With(on_device!()));
}

/// Row lengths around powers of two and tiles.
pub(crate) const ROW_LENGTHS: [usize; 20] =
    [1, 2, 3, 5, 7, 8, 31, 32, 33, 64, 100, 255, 256, 257, 1000, 1024, 1025, 4096, 5000, 10_007];

/// Tables of few rows, and of so many that they fill several work-groups and end inside one.
pub(crate) fn tables(row_lengths: &[usize]) -> impl Iterator<Item = (usize, usize)> {
    row_lengths.iter().flat_map(|&length| [(length, 2), (length, 3), (length, 10_000 / length + 4)])
}

#[test]
fn rows_of_every_length() {
    let checks = SortChecks::new("rows").key_types(&[KeyType::U32, KeyType::F32]);
    let one_row_or_none = [(1, 1), (100, 1), (5000, 1), (8, 0)];
    checks.check_rows(&With(on_device!()), tables(&ROW_LENGTHS).chain(one_row_or_none));
}

#[test]
fn rows_of_every_width() {
    let checks = SortChecks::new("rows").key_types(&[KeyType::U8, KeyType::U64, KeyType::U128]);
    checks.check_rows(&With(on_device!()), tables(&[1, 7, 33, 1000, 5000]));
}

/// So many rows, each padded to a tile, that places need more than 32 bits.
#[test]
fn a_great_many_short_rows() {
    let checks = SortChecks::new("many rows").key_types(&[KeyType::U8]).patterns(&[Pattern::Random]);
    checks.check_rows(&With(on_device!()), [(3, (1 << 23) + 1)]);
}

#[test]
fn keys_that_are_no_whole_number_of_rows_are_refused_and_stay() {
    for sorter in [Sorter::new().engine(Engine::Cpu), on_device!()] {
        for row_length in [0, 2, 4, usize::MAX] {
            let mut keys = [3_u32, 1, 2];
            let error = sorter.sort_rows(&mut keys, row_length).unwrap_err();
            assert_eq!(error, bitonic::Error::Rows { len: 3, row_length });
            assert_eq!(keys, [3, 1, 2]);
        }
    }
}

#[test]
fn threads_sort_on_one_device_at_once() {
    let sorter = on_device!();
    thread::scope(|scope| {
        for number in 0..6 {
            let sorter = sorter.clone();
            scope.spawn(move || {
                let lengths = [10 * number, 4096, 20_000 + number, 30_000];
                let checks = checks(&format!("thread {number}"))
                    .max_len(0)
                    .patterns(&[Pattern::Random, Pattern::Special]);
                let checks = checks.key_types(&[KeyType::F32, KeyType::U64]).also_lengths(lengths);
                match number % 3 {
                    0 => checks.check_keys(&With(sorter)),
                    1 => checks.check_pairs(&Pairs { sorter, stable: false }),
                    _ => checks.check_argsort(&With(sorter)),
                }
            });
        }
    });
}

#[test]
fn nan_last() {
    nan::check(&on_device!(), &[100]);
    // In many tiles, by the network alone, and in chunks, which the host merges.
    let sorter = on_device!().nan_last(true);
    let keys: Vec<f32> = Pattern::Special.generate(20_000, 5);
    let expected = Sorter::new().engine(Engine::Cpu).nan_last(true).argsort(&keys).unwrap();
    for sorter in [sorter.clone(), sorter.clone().oblivious(true), sorter.device_memory(1 << 16)] {
        assert_eq!(sorter.argsort(&keys).unwrap(), expected, "{sorter:?}");
    }
}
