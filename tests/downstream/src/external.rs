//! Sorting more than memory holds.

use crate::{Outcome, unordered};

/// Little enough that some runs are written.
const MEMORY: usize = 1 << 18;

pub fn keys() -> Outcome {
    assert!(bitonic::external::default_memory() > 0);
    let sorter = bitonic::external::Sorter::new();
    let sorter = bitonic::external::Sorter::memory(sorter, MEMORY);
    let sorter = bitonic::external::Sorter::temp(sorter, std::env::temp_dir());
    let sorter = bitonic::external::Sorter::sorter(sorter, bitonic::Sorter::new().threads(2));
    let mut keys = bitonic::external::Sorter::keys::<u32>(&sorter)?;
    bitonic::external::Keys::push(&mut keys, &unordered(100_000))?;
    let mut sorted = bitonic::external::Keys::sort(keys)?;
    let mut all = Vec::new();
    while let Some(chunk) = bitonic::external::SortedKeys::next_chunk(&mut sorted)? {
        all.extend_from_slice(chunk);
    }
    assert!(all.len() == 100_000 && all.is_sorted());
    assert!(bitonic::external::SortedKeys::summary(&sorted).runs > 1);
    Ok(())
}

pub fn records() -> Outcome {
    let sorter = bitonic::external::Sorter::new();
    let field = bitonic::external::Field::<u16>::little(1);
    assert_eq!(bitonic::external::Field::read(&field, &[0, 1, 2]), 0x0201);
    assert_eq!(bitonic::external::Field::<u16>::big(1).read(&[0, 1, 2]), 0x0102);
    let mut records = bitonic::external::Sorter::records(&sorter, 4, bitonic::external::Field::bytes(0, 3))?;
    bitonic::external::Records::push(&mut records, b"bbb1aaa2")?;
    let mut sorted = bitonic::external::Records::sort(records)?;
    assert_eq!(bitonic::external::SortedRecords::next_chunk(&mut sorted)?, Some(&b"aaa2bbb1"[..]));
    assert_eq!(bitonic::external::SortedRecords::summary(&sorted).items, 2);

    let mut pairs = bitonic::external::Sorter::pairs::<i8>(&sorter)?;
    bitonic::external::Pairs::push(&mut pairs, 5, b"five")?;
    bitonic::external::Pairs::push(&mut pairs, -5, b"minus five")?;
    let mut sorted = bitonic::external::Pairs::sort(pairs)?;
    assert_eq!(bitonic::external::SortedPairs::summary(&sorted).runs, 0);
    let first = bitonic::external::SortedPairs::next_chunk(&mut sorted)?.and_then(|mut chunk| chunk.next());
    assert_eq!(first, Some((-5, &b"minus five"[..])));
    Ok(())
}
