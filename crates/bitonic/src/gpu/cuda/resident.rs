//! Sorts of arrays that are on the device already.

use super::buffer::Buffer;
use super::device::Device;
use super::engine::{Arrays, Prepared};
use crate::Error;
use crate::gpu::backend::{Backend, Kernels};
use crate::gpu::launches::Job;
use crate::gpu::layout::{Layout, Mapping};
use crate::gpu::sort::sort_buffer;
use crate::key::{Key, Order, plain_number_bytes};
use crate::sorter::rows;
use cudarc::driver::{CudaContext, CudaStream, DevicePtrMut};
use std::sync::Arc;

/// Sorts arrays of your own, in place, on a stream of your own.
///
/// - No copy, no wait: every call queues kernels and returns. What is queued later on the same stream sees the result, and
///   so does what cudarc makes wait for the array.
/// - Memory: none beyond the arrays; [`ResidentSorter::workspace_size`] says so.
/// - Order and result: those of [`Sorter::sort`](crate::Sorter::sort).
/// - The first call for a type and a length range compiles kernels, which takes up to seconds, or loads them from disk;
///   [`ResidentSorter::prepare`] and its like do that beforehand.
/// - Once it is prepared, a sort can be captured into a CUDA graph. As for all work that is captured through cudarc, the
///   arrays must have been made with its event tracking off
///   ([`disable_event_tracking`](CudaContext::disable_event_tracking)): a graph cannot wait for events from outside.
///
/// ```no_run
/// use bitonic::cuda::ResidentSorter;
/// use bitonic::cuda::cudarc::driver::CudaContext;
///
/// let context = CudaContext::new(0)?;
/// let stream = context.new_stream()?;
/// let mut keys = stream.clone_htod(&[3.5_f32, -1.0, 2.0, f32::INFINITY, 0.0])?;
///
/// let sorter = ResidentSorter::new(&context)?;
/// sorter.sort(&stream, &mut keys)?;
///
/// assert_eq!(stream.clone_dtoh(&keys)?, [-1.0, 0.0, 2.0, 3.5, f32::INFINITY]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct ResidentSorter {
    device: Device,
    order: Order,
}

impl ResidentSorter {
    /// For arrays in this context. Keep it as long as its kernels run, or graphs have them.
    ///
    /// cudarc panics where there is no CUDA driver; [`devices`](super::devices) tells beforehand.
    ///
    /// # Errors
    ///
    /// [`Error::EngineUnavailable`] without NVRTC, [`Error::Device`] when the driver does not describe the device.
    pub fn new(context: &Arc<CudaContext>) -> Result<Self, Error> {
        Ok(Self { device: Device::of_context(context)?, order: Order::Ascending })
    }

    /// The direction. Default: ascending.
    pub fn order(mut self, order: Order) -> Self {
        self.order = order;
        self
    }

    /// The bytes that a sort of this many keys needs on the device beyond its arrays: none, it is in place.
    pub fn workspace_size<K: Key>(&self, _len: usize) -> usize {
        0
    }

    /// Compiles and loads the kernels that [`ResidentSorter::sort`] of this many keys needs.
    ///
    /// # Errors
    ///
    /// [`Error::KernelBuild`] with the compiler's log.
    pub fn prepare<K: Key>(&self, len: usize) -> Result<(), Error> {
        self.prepare_rows::<K>(1, len)
    }

    /// Compiles and loads the kernels that [`ResidentSorter::sort_rows`] of this many rows needs.
    ///
    /// # Errors
    ///
    /// As for [`ResidentSorter::prepare`].
    pub fn prepare_rows<K: Key>(&self, rows: usize, row_length: usize) -> Result<(), Error> {
        self.prepared(&self.job::<K>(Layout::keys::<K>(), row_length, rows)).map(drop)
    }

    /// Compiles and loads the kernels that [`ResidentSorter::sort_pairs`] of this many keys needs.
    ///
    /// # Errors
    ///
    /// As for [`ResidentSorter::prepare`], and [`Error::Device`] for values of another type.
    pub fn prepare_pairs<K: Key, V: Copy>(&self, len: usize) -> Result<(), Error> {
        self.prepared(&self.job::<K>(self.pairs::<K, V>()?, len, 1)).map(drop)
    }

    /// Compiles and loads the kernels that [`ResidentSorter::argsort`] of this many keys needs.
    ///
    /// # Errors
    ///
    /// As for [`ResidentSorter::prepare`], and [`Error::Device`] when the indices do not fit 32 bits.
    pub fn prepare_argsort<K: Key>(&self, len: usize) -> Result<(), Error> {
        self.prepared(&self.job::<K>(self.indices::<K>(len)?, len, 1)).map(drop)
    }

    /// Queues a sort of all keys of an array or of a part of one: a `CudaSlice` or a `CudaViewMut`.
    ///
    /// # Errors
    ///
    /// [`Error::Device`] when stream or array belong to another context, or the device fails; [`Error::KernelBuild`] when
    /// the compiler refuses a kernel.
    pub fn sort<K: Key>(&self, stream: &CudaStream, keys: &mut impl DevicePtrMut<K>) -> Result<(), Error> {
        let row_length = keys.len();
        self.sort_rows(stream, keys, row_length)
    }

    /// Queues a sort of every row of `row_length` keys.
    ///
    /// # Errors
    ///
    /// As for [`ResidentSorter::sort`], and [`Error::Rows`] when the keys are no whole number of rows.
    pub fn sort_rows<K: Key>(
        &self,
        stream: &CudaStream,
        keys: &mut impl DevicePtrMut<K>,
        row_length: usize,
    ) -> Result<(), Error> {
        let rows = rows(keys.len(), row_length)?;
        self.check_contexts([stream, keys.stream()])?;
        let prepared = self.prepared(&self.job::<K>(Layout::keys::<K>(), row_length, rows))?;
        let (keys, _recorded_after) = keys.device_ptr_mut(stream);
        // SAFETY: everything is of the sorter's context, the array holds the job's keys and is borrowed exclusively, and
        // cudarc makes its other users wait.
        unsafe { prepared.enqueue(stream, Arrays { keys, values: None }) }
    }

    /// Queues a sort of keys that moves every value with its key. Not stable. Values are numbers of 32 or 64 bits, as many
    /// as there are keys.
    ///
    /// # Errors
    ///
    /// As for [`ResidentSorter::sort`], [`Error::LengthMismatch`] when keys and values differ in number, and
    /// [`Error::Device`] for values of another type.
    pub fn sort_pairs<K: Key, V: Copy>(
        &self,
        stream: &CudaStream,
        keys: &mut impl DevicePtrMut<K>,
        values: &mut impl DevicePtrMut<V>,
    ) -> Result<(), Error> {
        let layout = self.pairs::<K, V>()?;
        self.sort_both(stream, keys, values, layout)
    }

    /// Queues a sort of keys that writes the index that each had to `indices`, equal keys by lowest index. What `indices`
    /// held does not matter; gathering anything by them is a stable sort of it.
    ///
    /// # Errors
    ///
    /// As for [`ResidentSorter::sort`], [`Error::LengthMismatch`] when there are not as many places for indices as keys, and
    /// [`Error::Device`] when the indices do not fit 32 bits.
    pub fn argsort<K: Key>(
        &self,
        stream: &CudaStream,
        keys: &mut impl DevicePtrMut<K>,
        indices: &mut impl DevicePtrMut<u32>,
    ) -> Result<(), Error> {
        let layout = self.indices::<K>(keys.len())?;
        self.sort_both(stream, keys, indices, layout)
    }

    fn sort_both<K: Key, V>(
        &self,
        stream: &CudaStream,
        keys: &mut impl DevicePtrMut<K>,
        values: &mut impl DevicePtrMut<V>,
        layout: Layout,
    ) -> Result<(), Error> {
        if keys.len() != values.len() {
            return Err(Error::LengthMismatch { keys: keys.len(), values: values.len() });
        }
        self.check_contexts([stream, keys.stream(), values.stream()])?;
        let prepared = self.prepared(&self.job::<K>(layout, keys.len(), 1))?;
        let (keys, _keys_recorded_after) = keys.device_ptr_mut(stream);
        let (values, _values_recorded_after) = values.device_ptr_mut(stream);
        // SAFETY: everything is of the sorter's context, the arrays hold the job's keys and values and are borrowed
        // exclusively, and cudarc makes their other users wait.
        unsafe { prepared.enqueue(stream, Arrays { keys, values: Some(values) }) }
    }

    fn pairs<K: Key, V: Copy>(&self) -> Result<Layout, Error> {
        plain_number_bytes::<V>()
            .and_then(Layout::pairs::<K>)
            .ok_or_else(|| self.refuse("values must be numbers of 32 or 64 bits".to_owned()))
    }

    fn indices<K: Key>(&self, len: usize) -> Result<Layout, Error> {
        let layout = Layout::indexed::<K>(len);
        if layout.value_bits == 32 {
            return Ok(layout);
        }
        Err(self.refuse(format!("{len} indices do not fit 32 bits")))
    }

    fn job<K: Key>(&self, layout: Layout, row_length: usize, rows: usize) -> Job {
        Job { layout, mapping: Mapping::new::<K>(self.order), row_length, rows }
    }

    fn prepared(&self, job: &Job) -> Result<Prepared, Error> {
        Prepared::new(&self.device, job, self.device.shape(job))
    }

    fn check_contexts<const N: usize>(&self, streams: [&CudaStream; N]) -> Result<(), Error> {
        if streams.iter().all(|stream| **stream.context() == **self.device.context()) {
            return Ok(());
        }
        Err(self.refuse("stream or array belong to another context than the sorter".to_owned()))
    }

    fn refuse(&self, reason: String) -> Error {
        Error::Device { device: self.device.info().name.clone(), operation: "sort the array", reason }
    }
}

impl Device {
    /// Sorts rows of keys in a buffer of this device on its own stream, and waits: for measuring kernels without transfers.
    ///
    /// # Errors
    ///
    /// [`Error::Rows`] when `len` is no whole number of rows, [`Error::Device`] when the buffer has fewer keys or the device
    /// fails, [`Error::KernelBuild`] when the compiler refuses a kernel.
    pub fn sort_buffer<K: Key>(
        &self,
        keys: &Buffer,
        len: usize,
        row_length: usize,
        order: Order,
    ) -> Result<Kernels, Error> {
        sort_buffer::<K, _>(self, keys, len, row_length, order)
    }
}
