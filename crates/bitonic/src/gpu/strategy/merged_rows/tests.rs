use super::*;
use crate::Order;
#[cfg(feature = "cuda")]
use crate::gpu::driver::Driver;
#[cfg(feature = "cuda")]
use crate::gpu::testing::cuda_device;
use crate::gpu::testing::{With, any_rows, check_rows, job_of_rows};
use bitonic_testkit::Oclgrind;
use proptest::prelude::{prop_assert, proptest};

/// A row fits its places, less than half of which stay empty, and a group the device, whatever the device and the rows.
#[test]
fn a_row_has_places_for_all_its_keys() {
    proptest!(|((job, facts) in any_rows(3_usize..40_000, 2_usize..5000))| {
        let (row_length, rows) = (job.row_length, job.rows);
        if let Some(shape) = MergedRows::of(&job, &facts) {
            let (head, rest) = (1 << shape.head_log2, 1 << shape.rest_log2);
            prop_assert!(head < row_length && row_length <= head + rest && 2 * rest <= head, "{:?}", shape);
            prop_assert!(shape.tile.held_log2 <= shape.rest_log2, "a work-item has keys of one rest: {:?}", shape);
            let launch = &shape.launches(&job, &facts)[0];
            prop_assert!(launch.groups << shape.rows_log2() >= rows);
            prop_assert!(launch.group_size <= facts.group_size && launch.local_bytes <= facts.local_bytes);
            let places = (head + rest) << shape.rows_log2();
            prop_assert!(launch.group_size << shape.tile.held_log2 == places, "every place is some work-item's");
        }
    });
}

/// What is compared in a merge tells something of the keys.
#[test]
fn oblivious_sorts_do_not_merge() {
    let job = job_of_rows::<u32>(1000, 1025, With::Nothing, Order::Ascending);
    let facts = DeviceFacts::nvidia_h200();
    assert!(MergedRows::of(&job, &facts).is_some());
    assert_eq!(MergedRows::of(&Job { in_place: true, ..job }, &facts), None);
}

#[cfg(feature = "opencl")]
mod on_opencl {
    use super::*;
    use crate::gpu::opencl::testing;

    /// So few work-items and registers that a simulator is done soon: rows that share a tile and one that has it to itself; rests of one
    /// key, of some, and as long as they can be.
    #[test]
    #[ignore = "run by merged_rows_are_clean, in a process with Oclgrind"]
    fn sort_merged_rows() {
        let device = testing::device();
        let shape = |tile, head_log2, rest_log2| MergedRows { tile, head_log2, rest_log2 };
        let short = shape(Tile::new(8, 2), 5, 4);
        let alone = shape(Tile::new(8, 2), 8, 7);
        let wide = shape(Tile::new(8, 2), 6, 5);
        check_rows::<u32>(&device, 21, 33, With::Nothing, Order::Ascending, &short);
        check_rows::<f32>(&device, 9, 48, With::Values, Order::Descending, &short);
        check_rows::<f32>(&device, 2, 300, With::Nothing, Order::Descending, &alone);
        check_rows::<u32>(&device, 2, 384, With::Indices, Order::Ascending, &alone);
        check_rows::<i64>(&device, 5, 67, With::Nothing, Order::Ascending, &wide);
        check_rows::<i64>(&device, 3, 96, With::Indices, Order::Descending, &wide);
    }

    #[test]
    fn merged_rows_are_clean() {
        let report =
            Oclgrind::find().report_of("gpu::strategy::merged_rows::tests::on_opencl::sort_merged_rows");
        assert!(report.is_empty(), "{report}");
    }
}

#[cfg(feature = "cuda")]
#[test]
fn rows_longer_than_powers_of_two_are_sorted_on_cuda() {
    let Some(device) = cuda_device("rows_longer_than_powers_of_two_are_sorted_on_cuda") else { return };
    for (number, head_log2) in (6..15).enumerate() {
        let order = if number % 2 == 0 { Order::Ascending } else { Order::Descending };
        let head = 1_usize << head_log2;
        let with = [With::Values, With::Indices, With::Nothing][number % 3];
        for (turn, row_length) in [head + 1, head + head / 4 - 1, head + head / 4 + 1].into_iter().enumerate()
        {
            let rows = (300_000 / row_length).max(40);
            let of = |job: &Job| MergedRows::of(job, device.facts());
            if let Some(shape) = of(&job_of_rows::<u32>(rows, row_length, With::Nothing, order)) {
                check_rows::<u32>(&device, rows, row_length, With::Nothing, order, &shape);
            }
            // Every kernel takes a second to compile.
            let shape = of(&job_of_rows::<f64>(rows, row_length, with, order)).filter(|_| turn == number % 3);
            if let Some(shape) = shape {
                check_rows::<f64>(&device, rows, row_length, with, order, &shape);
            }
        }
    }
}
