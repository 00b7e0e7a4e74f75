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

mod difference;
mod machine;
mod store;

pub use machine::{COPY_SPEED, Fact, LAUNCH_SECONDS, Machine};
pub(crate) use store::write_whole;
pub use store::{
    EXPERIMENT, Journal, MACHINE, RECORDS, StoreError, read_instructions, read_run, write_instructions,
};

use crate::experiment::Case;
use serde::{Deserialize, Serialize};

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
    /// How long it took, by the host's clock, from the caller's keys to the caller's keys; or would take.
    pub seconds: Option<f64>,
    /// To the device, by the device's clock.
    pub upload_seconds: Option<f64>,
    /// From the start of the first kernel to the end of the last, by the device's clock.
    pub kernel_seconds: Option<f64>,
    /// From the device, by the device's clock.
    pub download_seconds: Option<f64>,
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
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CellKey {
    /// The type of the keys.
    pub key_type: String,
    /// What they looked like.
    pub distribution: String,
    /// How many there were.
    pub size: usize,
    /// Who sorted.
    pub implementation: String,
}

impl CellKey {
    /// The cell of an implementation on a case.
    pub fn new(implementation: &str, case: &Case) -> Self {
        Self {
            implementation: implementation.to_owned(),
            key_type: case.key_type.clone(),
            distribution: case.distribution.clone(),
            size: case.size,
        }
    }
}

impl Record {
    /// A line about a cell, with nothing measured yet.
    pub fn of(cell: &CellKey) -> Self {
        let CellKey { implementation, key_type, distribution, size } = cell.clone();
        Self { implementation, key_type, distribution, size, ..Self::default() }
    }

    /// Whether the line is about this cell.
    pub fn belongs_to(&self, cell: &CellKey) -> bool {
        self.size == cell.size
            && self.implementation == cell.implementation
            && self.key_type == cell.key_type
            && self.distribution == cell.distribution
    }

    /// The cell that the line belongs to.
    pub fn cell(&self) -> CellKey {
        CellKey {
            implementation: self.implementation.clone(),
            key_type: self.key_type.clone(),
            distribution: self.distribution.clone(),
            size: self.size,
        }
    }
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
