//! Operations beside a sort: segments, the best keys, merges, items by a key.

use crate::{Outcome, unordered};
use bitonic::{Engine, Order, Segments};
use std::cmp::Reverse;

pub(crate) fn functions() -> Outcome {
    let mut keys = unordered(1000);
    bitonic::sort_descending(&mut keys);
    assert!(bitonic::is_sorted(&keys, Order::Descending));
    bitonic::sort_oblivious(&mut keys)?;
    assert!(bitonic::is_sorted(&keys, Order::Ascending));
    let mut keys = [3, 1, 2, 9, 7, 8];
    bitonic::sort_segments(&mut keys, &[0, 2, 6])?;
    assert_eq!(keys, [1, 3, 2, 7, 8, 9]);

    assert_eq!(bitonic::top_k(&[10, 40, 20, 30], 2)?.indices, [1, 3]);
    assert_eq!(*bitonic::select_nth(&mut [5, 1, 4], 1)?.1, 4);
    let mut keys = [5, 1, 4, 2];
    bitonic::partial_sort(&mut keys, 2)?;
    assert_eq!(keys[..2], [1, 2]);

    let mut merged = [0; 3];
    bitonic::merge(&[1, 4], &[2], &mut merged)?;
    assert_eq!(bitonic::merge_many(&[&merged[..], &[3]])?, [1, 2, 3, 4]);
    assert_eq!(bitonic::searchsorted(&merged, &[2, 9]), [1, 3]);
    assert_eq!(bitonic::searchsorted_right(&merged, &[2, 9]), [2, 3]);
    assert_eq!(bitonic::unique(&mut [1, 1, 2]), 2);
    assert_eq!(bitonic::rank(&[30, 10, 20])?, [2, 0, 1]);

    let mut words = ["banana".to_string(), "fig".to_string(), "kiwi".to_string()];
    bitonic::sort_by_key(&mut words, |word| Reverse(word.len()))?;
    assert_eq!(words, ["banana", "kiwi", "fig"]);
    bitonic::apply_permutation(&mut words, &bitonic::invert_permutation(&[2, 0, 1])?)?;
    bitonic::BitonicSortByKey::bitonic_sort_by_key(&mut words[..], |word| word.len())?;
    assert_eq!(words, ["fig", "kiwi", "banana"]);
    assert_eq!(bitonic::SortKey::pack((1_u8, 2_u8)), 0x102);
    assert_eq!(<u32 as bitonic::Index>::from_usize(7), Some(7));

    let mut keys = [3, 1, 2];
    bitonic::BitonicSort::bitonic_sort(&mut keys[..]);
    bitonic::BitonicSort::bitonic_sort_descending(&mut keys[..]);
    assert_eq!(bitonic::BitonicSort::bitonic_argsort(&keys[..])?, [2, 1, 0]);
    assert_eq!(bitonic::BitonicSort::bitonic_top_k(&keys[..], 1)?.keys, [3]);
    Ok(())
}

pub(crate) fn sorter() -> Outcome {
    let sorter = bitonic::Sorter::new().engine(Engine::Cpu);
    let (mut keys, mut values, offsets) = ([3, 1, 2, 9], ["c", "a", "b", "z"], [0, 3, 4]);
    assert_eq!(bitonic::Sorter::argsort_segments(&sorter, &keys, &offsets)?, [1, 2, 0, 0]);
    bitonic::Sorter::sort_pairs_segments(&sorter, &mut keys, &mut values, &offsets)?;
    assert_eq!(values, ["a", "b", "c", "z"]);
    bitonic::Sorter::sort_segments(&sorter, &mut keys, &offsets)?;
    let plans = [
        bitonic::Sorter::plan_segments::<i32>(&sorter, 4, &offsets)?,
        bitonic::Sorter::plan_pairs_segments::<i32, &str>(&sorter, 4, &offsets)?,
        bitonic::Sorter::plan_argsort_segments::<i32>(&sorter, 4, &offsets)?,
    ];
    assert!(plans.iter().all(|plan| plan.request.segments.count() == 2));
    assert_eq!(bitonic::Segments::longest(Segments::offsets(&offsets, 4)?), 3);
    assert!(bitonic::Segments::offsets(&[1, 0], 4).is_err());

    let mut order = [0_u32; 3];
    bitonic::Sorter::argsort_into(&sorter, &[30, 10, 20], &mut order)?;
    assert_eq!(order, [1, 2, 0]);
    assert_eq!(bitonic::Sorter::top_k(&sorter, &[1, 3, 2], 1)?.keys, [3]);
    assert_eq!(bitonic::Sorter::top_k_rows(&sorter, &[1, 3, 2, 4], 2, 1)?.keys, [3, 4]);
    let plans = [
        bitonic::Sorter::plan_top_k::<u32>(&sorter, 100, 3)?,
        bitonic::Sorter::plan_top_k_rows::<u32>(&sorter, 100, 10, 3)?,
        bitonic::Sorter::plan_top_k_segments::<u32>(&sorter, 100, &[0, 1, 100], 3)?,
    ];
    assert!(plans.iter().all(|plan| plan.request.len() == 100));
    assert_eq!(bitonic::Request::top::<u32>(Segments::one(9), 2).len(), 9);
    assert_eq!(bitonic::Sorter::top_k_segments(&sorter, &[1, 3, 2, 4], &offsets, 1)?.indices, [1, 0]);
    assert_eq!(*bitonic::Sorter::select_nth(&sorter, &mut [3, 1, 2], 0)?.1, 1);
    bitonic::Sorter::partial_sort(&sorter, &mut [3, 1, 2], 1)?;
    bitonic::Sorter::sort_by_key(&sorter, &mut [3, 1, 2], |&item| item)?;

    let mut merged = [0; 3];
    bitonic::Sorter::merge(&sorter, &[1, 4], &[2], &mut merged)?;
    bitonic::Sorter::merge_rows(&sorter, (&[1, 4], 2), (&[2], 1), &mut merged)?;
    assert_eq!(merged, [1, 2, 4]);
    let mut values = [""; 3];
    bitonic::Sorter::merge_pairs(
        &sorter,
        (&[1, 4], &["a", "d"]),
        (&[2], &["b"]),
        (&mut merged, &mut values),
    )?;
    assert_eq!(values, ["a", "b", "d"]);
    assert_eq!(bitonic::Sorter::merge_many(&sorter, &[&[1, 4][..], &[2]])?, [1, 2, 4]);
    Ok(())
}
