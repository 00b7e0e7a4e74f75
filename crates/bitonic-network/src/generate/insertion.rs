//! Insertion sort as a network.

use crate::{Comparator, Network};

/// One comparator a stage.
pub(crate) fn sequential(wires: usize) -> Network {
    Network::sequential(wires, comparators(wires)).expect("insertion stays within its wires")
}

/// Every comparator as early as possible.
pub(crate) fn parallel(wires: usize) -> Network {
    Network::parallelised(wires, comparators(wires)).expect("insertion stays within its wires")
}

/// Key after key moves down from its wire to its place among the keys below.
fn comparators(wires: usize) -> impl Iterator<Item = Comparator> {
    (1..wires).flat_map(|inserted| (0..inserted).rev().map(|low| Comparator::new(low, low + 1)))
}
