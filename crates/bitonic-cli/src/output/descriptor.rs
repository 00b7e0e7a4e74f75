//! Names of files that a program has open, such as `/dev/stdout`.

use super::replace::directory;
use std::fs;
use std::path::{Path, PathBuf};

/// What such a name stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Descriptor {
    StandardOutput,
    StandardError,
    /// Another open file, or one of another program.
    Other,
}

/// Where systems show the open files of this process.
const OWN: [&str; 3] = ["/proc/self/fd", "/proc/thread-self/fd", "/dev/fd"];

impl Descriptor {
    /// What the path stands for, if it or a link that it leads to is such a name. The file behind it is not ours to replace: others
    /// have it open and go on where it ends.
    pub(super) fn of(path: &Path) -> Option<Self> {
        let own: Vec<PathBuf> = OWN.iter().filter_map(|folder| fs::canonicalize(folder).ok()).collect();
        let mut path = path.to_owned();
        // As many links as Linux follows.
        for _ in 0..40 {
            let folder = fs::canonicalize(directory(&path)).ok()?;
            if own.contains(&folder) {
                return match path.file_name()?.to_str()? {
                    "1" => Some(Self::StandardOutput),
                    "2" => Some(Self::StandardError),
                    _ => Some(Self::Other),
                };
            }
            if cfg!(target_os = "linux") && folder.starts_with("/proc") {
                return Some(Self::Other);
            }
            path = directory(&path).join(fs::read_link(&path).ok()?);
        }
        None
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn links_to_open_files_are_told_from_files() {
        let folder = tempfile::tempdir().unwrap();
        let link = folder.path().join("link");
        symlink("/dev/stdout", &link).unwrap();
        let file = folder.path().join("file");
        fs::write(&file, "").unwrap();
        let of = |path: &str| Descriptor::of(Path::new(path));
        assert_eq!(of("/dev/stdout"), Some(Descriptor::StandardOutput));
        assert_eq!(Descriptor::of(&link), Some(Descriptor::StandardOutput));
        assert_eq!(of("/proc/self/fd/2"), Some(Descriptor::StandardError));
        assert_eq!(of("/dev/fd/17"), Some(Descriptor::Other));
        assert_eq!(of("/proc/1/fd/1"), Some(Descriptor::Other));
        assert_eq!(of("/dev/null"), None);
        assert_eq!(Descriptor::of(&file), None);
        assert_eq!(of("/nonexistent/file"), None);
    }
}
