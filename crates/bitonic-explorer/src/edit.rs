//! Changes that a reader makes to a network.

use crate::network::check_size;
use bitonic_network::{Comparator, Network, Stage};
use serde::Deserialize;

/// One change. Comparators are named by their stage and their place in it.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(tag = "what", rename_all = "snake_case")]
pub enum Change {
    /// A new comparator in a stage, or in a new stage before it if one of its wires is taken there or `alone` is set.
    Add {
        /// The stage.
        stage: usize,
        /// The wire that gets the smaller key.
        min: usize,
        /// The wire that gets the larger key.
        max: usize,
        /// Whether it gets a stage of its own.
        alone: bool,
    },
    /// A comparator goes away, and its stage with it if that is then empty.
    Remove {
        /// The stage.
        stage: usize,
        /// The place in the stage.
        index: usize,
    },
    /// A comparator gets other wires.
    Move {
        /// The stage.
        stage: usize,
        /// The place in the stage.
        index: usize,
        /// The wire that gets the smaller key.
        min: usize,
        /// The wire that gets the larger key.
        max: usize,
    },
    /// Another number of wires. Comparators that would touch a missing wire go away.
    Wires {
        /// How many.
        wires: usize,
    },
    /// Every comparator into the earliest stage possible.
    Pack,
}

/// The network after the change.
pub(crate) fn change(network: &Network, change: Change) -> Result<Network, String> {
    let mut stages: Vec<Vec<Comparator>> =
        network.stages().iter().map(|stage| stage.comparators().to_vec()).collect();
    let mut wires = network.wires();
    match change {
        Change::Add { stage, min, max, alone } => add(&mut stages, stage, Comparator::new(min, max), alone),
        Change::Remove { stage, index } => drop(take(&mut stages, stage, index)?),
        Change::Move { stage, index, min, max } => {
            take(&mut stages, stage, index)?;
            add(&mut stages, stage, Comparator::new(min, max), false);
        }
        Change::Wires { wires: wanted } => {
            wires = wanted;
            for stage in &mut stages {
                stage.retain(|comparator| comparator.bottom() < wanted);
            }
        }
        Change::Pack => {
            return Network::parallelised(wires, network.comparators()).map_err(|error| error.to_string());
        }
    }
    stages.retain(|stage| !stage.is_empty());
    let changed = Network::new(wires, stages).map_err(|error| error.to_string())?;
    check_size(&changed)?;
    Ok(changed)
}

/// Puts a comparator into a stage, or into a new one before it.
fn add(stages: &mut Vec<Vec<Comparator>>, stage: usize, comparator: Comparator, alone: bool) {
    let stage = stage.min(stages.len());
    if let Some(there) = stages.get_mut(stage).filter(|_| !alone) {
        let together: Vec<Comparator> = there.iter().copied().chain([comparator]).collect();
        if Stage::new(together.clone()).is_ok() {
            *there = together;
            return;
        }
    }
    stages.insert(stage, vec![comparator]);
}

fn take(stages: &mut [Vec<Comparator>], stage: usize, index: usize) -> Result<Comparator, String> {
    match stages.get_mut(stage).filter(|stage| index < stage.len()) {
        Some(stage) => Ok(stage.remove(index)),
        None => Err(format!("there is no comparator {index} in stage {stage}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(list: &str, what: Change) -> Result<String, String> {
        change(&Network::parse(list).unwrap(), what).map(|network| network.to_list())
    }

    #[test]
    fn a_comparator_joins_a_stage_where_its_wires_are_free_and_gets_a_new_one_otherwise() {
        let add = |stage, min, max, alone| Change::Add { stage, min, max, alone };
        let list = "# wires: 4\n[(0,1)]\n[(1,2)]\n";
        assert_eq!(after(list, add(0, 2, 3, false)).unwrap(), "[(0,1),(2,3)]\n[(1,2)]\n");
        assert_eq!(after(list, add(1, 2, 3, false)).unwrap(), "[(0,1)]\n[(2,3)]\n[(1,2)]\n");
        assert_eq!(after(list, add(0, 2, 3, true)).unwrap(), "[(2,3)]\n[(0,1)]\n[(1,2)]\n");
        assert_eq!(after(list, add(9, 3, 0, false)).unwrap(), "[(0,1)]\n[(1,2)]\n[(3,0)]\n");
        assert!(after(list, add(0, 2, 4, false)).unwrap_err().contains("has 4 wires"));
        assert!(after(list, add(0, 2, 2, false)).unwrap_err().contains("twice"));
    }

    #[test]
    fn empty_stages_go_away() {
        let list = "# wires: 3\n[(0,1)]\n[(1,2)]\n";
        assert_eq!(after(list, Change::Remove { stage: 1, index: 0 }).unwrap(), "# wires: 3\n[(0,1)]\n");
        assert!(after(list, Change::Remove { stage: 1, index: 1 }).is_err());
        assert_eq!(after(list, Change::Wires { wires: 2 }).unwrap(), "[(0,1)]\n");
        let moved = Change::Move { stage: 0, index: 0, min: 0, max: 2 };
        assert_eq!(after(list, moved).unwrap(), "[(0,2)]\n[(1,2)]\n");
        assert_eq!(after("[(0,1)]\n[(2,3)]\n", Change::Pack).unwrap(), "[(0,1),(2,3)]\n");
    }
}
