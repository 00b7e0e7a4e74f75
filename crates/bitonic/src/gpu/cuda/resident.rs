//! Sorts of arrays that are on the device already.

mod queue;
mod workspace;

pub use workspace::WithWorkspace;

use super::device::Device;
use crate::gpu::execute::{DeviceArrays, Verification};
use crate::gpu::job::Job;
use crate::gpu::lock::lock;
use crate::gpu::strategy::check_best;
use crate::gpu::strided::Strided;
use crate::key::{Key, Order};
use crate::plan::KernelPlan;
use crate::request::{Index, Request, Segments, ValueType};
use crate::{Engine, Error};
use cudarc::driver::sys::CUdeviceptr;
use cudarc::driver::{CudaContext, CudaEvent, CudaSlice, CudaStream, DevicePtr, DevicePtrMut};
use queue::WORKSPACE_ALIGNMENT;
use std::sync::{Arc, Mutex};

/// Sorts arrays of your own, in place, on a stream of your own.
///
/// - No copy, no wait: every call queues kernels and returns. What is queued later on the same stream sees the result, and
///   so does what cudarc makes wait for the array.
/// - Memory: none beyond the arrays. Given a workspace of [`ResidentSorter::workspace_size`] bytes, sorts of more than some
///   thousand keys are faster: see [`ResidentSorter::with_workspace`].
/// - Launches: the kernels of a sort that comes again, of the same arrays, are launched as one CUDA graph.
/// - Order and result: those of [`Sorter::sort`](crate::Sorter::sort). The device checks them if it is asked to: see
///   [`ResidentSorter::verified`].
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
    nan_last: bool,
    verified: Option<Arc<Mutex<Verified>>>,
}

/// The checks of a sorter. All use the same memory, so that each waits for the one before it.
#[derive(Debug)]
struct Verified {
    checks: Verification<Device>,
    /// When the last one is done, on whatever stream; `None` before the first.
    last: Option<CudaEvent>,
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
        Ok(Self {
            device: Device::of_context(context)?,
            order: Order::Ascending,
            nan_last: false,
            verified: None,
        })
    }

    /// The direction. Default: ascending.
    pub fn order(mut self, order: Order) -> Self {
        self.order = order;
        self
    }

    /// Puts NaNs of both signs last, whatever the direction, as NumPy does. Default: the total order, in which NaNs with a negative sign
    /// come before all numbers and others behind them, or the other way round. -0.0 is less than 0.0 in either case.
    pub fn nan_last(mut self, nan_last: bool) -> Self {
        self.nan_last = nan_last;
        self
    }

    /// Has the device check every sort of this sorter: that each row is in order, and has the elements that it had before; of the best
    /// keys, that they are those of the input. Nothing is waited for: [`ResidentSorter::verdict`] tells what was found.
    ///
    /// - Time: all elements are read twice more, by three kernels more; of segments, where each element is in them is looked up, too.
    /// - Memory: 48 KiB, allocated here.
    /// - Certainty: one wrong bit is always noticed. Several wrong elements would have to cancel out in two sums of 64 bits.
    /// - Clones share the verdict. A check waits for the one before it, on whatever stream that is. In graphs of your own it does not:
    ///   let none of them run beside another sort of the same sorter.
    ///
    /// ```no_run
    /// use bitonic::cuda::ResidentSorter;
    /// use bitonic::cuda::cudarc::driver::CudaContext;
    ///
    /// let context = CudaContext::new(0)?;
    /// let stream = context.new_stream()?;
    /// let mut keys = stream.clone_htod(&[3.5_f32, -1.0, 2.0])?;
    ///
    /// let sorter = ResidentSorter::new(&context)?.verified()?;
    /// sorter.sort(&stream, &mut keys)?;
    /// sorter.verdict(&stream)?; // waits; Error::WrongResult if the keys are not sorted
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::DeviceMemory`] or [`Error::Device`] when the memory is refused.
    pub fn verified(mut self) -> Result<Self, Error> {
        let checks = Verification::new(&self.device)?;
        self.verified = Some(Arc::new(Mutex::new(Verified { checks, last: None })));
        Ok(self)
    }

    /// Waits for the stream, and says whether all sorts of this sorter were right that were queued since it was asked last, on this stream
    /// or on others. Of graphs of your own it knows what they did on this stream.
    ///
    /// # Errors
    ///
    /// [`Error::WrongResult`] when one was wrong; [`Error::Device`] when the sorter is not [`verified`](Self::verified), the stream belongs
    /// to another context or is being captured, or the device fails.
    pub fn verdict(&self, stream: &CudaStream) -> Result<(), Error> {
        let Some(verified) = &self.verified else {
            let reason = "the sorter checks nothing: make it with verified()".to_owned();
            let device = self.device.info().name.clone();
            return Err(Error::Device { device, operation: "give a verdict", reason });
        };
        self.check_contexts([stream])?;
        let mut verified = lock(verified);
        let last = verified.last.as_ref().map_or(Ok(()), CudaEvent::synchronize);
        last.and(stream.synchronize()).map_err(|error| self.device.failure("give a verdict", error))?;
        verified.checks.verdict()
    }

    /// The address of the verdict, for kernels of your own: 32 bits that are 0 as long as all sorts were right. 1 is set when something is
    /// out of order, 2 when elements were lost, doubled or changed; [`ResidentSorter::verdict`] sets all to 0 again. It is valid as long as
    /// the sorter or a clone of it is. `None` unless the sorter is [`verified`](Self::verified).
    pub fn verdict_address(&self) -> Option<CUdeviceptr> {
        self.verified.as_ref().map(|verified| lock(verified).checks.memory())
    }

    /// The bytes that make a sort of this many keys the fastest; 0 where the sort in place is. About as many as the keys take. What
    /// more keys need, which may be less, is enough for fewer, too.
    pub fn workspace_size<K: Key>(&self, len: usize) -> usize {
        self.workspace_of(&self.job(Request::keys::<K>(Segments::one(len))))
    }

    /// The same for [`WithWorkspace::sort_rows`].
    pub fn workspace_size_rows<K: Key>(&self, rows: usize, row_length: usize) -> usize {
        self.workspace_of(&self.job(Request::keys::<K>(Segments::Rows { rows, row_length })))
    }

    /// The same for [`WithWorkspace::sort_pairs`].
    ///
    /// # Errors
    ///
    /// [`Error::Device`] for values that are no numbers of 32 or 64 bits.
    pub fn workspace_size_pairs<K: Key, V: Copy>(&self, len: usize) -> Result<usize, Error> {
        Ok(self.workspace_of(&self.pairs::<K, V>(len)?))
    }

    /// The same for [`WithWorkspace::argsort`].
    ///
    /// # Errors
    ///
    /// [`Error::Device`] when the indices do not fit 32 bits.
    pub fn workspace_size_argsort<K: Key>(&self, len: usize) -> Result<usize, Error> {
        Ok(self.workspace_of(&self.indices::<K>(len)?))
    }

    /// The same for [`WithWorkspace::top_k_rows`].
    ///
    /// # Errors
    ///
    /// [`Error::Rows`], [`Error::TopTooLarge`], and [`Error::Device`] when the indices do not fit 32 bits.
    pub fn workspace_size_top_k<K: Key>(
        &self,
        len: usize,
        row_length: usize,
        k: usize,
    ) -> Result<usize, Error> {
        Ok(self.workspace_of(&self.best::<K>(len, row_length, k)?))
    }

    /// The same for [`WithWorkspace::sort_segments`] of so many keys in so many segments, the longest of which has `longest` keys at most.
    ///
    /// # Errors
    ///
    /// [`Error::EngineUnavailable`] for more segments than 31 bits count.
    pub fn workspace_size_segments<K: Key>(
        &self,
        len: usize,
        segments: usize,
        longest: usize,
    ) -> Result<usize, Error> {
        let segments = of_segments(len, segments, longest);
        Ok(self.workspace_of(&self.ragged::<u32>(Request::keys::<K>(segments))?))
    }

    /// The same for [`WithWorkspace::sort_pairs_segments`].
    ///
    /// # Errors
    ///
    /// As for [`ResidentSorter::workspace_size_segments`], and [`Error::Device`] for values that are no numbers of 32 or 64 bits.
    pub fn workspace_size_pairs_segments<K: Key, V: Copy>(
        &self,
        len: usize,
        segments: usize,
        longest: usize,
    ) -> Result<usize, Error> {
        self.check_values::<V>()?;
        let segments = of_segments(len, segments, longest);
        Ok(self.workspace_of(&self.ragged::<u32>(Request::pairs::<K, V>(segments))?))
    }

    /// The same for [`WithWorkspace::argsort_segments`].
    ///
    /// # Errors
    ///
    /// As for [`ResidentSorter::workspace_size_segments`], and [`Error::Device`] when the indices do not fit 32 bits.
    pub fn workspace_size_argsort_segments<K: Key>(
        &self,
        len: usize,
        segments: usize,
        longest: usize,
    ) -> Result<usize, Error> {
        let segments = of_segments(len, segments, longest);
        Ok(self.workspace_of(&self.ragged::<u32>(Request::argsort::<K>(segments))?))
    }

    /// The same for [`WithWorkspace::top_k_segments`].
    ///
    /// # Errors
    ///
    /// As for [`ResidentSorter::workspace_size_argsort_segments`], and [`Error::TopTooLarge`].
    pub fn workspace_size_top_k_segments<K: Key>(
        &self,
        len: usize,
        segments: usize,
        longest: usize,
        k: usize,
    ) -> Result<usize, Error> {
        Ok(self.workspace_of(&self.best_of_segments::<K, u32>(of_segments(len, segments, longest), k)?))
    }

    /// The same for [`WithWorkspace::sort_strided_rows`]: what the sort of the rows needs, and room for them.
    pub fn workspace_size_strided_rows<K: Key>(&self, rows: Strided) -> usize {
        let job = self.job_of_strided::<K>(rows);
        let packed = if rows.is_packed() { 0 } else { packed_bytes(&job) };
        packed.saturating_add(self.workspace_of(&job))
    }

    fn job_of_strided<K: Key>(&self, rows: Strided) -> Job {
        self.job(Request::keys::<K>(Segments::Rows { rows: rows.rows, row_length: rows.row_length }))
    }

    fn workspace_of(&self, job: &Job) -> usize {
        self.plan(job).work.bytes()
    }

    /// Sorts that may use this memory: an array of at least as many bytes as [`ResidentSorter::workspace_size`] or its like
    /// says. Its contents do not matter before, and mean nothing afterwards.
    ///
    /// ```no_run
    /// # use bitonic::cuda::{ResidentSorter, cudarc::driver::CudaContext};
    /// # let context = CudaContext::new(0)?;
    /// # let stream = context.new_stream()?;
    /// # let mut keys = stream.alloc_zeros::<u32>(1_000_000)?;
    /// let sorter = ResidentSorter::new(&context)?;
    /// let mut workspace = stream.alloc_zeros::<u8>(sorter.workspace_size::<u32>(1_000_000))?;
    /// sorter.with_workspace(&mut workspace).sort(&stream, &mut keys)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn with_workspace<'a, W: DevicePtrMut<u8>>(&'a self, workspace: &'a mut W) -> WithWorkspace<'a, W> {
        WithWorkspace { sorter: self, workspace }
    }

    /// Compiles and loads the kernels that [`ResidentSorter::sort`] of this many keys needs, with and without a workspace.
    ///
    /// # Errors
    ///
    /// [`Error::KernelBuild`] with the compiler's log.
    pub fn prepare<K: Key>(&self, len: usize) -> Result<(), Error> {
        self.prepare_both(&self.job(Request::keys::<K>(Segments::one(len))))
    }

    /// Compiles and loads the kernels that [`ResidentSorter::sort_rows`] of this many rows needs.
    ///
    /// # Errors
    ///
    /// As for [`ResidentSorter::prepare`].
    pub fn prepare_rows<K: Key>(&self, rows: usize, row_length: usize) -> Result<(), Error> {
        self.prepare_both(&self.job(Request::keys::<K>(Segments::Rows { rows, row_length })))
    }

    /// Compiles and loads the kernels that [`ResidentSorter::sort_pairs`] of this many keys needs.
    ///
    /// # Errors
    ///
    /// As for [`ResidentSorter::prepare`], and [`Error::Device`] for values of another type.
    pub fn prepare_pairs<K: Key, V: Copy>(&self, len: usize) -> Result<(), Error> {
        self.prepare_both(&self.pairs::<K, V>(len)?)
    }

    /// Compiles and loads the kernels that [`ResidentSorter::argsort`] of this many keys needs.
    ///
    /// # Errors
    ///
    /// As for [`ResidentSorter::prepare`], and [`Error::Device`] when the indices do not fit 32 bits.
    pub fn prepare_argsort<K: Key>(&self, len: usize) -> Result<(), Error> {
        self.prepare_both(&self.indices::<K>(len)?)
    }

    /// Compiles and loads the kernels that [`ResidentSorter::top_k_rows`] needs, with and without a workspace.
    ///
    /// # Errors
    ///
    /// As for [`ResidentSorter::prepare`], and those of [`ResidentSorter::workspace_size_top_k`].
    pub fn prepare_top_k<K: Key>(&self, len: usize, row_length: usize, k: usize) -> Result<(), Error> {
        self.prepare_both(&self.best::<K>(len, row_length, k)?)
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
        self.sort_keys(stream, keys, row_length, None::<&mut CudaSlice<u8>>)
    }

    fn sort_keys<K: Key>(
        &self,
        stream: &CudaStream,
        keys: &mut impl DevicePtrMut<K>,
        row_length: usize,
        workspace: Option<&mut impl DevicePtrMut<u8>>,
    ) -> Result<(), Error> {
        let segments = Segments::rows(keys.len(), row_length)?;
        let job = self.job(Request::keys::<K>(segments));
        self.check_contexts([stream, keys.stream()])?;
        let (keys, _recorded_after) = keys.device_ptr_mut(stream);
        // SAFETY: stream and array are of the sorter's context, the array holds the job's keys and is borrowed exclusively,
        // and cudarc makes its other users wait.
        unsafe { self.queue(stream, &job, DeviceArrays::in_place(keys, None), workspace) }
    }

    /// Queues a search for the first `k` keys of every row in the order of this sorter: `k` keys and indices for each, or `row_length` if that
    /// is less, one row after the other. [`order(Order::Descending)`](Self::order) gives the largest. Indices count from the beginning of
    /// the row, equal keys come by lowest index, and `keys` stay as they are.
    ///
    /// One row is a matter of one group of threads: few long rows are faster with a workspace.
    ///
    /// # Errors
    ///
    /// As for [`ResidentSorter::sort_rows`], [`Error::OutputLength`] when `best` or `indices` have another length,
    /// [`Error::TopTooLarge`], and [`Error::Device`] when the indices do not fit 32 bits.
    pub fn top_k_rows<K: Key>(
        &self,
        stream: &CudaStream,
        keys: &impl DevicePtr<K>,
        row_length: usize,
        k: usize,
        best: &mut impl DevicePtrMut<K>,
        indices: &mut impl DevicePtrMut<u32>,
    ) -> Result<(), Error> {
        let job = self.best::<K>(keys.len(), row_length, k)?;
        let arrays = BestArrays { keys, best, indices, offsets: None::<&CudaSlice<u32>> };
        self.find_best(stream, arrays, &job, None::<&mut CudaSlice<u8>>)
    }

    /// As [`ResidentSorter::top_k_rows`] of every segment. Offsets and `longest` are as for [`WithWorkspace::sort_segments`]. The best of every
    /// segment have `k` places, or `longest` if that is less; of a segment with fewer keys all come, and the places behind them stay as they
    /// are.
    ///
    /// ```no_run
    /// # use bitonic::{Order, cuda::{ResidentSorter, cudarc::driver::CudaContext}};
    /// # let context = CudaContext::new(0)?;
    /// # let stream = context.new_stream()?;
    /// let keys = stream.clone_htod(&[3.5_f32, -1.0, 2.0, 9.0])?;
    /// let offsets = stream.clone_htod(&[0_u32, 3, 4])?;
    /// let mut best = stream.clone_htod(&[f32::NAN; 4])?;
    /// let mut indices = stream.alloc_zeros::<u32>(4)?;
    /// let sorter = ResidentSorter::new(&context)?.order(Order::Descending);
    /// sorter.top_k_segments(&stream, &keys, (&offsets, 4), 2, &mut best, &mut indices)?;
    /// assert_eq!(stream.clone_dtoh(&best)?[..3], [3.5, 2.0, 9.0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As for [`ResidentSorter::top_k_rows`], and [`Error::EngineUnavailable`] for more segments than 31 bits count.
    pub fn top_k_segments<K: Key, O: Index>(
        &self,
        stream: &CudaStream,
        keys: &impl DevicePtr<K>,
        (offsets, longest): (&impl DevicePtr<O>, usize),
        k: usize,
        best: &mut impl DevicePtrMut<K>,
        indices: &mut impl DevicePtrMut<u32>,
    ) -> Result<(), Error> {
        let segments = of_segments(keys.len(), offsets.len().saturating_sub(1), longest);
        let job = self.best_of_segments::<K, O>(segments, k)?;
        let arrays = BestArrays { keys, best, indices, offsets: Some(offsets) };
        self.find_best(stream, arrays, &job, None::<&mut CudaSlice<u8>>)
    }

    fn find_best<K: Key, O: Index>(
        &self,
        stream: &CudaStream,
        BestArrays { keys, best, indices, offsets }: BestArrays<
            '_,
            impl DevicePtr<K>,
            impl DevicePtrMut<K>,
            impl DevicePtrMut<u32>,
            impl DevicePtr<O>,
        >,
        job: &Job,
        workspace: Option<&mut impl DevicePtrMut<u8>>,
    ) -> Result<(), Error> {
        let needed = job.best.unwrap_or(0) * job.rows;
        for given in [best.len(), indices.len()] {
            if given != needed {
                return Err(Error::OutputLength { needed, given });
            }
        }
        self.check_contexts([stream, keys.stream(), best.stream(), indices.stream()])?;
        if let Some(offsets) = offsets {
            self.check_contexts([offsets.stream()])?;
        }
        let (offsets, _offsets_recorded_after) = offsets.map(|offsets| offsets.device_ptr(stream)).unzip();
        let (input, _input_recorded_after) = keys.device_ptr(stream);
        let (keys, _keys_recorded_after) = best.device_ptr_mut(stream);
        let (values, _values_recorded_after) = indices.device_ptr_mut(stream);
        let arrays =
            DeviceArrays { input: Some(input), offsets, ..DeviceArrays::in_place(keys, Some(values)) };
        // SAFETY: stream and arrays are of the sorter's context; the input holds the job's keys and is only read, the others have
        // places for the best and are borrowed exclusively, the offsets are as many as the job has and one more, kernels stay within the
        // keys whatever they say, and cudarc makes other users wait.
        unsafe { self.queue(stream, job, arrays, workspace) }
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
        let job = self.pairs::<K, V>(keys.len())?;
        self.sort_both(stream, keys, values, &job, None::<&mut CudaSlice<u8>>)
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
        let job = self.indices::<K>(keys.len())?;
        self.sort_both(stream, keys, indices, &job, None::<&mut CudaSlice<u8>>)
    }

    fn sort_both<K: Key, V>(
        &self,
        stream: &CudaStream,
        keys: &mut impl DevicePtrMut<K>,
        values: &mut impl DevicePtrMut<V>,
        job: &Job,
        workspace: Option<&mut impl DevicePtrMut<u8>>,
    ) -> Result<(), Error> {
        if keys.len() != values.len() {
            return Err(Error::LengthMismatch { keys: keys.len(), values: values.len() });
        }
        self.check_contexts([stream, keys.stream(), values.stream()])?;
        let (keys, _keys_recorded_after) = keys.device_ptr_mut(stream);
        let (values, _values_recorded_after) = values.device_ptr_mut(stream);
        // SAFETY: stream and arrays are of the sorter's context, the arrays hold the job's keys and values and are borrowed
        // exclusively, and cudarc makes their other users wait.
        unsafe { self.queue(stream, job, DeviceArrays::in_place(keys, Some(values)), workspace) }
    }

    fn pairs<K: Key, V: Copy>(&self, len: usize) -> Result<Job, Error> {
        self.check_values::<V>()?;
        Ok(self.job(Request::pairs::<K, V>(Segments::one(len))))
    }

    fn check_values<V>(&self) -> Result<(), Error> {
        if ValueType::of::<V>().is_number {
            return Ok(());
        }
        Err(self.refuse("values must be numbers of 32 or 64 bits".to_owned()))
    }

    /// The job of a request whose segments have different lengths, with offsets of type `O`.
    fn ragged<O>(&self, request: Request) -> Result<Job, Error> {
        request.check(Engine::Cuda)?;
        let job = self.job(request).with_offsets_of::<O>();
        job.check_resident_segments().map_err(|reason| self.refuse(reason))?;
        Ok(job)
    }

    fn indices<K: Key>(&self, len: usize) -> Result<Job, Error> {
        let job = self.job(Request::argsort::<K>(Segments::one(len)));
        if job.element.value_bits == 32 {
            return Ok(job);
        }
        Err(self.refuse(format!("{len} indices do not fit 32 bits")))
    }

    fn best<K: Key>(&self, len: usize, row_length: usize, k: usize) -> Result<Job, Error> {
        let job = self.job(Request::top::<K>(Segments::rows(len, row_length)?, k));
        check_best(&job, self.device.facts())?;
        if job.element.value_bits == 32 {
            return Ok(job);
        }
        Err(self.refuse(format!("{row_length} indices do not fit 32 bits")))
    }

    fn best_of_segments<K: Key, O>(&self, segments: Segments, k: usize) -> Result<Job, Error> {
        let job = self.ragged::<O>(Request::top::<K>(segments, k))?;
        check_best(&job, self.device.facts())?;
        Ok(job)
    }

    fn job(&self, request: Request) -> Job {
        Job::of(&Request { order: self.order, nan_last: self.nan_last, ..request })
    }

    fn plan(&self, job: &Job) -> Arc<KernelPlan> {
        self.device.state().plan(&self.device, job)
    }

    fn prepare_both(&self, job: &Job) -> Result<(), Error> {
        for in_place in [false, true] {
            self.device.state().load(&self.device, &self.plan(&Job { in_place, ..*job }))?;
        }
        if self.verified.is_some() {
            Verification::load(&self.device, job)?;
        }
        Ok(())
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

/// What rows take that are brought together; behind them, memory to work in can begin.
fn packed_bytes(job: &Job) -> usize {
    job.array_bytes().0.checked_next_multiple_of(WORKSPACE_ALIGNMENT as usize).unwrap_or(usize::MAX)
}

/// The arrays of a search for the best keys; offsets where rows have different lengths.
struct BestArrays<'a, I, B, N, O> {
    keys: &'a I,
    best: &'a mut B,
    indices: &'a mut N,
    offsets: Option<&'a O>,
}

/// Segments of different lengths whose offsets are on the device.
fn of_segments(len: usize, segments: usize, longest: usize) -> Segments {
    Segments::Offsets { segments, longest: longest.min(len), len }
}
