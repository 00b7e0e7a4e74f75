//! `error.log`: what was sorted wrongly, and what became of it.

use crate::record::{StoreError, write_whole};
use std::fmt::Debug;
use std::path::{Path, PathBuf};

/// The file's name.
pub const ERROR_LOG: &str = "error.log";

/// A wrong result.
#[derive(Debug)]
pub struct ErrorLog {
    label: String,
    size: usize,
    repetition: usize,
    instance: String,
    solution: String,
}

impl ErrorLog {
    /// The wrong result of an implementation.
    pub fn new<K: Debug>(label: String, repetition: usize, instance: &[K], solution: &[K]) -> Self {
        Self { label, size: instance.len(), repetition, instance: list(instance), solution: list(solution) }
    }

    /// Who, on what, and when.
    pub fn message(&self) -> String {
        let Self { label, size, repetition, .. } = self;
        format!(
            "The {label} has given an invalid solution for instance size {size} in repetition {repetition}."
        )
    }

    /// Writes the file, and says where it is.
    ///
    /// # Errors
    ///
    /// If it cannot be written.
    pub fn write(&self, directory: &Path) -> Result<PathBuf, StoreError> {
        let path = directory.join(ERROR_LOG);
        let text =
            format!(">>> {}\n[Instance]:{}\n[Solution]:{}\n", self.message(), self.instance, self.solution);
        write_whole(&path, text.as_bytes())?;
        Ok(path)
    }
}

fn list<K: Debug>(keys: &[K]) -> String {
    keys.iter().map(|key| format!(" {key:?}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_has_the_message_the_instance_and_the_solution() {
        let folder = tempfile::tempdir().unwrap();
        let log = ErrorLog::new("GPU Odd-Even".to_owned(), 4, &[8_i32, -9, 3], &[-9_i32, 8, 3]);
        let path = log.write(folder.path()).unwrap();
        assert_eq!(
            std::fs::read_to_string(path).unwrap(),
            ">>> The GPU Odd-Even has given an invalid solution for instance size 3 in repetition 4.\n\
             [Instance]: 8 -9 3\n[Solution]: -9 8 3\n"
        );
    }
}
