//! How far windows can be merged, and in which pieces.
//!
//! ```text
//!   run 0   [ 1  4 | 6  9 ]  more to come        the least last key is 7, of run 1: up to there
//!   run 1   [ 2  3 | 7 ]     more to come        no key can come that goes before it
//!   run 2   [ 5  6 | 8 ]     the end of its run
//! ```
//!
//! Elements are in one order: by key, of equal keys by run, and within a run by place. So a cut anywhere in that order cuts every
//! window at one place, pieces are as long as they are meant to be whatever the keys are, and the merge is stable.

use crate::key::{BitMap, Bits};
use bytemuck::Pod;
use std::ops::Range;

/// The keys of a window that are not taken yet.
#[derive(Clone, Copy)]
pub(super) struct Rest<'a> {
    /// Their memory.
    pub(super) keys: &'a [u8],
    /// Whether the run has keys behind this window.
    pub(super) has_more: bool,
}

/// How many keys of every window can be merged now. Unless no window has any, one with more to come is merged whole.
pub(super) fn mergeable<B: Bits + Pod>(rests: &[Rest<'_>], map: BitMap<B>) -> Vec<usize> {
    fn keys<'a, B: Pod>(rest: &Rest<'a>) -> &'a [B] {
        bytemuck::cast_slice(rest.keys)
    }
    let last = |run: usize, rest: &Rest<'_>| {
        let key = *keys::<B>(rest).last()?;
        rest.has_more.then_some((map.to_ordered(key), run))
    };
    let bound = rests.iter().enumerate().filter_map(|(run, rest)| last(run, rest)).min();
    let of_run = |(run, rest): (usize, &Rest<'_>)| match bound {
        None => keys::<B>(rest).len(),
        Some((_, of)) if of == run => keys::<B>(rest).len(),
        Some(bound) => before(keys(rest), run, bound, map),
    };
    rests.iter().enumerate().map(of_run).collect()
}

/// How many keys of a run come before an element: those with equal keys do if their run comes before its run.
fn before<B: Bits>(keys: &[B], run: usize, (key, of): (B, usize), map: BitMap<B>) -> usize {
    match run < of {
        true => keys.partition_point(|&other| map.to_ordered(other) <= key),
        false => keys.partition_point(|&other| map.to_ordered(other) < key),
    }
}

/// Cuts sorted runs into pieces of at most `length` elements or so: each piece a range of every run, and all elements of a piece before
/// those of the next.
///
/// Every `step`-th element of each run is a sample, and every so many samples is a cut. Between two cuts are at most as many whole
/// steps as samples, and a broken one for each run.
pub(super) fn pieces<B: Bits + Pod>(runs: &[&[u8]], length: usize, map: BitMap<B>) -> Vec<Vec<Range<usize>>> {
    let runs: Vec<&[B]> = runs.iter().map(|keys| bytemuck::cast_slice(keys)).collect();
    /// So that few of the elements are samples, which are sorted one by one.
    const LEAST_STEP: usize = 64;
    let step = (length / (2 * runs.len().max(1))).max(LEAST_STEP);
    let samples_a_piece = (length / (2 * step)).max(1);
    let samples_of = |(run, keys): (usize, &&[B])| -> Vec<(B, usize, usize)> {
        let places = (step..keys.len()).step_by(step);
        places.map(|place| (map.to_ordered(keys[place]), run, place)).collect()
    };
    let mut samples: Vec<_> = runs.iter().enumerate().flat_map(samples_of).collect();
    samples.sort_unstable();
    let mut starts = vec![0; runs.len()];
    let mut pieces = Vec::new();
    let mut cut_at = |ends: Vec<usize>| {
        pieces.push(starts.iter().zip(&ends).map(|(&start, &end)| start..end).collect());
        starts = ends;
    };
    for &(key, of, place) in samples.iter().skip(samples_a_piece - 1).step_by(samples_a_piece) {
        let end = |(run, keys): (usize, &&[B])| match run == of {
            true => place,
            false => before(keys, run, (key, of), map),
        };
        cut_at(runs.iter().enumerate().map(end).collect());
    }
    cut_at(runs.iter().map(|keys| keys.len()).collect());
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::{KeyForm, Order};
    use proptest::prelude::*;

    fn sorted_runs() -> impl Strategy<Value = Vec<Vec<u16>>> {
        let run = prop_oneof![
            prop::collection::vec(0..4_u16, 0..700),
            prop::collection::vec(any::<u16>(), 0..700),
            Just(Vec::new())
        ];
        prop::collection::vec(run, 1..7)
    }

    fn ascending() -> BitMap<u16> {
        BitMap::new(KeyForm::Unsigned, Order::Ascending)
    }

    proptest! {
        #[test]
        fn pieces_are_the_runs_in_the_order_of_a_stable_sort(mut runs in sorted_runs(), length in 1..600_usize) {
            runs.iter_mut().for_each(|run| run.sort_unstable());
            let slices: Vec<&[u8]> = runs.iter().map(|run| bytemuck::cast_slice(run)).collect();
            let all = |ranges: &[Range<usize>]| {
                let of_run = |(run, range): (usize, &Range<usize>)| {
                    range.clone().map(move |place| (run, place)).collect::<Vec<_>>()
                };
                let mut all: Vec<_> =
                    ranges.iter().enumerate().flat_map(of_run).map(|(run, place)| (runs[run][place], run, place)).collect();
                all.sort();
                all
            };
            let pieces = pieces(&slices, length, ascending());
            let concatenated: Vec<_> = pieces.iter().flat_map(|piece| all(piece)).collect();
            let whole: Vec<_> = runs.iter().map(|run| 0..run.len()).collect();
            prop_assert_eq!(concatenated, all(&whole));
            let most = length + (runs.len() + 1) * 64;
            prop_assert!(pieces.iter().all(|piece| piece.iter().map(Range::len).sum::<usize>() <= most));
        }

        #[test]
        fn what_is_mergeable_goes_before_all_that_can_come(
            mut runs in sorted_runs(), windows in prop::collection::vec(1..300_usize, 7),
        ) {
            runs.iter_mut().for_each(|run| run.sort_unstable());
            let window = |(run, length): (&Vec<u16>, &usize)| (*length).min(run.len());
            let windows: Vec<usize> = runs.iter().zip(&windows).map(window).collect();
            let rests: Vec<Rest> = runs
                .iter()
                .zip(&windows)
                .map(|(run, &window)| Rest {
                    keys: bytemuck::cast_slice(&run[..window]),
                    has_more: window < run.len(),
                })
                .collect();
            let takes = mergeable(&rests, ascending());
            let taken = |run: usize| (0..takes[run]).map(move |place| (run, place));
            let left = |run: usize| (takes[run]..runs[run].len()).map(move |place| (run, place));
            let element = |(run, place): (usize, usize)| (runs[run][place], run, place);
            let last_taken = (0..runs.len()).flat_map(taken).map(element).max();
            let first_left = (0..runs.len()).flat_map(left).map(element).min();
            if let (Some(taken), Some(left)) = (last_taken, first_left) {
                prop_assert!(taken < left);
            }
            let is_whole = |run: usize| rests[run].has_more && takes[run] == windows[run];
            prop_assert!((0..runs.len()).any(is_whole) || takes == windows, "no progress: {:?}", takes);
        }
    }
}
