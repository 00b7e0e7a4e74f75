//! An open device: its context and queue, and everything kept for it while the process runs.

use super::buffer::Buffer;
use super::failure::{Health, failure, unavailable};
use super::platform::{DeviceInfo, Found, list};
use super::program;
use super::program::Program;
use super::staging::PinnedChunk;
use super::transfer;
use crate::Error;
use crate::gpu::DeviceState;
use crate::gpu::cache::Cache;
use crate::gpu::choice::DeviceChoice;
use crate::gpu::driver::Transfer;
use crate::gpu::facts::DeviceFacts;
use crate::gpu::lock::lock;
use crate::gpu::memory::staging::{Pool, Staging};
use crate::gpu::programs::Programs;
use opencl3::command_queue::{CL_QUEUE_PROFILING_ENABLE, CommandQueue};
use opencl3::context::Context;
use opencl3::device::Device as RawDevice;
use opencl3::error_codes::ClError;
use opencl3::program::Program as RawProgram;
use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, OnceLock};

/// An open device.
///
/// Cheap to clone, and safe to use from several threads at once: its queue runs one command after the other, in the
/// order given.
#[derive(Clone)]
pub struct Device {
    shared: Arc<Shared>,
}

struct Shared {
    info: DeviceInfo,
    facts: DeviceFacts,
    context: Context,
    queue: CommandQueue,
    programs: Programs<RawProgram>,
    staging: Pool<PinnedChunk>,
    state: DeviceState<Device>,
    health: Health,
}

impl Device {
    /// Opens a device.
    ///
    /// A device is opened once in a process: later calls return the same one, and cost little. Only one that failed in
    /// a way that may have cost its context is opened anew.
    ///
    /// # Errors
    ///
    /// [`Error::EngineUnavailable`] without a loader or any device, [`Error::NoSuchDevice`] when no device answers to
    /// the choice, [`Error::Device`] when the driver does not open it.
    pub fn open(choice: &DeviceChoice) -> Result<Self, Error> {
        static REGISTRY: OnceLock<Mutex<Registry>> = OnceLock::new();

        lock(REGISTRY.get_or_init(Mutex::default)).open(choice)
    }

    fn create(found: &Found) -> Result<Self, Error> {
        let named = |error| failure(&found.info.name, "be opened", &error);
        let context = Context::from_device(&found.raw).map_err(named)?;
        Self::in_context(found, context)
    }

    fn in_context(found: &Found, context: Context) -> Result<Self, Error> {
        let named = |error| failure(&found.info.name, "be opened", &error);
        // SAFETY: the device is the one that the context was made for.
        let queue = unsafe { CommandQueue::create(&context, found.raw.id(), CL_QUEUE_PROFILING_ENABLE) };
        let shared = Shared {
            info: found.info.clone(),
            facts: found.info.facts(),
            context,
            queue: queue.map_err(named)?,
            programs: Programs::default(),
            staging: Pool::default(),
            state: DeviceState::default(),
            health: Health::new(&found.info.name),
        };
        tracing::debug!(
            device = shared.info.name,
            platform = shared.info.platform,
            "opened an OpenCL device"
        );
        Ok(Self { shared: Arc::new(shared) })
    }

    /// The device of a queue, in that queue's context: for buffers that belong to it.
    ///
    /// # Errors
    ///
    /// [`Error::Device`] when the driver does not tell context and device.
    pub fn of_queue(queue: &CommandQueue) -> Result<Self, Error> {
        let named = |error| failure("the OpenCL device of the queue", "be described", &error);
        let raw = RawDevice::new(queue.device().map_err(named)?);
        let found = list()?.into_iter().find(|found| found.raw.id() == raw.id());
        let found = found.ok_or_else(|| unavailable("the queue's device is none that its driver lists"))?;
        let context = queue.context().map_err(named)?;
        // SAFETY: the context is alive, because the queue is; what is retained here is released with the new owner.
        unsafe { cl3::context::retain_context(context) }.map_err(|code| named(ClError(code)))?;
        Self::in_context(&found, Context::wrap_cl_context(context, &found.raw))
    }

    /// What the driver says about it.
    pub fn info(&self) -> &DeviceInfo {
        &self.shared.info
    }

    /// The context that programs and buffers belong to; it has this device alone, unless it was made from a queue with a larger one.
    pub fn context(&self) -> &Context {
        &self.shared.context
    }

    /// The queue: in order, with profiling, shared by all who use the device.
    pub fn queue(&self) -> &CommandQueue {
        &self.shared.queue
    }

    /// A program, built from OpenCL C with the compiler's options; from memory or from disk when it was built before.
    ///
    /// `name` is for messages and file names. What is kept on disk, in the user's cache folder or the one that the
    /// variable `BITONIC_CACHE_DIR` names (empty: none), is only used for the same source, options, device and driver.
    /// A build takes from milliseconds to seconds.
    ///
    /// # Errors
    ///
    /// [`Error::KernelBuild`] with the compiler's log.
    pub fn program(&self, name: &str, source: &str, options: &str) -> Result<Program, Error> {
        program::obtain(self, &Cache::of_user(), name, source, options)
    }

    /// A buffer on the device, its contents undefined. An empty one is allowed.
    ///
    /// # Errors
    ///
    /// [`Error::DeviceMemory`] when it is larger than [`DeviceInfo::max_allocation_bytes`], or refused. Some drivers
    /// grant memory that they do not have; then the first use of the buffer is what fails.
    pub fn allocate(&self, bytes: usize) -> Result<Buffer, Error> {
        Buffer::create(self, bytes)
    }

    /// Copies host memory to the start of a buffer, after everything queued before. Returns when it is there.
    ///
    /// # Errors
    ///
    /// [`Error::Device`] when the buffer is too small, another transfer uses it, or the device fails;
    /// [`Error::DeviceMemory`] when the device finds only now that it has no memory for the buffer.
    pub fn upload(&self, from: &[u8], to: &Buffer) -> Result<Transfer, Error> {
        transfer::upload(self, from, to, None)
    }

    /// Copies the start of a buffer to host memory, after everything queued before. Returns when it is there.
    ///
    /// # Errors
    ///
    /// As for [`Device::upload`]. Commands that fail earlier in the queue do so before the first byte is written; a
    /// device that is lost in the middle of a large download leaves `to` with parts of both.
    pub fn download(&self, from: &Buffer, to: &mut [u8]) -> Result<Transfer, Error> {
        transfer::download(self, from, to, None)
    }

    /// The speed of copies from device memory to device memory: bytes read plus bytes written, per second.
    ///
    /// Measured by the first call, in well under a second, and kept on disk as programs are.
    ///
    /// # Errors
    ///
    /// [`Error::DeviceMemory`] or [`Error::Device`] when the measurement fails.
    pub fn copy_bandwidth(&self) -> Result<f64, Error> {
        self.state().copy_bandwidth(self)
    }

    /// Waits until everything queued is done.
    ///
    /// # Errors
    ///
    /// [`Error::Device`] when a command failed.
    pub fn finish(&self) -> Result<(), Error> {
        self.queue().finish().map_err(|error| self.failure("finish its work", &error))
    }

    /// Everything that decides whether what was made for one device serves another.
    pub(super) fn identity(&self) -> String {
        let DeviceInfo { name, platform, driver, version, .. } = self.info();
        let library = env!("CARGO_PKG_VERSION");
        format!("library {library}\ndevice {name}\nplatform {platform}\ndriver {driver}\nversion {version}\n")
    }

    /// The error for a code; notes that the device may be lost when the code says so.
    pub(super) fn failure(&self, operation: &'static str, error: &ClError) -> Error {
        self.shared.health.failure(operation, error)
    }

    pub(super) fn health(&self) -> &Health {
        &self.shared.health
    }

    pub(super) fn programs(&self) -> &Programs<RawProgram> {
        &self.shared.programs
    }

    /// Pinned memory for a transfer of so many bytes; `None` when too many have some already, or it is refused.
    pub(super) fn staging(&self, bytes: usize) -> Option<Staging<'_, PinnedChunk>> {
        self.shared.staging.take(bytes, || PinnedChunk::create(self))
    }

    pub(super) fn state(&self) -> &DeviceState<Self> {
        &self.shared.state
    }

    pub(super) fn facts(&self) -> &DeviceFacts {
        &self.shared.facts
    }

    fn is_lost(&self) -> bool {
        self.shared.health.is_lost()
    }
}

impl fmt::Debug for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Device").field(&self.info().name).finish()
    }
}

/// The devices opened so far, by index, and what was found for each choice.
#[derive(Default)]
pub(super) struct Registry {
    chosen: HashMap<DeviceChoice, Device>,
    opened: HashMap<usize, Device>,
}

impl Registry {
    pub(super) fn open(&mut self, choice: &DeviceChoice) -> Result<Device, Error> {
        if let Some(device) = self.chosen.get(choice).filter(|device| !device.is_lost()) {
            return Ok(device.clone());
        }
        let found = list()?;
        if found.is_empty() {
            return Err(unavailable("no OpenCL driver with a device is installed"));
        }
        let candidates: Vec<_> = found.iter().map(|found| found.info.candidate()).collect();
        let place = choice.choose(&candidates)?;
        let index = found[place].info.index;
        let device = match self.opened.get(&index).filter(|device| !device.is_lost()) {
            Some(device) => device.clone(),
            None => Device::create(&found[place])?,
        };
        self.opened.insert(index, device.clone());
        self.chosen.insert(choice.clone(), device.clone());
        Ok(device)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use opencl3::error_codes::CL_DEVICE_NOT_AVAILABLE;

    #[test]
    fn a_device_that_may_be_lost_is_opened_anew_and_others_are_not() {
        let mut registry = Registry::default();
        let mut open = |choice: &str| {
            let choice = choice.parse().expect("every text but the empty one is a choice");
            registry
                .open(&choice)
                .expect("these tests run on an OpenCL device; pocl-opencl-icd makes the processor one")
        };
        let context_of = |device: &Device| device.context().get();

        let first = open("best");
        let same_by_index = open(&first.info().index.to_string());
        assert_eq!(context_of(&first), context_of(&same_by_index));

        let _ = first.failure("do something unusual", &ClError(opencl3::error_codes::CL_INVALID_VALUE));
        assert_eq!(context_of(&first), context_of(&open("best")), "a refused call costs no context");

        let error = first.failure("run a kernel", &ClError(CL_DEVICE_NOT_AVAILABLE));
        assert!(matches!(error, Error::Device { operation: "run a kernel", .. }));
        let second = open("best");
        assert_ne!(context_of(&first), context_of(&second));
        assert_eq!(context_of(&second), context_of(&open(&second.info().index.to_string())));
    }
}
