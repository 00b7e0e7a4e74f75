//! What is wrong with an experiment.

use std::fmt;

/// What is wrong with an experiment, where, and the way out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExperimentError {
    /// The file or preset.
    pub file: String,
    /// The line, from 1, where it is one line's fault.
    pub line: Option<usize>,
    /// What is wrong.
    pub reason: String,
}

impl ExperimentError {
    /// An error of this line; the file is filled in where its name is known.
    pub(super) fn at(line: usize, reason: impl Into<String>) -> Self {
        Self { file: String::new(), line: Some(line), reason: reason.into() }
    }

    /// An error of the whole file.
    pub(super) fn of_file(reason: impl Into<String>) -> Self {
        Self { file: String::new(), line: None, reason: reason.into() }
    }
}

impl fmt::Display for ExperimentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { file, line, reason } = self;
        match line {
            Some(line) => write!(f, "{file}, line {line}: {reason}"),
            None => write!(f, "{file}: {reason}"),
        }
    }
}

impl std::error::Error for ExperimentError {}
