//! The best keys of rows and of segments, found on a device.

use crate::{ENGINE, has_device};
use bitonic::key::KeyType;
use bitonic::plan::Algorithm;
use bitonic::{Engine, Error, Order, Sorter};
use bitonic_testkit::{Pattern, TestKey};

/// Patterns whose order decides how often a bound is set: every key of sorted ones comes before it.
const TELLING: &[Pattern] = &[
    Pattern::Random,
    Pattern::Sorted,
    Pattern::Reversed,
    Pattern::FewUnique,
    Pattern::AllEqual,
    Pattern::Special,
    Pattern::AllMax,
];

/// What the standard library's stable sort has first.
fn expected<K: TestKey>(keys: &[K], row_length: usize, k: usize, order: Order) -> (Vec<K>, Vec<usize>) {
    let (mut best, mut indices) = (Vec::new(), Vec::new());
    for row in keys.chunks(row_length.max(1)) {
        let mut places: Vec<usize> = (0..row.len()).collect();
        match order {
            Order::Ascending => places.sort_by_key(|&place| row[place].to_ordered_bits()),
            Order::Descending => places.sort_by_key(|&place| std::cmp::Reverse(row[place].to_ordered_bits())),
        }
        places.truncate(k);
        best.extend(places.iter().map(|&place| row[place]));
        indices.extend(places);
    }
    (best, indices)
}

pub(crate) fn check<K: TestKey>(
    sorter: &Sorter,
    rows: usize,
    row_length: usize,
    k: usize,
    patterns: &[Pattern],
) {
    for &pattern in patterns {
        for order in [Order::Ascending, Order::Descending] {
            let keys: Vec<K> = pattern.generate(rows * row_length, 3);
            let found = sorter.clone().order(order).top_k_rows(&keys, row_length, k).unwrap();
            let (best, indices) = expected(&keys, row_length, k, order);
            let what = format!("{k} of {rows} rows of {row_length} {}, {pattern:?}, {order:?}", K::TYPE);
            assert_eq!(found.indices, indices, "{what}");
            let bits = |keys: &[K]| keys.iter().map(|key| key.to_raw_bits()).collect::<Vec<_>>();
            assert_eq!(bits(&found.keys), bits(&best), "{what}");
        }
    }
}

#[test]
fn the_best_keys_of_every_type() {
    let sorter = on_device!();
    for &key in KeyType::ALL {
        bitonic::with_key_type!(key, K => check::<K>(&sorter, 3, 700, 10, &[Pattern::Random, Pattern::Special]));
    }
}

#[test]
fn the_best_keys_of_rows_of_any_length() {
    let sorter = on_device!();
    for (rows, row_length) in
        [(1, 1), (5, 2), (3, 255), (2, 1024), (70, 1025), (2, 4097), (1, 60_001), (3, 20_000)]
    {
        check::<f32>(&sorter, rows, row_length, 7, TELLING);
    }
}

#[test]
fn any_number_of_best_keys() {
    let sorter = on_device!();
    for k in [0, 1, 2, 255, 256, 257, 1000, 5000] {
        check::<u32>(&sorter, 2, 5000, k, &[Pattern::Random, Pattern::Reversed]);
    }
    check::<i64>(&sorter, 1, 100_003, 300, TELLING);
    // So many that they are taken from an argsort.
    check::<u32>(&sorter, 1, 300_001, 200_000, &[Pattern::Random]);
}

/// Obliviously, a device sorts all keys with their indices. What is too wide for it to sort so, it refuses.
#[test]
fn the_best_keys_of_every_type_obliviously() {
    let sorter = on_device!().oblivious(true);
    for &key in KeyType::ALL {
        bitonic::with_key_type!(key, K => {
            // OpenCL orders a key with its index of 32 bits in one word only.
            if ENGINE == Engine::OpenCl && size_of::<K>() > size_of::<u32>() {
                let keys: Vec<K> = Pattern::Random.generate(700, 3);
                let refused = sorter.top_k(&keys, 10).unwrap_err();
                assert!(matches!(refused, Error::EngineUnavailable { .. }), "{refused}");
                assert_eq!(Err(refused), sorter.argsort(&keys));
            } else {
                check::<K>(&sorter, 3, 700, 10, &[Pattern::Random, Pattern::Special]);
            }
        });
    }
}

#[test]
fn any_number_of_best_keys_of_rows_of_any_length_obliviously() {
    let sorter = on_device!().oblivious(true);
    for (rows, row_length) in [(1, 1), (5, 2), (3, 255), (70, 1025), (1, 60_001), (3, 20_000)] {
        check::<f32>(&sorter, rows, row_length, 7, TELLING);
    }
    for k in [0, 1, 2499, 2500, 7000] {
        check::<u8>(&sorter, 3, 2500, k, &[Pattern::Random, Pattern::FewUnique]);
    }
    assert!(sorter.top_k::<u32>(&[], 3).unwrap().indices.is_empty());
    // Two rows at a time. A row alone is not cut: a merge would show where keys go.
    let sorter = sorter.device_memory(10_000);
    check::<i16>(&sorter, 5, 700, 9, TELLING);
    let refused = sorter.top_k(&[0_i16; 3500], 9);
    assert!(matches!(refused, Err(Error::LargerThanDevice { .. })), "{refused:?}");
}

#[test]
fn the_plan_of_oblivious_best_keys_is_the_network_of_an_argsort_whatever_is_asked_for() {
    let sorter = on_device!().oblivious(true).order(Order::Descending);
    let argsort = sorter.plan_argsort::<f32>(100_000).unwrap();
    assert_eq!(argsort.algorithm, Algorithm::Network);
    for k in [0, 1, 50, 100_000, 200_000] {
        let plan = sorter.plan_top_k::<f32>(100_000, k).unwrap();
        assert_eq!(
            (plan.engine, plan.algorithm, &plan.kernels),
            (ENGINE, Algorithm::Network, &argsort.kernels)
        );
    }
    let rows = sorter.plan_top_k_rows::<u16>(100_000, 1000, 7).unwrap();
    assert_eq!(rows.kernels, sorter.plan_argsort_rows::<u16>(100_000, 1000).unwrap().kernels);
    // The check sees other kernels where they are others.
    let selecting = sorter.oblivious(false).plan_top_k::<f32>(100_000, 50).unwrap();
    assert!(selecting.algorithm != Algorithm::Network && selecting.kernels != argsort.kernels);
}

#[test]
fn no_rows_and_no_keys_have_no_best_ones() {
    let sorter = on_device!();
    assert!(sorter.top_k_rows::<u32>(&[], 5, 3).unwrap().indices.is_empty());
    assert!(sorter.top_k::<u32>(&[], 3).unwrap().indices.is_empty());
    assert!(matches!(sorter.top_k_rows(&[1, 2, 3], 2, 1), Err(Error::Rows { len: 3, row_length: 2 })));
    assert_eq!(sorter.plan_top_k::<f32>(100_000, 50).unwrap().engine, ENGINE);
}

/// Segments of these lengths, with some keys before the first and behind the last that belong to none: what the CPU finds in each.
fn check_segments<K: TestKey>(sorter: &Sorter, lengths: &[usize], k: usize, patterns: &[Pattern]) {
    let mut offsets = vec![5];
    offsets.extend(lengths.iter().scan(5, |end, &length| {
        *end += length;
        Some(*end)
    }));
    for &pattern in patterns {
        for order in [Order::Ascending, Order::Descending] {
            let keys: Vec<K> = pattern.generate(offsets[lengths.len()] + 3, 3);
            let found = sorter.clone().order(order).top_k_segments(&keys, &offsets, k).unwrap();
            let (mut best, mut indices) = (Vec::new(), Vec::new());
            for ends in offsets.windows(2) {
                let (keys, places) = expected(&keys[ends[0]..ends[1]], ends[1] - ends[0], k, order);
                best.extend(keys);
                indices.extend(places);
            }
            let what = format!("{k} of {lengths:?} {}, {pattern:?}, {order:?}", K::TYPE);
            assert_eq!(found.indices, indices, "{what}");
            let bits = |keys: &[K]| keys.iter().map(|key| key.to_raw_bits()).collect::<Vec<_>>();
            assert_eq!(bits(&found.keys), bits(&best), "{what}");
        }
    }
}

/// Whole rows and segments at a time, as many as fit.
#[test]
fn the_best_keys_in_chunks() {
    let sorter = on_device!().device_memory(4 * 3 * 1025 + 300);
    check::<f32>(&sorter, 70, 1025, 7, TELLING);
    check::<u32>(&sorter, 1, 3000, 7, &[Pattern::Random]);
    let plan = sorter.plan_top_k_rows::<f32>(70 * 1025, 1025, 7).unwrap();
    assert_eq!(
        plan.chunks.map(|chunks| (chunks.count, chunks.len, chunks.row_pieces)),
        Some((24, 3 * 1025, 1))
    );
    let lengths = [0, 5, 700, 0, 0, 1, 2000, 3000, 40, 30, 0, 20, 3, 0, 1500, 0];
    check_segments::<f32>(&sorter, &lengths, 7, TELLING);
    let refused = sorter.top_k(&[0.5_f32; 4000], 7).unwrap_err();
    assert!(matches!(refused, Error::LargerThanDevice { bytes: 16_056, limit: 12_600, .. }), "{refused:?}");
    assert!(refused.to_string().contains("the best keys of a row are found in one piece"), "{refused}");
    let refused = sorter.chunks(false).top_k_rows(&[0.5_f32; 4000], 1000, 7);
    assert!(matches!(refused, Err(Error::LargerThanDevice { bytes: 16_224, .. })), "{refused:?}");
}

/// Some are so long that they are filtered, others nearly are; most are not.
const LENGTHS: &[usize] = &[3, 0, 1, 700, 40_000, 16_384, 16_383, 5, 0, 100_001, 2, 32_767, 9];

#[test]
fn the_best_keys_of_segments_of_any_lengths() {
    let sorter = on_device!();
    let launches = |longest: usize| {
        let plan = sorter.plan_top_k_segments::<f32>(longest, &[0, longest / 2, longest], 7).unwrap();
        plan.kernels.expect("a device was asked").launches.len()
    };
    assert_eq!((launches(20_000), launches(100_000)), (1, 3), "long ones are filtered");
    check_segments::<f32>(&sorter, LENGTHS, 7, TELLING);
    check_segments::<f32>(&sorter, &[60_001], 50, TELLING);
    check_segments::<u32>(&sorter, &vec![17; 2000], 3, &[Pattern::Random]);
}

#[test]
fn any_number_of_best_keys_of_segments() {
    let sorter = on_device!();
    for k in [0, 1, 1000] {
        check_segments::<i64>(&sorter, LENGTHS, k, &[Pattern::Random, Pattern::Reversed]);
    }
    // So many that they are taken from an argsort.
    check_segments::<u32>(&sorter, &[300_001, 7], 200_000, &[Pattern::Random]);
}

#[test]
fn the_best_keys_of_segments_of_every_type() {
    let sorter = on_device!();
    let patterns = [Pattern::Random, Pattern::Special];
    for &key in KeyType::ALL {
        bitonic::with_key_type!(key, K => check_segments::<K>(&sorter, &[3, 200, 0, 900], 10, &patterns));
    }
    // Longer ones, of every width.
    for key in [KeyType::I8, KeyType::F16, KeyType::F32, KeyType::F64, KeyType::U128] {
        bitonic::with_key_type!(key, K => check_segments::<K>(&sorter, &[3, 20_000, 0, 900], 10, &patterns));
    }
}

#[test]
fn no_segments_have_no_best_keys() {
    let sorter = on_device!();
    for offsets in [&[][..], &[2], &[2, 2], &[0, 0, 0]] {
        assert!(sorter.top_k_segments(&[3, 1, 2], offsets, 2).unwrap().indices.is_empty());
    }
    assert!(matches!(sorter.top_k_segments(&[1, 2], &[0, 3], 1), Err(Error::Offsets { .. })));
}
