//! Which 0-1 states the wires can be in after the first stages of a network.
//!
//! The first stages of a network work on groups of wires that do not know of each other yet:
//!
//! ```text
//!   0 ─●───●─────     after stage 1 the pairs {0,1}, {2,3}, .. are in one of 3 states each: 00, 01, 11;
//!   1 ─●─●─┼─●───     after stages 2 and 3 the four wires {0,1,2,3} are sorted: in one of 5 states,
//!   2 ─●─●─┼─●───     not of 16.
//!   3 ─●───●─────
//!   4 ─●───●─────     Two such groups leave 5 * 5 states of eight wires to look at instead of 2^8.
//!   ...
//! ```
//!
//! A group's reachable states are known exactly: those of its parts combined, through the stage, each once. They
//! cover all 2^n inputs, because every input reaches a combination of them. One input that leads to it is kept
//! with every state, so that a failure can be reported as an input.
//!
//! A network that selects leaves keys behind, on wires that no later stage touches. Of those keys it only matters
//! whether one of them is a one, so states that agree in that are one state.

use crate::{Comparator, Stage};

/// As many states as can be enumerated in no time, so that no further stage is worth looking at.
const FEW: u128 = 1 << 16;

/// The most states a group may have before they are put through a stage: 2 MiB of them, quickly sorted.
const MAX_GROUP: u128 = 1 << 16;

/// Bit w is the key on wire w.
pub(super) type Bits = u128;

/// Wires that are connected by the stages so far, and the states they can be in.
#[derive(Clone, Debug)]
pub(super) struct Group {
    pub(super) wires: Bits,
    pub(super) states: Vec<State>,
}

/// The keys on a group's wires, and the smallest input of those wires that leads to them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct State {
    pub(super) keys: Bits,
    pub(super) input: Bits,
}

/// The groups after as many of the first stages as pay, and how many stages that is. Of the keys that leave the network
/// on the wires `unselected` it matters only whether there is a one among them.
pub(super) fn after_first_stages(wires: usize, stages: &[Stage], unselected: Bits) -> (Vec<Group>, usize) {
    let left_behind = left_behind(stages, unselected);
    let mut groups: Vec<Group> = (0..wires).map(single_wire).collect();
    for (index, stage) in stages.iter().enumerate() {
        if combinations(&groups) <= FEW {
            return (groups, index);
        }
        match advance(&groups, stage, left_behind[index]) {
            Some(advanced) => groups = advanced,
            None => return (groups, index),
        }
    }
    (groups, stages.len())
}

/// The number of states of all wires together, or the greatest number if it is beyond that.
pub(super) fn combinations(groups: &[Group]) -> u128 {
    groups.iter().fold(1, |product, group| product.saturating_mul(group.states.len() as u128))
}

/// For every stage, the unselected wires that none of the later stages touches.
fn left_behind(stages: &[Stage], unselected: Bits) -> Vec<Bits> {
    let mut left_behind = vec![unselected; stages.len()];
    for (index, stage) in stages.iter().enumerate().skip(1).rev() {
        let touched = stage.comparators().iter().map(|c| 1 << c.min() | 1 << c.max());
        left_behind[index - 1] = left_behind[index] & !touched.fold(0, |all: Bits, ends: Bits| all | ends);
    }
    left_behind
}

fn single_wire(wire: usize) -> Group {
    let one = 1 << wire;
    Group { wires: one, states: [0, one].map(|keys| State { keys, input: keys }).into() }
}

/// The groups after one more stage; `None` if one of them would become too large.
fn advance(groups: &[Group], stage: &Stage, left_behind: Bits) -> Option<Vec<Group>> {
    let mut remaining: Vec<&Group> = groups.iter().collect();
    let mut advanced = Vec::new();
    while let Some(&first) = remaining.first() {
        let wires = connected(first.wires, &remaining, stage);
        let (parts, others) = remaining.into_iter().partition(|group| group.wires & wires != 0);
        remaining = others;
        advanced.push(join(&parts, stage, left_behind)?);
    }
    Some(advanced)
}

/// All wires of the groups that the stage connects with `wires`.
fn connected(mut wires: Bits, groups: &[&Group], stage: &Stage) -> Bits {
    loop {
        let before = wires;
        for &comparator in stage.comparators() {
            let ends = 1 << comparator.min() | 1 << comparator.max();
            if wires & ends != 0 {
                wires |= ends;
            }
        }
        for group in groups {
            if wires & group.wires != 0 {
                wires |= group.wires;
            }
        }
        if wires == before {
            return wires;
        }
    }
}

/// The parts as one group, after the stage; `None` if it is too large.
fn join(parts: &[&Group], stage: &Stage, left_behind: Bits) -> Option<Group> {
    let count = parts.iter().fold(1, |product: u128, part| product.saturating_mul(part.states.len() as u128));
    if count > MAX_GROUP {
        return None;
    }
    let wires = parts.iter().fold(0, |wires, part| wires | part.wires);
    let mut states = vec![State { keys: 0, input: 0 }];
    for part in parts {
        states = states
            .iter()
            .flat_map(|a| {
                part.states.iter().map(|b| State { keys: a.keys | b.keys, input: a.input | b.input })
            })
            .collect();
    }
    let inside = |comparator: &Comparator| wires >> comparator.top() & 1 == 1;
    for comparator in stage.comparators().iter().copied().filter(inside) {
        for state in &mut states {
            // Only a one on the wire of the smaller key and a zero on the other make a change: both are flipped.
            let out_of_order = (state.keys >> comparator.min()) & !(state.keys >> comparator.max()) & 1;
            state.keys ^= out_of_order << comparator.min() | out_of_order << comparator.max();
        }
    }
    // Any one that is left behind is as good as one on the first of these wires.
    let left_behind = wires & left_behind;
    for state in states.iter_mut().filter(|state| state.keys & left_behind != 0) {
        state.keys = state.keys & !left_behind | left_behind & left_behind.wrapping_neg();
    }
    states.sort_unstable();
    states.dedup_by_key(|state| state.keys);
    Some(Group { wires, states })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Kind, Network};

    #[test]
    fn groups_hold_exactly_the_states_that_inputs_reach() {
        for kind in [Kind::Bitonic, Kind::BitonicAlternating, Kind::OddEvenTransposition, Kind::Shallowest] {
            let network = kind.generate(8).unwrap();
            let mut groups: Vec<Group> = (0..8).map(single_wire).collect();
            for stage in network.stages() {
                groups = advance(&groups, stage, 0).unwrap();
            }
            // By the last stage all wires are connected.
            let [group] = &groups[..] else { panic!("{kind} leaves {} groups", groups.len()) };
            assert_eq!(group.wires, 0xff);
            let sorted: Vec<Bits> = (0..=8).map(|ones| 0xff & !(0xff >> ones)).collect();
            assert_eq!(group.states.iter().map(|state| state.keys).collect::<Vec<_>>(), sorted);
            assert!(group.states.iter().all(|state| state.input.count_ones() == state.keys.count_ones()));
        }
    }

    #[test]
    fn keys_that_are_left_behind_count_as_one() {
        // After stage 1 wires 0 and 2 are done with. With a one on either: all states in which 1 and 3 have one.
        let network = Network::from_list("[(0,1),(2,3)]\n[(1,3)]\n").unwrap();
        assert_eq!(left_behind(network.stages(), 0b0111), [0b0101, 0b0111]);
        let mut groups: Vec<Group> = (0..4).map(single_wire).collect();
        let keys = |groups: &[Group]| -> Vec<Vec<Bits>> {
            groups.iter().map(|group| group.states.iter().map(|state| state.keys).collect()).collect()
        };
        groups = advance(&groups, &network.stages()[0], 0b0101).unwrap();
        assert_eq!(keys(&groups), [[0, 0b0010, 0b0011], [0, 0b1000, 0b1100]]);
        groups = advance(&groups, &network.stages()[1], 0b0111).unwrap();
        assert_eq!(keys(&groups), [[0, 0b1000, 0b1001]]);
    }

    #[test]
    fn the_first_stage_leaves_three_states_a_pair() {
        let network = Kind::Bitonic.generate(6).unwrap();
        let groups: Vec<Group> = (0..6).map(single_wire).collect();
        let groups = advance(&groups, &network.stages()[0], 0).unwrap();
        assert_eq!(combinations(&groups), 27);
        assert!(groups.iter().all(|group| group.states.len() == 3));
    }
}
