//! The numbers of a report for other programs.

use crate::analysis::{Analysis, Outcome, Summary};
use crate::record::StoreError;
use serde::Serialize;
use std::path::Path;

/// One line of `summary.csv`: an implementation at a size. Times are in seconds.
#[derive(Default, Serialize)]
struct Line<'a> {
    key_type: &'a str,
    distribution: &'a str,
    size: usize,
    implementation: &'a str,
    status: &'static str,
    count: Option<usize>,
    instances: Option<usize>,
    mean: Option<f64>,
    deviation: Option<f64>,
    relative_deviation: Option<f64>,
    median: Option<f64>,
    least: Option<f64>,
    greatest: Option<f64>,
    confidence_95: Option<f64>,
    upload: Option<f64>,
    kernels: Option<f64>,
    download: Option<f64>,
    launches: Option<f64>,
    kernel_bytes: Option<f64>,
    note: &'a str,
}

/// `summary.csv`.
pub(super) fn csv(analysis: &Analysis, directory: &Path) -> Result<Vec<u8>, StoreError> {
    let failed = |reason: String| StoreError { path: directory.to_owned(), reason };
    let mut writer = csv::Writer::from_writer(Vec::new());
    for group in &analysis.groups {
        for cell in &group.cells {
            let mut line = Line {
                key_type: &group.key_type,
                distribution: &group.distribution,
                size: cell.size,
                implementation: &cell.implementation,
                upload: cell.device.map(|device| device.upload_seconds),
                kernels: cell.device.map(|device| device.kernel_seconds),
                download: cell.device.map(|device| device.download_seconds),
                launches: cell.device.map(|device| device.launches),
                kernel_bytes: cell.device.map(|device| device.kernel_bytes),
                ..Line::default()
            };
            match &cell.outcome {
                Outcome::Measured(summary) => line.fill(summary),
                Outcome::Extrapolated { seconds, note } => {
                    (line.status, line.mean, line.note) = ("extrapolated", Some(*seconds), note);
                }
                Outcome::LeftOut { note } => (line.status, line.note) = ("left_out", note),
                Outcome::Missing => line.status = "missing",
            }
            writer.serialize(line).map_err(|error| failed(error.to_string()))?;
        }
    }
    writer.into_inner().map_err(|error| failed(error.to_string()))
}

impl Line<'_> {
    fn fill(&mut self, summary: &Summary) {
        self.status = "measured";
        self.count = Some(summary.count);
        self.mean = Some(summary.mean);
        self.deviation = summary.deviation;
        self.relative_deviation = summary.relative_deviation;
        self.instances = Some(summary.instances);
        self.median = Some(summary.median);
        self.least = Some(summary.least);
        self.greatest = Some(summary.greatest);
        self.confidence_95 = summary.confidence;
    }
}

/// `summary.json`.
pub(super) fn json(analysis: &Analysis, directory: &Path) -> Result<Vec<u8>, StoreError> {
    serde_json::to_vec_pretty(analysis)
        .map_err(|error| StoreError { path: directory.to_owned(), reason: error.to_string() })
}
