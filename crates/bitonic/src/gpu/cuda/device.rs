//! An open device: its context and stream, and everything kept for it while the process runs.

use super::buffer::Buffer;
use super::compiler::Compiler;
use super::description::{DeviceInfo, describe, devices};
use super::failure::failure;
use super::graph::Graphs;
use super::kernel::Module;
use super::program::Program;
use super::staging::PinnedChunk;
use super::{library, program, transfer};
use crate::Error;
use crate::gpu::DeviceState;
use crate::gpu::cache::Cache;
use crate::gpu::choice::DeviceChoice;
use crate::gpu::driver::Transfer;
use crate::gpu::facts::DeviceFacts;
use crate::gpu::lock::lock;
use crate::gpu::memory::staging::{Pool, Staging};
use crate::gpu::programs::Programs;
use cudarc::driver::sys::CUstreamCaptureStatus;
use cudarc::driver::{CudaContext, CudaStream, DriverError};
use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, OnceLock};

/// An open device.
///
/// Cheap to clone, and safe to use from several threads at once: its stream runs one command after the other, in the
/// order given.
#[derive(Clone)]
pub struct Device {
    shared: Arc<Shared>,
}

struct Shared {
    info: DeviceInfo,
    facts: DeviceFacts,
    compiler: Compiler,
    /// Given back before the context is: fields are dropped in this order.
    graphs: Graphs,
    state: DeviceState<Device>,
    programs: Programs<Module>,
    staging: Pool<PinnedChunk>,
    stream: Arc<CudaStream>,
    context: Arc<CudaContext>,
}

impl Device {
    /// Opens a device, in its primary context: the one that the CUDA runtime, cudarc and other libraries share.
    ///
    /// A device is opened once in a process: later calls return the same one, and cost little.
    ///
    /// # Errors
    ///
    /// [`Error::EngineUnavailable`] without a driver, a device or NVRTC, [`Error::NoSuchDevice`] when no device answers to
    /// the choice, [`Error::Device`] when the driver does not open it.
    pub fn open(choice: &DeviceChoice) -> Result<Self, Error> {
        static OPENED: OnceLock<Mutex<Opened>> = OnceLock::new();

        lock(OPENED.get_or_init(Mutex::default)).open(choice)
    }

    /// The device of a context of cudarc's, in that context: for memory that belongs to it.
    ///
    /// For a primary context it is the one that [`Device::open`] gives. In another, it is opened anew, and has a stream
    /// there, which makes cudarc track the uses of arrays.
    ///
    /// # Errors
    ///
    /// [`Error::EngineUnavailable`] without NVRTC, [`Error::Device`] when the driver does not describe the device.
    pub fn of_context(context: &Arc<CudaContext>) -> Result<Self, Error> {
        if context.is_primary() {
            return Self::open(&DeviceChoice::Index(context.ordinal()));
        }
        library::driver()?;
        let info = describe(context.ordinal() as i32)
            .map_err(|error| failure("the CUDA device of the context", "be described", error))?;
        Self::in_context(info, context.clone())
    }

    fn in_context(info: DeviceInfo, context: Arc<CudaContext>) -> Result<Self, Error> {
        let compiler = Compiler::load()?;
        let stream = context.new_stream().map_err(|error| failure(&info.name, "make a stream", error))?;
        tracing::debug!(
            device = info.name,
            driver = info.driver,
            nvrtc = compiler.version,
            "opened a CUDA device"
        );
        let shared = Shared {
            facts: info.facts(),
            info,
            compiler,
            graphs: Graphs::default(),
            state: DeviceState::default(),
            programs: Programs::default(),
            staging: Pool::default(),
            stream,
            context,
        };
        Ok(Self { shared: Arc::new(shared) })
    }

    pub(super) fn graphs(&self) -> &Graphs {
        &self.shared.graphs
    }

    /// What the driver says about it.
    pub fn info(&self) -> &DeviceInfo {
        &self.shared.info
    }

    /// The context that programs and buffers belong to.
    pub fn context(&self) -> &Arc<CudaContext> {
        &self.shared.context
    }

    /// The stream: in order, shared by all who use the device, and not the default one.
    pub fn stream(&self) -> &Arc<CudaStream> {
        &self.shared.stream
    }

    /// A program, compiled from CUDA C++ with the compiler's options, separated by spaces; from memory or from disk when it
    /// was compiled before.
    ///
    /// `name` is for messages and file names. It is compiled for the device's own architecture, which must not be among the
    /// options. What is kept on disk, in the user's cache folder or the one that the variable `BITONIC_CACHE_DIR` names
    /// (empty: none), is only used for the same source, options, device, driver and compiler. Compiling takes from tens of
    /// milliseconds to seconds.
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
    /// [`Error::DeviceMemory`] when it is refused.
    pub fn allocate(&self, bytes: usize) -> Result<Buffer, Error> {
        Buffer::create(self, bytes)
    }

    /// Copies host memory to the start of a buffer, after everything queued before. Returns when it is there.
    ///
    /// # Errors
    ///
    /// [`Error::Device`] when the buffer is too small, or the device fails.
    pub fn upload(&self, from: &[u8], to: &Buffer) -> Result<Transfer, Error> {
        transfer::upload(self, from, to, None)
    }

    /// Copies the start of a buffer to host memory, after everything queued before. Returns when it is there.
    ///
    /// # Errors
    ///
    /// As for [`Device::upload`]. Kernels that fail earlier in the stream do so before the first byte is written; a
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

    /// Waits until everything queued on the device's stream is done.
    ///
    /// # Errors
    ///
    /// [`Error::Device`] when a kernel or a transfer failed.
    pub fn finish(&self) -> Result<(), Error> {
        self.stream().synchronize().map_err(|error| self.failure("finish its work", error))
    }

    /// Everything that decides whether what was made for one device serves another.
    pub(super) fn identity(&self) -> String {
        let DeviceInfo { name, driver, compute_capability: (major, minor), .. } = self.info();
        let library = env!("CARGO_PKG_VERSION");
        let compiler = &self.compiler().version;
        format!(
            "library {library}\ndevice {name}\ncompute capability {major}.{minor}\ndriver CUDA {driver}\nNVRTC {compiler}\n"
        )
    }

    /// The error for a code.
    pub(super) fn failure(&self, operation: &'static str, error: DriverError) -> Error {
        failure(&self.info().name, operation, error)
    }

    pub(super) fn compiler(&self) -> &Compiler {
        &self.shared.compiler
    }

    pub(super) fn programs(&self) -> &Programs<Module> {
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

    /// Whether what is queued on a stream becomes part of a graph of the caller's.
    pub(super) fn is_captured(&self, stream: &CudaStream) -> Result<bool, Error> {
        let status = stream.capture_status();
        let status = status.map_err(|error| self.failure("ask for the state of a stream", error))?;
        Ok(status != CUstreamCaptureStatus::CU_STREAM_CAPTURE_STATUS_NONE)
    }
}

impl fmt::Debug for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Device").field(&self.info().name).finish()
    }
}

/// The devices opened so far, by index, and what was found for each choice.
#[derive(Default)]
struct Opened {
    chosen: HashMap<DeviceChoice, Device>,
    by_index: HashMap<usize, Device>,
}

impl Opened {
    fn open(&mut self, choice: &DeviceChoice) -> Result<Device, Error> {
        if let Some(device) = self.chosen.get(choice) {
            return Ok(device.clone());
        }
        let found = devices()?;
        if found.is_empty() {
            return Err(library::no_device());
        }
        let candidates: Vec<_> = found.iter().map(DeviceInfo::candidate).collect();
        let info = &found[choice.choose(&candidates)?];
        let device = match self.by_index.get(&info.index) {
            Some(device) => device.clone(),
            None => {
                let context =
                    CudaContext::new(info.index).map_err(|error| failure(&info.name, "be opened", error))?;
                Device::in_context(info.clone(), context)?
            }
        };
        self.by_index.insert(info.index, device.clone());
        self.chosen.insert(choice.clone(), device.clone());
        Ok(device)
    }
}
