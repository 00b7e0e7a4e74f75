//! What the inputs are, and how long they are, before they are read.

use super::super::formats::{Format, InputFormat};
use super::super::lines::Record;
use super::super::sources::input_format;
use super::Arguments;
use super::blocks::read_more;
use crate::failure::Failure;
use crate::input::{Input, cannot_read, name_of};
use crate::output::is_standard_stream;
use bitonic::key::KeyType;
use std::fs::{self, File};
use std::io::{self, Cursor, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

/// How much is looked at to tell what a file is: more than the headers of arrays that anybody has seen.
const HEAD: u64 = 1 << 20;

/// How many times its bytes a table of usual lines takes in memory.
const TIMES_USUAL_LINES: u64 = 12;

/// How many bytes a line takes there beside its text: its places, its key and its number, and what their sort works in.
const BYTES_OF_LINE: u64 = (size_of::<Record<'_>>() + 2 * (size_of::<u64>() + size_of::<usize>())) as u64;

/// An input that can be read from its beginning as often as is needed.
pub(in crate::sort) struct Gathered {
    /// None for standard input.
    pub(in crate::sort) path: Option<PathBuf>,
    pub(in crate::sort) content: Content,
}

pub(in crate::sort) enum Content {
    /// A stream that was read to its end.
    InMemory(Vec<u8>),
    /// A file, or a stream that was too long to keep in memory.
    File(Option<Kept>),
}

/// A stream that was copied to a temporary file.
pub(in crate::sort) struct Kept(File);

/// What can be read from any place.
pub(super) trait ReadSeek: Read + Seek {}

impl<T: Read + Seek> ReadSeek for T {}

impl Gathered {
    /// The name for messages.
    pub(super) fn name(&self) -> String {
        name_of(self.path.as_deref())
    }

    /// The content from its beginning on, and how many bytes it has.
    pub(super) fn open(&self) -> Result<(Box<dyn ReadSeek + '_>, u64), Failure> {
        let opened = || -> io::Result<(Box<dyn ReadSeek + '_>, u64)> {
            match &self.content {
                Content::InMemory(bytes) => Ok((Box::new(Cursor::new(bytes)), bytes.len() as u64)),
                Content::File(kept) => {
                    let mut file = match (kept, &self.path) {
                        (Some(Kept(file)), _) => file.try_clone()?,
                        (None, path) => File::open(path.as_deref().unwrap_or(Path::new("-")))?,
                    };
                    file.seek(SeekFrom::Start(0))?;
                    let size = file.metadata()?.len();
                    Ok((Box::new(file), size))
                }
            }
        };
        opened().map_err(|error| self.cannot_read(&error))
    }

    /// How many bytes of it are in memory from now on.
    pub(super) fn bytes_in_memory(&self) -> usize {
        match &self.content {
            Content::InMemory(bytes) => bytes.len(),
            Content::File(_) => 0,
        }
    }

    /// What it means that it could not be read.
    pub(super) fn cannot_read(&self, error: &io::Error) -> Failure {
        cannot_read(&self.name(), error)
    }

    /// A failure because of what it holds.
    pub(super) fn refused(&self, reason: impl std::fmt::Display) -> Failure {
        Failure::new(format!("{}: {reason}", self.name()))
    }

    /// Its first bytes.
    pub(super) fn head(&self) -> Result<Vec<u8>, Failure> {
        let mut head = Vec::new();
        let (content, _) = self.open()?;
        content.take(HEAD).read_to_end(&mut head).map_err(|error| self.cannot_read(&error))?;
        Ok(head)
    }

    pub(super) fn format(&self, arguments: &Arguments) -> Result<InputFormat, Failure> {
        Ok(input_format(self.path.as_deref(), &self.head()?, arguments))
    }

    /// How much memory a sort of it takes that reads it whole.
    pub(super) fn memory_to_sort(&self, arguments: &Arguments) -> Result<u64, Failure> {
        // What cannot be opened is told by who reads it.
        let Ok((_, size)) = self.open() else { return Ok(0) };
        let times = match self.format(arguments)? {
            // The bytes, and the keys.
            InputFormat::Keys(Format::Raw | Format::Npy) | InputFormat::Npz => 2,
            // The text, and the keys, of which each has two bytes of text at least.
            InputFormat::Keys(Format::Text) if arguments.key.is_none() => {
                1 + arguments.key_type.map_or(size_of::<u64>(), KeyType::bytes).div_ceil(2) as u64
            }
            InputFormat::Keys(Format::Text) => return self.memory_to_sort_lines(size, arguments),
        };
        Ok(size.saturating_mul(times))
    }

    /// The same for a table of so many bytes.
    fn memory_to_sort_lines(&self, size: u64, arguments: &Arguments) -> Result<u64, Failure> {
        let usual = size.saturating_mul(TIMES_USUAL_LINES);
        let shortest = size.saturating_add((size / 2).saturating_mul(BYTES_OF_LINE));
        let memory = super::memory(arguments) as u64;
        if usual > memory || shortest <= memory {
            return Ok(usual);
        }
        // It depends on how long the lines are, and so few bytes are soon counted.
        let (mut content, _) = self.open()?;
        let (mut block, mut lines) = (Vec::new(), 0);
        loop {
            block.clear();
            let read = read_more(&mut content, super::SHORTEST_BLOCK, &mut block);
            if read.map_err(|error| self.cannot_read(&error))? == 0 {
                break;
            }
            lines += block.iter().filter(|&&byte| byte == b'\n').count() as u64;
        }
        Ok(usual.max(size.saturating_add(lines * BYTES_OF_LINE)))
    }
}

/// Looks at all files, and reads streams: those that are longer than `most` bytes are copied to a temporary file.
pub(super) fn gather(arguments: &Arguments, most: usize, temp: &Path) -> Result<Vec<Gathered>, Failure> {
    let standard = arguments.files.iter().filter(|path| is_standard_stream(path)).count();
    if standard > 1 {
        return Err(Failure::new("standard input can be read only once: name '-' once"));
    }
    let paths: Vec<Option<&Path>> = match arguments.files.as_slice() {
        [] => vec![None],
        files => {
            files.iter().map(|path| Some(path.as_path()).filter(|path| !is_standard_stream(path))).collect()
        }
    };
    paths.into_iter().map(|path| gather_one(path, most, temp)).collect()
}

fn gather_one(path: Option<&Path>, most: usize, temp: &Path) -> Result<Gathered, Failure> {
    let owned = path.map(Path::to_owned);
    // What is not there, or no file at all, is told by who reads it.
    let is_stream = |path: &Path| fs::metadata(path).is_ok_and(|about| !about.is_file() && !about.is_dir());
    if path.is_some_and(|path| !is_stream(path)) {
        return Ok(Gathered { path: owned, content: Content::File(None) });
    }
    let (Input { name, bytes }, rest) = Input::begin(path, most)?;
    let Some(mut rest) = rest else {
        return Ok(Gathered { path: owned, content: Content::InMemory(bytes) });
    };
    let mut kept = || -> io::Result<File> {
        let mut file = tempfile::tempfile_in(temp)?;
        io::copy(&mut bytes.as_slice().chain(&mut rest), &mut file)?;
        Ok(file)
    };
    match kept() {
        Ok(file) => Ok(Gathered { path: owned, content: Content::File(Some(Kept(file))) }),
        Err(error) => Err(Failure::new(format!(
            "cannot keep {name}, which is longer than memory, in a temporary file in {}: {error}: make room, or choose \
             another folder with --temp",
            temp.display()
        ))),
    }
}
