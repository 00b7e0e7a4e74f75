//! Every generator, for every small number of wires: proved, counted, and built as described.

use bitonic_network::{Claim, Comparator, GenerateError, Kind, MAX_COMPARATORS, Network, Stage, properties};

/// The kind's network, or `None` where the kind has none with so many wires.
fn generate(kind: Kind, wires: usize) -> Option<Network> {
    kind.generate(wires).ok()
}

fn stages(network: &Network) -> Vec<Vec<(usize, usize)>> {
    let pair = |comparator: &Comparator| ((*comparator).min(), (*comparator).max());
    network.stages().iter().map(|stage| stage.comparators().iter().map(pair).collect()).collect()
}

#[test]
fn every_kind_keeps_its_claim_for_every_small_number_of_wires() {
    for kind in Kind::ALL {
        for wires in 0..=20 {
            match kind.prove(wires) {
                Ok(proof) => assert_eq!((proof.wires(), proof.claim()), (wires, kind.claim(wires))),
                Err(error) => assert!(kind == Kind::HalfCleaner && wires % 2 == 1, "{kind} {wires}: {error}"),
            }
        }
    }
}

#[test]
fn sorters_of_a_simple_construction_sort_up_to_33_wires() {
    for kind in [Kind::Bitonic, Kind::BitonicAlternating, Kind::OddEvenMergeSort] {
        for wires in 21..=33 {
            kind.prove(wires).unwrap_or_else(|error| panic!("{kind} {wires}: {error}"));
        }
    }
}

#[test]
fn merges_merge_for_every_number_of_wires_up_to_300() {
    for kind in [Kind::BitonicMerge, Kind::OddEvenMerge, Kind::BitonicCleaner] {
        for wires in 0..=300 {
            kind.prove(wires).unwrap_or_else(|error| panic!("{kind} {wires}: {error}"));
        }
    }
}

#[test]
fn no_generator_leaves_a_stage_empty() {
    for kind in Kind::ALL {
        for network in (0..=40).filter_map(|wires| generate(kind, wires)) {
            assert!(network.stages().iter().all(|stage| !stage.comparators().is_empty()), "{kind}");
        }
    }
}

#[test]
fn sizes_and_depths_follow_the_formulas() {
    for kind in Kind::ALL {
        for wires in (0..=70).chain([127, 128, 129, 255, 256, 300]) {
            let Some(network) = generate(kind, wires) else { continue };
            if let Some(size) = kind.size(wires) {
                assert_eq!(network.size() as u128, size, "{kind} {wires}");
            }
            if let Some(depth) = kind.depth(wires) {
                assert_eq!(network.depth() as u128, depth, "{kind} {wires}");
            }
        }
    }
}

#[test]
fn formulas_take_the_textbook_values_at_powers_of_two() {
    for m in 1..=40_u32 {
        let (n, m) = (1_usize << m, u128::from(m));
        assert_eq!(properties::bitonic_depth(n), m * (m + 1) / 2);
        assert_eq!(properties::bitonic_size(n), n as u128 / 2 * m * (m + 1) / 2);
        assert_eq!(properties::bitonic_merge_size(n), n as u128 / 2 * m);
        assert_eq!(properties::odd_even_merge_sort_size(n), (m * m - m + 4) * n as u128 / 4 - 1);
    }
}

#[test]
fn formulas_do_not_overflow() {
    for kind in Kind::ALL {
        let _ = (kind.size(usize::MAX), kind.depth(usize::MAX));
    }
    assert_eq!(Kind::Bubble.size(usize::MAX), Some((u128::from(u64::MAX) >> 1) * u128::from(u64::MAX)));
}

#[test]
fn bitonic_stages_of_a_power_of_two_use_every_wire() {
    for kind in [Kind::Bitonic, Kind::BitonicAlternating] {
        for wires in [2, 4, 8, 64] {
            let network = kind.generate(wires).unwrap();
            assert!(network.stages().iter().all(|stage| stage.comparators().len() == wires / 2));
        }
    }
}

#[test]
fn the_flip_form_flips_then_halves_the_distance() {
    let network = Kind::Bitonic.generate(4).unwrap();
    assert_eq!(stages(&network), [[(0, 1), (2, 3)], [(0, 3), (1, 2)], [(0, 1), (2, 3)]]);
    let without_wire_3 = Kind::Bitonic.generate(3).unwrap();
    assert_eq!(stages(&without_wire_3), [[(0, 1)], [(1, 2)], [(0, 1)]]);
}

#[test]
fn the_alternating_form_turns_every_second_block() {
    let network = Kind::BitonicAlternating.generate(8).unwrap();
    let first_merges = [
        vec![(0, 1), (3, 2), (4, 5), (7, 6)],
        vec![(0, 2), (1, 3), (6, 4), (7, 5)],
        vec![(0, 1), (2, 3), (5, 4), (7, 6)],
    ];
    assert_eq!(stages(&network)[..3], first_merges);
    assert!(Kind::ALL.into_iter().filter(|&kind| kind != Kind::BitonicAlternating).all(|kind| {
        (0..=20).filter_map(|wires| generate(kind, wires)).all(|network| network.is_ascending())
    }));
}

#[test]
fn the_cleaner_of_a_power_of_two_is_half_cleaners_all_the_way() {
    let network = Kind::BitonicCleaner.generate(8).unwrap();
    assert_eq!(stages(&network)[0], stages(&Kind::HalfCleaner.generate(8).unwrap())[0]);
    assert_eq!(stages(&network)[1], [(0, 2), (1, 3), (4, 6), (5, 7)]);
    assert_eq!(stages(&network)[2], [(0, 1), (2, 3), (4, 5), (6, 7)]);
    assert_eq!(network.depth(), 3);
}

#[test]
fn insertion_and_bubble_are_the_same_network_in_parallel() {
    for wires in 0..=20 {
        let insertion = Kind::InsertionParallel.generate(wires).unwrap();
        let bubble = Kind::BubbleParallel.generate(wires).unwrap();
        let sorted = |network: &Network| {
            let mut stages = stages(network);
            stages.iter_mut().for_each(|stage| stage.sort_unstable());
            stages
        };
        assert_eq!(sorted(&insertion), sorted(&bubble));
    }
}

#[test]
fn sequential_kinds_have_one_comparator_a_stage() {
    for kind in [Kind::Insertion, Kind::Bubble] {
        let network = kind.generate(9).unwrap();
        assert!(network.stages().iter().map(Stage::comparators).all(|stage| stage.len() == 1));
    }
}

#[test]
fn the_shaded_blocks_of_a_merge_sorter_hold_all_its_comparators() {
    for kind in [Kind::Bitonic, Kind::BitonicAlternating, Kind::OddEvenMergeSort] {
        for wires in [2, 4, 8, 32, 33, 37] {
            let network = kind.generate(wires).unwrap();
            for block in network.blocks() {
                assert!(block.wires.end <= wires && block.stages.end <= network.depth());
            }
            // The last merge spans all wires.
            assert!(network.blocks().iter().any(|block| block.wires == (0..wires)));
            for (index, stage) in network.stages().iter().enumerate() {
                for comparator in stage.comparators() {
                    let ends = [comparator.top(), comparator.bottom()];
                    let around = network.blocks().iter().filter(|block| block.stages.contains(&index));
                    // In flip form a tail that is already sorted keeps some idle comparators, unshaded.
                    let idle_tail = kind == Kind::Bitonic && !wires.is_power_of_two();
                    let inside = around.filter(|block| ends.iter().all(|end| block.wires.contains(end)));
                    assert!(inside.count() == 1 || idle_tail, "{kind} {wires}: stage {index} {comparator}");
                }
            }
        }
    }
}

#[test]
fn names_are_unique_and_round_trip() {
    for kind in Kind::ALL {
        assert_eq!(kind.to_string().parse(), Ok(kind));
        assert!(!kind.description().is_empty() && !kind.description().contains('\n'));
    }
    let error = "bitonik".parse::<Kind>().unwrap_err();
    assert_eq!(error.name(), "bitonik");
    for kind in Kind::ALL {
        assert!(error.to_string().contains(kind.name()));
    }
}

#[test]
fn a_number_of_wires_without_a_network_is_explained() {
    let error = Kind::Smallest.generate(21).unwrap_err();
    assert_eq!(error, GenerateError::NotKnown { kind: Kind::Smallest, wires: 21 });
    assert!(error.to_string().contains("up to 20: use `odd-even-merge-sort`"), "{error}");
    let error = Kind::HalfCleaner.generate(7).unwrap_err();
    assert!(error.to_string().contains("even number of wires"), "{error}");
    for kind in Kind::ALL {
        for wires in [usize::MAX, MAX_COMPARATORS as usize * 4] {
            assert_eq!(kind.generate(wires), Err(GenerateError::TooManyComparators { kind, wires }));
        }
    }
}

#[test]
fn merges_split_at_the_greatest_power_of_two_below_n() {
    let split = |wires| Kind::BitonicMerge.claim(wires);
    for (wires, expected) in [(0, 0), (1, 0), (2, 1), (3, 2), (4, 2), (5, 4), (8, 4), (9, 8)] {
        assert_eq!(split(wires), Claim::MergesTwoRuns { split: expected });
    }
}
