//! More than memory holds: whatever the keys, the memory and the chunks are, the result is that of a sort in memory.

#![cfg(feature = "external")]

use bitonic::external::{Field, Sorter};
use bitonic::key::KeyType;
use bitonic::{Engine, Error, Key, Order};
use bitonic_testkit::Pattern;

fn plain() -> bitonic::Sorter {
    bitonic::Sorter::new().engine(Engine::Cpu)
}

/// Sorts keys that come in chunks of this length.
fn sorted<K: Key>(sorter: &Sorter, keys: &[K], chunk: usize) -> (Vec<K>, usize) {
    let mut input = sorter.keys::<K>().unwrap();
    keys.chunks(chunk).for_each(|chunk| input.push(chunk).unwrap());
    let mut output = input.sort().unwrap();
    let mut all = Vec::new();
    while let Some(chunk) = output.next_chunk().unwrap() {
        all.extend_from_slice(chunk);
    }
    assert_eq!(output.summary().items, keys.len() as u64);
    (all, output.summary().runs)
}

#[test]
fn every_key_type_and_pattern_comes_out_as_from_memory() {
    const LEN: usize = 60_000;
    for &key_type in KeyType::ALL {
        bitonic::with_key_type!(key_type, K => {
            for pattern in [Pattern::Random, Pattern::Special, Pattern::Sorted, Pattern::Reversed, Pattern::AllEqual] {
                for order in [Order::Ascending, Order::Descending] {
                    let keys: Vec<K> = pattern.generate(LEN, 7);
                    let mut expected = keys.clone();
                    plain().order(order).sort(&mut expected).unwrap();
                    // 4 runs or so.
                    let memory = (LEN * size_of::<K>() / 2).max(64 << 10);
                    let sorter = Sorter::new().sorter(plain().order(order).threads(2)).memory(memory);
                    let (result, runs) = sorted(&sorter, &keys, 7919);
                    assert!(runs > 1 || size_of::<K>() == 1, "{key_type}: {runs} runs");
                    let same = |(one, other): (&K, &K)| one.to_raw_bits() == other.to_raw_bits();
                    assert!(result.len() == LEN && result.iter().zip(&expected).all(same), "{key_type} {pattern} {order:?}");
                }
            }
        });
    }
}

#[test]
fn chunks_of_any_length_and_any_number_of_runs_give_the_same() {
    let keys: Vec<u64> = Pattern::Random.generate(300_000, 3);
    let mut expected = keys.clone();
    expected.sort_unstable();
    for (memory, most_runs) in [(1 << 19, 12), (1 << 20, 6), (1 << 22, 2), (1 << 30, 0)] {
        for chunk in [1000, 65_537, keys.len()] {
            let (result, runs) = sorted(&Sorter::new().sorter(plain()).memory(memory), &keys, chunk);
            assert!(result == expected, "{memory} bytes, chunks of {chunk}");
            assert!(runs <= most_runs, "{memory} bytes: {runs} runs");
        }
    }
    for few in [0, 1, 2] {
        let (result, runs) = sorted(&Sorter::new().memory(1 << 16), &keys[..few], 1);
        assert_eq!((result.len(), result.is_sorted(), runs), (few, true, 0));
    }
}

/// Records of the oldest benchmark of the field: 10 bytes of key, 90 of other content.
fn records(count: u64) -> Vec<u8> {
    let record = |index: u64| {
        let random = index.wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(29);
        let mut record = [b' '; 100];
        record[..8].copy_from_slice(&random.to_le_bytes());
        record[10..18].copy_from_slice(&index.to_be_bytes());
        record
    };
    (0..count).flat_map(record).collect()
}

fn sorted_records<K: Key>(sorter: &Sorter, size: usize, field: Field<K>, records: &[u8]) -> (Vec<u8>, usize) {
    let mut input = sorter.records(size, field).unwrap();
    records.chunks(size * 1001).for_each(|chunk| input.push(chunk).unwrap());
    let mut output = input.sort().unwrap();
    let mut all = Vec::new();
    while let Some(chunk) = output.next_chunk().unwrap() {
        all.extend_from_slice(chunk);
    }
    (all, output.summary().runs)
}

#[test]
fn records_come_out_as_from_a_stable_sort_by_their_field() {
    let records = records(20_000);
    let expected = |compare: &dyn Fn(&[u8], &[u8]) -> std::cmp::Ordering| {
        let mut all: Vec<&[u8]> = records.chunks(100).collect();
        all.sort_by(|one, other| compare(one, other));
        all.concat()
    };
    for memory in [1 << 19, 1 << 21, 1 << 28] {
        let sorter = Sorter::new().sorter(plain()).memory(memory);
        let (result, runs) = sorted_records(&sorter, 100, Field::bytes(0, 10), &records);
        assert!(result == expected(&|one, other| one[..10].cmp(&other[..10])), "{memory} bytes");
        assert_eq!(runs == 0, memory == 1 << 28, "{runs} runs");
        // Many equal keys: the order in which records came shows.
        let (result, _) = sorted_records(&sorter, 100, Field::<u8>::little(3), &records);
        assert!(result == expected(&|one, other| one[3].cmp(&other[3])), "{memory} bytes");
        let number = |record: &[u8]| i32::from_be_bytes(record[2..6].try_into().unwrap());
        let descending = Sorter::new().sorter(plain().order(Order::Descending)).memory(memory);
        let (result, _) = sorted_records(&descending, 100, Field::<i32>::big(2), &records);
        assert!(result == expected(&|one, other| number(other).cmp(&number(one))), "{memory} bytes");
    }
}

#[test]
fn bytes_of_any_length_travel_with_their_keys() {
    let bytes = |index: u32| {
        // Now and then longer than what is read at a time.
        let length = if index % 1000 == 7 { 30_000 } else { index as usize * 31 % 97 };
        vec![index as u8; length]
    };
    let mut expected: Vec<(i16, Vec<u8>)> = (0..20_000)
        .map(|index: u32| ((index.wrapping_mul(40_503) >> 8) as i16 % 500, bytes(index)))
        .collect();
    for memory in [1 << 18, 1 << 20, 1 << 28] {
        let mut input = Sorter::new().sorter(plain()).memory(memory).pairs::<i16>().unwrap();
        expected.iter().for_each(|(key, bytes)| input.push(*key, bytes).unwrap());
        let mut output = input.sort().unwrap();
        let mut all: Vec<(i16, Vec<u8>)> = Vec::new();
        while let Some(chunk) = output.next_chunk().unwrap() {
            all.extend(chunk.map(|(key, bytes)| (key, bytes.to_vec())));
        }
        let mut sorted = expected.clone();
        sorted.sort_by_key(|(key, _)| *key);
        assert!(all == sorted, "{memory} bytes");
    }
    expected.clear();
}

#[test]
fn what_cannot_be_done_is_told_with_the_way_out() {
    let sorter = || Sorter::new().sorter(plain()).memory(1 << 16);
    let refused = |sorter: Sorter| sorter.keys::<u32>().err().unwrap();
    assert_eq!(refused(sorter().memory(1000)), Error::MemoryLimit { bytes: 1000, runs: 2 });
    assert_eq!(refused(sorter().sorter(plain().oblivious(true))), Error::ObliviousMerge);
    let outside = sorter().records(8, Field::<u64>::big(1)).err();
    assert_eq!(outside, Some(Error::RecordKey { offset: 1, length: 8, size: 8 }));
    assert!(sorter().records(8, Field::<u64>::big(usize::MAX)).is_err());
    let mut records = sorter().records(8, Field::<u64>::big(0)).unwrap();
    assert_eq!(records.push(&[0; 9]), Err(Error::RecordSize { bytes: 9, size: 8 }));
    assert_eq!(records.push(&[0; 16]), Ok(()), "a refused chunk changes nothing");

    let mut keys = sorter().temp("/nonexistent/folder").keys::<u32>().unwrap();
    assert_eq!(keys.push(&[1; 1000]), Ok(()), "what fits needs no file");
    let refused = keys.push(&[1; 100_000]).unwrap_err();
    assert!(matches!(&refused, Error::Temporary { operation: "make", .. }), "{refused}");
    assert_eq!(keys.push(&[1]).unwrap_err(), refused, "a sort that failed goes on failing");
    assert_eq!(keys.sort().err(), Some(refused));

    let mut too_many = sorter().keys::<u64>().unwrap();
    let error = (0..100).find_map(|_| too_many.push(&[1; 10_000]).err()).unwrap();
    assert!(matches!(error, Error::MemoryLimit { bytes: 65536, .. }), "{error}");
}
