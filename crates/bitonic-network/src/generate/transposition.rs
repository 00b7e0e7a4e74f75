//! Odd-even transposition sort.

use super::{Stages, network};
use crate::{Comparator, Network};

/// n phases; phase p compares the neighbours (p mod 2, p mod 2 + 1), (p mod 2 + 2, p mod 2 + 3), ..
pub(crate) fn odd_even(wires: usize) -> Network {
    let stages: Stages = (0..wires)
        .map(|phase| {
            let lows = (phase % 2..wires.saturating_sub(1)).step_by(2);
            lows.map(|low| Comparator::new(low, low + 1)).collect()
        })
        // With two wires or fewer some phases have no neighbours to compare.
        .filter(|stage: &Vec<Comparator>| !stage.is_empty())
        .collect();
    network(wires, stages)
}
