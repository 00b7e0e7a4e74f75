//! `nan_last`, held against a plain reference: every operation, every float type, both orders. For tests of any engine.

use bitonic::key::{Bits, F8E4M3, F8E5M2, bf16, f16};
use bitonic::{Order, Sorter};
use bitonic_testkit::{Pattern, TestKey};
use std::cmp::Ordering;

/// The keys of a test, and how they are to be sorted.
struct Case<K> {
    sorter: Sorter,
    order: Order,
    keys: Vec<K>,
    is_nan: fn(K) -> bool,
    what: String,
}

/// All float types on this sorter, with as many keys as these.
pub(crate) fn check(sorter: &Sorter, lengths: &[usize]) {
    for order in [Order::Ascending, Order::Descending] {
        for &len in lengths {
            check_type::<f32>(sorter, order, len, f32::is_nan);
            check_type::<f64>(sorter, order, len, f64::is_nan);
            check_type::<f16>(sorter, order, len, f16::is_nan);
            check_type::<bf16>(sorter, order, len, bf16::is_nan);
            check_type::<F8E4M3>(sorter, order, len, F8E4M3::is_nan);
            check_type::<F8E5M2>(sorter, order, len, F8E5M2::is_nan);
        }
    }
}

fn check_type<K: TestKey>(sorter: &Sorter, order: Order, len: usize, is_nan: fn(K) -> bool) {
    let sorter = sorter.clone().order(order).nan_last(true);
    // Zeros, infinities, and NaNs of both signs with payloads, which random bits of wide types seldom are; then numbers that are all
    // near each other, with a NaN here and there.
    let special: Vec<K> = Pattern::Special.generate(len, 7);
    let nans: Vec<K> = K::special().into_iter().filter(|&key| is_nan(key)).collect();
    let mut near: Vec<K> = Pattern::Random.generate(len, 7);
    near.iter_mut().step_by(5).zip(nans.iter().cycle()).for_each(|(key, &nan)| *key = nan);
    for keys in [special, near] {
        let what = format!("{len} {} {order:?} {sorter:?}", K::TYPE);
        let case = Case { sorter: sorter.clone(), order, keys, is_nan, what };
        case.keys_alone();
        case.pairs();
        case.indices();
        case.best();
        case.selections();
        case.merges();
    }
}

fn raw<K: TestKey>(keys: &[K]) -> Vec<K::Bits> {
    keys.iter().map(|key| key.to_raw_bits()).collect()
}

impl<K: TestKey> Case<K> {
    /// Numbers first. Of the NaNs, those of the sign that the total order has last come first.
    fn compare(&self, one: K, other: K) -> Ordering {
        let place = |key: K| {
            let is_negative = key.to_raw_bits() & K::Bits::SIGN != K::Bits::ZERO;
            let is_first_in_total_order = is_negative == (self.order == Order::Ascending);
            ((self.is_nan)(key), (self.is_nan)(key) && is_first_in_total_order)
        };
        let total = one.to_ordered_bits().cmp(&other.to_ordered_bits());
        let in_order = if self.order == Order::Ascending { total } else { total.reverse() };
        place(one).cmp(&place(other)).then(in_order)
    }

    fn expected_indices(&self, keys: &[K]) -> Vec<usize> {
        let mut indices: Vec<usize> = (0..keys.len()).collect();
        indices.sort_by(|&one, &other| self.compare(keys[one], keys[other]));
        indices
    }

    fn expected(&self, keys: &[K]) -> Vec<K::Bits> {
        self.expected_indices(keys).into_iter().map(|index| keys[index].to_raw_bits()).collect()
    }

    /// Rows of seven keys, as many as there are whole ones.
    fn rows(&self) -> &[K] {
        &self.keys[..self.keys.len() / 7 * 7]
    }

    /// Where segments of 0, 1, 2 .. keys begin and end.
    fn offsets(&self) -> Vec<usize> {
        (0..)
            .map(|number| number * (number + 1) / 2)
            .take_while(|&offset| offset <= self.keys.len())
            .collect()
    }

    fn segments(&self) -> Vec<&[K]> {
        self.offsets().windows(2).map(|ends| &self.keys[ends[0]..ends[1]]).collect()
    }

    fn keys_alone(&self) {
        let mut keys = self.keys.clone();
        let report = self.sorter.sort(&mut keys).unwrap();
        assert_eq!(raw(&keys), self.expected(&self.keys), "{}", self.what);
        assert!(report.plan.to_string().contains("NaN last") && report.fallback.is_none(), "{report}");
        let mut keys = self.rows().to_vec();
        self.sorter.sort_rows(&mut keys, 7).unwrap();
        let expected: Vec<_> = self.rows().chunks(7).flat_map(|row| self.expected(row)).collect();
        assert_eq!(raw(&keys), expected, "rows, {}", self.what);
        let mut keys = self.keys.clone();
        self.sorter.sort_segments(&mut keys, &self.offsets()).unwrap();
        let expected: Vec<_> =
            self.segments().into_iter().flat_map(|segment| self.expected(segment)).collect();
        assert_eq!(raw(&keys[..expected.len()]), expected, "segments, {}", self.what);
    }

    fn pairs(&self) {
        for stable in [false, true] {
            let sorter = self.sorter.clone().stable(stable);
            let mut keys = self.keys.clone();
            let mut values: Vec<u32> = (0..keys.len() as u32).collect();
            sorter.sort_pairs(&mut keys, &mut values).unwrap();
            assert_eq!(raw(&keys), self.expected(&self.keys), "pairs, {}", self.what);
            let moved: Vec<K> = values.iter().map(|&value| self.keys[value as usize]).collect();
            assert_eq!(raw(&moved), raw(&keys), "values, {}", self.what);
            let values: Vec<usize> = values.into_iter().map(|value| value as usize).collect();
            assert!(!stable || values == self.expected_indices(&self.keys), "stable, {}", self.what);

            let mut keys = self.rows().to_vec();
            let mut values: Vec<u64> = (0..keys.len() as u64).collect();
            sorter.sort_pairs_rows(&mut keys, &mut values, 7).unwrap();
            let moved: Vec<K> = values.iter().map(|&value| self.keys[value as usize]).collect();
            let expected: Vec<_> = self.rows().chunks(7).flat_map(|row| self.expected(row)).collect();
            assert_eq!(
                (raw(&keys), raw(&moved)),
                (expected.clone(), expected),
                "pairs of rows, {}",
                self.what
            );
        }
    }

    fn indices(&self) {
        let expected = self.expected_indices(&self.keys);
        assert_eq!(self.sorter.argsort(&self.keys).unwrap(), expected, "argsort, {}", self.what);
        let mut narrow = vec![0_u32; self.keys.len()];
        self.sorter.argsort_into(&self.keys, &mut narrow).unwrap();
        assert!(narrow.iter().map(|&index| index as usize).eq(expected), "argsort_into, {}", self.what);
        let of_rows: Vec<_> = self.rows().chunks(7).flat_map(|row| self.expected_indices(row)).collect();
        assert_eq!(self.sorter.argsort_rows(self.rows(), 7).unwrap(), of_rows, "{}", self.what);
        let found = self.sorter.argsort_segments(&self.keys, &self.offsets()).unwrap();
        let expected: Vec<_> =
            self.segments().into_iter().flat_map(|segment| self.expected_indices(segment)).collect();
        assert_eq!(found, expected, "argsort_segments, {}", self.what);
    }

    fn best(&self) {
        // Few, and so many that NaNs are among them.
        for k in [1, 20, self.keys.len()] {
            let found = self.sorter.top_k(&self.keys, k).unwrap();
            let mut expected = self.expected_indices(&self.keys);
            expected.truncate(k);
            assert_eq!(found.indices, expected, "the best {k}, {}", self.what);
            let best: Vec<K> = expected.iter().map(|&index| self.keys[index]).collect();
            assert_eq!(raw(&found.keys), raw(&best), "the best {k}, {}", self.what);
        }
        let found = self.sorter.top_k_rows(self.rows(), 7, 3).unwrap();
        let expected: Vec<_> =
            self.rows().chunks(7).flat_map(|row| self.expected_indices(row).into_iter().take(3)).collect();
        assert_eq!(found.indices, expected, "the best of rows, {}", self.what);
    }

    fn selections(&self) {
        let expected = self.expected(&self.keys);
        for place in [0, self.keys.len() / 2, self.keys.len() - 1] {
            let mut keys = self.keys.clone();
            let (before, key, behind) = self.sorter.select_nth(&mut keys, place).unwrap();
            assert_eq!(key.to_raw_bits(), expected[place], "place {place}, {}", self.what);
            let key = *key;
            assert!(before.iter().all(|&other| self.compare(other, key).is_le()), "{}", self.what);
            assert!(behind.iter().all(|&other| self.compare(other, key).is_ge()), "{}", self.what);
            let mut keys = self.keys.clone();
            self.sorter.partial_sort(&mut keys, place).unwrap();
            assert_eq!(raw(&keys[..place]), expected[..place], "the first {place}, {}", self.what);
        }
    }

    fn merges(&self) {
        let (mut first, mut second) = (self.keys.clone(), self.keys[self.keys.len() / 3..].to_vec());
        let expected = self.expected(&[first.clone(), second.clone()].concat());
        self.sorter.sort(&mut first).unwrap();
        self.sorter.sort(&mut second).unwrap();
        assert_eq!(
            raw(&self.sorter.merge_many(&[&first, &second]).unwrap()),
            expected,
            "merge, {}",
            self.what
        );
    }
}
