//! Sorts of host arrays on a device in host memory: what is launched is what was planned, chunks, refusals, failures.

use super::arrays::bounds;
use super::*;
use crate::gpu::driver::Grid;
use crate::gpu::plan::{plan, plan_with};
use crate::gpu::strategy::kernel_plan;
use crate::gpu::testing::{Fault, FaultAt, HostDevice};
use crate::gpu::tuning::Tuning;
use crate::key::Order;
use crate::plan::Algorithm;
use crate::request::{Request, Segments, What};

const ORDERS: [Order; 2] = [Order::Ascending, Order::Descending];

/// Few values, so that there are many ties.
fn keys(len: usize) -> Vec<u32> {
    (0..len as u32).map(|index| index.wrapping_mul(0x9E37_79B1) >> 27).collect()
}

fn means(bytes: u64, cuts: Cuts) -> Means {
    Means::new(Some(bytes), cuts, Some(1)).expect("no variable is read")
}

fn device() -> HostDevice {
    HostDevice::new(1 << 20)
}

/// The places of the keys in order, equal keys by place.
fn sorted_places(keys: &[u32], order: Order) -> Vec<usize> {
    let mut places: Vec<usize> = (0..keys.len()).collect();
    match order {
        Order::Ascending => places.sort_by_key(|&place| keys[place]),
        Order::Descending => places.sort_by_key(|&place| !keys[place]),
    }
    places
}

/// Arrays to sort, and what they were.
struct Case {
    request: Request,
    /// Of segments of different lengths.
    offsets: Option<Vec<usize>>,
    keys: Vec<u32>,
    values: Vec<u32>,
    indices: Vec<usize>,
    best: Vec<u32>,
}

impl Case {
    fn new(request: Request) -> Self {
        let len = request.len();
        let found = match request.what {
            What::Top(k) => k.min(request.segments.longest()) * request.segments.count(),
            What::Keys | What::Pairs(_) | What::Argsort => len,
        };
        let (values, indices) = ((0..len as u32).collect(), vec![0; found]);
        Self { request, offsets: None, keys: keys(len), values, indices, best: vec![0; found] }
    }

    /// The case of segments of these lengths.
    fn of_segments(request: Request, lengths: &[usize]) -> Self {
        Self { offsets: Some(offsets(lengths)), ..Self::new(request) }
    }

    fn plan(&self, device: &impl Driver, means: &Means) -> Result<Plan, Error> {
        let (facts, offsets) = (device.facts(), self.offsets.as_deref());
        let kernels = |job: &Job| kernel_plan(job, facts, &Tuning::default());
        plan_with(&self.request, offsets, facts, means.cuts, means.limit, kernels)
    }

    /// Plans and sorts.
    fn run(&mut self, device: &impl Driver, means: &Means) -> Result<Done, Error> {
        let plan = self.plan(device, means)?;
        execute(device, &plan, self.data(), means)
    }

    fn data(&mut self) -> HostData<'_> {
        let keys = bytemuck::cast_slice_mut(&mut self.keys);
        let arrays = match self.request.what {
            What::Keys => HostArrays::Keys(keys),
            What::Pairs(_) if self.request.carries_values() => {
                HostArrays::Pairs { keys, values: bytemuck::cast_slice_mut(&mut self.values) }
            }
            What::Pairs(_) => HostArrays::Gathered { keys, values: ValueBytes::new(&mut self.values) },
            What::Argsort => HostArrays::Indices { keys, indices: &mut self.indices },
            What::Top(k) => {
                let best = bytemuck::cast_slice_mut(&mut self.best);
                HostArrays::Best { keys, k, best, indices: &mut self.indices }
            }
        };
        HostData { arrays, offsets: self.offsets.as_deref() }
    }

    fn is_untouched(&self) -> bool {
        let before = Self::new(self.request);
        self.keys == before.keys && (self.values == before.values)
    }

    /// Whether every row is in stable order. The device of these tests sorts stably always.
    fn check(&self) {
        let before = Self::new(self.request);
        let job = Job::of(&self.request);
        let rows = bounds(&job, self.offsets.as_deref());
        for (number, row) in (0..rows.count()).map(|number| rows.range(number)).enumerate() {
            let here = row.start - rows.covered().start..row.end - rows.covered().start;
            let keys = &before.keys[here.clone()];
            let places = sorted_places(keys, self.request.order);
            match self.request.what {
                What::Argsort => assert_eq!(self.indices[here.clone()], places, "{:?}", self.request),
                What::Keys | What::Pairs(_) => {
                    let sorted: Vec<u32> = places.iter().map(|&place| keys[place]).collect();
                    assert_eq!(self.keys[here.clone()], sorted, "{:?}", self.request);
                }
                What::Top(k) => {
                    let best = &places[..k.min(keys.len())];
                    let here = number * best.len()..(number + 1) * best.len();
                    assert_eq!(self.indices[here.clone()], *best, "{:?}", self.request);
                    let found = &self.best[here];
                    assert!(found.iter().eq(best.iter().map(|&place| &keys[place])), "{:?}", self.request);
                }
            }
            if let What::Pairs(_) = self.request.what {
                let values: Vec<u32> =
                    places.iter().map(|&place| before.values[here.start + place]).collect();
                assert_eq!(self.values[here], values, "{:?}", self.request);
            }
        }
    }
}

/// Every combination of what, rows, order and stability.
fn requests(len: usize, row_length: usize) -> Vec<Request> {
    requests_of([Segments::one(len), Segments::rows(len, row_length).expect("whole rows")])
}

/// Every combination of what, order and stability, of segments of these lengths.
fn requests_of_segments(lengths: &[usize]) -> Vec<Request> {
    requests_of([Segments::offsets(&offsets(lengths), usize::MAX).expect("they ascend")])
}

/// Offsets of segments of these lengths, the first one somewhere in an array.
fn offsets(lengths: &[usize]) -> Vec<usize> {
    let ends = lengths.iter().scan(7, |end, length| {
        *end += length;
        Some(*end)
    });
    std::iter::once(7).chain(ends).collect()
}

fn requests_of<const MANY: usize>(segments: [Segments; MANY]) -> Vec<Request> {
    let mut requests = Vec::new();
    for segments in segments {
        for request in [
            Request::keys::<u32>(segments),
            Request::pairs::<u32, u32>(segments),
            Request::argsort::<u32>(segments),
        ] {
            for order in ORDERS {
                for stable in [false, true] {
                    requests.push(Request { order, stable, ..request });
                }
            }
        }
    }
    requests
}

/// The best keys of one segment and of rows, obliviously: devices sort all of them. The kernels that look for the best only run in
/// `tests/device_kit/top.rs`.
fn oblivious_tops(len: usize, row_length: usize) -> Vec<Request> {
    let mut requests = Vec::new();
    for segments in [Segments::one(len), Segments::rows(len, row_length).expect("whole rows")] {
        for k in [0, 1, 7, row_length, len + 1] {
            for order in ORDERS {
                requests.push(Request { order, oblivious: true, ..Request::top::<u32>(segments, k) });
            }
        }
    }
    requests
}

/// The kernels that a plan launches, and how.
fn launches(plan: &KernelPlan) -> Vec<(String, Grid)> {
    plan.launches.iter().map(|launch| (launch.kernel.to_owned(), Grid::from(launch))).collect()
}

#[test]
fn what_is_launched_is_what_was_planned_and_the_report_shows_it() {
    for request in requests(1000, 100).into_iter().chain(oblivious_tops(1000, 100)) {
        let (device, means) = (device(), means(1 << 20, Cuts::Anywhere));
        let mut case = Case::new(request);
        let planned = case.plan(&device, &means).expect("it fits");
        let done = case.run(&device, &means).expect("nothing fails");
        case.check();
        assert_eq!(done.plan, planned, "{request:?}");
        let kernels = planned.kernels.expect("a device runs kernels");
        assert_eq!(device.script().launched, launches(&kernels), "{request:?}");
    }
}

#[test]
fn a_refusal_launches_the_fallback_and_the_report_shows_it() {
    let facts = DeviceFacts { memory_bytes: 1 << 30, buffer_bytes: 1 << 30, ..DeviceFacts::nvidia_h200() };
    let request = Request::keys::<u32>(Segments::one(100_000));
    let limits = means(1 << 30, Cuts::Nowhere);
    // Refused in turn: the second array, clusters, both, nothing.
    for (granted, refuses_clusters) in
        [(400_000, false), (usize::MAX, true), (400_000, true), (usize::MAX, false)]
    {
        for len in [100_000, 10_000] {
            let device = HostDevice::with_facts(facts.clone());
            device.script().grants = vec![granted];
            device.script().refuses_clusters = refuses_clusters;
            let mut case = Case::new(Request { segments: Segments::one(len), ..request });
            let planned = case.plan(&device, &limits).expect("it fits").kernels.expect("kernels");
            let done = case.run(&device, &limits).expect("there is a fallback");
            case.check();
            let ran = done.plan.kernels.expect("kernels");
            assert_eq!(device.script().launched, launches(&ran), "{len} keys");
            let is_refused =
                |plan: &KernelPlan| (plan.work.bytes() > granted) || (refuses_clusters && plan.cluster() > 1);
            let mut chain = std::iter::once(&planned).chain(planned.fallbacks());
            assert_eq!(chain.find(|plan| !is_refused(plan)), Some(&ran), "{len} keys");
            assert_eq!(ran == planned, !is_refused(&planned));
        }
    }
}

#[test]
fn a_refusal_that_nothing_can_replace_is_an_error() {
    let device = HostDevice::with_facts(DeviceFacts::nvidia_h200());
    device.script().grants = vec![0];
    let mut case = Case::new(Request::keys::<u32>(Segments::one(10_000)));
    let refused = case.run(&device, &means(1 << 30, Cuts::Nowhere)).map(|_| ());
    assert!(matches!(refused, Err(Error::DeviceMemory { .. })), "{refused:?}");
    assert!(case.is_untouched());
}

#[test]
fn any_number_of_chunks_gives_the_stable_order() {
    for limit in [8, 13, 80, 800, 4000, 7999, 8000, 1 << 20] {
        for request in requests(1000, 50) {
            let (device, means) = (device(), means(limit, Cuts::Anywhere));
            let mut case = Case::new(request);
            let planned = case.plan(&device, &means).expect("chunks fit");
            let done = case.run(&device, &means).expect("chunks fit");
            case.check();
            let count = planned.chunks.map_or(1, |chunks| chunks.count);
            assert_eq!(done.times.chunks, count, "limit {limit}, {request:?}");
            assert_eq!(device.script().sorted.len(), count, "limit {limit}, {request:?}");
            assert_eq!(done.plan.chunks, planned.chunks, "limit {limit}, {request:?}");
        }
    }
}

#[test]
fn obliviously_the_best_keys_are_those_of_a_network_over_whole_rows() {
    // A key and its index have 8 bytes, a row 400.
    for (limit, count) in [(1 << 20, 1), (4800, 1), (4799, 2), (800, 6), (400, 12)] {
        for request in oblivious_tops(600, 50) {
            let (device, means) = (device(), means(limit, Cuts::Anywhere));
            let mut case = Case::new(request);
            if count > 1 && request.segments.count() == 1 {
                let refused = case.run(&device, &means).map(|_| ());
                assert!(matches!(refused, Err(Error::LargerThanDevice { .. })), "{refused:?}");
                continue;
            }
            let planned = case.plan(&device, &means).expect("rows fit");
            let done = case.run(&device, &means).expect("rows fit");
            case.check();
            assert_eq!(done.plan.algorithm, Algorithm::Network);
            assert_eq!(
                (done.times.chunks, done.plan.chunks),
                (count, planned.chunks),
                "limit {limit}, {request:?}"
            );
            let longest = device.script().sorted.iter().copied().max().expect("something was sorted");
            assert_eq!(planned.memory.host, 8 * longest, "what lands at a time: limit {limit}, {request:?}");
            assert!(
                device.script().sorted.iter().all(|len| len.is_multiple_of(50)),
                "limit {limit}, {request:?}"
            );
        }
    }
}

#[test]
fn oblivious_best_keys_that_are_wrong_are_an_error() {
    let tops = oblivious_tops(120, 60).into_iter().filter(|request| request.segments.count() > 1);
    for (request, limit) in tops.flat_map(|request| [480, 1 << 20].map(|limit| (request, limit))) {
        for at in [FaultAt::Launch, FaultAt::Upload, FaultAt::Download] {
            let device = device();
            device.script().fault = Some(Fault { at, call: 0, random: 76 });
            let result = Case::new(request).run(&device, &means(limit, Cuts::Anywhere)).map(|_| ());
            assert!(matches!(result, Err(Error::WrongResult { .. })), "{request:?}, {at:?}: {result:?}");
        }
        let device = device();
        device.script().wrong_indices = true;
        let result = Case::new(request).run(&device, &means(limit, Cuts::Anywhere)).map(|_| ());
        assert!(matches!(result, Err(Error::WrongResult { .. })), "{request:?}: {result:?}");
    }
}

#[test]
fn rows_are_cut_between_rows_and_inside_only_if_not_one_fits() {
    for (row_length, limit) in [(100, 400), (100, 1000), (100, 399), (100, 40), (1, 44), (600, 404)] {
        let (device, means) = (device(), means(limit, Cuts::Anywhere));
        let mut case = Case::new(Request::keys::<u32>(Segments::rows(1200, row_length).expect("whole rows")));
        case.run(&device, &means).expect("chunks fit");
        case.check();
        let fits = limit as usize >= 4 * row_length;
        assert!(device.script().sorted.iter().all(|len| len.is_multiple_of(row_length) == fits));
    }
}

/// Sorts on devices that fail at the first call, at the second, and so on; data must be as it was each time, until one fails at
/// none. Returns how many failed.
fn fail_everywhere(new: impl Fn() -> Case, means: &Means) -> usize {
    for calls in 0.. {
        let device = device();
        device.script().calls_before_failure = Some(calls);
        let mut case = new();
        match case.run(&device, means) {
            Ok(_) => {
                case.check();
                return calls;
            }
            Err(error) => {
                assert!(matches!(error, Error::Device { .. }), "{error}");
                assert!(case.is_untouched(), "{:?} after {calls} calls", case.request);
            }
        }
    }
    unreachable!("numbers do not end")
}

#[test]
fn a_failure_in_any_chunk_leaves_the_arrays_as_they_were() {
    for request in requests(120, 60) {
        let stored = if request.what == What::Keys { 4 } else { 8 };
        // Three chunks, or two of a row each. For each: a buffer, up, sorted, down; with values another buffer, up, down. Buffers
        // are kept for the chunks that follow.
        let failed = fail_everywhere(|| Case::new(request), &means(stored * 40, Cuts::Anywhere));
        assert!(failed >= 2 * 3, "{request:?}: {failed}");
        let failed = fail_everywhere(|| Case::new(request), &means(stored * 120, Cuts::Nowhere));
        assert!(failed >= 4, "{request:?}: {failed}");
    }
    let lengths = [30, 0, 50, 20, 20];
    for request in requests_of_segments(&lengths) {
        let stored = if request.what == What::Keys { 4 } else { 8 };
        // One segment, one in two pieces, and two together, which have a table and memory to work in.
        let new = || Case::of_segments(request, &lengths);
        let failed = fail_everywhere(new, &means(stored * 45, Cuts::Anywhere));
        assert!(failed >= 4 * 3, "{request:?}: {failed}");
    }
}

/// Empty ones everywhere, many short ones, some that a device with little memory does not hold, one at the end.
const LENGTHS: [usize; 25] =
    [0, 0, 5, 17, 0, 300, 1, 1, 1, 0, 0, 0, 64, 63, 65, 0, 2, 128, 0, 9, 31, 33, 200, 0, 77];

#[test]
fn segments_in_any_number_of_chunks_are_in_stable_order_and_the_report_shows_what_was_planned() {
    for limit in [8, 13, 80, 800, 1200, 2400, 4000, 8000, 8200, 1 << 20] {
        for request in requests_of_segments(&LENGTHS) {
            let (device, means) = (device(), means(limit, Cuts::Anywhere));
            let mut case = Case::of_segments(request, &LENGTHS);
            let planned = case.plan(&device, &means).expect("chunks fit");
            let done = case.run(&device, &means).expect("chunks fit");
            case.check();
            assert_eq!(done.plan, planned, "limit {limit}, {request:?}");
            let (sorted, count) = (&device.script().sorted, planned.chunks.map_or(1, |chunks| chunks.count));
            assert_eq!((done.times.chunks, sorted.len()), (count, count), "limit {limit}, {request:?}");
            assert_eq!(sorted.iter().sum::<usize>(), request.len(), "limit {limit}, {request:?}");
            let longest = planned.chunks.map_or(request.len(), |chunks| chunks.len);
            assert_eq!(sorted.iter().max(), Some(&longest), "limit {limit}, {request:?}");
        }
    }
}

#[test]
fn a_device_that_gives_less_than_it_has_gets_fewer_segments() {
    let lengths = [100, 0, 150, 250, 0, 500];
    // Refused as a whole; and the first chunk once more; and what all have to work in.
    for (grants, sorted) in [
        (vec![3999, usize::MAX], vec![500, 500]),
        (vec![3999, 1999, usize::MAX], vec![250, 250, 250, 250]),
        (vec![4000, usize::MAX, 0, usize::MAX], vec![500, 500]),
    ] {
        let device = device();
        device.script().grants = grants.clone();
        let [request, ..] = requests_of_segments(&lengths)[..] else { unreachable!("there are some") };
        let mut case = Case::of_segments(request, &lengths);
        let done = case.run(&device, &means(1 << 20, Cuts::Anywhere)).expect("there is memory for chunks");
        case.check();
        assert_eq!(device.script().sorted, sorted, "{grants:?}");
        let chunks = done.plan.chunks.expect("the report shows the chunks");
        assert_eq!((chunks.count, chunks.len), (sorted.len(), sorted[0]), "{grants:?}");
    }
}

#[test]
fn a_device_that_gives_less_than_it_has_gets_smaller_chunks() {
    // Refused as a whole; in chunks of half; and of a quarter, in the middle of the work.
    for (grants, sorted) in [
        (vec![2000], vec![500, 500]),
        (vec![1999], vec![250, 250, 250, 250]),
        (vec![4000, 1], vec![1000]),
        (vec![3999, 2000, 1000], vec![500, 500]),
    ] {
        let device = device();
        device.script().grants = grants;
        let mut case = Case::new(Request::keys::<u32>(Segments::one(1000)));
        let done = case.run(&device, &means(1 << 20, Cuts::Anywhere)).expect("there is memory for chunks");
        case.check();
        assert_eq!(device.script().sorted, sorted);
        assert_eq!(done.times.chunks, sorted.len());
        let chunks = done.plan.chunks.map(|chunks| (chunks.count, chunks.len));
        assert_eq!(
            chunks,
            (sorted.len() > 1).then(|| (sorted.len(), sorted[0])),
            "the report shows the chunks"
        );
    }
    let device = device();
    device.script().grants = vec![0];
    let mut case = Case::new(Request::keys::<u32>(Segments::one(1000)));
    let result = case.run(&device, &means(1 << 20, Cuts::Anywhere)).map(|_| ());
    assert!(matches!(result, Err(Error::DeviceMemory { .. })), "{result:?}");
    assert!(case.is_untouched());
}

#[test]
fn indices_that_no_key_has_are_an_error_and_nothing_is_moved() {
    for limit in [400, 1 << 20] {
        let device = device();
        device.script().wrong_indices = true;
        let request = Request { stable: true, ..Request::pairs::<u32, u32>(Segments::one(100)) };
        let mut case = Case::new(request);
        let result = case.run(&device, &means(limit, Cuts::Anywhere)).map(|_| ());
        assert!(matches!(result, Err(Error::WrongResult { .. })), "{result:?}");
        assert!(case.is_untouched());
    }
}

#[test]
fn a_wrong_result_is_an_error_that_names_device_driver_and_plan_and_nothing_is_moved() {
    for limit in [400, 1 << 20] {
        for request in requests(120, 60) {
            for at in [FaultAt::Launch, FaultAt::Upload, FaultAt::Download] {
                let fault = Fault { at, call: 0, random: 76 };
                let device = device();
                device.script().fault = Some(fault);
                let mut case = Case::new(request);
                let result = case.run(&device, &means(limit, Cuts::Anywhere)).map(|_| ());
                let Err(Error::WrongResult { device, driver, plan, .. }) = result else {
                    panic!("{request:?}, {fault:?}: {result:?}")
                };
                assert_eq!((device.as_str(), driver.as_str()), ("a device in host memory", "OpenCL 1"));
                assert_eq!(plan, "bitonic network in flip form, tiles of 256 keys, kernels tile_sort");
                assert!(case.is_untouched(), "{request:?}, {fault:?}");
            }
        }
    }
}

#[test]
fn what_must_not_be_cut_is_refused_with_both_numbers_and_the_way_out() {
    let refused = |row_length, limit, cuts| {
        let (device, means) = (device(), means(limit, cuts));
        let mut case = Case::new(Request::keys::<u32>(Segments::rows(100, row_length).expect("whole rows")));
        match case.run(&device, &means) {
            Err(Error::LargerThanDevice { bytes, limit, advice, .. }) => {
                assert!(case.is_untouched());
                Some((bytes, limit, advice))
            }
            Err(error) => panic!("{error}"),
            Ok(_) => None,
        }
    };
    assert_eq!(refused(100, 400, Cuts::Nowhere), None);
    let (bytes, limit, advice) = refused(100, 399, Cuts::Nowhere).unwrap();
    assert!((bytes, limit) == (400, 399) && advice.contains("chunks()"), "{advice}");
    assert!(refused(1, 399, Cuts::Nowhere).is_some(), "rows are not cut either");

    assert_eq!(refused(50, 200, Cuts::BetweenRows), None);
    let (bytes, limit, advice) = refused(50, 199, Cuts::BetweenRows).unwrap();
    assert!((bytes, limit) == (200, 199) && advice.contains("oblivious"), "{advice}");

    assert_eq!(refused(100, 4, Cuts::Anywhere), None);
    let (bytes, limit, advice) = refused(100, 3, Cuts::Anywhere).unwrap();
    assert!((bytes, limit) == (4, 3) && advice.contains("BITONIC_DEVICE_MEMORY"), "{advice}");
}

#[test]
fn values_of_any_size_follow_their_keys() {
    fn check<V: Copy + PartialEq + std::fmt::Debug>(value: impl Fn(usize) -> V) {
        let (device, means, before) = (device(), means(1 << 20, Cuts::Anywhere), keys(500));
        let (mut sorted, mut values) = (before.clone(), (0..500).map(&value).collect::<Vec<V>>());
        let request = Request { stable: true, ..Request::pairs::<u32, V>(Segments::one(500)) };
        let plan =
            plan(&request, &device.facts, &Tuning::default(), means.cuts, means.limit).expect("it fits");
        let arrays = HostArrays::Gathered {
            keys: bytemuck::cast_slice_mut(&mut sorted),
            values: ValueBytes::new(&mut values),
        };
        execute(&device, &plan, arrays.into(), &means).expect("nothing fails");
        let places = sorted_places(&before, Order::Ascending);
        assert!(values.iter().zip(&places).all(|(found, &place)| *found == value(place)));
        assert!(sorted.is_sorted());
    }
    check(|_| ());
    check(|place| place as u8);
    check(|place| place as u16);
    check(|place| [place as u8; 3]);
    check(|place| place as u128);
    check(|place| (place as u8, place as u64));
    check(|place| [place; 13]);
}

#[test]
fn a_plan_falls_back_from_buckets_to_columnsort_to_the_network() {
    let plan = device_plan(1 << 24);
    let kernels = plan.kernels.expect("kernels");
    let chain: Vec<_> =
        std::iter::once(&kernels).chain(kernels.fallbacks()).map(|plan| plan.algorithm).collect();
    assert_eq!(chain, [Algorithm::Buckets, Algorithm::Columnsort, Algorithm::Network]);
}

/// The plan for so many `u32` keys on an H200.
fn device_plan(length: usize) -> Plan {
    let facts = DeviceFacts { copy_bytes_per_second: None, ..DeviceFacts::nvidia_h200() };
    device_plan_on(&facts, length)
}

fn device_plan_on(facts: &DeviceFacts, length: usize) -> Plan {
    let request = Request::keys::<u32>(Segments::one(length));
    plan(&request, facts, &Tuning::default(), Cuts::Nowhere, None).expect("all keys fit")
}

/// What `bitonic explain` prints.
fn lines(plan: &Plan) -> Vec<String> {
    plan.to_string().lines().map(str::to_owned).collect()
}

#[track_caller]
fn says(plan: &Plan, expected: &[&str]) {
    let lines = lines(plan);
    for line in expected {
        assert!(lines.iter().any(|said| said == line), "{line}\nis missing in\n{plan}");
    }
}

#[test]
fn a_columnsort_says_its_passes_and_why_they_are_worth_a_second_array() {
    let plan = device_plan(1 << 20);
    assert_eq!((plan.algorithm, plan.pass_count()), (Algorithm::Columnsort, 5));
    assert_eq!(plan.memory.work, 129 << 15, "a column more than the keys have");
    assert_eq!(
        lines(&plan),
        [
            "1048576 u32 keys, ascending, on cuda: NVIDIA H200",
            "algorithm  columnsort, with the network in every column",
            "groups     256 work-items for a tile, 2 groups sort together in local memory that they share",
            "elements   4 bytes each in registers, 4194304 bytes on the device at a time, and 4227072 bytes there to work in",
            "memory     4194304 bytes beyond the arrays",
            "passes     5, each reading and writing 8388608 bytes in all",
            "why        5 passes; the network in place, which oblivious sorts use, takes 15",
            "otherwise  bitonic network in flip form, 15 passes, in place: if the device refuses memory or groups that share \
             theirs",
            "",
            "  pass      steps  place   what",
            "     1             tile    sort 128 columns of 8192 keys; deal each to 64 new ones",
            "     2             tile    merge every new column; cut it into a piece for each column",
            "     3             tile    merge every column",
            "     4             tile    merge halves of neighbouring columns",
            "     5             tile    merge halves of neighbouring columns",
        ]
    );
}

#[test]
fn what_columnsort_sorts_in_parts_is_merged_by_the_network() {
    // A column fits the local memory, and what counted buckets of so many keys need does not.
    let facts =
        DeviceFacts { local_bytes: 140 << 10, copy_bytes_per_second: None, ..DeviceFacts::nvidia_h200() };
    let plan = device_plan_on(&facts, 1 << 25);
    assert_eq!((plan.algorithm, plan.pass_count()), (Algorithm::Columnsort, 11));
    assert_eq!(plan.memory.work, (8 * 129) << 17, "a column more in every part");
    says(
        &plan,
        &[
            "why        11 passes; the network in place, which oblivious sorts use, takes 24",
            "     1             tile    in each of 8 parts, sort 128 columns of 32768 keys; deal each to 128 new ones",
            "     4             tile    merge halves of neighbouring columns",
            "     5    254-262  memory  merge 23: compare i with i xor 8388607, then 2097152, then 1048576, then 524288, \
             then 262144, then 131072, then 65536, then 32768, then 16384",
            "     6    263-276  tile    finish merge 23 inside tiles of 2^14 keys",
            "    11    312-325  tile    finish merge 25 inside tiles of 2^14 keys",
        ],
    );
}

#[test]
fn a_sort_by_counted_buckets_says_how_many_there_are() {
    let plan = device_plan(1 << 24);
    assert_eq!((plan.algorithm, plan.pass_count()), (Algorithm::Buckets, 2));
    says(
        &plan,
        &[
            "algorithm  buckets, with the network in every one",
            "elements   4 bytes each in registers, 67108864 bytes on the device at a time, and 70431356 bytes there to work in",
            "why        2 passes; the network in place, which oblivious sorts use, takes 21",
            "     4                     count all keys by cell",
            "     5                     cells become 1080 buckets of up to 16384 keys, if keys are even",
            "     6             memory  even keys: every key to its bucket",
            "     9             tile    even keys: sort every bucket in a tile, by counting and in registers",
        ],
    );
}

#[test]
fn a_cluster_sorts_in_one_pass_with_all_its_groups() {
    let plan = device_plan(1 << 13);
    assert_eq!((plan.algorithm, plan.pass_count()), (Algorithm::Network, 1));
    says(
        &plan,
        &[
            "groups     128 work-items for a tile, 4 groups sort together in local memory that they share",
            "network    13 merges, 91 steps, 372736 comparators",
            "     1       1-91  tile    sort all keys in the tiles of 4 groups",
        ],
    );
}

#[test]
fn without_a_second_array_the_network_sorts_in_place() {
    let facts = DeviceFacts { has_work_memory: false, ..DeviceFacts::nvidia_h200() };
    let plan = device_plan_on(&facts, 1 << 20);
    assert_eq!((plan.algorithm, plan.pass_count()), (Algorithm::Network, 15));
    assert_eq!(plan.memory.work, 0);
    says(
        &plan,
        &[
            "elements   4 bytes each in registers, 4194304 bytes on the device at a time",
            "passes     15, each reading and writing 8388608 bytes in all",
            "network    20 merges, 210 steps, 110100480 comparators",
            "     1       1-91  tile    sort every tile of 2^13 keys",
            "     2         92  memory  merge 14: compare i with i xor 16383",
            "     3     93-105  tile    finish merge 14 inside tiles of 2^13 keys",
            "    15    198-210  tile    finish merge 20 inside tiles of 2^13 keys",
        ],
    );
}

/// The same on a real device: every combination of operation, segments, order and stability.
#[cfg(feature = "opencl")]
mod on_opencl {
    use super::*;
    use crate::gpu::lock::lock;
    use crate::gpu::opencl::{self, testing};
    use crate::gpu::testing::Recorded;
    use crate::{Engine, Sorter};

    fn run(case: &mut Case, device: &Recorded<opencl::Device>, means: &Means) -> (Plan, Done) {
        let plan = case.plan(device, means).expect("it fits");
        (plan, case.run(device, means).expect("the device sorts"))
    }

    /// Whether the arrays are what the CPU engine makes of them. Values of equal keys may be in any order if the sort is not
    /// stable.
    fn check(case: &Case) {
        let mut expected = Case::new(case.request);
        let Request { segments, order, stable, .. } = case.request;
        let sorter = Sorter::new().engine(Engine::Cpu).order(order).stable(true);
        let row_length = segments.longest();
        match case.request.what {
            What::Keys => drop(sorter.sort_rows(&mut expected.keys, row_length).expect("the CPU sorts")),
            What::Argsort => {
                let indices = sorter.argsort_rows(&expected.keys, row_length).expect("the CPU sorts");
                assert!(case.indices == indices, "{:?}", case.request);
            }
            What::Pairs(_) => {
                let before = expected.keys.clone();
                let sorted = sorter.sort_pairs_rows(&mut expected.keys, &mut expected.values, row_length);
                sorted.expect("the CPU sorts");
                let belong =
                    case.values.iter().zip(&case.keys).all(|(&value, key)| before[value as usize] == *key);
                assert!(belong, "{:?}", case.request);
                assert!(!stable || case.values == expected.values, "{:?}", case.request);
            }
            What::Top(k) => {
                let top = sorter.top_k_rows(&expected.keys, row_length, k).expect("the CPU finds the best");
                assert!(case.indices == top.indices && case.best == top.keys, "{:?}", case.request);
            }
        }
        if case.request.what != What::Argsort {
            assert!(case.keys == expected.keys, "{:?}", case.request);
        }
    }

    #[test]
    fn what_is_launched_is_what_was_planned_on_opencl() {
        let device = Recorded::new(testing::device());
        let means = means(1 << 30, Cuts::Anywhere);
        for row_length in [20, 50, 1, 5000] {
            for request in requests(10_000, row_length).into_iter().chain(oblivious_tops(10_000, row_length))
            {
                lock(&device.launched).clear();
                let mut case = Case::new(request);
                let (planned, done) = run(&mut case, &device, &means);
                check(&case);
                assert_eq!(done.plan.kernels, planned.kernels, "{request:?}");
                let kernels = planned.kernels.expect("a device runs kernels");
                assert_eq!(*lock(&device.launched), launches(&kernels), "{request:?}");
            }
        }
    }

    #[test]
    fn a_refusal_makes_chunks_and_the_report_shows_them_on_opencl() {
        for request in requests(6000, 100) {
            // A device of its own, which keeps no buffer yet.
            let device = Recorded::new(testing::device());
            *lock(&device.refused) = Some(0);
            let mut case = Case::new(request);
            let (planned, done) = run(&mut case, &device, &means(1 << 30, Cuts::Anywhere));
            check(&case);
            assert_eq!(planned.chunks, None);
            let chunks = done.plan.chunks.expect("the report shows the chunks");
            assert_eq!((chunks.count, chunks.len, done.times.chunks), (2, 3000, 2), "{request:?}");
            let kernels = done.plan.kernels.expect("a device runs kernels");
            let twice = [launches(&kernels), launches(&kernels)].concat();
            assert_eq!(*lock(&device.launched), twice, "{request:?}");
        }
    }
}
