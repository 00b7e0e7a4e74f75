//! Experiments as data: what is measured, on what keys, how often.
//!
//! An experiment is read from a file of the laboratory's own [format](self::file), from the [configuration](self::ini) of the
//! research application that this laboratory continues, or from one of the [`PRESETS`]. Whatever it is read from, it
//! becomes a list of [`Case`]s and a list of implementations, all of which exist here; so a run can be repeated exactly.

mod error;
pub mod file;
pub mod ini;
mod presets;
mod sizes;

pub use error::ExperimentError;
pub use presets::{EXAMPLE, PRESETS, Preset};
pub use sizes::sizes;

use crate::implementation::{self, Chosen, Implementation, RunsOn, Settings};
use serde::{Deserialize, Serialize};
use std::num::NonZero;
use std::path::Path;

/// An experiment, ready to run here.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Experiment {
    /// What it is called in reports.
    pub name: String,
    /// The format that it was read from.
    pub format: Format,
    /// What all random keys follow from.
    pub seed: u64,
    /// What is measured, in the order of the tables.
    pub implementations: Vec<Entry>,
    /// What patterns chose and cannot run here, with the reason.
    pub left_out: Vec<LeftOut>,
    /// On what keys, in the order of the run.
    pub cases: Vec<Case>,
    /// How often an implementation sorts right before every sort that counts, at least; 0 measures cold.
    pub warm_up: usize,
    /// Whether every result is compared with the right one.
    pub verify: bool,
    /// How long an implementation may take for all runs of one size; `None` is as long as it needs.
    pub budget_seconds: Option<f64>,
    /// How many threads implementations with a choice use; `None` is one for every core.
    pub threads: Option<NonZero<usize>>,
    /// The device, as `bitonic devices` names it.
    pub device: String,
    /// Whether sizes that an implementation does not take are padded.
    pub pad: bool,
    /// Whether the processor's counters are read.
    pub counters: bool,
    /// How many keys instructions are counted for under callgrind, if they are.
    pub callgrind_size: Option<usize>,
    /// What S = time on the processor / time on the device is computed for.
    pub speedups: Vec<Pair>,
    /// What O = time before / time after an optimisation is computed for.
    pub optimisations: Vec<Pair>,
}

/// Where an experiment came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Format {
    /// The laboratory's own.
    Toml,
    /// The research application's configuration.
    Ini,
}

/// An implementation that takes part.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// Its full name, `place:name`.
    pub implementation: String,
    /// What tables call it.
    pub label: String,
}

/// An implementation that does not take part.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftOut {
    /// Its full name.
    pub implementation: String,
    /// Why.
    pub reason: String,
}

/// Two implementations whose times are divided.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pair {
    /// What the pair shows.
    pub name: String,
    /// Whose time is divided: the processor, or the form before an optimisation.
    pub first: String,
    /// By whose: the device, or the form after it.
    pub second: String,
}

/// One instance: keys that all implementations sort.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Case {
    /// The type of the keys.
    pub key_type: String,
    /// What they look like; `predefined` if they are given.
    pub distribution: String,
    /// How many there are.
    pub size: usize,
    /// The number of this instance among those of the same type, distribution and size, from 1.
    pub instance: usize,
    /// How many such instances there are.
    pub instances: usize,
    /// How often every implementation sorts it.
    pub repetitions: usize,
    /// The keys, where they are given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub values: Option<Vec<i64>>,
}

/// A run has at most so many cases. More of them take gigabytes before the first sort, and years to measure.
pub(crate) const MOST_CASES: usize = 1_000_000;

/// A run without a budget records at most so many sorts: it keeps them in memory.
const MOST_SORTS: f64 = 1e8;

/// A sort takes no less than this with what is done around it: copying the keys, checking them, writing the record.
const LEAST_SECONDS: f64 = 5e-6;

/// What the distribution of given keys is called.
pub const PREDEFINED: &str = "predefined";

impl Experiment {
    /// Reads an experiment from a file, which is a configuration if its name ends in `.ini`, or from the preset of this name
    /// if there is no such file. `gpu:` stands for what `gpu` says; if that is `None`, for CUDA where there is a CUDA
    /// device, and OpenCL elsewhere.
    ///
    /// # Errors
    ///
    /// What is wrong, with the file and the line.
    pub fn load(name: &Path, gpu: Option<RunsOn>) -> Result<Self, ExperimentError> {
        if let Some(preset) = presets::named(name).filter(|_| !name.is_file()) {
            return file::read(preset.text, preset.name, gpu);
        }
        let shown = name.display().to_string();
        let text = std::fs::read_to_string(name).map_err(|error| {
            let presets: Vec<&str> = PRESETS.iter().map(|preset| preset.name).collect();
            let reason = format!("cannot be read: {error}; give a file, or a preset: {}", presets.join(", "));
            ExperimentError { file: shown.clone(), line: None, reason }
        })?;
        let stem = name.file_stem().map_or_else(|| shown.clone(), |stem| stem.to_string_lossy().into_owned());
        let read = match name.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("ini")) {
            true => ini::read(&text, &stem, gpu),
            false => file::read(&text, &stem, gpu),
        };
        read.map_err(|error| ExperimentError { file: shown, ..error })
    }

    /// Whether a cell that has taken `spent` seconds for so many runs may have one more within this share of its budget.
    pub(crate) fn affords(&self, (spent, runs): (f64, usize), share: f64) -> bool {
        self.budget_seconds.is_none_or(|budget| spent + spent / runs as f64 <= budget * share)
    }

    /// The same experiment with no more repetitions than its budget can hold, whatever is measured.
    ///
    /// # Errors
    ///
    /// If it has no budget, and more sorts than a run can record.
    pub(crate) fn within_limits(mut self) -> Result<Self, String> {
        match self.budget_seconds {
            Some(budget) => {
                for case in &mut self.cases {
                    let most = budget / LEAST_SECONDS / case.instances.max(1) as f64;
                    case.repetitions = case.repetitions.min((most.ceil() as usize).max(1));
                }
                Ok(self)
            }
            None => {
                let repetitions: f64 = self.cases.iter().map(|case| case.repetitions as f64).sum();
                let sorts = repetitions * self.implementations.len() as f64;
                match sorts <= MOST_SORTS {
                    true => Ok(self),
                    false => Err(format!(
                        "{sorts:e} sorts are more than a run can record, which is {MOST_SORTS:e}: choose fewer repetitions or \
                         instances, or a budget"
                    )),
                }
            }
        }
    }

    /// How implementations are to sort.
    ///
    /// # Errors
    ///
    /// If the device's name is none.
    pub fn settings(&self) -> Result<Settings, bitonic::Error> {
        Ok(Settings { threads: self.threads, device: self.device.parse()?, pad: self.pad })
    }

    /// The implementations themselves, in the order of the entries.
    ///
    /// # Errors
    ///
    /// If one of them does not exist, which happens where an experiment comes from another version.
    pub fn resolve(&self) -> Result<Vec<Implementation>, String> {
        let all = implementation::all();
        let find = |entry: &Entry| {
            let found = all.iter().find(|implementation| implementation.to_string() == entry.implementation);
            found.cloned().ok_or_else(|| format!("there is no implementation '{}'", entry.implementation))
        };
        self.implementations.iter().map(find).collect()
    }
}

/// Splits what was chosen into what can run here and what cannot.
///
/// # Errors
///
/// The reason, if something that was chosen by its own name cannot run.
fn admit(chosen: Vec<Chosen>, settings: &Settings) -> Result<(Vec<Implementation>, Vec<LeftOut>), String> {
    let (mut admitted, mut left_out) = (Vec::new(), Vec::new());
    let mut checked = std::collections::HashMap::new();
    for Chosen { implementation, by_name } in chosen {
        let runs_on = implementation.runs_on();
        let usable = checked
            .entry(runs_on)
            .or_insert_with(|| runs_on.check(&settings.device).map_err(|e| e.to_string()));
        match usable {
            Ok(()) => admitted.push(implementation),
            Err(reason) if by_name => return Err(format!("{implementation} cannot run here: {reason}")),
            Err(reason) => {
                left_out.push(LeftOut { implementation: implementation.to_string(), reason: reason.clone() });
            }
        }
    }
    Ok((admitted, left_out))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn experiment(more: &str) -> Experiment {
        let text = format!("implementations = [\"cpu:std\"]\nsizes = [8, 16]\n{more}\n");
        file::read(&text, "x", None).unwrap()
    }

    #[test]
    fn a_budget_limits_the_repetitions_before_anything_runs() {
        let planned = experiment("repetitions = 1000000000\ninstances = 2\nbudget_seconds = 1.0")
            .within_limits()
            .unwrap();
        assert!(planned.cases.iter().all(|case| case.repetitions == 100_000), "{:?}", planned.cases);
        let planned = experiment("repetitions = 7\nbudget_seconds = 1e-9").within_limits().unwrap();
        assert!(planned.cases.iter().all(|case| case.repetitions == 1));
        let usual = experiment("repetitions = 7\nbudget_seconds = 1.0");
        assert_eq!(usual.clone().within_limits(), Ok(usual));
    }

    #[test]
    fn without_a_budget_a_run_that_no_memory_holds_is_refused() {
        let endless = experiment("repetitions = 1000000000\nbudget_seconds = inf").within_limits();
        assert!(endless.unwrap_err().starts_with("2e9 sorts are more than a run can record"));
        experiment("repetitions = 1000\nbudget_seconds = inf").within_limits().unwrap();
    }
}
