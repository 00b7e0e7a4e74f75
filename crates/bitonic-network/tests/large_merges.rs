//! Merges of 2^16 wires, over all their 0-1 inputs.

mod common;

use bitonic_network::{Kind, Network};
use common::{assert_refutes, without_comparator};

const WIRES: usize = 1 << 16;

fn prove(kind: Kind) {
    let proof = kind.prove(WIRES).unwrap_or_else(|error| panic!("{kind}: {error}"));
    assert_eq!((proof.wires(), proof.claim()), (WIRES, kind.claim(WIRES)));
}

#[test]
fn the_bitonic_merge_of_65536_wires_merges() {
    prove(Kind::BitonicMerge);
}

#[test]
fn the_odd_even_merge_of_65536_wires_merges() {
    prove(Kind::OddEvenMerge);
}

#[test]
fn the_bitonic_cleaner_of_65536_wires_sorts_every_bitonic_input() {
    prove(Kind::BitonicCleaner);
}

#[test]
fn one_comparator_missing_among_tens_of_thousands_is_found() {
    let wires = 1 << 13;
    for kind in [Kind::BitonicMerge, Kind::OddEvenMerge, Kind::BitonicCleaner] {
        let network = kind.generate(wires).unwrap();
        for dropped in [0, network.size() / 2, network.size() - 1] {
            let damaged = without_comparator(&network, dropped);
            let error = damaged.prove_claim(kind.claim(wires)).expect_err("a comparator is missing");
            assert!(!error.counterexample().unwrap().output().is_sorted());
            assert!(error.to_string().len() < 1000, "long inputs are shown by their runs: {error}");
        }
    }
}

#[test]
fn thresholds_beyond_16_bits_are_not_cut() {
    // Without comparators the second run alone is sorted, and every input with a one in the first run and a zero
    // in the second is not.
    let network = Network::new((1 << 16) + 3, Vec::new()).unwrap();
    assert!(network.prove_merge(0).is_ok());
    let error = network.prove_merge(1).unwrap_err();
    assert_refutes(&network, error.counterexample().unwrap());
}
