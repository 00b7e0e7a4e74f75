//! A CSV file that grows line by line.

use serde::Serialize;
use std::fs::File;
use std::io::{self, Write};
use std::marker::PhantomData;
use std::path::{Path, PathBuf};

/// A CSV file that grows line by line. A line is in the file when [`CsvFile::append`] returns, and whatever happens to the
/// process afterwards, it is not lost. The file begins with the names of the line's fields.
#[derive(Debug)]
pub struct CsvFile<Line> {
    path: PathBuf,
    /// Opened with the first line: a measurement that does not begin leaves an older file as it was.
    file: Option<File>,
    lines: PhantomData<fn(&Line)>,
}

impl<Line: Serialize> CsvFile<Line> {
    /// A file at this path. What the file had before is gone with the first line.
    pub fn new(path: &Path) -> Self {
        Self { path: path.to_owned(), file: None, lines: PhantomData }
    }

    /// Where the file is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Adds lines, and hands them to the system at once.
    ///
    /// # Errors
    ///
    /// If they cannot be written.
    pub fn append(&mut self, lines: &[Line]) -> io::Result<()> {
        if lines.is_empty() {
            return Ok(());
        }
        let bytes = text(lines, self.file.is_none())?;
        let file = match &mut self.file {
            Some(file) => file,
            closed => closed.insert(File::create(&self.path)?),
        };
        // One call for whole lines, so that a killed process leaves no half of one.
        file.write_all(&bytes)
    }
}

/// Lines of CSV as text, with or without the names of their fields before them.
///
/// # Errors
///
/// If a line has fields that a line of CSV cannot have.
pub fn text<Line: Serialize>(lines: &[Line], heading: bool) -> io::Result<Vec<u8>> {
    let mut writer = csv::WriterBuilder::new().has_headers(heading).from_writer(Vec::new());
    lines.iter().try_for_each(|line| writer.serialize(line))?;
    writer.into_inner().map_err(csv::IntoInnerError::into_error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Serialize)]
    struct Line {
        name: &'static str,
        count: Option<u32>,
    }

    #[test]
    fn lines_are_in_the_file_at_once_and_an_old_file_stays_until_the_first() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.csv");
        std::fs::write(&path, "old").unwrap();
        let mut file = CsvFile::new(&path);
        let content = || std::fs::read_to_string(&path).unwrap();
        file.append(&[]).unwrap();
        assert_eq!(content(), "old");
        file.append(&[Line { name: "A \"fast\" one, really", count: Some(1) }]).unwrap();
        assert_eq!(content(), "name,count\n\"A \"\"fast\"\" one, really\",1\n");
        file.append(&[Line { name: "b", count: None }, Line { name: "c", count: Some(3) }]).unwrap();
        assert!(content().ends_with(",1\nb,\nc,3\n"), "{}", content());
    }

    #[test]
    fn a_file_that_cannot_be_written_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let error = CsvFile::new(folder.path()).append(&[Line { name: "a", count: None }]).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::IsADirectory);
    }
}
