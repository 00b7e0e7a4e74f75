//! What plans are made of: kernels that cover the elements once, within the limits of every device.

use super::columnsort::Columnsort;
use super::network::shape_for;
use super::{Strategy, *};
use crate::gpu::choice::DeviceKind;
use crate::gpu::element::Element;
use crate::gpu::kernel::KERNELS;
use crate::gpu::strided::Strided;
use crate::gpu::tuning::{NetworkShape, TunedShape};
use crate::key::{Key, Order};
use crate::plan::Parameter;
use crate::request::{Request, Segments, What};
use proptest::prelude::*;
use proptest::strategy::Strategy as _;
use std::collections::BTreeSet;

fn job_of<K: Key>(row_length: usize, rows: usize) -> Job {
    let request = Request::keys::<K>(Segments::Rows { rows, row_length });
    Job::of(&Request { order: Order::Descending, ..request })
}

fn job(row_length: usize, rows: usize) -> Job {
    job_of::<i32>(row_length, rows)
}

fn plan_for(job: &Job, facts: &DeviceFacts) -> Arc<KernelPlan> {
    kernel_plan(job, facts, &Tuning::default())
}

fn devices() -> impl proptest::strategy::Strategy<Value = DeviceFacts> {
    let groups = prop_oneof![Just(1_usize), Just(64), Just(256), Just(512), Just(1024), Just(4096)];
    let local = prop_oneof![Just(1_usize << 10), Just(16 << 10), Just(48 << 10), Just(227 << 10)];
    (groups, local, any::<bool>(), any::<bool>(), prop_oneof![Just(0_u32), Just(3), Just(4)]).prop_map(
        |(group_size, local_bytes, is_cpu, has_work_memory, cluster_log2)| DeviceFacts {
            group_size,
            local_bytes,
            kind: if is_cpu { DeviceKind::Cpu } else { DeviceKind::Gpu },
            exchanges_in_passes: !is_cpu,
            has_work_memory: has_work_memory && !is_cpu,
            cluster_log2: if is_cpu { 0 } else { cluster_log2 },
            ..DeviceFacts::nvidia_h200()
        },
    )
}

fn constant(launch: &Launch, name: &str) -> Option<u32> {
    launch.constants.iter().find(|(known, _)| *known == name).map(|&(_, value)| value)
}

fn last_number(launch: &Launch, from_end: usize) -> u32 {
    match launch.arguments[launch.arguments.len() - 1 - from_end] {
        Parameter::Number(number) => number,
        other => panic!("{other:?}"),
    }
}

/// The mapping that a launch is given; `None` for kernels that have none.
fn mapping(launch: &Launch) -> Option<u32> {
    match launch.kernel {
        "memory_pass" | "strided_pass" => None,
        "deal" | "gather" | "spread" | "shift_columns" => Some(last_number(launch, 1)),
        _ => Some(last_number(launch, 0)),
    }
}

/// What a launch of counted buckets maps: its mapping is the first number behind the length.
fn counted_mapping(launch: &Launch) -> u32 {
    let numbers = launch.arguments.iter().filter_map(|argument| match argument {
        Parameter::Number(number) => Some(*number),
        _ => None,
    });
    numbers.into_iter().next().expect("there are numbers")
}

proptest! {
    /// The work-groups of every launch have enough work-items for every element and not many more, and keys are mapped once
    /// each way. The same holds for the fallbacks, each of which needs less.
    #[test]
    fn launches_cover_the_elements_once(
        facts in devices(),
        row_length in prop_oneof![1_usize..5000, 1_usize..(1 << 27)],
        rows in prop_oneof![Just(1_usize), 1_usize..50],
    ) {
        let job = job(row_length, rows);
        let first = plan_for(&job, &facts);
        for plan in std::iter::once(&first).chain(first.fallbacks()) {
            check_launches(plan, &job, &facts)?;
        }
        let chain: Vec<_> = std::iter::once(&first).chain(first.fallbacks()).collect();
        for pair in chain.windows(2) {
            let needs_less = pair[1].work.bytes() < pair[0].work.bytes() || pair[1].cluster() < pair[0].cluster();
            prop_assert!(needs_less, "{:?} after {:?}", pair[1].algorithm, pair[0].algorithm);
        }
        let last = chain[chain.len() - 1];
        prop_assert!(last.work.bytes() == 0);
        prop_assert!(matches!(last.algorithm, Algorithm::Network | Algorithm::MergedRows));
    }

    /// Columnsort leaves what the network's later merges start from.
    #[test]
    fn merges_that_follow_a_columnsort_start_with_the_length_of_its_parts(
        row_length in (1_usize << 22) + 1..(1 << 30),
    ) {
        let (job, facts) = (job(row_length, 1), DeviceFacts::nvidia_h200());
        let &matrix = Measured::of(&facts).matrices[0].last().unwrap();
        let columnsort = Columnsort { matrix, network: Network::new(&job, &facts, &Tuning::default()) };
        let launches = columnsort.launches(&job, &facts);
        let passes = 3 + matrix.rounds as usize;
        for launch in &launches[..passes] {
            let places = [row_length, matrix.length()].map(|number| Parameter::Index32(number as u32));
            prop_assert_eq!(&launch.arguments[2..4], &places[..]);
        }
        let merge = &launches[passes];
        prop_assert_eq!(constant(merge, "FLIP"), Some(1));
        let steps = merge.steps.len() as u32;
        prop_assert_eq!(1_usize << (last_number(merge, 0) + steps), 2 * matrix.length());
    }

    /// So that a workspace for the most keys serves all: that of buckets may be larger than what more keys need, and then
    /// there is a fallback that fits.
    #[test]
    fn what_more_keys_need_is_enough_for_fewer(
        fewer in 1_usize..(1 << 25),
        more in 1_usize..(1 << 26),
        wide in any::<bool>(),
    ) {
        let (fewer, more) = (fewer.min(more), fewer.max(more));
        let facts = DeviceFacts::nvidia_h200();
        let plan = |length| plan_for(&if wide { job_of::<u64>(length, 1) } else { job(length, 1) }, &facts);
        let (fewer, more) = (plan(fewer), plan(more));
        let best = [Some(&fewer), fewer.fallback.as_ref()].into_iter().flatten().map(|plan| plan.work.bytes());
        prop_assert!(best.min() <= Some(more.work.bytes()));
    }
}

fn check_launches(plan: &KernelPlan, job: &Job, facts: &DeviceFacts) -> Result<(), TestCaseError> {
    let padded = job.row_length.next_power_of_two();
    prop_assert_eq!(
        plan.work.bytes() > 0,
        matches!(plan.algorithm, Algorithm::Columnsort | Algorithm::Buckets)
    );
    for launch in &plan.launches {
        prop_assert!(launch.group_size <= facts.group_size, "{:?}", launch);
        prop_assert!(launch.local_bytes <= facts.local_bytes, "{:?}", launch);
        prop_assert!(launch.groups > 0);
        let row = KERNELS.iter().any(|row| row.name == launch.kernel);
        prop_assert!(row, "{}", launch.kernel);
    }
    let (read, write) = (job.mapping.argument(true, false), job.mapping.argument(false, true));
    if plan.algorithm == Algorithm::Buckets {
        for (index, launch) in plan.launches.iter().enumerate() {
            let is_second_round = launch.kernel == "distribute" && last_number(launch, 0) == 1;
            let expected = match launch.kernel {
                "distribute" if is_second_round => 0,
                "survey" | "count" | "distribute" => read,
                "counted_sort" | "settle" => write,
                _ => 0,
            };
            prop_assert_eq!(counted_mapping(launch), expected, "{}: {:?}", index, launch);
        }
        let last = plan.launches.last().map(|launch| launch.kernel);
        prop_assert_eq!(last, Some("settle"), "nothing is left unsorted");
        return Ok(());
    }
    let work = plan.work.keys / job.element.key_bytes();
    for (index, launch) in plan.launches.iter().enumerate() {
        let held = launch.held_bytes / job.element.bytes();
        let elements = launch.groups * launch.group_size * held;
        prop_assert!(elements >= job.len(), "{:?}", launch);
        let tile = 1_usize << constant(launch, "TILE_LOG2").unwrap_or(0);
        let block = match launch.kernel {
            "memory_pass" | "strided_pass" => 1_usize << (last_number(launch, 0) + launch.steps.len() as u32),
            "deal" | "gather" | "spread" | "shift_columns" => 4 * tile * launch.cluster as usize,
            _ => tile * launch.cluster as usize,
        };
        let most = 2 * (job.rows * padded.max(block) + block).max(work);
        prop_assert!(elements <= most, "{} for {:?}: {:?}", elements, job, launch);
        let expected = job.mapping.argument(index == 0, index + 1 == plan.launches.len());
        match mapping(launch) {
            Some(mapping) => prop_assert_eq!(mapping, expected, "{:?}", launch),
            None => prop_assert_eq!(expected, 0, "{:?} is first or last", launch),
        }
    }
    if plan.algorithm == Algorithm::Network && job.row_length > 1 {
        let steps: Vec<u32> = plan.launches.iter().flat_map(|launch| launch.steps.clone()).collect();
        prop_assert_eq!(
            steps,
            (0..Step::count(job.row_length)).collect::<Vec<_>>(),
            "the launches are the network"
        );
    }
    Ok(())
}

#[test]
fn nothing_is_launched_for_nothing() {
    let facts = DeviceFacts::plain_gpu();
    assert!(plan_for(&job(0, 1), &facts).launches.is_empty());
    assert!(plan_for(&job(5, 0), &facts).launches.is_empty());
    assert_eq!(plan_for(&job(1, 1), &facts).launches.len(), 1);
}

#[test]
fn places_have_64_bits_only_where_32_are_too_few() {
    let facts = DeviceFacts { group_size: 1024, local_bytes: 48 << 10, ..DeviceFacts::plain_gpu() };
    let wide = |row_length, rows| {
        let plan = plan_for(&job(row_length, rows), &facts);
        plan.launches.iter().all(|launch| constant(launch, "INDEX_BITS") == Some(64))
    };
    assert!(!wide(1 << 30, 1));
    assert!(wide((1 << 31) + 1, 1));
    assert!(!wide(8, 1 << 26));
    assert!(wide(8, 1 << 29));
    assert!(!wide(3, 1 << 26));
}

const ELEMENTS: [Element; 12] = {
    const fn element(key_bits: u32, value_bits: u32) -> Element {
        Element { key_bits, value_bits, indexed: false }
    }
    [
        element(8, 0),
        element(16, 0),
        element(32, 0),
        element(64, 0),
        element(128, 0),
        element(8, 32),
        element(32, 32),
        element(64, 32),
        element(32, 64),
        element(64, 64),
        element(128, 32),
        element(128, 64),
    ]
};

fn gpu(group_size: usize, local_bytes: usize, is_cpu: bool) -> DeviceFacts {
    let facts = if is_cpu { DeviceFacts::pocl() } else { DeviceFacts::plain_gpu() };
    DeviceFacts { group_size, local_bytes, ..facts }
}

#[test]
fn every_device_gets_a_shape_within_its_limits() {
    for group_size in [1, 2, 16, 64, 256, 1000, 1024, 4096] {
        for local_bytes in [1 << 10, 16 << 10, 32 << 10, 48 << 10, 64 << 10, 2 << 20] {
            for is_cpu in [false, true] {
                let facts = gpu(group_size, local_bytes, is_cpu);
                for element in ELEMENTS {
                    for row_length in [0, 1, 2, 255, 1000, 1024, 4096, 100_000, 1 << 30] {
                        let shape = shape_for(&facts, element, row_length, 1);
                        assert!(
                            shape.is_possible(&facts, element),
                            "{facts:?} {element:?} {row_length}: {shape}"
                        );
                        assert_eq!(NetworkShape::parse(&shape.to_string()), Some(shape));
                    }
                }
            }
        }
    }
}

#[test]
fn known_devices_get_the_shapes_that_were_measured_best() {
    let shape = |group_size, local_kib: usize, is_cpu, element| {
        let shape = shape_for(&gpu(group_size, local_kib << 10, is_cpu), element, 1 << 24, 1);
        (shape.tile_log2, shape.held_log2, shape.fused_steps)
    };
    let (keys, pairs, wide) = (ELEMENTS[2], ELEMENTS[6], ELEMENTS[4]);
    assert_eq!(shape(1024, 48, false, keys), (13, 5, 10), "a large GPU");
    assert_eq!(shape(1024, 48, false, pairs), (12, 4, 8));
    assert_eq!(shape(1024, 48, false, wide), (11, 4, 8));
    assert_eq!(shape(1024, 227, false, keys), (14, 5, 10), "one with more local memory");
    assert_eq!(shape(256, 16, false, keys), (11, 5, 6), "a small GPU");
    assert_eq!(shape(1024, 32, false, keys), (12, 5, 6), "a simulator");
    assert_eq!(shape(4096, 2048, true, keys), (12, 2, 3), "a CPU");
}

#[test]
fn a_stored_shape_counts_only_where_the_device_can_run_it() {
    let shape = NetworkShape {
        tile_log2: 9,
        held_log2: 3,
        fused_steps: 4,
        register_steps: 4,
        pass_items_log2: 6,
        unrolled: true,
    };
    let tuning = |shape| {
        let tuned = TunedShape { element_bytes: 4, from_merges: 0, shape, strategy: None };
        Tuning { shapes: vec![tuned], ..Tuning::default() }
    };
    let job = job(1000, 1);
    let taken = |facts: &DeviceFacts, shape| Network::new(&job, facts, &tuning(shape)).shape == shape;
    let facts = DeviceFacts::plain_gpu();
    assert!(taken(&facts, shape));
    assert!(!taken(&DeviceFacts { local_bytes: 1 << 10, ..facts.clone() }, shape), "it has become smaller");
    let exchanging = NetworkShape { register_steps: 2, tile_log2: 10, ..shape };
    assert!(taken(&facts, exchanging));
    let not_trusted = DeviceFacts { exchanges_in_passes: false, ..facts };
    assert!(!taken(&not_trusted, exchanging), "passes that exchange are not right on this backend");
}

#[test]
fn a_strategy_that_was_tuned_comes_first_where_it_fits_and_the_others_by_rank() {
    let (facts, length) = (DeviceFacts::nvidia_h200(), 1 << 22);
    let shape = shape_for(&facts, job(length, 1).element, length, 1);
    let tuned_to = |strategy| {
        let from_merges = Step::merges(length);
        Tuning {
            shapes: vec![TunedShape { element_bytes: 4, from_merges, shape, strategy }],
            ..Tuning::default()
        }
    };
    let first = |job: &Job, strategy| kernel_plan(job, &facts, &tuned_to(strategy)).launches[0].kernel;
    let one = job(length, 1);
    assert_eq!(first(&one, None), "survey");
    assert_eq!(first(&one, Some(StrategyName::Columnsort)), "deal");
    assert_eq!(first(&one, Some(StrategyName::Network)), "tile_sort");
    assert_eq!(first(&one, Some(StrategyName::Cluster)), "survey", "no cluster holds so many");
    assert_eq!(
        first(&job(4 * length, 1), Some(StrategyName::Network)),
        "survey",
        "too far from what was tuned"
    );
    let in_place = Job { in_place: true, ..one };
    assert_eq!(first(&in_place, Some(StrategyName::Columnsort)), "tile_sort");
    let short = job_of::<i16>(length, 1);
    assert_eq!(first(&short, Some(StrategyName::Columnsort)), first(&short, None), "other keys were tuned");
    let names: Vec<StrategyName> =
        each_strategy(&one, &facts, &Tuning::default()).into_iter().map(|(name, _)| name).collect();
    assert_eq!(names.first(), Some(&StrategyName::Counted));
    assert_eq!(names.last(), Some(&StrategyName::Network));
}

#[test]
fn arrays_longer_than_a_tile_are_sorted_in_the_way_that_was_measured_best() {
    let everything = DeviceFacts::nvidia_h200();
    let in_place = DeviceFacts { has_work_memory: false, ..everything.clone() };
    let alone = DeviceFacts { cluster_log2: 0, ..in_place.clone() };
    let kernels = |facts: &DeviceFacts, row_length, rows| {
        let plan = plan_for(&job(row_length, rows), facts);
        match plan.launches[0].kernel {
            "tile_sort" => "passes",
            "cluster_sort" => "cluster",
            "deal" => "columns",
            "survey" => "counted buckets",
            other => panic!("{other} is not the first of any"),
        }
    };
    assert_eq!(kernels(&everything, 1 << 12, 1), "passes", "of which there is one: a tile");
    assert_eq!(kernels(&everything, (1 << 12) + 1, 1), "cluster");
    assert_eq!(kernels(&everything, (1 << 14) + 1, 1), "columns");
    assert_eq!(kernels(&everything, 1 << 20, 1), "columns");
    assert_eq!(kernels(&everything, (1 << 20) + 1, 1), "counted buckets");
    assert_eq!(kernels(&everything, 509_000_000, 1), "counted buckets");
    assert_eq!(kernels(&everything, 1_034_000_000, 1), "counted buckets");
    assert_eq!(kernels(&everything, 1_035_000_000, 1), "columns", "there would be more buckets than cells");
    let less_local = DeviceFacts { local_bytes: 140 << 10, ..everything.clone() };
    assert_eq!(
        kernels(&less_local, 1 << 25, 1),
        "columns",
        "the tables of buckets do not fit the local memory"
    );
    assert_eq!(kernels(&in_place, 1 << 22, 1), "passes");
    assert_eq!(kernels(&everything, 1 << 13, 1000), "passes");
    assert_eq!(kernels(&everything, 1 << 16, 1000), "columns");
    assert_eq!(kernels(&in_place, 1 << 16, 1), "cluster");
    assert_eq!(kernels(&in_place, (1 << 16) + 1, 1), "passes");
    assert_eq!(kernels(&in_place, 1 << 16, 2), "passes");
    assert_eq!(kernels(&alone, 1 << 13, 1), "passes");
    let oblivious = Request { oblivious: true, ..Request::keys::<u32>(Segments::one(1 << 20)) };
    assert_eq!(plan_for(&Job::of(&oblivious), &everything).launches[0].kernel, "tile_sort", "in place");
}

/// The tables of the counted buckets fit the local memory, whatever the length.
#[test]
fn long_arrays_of_up_to_64_bits_are_sorted_by_counted_buckets() {
    let facts = DeviceFacts::nvidia_h200();
    let one = Segments::one(1);
    // So many, and hardly more: there would be more buckets than cells.
    let requests = [
        (Request::keys::<u32>(one), 1_034_000_000),
        (Request::keys::<f64>(one), 509_000_000),
        (Request::argsort::<f32>(one), 509_000_000),
        (Request::argsort::<i64>(one), 248_000_000),
    ];
    for (request, most) in requests {
        let first = |length| {
            let request = Request { segments: Segments::one(length), ..request };
            plan_for(&Job::of(&request), &facts).launches[0].kernel
        };
        let lengths = (21..30).flat_map(|log2| [1 << log2, (1 << log2) + 1, 3 << (log2 - 1)]);
        for length in lengths.filter(|&length| length < most).chain([most]) {
            assert_eq!(first(length), "survey", "{length} of up to {most} keys");
        }
        assert_ne!(first(most / 200 * 201), "survey", "more than {most} keys");
    }
    let wide = Request::keys::<u128>(Segments::one(1 << 22));
    assert_ne!(plan_for(&Job::of(&wide), &facts).launches[0].kernel, "survey");
}

#[test]
fn the_smallest_matrix_and_the_smallest_cluster_that_the_device_can_run_are_taken() {
    let all = DeviceFacts::nvidia_h200();
    let first = |facts: &DeviceFacts, length, kernel| {
        let plan = plan_for(&job(length, 1), facts);
        let mut plans = std::iter::once(&plan).chain(plan.fallbacks());
        plans.find_map(|plan| {
            let launch = plan.launches.iter().find(|launch| launch.kernel == kernel)?;
            Some((constant(launch, "TILE_LOG2").unwrap(), launch.cluster.ilog2()))
        })
    };
    assert_eq!(first(&all, 7 << 11, "gather"), None, "seven of sixteen columns");
    assert_eq!(first(&all, 1 << 14, "gather"), Some((11, 0)));
    assert_eq!(first(&all, 1 << 16, "gather"), Some((11, 0)));
    assert_eq!(first(&all, (1 << 16) + 1, "gather"), Some((11, 1)));
    assert_eq!(first(&all, (1 << 18) + 1, "gather"), Some((12, 1)));
    assert_eq!(first(&all, 1 << 20, "gather"), Some((13, 1)));
    let no_clusters = DeviceFacts { cluster_log2: 0, ..all.clone() };
    assert_eq!(first(&no_clusters, (1 << 16) + 1, "gather"), Some((12, 0)));
    assert_eq!(first(&no_clusters, (1 << 18) + 1, "gather"), Some((13, 0)));
    assert_eq!(first(&no_clusters, 1 << 20, "gather"), Some((14, 0)));
    let less_local = DeviceFacts { local_bytes: 48 << 10, ..all.clone() };
    assert_eq!(first(&less_local, 1 << 20, "gather"), Some((13, 1)));
    assert_eq!(first(&all, 1 << 13, "cluster_sort"), Some((11, 2)));
    assert_eq!(first(&all, (1 << 13) + 1, "cluster_sort"), Some((11, 3)));
    assert_eq!(first(&all, 1 << 16, "cluster_sort"), Some((12, 4)));
    assert_eq!(first(&all, (1 << 16) + 1, "cluster_sort"), None);
    let smaller = DeviceFacts { cluster_log2: 3, ..all };
    assert_eq!(first(&smaller, 1 << 16, "cluster_sort"), None);
}

/// Jobs whose plans have every kernel of the table among them.
#[test]
fn every_kernel_of_the_table_is_some_plans() {
    let facts = DeviceFacts::nvidia_h200();
    let mut used = BTreeSet::new();
    let ragged = Segments::Offsets { segments: 1000, longest: 100_000, len: 1 << 20 };
    let rows = |row_length| Segments::Rows { rows: 1000, row_length };
    let others = [
        Request::keys::<u32>(ragged),
        Request::keys::<u32>(rows(513)),
        Request::keys::<u32>(rows(900)),
        Request::keys::<i16>(Segments::one(1 << 24)),
    ];
    for request in others {
        used.extend(plan_for(&Job::of(&request), &facts).launches.iter().map(|launch| launch.kernel));
    }
    for plan in copy_plans(&Job::of(&others[1]), Strided::columns(513, 1000, 1000), &facts) {
        used.extend(plan.launches.iter().map(|launch| launch.kernel));
    }
    for length in [100, 5000, 100_000, 3_000_000, 1 << 26] {
        for what in [What::Keys, What::Argsort, What::Top(20)] {
            for oblivious in [false, true] {
                let request = Request { what, oblivious, ..Request::keys::<u32>(Segments::one(length)) };
                let job = Job::of(&request);
                let [before, after] = check_plans(&job, &facts);
                for plan in [before, plan_for(&job, &facts), after] {
                    used.extend(plan.launches.iter().map(|launch| launch.kernel));
                }
            }
        }
    }
    assert_eq!(used, KERNELS.iter().map(|row| row.name).collect());
}
