//! Plans and runs requests on the CPU: the one way from a request to the sorts of this folder.

use super::pairs::{self, argsort, indexed, sort_pairs, sort_run};
use super::rows::{Rows, each_row};
use super::scalar::Indexed;
use super::width::{KeysPlan, Settings};
use super::{sort, sort_rows, threads, try_vec};
use crate::key::{BitMap, Key, as_bits_mut};
use crate::plan::{Memory, Plan};
use crate::request::{Request, Segments};
use crate::{Engine, Error};
use std::borrow::Cow;

/// What [`sort_segments`] will do.
pub(crate) fn plan_keys<K: Key>(request: &Request, settings: Settings) -> Result<Plan, Error> {
    plan(request, settings, super::plan::<K>(request.segments.longest(), settings))
}

/// What [`sort_pairs`] and [`sort_pairs_of_rows`] will do.
pub(crate) fn plan_pairs<K: Key, V>(request: &Request, settings: Settings) -> Result<Plan, Error> {
    let mut keys = pairs::plan_pairs::<K, V>(request.segments.longest(), request.stable, settings);
    if request.stable && matches!(request.segments, Segments::Rows { .. }) {
        let each = if request.oblivious {
            size_of::<Indexed<K::Bits>>()
        } else {
            size_of::<usize>() + size_of::<K>() + size_of::<V>()
        };
        keys.scratch_bytes = request.len().saturating_mul(each);
    }
    plan(request, settings, keys)
}

/// What [`argsort_segments`] will do. Its result is not counted as working memory.
pub(crate) fn plan_argsort<K: Key>(request: &Request, settings: Settings) -> Result<Plan, Error> {
    plan(request, settings, pairs::plan_argsort::<K>(request.segments.longest(), settings))
}

/// The plan of a request whose segments are sorted like this.
fn plan(request: &Request, settings: Settings, of_segment: KeysPlan) -> Result<Plan, Error> {
    Ok(Plan {
        request: *request,
        engine: Engine::Cpu,
        device: Cow::Borrowed(super::device()),
        algorithm: of_segment.algorithm,
        limits: of_segment.limits,
        threads: threads::count_for(request.len(), settings.threads),
        instructions: Some(settings.instructions.set()),
        kernels: None,
        chunks: None,
        memory: Memory { host: of_segment.scratch_bytes, ..Memory::default() },
        predicted: None,
    })
}

/// Sorts every segment.
pub(crate) fn sort_segments<K: Key>(
    keys: &mut [K],
    segments: Segments,
    settings: Settings,
) -> Result<(), Error> {
    match segments {
        Segments::One { .. } => sort(keys, settings),
        Segments::Rows { row_length, .. } => sort_rows(keys, row_length, settings),
    }
}

/// The index of every key in its segment, in the order of the segment; equal keys by index.
pub(crate) fn argsort_segments<K: Key>(
    keys: &[K],
    segments: Segments,
    settings: Settings,
) -> Result<Vec<usize>, Error> {
    match segments {
        Segments::One { .. } => argsort(keys, settings),
        Segments::Rows { row_length, .. } => argsort_rows(keys, row_length, settings),
    }
}

/// The index of every key in its row, in the order of the row; equal keys by index.
fn argsort_rows<K: Key>(keys: &[K], row_length: usize, settings: Settings) -> Result<Vec<usize>, Error> {
    let mut indices = try_vec(keys.len())?;
    indices.resize(keys.len(), 0);
    let one = Settings { threads: Some(1), ..settings };
    let rows = Rows::new(&mut indices, row_length);
    each_row(keys.len(), row_length, settings.threads, &|row| {
        let sorted = argsort(&keys[row * row_length..][..row_length], one)?;
        // SAFETY: every row comes once.
        unsafe { rows.row(row) }.copy_from_slice(&sorted);
        Ok(())
    })?;
    Ok(indices)
}

/// Sorts every row of keys, and moves every value with its key. Rows before another may be sorted already, so memory is asked for
/// before the first is, or done without.
pub(crate) fn sort_pairs_of_rows<K: Key, V: Copy + Send>(
    keys: &mut [K],
    values: &mut [V],
    row_length: usize,
    stable: bool,
    settings: Settings,
) -> Result<(), Error> {
    if keys.is_empty() {
        return Ok(());
    }
    let one = Settings { threads: Some(1), ..settings };
    match (stable, settings.oblivious) {
        (false, _) => {
            // Where memory is refused, the network, which needs none, sorts the row.
            let in_place = Settings { oblivious: true, ..one };
            let len = keys.len();
            let (keys, values) = (Rows::new(keys, row_length), Rows::new(values, row_length));
            each_row(len, row_length, settings.threads, &|row| {
                // SAFETY: every row comes once.
                let (keys, values) = unsafe { (keys.row(row), values.row(row)) };
                sort_pairs(keys, values, false, one).or_else(|_| {
                    crate::key::with_ordered_bits(keys, settings.order, |bits| {
                        sort_run(bits, values, in_place)
                    })
                })
            })
        }
        (true, false) => {
            let indices = argsort_rows(keys, row_length, settings)?;
            let (mut sorted_keys, mut sorted_values) = (try_vec(keys.len())?, try_vec(values.len())?);
            for (row, indices) in indices.chunks(row_length).enumerate() {
                let start = row * row_length;
                sorted_keys.extend(indices.iter().map(|index| keys[start + index]));
                sorted_values.extend(indices.iter().map(|index| values[start + index]));
            }
            keys.copy_from_slice(&sorted_keys);
            values.copy_from_slice(&sorted_values);
            Ok(())
        }
        (true, true) => {
            let mut elements = Vec::new();
            for row in keys.chunks(row_length) {
                elements
                    .try_reserve_exact(if elements.is_empty() { keys.len() } else { 0 })
                    .map_err(|_| Error::OutOfMemory { bytes: keys.len() * size_of::<Indexed<K::Bits>>() })?;
                elements.extend(indexed(row, settings)?);
            }
            for (elements, values) in elements.chunks_mut(row_length).zip(values.chunks_mut(row_length)) {
                sort_run(elements, values, one)?;
            }
            let map = BitMap::new(K::TYPE.form(), settings.order);
            // SAFETY: the elements are a permutation of those made of these keys, so that every key gets the bits of one.
            let all_bits = unsafe { as_bits_mut(keys) };
            for (bits, element) in all_bits.iter_mut().zip(&elements) {
                *bits = map.from_ordered(element.key);
            }
            Ok(())
        }
    }
}
