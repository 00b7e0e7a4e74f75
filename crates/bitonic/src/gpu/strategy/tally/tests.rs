use super::*;
use crate::Order;
use crate::gpu::driver::Driver;
#[cfg(feature = "cuda")]
use crate::gpu::testing::cuda_device;
use crate::gpu::testing::{With, job_with, sort_by_strategy, sorted};
use crate::key::{Key, as_bytes};
use bitonic_testkit::{Oclgrind, Pattern, TestKey};

/// Sorts keys by counting, and compares with the CPU.
fn check<K: Key + TestKey>(device: &impl Driver, len: usize, order: Order, tally: Tally, pattern: Pattern) {
    let keys: Vec<K> = pattern.generate(len, 5);
    let job = job_with::<K>(len, With::Nothing, order);
    let (result, _) = sort_by_strategy(device, &keys, &job, &tally);
    let what = format!("{len} keys of {} bits, {pattern:?}, {tally:?}", job.element.key_bits);
    assert!(as_bytes(&result) == as_bytes(&sorted(&keys, order)), "{what}");
}

#[test]
fn keys_are_counted_in_as_few_slices_as_the_local_memory_allows() {
    let tally = |local_kib: usize, bits: u32| {
        let facts = DeviceFacts { local_bytes: local_kib << 10, ..DeviceFacts::nvidia_h200() };
        let job = if bits == 8 {
            job_with::<u8>(1 << 24, With::Nothing, Order::Ascending)
        } else {
            job_with::<u16>(1 << 24, With::Nothing, Order::Ascending)
        };
        let tally = Tally::new(&job, &facts).expect("it fits");
        (tally.slices, tally.copies)
    };
    assert_eq!(tally(227, 16), (2, 1));
    assert_eq!(tally(48, 16), (8, 1));
    assert_eq!(tally(227, 8), (1, 32));
    assert_eq!(tally(48, 8), (1, 1));
}

#[cfg(feature = "opencl")]
mod on_opencl {
    use super::*;
    use crate::gpu::opencl::testing;

    /// So few work-items that a simulator is done soon; in one slice and in two, with copies and without.
    #[test]
    #[ignore = "run by tallies_are_clean, in a process with Oclgrind"]
    fn sort_by_tally() {
        let device = testing::device();
        let tile = Tile::new(8, 2);
        for (slices, copies) in [(1, 4), (2, 1)] {
            let tally = Tally { counted: tile, copies, slices, filled: tile };
            for pattern in [Pattern::Random, Pattern::Sorted, Pattern::AllEqual, Pattern::FewUnique] {
                check::<i8>(&device, 1111, Order::Descending, tally, pattern);
            }
        }
    }

    #[test]
    #[ignore = "run by tallies_are_clean, in a process with Oclgrind"]
    fn sort_wider_by_tally() {
        let device = testing::device();
        let tile = Tile::new(8, 2);
        let tally = Tally { counted: tile, copies: 1, slices: 16, filled: tile };
        check::<half::f16>(&device, 777, Order::Ascending, tally, Pattern::Special);
    }

    #[test]
    fn tallies_are_clean() {
        for test in ["sort_by_tally", "sort_wider_by_tally"] {
            let report =
                Oclgrind::find().report_of(&format!("gpu::strategy::tally::tests::on_opencl::{test}"));
            assert!(report.is_empty(), "{report}");
        }
    }
}

#[cfg(feature = "cuda")]
#[test]
fn every_pattern_is_sorted_by_tally_on_cuda() {
    let Some(device) = cuda_device("every_pattern_is_sorted_by_tally_on_cuda") else { return };
    let of = |job: Job| Tally::new(&job, device.facts()).expect("a device has memory for it");
    for &pattern in Pattern::ALL {
        for len in [1, 4095, 1_000_003, 20_000_001] {
            let order = if len % 2 == 0 { Order::Ascending } else { Order::Descending };
            let narrow = of(job_with::<i8>(len, With::Nothing, order));
            check::<i8>(&device, len, order, narrow, pattern);
            let wide = of(job_with::<half::f16>(len, With::Nothing, order));
            check::<half::f16>(&device, len, Order::Ascending, wide, pattern);
            check::<u16>(&device, len, order, wide, pattern);
        }
    }
}
