//! `result.csv`: a line for every repetition, with `;` between the size and the times of the four sorts.
//!
//! Every repetition has a line. A field is empty where nothing was measured: a sort that the configuration does not ask for, one that
//! would have taken longer than its budget, or a repetition for which the budget had no time left. Readers of CSV files
//! take an empty field for a missing number.

use crate::experiment::Experiment;
use crate::experiment::ini::COLUMNS;
use crate::record::{Record, Status, StoreError};
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

/// The file's name.
pub const RESULTS: &str = "result.csv";

/// `result.csv`, open for more lines; nothing at all for experiments with none of the four sorts.
#[derive(Debug)]
pub struct ResultFile {
    path: PathBuf,
    columns: Columns,
    file: Option<File>,
}

/// Which implementation has which column.
#[derive(Debug)]
struct Columns([Option<String>; 4]);

impl ResultFile {
    /// Writes the file anew from the records there are, and keeps it open.
    ///
    /// # Errors
    ///
    /// If it cannot be written.
    pub fn start(directory: &Path, experiment: &Experiment, records: &[Record]) -> Result<Self, StoreError> {
        let path = directory.join(RESULTS);
        let columns = Columns::of(experiment);
        if columns.0.iter().all(Option::is_none) {
            return Ok(Self { path, columns, file: None });
        }
        let mut text = heading();
        for turn in turns(records) {
            text += &columns.line(turn[0].size, &turn);
        }
        crate::record::write_whole(&path, text.as_bytes())?;
        let file = OpenOptions::new().append(true).open(&path).map_err(|error| failed(&path, &error))?;
        Ok(Self { path, columns, file: Some(file) })
    }

    /// Adds the line of a turn: what every implementation took for one repetition.
    ///
    /// # Errors
    ///
    /// If it cannot be written.
    pub fn append(&mut self, size: usize, turn: &[Record]) -> Result<(), StoreError> {
        let turn: Vec<&Record> = turn.iter().collect();
        let line = self.columns.line(size, &turn);
        let Some(file) = self.file.as_mut().filter(|_| !line.is_empty()) else { return Ok(()) };
        file.write_all(line.as_bytes())
            .and_then(|()| file.flush())
            .map_err(|error| failed(&self.path, &error))
    }
}

/// The records by repetition: one after the other, all implementations on the same instance.
fn turns(records: &[Record]) -> Vec<Vec<&Record>> {
    let mut turns: Vec<Vec<&Record>> = Vec::new();
    for record in records.iter().filter(|record| record.status == Status::Measured) {
        let same = |other: &Record| {
            same_size(record, other)
                && (record.instance, record.repetition) == (other.instance, other.repetition)
        };
        match turns.last_mut().filter(|turn| same(turn[0])) {
            Some(turn) => turn.push(record),
            None => turns.push(vec![record]),
        }
    }
    turns
}

fn same_size(one: &Record, other: &Record) -> bool {
    (one.size, &one.key_type, &one.distribution) == (other.size, &other.key_type, &other.distribution)
}

fn failed(path: &Path, error: &std::io::Error) -> StoreError {
    StoreError { path: path.to_owned(), reason: error.to_string() }
}

fn heading() -> String {
    let headings: Vec<&str> = COLUMNS.iter().map(|column| column.heading).collect();
    format!("instance size;{}\n", headings.join(";"))
}

impl Columns {
    /// The columns of a configuration go by their labels, those of other experiments by the implementation.
    fn of(experiment: &Experiment) -> Self {
        Self(COLUMNS.map(|column| {
            let (runs_on, name) = column.word.split_once(':').unwrap_or_default();
            let fits = |full: &str| {
                let parts = full.split_once(':');
                parts.is_some_and(|(on, of)| of == name && (runs_on == on || runs_on == "gpu" && on != "cpu"))
            };
            let entry = experiment
                .implementations
                .iter()
                .find(|entry| entry.label == column.label || fits(&entry.implementation));
            entry.map(|entry| entry.implementation.clone())
        }))
    }

    /// The line of a turn; empty if none of the four sorts took part.
    fn line(&self, size: usize, turn: &[&Record]) -> String {
        let of = |name: &str| turn.iter().find(|record| record.implementation == name);
        let time = |column: &Option<String>| {
            let record = column.as_deref().and_then(of);
            record
                .and_then(|record| record.seconds)
                .map_or_else(String::new, |seconds| format!("{seconds:.9}"))
        };
        let times: Vec<String> = self.0.iter().map(time).collect();
        match times.iter().all(String::is_empty) {
            true => String::new(),
            false => format!("{size};{}\n", times.join(";")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::file;

    fn record(implementation: &str, repetition: usize, seconds: f64) -> Record {
        Record {
            implementation: implementation.to_owned(),
            size: 8,
            instance: 1,
            repetition,
            seconds: Some(seconds),
            ..Record::default()
        }
    }

    #[test]
    fn lines_and_heading_are_those_of_the_research_application() {
        let folder = tempfile::tempdir().unwrap();
        let text = "implementations = [\"cpu:parallel_recursive\", \"cpu:odd_even_threads\", \"cpu:std\"]\nsizes = [8]\n";
        let experiment = file::read(text, "x", None).unwrap();
        let turns = [
            vec![record("cpu:parallel_recursive", 1, 0.5), record("cpu:odd_even_threads", 1, 1.25e-5)],
            // The budget of one of them has ended; the other goes on.
            vec![record("cpu:parallel_recursive", 2, 2.0), record("cpu:std", 2, 1.0)],
            vec![record("cpu:std", 3, 1.0)],
        ];
        let expected = "instance size;mean bitonic sort (CPU);mean bitonic sort (GPU);mean odd-even sort (CPU);\
                        mean odd-event sort (GPU)\n8;0.500000000;;0.000012500;\n8;2.000000000;;;\n";
        let mut file = ResultFile::start(folder.path(), &experiment, &[]).unwrap();
        turns.iter().for_each(|turn| file.append(8, turn).unwrap());
        let read = || std::fs::read_to_string(folder.path().join(RESULTS)).unwrap();
        assert_eq!(read(), expected);
        ResultFile::start(folder.path(), &experiment, &turns.concat()).unwrap();
        assert_eq!(read(), expected, "written anew from the records");
    }

    #[test]
    fn experiments_with_none_of_the_four_have_no_such_file() {
        let folder = tempfile::tempdir().unwrap();
        let experiment = file::read("implementations = [\"cpu:std\"]\nsizes = [8]\n", "x", None).unwrap();
        ResultFile::start(folder.path(), &experiment, &[]).unwrap();
        assert!(!folder.path().join(RESULTS).exists());
    }
}
