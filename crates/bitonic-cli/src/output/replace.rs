//! A file is replaced by its successor when that one is complete.
//!
//! ```text
//!   unnamed file, 0600 -> write -> group, owner, mode -> sync -> name beside -> rename     Linux, where the disk can
//!   named file beside, 0600 -> write -> group, owner, mode -> sync -> rename               elsewhere
//!   file in the system's temporary folder, 0600 -> write -> sync -> name -> copy over      if the folder takes no new file
//! ```
//!
//! Until it is complete nobody but its owner can read the new file, whatever the old one allows. A program that is killed leaves
//! nothing where the file has no name; where it has one, signals remove it ([`interrupt`]).

use super::{Fill, interrupt};
use crate::failure::remark;
use std::fs::{self, File, Metadata};
use std::io::{self, Seek};
use std::path::{Path, PathBuf};
use tempfile::TempPath;

/// Writes a new file and moves it to `path`, in place of the old one if there is one. `path` is no link.
pub(super) fn replace(path: &Path, old: Option<&Metadata>, fill: Fill<'_>) -> io::Result<()> {
    if old.is_some() {
        // A move needs no right to write the old file; whoever protected it expects that one is needed.
        File::options().write(true).open(path)?;
    }
    let mut new = match NewFile::create(directory(path)) {
        Err(error) if old.is_some() && takes_no_new_file(&error) => return overwrite(path, &error, fill),
        new => new?,
    };
    fill(&mut new.file)?;
    set_access(&new.file, old)?;
    new.file.sync_all()?;
    match old.map_or(1, names) {
        0 | 1 => new.move_to(path),
        _ => new.copy_to(path),
    }
}

/// Overwrites a file whose folder takes no new one beside it. The complete content is elsewhere until that is done.
fn overwrite(path: &Path, reason: &io::Error, fill: Fill<'_>) -> io::Result<()> {
    let mut new = NewFile::create(&std::env::temp_dir())?;
    fill(&mut new.file)?;
    new.file.sync_all()?;
    remark(&format!(
        "{}: its folder takes no new file ({reason}), so it is overwritten in place: should that be interrupted, the complete \
         content is in {}",
        path.display(),
        new.folder.display()
    ));
    new.copy_to(path)
}

fn takes_no_new_file(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem)
}

/// The folder that a file is in.
pub(super) fn directory(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    }
}

/// A file that only its owner may read and write.
struct NewFile {
    file: File,
    folder: PathBuf,
    /// Its name, which is removed with this; an unnamed file is gone when it is closed.
    name: Option<TempPath>,
}

impl NewFile {
    fn create(folder: &Path) -> io::Result<Self> {
        fs::metadata(folder)?;
        match unnamed_file(folder) {
            Some(file) => Ok(Self { file, folder: folder.to_owned(), name: None }),
            None => Self::with_name(folder),
        }
    }

    fn with_name(folder: &Path) -> io::Result<Self> {
        let open = |path: &Path| {
            let mut options = File::options();
            options.read(true).write(true).create_new(true);
            #[cfg(unix)]
            std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
            interrupt::make_unfinished(path, |path| options.open(path))
        };
        let (file, name) = beside(folder, open)?.into_parts();
        Ok(Self { file, folder: folder.to_owned(), name: Some(name) })
    }

    /// Gives it a name of its own, if it has none.
    fn name(&mut self) -> io::Result<TempPath> {
        match self.name.take() {
            Some(name) => Ok(name),
            None => {
                let link = |path: &Path| interrupt::make_unfinished(path, |path| give_name(&self.file, path));
                Ok(beside(&self.folder, link)?.into_temp_path())
            }
        }
    }

    fn move_to(mut self, path: &Path) -> io::Result<()> {
        let name = self.name()?;
        name.persist(path).map_err(|error| error.error)?;
        interrupt::finished();
        Ok(())
    }

    /// Overwrites a file that keeps its place: one with other names, too, so that all of them show the new content, or one
    /// whose folder takes no other. Should that fail half way, the complete content stays where it is.
    fn copy_to(mut self, path: &Path) -> io::Result<()> {
        let name = self.name()?;
        interrupt::finished();
        let copied = self.file.rewind().and_then(|()| {
            let mut old = File::options().write(true).truncate(true).open(path)?;
            io::copy(&mut self.file, &mut old)?;
            old.sync_all()
        });
        copied.map_err(|error| match name.keep() {
            Ok(kept) => {
                let text =
                    format!("{error}: it is incomplete now; the complete content is in {}", kept.display());
                io::Error::new(error.kind(), text)
            }
            Err(_) => error,
        })
    }
}

impl Drop for NewFile {
    fn drop(&mut self) {
        if self.name.take().is_some() {
            interrupt::finished();
        }
    }
}

/// Makes something at a new name in a folder.
fn beside<T>(
    folder: &Path,
    make: impl FnMut(&Path) -> io::Result<T>,
) -> io::Result<tempfile::NamedTempFile<T>> {
    // The error's own text names the file beside, which the user has never heard of.
    tempfile::Builder::new().prefix(".bitonic-").make_in(folder, make).map_err(|error| error.kind().into())
}

/// A file without a name in this folder, where the system and the file system have such a thing and can name it later.
#[cfg(target_os = "linux")]
fn unnamed_file(folder: &Path) -> Option<File> {
    use rustix::fs::{Mode, OFlags};
    let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
    let file = rustix::fs::open(folder, flags, Mode::RUSR | Mode::WUSR).ok().map(File::from)?;
    descriptor_path(&file).exists().then_some(file)
}

#[cfg(not(target_os = "linux"))]
fn unnamed_file(_: &Path) -> Option<File> {
    None
}

#[cfg(target_os = "linux")]
fn give_name(file: &File, path: &Path) -> io::Result<()> {
    use rustix::fs::{AtFlags, CWD};
    Ok(rustix::fs::linkat(CWD, descriptor_path(file), CWD, path, AtFlags::SYMLINK_FOLLOW)?)
}

#[cfg(not(target_os = "linux"))]
fn give_name(_: &File, _: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Where the system shows an open file; a link there names the file itself.
#[cfg(target_os = "linux")]
fn descriptor_path(file: &File) -> std::path::PathBuf {
    use std::os::fd::AsRawFd;
    format!("/proc/self/fd/{}", file.as_raw_fd()).into()
}

/// How many names a file has.
#[cfg(unix)]
fn names(file: &Metadata) -> u64 {
    std::os::unix::fs::MetadataExt::nlink(file)
}

#[cfg(not(unix))]
fn names(_: &Metadata) -> u64 {
    1
}

/// Gives the new file the group, the owner and the mode of the old one, or what every new file gets.
#[cfg(unix)]
fn set_access(file: &File, old: Option<&Metadata>) -> io::Result<()> {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};
    let mode = match old {
        None => 0o666 & !umask(),
        Some(old) => {
            // Each on its own: a user may give a file to any of their groups, but only the administrator gives it to others.
            let keeps_group = fchown(file, None, Some(old.gid())).is_ok();
            let keeps_owner = fchown(file, Some(old.uid()), None).is_ok();
            kept_mode(old.mode() & 0o7777, keeps_owner, keeps_group)
        }
    };
    file.set_permissions(fs::Permissions::from_mode(mode))
}

#[cfg(not(unix))]
fn set_access(file: &File, old: Option<&Metadata>) -> io::Result<()> {
    old.map_or(Ok(()), |old| file.set_permissions(old.permissions()))
}

/// The mode of a file that may have got another owner or group than its predecessor: another group may do what all others may,
/// and to run as the owner or the group is for the old ones only.
#[cfg(unix)]
fn kept_mode(mode: u32, keeps_owner: bool, keeps_group: bool) -> u32 {
    let mode = if keeps_owner && keeps_group { mode } else { mode & 0o1777 };
    if keeps_group { mode } else { mode & (!0o070 | (mode & 0o007) << 3) }
}

/// What the user takes away from new files.
#[cfg(unix)]
fn umask() -> u32 {
    // The system tells it only in exchange for another one. No file is made in between.
    let mask = rustix::process::umask(rustix::fs::Mode::RWXG | rustix::fs::Mode::RWXO);
    rustix::process::umask(mask);
    mask.bits()
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn another_group_gets_no_more_than_all_others() {
        assert_eq!(kept_mode(0o640, true, true), 0o640);
        assert_eq!(kept_mode(0o640, true, false), 0o600);
        assert_eq!(kept_mode(0o664, true, false), 0o644);
        assert_eq!(kept_mode(0o6755, true, true), 0o6755);
        assert_eq!(kept_mode(0o6755, false, true), 0o755);
        assert_eq!(kept_mode(0o600, false, false), 0o600);
    }

    #[test]
    fn a_file_with_a_name_is_private_and_goes_with_its_value() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let new = NewFile::with_name(folder.path()).unwrap();
        assert_eq!(new.file.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        drop(new);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_file_with_a_name_replaces_as_one_without() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out");
        fs::write(&path, "old").unwrap();
        let mut new = NewFile::with_name(folder.path()).unwrap();
        io::Write::write_all(&mut new.file, b"new").unwrap();
        new.move_to(&path).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "new");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
