//! Running networks on keys and on packed 0-1 inputs.

use bitonic_network::{Comparator, Kind, LengthMismatch, Network};
use proptest::prelude::*;

const SORTERS: [Kind; 8] = [
    Kind::Bitonic,
    Kind::BitonicAlternating,
    Kind::OddEvenMergeSort,
    Kind::OddEvenTransposition,
    Kind::Insertion,
    Kind::InsertionParallel,
    Kind::Bubble,
    Kind::BubbleParallel,
];

proptest! {
    #[test]
    fn sorters_sort_any_keys(kind in prop::sample::select(&SORTERS), keys in prop::collection::vec(any::<i32>(), 0..200)) {
        let network = kind.generate(keys.len()).unwrap();
        let mut sorted = keys.clone();
        sorted.sort_unstable();
        let mut applied = keys;
        network.apply(&mut applied).unwrap();
        prop_assert_eq!(applied, sorted);
    }

    #[test]
    fn a_trace_starts_with_the_input_ends_with_the_output_and_moves_one_stage_at_a_time(
        kind in prop::sample::select(&SORTERS),
        keys in prop::collection::vec(any::<u8>(), 0..20),
    ) {
        let network = kind.generate(keys.len()).unwrap();
        let states = network.trace(&keys).unwrap();
        prop_assert_eq!(states.len(), network.depth() + 1);
        prop_assert_eq!(&states[0], &keys);
        for (stage, pair) in network.stages().iter().zip(states.windows(2)) {
            let one_stage = Network::new(keys.len(), vec![stage.comparators().to_vec()]).unwrap();
            let mut after = pair[0].clone();
            one_stage.apply(&mut after).unwrap();
            prop_assert_eq!(&after, &pair[1]);
        }
        prop_assert!(states.last().unwrap().is_sorted());
    }

    #[test]
    fn packed_inputs_come_out_as_they_would_one_by_one(
        kind in prop::sample::select(&SORTERS),
        inputs in (0_usize..20).prop_flat_map(|wires| prop::collection::vec(any::<[u64; 2]>(), wires)),
        dropped in any::<prop::sample::Index>(),
    ) {
        // A prefix of a sorter: an arbitrary network would always be sorted too easily.
        let network = kind.generate(inputs.len()).unwrap();
        let comparators: Vec<Comparator> = network.comparators().collect();
        let kept = if comparators.is_empty() { 0 } else { dropped.index(comparators.len()) };
        let network = Network::sequential(inputs.len(), comparators.into_iter().take(kept)).unwrap();
        let mut packed = inputs.clone();
        network.apply_zero_one(&mut packed).unwrap();
        for number in 0..128 {
            let bit = |wire: &[u64; 2]| wire[number / 64] >> (number % 64) & 1 == 1;
            let mut single: Vec<bool> = inputs.iter().map(bit).collect();
            network.apply(&mut single).unwrap();
            prop_assert_eq!(single, packed.iter().map(bit).collect::<Vec<bool>>());
        }
    }

    #[test]
    fn an_inconsistent_order_still_gives_a_permutation(keys in prop::collection::vec(any::<u8>(), 0..50), answers in any::<[bool; 17]>()) {
        let network = Kind::Bitonic.generate(keys.len()).unwrap();
        let mut answer = answers.iter().cycle();
        let mut applied = keys.clone();
        network.apply_by(&mut applied, |_, _| if *answer.next().unwrap() { std::cmp::Ordering::Greater } else { std::cmp::Ordering::Less }).unwrap();
        let sorted = |mut keys: Vec<u8>| { keys.sort_unstable(); keys };
        prop_assert_eq!(sorted(applied), sorted(keys));
    }
}

#[test]
fn a_descending_comparator_puts_the_larger_key_on_the_lower_wire() {
    let network = Network::new(2, vec![vec![Comparator::new(1, 0)]]).unwrap();
    for mut keys in [[1, 2], [2, 1]] {
        network.apply(&mut keys).unwrap();
        assert_eq!(keys, [2, 1]);
    }
}

#[test]
fn keys_and_wires_must_be_equally_many() {
    let network = Kind::Bitonic.generate(4).unwrap();
    let mismatch = LengthMismatch { keys: 3, wires: 4 };
    let mut keys = [3, 2, 1];
    assert_eq!(network.apply(&mut keys), Err(mismatch));
    assert_eq!(keys, [3, 2, 1]);
    assert_eq!(network.trace(&keys), Err(mismatch));
    assert_eq!(network.apply_zero_one(&mut [[0_u64]; 3]), Err(mismatch));
    assert_eq!(mismatch.to_string(), "3 keys do not fit a network of 4 wires: give one key for each wire");
}
