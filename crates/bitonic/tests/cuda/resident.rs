//! Sorts of arrays on a stream that belong to a caller who uses cudarc.

use crate::device_or_skip;
use bitonic::cuda::cudarc::driver::sys::{CUdeviceptr, CUgraphInstantiate_flags, CUstreamCaptureMode};
use bitonic::cuda::cudarc::driver::{
    CudaContext, CudaSlice, CudaStream, DevicePtr, DevicePtrMut, DeviceRepr, DeviceSlice, SyncOnDrop,
};
use bitonic::cuda::{Device, DeviceChoice, ResidentSorter, devices};
use bitonic::{Error, Key, Order};
use bitonic_testkit::{Pattern, TestKey};
use std::sync::Arc;

/// A caller with a context and a stream that the library did not make.
pub(crate) struct Caller {
    pub(crate) context: Arc<CudaContext>,
    pub(crate) stream: Arc<CudaStream>,
    pub(crate) sorter: ResidentSorter,
}

impl Caller {
    pub(crate) fn new(device: &Device) -> Self {
        let context = CudaContext::new(device.info().index).unwrap();
        let stream = context.new_stream().unwrap();
        let sorter = ResidentSorter::new(&context).unwrap();
        Self { context, stream, sorter }
    }
}

pub(crate) fn sorted<K: Key>(keys: &[K], order: Order) -> Vec<K> {
    let mut keys = keys.to_vec();
    keys.sort_by_key(|key| key.to_ordered_bits());
    if order == Order::Descending {
        keys.reverse();
    }
    keys
}

pub(crate) fn sorted_indices<K: Key>(keys: &[K]) -> Vec<u32> {
    let mut indices: Vec<u32> = (0..keys.len() as u32).collect();
    indices.sort_by_key(|&index| keys[index as usize].to_ordered_bits());
    indices
}

fn check_part<K: TestKey + DeviceRepr + PartialEq>(caller: &Caller, len: usize, order: Order) {
    // Guards before and behind the keys must stay as they are.
    let all: Vec<K> = Pattern::Random.generate(len + 200, 7);
    let mut array = caller.stream.clone_htod(&all).unwrap();
    let part = 100..100 + len;
    let sorter = caller.sorter.clone().order(order);
    sorter.sort(&caller.stream, &mut array.slice_mut(part.clone())).unwrap();
    let result = caller.stream.clone_dtoh(&array).unwrap();
    assert!(result[part.clone()] == sorted(&all[part.clone()], order), "{len} {}, {order:?}", K::TYPE);
    assert!(result[..part.start] == all[..part.start], "{len} {}: what is before them", K::TYPE);
    assert!(result[part.end..] == all[part.end..], "{len} {}: what is behind them", K::TYPE);
}

#[test]
fn keys_are_sorted_where_they_are() {
    let caller = Caller::new(&device_or_skip!());
    for len in [1, 2, 100, 4096, 4097, 12_288, 50_000] {
        for order in [Order::Ascending, Order::Descending] {
            check_part::<u32>(&caller, len, order);
            check_part::<f64>(&caller, len, order);
        }
    }
    caller.sorter.prepare::<i16>(5000).unwrap();
    check_part::<i16>(&caller, 5000, Order::Ascending);
}

#[test]
fn rows_are_sorted_each_for_itself() {
    let caller = Caller::new(&device_or_skip!());
    for (row_length, rows) in [(1, 10), (7, 300), (1000, 9), (5000, 3)] {
        let keys: Vec<u32> = Pattern::Random.generate(row_length * rows, 3);
        let mut array = caller.stream.clone_htod(&keys).unwrap();
        caller.sorter.prepare_rows::<u32>(rows, row_length).unwrap();
        caller.sorter.sort_rows(&caller.stream, &mut array, row_length).unwrap();
        let expected: Vec<u32> =
            keys.chunks(row_length).flat_map(|row| sorted(row, Order::Ascending)).collect();
        assert!(caller.stream.clone_dtoh(&array).unwrap() == expected, "{rows} rows of {row_length}");
    }
    let mut ten = caller.stream.clone_htod(&[1_u32; 10]).unwrap();
    let refused = caller.sorter.sort_rows(&caller.stream, &mut ten, 3);
    assert_eq!(refused, Err(Error::Rows { len: 10, row_length: 3 }));
}

#[test]
fn values_travel_and_indices_break_ties() {
    let Caller { stream, sorter, .. } = Caller::new(&device_or_skip!());
    for len in [1, 1000, 10_007] {
        let keys: Vec<i32> = Pattern::FewUnique.generate(len, 5);
        let mut array = stream.clone_htod(&keys).unwrap();
        let mut values = stream.clone_htod(&(0..len as u64).collect::<Vec<_>>()).unwrap();
        sorter.sort_pairs(&stream, &mut array, &mut values).unwrap();
        let (after, values) = (stream.clone_dtoh(&array).unwrap(), stream.clone_dtoh(&values).unwrap());
        assert!(after == sorted(&keys, Order::Ascending));
        assert!(values.iter().zip(&after).all(|(&value, &key)| keys[value as usize] == key));
        let mut places = values;
        places.sort_unstable();
        assert!(places.into_iter().eq(0..len as u64), "every value is there once");

        let mut array = stream.clone_htod(&keys).unwrap();
        let mut indices = stream.alloc_zeros::<u32>(len).unwrap();
        sorter.argsort(&stream, &mut array, &mut indices).unwrap();
        assert!(stream.clone_dtoh(&indices).unwrap() == sorted_indices(&keys), "{len} indices");
    }
}

/// While a stream is captured, a thread can neither allocate nor load nor wait: the driver would refuse.
#[test]
fn a_captured_sort_sorts_whatever_is_there_at_every_replay() {
    let Caller { context, stream, sorter } = Caller::new(&device_or_skip!());
    // SAFETY: this test's arrays are used on this stream only.
    unsafe { context.disable_event_tracking() };
    let len = 50_000;
    sorter.prepare::<f32>(len).unwrap();
    sorter.prepare_argsort::<u64>(len).unwrap();
    let mut keys = stream.alloc_zeros::<f32>(len).unwrap();
    let mut wide_keys = stream.alloc_zeros::<u64>(len).unwrap();
    let mut indices = stream.alloc_zeros::<u32>(len).unwrap();
    stream.synchronize().unwrap();

    stream.begin_capture(CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL).unwrap();
    let sort = sorter.sort(&stream, &mut keys);
    let argsort = sorter.argsort(&stream, &mut wide_keys, &mut indices);
    let graph = stream.end_capture(CUgraphInstantiate_flags(0)).unwrap().expect("kernels were captured");
    assert_eq!((sort, argsort), (Ok(()), Ok(())));

    for seed in [1, 2] {
        let random: Vec<f32> = Pattern::Random.generate(len, seed);
        let ties: Vec<u64> = Pattern::FewUnique.generate(len, seed);
        stream.memcpy_htod(&random, &mut keys).unwrap();
        stream.memcpy_htod(&ties, &mut wide_keys).unwrap();
        graph.launch().unwrap();
        let result = stream.clone_dtoh(&keys).unwrap();
        let bits = |keys: &[f32]| keys.iter().map(|key| key.to_bits()).collect::<Vec<_>>();
        assert!(bits(&result) == bits(&sorted(&random, Order::Ascending)), "replay {seed}");
        assert!(stream.clone_dtoh(&indices).unwrap() == sorted_indices(&ties), "indices of replay {seed}");
    }
    context.check_err().unwrap();
}

#[test]
fn arrays_that_differ_in_length_and_values_of_other_types_are_refused() {
    let Caller { stream, sorter, .. } = Caller::new(&device_or_skip!());
    let mut keys = stream.clone_htod(&[3_u64, 2, 1]).unwrap();
    let mut bytes = stream.clone_htod(&[1_u8; 3]).unwrap();
    let refused = sorter.sort_pairs(&stream, &mut keys, &mut bytes).unwrap_err();
    assert!(refused.to_string().contains("numbers of 32 or 64 bits"), "{refused}");
    let mut short = stream.clone_htod(&[1_u32; 2]).unwrap();
    let mismatch = Err(Error::LengthMismatch { keys: 3, values: 2 });
    assert_eq!(sorter.sort_pairs(&stream, &mut keys, &mut short), mismatch);
    assert_eq!(sorter.argsort(&stream, &mut keys, &mut short), mismatch);
    assert_eq!(stream.clone_dtoh(&keys).unwrap(), [3, 2, 1]);
}

#[test]
fn arrays_and_streams_of_another_device_are_refused() {
    let Caller { stream, sorter, .. } = Caller::new(&device_or_skip!());
    let others = devices().unwrap().into_iter().map(|info| DeviceChoice::Index(info.index));
    let other = others
        .map(|choice| Device::open(&choice).unwrap())
        .find(|other| *CudaContext::new(other.info().index).unwrap() != **stream.context());
    let Some(other) = other else {
        println!("skipped: only one CUDA device for arrays_and_streams_of_another_device_are_refused");
        return;
    };
    let stranger = Caller::new(&other);
    let mut keys = stranger.stream.clone_htod(&[3_u32, 2, 1]).unwrap();
    for (sorter, stream) in [(&sorter, &stranger.stream), (&stranger.sorter, &stream)] {
        let refused = sorter.sort(stream, &mut keys).unwrap_err();
        assert!(refused.to_string().contains("another context"), "{refused}");
    }
    assert_eq!(stranger.stream.clone_dtoh(&keys).unwrap(), [3, 2, 1]);
}

/// An array that says that it is longer than it is.
struct Liar<'a> {
    array: &'a mut CudaSlice<u32>,
    len: usize,
}

impl DeviceSlice<u32> for Liar<'_> {
    fn len(&self) -> usize {
        self.len
    }

    fn stream(&self) -> &Arc<CudaStream> {
        self.array.stream()
    }
}

impl DevicePtr<u32> for Liar<'_> {
    fn device_ptr<'a>(&'a self, stream: &'a CudaStream) -> (CUdeviceptr, SyncOnDrop<'a>) {
        self.array.device_ptr(stream)
    }
}

impl DevicePtrMut<u32> for Liar<'_> {
    fn device_ptr_mut<'a>(&'a mut self, stream: &'a CudaStream) -> (CUdeviceptr, SyncOnDrop<'a>) {
        self.array.device_ptr_mut(stream)
    }
}

#[test]
fn an_array_that_is_shorter_than_it_says_is_refused() {
    let caller = Caller::new(&device_or_skip!());
    // Large enough that the driver has allocated it alone.
    let keys: Vec<u32> = Pattern::Random.generate(4 << 20, 1);
    let mut array = caller.stream.clone_htod(&keys).unwrap();
    for len in [keys.len() + 1, 16 << 20] {
        let refused = caller.sorter.sort(&caller.stream, &mut Liar { array: &mut array, len });
        assert!(matches!(refused, Err(Error::Device { .. })), "{len}: {refused:?}");
    }
    assert!(caller.stream.clone_dtoh(&array).unwrap() == keys, "nothing was sorted");
    caller.sorter.sort(&caller.stream, &mut Liar { array: &mut array, len: keys.len() }).unwrap();
    assert!(caller.stream.clone_dtoh(&array).unwrap().is_sorted());
}

/// What comes out wrong on purpose is in the library's own tests, where somebody else can sort.
#[test]
fn verified_sorts_of_every_kind_are_right() {
    let Caller { context, stream, sorter } = Caller::new(&device_or_skip!());
    assert_eq!(sorter.verdict_address(), None);
    let refused = sorter.verdict(&stream).unwrap_err();
    assert!(refused.to_string().contains("make it with verified()"), "{refused}");
    let other = context.new_stream().unwrap();
    let verified = sorter.verified().unwrap();
    assert!(verified.verdict_address().is_some());
    for order in [Order::Ascending, Order::Descending] {
        let sorter = verified.clone().order(order);
        for len in [1, 100, 5000, 50_000, 400_000, 5_000_011] {
            // Three times, because from the second on it is a graph that sorts.
            for run in 1..=3 {
                let random: Vec<f32> = Pattern::Random.generate(len, run);
                let few: Vec<u64> = Pattern::FewUnique.generate(len, run);
                let mut keys = stream.clone_htod(&random).unwrap();
                sorter.sort(&stream, &mut keys).unwrap();
                let mut wide = other.clone_htod(&few).unwrap();
                let mut values = other.clone_htod(&few).unwrap();
                sorter.sort_pairs(&other, &mut wide, &mut values).unwrap();
                let mut wide = stream.clone_htod(&few).unwrap();
                let mut indices = stream.alloc_zeros::<u32>(len).unwrap();
                let size = sorter.workspace_size_argsort::<u64>(len).unwrap();
                let mut workspace = stream.alloc_zeros::<u8>(size).unwrap();
                sorter.with_workspace(&mut workspace).argsort(&stream, &mut wide, &mut indices).unwrap();
                assert_eq!(sorter.verdict(&stream), Ok(()), "{len}, {order:?}, run {run}");
            }
        }
        let keys: Vec<u32> = Pattern::Random.generate(600_000, 3);
        let mut array = stream.clone_htod(&keys).unwrap();
        let mut best = stream.alloc_zeros::<u32>(500).unwrap();
        let mut indices = stream.alloc_zeros::<u32>(500).unwrap();
        sorter.top_k_rows(&stream, &array, 6000, 5, &mut best, &mut indices).unwrap();
        sorter.sort_rows(&stream, &mut array, 600).unwrap();
        assert_eq!(sorter.verdict(&stream), Ok(()), "rows, {order:?}");
    }
}

#[test]
fn a_captured_sort_is_verified_at_every_replay() {
    let Caller { context, stream, sorter } = Caller::new(&device_or_skip!());
    // SAFETY: this test's arrays are used on this stream only.
    unsafe { context.disable_event_tracking() };
    let (len, sorter) = (50_000, sorter.verified().unwrap());
    sorter.prepare::<f32>(len).unwrap();
    let mut keys = stream.alloc_zeros::<f32>(len).unwrap();
    stream.synchronize().unwrap();
    stream.begin_capture(CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL).unwrap();
    let sort = sorter.sort(&stream, &mut keys);
    let graph = stream.end_capture(CUgraphInstantiate_flags(0)).unwrap().expect("kernels were captured");
    assert_eq!(sort, Ok(()));
    for seed in [1, 2, 3] {
        stream.memcpy_htod(&Pattern::Random.generate::<f32>(len, seed), &mut keys).unwrap();
        graph.launch().unwrap();
        assert_eq!(sorter.verdict(&stream), Ok(()), "replay {seed}");
    }
    context.check_err().unwrap();
}
