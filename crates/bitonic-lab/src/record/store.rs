//! The folder of a run: written line by line, read as a whole.

use super::difference::differences;
use super::{InstructionCount, Machine, Record};
use crate::experiment::Experiment;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// The file with the experiment.
pub const EXPERIMENT: &str = "experiment.json";

/// The file with the machine.
pub const MACHINE: &str = "machine.csv";

/// The file with the records.
pub const RECORDS: &str = "records.csv";

const INSTRUCTIONS: &str = "instructions.csv";

/// The experiment as it was when the run was started.
const STARTED: &str = "started.json";

/// The file that whoever measures keeps locked, with the number of the process.
const LOCK: &str = "lock";

/// At most so many differences between two experiments are told.
const TOLD: usize = 5;

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
/// process afterwards, it is not lost. While there is a journal, no other process can have one for the same run.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    file: File,
    /// The system unlocks it when this is dropped, or the process ends.
    _lock: File,
}

impl Journal {
    /// Starts the folder of a new run.
    ///
    /// # Errors
    ///
    /// If there is a run in the folder already, or it cannot be written.
    pub fn create(directory: &Path, experiment: &Experiment, machine: &Machine) -> Result<Self, StoreError> {
        fs::create_dir_all(directory).map_err(|error| StoreError::new(directory, error))?;
        let lock = lock(directory)?;
        let path = directory.join(RECORDS);
        if path.exists() {
            let reason = "there is a run in this folder already: go on with it by `bitonic lab resume`, or choose another \
                          folder with --output";
            return Err(StoreError::new(directory, reason));
        }
        let text = serde_json::to_string_pretty(experiment).map_err(|error| StoreError::new(&path, error))?;
        write_whole(&directory.join(EXPERIMENT), text.as_bytes())?;
        write_whole(&directory.join(STARTED), text.as_bytes())?;
        write_lines(&directory.join(MACHINE), &machine.facts)?;
        let heading = line(&Record::default(), true).map_err(|error| StoreError::new(&path, error))?;
        let heading = heading.split_inclusive(|&byte| byte == b'\n').next().unwrap_or_default();
        write_whole(&path, heading)?;
        Self::open(path, lock)
    }

    /// Goes on with a run: returns the records there are. A last line that was cut short is dropped.
    ///
    /// # Errors
    ///
    /// If the folder has no run, if another process is measuring it, if its experiment is another one than when it was
    /// started, or if it cannot be read or written.
    pub fn resume(directory: &Path) -> Result<(Self, Vec<Record>), StoreError> {
        let path = directory.join(RECORDS);
        read_bytes(&path)?;
        let lock = lock(directory)?;
        check_experiment(directory)?;
        // Now that nobody else adds to them.
        let bytes = read_bytes(&path)?;
        let whole = bytes.iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1);
        if whole < bytes.len() {
            let cut = OpenOptions::new().write(true).open(&path).and_then(|file| file.set_len(whole as u64));
            cut.map_err(|error| StoreError::new(&path, error))?;
        }
        let records = parse_lines(&path, &bytes[..whole])?;
        Ok((Self::open(path, lock)?, records))
    }

    fn open(path: PathBuf, lock: File) -> Result<Self, StoreError> {
        let file = OpenOptions::new().append(true).open(&path);
        let file = file.map_err(|error| StoreError::new(&path, error))?;
        Ok(Self { path, file, _lock: lock })
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

/// Keeps other processes from measuring the same run, as long as the file lives. Two at once would record everything twice.
fn lock(directory: &Path) -> Result<File, StoreError> {
    let path = directory.join(LOCK);
    let failed = |error: io::Error| StoreError::new(&path, error);
    let mut file =
        File::options().read(true).write(true).create(true).truncate(false).open(&path).map_err(failed)?;
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => {
            let holder = fs::read_to_string(&path).unwrap_or_default();
            let holder = match holder.trim() {
                "" => "another process".to_owned(),
                id => format!("process {id}"),
            };
            let reason = format!("{holder} is measuring this run: wait until it has ended, or end it");
            return Err(StoreError::new(directory, reason));
        }
        // Where the file system has no locks, one has to take care oneself.
        Err(TryLockError::Error(error)) if error.kind() == io::ErrorKind::Unsupported => {}
        Err(TryLockError::Error(error)) => return Err(failed(error)),
    }
    file.set_len(0).map_err(failed)?;
    writeln!(file, "{}", std::process::id()).map_err(failed)?;
    Ok(file)
}

/// Refuses an experiment that is not the one that the records are of.
fn check_experiment(directory: &Path) -> Result<(), StoreError> {
    let started = directory.join(STARTED);
    if !started.exists() {
        // A run of an older version.
        return Ok(());
    }
    let path = directory.join(EXPERIMENT);
    let read = |path: &Path| -> Result<serde_json::Value, StoreError> {
        serde_json::from_slice(&read_bytes(path)?).map_err(|error| StoreError::new(path, error))
    };
    let found = differences(&read(&started)?, &read(&path)?);
    if found.is_empty() {
        return Ok(());
    }
    let more = found.len().saturating_sub(TOLD);
    let mut told = found[..found.len() - more].join("; ");
    if more > 0 {
        told += &format!("; and {more} more");
    }
    let reason = format!(
        "the experiment was changed after the run had been started, and its records are of the old one: {told}. Copy \
         {STARTED} to {EXPERIMENT} to go on with the old one, or start a new run by `bitonic lab run`"
    );
    Err(StoreError::new(&path, reason))
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
        drop(journal);
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
    fn a_run_has_one_journal_at_a_time_and_the_message_names_its_holder() {
        let folder = tempfile::tempdir().unwrap();
        let machine = Machine { facts: Vec::new() };
        let first = Journal::create(folder.path(), &experiment(), &machine).unwrap();
        let holder = format!("process {} is measuring this run", std::process::id());
        for refused in [
            Journal::resume(folder.path()).map(|_| ()),
            Journal::create(folder.path(), &experiment(), &machine).map(|_| ()),
        ] {
            let error = refused.unwrap_err().to_string();
            assert!(error.contains(&holder), "{error}");
        }
        drop(first);
        Journal::resume(folder.path()).unwrap();
    }

    #[test]
    fn an_experiment_that_was_edited_is_refused_with_the_difference() {
        let folder = tempfile::tempdir().unwrap();
        let machine = Machine { facts: Vec::new() };
        drop(Journal::create(folder.path(), &experiment(), &machine).unwrap());
        let path = folder.path().join(EXPERIMENT);
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.contains("\"size\": 8"), "{text}");
        fs::write(&path, text.replace("\"size\": 8", "\"size\": 9")).unwrap();
        let error = Journal::resume(folder.path()).unwrap_err().to_string();
        assert!(error.contains(".size: 8 is now 9"), "{error}");
        // Spaces mean nothing.
        fs::write(&path, text.replace('\n', "\n\n")).unwrap();
        Journal::resume(folder.path()).unwrap();
    }

    #[test]
    fn a_folder_with_a_run_is_not_overwritten() {
        let folder = tempfile::tempdir().unwrap();
        let machine = Machine { facts: Vec::new() };
        drop(Journal::create(folder.path(), &experiment(), &machine).unwrap());
        let error = Journal::create(folder.path(), &experiment(), &machine).unwrap_err();
        assert!(error.to_string().contains("lab resume"), "{error}");
    }
}
