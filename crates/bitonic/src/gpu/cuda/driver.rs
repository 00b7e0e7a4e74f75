//! The thin device layer on CUDA.

use super::buffer::Buffer;
use super::description::{DeviceInfo, devices};
use super::device::Device;
use super::kernel::Kernel;
use super::timing::Moment;
use super::transfer;
use crate::gpu::DeviceState;
use crate::gpu::choice::DeviceChoice;
use crate::gpu::driver::{Command, Driver, Grid, RepeatKey, Source, Transfer, check_fits};
use crate::gpu::facts::DeviceFacts;
use crate::gpu::kernel::Part;
use crate::gpu::memory::Look;
use crate::plan::Launch;
use crate::{Engine, Error};
use cudarc::driver::CudaStream;
use cudarc::driver::sys::{self, CUdeviceptr};
use std::time::Duration;

// SAFETY: transfers and copies check the sizes of the buffers.
unsafe impl Driver for Device {
    type Buffer = Buffer;
    type Memory = CUdeviceptr;
    type Kernel = Kernel;
    type Queue = CudaStream;
    type Span = Moments;

    const ENGINE: Engine = Engine::Cuda;

    const PRELUDE: Part = Part { name: "cuda/prelude.c", text: include_str!("prelude.c") };

    fn list() -> Result<Vec<DeviceFacts>, Error> {
        Ok(devices()?.iter().map(DeviceInfo::facts).collect())
    }

    fn open(choice: &DeviceChoice) -> Result<Self, Error> {
        Device::open(choice)
    }

    fn facts(&self) -> &DeviceFacts {
        Device::facts(self)
    }

    fn identity(&self) -> String {
        Device::identity(self)
    }

    fn state(&self) -> &DeviceState<Self> {
        Device::state(self)
    }

    fn queue(&self) -> &CudaStream {
        self.stream()
    }

    fn allocate(&self, bytes: usize) -> Result<Buffer, Error> {
        Device::allocate(self, bytes)
    }

    fn upload(&self, from: &[u8], to: &Buffer) -> Result<Transfer, Error> {
        Device::upload(self, from, to)
    }

    fn download(&self, from: &Buffer, to: &mut [u8]) -> Result<Transfer, Error> {
        Device::download(self, from, to)
    }

    fn upload_shown(&self, from: &[u8], to: &Buffer, look: Look<'_>) -> Result<Transfer, Error> {
        transfer::upload(self, from, to, Some(look))
    }

    fn download_shown(&self, from: &Buffer, to: &mut [u8], look: Look<'_>) -> Result<Transfer, Error> {
        transfer::download(self, from, to, Some(look))
    }

    fn copy(&self, from: &Buffer, to: &Buffer) -> Result<Moments, Error> {
        const OPERATION: &str = "copy a buffer";

        check_fits(self, OPERATION, from.bytes(), to)?;
        self.between_moments(self.stream(), true, || {
            let stream = self.stream().cu_stream();
            // SAFETY: both buffers have this many bytes.
            unsafe { sys::cuMemcpyDtoDAsync_v2(to.address(), from.address(), from.bytes(), stream) }
                .result()
                .map_err(|error| self.failure(OPERATION, error))
        })
    }

    fn finish(&self) -> Result<(), Error> {
        Device::finish(self)
    }

    fn build(&self, source: &Source<'_>) -> Result<Kernel, Error> {
        self.program(source.file, source.text, source.options)?.kernel(source.kernel)
    }

    /// What is suppressed is that a part has functions which not every kernel uses.
    fn options(&self, launch: &Launch) -> String {
        options(launch)
    }

    fn most_items(&self, _: &Kernel) -> usize {
        self.info().max_group_size
    }

    fn prepare(&self, kernel: &Kernel, grid: Grid) -> Result<bool, Error> {
        kernel.allow(grid.local_bytes, grid.cluster)?;
        Ok(kernel.has_cluster(grid))
    }

    unsafe fn submit(
        &self,
        stream: &CudaStream,
        commands: &[Command<'_, Self>],
        timed: bool,
    ) -> Result<Moments, Error> {
        // SAFETY: as the caller says.
        self.between_moments(stream, timed, || unsafe { self.launch_all(stream, commands) })
    }

    /// Sorts that come again are launched as a graph.
    unsafe fn submit_again<'a>(
        &self,
        stream: &CudaStream,
        key: RepeatKey<CUdeviceptr>,
        commands: &mut dyn FnMut() -> Vec<Command<'a, Self>>,
        timed: bool,
    ) -> Result<Moments, Error> {
        let graph = match self.graphs().known(&key) {
            Some(graph) => Some(graph),
            None => self.graphs().obtain(self, key, commands)?,
        };
        self.between_moments(stream, timed, || match &graph {
            // SAFETY: as the caller says, for the same arrays; the device, whose kernels they are, is this one.
            Some(graph) => unsafe { graph.launch(self, stream) },
            // SAFETY: as the caller says.
            None => unsafe { self.launch_all(stream, &commands()) },
        })
    }

    fn elapsed(&self, first: &Moments, last: &Moments) -> Result<Duration, Error> {
        match (&first.before, &last.after) {
            (Some(before), Some(after)) => before.until(self, after),
            _ => Ok(Duration::ZERO),
        }
    }
}

impl Device {
    /// Queues all kernels. Nothing is allocated and nothing is waited for, so that a stream can be captured meanwhile.
    ///
    /// # Safety
    ///
    /// As for [`Driver::submit`].
    pub(super) unsafe fn launch_all(
        &self,
        stream: &CudaStream,
        commands: &[Command<'_, Self>],
    ) -> Result<(), Error> {
        for Command { kernel, grid, arguments } in commands {
            // SAFETY: as the caller says; kernels that may overlap wait for the one before inside.
            unsafe { kernel.launch_as(stream, grid, arguments.as_slice()) }?;
        }
        Ok(())
    }

    /// Queues something, between two moments if it is `timed`.
    fn between_moments(
        &self,
        stream: &CudaStream,
        timed: bool,
        queue: impl FnOnce() -> Result<(), Error>,
    ) -> Result<Moments, Error> {
        let moment = || if timed { Moment::record(self, stream).map(Some) } else { Ok(None) };
        let before = moment()?;
        queue()?;
        Ok(Moments { before, after: moment()? })
    }
}

/// The moments before and after what was queued together.
pub struct Moments {
    before: Option<Moment>,
    after: Option<Moment>,
}

/// The compiler's options for the kernel of a launch.
pub(super) fn options(launch: &Launch) -> String {
    format!("--diag-suppress=177 -DRESIDENT_BLOCKS={}", resident_blocks(launch))
}

/// How many blocks share the registers of a multiprocessor. Elements take half of a thread's at most, addresses and
/// what is computed the rest; with fewer, the compiler keeps elements in memory.
fn resident_blocks(launch: &Launch) -> usize {
    const REGISTERS: usize = 1 << 16;
    // One block of a cluster has a multiprocessor to itself.
    if launch.cluster > 1 {
        return 1;
    }
    let words = launch.held_bytes / size_of::<u32>();
    // Passes without local memory have more addresses to keep.
    let enough = if launch.local_bytes == 0 { 16 } else { 32 };
    let registers = match words {
        words if words <= enough => 64,
        ..=64 => 128,
        _ => 255,
    };
    // Groups of somewhat more than a power of two of work-items make do with somewhat less: as many of them run as of the power of two.
    let registers = if launch.group_size.is_power_of_two() { registers } else { registers / 8 * 7 };
    (REGISTERS / (registers * launch.group_size)).clamp(1, 16)
}
