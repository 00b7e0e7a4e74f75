use super::*;
use crate::Order;
use crate::gpu::driver::Driver;
use crate::gpu::element::Element;
#[cfg(feature = "cuda")]
use crate::gpu::testing::cuda_device;
use crate::gpu::testing::{With, job_with as job, places, sort_by_strategy, sorted};
use crate::key::{Key, as_bytes};
use bitonic_testkit::{Oclgrind, Pattern};

/// So few keys, buckets and work-items that a processor that plays the device, or a simulator, is done soon.
fn small(count: usize, rescue: bool) -> Buckets {
    let group = ClusterRow { tile: Tile::new(9, 2), log2: 0 };
    let tile = Tile::new(7, 2);
    Buckets { count, sample: group, scatter: tile, tile, rescue: rescue.then_some(group) }
}

/// Sorts keys on a device by these buckets; with values, which are the places of the keys, if there are to be any.
fn sort<K: Key>(
    device: &impl Driver,
    keys: &[K],
    with: With,
    order: Order,
    buckets: Buckets,
) -> (Vec<K>, Vec<u32>) {
    sort_by_strategy(device, keys, &job::<K>(keys.len(), with, order), &buckets)
}

/// Every pattern of keys, alone and with values, with no other way to sort them.
fn check<K: Key>(device: &impl Driver, generate: impl Fn(Pattern) -> Vec<K>, count: usize, order: Order) {
    for (number, &pattern) in Pattern::ALL.iter().enumerate() {
        let keys = generate(pattern);
        let len = keys.len();
        let expected = sorted(&keys, order);
        let (result, _) = sort(device, &keys, With::Nothing, order, small(count, false));
        assert!(as_bytes(&result) == as_bytes(&expected), "{len} {} keys, {pattern:?}", K::TYPE);
        let with = if number % 2 == 0 { With::Values } else { With::Indices };
        let (result, found) = sort(device, &keys, with, order, small(count, false));
        assert!(as_bytes(&result) == as_bytes(&expected), "{len} {} pairs, {pattern:?}", K::TYPE);
        assert!(found == places(&keys, order), "values of {len} {} keys, {pattern:?}", K::TYPE);
    }
}

#[test]
fn parts_of_tiles_are_left_out_where_groups_wait_for_each_other() {
    let facts = DeviceFacts::nvidia_h200();
    let leaves_out = |job: Job| {
        let buckets = Buckets::for_length(&job, &facts);
        buckets.expect("the device has memory for them").leaves_out(&facts)
    };
    let order = Order::Ascending;
    assert!(leaves_out(job::<u32>(1 << 22, With::Nothing, order)));
    assert!(leaves_out(job::<u64>(1 << 22, With::Nothing, order)));
    assert!(!leaves_out(job::<u64>(1 << 20, With::Nothing, order)), "all are sorted at once");
    assert!(!leaves_out(job::<u32>(1 << 25, With::Nothing, order)), "a group has a unit for itself");
}

#[cfg(feature = "opencl")]
mod on_opencl {
    use super::*;
    use crate::gpu::opencl::testing;

    #[test]
    fn every_pattern_is_sorted_by_buckets() {
        let device = testing::device();
        check(&device, |pattern| pattern.generate::<u32>(1501, 5), 20, Order::Ascending);
        check(&device, |pattern| pattern.generate::<i8>(1024, 5), 16, Order::Ascending);
        check(&device, |pattern| pattern.generate::<f64>(1499, 5), 20, Order::Descending);
    }

    #[test]
    fn a_bucket_that_is_too_long_leaves_the_array_to_the_other_way() {
        let device = testing::device();
        let keys: Vec<i64> = Pattern::Random.generate(5000, 3);
        let order = Order::Descending;
        let (untouched, _) = sort(&device, &keys, With::Nothing, order, small(4, false));
        assert!(untouched == keys, "1250 keys do not fit 256 places");
        let (result, _) = sort(&device, &keys, With::Nothing, order, small(4, true));
        assert!(result == sorted(&keys, order));
        let (result, found) = sort(&device, &keys, With::Indices, order, small(4, true));
        assert!(result == sorted(&keys, order));
        assert!(found.iter().zip(&result).all(|(&place, key)| keys[place as usize] == *key));
    }

    /// All patterns of one length, whose working memory stays the same: see [`Oclgrind::report_of`].
    fn under_oclgrind(len: usize, count: usize) {
        let device = testing::device();
        for pattern in [Pattern::Random, Pattern::FewUnique, Pattern::Special] {
            let keys: Vec<f32> = pattern.generate(len, 5);
            let order = Order::Descending;
            let (result, _) = sort(&device, &keys, With::Nothing, order, small(count, true));
            assert!(as_bytes(&result) == as_bytes(&sorted(&keys, order)), "{pattern:?}");
        }
    }

    #[test]
    #[ignore = "run by buckets_are_clean, in a process with Oclgrind"]
    fn sort_by_buckets() {
        under_oclgrind(450, 6);
    }

    #[test]
    #[ignore = "run by buckets_are_clean, in a process with Oclgrind"]
    fn sort_by_long_buckets() {
        under_oclgrind(350, 2);
    }

    #[test]
    #[ignore = "run by buckets_are_clean, in a process with Oclgrind"]
    fn sort_pairs_by_buckets() {
        let device = testing::device();
        let keys: Vec<u32> = Pattern::Random.generate(450, 5);
        let (result, found) = sort(&device, &keys, With::Values, Order::Ascending, small(6, false));
        assert!(result == sorted(&keys, Order::Ascending));
        assert!(found.iter().zip(&result).all(|(&place, key)| keys[place as usize] == *key));
    }

    #[test]
    #[ignore = "run by buckets_are_clean, in a process with Oclgrind"]
    fn fail_by_buckets() {
        let device = testing::device();
        let keys: Vec<u64> = Pattern::Random.generate(2500, 5);
        let (result, _) = sort(&device, &keys, With::Nothing, Order::Ascending, small(3, true));
        assert!(result == sorted(&keys, Order::Ascending));
    }

    #[test]
    fn buckets_are_clean() {
        for test in ["sort_by_buckets", "sort_by_long_buckets", "sort_pairs_by_buckets", "fail_by_buckets"] {
            let report =
                Oclgrind::find().report_of(&format!("gpu::strategy::buckets::tests::on_opencl::{test}"));
            assert!(report.is_empty(), "{report}");
        }
    }
}

#[cfg(feature = "cuda")]
mod on_cuda {
    use super::*;
    use crate::gpu::cuda;

    #[test]
    fn every_pattern_is_sorted_by_buckets_on_cuda() {
        let Some(device) = cuda_device("every_pattern_is_sorted_by_buckets_on_cuda") else { return };
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

    #[test]
    fn a_bucket_that_is_too_long_is_no_harm_on_cuda() {
        let Some(device) = cuda_device("a_bucket_that_is_too_long_is_no_harm_on_cuda") else { return };
        let keys: Vec<u32> = Pattern::Random.generate(3_000_017, 3);
        let order = Order::Descending;
        let job = job::<u32>(keys.len(), With::Indices, order);
        let buckets = Buckets::for_length(&job, device.facts()).expect("it has memory for them");
        let few = Buckets { count: 9, ..buckets };
        let (untouched, _) = sort(&device, &keys, With::Indices, order, Buckets { rescue: None, ..few });
        assert!(untouched == keys, "a third of a million keys do not fit a tile");
        let (result, found) = sort(&device, &keys, With::Indices, order, few);
        assert!(result == sorted(&keys, order));
        assert!(found.iter().zip(&result).all(|(&place, key)| keys[place as usize] == *key));
    }

    /// Sorts with the buckets that the device has for so many, and no rescue.
    fn check_on_cuda<K: Key>(device: &cuda::Device, keys: &[K], with: With, order: Order, what: &str) {
        let job = job::<K>(keys.len(), with, order);
        let buckets = Buckets::for_length(&job, device.facts()).expect("the device has memory for them");
        let (result, found) = sort(device, keys, with, order, Buckets { rescue: None, ..buckets });
        let same = as_bytes(&result) == as_bytes(&sorted(keys, order));
        assert!(same, "{} {} keys, {with:?}, {what}", keys.len(), K::TYPE);
        if !matches!(with, With::Nothing) {
            assert!(found == places(keys, order), "{with:?}, {what}");
        }
    }
}

#[test]
fn the_local_memory_of_a_group_that_scatters_holds_tree_elements_and_counts() {
    let job = job::<u32>(5000, With::Nothing, Order::Ascending);
    assert_eq!(job.element, Element::keys(u32::TYPE));
    // 32 splitters, 128 elements, 65 words and a bit for each of 32 buckets, and 16 bits for each element.
    assert_eq!(small(20, false).scatter_bytes(&job), 4 * (32 + 128 + 65 + 1 + 64));
}
