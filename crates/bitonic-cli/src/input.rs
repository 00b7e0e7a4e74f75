//! Where bytes come from.

use crate::failure::Failure;
use crate::output::is_standard_stream;
use crate::progress::Progress;
use crate::streams;
use crate::text_position::TextPosition;
use std::fmt;
use std::fs::File;
use std::io::{self, IsTerminal, Read};
use std::path::Path;

/// A file or standard input, read whole.
pub(crate) struct Input {
    /// For messages.
    pub(crate) name: String,
    pub(crate) bytes: Vec<u8>,
}

impl Input {
    /// Reads the file, or standard input if there is none or its name is `-`.
    pub(crate) fn read(path: Option<&Path>) -> Result<Self, Failure> {
        let path = path.filter(|path| !is_standard_stream(path));
        let name = path.map_or_else(|| "standard input".to_owned(), |path| path.display().to_string());
        let bytes = match path {
            Some(path) => read_file(path),
            None => read_standard_input(),
        };
        match bytes {
            Ok(bytes) => Ok(Self { name, bytes }),
            Err(error) => Err(Failure::new(format!("cannot read {name}: {error}{}", way_out(&error)))),
        }
    }

    /// The input as text.
    pub(crate) fn text(&self) -> Result<&str, Failure> {
        str::from_utf8(&self.bytes).map_err(|error| {
            let at = error.valid_up_to();
            let position = TextPosition::of(&self.bytes, at);
            self.refused(format_args!("{position}: byte {:#04x} is no UTF-8 text", self.bytes[at]))
        })
    }

    /// A failure because of what the input holds.
    pub(crate) fn refused(&self, reason: impl fmt::Display) -> Failure {
        Failure::new(format!("{}: {reason}", self.name))
    }
}

fn way_out(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::NotFound => ": check the name",
        io::ErrorKind::IsADirectory => ": name a file in it",
        io::ErrorKind::PermissionDenied => ": ask its owner for access",
        io::ErrorKind::OutOfMemory => ": take a smaller part",
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
    if streams::is_input_closed() {
        return Err(io::Error::other("it is closed: name a file, or give it one with < FILE"));
    }
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
