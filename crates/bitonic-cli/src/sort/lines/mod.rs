//! `--key`: the lines of a table are sorted by the numbers in one of its columns, and stay as they are.

mod separator;
mod table;

pub(super) use separator::Separator;
pub(super) use table::{Column, Continued, Reading, Record, Table};

use super::formats::text::{self, Place};
use super::formats::{Format, Refusal, with_room_for};
use super::keys::AnyKeys;
use super::sources::Sources;
use super::{Arguments, Times, not_in_order, order_in_words, print_report};
use crate::failure::Failure;
use crate::figures::counted;
use crate::output;
use crate::progress::Progress;
use bitonic::key::KeyType;
use bitonic::with_key_type;
use std::io::{self, Write};
use std::time::Instant;

/// Sorts the lines of all inputs, or checks them.
pub(super) fn run(
    sources: &Sources,
    column: &Column,
    started: Instant,
    arguments: &Arguments,
) -> Result<(), Failure> {
    expect_text_name(arguments)?;
    let texts = sources.texts()?;
    let reading =
        Reading { column, separator: arguments.separator, has_header: arguments.header, part: None };
    let mut table = Table::default();
    for (source, text) in texts.iter().enumerate() {
        table.add(source, text, &reading).map_err(|refusal| sources.refused(refusal))?;
    }
    expect_number(&table, arguments).map_err(|refusal| sources.refused(refusal))?;
    let key_type = match arguments.key_type {
        Some(asked) => asked,
        None => sources.inferred(text::infer(places(&table)), arguments)?,
    };
    let decoded: Result<Box<dyn AnyKeys>, Refusal> = with_key_type!(key_type, K => {
        text::decode::<K>(places(&table), arguments.digits()).map(|keys| Box::new(keys) as Box<dyn AnyKeys>)
    });
    let mut keys = decoded.map_err(|refusal| sources.refused(refusal))?;
    run_keys(&table, &mut *keys, sources, started, arguments)
}

/// Refuses an output that is named as if it held no text.
pub(super) fn expect_text_name(arguments: &Arguments) -> Result<(), Failure> {
    match arguments.output.as_deref() {
        Some(path) if Format::of_name(path).is_some_and(|format| !format.is_text()) => {
            Err(Failure::new(format!(
                "--key writes lines of text, and {} is named as if it held none: choose another name",
                path.display()
            )))
        }
        _ => Ok(()),
    }
}

/// The keys of all records, as words.
pub(super) fn places<'a>(table: &'a Table) -> impl Iterator<Item = Place<'a>> + Clone {
    table.records.iter().map(|record| record.key)
}

/// A first line with names where numbers are expected is most likely a header.
pub(super) fn expect_number(table: &Table, arguments: &Arguments) -> Result<(), Refusal> {
    let is_numeric = !matches!(arguments.key_type, Some(KeyType::Bool | KeyType::Char));
    let has_header = arguments.header || matches!(arguments.key, Some(Column::Name(_)));
    match table.records.first().map(|record| record.key) {
        Some(first) if is_numeric && !has_header && !text::is_key(first.content()?) => Err(first.refused(
            "is no number: if the first line has the columns' names, say --header or name the column with --key NAME",
        )),
        _ => Ok(()),
    }
}

fn run_keys(
    table: &Table,
    keys: &mut dyn AnyKeys,
    sources: &Sources,
    started: Instant,
    arguments: &Arguments,
) -> Result<(), Failure> {
    let order = arguments.options.order();
    let what = format!(
        "{} by {}, {}",
        counted(keys.len(), "line"),
        counted(keys.len(), &format!("{} key", keys.key_type())),
        order_in_words(order)
    );
    if arguments.check {
        return match keys.first_out_of_order(0..keys.len(), order) {
            Some(index) => {
                let place = table.records[index].key;
                let position = format!("{}: {}", sources.name(place.source), place.position());
                Err(not_in_order(&position, &keys.show(index), &keys.show(index - 1), "lines are", order))
            }
            None => output::print(|out| writeln!(out, "{}: sorted: {what}", sources.names())),
        };
    }
    let before = started.elapsed();
    let sorter = arguments.sorter()?.stable(true);
    let mut lines = with_room_for(keys.len()).map_err(Failure::new)?;
    lines.extend(0..keys.len());
    let plan = with_key_type!(keys.key_type(), K => sorter.plan_pairs::<K, usize>(keys.len()))?;
    let progress = Progress::spinner("sorting");
    let sorting = Instant::now();
    let report = keys.sort_with_lines(&mut lines, &sorter)?;
    let sorting = sorting.elapsed();
    drop(progress);
    if arguments.unique {
        keys.keep_first_of_equals(&mut lines);
    }
    lines.truncate(arguments.top.unwrap_or(usize::MAX));
    let writing = Instant::now();
    output::write(arguments.output.as_deref(), |out| write(table, &lines, out))?;
    if arguments.report {
        let times = Times { before, sorting, writing: writing.elapsed() };
        print_report(&what, &report, plan.instructions, times, arguments);
    }
    Ok(())
}

/// Writes the table with its records in this order.
fn write(table: &Table, order: &[usize], out: &mut dyn Write) -> io::Result<()> {
    let progress = Progress::bar("writing", order.len());
    let mut out = io::BufWriter::new(out);
    let line_end = table.records.first().map_or(&b"\n"[..], |first| line_end(first.lines));
    let mut whole_lines = |lines: &[u8]| write_whole(lines, line_end, &mut out);
    for lines in &table.top {
        whole_lines(lines)?;
    }
    for &record in order {
        whole_lines(table.records[record].lines)?;
        progress.advance(1);
    }
    for lines in &table.bottom {
        whole_lines(lines)?;
    }
    out.flush()
}

/// How the lines of a text end, of which this is one.
pub(super) fn line_end(line: &[u8]) -> &'static [u8] {
    if line.ends_with(b"\r\n") { b"\r\n" } else { b"\n" }
}

/// Writes lines. The last line of a text may have no end, and may no longer be the last.
pub(super) fn write_whole(lines: &[u8], line_end: &[u8], out: &mut impl Write) -> io::Result<()> {
    out.write_all(lines)?;
    match lines.last() {
        None | Some(b'\n') => Ok(()),
        Some(_) => out.write_all(line_end),
    }
}
