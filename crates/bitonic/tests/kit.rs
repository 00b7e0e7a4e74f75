//! The test kit over every way to call the library.

use bitonic::key::KeyType;
use bitonic::{Instructions, Order, Sorter};
use bitonic_testkit::{ArgSorts, SortChecks, SortsKeys, SortsPairs, TestKey};

struct With(Sorter);

impl SortsKeys for With {
    fn sort_keys<K: TestKey>(&self, keys: &mut [K], order: Order) {
        let report = self.0.clone().order(order).sort(keys).unwrap();
        assert_eq!(report.len(), keys.len());
    }
}

impl ArgSorts for With {
    fn argsort<K: TestKey>(&self, keys: &[K], order: Order) -> Vec<usize> {
        self.0.clone().order(order).argsort(keys).unwrap()
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
        self.sorter.clone().order(order).stable(self.stable).sort_pairs(keys, values).unwrap();
    }
}

/// Long enough that several threads take part.
const LONG: [usize; 4] = [1 << 15, (1 << 16) + 1, 100_003, 3 << 16];

#[test]
fn keys_on_one_thread() {
    SortChecks::new("one thread").check_keys(&With(Sorter::new().threads(1)));
}

#[test]
fn keys_on_several_threads() {
    for threads in [0, 2, 5] {
        let checks = SortChecks::new(format!("{threads} threads")).max_len(3).also_lengths(LONG);
        checks.check_keys(&With(Sorter::new().threads(threads)));
    }
}

#[test]
fn keys_obliviously() {
    SortChecks::new("oblivious").also_lengths([LONG[0]]).check_keys(&With(Sorter::new().oblivious(true)));
}

/// Types whose widths have vector kernels, or that are sorted by way of those.
const VECTOR_TYPES: &[KeyType] = &[
    KeyType::U16,
    KeyType::U32,
    KeyType::I32,
    KeyType::F32,
    KeyType::Char,
    KeyType::U64,
    KeyType::F64,
    KeyType::F16,
    KeyType::I128,
];

/// Lengths around the tiles of all instruction sets, of every shape of their buffers, and above them.
const AROUND_TILES: [usize; 17] = [
    511,
    513,
    1023,
    1025,
    1409,
    1665,
    2047,
    2049,
    3329,
    4095,
    4097,
    3 << 11,
    6657,
    8191,
    8193,
    16_385,
    20_011,
];

fn on_every_instruction_set(name: &str, check: impl Fn(Sorter, SortChecks)) {
    for &instructions in Instructions::ALL.iter().filter(|set| set.is_available()) {
        let checks = SortChecks::new(format!("{name}, {instructions}"))
            .key_types(VECTOR_TYPES)
            .also_lengths(AROUND_TILES);
        check(Sorter::new().threads(1).instructions(instructions), checks);
    }
}

#[test]
fn keys_on_every_instruction_set() {
    on_every_instruction_set("keys", |sorter, checks| checks.check_keys(&With(sorter)));
}

#[test]
fn keys_obliviously_on_every_instruction_set() {
    on_every_instruction_set("oblivious", |sorter, checks| checks.check_keys(&With(sorter.oblivious(true))));
}

#[test]
fn keys_on_several_threads_on_every_instruction_set() {
    for &instructions in Instructions::ALL.iter().filter(|set| set.is_available()) {
        let checks = SortChecks::new(format!("threads, {instructions}"))
            .key_types(&[KeyType::I16, KeyType::U32, KeyType::F64, KeyType::I128])
            .max_len(1)
            .also_lengths([(1 << 17) + 4097]);
        checks.check_keys(&With(Sorter::new().threads(3).instructions(instructions)));
    }
}

#[test]
fn oblivious_keys_on_several_threads() {
    for &instructions in Instructions::ALL.iter().filter(|set| set.is_available()) {
        let checks = SortChecks::new(format!("oblivious threads, {instructions}"))
            .key_types(&[KeyType::I16, KeyType::U32, KeyType::F64, KeyType::U128])
            .max_len(1)
            .also_lengths([1 << 17, (1 << 17) + 4097, 300_007]);
        checks.check_keys(&With(Sorter::new().threads(3).instructions(instructions).oblivious(true)));
    }
}

#[test]
fn argsort_on_every_instruction_set() {
    on_every_instruction_set("argsort", |sorter, checks| checks.max_len(300).check_argsort(&With(sorter)));
}

#[test]
fn pairs() {
    SortChecks::new("pairs").check_pairs(&Pairs { sorter: Sorter::new().threads(1), stable: false });
}

#[test]
fn stable_pairs() {
    SortChecks::new("stable pairs").check_pairs(&Pairs { sorter: Sorter::new().threads(1), stable: true });
}

#[test]
fn pairs_on_several_threads() {
    for stable in [false, true] {
        let checks = SortChecks::new(format!("pairs on threads, stable: {stable}"))
            .max_len(1)
            .also_lengths([LONG[0] + 7]);
        checks.check_pairs(&Pairs { sorter: Sorter::new().threads(3), stable });
    }
}

#[test]
fn oblivious_pairs() {
    for stable in [false, true] {
        let checks = SortChecks::new(format!("oblivious pairs, stable: {stable}")).max_len(300);
        checks.check_pairs(&Pairs { sorter: Sorter::new().oblivious(true), stable });
    }
}

#[test]
fn argsort() {
    SortChecks::new("argsort").check_argsort(&With(Sorter::new()));
}

struct Free;

impl SortsKeys for Free {
    fn sort_keys<K: TestKey>(&self, keys: &mut [K], order: Order) {
        bitonic::sort(keys);
        if order == Order::Descending {
            keys.reverse();
        }
    }
}

#[test]
fn the_free_function() {
    SortChecks::new("bitonic::sort").check_keys(&Free);
}
