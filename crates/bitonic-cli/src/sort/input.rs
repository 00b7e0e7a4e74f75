//! Where the bytes come from.

use super::progress::Progress;
use crate::failure::Failure;
use std::fs::File;
use std::io::{self, IsTerminal, Read};
use std::path::Path;

/// A file or standard input, read whole.
pub(super) struct Input {
    /// For messages.
    pub(super) name: String,
    pub(super) bytes: Vec<u8>,
}

impl Input {
    /// A failure because of what the input holds.
    pub(super) fn refused(&self, reason: String) -> Failure {
        Failure::new(format!("{}: {reason}", self.name))
    }
}

/// Whether the path means standard input or output.
pub(super) fn is_standard_stream(path: &Path) -> bool {
    path == Path::new("-")
}

/// Reads the file, or standard input if there is none or its name is `-`.
pub(super) fn read(path: Option<&Path>) -> Result<Input, Failure> {
    let path = path.filter(|path| !is_standard_stream(path));
    let name = path.map_or_else(|| "standard input".to_owned(), |path| path.display().to_string());
    let bytes = match path {
        Some(path) => read_file(path),
        None => read_standard_input(),
    };
    match bytes {
        Ok(bytes) => Ok(Input { name, bytes }),
        Err(error) => Err(Failure::new(format!("cannot read {name}: {error}{}", way_out(&error)))),
    }
}

fn way_out(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::NotFound => ": check the name",
        io::ErrorKind::IsADirectory => ": name a file in it",
        io::ErrorKind::PermissionDenied => ": ask its owner for access",
        io::ErrorKind::OutOfMemory => ": sort a smaller part",
        _ => "",
    }
}

fn read_file(path: &Path) -> io::Result<Vec<u8>> {
    let mut file = File::open(path)?;
    let length = usize::try_from(file.metadata()?.len()).map_err(|_| io::ErrorKind::OutOfMemory)?;
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(length)?;
    read_all(&mut file, &mut bytes, &Progress::bar("reading", length))?;
    Ok(bytes)
}

fn read_standard_input() -> io::Result<Vec<u8>> {
    let mut input = io::stdin().lock();
    // Someone who types does not want the screen drawn over.
    let progress = if input.is_terminal() { Progress::silent() } else { Progress::spinner("reading") };
    let mut bytes = Vec::new();
    read_all(&mut input, &mut bytes, &progress)?;
    Ok(bytes)
}

fn read_all(source: &mut impl Read, bytes: &mut Vec<u8>, progress: &Progress) -> io::Result<()> {
    const BYTES_A_TIME: u64 = 1 << 22;
    loop {
        match source.by_ref().take(BYTES_A_TIME).read_to_end(bytes)? {
            0 => return Ok(()),
            read => progress.advance(read),
        }
    }
}
