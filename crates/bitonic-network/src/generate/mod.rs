//! The generators, one file per family. [`Kind`](crate::Kind) is their public face, and
//! [`Merging`](crate::Merging) that of networks given by two numbers.

pub(crate) mod bitonic;
pub(crate) mod bubble;
pub(crate) mod cleaner;
pub(crate) mod insertion;
pub(crate) mod merge;
pub(crate) mod odd_even_merge;
pub(crate) mod selection;
pub(crate) mod transposition;

use crate::{Comparator, Network};

/// Stages under construction.
type Stages = Vec<Vec<Comparator>>;

/// The network of stages that a generator made, each stage from its top wire down.
fn network(wires: usize, mut stages: Stages) -> Network {
    for stage in &mut stages {
        stage.sort_unstable_by_key(|comparator| comparator.top());
    }
    Network::new(wires, stages).expect("a generator's stage touches every wire at most once")
}

/// Two networks on different wires side by side, both from the first stage on.
fn side_by_side(mut longer: Stages, mut shorter: Stages) -> Stages {
    if longer.len() < shorter.len() {
        std::mem::swap(&mut longer, &mut shorter);
    }
    for (stage, more) in longer.iter_mut().zip(shorter) {
        stage.extend(more);
    }
    longer
}
