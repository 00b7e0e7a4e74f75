//! The measurement. There is one loop, [`Rounds`]: [contenders](Contender) on the same keys take turns, each warms up before
//! every sort that counts, every result is verified, and the [`View`] that asked for it records every sort the moment it is
//! done.
//!
//! An [experiment](run) is one such view; the command's and the benchmark's tables are others.

mod contender;
mod counters;
mod host;
mod progress;
mod rounds;
mod session;

pub use contender::{Clock, Contender, Failed, Gauge, Sample, Timed, WarmUp};
pub use counters::{Counters, Counts};
pub use host::{AnyInput, AnySort, HostInput, HostSort, InProcess, Told, make_input};
pub use progress::{Row, RowCell, Watch};
pub use rounds::{Rounds, View};

use crate::dropin::{ErrorLog, ResultFile};
use crate::experiment::{Case, Experiment};
use crate::record::{Journal, Machine, Record, StoreError, read_run};
use bitonic::key::KeyType;
use session::Session;
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// Why a run stopped.
#[derive(Debug, thiserror::Error)]
pub enum LabError {
    /// A file could not be read or written.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// An implementation sorted wrongly. `error.log` has the instance and what became of it.
    #[error("{message} Please check the \"error.log\" file.")]
    WrongResult {
        /// Who, on what, and when.
        message: String,
        /// Where `error.log` is.
        log: PathBuf,
    },
    /// The experiment cannot run here.
    #[error("{0}")]
    Experiment(String),
}

/// Runs an experiment from the beginning and leaves its records in a folder, which must not have any yet.
///
/// # Errors
///
/// [`LabError::WrongResult`] on the first wrong result, if the experiment verifies; else what kept it from going on. All that
/// was measured until then is in the folder.
pub fn run(experiment: &Experiment, directory: &Path, watch: &mut dyn Watch) -> Result<(), LabError> {
    let experiment = &experiment.clone().within_limits().map_err(LabError::Experiment)?;
    let (counters, why_not) = open_counters(experiment);
    let implementations = experiment.resolve().map_err(LabError::Experiment)?;
    let settings = experiment.settings().map_err(|error| LabError::Experiment(error.to_string()))?;
    let machine = Machine::describe(experiment, &implementations, &settings, &why_not);
    let journal = Journal::create(directory, experiment, &machine)?;
    go_on(experiment, directory, journal, Vec::new(), counters, watch)
}

/// Goes on with a run that was stopped, with what is not recorded yet; returns its experiment.
///
/// # Errors
///
/// As [`run`], and if the folder has no run.
pub fn resume(directory: &Path, watch: &mut dyn Watch) -> Result<Experiment, LabError> {
    let (experiment, _, _) = read_run(directory)?;
    let (journal, records) = Journal::resume(directory)?;
    let (counters, _) = open_counters(&experiment);
    go_on(&experiment, directory, journal, records, counters, watch)?;
    Ok(experiment)
}

/// The counters, if they are wanted and there are any; and what to say about them.
fn open_counters(experiment: &Experiment) -> (Option<Counters>, String) {
    if !experiment.counters {
        return (None, "not asked for".to_owned());
    }
    match Counters::open() {
        Ok(counters) => (Some(counters), "perf events, of implementations on one thread".to_owned()),
        Err(reason) => (None, reason),
    }
}

fn go_on(
    experiment: &Experiment,
    directory: &Path,
    journal: Journal,
    records: Vec<Record>,
    counters: Option<Counters>,
    watch: &mut dyn Watch,
) -> Result<(), LabError> {
    let results = ResultFile::start(directory, experiment, &records)?;
    let mut session = Session::new(experiment, journal, records, counters, results, watch)?;
    for (index, case) in experiment.cases.iter().enumerate() {
        let key_type =
            KeyType::from_str(&case.key_type).map_err(|error| LabError::Experiment(error.to_string()))?;
        let done = session.run_case(case, key_type);
        done.map_err(|stopped| stopped.report(directory, case))?;
        let last_of_its_size = experiment.cases.get(index + 1).is_none_or(|next| !same_size(next, case));
        session.show(case, last_of_its_size);
    }
    let records = session.finish();
    ResultFile::start(directory, experiment, &records)?;
    Ok(())
}

fn same_size(one: &Case, other: &Case) -> bool {
    (one.size, &one.key_type, &one.distribution) == (other.size, &other.key_type, &other.distribution)
}

/// Why a session stopped.
enum Stopped {
    Store(StoreError),
    Wrong(Box<ErrorLog>),
    Other(String),
}

impl From<StoreError> for Stopped {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl Stopped {
    /// What it means to whoever asked for the run; a wrong result is written to its file.
    fn report(self, directory: &Path, case: &Case) -> LabError {
        match self {
            Self::Store(error) => error.into(),
            Self::Wrong(log) => match log.write(directory) {
                Ok(path) => LabError::WrongResult { message: log.message(), log: path },
                Err(error) => error.into(),
            },
            Self::Other(reason) => LabError::Experiment(format!("{} keys: {reason}", case.size)),
        }
    }
}
