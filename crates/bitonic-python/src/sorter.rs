//! The class behind the functions: what was asked for, and the operations on arrays that are ready.

use crate::array::{Parts, Ready, Words, check_apart, with_words};
use crate::element::with_key;
use crate::error::raise;
use crate::operations::{self, Options};
use bitonic::{Engine, Error, Order};
use numpy::PyUntypedArray;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;

/// A sort with options. Its methods take arrays that are contiguous, aligned and native, and work along the last axis.
#[pyclass(frozen, module = "bitonic._core")]
pub(crate) struct Sorter {
    pub(crate) options: Options,
}

type Array<'a, 'py> = &'a Bound<'py, PyUntypedArray>;

/// Below this many keys a sort is done before another thread would have started.
const KEPT_LOCK: usize = 4096;

/// Works without the interpreter's lock where it takes long; then looks whether Ctrl-C was pressed.
fn work<R: Send>(py: Python<'_>, len: usize, work: impl FnOnce() -> Result<R, Error> + Send) -> PyResult<R> {
    if len < KEPT_LOCK {
        return work().map_err(raise);
    }
    let done = py.detach(work).map_err(raise)?;
    py.check_signals()?;
    Ok(done)
}

fn same_type(first: &Ready, second: &Ready) -> PyResult<()> {
    if first.element.key == second.element.key {
        return Ok(());
    }
    Err(PyTypeError::new_err("the two arrays have different dtypes: convert one with astype"))
}

fn check_length(needed: usize, given: usize) -> PyResult<()> {
    if needed == given {
        return Ok(());
    }
    Err(raise(Error::OutputLength { needed, given }))
}

/// The places of a partition, in ascending order, each once.
fn places(mut kth: Vec<isize>, row: usize) -> PyResult<Vec<usize>> {
    for place in &mut kth {
        let counted = if *place < 0 { *place + row as isize } else { *place };
        if counted < 0 || counted >= row as isize {
            return Err(PyValueError::new_err(format!(
                "kth is {place} and the axis has {row} keys: give kth from {} to {}",
                -(row as isize),
                row as isize - 1
            )));
        }
        *place = counted;
    }
    kth.sort_unstable();
    kth.dedup();
    Ok(kth.into_iter().map(|place| place as usize).collect())
}

#[pymethods]
impl Sorter {
    #[new]
    fn new(
        descending: bool,
        stable: bool,
        nan: &str,
        engine: &str,
        threads: Option<usize>,
        oblivious: bool,
    ) -> PyResult<Self> {
        let total = match nan {
            "last" => false,
            "total" => true,
            other => {
                let reason = format!("unknown place for NaN '{other}': use one of 'last', 'total'");
                return Err(PyValueError::new_err(reason));
            }
        };
        let engine: Engine = engine.parse().map_err(raise)?;
        if threads == Some(0) {
            return Err(PyValueError::new_err("threads is 0: give 1 or more, or None for all cores"));
        }
        let order = if descending { Order::Descending } else { Order::Ascending };
        let sorter = bitonic::Sorter::new()
            .engine(engine)
            .order(order)
            .stable(stable)
            .threads(threads.unwrap_or(0))
            .oblivious(oblivious);
        let is_plain = matches!(engine, Engine::Auto | Engine::Cpu) && !oblivious;
        let is_unlimited = engine == Engine::Auto && threads.is_none();
        let options = Options { sorter, is_plain, is_unlimited, descending, stable, total, oblivious };
        Ok(Self { options })
    }

    /// Sorts rows, or segments between offsets, in place.
    #[pyo3(signature = (array, offsets=None, /))]
    fn sort(&self, py: Python<'_>, array: Array<'_, '_>, offsets: Option<Vec<usize>>) -> PyResult<()> {
        let keys = Ready::written(array)?;
        with_key!(keys.element, K => work(py, keys.len(), || {
            // SAFETY: the type is the element's; the caller holds the array, and promises that no other thread uses it, as for
            // NumPy's own sort in place.
            let slice = unsafe { keys.keys_mut::<K>() };
            operations::sort(&self.options, keys.element.missing, slice, parts(&keys, &offsets))
        }))
    }

    /// Writes the indices that sort rows or segments.
    #[pyo3(signature = (array, indices, offsets=None, /))]
    fn argsort(
        &self,
        py: Python<'_>,
        array: Array<'_, '_>,
        indices: Array<'_, '_>,
        offsets: Option<Vec<usize>>,
    ) -> PyResult<()> {
        let (keys, indices) = (Ready::read(array)?, Words::written(indices)?);
        if offsets.is_none() {
            check_length(keys.len(), indices.len())?;
        }
        indices.check_indices(keys.row)?;
        check_apart(&[keys.range(), indices.range()])?;
        with_key!(keys.element, K => work(py, keys.len(), || {
            // SAFETY: as in `sort`; the arrays share no memory.
            let (slice, indices) = unsafe { (keys.keys::<K>(), indices.slice()) };
            let (missing, parts) = (keys.element.missing, parts(&keys, &offsets));
            with_words!(indices, indices => operations::argsort(&self.options, missing, slice, parts, indices))
        }))
    }

    /// Sorts rows or segments in place and moves values of 4 or 8 bytes along.
    #[pyo3(signature = (array, values, offsets=None, /))]
    fn sort_pairs(
        &self,
        py: Python<'_>,
        array: Array<'_, '_>,
        values: Array<'_, '_>,
        offsets: Option<Vec<usize>>,
    ) -> PyResult<()> {
        let (keys, values) = (Ready::written(array)?, Words::written(values)?);
        if keys.len() != values.len() {
            return Err(raise(Error::LengthMismatch { keys: keys.len(), values: values.len() }));
        }
        check_apart(&[keys.range(), values.range()])?;
        with_key!(keys.element, K => work(py, keys.len(), || {
            // SAFETY: as in `sort`; the arrays share no memory.
            let (slice, values) = unsafe { (keys.keys_mut::<K>(), values.slice()) };
            let (missing, parts) = (keys.element.missing, parts(&keys, &offsets));
            with_words!(values, values => operations::sort_pairs(&self.options, missing, slice, values, parts))
        }))
    }

    /// Writes the first k keys of every row or segment, in order, and their indices.
    #[pyo3(signature = (array, k, best, indices, offsets=None, /))]
    #[allow(clippy::too_many_arguments, reason = "what Python gives is named there")]
    fn topk(
        &self,
        py: Python<'_>,
        array: Array<'_, '_>,
        k: usize,
        best: Array<'_, '_>,
        indices: Array<'_, '_>,
        offsets: Option<Vec<usize>>,
    ) -> PyResult<()> {
        let (keys, best, indices) = (Ready::read(array)?, Ready::written(best)?, Words::written(indices)?);
        same_type(&keys, &best)?;
        check_length(best.len(), indices.len())?;
        indices.check_indices(keys.row)?;
        check_apart(&[keys.range(), best.range(), indices.range()])?;
        with_key!(keys.element, K => work(py, keys.len(), || {
            // SAFETY: as in `sort`; the arrays share no memory.
            let (slice, best, indices) = unsafe { (keys.keys::<K>(), best.keys_mut::<K>(), indices.slice()) };
            let (missing, parts) = (keys.element.missing, parts(&keys, &offsets));
            with_words!(indices, indices => {
                operations::topk(&self.options, missing, slice, parts, k, (best, indices))
            })
        }))
    }

    /// Partitions rows in place.
    #[pyo3(signature = (array, kth, /))]
    fn partition(&self, py: Python<'_>, array: Array<'_, '_>, kth: Vec<isize>) -> PyResult<()> {
        let keys = Ready::written(array)?;
        let places = places(kth, keys.row)?;
        with_key!(keys.element, K => work(py, keys.len(), || {
            // SAFETY: as in `sort`.
            let slice = unsafe { keys.keys_mut::<K>() };
            operations::partition(&self.options, keys.element.missing, slice, keys.row, &places)
        }))
    }

    /// Writes the indices that partition rows.
    #[pyo3(signature = (array, kth, indices, /))]
    fn argpartition(
        &self,
        py: Python<'_>,
        array: Array<'_, '_>,
        kth: Vec<isize>,
        indices: Array<'_, '_>,
    ) -> PyResult<()> {
        let (keys, indices) = (Ready::read(array)?, Words::written(indices)?);
        let places = places(kth, keys.row)?;
        check_length(keys.len(), indices.len())?;
        indices.check_indices(keys.row)?;
        check_apart(&[keys.range(), indices.range()])?;
        with_key!(keys.element, K => work(py, keys.len(), || {
            // SAFETY: as in `sort`; the arrays share no memory.
            let (slice, indices) = unsafe { (keys.keys::<K>(), indices.slice()) };
            let (missing, row) = (keys.element.missing, keys.row);
            with_words!(indices, indices => {
                operations::argpartition(&self.options, missing, slice, row, &places, indices)
            })
        }))
    }

    /// Merges two sorted arrays into a third.
    #[pyo3(signature = (first, second, merged, /))]
    fn merge(
        &self,
        py: Python<'_>,
        first: Array<'_, '_>,
        second: Array<'_, '_>,
        merged: Array<'_, '_>,
    ) -> PyResult<()> {
        let (first, second, merged) = (Ready::read(first)?, Ready::read(second)?, Ready::written(merged)?);
        same_type(&first, &second)?;
        same_type(&first, &merged)?;
        check_apart(&[first.range(), merged.range()])?;
        check_apart(&[second.range(), merged.range()])?;
        with_key!(first.element, K => work(py, merged.len(), || {
            // SAFETY: as in `sort`; what is written shares no memory with what is read.
            let (both, merged) = unsafe { ((first.keys::<K>(), second.keys::<K>()), merged.keys_mut::<K>()) };
            operations::merge(&self.options, first.element.missing, both, merged)
        }))
    }

    /// Writes the place of every key among sorted ones.
    #[pyo3(signature = (sorted, keys, is_right, places, /))]
    fn searchsorted(
        &self,
        py: Python<'_>,
        sorted: Array<'_, '_>,
        keys: Array<'_, '_>,
        is_right: bool,
        places: Array<'_, '_>,
    ) -> PyResult<()> {
        let (sorted, keys, places) = (Ready::read(sorted)?, Ready::read(keys)?, Words::written(places)?);
        same_type(&sorted, &keys)?;
        check_length(keys.len(), places.len())?;
        places.check_indices(sorted.len() + 1)?;
        check_apart(&[sorted.range(), places.range()])?;
        check_apart(&[keys.range(), places.range()])?;
        with_key!(sorted.element, K => work(py, keys.len(), || {
            // SAFETY: as in `sort`; what is written shares no memory with what is read.
            let (both, places) = unsafe { ((sorted.keys::<K>(), keys.keys::<K>()), places.slice()) };
            let missing = sorted.element.missing;
            with_words!(places, places => operations::searchsorted(&self.options, missing, both, is_right, places))
        }))
    }

    /// Whether every row is in order.
    #[pyo3(signature = (array, /))]
    fn is_sorted(&self, py: Python<'_>, array: Array<'_, '_>) -> PyResult<bool> {
        let keys = Ready::read(array)?;
        with_key!(keys.element, K => work(py, keys.len(), || {
            // SAFETY: as in `sort`.
            let slice = unsafe { keys.keys::<K>() };
            Ok(operations::is_sorted(&self.options, keys.element.missing, slice, keys.row))
        }))
    }
}

/// What is sorted for itself.
fn parts<'a>(keys: &Ready, offsets: &'a Option<Vec<usize>>) -> Parts<'a> {
    match offsets {
        Some(offsets) => Parts::Offsets(offsets),
        None => Parts::Rows { len: keys.len(), row: keys.row },
    }
}
