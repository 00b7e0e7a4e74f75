//! The types: [`Network`], [`Stage`], [`Comparator`], and the [`Block`]s a drawing shades.

use std::fmt;
use std::ops::Range;

/// A comparator C(min, max): it compares the keys on two wires and puts the smaller one on wire `min`, the
/// larger one on wire `max`.
///
/// In most networks `min < max`: the smaller key goes to the lower wire. The classic alternating-direction form
/// of the bitonic sorter also has comparators that point the other way; see [`Comparator::is_ascending`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Comparator {
    min: usize,
    max: usize,
}

impl Comparator {
    /// A comparator that puts the smaller key on wire `min` and the larger one on wire `max`.
    pub const fn new(min: usize, max: usize) -> Self {
        Self { min, max }
    }

    /// The wire that receives the smaller key.
    pub const fn min(self) -> usize {
        self.min
    }

    /// The wire that receives the larger key.
    pub const fn max(self) -> usize {
        self.max
    }

    /// The wire drawn above: the smaller of the two wire numbers.
    pub const fn top(self) -> usize {
        if self.min < self.max { self.min } else { self.max }
    }

    /// The wire drawn below: the larger of the two wire numbers.
    pub const fn bottom(self) -> usize {
        if self.min < self.max { self.max } else { self.min }
    }

    /// Whether the smaller key goes to the smaller wire number.
    pub const fn is_ascending(self) -> bool {
        self.min < self.max
    }
}

impl fmt::Display for Comparator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "({},{})", self.min, self.max)
    }
}

/// Comparators that touch every wire at most once, so that all of them can work at the same time.
///
/// Only [`Stage::new`] and [`Network`]'s constructors make one, and they check it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Stage {
    comparators: Vec<Comparator>,
}

impl Stage {
    /// A stage of independent comparators; the error names the first wire that two of them touch.
    pub fn new(comparators: Vec<Comparator>) -> Result<Self, NetworkError> {
        let mut touched: Vec<usize> = comparators.iter().flat_map(|c| [c.min, c.max]).collect();
        touched.sort_unstable();
        match touched.windows(2).find(|pair| pair[0] == pair[1]) {
            Some(pair) => Err(NetworkError::WireTouchedTwice { stage: 0, wire: pair[0] }),
            None => Ok(Self { comparators }),
        }
    }

    /// The comparators, in the order they were given.
    pub fn comparators(&self) -> &[Comparator] {
        &self.comparators
    }
}

/// A rectangle of a network that belongs together, shaded in drawings: one bitonic block, one merge.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Block {
    /// The stages it spans.
    pub stages: Range<usize>,
    /// The wires it spans.
    pub wires: Range<usize>,
}

/// A comparator network: wires, and stages of independent comparators between them.
///
/// ```
/// use bitonic_network::{Comparator, Network};
///
/// let network = Network::new(3, vec![
///     vec![Comparator::new(0, 2)],
///     vec![Comparator::new(0, 1)],
///     vec![Comparator::new(1, 2)],
/// ])?;
/// assert_eq!((network.wires(), network.size(), network.depth()), (3, 3, 3));
/// # Ok::<(), bitonic_network::NetworkError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Network {
    wires: usize,
    stages: Vec<Stage>,
    blocks: Vec<Block>,
}

impl Network {
    /// A network from its stages. Checks that each stage touches a wire once and only wires below `wires`.
    pub fn new(wires: usize, stages: Vec<Vec<Comparator>>) -> Result<Self, NetworkError> {
        let stages = stages
            .into_iter()
            .enumerate()
            .map(|(index, comparators)| {
                if let Some(&comparator) = comparators.iter().find(|c| c.bottom() >= wires) {
                    return Err(NetworkError::WireOutOfRange {
                        stage: index,
                        wire: comparator.bottom(),
                        wires,
                    });
                }
                Stage::new(comparators).map_err(|error| error.in_stage(index))
            })
            .collect::<Result<_, _>>()?;
        Ok(Self { wires, stages, blocks: Vec::new() })
    }

    /// A network from comparators in sequence: each goes into the earliest stage in which both of its wires are
    /// free and after every earlier comparator on them. This is how a sequential network is parallelised.
    pub fn parallelised(
        wires: usize,
        comparators: impl IntoIterator<Item = Comparator>,
    ) -> Result<Self, NetworkError> {
        let mut stages: Vec<Vec<Comparator>> = Vec::new();
        // For every wire, the first stage in which it is free.
        let mut free_from = vec![0_usize; wires];
        for comparator in comparators {
            if comparator.bottom() >= wires {
                let stage = stages.len();
                return Err(NetworkError::WireOutOfRange { stage, wire: comparator.bottom(), wires });
            }
            let stage = free_from[comparator.min].max(free_from[comparator.max]);
            if stage == stages.len() {
                stages.push(Vec::new());
            }
            stages[stage].push(comparator);
            free_from[comparator.min] = stage + 1;
            free_from[comparator.max] = stage + 1;
        }
        Self::new(wires, stages)
    }

    /// A network in which every comparator has a stage of its own, in the order given.
    pub fn sequential(
        wires: usize,
        comparators: impl IntoIterator<Item = Comparator>,
    ) -> Result<Self, NetworkError> {
        Self::new(wires, comparators.into_iter().map(|comparator| vec![comparator]).collect())
    }

    /// The same network with the blocks that a drawing shades.
    pub fn with_blocks(mut self, blocks: Vec<Block>) -> Self {
        self.blocks = blocks;
        self
    }

    /// The number of wires.
    pub fn wires(&self) -> usize {
        self.wires
    }

    /// The stages, in order.
    pub fn stages(&self) -> &[Stage] {
        &self.stages
    }

    /// The blocks that a drawing shades.
    pub fn blocks(&self) -> &[Block] {
        &self.blocks
    }

    /// All comparators, stage after stage.
    pub fn comparators(&self) -> impl Iterator<Item = Comparator> + '_ {
        self.stages.iter().flat_map(|stage| stage.comparators.iter().copied())
    }

    /// The number of comparators.
    pub fn size(&self) -> usize {
        self.stages.iter().map(|stage| stage.comparators.len()).sum()
    }

    /// The number of stages.
    pub fn depth(&self) -> usize {
        self.stages.len()
    }

    /// Whether every comparator puts the smaller key on the smaller wire number.
    pub fn is_ascending(&self) -> bool {
        self.comparators().all(Comparator::is_ascending)
    }
}

/// Why comparators do not make a network.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NetworkError {
    /// Two comparators of one stage, or both ends of one comparator, touch the same wire.
    WireTouchedTwice {
        /// The stage, counted from 0.
        stage: usize,
        /// The wire.
        wire: usize,
    },
    /// A comparator touches a wire that the network does not have.
    WireOutOfRange {
        /// The stage, counted from 0.
        stage: usize,
        /// The wire.
        wire: usize,
        /// How many wires the network has.
        wires: usize,
    },
}

impl NetworkError {
    fn in_stage(self, index: usize) -> Self {
        match self {
            Self::WireTouchedTwice { wire, .. } => Self::WireTouchedTwice { stage: index, wire },
            Self::WireOutOfRange { wire, wires, .. } => Self::WireOutOfRange { stage: index, wire, wires },
        }
    }
}

impl fmt::Display for NetworkError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::WireTouchedTwice { stage, wire } => write!(
                f,
                "stage {stage} touches wire {wire} twice: comparators of one stage must be independent; \
                 put one of them into a later stage"
            ),
            Self::WireOutOfRange { stage, wire, wires } => write!(
                f,
                "stage {stage} touches wire {wire}, but the network has {wires} wires (0 to {}): \
                 correct the wire number or declare more wires",
                wires.saturating_sub(1)
            ),
        }
    }
}

impl std::error::Error for NetworkError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stage_touches_a_wire_once() {
        let twice = Stage::new(vec![Comparator::new(0, 1), Comparator::new(2, 1)]);
        assert_eq!(twice, Err(NetworkError::WireTouchedTwice { stage: 0, wire: 1 }));
        let itself = Stage::new(vec![Comparator::new(3, 3)]);
        assert_eq!(itself, Err(NetworkError::WireTouchedTwice { stage: 0, wire: 3 }));
    }

    #[test]
    fn a_network_names_the_stage_and_the_wire_at_fault() {
        let c = Comparator::new;
        let out_of_range = Network::new(2, vec![vec![c(0, 1)], vec![c(1, 2)]]);
        assert_eq!(out_of_range, Err(NetworkError::WireOutOfRange { stage: 1, wire: 2, wires: 2 }));
        let twice = Network::new(3, vec![vec![c(0, 1)], vec![c(0, 1), c(1, 2)]]);
        assert_eq!(twice, Err(NetworkError::WireTouchedTwice { stage: 1, wire: 1 }));
    }

    #[test]
    fn parallelising_fills_the_earliest_free_stage() {
        let c = Comparator::new;
        let network =
            Network::parallelised(4, [c(0, 1), c(1, 2), c(2, 3), c(0, 1), c(1, 2), c(0, 1)]).unwrap();
        let stages: Vec<&[Comparator]> = network.stages().iter().map(Stage::comparators).collect();
        assert_eq!(stages, [&[c(0, 1)][..], &[c(1, 2)], &[c(2, 3), c(0, 1)], &[c(1, 2)], &[c(0, 1)]]);
    }
}
