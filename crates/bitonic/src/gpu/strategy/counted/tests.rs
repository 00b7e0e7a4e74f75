use super::*;
use crate::gpu::driver::Driver;
#[cfg(feature = "cuda")]
use crate::gpu::testing::cuda_device;
use crate::gpu::testing::sort_by_strategy;
use crate::key::{Key, as_bytes};
use crate::request::{Request, Segments};
use crate::{Engine, Order, Sorter};
use bitonic_testkit::{Oclgrind, Pattern};

/// So few keys, cells and work-items that a processor that plays the device, or a simulator, is done soon, with the compilation too.
/// With so few targets, some hundred keys need two rounds.
fn small(targets_log2: u32) -> CountedBuckets {
    let tile = Tile::new(7, 2);
    CountedBuckets {
        tile,
        large_tile: Tile::new(8, 2),
        moved: Tile::new(7, 2),
        even_moved: tile,
        even_groups_of_unit: 1,
        cells_log2: LEAST_CELLS_LOG2,
        samples_log2: 8,
        sample_items: 64,
        divide_items: 64,
        targets_log2,
        even_targets_log2: targets_log2,
        parts: 128,
        nodes: 64,
    }
}

/// What is sorted with each key.
#[derive(Clone, Copy, Debug)]
enum With {
    Nothing,
    Values,
    Indices,
}

fn job<K: Key>(len: usize, with: With, order: Order) -> Job {
    let segments = Segments::one(len);
    let request = match with {
        With::Nothing => Request::keys::<K>(segments),
        With::Values => Request::pairs::<K, u32>(segments),
        With::Indices => Request::argsort::<K>(segments),
    };
    Job::of(&Request { order, ..request })
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

fn sorted<K: Key>(keys: &[K], order: Order) -> Vec<K> {
    let mut sorted = keys.to_vec();
    Sorter::new().engine(Engine::Cpu).order(order).sort(&mut sorted).expect("the CPU sorts");
    sorted
}

/// The places of the keys in stable order.
fn places<K: Key>(keys: &[K], order: Order) -> Vec<u32> {
    let stable = Sorter::new().engine(Engine::Cpu).order(order).argsort(keys);
    stable.expect("the CPU sorts").iter().map(|&place| place as u32).collect()
}

/// Every pattern of keys, with each of these beside them.
fn check<K: Key>(
    device: &impl Driver,
    generate: impl Fn(Pattern) -> Vec<K>,
    order: Order,
    buckets: CountedBuckets,
    withs: &[With],
) {
    for &pattern in Pattern::ALL {
        let keys = generate(pattern);
        let (len, expected) = (keys.len(), sorted(&keys, order));
        for &with in withs {
            let (result, found) = sort(device, &keys, with, order, buckets);
            assert!(as_bytes(&result) == as_bytes(&expected), "{len} {} keys, {pattern:?}", K::TYPE);
            let is_stable = matches!(with, With::Nothing) || found == places(&keys, order);
            assert!(is_stable, "{with:?} of {len} {} keys, {pattern:?}", K::TYPE);
        }
    }
}

#[cfg(feature = "opencl")]
mod on_opencl {
    use super::*;
    use crate::gpu::opencl::testing;

    // PoCL takes minutes to compile the kernels for one type: three types are enough here.

    #[test]
    fn every_pattern_is_sorted_by_counted_buckets() {
        let device = testing::device();
        let generate = |pattern: Pattern| pattern.generate::<u32>(5003, 5);
        check(&device, generate, Order::Ascending, small(6), &[With::Nothing]);
    }

    #[test]
    fn every_pattern_of_pairs_is_sorted_by_counted_buckets() {
        let device = testing::device();
        let generate = |pattern: Pattern| pattern.generate::<i32>(3001, 5);
        check(&device, generate, Order::Descending, small(6), &[With::Values]);
    }

    /// Keys that the sample cannot foresee: the groups that look at it find a few values, and all others lie between them.
    #[test]
    fn what_the_sample_did_not_foresee_is_sorted_too() {
        let device = testing::device();
        check(
            &device,
            |pattern| pattern.generate::<f64>(1499, 5),
            Order::Descending,
            small(6),
            &[With::Nothing],
        );
        let mut keys: Vec<u64> = Pattern::Random.generate(60_000, 3);
        for (place, key) in keys.iter_mut().enumerate() {
            *key = if place % 200 == 0 { *key } else { (1 << 40) + (*key & 0xffff) };
        }
        for order in [Order::Ascending, Order::Descending] {
            let (result, _) = sort(&device, &keys, With::Nothing, order, small(6));
            assert!(result == sorted(&keys, order), "{order:?}");
        }
    }

    /// All patterns of one length, whose working memory stays the same: see [`Oclgrind::report_of`].
    fn under_oclgrind(len: usize, targets_log2: u32) {
        let device = testing::device();
        for pattern in [Pattern::Random, Pattern::FewUnique, Pattern::Special] {
            let keys: Vec<f32> = pattern.generate(len, 5);
            let order = Order::Descending;
            let (result, _) = sort(&device, &keys, With::Nothing, order, small(targets_log2));
            assert!(as_bytes(&result) == as_bytes(&sorted(&keys, order)), "{pattern:?}");
        }
    }

    #[test]
    #[ignore = "run by counted_buckets_are_clean, in a process with Oclgrind"]
    fn sort_by_counted_buckets() {
        under_oclgrind(700, 8);
    }

    #[test]
    #[ignore = "run by counted_buckets_are_clean, in a process with Oclgrind"]
    fn sort_by_counted_buckets_in_two_rounds() {
        under_oclgrind(9000, 6);
    }

    #[test]
    #[ignore = "run by counted_buckets_are_clean, in a process with Oclgrind"]
    fn sort_pairs_by_counted_buckets() {
        let device = testing::device();
        let keys: Vec<u32> = Pattern::Random.generate(450, 5);
        let (result, found) = sort(&device, &keys, With::Values, Order::Ascending, small(8));
        assert!(result == sorted(&keys, Order::Ascending));
        assert!(found.iter().zip(&result).all(|(&place, key)| keys[place as usize] == *key));
    }

    #[test]
    #[ignore = "run by counted_buckets_are_clean, in a process with Oclgrind"]
    fn settle_long_buckets() {
        let device = testing::device();
        let mut keys: Vec<i128> = Pattern::Random.generate(3000, 5);
        keys.iter_mut().skip(2).for_each(|key| *key = (1 << 80) + (*key & 0xfff));
        let (result, _) = sort(&device, &keys, With::Nothing, Order::Ascending, small(8));
        assert!(result == sorted(&keys, Order::Ascending));
    }

    #[test]
    fn counted_buckets_are_clean() {
        let tests = [
            "sort_by_counted_buckets",
            "sort_by_counted_buckets_in_two_rounds",
            "sort_pairs_by_counted_buckets",
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
            let what = format!("{pattern:?}");
            for length in [3_000_017, 9_000_001, 20_000_003] {
                let keys: Vec<f32> = pattern.generate(length, 5);
                check_on_cuda(&device, &keys, With::Nothing, Order::Descending, &what);
            }
            let keys: Vec<i64> = pattern.generate(700_001, 5);
            check_on_cuda(&device, &keys, With::Nothing, Order::Ascending, &what);
            let keys: Vec<u32> = pattern.generate(1 << 20, 5);
            check_on_cuda(&device, &keys, With::Values, Order::Ascending, &what);
            check_on_cuda(&device, &keys, With::Indices, Order::Descending, &what);
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
        check_on_cuda(&device, &keys, With::Nothing, Order::Descending, "close to each other");
    }

    /// Sorts with the buckets that the device has for so many.
    fn check_on_cuda<K: Key>(device: &cuda::Device, keys: &[K], with: With, order: Order, what: &str) {
        let job = job::<K>(keys.len(), with, order);
        let buckets =
            CountedBuckets::for_length(&job, device.facts()).expect("the device has memory for them");
        let (result, found) = sort(device, keys, with, order, buckets);
        let same = as_bytes(&result) == as_bytes(&sorted(keys, order));
        assert!(same, "{} {} keys, {with:?}, {what}", keys.len(), K::TYPE);
        if !matches!(with, With::Nothing) {
            assert!(found == places(keys, order), "{with:?}, {what}");
        }
    }
}
