//! Sorts on a caller's stream with memory to work in: the same results, whatever the length, as often as they are asked for.

use crate::device_or_skip;
use crate::resident::{Caller, sorted, sorted_indices};
use bitonic::cuda::cudarc::driver::DeviceRepr;
use bitonic::cuda::cudarc::driver::sys::{CUgraphInstantiate_flags, CUstreamCaptureMode};
use bitonic::cuda::{ResidentSorter, Strided};
use bitonic::{Engine, Error, Order, Sorter};
use bitonic_testkit::{Pattern, TestKey};

/// Lengths that tiles, clusters and every matrix sort, and that fill none of them.
const LENGTHS: [usize; 14] = [
    1, 3000, 5000, 10_000, 20_000, 50_000, 100_001, 200_001, 400_001, 1_000_003, 2_000_001, 3_000_001,
    4_194_305, 9_000_001,
];

/// Three times, because from the second on it is a graph that sorts.
fn check<K: TestKey + DeviceRepr + PartialEq>(caller: &Caller, len: usize, pattern: Pattern, order: Order) {
    let Caller { stream, sorter, .. } = caller;
    let sorter = sorter.clone().order(order);
    // Guards before and behind the keys must stay as they are, and so must those behind the workspace.
    let all: Vec<K> = pattern.generate(len + 200, 7);
    let part = 100..100 + len;
    let mut expected = all[part.clone()].to_vec();
    Sorter::new().engine(Engine::Cpu).order(order).sort(&mut expected).unwrap();
    let size = sorter.workspace_size::<K>(len);
    let mut memory = stream.clone_htod(&vec![0xA5_u8; size + 64]).unwrap();
    let mut array = stream.clone_htod(&all).unwrap();
    for run in 1..=3 {
        stream.memcpy_htod(&all, &mut array).unwrap();
        let mut workspace = memory.slice_mut(..size);
        sorter.with_workspace(&mut workspace).sort(stream, &mut array.slice_mut(part.clone())).unwrap();
        let result = stream.clone_dtoh(&array).unwrap();
        let what = format!("{len} {}, {pattern:?}, {order:?}, run {run}", K::TYPE);
        let bits = |keys: &[K]| keys.iter().map(|key| key.to_ordered_bits()).collect::<Vec<_>>();
        assert!(bits(&result[part.clone()]) == bits(&expected), "{what}");
        assert!(bits(&result[..part.start]) == bits(&all[..part.start]), "{what}: before");
        assert!(bits(&result[part.end..]) == bits(&all[part.end..]), "{what}: behind");
        assert!(stream.clone_dtoh(&memory).unwrap()[size..] == [0xA5; 64], "{what}: behind the workspace");
    }
    check_to_another_array(caller, &sorter, &all, &expected, &format!("{len} {}, {pattern:?}", K::TYPE));
}

/// Sorts all but the first and last 100 keys to another array, three times, as above, and once with checks.
fn check_to_another_array<K: TestKey + DeviceRepr + PartialEq>(
    Caller { stream, .. }: &Caller,
    sorter: &ResidentSorter,
    all: &[K],
    expected: &[K],
    what: &str,
) {
    let (len, bits) =
        (expected.len(), |keys: &[K]| keys.iter().map(|key| key.to_ordered_bits()).collect::<Vec<_>>());
    let keys = stream.clone_htod(all).unwrap();
    let mut workspace = stream.alloc_zeros::<u8>(sorter.workspace_size::<K>(len)).unwrap();
    let mut array = stream.clone_htod(all).unwrap();
    let verified = sorter.clone().verified().unwrap();
    for (run, sorter) in [sorter, sorter, sorter, &verified].into_iter().enumerate() {
        stream.memcpy_htod(all, &mut array).unwrap();
        let (source, mut target) = (keys.slice(100..100 + len), array.slice_mut(50..50 + len));
        sorter.with_workspace(&mut workspace).sort_to(stream, &source, &mut target).unwrap();
        let result = stream.clone_dtoh(&array).unwrap();
        assert!(bits(&result[50..50 + len]) == bits(expected), "{what}, run {run} to another array");
        assert!(bits(&result[..50]) == bits(&all[..50]), "{what}: before");
        assert!(bits(&result[50 + len..]) == bits(&all[50 + len..]), "{what}: behind");
        assert!(bits(&stream.clone_dtoh(&keys).unwrap()) == bits(all), "{what}: the keys");
    }
    verified.verdict(stream).unwrap();
}

#[test]
fn rows_are_sorted_to_another_array_and_arrays_of_another_length_are_refused() {
    let Caller { stream, sorter, .. } = Caller::new(&device_or_skip!());
    for (rows, row_length) in [(1000, 100), (3, 70_001), (2, 1_000_003)] {
        let keys: Vec<u32> = Pattern::Random.generate(rows * row_length, 3);
        let mut expected = keys.clone();
        expected.chunks_mut(row_length).for_each(<[u32]>::sort_unstable);
        let array = stream.clone_htod(&keys).unwrap();
        let mut sorted = stream.alloc_zeros::<u32>(keys.len()).unwrap();
        let size = sorter.workspace_size_rows::<u32>(rows, row_length);
        let mut workspace = stream.alloc_zeros::<u8>(size).unwrap();
        let mut sorts = sorter.with_workspace(&mut workspace);
        sorts.sort_rows_to(&stream, &array, &mut sorted, row_length).unwrap();
        assert!(stream.clone_dtoh(&sorted).unwrap() == expected, "{rows} rows of {row_length}");
        let mut short = stream.alloc_zeros::<u32>(keys.len() - 1).unwrap();
        let refused = sorts.sort_rows_to(&stream, &array, &mut short, row_length);
        assert!(matches!(refused, Err(Error::OutputLength { .. })), "{refused:?}");
        let refused = sorts.argsort_to(&stream, &array, &mut sorted, &mut short);
        assert!(matches!(refused, Err(Error::LengthMismatch { .. })), "{refused:?}");
    }
}

#[test]
fn keys_of_every_width_are_sorted() {
    let caller = Caller::new(&device_or_skip!());
    for len in LENGTHS {
        check::<u32>(&caller, len, Pattern::Random, Order::Ascending);
        check::<f64>(&caller, len, Pattern::Random, Order::Descending);
    }
    for len in [50_000, 1_000_003] {
        check::<i8>(&caller, len, Pattern::Random, Order::Ascending);
        check::<u16>(&caller, len, Pattern::Random, Order::Descending);
        check::<i128>(&caller, len, Pattern::Random, Order::Ascending);
        check::<f32>(&caller, len, Pattern::Random, Order::Ascending);
    }
}

#[test]
fn keys_of_every_pattern_are_sorted() {
    let caller = Caller::new(&device_or_skip!());
    for &pattern in Pattern::ALL {
        for len in [20_000, 200_001, 1_000_003, 5_000_011] {
            check::<u32>(&caller, len, pattern, Order::Ascending);
            check::<i64>(&caller, len, pattern, Order::Descending);
        }
    }
}

/// Rows with strides; three times, as above. What is between the rows must stay as it is.
fn check_strided<K: TestKey + DeviceRepr + PartialEq>(caller: &Caller, rows: Strided) {
    let Caller { stream, sorter, .. } = caller;
    let Strided { rows: count, row_length, row_stride, stride } = rows;
    let len = (count - 1) * row_stride + (row_length - 1) * stride + 1;
    let keys: Vec<K> = Pattern::Random.generate(len + 7, 5);
    let mut expected = keys.clone();
    for row in 0..count {
        let places = (0..row_length).map(|column| row * row_stride + column * stride);
        let mut before: Vec<K> = places.clone().map(|place| keys[place]).collect();
        Sorter::new().engine(Engine::Cpu).sort(&mut before).unwrap();
        places.zip(before).for_each(|(place, key)| expected[place] = key);
    }
    let mut array = stream.clone_htod(&keys).unwrap();
    let size = sorter.workspace_size_strided_rows::<K>(rows);
    let mut memory = stream.clone_htod(&vec![0xA5_u8; size + 64]).unwrap();
    for run in 1..=3 {
        stream.memcpy_htod(&keys, &mut array).unwrap();
        let mut workspace = memory.slice_mut(..size);
        sorter.with_workspace(&mut workspace).sort_strided_rows(stream, &mut array, rows).unwrap();
        assert!(stream.clone_dtoh(&array).unwrap() == expected, "{rows:?} of {}, run {run}", K::TYPE);
        assert!(stream.clone_dtoh(&memory).unwrap()[size..] == [0xA5; 64], "{rows:?}: behind the workspace");
    }
}

#[test]
fn rows_with_strides_are_sorted_and_what_is_between_them_stays() {
    let caller = Caller::new(&device_or_skip!());
    for (rows, row_length, row_stride) in [
        (1, 1, 1),
        (3, 7, 9),
        (31, 33, 40),
        (32, 32, 32),
        (1000, 100, 130),
        (500, 1, 3),
        (5, 300_001, 300_100),
    ] {
        check_strided::<u32>(&caller, Strided::rows(rows, row_length, row_stride));
        check_strided::<u32>(&caller, Strided::columns(rows, row_length, row_stride));
        check_strided::<u64>(&caller, Strided::columns(rows, row_length, row_stride));
    }
    for rows in [
        Strided { rows: 200, row_length: 50, row_stride: 200, stride: 3 },
        Strided { rows: 50, row_length: 200, row_stride: 3, stride: 200 },
    ] {
        check_strided::<u8>(&caller, rows);
        check_strided::<i16>(&caller, rows);
        check_strided::<u128>(&caller, rows);
    }
    let Caller { stream, sorter, .. } = &caller;
    let mut array = stream.clone_htod(&[3_u32; 100]).unwrap();
    let mut workspace = stream.alloc_zeros::<u8>(1000).unwrap();
    let mut sort = |rows| sorter.with_workspace(&mut workspace).sort_strided_rows(stream, &mut array, rows);
    for rows in [Strided::rows(3, 20, 19), Strided::rows(5, 20, 21)] {
        assert!(matches!(sort(rows), Err(Error::Strides { .. })), "{rows:?}");
    }
    let mut small = stream.alloc_zeros::<u8>(16).unwrap();
    let refused =
        sorter.with_workspace(&mut small).sort_strided_rows(stream, &mut array, Strided::rows(5, 10, 20));
    assert!(matches!(refused, Err(Error::Device { .. })), "{refused:?}");
}

#[test]
fn values_travel_and_indices_break_ties() {
    let Caller { stream, sorter, .. } = Caller::new(&device_or_skip!());
    for len in [3000, 10_007, 70_001, 300_001, 1_000_003, 5_000_011] {
        let keys: Vec<i32> = Pattern::FewUnique.generate(len, 5);
        let size = sorter.workspace_size_pairs::<i32, u32>(len).unwrap();
        let mut workspace = stream.alloc_zeros::<u8>(size).unwrap();
        let mut array = stream.clone_htod(&keys).unwrap();
        let mut values = stream.clone_htod(&(0..len as u32).collect::<Vec<_>>()).unwrap();
        sorter.with_workspace(&mut workspace).sort_pairs(&stream, &mut array, &mut values).unwrap();
        let (after, values) = (stream.clone_dtoh(&array).unwrap(), stream.clone_dtoh(&values).unwrap());
        assert!(after == sorted(&keys, Order::Ascending), "{len}");
        assert!(values.iter().zip(&after).all(|(&value, &key)| keys[value as usize] == key), "{len}");
        let mut places = values;
        places.sort_unstable();
        assert!(places.into_iter().eq(0..len as u32), "{len}: every value is there once");

        let size = sorter.workspace_size_argsort::<i32>(len).unwrap();
        let mut workspace = stream.alloc_zeros::<u8>(size).unwrap();
        let mut array = stream.clone_htod(&keys).unwrap();
        let mut indices = stream.alloc_zeros::<u32>(len).unwrap();
        sorter.with_workspace(&mut workspace).argsort(&stream, &mut array, &mut indices).unwrap();
        assert!(stream.clone_dtoh(&indices).unwrap() == sorted_indices(&keys), "{len} indices");

        let (source, mut indices) =
            (stream.clone_htod(&keys).unwrap(), stream.alloc_zeros::<u32>(len).unwrap());
        let mut sorts = sorter.with_workspace(&mut workspace);
        sorts.argsort_to(&stream, &source, &mut array, &mut indices).unwrap();
        assert!(
            stream.clone_dtoh(&indices).unwrap() == sorted_indices(&keys),
            "{len} indices, to another array"
        );
        assert!(
            stream.clone_dtoh(&array).unwrap() == sorted(&keys, Order::Ascending),
            "{len} to another array"
        );
        assert!(stream.clone_dtoh(&source).unwrap() == keys, "{len}: the keys stay");
    }
}

#[test]
fn rows_are_sorted_each_for_itself() {
    let Caller { stream, sorter, .. } = Caller::new(&device_or_skip!());
    for (row_length, rows) in
        [(5000, 30), (16_384, 20), (20_001, 9), (70_000, 5), (1_000_003, 3), (4_300_000, 2)]
    {
        let keys: Vec<u32> = Pattern::Random.generate(row_length * rows, 3);
        let mut array = stream.clone_htod(&keys).unwrap();
        let mut workspace =
            stream.alloc_zeros::<u8>(sorter.workspace_size_rows::<u32>(rows, row_length)).unwrap();
        sorter.with_workspace(&mut workspace).sort_rows(&stream, &mut array, row_length).unwrap();
        let expected: Vec<u32> =
            keys.chunks(row_length).flat_map(|row| sorted(row, Order::Ascending)).collect();
        assert!(stream.clone_dtoh(&array).unwrap() == expected, "{rows} rows of {row_length}");
    }
}

#[test]
fn a_sort_with_a_workspace_can_be_captured() {
    let Caller { context, stream, sorter } = Caller::new(&device_or_skip!());
    // SAFETY: this test's arrays are used on this stream only.
    unsafe { context.disable_event_tracking() };
    let len = 100_000;
    sorter.prepare::<u32>(len).unwrap();
    let mut keys = stream.alloc_zeros::<u32>(len).unwrap();
    let mut workspace = stream.alloc_zeros::<u8>(sorter.workspace_size::<u32>(len)).unwrap();
    stream.synchronize().unwrap();

    stream.begin_capture(CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL).unwrap();
    let sort = sorter.with_workspace(&mut workspace).sort(&stream, &mut keys);
    let graph = stream.end_capture(CUgraphInstantiate_flags(0)).unwrap().expect("kernels were captured");
    assert_eq!(sort, Ok(()));
    for seed in [1, 2] {
        let random: Vec<u32> = Pattern::Random.generate(len, seed);
        stream.memcpy_htod(&random, &mut keys).unwrap();
        graph.launch().unwrap();
        assert!(stream.clone_dtoh(&keys).unwrap() == sorted(&random, Order::Ascending), "replay {seed}");
    }
    context.check_err().unwrap();
}

#[test]
fn a_workspace_that_is_too_small_or_begins_anywhere_is_refused() {
    let Caller { stream, sorter, .. } = Caller::new(&device_or_skip!());
    let keys: Vec<u32> = Pattern::Reversed.generate(100_000, 1);
    let mut array = stream.clone_htod(&keys).unwrap();
    let size = sorter.workspace_size::<u32>(keys.len());
    assert!(size >= 4 * keys.len());
    let mut memory = stream.alloc_zeros::<u8>(size + 1).unwrap();
    for (part, reason) in [(0..size - 1, "needs"), (1..size + 1, "multiple of 16")] {
        let refused =
            sorter.with_workspace(&mut memory.slice_mut(part)).sort(&stream, &mut array).unwrap_err();
        assert!(refused.to_string().contains(reason), "{refused}");
    }
    assert_eq!(stream.clone_dtoh(&array).unwrap(), keys);
}

/// Three quarters of 2^28 keys and 17 more, in place and not, with guards on both sides.
#[test]
fn many_keys_are_sorted() {
    let Caller { stream, sorter, .. } = Caller::new(&device_or_skip!());
    let len = (3 << 26) + 17;
    let all: Vec<u32> = Pattern::Random.generate(len + 200, 11);
    let part = 100..100 + len;
    let mut expected = all[part.clone()].to_vec();
    Sorter::new().engine(Engine::Cpu).sort(&mut expected).unwrap();
    let mut workspace = stream.alloc_zeros::<u8>(sorter.workspace_size::<u32>(len)).unwrap();
    let mut array = stream.clone_htod(&all).unwrap();
    for in_place in [true, false] {
        stream.memcpy_htod(&all, &mut array).unwrap();
        let mut keys = array.slice_mut(part.clone());
        match in_place {
            true => sorter.sort(&stream, &mut keys).unwrap(),
            false => sorter.with_workspace(&mut workspace).sort(&stream, &mut keys).unwrap(),
        }
        let result = stream.clone_dtoh(&array).unwrap();
        assert!(result[part.clone()] == expected, "in place: {in_place}");
        assert!(result[..part.start] == all[..part.start] && result[part.end..] == all[part.end..]);
    }
}

#[test]
fn the_best_keys_are_found_with_a_workspace_and_without() {
    let Caller { stream, sorter, .. } = Caller::new(&device_or_skip!());
    for order in [Order::Ascending, Order::Descending] {
        let sorter = sorter.clone().order(order);
        for (rows, row_length, k) in
            [(1, 1, 1), (3, 700, 10), (70, 1025, 64), (2, 100_003, 1000), (1, 3_000_001, 50), (5, 9000, 8192)]
        {
            for pattern in [Pattern::Random, Pattern::Sorted, Pattern::FewUnique, Pattern::AllMax] {
                let keys: Vec<f32> = pattern.generate(rows * row_length, 3);
                let on_cpu = Sorter::new().engine(Engine::Cpu).order(order);
                let expected = on_cpu.top_k_rows(&keys, row_length, k).unwrap();
                let array = stream.clone_htod(&keys).unwrap();
                let size = sorter.workspace_size_top_k::<f32>(keys.len(), row_length, k).unwrap();
                let mut workspace = stream.alloc_zeros::<u8>(size.max(1)).unwrap();
                for with_workspace in [false, true] {
                    let mut best = stream.alloc_zeros::<f32>(rows * k).unwrap();
                    let mut indices = stream.alloc_zeros::<u32>(rows * k).unwrap();
                    if with_workspace {
                        let mut sorter = sorter.with_workspace(&mut workspace);
                        sorter.top_k_rows(&stream, &array, row_length, k, &mut best, &mut indices).unwrap();
                    } else {
                        sorter.top_k_rows(&stream, &array, row_length, k, &mut best, &mut indices).unwrap();
                    }
                    let what = format!(
                        "{k} of {rows} rows of {row_length}, {pattern:?}, {order:?}, {with_workspace}"
                    );
                    let found = stream.clone_dtoh(&indices).unwrap();
                    assert!(
                        found.iter().map(|&index| index as usize).eq(expected.indices.iter().copied()),
                        "{what}"
                    );
                    let bits = |keys: &[f32]| keys.iter().map(|key| key.to_bits()).collect::<Vec<_>>();
                    assert_eq!(bits(&stream.clone_dtoh(&best).unwrap()), bits(&expected.keys), "{what}");
                }
            }
        }
    }
    let array = stream.alloc_zeros::<u32>(100).unwrap();
    let (mut best, mut indices) =
        (stream.alloc_zeros::<u32>(3).unwrap(), stream.alloc_zeros::<u32>(2).unwrap());
    let refused = sorter.top_k_rows(&stream, &array, 100, 3, &mut best, &mut indices);
    assert_eq!(refused, Err(Error::OutputLength { needed: 3, given: 2 }));
    let refused = sorter.prepare_top_k::<u64>(1 << 20, 1 << 20, 100_000);
    assert!(matches!(refused, Err(Error::TopTooLarge { k: 100_000, .. })), "{refused:?}");
}

/// Short segments and such that are filtered, in offsets of 32 and 64 bits, with a workspace and without.
#[test]
fn the_best_keys_of_segments_are_found_where_they_are() {
    let Caller { stream, sorter, .. } = Caller::new(&device_or_skip!());
    let lengths = [0_usize, 1, 5, 100, 33_000, 2, 64, 0, 9_000, 513, 1, 3_000_001, 17, 16_384, 16_383, 3];
    let mut offsets = vec![7_usize];
    offsets.extend(lengths.iter().scan(7, |end, length| {
        *end += length;
        Some(*end)
    }));
    let (len, segments) = (offsets[lengths.len()] + 9, lengths.len());
    let narrow = stream.clone_htod(&offsets.iter().map(|&offset| offset as u32).collect::<Vec<_>>()).unwrap();
    let wide = stream.clone_htod(&offsets.iter().map(|&offset| offset as u64).collect::<Vec<_>>()).unwrap();
    for order in [Order::Ascending, Order::Descending] {
        let (sorter, on_cpu) = (sorter.clone().order(order), Sorter::new().engine(Engine::Cpu).order(order));
        for (k, pattern) in
            [(1, Pattern::Random), (50, Pattern::Special), (50, Pattern::Sorted), (1000, Pattern::FewUnique)]
        {
            let keys: Vec<f32> = pattern.generate(len, 3);
            let expected = on_cpu.top_k_segments(&keys, &offsets, k).unwrap();
            let array = stream.clone_htod(&keys).unwrap();
            for longest in [3_000_001, len] {
                let size = sorter.workspace_size_top_k_segments::<f32>(len, segments, longest, k).unwrap();
                let mut workspace = stream.alloc_zeros::<u8>(size.max(1)).unwrap();
                for is_wide in [false, true] {
                    let mut best = stream.clone_htod(&vec![7.5_f32; segments * k]).unwrap();
                    let mut indices = stream.clone_htod(&vec![!0_u32; segments * k]).unwrap();
                    if is_wide {
                        let table = (&wide, longest);
                        let mut sorter = sorter.with_workspace(&mut workspace);
                        sorter.top_k_segments(&stream, &array, table, k, &mut best, &mut indices).unwrap();
                    } else {
                        let table = (&narrow, longest);
                        sorter.top_k_segments(&stream, &array, table, k, &mut best, &mut indices).unwrap();
                    }
                    let what = format!("{k}, {pattern:?}, {order:?}, {longest}, {is_wide}");
                    let (best, indices) =
                        (stream.clone_dtoh(&best).unwrap(), stream.clone_dtoh(&indices).unwrap());
                    let mut found = 0;
                    for (segment, length) in lengths.into_iter().enumerate() {
                        let (count, start) = (length.min(k), segment * k);
                        let bits = |keys: &[f32]| keys.iter().map(|key| key.to_bits()).collect::<Vec<_>>();
                        let of_cpu = found..found + count;
                        assert_eq!(
                            bits(&best[start..][..count]),
                            bits(&expected.keys[of_cpu.clone()]),
                            "{what}"
                        );
                        let places = indices[start..][..count].iter().map(|&index| index as usize);
                        assert!(places.eq(expected.indices[of_cpu].iter().copied()), "{what}");
                        assert!(best[start + count..start + k].iter().all(|&key| key == 7.5), "{what}");
                        assert!(indices[start + count..start + k].iter().all(|&index| index == !0), "{what}");
                        found += count;
                    }
                }
            }
        }
    }
    let refused = sorter.workspace_size_top_k_segments::<u64>(1 << 20, 2, 1 << 20, 100_000);
    assert!(matches!(refused, Err(Error::TopTooLarge { k: 100_000, .. })), "{refused:?}");
}

/// Lengths of every class and longer ones, mixed, in offsets of 32 and 64 bits, with the longest told and not.
#[test]
fn segments_are_sorted_where_they_are() {
    let Caller { stream, sorter, .. } = Caller::new(&device_or_skip!());
    let lengths = [0, 1, 5, 100, 33_000, 2, 64, 0, 9_000, 513, 1, 300_001, 17, 4_097, 8_192, 3];
    let mut offsets = vec![7_usize];
    offsets.extend(lengths.iter().scan(7, |end, length| {
        *end += length;
        Some(*end)
    }));
    let len = offsets[lengths.len()] + 9;
    let segments = lengths.len();
    let narrow = stream.clone_htod(&offsets.iter().map(|&offset| offset as u32).collect::<Vec<_>>()).unwrap();
    let wide = stream.clone_htod(&offsets.iter().map(|&offset| offset as u64).collect::<Vec<_>>()).unwrap();
    for order in [Order::Ascending, Order::Descending] {
        let (sorter, on_cpu) = (sorter.clone().order(order), Sorter::new().engine(Engine::Cpu).order(order));
        for longest in [300_001, len] {
            let keys: Vec<f32> = Pattern::Special.generate(len, 3);
            let bits = |keys: &[f32]| keys.iter().map(|key| key.to_bits()).collect::<Vec<_>>();
            let (mut expected, indices) = (keys.clone(), on_cpu.argsort_segments(&keys, &offsets).unwrap());
            on_cpu.sort_segments(&mut expected, &offsets).unwrap();

            let size = sorter.workspace_size_segments::<f32>(len, segments, longest).unwrap();
            let mut workspace = stream.alloc_zeros::<u8>(size).unwrap();
            for is_wide in [false, true] {
                let mut array = stream.clone_htod(&keys).unwrap();
                let mut sorter = sorter.with_workspace(&mut workspace);
                match is_wide {
                    false => sorter.sort_segments(&stream, &mut array, &narrow, longest).unwrap(),
                    true => sorter.sort_segments(&stream, &mut array, &wide, longest).unwrap(),
                }
                assert_eq!(
                    bits(&stream.clone_dtoh(&array).unwrap()),
                    bits(&expected),
                    "{order:?}, {is_wide}"
                );
            }

            let size = sorter.workspace_size_argsort_segments::<f32>(len, segments, longest).unwrap();
            let mut workspace = stream.alloc_zeros::<u8>(size).unwrap();
            let mut array = stream.clone_htod(&keys).unwrap();
            let mut found = stream.clone_htod(&vec![!0_u32; len]).unwrap();
            let mut with_workspace = sorter.with_workspace(&mut workspace);
            with_workspace.argsort_segments(&stream, &mut array, &mut found, &narrow, longest).unwrap();
            let found = stream.clone_dtoh(&found).unwrap();
            assert!(found[7..len - 9].iter().map(|&index| index as usize).eq(indices.iter().copied()));
            assert!(found[..7].iter().chain(&found[len - 9..]).all(|&index| index == !0));

            let size = sorter.workspace_size_pairs_segments::<f32, u64>(len, segments, longest).unwrap();
            let mut workspace = stream.alloc_zeros::<u8>(size).unwrap();
            let mut array = stream.clone_htod(&keys).unwrap();
            let mut values = stream.clone_htod(&(0..len as u64).collect::<Vec<_>>()).unwrap();
            let mut with_workspace = sorter.with_workspace(&mut workspace);
            with_workspace.sort_pairs_segments(&stream, &mut array, &mut values, &wide, longest).unwrap();
            assert_eq!(bits(&stream.clone_dtoh(&array).unwrap()), bits(&expected));
            let moved = stream.clone_dtoh(&values).unwrap();
            assert!(
                moved
                    .iter()
                    .zip(&expected)
                    .all(|(&value, key)| { keys[value as usize].to_bits() == key.to_bits() })
            );
        }
    }
    let mut array = stream.alloc_zeros::<f32>(len).unwrap();
    let mut workspace = stream.alloc_zeros::<u8>(16).unwrap();
    let refused = sorter.with_workspace(&mut workspace).sort_segments(&stream, &mut array, &narrow, len);
    assert!(matches!(refused, Err(Error::Device { .. })), "the workspace is too small: {refused:?}");
    let verified = sorter.clone().verified().unwrap();
    let size = verified.workspace_size_argsort_segments::<f32>(len, segments, len).unwrap();
    let mut workspace = stream.alloc_zeros::<u8>(size).unwrap();
    let mut array = stream.clone_htod(&Pattern::Special.generate::<f32>(len, 3)).unwrap();
    let mut indices = stream.alloc_zeros::<u32>(len).unwrap();
    let (mut best, mut places) =
        (stream.alloc_zeros::<f32>(9 * segments).unwrap(), stream.alloc_zeros::<u32>(9 * segments).unwrap());
    verified.top_k_segments(&stream, &array, (&wide, len), 9, &mut best, &mut places).unwrap();
    let mut with_workspace = verified.with_workspace(&mut workspace);
    with_workspace.argsort_segments(&stream, &mut array, &mut indices, &narrow, len).unwrap();
    with_workspace.sort_segments(&stream, &mut array, &wide, len).unwrap();
    assert_eq!(verified.verdict(&stream), Ok(()));
}

/// Offsets that are none: nothing outside of the array is touched, and what they say of other segments is done.
#[test]
fn offsets_that_lead_nowhere_are_empty_segments() {
    let Caller { stream, sorter, .. } = Caller::new(&device_or_skip!());
    let keys: Vec<u32> = (0..1000).rev().collect();
    let mut array = stream.clone_htod(&keys).unwrap();
    let offsets = stream.clone_htod(&[0_u32, 10, 4_000_000_000, 20, 30, 2000, 900, 1000]).unwrap();
    let size = sorter.workspace_size_segments::<u32>(1000, 7, 1000).unwrap();
    let mut workspace = stream.alloc_zeros::<u8>(size).unwrap();
    sorter.with_workspace(&mut workspace).sort_segments(&stream, &mut array, &offsets, 1000).unwrap();
    let found = stream.clone_dtoh(&array).unwrap();
    let mut expected = keys;
    for segment in [0..10, 20..30, 900..1000] {
        expected[segment].sort_unstable();
    }
    assert_eq!(found, expected);
}
