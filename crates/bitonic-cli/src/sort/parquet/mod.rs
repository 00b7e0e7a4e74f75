//! Parquet files: their rows are sorted by a column, and nulls come last.
//!
//! ```text
//!   files -> batches of rows -> ordered bits of the column -> order of the rows -> batches in that order -> file
//!                            \\-> more than memory holds: rows as bytes with their keys, sorted in runs and merged
//! ```

mod input;
mod key;
mod larger;
mod writer;

use super::{Arguments, Times, order_in_words};
use crate::failure::Failure;
use crate::figures::{counted, time};
use crate::lines::Lines;
use crate::output;
use crate::progress::Progress;
use arrow_array::RecordBatch;
use arrow_select::interleave::interleave_record_batch;
use bitonic::Order;
use bitonic::external::default_memory;
use input::Files;
use key::{KeyColumn, Keys};
use std::time::Instant;
use writer::Writer;

/// Rows that are read and written at a time.
const BATCH_ROWS: usize = 1 << 14;

/// What a row takes beside its columns while it is sorted: its key and its place, and both once more on their way.
const BYTES_BESIDE: usize = 48;

/// Sorts the rows of all files, or checks them.
pub(super) fn run(started: Instant, arguments: &Arguments) -> Result<(), Failure> {
    let Some(column) = &arguments.key else {
        return Err(Failure::new(
            "a Parquet file has columns: say with --key COLUMN by which one its rows are sorted",
        ));
    };
    refuse_options(arguments)?;
    let files = Files::open(arguments)?;
    let column = KeyColumn::find(files.schema(), column).map_err(|reason| files.refused(reason))?;
    let memory = memory(arguments);
    let mut batches = Batches::default();
    let mut reader = files.read(BATCH_ROWS)?;
    let progress = Progress::bar("reading", files.rows());
    while let Some(batch) = reader.next() {
        let batch = batch?;
        progress.advance(batch.num_rows());
        batches.add(batch, &column)?;
        // What is checked need not stay, and is done in memory whatever it takes, as other files are.
        if batches.bytes > memory / 2 && !arguments.check {
            drop(progress);
            return larger::run(&files, batches, reader, &column, memory / 2, started, arguments);
        }
    }
    drop(progress);
    let what = in_words(batches.rows(), &column, arguments);
    if arguments.check {
        return check(&files, &batches.keys, &what, arguments);
    }
    sort(&files, &batches, &column, &what, started, arguments)
}

/// How much memory may be taken.
fn memory(arguments: &Arguments) -> usize {
    arguments.memory.unwrap_or_else(default_memory)
}

/// Options that speak of other files.
fn refuse_options(arguments: &Arguments) -> Result<(), Failure> {
    let options = [
        (arguments.key_type.is_some(), "--type"),
        (arguments.format.is_some(), "--format"),
        (arguments.exact, "--exact"),
        (arguments.array.is_some(), "--array"),
        (arguments.separator.is_some(), "--separator"),
        (arguments.header, "--header"),
        (arguments.record.is_some(), "--record"),
        (arguments.unique, "--unique"),
    ];
    match options.into_iter().find_map(|(is_given, name)| is_given.then_some(name)) {
        Some(name) => Err(Failure::new(format!("{name} is not for Parquet files: leave it out"))),
        None if arguments.options.is_oblivious() => Err(Failure::new(
            "--oblivious is not for Parquet files: where rows are moved to tells about their keys; sort raw keys instead",
        )),
        None => Ok(()),
    }
}

/// What was read.
#[derive(Default)]
struct Batches {
    batches: Vec<RecordBatch>,
    keys: Keys,
    /// What all of it takes when it is sorted.
    bytes: usize,
}

impl Batches {
    fn add(&mut self, batch: RecordBatch, column: &KeyColumn) -> Result<(), Failure> {
        self.keys.add(batch.column(column.index).as_ref());
        let beside = batch.num_rows().saturating_mul(BYTES_BESIDE);
        self.bytes = self.bytes.saturating_add(batch.get_array_memory_size()).saturating_add(beside);
        self.batches.push(batch);
        Ok(())
    }

    fn rows(&self) -> usize {
        self.batches.iter().map(RecordBatch::num_rows).sum()
    }

    /// Which batch each row is in, and where there.
    fn places(&self) -> Vec<(usize, usize)> {
        let rows =
            |(number, batch): (usize, &RecordBatch)| (0..batch.num_rows()).map(move |row| (number, row));
        self.batches.iter().enumerate().flat_map(rows).collect()
    }
}

fn in_words(rows: usize, column: &KeyColumn, arguments: &Arguments) -> String {
    let order = order_in_words(arguments.options.order());
    format!("{} by {} ({}), {order}, nulls last", counted(rows, "row"), column.name, column.data_type)
}

fn sort(
    files: &Files,
    batches: &Batches,
    column: &KeyColumn,
    what: &str,
    started: Instant,
    arguments: &Arguments,
) -> Result<(), Failure> {
    let before = started.elapsed();
    let sorting = Instant::now();
    let progress = Progress::spinner("sorting");
    let order = arguments.options.order();
    // The keys are turned around instead.
    let sorter = arguments.sorter()?.order(Order::Ascending);
    let mut rows = batches.keys.order(&sorter, order)?;
    rows.truncate(arguments.top.unwrap_or(usize::MAX));
    let places = batches.places();
    let sorting = sorting.elapsed();
    drop(progress);
    let writing = Instant::now();
    let progress = Progress::bar("writing", rows.len());
    let all: Vec<&RecordBatch> = batches.batches.iter().collect();
    output::write(arguments.output.as_deref(), |out| {
        let mut writer = Writer::new(files, column, order, files.schema().clone(), memory(arguments), out)?;
        for rows in rows.chunks(BATCH_ROWS) {
            let places: Vec<(usize, usize)> = rows.iter().map(|&row| places[row]).collect();
            writer.write(&interleave_record_batch(&all, &places).map_err(std::io::Error::other)?)?;
            progress.advance(rows.len());
        }
        writer.finish()
    })?;
    if arguments.report {
        print_report(what, &Times { before, sorting, writing: writing.elapsed() }, None);
    }
    Ok(())
}

/// Tells what was done and how long it took, and in how many runs where memory was too small.
fn print_report(what: &str, times: &Times, runs: Option<usize>) {
    let mut lines = Lines::default();
    lines.add("rows", what);
    if let Some(runs) = runs {
        lines.add("runs", format_args!("{runs}, kept in a temporary file and merged"));
    }
    lines.add("read", time(times.before));
    lines.add("sort", time(times.sorting));
    lines.add("write", time(times.writing));
    output::note(lines);
}

fn check(files: &Files, keys: &Keys, what: &str, arguments: &Arguments) -> Result<(), Failure> {
    let order = arguments.options.order();
    match keys.first_out_of_order(order) {
        Some(row) => {
            let order = order_in_words(order);
            let (name, row) = files.place_of(row);
            Err(Failure::No(format!(
                "{name}: row {row}: it belongs before the row above it, so the rows are not {order} with nulls last"
            )))
        }
        None => output::print(|out| writeln!(out, "{}: sorted: {what}", files.names())),
    }
}
