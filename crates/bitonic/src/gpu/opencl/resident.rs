//! Sorts of buffers that are on the device already.

use super::buffer::Memory;
use super::device::Device;
use super::driver::Commands;
use crate::gpu::driver::DeviceBuffer;
use crate::gpu::execute::{DeviceArrays, Submission, Verification, enqueue, sort_strided};
use crate::gpu::job::Job;
use crate::gpu::lock::lock;
use crate::gpu::strategy::check_best;
use crate::gpu::strided::Strided;
use crate::key::{Key, Order};
use crate::plan::{KernelPlan, WorkMemory};
use crate::request::{Request, Segments, ValueType};
use crate::{Engine, Error, Index};
use cl3::memory::{CL_MEM_CONTEXT, CL_MEM_SIZE};
use opencl3::command_queue::{CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, CommandQueue};
use opencl3::error_codes::ClError;
use opencl3::event::Event;
use opencl3::memory::{Buffer as RawBuffer, ClMem};
use opencl3::types::cl_mem;
use std::sync::{Arc, Mutex};

/// Sorts buffers of your own, in place, on a queue of your own.
///
/// - No copy, no wait: every call queues kernels and returns the event of the last one. Commands that are queued later on
///   the same in-order queue see the result; on other queues, wait for the event.
/// - Memory: none beyond the buffers ([`ResidentSorter::scratch_bytes`] says so), except for segments of different lengths
///   and rows that do not lie one after the other.
/// - Order and result: those of [`Sorter::sort`](crate::Sorter::sort). The device checks them if it is asked to: see
///   [`ResidentSorter::verified`].
/// - The first call for a type and a length range builds kernels, which takes up to seconds, or loads them from disk;
///   [`ResidentSorter::prepare`] does that beforehand.
///
/// ```
/// use bitonic::opencl::opencl3::command_queue::CL_QUEUE_PROFILING_ENABLE;
/// use bitonic::opencl::opencl3::memory::{Buffer, CL_MEM_READ_WRITE};
/// use bitonic::opencl::opencl3::types::CL_BLOCKING;
/// use bitonic::opencl::{Device, DeviceChoice, ResidentSorter};
///
/// # let Ok(device) = Device::open(&DeviceChoice::Best) else { return Ok(()) };
/// // A context and a queue of your own, or those of a bitonic::opencl::Device.
/// let (context, queue) = (device.context(), device.queue());
/// let keys = [3.5_f32, -1.0, 2.0, f32::INFINITY, 0.0];
/// # let mut sorted = [0.0_f32; 5];
/// # // SAFETY: the buffer has five floats, and every command on host memory blocks.
/// # unsafe {
/// let mut buffer = Buffer::<f32>::create(context, CL_MEM_READ_WRITE, 5, std::ptr::null_mut())?;
/// queue.enqueue_write_buffer(&mut buffer, CL_BLOCKING, 0, &keys, &[])?;
///
/// let sorter = ResidentSorter::new(queue)?;
/// let event = sorter.sort(queue, &mut buffer, 5)?;
///
/// queue.enqueue_read_buffer(&buffer, CL_BLOCKING, 0, &mut sorted, &[event.get()])?;
/// # }
/// assert_eq!(sorted, [-1.0, 0.0, 2.0, 3.5, f32::INFINITY]);
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
    /// When the last one is done, on whatever queue; `None` before the first.
    last: Option<Event>,
}

impl ResidentSorter {
    /// For buffers in the context of this queue, on its device. Keep it: it has the kernels.
    ///
    /// # Errors
    ///
    /// [`Error::Device`] when the driver does not tell context and device of the queue, [`Error::EngineUnavailable`] when its
    /// device is none that the driver lists, such as a part of another.
    pub fn new(queue: &CommandQueue) -> Result<Self, Error> {
        Ok(Self {
            device: Device::of_queue(queue)?,
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
    /// - Clones share the verdict. A check waits for the one before it, on whatever queue that is.
    ///
    /// ```
    /// use bitonic::opencl::opencl3::memory::{Buffer, CL_MEM_READ_WRITE};
    /// use bitonic::opencl::opencl3::types::CL_BLOCKING;
    /// use bitonic::opencl::{Device, DeviceChoice, ResidentSorter};
    ///
    /// # let Ok(device) = Device::open(&DeviceChoice::Best) else { return Ok(()) };
    /// let (context, queue) = (device.context(), device.queue());
    /// # // SAFETY: the buffer has three numbers, and every command on host memory blocks.
    /// # let mut buffer = unsafe {
    /// let mut buffer = Buffer::<u32>::create(context, CL_MEM_READ_WRITE, 3, std::ptr::null_mut())?;
    /// queue.enqueue_write_buffer(&mut buffer, CL_BLOCKING, 0, &[3, 1, 2], &[])?;
    /// # buffer
    /// # };
    ///
    /// let sorter = ResidentSorter::new(queue)?.verified()?;
    /// sorter.sort(queue, &mut buffer, 3)?;
    /// sorter.verdict(queue)?; // waits; Error::WrongResult if the keys are not sorted
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

    /// Waits for the queue, and says whether all sorts of this sorter were right that were queued since it was asked last, on this queue or
    /// on others.
    ///
    /// # Errors
    ///
    /// [`Error::WrongResult`] when one was wrong; [`Error::Device`] when the sorter is not [`verified`](Self::verified), or the device
    /// fails.
    pub fn verdict(&self, queue: &CommandQueue) -> Result<(), Error> {
        const OPERATION: &str = "give a verdict";

        let Some(verified) = &self.verified else {
            let reason = "the sorter checks nothing: make it with verified()".to_owned();
            let device = self.device.info().name.clone();
            return Err(Error::Device { device, operation: OPERATION, reason });
        };
        let mut verified = lock(verified);
        let last = verified.last.as_ref().map_or(Ok(()), Event::wait);
        last.and(queue.finish()).map_err(|error| self.device.failure(OPERATION, &error))?;
        verified.checks.verdict()
    }

    /// The buffer of the verdict, for kernels of your own: its first 32 bits are 0 as long as all sorts were right. 1 is set when something
    /// is out of order, 2 when elements were lost, doubled or changed; [`ResidentSorter::verdict`] sets all to 0 again. It is valid as long
    /// as the sorter or a clone of it is. `None` unless the sorter is [`verified`](Self::verified).
    pub fn verdict_memory(&self) -> Option<cl_mem> {
        self.verified.as_ref().map(|verified| lock(verified).checks.memory().0)
    }

    /// The memory that a sort of this many keys needs on the device beyond its buffers: none, it is in place.
    pub fn scratch_bytes<K: Key>(&self, _len: usize) -> usize {
        0
    }

    /// Builds the kernels that [`ResidentSorter::sort`] of this many keys needs; those of rows, pairs and indices are others.
    ///
    /// # Errors
    ///
    /// [`Error::KernelBuild`] with the compiler's log.
    pub fn prepare<K: Key>(&self, len: usize) -> Result<(), Error> {
        let job = Job { in_place: true, ..self.job(Request::keys::<K>(Segments::one(len))) };
        let plan = self.device.state().plan(&self.device, &job);
        if self.verified.is_some() {
            Verification::load(&self.device, &job)?;
        }
        self.device.state().load(&self.device, &plan).map(drop)
    }

    /// Queues a sort of the first `len` keys of a buffer.
    ///
    /// # Errors
    ///
    /// [`Error::Device`] when the buffer has fewer keys, buffer or queue belong to another context, the queue is not in
    /// order, or the device fails; [`Error::KernelBuild`] when its compiler refuses a kernel. The buffer is as it was, unless the
    /// device itself failed: then what is in it is undefined, as it is when a kernel fails later, which shows in the event.
    pub fn sort<K: Key>(
        &self,
        queue: &CommandQueue,
        keys: &mut RawBuffer<K>,
        len: usize,
    ) -> Result<Event, Error> {
        self.sort_rows(queue, keys, len, len)
    }

    /// Queues a sort of every row of `row_length` keys among the first `len` keys of a buffer.
    ///
    /// # Errors
    ///
    /// As for [`ResidentSorter::sort`], and [`Error::Rows`] when `len` is no whole number of rows.
    pub fn sort_rows<K: Key>(
        &self,
        queue: &CommandQueue,
        keys: &mut RawBuffer<K>,
        len: usize,
        row_length: usize,
    ) -> Result<Event, Error> {
        let job = self.job(Request::keys::<K>(Segments::rows(len, row_length)?));
        self.enqueue(queue, &job, keys.get(), None)
    }

    /// Queues a sort of rows among the first `len` keys of a buffer that do not lie one after the other, such as those of a part of a matrix,
    /// or its columns. Keys between the rows stay as they are.
    ///
    /// Memory: that of all rows once more, allocated here and kept until the sort is done. They are brought together there, sorted, and
    /// brought back; a sorter that is [`verified`](Self::verified) checks the sort between. Rows that lie one after the other are sorted
    /// where they are.
    ///
    /// ```
    /// use bitonic::opencl::opencl3::memory::{Buffer, CL_MEM_READ_WRITE};
    /// use bitonic::opencl::opencl3::types::CL_BLOCKING;
    /// use bitonic::opencl::{Device, DeviceChoice, ResidentSorter, Strided};
    ///
    /// # let Ok(device) = Device::open(&DeviceChoice::Best) else { return Ok(()) };
    /// let (context, queue) = (device.context(), device.queue());
    /// let mut keys = [4_u32, 2, 9, 1, 3, 8];
    /// # // SAFETY: the buffer has six numbers, and every command on host memory blocks.
    /// # unsafe {
    /// let mut buffer = Buffer::<u32>::create(context, CL_MEM_READ_WRITE, 6, std::ptr::null_mut())?;
    /// queue.enqueue_write_buffer(&mut buffer, CL_BLOCKING, 0, &keys, &[])?;
    ///
    /// // The columns of two rows of three keys.
    /// let columns = Strided::columns(2, 3, 3);
    /// ResidentSorter::new(queue)?.sort_strided_rows(queue, &mut buffer, 6, columns)?;
    ///
    /// queue.enqueue_read_buffer(&buffer, CL_BLOCKING, 0, &mut keys, &[])?;
    /// # }
    /// assert_eq!(keys, [1, 2, 8, 4, 3, 9]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As for [`ResidentSorter::sort`], [`Error::Strides`] when rows overlap or leave the keys, and [`Error::DeviceMemory`].
    pub fn sort_strided_rows<K: Key>(
        &self,
        queue: &CommandQueue,
        keys: &mut RawBuffer<K>,
        len: usize,
        rows: Strided,
    ) -> Result<Event, Error> {
        rows.check(len)?;
        let segments = Segments::Rows { rows: rows.rows, row_length: rows.row_length };
        let job = self.job(Request::keys::<K>(segments));
        if rows.is_packed() || job.len() == 0 {
            return self.enqueue(queue, &job, keys.get(), None);
        }
        self.check(keys.get(), rows.extent().saturating_mul(size_of::<K>()))?;
        self.check_queue(queue)?;
        let buffer = self.device.allocate(job.array_bytes().0)?;
        let packed = buffer.memory();
        let sort = || self.enqueue(queue, &job, packed, None).map(drop);
        let arrays = (Memory(keys.get()), Memory(packed));
        // SAFETY: queue and buffers are of this context, the rows are within the keys and do not overlap, the keys are borrowed
        // exclusively, and nobody else has the other buffer; OpenCL keeps the memory of both until the kernels are done.
        let span =
            unsafe { sort_strided(&self.device, queue, (&job, rows), arrays, Submission::Untimed, sort) }?;
        self.last_event(queue, span)
    }

    /// Queues a sort of the first `len` keys of a buffer that moves every value with its key. Not stable. Values are numbers
    /// of 32 or 64 bits.
    ///
    /// # Errors
    ///
    /// As for [`ResidentSorter::sort`], and [`Error::Device`] for values of another type.
    pub fn sort_pairs<K: Key, V: Copy>(
        &self,
        queue: &CommandQueue,
        keys: &mut RawBuffer<K>,
        values: &mut RawBuffer<V>,
        len: usize,
    ) -> Result<Event, Error> {
        self.check_values::<V>()?;
        let job = self.job(Request::pairs::<K, V>(Segments::one(len)));
        self.enqueue(queue, &job, keys.get(), Some(values.get()))
    }

    /// Queues a sort of the first `len` keys of a buffer that writes the index that each key had to `indices`, equal keys by
    /// lowest index. What `indices` held does not matter; gathering anything by them is a stable sort of it.
    ///
    /// # Errors
    ///
    /// As for [`ResidentSorter::sort`], and [`Error::Device`] when the indices do not fit 32 bits.
    pub fn argsort<K: Key>(
        &self,
        queue: &CommandQueue,
        keys: &mut RawBuffer<K>,
        indices: &mut RawBuffer<u32>,
        len: usize,
    ) -> Result<Event, Error> {
        let job = self.job(Request::argsort::<K>(Segments::one(len)));
        if job.element.value_bits != 32 {
            return Err(self.refuse(format!("{len} indices do not fit 32 bits")));
        }
        self.enqueue(queue, &job, keys.get(), Some(indices.get()))
    }

    /// Queues a search for the first `k` keys of every row among the first `len` keys of a buffer, in the order of this sorter: `k` keys and
    /// indices for each, or `row_length` if that is less, one row after the other. [`order(Order::Descending)`](Self::order) gives the
    /// largest. Indices count from the beginning of the row, equal keys come by lowest index, and `keys` stay as they are. One row is a
    /// matter of one group of work-items.
    ///
    /// # Errors
    ///
    /// As for [`ResidentSorter::sort_rows`], [`Error::TopTooLarge`], and [`Error::Device`] when the indices do not fit 32 bits.
    pub fn top_k_rows<K: Key>(
        &self,
        queue: &CommandQueue,
        keys: &RawBuffer<K>,
        (len, row_length): (usize, usize),
        k: usize,
        best: &mut RawBuffer<K>,
        indices: &mut RawBuffer<u32>,
    ) -> Result<Event, Error> {
        let job = self.job(Request::top::<K>(Segments::rows(len, row_length)?, k));
        check_best(&job, self.device.facts())?;
        if job.element.value_bits != 32 {
            return Err(self.refuse(format!("{row_length} indices do not fit 32 bits")));
        }
        self.check(keys.get(), job.input_bytes())?;
        let arrays = DeviceArrays::in_place(Memory(best.get()), Some(Memory(indices.get())));
        self.enqueue_arrays(
            queue,
            &Job { in_place: true, ..job },
            DeviceArrays { input: Some(Memory(keys.get())), ..arrays },
        )
    }

    /// As [`ResidentSorter::top_k_rows`] of every segment among the first `len` keys of a buffer: `segments` of them, none longer than
    /// `longest`, whose offsets are as those of [`ResidentSorter::sort_segments`]. The best of every segment have `k` places, or `longest` if
    /// that is less; of a segment with fewer keys all come, and the places behind them stay as they are.
    ///
    /// Memory: where segments are long, less than the keys and their indices take, and little for few best keys; allocated here and kept until
    /// the best are found.
    ///
    /// # Errors
    ///
    /// As for [`ResidentSorter::top_k_rows`] and [`ResidentSorter::sort_segments`].
    pub fn top_k_segments<K: Key, O: Index>(
        &self,
        queue: &CommandQueue,
        keys: &RawBuffer<K>,
        (len, offsets, segments, longest): (usize, &RawBuffer<O>, usize, usize),
        k: usize,
        best: &mut RawBuffer<K>,
        indices: &mut RawBuffer<u32>,
    ) -> Result<Event, Error> {
        let segments = Segments::Offsets { segments, longest: longest.min(len), len };
        let arrays = DeviceArrays::in_place(Memory(best.get()), Some(Memory(indices.get())));
        let arrays =
            DeviceArrays { input: Some(Memory(keys.get())), offsets: Some(Memory(offsets.get())), ..arrays };
        self.enqueue_segments::<O>(queue, Request::top::<K>(segments, k), arrays)
    }

    /// Queues a sort of every segment among the first `len` keys of a buffer for itself, in place. Segment i has the keys from
    /// `offsets[i]` to `offsets[i + 1]`: `segments` of them, and one offset more, of 32 or 64 bits. Segments may be empty; keys before
    /// the first offset and from the last on stay as they are.
    ///
    /// Memory: that of the keys once more where segments are long, and some words for each, allocated here and kept until the sort is
    /// done. `longest` says how many keys the longest segment has at most; a segment that has more is left as it is.
    /// Where that is not known, `len` is right. A pair of offsets that descend, or lead out of the keys, is an empty segment; what is in
    /// segments that overlap is undefined.
    ///
    /// # Errors
    ///
    /// As for [`ResidentSorter::sort`], [`Error::EngineUnavailable`] for more segments than 31 bits count, and [`Error::DeviceMemory`].
    pub fn sort_segments<K: Key, O: Index>(
        &self,
        queue: &CommandQueue,
        keys: &mut RawBuffer<K>,
        len: usize,
        offsets: &RawBuffer<O>,
        (segments, longest): (usize, usize),
    ) -> Result<Event, Error> {
        let segments = Segments::Offsets { segments, longest: longest.min(len), len };
        let arrays = DeviceArrays::in_place(Memory(keys.get()), None);
        let arrays = DeviceArrays { offsets: Some(Memory(offsets.get())), ..arrays };
        self.enqueue_segments::<O>(queue, Request::keys::<K>(segments), arrays)
    }

    /// As [`ResidentSorter::sort_segments`], and moves every value with its key. Not stable. Values are numbers of 32 or 64 bits.
    ///
    /// # Errors
    ///
    /// The same, and those of [`ResidentSorter::sort_pairs`].
    pub fn sort_pairs_segments<K: Key, V: Copy, O: Index>(
        &self,
        queue: &CommandQueue,
        keys: &mut RawBuffer<K>,
        values: &mut RawBuffer<V>,
        len: usize,
        offsets: &RawBuffer<O>,
        (segments, longest): (usize, usize),
    ) -> Result<Event, Error> {
        self.check_values::<V>()?;
        let segments = Segments::Offsets { segments, longest: longest.min(len), len };
        let arrays = DeviceArrays::in_place(Memory(keys.get()), Some(Memory(values.get())));
        let arrays = DeviceArrays { offsets: Some(Memory(offsets.get())), ..arrays };
        self.enqueue_segments::<O>(queue, Request::pairs::<K, V>(segments), arrays)
    }

    /// As [`ResidentSorter::sort_segments`], and writes the index that each key had in its segment to `indices`, equal keys by lowest
    /// index.
    ///
    /// # Errors
    ///
    /// The same, and those of [`ResidentSorter::argsort`].
    pub fn argsort_segments<K: Key, O: Index>(
        &self,
        queue: &CommandQueue,
        keys: &mut RawBuffer<K>,
        indices: &mut RawBuffer<u32>,
        len: usize,
        offsets: &RawBuffer<O>,
        (segments, longest): (usize, usize),
    ) -> Result<Event, Error> {
        let segments = Segments::Offsets { segments, longest: longest.min(len), len };
        let arrays = DeviceArrays::in_place(Memory(keys.get()), Some(Memory(indices.get())));
        let arrays = DeviceArrays { offsets: Some(Memory(offsets.get())), ..arrays };
        self.enqueue_segments::<O>(queue, Request::argsort::<K>(segments), arrays)
    }

    /// Queues what is asked for of segments of different lengths, with offsets of type `O`, and memory to work in.
    fn enqueue_segments<O>(
        &self,
        queue: &CommandQueue,
        request: Request,
        arrays: DeviceArrays<Memory>,
    ) -> Result<Event, Error> {
        request.check(Engine::OpenCl)?;
        let job = self.job(request).with_offsets_of::<O>();
        job.check_resident_segments().map_err(|reason| self.refuse(reason))?;
        check_best(&job, self.device.facts())?;
        for (array, bytes) in [(arrays.offsets, job.offset_bytes()), (arrays.input, job.input_bytes())] {
            array.map_or(Ok(()), |array| self.check(array.0, bytes))?;
        }
        let WorkMemory { keys: work_keys, values: work_values, counters } =
            self.device.state().plan(&self.device, &job).work;
        let mut buffers = [const { None }; 3];
        for (buffer, bytes) in buffers.iter_mut().zip([work_keys, work_values, counters]) {
            if bytes > 0 {
                *buffer = Some(self.device.allocate(bytes)?);
            }
        }
        let work = buffers.each_ref().map(|buffer| buffer.as_ref().map(DeviceBuffer::memory));
        // OpenCL keeps the memory of the buffers until the kernels are done.
        self.enqueue_arrays(queue, &job, DeviceArrays { work, ..arrays })
    }

    fn check_values<V>(&self) -> Result<(), Error> {
        if ValueType::of::<V>().is_number {
            return Ok(());
        }
        Err(self.refuse("values must be numbers of 32 or 64 bits".to_owned()))
    }

    fn job(&self, request: Request) -> Job {
        Job::of(&Request { order: self.order, nan_last: self.nan_last, ..request })
    }

    fn enqueue(
        &self,
        queue: &CommandQueue,
        job: &Job,
        keys: cl_mem,
        values: Option<cl_mem>,
    ) -> Result<Event, Error> {
        self.enqueue_arrays(queue, job, DeviceArrays::in_place(Memory(keys), values.map(Memory)))
    }

    fn enqueue_arrays(
        &self,
        queue: &CommandQueue,
        job: &Job,
        arrays: DeviceArrays<Memory>,
    ) -> Result<Event, Error> {
        let (key_bytes, value_bytes) = job.array_bytes();
        self.check(arrays.keys.0, key_bytes)?;
        if let Some(values) = arrays.values {
            self.check(values.0, value_bytes)?;
        }
        self.check_queue(queue)?;
        let has_work = arrays.work != [None; 3];
        let plan = self.device.state().plan(&self.device, &Job { in_place: !has_work, ..*job });
        // SAFETY: the buffers were checked to be large enough and of this context, and are borrowed exclusively; OpenCL
        // keeps their memory until the kernels are done.
        let sort = || unsafe {
            // Where there is memory to work in, it is what this plan needs.
            let work_bytes = if has_work { plan.work.bytes() } else { 0 };
            enqueue(&self.device, queue, &plan, work_bytes, |_| arrays, Submission::Untimed)
        };
        let span = match &self.verified {
            None => sort()?.span,
            Some(verified) => {
                let sort = || sort().map(|queued| queued.plan);
                // SAFETY: as above.
                unsafe { self.enqueue_verified(queue, job, &arrays, &mut lock(verified), sort) }?
            }
        };
        self.last_event(queue, span)
    }

    /// The event of the last kernel.
    fn last_event(&self, queue: &CommandQueue, span: Option<Commands>) -> Result<Event, Error> {
        match span.and_then(Commands::into_last) {
            Some(last) => Ok(last),
            // Nothing to do, but the caller is promised an event.
            None => self.marker(queue),
        }
    }

    /// Queues a sort, by `sort`, and the kernels that check it.
    ///
    /// # Safety
    ///
    /// As for [`Verification::queue`], but for the words of the verification: whoever used them before is waited for.
    unsafe fn enqueue_verified(
        &self,
        queue: &CommandQueue,
        job: &Job,
        arrays: &DeviceArrays<Memory>,
        verified: &mut Verified,
        sort: impl FnOnce() -> Result<Arc<KernelPlan>, Error>,
    ) -> Result<Option<Commands>, Error> {
        let failed = |error: ClError| self.device.failure("queue a check", &error);
        if let Some(last) = &verified.last {
            // SAFETY: the event is alive, and of the same context.
            unsafe { queue.enqueue_barrier_with_wait_list(&[last.get()]) }.map_err(failed)?;
        }
        // SAFETY: as the caller says.
        let queued = unsafe { verified.checks.queue(queue, job, arrays, Submission::Untimed, sort) };
        // Also after an error: kernels that were queued before it are waited for, too.
        let marked = self.marker(queue).map(|event| verified.last = Some(event));
        // A queue that waits for another one's event may wait for ever unless that one was told to start.
        let flushed = queue.flush().map_err(failed);
        let queued = queued?;
        marked.and(flushed).map(|()| queued)
    }

    /// The event of everything that was queued so far.
    fn marker(&self, queue: &CommandQueue) -> Result<Event, Error> {
        // SAFETY: there is no list of events to wait for.
        unsafe { queue.enqueue_marker_with_wait_list(&[]) }
            .map_err(|error| self.device.failure("queue a marker", &error))
    }

    /// Whether the queue belongs to this context and keeps kernels in order.
    fn check_queue(&self, queue: &CommandQueue) -> Result<(), Error> {
        let context = queue.context().map_err(|error| self.device.failure("describe the queue", &error))?;
        if context != self.device.context().get() {
            return Err(self.refuse("the queue belongs to another context than the sorter".to_owned()));
        }
        let properties =
            queue.properties().map_err(|error| self.device.failure("describe the queue", &error))?;
        if properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE != 0 {
            return Err(self.refuse(
                "the queue may run kernels out of order: give one that keeps them in order".to_owned(),
            ));
        }
        Ok(())
    }

    /// Whether the buffer has so many bytes and belongs to this context: not every driver asks.
    fn check(&self, memory: cl_mem, needed: usize) -> Result<(), Error> {
        let ask = |what| {
            cl3::memory::get_mem_object_info(memory, what)
                .map_err(|code| self.device.failure("describe a buffer", &ClError(code)))
        };
        let bytes = usize::from(ask(CL_MEM_SIZE)?);
        if bytes < needed {
            return Err(self.refuse(format!("{needed} bytes are to be sorted, but the buffer has {bytes}")));
        }
        if isize::from(ask(CL_MEM_CONTEXT)?) != self.device.context().get() as isize {
            return Err(self.refuse("it belongs to another context than the sorter".to_owned()));
        }
        Ok(())
    }

    fn refuse(&self, reason: String) -> Error {
        Error::Device { device: self.device.info().name.clone(), operation: "sort the buffer", reason }
    }
}
