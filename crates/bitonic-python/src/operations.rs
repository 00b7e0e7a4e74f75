//! The operations in NumPy's order, on slices: the library's, and what has to be done around them where the orders differ.

use crate::array::Parts;
use crate::order::{Missing, NumpyOrder};
use bitonic::key::Bits;
use bitonic::{Engine, Error, Index, Key, Order, Sorter};
use std::ops::Range;

/// A key type whose bits are keys, too: all of NumPy's.
pub(crate) trait NumpyKey: Key<Bits: Key<Bits = Self::Bits>> {}
impl<K: Key<Bits: Key<Bits = K::Bits>>> NumpyKey for K {}

/// What a caller asked for.
#[derive(Clone)]
pub(crate) struct Options {
    /// The library's sorter, in the order asked for.
    pub(crate) sorter: Sorter,
    /// No engine was named but the CPU's, and nothing else that a short sort depends on.
    pub(crate) is_plain: bool,
    /// Neither were threads.
    pub(crate) is_unlimited: bool,
    pub(crate) descending: bool,
    pub(crate) stable: bool,
    pub(crate) total: bool,
    pub(crate) oblivious: bool,
}

impl Options {
    fn order<K: Key>(&self, missing: Missing) -> NumpyOrder<K::Bits> {
        NumpyOrder::new::<K>(if self.total { Missing::Nothing } else { missing }, self.descending)
    }

    /// Whether the library's functions without options do the same: for few keys they take neither a device nor a second thread.
    fn is_usual(&self, len: usize) -> bool {
        const FEW: usize = 1 << 12;
        self.is_plain && (self.is_unlimited || len <= FEW)
    }

    /// The sorter for numbers that have the order already.
    fn ascending(&self) -> Sorter {
        self.sorter.clone().order(Order::Ascending)
    }

    fn refuse_oblivious(&self, what: &str) -> Result<(), Error> {
        if !self.oblivious {
            return Ok(());
        }
        Err(Error::EngineUnavailable {
            engine: Engine::Cpu,
            reason: format!("{what} shows where keys were, and so is not oblivious"),
            advice: "give nan='total', or stable=False".to_owned(),
        })
    }
}

fn sort_parts<K: Key>(sorter: &Sorter, keys: &mut [K], parts: Parts<'_>) -> Result<(), Error> {
    match parts {
        Parts::Rows { row, .. } if row == keys.len() => sorter.sort(keys).map(drop),
        Parts::Rows { row, .. } => sorter.sort_rows(keys, row).map(drop),
        Parts::Offsets(offsets) => sorter.sort_segments(keys, offsets).map(drop),
    }
}

/// Sorts every part in place.
pub(crate) fn sort<K: NumpyKey>(
    options: &Options,
    missing: Missing,
    keys: &mut [K],
    parts: Parts<'_>,
) -> Result<(), Error> {
    let order = options.order::<K>(missing);
    if options.oblivious && !order.is_total() {
        if options.stable {
            options.refuse_oblivious("a stable sort of floats with nan='last'")?;
        }
        return turned(&order, keys, |bits| sort_parts(&options.ascending(), bits, parts));
    }
    let ties = if options.stable { Ties::remember(&order, keys, parts)? } else { Vec::new() };
    match (parts.is_one() && options.is_usual(keys.len()), options.descending) {
        (true, false) => bitonic::sort(keys),
        (true, true) => bitonic::sort_descending(keys),
        (false, _) => sort_parts(&options.sorter, keys, parts)?,
    }
    if order.is_total() {
        return Ok(());
    }
    // In the library's order, what is missing is at both ends.
    for range in parts.ranges() {
        let part = &mut keys[range];
        part.rotate_left(part.partition_point(|&key| order.is_missing_in_front(key)));
    }
    ties.into_iter().for_each(|ties| ties.restore(&order, keys));
    Ok(())
}

/// Keys of a part that NumPy holds equal and that have different bits, in the order in which they came.
struct Ties<K> {
    range: Range<usize>,
    zeros: Vec<K>,
    missing: Vec<K>,
}

impl<K: NumpyKey> Ties<K> {
    fn remember(order: &NumpyOrder<K::Bits>, keys: &[K], parts: Parts<'_>) -> Result<Vec<Self>, Error> {
        let mut all = Vec::new();
        if order.is_total() {
            return Ok(all);
        }
        for range in parts.ranges() {
            let part = &keys[range.clone()];
            if order.differs_on(part) {
                let zeros = collect(part.iter().copied().filter(|&key| order.is_zero(key)))?;
                let missing = collect(part.iter().copied().filter(|&key| order.is_missing(key)))?;
                all.push(Self { range, zeros, missing });
            }
        }
        Ok(all)
    }

    fn restore(self, order: &NumpyOrder<K::Bits>, keys: &mut [K]) {
        let part = &mut keys[self.range];
        let behind = part.len() - self.missing.len();
        part[behind..].copy_from_slice(&self.missing);
        if let Some(&zero) = self.zeros.first() {
            let at = part[..behind].partition_point(|&key| order.rank(key) < order.rank(zero));
            part[at..at + self.zeros.len()].copy_from_slice(&self.zeros);
        }
    }
}

/// Works on keys as numbers whose order is NumPy's.
fn turned<K: NumpyKey, R>(
    order: &NumpyOrder<K::Bits>,
    keys: &mut [K],
    work: impl FnOnce(&mut [K::Bits]) -> Result<R, Error>,
) -> Result<R, Error> {
    bitonic::key::with_ordered_bits(keys, Order::Ascending, |bits| {
        // Ordered bits are keys of their own type, with the same order.
        bits.iter_mut().for_each(|bits| *bits = order.turn(*bits));
        let done = work(bits);
        bits.iter_mut().for_each(|bits| *bits = order.turn_back(*bits));
        done
    })
}

/// Every key's number in NumPy's order.
fn ranks<K: NumpyKey>(order: &NumpyOrder<K::Bits>, keys: &[K]) -> Result<Vec<K::Bits>, Error> {
    collect(keys.iter().map(|&key| order.rank(key)))
}

/// A vector of what an iterator gives, or the error that there is no memory for it.
fn collect<T>(mut items: impl Iterator<Item = T>) -> Result<Vec<T>, Error> {
    let mut all = Vec::new();
    let refused = |len: usize| Error::OutOfMemory { bytes: len.saturating_mul(size_of::<T>()) };
    let least = items.size_hint().0;
    all.try_reserve_exact(least).map_err(|_| refused(least))?;
    all.extend(items.by_ref().take(least));
    for item in items {
        if all.len() == all.capacity() {
            all.try_reserve(1).map_err(|_| refused(2 * all.len()))?;
        }
        all.push(item);
    }
    Ok(all)
}

/// Runs an operation that compares keys: on the keys where the orders agree, else on their ranks.
macro_rules! compared {
    ($options:expr, $missing:expr, $keys:expr, ($sorter:ident, $with:ident) => $body:expr) => {{
        let order = $options.order::<K>($missing);
        if !order.is_total() && ($options.oblivious || order.differs_on($keys)) {
            let ($sorter, $with) = (&$options.ascending(), &ranks(&order, $keys)?[..]);
            $body
        } else {
            let ($sorter, $with) = (&$options.sorter, $keys);
            $body
        }
    }};
}

/// Writes the index of every key within its part, in order; equal keys by lowest index.
pub(crate) fn argsort<K: NumpyKey, I: Index>(
    options: &Options,
    missing: Missing,
    keys: &[K],
    parts: Parts<'_>,
    indices: &mut [I],
) -> Result<(), Error> {
    compared!(options, missing, keys, (sorter, keys) => argsort_parts(sorter, keys, parts, indices))
}

fn argsort_parts<K: Key, I: Index>(
    sorter: &Sorter,
    keys: &[K],
    parts: Parts<'_>,
    indices: &mut [I],
) -> Result<(), Error> {
    let found = match parts {
        Parts::Rows { row, .. } if row == keys.len() => return sorter.argsort_into(keys, indices),
        Parts::Rows { row, .. } => sorter.argsort_rows(keys, row)?,
        Parts::Offsets(offsets) => sorter.argsort_segments(keys, offsets)?,
    };
    write_indices(found, indices)
}

fn write_indices<I: Index>(found: Vec<usize>, indices: &mut [I]) -> Result<(), Error> {
    if found.len() != indices.len() {
        return Err(Error::OutputLength { needed: found.len(), given: indices.len() });
    }
    for (place, index) in indices.iter_mut().zip(found) {
        *place = I::from_usize(index).ok_or(Error::NoSuchPlace { index, len: index })?;
    }
    Ok(())
}

/// Sorts every part in place and moves values along.
pub(crate) fn sort_pairs<K: NumpyKey, V: Copy + Send + Sync>(
    options: &Options,
    missing: Missing,
    keys: &mut [K],
    values: &mut [V],
    parts: Parts<'_>,
) -> Result<(), Error> {
    let order = options.order::<K>(missing);
    if options.stable && !order.is_total() {
        options.refuse_oblivious("a stable sort of floats with nan='last'")?;
        if order.differs_on(keys) {
            return gather_pairs(options, missing, keys, values, parts);
        }
    }
    // Numbers with the order asked for: one sort for each width instead of one for each type.
    turned(&order, keys, |keys| {
        let sorter = options.ascending();
        match parts {
            Parts::Rows { row, .. } if row == keys.len() => sorter.sort_pairs(keys, values),
            Parts::Rows { row, .. } => sorter.sort_pairs_rows(keys, values, row),
            Parts::Offsets(offsets) => sorter.sort_pairs_segments(keys, values, offsets),
        }
        .map(drop)
    })
}

/// Sorts by indices: stable, whatever is equal.
fn gather_pairs<K: NumpyKey, V: Copy>(
    options: &Options,
    missing: Missing,
    keys: &mut [K],
    values: &mut [V],
    parts: Parts<'_>,
) -> Result<(), Error> {
    for range in parts.ranges() {
        let (keys, values) = (&mut keys[range.clone()], &mut values[range]);
        let one = Parts::Rows { len: keys.len(), row: keys.len() };
        let mut indices = collect(0..keys.len())?;
        argsort(options, missing, keys, one, &mut indices)?;
        let sorted_keys = collect(indices.iter().map(|&index| keys[index]))?;
        let sorted_values = collect(indices.iter().map(|&index| values[index]))?;
        keys.copy_from_slice(&sorted_keys);
        values.copy_from_slice(&sorted_values);
    }
    Ok(())
}

/// The first k keys of every row or segment in this order, and their indices. Of a segment that has fewer, the places that are left stay as
/// they are.
pub(crate) fn topk<K: NumpyKey, I: Index>(
    options: &Options,
    missing: Missing,
    keys: &[K],
    parts: Parts<'_>,
    k: usize,
    (best, indices): (&mut [K], &mut [I]),
) -> Result<(), Error> {
    let top = compared!(options, missing, keys, (sorter, keys) => match parts {
        Parts::Rows { row, .. } => sorter.top_k_rows(keys, row, k)?.indices,
        Parts::Offsets(offsets) => sorter.top_k_segments(keys, offsets, k)?.indices,
    });
    // A row has all of its places, and none where it has no keys.
    let places = match parts {
        Parts::Rows { row, .. } => k.min(row),
        Parts::Offsets(_) => k,
    };
    let needed = places * parts.ranges().count();
    if needed != best.len() {
        return Err(Error::OutputLength { needed, given: best.len() });
    }
    if needed == 0 {
        return Ok(());
    }
    let mut top = top.into_iter();
    for (range, (best, indices)) in
        parts.ranges().zip(best.chunks_exact_mut(places).zip(indices.chunks_exact_mut(places)))
    {
        let keys = &keys[range];
        for ((best, place), index) in best.iter_mut().zip(indices).zip(top.by_ref().take(k.min(keys.len()))) {
            *best = keys[index];
            *place = I::from_usize(index).ok_or(Error::NoSuchPlace { index, len: index })?;
        }
    }
    Ok(())
}

/// Puts the keys of these places, which ascend, into their places in every row.
pub(crate) fn partition<K: NumpyKey>(
    options: &Options,
    missing: Missing,
    keys: &mut [K],
    row: usize,
    places: &[usize],
) -> Result<(), Error> {
    match missing {
        Missing::Nan if !options.total => {
            partition_rows(&options.sorter.clone().nan_last(true), keys, row, places)
        }
        Missing::Nat if !options.total => {
            let order = options.order::<K>(missing);
            if options.oblivious || order.has_missing(keys) {
                turned(&order, keys, |bits| partition_rows(&options.ascending(), bits, row, places))
            } else {
                partition_rows(&options.sorter, keys, row, places)
            }
        }
        _ => partition_rows(&options.sorter, keys, row, places),
    }
}

fn partition_rows<K: Key>(
    sorter: &Sorter,
    keys: &mut [K],
    row: usize,
    places: &[usize],
) -> Result<(), Error> {
    if row == 0 {
        return Ok(());
    }
    for row in keys.chunks_exact_mut(row) {
        // What is behind one place is partitioned at the next.
        let (mut rest, mut before) = (row, 0);
        for &place in places {
            rest = sorter.select_nth(rest, place - before)?.2;
            before = place + 1;
        }
    }
    Ok(())
}

/// A number for an index; 64-bit ones have room for a rank and an index while they are sorted.
pub(crate) trait Word: Index {
    fn wide(words: &mut [Self]) -> Option<&mut [u64]>;
}

impl Word for u32 {
    fn wide(_: &mut [Self]) -> Option<&mut [u64]> {
        None
    }
}

impl Word for u64 {
    fn wide(words: &mut [Self]) -> Option<&mut [u64]> {
        Some(words)
    }
}

/// The indices that would partition every row at these places, which ascend.
pub(crate) fn argpartition<K: NumpyKey, I: Word>(
    options: &Options,
    missing: Missing,
    keys: &[K],
    row: usize,
    places: &[usize],
    indices: &mut [I],
) -> Result<(), Error> {
    if row == 0 {
        return Ok(());
    }
    let order = options.order::<K>(missing);
    if options.descending || order.differs_on(keys) {
        argpartition_by(options, keys, |key| order.rank(key), row, places, indices)
    } else {
        argpartition_by(options, keys, |key| key.to_ordered_bits(), row, places, indices)
    }
}

/// The same by ranks, which are equal where keys are.
fn argpartition_by<K: NumpyKey, I: Word>(
    options: &Options,
    keys: &[K],
    rank: impl Fn(K) -> K::Bits + Copy,
    row: usize,
    places: &[usize],
    indices: &mut [I],
) -> Result<(), Error> {
    let sorter = options.ascending();
    let is_narrow = K::Bits::WIDTH <= 32 && row <= 1 << 32;
    for (keys, indices) in keys.chunks_exact(row).zip(indices.chunks_exact_mut(row)) {
        let numbered = keys.iter().map(|&key| rank(key).widen()).zip(0_u64..);
        // A rank and its index make one number; they take 64 bits where both are small.
        let narrow = numbered.clone().map(|(rank, index)| (rank as u64) << 32 | index);
        let index_of = |both: u64| both & 0xffff_ffff;
        if is_narrow && let Some(words) = I::wide(indices) {
            words.iter_mut().zip(narrow).for_each(|(word, both)| *word = both);
            partition_rows(&sorter, words, row, places)?;
            words.iter_mut().for_each(|word| *word = index_of(*word));
        } else if let (&[place], false) = (places, options.oblivious) {
            let mut ranks = collect(keys.iter().map(|&key| rank(key)))?;
            let &mut pivot = sorter.select_nth(&mut ranks, place)?.1;
            divide(keys.iter().map(|&key| rank(key)), pivot, indices)?;
        } else if is_narrow {
            let mut all = collect(narrow)?;
            partition_rows(&sorter, &mut all, row, places)?;
            write_indices(collect(all.into_iter().map(|both| index_of(both) as usize))?, indices)?;
        } else {
            let mut all = collect(numbered.map(|(rank, index)| rank << 64 | u128::from(index)))?;
            partition_rows(&sorter, &mut all, row, places)?;
            write_indices(collect(all.into_iter().map(|both| both as u64 as usize))?, indices)?;
        }
    }
    Ok(())
}

/// Writes the indices of all ranks: of those below the pivot first, then of its equals, then of those above.
fn divide<B: Bits, I: Index>(
    ranks: impl ExactSizeIterator<Item = B> + Clone,
    pivot: B,
    indices: &mut [I],
) -> Result<(), Error> {
    let last = indices.len() - 1;
    I::from_usize(last).ok_or(Error::NoSuchPlace { index: last, len: indices.len() })?;
    let number = |index| I::from_usize(index).expect("the last index fits");
    // Every index is written at both ends, and what is not kept there is written over: no branch, which nobody could foresee.
    let (mut below, mut above) = (0, last);
    for (index, rank) in ranks.clone().enumerate() {
        let index = number(index);
        (indices[below], indices[above]) = (index, index);
        // The last place that is left is that of an equal: there is one.
        below += usize::from(rank < pivot);
        above -= usize::from(rank > pivot);
    }
    let equal = ranks.enumerate().filter(|&(_, rank)| rank == pivot);
    indices[below..=above].iter_mut().zip(equal).for_each(|(place, (index, _))| *place = number(index));
    Ok(())
}

/// Merges two sorted slices into a third of their length; of equal keys, those of the first come first.
pub(crate) fn merge<K: NumpyKey>(
    options: &Options,
    missing: Missing,
    (first, second): (&[K], &[K]),
    merged: &mut [K],
) -> Result<(), Error> {
    let order = options.order::<K>(missing);
    if !order.differs_on(first) && !order.differs_on(second) {
        return options.sorter.merge(first, second, merged);
    }
    if merged.len() != first.len() + second.len() {
        return Err(Error::OutputLength { needed: first.len() + second.len(), given: merged.len() });
    }
    merged[..first.len()].copy_from_slice(first);
    merged[first.len()..].copy_from_slice(second);
    let parts = Parts::Rows { len: merged.len(), row: merged.len() };
    sort(&Options { stable: true, ..options.clone() }, missing, merged, parts)
}

/// Where each key would go among sorted ones: before those that are equal, or behind them.
pub(crate) fn searchsorted<K: NumpyKey, I: Index>(
    options: &Options,
    missing: Missing,
    (sorted, keys): (&[K], &[K]),
    is_right: bool,
    places: &mut [I],
) -> Result<(), Error> {
    let order = options.order::<K>(missing);
    // The place of the key before is a good place to begin with where keys ascend.
    let mut before: Option<(K::Bits, usize)> = None;
    for (place, &key) in places.iter_mut().zip(keys) {
        let rank = order.rank(key);
        let from = before.filter(|&(other, _)| other <= rank).map_or(0, |(_, place)| place);
        let is_less = |&other: &K| match is_right {
            false => order.rank(other) < rank,
            true => order.rank(other) <= rank,
        };
        let index = from + gallop(&sorted[from..], is_less);
        before = Some((rank, index));
        *place = I::from_usize(index).ok_or(Error::NoSuchPlace { index, len: sorted.len() })?;
    }
    Ok(())
}

/// As `partition_point`, in steps that double from the beginning on: fast where the point is near.
fn gallop<K>(keys: &[K], is_before: impl Fn(&K) -> bool) -> usize {
    let mut end = 1;
    while end < keys.len() && is_before(&keys[end]) {
        end *= 2;
    }
    let start = end / 2;
    start + keys[start..end.min(keys.len())].partition_point(is_before)
}

/// Whether every row is in order.
pub(crate) fn is_sorted<K: NumpyKey>(options: &Options, missing: Missing, keys: &[K], row: usize) -> bool {
    let order = options.order::<K>(missing);
    row == 0 || keys.chunks_exact(row).all(|row| row.is_sorted_by_key(|&key| order.rank(key)))
}
