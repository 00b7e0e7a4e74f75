//! The folder of a run: written line by line, read as a whole.

use super::{InstructionCount, Machine, Record};
use crate::experiment::Experiment;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// The file with the experiment.
pub const EXPERIMENT: &str = "experiment.json";

/// The file with the machine.
pub const MACHINE: &str = "machine.csv";

/// The file with the records.
pub const RECORDS: &str = "records.csv";

const INSTRUCTIONS: &str = "instructions.csv";

/// Why a run's folder could not be read or written.
#[derive(Debug, thiserror::Error)]
#[error("{path}: {reason}", path = path.display())]
pub struct StoreError {
    /// The file.
    pub path: PathBuf,
    /// What happened, and the way out.
    pub reason: String,
}

impl StoreError {
    fn new(path: &Path, reason: impl ToString) -> Self {
        Self { path: path.to_owned(), reason: reason.to_string() }
    }
}

/// `records.csv`, open for more lines. A line is in the file when [`Journal::append`] returns: whatever happens to the
/// process afterwards, it is not lost.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    file: File,
}

impl Journal {
    /// Starts the folder of a new run.
    ///
    /// # Errors
    ///
    /// If there is a run in the folder already, or it cannot be written.
    pub fn create(directory: &Path, experiment: &Experiment, machine: &Machine) -> Result<Self, StoreError> {
        let path = directory.join(RECORDS);
        if path.exists() {
            let reason = "there is a run in this folder already: go on with it by `bitonic lab resume`, or choose another \
                          folder with --output";
            return Err(StoreError::new(directory, reason));
        }
        fs::create_dir_all(directory).map_err(|error| StoreError::new(directory, error))?;
        let text = serde_json::to_string_pretty(experiment).map_err(|error| StoreError::new(&path, error))?;
        write_whole(&directory.join(EXPERIMENT), text.as_bytes())?;
        write_lines(&directory.join(MACHINE), &machine.facts)?;
        let heading = line(&Record::default(), true).map_err(|error| StoreError::new(&path, error))?;
        let heading = heading.split_inclusive(|&byte| byte == b'\n').next().unwrap_or_default();
        write_whole(&path, heading)?;
        Self::open(path)
    }

    /// Goes on with a run: returns the records there are. A last line that was cut short is dropped.
    ///
    /// # Errors
    ///
    /// If the folder has no run, or it cannot be read or written.
    pub fn resume(directory: &Path) -> Result<(Self, Vec<Record>), StoreError> {
        let path = directory.join(RECORDS);
        let bytes = read_bytes(&path)?;
        let whole = bytes.iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1);
        if whole < bytes.len() {
            let cut = OpenOptions::new().write(true).open(&path).and_then(|file| file.set_len(whole as u64));
            cut.map_err(|error| StoreError::new(&path, error))?;
        }
        let records = parse_lines(&path, &bytes[..whole])?;
        Ok((Self::open(path)?, records))
    }

    fn open(path: PathBuf) -> Result<Self, StoreError> {
        let file = OpenOptions::new().append(true).open(&path);
        let file = file.map_err(|error| StoreError::new(&path, error))?;
        Ok(Self { path, file })
    }

    /// Adds a line, and hands it to the system at once.
    ///
    /// # Errors
    ///
    /// If it cannot be written.
    pub fn append(&mut self, record: &Record) -> Result<(), StoreError> {
        let line = line(record, false).map_err(|error| StoreError::new(&self.path, error))?;
        // One call for the whole line, so that a killed process leaves no half of it.
        self.file
            .write_all(&line)
            .and_then(|()| self.file.flush())
            .map_err(|error| StoreError::new(&self.path, error))
    }
}

/// Everything that a run left behind.
///
/// # Errors
///
/// If the folder has no run, or it cannot be read.
pub fn read_run(directory: &Path) -> Result<(Experiment, Machine, Vec<Record>), StoreError> {
    let path = directory.join(EXPERIMENT);
    let experiment =
        serde_json::from_slice(&read_bytes(&path)?).map_err(|error| StoreError::new(&path, error))?;
    let path = directory.join(MACHINE);
    let machine = Machine { facts: parse_lines(&path, &read_bytes(&path)?)? };
    let path = directory.join(RECORDS);
    let bytes = read_bytes(&path)?;
    let whole = bytes.iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1);
    Ok((experiment, machine, parse_lines(&path, &bytes[..whole])?))
}

/// The instructions that were counted; none if there is no such file.
///
/// # Errors
///
/// If there is one, and it cannot be read.
pub fn read_instructions(directory: &Path) -> Result<Vec<InstructionCount>, StoreError> {
    let path = directory.join(INSTRUCTIONS);
    if path.exists() { parse_lines(&path, &read_bytes(&path)?) } else { Ok(Vec::new()) }
}

/// Writes the instructions that were counted.
///
/// # Errors
///
/// If they cannot be written.
pub fn write_instructions(directory: &Path, counts: &[InstructionCount]) -> Result<(), StoreError> {
    write_lines(&directory.join(INSTRUCTIONS), counts)
}

fn read_bytes(path: &Path) -> Result<Vec<u8>, StoreError> {
    fs::read(path).map_err(|error| {
        let reason = match error.kind() {
            io::ErrorKind::NotFound => {
                "there is no such file: give the folder of a run of `bitonic lab run`".to_owned()
            }
            _ => error.to_string(),
        };
        StoreError::new(path, reason)
    })
}

fn parse_lines<T: DeserializeOwned>(path: &Path, bytes: &[u8]) -> Result<Vec<T>, StoreError> {
    // Lines of an older version may have fewer fields.
    csv::ReaderBuilder::new()
        .flexible(true)
        .from_reader(bytes)
        .deserialize()
        .collect::<Result<_, _>>()
        .map_err(|error| StoreError::new(path, error))
}

fn write_lines<T: Serialize>(path: &Path, lines: &[T]) -> Result<(), StoreError> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let written = lines.iter().try_for_each(|line| writer.serialize(line));
    written.map_err(|error| StoreError::new(path, error))?;
    write_whole(path, &writer.into_inner().map_err(|error| StoreError::new(path, error))?)
}

/// Writes a file beside its place and moves it there, so that a killed process leaves the old one or the new one.
pub(crate) fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), StoreError> {
    let mut beside = path.as_os_str().to_owned();
    beside.push(".new");
    fs::write(&beside, bytes)
        .and_then(|()| fs::rename(&beside, path))
        .map_err(|error| StoreError::new(path, error))
}

fn line<T: Serialize>(value: &T, heading: bool) -> Result<Vec<u8>, csv::Error> {
    let mut writer = csv::WriterBuilder::new().has_headers(heading).from_writer(Vec::new());
    writer.serialize(value)?;
    writer.into_inner().map_err(|error| error.into_error().into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::file;
    use crate::record::{Fact, Status};

    fn experiment() -> Experiment {
        file::read("implementations = [\"cpu:std\"]\nsizes = [8]\n", "x", None).unwrap()
    }

    fn record(repetition: usize) -> Record {
        Record {
            implementation: "cpu:std".to_owned(),
            size: 8,
            instance: 1,
            repetition,
            seconds: Some(1.0 / 3.0 * repetition as f64),
            note: "a \"note\", with a comma".to_owned(),
            ..Record::default()
        }
    }

    #[test]
    fn records_read_back_exactly_as_they_were_written() {
        let folder = tempfile::tempdir().unwrap();
        let machine = Machine { facts: vec![Fact { name: "cores".to_owned(), value: "2".to_owned() }] };
        let mut journal = Journal::create(folder.path(), &experiment(), &machine).unwrap();
        let extrapolated = Record { status: Status::Extrapolated, ..record(0) };
        let written = [record(1), record(2), extrapolated];
        written.iter().for_each(|record| journal.append(record).unwrap());
        let (read_experiment, read_machine, records) = read_run(folder.path()).unwrap();
        assert_eq!((read_experiment, read_machine), (experiment(), machine));
        assert_eq!(records, written);
    }

    #[test]
    fn a_line_cut_short_is_dropped_and_the_next_one_starts_afresh() {
        let folder = tempfile::tempdir().unwrap();
        let machine = Machine { facts: Vec::new() };
        let mut journal = Journal::create(folder.path(), &experiment(), &machine).unwrap();
        journal.append(&record(1)).unwrap();
        let path = folder.path().join(RECORDS);
        let mut bytes = fs::read(&path).unwrap();
        bytes.extend_from_slice(b"cpu:std,u32,rand");
        fs::write(&path, bytes).unwrap();
        let (mut journal, records) = Journal::resume(folder.path()).unwrap();
        assert_eq!(records, [record(1)]);
        journal.append(&record(2)).unwrap();
        assert_eq!(read_run(folder.path()).unwrap().2, [record(1), record(2)]);
    }

    #[test]
    fn a_folder_with_a_run_is_not_overwritten() {
        let folder = tempfile::tempdir().unwrap();
        let machine = Machine { facts: Vec::new() };
        Journal::create(folder.path(), &experiment(), &machine).unwrap();
        let error = Journal::create(folder.path(), &experiment(), &machine).unwrap_err();
        assert!(error.to_string().contains("lab resume"), "{error}");
    }
}
