//! Where results go: standard output, or a file that is replaced only when its successor is complete.

mod descriptor;
mod interrupt;
mod replace;

use crate::failure::Failure;
use crate::streams;
use descriptor::Descriptor;
use replace::{directory, replace};
use std::fmt;
use std::fs::{self, File};
use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::{Path, PathBuf};

/// What writes a result: behind a pointer, so that what is around it is compiled once.
type Fill<'a> = &'a mut dyn FnMut(&mut dyn Write) -> io::Result<()>;

/// What is called once, as [`Fill`].
fn once(fill: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> impl FnMut(&mut dyn Write) -> io::Result<()> {
    let mut fill = Some(fill);
    move |out| fill.take().map_or(Ok(()), |fill| fill(out))
}

/// Lets `fill` write to standard output.
pub(crate) fn print(fill: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), Failure> {
    print_filled(&mut once(fill))
}

fn print_filled(fill: Fill<'_>) -> Result<(), Failure> {
    expect_open()?;
    let mut output = BufWriter::new(io::stdout().lock());
    fill(&mut output).and_then(|()| output.flush()).map_err(|error| failure("standard output", &error))
}

/// Refuses to go on if standard output is closed, since everything written there would be lost.
pub(crate) fn expect_open() -> Result<(), Failure> {
    match streams::is_output_closed() {
        true => {
            Err(Failure::new("cannot write to standard output: it is closed: send it to a file with > FILE"))
        }
        false => Ok(()),
    }
}

/// Whether somebody looks at standard output.
pub(crate) fn is_terminal() -> bool {
    io::stdout().is_terminal()
}

/// Lets `fill` write to the file, or to standard output if there is none or its name is `-`.
///
/// A regular file is written beside its place and then moved there, so that whoever reads it finds the old content or
/// the new one, and a failure leaves the old one. Nobody else can read the new one before it has the old one's permissions.
/// Links are followed and stay. A file with several names keeps them: it is overwritten with what was written beside it. So is
/// a file in a folder that takes no new ones, which is told on standard error. Pipes and devices are written directly, and so
/// are standard output and standard error under names such as `/dev/stdout`, whatever is behind them.
pub(crate) fn write(
    path: Option<&Path>,
    fill: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), Failure> {
    write_filled(path, &mut once(fill))
}

fn write_filled(path: Option<&Path>, fill: Fill<'_>) -> Result<(), Failure> {
    let Some(path) = path.filter(|path| !is_standard_stream(path)) else { return print_filled(fill) };
    let written = match Descriptor::of(path) {
        Some(Descriptor::StandardOutput) => return print_filled(fill),
        Some(Descriptor::StandardError) => fill(&mut io::stderr().lock()),
        Some(Descriptor::Other) if path.is_file() => Err(io::Error::other(
            "it is a file that is open already, whose place no other can take: name the file itself, or send standard output \
             there",
        )),
        Some(Descriptor::Other) | None => write_file(path, fill),
    };
    written.map_err(|error| failure(path.display(), &error))
}

/// Says something on standard error. Where that is closed nobody is left to tell; `eprint!` would panic.
pub(crate) fn note(text: impl fmt::Display) {
    let _ = write!(io::stderr().lock(), "{text}");
}

/// Whether the path means standard input or output.
pub(crate) fn is_standard_stream(path: &Path) -> bool {
    path == Path::new("-")
}

/// What it means that something could not be written to the place of this name.
pub(crate) fn failure(name: impl fmt::Display, error: &io::Error) -> Failure {
    match error.kind() {
        io::ErrorKind::BrokenPipe => Failure::ClosedPipe,
        kind => Failure::new(format!("cannot write to {name}: {error}{}", way_out(kind))),
    }
}

fn way_out(kind: io::ErrorKind) -> &'static str {
    match kind {
        io::ErrorKind::NotFound => ": create its directory first",
        io::ErrorKind::IsADirectory => ": name a file in it",
        io::ErrorKind::StorageFull => ": make room or choose another place",
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => ": choose another place",
        _ => "",
    }
}

fn write_file(path: &Path, fill: Fill<'_>) -> io::Result<()> {
    match fs::metadata(path) {
        Ok(old) if old.is_dir() => Err(io::ErrorKind::IsADirectory.into()),
        Ok(old) if old.is_file() => replace(&fs::canonicalize(path)?, Some(&old), fill),
        Ok(_) => {
            let mut file = File::options().write(true).open(path)?;
            fill(&mut file)?;
            file.flush()
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => replace(&link_target(path)?, None, fill),
        Err(error) => Err(error),
    }
}

/// What a path whose file does not exist stands for: itself, or what the last of a chain of links points to.
fn link_target(path: &Path) -> io::Result<PathBuf> {
    let mut path = path.to_owned();
    // As many as Linux follows.
    for _ in 0..40 {
        match fs::symlink_metadata(&path) {
            Ok(_) => path = directory(&path).join(fs::read_link(&path)?),
            Err(_) => return Ok(path),
        }
    }
    Err(io::Error::other("too many links lead to one another"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_half_way_leaves_the_old_content_and_nothing_beside_it() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.svg");
        fs::write(&file, "old").unwrap();
        let result = write(Some(&file), |output| {
            output.write_all(b"half")?;
            Err(io::ErrorKind::StorageFull.into())
        });
        let Err(Failure::Message(message)) = result else { panic!("{result:?}") };
        assert!(message.ends_with(": make room or choose another place"), "{message}");
        assert_eq!(fs::read_to_string(&file).unwrap(), "old");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
