//! Rows that are more than memory holds: each becomes bytes that go with its key through runs in a temporary file.

use super::super::{Arguments, Times};
use super::input::{Files, Reader};
use super::key::{KeyColumn, narrow_bits};
use super::writer::Writer;
use super::{BATCH_ROWS, Batches, in_words, print_report};
use crate::failure::Failure;
use crate::output;
use crate::progress::Progress;
use arrow_array::RecordBatch;
use arrow_row::{RowConverter, SortField};
use arrow_schema::{DataType, Field, Schema};
use bitonic::Order;
use bitonic::external::{Pairs, SortedPairs};
use std::io;
use std::sync::Arc;
use std::time::Instant;

/// Sorts what was read and what is still to be read.
pub(super) fn run(
    files: &Files,
    read: Batches,
    rest: Reader<'_>,
    column: &KeyColumn,
    memory: usize,
    started: Instant,
    arguments: &Arguments,
) -> Result<(), Failure> {
    let fields =
        files.schema().fields().iter().map(|field| SortField::new(field.data_type().clone())).collect();
    let is_cut = !matches!(column.data_type, DataType::Decimal128(..));
    let converter = RowConverter::new(fields).ok().filter(|_| is_cut).ok_or_else(|| {
        files.refused(
            "its rows are more than memory holds, and of a kind that is not sorted in parts: allow more with --memory, or sort them \
             with 'bitonic-sql' of bitonic-datafusion",
        )
    })?;
    let order = arguments.options.order();
    let sorter = arguments.sorter()?.order(Order::Ascending);
    let sorter = bitonic::external::Sorter::new()
        .sorter(sorter)
        .memory(memory)
        .temp(super::super::external::temp(arguments));
    let mut rows = Rows { converter, pairs: sorter.pairs::<u128>()?, column: column.index, order, count: 0 };
    let progress = Progress::bar("reading", files.rows());
    for batch in read.batches.into_iter().map(Ok).chain(rest) {
        let batch = batch?;
        rows.push(&batch).map_err(|error| files.refused(error))?;
        progress.advance(batch.num_rows());
    }
    drop(progress);
    let (before, sorting) = (started.elapsed(), Instant::now());
    let count = rows.count.min(arguments.top.unwrap_or(usize::MAX));
    let what = in_words(rows.count, column, arguments);
    let spinner = Progress::spinner("sorting");
    let mut sorted = rows.pairs.sort()?;
    drop(spinner);
    let (sorting, writing) = (sorting.elapsed(), Instant::now());
    output::write(arguments.output.as_deref(), |out| {
        let progress = Progress::bar("writing", count);
        let mut writer = None;
        let mut out = Some(out);
        each_batch(&rows.converter, files.schema(), &mut sorted, count, |batch| {
            let writer = match (&mut writer, out.take()) {
                (Some(writer), _) => writer,
                (None, Some(out)) => {
                    writer.insert(Writer::new(files, column, order, batch.schema(), memory, out)?)
                }
                (None, None) => return Ok(()),
            };
            progress.advance(batch.num_rows());
            writer.write(&batch)
        })?;
        writer.map_or(Ok(()), Writer::finish)
    })?;
    if arguments.report {
        let runs = sorted.summary().runs;
        print_report(&what, &Times { before, sorting, writing: writing.elapsed() }, Some(runs));
    }
    Ok(())
}

/// Rows on their way in.
struct Rows {
    converter: RowConverter,
    pairs: Pairs<u128>,
    /// The number of the column with the keys.
    column: usize,
    order: Order,
    count: usize,
}

impl Rows {
    fn push(&mut self, batch: &RecordBatch) -> Result<(), String> {
        let rows = self.converter.convert_columns(batch.columns()).map_err(|error| error.to_string())?;
        let keys = narrow_bits(batch.column(self.column).as_ref());
        for (key, row) in keys.into_iter().zip(&rows) {
            let key = match (key, self.order) {
                (None, _) => u128::MAX,
                (Some(bits), Order::Ascending) => u128::from(bits),
                (Some(bits), Order::Descending) => u128::from(!bits),
            };
            self.pairs.push(key, row.data()).map_err(|error| error.to_string())?;
        }
        self.count += batch.num_rows();
        Ok(())
    }
}

/// Hands over the first rows in order, as batches. There is one at least, which may be empty: a file has its columns.
fn each_batch(
    converter: &RowConverter,
    schema: &Schema,
    sorted: &mut SortedPairs<u128>,
    mut left: usize,
    mut take: impl FnMut(RecordBatch) -> io::Result<()>,
) -> io::Result<()> {
    let parser = converter.parser();
    let mut batch = |rows: &[Vec<u8>]| {
        let rows = rows.iter().map(|row| parser.parse(row));
        let arrays = converter.convert_rows(rows).map_err(io::Error::other)?;
        // Words that were kept once are written out.
        let fields = schema
            .fields()
            .iter()
            .zip(&arrays)
            .map(|(field, array)| Field::clone(field).with_data_type(array.data_type().clone()));
        let schema = Schema::new_with_metadata(fields.collect::<Vec<Field>>(), schema.metadata().clone());
        take(RecordBatch::try_new(Arc::new(schema), arrays).map_err(io::Error::other)?)
    };
    let mut rows: Vec<Vec<u8>> = Vec::new();
    let mut is_first = true;
    // The last chunk says whether nothing was lost, so all are asked for.
    while let Some(chunk) = sorted.next_chunk().map_err(io::Error::other)? {
        for (_, bytes) in chunk.take(left) {
            left -= 1;
            rows.push(bytes.to_vec());
            if rows.len() == BATCH_ROWS {
                batch(&rows)?;
                rows.clear();
                is_first = false;
            }
        }
    }
    if is_first || !rows.is_empty() { batch(&rows) } else { Ok(()) }
}
