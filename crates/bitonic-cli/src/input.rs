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
        let name = name_of(path);
        let bytes = match path {
            Some(path) => read_file(path),
            None => read_standard_input(),
        };
        match bytes {
            Ok(bytes) => Ok(Self { name, bytes }),
            Err(error) => Err(cannot_read(&name, &error)),
        }
    }

    /// Reads at most so many bytes of the file or of standard input, and what follows them if there are more.
    pub(crate) fn begin(path: Option<&Path>, most: usize) -> Result<(Self, Option<Box<dyn Read>>), Failure> {
        let path = path.filter(|path| !is_standard_stream(path));
        let name = name_of(path);
        let begun = || -> io::Result<(Vec<u8>, Box<dyn Read>)> {
            let (mut rest, progress): (Box<dyn Read>, _) = match path {
                Some(path) => (Box::new(File::open(path)?), Progress::spinner("reading")),
                None => {
                    let (input, progress) = standard_input()?;
                    (Box::new(input), progress)
                }
            };
            let mut bytes = Vec::new();
            read_all(&mut rest.by_ref().take(most as u64), &mut bytes, &progress)?;
            Ok((bytes, rest))
        };
        match begun() {
            Ok((bytes, rest)) => {
                let is_whole = bytes.len() < most;
                Ok((Self { name, bytes }, (!is_whole).then_some(rest)))
            }
            Err(error) => Err(cannot_read(&name, &error)),
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

/// What an input is called in messages.
pub(crate) fn name_of(path: Option<&Path>) -> String {
    path.map_or_else(|| "standard input".to_owned(), |path| path.display().to_string())
}

/// What it means that an input could not be read.
pub(crate) fn cannot_read(name: &str, error: &io::Error) -> Failure {
    Failure::new(format!("cannot read {name}: {error}{}", way_out(error)))
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
    let (mut input, progress) = standard_input()?;
    let mut bytes = Vec::new();
    read_all(&mut input, &mut bytes, &progress)?;
    Ok(bytes)
}

fn standard_input() -> io::Result<(io::StdinLock<'static>, Progress)> {
    if streams::is_input_closed() {
        return Err(io::Error::other("it is closed: name a file, or give it one with < FILE"));
    }
    let input = io::stdin().lock();
    // Someone who types does not want the screen drawn over.
    let progress = if input.is_terminal() { Progress::silent() } else { Progress::spinner("reading") };
    Ok((input, progress))
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
