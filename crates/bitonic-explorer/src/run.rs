//! Keys on their way through a network.

use bitonic_network::Network;
use serde::Serialize;
use std::cmp::Ordering;
use std::fmt;

/// A number as a key: ordered as IEEE 754 says.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Key(pub(crate) f64);

impl Ord for Key {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.total_cmp(&other.0)
    }
}

impl PartialOrd for Key {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Key {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Key {}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A key and the wire on which it entered, by which the page follows it. Equal keys stay where they are.
#[derive(Clone)]
struct Traveller {
    key: Key,
    origin: usize,
}

impl Ord for Traveller {
    fn cmp(&self, other: &Self) -> Ordering {
        self.key.cmp(&other.key)
    }
}

impl PartialOrd for Traveller {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Traveller {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Traveller {}

/// Where every key is, all the time.
#[derive(Serialize)]
pub(crate) struct Trace {
    /// For every wire the wire on which its key entered: before the first comparator, and after every one.
    states: Vec<Vec<usize>>,
    /// After how many comparators the keys are in order for good; nothing if they never are.
    sorted_after: Option<usize>,
    /// After how many stages.
    sorted_after_stage: Option<usize>,
}

/// Sends keys through the network, one comparator at a time.
pub(crate) fn trace(network: &Network, keys: &[f64]) -> Result<Trace, String> {
    let one_by_one =
        Network::sequential(network.wires(), network.comparators()).map_err(|error| error.to_string())?;
    let travellers: Vec<Traveller> =
        keys.iter().enumerate().map(|(origin, &key)| Traveller { key: Key(key), origin }).collect();
    let states = one_by_one.trace(&travellers).map_err(|error| error.to_string())?;
    let unsorted = states.iter().rposition(|state| !state.is_sorted());
    let sorted_after = match unsorted {
        None => Some(0),
        Some(last) => (last + 1 < states.len()).then_some(last + 1),
    };
    let done_after_stage = network.stages().iter().scan(0, |done, stage| {
        *done += stage.comparators().len();
        Some(*done)
    });
    let ends: Vec<usize> = [0].into_iter().chain(done_after_stage).collect();
    let sorted_after_stage =
        sorted_after.and_then(|comparators| ends.iter().position(|&done| done >= comparators));
    let states =
        states.iter().map(|state| state.iter().map(|traveller| traveller.origin).collect()).collect();
    Ok(Trace { states, sorted_after, sorted_after_stage })
}

/// The most wires whose 0-1 inputs are tried one after the other before the reader's eyes.
const MAX_SWEPT_WIRES: usize = 16;

/// What became of a part of the 0-1 inputs.
#[derive(Serialize)]
pub(crate) struct Sweep {
    /// How many inputs there are in all.
    total: u32,
    /// The first that is not sorted.
    failed: Option<u32>,
}

/// Tries the 0-1 inputs `first..first + count`.
pub(crate) fn sweep(network: &Network, first: u32, count: u32) -> Result<Sweep, String> {
    let wires = network.wires();
    if wires > MAX_SWEPT_WIRES {
        return Err(format!(
            "all 2^{wires} inputs are too many to watch: choose at most {MAX_SWEPT_WIRES} wires, or ask for the proof"
        ));
    }
    let total = 1_u32 << wires;
    let mut from = first.min(total);
    let end = first.saturating_add(count).min(total);
    let mut failed = None;
    while from < end && failed.is_none() {
        let inputs: Vec<u32> = (from..end.min(from + 64)).collect();
        let bit = |input: u32, wire: usize| u64::from(input >> wire & 1);
        let mut words: Vec<[u64; 1]> = (0..wires)
            .map(|wire| [inputs.iter().enumerate().map(|(at, &input)| bit(input, wire) << at).sum()])
            .collect();
        network.apply_zero_one(&mut words).map_err(|error| error.to_string())?;
        let unsorted = words.windows(2).fold(0, |unsorted, pair| unsorted | pair[0][0] & !pair[1][0]);
        failed = (unsorted != 0).then(|| from + unsorted.trailing_zeros());
        from += 64;
    }
    Ok(Sweep { total, failed })
}

/// What kind of sequence keys are.
#[derive(Serialize)]
pub(crate) struct Sequence {
    sorted: bool,
    bitonic: bool,
    /// How often the keys turn from rising to falling or back, on the circle. A bitonic sequence turns twice, or never.
    turns: usize,
}

/// Looks at keys as a circle: bitonic is what rises once and falls once around it.
pub(crate) fn sequence(keys: &[f64]) -> Sequence {
    let around = keys.iter().zip(keys.iter().cycle().skip(1));
    let ways: Vec<Ordering> = around.map(|(a, b)| b.total_cmp(a)).filter(|way| way.is_ne()).collect();
    let next = ways.iter().cycle().skip(1);
    let turns = ways.iter().zip(next).filter(|(way, next)| way != next).count();
    Sequence { sorted: keys.is_sorted_by(|a, b| a.total_cmp(b).is_le()), bitonic: turns <= 2, turns }
}

/// Every bitonic 0-1 input, as text, in the order of the number of ones.
pub(crate) fn bitonic_inputs(wires: usize) -> Result<Vec<String>, String> {
    if wires > 64 {
        return Err(format!("the page shows networks of up to 64 wires, not {wires}"));
    }
    let stretch = |start: usize, ones: usize| -> String {
        let is_one = |wire: usize| (wire + wires - start) % wires < ones;
        (0..wires).map(|wire| if is_one(wire) { '1' } else { '0' }).collect()
    };
    let all = (0..=wires).flat_map(|ones| {
        let starts = if ones == 0 || ones == wires { 1 } else { wires };
        (0..starts.min(wires)).map(move |start| (start, ones))
    });
    Ok(all.map(|(start, ones)| stretch(start, ones)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use bitonic_network::{Claim, Kind};
    use proptest::prelude::*;

    fn sorting_kinds(wires: usize) -> impl Iterator<Item = Network> {
        let sorting = Kind::ALL.into_iter().filter(move |kind| kind.claim(wires) == Claim::Sorts);
        sorting.filter_map(move |kind| kind.generate(wires).ok())
    }

    #[test]
    fn a_trace_follows_every_key_and_says_when_they_are_in_order() {
        let network = Network::parse("[(0,2)]\n[(0,1)]\n[(1,2)]\n").unwrap();
        let trace = trace(&network, &[30.0, 20.0, 10.0]).unwrap();
        assert_eq!(trace.states, [[0, 1, 2], [2, 1, 0], [2, 1, 0], [2, 1, 0]]);
        assert_eq!((trace.sorted_after, trace.sorted_after_stage), (Some(1), Some(1)));
        let never = super::trace(&Network::parse("[(0,1)]\n[(1,2)]\n").unwrap(), &[2.0, 3.0, 1.0]).unwrap();
        assert_eq!((never.sorted_after, never.sorted_after_stage), (None, None));
        assert!(super::trace(&network, &[1.0]).is_err());
    }

    #[test]
    fn a_sweep_passes_sorters_and_finds_the_first_failure() {
        for wires in 1..=10 {
            for network in sorting_kinds(wires) {
                let sweep = sweep(&network, 0, u32::MAX).unwrap();
                assert_eq!((sweep.total, sweep.failed), (1 << wires, None));
            }
        }
        let once = Network::parse("[(0,1)]\n[(1,2)]\n").unwrap();
        assert_eq!(sweep(&once, 0, 8).unwrap().failed, Some(0b011));
        assert_eq!(sweep(&once, 4, 4).unwrap().failed, None);
        assert!(sweep(&Kind::Bitonic.generate(17).unwrap(), 0, 1).is_err());
    }

    #[test]
    fn bitonic_inputs_are_as_many_as_the_formula_says_and_bitonic() {
        for wires in 1..=16 {
            let inputs = bitonic_inputs(wires).unwrap();
            assert_eq!(inputs.len(), wires * wires - wires + 2);
            for input in inputs {
                let keys: Vec<f64> = input.bytes().map(|byte| f64::from(byte - b'0')).collect();
                assert!(sequence(&keys).bitonic, "{input}");
            }
        }
    }

    proptest! {
        #[test]
        fn a_sequence_is_bitonic_if_a_rotation_of_it_rises_and_then_falls(
            keys in proptest::collection::vec(0_u8..5, 0..9)
        ) {
            let rises_then_falls = |keys: &[u8]| {
                let top = keys.windows(2).take_while(|pair| pair[0] <= pair[1]).count();
                keys.get(top..).unwrap_or_default().windows(2).all(|pair| pair[0] >= pair[1])
            };
            let expected = (0..keys.len().max(1)).any(|by| {
                let mut rotated = keys.clone();
                if !rotated.is_empty() {
                    rotated.rotate_left(by);
                }
                rises_then_falls(&rotated)
            });
            let numbers: Vec<f64> = keys.iter().copied().map(f64::from).collect();
            prop_assert_eq!(sequence(&numbers).bitonic, expected);
        }
    }
}
