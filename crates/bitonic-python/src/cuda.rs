//! Arrays on a CUDA device: sorted where they are, on the stream of their owner.

use crate::element::{Element, with_key};
use crate::error::raise;
use crate::operations::Options;
use crate::sorter::Sorter;
use bitonic::cuda::cudarc::driver::sys::{CUdeviceptr, CUstream};
use bitonic::cuda::cudarc::driver::{CudaStream, DevicePtr, DevicePtrMut, DeviceSlice, SyncOnDrop};
use bitonic::cuda::{Device, DeviceChoice, ResidentSorter};
use bitonic::{Error, Order};
use numpy::PyArrayDescr;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::sync::Arc;

/// An array that another library owns: where it begins, and how many elements it has.
struct Foreign {
    address: CUdeviceptr,
    len: usize,
    stream: Arc<CudaStream>,
}

impl<T> DeviceSlice<T> for Foreign {
    fn len(&self) -> usize {
        self.len
    }

    fn stream(&self) -> &Arc<CudaStream> {
        &self.stream
    }
}

impl<T> DevicePtr<T> for Foreign {
    /// As below.
    fn device_ptr<'a>(&'a self, _: &'a CudaStream) -> (CUdeviceptr, SyncOnDrop<'a>) {
        (self.address, SyncOnDrop::Record(None))
    }
}

impl<T> DevicePtrMut<T> for Foreign {
    /// Its owner's work is on the same stream, so that nothing has to be waited for.
    fn device_ptr_mut<'a>(&'a mut self, _: &'a CudaStream) -> (CUdeviceptr, SyncOnDrop<'a>) {
        (self.address, SyncOnDrop::Record(None))
    }
}

/// The workspace of sorts that need none.
const NO_ROOM: (u64, usize) = (0, 0);

/// A device's sorter, and a stream of somebody else on it.
struct Place {
    sorter: ResidentSorter,
    stream: Arc<CudaStream>,
}

impl Place {
    /// In the device's primary context, which the CUDA runtime uses, and so every library that hands out arrays.
    fn open(device: usize, stream: usize, options: &Options) -> Result<Self, Error> {
        let device = Device::open(&DeviceChoice::Index(device))?;
        let order = if options.descending { Order::Descending } else { Order::Ascending };
        let sorter = ResidentSorter::new(device.context())?.order(order).nan_last(!options.total);
        // SAFETY: the caller names a stream of the primary context, which its owner keeps while the call lasts; the wrapper does not
        // outlive the call. Work is ordered by being on that very stream.
        let stream = unsafe { device.context().wrap_borrowed_stream(stream as CUstream) };
        Ok(Self { sorter, stream })
    }

    fn array(&self, (address, len): (u64, usize)) -> Foreign {
        Foreign { address, len, stream: self.stream.clone() }
    }
}

/// What is beside the keys.
#[derive(Clone, Copy)]
enum Beside {
    Nothing,
    /// A place for the index that each key had, as 32 bits.
    Indices,
    /// Values of 32 bits.
    Narrow,
    /// Values of 64 bits.
    Wide,
}

impl Beside {
    fn of(name: &str) -> PyResult<Self> {
        match name {
            "nothing" => Ok(Self::Nothing),
            "indices" => Ok(Self::Indices),
            "narrow" => Ok(Self::Narrow),
            "wide" => Ok(Self::Wide),
            _ => Err(PyValueError::new_err(format!("keys cannot have '{name}' beside them"))),
        }
    }
}

#[pymethods]
impl Sorter {
    /// The bytes that make a sort on a device the fastest: of rows, or of one row with what is beside it.
    #[pyo3(signature = (dtype, len, row, beside, device, /))]
    fn device_workspace(
        &self,
        py: Python<'_>,
        dtype: &Bound<'_, PyArrayDescr>,
        len: usize,
        row: usize,
        beside: &str,
        device: usize,
    ) -> PyResult<usize> {
        let (element, options, beside) = (Element::of(dtype)?, &self.options, Beside::of(beside)?);
        let bytes = py.detach(|| {
            let Place { sorter, .. } = Place::open(device, 0, options)?;
            with_key!(element, K => match beside {
                Beside::Nothing if row == len => Ok(sorter.workspace_size::<K>(len)),
                Beside::Nothing => Ok(sorter.workspace_size_rows::<K>(len.checked_div(row).unwrap_or(0), row)),
                Beside::Indices => sorter.workspace_size_argsort::<K>(len),
                Beside::Narrow => sorter.workspace_size_pairs::<K, u32>(len),
                Beside::Wide => sorter.workspace_size_pairs::<K, u64>(len),
            })
        });
        bytes.map_err(raise)
    }

    /// Queues a sort of rows of an array on a device, with a workspace if one is given; of another array's, which stays, if that is given.
    #[pyo3(signature = (dtype, array, row, device, stream, workspace=None, source=None, /))]
    #[allow(clippy::too_many_arguments, reason = "numbers that name one array; only `_device.py` calls it")]
    fn device_sort(
        &self,
        py: Python<'_>,
        dtype: &Bound<'_, PyArrayDescr>,
        array: (u64, usize),
        row: usize,
        device: usize,
        stream: usize,
        workspace: Option<(u64, usize)>,
        source: Option<(u64, usize)>,
    ) -> PyResult<()> {
        let (element, options) = (Element::of(dtype)?, &self.options);
        let queued = py.detach(|| {
            let place = Place::open(device, stream, options)?;
            let Place { sorter, stream } = &place;
            let mut keys = place.array(array);
            with_key!(element, K => match (source, workspace) {
                (None, None) => sorter.sort_rows::<K>(stream, &mut keys, row),
                (None, Some(room)) => {
                    sorter.with_workspace(&mut place.array(room)).sort_rows::<K>(stream, &mut keys, row)
                }
                (Some(source), room) => {
                    let (source, mut room) = (place.array(source), place.array(room.unwrap_or(NO_ROOM)));
                    sorter.with_workspace(&mut room).sort_rows_to::<K>(stream, &source, &mut keys, row)
                }
            })
        });
        queued.map_err(raise)
    }

    /// Queues a sort of an array on a device with what is beside it: values that move with the keys, or a place for indices; these also of
    /// another array's keys, which stay.
    #[pyo3(signature = (dtype, array, beside, other, device, stream, workspace=None, source=None, /))]
    #[allow(clippy::too_many_arguments, reason = "as above")]
    fn device_sort_both(
        &self,
        py: Python<'_>,
        dtype: &Bound<'_, PyArrayDescr>,
        array: (u64, usize),
        beside: &str,
        other: (u64, usize),
        device: usize,
        stream: usize,
        workspace: Option<(u64, usize)>,
        source: Option<(u64, usize)>,
    ) -> PyResult<()> {
        let (element, options, beside) = (Element::of(dtype)?, &self.options, Beside::of(beside)?);
        if source.is_some() && !matches!(beside, Beside::Indices) {
            return Err(PyValueError::new_err("of another array's keys, only indices are found"));
        }
        let queued = py.detach(|| {
            let place = Place::open(device, stream, options)?;
            let Place { sorter, stream } = &place;
            let (mut keys, mut other) = (place.array(array), place.array(other));
            if let Some(source) = source {
                let (source, mut room) = (place.array(source), place.array(workspace.unwrap_or(NO_ROOM)));
                let mut sorter = sorter.with_workspace(&mut room);
                return with_key!(element, K => {
                    sorter.argsort_to::<K>(stream, &source, &mut keys, &mut other)
                });
            }
            // The methods of a sorter and of one with a workspace are the same.
            macro_rules! queue {
                ($sorter:expr) => {
                    with_key!(element, K => match beside {
                        Beside::Nothing => $sorter.sort::<K>(stream, &mut keys),
                        Beside::Indices => $sorter.argsort::<K>(stream, &mut keys, &mut other),
                        Beside::Narrow => $sorter.sort_pairs::<K, u32>(stream, &mut keys, &mut other),
                        Beside::Wide => $sorter.sort_pairs::<K, u64>(stream, &mut keys, &mut other),
                    })
                };
            }
            match workspace {
                None => queue!(sorter),
                Some(room) => queue!(sorter.with_workspace(&mut place.array(room))),
            }
        });
        queued.map_err(raise)
    }

    /// The bytes that a sort of segments on a device needs, with what is beside the keys.
    #[pyo3(signature = (dtype, len, segments, longest, beside, device, /))]
    #[allow(clippy::too_many_arguments, reason = "as above")]
    fn device_segments_workspace(
        &self,
        py: Python<'_>,
        dtype: &Bound<'_, PyArrayDescr>,
        len: usize,
        segments: usize,
        longest: usize,
        beside: &str,
        device: usize,
    ) -> PyResult<usize> {
        let (element, options, beside) = (Element::of(dtype)?, &self.options, Beside::of(beside)?);
        let bytes = py.detach(|| {
            let Place { sorter, .. } = Place::open(device, 0, options)?;
            with_key!(element, K => match beside {
                Beside::Nothing => sorter.workspace_size_segments::<K>(len, segments, longest),
                Beside::Indices => sorter.workspace_size_argsort_segments::<K>(len, segments, longest),
                Beside::Narrow => sorter.workspace_size_pairs_segments::<K, u32>(len, segments, longest),
                Beside::Wide => sorter.workspace_size_pairs_segments::<K, u64>(len, segments, longest),
            })
        });
        bytes.map_err(raise)
    }

    /// Queues a sort of segments of an array on a device, with what is beside the keys. Offsets have 32 bits, or 64 if they are wide.
    #[pyo3(signature = (dtype, array, beside, other, offsets, wide, longest, device, stream, workspace, /))]
    #[allow(clippy::too_many_arguments, reason = "as above")]
    fn device_segments(
        &self,
        py: Python<'_>,
        dtype: &Bound<'_, PyArrayDescr>,
        array: (u64, usize),
        beside: &str,
        other: (u64, usize),
        offsets: (u64, usize),
        wide: bool,
        longest: usize,
        device: usize,
        stream: usize,
        workspace: (u64, usize),
    ) -> PyResult<()> {
        let (element, options, beside) = (Element::of(dtype)?, &self.options, Beside::of(beside)?);
        let queued = py.detach(|| {
            let place = Place::open(device, stream, options)?;
            let Place { sorter, stream } = &place;
            let (mut keys, mut other) = (place.array(array), place.array(other));
            let (offsets, mut room) = (place.array(offsets), place.array(workspace));
            let mut sorter = sorter.with_workspace(&mut room);
            with_key!(element, K => match (beside, wide) {
                (Beside::Nothing, false) => sorter.sort_segments::<K, u32>(stream, &mut keys, &offsets, longest),
                (Beside::Nothing, true) => sorter.sort_segments::<K, u64>(stream, &mut keys, &offsets, longest),
                (Beside::Indices, false) => {
                    sorter.argsort_segments::<K, u32>(stream, &mut keys, &mut other, &offsets, longest)
                }
                (Beside::Indices, true) => {
                    sorter.argsort_segments::<K, u64>(stream, &mut keys, &mut other, &offsets, longest)
                }
                (Beside::Narrow, false) => {
                    sorter.sort_pairs_segments::<K, u32, u32>(stream, &mut keys, &mut other, &offsets, longest)
                }
                (Beside::Narrow, true) => {
                    sorter.sort_pairs_segments::<K, u32, u64>(stream, &mut keys, &mut other, &offsets, longest)
                }
                (Beside::Wide, false) => {
                    sorter.sort_pairs_segments::<K, u64, u32>(stream, &mut keys, &mut other, &offsets, longest)
                }
                (Beside::Wide, true) => {
                    sorter.sort_pairs_segments::<K, u64, u64>(stream, &mut keys, &mut other, &offsets, longest)
                }
            })
        });
        queued.map_err(raise)
    }

    /// The bytes that make a search for the best keys of rows on a device the fastest.
    #[pyo3(signature = (dtype, len, row, k, device, /))]
    fn device_topk_workspace(
        &self,
        py: Python<'_>,
        dtype: &Bound<'_, PyArrayDescr>,
        len: usize,
        row: usize,
        k: usize,
        device: usize,
    ) -> PyResult<usize> {
        let (element, options) = (Element::of(dtype)?, &self.options);
        let bytes = py.detach(|| {
            let Place { sorter, .. } = Place::open(device, 0, options)?;
            with_key!(element, K => sorter.workspace_size_top_k::<K>(len, row, k))
        });
        bytes.map_err(raise)
    }

    /// Queues a search for the best keys of rows of an array on a device; indices have 32 bits.
    #[pyo3(signature = (dtype, array, row, k, best, indices, device, stream, workspace=None, /))]
    #[allow(clippy::too_many_arguments, reason = "as above")]
    fn device_topk(
        &self,
        py: Python<'_>,
        dtype: &Bound<'_, PyArrayDescr>,
        array: (u64, usize),
        row: usize,
        k: usize,
        best: (u64, usize),
        indices: (u64, usize),
        device: usize,
        stream: usize,
        workspace: Option<(u64, usize)>,
    ) -> PyResult<()> {
        let (element, options) = (Element::of(dtype)?, &self.options);
        let queued = py.detach(|| {
            let place = Place::open(device, stream, options)?;
            let Place { sorter, stream } = &place;
            let keys = place.array(array);
            let (mut best, mut indices) = (place.array(best), place.array(indices));
            with_key!(element, K => match workspace {
                None => sorter.top_k_rows::<K>(stream, &keys, row, k, &mut best, &mut indices),
                Some(room) => {
                    let mut room = place.array(room);
                    let mut sorter = sorter.with_workspace(&mut room);
                    sorter.top_k_rows::<K>(stream, &keys, row, k, &mut best, &mut indices)
                }
            })
        });
        queued.map_err(raise)
    }

    /// The bytes that make a search for the best keys of segments on a device the fastest.
    #[pyo3(signature = (dtype, len, segments, longest, k, device, /))]
    #[allow(clippy::too_many_arguments, reason = "as above")]
    fn device_topk_segments_workspace(
        &self,
        py: Python<'_>,
        dtype: &Bound<'_, PyArrayDescr>,
        len: usize,
        segments: usize,
        longest: usize,
        k: usize,
        device: usize,
    ) -> PyResult<usize> {
        let (element, options) = (Element::of(dtype)?, &self.options);
        let bytes = py.detach(|| {
            let Place { sorter, .. } = Place::open(device, 0, options)?;
            with_key!(element, K => sorter.workspace_size_top_k_segments::<K>(len, segments, longest, k))
        });
        bytes.map_err(raise)
    }

    /// Queues a search for the best keys of segments of an array on a device; indices have 32 bits. Segments have k places each.
    #[pyo3(signature = (dtype, array, offsets, wide, longest, k, best, indices, device, stream, workspace, /))]
    #[allow(clippy::too_many_arguments, reason = "as above")]
    fn device_topk_segments(
        &self,
        py: Python<'_>,
        dtype: &Bound<'_, PyArrayDescr>,
        array: (u64, usize),
        offsets: (u64, usize),
        wide: bool,
        longest: usize,
        k: usize,
        best: (u64, usize),
        indices: (u64, usize),
        device: usize,
        stream: usize,
        workspace: (u64, usize),
    ) -> PyResult<()> {
        let (element, options) = (Element::of(dtype)?, &self.options);
        let queued = py.detach(|| {
            let place = Place::open(device, stream, options)?;
            let Place { sorter, stream } = &place;
            let (keys, mut room) = (place.array(array), place.array(workspace));
            let (mut best, mut indices) = (place.array(best), place.array(indices));
            let mut sorter = sorter.with_workspace(&mut room);
            with_key!(element, K => if wide {
                let offsets = (&place.array(offsets), longest);
                sorter.top_k_segments::<K, u64>(stream, &keys, offsets, k, &mut best, &mut indices)
            } else {
                let offsets = (&place.array(offsets), longest);
                sorter.top_k_segments::<K, u32>(stream, &keys, offsets, k, &mut best, &mut indices)
            })
        });
        queued.map_err(raise)
    }
}
