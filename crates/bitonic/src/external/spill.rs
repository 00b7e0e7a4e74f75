//! The temporary file: sorted runs, one behind the other.
//!
//! One file for all runs needs one descriptor, however many runs there are. On Linux it has no name, so that no end of the process
//! leaves it behind; elsewhere its name is removed as soon as it is open. Only its owner may read it.

use crate::Error;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};

pub(super) struct Spill {
    file: File,
    folder: PathBuf,
    /// Where each run is, in bytes.
    pub(super) runs: Vec<Range<u64>>,
}

impl Spill {
    pub(super) fn create(folder: &Path) -> Result<Self, Error> {
        let file = tempfile::tempfile_in(folder).map_err(|error| failed(folder, "make", &error))?;
        // It has no name, so that nobody can open it; its mode says so as well.
        #[cfg(unix)]
        file.set_permissions(std::os::unix::fs::PermissionsExt::from_mode(0o600))
            .map_err(|error| failed(folder, "make", &error))?;
        Ok(Self { file, folder: folder.to_owned(), runs: Vec::new() })
    }

    /// Appends a run.
    pub(super) fn write(&mut self, bytes: &[u8]) -> Result<(), Error> {
        let start = self.len();
        self.file.write_all(bytes).map_err(|error| failed(&self.folder, "write to", &error))?;
        self.runs.push(start..start + bytes.len() as u64);
        Ok(())
    }

    /// How long the file is.
    pub(super) fn len(&self) -> u64 {
        self.runs.last().map_or(0, |run| run.end)
    }

    /// Reads from a place as many bytes as there is room for. Those that `are_valid` does not know are an error.
    pub(super) fn read(
        &mut self,
        place: u64,
        bytes: &mut [u8],
        are_valid: impl FnOnce(&[u8]) -> bool,
    ) -> Result<(), Error> {
        let Self { file, folder, .. } = self;
        let read = file.seek(SeekFrom::Start(place)).and_then(|_| file.read_exact(bytes));
        let read = read.and_then(|()| match are_valid(bytes) {
            true => Ok(()),
            false => Err(io::Error::new(io::ErrorKind::InvalidData, "it holds bytes that nobody wrote")),
        });
        read.map_err(|error| failed(folder, "read from", &error))
    }
}

fn failed(folder: &Path, operation: &'static str, error: &io::Error) -> Error {
    let advice = match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            "make room there, or choose another folder with temp()"
        }
        _ => "choose another folder with temp()",
    };
    Error::Temporary { folder: folder.display().to_string(), operation, reason: reason(error), advice }
}

/// What the system said. Around that stands the name of a file that the user has never heard of.
fn reason(error: &io::Error) -> String {
    let inner = error.get_ref().and_then(|outer| outer.source());
    inner.map_or_else(|| error.to_string(), ToString::to_string)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_read_from_where_they_were_written() {
        let mut spill = Spill::create(&std::env::temp_dir()).unwrap();
        spill.write(b"first").unwrap();
        spill.write(b"second").unwrap();
        assert_eq!(spill.runs, [0..5, 5..11]);
        let mut bytes = [0; 4];
        spill.read(6, &mut bytes, |_| true).unwrap();
        assert_eq!(&bytes, b"econ");
        let past = spill.read(9, &mut bytes, |_| true).unwrap_err();
        assert!(matches!(past, Error::Temporary { operation: "read from", .. }), "{past}");
        let strange = spill.read(0, &mut bytes, |bytes| bytes != b"firs").unwrap_err();
        assert!(matches!(strange, Error::Temporary { operation: "read from", .. }), "{strange}");
    }

    #[test]
    fn a_folder_that_is_not_there_is_named() {
        let Err(error) = Spill::create(Path::new("/nonexistent/folder")) else { panic!("a file was made") };
        let text = error.to_string();
        assert_eq!(
            text,
            "cannot make a temporary file in /nonexistent/folder: No such file or directory (os error 2): choose another folder \
             with temp()"
        );
    }

    #[cfg(unix)]
    #[test]
    fn the_file_is_private_and_has_no_name() {
        use std::os::unix::fs::MetadataExt;
        let folder = tempfile::tempdir().unwrap();
        let spill = Spill::create(folder.path()).unwrap();
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
        let about = spill.file.metadata().unwrap();
        assert_eq!((about.mode() & 0o777, about.nlink()), (0o600, 0));
    }
}
