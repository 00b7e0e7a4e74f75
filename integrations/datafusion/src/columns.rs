//! Columns of the result: from the codes of keys, or from the columns of the input.

use crate::codes::Codes;
use crate::form::{KeyArray, is_number};
use crate::sorted::{Ask, Keys, Threads};
use crate::spread::Spread;
use datafusion::arrow::array::{Array, ArrayRef, RecordBatch, UInt32Array};
use datafusion::arrow::compute::{concat, interleave, take};
use datafusion::error::{DataFusionError, Result};

/// Where the columns of the result come from.
pub(crate) struct Columns {
    sources: Vec<Source>,
    /// The whole keys, where words do not have them.
    pub(crate) keys: Vec<KeyArray>,
    /// For each place of the spread rows, the row of the input; empty if no column asks for it.
    origins: Vec<u32>,
}

/// Where a column of the result comes from.
enum Source {
    /// From the codes of a key.
    Decoded(usize),
    /// From the places that words name.
    Gathered(Gathered),
    /// From the input, in which rows are not where words say.
    FromOrigins(Gathered),
}

impl Columns {
    /// Columns of rows that are where they were in the input.
    pub(crate) fn together(
        ask: &Ask,
        keys: &Keys,
        batches: &[RecordBatch],
        has_codes: bool,
        threads: Threads,
    ) -> Result<Self> {
        let source = |column: usize| match ask.key_of_column(column) {
            Some(key) if has_codes => Ok(Source::Decoded(key)),
            _ => Gathered::new(batches, column).map(Source::Gathered),
        };
        let sources = threads.map((0..ask.schema.fields().len()).collect(), source);
        let sources = sources.into_iter().collect::<Result<Vec<_>>>()?;
        let whole_key = |key: usize| {
            let gathered = ask.column_of_key(key).and_then(|column| match &sources[column] {
                Source::Gathered(gathered) => gathered.one(),
                _ => None,
            });
            let array = match gathered {
                Some(array) => array.clone(),
                None => concat(&keys.arrays(key).map(AsRef::as_ref).collect::<Vec<_>>())?,
            };
            KeyArray::new(&array).ok_or_else(|| DataFusionError::Internal("a key is not a key".into()))
        };
        let keys = if has_codes { 0..0 } else { 0..ask.order.len() };
        Ok(Self { keys: keys.map(whole_key).collect::<Result<_>>()?, sources, origins: vec![] })
    }

    /// Columns of rows that were spread.
    pub(crate) fn spread(
        ask: &Ask,
        keys: &Keys,
        batches: &[RecordBatch],
        has_codes: bool,
        spread: &Spread,
    ) -> Result<Self> {
        let whole_keys = if has_codes { 0..0 } else { 0..ask.order.len() };
        let whole_keys: Vec<_> =
            whole_keys.map(|key| spread.column(&keys.keys(key).collect::<Vec<_>>())).collect();
        let source = |column: usize| {
            let data_type = ask.schema.field(column).data_type();
            let key = ask.key_of_column(column);
            if let (Some(key), true) = (key, has_codes) {
                return Ok(Source::Decoded(key));
            }
            if !is_number(data_type) {
                return Gathered::new(batches, column).map(Source::FromOrigins);
            }
            let array = match key {
                Some(key) => whole_keys[key].to_column(data_type)?,
                None => {
                    let arrays = batches.iter().filter_map(|batch| KeyArray::new(batch.column(column)));
                    let arrays: Vec<_> = arrays.collect();
                    spread.column(&arrays.iter().collect::<Vec<_>>()).to_column(data_type)?
                }
            };
            Ok(Source::Gathered(Gathered { pieces: vec![array], starts: vec![0] }))
        };
        let sources = (0..ask.schema.fields().len()).map(source).collect::<Result<Vec<_>>>()?;
        let asks = sources.iter().any(|source| matches!(source, Source::FromOrigins(_)));
        let origins = if asks { spread.origins() } else { vec![] };
        Ok(Self { sources, keys: whole_keys, origins })
    }

    /// The columns of some rows, of which there are words, `row_bits` of each for the row.
    pub(crate) fn of_words(
        &self,
        ask: &Ask,
        codes: &Codes,
        row_bits: u32,
        words: &[u64],
    ) -> Result<Vec<ArrayRef>> {
        let mask = (1 << row_bits) - 1;
        let rows = words.iter().map(|&word| (word & mask) as u32);
        let origins = rows.clone().filter_map(|row| self.origins.get(row as usize).copied());
        let origins = UInt32Array::from(origins.collect::<Vec<_>>());
        let rows = UInt32Array::from(rows.collect::<Vec<_>>());
        let columns = self.sources.iter().zip(ask.schema.fields()).map(|(source, field)| match source {
            Source::Decoded(key) => Ok(codes.decode(*key, field.data_type(), row_bits, words)?),
            Source::Gathered(gathered) => gathered.gather(&rows),
            Source::FromOrigins(gathered) => gathered.gather(&origins),
        });
        columns.collect()
    }
}

/// A column, in as few pieces as its type can have.
struct Gathered {
    pieces: Vec<ArrayRef>,
    /// The first row of every piece.
    starts: Vec<u32>,
}

impl Gathered {
    fn new(batches: &[RecordBatch], column: usize) -> Result<Self> {
        /// Offsets of strings and lists have 32 bits.
        const MOST_BYTES: usize = i32::MAX as usize;

        let mut pieces = Vec::new();
        let mut group: Vec<ArrayRef> = Vec::new();
        let mut bytes = 0;
        for array in batches.iter().map(|batch| batch.column(column).clone()) {
            // The length of fixed types is no concern.
            let size =
                array.data_type().primitive_width().map_or_else(|| array.get_array_memory_size(), |_| 0);
            if bytes + size > MOST_BYTES && !group.is_empty() {
                pieces.push(together(&group)?);
                group.clear();
                bytes = 0;
            }
            bytes += size;
            group.push(array);
        }
        pieces.push(together(&group)?);
        let starts = pieces.iter().scan(0, |start, piece| {
            let first = *start;
            *start += piece.len() as u32;
            Some(first)
        });
        Ok(Self { starts: starts.collect(), pieces })
    }

    /// The whole column, if it is one array.
    fn one(&self) -> Option<&ArrayRef> {
        (self.pieces.len() == 1).then(|| &self.pieces[0])
    }

    fn gather(&self, rows: &UInt32Array) -> Result<ArrayRef> {
        if let Some(array) = self.one() {
            return Ok(take(array, rows, None)?);
        }
        let places = rows.values().iter().map(|&row| {
            let piece = self.starts.partition_point(|&start| start <= row) - 1;
            (piece, (row - self.starts[piece]) as usize)
        });
        let pieces: Vec<&dyn Array> = self.pieces.iter().map(AsRef::as_ref).collect();
        Ok(interleave(&pieces, &places.collect::<Vec<_>>())?)
    }
}

fn together(group: &[ArrayRef]) -> Result<ArrayRef> {
    match group {
        [array] => Ok(array.clone()),
        _ => Ok(concat(&group.iter().map(AsRef::as_ref).collect::<Vec<_>>())?),
    }
}
