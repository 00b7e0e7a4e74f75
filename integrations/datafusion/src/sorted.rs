//! Batches in, rows in order out: keys become words, words are sorted, and the other columns are gathered.

use crate::codes::{Codes, Extent, bits};
use crate::columns::Columns;
use crate::form::{KeyArray, is_number};
use crate::numbers::Numbers;
use crate::spread::{self, SPREAD_FROM, Spread};
use datafusion::arrow::array::{Array, ArrayRef, RecordBatch, RecordBatchOptions};
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::error::{DataFusionError, Result};
use datafusion::execution::memory_pool::MemoryReservation;
use datafusion::physical_expr::LexOrdering;
use datafusion::physical_expr::expressions::Column;
use rayon::prelude::*;
use std::ops::Range;
use std::sync::Arc;

/// What is asked of a sort.
#[derive(Debug)]
pub(crate) struct Ask {
    pub(crate) schema: SchemaRef,
    pub(crate) order: LexOrdering,
    pub(crate) fetch: Option<usize>,
    pub(crate) batch_size: usize,
}

impl Ask {
    /// The key that a column of the schema is, if it is one.
    pub(crate) fn key_of_column(&self, column: usize) -> Option<usize> {
        self.order.iter().position(|key| column_of(&key.expr) == Some(column))
    }

    /// The column that a key is, if it is one.
    pub(crate) fn column_of_key(&self, key: usize) -> Option<usize> {
        column_of(&self.order[key].expr)
    }
}

/// The column that an expression is, if it is nothing else.
fn column_of(expr: &Arc<dyn datafusion::physical_expr::PhysicalExpr>) -> Option<usize> {
    expr.downcast_ref::<Column>().map(Column::index)
}

/// How a sort went.
pub(crate) enum Outcome {
    Sorted(Sorted),
    /// The batches as they were, for a sort that needs less memory or has no limits.
    Refused(Vec<RecordBatch>),
}

/// Fewer rows are sorted where they are: handing them to other threads takes longer.
pub(crate) const FEW_ROWS: usize = 1 << 14;

/// Whether the first rows are selected before they are sorted. That pays while it leaves most of the rows alone.
pub(crate) fn selects(fetch: usize, rows: usize) -> bool {
    fetch < rows / 4
}

/// Sorts batches, of which there is at least one. The reservation has the memory of the batches and of a copy; more is reserved here.
pub(crate) fn sort(
    ask: &Arc<Ask>,
    batches: Vec<RecordBatch>,
    reservation: MemoryReservation,
) -> Result<Outcome> {
    let rows: usize = batches.iter().map(RecordBatch::num_rows).sum();
    // Indices of `take` have 32 bits.
    if u32::try_from(rows).is_err() {
        return Ok(Outcome::Refused(batches));
    }
    let threads = Threads { many: rows > FEW_ROWS };
    let keys = Keys::new(&ask.order, &batches, threads)?;
    let all_are_keys = (0..ask.schema.fields().len()).all(|column| ask.key_of_column(column).is_some());
    let fetch = ask.fetch.unwrap_or(rows).min(rows);
    if let (true, Some(numbers)) = (all_are_keys, keys.numbers(&ask.schema)) {
        if reservation.try_grow(Numbers::sort_bytes(rows, numbers[0])).is_err() {
            return Ok(Outcome::Refused(batches));
        }
        let numbers = Numbers::sort(&numbers, ask.order[0].options, fetch, threads)
            .map_err(|error| DataFusionError::External(error.into()))?;
        let rows_in_order = InOrder::Numbers(numbers);
        let ask = ask.clone();
        let sorted = Sorted { ask, rows: fetch, threads, rows_in_order, _reservation: reservation };
        return Ok(Outcome::Sorted(sorted));
    }
    let Some(layout) = keys.layout(&ask.order, rows, all_are_keys, threads) else {
        return Ok(Outcome::Refused(batches));
    };

    // At worst all rows are mended at a time: their numbers, as they were and as they become, and words for them.
    let row_bytes =
        if layout.holds_codes() { size_of::<u64>() } else { 2 * size_of::<u64>() + 2 * size_of::<u32>() };
    if reservation.try_grow(keys.computed_bytes * 2 + rows * row_bytes + sort_bytes(rows)).is_err() {
        return Ok(Outcome::Refused(batches));
    }
    let selects = layout.holds_codes() && selects(fetch, rows);
    // Buckets are for columns that are gathered; words alone are sorted as fast without them.
    let gathers = !(all_are_keys && layout.holds_codes());
    let mut spread = None;
    if rows >= SPREAD_FROM && gathers && !selects && reservation.try_grow(rows * spread::ROW_BYTES).is_ok() {
        spread = layout.spread(&keys, &batches);
        if spread.is_none() {
            reservation.shrink(rows * spread::ROW_BYTES);
        }
    }
    let (mut words, columns) = match spread {
        Some((spread, mut words)) => {
            layout.sort_buckets(&spread, &mut words);
            (words, Columns::spread(ask, &keys, &batches, layout.holds_codes(), &spread)?)
        }
        None => {
            let mut words = layout.words(&keys, &batches, rows, threads);
            if threads.are_sorted(&words) {
                if layout.holds_codes() && are_long(&batches, ask.batch_size) {
                    return Ok(Outcome::Sorted(Sorted::in_order(ask, batches, rows, reservation)));
                }
            } else if selects {
                bitonic::partial_sort(&mut words, fetch)
                    .map_err(|error| DataFusionError::External(error.into()))?;
            } else {
                bitonic::sort(&mut words);
            }
            (words, Columns::together(ask, &keys, &batches, layout.holds_codes(), threads)?)
        }
    };
    if !layout.holds_codes() {
        mend(&layout, &columns.keys, &mut words);
    }
    let result = InOrder::Words { words, layout, columns };
    Ok(Outcome::Sorted(Sorted {
        ask: ask.clone(),
        rows: fetch,
        threads,
        rows_in_order: result,
        _reservation: reservation,
    }))
}

/// What the sort of words takes beyond them.
fn sort_bytes(rows: usize) -> usize {
    bitonic::Sorter::new().plan::<u64>(rows).map_or(0, |plan| plan.memory.host)
}

/// Whether batches can be handed on as they are: short ones would cost those behind us more than a copy.
fn are_long(batches: &[RecordBatch], batch_size: usize) -> bool {
    let rows: usize = batches.iter().map(RecordBatch::num_rows).sum();
    batches.len() == 1 || rows / batches.len().max(1) >= batch_size / 2
}

/// The keys of one batch.
struct BatchKeys {
    arrays: Vec<ArrayRef>,
    keys: Vec<KeyArray>,
    /// The bytes of keys that are not columns.
    computed_bytes: usize,
}

impl BatchKeys {
    fn new(order: &LexOrdering, batch: &RecordBatch) -> Result<Self> {
        let mut of_batch = Self { arrays: vec![], keys: vec![], computed_bytes: 0 };
        for sort in order {
            let array = sort.expr.evaluate(batch)?.into_array(batch.num_rows())?;
            let key = KeyArray::new(&array).ok_or_else(|| {
                DataFusionError::Internal(format!(
                    "{} became {} in a sort by it",
                    sort.expr,
                    array.data_type()
                ))
            })?;
            if column_of(&sort.expr).is_none() {
                of_batch.computed_bytes += array.get_array_memory_size();
            }
            of_batch.keys.push(key);
            of_batch.arrays.push(array);
        }
        Ok(of_batch)
    }
}

/// The keys of all batches.
pub(crate) struct Keys {
    batches: Vec<BatchKeys>,
    computed_bytes: usize,
}

impl Keys {
    fn new(order: &LexOrdering, batches: &[RecordBatch], threads: Threads) -> Result<Self> {
        let batches = threads.map(batches.iter().collect(), |batch| BatchKeys::new(order, batch));
        let batches = batches.into_iter().collect::<Result<Vec<_>>>()?;
        let computed_bytes = batches.iter().map(|batch| batch.computed_bytes).sum();
        Ok(Self { batches, computed_bytes })
    }

    /// What words are; `None` if the codes of a key do not fit.
    fn layout(
        &self,
        order: &LexOrdering,
        rows: usize,
        all_are_keys: bool,
        threads: Threads,
    ) -> Option<Layout> {
        // Looking at all values is spared where types alone say that they fit.
        let layout = |codes| Layout::new(codes, rows, all_are_keys);
        let by_type = self.codes(order, Extent::of_type, Threads { many: false }).map(layout);
        by_type.filter(Layout::holds_codes).or_else(|| self.codes(order, Extent::of, threads).map(layout))
    }

    fn codes(
        &self,
        order: &LexOrdering,
        extent: impl Fn(&KeyArray) -> Extent + Send + Sync,
        threads: Threads,
    ) -> Option<Codes> {
        let of_batch = |batch: &BatchKeys| batch.keys.iter().map(&extent).collect::<Vec<_>>();
        let extents = threads.map(self.batches.iter().collect(), of_batch);
        Codes::new(order.iter().enumerate().map(|(key, sort)| {
            (extents.iter().fold(Extent::NOTHING, |extent, batch| extent.and(batch[key])), sort.options)
        }))
    }

    /// The only key of all batches, if it is a number of up to 64 bits. Of longer ones, the codes may be shorter.
    fn numbers(&self, schema: &SchemaRef) -> Option<Vec<&KeyArray>> {
        let [key] = self.batches[0].keys.as_slice() else { return None };
        let is_number = schema.fields().first().is_some_and(|column| is_number(column.data_type()));
        (is_number && key.value_bits() <= u64::BITS).then(|| self.keys(0).collect())
    }

    /// A key of all batches.
    pub(crate) fn keys(&self, key: usize) -> impl Iterator<Item = &KeyArray> {
        self.batches.iter().map(move |batch| &batch.keys[key])
    }

    /// The same as arrays.
    pub(crate) fn arrays(&self, key: usize) -> impl Iterator<Item = &ArrayRef> {
        self.batches.iter().map(move |batch| &batch.arrays[key])
    }
}

/// What a word is: the front of a row's code, then the row's number.
struct Layout {
    codes: Codes,
    /// How many bits of the code a word has.
    window: u32,
    row_bits: u32,
}

impl Layout {
    fn new(codes: Codes, rows: usize, all_are_keys: bool) -> Self {
        // Rows that are their keys are made from codes: nobody asks which row was which.
        let row_bits =
            if all_are_keys && codes.bits() <= u64::BITS { 0 } else { bits(rows.saturating_sub(1) as u128) };
        Self { window: codes.bits().min(u64::BITS - row_bits), row_bits, codes }
    }

    /// Whether words have all of the codes.
    fn holds_codes(&self) -> bool {
        self.window == self.codes.bits()
    }

    fn row(&self, word: u64) -> u32 {
        (word & self.row_mask()) as u32
    }

    fn row_mask(&self) -> u64 {
        (1 << self.row_bits) - 1
    }

    fn words(&self, keys: &Keys, batches: &[RecordBatch], rows: usize, threads: Threads) -> Vec<u64> {
        let mut words = vec![0; rows];
        let mut rest = words.as_mut_slice();
        let mut first = 0;
        let parts: Vec<_> = batches
            .iter()
            .zip(&keys.batches)
            .map(|(batch, keys)| {
                let part = rest.split_off_mut(..batch.num_rows()).unwrap_or_default();
                first += batch.num_rows();
                (keys, first - batch.num_rows(), part)
            })
            .collect();
        threads.map(parts, |(keys, first, part)| {
            if self.row_bits > 0 {
                part.iter_mut().zip(first as u64..).for_each(|(word, row)| *word = row);
            } else {
                make_pages(part);
            }
            let rows = 0..part.len();
            self.codes.fill(keys.keys.iter(), rows, 0..self.window, self.row_bits, part);
        });
        words
    }

    /// The words of spread rows, without the rows yet, and where rows went; `None` if that does not help.
    fn spread(&self, keys: &Keys, batches: &[RecordBatch]) -> Option<(Spread, Vec<u64>)> {
        let lengths: Vec<usize> = batches.iter().map(RecordBatch::num_rows).collect();
        Spread::new(&lengths, self.window, self.row_bits, |piece, words| {
            let keys = keys.batches[piece.batch].keys.iter();
            self.codes.fill(keys, piece.rows.clone(), 0..self.window, self.row_bits, words);
        })
    }

    /// Sorts the words of spread rows. A row's number is its place among them.
    fn sort_buckets(&self, spread: &Spread, mut words: &mut [u64]) {
        let buckets = spread
            .bounds()
            .windows(2)
            .map(|bounds| (bounds[0], words.split_off_mut(..bounds[1] - bounds[0]).unwrap_or_default()));
        buckets.collect::<Vec<_>>().into_par_iter().for_each(|(first, bucket)| {
            if self.row_bits > 0 {
                bucket.iter_mut().zip(first as u64..).for_each(|(word, row)| *word |= row);
            }
            bitonic::sort(bucket);
        });
    }
}

/// Has the system make the pages of new memory, which is zero, before they are read.
///
/// Codes are added to what is in words. A page that is read before it is written is made twice: as a page of zeros that all share, then
/// as one of its own, and for that every core is interrupted.
fn make_pages(words: &mut [u64]) {
    /// The smallest pages that systems have.
    const PAGE: usize = 4096 / size_of::<u64>();

    words.iter_mut().step_by(PAGE).for_each(|word| *word = 0);
    // The last page may begin behind the last step.
    if let Some(word) = words.last_mut() {
        *word = 0;
    }
}

/// Puts rows into the order of their codes whose words show only a part of them.
fn mend(layout: &Layout, keys: &[KeyArray], words: &mut [u64]) {
    /// As many words as a thread mends at a time: long enough to be worth a task.
    const TASK: usize = 1 << 15;

    let is_equal = |one: u64, other: u64| (one ^ other) >> layout.row_bits == 0;
    if words.len() > TASK {
        let half = words.len() / 2;
        // No run of equal words is cut.
        let equal = words[half..].iter().take_while(|&&word| is_equal(words[half - 1], word)).count();
        if half + equal < words.len() {
            let (front, back) = words.split_at_mut(half + equal);
            rayon::join(|| mend(layout, keys, front), || mend(layout, keys, back));
            return;
        }
    }
    let mut rows = Vec::new();
    for run in words.chunk_by_mut(|&one, &other| is_equal(one, other)).filter(|run| run.len() > 1) {
        rows.clear();
        rows.extend(run.iter().map(|&word| layout.row(word)));
        order_rows(layout, keys, layout.window, &mut rows);
        let front = run[0] & !layout.row_mask();
        run.iter_mut().zip(&rows).for_each(|(word, &row)| *word = front | u64::from(row));
    }
}

/// Puts rows whose codes are equal up to a bit into order; equal ones stay as they are.
fn order_rows(layout: &Layout, keys: &[KeyArray], from: u32, rows: &mut [u32]) {
    let place_bits = bits(rows.len() as u128 - 1);
    let end = layout.codes.bits().min(from + u64::BITS - place_bits);
    let mut words: Vec<u64> = (0..rows.len() as u64).collect();
    layout.codes.fill(keys.iter(), &*rows, from..end, place_bits, &mut words);
    if words.is_sorted() {
        if end == layout.codes.bits() {
            return;
        }
    } else {
        bitonic::sort(&mut words);
        let before = rows.to_vec();
        let mask = (1 << place_bits) - 1;
        rows.iter_mut().zip(&words).for_each(|(row, word)| *row = before[(word & mask) as usize]);
    }
    if end < layout.codes.bits() {
        let mut rest = rows;
        for run in words.chunk_by(|one, other| (one ^ other) >> place_bits == 0) {
            let rows = rest.split_off_mut(..run.len()).unwrap_or_default();
            if rows.len() > 1 {
                order_rows(layout, keys, end, rows);
            }
        }
    }
}

/// Whether work is shared by the threads of the pool.
#[derive(Clone, Copy)]
pub(crate) struct Threads {
    many: bool,
}

impl Threads {
    pub(crate) fn map<T: Send, R: Send>(self, items: Vec<T>, work: impl Fn(T) -> R + Send + Sync) -> Vec<R> {
        if self.many {
            items.into_par_iter().map(work).collect()
        } else {
            items.into_iter().map(work).collect()
        }
    }

    fn are_sorted(self, words: &[u64]) -> bool {
        /// A thread looks at so many words before it hears that another one found the answer.
        const PIECE: usize = 1 << 14;

        if !self.many {
            return words.is_sorted();
        }
        (0..words.len().div_ceil(PIECE)).into_par_iter().all(|piece| {
            let start = piece * PIECE;
            words[start..(start + PIECE + 1).min(words.len())].is_sorted()
        })
    }
}

/// Sorted rows, from which batches are made.
pub(crate) struct Sorted {
    ask: Arc<Ask>,
    rows: usize,
    threads: Threads,
    rows_in_order: InOrder,
    /// Given back when the last batch is made.
    _reservation: MemoryReservation,
}

enum InOrder {
    /// The input was in order.
    Batches(Vec<RecordBatch>),
    /// Every column is the key.
    Numbers(Numbers),
    Words {
        words: Vec<u64>,
        layout: Layout,
        columns: Columns,
    },
}

impl Sorted {
    fn in_order(
        ask: &Arc<Ask>,
        batches: Vec<RecordBatch>,
        rows: usize,
        reservation: MemoryReservation,
    ) -> Self {
        let size = ask.batch_size.max(1);
        let slices = batches.iter().flat_map(|batch| {
            (0..batch.num_rows())
                .step_by(size)
                .map(move |start| batch.slice(start, size.min(batch.num_rows() - start)))
        });
        let mut left = ask.fetch.unwrap_or(rows).min(rows);
        let rows = left;
        let slices = slices.map_while(|slice| {
            let slice = slice.slice(0, slice.num_rows().min(left));
            left -= slice.num_rows();
            (slice.num_rows() > 0).then_some(slice)
        });
        let rows_in_order = InOrder::Batches(slices.collect());
        let threads = Threads { many: false };
        Self { ask: ask.clone(), rows, threads, rows_in_order, _reservation: reservation }
    }

    /// How many batches there are.
    pub(crate) fn len(&self) -> usize {
        match &self.rows_in_order {
            InOrder::Batches(batches) => batches.len(),
            _ => self.rows.div_ceil(self.ask.batch_size.max(1)),
        }
    }

    /// Whether making batches is work for other threads.
    pub(crate) fn is_much(&self) -> bool {
        self.threads.many
    }

    /// Some batches.
    pub(crate) fn batches(&self, numbers: Range<usize>) -> Vec<Result<RecordBatch>> {
        self.threads.map(numbers.collect(), |number| self.batch(number))
    }

    pub(crate) fn batch(&self, number: usize) -> Result<RecordBatch> {
        let size = self.ask.batch_size.max(1);
        let rows = number * size..self.rows.min((number + 1) * size);
        let options = RecordBatchOptions::new().with_row_count(Some(rows.len()));
        let columns = match &self.rows_in_order {
            InOrder::Batches(batches) => return Ok(batches[number].clone()),
            InOrder::Numbers(numbers) => {
                let column = numbers.column(rows, self.ask.schema.field(0).data_type())?;
                vec![column; self.ask.schema.fields().len()]
            }
            InOrder::Words { words, layout, columns } => {
                columns.of_words(&self.ask, &layout.codes, layout.row_bits, &words[rows])?
            }
        };
        Ok(RecordBatch::try_new_with_options(self.ask.schema.clone(), columns, &options)?)
    }
}
