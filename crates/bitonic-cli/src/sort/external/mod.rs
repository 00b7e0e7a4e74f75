//! Inputs that are larger than the memory that may be taken.
//!
//! ```text
//!   file -> blocks -> keys -> runs in a temporary file -> merged -> output
//! ```
//!
//! What type the keys of a text have is known when all of it was read, so a text without `--type` is read twice.

mod allocator;
mod blocks;
mod gather;
mod keys;
mod lines;
mod records;

pub(super) use gather::{Content, Gathered};

use super::formats::InputFormat;
use super::{Arguments, Times};
use crate::failure::Failure;
use crate::figures::{counted, time};
use crate::lines::Lines;
use crate::output;
use bitonic::external::{Sorter, Summary, default_memory};
use std::path::{Path, PathBuf};
use std::time::Instant;

/// A block of the input has this part of the memory, so that what is made of it takes a small one.
const BLOCKS: usize = 128;

/// Shorter blocks take longer to ask for than to read.
const SHORTEST_BLOCK: usize = 4 << 10;

/// Longer blocks are no faster to read.
const LONGEST_BLOCK: usize = 4 << 20;

/// How many times the bytes of a stream are there in memory when they are sorted there.
const TIMES_A_STREAM: usize = 4;

/// Looks at the inputs, and reads streams.
pub(super) fn gather(arguments: &Arguments) -> Result<Vec<Gathered>, Failure> {
    let most = match is_sorted_in_memory(arguments) {
        true => usize::MAX,
        false => memory(arguments) / TIMES_A_STREAM,
    };
    gather::gather(arguments, most, &temp(arguments))
}

/// Whether a sort of the inputs in memory would take more than it may.
pub(super) fn is_larger(inputs: &[Gathered], arguments: &Arguments) -> Result<bool, Failure> {
    if arguments.record.is_some() {
        // There is only one way to sort records, and it keeps in memory what fits.
        return Ok(true);
    }
    if is_sorted_in_memory(arguments) {
        return Ok(false);
    }
    let mut needed = 0_u64;
    for input in inputs {
        needed = needed.saturating_add(input.memory_to_sort(arguments)?);
    }
    Ok(needed > memory(arguments) as u64 && can_be_cut(inputs, arguments)?)
}

/// Whether what was asked for is done in memory only, whatever that takes.
fn is_sorted_in_memory(arguments: &Arguments) -> bool {
    let Arguments { rows, axis, check, top, unique, argsort, merge, memory, options, .. } = arguments;
    let writes_less = top.is_some() || *unique || *argsort || *merge;
    // Who says how much memory there is gets an answer in place of a sort that takes more.
    rows.is_some() || axis.is_some() || *check || writes_less || (memory.is_none() && options.is_oblivious())
}

/// Whether the inputs can be sorted in parts. If not, that is a failure where the user said how much memory there is.
fn can_be_cut(inputs: &[Gathered], arguments: &Arguments) -> Result<bool, Failure> {
    for input in inputs {
        let reason = match input.format(arguments)? {
            InputFormat::Npz => {
                "an archive is read whole: save its array as .npy, or allow more with --memory"
            }
            InputFormat::Keys(_) => continue,
        };
        return if arguments.memory.is_some() { Err(input.refused(reason)) } else { Ok(false) };
    }
    Ok(true)
}

/// Sorts the inputs in parts.
pub(super) fn run(inputs: Vec<Gathered>, started: Instant, arguments: &Arguments) -> Result<(), Failure> {
    allocator::give_back_large_pieces();
    match (arguments.record, &arguments.key) {
        (Some(size), _) => records::run(&inputs, size, started, arguments),
        (None, Some(column)) => lines::run(&inputs, column, started, arguments),
        (None, None) => keys::run(&inputs, started, arguments),
    }
}

fn memory(arguments: &Arguments) -> usize {
    arguments.memory.unwrap_or_else(default_memory)
}

/// The folder for temporary files. The output's has to have room for as much anyway, and the system's may lie in memory.
pub(super) fn temp(arguments: &Arguments) -> PathBuf {
    if let Some(folder) = &arguments.temp {
        return folder.clone();
    }
    let beside = |path: &Path| {
        let folder = match path.parent() {
            Some(parent) if parent != Path::new("") => parent.to_owned(),
            _ => PathBuf::from("."),
        };
        // Some folders take no new files.
        tempfile::tempfile_in(&folder).is_ok().then_some(folder)
    };
    let output = arguments.output.as_deref().filter(|path| super::is_named(path));
    output.and_then(beside).unwrap_or_else(std::env::temp_dir)
}

/// How many bytes of an input are read at a time.
fn block_length(arguments: &Arguments) -> usize {
    (memory(arguments) / BLOCKS).clamp(SHORTEST_BLOCK, LONGEST_BLOCK)
}

/// The sort asked for. It has the memory but for streams that were kept there, and for the `blocks` with what is made of them.
fn sorter<'a>(
    inputs: impl IntoIterator<Item = &'a Gathered>,
    blocks: usize,
    arguments: &Arguments,
) -> Result<Sorter, Failure> {
    let kept: usize = inputs.into_iter().map(Gathered::bytes_in_memory).sum();
    let all = memory(arguments);
    // Half at least: of a few kilobytes, the shortest blocks may take all.
    let memory = all.saturating_sub(kept + blocks).max(all / 2);
    Ok(Sorter::new().sorter(arguments.sorter()?).memory(memory).temp(temp(arguments)))
}

/// How many threads read and write numbers as text.
fn threads(arguments: &Arguments) -> usize {
    match arguments.options.threads {
        0 => std::thread::available_parallelism().map_or(1, usize::from),
        threads => threads,
    }
}

/// Lets `fill` write the output, which may fail for reasons of its own.
fn write(
    arguments: &Arguments,
    fill: &mut dyn FnMut(&mut dyn std::io::Write) -> Result<(), Interrupted>,
) -> Result<(), Failure> {
    let mut reason = None;
    let written = output::write(arguments.output.as_deref(), |out| {
        fill(out).map_err(|interrupted| match interrupted {
            Interrupted::Output(error) => error,
            Interrupted::Sort(error) => {
                reason = Some(error);
                std::io::Error::other("the sort failed")
            }
        })
    });
    match reason {
        Some(error) => Err(error.into()),
        None => written,
    }
}

/// Why an output is not complete.
enum Interrupted {
    Output(std::io::Error),
    Sort(bitonic::Error),
}

impl From<std::io::Error> for Interrupted {
    fn from(error: std::io::Error) -> Self {
        Self::Output(error)
    }
}

impl From<bitonic::Error> for Interrupted {
    fn from(error: bitonic::Error) -> Self {
        Self::Sort(error)
    }
}

/// Tells what was done and how long it took.
fn report(what: &str, summary: Summary, times: Times, arguments: &Arguments) {
    if !arguments.report {
        return;
    }
    let mut lines = Lines::default();
    lines.add("keys", what);
    lines.add("memory", format_args!("{} bytes", memory(arguments)));
    lines.add(
        "runs",
        format_args!(
            "{}, {} bytes in a temporary file",
            counted(summary.runs, "run"),
            summary.temporary_bytes
        ),
    );
    lines.add("read", format_args!("{}, with the sort of all runs but the last", time(times.before)));
    lines.add("sort", format_args!("{}, of the last run", time(times.sorting)));
    lines.add("write", format_args!("{}, with the merge of all runs", time(times.writing)));
    output::note(lines);
}
