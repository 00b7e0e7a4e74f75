use super::*;
use crate::Order;
use crate::gpu::driver::Driver;
#[cfg(feature = "cuda")]
use crate::gpu::testing::cuda_device;
use crate::gpu::testing::{With, job_with as job, places, sort_by_strategy, sorted};
use crate::key::{Key, as_bytes};
use bitonic_testkit::{Oclgrind, Pattern, TestKey};

/// So few keys, cells and work-items that a processor that plays the device, or a simulator, is done soon, with the compilation too.
/// With so few targets, some hundred keys need two rounds.
fn small(targets_log2: u32) -> CountedBuckets {
    let tile = Tile::new(7, 2);
    let row = CountedRow {
        above: 0,
        up_to: usize::MAX,
        tile,
        large_tile: Tile::new(8, 2),
        moved: tile,
        groups_of_unit: 1,
        even_moved: tile,
        even_groups_of_unit: 1,
        cells_log2: LEAST_CELLS_LOG2,
        targets_log2,
        even_targets_log2: targets_log2,
        is_small: false,
    };
    CountedBuckets {
        row,
        samples_log2: 8,
        sample_items: 64,
        divide_items: 64,
        sections: 128,
        parts: 128,
        nodes: 64,
        slots: 8,
    }
}

/// Sorts keys on a device by these buckets; with values, which are the places of the keys, if there are to be any.
fn sort<K: Key>(
    device: &impl Driver,
    keys: &[K],
    with: With,
    order: Order,
    buckets: CountedBuckets,
) -> (Vec<K>, Vec<u32>) {
    sort_by_strategy(device, keys, &job::<K>(keys.len(), with, order), &buckets)
}

/// Sorts keys by these buckets, and compares with the CPU.
fn check<K: Key>(
    device: &impl Driver,
    keys: &[K],
    with: With,
    order: Order,
    buckets: CountedBuckets,
    pattern: Pattern,
) {
    let (result, found) = sort(device, keys, with, order, buckets);
    let what = format!("{} {} keys, {with:?}, {pattern:?}", keys.len(), K::TYPE);
    assert!(as_bytes(&result) == as_bytes(&sorted(keys, order)), "{what}");
    match with {
        With::Nothing => {}
        With::Indices => assert!(found == places(keys, order), "the indices of {what}"),
        // In any order where keys are equal.
        With::Values => {
            let of_values: Vec<K> = found.iter().map(|&place| keys[place as usize]).collect();
            assert!(as_bytes(&of_values) == as_bytes(&result), "the values of {what}");
            assert!(
                sorted(&found, Order::Ascending).into_iter().eq(0..keys.len() as u32),
                "values of {what}"
            );
        }
    }
}

/// Sorted keys, each so many times, at uneven distances.
fn repeated(len: usize, times: usize) -> Vec<u32> {
    let mut distinct: Vec<u32> = Pattern::LogUniform.generate(len.div_ceil(times), 5);
    distinct.sort_unstable();
    (0..len).map(|place| distinct[place / times]).collect()
}

#[test]
fn a_device_with_little_local_memory_has_smaller_tables() {
    let is_small = |log2: u32, local_kib: usize| {
        let job = job::<u32>(1 << log2, With::Nothing, Order::Ascending);
        let facts = DeviceFacts { local_bytes: local_kib << 10, ..DeviceFacts::nvidia_h200() };
        CountedBuckets::for_length(&job, &facts).map(|buckets| buckets.row.is_small)
    };
    assert_eq!([22, 23, 24].map(|log2| is_small(log2, 227)), [Some(false); 3]);
    assert_eq!([22, 23, 24].map(|log2| is_small(log2, 48)), [None, Some(true), Some(true)]);
}

#[cfg(feature = "opencl")]
mod on_opencl {
    use super::*;
    use crate::gpu::opencl::testing;

    // The device is Oclgrind, which sees more than results: no plan for a processor has these buckets, and PoCL takes a minute to build the
    // kernels of one test. Each test has one length, whose working memory stays the same: see [`Oclgrind::report_of`].

    fn under_oclgrind<K: Key + TestKey>(len: usize, with: With, targets_log2: u32, patterns: &[Pattern]) {
        let device = testing::device();
        for &pattern in patterns {
            let keys: Vec<K> = pattern.generate(len, 5);
            check(&device, &keys, with, Order::Descending, small(targets_log2), pattern);
        }
    }

    const UNEVEN: &[Pattern] =
        &[Pattern::Random, Pattern::FewUnique, Pattern::Special, Pattern::HalfMax, Pattern::Normal];

    #[test]
    #[ignore = "run by counted_buckets_are_clean, in a process with Oclgrind"]
    fn sort_by_counted_buckets() {
        under_oclgrind::<f32>(700, With::Nothing, 8, UNEVEN);
    }

    #[test]
    #[ignore = "run by counted_buckets_are_clean, in a process with Oclgrind"]
    fn sort_by_counted_buckets_in_two_rounds() {
        under_oclgrind::<u32>(9000, With::Nothing, 6, UNEVEN);
    }

    #[test]
    #[ignore = "run by counted_buckets_are_clean, in a process with Oclgrind"]
    fn sort_pairs_by_counted_buckets() {
        under_oclgrind::<u32>(450, With::Values, 8, UNEVEN);
    }

    #[test]
    #[ignore = "run by counted_buckets_are_clean, in a process with Oclgrind"]
    fn sort_pairs_by_counted_buckets_in_two_rounds() {
        under_oclgrind::<u32>(7000, With::Values, 6, &[Pattern::Zipf]);
    }

    #[test]
    #[ignore = "run by counted_buckets_are_clean, in a process with Oclgrind"]
    fn order_by_counted_buckets() {
        under_oclgrind::<u32>(450, With::Indices, 8, UNEVEN);
    }

    #[test]
    #[ignore = "run by counted_buckets_are_clean, in a process with Oclgrind"]
    fn order_by_counted_buckets_in_two_rounds() {
        under_oclgrind::<u32>(7000, With::Indices, 6, &[Pattern::Zipf]);
    }

    #[test]
    #[ignore = "run by counted_buckets_are_clean, in a process with Oclgrind"]
    fn sort_wide_pairs_by_counted_buckets() {
        under_oclgrind::<i64>(600, With::Indices, 8, &[Pattern::Random, Pattern::FewUnique]);
    }

    /// Keys that are there so often that their indices are divided, or, with values, that they are a bucket of their own.
    #[test]
    #[ignore = "run by counted_buckets_are_clean, in a process with Oclgrind"]
    fn divide_the_indices_of_keys() {
        let device = testing::device();
        let many = |key: u32| u32::MAX / 4 * (key & 3);
        let keys: Vec<u32> = Pattern::Random.generate(3000, 5).into_iter().map(many).collect();
        for with in [With::Indices, With::Values] {
            check(&device, &keys, with, Order::Ascending, small(8), Pattern::FewUnique);
        }
    }

    /// The last elements of a bucket are of one cell, so no work-item proposes a pivot for the others.
    #[test]
    #[ignore = "run by counted_buckets_are_clean, in a process with Oclgrind"]
    fn sort_sorted_keys_that_repeat() {
        let device = testing::device();
        check(&device, &repeated(3000, 40), With::Nothing, Order::Ascending, small(8), Pattern::Sorted);
    }

    /// Keys that the sample cannot foresee: it finds a few values, and all others lie between them.
    #[test]
    #[ignore = "run by counted_buckets_are_clean, in a process with Oclgrind"]
    fn settle_long_buckets() {
        let device = testing::device();
        let mut keys: Vec<u64> = Pattern::Random.generate(3000, 5);
        keys.iter_mut().skip(2).for_each(|key| *key = (1 << 40) + (*key & 0xfff));
        check(&device, &keys, With::Nothing, Order::Ascending, small(8), Pattern::Random);
        // One of them so often that it is not moved.
        keys.iter_mut().skip(2).step_by(3).for_each(|key| *key = (1 << 40) + 0x777);
        check(&device, &keys, With::Nothing, Order::Ascending, small(8), Pattern::Random);
    }

    #[test]
    fn counted_buckets_are_clean() {
        let tests = [
            "sort_by_counted_buckets",
            "sort_by_counted_buckets_in_two_rounds",
            "sort_pairs_by_counted_buckets",
            "sort_pairs_by_counted_buckets_in_two_rounds",
            "order_by_counted_buckets",
            "order_by_counted_buckets_in_two_rounds",
            "sort_wide_pairs_by_counted_buckets",
            "divide_the_indices_of_keys",
            "sort_sorted_keys_that_repeat",
            "settle_long_buckets",
        ];
        for test in tests {
            let report =
                Oclgrind::find().report_of(&format!("gpu::strategy::counted::tests::on_opencl::{test}"));
            assert!(report.is_empty(), "{report}");
        }
    }
}

#[cfg(feature = "cuda")]
mod on_cuda {
    use super::*;
    use crate::gpu::cuda;

    #[test]
    fn every_pattern_is_sorted_by_counted_buckets_on_cuda() {
        let Some(device) = cuda_device("every_pattern_is_sorted_by_counted_buckets_on_cuda") else { return };
        for &pattern in Pattern::ALL {
            for length in [3_000_017, 9_000_001, 20_000_003] {
                let keys: Vec<f32> = pattern.generate(length, 5);
                check_on_cuda(&device, &keys, With::Nothing, Order::Descending, pattern);
            }
            let keys: Vec<i64> = pattern.generate(700_001, 5);
            check_on_cuda(&device, &keys, With::Nothing, Order::Ascending, pattern);
            let keys: Vec<u32> = pattern.generate(1 << 20, 5);
            check_on_cuda(&device, &keys, With::Values, Order::Ascending, pattern);
            check_on_cuda(&device, &keys, With::Indices, Order::Descending, pattern);
        }
    }

    #[test]
    fn sorted_keys_that_repeat_are_sorted_on_cuda() {
        let Some(device) = cuda_device("sorted_keys_that_repeat_are_sorted_on_cuda") else { return };
        for times in [70, 300, 2000] {
            let keys = repeated(5_000_011, times);
            check_on_cuda(&device, &keys, With::Nothing, Order::Ascending, Pattern::Sorted);
            check_on_cuda(&device, &keys, With::Values, Order::Descending, Pattern::Sorted);
        }
    }

    /// Keys that lie so close to each other, and so far from the few others, that no cell parts them.
    #[test]
    fn what_the_sample_did_not_foresee_is_sorted_on_cuda() {
        let Some(device) = cuda_device("what_the_sample_did_not_foresee_is_sorted_on_cuda") else { return };
        let mut keys: Vec<u64> = Pattern::Random.generate(3_000_017, 3);
        for (place, key) in keys.iter_mut().enumerate() {
            *key = if place % 1000 == 0 { *key } else { (1 << 40) + (*key & 0xff_ffff) };
        }
        check_on_cuda(&device, &keys, With::Nothing, Order::Descending, Pattern::Random);
    }

    /// Sorts with the buckets that the device has for so many.
    fn check_on_cuda<K: Key>(device: &cuda::Device, keys: &[K], with: With, order: Order, pattern: Pattern) {
        let job = job::<K>(keys.len(), with, order);
        let buckets =
            CountedBuckets::for_length(&job, device.facts()).expect("the device has memory for them");
        check(device, keys, with, order, buckets, pattern);
    }
}
