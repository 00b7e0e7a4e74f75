//! Bubble sort as a network.

use crate::{Comparator, Network};

/// One comparator a stage.
pub(crate) fn sequential(wires: usize) -> Network {
    Network::sequential(wires, comparators(wires)).expect("bubble sort stays within its wires")
}

/// Every comparator as early as possible.
pub(crate) fn parallel(wires: usize) -> Network {
    Network::parallelised(wires, comparators(wires)).expect("bubble sort stays within its wires")
}

/// Pass after pass carries the greatest remaining key up to its wire.
fn comparators(wires: usize) -> impl Iterator<Item = Comparator> {
    (1..wires).rev().flat_map(|last| (0..last).map(|low| Comparator::new(low, low + 1)))
}
