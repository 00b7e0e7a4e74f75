//! Sorts of buffers on a queue that belong to the caller.

use bitonic::key::{F8E4M3, F8E5M2};
use bitonic::opencl::opencl3::command_queue::{
    CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, CL_QUEUE_PROFILING_ENABLE, CommandQueue, enqueue_write_buffer,
};
use bitonic::opencl::opencl3::context::Context;
use bitonic::opencl::opencl3::device::{CL_DEVICE_TYPE_ALL, Device, get_all_devices};
use bitonic::opencl::opencl3::memory::{Buffer, CL_MEM_READ_WRITE};
use bitonic::opencl::opencl3::types::CL_BLOCKING;
use bitonic::opencl::{ResidentSorter, Strided, event_time};
use bitonic::{Error, Key, Order};
use bitonic_testkit::{Pattern, TestKey};
use std::{ptr, thread};

/// A caller with a context and a queue that the library did not make.
struct Caller {
    context: Context,
    queue: CommandQueue,
}

impl Caller {
    fn new() -> Self {
        // Some drivers cannot start up in two threads at once; the library lets one at a time ask.
        bitonic::opencl::devices().expect("an OpenCL loader; install ocl-icd-libopencl1");
        let devices = get_all_devices(CL_DEVICE_TYPE_ALL).expect("an OpenCL driver; install pocl-opencl-icd");
        let device = Device::new(*devices.first().expect("an OpenCL device; install pocl-opencl-icd"));
        let context = Context::from_device(&device).unwrap();
        // SAFETY: the device is the context's.
        let queue =
            unsafe { CommandQueue::create(&context, device.id(), CL_QUEUE_PROFILING_ENABLE) }.unwrap();
        Self { context, queue }
    }

    fn buffer<T>(&self, contents: &[T]) -> Buffer<T> {
        // SAFETY: no host pointer; the write is done before the contents go.
        unsafe {
            let bytes = contents.len().max(1);
            let mut buffer =
                Buffer::create(&self.context, CL_MEM_READ_WRITE, bytes, ptr::null_mut()).unwrap();
            if !contents.is_empty() {
                self.queue.enqueue_write_buffer(&mut buffer, CL_BLOCKING, 0, contents, &[]).unwrap();
            }
            buffer
        }
    }

    fn contents<T: Copy + Default>(&self, buffer: &Buffer<T>, len: usize) -> Vec<T> {
        let mut contents = vec![T::default(); len];
        // SAFETY: the memory is there, and the read is done when the call returns.
        unsafe { self.queue.enqueue_read_buffer(buffer, CL_BLOCKING, 0, &mut contents, &[]) }.unwrap();
        contents
    }
}

fn sorted<K: Key>(keys: &[K], order: Order) -> Vec<K> {
    let mut keys = keys.to_vec();
    keys.sort_by_key(|key| key.to_ordered_bits());
    if order == Order::Descending {
        keys.reverse();
    }
    keys
}

fn check_keys<K: TestKey + Default + PartialEq>(
    caller: &Caller,
    sorter: &ResidentSorter,
    len: usize,
    order: Order,
) {
    let keys: Vec<K> = Pattern::Random.generate(len, 7);
    // Guards behind the keys must stay as they are.
    let guards: Vec<K> = Pattern::Random.generate(100, 8);
    let mut buffer = caller.buffer(&[&keys[..], &guards].concat());
    sorter.clone().order(order).sort(&caller.queue, &mut buffer, len).unwrap();
    let result = caller.contents(&buffer, len + 100);
    assert!(result[..len] == sorted(&keys, order), "{len} keys of {}, {order:?}", K::TYPE);
    assert!(result[len..] == guards, "{len} keys of {}: what follows them was touched", K::TYPE);
}

#[test]
fn keys_are_sorted_where_they_are() {
    let caller = Caller::new();
    let sorter = ResidentSorter::new(&caller.queue).unwrap();
    for len in [0, 1, 2, 100, 4096, 4097, 12_288, 50_000] {
        for order in [Order::Ascending, Order::Descending] {
            check_keys::<u32>(&caller, &sorter, len, order);
            check_keys::<f64>(&caller, &sorter, len, order);
        }
    }
    assert_eq!(sorter.scratch_bytes::<u32>(1 << 30), 0);
    sorter.prepare::<i16>(5000).unwrap();
    check_keys::<i16>(&caller, &sorter, 5000, Order::Ascending);
}

/// Rows with strides, sorted on the device and here; what is between them must stay as it is.
fn check_strided<K: TestKey + Default + PartialEq>(caller: &Caller, sorter: &ResidentSorter, rows: Strided) {
    let Strided { rows: count, row_length, row_stride, stride } = rows;
    let len = (count - 1) * row_stride + (row_length - 1) * stride + 1;
    for order in [Order::Ascending, Order::Descending] {
        let mut keys: Vec<K> = Pattern::Random.generate(len + 5, 7);
        let mut buffer = caller.buffer(&keys);
        let sorter = sorter.clone().order(order);
        sorter.sort_strided_rows(&caller.queue, &mut buffer, len, rows).unwrap();
        for row in 0..count {
            let places = (0..row_length).map(|column| row * row_stride + column * stride);
            let before: Vec<K> = places.clone().map(|place| keys[place]).collect();
            places.zip(sorted(&before, order)).for_each(|(place, key)| keys[place] = key);
        }
        assert!(caller.contents(&buffer, len + 5) == keys, "{rows:?} of {}, {order:?}", K::TYPE);
    }
}

#[test]
fn rows_with_strides_are_sorted_and_what_is_between_them_stays() {
    let caller = Caller::new();
    let sorter = ResidentSorter::new(&caller.queue).unwrap().verified().unwrap();
    // Around the sides of tiles; one row, one column; rows that lie one after the other; strides in both directions.
    for (rows, row_length, row_stride) in [
        (1, 1, 1),
        (3, 7, 9),
        (31, 33, 40),
        (32, 32, 32),
        (65, 100, 130),
        (1, 500, 500),
        (500, 1, 3),
        (5, 3000, 3001),
    ] {
        check_strided::<u32>(&caller, &sorter, Strided::rows(rows, row_length, row_stride));
        check_strided::<u32>(&caller, &sorter, Strided::columns(rows, row_length, row_stride));
    }
    for rows in [
        Strided { rows: 20, row_length: 50, row_stride: 200, stride: 3 },
        Strided { rows: 50, row_length: 20, row_stride: 3, stride: 200 },
    ] {
        check_strided::<u8>(&caller, &sorter, rows);
        check_strided::<i16>(&caller, &sorter, rows);
        check_strided::<f64>(&caller, &sorter, rows);
        check_strided::<u128>(&caller, &sorter, rows);
    }
    sorter.verdict(&caller.queue).unwrap();
}

#[test]
fn rows_that_overlap_or_leave_the_buffer_are_refused_and_nothing_is_moved() {
    let caller = Caller::new();
    let sorter = ResidentSorter::new(&caller.queue).unwrap();
    let keys: Vec<u32> = Pattern::Random.generate(100, 1);
    let mut buffer = caller.buffer(&keys);
    for (rows, len, reason) in [
        (Strided::rows(3, 20, 19), 100, "overlap"),
        (Strided { rows: 2, row_length: 5, row_stride: 1, stride: 0 }, 100, "overlap"),
        (Strided::rows(5, 20, 21), 100, "reach over 104 keys"),
        (Strided::columns(5, 20, 21), 100, "reach over 104 keys"),
    ] {
        let refused = sorter.sort_strided_rows(&caller.queue, &mut buffer, len, rows).map(drop).unwrap_err();
        assert!(matches!(&refused, Error::Strides { .. }), "{refused}");
        assert!(refused.to_string().contains(reason) && refused.to_string().contains("give"), "{refused}");
    }
    let refused =
        sorter.sort_strided_rows(&caller.queue, &mut buffer, 200, Strided::rows(5, 20, 40)).map(drop);
    assert!(matches!(refused, Err(Error::Device { .. })), "the buffer is shorter than it was said to be");
    for nothing in [Strided::rows(0, 5, 9), Strided::rows(5, 0, 9)] {
        sorter.sort_strided_rows(&caller.queue, &mut buffer, 100, nothing).unwrap();
    }
    assert!(caller.contents(&buffer, 100) == keys);
}

#[test]
fn rows_are_sorted_each_for_itself() {
    let caller = Caller::new();
    let sorter = ResidentSorter::new(&caller.queue).unwrap();
    for (row_length, rows) in [(1, 10), (7, 300), (1000, 9), (5000, 3)] {
        let keys: Vec<u32> = Pattern::Random.generate(row_length * rows, 3);
        let mut buffer = caller.buffer(&keys);
        sorter.sort_rows(&caller.queue, &mut buffer, keys.len(), row_length).unwrap();
        let expected: Vec<u32> =
            keys.chunks(row_length).flat_map(|row| sorted(row, Order::Ascending)).collect();
        assert!(caller.contents(&buffer, keys.len()) == expected, "{rows} rows of {row_length}");
    }
    let refused = sorter.sort_rows(&caller.queue, &mut caller.buffer(&[1_u32; 10]), 10, 3);
    assert!(matches!(refused, Err(Error::Rows { len: 10, row_length: 3 })));
}

#[test]
fn values_travel_and_indices_break_ties() {
    let caller = Caller::new();
    let sorter = ResidentSorter::new(&caller.queue).unwrap();
    for len in [1, 1000, 10_007] {
        let keys: Vec<i32> = Pattern::FewUnique.generate(len, 5);
        let mut buffer = caller.buffer(&keys);
        let mut values = caller.buffer(&(0..len as u64).collect::<Vec<_>>());
        sorter.sort_pairs(&caller.queue, &mut buffer, &mut values, len).unwrap();
        let (after, values) = (caller.contents(&buffer, len), caller.contents(&values, len));
        assert!(after == sorted(&keys, Order::Ascending));
        assert!(values.iter().zip(&after).all(|(&value, &key)| keys[value as usize] == key));

        let mut buffer = caller.buffer(&keys);
        let mut indices = caller.buffer(&vec![0_u32; len]);
        let event = sorter.argsort(&caller.queue, &mut buffer, &mut indices, len).unwrap();
        event.wait().unwrap();
        assert!(event_time(&event).unwrap().as_nanos() > 0);
        let indices = caller.contents(&indices, len);
        let mut expected: Vec<u32> = (0..len as u32).collect();
        expected.sort_by_key(|&index| keys[index as usize]);
        assert!(indices == expected, "{len} indices");
    }
}

#[test]
fn buffers_that_are_too_small_or_of_other_types_are_refused() {
    let caller = Caller::new();
    let sorter = ResidentSorter::new(&caller.queue).unwrap();
    let mut keys = caller.buffer(&[3_u64, 2, 1]);
    let refused = sorter.sort(&caller.queue, &mut keys, 4).unwrap_err();
    assert!(refused.to_string().contains("32 bytes are to be sorted, but the buffer has 24"), "{refused}");
    let mut values = caller.buffer(&[1_u8; 3]);
    let refused = sorter.sort_pairs(&caller.queue, &mut keys, &mut values, 3).unwrap_err();
    assert!(refused.to_string().contains("numbers of 32 or 64 bits"), "{refused}");
    let mut short = caller.buffer(&[1_u32; 2]);
    assert!(matches!(sorter.argsort(&caller.queue, &mut keys, &mut short, 3), Err(Error::Device { .. })));
    assert_eq!(caller.contents(&keys, 3), [3, 2, 1]);
}

#[test]
fn buffers_and_queues_of_another_context_are_refused() {
    let (caller, stranger) = (Caller::new(), Caller::new());
    let sorter = ResidentSorter::new(&caller.queue).unwrap();
    let mut keys = stranger.buffer(&[3_u32, 2, 1]);
    for queue in [&caller.queue, &stranger.queue] {
        let refused = sorter.sort(queue, &mut keys, 3).unwrap_err();
        assert!(refused.to_string().contains("another context"), "{refused}");
    }
    let mut own = caller.buffer(&[3_u32, 2, 1]);
    let refused = sorter.sort(&stranger.queue, &mut own, 3).unwrap_err();
    assert!(refused.to_string().contains("another context"), "{refused}");
    assert_eq!(stranger.contents(&keys, 3), [3, 2, 1]);
}

#[test]
fn lengths_that_no_buffer_has_are_refused() {
    let caller = Caller::new();
    let sorter = ResidentSorter::new(&caller.queue).unwrap();
    let (mut keys, mut values) = (caller.buffer(&[3_u32, 2, 1]), caller.buffer(&[1_u64; 3]));
    let mut indices = caller.buffer(&[0_u32; 3]);
    for len in [4, 1 << 30, 1 << 62, usize::MAX / 2, usize::MAX] {
        let queue = &caller.queue;
        assert!(matches!(sorter.sort(queue, &mut keys, len), Err(Error::Device { .. })), "{len}");
        assert!(
            matches!(sorter.sort_pairs(queue, &mut keys, &mut values, len), Err(Error::Device { .. })),
            "{len}"
        );
        assert!(
            matches!(sorter.argsort(queue, &mut keys, &mut indices, len), Err(Error::Device { .. })),
            "{len}"
        );
    }
    assert_eq!(caller.contents(&keys, 3), [3, 2, 1]);
}

#[test]
fn a_queue_that_does_not_keep_its_order_is_refused() {
    let caller = Caller::new();
    let device = caller.context.default_device();
    // SAFETY: the device is the context's.
    let unordered =
        unsafe { CommandQueue::create(&caller.context, device, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE) };
    let sorter = ResidentSorter::new(&caller.queue).unwrap();
    let mut keys = caller.buffer(&[3_u32, 2, 1]);
    let refused = sorter.sort(&unordered.unwrap(), &mut keys, 3).unwrap_err();
    assert!(refused.to_string().contains("out of order"), "{refused}");
    assert_eq!(caller.contents(&keys, 3), [3, 2, 1]);
}

/// What comes out wrong on purpose is in the library's own tests, where somebody else can sort.
#[test]
fn verified_sorts_of_every_kind_are_right() {
    let caller = Caller::new();
    let queue = &caller.queue;
    let sorter = ResidentSorter::new(queue).unwrap().verified().unwrap();
    sorter.prepare::<u32>(5000).unwrap();
    for order in [Order::Ascending, Order::Descending] {
        let sorter = sorter.clone().order(order);
        for len in [0, 1, 100, 5000, 50_000] {
            check_keys::<u32>(&caller, &sorter, len, order);
            check_keys::<f64>(&caller, &sorter, len, order);
        }
        let keys: Vec<i32> = Pattern::FewUnique.generate(6000, 5);
        let mut buffer = caller.buffer(&keys);
        let mut values = caller.buffer(&(0..6000).collect::<Vec<u64>>());
        let mut indices = caller.buffer(&[7_u32; 6000]);
        sorter.sort_rows(queue, &mut buffer, 6000, 60).unwrap();
        sorter.sort_pairs(queue, &mut buffer, &mut values, 6000).unwrap();
        sorter.argsort(queue, &mut buffer, &mut indices, 6000).unwrap();
        let (input, mut best) = (caller.buffer(&keys), caller.buffer(&[0_i32; 50]));
        let event = sorter.top_k_rows(queue, &input, (6000, 600), 5, &mut best, &mut indices).unwrap();
        event.wait().unwrap();
        let (offsets, shape) = (caller.buffer(&[7_u32, 7, 9, 400, 5_000]), (4, 4_600));
        let mut segments = caller.buffer(&keys);
        sorter.argsort_segments(queue, &mut segments, &mut indices, 6000, &offsets, shape).unwrap();
        sorter.sort_pairs_segments(queue, &mut segments, &mut values, 6000, &offsets, shape).unwrap();
        let shape = (6000, &offsets, 4, 4_600);
        sorter.top_k_segments(queue, &input, shape, 5, &mut best, &mut indices).unwrap();
        assert_eq!(sorter.verdict(queue), Ok(()), "{order:?}");
    }
}

#[test]
fn a_sorter_that_is_not_verified_gives_no_verdict() {
    let caller = Caller::new();
    let sorter = ResidentSorter::new(&caller.queue).unwrap();
    assert_eq!(sorter.verdict_memory(), None);
    let refused = sorter.verdict(&caller.queue).unwrap_err();
    assert!(refused.to_string().contains("make it with verified()"), "{refused}");
}

#[test]
fn the_verdict_is_a_word_on_the_device_until_it_is_asked_for() {
    let caller = Caller::new();
    let sorter = ResidentSorter::new(&caller.queue).unwrap().verified().unwrap();
    let mut keys = caller.buffer(&[3_u32, 1, 2]);
    sorter.sort(&caller.queue, &mut keys, 3).unwrap();
    for (bits, finding) in [(1_u32, "it is not in order"), (3, "elements were lost, doubled or changed")] {
        let (queue, verdict) = (caller.queue.get(), sorter.verdict_memory().unwrap());
        // SAFETY: the word is there as long as the sorter is, and the write is done when the call returns.
        let written = unsafe {
            let word = ptr::from_ref(&bits).cast_mut().cast();
            enqueue_write_buffer(queue, verdict, CL_BLOCKING, 0, 4, word, 0, ptr::null())
        };
        written.unwrap();
        let refused = sorter.verdict(&caller.queue);
        assert!(matches!(&refused, Err(Error::WrongResult { .. })), "{refused:?}");
        assert!(refused.unwrap_err().to_string().contains(finding), "{bits}: {finding}");
        assert_eq!(sorter.verdict(&caller.queue), Ok(()));
    }
}

/// They share the memory of the checks: one waits for the other.
#[test]
fn clones_on_several_queues_and_threads_disturb_no_verdict() {
    let caller = Caller::new();
    let sorter = ResidentSorter::new(&caller.queue).unwrap().verified().unwrap();
    let device = caller.context.default_device();
    thread::scope(|scope| {
        for seed in 0..4 {
            let (caller, sorter) = (&caller, sorter.clone());
            // SAFETY: the device is the context's.
            let queue = unsafe { CommandQueue::create(&caller.context, device, 0) }.unwrap();
            scope.spawn(move || {
                for run in 0..5 {
                    let keys: Vec<u32> = Pattern::Random.generate(10_000, 10 * seed + run);
                    let mut buffer = caller.buffer(&keys);
                    sorter.sort(&queue, &mut buffer, 10_000).unwrap();
                    queue.finish().unwrap();
                    assert!(caller.contents(&buffer, 10_000) == sorted(&keys, Order::Ascending));
                }
            });
        }
    });
    assert_eq!(sorter.verdict(&caller.queue), Ok(()));
}

#[test]
fn segments_are_sorted_where_they_are() {
    let caller = Caller::new();
    let lengths = [0_usize, 1, 5, 100, 9_000, 2, 0, 513, 3];
    let mut offsets = vec![7_usize];
    offsets.extend(lengths.iter().scan(7, |end, length| {
        *end += length;
        Some(*end)
    }));
    let (len, segments) = (offsets[lengths.len()] + 9, lengths.len());
    let narrow = caller.buffer(&offsets.iter().map(|&offset| offset as u32).collect::<Vec<_>>());
    let wide = caller.buffer(&offsets.iter().map(|&offset| offset as u64).collect::<Vec<_>>());
    let sorter = ResidentSorter::new(&caller.queue).unwrap();
    let keys: Vec<u32> = Pattern::Random.generate(len, 3);
    let mut expected = keys.clone();
    bitonic::sort_segments(&mut expected, &offsets).unwrap();
    for longest in [9_000, len] {
        let mut buffer = caller.buffer(&keys);
        sorter.sort_segments(&caller.queue, &mut buffer, len, &narrow, (segments, longest)).unwrap();
        assert_eq!(caller.contents(&buffer, len), expected);
        let mut buffer = caller.buffer(&keys);
        sorter.sort_segments(&caller.queue, &mut buffer, len, &wide, (segments, longest)).unwrap();
        assert_eq!(caller.contents(&buffer, len), expected);
    }
    let (mut buffer, mut indices) = (caller.buffer(&keys), caller.buffer(&vec![!0_u32; len]));
    sorter.argsort_segments(&caller.queue, &mut buffer, &mut indices, len, &narrow, (segments, len)).unwrap();
    let found = caller.contents(&indices, len);
    let in_segments = bitonic::Sorter::new().argsort_segments(&keys, &offsets).unwrap();
    assert!(found[7..len - 9].iter().map(|&index| index as usize).eq(in_segments));
    let (mut buffer, mut values) =
        (caller.buffer(&keys), caller.buffer(&(0..len as u32).collect::<Vec<_>>()));
    sorter
        .sort_pairs_segments(&caller.queue, &mut buffer, &mut values, len, &narrow, (segments, len))
        .unwrap();
    let moved = caller.contents(&values, len);
    assert!(moved.iter().map(|&value| keys[value as usize]).eq(expected));
    // Longer than was said: left as it is, and others are sorted.
    let mut signed = caller.buffer(&keys.iter().map(|&key| key as i32).collect::<Vec<_>>());
    sorter.sort_segments(&caller.queue, &mut signed, len, &narrow, (segments, 8_999)).unwrap();
    let found = caller.contents(&signed, len);
    let long = offsets[4]..offsets[5];
    assert!(found[long.clone()].iter().zip(&keys[long]).all(|(&found, &key)| found == key as i32));
    assert!(found[offsets[3]..offsets[4]].is_sorted() && found[offsets[7]..offsets[8]].is_sorted());
    let refused = sorter.sort_segments(&caller.queue, &mut buffer, len, &narrow, (segments + 1, len));
    assert!(matches!(refused, Err(Error::Device { .. })), "there are too few offsets: {:?}", refused.err());
}

#[test]
fn the_best_keys_of_segments_are_found_where_they_are() {
    let caller = Caller::new();
    let lengths = [0_usize, 1, 5, 100, 40_000, 2, 0, 513, 3, 16_384];
    let mut offsets = vec![7_usize];
    offsets.extend(lengths.iter().scan(7, |end, length| {
        *end += length;
        Some(*end)
    }));
    let (len, segments, k) = (offsets[lengths.len()] + 9, lengths.len(), 6);
    let narrow = caller.buffer(&offsets.iter().map(|&offset| offset as u32).collect::<Vec<_>>());
    let wide = caller.buffer(&offsets.iter().map(|&offset| offset as u64).collect::<Vec<_>>());
    let sorter = ResidentSorter::new(&caller.queue).unwrap().order(Order::Descending);
    let keys: Vec<u32> = Pattern::FewUnique.generate(len, 3);
    let expected =
        bitonic::Sorter::new().engine(bitonic::Engine::Cpu).top_k_segments(&keys, &offsets, k).unwrap();
    let input = caller.buffer(&keys);
    for (longest, is_wide) in [(40_000, false), (len, true), (39_999, false)] {
        let (mut best, mut indices) = (caller.buffer(&[7_u32; 60]), caller.buffer(&[8_u32; 60]));
        let queue = &caller.queue;
        let queued = match is_wide {
            false => {
                let shape = (len, &narrow, segments, longest);
                sorter.top_k_segments(queue, &input, shape, k, &mut best, &mut indices)
            }
            true => {
                let shape = (len, &wide, segments, longest);
                sorter.top_k_segments(queue, &input, shape, k, &mut best, &mut indices)
            }
        };
        queued.unwrap();
        let (best, indices) = (caller.contents(&best, 60), caller.contents(&indices, 60));
        let mut found = 0;
        for (segment, length) in lengths.into_iter().enumerate() {
            let count = if length > longest { 0 } else { length.min(k) };
            let (written, untouched) =
                (segment * k..segment * k + count, segment * k + count..(segment + 1) * k);
            let of_cpu = found..found + count;
            assert_eq!(best[written.clone()], expected.keys[of_cpu.clone()], "{length}");
            let places = indices[written].iter().map(|&index| index as usize);
            assert!(places.eq(expected.indices[of_cpu].iter().copied()), "{length}");
            assert!(best[untouched.clone()].iter().all(|&key| key == 7), "{length}");
            assert!(indices[untouched].iter().all(|&index| index == 8), "{length}");
            found += length.min(k);
        }
    }
    let (mut best, mut indices) = (caller.buffer(&[7_u32; 59]), caller.buffer(&[8_u32; 60]));
    let refused = sorter.top_k_segments(
        &caller.queue,
        &input,
        (len, &narrow, segments, len),
        k,
        &mut best,
        &mut indices,
    );
    assert!(matches!(refused, Err(Error::Device { .. })), "there are too few places: {:?}", refused.err());
}

#[test]
fn nan_of_both_signs_is_last_where_that_is_asked_for() {
    let caller = Caller::new();
    let keys: Vec<f32> = (0..5000)
        .map(|place| match place % 7 {
            0 => f32::NAN,
            1 => -f32::NAN,
            2 => f32::NEG_INFINITY,
            3 => f32::INFINITY,
            _ => (place as f32 - 2500.0) * 0.5,
        })
        .collect();
    for order in [Order::Ascending, Order::Descending] {
        let sorter = ResidentSorter::new(&caller.queue).unwrap().order(order).nan_last(true);
        let (mut buffer, mut indices) = (caller.buffer(&keys), caller.buffer(&vec![0_u32; keys.len()]));
        sorter.argsort(&caller.queue, &mut buffer, &mut indices, keys.len()).unwrap();
        let found = caller.contents(&buffer, keys.len());
        let numbers: Vec<f32> = keys.iter().copied().filter(|key| !key.is_nan()).collect();
        assert_eq!(found[..numbers.len()], sorted(&numbers, order), "{order:?}");
        assert!(found[numbers.len()..].iter().all(|key| key.is_nan()));
        // Every bit comes back.
        let moved = caller.contents(&indices, keys.len());
        let of_index = |&index: &u32| keys[index as usize].to_bits();
        assert!(moved.iter().map(of_index).eq(found.iter().map(|key| key.to_bits())), "{order:?}");
        let (mut best, mut indices) = (caller.buffer(&[0.0_f32; 9]), caller.buffer(&[0_u32; 9]));
        let buffer = caller.buffer(&keys);
        let shape = (keys.len(), keys.len());
        sorter.top_k_rows(&caller.queue, &buffer, shape, 9, &mut best, &mut indices).unwrap();
        assert_eq!(caller.contents(&best, 9), found[..9], "{order:?}");
    }
    // Integers have no NaN.
    let sorter = ResidentSorter::new(&caller.queue).unwrap().nan_last(true);
    let keys: Vec<i32> = Pattern::Random.generate(3000, 3);
    let mut buffer = caller.buffer(&keys);
    sorter.sort(&caller.queue, &mut buffer, keys.len()).unwrap();
    assert_eq!(caller.contents(&buffer, keys.len()), sorted(&keys, Order::Ascending));
}

/// All bits of both types of 16 bits and of 8, which have their NaNs at different places.
#[test]
fn nan_of_narrow_floats_is_last_and_nothing_else() {
    fn check<K: TestKey + Copy + Default>(caller: &Caller, of_bits: fn(u16) -> K, is_nan: fn(K) -> bool) {
        let keys: Vec<K> = (0..=u16::MAX).map(of_bits).collect();
        for order in [Order::Ascending, Order::Descending] {
            let sorter = ResidentSorter::new(&caller.queue).unwrap().order(order).nan_last(true);
            let mut buffer = caller.buffer(&keys);
            sorter.sort(&caller.queue, &mut buffer, keys.len()).unwrap();
            let found = caller.contents(&buffer, keys.len());
            let numbers: Vec<K> = keys.iter().copied().filter(|&key| !is_nan(key)).collect();
            let expected = sorted(&numbers, order);
            let is_same = |(one, other): (&K, &K)| one.to_ordered_bits() == other.to_ordered_bits();
            assert!(found.iter().zip(&expected).all(is_same), "{} {order:?}", K::TYPE);
            assert!(found[numbers.len()..].iter().all(|&key| is_nan(key)), "{} {order:?}", K::TYPE);
        }
    }
    let caller = Caller::new();
    check(&caller, half::f16::from_bits, half::f16::is_nan);
    check(&caller, half::bf16::from_bits, half::bf16::is_nan);
    check(&caller, |bits| F8E4M3::from_bits(bits as u8), F8E4M3::is_nan);
    check(&caller, |bits| F8E5M2::from_bits(bits as u8), F8E5M2::is_nan);
}
