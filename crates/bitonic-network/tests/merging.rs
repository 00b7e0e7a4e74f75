//! Networks given by two numbers: merges of runs of any lengths, and selections of the k largest keys.

mod common;

use bitonic_network::{
    Claim, Comparator, GenerateError, Kind, MAX_COMPARATORS, Merging, Network, ProveError, properties,
};
use common::{assert_refutes, without_comparator};
use proptest::prelude::*;
use std::collections::HashSet;

fn merge(merging: Merging, first: usize, second: usize) -> Network {
    merging.merge(first, second).unwrap()
}

fn top_k(merging: Merging, wires: usize, k: usize) -> Network {
    merging.top_k(wires, k).unwrap()
}

/// Asserts that the claim holds.
fn prove(network: &Network, claim: Claim) {
    let proof = network.prove_claim(claim).unwrap_or_else(|error| panic!("{claim}: {error}"));
    assert_eq!((proof.claim(), proof.wires()), (claim, network.wires()));
}

/// Asserts that no comparator can be left out; of large networks only some are tried.
fn assert_all_needed(network: &Network, claim: Claim) {
    for dropped in (0..network.size()).step_by(1 + network.size() / 100) {
        let damaged = without_comparator(network, dropped);
        let error = damaged.prove_claim(claim).expect_err("a comparator is missing");
        assert_refutes(&damaged, error.counterexample().unwrap());
    }
}

/// The wires of all comparators, sorted.
fn comparators(network: &Network) -> Vec<(usize, usize)> {
    let mut pairs: Vec<_> = network.comparators().map(|c| (c.min(), c.max())).collect();
    pairs.sort_unstable();
    pairs
}

/// Asserts that a network has no comparators that the other does not have, and all of them if it is `whole`.
fn assert_part_of(part: &Network, other: &Network, whole: bool) {
    let (mut left, others) = (comparators(part), comparators(other));
    for comparator in others {
        if let Ok(index) = left.binary_search(&comparator) {
            left.remove(index);
        }
    }
    assert_eq!(left, [], "of {} wires", part.wires());
    assert!(!whole || part.size() == other.size(), "{} wires", part.wires());
}

/// In every generated network the smaller key goes to the lower wire, no stage is empty, and blocks are inside.
fn assert_well_made(network: &Network) {
    assert!(network.is_ascending());
    assert!(network.stages().iter().all(|stage| !stage.comparators().is_empty()));
    for block in network.blocks() {
        assert!(block.wires.end <= network.wires() && block.stages.end <= network.depth());
    }
}

#[test]
fn merges_merge_runs_of_every_two_lengths() {
    for merging in Merging::ALL {
        for (first, second) in (0..=20).flat_map(|first| (0..=20).map(move |second| (first, second))) {
            let network = merge(merging, first, second);
            prove(&network, Claim::MergesTwoRuns { split: first });
            assert_well_made(&network);
            let longer = first.max(second);
            let depth = if first.min(second) == 0 { 0 } else { 1 + properties::ceil_log2(longer) as usize };
            assert_eq!(network.depth(), depth, "{merging} {first} {second}");
        }
        for (first, second) in [(1, 700), (700, 1), (100, 37), (37, 100), (256, 257), (513, 511)] {
            prove(&merge(merging, first, second), Claim::MergesTwoRuns { split: first });
        }
    }
}

#[test]
fn merges_fail_whichever_comparator_is_missing() {
    for merging in Merging::ALL {
        for (first, second) in (1..=12).flat_map(|first| (1..=12).map(move |second| (first, second))) {
            let claim = Claim::MergesTwoRuns { split: first };
            assert_all_needed(&merge(merging, first, second), claim);
        }
    }
}

#[test]
fn merges_of_a_power_of_two_and_no_more_are_part_of_the_last_merges_of_the_sorters() {
    for (merging, kind) in [(Merging::Bitonic, Kind::BitonicMerge), (Merging::OddEven, Kind::OddEvenMerge)] {
        for (run, second) in [1, 2, 4, 8, 32].into_iter().flat_map(|run| (1..=run).map(move |n| (run, n))) {
            // Where runs differ the sorter's merge also compares keys of one run that are in order.
            let last_merge = kind.generate(run + second).unwrap();
            assert_part_of(&merge(merging, run, second), &last_merge, run == second);
        }
    }
}

#[test]
fn odd_even_merges_have_as_many_comparators_as_batcher_counts() {
    fn batcher(m: usize, n: usize) -> usize {
        match m * n {
            0 | 1 => m * n,
            _ => batcher(m.div_ceil(2), n.div_ceil(2)) + batcher(m / 2, n / 2) + (m + n - 1) / 2,
        }
    }
    for (m, n) in (0..=40).flat_map(|m| (0..=40).map(move |n| (m, n))) {
        let odd_even = merge(Merging::OddEven, m, n).size();
        assert_eq!(odd_even, batcher(m, n), "{m} {n}");
        assert!(odd_even <= merge(Merging::Bitonic, m, n).size(), "{m} {n}");
    }
}

#[test]
fn selections_select_for_every_two_small_numbers() {
    for merging in Merging::ALL {
        for (wires, k) in (0..=20).flat_map(|wires| (0..=wires).map(move |k| (wires, k))) {
            let network = top_k(merging, wires, k);
            prove(&network, Claim::SelectsLargest { k });
            assert_well_made(&network);
        }
    }
}

#[test]
fn selections_from_up_to_128_wires_are_proved() {
    for merging in Merging::ALL {
        for (wires, k) in [(33, 5), (50, 25), (64, 8), (100, 1), (100, 10), (127, 16), (128, 4), (128, 100)] {
            prove(&top_k(merging, wires, k), Claim::SelectsLargest { k });
        }
    }
}

#[test]
fn selections_fail_whichever_comparator_is_missing() {
    for merging in Merging::ALL {
        for (wires, k) in (2..=12).flat_map(|wires| (1..=wires).map(move |k| (wires, k))) {
            assert_all_needed(&top_k(merging, wires, k), Claim::SelectsLargest { k });
        }
        // Where keys that are left behind count as one.
        for (wires, k) in [(20, 3), (40, 5), (64, 8)] {
            assert_all_needed(&top_k(merging, wires, k), Claim::SelectsLargest { k });
        }
    }
}

#[test]
fn a_selection_of_fewer_than_half_the_keys_is_smaller_than_the_sorter() {
    for wires in 2..=128 {
        for (merging, sorter) in
            [(Merging::Bitonic, Kind::Bitonic), (Merging::OddEven, Kind::OddEvenMergeSort)]
        {
            let (all, sorter) = (top_k(merging, wires, wires), sorter.generate(wires).unwrap());
            assert!(all.size() <= sorter.size(), "{merging} {wires}");
            for k in 0..wires.div_ceil(2) {
                let network = top_k(merging, wires, k);
                assert!(network.size() < all.size(), "{merging} {wires} {k}");
                assert!(network.depth() <= sorter.depth(), "{merging} {wires} {k}");
            }
        }
    }
}

#[test]
fn odd_even_selections_have_at_most_as_many_comparators_and_stages_as_bitonic_ones() {
    for (wires, k) in (0..=100).flat_map(|wires| (0..=wires).map(move |k| (wires, k))) {
        let [bitonic, odd_even] = Merging::ALL.map(|merging| top_k(merging, wires, k));
        assert!(odd_even.size() <= bitonic.size(), "{wires} {k}");
        assert_eq!(odd_even.depth(), bitonic.depth(), "{wires} {k}");
    }
}

#[test]
fn selections_of_powers_of_two_follow_the_formulas() {
    for (a, b) in (0..=7).flat_map(|a| (0..=a).map(move |b| (a, b))) {
        let (wires, k) = (1_usize << a, 1_usize << b);
        let kept = (wires / k - 1) * (k + k * b / 2);
        let bitonic = top_k(Merging::Bitonic, wires, k);
        assert_eq!(bitonic.size(), wires * b * (b + 1) / 4 + kept, "{wires} {k}");
        let sorts = wires / k * Kind::OddEvenMergeSort.size(k).unwrap() as usize;
        let odd_even = top_k(Merging::OddEven, wires, k);
        assert_eq!(odd_even.size(), sorts + kept, "{wires} {k}");
        for network in [bitonic, odd_even] {
            assert_eq!(network.depth(), b * (b + 1) / 2 + (a - b) * (b + 1), "{wires} {k}");
        }
    }
}

#[test]
fn selecting_all_keys_is_sorting() {
    for wires in 0..=70_usize {
        let batcher = Kind::OddEvenMergeSort.generate(wires).unwrap();
        let ours = top_k(Merging::OddEven, wires, wires);
        assert_part_of(&ours, &batcher, wires.is_power_of_two());
        assert_eq!(ours.depth(), batcher.depth(), "{wires}");
    }
    for wires in [1, 2, 4, 8, 16, 64] {
        let bitonic = Kind::Bitonic.generate(wires).unwrap();
        assert_eq!(top_k(Merging::Bitonic, wires, wires).stages(), bitonic.stages(), "{wires}");
    }
}

#[test]
fn the_largest_key_takes_a_tournament() {
    for (merging, wires) in Merging::ALL.into_iter().flat_map(|merging| (1..=70).map(move |n| (merging, n))) {
        let network = top_k(merging, wires, 1);
        assert_eq!(network.size(), wires - 1);
        assert_eq!(network.depth(), properties::ceil_log2(wires) as usize);
    }
}

/// The fewest comparators with which the k largest of n keys can be put on the last k wires in ascending order, for
/// k = 1, 2, .., n: found by trying all networks. A set of 0-1 vectors stands for the networks that leave just these.
///
/// Only comparators that put the smaller key on the lower wire are tried. Any other network can be turned into
/// one of these by renaming wires behind its wrong comparators; it then selects on some wires that do not depend on the
/// input, and since it leaves a sorted input as it is, these are the last.
fn fewest_comparators(wires: usize) -> Vec<usize> {
    let selects = |set: u64, k: usize| {
        (0..1_u64 << wires).filter(|vector| set >> vector & 1 == 1).all(|vector| {
            (1..=k).all(|j| (vector >> (wires - j) & 1 == 1) == (vector.count_ones() as usize >= j))
        })
    };
    let compare = |set: u64, low: usize, high: usize| {
        (0..1_u64 << wires).filter(|vector| set >> vector & 1 == 1).fold(0, |all, vector| {
            let swaps = vector >> low & 1 == 1 && vector >> high & 1 == 0;
            all | 1_u64 << if swaps { vector ^ (1 << low) ^ (1 << high) } else { vector }
        })
    };
    let pairs: Vec<_> = (0..wires).flat_map(|low| (low + 1..wires).map(move |high| (low, high))).collect();
    let mut fewest = vec![None; wires];
    let mut sets = vec![u64::MAX >> (64 - (1 << wires))];
    let mut seen: HashSet<u64> = sets.iter().copied().collect();
    for comparators in 0.. {
        for (k, fewest) in (1..).zip(&mut fewest).filter(|(_, fewest)| fewest.is_none()) {
            *fewest = sets.iter().any(|&set| selects(set, k)).then_some(comparators);
        }
        if let Some(all) = fewest.iter().copied().collect() {
            return all;
        }
        let next = sets.iter().flat_map(|&set| pairs.iter().map(move |&(low, high)| compare(set, low, high)));
        sets = next.filter(|&set| seen.insert(set)).collect();
    }
    unreachable!("some number of comparators sorts")
}

#[test]
fn selections_of_up_to_six_wires_are_held_against_the_fewest_comparators_possible() {
    let sizes =
        |merging, wires| -> Vec<usize> { (1..=wires).map(|k| top_k(merging, wires, k).size()).collect() };
    for (fewest, odd_even, bitonic) in [
        (&[1, 1][..], &[1, 1][..], &[1, 1][..]),
        (&[2, 3, 3], &[2, 3, 3], &[2, 3, 3]),
        (&[3, 5, 5, 5], &[3, 5, 5, 5], &[3, 5, 6, 6]),
        (&[4, 7, 8, 9, 9], &[4, 7, 8, 9, 9], &[4, 7, 9, 9, 9]),
        (&[5, 9, 10, 12, 12, 12], &[5, 9, 11, 12, 12, 12], &[5, 9, 11, 13, 13, 13]),
    ] {
        // This is the table of docs/how-it-works.md.
        let wires = fewest.len();
        assert_eq!(fewest_comparators(wires), fewest);
        assert_eq!(sizes(Merging::OddEven, wires), odd_even);
        assert_eq!(sizes(Merging::Bitonic, wires), bitonic);
    }
}

#[test]
fn no_selection_is_smaller_than_alekseyev_allows() {
    // (n - k) ceil(log2(k + 1)) comparators, even if the selected keys need not be sorted.
    let bound = |wires: usize, k: usize| (wires - k) * properties::ceil_log2(k + 1) as usize;
    for merging in Merging::ALL {
        for (wires, k) in (1..=64).flat_map(|wires| (1..=wires).map(move |k| (wires, k))) {
            assert!(top_k(merging, wires, k).size() >= bound(wires, k), "{merging} {wires} {k}");
        }
    }
}

#[test]
fn impossible_numbers_are_explained() {
    let error = Merging::Bitonic.top_k(16, 20).unwrap_err();
    assert_eq!(error, GenerateError::MoreThanAll { k: 20, wires: 16 });
    assert!(error.to_string().contains("ask for at most 16"), "{error}");
    for merging in Merging::ALL {
        for wires in [usize::MAX, MAX_COMPARATORS as usize] {
            let too_many = Err(GenerateError::TooManyMerges { wires });
            assert_eq!(merging.top_k(wires, 1000), too_many);
            assert_eq!(merging.merge(wires - 5, 5), too_many);
        }
        assert!(merging.merge(usize::MAX, usize::MAX).is_err());
        assert_eq!(top_k(merging, 9, 0).size(), 0);
    }

    let network = top_k(Merging::Bitonic, 129, 2);
    let error = network.prove_top_k(2).unwrap_err();
    assert!(matches!(error, ProveError::TooManyWires { limit: 128, .. }), "{error}");
    let error = network.prove_top_k(130).unwrap_err();
    assert_eq!(error, ProveError::SelectionOutOfRange { k: 130, wires: 129 });
    assert!(error.to_string().contains("ask for at most 129"), "{error}");
    let error = Kind::OddEvenTransposition.generate(64).unwrap().prove_top_k(32).unwrap_err().to_string();
    assert!(error.contains("wires selects the 32 largest keys") && error.contains("the limit is"), "{error}");
}

#[test]
fn verdicts_on_selections_read_well() {
    let read = |k| Network::new(4, Vec::new()).unwrap().prove_top_k(k).unwrap_err().to_string();
    assert_eq!(
        read(1),
        "the network does not select the largest key of 1000: out comes 1000; likewise of 3 0 1 2 it makes 3 0 1 2"
    );
    assert!(read(3).starts_with("the network does not select the 3 largest keys of 1000: out comes 1000"));
    assert_eq!(
        top_k(Merging::OddEven, 3, 1).prove_top_k(1).unwrap().to_string(),
        "proved: the network selects the largest key, on its last wire (all 2^3 0-1 inputs, as 8 cases)"
    );
}

/// Whether the last k wires carry the k largest keys of every 0-1 input, by counting the ones of each: no cleverness
/// but 64 inputs in a word.
fn selects_by_counting(network: &Network, k: usize) -> bool {
    const LOW: [u64; 6] = [
        0xaaaa_aaaa_aaaa_aaaa,
        0xcccc_cccc_cccc_cccc,
        0xf0f0_f0f0_f0f0_f0f0,
        0xff00_ff00_ff00_ff00,
        0xffff_0000_ffff_0000,
        0xffff_ffff_0000_0000,
    ];
    let wires = network.wires();
    (0..1_u64 << (wires - 6)).all(|high| {
        let key = |wire: usize| match LOW.get(wire) {
            Some(&bits) => bits,
            None if high >> (wire - 6) & 1 == 1 => u64::MAX,
            None => 0,
        };
        let mut keys: Vec<[u64; 1]> = (0..wires).map(|wire| [key(wire)]).collect();
        network.apply_zero_one(&mut keys).unwrap();
        (0..64_u64).all(|low| {
            let ones = (low.count_ones() + high.count_ones()) as usize;
            (1..=k).all(|j| (keys[wires - j][0] >> low & 1 == 1) == (ones >= j))
        })
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn keys_come_out_as_if_sorted(keys in prop::collection::vec(any::<u8>(), 0..150), k in any::<prop::sample::Index>()) {
        let k = k.index(keys.len() + 1);
        let mut sorted = keys.clone();
        sorted.sort_unstable();
        for merging in Merging::ALL {
            let mut selected = keys.clone();
            top_k(merging, keys.len(), k).apply(&mut selected).unwrap();
            prop_assert_eq!(&selected[keys.len() - k..], &sorted[keys.len() - k..]);
        }
    }

    /// Seventeen wires or more have more than 2^16 inputs, so that the prover looks for what the first stages leave.
    #[test]
    fn damaged_selections_are_judged_as_counting_judges(
        merging in prop::sample::select(&Merging::ALL[..]),
        wires in 17_usize..=18,
        selected in 1_usize..=10,
        claimed in 1_usize..=10,
        dropped in any::<prop::sample::Index>(),
        (low, by) in (0_usize..17, 1_usize..17),
        added_at in any::<prop::sample::Index>(),
    ) {
        let network = top_k(merging, wires, selected);
        let added = Comparator::new(low, (low + by) % 17);
        for (drop, add) in [(false, false), (true, false), (false, true), (true, true)] {
            let mut comparators: Vec<_> = network.comparators().collect();
            if drop {
                comparators.remove(dropped.index(comparators.len()));
            }
            if add {
                comparators.insert(added_at.index(comparators.len() + 1), added);
            }
            let changed = Network::parallelised(wires, comparators).unwrap();
            match changed.prove_top_k(claimed) {
                Ok(_) => prop_assert!(selects_by_counting(&changed, claimed)),
                Err(error) => assert_refutes(&changed, error.counterexample().unwrap()),
            }
        }
    }
}
