//! The thin device layer: what a backend provides. Everything above it is written once.
//!
//! A backend is a folder with an implementation of [`Driver`] and a prelude for the kernels, and a row in the list of backends.
//! Arguments are a list of arrays and numbers, so a backend may pass numbers as it likes; sizes of launches are a number of groups,
//! so it may fold them into several dimensions.

use super::choice::DeviceChoice;
use super::facts::DeviceFacts;
use super::kernel::Part;
use super::memory::{Look, show};
use super::state::DeviceState;
use crate::plan::Launch;
use crate::{Engine, Error};
use std::time::Duration;

/// An open device: memory, programs, launches, copies, times. Cheap to clone, and safe to use from several threads.
///
/// # Safety
///
/// [`Driver::upload`], [`Driver::download`] and [`Driver::copy`] must stay inside the buffers that they are given.
pub unsafe trait Driver: Clone + Send + Sync + Sized + 'static {
    /// Memory on the device.
    type Buffer: DeviceBuffer<Memory = Self::Memory>;
    /// What a kernel is given for an array: an address or a handle. It is valid as long as its buffer is.
    type Memory: Copy + PartialEq + Send + std::fmt::Debug;
    /// A kernel that is built and loaded.
    type Kernel: Clone + Send + Sync;
    /// What launches are queued on. It runs one command after the other, in the order given.
    type Queue;
    /// The time of some commands.
    type Span;

    /// The engine that uses it.
    const ENGINE: Engine;

    /// What the kernels need to know about the dialect of C.
    const PRELUDE: Part;

    /// The facts about every device there is.
    ///
    /// # Errors
    ///
    /// [`Error::EngineUnavailable`] where there is no driver.
    fn list() -> Result<Vec<DeviceFacts>, Error>;

    /// Opens a device. Later calls for the same device return the same one, and cost little.
    ///
    /// # Errors
    ///
    /// [`Error::EngineUnavailable`] without a driver, [`Error::NoSuchDevice`] when no device answers to the choice,
    /// [`Error::Device`] when the driver does not open it.
    fn open(choice: &DeviceChoice) -> Result<Self, Error>;

    /// What the device is and allows.
    fn facts(&self) -> &DeviceFacts;

    /// Everything that decides whether what was made for one device serves another.
    fn identity(&self) -> String;

    /// What is kept for the device while the process runs.
    #[doc(hidden)]
    fn state(&self) -> &DeviceState<Self>;

    /// The device's own queue.
    fn queue(&self) -> &Self::Queue;

    /// A buffer, its contents undefined. An empty one is allowed.
    ///
    /// # Errors
    ///
    /// [`Error::DeviceMemory`] when it is refused.
    fn allocate(&self, bytes: usize) -> Result<Self::Buffer, Error>;

    /// Host memory to the start of a buffer, after everything queued before; returns when it is there.
    ///
    /// # Errors
    ///
    /// [`Error::Device`] when the buffer is too small or the device fails, [`Error::DeviceMemory`] when it finds only now that it
    /// has no memory for the buffer.
    fn upload(&self, from: &[u8], to: &Self::Buffer) -> Result<Transfer, Error>;

    /// The start of a buffer to host memory, after everything queued before; returns when it is there. What failed earlier in the
    /// queue shows before the first byte is written.
    ///
    /// # Errors
    ///
    /// As for [`Driver::upload`].
    fn download(&self, from: &Self::Buffer, to: &mut [u8]) -> Result<Transfer, Error>;

    /// As [`Driver::upload`], and shows the array on its way.
    ///
    /// # Errors
    ///
    /// As for [`Driver::upload`].
    #[doc(hidden)]
    fn upload_shown(&self, from: &[u8], to: &Self::Buffer, look: Look<'_>) -> Result<Transfer, Error> {
        show(from, look);
        self.upload(from, to)
    }

    /// As [`Driver::download`], and shows what has landed.
    ///
    /// # Errors
    ///
    /// As for [`Driver::upload`].
    #[doc(hidden)]
    fn download_shown(&self, from: &Self::Buffer, to: &mut [u8], look: Look<'_>) -> Result<Transfer, Error> {
        let down = self.download(from, to)?;
        show(to, look);
        Ok(down)
    }

    /// Queues a copy of all of one buffer to the start of another.
    ///
    /// # Errors
    ///
    /// [`Error::Device`] when the other is too small or the device fails.
    fn copy(&self, from: &Self::Buffer, to: &Self::Buffer) -> Result<Self::Span, Error>;

    /// Waits until everything queued on the device's own queue is done.
    ///
    /// # Errors
    ///
    /// [`Error::Device`] when a command failed.
    fn finish(&self) -> Result<(), Error>;

    /// Builds a kernel, or takes it from memory or disk where it was built before.
    ///
    /// # Errors
    ///
    /// [`Error::KernelBuild`] with the compiler's log, [`Error::KernelMissing`] when the text has no such kernel.
    fn build(&self, source: &Source<'_>) -> Result<Self::Kernel, Error>;

    /// The options that this backend's compiler needs for the kernel of a launch, besides the kernel's constants.
    #[doc(hidden)]
    fn options(&self, launch: &Launch) -> String {
        let _ = launch;
        String::new()
    }

    /// The most work-items that a group of this kernel can have.
    fn most_items(&self, kernel: &Self::Kernel) -> usize;

    /// Makes ready for launches like this one; whether the device has what they ask for: enough groups that share local memory.
    ///
    /// # Errors
    ///
    /// [`Error::Device`] when the driver refuses.
    fn prepare(&self, kernel: &Self::Kernel, grid: Grid) -> Result<bool, Error> {
        let _ = (kernel, grid);
        Ok(true)
    }

    /// Queues kernels, one after the other, and returns without waiting. Where they are not `timed`, the span has no times: taking
    /// them costs the device some microseconds.
    ///
    /// # Errors
    ///
    /// [`Error::Device`] when the driver refuses one. Those before it may run.
    ///
    /// # Safety
    ///
    /// The queue must be of the device's context. The arguments must be those of the kernels in number and type, of the same
    /// context, and alive until the kernels are done. Run with them, the kernels must stay inside the arrays.
    unsafe fn submit(
        &self,
        queue: &Self::Queue,
        commands: &[Command<'_, Self>],
        timed: bool,
    ) -> Result<Self::Span, Error>;

    /// The same for kernels that may be queued again with the same arguments, which `key` stands for: a backend may keep them as
    /// one thing to launch. `commands` makes them.
    ///
    /// # Errors
    ///
    /// As for [`Driver::submit`].
    ///
    /// # Safety
    ///
    /// As for [`Driver::submit`]; the same key must always stand for the same commands.
    unsafe fn submit_again<'a>(
        &self,
        queue: &Self::Queue,
        key: RepeatKey<Self::Memory>,
        commands: &mut dyn FnMut() -> Vec<Command<'a, Self>>,
        timed: bool,
    ) -> Result<Self::Span, Error>;

    /// From the start of the first to the end of the last; waits for both.
    ///
    /// # Errors
    ///
    /// [`Error::Device`] when a command failed, or the driver takes no times.
    fn elapsed(&self, first: &Self::Span, last: &Self::Span) -> Result<Duration, Error>;
}

/// Memory on a device.
pub trait DeviceBuffer: Send {
    /// See [`Driver::Memory`].
    type Memory;

    /// How much.
    fn bytes(&self) -> usize;

    /// What a kernel is given.
    fn memory(&self) -> Self::Memory;
}

/// A kernel's text.
#[derive(Clone, Copy, Debug)]
pub struct Source<'a> {
    /// For messages and file names.
    pub file: &'a str,
    /// The kernel's name in the text.
    pub kernel: &'a str,
    /// The text, in the backend's dialect.
    pub text: &'a str,
    /// The compiler's options, separated by spaces.
    pub options: &'a str,
}

/// How a kernel is launched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Grid {
    /// How many groups run.
    pub groups: usize,
    /// The work-items of a group.
    pub group_size: usize,
    /// Local memory of a group that comes with the launch, where the dialect has it so.
    pub local_bytes: usize,
    /// Groups that run at the same time and share their local memory; 1 for none.
    pub cluster: u32,
    /// Whether it may start before the kernel before it has ended. It waits for that one inside.
    pub overlaps: bool,
}

impl Grid {
    /// So many groups of so many work-items.
    pub fn plain(groups: usize, group_size: usize) -> Self {
        Self { groups, group_size, local_bytes: 0, cluster: 1, overlaps: false }
    }
}

impl From<&Launch> for Grid {
    fn from(launch: &Launch) -> Self {
        let Launch { groups, group_size, local_bytes, cluster, overlaps, .. } = *launch;
        Self { groups, group_size, local_bytes, cluster, overlaps }
    }
}

/// One launch of a kernel with its arguments.
pub struct Command<'a, D: Driver> {
    /// The kernel.
    pub kernel: &'a D::Kernel,
    /// How it is launched.
    pub grid: Grid,
    /// What it is given.
    pub arguments: Arguments<D::Memory>,
}

/// What a kernel is given.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Argument<M> {
    /// An array.
    Memory(M),
    /// A number of 32 bits.
    U32(u32),
    /// A number of 64 bits.
    U64(u64),
}

/// The most arguments of a kernel.
pub const MOST_ARGUMENTS: usize = 20;

/// The arguments of a kernel, in order, without memory to allocate.
#[derive(Clone, Copy, Debug)]
pub struct Arguments<M> {
    list: [Argument<M>; MOST_ARGUMENTS],
    len: usize,
}

impl<M: Copy> Arguments<M> {
    /// None.
    pub fn new() -> Self {
        Self { list: [Argument::U32(0); MOST_ARGUMENTS], len: 0 }
    }

    /// One more.
    ///
    /// # Panics
    ///
    /// If there are [`MOST_ARGUMENTS`] already.
    pub fn push(&mut self, argument: Argument<M>) {
        self.list[self.len] = argument;
        self.len += 1;
    }

    /// All of them.
    pub fn as_slice(&self) -> &[Argument<M>] {
        &self.list[..self.len]
    }
}

impl<M: Copy> Default for Arguments<M> {
    fn default() -> Self {
        Self::new()
    }
}

impl<M: Copy> FromIterator<Argument<M>> for Arguments<M> {
    fn from_iter<I: IntoIterator<Item = Argument<M>>>(arguments: I) -> Self {
        let mut list = Self::new();
        arguments.into_iter().for_each(|argument| list.push(argument));
        list
    }
}

/// What a sequence of commands is known by: the kernels of a plan, by a number that no other has, on these arrays.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RepeatKey<M> {
    pub(crate) kernels: u64,
    pub(crate) arrays: [Option<M>; 7],
}

/// What a transfer took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Transfer {
    /// From its start to its end: on the device's clock where the device moves the data, on the host's where the host
    /// does. Waiting for commands queued before does not count.
    pub elapsed: Duration,
    /// How many bytes were moved.
    pub bytes: usize,
}

/// Whether a buffer has so many bytes; if not, the error of the operation that needs them.
pub(crate) fn check_fits<D: Driver>(
    device: &D,
    operation: &'static str,
    bytes: usize,
    buffer: &D::Buffer,
) -> Result<(), Error> {
    if bytes <= buffer.bytes() {
        return Ok(());
    }
    let reason = format!("{bytes} bytes do not fit a buffer of {}", buffer.bytes());
    Err(Error::Device { device: device.facts().name.clone(), operation, reason })
}
