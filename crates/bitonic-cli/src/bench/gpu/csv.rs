//! Results for programs: a line for every cell, written when its job is done, and a line for every run, written at once.

use super::contender::{self, Cell, Contender, Measured, Outcome};
use super::table::Circumstances;
use crate::failure::Failure;
use crate::output;
use bitonic_lab::record::{self, CsvFile, Record};
use serde::Serialize;
use std::path::{Path, PathBuf};

/// One line: a contender that sorted, rightly or wrongly. Every line ends with what it was measured on.
#[derive(Debug, Serialize)]
pub(super) struct Line {
    sort: String,
    #[serde(rename = "type")]
    key_type: String,
    n: usize,
    row_length: usize,
    values: &'static str,
    distribution: String,
    verified: &'static str,
    repetitions: Option<usize>,
    median_ns: Option<u64>,
    min_ns: Option<u64>,
    lower_quartile_ns: Option<u64>,
    upper_quartile_ns: Option<u64>,
    relative_interquartile_range: Option<String>,
    gigakeys_per_second: Option<String>,
    launches: Option<u64>,
    gigabytes_per_second: Option<String>,
    share_of_copy: Option<String>,
    times_as_long_as_bitonic: Option<String>,
    times_as_long_as_best_peer: Option<String>,
    note: String,
    peer: String,
    engine: String,
    device: String,
    kind: String,
    platform: String,
    driver: String,
    interface: String,
    compute_units: usize,
    copy_gigabytes_per_second: Option<String>,
    version: &'static str,
    commit: String,
    date: String,
}

/// Where results for programs go.
pub(super) enum Files {
    /// Nowhere.
    None,
    /// To standard output; whether its heading is printed.
    StandardOutput { begun: bool },
    /// To a file of cells, and one of runs where that can stand beside it.
    OnDisk { cells: CsvFile<Line>, runs: Option<CsvFile<Record>> },
}

impl Files {
    /// Where `--csv` leads.
    pub(super) fn new(path: Option<&Path>) -> Self {
        match path {
            None => Self::None,
            Some(path) if output::is_standard_stream(path) => Self::StandardOutput { begun: false },
            Some(path) => Self::OnDisk {
                cells: CsvFile::new(path),
                // Beside a pipe or a device nothing is put.
                runs: path.metadata().map_or(true, |old| old.is_file()).then(|| CsvFile::new(&runs(path))),
            },
        }
    }

    /// Keeps a run.
    pub(super) fn record(&mut self, record: &Record) -> Result<(), Failure> {
        match self {
            Self::OnDisk { runs: Some(runs), .. } => append(runs, std::slice::from_ref(record)),
            _ => Ok(()),
        }
    }

    /// Keeps the cells of a job.
    pub(super) fn keep(&mut self, cells: &[Cell], circumstances: &Circumstances) -> Result<(), Failure> {
        let lines: Vec<Line> = cells.iter().filter_map(|cell| line(cells, cell, circumstances)).collect();
        match self {
            Self::None => Ok(()),
            Self::OnDisk { cells, .. } => append(cells, &lines),
            Self::StandardOutput { begun } => {
                let text = record::text(&lines, !std::mem::replace(begun, true)).map_err(Failure::new)?;
                output::print(|out| out.write_all(&text))
            }
        }
    }
}

fn append<T: Serialize>(file: &mut CsvFile<T>, lines: &[T]) -> Result<(), Failure> {
    file.append(lines).map_err(|error| output::failure(file.path().display(), &error))
}

/// The file of runs beside the file of cells.
fn runs(cells: &Path) -> PathBuf {
    cells.with_extension("runs.csv")
}

/// The line of a cell; `None` for contenders that were left out.
fn line(cells: &[Cell], cell: &Cell, circumstances: &Circumstances) -> Option<Line> {
    let measured = match &cell.outcome {
        Outcome::Measured(measured) => Ok(measured),
        Outcome::Wrong(reason) => Err(reason),
        Outcome::LeftOut(_) => return None,
    };
    let Circumstances { engine, device, program, peers, .. } = circumstances;
    let job = cell.job;
    let copy = device.copy_bytes_per_second;
    let right = measured.ok();
    let nanoseconds =
        |pick: fn(&Measured) -> f64| right.map(|measured| (pick(measured) * 1e9).round() as u64);
    let speed = right.and_then(|measured| measured.bytes_per_second(job));
    let peer = match &cell.contender {
        Contender::Peer { peer, .. } => peers.iter().find(|(name, _)| name == peer),
        Contender::Own(_) => None,
    };
    let bitonic = contender::beside(cells, job, &Contender::BITONIC);
    let best_peer = contender::best(cells, job, Contender::is_peer);
    Some(Line {
        sort: cell.contender.name().into_owned(),
        key_type: job.key_type.to_string(),
        n: job.len(),
        row_length: job.rows.row_length,
        values: if job.has_values { "u32" } else { "" },
        distribution: job.pattern.to_string(),
        verified: if right.is_some() { "yes" } else { "no" },
        repetitions: right.map(|measured| measured.time.count),
        median_ns: nanoseconds(|measured| measured.time.median),
        min_ns: nanoseconds(|measured| measured.time.least),
        lower_quartile_ns: nanoseconds(|measured| measured.time.lower_quartile),
        upper_quartile_ns: nanoseconds(|measured| measured.time.upper_quartile),
        relative_interquartile_range: right.map(|measured| format!("{:.4}", measured.time.spread())),
        gigakeys_per_second: right.map(|measured| format!("{:.4}", measured.keys_per_second(job) / 1e9)),
        launches: right.and_then(|measured| measured.launches),
        gigabytes_per_second: speed.map(|speed| format!("{:.3}", speed / 1e9)),
        share_of_copy: speed.zip(copy).map(|(speed, copy)| format!("{:.4}", speed / copy)),
        times_as_long_as_bitonic: cell.times_as_long_as(bitonic).map(|times| format!("{times:.3}")),
        times_as_long_as_best_peer: cell.times_as_long_as(best_peer).map(|times| format!("{times:.3}")),
        note: measured.map_or_else(Clone::clone, |measured| measured.note.clone()),
        peer: peer.map_or_else(String::new, |(_, description)| description.clone()),
        engine: engine.to_string(),
        device: device.name.clone(),
        kind: device.kind.clone(),
        platform: device.platform.clone(),
        driver: device.driver.clone(),
        interface: device.interface.clone(),
        compute_units: device.compute_units,
        copy_gigabytes_per_second: copy.map(|copy| format!("{:.3}", copy / 1e9)),
        version: program.version,
        commit: program.commit.clone(),
        date: program.date.clone(),
    })
}
