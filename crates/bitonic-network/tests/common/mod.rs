//! The plain way to check what the crate proves cleverly: one input after the other.
#![allow(dead_code, reason = "each test file uses its own part")]

use bitonic_network::{Claim, Comparator, Counterexample, Network};

/// The 0-1 inputs that a claim speaks of, by its definition: filtered from all 2^n.
pub(crate) fn inputs_of(claim: Claim, wires: usize) -> Vec<Vec<bool>> {
    let all = (0..1_u32 << wires).map(|bits| (0..wires).map(|wire| bits >> wire & 1 == 1).collect());
    all.filter(|input: &Vec<bool>| is_input_of(claim, input)).collect()
}

/// Whether a claim speaks of an input.
pub(crate) fn is_input_of<T: Ord>(claim: Claim, input: &[T]) -> bool {
    match claim {
        Claim::Sorts | Claim::SelectsLargest { .. } => true,
        Claim::MergesTwoRuns { split } => input[..split].is_sorted() && input[split..].is_sorted(),
        _ => is_bitonic(input),
    }
}

/// Whether an output is what the claim says.
pub(crate) fn holds<T: Ord>(claim: Claim, output: &[T]) -> bool {
    match claim {
        Claim::HalfCleans => {}
        Claim::SelectsLargest { k } => {
            let (others, selected) = output.split_at(output.len() - k);
            return selected.is_sorted() && (k == 0 || others.iter().all(|key| key <= &selected[0]));
        }
        _ => return output.is_sorted(),
    }
    let (low, high) = output.split_at(output.len() / 2);
    is_circularly_bitonic(low) && is_circularly_bitonic(high) && low.iter().max() <= high.iter().min()
        || output.is_empty()
}

/// Rises then falls, or falls then rises.
pub(crate) fn is_bitonic<T: Ord>(keys: &[T]) -> bool {
    let turns_down = |turn: &usize| keys[..*turn].is_sorted() && keys[*turn..].is_sorted_by(|a, b| a >= b);
    let turns_up = |turn: &usize| keys[..*turn].is_sorted_by(|a, b| a >= b) && keys[*turn..].is_sorted();
    (0..=keys.len()).any(|turn| turns_down(&turn) || turns_up(&turn))
}

/// Some rotation rises then falls: the halves of the theorem are bitonic in this sense.
fn is_circularly_bitonic<T: Ord>(keys: &[T]) -> bool {
    let refs: Vec<&T> = keys.iter().collect();
    (0..keys.len().max(1)).any(|by| {
        let mut rotated = refs.clone();
        rotated.rotate_left(by);
        is_bitonic(&rotated)
    })
}

/// Whether the network does what is claimed on every 0-1 input, tried one by one.
pub(crate) fn brute_force(network: &Network, claim: Claim) -> bool {
    inputs_of(claim, network.wires()).into_iter().all(|mut keys| {
        network.apply(&mut keys).unwrap();
        holds(claim, &keys)
    })
}

/// Asserts that a counterexample is one: right inputs, the network's own outputs, and wrong ones.
pub(crate) fn assert_refutes(network: &Network, counterexample: &Counterexample) {
    let claim = counterexample.claim();
    let mut output = counterexample.input().to_vec();
    assert!(is_input_of(claim, &output), "{claim}: {output:?}");
    network.apply(&mut output).unwrap();
    assert_eq!(output, counterexample.output());
    assert!(!holds(claim, &output), "{claim}: {output:?}");

    let mut permutation = counterexample.permutation().to_vec();
    assert!(is_input_of(claim, &permutation), "{claim}: {permutation:?}");
    let mut ranks = permutation.clone();
    ranks.sort_unstable();
    assert!(ranks.into_iter().eq(0..network.wires()), "{permutation:?}");
    network.apply(&mut permutation).unwrap();
    assert_eq!(permutation, counterexample.permutation_output());
    assert!(!holds(claim, &permutation), "{claim}: {permutation:?}");
}

/// The network without its comparator of that number.
pub(crate) fn without_comparator(network: &Network, dropped: usize) -> Network {
    let mut number = 0..;
    let stages = network.stages().iter().map(|stage| {
        let keep = |_: &&Comparator| number.next() != Some(dropped);
        stage.comparators().iter().filter(keep).copied().collect()
    });
    let stages = stages.collect();
    Network::new(network.wires(), stages).unwrap()
}
