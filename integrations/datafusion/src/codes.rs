//! Keys as unsigned codes of as few bits as the data needs.
//!
//! ```text
//!   the code of a row                                    |<- a word: at most 64 bits of it ->|
//!   | first key's code | second key's code | third .. |  | window of the code | number of the row |
//! ```
//!
//! A key's code is its distance from the first key in the order, with one more code for nulls in front or behind. Comparing
//! codes is comparing keys, directions and nulls included. Where a code and a row number do not fit into 64 bits, a word has
//! the window at the front of the code, and later windows order the rows that are equal in it.

use crate::form::{self, KeyArray, Native, with_values};
use datafusion::arrow::array::ArrayRef;
use datafusion::arrow::buffer::NullBuffer;
use datafusion::arrow::compute::SortOptions;
use datafusion::arrow::datatypes::DataType;
use datafusion::arrow::error::ArrowError;
use std::ops::Range;

/// What was seen of a key column.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Extent {
    /// The ordered bits of the least and the greatest value; the least is above the greatest if there is no value.
    least: u128,
    greatest: u128,
    has_nulls: bool,
}

impl Extent {
    pub(crate) const NOTHING: Self = Self { least: u128::MAX, greatest: 0, has_nulls: false };

    /// That of the values which the type can have.
    pub(crate) fn of_type(array: &KeyArray) -> Self {
        let greatest = low_bits(array.value_bits());
        Self { least: 0, greatest, has_nulls: array.nulls.is_some() }
    }

    pub(crate) fn of(array: &KeyArray) -> Self {
        fn ends<T: Native>(values: impl Iterator<Item = T>) -> (u128, u128) {
            // 128 bits are compared for decimals only.
            if size_of::<T>() <= size_of::<u64>() {
                let (least, greatest) = values.fold((u64::MAX, 0), |(least, greatest), value| {
                    let ordered = value.ordered() as u64;
                    (least.min(ordered), greatest.max(ordered))
                });
                if least > greatest { (u128::MAX, 0) } else { (least.into(), greatest.into()) }
            } else {
                values.fold((u128::MAX, 0), |(least, greatest), value| {
                    (least.min(value.ordered()), greatest.max(value.ordered()))
                })
            }
        }
        let (least, greatest) = with_values!(&array.values, values => match &array.nulls {
            None => ends(values.iter().copied()),
            Some(nulls) => ends(nulls.valid_indices().map(|place| values[place])),
        });
        Self { least, greatest, has_nulls: array.nulls.is_some() }
    }

    pub(crate) fn and(self, other: Self) -> Self {
        Self {
            least: self.least.min(other.least),
            greatest: self.greatest.max(other.greatest),
            has_nulls: self.has_nulls || other.has_nulls,
        }
    }
}

/// How the values of one key become codes.
#[derive(Clone, Copy, Debug)]
struct Code {
    /// All ones if the order is descending: the complement of ordered bits turns the order around.
    flip: u128,
    /// What is subtracted from flipped bits, modulo 2^128, so that the first code is 0, or 1 behind that of nulls.
    base: u128,
    /// The code of nulls, if there are any.
    null: Option<u128>,
    bits: u32,
}

impl Code {
    /// `None` if the codes need more than 128 bits, which happens to no decimal of 38 digits.
    fn new(extent: Extent, options: SortOptions) -> Option<Self> {
        let flip = if options.descending { u128::MAX } else { 0 };
        let Some(spread) = extent.greatest.checked_sub(extent.least) else {
            return Some(Self { flip, base: 0, null: extent.has_nulls.then_some(0), bits: 0 });
        };
        let first = if options.descending { extent.greatest } else { extent.least };
        let in_front = extent.has_nulls && options.nulls_first;
        let last = if extent.has_nulls { spread.checked_add(1)? } else { spread };
        Some(Self {
            flip,
            base: (first ^ flip).wrapping_sub(in_front.into()),
            null: extent.has_nulls.then_some(if in_front { 0 } else { last }),
            bits: bits(last),
        })
    }
}

/// The number of bits that numbers up to this one need.
pub(crate) fn bits(last: u128) -> u32 {
    u128::BITS - last.leading_zeros()
}

/// The codes of all keys, the first one in the highest bits.
#[derive(Clone, Debug)]
pub(crate) struct Codes {
    keys: Vec<Code>,
    bits: u32,
}

impl Codes {
    /// `None` if a key's codes need more than 128 bits.
    pub(crate) fn new(keys: impl Iterator<Item = (Extent, SortOptions)>) -> Option<Self> {
        let keys = keys.map(|(extent, options)| Code::new(extent, options)).collect::<Option<Vec<_>>>()?;
        let bits = keys.iter().map(|key| key.bits).sum();
        Some(Self { keys, bits })
    }

    /// The bits of a row's code.
    pub(crate) fn bits(&self) -> u32 {
        self.bits
    }

    /// Puts a window of every row's code into its word, `low` bits above the end.
    ///
    /// The window counts bits of the code from the front. Its place in the words is 0. `arrays` are the keys; `rows` the places in
    /// them.
    pub(crate) fn fill<'a>(
        &self,
        arrays: impl Iterator<Item = &'a KeyArray>,
        rows: impl Rows,
        window: Range<u32>,
        low: u32,
        words: &mut [u64],
    ) {
        let mut start = 0;
        for (code, array) in self.keys.iter().zip(arrays) {
            let key = start..start + code.bits;
            start = key.end;
            let part = key.start.max(window.start)..key.end.min(window.end);
            if part.start < part.end {
                let part = Part {
                    kept: key.end - part.start,
                    dropped: key.end - part.end,
                    shift: window.end - part.end + low,
                };
                with_values!(&array.values, values => fill(*code, values, array.nulls.as_ref(), rows.clone(), part, words));
            }
        }
    }

    /// A key's column from words that hold whole codes, `low` bits above the end.
    pub(crate) fn decode(
        &self,
        key: usize,
        data_type: &DataType,
        low: u32,
        words: &[u64],
    ) -> Result<ArrayRef, ArrowError> {
        let code = self.keys[key];
        let shift = low + self.keys[key + 1..].iter().map(|code| code.bits).sum::<u32>();
        // A key that is the same in all rows has no bits; at the very front its shift is the whole word.
        let mask = low_bits(code.bits) as u64;
        let of = |word: u64| word.checked_shr(shift).unwrap_or(0) & mask;
        let nulls = code
            .null
            .map(|null| NullBuffer::from_iter(words.iter().map(|&word| u128::from(of(word)) != null)));
        let nulls = nulls.filter(|nulls| nulls.null_count() > 0);
        let ordered = |word| u128::from(of(word)).wrapping_add(code.base) ^ code.flip;
        form::column(data_type, words, ordered, nulls)
    }
}

/// Some rows of an array.
pub(crate) trait Rows: Clone {
    fn numbers(self) -> impl Iterator<Item = usize>;

    fn values<T: Copy>(self, all: &[T]) -> impl Iterator<Item = T>;
}

/// Neighbours. Their values are read without a look at the end of the array for each, several at a time.
impl Rows for Range<usize> {
    fn numbers(self) -> impl Iterator<Item = usize> {
        self
    }

    fn values<T: Copy>(self, all: &[T]) -> impl Iterator<Item = T> {
        all[self].iter().copied()
    }
}

impl Rows for &[u32] {
    fn numbers(self) -> impl Iterator<Item = usize> {
        self.iter().map(|&row| row as usize)
    }

    fn values<T: Copy>(self, all: &[T]) -> impl Iterator<Item = T> {
        self.numbers().map(|row| all[row])
    }
}

/// Which bits of a key's code go where.
#[derive(Clone, Copy)]
struct Part {
    /// How many low bits of the code the window begins with: those above are before the window.
    kept: u32,
    /// How many low bits of the code are behind the window.
    dropped: u32,
    /// How far above the end of the word they are put.
    shift: u32,
}

fn low_bits(count: u32) -> u128 {
    if count == 0 { 0 } else { u128::MAX >> (u128::BITS - count) }
}

fn fill<T: Native>(
    code: Code,
    values: &[T],
    nulls: Option<&NullBuffer>,
    rows: impl Rows,
    part: Part,
    words: &mut [u64],
) {
    // The same twice: 128 bits cost, and few codes have more than 64.
    if code.bits <= u64::BITS {
        let (flip, base, mask) = (code.flip as u64, code.base as u64, low_bits(part.kept) as u64);
        let put = |word: &mut u64, code: u64| *word |= ((code & mask) >> part.dropped) << part.shift;
        let of = |value: T| (value.ordered() as u64 ^ flip).wrapping_sub(base);
        fill_each(values, nulls, rows, words, put, of, code.null.unwrap_or(0) as u64);
    } else {
        let mask = low_bits(part.kept);
        let put =
            |word: &mut u64, code: u128| *word |= (((code & mask) >> part.dropped) as u64) << part.shift;
        let of = |value: T| (value.ordered() ^ code.flip).wrapping_sub(code.base);
        fill_each(values, nulls, rows, words, put, of, code.null.unwrap_or(0));
    }
}

#[inline(always)]
fn fill_each<T: Native, C>(
    values: &[T],
    nulls: Option<&NullBuffer>,
    rows: impl Rows,
    words: &mut [u64],
    put: impl Fn(&mut u64, C),
    of: impl Fn(T) -> C,
    null: C,
) where
    C: Copy,
{
    match nulls {
        None => words.iter_mut().zip(rows.values(values)).for_each(|(word, value)| put(word, of(value))),
        Some(nulls) => words.iter_mut().zip(rows.numbers()).for_each(|(word, row)| {
            put(word, if nulls.is_valid(row) { of(values[row]) } else { null });
        }),
    }
}
