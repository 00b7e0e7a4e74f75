//! One implementation at one size.

use super::Summary;
use crate::record::{Record, Status};
use serde::Serialize;

/// One implementation at one size.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Cell {
    /// Who sorted.
    pub implementation: String,
    /// How many keys.
    pub size: usize,
    /// What is known.
    pub outcome: Outcome,
    /// What the device told, if there was one.
    pub device: Option<DeviceMeans>,
}

/// What is known of a cell.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "status", rename_all = "snake_case")]
pub enum Outcome {
    /// Times of all instances and repetitions.
    Measured(Summary),
    /// Nothing was measured; a run would take so long.
    Extrapolated {
        /// How long.
        seconds: f64,
        /// Where that follows from.
        note: String,
    },
    /// Nothing was measured.
    LeftOut {
        /// Why.
        note: String,
    },
    /// Nothing was measured yet.
    Missing,
}

/// Means of what the device told.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct DeviceMeans {
    /// To the device.
    pub upload_seconds: f64,
    /// From the first kernel's start to the last one's end.
    pub kernel_seconds: f64,
    /// What of it kernels ran; `None` in records that do not say.
    pub busy_seconds: Option<f64>,
    /// From the device.
    pub download_seconds: f64,
    /// Launches.
    pub launches: f64,
    /// What kernels read and wrote.
    pub kernel_bytes: f64,
}

impl Cell {
    /// What was measured.
    pub fn measured(&self) -> Option<Summary> {
        match self.outcome {
            Outcome::Measured(summary) => Some(summary),
            _ => None,
        }
    }
}

/// The cells of one kind of keys, by size and then in the order of the implementations.
pub(super) fn cells(sizes: &[usize], implementations: &[String], records: &[&Record]) -> Vec<Cell> {
    let mut cells = Vec::new();
    for &size in sizes {
        for implementation in implementations {
            let records: Vec<&Record> = records
                .iter()
                .copied()
                .filter(|record| record.size == size && record.implementation == *implementation)
                .collect();
            let outcome = outcome(&records);
            cells.push(Cell {
                implementation: implementation.clone(),
                size,
                outcome,
                device: device(&records),
            });
        }
    }
    cells
}

fn outcome(records: &[&Record]) -> Outcome {
    if let Some(summary) = crate::record::summary(records.iter().copied()) {
        return Outcome::Measured(summary);
    }
    match records.first() {
        Some(Record { status: Status::Extrapolated, seconds: Some(seconds), note, .. }) => {
            Outcome::Extrapolated { seconds: *seconds, note: note.clone() }
        }
        Some(Record { note, .. }) => Outcome::LeftOut { note: note.clone() },
        None => Outcome::Missing,
    }
}

fn device(records: &[&Record]) -> Option<DeviceMeans> {
    Some(DeviceMeans {
        upload_seconds: mean(records, |record| record.upload_seconds)?,
        kernel_seconds: mean(records, |record| record.kernel_seconds)?,
        busy_seconds: mean(records, |record| record.busy_seconds),
        download_seconds: mean(records, |record| record.download_seconds)?,
        launches: mean(records, |record| record.launches.map(|count| count as f64))?,
        kernel_bytes: mean(records, |record| record.kernel_bytes.map(|count| count as f64))?,
    })
}

/// The lines that are sorts.
pub(super) fn measured<'a>(records: &[&'a Record]) -> impl Iterator<Item = &'a Record> {
    records.iter().copied().filter(|record| record.status == Status::Measured)
}

/// The mean of a column, where it has values.
pub(super) fn mean(records: &[&Record], column: impl Fn(&Record) -> Option<f64>) -> Option<f64> {
    let values: Vec<f64> = measured(records).filter_map(column).collect();
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}
