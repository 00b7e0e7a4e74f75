//! Sorts of buffers that are on the device already.

use super::buffer::Memory;
use super::device::Device;
use crate::Error;
use crate::gpu::execute::{DeviceArrays, Submission, enqueue};
use crate::gpu::job::Job;
use crate::gpu::strategy::check_best;
use crate::key::{Key, Order};
use crate::request::{Request, Segments, ValueType};
use cl3::memory::{CL_MEM_CONTEXT, CL_MEM_SIZE};
use opencl3::command_queue::{CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, CommandQueue};
use opencl3::error_codes::ClError;
use opencl3::event::Event;
use opencl3::memory::{Buffer as RawBuffer, ClMem};
use opencl3::types::cl_mem;

/// Sorts buffers of your own, in place, on a queue of your own.
///
/// - No copy, no wait: every call queues kernels and returns the event of the last one. Commands that are queued later on
///   the same in-order queue see the result; on other queues, wait for the event.
/// - Memory: none beyond the buffers; [`ResidentSorter::scratch_bytes`] says so.
/// - Order and result: those of [`Sorter::sort`](crate::Sorter::sort).
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
}

impl ResidentSorter {
    /// For buffers in the context of this queue, on its device. Keep it: it has the kernels.
    ///
    /// # Errors
    ///
    /// [`Error::Device`] when the driver does not tell context and device of the queue, [`Error::EngineUnavailable`] when its
    /// device is none that the driver lists, such as a part of another.
    pub fn new(queue: &CommandQueue) -> Result<Self, Error> {
        Ok(Self { device: Device::of_queue(queue)?, order: Order::Ascending })
    }

    /// The direction. Default: ascending.
    pub fn order(mut self, order: Order) -> Self {
        self.order = order;
        self
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
        let job = self.job(Request::keys::<K>(Segments::one(len)));
        let plan = self.device.state().plan(&self.device, &job);
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
        if !ValueType::of::<V>().is_number {
            return Err(self.refuse("values must be numbers of 32 or 64 bits".to_owned()));
        }
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

    fn job(&self, request: Request) -> Job {
        Job::of(&Request { order: self.order, ..request })
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
        let plan = self.device.state().plan(&self.device, job);
        // SAFETY: the buffers were checked to be large enough and of this context, and are borrowed exclusively; OpenCL
        // keeps their memory until the kernels are done.
        let queued = unsafe { enqueue(&self.device, queue, &plan, 0, |_| arrays, Submission::Untimed) }?;
        match queued.and_then(|commands| commands.into_last()) {
            Some(last) => Ok(last),
            // Nothing to do, but the caller is promised an event.
            // SAFETY: there is no list of events to wait for.
            None => unsafe { queue.enqueue_marker_with_wait_list(&[]) }
                .map_err(|error| self.device.failure("queue a marker", &error)),
        }
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
