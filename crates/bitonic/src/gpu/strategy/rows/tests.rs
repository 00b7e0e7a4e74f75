use super::*;
use crate::Order;
use crate::gpu::driver::Driver;
#[cfg(feature = "cuda")]
use crate::gpu::testing::cuda_device;
use crate::gpu::testing::{With, any_rows, check_rows, job_of_rows};
use bitonic_testkit::Oclgrind;
use proptest::prelude::{prop_assert, proptest};

/// A row has just the places that it needs, to a block, and a tile whole ones, whatever the device and the rows.
#[test]
fn few_places_of_a_tile_stay_empty() {
    proptest!(|((job, facts) in any_rows(3_usize..33_000, 100_usize..5000))| {
        let (row_length, rows) = (job.row_length, job.rows);
        if let Some(shape) = Rows::of(&job, &facts) {
            prop_assert!(shape.row_places() >= row_length && shape.row_places() <= row_length.next_power_of_two());
            let rounded = if shape.low_log2 == 0 { 4 } else { 1 << shape.low_log2 };
            prop_assert!(shape.row_places() - row_length < rounded, "{:?}", shape);
            prop_assert!(shape.row_places() <= row_length + row_length.div_ceil(2), "{:?}", shape);
            prop_assert!(shape.blocks <= 1 << shape.tile.held_log2);
            let launch = &shape.launches(&job, &facts)[0];
            prop_assert!(launch.groups << shape.rows_log2() >= rows);
            prop_assert!(launch.group_size <= facts.group_size && launch.local_bytes <= facts.local_bytes);
        } else {
            // What fills most of a tile of the network, that one sorts.
            let eighth = (row_length.next_power_of_two() / 8).max(32);
            let is_full = row_length.next_multiple_of(eighth).is_power_of_two();
            prop_assert!(is_full || facts.local_bytes < 227 << 10 || facts.group_size < 1024 || job.element.bytes() > 4);
        }
    });
}

#[cfg(feature = "opencl")]
mod on_opencl {
    use super::*;
    use crate::gpu::opencl::testing;

    /// So few work-items and registers that a simulator is done soon, in every form: a row for a work-item; blocks shorter and longer
    /// than what a work-item holds; a row that has a tile to itself.
    #[test]
    #[ignore = "run by rows_are_clean, in a process with Oclgrind"]
    fn sort_rows() {
        let device = testing::device();
        let shape = |tile, merges, low_log2, blocks| Rows { tile, merges, low_log2, blocks };
        let of_item = shape(Tile::new(8, 3), 3, 0, 7);
        let short = shape(Tile::new(8, 3), 7, 5, 3);
        let long = shape(Tile::new(7, 2), 7, 5, 3);
        let alone = shape(Tile::new(9, 3), 9, 6, 5);
        check_rows::<f32>(&device, 21, 7, With::Nothing, Order::Ascending, &of_item);
        check_rows::<f32>(&device, 21, 5, With::Nothing, Order::Descending, &of_item);
        check_rows::<u32>(&device, 5, 65, With::Nothing, Order::Descending, &short);
        check_rows::<u32>(&device, 5, 96, With::Values, Order::Ascending, &short);
        check_rows::<i64>(&device, 5, 70, With::Nothing, Order::Ascending, &long);
        check_rows::<u32>(&device, 5, 95, With::Indices, Order::Descending, &long);
        check_rows::<i64>(&device, 3, 290, With::Indices, Order::Ascending, &alone);
    }

    #[test]
    fn rows_are_clean() {
        let report = Oclgrind::find().report_of("gpu::strategy::rows::tests::on_opencl::sort_rows");
        assert!(report.is_empty(), "{report}");
    }
}

#[cfg(feature = "cuda")]
#[test]
fn rows_of_every_length_are_sorted_on_cuda() {
    let Some(device) = cuda_device("rows_of_every_length_are_sorted_on_cuda") else { return };
    let lengths = [
        3, 5, 11, 17, 31, 33, 51, 65, 100, 129, 200, 257, 400, 513, 1000, 1025, 1999, 2049, 3000, 4097, 8193,
    ];
    for (number, &row_length) in lengths.iter().chain(&[12_000, 16_385, 20_000, 32_767, 32_768]).enumerate() {
        let order = if number % 2 == 0 { Order::Ascending } else { Order::Descending };
        let rows = (300_000 / row_length).max(40);
        let of = |job: &Job| Rows::of(job, device.facts());
        // Every kernel takes a second to compile.
        let with = [With::Nothing, With::Values, With::Indices][number % 3];
        if let Some(shape) = of(&job_of_rows::<u32>(rows, row_length, With::Nothing, order)) {
            check_rows::<u32>(&device, rows, row_length, With::Nothing, order, &shape);
        }
        if let Some(shape) = of(&job_of_rows::<f64>(rows, row_length, with, order)) {
            check_rows::<f64>(&device, rows, row_length, with, order, &shape);
        }
        if let Some(shape) =
            of(&job_of_rows::<i8>(rows, row_length, With::Values, order)).filter(|_| number % 4 == 0)
        {
            check_rows::<i8>(&device, rows, row_length, With::Values, order, &shape);
        }
    }
}
