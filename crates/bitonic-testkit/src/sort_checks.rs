//! The checks: run something that sorts over named inputs and compare bit for bit with a reference.

use crate::{Pattern, TestKey};
use bitonic::Order;
use bitonic::key::{BitMap, KeyType};

/// Something that sorts keys.
pub trait SortsKeys {
    /// Sorts the keys in this order.
    fn sort_keys<K: TestKey>(&self, keys: &mut [K], order: Order);
}

/// Something that sorts keys and moves values along.
pub trait SortsPairs {
    /// Whether values of equal keys keep their order.
    fn is_stable(&self) -> bool;

    /// Sorts the keys in this order and moves every value with its key.
    fn sort_pairs<K: TestKey, V: Copy + Send>(&self, keys: &mut [K], values: &mut [V], order: Order);
}

/// Something that says where the keys would go; equal keys by lowest index.
pub trait ArgSorts {
    /// The indices of the keys in this order.
    fn argsort<K: TestKey>(&self, keys: &[K], order: Order) -> Vec<usize>;
}

/// Something that sorts every row of a table for itself.
pub trait SortsRows {
    /// Sorts the first `row_length` keys in this order, then the next, and so on.
    fn sort_rows<K: TestKey>(&self, keys: &mut [K], row_length: usize, order: Order);
}

/// The range of inputs to check, and the name under which failures are reported.
///
/// A failed check panics with the name, type, pattern, length, order and seed, so that it can be repeated.
#[derive(Clone, Debug)]
pub struct SortChecks {
    name: String,
    max_len: usize,
    only_powers_of_two: bool,
    large: Vec<usize>,
    key_types: Vec<KeyType>,
    patterns: Vec<Pattern>,
}

impl SortChecks {
    /// All lengths from 0 to 1030 and a few larger ones, every key type, every pattern, both orders.
    pub fn new(name: impl Into<String>) -> Self {
        let around = |n: usize| [n - 1, n, n + 1];
        let large =
            [1 << 11, 1 << 12, 1 << 13].into_iter().flat_map(around).chain([3 << 10, 3 << 11, 7919, 10_007]);
        Self {
            name: name.into(),
            max_len: 1030,
            only_powers_of_two: false,
            large: large.collect(),
            key_types: KeyType::ALL.to_vec(),
            patterns: Pattern::ALL.to_vec(),
        }
    }

    /// Checks only lengths up to this one; for sorts that take quadratic time.
    pub fn max_len(mut self, max_len: usize) -> Self {
        self.max_len = self.max_len.min(max_len);
        self.large.retain(|&len| len <= max_len);
        self
    }

    /// Checks these lengths too.
    pub fn also_lengths(mut self, lengths: impl IntoIterator<Item = usize>) -> Self {
        self.large.extend(lengths);
        self
    }

    /// Checks only lengths that are powers of two, and 0.
    pub fn only_powers_of_two(mut self) -> Self {
        self.only_powers_of_two = true;
        self
    }

    /// Checks only these key types.
    pub fn key_types(mut self, key_types: &[KeyType]) -> Self {
        self.key_types = key_types.to_vec();
        self
    }

    /// Checks only these patterns; for lengths that take long.
    pub fn patterns(mut self, patterns: &[Pattern]) -> Self {
        self.patterns = patterns.to_vec();
        self
    }

    /// Checks that keys come out in order and are the same keys.
    pub fn check_keys(&self, sort: &impl SortsKeys) {
        self.for_each_case(|case| {
            bitonic::with_key_type!(case.key_type, K => {
                let input = case.pattern.generate::<K>(case.len, SEED);
                let mut keys = input.clone();
                sort.sort_keys(&mut keys, case.order);
                self.compare(case, &input, &keys, case.len);
            });
        });
    }

    /// Checks keys as in [`SortChecks::check_keys`], that every value is still with a key it came with, and, for a
    /// stable sort, that values of equal keys are in their old order. Values of 1, 4, 8 and 24 bytes.
    pub fn check_pairs(&self, sort: &impl SortsPairs) {
        self.for_each_case(|case| {
            bitonic::with_key_type!(case.key_type, K => {
                match case.len % 4 {
                    0 => self.check_pairs_with::<K, u32>(case, sort, |index| index as u32, |value| value as usize),
                    1 => self.check_pairs_with::<K, u64>(case, sort, |index| index as u64, |value| value as usize),
                    2 => self.check_pairs_with::<K, [usize; 3]>(case, sort, |index| [0, index, 7], |value| value[1]),
                    // A byte cannot name its key, but it must travel with one: it is the low byte of the index.
                    _ => self.check_pairs_with::<K, (u8, u16)>(
                        case,
                        sort,
                        |index| (1, index as u16),
                        |value| usize::from(value.1),
                    ),
                }
            });
        });
    }

    fn check_pairs_with<K: TestKey, V: Copy + Send>(
        &self,
        case: &Case,
        sort: &impl SortsPairs,
        value_of: impl Fn(usize) -> V,
        index_of: impl Fn(V) -> usize,
    ) {
        let input = case.pattern.generate::<K>(case.len, SEED);
        let mut keys = input.clone();
        let mut values: Vec<V> = (0..case.len).map(&value_of).collect();
        sort.sort_pairs(&mut keys, &mut values, case.order);
        self.compare(case, &input, &keys, case.len);
        let indices: Vec<usize> = values.into_iter().map(index_of).collect();
        self.check_indices(case, &input, &keys, &indices, sort.is_stable());
    }

    /// Checks that the indices are a permutation that sorts, ties by lowest index.
    pub fn check_argsort(&self, sort: &impl ArgSorts) {
        self.for_each_case(|case| {
            bitonic::with_key_type!(case.key_type, K => {
                let input = case.pattern.generate::<K>(case.len, SEED);
                let indices = sort.argsort(&input, case.order);
                let keys: Vec<K> = indices.iter().map(|&index| input[index]).collect();
                self.compare(case, &input, &keys, case.len);
                self.check_indices(case, &input, &keys, &indices, true);
            });
        });
    }

    /// Checks that every row of a table comes out in order and has the keys that it had. A table is the length of a row
    /// and the number of rows; the lengths that were chosen do not count. Every key type and every pattern runs in both orders.
    pub fn check_rows(&self, sort: &impl SortsRows, tables: impl IntoIterator<Item = (usize, usize)>) {
        let always = |_, _| true;
        for (row_length, rows) in tables {
            self.for_each_case_of(row_length * rows, always, |case| {
                bitonic::with_key_type!(case.key_type, K => {
                    let input = case.pattern.generate::<K>(case.len, SEED);
                    let mut keys = input.clone();
                    sort.sort_rows(&mut keys, row_length, case.order);
                    self.compare(case, &input, &keys, row_length);
                });
            });
        }
    }

    fn check_indices<K: TestKey>(
        &self,
        case: &Case,
        input: &[K],
        keys: &[K],
        indices: &[usize],
        stable: bool,
    ) {
        let mut used = vec![false; input.len()];
        for (place, &index) in indices.iter().enumerate() {
            let fits = input.get(index).is_some_and(|key| key.to_raw_bits() == keys[place].to_raw_bits());
            assert!(
                fits && !used[index],
                "{}: {case}: the value at {place} came with another key",
                self.name
            );
            used[index] = true;
        }
        if stable {
            for place in 1..keys.len() {
                let tie = keys[place - 1].to_raw_bits() == keys[place].to_raw_bits();
                let kept = !tie || indices[place - 1] < indices[place];
                assert!(kept, "{}: {case}: equal keys at {place} changed their order", self.name);
            }
        }
    }

    /// Equality with the reference, whose rows are sorted, is order and permutation in one.
    fn compare<K: TestKey>(&self, case: &Case, input: &[K], output: &[K], row_length: usize) {
        let map = BitMap::new(K::TYPE.form(), case.order);
        let ordered = |keys: &[K]| -> Vec<K::Bits> {
            keys.iter().map(|key| map.to_ordered(key.to_raw_bits())).collect()
        };
        let mut expected = ordered(input);
        for row in expected.chunks_mut(row_length.max(1)) {
            row.sort_unstable();
        }
        let got = ordered(output);
        let wrong = expected.iter().zip(&got).position(|(expected, got)| expected != got);
        if wrong.is_some() || expected.len() != got.len() {
            let place = wrong.unwrap_or(expected.len().min(got.len()));
            panic!(
                "{}: {case}, rows of {row_length}: wrong from place {place} on: expected bits {:x?}, got {:x?}",
                self.name,
                expected.get(place),
                got.get(place)
            );
        }
    }

    /// Calls `check` for every case. All patterns run at every length for one type; the other types take turns at the
    /// lengths between, and all of them run around powers of two.
    fn for_each_case(&self, mut check: impl FnMut(&Case)) {
        let small = 0..=self.max_len;
        for len in small.chain(self.large.iter().copied()) {
            if self.only_powers_of_two && len != 0 && !len.is_power_of_two() {
                continue;
            }
            let near_power_of_two = [len, len + 1, len.saturating_sub(1)].iter().any(|n| n.is_power_of_two());
            let is_turn = |type_index: usize, pattern_index: usize| {
                let turn = (len + type_index + pattern_index).is_multiple_of(self.key_types.len());
                near_power_of_two || turn || self.key_types[type_index] == KeyType::U32
            };
            self.for_each_case_of(len, is_turn, &mut check);
        }
    }

    /// Calls `check` for the types and patterns of this length that are chosen by their index, in both orders.
    fn for_each_case_of(
        &self,
        len: usize,
        is_chosen: impl Fn(usize, usize) -> bool,
        mut check: impl FnMut(&Case),
    ) {
        for (type_index, &key_type) in self.key_types.iter().enumerate() {
            for (pattern_index, &pattern) in self.patterns.iter().enumerate() {
                if !is_chosen(type_index, pattern_index) {
                    continue;
                }
                for order in [Order::Ascending, Order::Descending] {
                    check(&Case { key_type, pattern, len, order });
                }
            }
        }
    }
}

/// Fixed, so that every failure can be repeated.
const SEED: u64 = 0xB170;

struct Case {
    key_type: KeyType,
    pattern: Pattern,
    len: usize,
    order: Order,
}

impl std::fmt::Display for Case {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { key_type, pattern, len, order } = self;
        write!(f, "{len} {key_type} keys, pattern {pattern}, {order:?}, seed {SEED:#x}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::panic::{AssertUnwindSafe, catch_unwind};

    struct Standard {
        stable: bool,
    }

    impl SortsKeys for Standard {
        fn sort_keys<K: TestKey>(&self, keys: &mut [K], order: Order) {
            bitonic::key::with_ordered_bits(keys, order, |bits| bits.sort_unstable());
        }
    }

    impl ArgSorts for Standard {
        fn argsort<K: TestKey>(&self, keys: &[K], order: Order) -> Vec<usize> {
            let map = BitMap::new(K::TYPE.form(), order);
            let mut indices: Vec<usize> = (0..keys.len()).collect();
            indices.sort_by_key(|&index| map.to_ordered(keys[index].to_raw_bits()));
            if !self.stable {
                indices.reverse();
                indices.sort_by_key(|&index| map.to_ordered(keys[index].to_raw_bits()));
            }
            indices
        }
    }

    impl SortsPairs for Standard {
        fn is_stable(&self) -> bool {
            self.stable
        }
        fn sort_pairs<K: TestKey, V: Copy + Send>(&self, keys: &mut [K], values: &mut [V], order: Order) {
            let indices = self.argsort(keys, order);
            let (old_keys, old_values) = (keys.to_vec(), values.to_vec());
            for (place, index) in indices.into_iter().enumerate() {
                keys[place] = old_keys[index];
                values[place] = old_values[index];
            }
        }
    }

    impl SortsRows for Standard {
        fn sort_rows<K: TestKey>(&self, keys: &mut [K], row_length: usize, order: Order) {
            keys.chunks_mut(row_length).for_each(|row| self.sort_keys(row, order));
        }
    }

    fn checks() -> SortChecks {
        SortChecks::new("standard").max_len(70)
    }

    fn fails(check: impl FnOnce()) -> bool {
        catch_unwind(AssertUnwindSafe(check)).is_err()
    }

    #[test]
    fn right_sorts_pass() {
        checks().check_keys(&Standard { stable: true });
        checks().check_pairs(&Standard { stable: true });
        checks().check_pairs(&Standard { stable: false });
        checks().check_argsort(&Standard { stable: true });
        checks().check_rows(&Standard { stable: true }, TABLES);
    }

    /// Rows of one key, no rows, one row, several.
    const TABLES: [(usize, usize); 4] = [(1, 5), (7, 0), (10, 1), (10, 7)];

    struct AllRowsAsOne;

    impl SortsRows for AllRowsAsOne {
        fn sort_rows<K: TestKey>(&self, keys: &mut [K], _: usize, order: Order) {
            Standard { stable: true }.sort_keys(keys, order);
        }
    }

    #[test]
    fn rows_that_mix_are_caught() {
        assert!(fails(|| checks().check_rows(&AllRowsAsOne, TABLES)));
    }

    #[test]
    fn patterns_that_are_left_out_are_not_run() {
        struct OnlyMax;
        impl SortsKeys for OnlyMax {
            fn sort_keys<K: TestKey>(&self, keys: &mut [K], _: Order) {
                assert!(keys.windows(2).all(|pair| pair[0].to_raw_bits() == pair[1].to_raw_bits()));
            }
        }
        checks().patterns(&[Pattern::AllMax]).check_keys(&OnlyMax);
        assert!(fails(|| checks().patterns(&[Pattern::AllMax, Pattern::Random]).check_keys(&OnlyMax)));
    }

    #[test]
    fn an_unstable_argsort_is_caught() {
        assert!(fails(|| checks().check_argsort(&Standard { stable: false })));
    }

    /// Wrong sorts, each with one fault that must be noticed.
    struct Faulty(fn(&mut [u8]), usize);

    impl SortsKeys for Faulty {
        fn sort_keys<K: TestKey>(&self, keys: &mut [K], order: Order) {
            Standard { stable: true }.sort_keys(keys, order);
            if keys.len() == self.1 {
                let mut places: Vec<u8> = (0..keys.len() as u8).collect();
                (self.0)(&mut places);
                let old = keys.to_vec();
                for (key, place) in keys.iter_mut().zip(places) {
                    *key = old[usize::from(place)];
                }
            }
        }
    }

    #[test]
    fn faults_at_one_length_are_caught() {
        assert!(fails(|| checks().check_keys(&Faulty(|places| places.swap(30, 31), 67))), "out of order");
        assert!(
            fails(|| checks().check_keys(&Faulty(|places| places[5] = places[6], 33))),
            "a key lost, another doubled"
        );
    }

    /// Ordering floats with `<` treats both zeros as equal and NaN as unordered.
    struct PartialOrder;

    impl SortsKeys for PartialOrder {
        fn sort_keys<K: TestKey>(&self, keys: &mut [K], order: Order) {
            if K::TYPE == KeyType::F32 {
                bitonic::key::with_ordered_bits(keys, order, |bits| {
                    bits.sort_unstable();
                    let zero = bits.partition_point(|bits| bitonic::key::Bits::widen(*bits) < 0x7FFF_FFFF);
                    if zero < bits.len() {
                        bits.swap(zero, bits.len() - 1);
                    }
                });
            } else {
                Standard { stable: true }.sort_keys(keys, order);
            }
        }
    }

    #[test]
    fn a_partial_order_of_floats_is_caught() {
        assert!(fails(|| checks().check_keys(&PartialOrder)));
    }
}
