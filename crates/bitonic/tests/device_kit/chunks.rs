//! Sorts of arrays that are larger than what they may use of the device's memory.

use super::{Pairs, WIDTHS, With};
use crate::{ENGINE, has_device};
use bitonic::key::KeyType;
use bitonic::{Engine, Error, Order, Sorter};
use bitonic_testkit::{Pattern, SortChecks};

/// What the device may hold at a time: 256 keys of 32 bits, or half as many pairs of them.
const LIMIT: u64 = 1024;

/// Lengths around one chunk and several, for keys of 8, 16, 32, 64 and 128 bits: each is around borders for some of them.
const AROUND_CHUNKS: [usize; 12] = [64, 65, 127, 129, 255, 256, 257, 512, 513, 769, 1024, 2049];

/// Patterns in which ties, borders of chunks and their order go wrong.
const TELLING: &[Pattern] = &[
    Pattern::Random,
    Pattern::Reversed,
    Pattern::FewUnique,
    Pattern::AllEqual,
    Pattern::Special,
    Pattern::AllMax,
];

fn checks(name: &str) -> SortChecks {
    SortChecks::new(name).max_len(0).patterns(TELLING).also_lengths(AROUND_CHUNKS)
}

#[test]
fn keys_of_every_type_in_chunks() {
    checks("keys in chunks").check_keys(&With(on_device!().device_memory(LIMIT)));
}

#[test]
fn pairs_in_chunks() {
    let sorter = on_device!().device_memory(LIMIT);
    checks("pairs in chunks").key_types(WIDTHS).check_pairs(&Pairs { sorter, stable: false });
}

#[test]
fn stable_pairs_in_chunks() {
    let sorter = on_device!().device_memory(LIMIT);
    checks("stable pairs in chunks").key_types(WIDTHS).check_pairs(&Pairs { sorter, stable: true });
}

#[test]
fn argsort_in_chunks() {
    checks("argsort in chunks").key_types(WIDTHS).check_argsort(&With(on_device!().device_memory(LIMIT)));
}

/// Rows of which many fit, few, one, and none.
#[test]
fn rows_in_chunks() {
    let checks = SortChecks::new("rows in chunks").key_types(WIDTHS).patterns(TELLING);
    let tables = [(1, 3000), (7, 500), (32, 100), (100, 11), (256, 5), (257, 5), (1000, 3), (1030, 1)];
    checks.check_rows(&With(on_device!().device_memory(LIMIT)), tables);
}

/// So many keys that several threads merge, in any number of chunks from two on.
#[test]
fn threads_merge_few_and_many_chunks() {
    let len = 200_003;
    for chunks in [2, 3, 4, 5, 8, 13] {
        let limit = 4 * (len as u64).div_ceil(chunks);
        for threads in [1, 3] {
            let checks =
                SortChecks::new(format!("{chunks} chunks, {threads} threads")).max_len(0).also_lengths([len]);
            let checks = checks.patterns(&[Pattern::Random, Pattern::FewUnique]).key_types(&[KeyType::F32]);
            checks.check_keys(&With(on_device!().device_memory(limit).threads(threads)));
        }
    }
}

#[test]
fn plan_and_report_tell_the_chunks_and_the_memory_of_the_merge() {
    let sorter = on_device!().device_memory(LIMIT);
    let mut keys: Vec<u32> = Pattern::Random.generate(1000, 1);
    let plan = sorter.plan::<u32>(1000).unwrap();
    let chunks = plan.chunks.expect("they do not fit");
    assert_eq!((chunks.count, chunks.len, chunks.row_pieces, chunks.merge_passes()), (4, 250, 4, 2));
    assert_eq!((plan.memory.host, plan.sorted_length()), (4000, 250));
    assert_eq!(plan.memory.device, 1000);
    let text = plan.to_string();
    assert!(
        text.contains("chunks     4 chunks of up to 250 keys, merged on the host in 2 passes\n"),
        "{text}"
    );
    assert!(text.contains("memory     4000 bytes beyond the arrays\n"), "{text}");
    assert!(text.contains("network    8 merges, 36 steps"), "of a chunk: {text}");

    let report = sorter.sort(&mut keys).unwrap();
    assert_eq!(report.plan, plan);
    let times = report.times.expect("a device was used");
    assert_eq!((times.chunks, times.uploaded_bytes, times.downloaded_bytes), (4, 4000, 4000));
    assert_eq!(times.launches, 4 * plan.pass_count());
    let text = report.to_string();
    assert!(text.contains("4 chunks of up to 250 keys") && text.contains("merge of 4 chunks"), "{text}");

    // Each chunk has as many values; the indices of one come to what a stable sort needs.
    let bytes = |plan: Result<bitonic::plan::Plan, Error>| plan.unwrap().memory.host;
    assert_eq!(bytes(sorter.plan_pairs::<u32, u32>(1000)), 8000);
    assert_eq!(bytes(sorter.clone().stable(true).plan_pairs::<u32, u32>(1000)), 8000 + 4 * 125);
    assert_eq!(bytes(sorter.plan_argsort::<u32>(1000)), 16_000 + 4 * 125);
    let rows = sorter.plan_rows::<u32>(1000, 100).unwrap();
    let chunks = rows.chunks.expect("they do not fit");
    assert_eq!((chunks.count, chunks.len, chunks.row_pieces), (5, 200, 1));
    assert!(rows.to_string().contains("5 chunks of up to 200 keys, cut between rows"), "{rows}");

    let whole = on_device!().plan::<u32>(1000).unwrap();
    assert!(whole.chunks.is_none() && !whole.to_string().contains("chunk"), "{whole}");
}

#[test]
fn any_number_of_keys_can_be_planned() {
    for len in [1 << 40, usize::MAX / 16, usize::MAX] {
        let plan = on_device!().plan::<u8>(len).unwrap();
        assert!(plan.chunks.is_some_and(|chunks| chunks.count > 1 && chunks.len < len), "{plan}");
        assert!(plan.to_string().contains("merged on the host"), "{plan}");
    }
}

/// Calls every sort there is, and returns their errors. All arrays must be as they were.
fn every_error(sorter: &Sorter) -> [Error; 5] {
    let before: Vec<u32> = Pattern::Random.generate(1000, 1);
    let indices: Vec<u32> = (0..1000).collect();
    let (mut keys, mut values) = (before.clone(), indices.clone());
    let errors = [
        sorter.sort(&mut keys).unwrap_err(),
        sorter.sort_rows(&mut keys, 500).unwrap_err(),
        sorter.sort_pairs(&mut keys, &mut values).unwrap_err(),
        sorter.clone().stable(true).sort_pairs(&mut keys, &mut values).unwrap_err(),
        sorter.argsort(&keys).unwrap_err(),
    ];
    assert!(keys == before && values == indices, "the caller's data was touched");
    errors
}

#[test]
fn without_chunks_what_does_not_fit_is_an_error_that_names_the_limit() {
    let sorter = on_device!().device_memory(LIMIT).chunks(false);
    for (error, needed) in every_error(&sorter).into_iter().zip([4000, 4000, 8000, 8000, 8000]) {
        let text = error.to_string();
        let Error::LargerThanDevice { bytes, limit, .. } = error else { panic!("{text}") };
        assert_eq!((bytes, limit), (needed, LIMIT));
        let said = [&needed.to_string(), "1024", "chunks()", "BITONIC_DEVICE_MEMORY", "cpu engine"];
        assert!(said.iter().all(|word| text.contains(word)), "{text}");
    }
    let planned = sorter.plan::<u32>(1000).unwrap_err();
    assert_eq!(planned, sorter.sort(&mut [0_u32; 1000]).unwrap_err());
    assert!(sorter.sort(&mut [3_u32; 256]).is_ok(), "this is all that fits");
    assert!(sorter.sort(&mut [3_u32; 257]).is_err());
}

#[test]
fn an_oblivious_sort_is_cut_between_rows_only() {
    let sorter = on_device!().device_memory(LIMIT).oblivious(true);
    let mut keys: Vec<u32> = Pattern::Random.generate(1000, 1);
    let before = keys.clone();
    let error = sorter.sort(&mut keys).unwrap_err();
    assert!(matches!(error, Error::LargerThanDevice { bytes: 4000, limit: LIMIT, .. }), "{error}");
    assert!(error.to_string().contains("oblivious"), "{error}");
    assert_eq!(keys, before);
    let report = sorter.sort_rows(&mut keys, 250).unwrap();
    assert_eq!(report.times.map(|times| times.chunks), Some(4));
    assert!(keys.chunks(250).all(|row| bitonic::is_sorted(row, Order::Ascending)));
    assert_ne!(report.engine(), Engine::Cpu);
}
