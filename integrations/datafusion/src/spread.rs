//! Rows are spread over buckets before they are sorted, each of which is a range of the order.
//!
//! ```text
//!   batches    | 7 2 9 1 | 8 3 0 6 | 4 ..
//!   bins       how many rows have each value of the first bits of their codes
//!   buckets    neighbouring bins, about as many rows in each
//!   spread     | 2 1 0 .. | 7 6 4 .. | 9 8 .. |     in a bucket, rows are in the order of the input
//! ```
//!
//! A bucket fits the cache of a core. Its words are sorted there, and the rows of a batch of the result are gathered from one or two
//! buckets. Rows that are gathered from all over a table each wait for memory instead.

use crate::form::{KeyArray, Native, Values, with_values};
use datafusion::arrow::buffer::{BooleanBuffer, NullBuffer, ScalarBuffer};
use rayon::prelude::*;
use std::ops::Range;
use std::slice::IterMut;

/// From so many rows on, a table and what is made of it do not fit the caches.
pub(crate) const SPREAD_FROM: usize = 1 << 18;

/// What rows take in memory while they are spread: the number of the bucket, and the number of the row for columns that are not.
pub(crate) const ROW_BYTES: usize = size_of::<u16>() + size_of::<u32>();

/// A table of so many bins stays in the first cache.
const BIN_BITS: u32 = 12;

/// About as many buckets. A core writes to all of them at a time, and more have it wait for its translation of addresses.
const BUCKETS: usize = 256;

/// A bucket has at least about so many rows; a cache holds more of them.
const LEAST_BUCKET: usize = 1 << 14;

/// Rows whose words are made at a time. They stay in the first cache, beside the tables of bins and buckets.
const PIECE: usize = 1 << 10;

/// A number for each value that the first bits of a code can have.
type Bins<T> = [T; 1 << BIN_BITS];

/// Where each row goes.
pub(crate) struct Spread {
    /// Where each bucket begins, and where the last one ends.
    bounds: Vec<usize>,
    groups: Vec<Group>,
}

/// Rows of the input that one thread spreads.
struct Group {
    pieces: Vec<Piece>,
    /// How many of its rows go to each bucket.
    counts: Vec<usize>,
    /// The bucket of each row.
    buckets: Vec<u16>,
}

/// Rows of one batch.
#[derive(Clone)]
pub(crate) struct Piece {
    pub(crate) batch: usize,
    pub(crate) rows: Range<usize>,
    /// How many rows are in the batches before.
    before: usize,
}

impl Spread {
    /// The words of all rows, spread, and where rows went, so that columns can follow them. `fill` makes the words of a piece, which are
    /// 0 before; the first bits of a code are the `window` bits of the word above the `low` ones.
    ///
    /// `None` if buckets would not help: rows seem to be in order already, most of them have the same first bits, or codes are so
    /// short that rows with equal ones are gathered one behind the other anyway.
    pub(crate) fn new(
        batches: &[usize],
        window: u32,
        low: u32,
        fill: impl Fn(&Piece, &mut [u64]) + Sync,
    ) -> Option<(Self, Vec<u64>)> {
        if window <= BIN_BITS {
            return None;
        }
        let shift = window + low - BIN_BITS;
        let bin = |word: u64| (word >> shift) as usize % (1 << BIN_BITS);
        let groups = groups(batches);
        if seem_in_order(groups.first()?.first()?, &fill) {
            return None;
        }
        let counted: Vec<_> = groups.par_iter().map(|pieces| count(pieces, bin, &fill)).collect();
        let mut bins = [0; 1 << BIN_BITS];
        for counted in &counted {
            bins.iter_mut().zip(counted).for_each(|(sum, &count)| *sum += count as usize);
        }
        let bucket_of_bin = share_out(&bins);
        let buckets = usize::from(*bucket_of_bin.last()?) + 1;
        let mut bounds = vec![0; buckets + 1];
        bins.iter().zip(&bucket_of_bin).for_each(|(count, &bucket)| bounds[usize::from(bucket) + 1] += count);
        let rows: usize = bins.iter().sum();
        if bounds.iter().any(|&count| count > rows / 4) {
            return None;
        }
        (0..buckets).for_each(|bucket| bounds[bucket + 1] += bounds[bucket]);

        let groups = groups.into_iter().zip(&counted).map(|(pieces, counted)| {
            let mut counts = vec![0; buckets];
            let bins = counted.iter().zip(&bucket_of_bin);
            bins.for_each(|(&count, &bucket)| counts[usize::from(bucket)] += count as usize);
            Group { buckets: vec![], pieces, counts }
        });
        let mut spread = Self { bounds, groups: groups.collect() };
        let mut words = vec![0; rows];
        let places = spread.places(&mut words);
        spread.groups.par_iter_mut().zip(places).for_each(|(group, mut places)| {
            group.buckets.reserve_exact(group.counts.iter().sum());
            for_each_piece(&group.pieces, &fill, |words| {
                for &word in words {
                    let bucket = bucket_of_bin[bin(word)];
                    group.buckets.push(bucket);
                    put(&mut places[usize::from(bucket)], word);
                }
            });
        });
        Some((spread, words))
    }

    /// Where each bucket begins, and where the last one ends.
    pub(crate) fn bounds(&self) -> &[usize] {
        &self.bounds
    }

    /// Numbers of rows, spread: for each place of the spread rows, the row of the input that is there.
    pub(crate) fn origins(&self) -> Vec<u32> {
        self.values(|piece| {
            let before = piece.before;
            piece.rows.clone().map(move |row| (before + row) as u32)
        })
    }

    /// A column, spread. There is one array for each batch, all of the same type.
    pub(crate) fn column(&self, batches: &[&KeyArray]) -> KeyArray {
        let values = with_values!(&batches[0].values, values => self.column_of(values, batches));
        let has_nulls = batches.iter().any(|batch| batch.nulls.is_some());
        let nulls = has_nulls.then(|| {
            let valid = self.values(|piece| {
                let nulls = batches[piece.batch].nulls.as_ref();
                piece.rows.clone().map(move |row| nulls.is_none_or(|nulls| nulls.is_valid(row)))
            });
            NullBuffer::new(BooleanBuffer::from(valid))
        });
        KeyArray { values, nulls }
    }

    fn column_of<T: Native>(&self, _: &ScalarBuffer<T>, batches: &[&KeyArray]) -> Values
    where
        Values: From<ScalarBuffer<T>>,
    {
        let slices: Vec<&[T]> = batches.iter().map(|batch| T::of(&batch.values)).collect();
        let spread = self.values(|piece| slices[piece.batch][piece.rows.clone()].iter().copied());
        ScalarBuffer::from(spread).into()
    }

    fn values<T, I>(&self, of_piece: impl Fn(&Piece) -> I + Sync) -> Vec<T>
    where
        T: Copy + Default + Send,
        I: Iterator<Item = T>,
    {
        let mut all = vec![T::default(); self.bounds.last().copied().unwrap_or(0)];
        let places = self.places(&mut all);
        self.groups.par_iter().zip(places).for_each(|(group, mut places)| {
            let mut buckets = group.buckets.iter();
            for piece in &group.pieces {
                let of_piece = of_piece(piece).zip(buckets.by_ref());
                of_piece.for_each(|(value, &bucket)| put(&mut places[usize::from(bucket)], value));
            }
        });
        all
    }

    /// For each group, its places in each bucket: behind those of the groups before it, so that the order of the input stays.
    fn places<'a, T>(&self, mut all: &'a mut [T]) -> Vec<Vec<IterMut<'a, T>>> {
        let mut places: Vec<_> = self.groups.iter().map(|_| vec![]).collect();
        for bucket in 0..self.bounds.len() - 1 {
            for (group, places) in self.groups.iter().zip(&mut places) {
                let part = all.split_off_mut(..group.counts[bucket]);
                places.push(part.unwrap_or_default().iter_mut());
            }
        }
        places
    }
}

#[inline(always)]
fn put<T>(places: &mut IterMut<'_, T>, value: T) {
    if let Some(place) = places.next() {
        *place = value;
    }
}

/// Shares the rows of batches of these lengths among threads.
fn groups(batches: &[usize]) -> Vec<Vec<Piece>> {
    let mut pieces = vec![];
    let mut before = 0;
    for (batch, &rows) in batches.iter().enumerate() {
        let piece = |start| Piece { batch, rows: start..rows.min(start + PIECE), before };
        pieces.extend((0..rows).step_by(PIECE).map(piece));
        before += rows;
    }
    let length = pieces.len().div_ceil(rayon::current_num_threads()).max(1);
    pieces.chunks(length).map(<[Piece]>::to_vec).collect()
}

/// Makes the words of each piece.
#[inline(always)]
fn for_each_piece(
    pieces: &[Piece],
    fill: &(impl Fn(&Piece, &mut [u64]) + Sync),
    mut take: impl FnMut(&[u64]),
) {
    let mut words = [0; PIECE];
    for piece in pieces {
        let words = &mut words[..piece.rows.len()];
        words.fill(0);
        fill(piece, words);
        take(words);
    }
}

/// Whether the words of a piece are in order. Then others may be, too, and a look at all of them without buckets tells more.
fn seem_in_order(piece: &Piece, fill: &(impl Fn(&Piece, &mut [u64]) + Sync)) -> bool {
    let mut in_order = true;
    for_each_piece(std::slice::from_ref(piece), fill, |words| in_order = words.is_sorted());
    in_order
}

/// How many rows are in each bin.
fn count(
    pieces: &[Piece],
    bin: impl Fn(u64) -> usize,
    fill: &(impl Fn(&Piece, &mut [u64]) + Sync),
) -> Bins<u32> {
    let mut bins = [0; 1 << BIN_BITS];
    for_each_piece(pieces, fill, |words| words.iter().for_each(|&word| bins[bin(word)] += 1));
    bins
}

/// The bucket of each bin. A bin that has enough rows for a bucket shares it with none.
fn share_out(bins: &Bins<usize>) -> Bins<u16> {
    let rows: usize = bins.iter().sum();
    let enough = rows.div_ceil(BUCKETS).max(LEAST_BUCKET);
    let (mut bucket, mut held) = (0, 0);
    bins.map(|count| {
        if held > 0 && (held >= enough || count >= enough) {
            bucket += 1;
            held = 0;
        }
        held += count;
        bucket
    })
}
