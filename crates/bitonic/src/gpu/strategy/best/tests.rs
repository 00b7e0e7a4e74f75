use super::way::LEAST_CELL_LOG2;
use super::*;
use crate::gpu::kernel::Tile;
use crate::gpu::strategy::tile_fits;
use crate::key::Key;
use crate::plan::Parameter;
use crate::request::{Request, Segments};
use proptest::prelude::*;

fn job<K: Key>(rows: usize, row_length: usize, k: usize) -> Job {
    Job::of(&Request::top::<K>(Segments::Rows { rows, row_length }, k))
}

fn names(plan: &KernelPlan) -> Vec<&'static str> {
    plan.launches.iter().map(|launch| launch.kernel).collect()
}

fn planned(job: &Job, facts: &DeviceFacts) -> Arc<KernelPlan> {
    kernel_plan(job, facts, &Tuning::default())
}

#[test]
fn short_rows_are_kept_whole_and_long_ones_filtered_as_often_as_they_need_it() {
    let facts = DeviceFacts::nvidia_h200();
    assert_eq!(names(&planned(&job::<f32>(1000, 100, 5), &facts)), ["select_best"]);
    let once = ["best_bound", "best_filter", "select_best"];
    assert_eq!(names(&planned(&job::<f32>(64, 128_256, 50), &facts)), once);
    let twice = ["best_bound", "best_filter", "best_bound", "best_filter", "select_best"];
    assert_eq!(names(&planned(&job::<f32>(1, 1 << 26, 1000), &facts)), twice);
}

#[test]
fn rows_that_a_group_can_hold_are_searched() {
    let facts = DeviceFacts::nvidia_h200();
    let searched = |row_length, k, facts: &DeviceFacts| {
        let plan = planned(&job::<f32>(1000, row_length, k), facts);
        let last = plan.launches.last().expect("there is one").clone();
        let constant =
            |name| last.constants.iter().find(|constant| constant.0 == name).map(|constant| constant.1);
        (constant("SEARCHED"), constant("TILE_LOG2"), last.group_size)
    };
    assert_eq!(searched(1024, 64, &facts), (Some(32), Some(6), 32));
    assert_eq!(searched(700, 10, &facts), (Some(32), Some(6), 32));
    assert_eq!(searched(2048, 64, &facts), (Some(32), Some(7), 64));
    assert_eq!(searched(2049, 64, &facts), (Some(32), Some(8), 128));
    assert_eq!(searched(100, 20, &facts), (Some(4), Some(6), 32));
    // Nothing is left out there, and this one is too long.
    assert_eq!(searched(64, 60, &facts).0, Some(0));
    assert!(planned(&job::<f32>(1000, 30_000, 64), &facts).launches.len() > 1);
    assert_eq!(searched(1024, 64, &DeviceFacts::pocl()).0, Some(0));
}

/// Rows of all kinds of keys whose bounds are searched for, in rows that are held and in those whose list is: with keys in any order, few
/// values and one, keys as low and as high as there are, and wide keys whose upper halves are the same, where the search of held rows
/// finds no bound.
#[cfg(feature = "opencl")]
fn search_rows<K: Key>(keys: &dyn Fn(u32, u32) -> K) {
    search_rows_of(120, false, keys);
    search_rows_of(600, true, keys);
}

#[cfg(feature = "opencl")]
fn search_rows_of<K: Key>(row_length: usize, is_filtered: bool, keys: &dyn Fn(u32, u32) -> K) {
    use crate::gpu::driver::Driver;
    use crate::gpu::execute::{Buffers, sort_buffers};
    use crate::key::as_bytes;

    let device = crate::gpu::opencl::testing::device();
    let (rows, k) = (5, 9);
    let job = job::<K>(rows, row_length, k);
    let list = List::new(Lengths::of_keys(row_length), k, Tile::new(6, 2), 1, 0.0);
    let searched = if is_filtered { 32 } else { 8 };
    let last = Last { tile: Tile::new(5, 1), searched };
    assert!(last.tile.items() * searched >= if is_filtered { list.capacity() } else { row_length });
    assert!(if is_filtered { list.usual(0.0) } else { row_length } > last.tile.len());
    let launches = Launches {
        job: &job,
        best: k,
        lists: if is_filtered { &[list] } else { &[] },
        cells: None,
        last,
        facts: device.facts(),
    };
    let limits = Network::new(&job, device.facts(), &Tuning::default()).shape.limits();
    let plan = launches.plan(limits, None);
    let keys: Vec<K> =
        (0..rows * row_length).map(|place| keys((place / row_length) as u32, place as u32)).collect();
    let sorter = crate::Sorter::new().engine(crate::Engine::Cpu).order(crate::Order::Ascending);
    let expected = sorter.top_k_rows(&keys, row_length, k).expect("the CPU finds them");
    let (key_bytes, value_bytes) = job.array_bytes();
    let [input, best, indices] = [size_of_val(&keys[..]), key_bytes, value_bytes]
        .map(|bytes| device.allocate(bytes).expect("there is memory for it"));
    device.upload(as_bytes(&keys), &input).expect("keys go up");
    let buffers = Buffers { input: Some(&input), ..Buffers::new(&best, Some(&indices)) };
    sort_buffers(&device, &job, &Arc::new(plan), buffers).expect("the kernels run");
    let mut found = [vec![0; key_bytes], vec![0; value_bytes]];
    device.download(&best, &mut found[0][..]).expect("keys come down");
    device.download(&indices, &mut found[1][..]).expect("indices come down");
    assert_eq!(found[0], as_bytes(&expected.keys), "{}", K::TYPE);
    let indices: Vec<u32> = expected.indices.iter().map(|&index| index as u32).collect();
    assert_eq!(found[1], as_bytes(&indices), "{}", K::TYPE);
}

/// A number of one of five kinds of rows, of 32 bits.
#[cfg(feature = "opencl")]
fn of_row(row: u32, place: u32) -> u32 {
    let random = place.wrapping_mul(2_654_435_761);
    match row % 5 {
        0 => random,
        1 => random >> 30,
        2 => u32::MAX,
        3 => random | 0xffff_0000 | (0xffff * (place & 1)),
        _ => place,
    }
}

#[test]
#[ignore = "run by searches_for_a_bound_are_right_and_clean, in a process with Oclgrind"]
#[cfg(feature = "opencl")]
fn search_rows_of_all_kinds() {
    search_rows::<u32>(&of_row);
    search_rows::<u8>(&|row, place| of_row(row, place) as u8);
    search_rows::<f64>(&|row, place| {
        f64::from_bits(u64::from(of_row(row, place)) << 32 | u64::from(place % 3))
    });
    search_rows::<u128>(&|row, place| {
        u128::from(of_row(row, place)) << 90 | u128::from(place.reverse_bits())
    });
}

#[test]
#[cfg(feature = "opencl")]
fn searches_for_a_bound_are_right_and_clean() {
    let oclgrind = bitonic_testkit::Oclgrind::find();
    let report = oclgrind.report_of("gpu::strategy::best::tests::search_rows_of_all_kinds");
    assert!(report.is_empty(), "{report}");
}

#[test]
fn without_memory_one_group_takes_a_row() {
    let facts = DeviceFacts::nvidia_h200();
    let long = job::<u64>(3, 1 << 20, 100);
    let plan = planned(&long, &facts);
    let fallback = plan.fallback.as_ref().expect("there is one that needs less");
    assert!(plan.work.bytes() > 0 && fallback.work.bytes() == 0);
    assert_eq!(names(fallback), ["select_best"]);
    assert_eq!(names(&planned(&Job { in_place: true, ..long }, &facts)), ["select_best"]);
}

fn job_of_segments<K: Key>(segments: usize, longest: usize, len: usize, k: usize) -> Job {
    Job::of(&Request::top::<K>(Segments::Offsets { segments, longest, len }, k))
}

#[test]
fn segments_are_filtered_where_one_is_long_enough_and_there_is_memory() {
    let facts = DeviceFacts::nvidia_h200();
    let short = planned(&job_of_segments::<f32>(1000, 10_000, 1 << 20, 50), &facts);
    assert_eq!((names(&short), short.work.bytes()), (vec!["select_best"], 0));
    let long = job_of_segments::<f32>(1000, 100_000, 1 << 20, 50);
    let plan = planned(&long, &facts);
    assert_eq!(names(&plan), ["best_bound", "best_filter", "select_best"]);
    let groups: Vec<usize> = plan.launches.iter().map(|launch| launch.groups).collect();
    assert!(groups[0] == 64 && groups[1].is_multiple_of(64) && groups[2] == 1000, "{groups:?}");
    assert!(plan.work.bytes() < long.len() * 8 / 4, "{:?}", plan.work);
    assert_eq!(names(plan.fallback.as_ref().expect("there is one that needs less")), ["select_best"]);
    assert_eq!(names(&planned(&Job { in_place: true, ..long }, &facts)), ["select_best"]);
    // Longer cells for more best keys, which have longer lists.
    let many = planned(&job_of_segments::<f32>(10, 1 << 24, 1 << 24, 8000), &facts);
    assert!(many.launches[0].groups < (1 << 24) >> LEAST_CELL_LOG2, "{many:?}");
    assert!(planned(&job_of_segments::<f32>(10, 0, 0, 5), &facts).launches.is_empty());
}

#[test]
fn more_than_half_of_the_largest_tile_is_refused_with_the_most_there_is() {
    let facts = DeviceFacts::nvidia_h200();
    assert_eq!(check_best(&job::<f32>(1, 1 << 20, 8192), &facts), Ok(()));
    let refused = check_best(&job::<f32>(1, 1 << 20, 8193), &facts);
    assert_eq!(refused, Err(Error::TopTooLarge { device: facts.name.clone(), k: 8193, most: 8192 }));
    // Of a shorter row no more than all are asked for.
    assert_eq!(check_best(&job::<f32>(1, 100, 1 << 20), &facts), Ok(()));
}

/// A bound that is far too low, and one that nearly all pass: the lists are wrong, and the result is right.
#[test]
#[cfg(feature = "opencl")]
fn a_wrong_guess_costs_nothing_but_time() {
    use crate::gpu::driver::Driver;
    use crate::gpu::execute::{Buffers, sort_buffers};
    use crate::key::as_bytes;

    let device = crate::gpu::opencl::testing::device();
    let (rows, row_length, k) = (2, 9000, 20);
    let job = job::<u32>(rows, row_length, k);
    let keys: Vec<u32> =
        (0..rows * row_length).map(|place| (place as u32).wrapping_mul(2_654_435_761)).collect();
    let sorter = crate::Sorter::new().engine(crate::Engine::Cpu).order(crate::Order::Ascending);
    let expected = sorter.top_k_rows(&keys, row_length, k).expect("the CPU finds them");
    let planned = planned(&job, device.facts());
    let (key_bytes, value_bytes) = job.array_bytes();
    let [input, best, indices] = [size_of_val(&keys[..]), key_bytes, value_bytes]
        .map(|bytes| device.allocate(bytes).expect("there is memory for it"));
    device.upload(as_bytes(&keys), &input).expect("keys go up");
    for rank in [0, 100] {
        let mut plan = KernelPlan::clone(&planned);
        let mut guesses = 0;
        for launch in plan.launches.iter_mut().filter(|launch| launch.kernel == "best_bound") {
            // Behind it is the mapping.
            let place = launch.arguments.len() - 2;
            launch.arguments[place] = Parameter::Number(rank);
            guesses += 1;
        }
        assert!(guesses > 0, "{plan:?}");
        sort_buffers(
            &device,
            &job,
            &Arc::new(plan),
            Buffers { input: Some(&input), ..Buffers::new(&best, Some(&indices)) },
        )
        .expect("the kernels run");
        let mut found = [vec![0; key_bytes], vec![0; value_bytes]];
        device.download(&best, &mut found[0][..]).expect("keys come down");
        device.download(&indices, &mut found[1][..]).expect("indices come down");
        assert_eq!(found[0], as_bytes(&expected.keys), "rank {rank}");
        let indices: Vec<u32> = expected.indices.iter().map(|&index| index as u32).collect();
        assert_eq!(found[1], as_bytes(&indices), "rank {rank}");
    }
}

/// Segments of several cells, of one and of none; or such that overlap, as none should, and may do no harm then.
#[cfg(feature = "opencl")]
fn best_of_segments(wide_index: bool, overlap: bool, rank: Option<u32>, searched: usize) {
    use crate::gpu::driver::Driver;
    use crate::gpu::execute::{Buffers, sort_buffers};
    use crate::key::as_bytes;

    let device = crate::gpu::opencl::testing::device();
    let (lengths, k) = ([3_usize, 0, 700, 1, 2, 511, 512, 9, 1800, 0, 17, 1023], 5);
    let mut offsets = vec![0_u64];
    offsets.extend(lengths.iter().scan(0, |end, &length| {
        *end += length as u64;
        Some(*end)
    }));
    let len = *offsets.last().expect("there is one") as usize;
    let keys: Vec<u32> = (0..len as u32).map(|place| place.wrapping_mul(2_654_435_761) >> 20).collect();
    if overlap {
        offsets = (0..offsets.len() as u64).map(|place| (place % 2) * len as u64).collect();
    }
    let job = job_of_segments::<u32>(lengths.len(), len, len, k).with_offsets_of::<u64>();
    let job = Job { wide_index, ..job };
    // Cells so small that segments have several, and a sample that is as small.
    let list = List::new(Lengths { most: 1024.0, ..Lengths::of_keys(512) }, k, Tile::new(6, 2), 1, 0.0);
    let cells = Cells { length: 512, count: len / 512, list };
    let launches = Launches {
        job: &job,
        best: k,
        lists: &[list],
        cells: Some(cells),
        last: Last { tile: Tile::new(6, 2), searched },
        facts: device.facts(),
    };
    let mut plan = launches.plan(Network::new(&job, device.facts(), &Tuning::default()).shape.limits(), None);
    if let Some(rank) = rank {
        let bound = &mut plan.launches[0].arguments;
        let place = bound.len() - 2;
        bound[place] = Parameter::Number(rank);
    }
    let (key_bytes, value_bytes) = job.array_bytes();
    let [input, best, indices, table] = [size_of_val(&keys[..]), key_bytes, value_bytes, job.offset_bytes()]
        .map(|bytes| device.allocate(bytes).expect("there is memory for it"));
    device.upload(as_bytes(&keys), &input).expect("keys go up");
    device.upload(as_bytes(&offsets), &table).expect("offsets go up");
    // What a segment that has fewer keys leaves as it is.
    device.upload(&vec![7; key_bytes], &best).expect("places go up");
    device.upload(&vec![7; value_bytes], &indices).expect("places go up");
    let buffers =
        Buffers { input: Some(&input), offsets: Some(&table), ..Buffers::new(&best, Some(&indices)) };
    sort_buffers(&device, &job, &Arc::new(plan), buffers).expect("the kernels run");
    let mut found = [vec![0_u32; k * lengths.len()], vec![0_u32; k * lengths.len()]];
    device.download(&best, bytemuck::cast_slice_mut(&mut found[0])).expect("keys come down");
    device.download(&indices, bytemuck::cast_slice_mut(&mut found[1])).expect("indices come down");
    let untouched = u32::from_ne_bytes([7; 4]);
    for (segment, ends) in offsets.windows(2).enumerate().filter(|_| !overlap) {
        let keys = &keys[ends[0] as usize..ends[1] as usize];
        let mut order: Vec<u32> = (0..keys.len() as u32).collect();
        order.sort_by_key(|&index| keys[index as usize]);
        let wanted =
            |place: usize, of: &dyn Fn(u32) -> u32| order.get(place).map_or(untouched, |&index| of(index));
        for place in 0..k {
            let at = segment * k + place;
            let key = wanted(place, &|index| keys[index as usize]);
            assert_eq!(found[0][at], key, "place {place} of segment {segment}");
            assert_eq!(found[1][at], wanted(place, &|index| index), "place {place} of segment {segment}");
        }
    }
}

#[test]
#[cfg(feature = "opencl")]
fn the_best_of_segments_in_places_of_any_width_whatever_the_bound() {
    best_of_segments(false, false, None, 0);
    best_of_segments(true, false, None, 0);
    best_of_segments(false, false, Some(0), 0);
}

#[test]
#[ignore = "run by searches_in_segments_are_clean, in a process with Oclgrind"]
#[cfg(feature = "opencl")]
fn find_best_of_small_segments() {
    best_of_segments(false, false, None, 0);
    best_of_segments(false, false, None, 8);
    best_of_segments(true, false, Some(0), 8);
}

#[test]
#[ignore = "run by searches_in_segments_are_clean, in a process with Oclgrind"]
#[cfg(feature = "opencl")]
fn find_best_of_segments_that_overlap() {
    best_of_segments(false, true, None, 8);
}

#[test]
#[cfg(feature = "opencl")]
fn searches_in_segments_are_clean() {
    let report =
        |test| bitonic_testkit::Oclgrind::find().report_of(&format!("gpu::strategy::best::tests::{test}"));
    let clean = report("find_best_of_small_segments");
    assert!(clean.is_empty(), "{clean}");
    // What is found may be anything then, but nothing outside of the arrays is touched.
    let overlapping = report("find_best_of_segments_that_overlap");
    assert!(!overlapping.contains("Invalid"), "{overlapping}");
}

proptest! {
    /// Whatever the segments are, no cell has two owners, and all cells are among those that there is memory for.
    #[test]
    fn every_cell_has_one_owner(lengths in prop::collection::vec(0_usize..50, 1..60), cell in 1_usize..9) {
        let len: usize = lengths.iter().sum();
        let mut owners = vec![None; len / cell];
        let mut begin = 0;
        for (segment, &length) in lengths.iter().enumerate() {
            // As `owner_of` in kernels/best.c.
            for owner in &mut owners[begin / cell..][..length / cell] {
                prop_assert_eq!(*owner, None);
                *owner = Some(segment);
            }
            begin += length;
        }
    }
}

proptest! {
    /// Every rank is in its sample, a list is shorter than what it is made of, and tiles have room for the best twice.
    #[test]
    fn lists_get_shorter_and_have_room(
        rows in 1_usize..100_000, row_length in 1_usize..1 << 30, k in 1_usize..8192, is_small in any::<bool>()
    ) {
        let facts = if is_small { DeviceFacts::plain_gpu() } else { DeviceFacts::nvidia_h200() };
        let job = job::<f32>(rows, row_length, k);
        prop_assume!(check_best(&job, &facts).is_ok());
        let best = k.min(row_length);
        let Some(Way { lists, last, .. }) = way(Lengths::of_keys(row_length), &job, best, &facts) else {
            return Ok(());
        };
        prop_assert!(2 * best <= last.tile.len() && tile_fits(last.tile, &job, &facts));
        let mut row = row_length;
        for list in &lists {
            prop_assert!((list.rank as usize) < list.sample.len() && list.sample.items() <= facts.group_size);
            prop_assert!(list.capacity() >= best && 2 * list.capacity() <= row);
            row = list.capacity();
        }
        for launch in &planned(&job, &facts).launches {
            prop_assert!(launch.group_size <= facts.group_size && launch.local_bytes <= facts.local_bytes);
        }
    }
}
