//! `--key`: lines of tables that are read in blocks.
//!
//! A block ends with a line. Comments below its last record go to the next block, since they belong to the record that follows.

use super::super::formats::text::{self, Seen};
use super::super::formats::{FileKey, InputFormat, Refusal};
use super::super::lines::{
    Column, Continued, Reading, Record, Table, expect_number, expect_text_name, line_end, places, write_whole,
};
use super::super::sources::NO_LINES;
use super::super::{Times, order_in_words};
use super::blocks::read_more;
use super::gather::Gathered;
use super::{Arguments, Interrupted, report, sorter, write};
use crate::failure::{Failure, remark};
use crate::figures::counted;
use crate::progress::Progress;
use crate::text_position::TextPosition;
use bitonic::external::{Pairs, SortedPairs, Summary};
use bitonic::key::KeyType;
use std::io::{self, BufWriter, Write};
use std::time::Instant;

/// Lines are read in blocks that are so many times shorter than others: a short line takes many times its length as a record.
const SHORTER: usize = 8;

/// How many bytes of the tables are read at a time.
fn block_length(arguments: &Arguments) -> usize {
    super::block_length(arguments) / SHORTER
}

/// How much memory a block of lines takes with what is made of it: the records, of which each has two bytes of text at least and for
/// which there is room for up to twice as many, the keys, and lines on their way out.
fn memory_of_block(key_type: KeyType, arguments: &Arguments) -> usize {
    let block = block_length(arguments);
    2 * block + block / 2 * (2 * size_of::<Record<'_>>() + key_type.bytes())
}

/// Sorts the lines of all inputs.
pub(super) fn run(
    inputs: &[Gathered],
    column: &Column,
    started: Instant,
    arguments: &Arguments,
) -> Result<(), Failure> {
    expect_text_name(arguments)?;
    for input in inputs {
        match input.format(arguments)? {
            InputFormat::Keys(format) if format.is_text() => {}
            _ => return Err(input.refused(NO_LINES)),
        }
    }
    let tables = Tables { inputs, column, arguments };
    let key_type = match arguments.key_type {
        Some(asked) => asked,
        None => tables.infer()?,
    };
    let sorter = sorter(inputs, memory_of_block(key_type, arguments), arguments)?;
    let mut lines: Box<dyn Lines> = bitonic::with_key_type!(key_type, K => Box::new(sorter.pairs::<K>()?));
    let mut end = None;
    let around = tables.for_each("sorting parts", &mut |table| {
        if let Some(first) = table.records.first() {
            end.get_or_insert_with(|| line_end(first.lines));
        }
        lines.push(table, &tables)
    })?;
    let before = started.elapsed();
    let sorting = Instant::now();
    let mut sorted = lines.sort()?;
    let sorting = sorting.elapsed();
    let len = sorted.summary().items as usize;
    let end = end.unwrap_or(b"\n");
    let writing = Instant::now();
    write(arguments, &mut |out| {
        let progress = Progress::bar("merging", len);
        let mut out = BufWriter::with_capacity(block_length(arguments), out);
        around.top.iter().try_for_each(|lines| write_whole(lines, end, &mut out))?;
        while let Some(written) = sorted.next_chunk(&mut |lines| write_whole(lines, end, &mut out))? {
            progress.advance(written);
        }
        around.bottom.iter().try_for_each(|lines| write_whole(lines, end, &mut out))?;
        Ok(out.flush()?)
    })?;
    let keys = counted(len, &format!("{key_type} key"));
    let what = format!("{} by {keys}, {}", counted(len, "line"), order_in_words(arguments.options.order()));
    report(&what, sorted.summary(), Times { before, sorting, writing: writing.elapsed() }, arguments);
    Ok(())
}

/// Lines that are sorted by keys of any type.
trait Lines {
    /// Takes all records of a table.
    fn push(&mut self, table: &Table, tables: &Tables) -> Result<(), Failure>;

    fn sort(self: Box<Self>) -> Result<Box<dyn SortedLines>, Failure>;
}

/// Lines in order.
trait SortedLines {
    /// Hands over the next lines, and tells how many those were; none after the last.
    fn next_chunk(
        &mut self,
        take: &mut dyn FnMut(&[u8]) -> io::Result<()>,
    ) -> Result<Option<usize>, Interrupted>;

    fn summary(&self) -> Summary;
}

impl<K: FileKey> Lines for Pairs<K> {
    fn push(&mut self, table: &Table, tables: &Tables) -> Result<(), Failure> {
        let decoded = text::decode::<K>(places(table), tables.arguments.digits());
        let keys = decoded.map_err(|refusal| tables.refused(refusal))?;
        for (key, record) in keys.into_iter().zip(&table.records) {
            Self::push(self, key, record.lines)?;
        }
        Ok(())
    }

    fn sort(self: Box<Self>) -> Result<Box<dyn SortedLines>, Failure> {
        Ok(Box::new(Self::sort(*self)?))
    }
}

impl<K: FileKey> SortedLines for SortedPairs<K> {
    fn next_chunk(
        &mut self,
        take: &mut dyn FnMut(&[u8]) -> io::Result<()>,
    ) -> Result<Option<usize>, Interrupted> {
        let Some(chunk) = Self::next_chunk(self)? else { return Ok(None) };
        let mut count = 0;
        for (_, lines) in chunk {
            take(lines)?;
            count += 1;
        }
        Ok(Some(count))
    }

    fn summary(&self) -> Summary {
        Self::summary(self)
    }
}

/// What is above and below the records.
#[derive(Default)]
struct Around {
    top: Vec<Vec<u8>>,
    bottom: Vec<Vec<u8>>,
}

/// All inputs as one table.
struct Tables<'a> {
    inputs: &'a [Gathered],
    column: &'a Column,
    arguments: &'a Arguments,
}

impl Tables<'_> {
    fn refused(&self, refusal: Refusal) -> Failure {
        self.inputs[refusal.source].refused(refusal.reason)
    }

    fn infer(&self) -> Result<KeyType, Failure> {
        let mut seen = Seen::default();
        self.for_each("finding the type", &mut |table| {
            seen.look_at(places(table)).map_err(|refusal| self.refused(refusal))
        })?;
        let inferred = seen.inferred().map_err(|refusal| self.refused(refusal))?;
        if let (Some(Refusal { source, reason }), false) = (inferred.rounded, self.arguments.exact) {
            remark(&format!("{}: {reason}", self.inputs[source].name()));
        }
        Ok(inferred.key_type)
    }

    /// Hands over the records of all inputs, block by block.
    fn for_each(
        &self,
        phase: &'static str,
        take: &mut dyn FnMut(&Table) -> Result<(), Failure>,
    ) -> Result<Around, Failure> {
        let mut around = Around::default();
        let mut header: Option<Vec<u8>> = None;
        let mut is_first = true;
        let block = block_length(self.arguments);
        for (source, input) in self.inputs.iter().enumerate() {
            let (mut content, length) = input.open()?;
            let progress = Progress::bar(phase, length as usize);
            let (mut text, mut part): (Vec<u8>, Option<Continued>) = (Vec::new(), None);
            loop {
                // Of a line that is longer than a block, half as much again.
                let more = block.max(text.len() / 2);
                let read =
                    read_more(&mut content, more, &mut text).map_err(|error| input.cannot_read(&error))?;
                let is_at_end = read < more;
                progress.advance(read);
                let end = match is_at_end {
                    true => text.len(),
                    false => text.iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1),
                };
                let mut table = Table { header: header.as_deref(), ..Table::default() };
                let Arguments { separator, header: has_header, .. } = *self.arguments;
                let reading = Reading { column: self.column, separator, has_header, part };
                table.add(source, &text[..end], &reading).map_err(|refusal| self.refused(refusal))?;
                if table.records.is_empty() && !is_at_end {
                    // A record will follow its comments, or the text ends.
                    continue;
                }
                if is_first && !table.records.is_empty() {
                    expect_number(&table, self.arguments).map_err(|refusal| self.refused(refusal))?;
                    is_first = false;
                }
                take(&table)?;
                around.top.extend(table.top.iter().map(|lines| lines.to_vec()));
                let below: usize = table.bottom.iter().map(|lines| lines.len()).sum();
                if is_at_end {
                    around.bottom.extend(table.bottom.iter().map(|lines| lines.to_vec()));
                }
                let (next_header, last) = (table.header.map(<[u8]>::to_vec), table.last);
                header = next_header;
                if is_at_end {
                    break;
                }
                let taken = end - below;
                let here = part.map_or(TextPosition::START, |part| part.origin);
                let origin = TextPosition::of(&text, taken).from(here);
                part = last.map(|last| last.at(origin));
                text.drain(..taken);
            }
        }
        Ok(around)
    }
}
