//! What the records mean: statistics, ratios, fitted curves, crossovers, hypotheses, and what limits a device.
//!
//! Everything here follows from `experiment.json`, `machine.csv`, `records.csv` and `instructions.csv` alone.

mod cell;
mod compare;
mod counted;
mod crossover;
mod figure;
mod fit;
mod hypothesis;
mod limit;
mod ratio;
mod two_terms;

pub use crate::statistics::Statistic;
pub use crate::statistics::Summary;
pub use cell::{Cell, DeviceMeans, Outcome};
pub use compare::{Change, Comparison, compare};
pub use counted::Counted;
pub use crossover::Crossover;
pub use figure::{Figure, Part, Sentence};
pub use fit::{FITS, Fit, Model};
pub use hypothesis::{Hypothesis, Judgement};
pub use limit::{Limit, Limits};
pub use ratio::{Ratio, RatioKind, RatioTable};
pub use two_terms::TwoTerms;

use crate::experiment::{Case, Experiment};
use crate::record::{
    CellKey, InstructionCount, Machine, Record, Status, StoreError, read_instructions, read_run,
};
use serde::Serialize;
use std::collections::{HashMap, HashSet};
use std::path::Path;

/// Everything that can be said about a run.
#[derive(Clone, Debug, Serialize)]
pub struct Analysis {
    /// What was measured.
    pub name: String,
    /// How many instances of a cell have no record yet: more than 0 in a run that is not finished.
    pub open: usize,
    /// Which number stands for the times of a cell.
    pub statistic: Statistic,
    /// What it was measured on: names and values.
    pub machine: Vec<crate::record::Fact>,
    /// How long an implementation was allowed for one size.
    pub budget_seconds: Option<f64>,
    /// What could not run at all, with the reason.
    pub left_out: Vec<crate::experiment::LeftOut>,
    /// A part for every type and distribution of keys.
    pub groups: Vec<Group>,
}

/// What can be said about keys of one type and distribution.
#[derive(Clone, Debug, Serialize)]
pub struct Group {
    /// Which number stands for the times of a cell, in ratios, fits and plots.
    pub statistic: Statistic,
    /// The type of the keys.
    pub key_type: String,
    /// What they looked like.
    pub distribution: String,
    /// The sizes, ascending.
    pub sizes: Vec<usize>,
    /// The implementations, in the order of the experiment.
    pub implementations: Vec<String>,
    /// What was measured, by size and implementation.
    pub cells: Vec<Cell>,
    /// S: how many times as fast devices are.
    pub speedups: Vec<RatioTable>,
    /// O: how many times as fast optimisations are.
    pub optimisations: Vec<RatioTable>,
    /// Curves that fit the times.
    pub fits: Vec<Fit>,
    /// Times on devices as launches and bytes.
    pub two_terms: Vec<TwoTerms>,
    /// Where one implementation overtakes another.
    pub crossovers: Vec<Crossover>,
    /// The three hypotheses.
    pub hypotheses: Vec<Hypothesis>,
    /// What limits implementations on devices.
    pub limits: Vec<Limits>,
    /// What the processor counted.
    pub counted: Vec<Counted>,
}

impl Analysis {
    /// Analyses the run in a folder.
    ///
    /// # Errors
    ///
    /// If the folder has no run, or it cannot be read.
    pub fn read(directory: &Path) -> Result<Self, StoreError> {
        Self::read_by(directory, Statistic::Mean)
    }

    /// The same with another number for the times of a cell.
    ///
    /// # Errors
    ///
    /// As [`Analysis::read`].
    pub fn read_by(directory: &Path, statistic: Statistic) -> Result<Self, StoreError> {
        let (experiment, machine, records) = read_run(directory)?;
        Ok(Self::of(&experiment, &machine, &records, &read_instructions(directory)?, statistic))
    }

    /// Analyses records.
    pub fn of(
        experiment: &Experiment,
        machine: &Machine,
        records: &[Record],
        instructions: &[InstructionCount],
        statistic: Statistic,
    ) -> Self {
        let mut kinds: Vec<(String, String)> = Vec::new();
        for case in &experiment.cases {
            let kind = (case.key_type.clone(), case.distribution.clone());
            if !kinds.contains(&kind) {
                kinds.push(kind);
            }
        }
        let groups =
            kinds.iter().map(|kind| Group::of(kind, experiment, machine, records, instructions, statistic));
        Self {
            name: experiment.name.clone(),
            open: open(experiment, records),
            statistic,
            machine: machine.facts.clone(),
            budget_seconds: experiment.budget_seconds,
            left_out: experiment.left_out.clone(),
            groups: groups.collect(),
        }
    }
}

/// How many instances of implementations have no record, though their budget would allow one, and no line that says why.
fn open(experiment: &Experiment, records: &[Record]) -> usize {
    let (mut closed, mut done) = (HashSet::new(), HashSet::new());
    let mut spent: HashMap<CellKey, (f64, usize)> = HashMap::new();
    for record in records {
        if record.status == Status::Measured {
            let (seconds, runs) = spent.entry(record.cell()).or_default();
            *seconds += record.seconds.unwrap_or(0.0);
            *runs += 1;
            done.insert((record.cell(), record.instance));
        } else {
            closed.insert(record.cell());
        }
    }
    let is_open = |case: &Case, name: &str| {
        let cell = CellKey::new(name, case);
        let affords = spent.get(&cell).is_none_or(|&spent| experiment.affords(spent, 1.0));
        affords && !closed.contains(&cell) && !done.contains(&(cell, case.instance))
    };
    let names = || experiment.implementations.iter().map(|entry| entry.implementation.as_str());
    experiment.cases.iter().map(|case| names().filter(|name| is_open(case, name)).count()).sum()
}

impl Group {
    fn of(
        (key_type, distribution): &(String, String),
        experiment: &Experiment,
        machine: &Machine,
        records: &[Record],
        instructions: &[InstructionCount],
        statistic: Statistic,
    ) -> Self {
        let here = |a: &str, b: &str| a == key_type && b == distribution;
        let records: Vec<&Record> =
            records.iter().filter(|record| here(&record.key_type, &record.distribution)).collect();
        let instructions: Vec<&InstructionCount> =
            instructions.iter().filter(|count| here(&count.key_type, &count.distribution)).collect();
        let mut sizes: Vec<usize> = experiment
            .cases
            .iter()
            .filter(|case| here(&case.key_type, &case.distribution))
            .map(|case| case.size)
            .collect();
        sizes.sort_unstable();
        sizes.dedup();
        let mut implementations: Vec<String> = Vec::new();
        for entry in &experiment.implementations {
            if !implementations.contains(&entry.implementation) {
                implementations.push(entry.implementation.clone());
            }
        }
        let cells = cell::cells(&sizes, &implementations, &records);
        let (key_type, distribution) = (key_type.clone(), distribution.clone());
        let mut group =
            Self { statistic, key_type, distribution, sizes, implementations, cells, ..Self::empty() };
        group.speedups = ratio::tables(&group, &experiment.speedups, RatioKind::Speedup);
        group.optimisations = ratio::tables(&group, &experiment.optimisations, RatioKind::Optimisation);
        group.fits = fit::fits(&group);
        group.two_terms = two_terms::two_terms(&group);
        group.crossovers = crossover::crossovers(&group);
        group.hypotheses = hypothesis::hypotheses(&group, machine);
        group.limits = limit::limits(&group, machine);
        group.counted = counted::counted(&group, &records, &instructions);
        group
    }

    /// Nothing was measured.
    pub(crate) fn empty() -> Self {
        Self {
            statistic: Statistic::Mean,
            key_type: "u32".to_owned(),
            distribution: "random".to_owned(),
            sizes: Vec::new(),
            implementations: Vec::new(),
            cells: Vec::new(),
            speedups: Vec::new(),
            optimisations: Vec::new(),
            fits: Vec::new(),
            two_terms: Vec::new(),
            crossovers: Vec::new(),
            hypotheses: Vec::new(),
            limits: Vec::new(),
            counted: Vec::new(),
        }
    }

    /// What is known of an implementation at a size.
    pub fn cell(&self, implementation: &str, size: usize) -> Option<&Cell> {
        self.cells.iter().find(|cell| cell.implementation == implementation && cell.size == size)
    }

    /// What was measured of an implementation, by ascending size; nothing extrapolated.
    pub fn measured(&self, implementation: &str) -> Vec<(usize, Summary)> {
        let of_size = |&size: &usize| Some((size, self.cell(implementation, size)?.measured()?));
        self.sizes.iter().filter_map(of_size).collect()
    }

    /// Whether several types or distributions have to be told apart.
    pub fn title(&self) -> String {
        format!("{} keys, {}", self.key_type, self.distribution)
    }
}
