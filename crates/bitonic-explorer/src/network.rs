//! A network as the page draws it: where its comparators stand, and the names of its parts.

use crate::answer::ClaimWords;
use bitonic_network::{Comparator, Kind, Network, Stage};
use serde::Serialize;

/// The most wires that the page shows.
const MAX_WIRES: usize = 64;

/// The most comparators that the page shows: twice those of insertion sort on 64 wires.
const MAX_COMPARATORS: usize = 4096;

/// Whether the page can show the network.
pub(crate) fn check_size(network: &Network) -> Result<(), String> {
    match (network.wires(), network.size()) {
        (wires, _) if wires > MAX_WIRES => {
            Err(format!("the page shows networks of up to {MAX_WIRES} wires, and this one has {wires}"))
        }
        (_, size) if size > MAX_COMPARATORS => Err(format!(
            "the page shows networks of up to {MAX_COMPARATORS} comparators, and this one has {size}"
        )),
        _ => Ok(()),
    }
}

/// A kind of network, for the list that the reader chooses from.
#[derive(Serialize)]
pub(crate) struct KindFacts {
    name: &'static str,
    description: &'static str,
    /// Whether there is one with the number of wires asked for.
    exists: bool,
}

/// Every kind.
pub(crate) fn kinds(wires: usize) -> Vec<KindFacts> {
    let facts = |kind: Kind| KindFacts {
        name: kind.name(),
        description: kind.description(),
        exists: wires <= MAX_WIRES && kind.generate(wires).is_ok(),
    };
    Kind::ALL.into_iter().map(facts).collect()
}

/// A network with everything that is drawn.
#[derive(Serialize)]
pub(crate) struct Described {
    wires: usize,
    size: usize,
    depth: usize,
    /// Whether every comparator puts the smaller key on the upper wire.
    ascending: bool,
    /// The network in list form, by which the page names it in other questions.
    list: String,
    stages: Vec<DrawnStage>,
    blocks: Vec<DrawnBlock>,
    /// What its kind promises; sorting, if it has none.
    claim: ClaimWords,
    claim_text: String,
}

#[derive(Serialize)]
struct DrawnStage {
    /// How many columns its comparators take.
    columns: usize,
    comparators: Vec<DrawnComparator>,
    parts: Vec<Part>,
}

#[derive(Serialize)]
struct DrawnComparator {
    min: usize,
    max: usize,
    column: usize,
}

/// Comparators of a stage that make something with a name.
#[derive(Debug, PartialEq, Eq, Serialize)]
struct Part {
    name: &'static str,
    /// Its first wire.
    top: usize,
    /// Its last wire.
    bottom: usize,
}

#[derive(Serialize)]
struct DrawnBlock {
    /// Its first stage and the one after its last.
    stages: [usize; 2],
    /// Its first wire and the one after its last.
    wires: [usize; 2],
    name: String,
}

impl Described {
    /// The network of a kind.
    pub(crate) fn of_kind(kind: Kind, wires: usize) -> Result<Self, String> {
        if wires > MAX_WIRES {
            return Err(format!("the page shows networks of up to {MAX_WIRES} wires, not {wires}"));
        }
        let network = kind.generate(wires).map_err(|error| error.to_string())?;
        let claim = kind.claim(wires);
        Ok(Self { claim: claim.into(), claim_text: claim.to_string(), ..Self::of(&network) })
    }

    /// Any network.
    pub(crate) fn of(network: &Network) -> Self {
        let claim = bitonic_network::Claim::Sorts;
        Self {
            wires: network.wires(),
            size: network.size(),
            depth: network.depth(),
            ascending: network.is_ascending(),
            list: network.to_list(),
            stages: network.stages().iter().map(DrawnStage::of).collect(),
            blocks: network.blocks().iter().map(|block| DrawnBlock::of(block, network)).collect(),
            claim: claim.into(),
            claim_text: claim.to_string(),
        }
    }
}

impl DrawnStage {
    fn of(stage: &Stage) -> Self {
        let columns = stage.columns();
        let column_of = |comparator: &Comparator| {
            columns.iter().position(|column| column.contains(comparator)).unwrap_or(0)
        };
        let drawn = |comparator: &Comparator| DrawnComparator {
            min: comparator.min(),
            max: comparator.max(),
            column: column_of(comparator),
        };
        Self {
            columns: columns.len(),
            comparators: stage.comparators().iter().map(drawn).collect(),
            parts: parts(stage),
        }
    }
}

impl DrawnBlock {
    fn of(block: &bitonic_network::Block, network: &Network) -> Self {
        let width = block.wires.len();
        let stages = &network.stages()[block.stages.clone()];
        let inside = |comparator: &&Comparator| block.wires.contains(&comparator.top());
        let mut comparators = stages.iter().flat_map(Stage::comparators).filter(inside).peekable();
        let falls = comparators.peek().is_some_and(|comparator| !comparator.is_ascending());
        let direction = match (network.is_ascending(), falls) {
            (true, _) => "",
            (false, false) => ", upwards",
            (false, true) => ", downwards",
        };
        Self {
            stages: [block.stages.start, block.stages.end],
            wires: [block.wires.start, block.wires.end],
            name: format!("merge of {width}{direction}"),
        }
    }
}

/// The flips and half-cleaners of a stage: groups of comparators that overlap each other and nothing else.
fn parts(stage: &Stage) -> Vec<Part> {
    let mut comparators = stage.comparators().to_vec();
    comparators.sort_unstable_by_key(|comparator| comparator.top());
    let mut parts = Vec::new();
    let mut rest = &comparators[..];
    while let Some(first) = rest.first() {
        let mut bottom = first.bottom();
        let mut count = 1;
        while let Some(next) = rest.get(count)
            && next.top() <= bottom
        {
            bottom = bottom.max(next.bottom());
            count += 1;
        }
        let (group, later) = rest.split_at(count);
        parts.extend(name_of(group).map(|name| Part { name, top: first.top(), bottom }));
        rest = later;
    }
    parts
}

/// What comparators that overlap make together; they are ordered by their top wires. One comparator is just that.
fn name_of(group: &[Comparator]) -> Option<&'static str> {
    let [first, .., last] = group else { return None };
    let neighbours = group.windows(2).all(|pair| pair[0].top() + 1 == pair[1].top());
    let nested = group.windows(2).all(|pair| pair[0].bottom() == pair[1].bottom() + 1);
    let distance = first.bottom() - first.top();
    let parallel = group.iter().all(|comparator| comparator.bottom() - comparator.top() == distance);
    match neighbours {
        true if nested && last.bottom() - last.top() <= 2 => Some("flip"),
        true if parallel => Some("half-cleaner"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(kind: Kind, wires: usize) -> Vec<Vec<&'static str>> {
        let network = kind.generate(wires).unwrap();
        network
            .stages()
            .iter()
            .map(|stage| parts(stage).into_iter().map(|part| part.name).collect())
            .collect()
    }

    #[test]
    fn flips_and_half_cleaners_are_recognised() {
        let (flip, cleaner) = ("flip", "half-cleaner");
        let expected = [vec![], vec![flip, flip], vec![], vec![flip], vec![cleaner, cleaner], vec![]];
        assert_eq!(names(Kind::Bitonic, 8), expected);
        assert_eq!(names(Kind::HalfCleaner, 8), [[cleaner]]);
        assert_eq!(names(Kind::BitonicMerge, 16)[0], [flip]);
        assert!(names(Kind::OddEvenTransposition, 9).concat().is_empty());
    }

    #[test]
    fn every_kind_is_drawn_with_each_comparator_in_a_column_of_its_stage() {
        for kind in Kind::ALL {
            for wires in (2..=MAX_WIRES).filter(|&wires| kind.generate(wires).is_ok()) {
                let described = Described::of_kind(kind, wires).unwrap();
                for stage in &described.stages {
                    assert!(
                        stage.comparators.iter().all(|drawn| drawn.column < stage.columns),
                        "{kind} {wires}"
                    );
                }
            }
        }
    }
}
