//! Writing a file that is either complete or as it was.

use std::io::{self, Write};
use std::path::Path;

/// Writes the text beside the file, then puts it in the file's place. What is no plain file, such as a pipe or a
/// terminal, is written to directly: replacing it would destroy it.
pub(super) fn write(path: &Path, text: &str) -> io::Result<()> {
    // Through a symbolic link, its target is replaced and not the link.
    let path = &path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let old = std::fs::metadata(path).ok();
    if old.as_ref().is_some_and(|old| !old.is_file()) {
        return std::fs::write(path, text);
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut builder = tempfile::Builder::new();
    builder.prefix(".bitonic-");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // As for any new file: what the user's mask leaves of it.
        builder.permissions(std::fs::Permissions::from_mode(0o666));
    }
    // The error's own text names the file beside, which the user has never heard of.
    let mut beside = builder.tempfile_in(folder).map_err(|error| io::Error::from(error.kind()))?;
    beside.write_all(text.as_bytes())?;
    if let Some(old) = old {
        beside.as_file().set_permissions(old.permissions())?;
    }
    beside.as_file().sync_all()?;
    beside.persist(path)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_made_or_replaced_and_nothing_is_left_beside_it() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.svg");
        write(&file, "first").unwrap();
        write(&file, "second").unwrap();
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "second");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_folder_that_does_not_exist_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        assert!(write(&folder.path().join("missing").join("a.svg"), "text").is_err());
    }

    #[cfg(unix)]
    #[test]
    fn a_link_stays_a_link_and_its_target_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let (target, link) = (folder.path().join("target"), folder.path().join("link"));
        std::fs::write(&target, "old").unwrap();
        std::os::unix::fs::symlink(&target, &link).unwrap();
        write(&link, "new").unwrap();
        assert!(link.is_symlink());
        assert_eq!(std::fs::read_to_string(&target).unwrap(), "new");
    }
}
