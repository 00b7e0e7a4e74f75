//! What the device finds when somebody else sorts for it: everything right, or with a fault in it.

use super::*;
use crate::gpu::trial::random_keys;
use crate::key::{Bits, Key, Order, as_bytes};
use crate::request::{Request, Segments};
use std::cmp::Reverse;

/// A key, and a value or an index.
type Elements<K> = Vec<(K, u64)>;

/// Rows to sort, and the same in order.
#[derive(Clone)]
struct Sorted<K> {
    job: Job,
    before: Elements<K>,
    after: Elements<K>,
    /// Where rows of different lengths begin and end.
    offsets: Option<Vec<u32>>,
}

/// What is sorted with each key.
#[derive(Clone, Copy, Debug, PartialEq)]
enum With {
    Nothing,
    Values32,
    Values64,
    Indices,
}

const ALL: [With; 4] = [With::Nothing, With::Values32, With::Values64, With::Indices];

/// More different keys than are sorted.
const MANY: usize = 1 << 17;

impl<K: Key> Sorted<K> {
    /// Of so many different keys.
    fn new(rows: usize, row_length: usize, with: With, order: Order, unique: usize) -> Self {
        let ends: Vec<usize> = (0..=rows).map(|row| row * row_length).collect();
        let sorted = Self::in_segments(Segments::Rows { rows, row_length }, &ends, with, order, unique);
        Self { offsets: None, ..sorted }
    }

    /// Of segments that begin and end at these offsets; some places behind the last belong to none.
    fn ragged(offsets: &[usize], with: With, order: Order, unique: usize) -> Self {
        let len = offsets[offsets.len() - 1] + 5;
        let longest = offsets.windows(2).map(|ends| ends[1] - ends[0]).max().expect("there is one");
        let segments = Segments::Offsets { segments: offsets.len() - 1, longest, len };
        Self::in_segments(segments, offsets, with, order, unique)
    }

    fn in_segments(segments: Segments, offsets: &[usize], with: With, order: Order, unique: usize) -> Self {
        let request = match with {
            With::Nothing => Request::keys::<K>(segments),
            With::Values32 => Request::pairs::<K, u32>(segments),
            With::Values64 => Request::pairs::<K, u64>(segments),
            With::Indices => Request::argsort::<K>(segments),
        };
        let job = Job::of(&Request { order, ..request }).with_offsets_of::<u32>();
        let random = random_keys::<K>(unique);
        let keys = (0..segments.len()).map(|place| random[place % unique]);
        let before: Elements<K> = keys.zip((0..).map(|place: u64| place * 7 % 1000)).collect();
        let mut after = before.clone();
        for ends in offsets.windows(2) {
            let row = &mut after[ends[0]..ends[1]];
            if with == With::Indices {
                row.iter_mut().zip(0..).for_each(|(element, index)| element.1 = index);
            }
            match order {
                Order::Ascending => row.sort_by_key(|&(key, value)| (key.to_ordered_bits(), value)),
                Order::Descending => row.sort_by_key(|&(key, value)| (Reverse(key.to_ordered_bits()), value)),
            }
        }
        let offsets = offsets.iter().map(|&offset| offset as u32).collect();
        Self { job, before, after, offsets: Some(offsets) }
    }

    fn with(mut self, fault: impl FnOnce(&mut Elements<K>)) -> Self {
        fault(&mut self.after);
        self
    }

    fn bytes(&self, elements: &[(K, u64)]) -> [Vec<u8>; 2] {
        let keys: Vec<K> = elements.iter().map(|element| element.0).collect();
        let each = self.job.element.value_bytes();
        let values = elements.iter().flat_map(|element| element.1.to_ne_bytes().into_iter().take(each));
        [as_bytes(&keys).to_vec(), values.collect()]
    }

    /// What is found.
    fn verdict<D: Driver>(&self, checks: &mut Verification<D>) -> Option<&'static str> {
        let [before, after] = [&self.before, &self.after].map(|elements| self.bytes(elements));
        let buffers =
            before.each_ref().map(|bytes| checks.device.allocate(bytes.len()).expect("it is little"));
        let upload = |device: &D, arrays: &[Vec<u8>; 2]| {
            for (bytes, buffer) in arrays.iter().zip(&buffers).filter(|(bytes, _)| !bytes.is_empty()) {
                device.upload(bytes, buffer).expect("they are as long");
            }
        };
        let device = checks.device.clone();
        upload(&device, &before);
        let [keys, values] = buffers.each_ref().map(DeviceBuffer::memory);
        let has_values = self.job.element.value_bits > 0;
        let table = self.offsets.as_ref().map(|offsets| {
            let table = device.allocate(size_of_val(&offsets[..])).expect("it is little");
            device.upload(as_bytes(offsets), &table).expect("it is as long");
            table
        });
        let offsets = table.as_ref().map(DeviceBuffer::memory);
        let arrays = DeviceArrays { offsets, ..DeviceArrays::in_place(keys, has_values.then_some(values)) };
        queue(checks, &self.job, &arrays, || upload(&device, &after));
        finding(checks)
    }
}

fn queue<D: Driver>(
    checks: &mut Verification<D>,
    job: &Job,
    arrays: &DeviceArrays<D::Memory>,
    sort: impl FnOnce(),
) {
    let device = checks.device.clone();
    let sort = || {
        sort();
        Ok(Arc::new(KernelPlan::nothing()))
    };
    // SAFETY: the arrays are the job's, and nobody else has them or the checks.
    let queued = unsafe { checks.queue(device.queue(), job, arrays, Submission::Untimed, sort) };
    queued.expect("the device has the kernels");
    device.finish().expect("the kernels run");
}

fn finding<D: Driver>(checks: &mut Verification<D>) -> Option<&'static str> {
    match checks.verdict() {
        Ok(()) => None,
        Err(Error::WrongResult { finding, .. }) => Some(finding),
        Err(error) => panic!("{error}"),
    }
}

fn flip<K: Key>(elements: &mut [(K, u64)], place: usize, bit: u32) {
    let key = &mut elements[place].0;
    *key = K::from_raw_bits(key.to_raw_bits() ^ Bits::truncate(1 << bit));
}

const SHAPES: [(usize, usize); 6] = [(1, 1), (1, 1000), (1, 70_001), (300, 7), (10_000, 1), (3, 5001)];

fn right_sorts_are_right<K: Key, D: Driver>(checks: &mut Verification<D>) {
    for (rows, row_length) in SHAPES {
        for (number, with) in ALL.into_iter().enumerate() {
            let order = if (rows + number).is_multiple_of(2) { Order::Ascending } else { Order::Descending };
            for unique in [MANY, 5] {
                let mut sorted = Sorted::<K>::new(rows, row_length, with, order, unique);
                sorted.job.wide_index = number == 1;
                let what = format!("{rows} rows of {row_length} {}, {with:?}, {order:?}", K::TYPE);
                assert_eq!(sorted.verdict(checks), None, "{what}");
            }
        }
    }
}

/// One bit, at any place, of a key or of what travels with it.
fn every_bit_is_noticed<K: Key, D: Driver>(checks: &mut Verification<D>) {
    for with in ALL {
        let sorted = Sorted::<K>::new(3, 101, with, Order::Ascending, MANY);
        for bit in 0..K::Bits::WIDTH {
            let place = bit as usize * 5 % 303;
            let wrong = sorted.clone().with(|elements| flip(elements, place, bit));
            assert_eq!(wrong.verdict(checks), Some(OTHER_ELEMENTS), "bit {bit} of {}, {with:?}", K::TYPE);
        }
        for bit in 0..sorted.job.element.value_bits {
            let place = bit as usize * 5 % 303;
            let wrong = sorted.clone().with(|elements| elements[place].1 ^= 1 << bit);
            assert_eq!(wrong.verdict(checks), Some(OTHER_ELEMENTS), "bit {bit} of a value of {}", K::TYPE);
        }
        assert_eq!(sorted.verdict(checks), None);
    }
}

fn faults_are_noticed<D: Driver>(checks: &mut Verification<D>) {
    let keys = || Sorted::<u32>::new(1, 40_000, With::Nothing, Order::Ascending, MANY);
    let wrong = |fault: &dyn Fn(&mut Elements<u32>)| keys().with(fault);
    for place in [0, 1, 255, 256, 12_345, 39_998] {
        let swapped = wrong(&|elements| elements.swap(place, place + 1)).verdict(checks);
        assert_eq!(swapped, Some(NOT_IN_ORDER), "{place} comes after the next");
        let doubled = wrong(&|elements| elements[place + 1] = elements[place]).verdict(checks);
        assert_eq!(doubled, Some(OTHER_ELEMENTS), "{place} is there twice");
        let changed = wrong(&|elements| flip(elements, place, 0)).verdict(checks);
        assert_eq!(changed, Some(OTHER_ELEMENTS), "{place} is another one");
    }
    let unsorted = wrong(&|elements| elements.reverse()).verdict(checks);
    assert_eq!(unsorted, Some(NOT_IN_ORDER), "the other order");
    let moved = wrong(&|elements| {
        elements[0].0 -= 1;
        elements[39_999].0 += 1;
    });
    assert_eq!(moved.verdict(checks), Some(OTHER_ELEMENTS), "the same sum");

    // Each row is in order, with a key of the other.
    let mut rows = Sorted::<u32>::new(2, 3, With::Nothing, Order::Ascending, MANY);
    rows.before = [1, 2, 3, 1, 2, 4].map(|key| (key, 0)).to_vec();
    rows.after.clone_from(&rows.before);
    assert_eq!(rows.verdict(checks), None);
    rows.after.swap(2, 5);
    assert_eq!(rows.verdict(checks), Some(OTHER_ELEMENTS), "keys that went to another row");

    let mut pairs = Sorted::<u32>::new(1, 4, With::Values32, Order::Ascending, MANY);
    pairs.before = vec![(1, 10), (2, 20), (2, 21), (3, 30)];
    pairs.after = vec![(1, 10), (2, 21), (2, 20), (3, 30)];
    assert_eq!(pairs.verdict(checks), None, "values of equal keys are in any order");
    let swapped = pairs.with(|elements| (elements[0].1, elements[3].1) = (30, 10));
    assert_eq!(swapped.verdict(checks), Some(OTHER_ELEMENTS), "values that went to another key");

    let mut indices = Sorted::<u32>::new(1, 3, With::Indices, Order::Descending, MANY);
    indices.before = vec![(7, 99), (8, 99), (7, 99)];
    indices.after = vec![(8, 1), (7, 0), (7, 2)];
    assert_eq!(indices.verdict(checks), None);
    let unstable = indices.with(|elements| elements.swap(1, 2));
    assert_eq!(unstable.verdict(checks), Some(NOT_IN_ORDER), "equal keys come by lowest index");
}

/// Short ones, empty ones, and places before the first and behind the last that belong to none.
const OFFSETS: [usize; 9] = [3, 3, 4, 700, 700, 702, 5000, 5001, 5009];

fn segments_are_checked<K: Key, D: Driver>(checks: &mut Verification<D>) {
    for with in ALL {
        for order in [Order::Ascending, Order::Descending] {
            let what = format!("{}, {with:?}, {order:?}", K::TYPE);
            let mut sorted = Sorted::<K>::ragged(&OFFSETS, with, order, MANY);
            sorted.job.wide_index = order == Order::Descending;
            assert_eq!(sorted.verdict(checks), None, "{what}");
            assert_eq!(Sorted::<K>::ragged(&OFFSETS, with, order, 5).verdict(checks), None, "{what}");
            for place in [0, 2, 3, 699, 4000, 5008, 5009, 5013] {
                let changed = sorted.clone().with(|elements| flip(elements, place, 0));
                assert_eq!(changed.verdict(checks), Some(OTHER_ELEMENTS), "place {place}, {what}");
            }
            // Longer than was said: it is left as it is.
            let mut short = sorted.clone().with(|elements| elements[702..5000].reverse());
            short.before.clone_from(&short.after);
            short.job.row_length = 696;
            if with == With::Indices {
                for ends in OFFSETS.windows(2).filter(|ends| ends[1] - ends[0] <= 696) {
                    let segment = short.after[ends[0]..ends[1]].iter_mut();
                    segment.zip(0..).for_each(|(element, index)| element.1 = index);
                }
            }
            assert_eq!(short.verdict(checks), None, "{what}");
        }
    }
}

fn faults_in_segments_are_noticed<D: Driver>(checks: &mut Verification<D>) {
    let keys = |keys: &[u32]| {
        let mut sorted = Sorted::<u32>::ragged(&[2, 5, 5, 8], With::Nothing, Order::Ascending, MANY);
        sorted.before = keys.iter().map(|&key| (key, 0)).collect();
        sorted.after.clone_from(&sorted.before);
        sorted
    };
    let right = keys(&[9, 8, 1, 2, 3, 1, 2, 4, 7, 6, 5, 4, 3]);
    assert_eq!(right.verdict(checks), None, "places of no segment are in any order");
    let disorder = right.clone().with(|elements| elements.swap(2, 3));
    assert_eq!(disorder.verdict(checks), Some(NOT_IN_ORDER));
    let moved = right.clone().with(|elements| elements.swap(4, 7));
    assert_eq!(moved.verdict(checks), Some(OTHER_ELEMENTS), "keys that went to another segment");
    let outside = right.clone().with(|elements| elements.swap(0, 1));
    assert_eq!(outside.verdict(checks), Some(OTHER_ELEMENTS), "keys of no segment that were moved");
    let behind = right.with(|elements| elements.swap(11, 12));
    assert_eq!(behind.verdict(checks), Some(OTHER_ELEMENTS), "and those behind the last");

    let device = checks.device.clone();
    let job = Job::of(&Request::top::<u32>(Segments::Offsets { segments: 3, longest: 4, len: 9 }, 3))
        .with_offsets_of::<u32>();
    let buffer = |words: &[u32]| {
        let buffer = device.allocate(size_of_val(words)).expect("it is little");
        device.upload(as_bytes(words), &buffer).expect("it is as long");
        buffer
    };
    let mut verdict = |keys: [u32; 9], indices: [u32; 9]| {
        let (input, offsets) = (buffer(&[0, 5, 9, 9, 1, 0, 8, 7, 0]), buffer(&[1, 5, 5, 8]));
        let (keys, indices) = (buffer(&keys), buffer(&indices));
        let arrays = DeviceArrays {
            input: Some(input.memory()),
            offsets: Some(offsets.memory()),
            ..DeviceArrays::in_place(keys.memory(), Some(indices.memory()))
        };
        queue(checks, &job, &arrays, || ());
        finding(checks)
    };
    let (keys, indices) = ([1, 5, 9, 77, 77, 77, 0, 7, 8], [3, 0, 1, 77, 77, 77, 0, 2, 1]);
    assert_eq!(verdict(keys, indices), None, "an empty segment has no best");
    assert_eq!(verdict(keys, [3, 0, 2, 77, 77, 77, 0, 2, 1]), Some(OTHER_ELEMENTS), "9 is there earlier");
    assert_eq!(verdict([1, 5, 9, 77, 77, 77, 7, 0, 8], [3, 0, 1, 77, 77, 77, 2, 0, 1]), Some(NOT_IN_ORDER));
    assert_eq!(
        verdict([1, 5, 9, 77, 77, 77, 0, 7, 9], indices),
        Some(OTHER_ELEMENTS),
        "a key that is not there"
    );
    assert_eq!(
        verdict(keys, [3, 0, 1, 77, 77, 77, 0, 2, 3]),
        Some(OTHER_ELEMENTS),
        "an index past the segment"
    );
}

/// A key that is there twice has two indices.
fn best_keys_are_checked<D: Driver>(checks: &mut Verification<D>) {
    let device = checks.device.clone();
    let input = [5_u32, 9, 9, 1, 8, 7, 6, 5];
    let job = Job::of(&Request {
        order: Order::Descending,
        ..Request::top::<u32>(Segments::rows(8, 4).expect("whole rows"), 3)
    });
    let buffer = |words: &[u32]| {
        let buffer = device.allocate(size_of_val(words)).expect("it is little");
        device.upload(as_bytes(words), &buffer).expect("it is as long");
        buffer
    };
    let mut verdict = |keys: [u32; 6], indices: [u32; 6]| {
        let (input, keys, indices) = (buffer(&input), buffer(&keys), buffer(&indices));
        let arrays = DeviceArrays {
            input: Some(input.memory()),
            ..DeviceArrays::in_place(keys.memory(), Some(indices.memory()))
        };
        queue(checks, &job, &arrays, || ());
        finding(checks)
    };
    let (keys, indices) = ([9, 9, 5, 8, 7, 6], [1, 2, 0, 0, 1, 2]);
    assert_eq!(verdict(keys, indices), None);
    let unstable = verdict(keys, [2, 1, 0, 0, 1, 2]);
    assert_eq!(unstable, Some(NOT_IN_ORDER), "equal keys come by lowest index");
    assert_eq!(verdict([9, 9, 5, 7, 8, 6], [1, 2, 0, 1, 0, 2]), Some(NOT_IN_ORDER));
    assert_eq!(verdict([9, 9, 5, 8, 7, 5], [1, 2, 0, 0, 1, 3]), Some(OTHER_ELEMENTS), "6 is better");
    assert_eq!(verdict(keys, [1, 2, 0, 0, 1, 3]), Some(OTHER_ELEMENTS), "the index of another key");
    assert_eq!(verdict(keys, [1, 2, 0, 0, 1, 4]), Some(OTHER_ELEMENTS), "an index past the row");
    assert_eq!(verdict([9, 9, 4, 8, 7, 6], indices), Some(OTHER_ELEMENTS), "a key that is not there");
}

/// The verdict is that on all sorts since it was asked for.
fn verdicts_last_until_they_are_asked_for<D: Driver>(checks: &mut Verification<D>) {
    let right = Sorted::<u32>::new(1, 100, With::Nothing, Order::Ascending, MANY);
    let wrong = right.clone().with(|elements| elements.reverse());
    let arrays = |sorted: &Sorted<u32>| {
        let [keys, _] = sorted.bytes(&sorted.after);
        let buffer = checks.device.allocate(keys.len()).expect("it is little");
        checks.device.upload(&keys, &buffer).expect("it is as long");
        buffer
    };
    let (right_keys, wrong_keys) = (arrays(&right), arrays(&wrong));
    for keys in [&wrong_keys, &right_keys] {
        queue(checks, &right.job, &DeviceArrays::in_place(keys.memory(), None), || ());
    }
    let refused = checks.verdict().expect_err("the first is not in order").to_string();
    assert!(refused.contains("one of several sorts") && refused.contains(NOT_IN_ORDER), "{refused}");
    assert_eq!(checks.verdict(), Ok(()), "it begins anew");
    assert_eq!(wrong.verdict(checks), Some(NOT_IN_ORDER));
    assert_eq!(right.verdict(checks), None);
    let empty = Job { rows: 0, ..right.job };
    queue(checks, &empty, &DeviceArrays::in_place(wrong_keys.memory(), None), || ());
    assert_eq!(checks.verdict(), Ok(()), "nothing is always sorted");
}

#[cfg(feature = "opencl")]
mod on_opencl {
    use super::*;
    use crate::gpu::opencl::{Device, testing};
    use bitonic_testkit::Oclgrind;

    fn checks() -> Verification<Device> {
        Verification::new(&testing::device()).expect("a device has memory for a verdict")
    }

    #[test]
    fn right_sorts_of_every_kind_are_right() {
        let mut checks = checks();
        right_sorts_are_right::<u8, _>(&mut checks);
        right_sorts_are_right::<i16, _>(&mut checks);
        right_sorts_are_right::<f32, _>(&mut checks);
        right_sorts_are_right::<i64, _>(&mut checks);
        right_sorts_are_right::<u128, _>(&mut checks);
    }

    #[test]
    fn every_bit_of_every_element_counts() {
        let mut checks = checks();
        every_bit_is_noticed::<u8, _>(&mut checks);
        every_bit_is_noticed::<u16, _>(&mut checks);
        every_bit_is_noticed::<f32, _>(&mut checks);
        every_bit_is_noticed::<u64, _>(&mut checks);
        every_bit_is_noticed::<u128, _>(&mut checks);
    }

    #[test]
    fn segments_are_checked_each_for_itself() {
        let mut checks = checks();
        segments_are_checked::<u8, _>(&mut checks);
        segments_are_checked::<f32, _>(&mut checks);
        segments_are_checked::<u128, _>(&mut checks);
    }

    #[test]
    fn faults_of_every_kind_are_noticed() {
        faults_are_noticed(&mut checks());
        faults_in_segments_are_noticed(&mut checks());
        best_keys_are_checked(&mut checks());
        verdicts_last_until_they_are_asked_for(&mut checks());
    }

    #[test]
    #[ignore = "run by checks_are_clean, in a process with Oclgrind"]
    fn check_small_arrays() {
        let mut checks = checks();
        for with in ALL {
            let sorted = Sorted::<u64>::new(3, 700, with, Order::Descending, MANY);
            assert_eq!(sorted.verdict(&mut checks), None);
            let ragged = Sorted::<u64>::ragged(&[3, 3, 4, 700, 700, 702], with, Order::Descending, MANY);
            assert_eq!(ragged.verdict(&mut checks), None);
        }
        best_keys_are_checked(&mut checks);
        faults_in_segments_are_noticed(&mut checks);
    }

    #[test]
    fn checks_are_clean() {
        let report =
            Oclgrind::find().report_of("gpu::execute::verified::tests::on_opencl::check_small_arrays");
        assert!(report.is_empty(), "{report}");
    }
}

#[test]
#[cfg(feature = "cuda")]
fn sorts_are_checked_on_cuda() {
    let Some(device) = crate::gpu::testing::cuda_device("sorts_are_checked_on_cuda") else { return };
    let mut checks = Verification::new(&device).expect("a device has memory for a verdict");
    right_sorts_are_right::<u8, _>(&mut checks);
    right_sorts_are_right::<f32, _>(&mut checks);
    right_sorts_are_right::<u128, _>(&mut checks);
    every_bit_is_noticed::<i16, _>(&mut checks);
    every_bit_is_noticed::<u64, _>(&mut checks);
    segments_are_checked::<f32, _>(&mut checks);
    segments_are_checked::<u64, _>(&mut checks);
    faults_are_noticed(&mut checks);
    faults_in_segments_are_noticed(&mut checks);
    best_keys_are_checked(&mut checks);
    verdicts_last_until_they_are_asked_for(&mut checks);
}
