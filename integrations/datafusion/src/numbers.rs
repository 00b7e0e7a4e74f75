//! Tables that are their key alone, a number of up to 64 bits: the numbers are sorted as they are, in their own type, without codes.
//!
//! Nulls are counted, and come in front of the numbers or behind them.

use crate::form::{KeyArray, Native, Values, with_values};
use crate::sorted::{Threads, selects};
use bitonic::Order;
use datafusion::arrow::array::ArrayRef;
use datafusion::arrow::buffer::{BooleanBuffer, NullBuffer, ScalarBuffer};
use datafusion::arrow::compute::SortOptions;
use datafusion::arrow::datatypes::DataType;
use datafusion::arrow::error::ArrowError;
use std::ops::Range;

/// Sorted numbers, and how many rows are nulls.
pub(crate) struct Numbers {
    values: Values,
    nulls: usize,
    nulls_first: bool,
}

impl Numbers {
    /// Sorts the numbers of all batches, or as many as the first `fetch` rows need; the batches are of one type.
    pub(crate) fn sort(
        batches: &[&KeyArray],
        options: SortOptions,
        fetch: usize,
        threads: Threads,
    ) -> Result<Self, bitonic::Error> {
        let nulls = batches.iter().map(|batch| batch.null_count()).sum();
        let fetch = if options.nulls_first { fetch.saturating_sub(nulls) } else { fetch };
        let values = with_values!(&batches[0].values, values => {
            sorted(values, batches, options.descending, fetch, threads)?
        });
        Ok(Self { values, nulls, nulls_first: options.nulls_first })
    }

    /// The memory that sorting so many numbers of this type takes, beyond a copy of them.
    pub(crate) fn sort_bytes(rows: usize, batch: &KeyArray) -> usize {
        fn bytes<T: Native>(_: &[T], rows: usize) -> usize {
            bitonic::Sorter::new().plan::<T>(rows).map_or(0, |plan| plan.memory.host)
        }
        with_values!(&batch.values, values => bytes(values, rows))
    }

    /// The column of some rows. It has memory of its own, so that readers who count the memory of each batch count the column once.
    pub(crate) fn column(&self, rows: Range<usize>, data_type: &DataType) -> Result<ArrayRef, ArrowError> {
        with_values!(&self.values, values => self.part(values, rows)).to_column(data_type)
    }

    fn part<T: Native>(&self, values: &[T], rows: Range<usize>) -> KeyArray
    where
        Values: From<ScalarBuffer<T>>,
    {
        let first = if self.nulls_first { self.nulls } else { 0 };
        let place = |row: usize| row.saturating_sub(first).min(values.len());
        let numbers = &values[place(rows.start)..place(rows.end)];
        let before = if rows.start < first { rows.len() - numbers.len() } else { 0 };
        let mut part = Vec::with_capacity(rows.len());
        part.resize(before, T::default());
        part.extend_from_slice(numbers);
        part.resize(rows.len(), T::default());
        let nulls = (numbers.len() < rows.len()).then(|| {
            let is_number = |row| (before..before + numbers.len()).contains(&row);
            NullBuffer::new(BooleanBuffer::collect_bool(rows.len(), is_number))
        });
        KeyArray { values: ScalarBuffer::from(part).into(), nulls }
    }
}

fn sorted<T: Native>(
    _: &ScalarBuffer<T>,
    batches: &[&KeyArray],
    descending: bool,
    fetch: usize,
    threads: Threads,
) -> Result<Values, bitonic::Error>
where
    Values: From<ScalarBuffer<T>>,
{
    let numbers = batches.iter().map(|batch| batch.valid_count()).sum();
    let mut all = vec![T::default(); numbers];
    let mut rest = all.as_mut_slice();
    let parts =
        batches.iter().map(|batch| (*batch, rest.split_off_mut(..batch.valid_count()).unwrap_or_default()));
    threads.map(parts.collect(), |(batch, part)| {
        let values = T::of(&batch.values);
        match &batch.nulls {
            None => part.copy_from_slice(values),
            Some(nulls) => {
                part.iter_mut().zip(nulls.valid_indices()).for_each(|(to, row)| *to = values[row]);
            }
        }
    });
    let sorter = bitonic::Sorter::new().order(if descending { Order::Descending } else { Order::Ascending });
    if selects(fetch, numbers) {
        sorter.partial_sort(&mut all, fetch)?;
    } else {
        sorter.sort(&mut all)?;
    }
    Ok(ScalarBuffer::from(all).into())
}
