//! The provers against brute force, on right and on damaged networks.

mod common;

use bitonic_network::{Claim, Comparator, Kind, Network, ProveError};
use common::{assert_refutes, brute_force, without_comparator};
use proptest::prelude::*;

/// Asserts that the prover says what trying every 0-1 input says; returns whether the claim holds.
fn agrees_with_brute_force(network: &Network, claim: Claim) -> bool {
    match network.prove_claim(claim) {
        Ok(proof) => {
            assert!(brute_force(network, claim), "wrongly proved: {claim}: {network:?}");
            assert_eq!((proof.claim(), proof.wires()), (claim, network.wires()));
            true
        }
        Err(error) => {
            let counterexample = error.counterexample().unwrap_or_else(|| panic!("no verdict: {error}"));
            assert_refutes(network, counterexample);
            false
        }
    }
}

/// All claims one can make about a network.
fn claims(wires: usize) -> impl Iterator<Item = Claim> {
    let halves = wires.is_multiple_of(2).then_some(Claim::HalfCleans);
    let merges = (0..=wires).map(|split| Claim::MergesTwoRuns { split });
    let selections = (0..=wires).map(|k| Claim::SelectsLargest { k });
    [Claim::Sorts, Claim::MergesBitonic].into_iter().chain(halves).chain(merges).chain(selections)
}

#[test]
fn provers_agree_with_brute_force_on_every_small_network() {
    let (mut held, mut failed) = (0, 0);
    for kind in Kind::ALL {
        for network in (0..=7).filter_map(|wires| kind.generate(wires).ok()) {
            for claim in claims(network.wires()) {
                *if agrees_with_brute_force(&network, claim) { &mut held } else { &mut failed } += 1;
            }
        }
    }
    assert!(held > 50 && failed > 50, "both verdicts must occur: {held} held, {failed} failed");
}

#[test]
fn provers_agree_with_brute_force_whichever_comparator_is_missing() {
    for kind in Kind::ALL {
        for wires in 2..=9 {
            let Ok(network) = kind.generate(wires) else { continue };
            for dropped in 0..network.size() {
                agrees_with_brute_force(&without_comparator(&network, dropped), kind.claim(wires));
            }
        }
    }
}

#[test]
fn networks_without_redundancy_fail_whichever_comparator_is_missing() {
    // The smallest networks known would not be the smallest, and every comparator of neighbours is needed.
    for kind in [Kind::Smallest, Kind::Insertion, Kind::BubbleParallel, Kind::OddEvenTransposition] {
        for wires in 2..=16 {
            let network = kind.generate(wires).unwrap();
            for dropped in 0..network.size() {
                let damaged = without_comparator(&network, dropped);
                let error = damaged.prove().expect_err("a comparator is missing");
                assert_refutes(&damaged, error.counterexample().unwrap());
            }
        }
    }
}

/// A network of random comparators, of which most do not sort but some merge or clean.
fn random_network() -> impl Strategy<Value = Network> {
    (2_usize..=10).prop_flat_map(|wires| {
        let comparator = (0..wires, 1..wires).prop_map(move |(a, b)| Comparator::new(a, (a + b) % wires));
        prop::collection::vec(comparator, 0..60)
            .prop_map(move |comparators| Network::parallelised(wires, comparators).unwrap())
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn a_dropped_comparator_is_noticed_exactly_if_brute_force_notices(
        kind in prop::sample::select(&Kind::ALL[..]),
        wires in 2_usize..=13,
        dropped in any::<prop::sample::Index>(),
    ) {
        let Ok(network) = kind.generate(wires) else { return Ok(()) };
        let damaged = without_comparator(&network, dropped.index(network.size()));
        agrees_with_brute_force(&damaged, kind.claim(wires));
    }

    #[test]
    fn a_dropped_comparator_is_refuted_on_networks_too_large_for_brute_force(
        kind in prop::sample::select(vec![Kind::Smallest, Kind::OddEvenTransposition, Kind::InsertionParallel]),
        wires in 17_usize..=20,
        dropped in any::<prop::sample::Index>(),
    ) {
        let network = kind.generate(wires).unwrap();
        let damaged = without_comparator(&network, dropped.index(network.size()));
        let error = damaged.prove().expect_err("a comparator is missing");
        assert_refutes(&damaged, error.counterexample().unwrap());
    }

    #[test]
    fn a_dropped_comparator_of_a_large_bitonic_sorter_is_refuted(
        exponent in 5_u32..=7,
        dropped in any::<prop::sample::Index>(),
    ) {
        // At a power of two no comparator of the bitonic sorter is redundant.
        let network = Kind::Bitonic.generate(1 << exponent).unwrap();
        let damaged = without_comparator(&network, dropped.index(network.size()));
        let error = damaged.prove().expect_err("a comparator is missing");
        assert_refutes(&damaged, error.counterexample().unwrap());
    }

    #[test]
    fn random_networks_are_judged_as_brute_force_judges(network in random_network()) {
        for claim in claims(network.wires()) {
            agrees_with_brute_force(&network, claim);
        }
    }

    #[test]
    fn verdicts_are_the_same_every_time(wires in 10_usize..=26, dropped in any::<prop::sample::Index>()) {
        let network = Kind::OddEvenTransposition.generate(wires).unwrap();
        let damaged = without_comparator(&network, dropped.index(network.size()));
        prop_assert_eq!(damaged.prove(), damaged.prove());
    }
}

#[test]
fn every_input_counts_on_networks_without_a_helpful_first_stage() {
    // The sorter comes last: a comparator at the front that leaves 19 wires alone, then all of them.
    let sorter = Kind::Shallowest.generate(20).unwrap();
    let front = std::iter::once(Comparator::new(0, 19));
    let network = Network::sequential(20, front.chain(sorter.comparators())).unwrap();
    assert!(network.prove().is_ok());
}

#[test]
fn thirty_two_wires_are_proved() {
    for kind in [Kind::Bitonic, Kind::BitonicAlternating, Kind::OddEvenMergeSort, Kind::OddEvenTransposition]
    {
        let proof = kind.prove(32).unwrap();
        assert!(proof.to_string().starts_with("proved: the network sorts every input (all 2^32 0-1 inputs"));
    }
}

#[test]
fn merge_sorters_are_proved_up_to_128_wires() {
    for kind in [Kind::Bitonic, Kind::OddEvenMergeSort] {
        for wires in [64, 128] {
            assert!(kind.prove(wires).is_ok());
        }
    }
}

#[test]
fn the_half_cleaner_theorem_holds_for_every_even_n_up_to_64() {
    for wires in (0..=64).step_by(2) {
        let half_cleaner = Kind::HalfCleaner.generate(wires).unwrap();
        assert!(half_cleaner.prove_half_cleaner().is_ok(), "{wires} wires");
        for dropped in 0..half_cleaner.size() {
            let damaged = without_comparator(&half_cleaner, dropped);
            let error = damaged.prove_half_cleaner().expect_err("a comparator is missing");
            assert_refutes(&damaged, error.counterexample().unwrap());
        }
    }
}

#[test]
fn what_cannot_be_proved_is_explained() {
    let bitonic = Kind::Bitonic.generate(129).unwrap();
    let error = bitonic.prove().unwrap_err();
    assert_eq!(error, ProveError::TooManyWires { claim: Claim::Sorts, wires: 129, limit: 128 });
    assert!(error.to_string().contains("the limit is 128 wires; prove the merges"), "{error}");

    let error = Kind::OddEvenTransposition.prove(64).unwrap_err();
    assert_eq!(error, ProveError::TooManyCases { claim: Claim::Sorts, wires: 64, cases: 3_u128.pow(32) });

    let error = bitonic.prove_merge(130).unwrap_err();
    assert_eq!(error, ProveError::SplitOutOfRange { split: 130, wires: 129 });
    assert_eq!(bitonic.prove_half_cleaner(), Err(ProveError::OddWires { wires: 129 }));

    let unconnected = Network::new((1 << 17) + 1, Vec::new()).unwrap();
    for claim in [Claim::MergesBitonic, Claim::MergesTwoRuns { split: 5 }] {
        let error = unconnected.prove_claim(claim).unwrap_err();
        assert!(matches!(error, ProveError::TooManyWires { limit: 131_072, .. }), "{error}");
    }
    assert!(matches!(Kind::HalfCleaner.prove(1026), Err(ProveError::TooManyWires { limit: 1024, .. })));
    assert!(matches!(Kind::Smallest.prove(21), Err(ProveError::NoNetwork(_))));
}

#[test]
fn verdicts_read_well() {
    let proof = Kind::OddEvenMerge.prove(6).unwrap().to_string();
    assert_eq!(
        proof,
        "proved: the network merges two ascending runs, the first on 4 wires (all 15 two-run 0-1 inputs, as 5 cases)"
    );
    let nothing = Network::new(4, Vec::new()).unwrap();
    let read = |claim| nothing.prove_claim(claim).unwrap_err().to_string();
    assert_eq!(
        read(Claim::Sorts),
        "the network does not sort 1000: out comes 1000; likewise of 3 0 1 2 it makes 3 0 1 2"
    );
    assert_eq!(
        read(Claim::MergesTwoRuns { split: 2 }),
        "the network does not merge 0100: out comes 0100; likewise of 0 3 1 2 it makes 0 3 1 2"
    );
    let long = Network::new(100, Vec::new()).unwrap().prove_merge(50).unwrap_err();
    assert_eq!(long.to_string(), "the network does not merge 0*49 1*1 0*50: out comes 0*49 1*1 0*50");
}
