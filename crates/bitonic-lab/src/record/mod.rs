//! What a run leaves behind: one line for every sort, in the order in which they happened.
//!
//! A folder with records is all that a report needs, and all that a run needs to go on where it stopped:
//!
//! | file | what it has |
//! |---|---|
//! | `experiment.json` | what was to be measured, with every choice made |
//! | `started.json` | the same when the run was started: a run goes on with the experiment that it began with |
//! | `lock` | the number of the process that measures, which keeps the file locked |
//! | `machine.csv` | what it was measured on and with |
//! | `records.csv` | a line for every sort, written and flushed when it was done |
//! | `instructions.csv` | instructions counted under callgrind, if they were |

mod csv_file;
mod device;
mod difference;
mod machine;
mod store;

pub use csv_file::{CsvFile, text};
pub use device::DeviceDescription;
pub use machine::{COPY_SPEED, Fact, LAUNCH_SECONDS, Machine, Program, cores, processor};
pub(crate) use store::write_whole;
pub use store::{
    EXPERIMENT, Journal, MACHINE, RECORDS, StoreError, read_instructions, read_run, write_instructions,
};

use crate::experiment::Case;
use crate::measure::Timed;
use crate::statistics::Summary;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// One line of `records.csv`: a sort, or why there was none.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// Who sorted, `place:name`.
    pub implementation: String,
    /// The type of the keys.
    pub key_type: String,
    /// What they looked like.
    pub distribution: String,
    /// How many there were.
    pub size: usize,
    /// The number of the instance, from 1; 0 for lines that are about all of them.
    pub instance: usize,
    /// The number of the repetition, from 1; 0 for lines that are about all of them.
    pub repetition: usize,
    /// What the line is.
    pub status: Status,
    /// How long it took, or would take: by the host's clock from the caller's keys to the caller's keys, or by the device's
    /// clock where the keys are on the device before and after.
    pub seconds: Option<f64>,
    /// To the device, by the device's clock.
    pub upload_seconds: Option<f64>,
    /// From the start of the first kernel to the end of the last, by the device's clock.
    pub kernel_seconds: Option<f64>,
    /// From the device, by the device's clock.
    pub download_seconds: Option<f64>,
    /// How long kernels ran in the kernels' time; what is left of it are gaps between them. On CUDA, launches that follow each
    /// other without a wait count with what lies between them.
    #[serde(default)]
    pub busy_seconds: Option<f64>,
    /// How many kernels were launched.
    pub launches: Option<u64>,
    /// What they read and wrote in the device's memory.
    pub kernel_bytes: Option<u64>,
    /// The processor's cycles.
    pub cycles: Option<u64>,
    /// Its instructions.
    pub instructions: Option<u64>,
    /// Its branches.
    pub branches: Option<u64>,
    /// Branches that went another way than foreseen.
    pub branch_misses: Option<u64>,
    /// Accesses to the last cache.
    pub cache_references: Option<u64>,
    /// Those that had to go to memory.
    pub cache_misses: Option<u64>,
    /// What there is to say about the line.
    pub note: String,
    /// How many keys a row has, where every row is sorted for itself.
    #[serde(default)]
    pub row_length: Option<usize>,
    /// The type of the values that travel with the keys, if there are some.
    #[serde(default)]
    pub values: Option<String>,
}

/// What a line is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// A sort, with its time.
    #[default]
    Measured,
    /// No sort: it would have taken longer than the budget. The time follows from that of fewer keys.
    Extrapolated,
    /// No sort, and no time: the note says why.
    LeftOut,
}

/// An implementation on keys of one kind and size.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CellKey {
    /// The type of the keys.
    pub key_type: String,
    /// What they looked like.
    pub distribution: String,
    /// How many there were.
    pub size: usize,
    /// Who sorted.
    pub implementation: String,
    /// How many keys a row has, where every row is sorted for itself.
    pub row_length: Option<usize>,
    /// The type of the values that travel with the keys, if there are some.
    pub values: Option<String>,
}

impl CellKey {
    /// The cell of an implementation on a case.
    pub fn new(implementation: &str, case: &Case) -> Self {
        Self {
            implementation: implementation.to_owned(),
            key_type: case.key_type.clone(),
            distribution: case.distribution.clone(),
            size: case.size,
            ..Self::default()
        }
    }
}

impl Record {
    /// A line about a cell, with nothing measured yet.
    pub fn of(cell: &CellKey) -> Self {
        let CellKey { implementation, key_type, distribution, size, row_length, values } = cell.clone();
        Self { implementation, key_type, distribution, size, row_length, values, ..Self::default() }
    }

    /// The line of a sort.
    pub fn measured(cell: &CellKey, instance: usize, repetition: usize, timed: &Timed) -> Self {
        let Timed { seconds, device, counts, note, .. } = timed;
        Self {
            instance,
            repetition,
            seconds: Some(*seconds),
            upload_seconds: device.and_then(|device| device.upload).map(|time| time.as_secs_f64()),
            kernel_seconds: device.map(|device| device.kernels.as_secs_f64()),
            download_seconds: device.and_then(|device| device.download).map(|time| time.as_secs_f64()),
            busy_seconds: device.and_then(|device| device.busy).map(|time| time.as_secs_f64()),
            launches: device.and_then(|device| device.launches),
            kernel_bytes: device.and_then(|device| device.kernel_bytes),
            cycles: counts.cycles,
            instructions: counts.instructions,
            branches: counts.branches,
            branch_misses: counts.branch_misses,
            cache_references: counts.cache_references,
            cache_misses: counts.cache_misses,
            note: note.clone(),
            ..Self::of(cell)
        }
    }

    /// Whether the line is about this cell.
    pub fn belongs_to(&self, cell: &CellKey) -> bool {
        self.size == cell.size
            && self.implementation == cell.implementation
            && self.key_type == cell.key_type
            && self.distribution == cell.distribution
            && self.row_length == cell.row_length
            && self.values == cell.values
    }

    /// The cell that the line belongs to.
    pub fn cell(&self) -> CellKey {
        CellKey {
            implementation: self.implementation.clone(),
            key_type: self.key_type.clone(),
            distribution: self.distribution.clone(),
            size: self.size,
            row_length: self.row_length,
            values: self.values.clone(),
        }
    }
}

/// What the measured sorts among some records took, in seconds; `None` if there are none.
pub fn summary<'a>(records: impl IntoIterator<Item = &'a Record>) -> Option<Summary> {
    let mut of_instances: BTreeMap<usize, Vec<f64>> = BTreeMap::new();
    for record in records.into_iter().filter(|record| record.status == Status::Measured) {
        of_instances.entry(record.instance).or_default().extend(record.seconds);
    }
    Summary::of_instances(&of_instances.into_values().collect::<Vec<_>>())
}

/// How many instructions an implementation took under callgrind: one line of `instructions.csv`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct InstructionCount {
    /// Who sorted.
    pub implementation: String,
    /// The type of the keys.
    pub key_type: String,
    /// What they looked like.
    pub distribution: String,
    /// How many there were.
    pub size: usize,
    /// The instructions of the sort alone.
    pub instructions: Option<u64>,
    /// Why there is no count.
    pub note: String,
}
