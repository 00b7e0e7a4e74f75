//! Two runs beside each other.

use super::{Analysis, Summary};
use serde::Serialize;

/// What two runs have in common.
#[derive(Clone, Debug, Serialize)]
pub struct Comparison {
    /// Cells that both measured.
    pub changes: Vec<Change>,
    /// Cells that only one of them measured.
    pub only_in_one: usize,
    /// What differs between the machines: name, there, here.
    pub machines: Vec<(String, String, String)>,
}

/// An implementation at a size in two runs.
#[derive(Clone, Debug, Serialize)]
pub struct Change {
    /// The type of the keys.
    pub key_type: String,
    /// What they looked like.
    pub distribution: String,
    /// How many there were.
    pub size: usize,
    /// Who sorted.
    pub implementation: String,
    /// The first run.
    pub first: Summary,
    /// The second run.
    pub second: Summary,
    /// How many times as fast the second run is, by means or medians.
    pub ratio: f64,
    /// Whether the confidence intervals keep apart.
    pub certain: bool,
}

/// Compares two runs, by the first one's statistic.
pub fn compare(first: &Analysis, second: &Analysis) -> Comparison {
    let cells = |analysis: &Analysis| {
        let mut cells = Vec::new();
        for group in &analysis.groups {
            for cell in &group.cells {
                if let Some(summary) = cell.measured() {
                    let kind = (group.key_type.clone(), group.distribution.clone());
                    cells.push(((kind, cell.size, cell.implementation.clone()), summary));
                }
            }
        }
        cells
    };
    let (one, other) = (cells(first), cells(second));
    let statistic = first.statistic;
    let mut changes = Vec::new();
    for (key, first) in &one {
        let Some((_, second)) = other.iter().find(|(at, _)| at == key) else { continue };
        let ((key_type, distribution), size, implementation) = key.clone();
        let certain = first.differs_from(second);
        let ratio = first.center(statistic) / second.center(statistic);
        changes.push(Change {
            key_type,
            distribution,
            size,
            implementation,
            first: *first,
            second: *second,
            ratio,
            certain,
        });
    }
    let only_in_one = one.len() + other.len() - 2 * changes.len();
    let machines = first.machine.iter().filter_map(|fact| {
        let there = second.machine.iter().find(|other| other.name == fact.name);
        let there = there.map_or_else(String::new, |other| other.value.clone());
        (there != fact.value).then(|| (fact.name.clone(), fact.value.clone(), there))
    });
    Comparison { changes, only_in_one, machines: machines.collect() }
}
