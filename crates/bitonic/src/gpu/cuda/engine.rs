//! Runs the launches of a job on a stream, over arrays that are on the device already.

use super::buffer::Buffer;
use super::device::Device;
use super::kernel::{Argument, Kernel};
use super::timing::Moment;
use crate::gpu::backend::{Backend, Kernels, Transfer};
use crate::gpu::chunking::DeviceMemory;
use crate::gpu::landing::Landing;
use crate::gpu::launches::{Job, Launch};
use crate::gpu::lock::lock;
use crate::gpu::shape::{DeviceLimits, Shape};
use crate::gpu::source::{Dialect, Variant};
use crate::gpu::tuning::Tuning;
use crate::{Engine, Error};
use cudarc::driver::CudaStream;
use cudarc::driver::sys::CUdeviceptr;
use std::collections::HashMap;
use std::sync::Mutex;

impl Backend for Device {
    type Buffer = Buffer;

    const ENGINE: Engine = Engine::Cuda;

    fn name(&self) -> &str {
        &self.info().name
    }

    fn limits(&self) -> DeviceLimits {
        let info = self.info();
        DeviceLimits { group_size: info.max_group_size, local_bytes: info.shared_bytes, is_cpu: false }
    }

    fn memory(&self) -> DeviceMemory {
        let bytes = self.info().global_bytes;
        DeviceMemory { bytes, buffer_bytes: bytes }
    }

    fn tuning(&self) -> Option<&Tuning> {
        self.stored_tuning()
    }

    fn shares_host_memory(&self) -> bool {
        false
    }

    fn landing(&self) -> &Landing {
        self.landing_memory()
    }

    fn take_buffer(&self, bytes: usize) -> Result<Buffer, Error> {
        self.scratch().take(bytes, || self.allocate(bytes))
    }

    fn give_buffer(&self, buffer: Buffer) {
        self.scratch().give(buffer, self.info().global_bytes);
    }

    fn upload(&self, from: &[u8], to: &Buffer) -> Result<Transfer, Error> {
        Device::upload(self, from, to)
    }

    fn download(&self, from: &Buffer, to: &mut [u8]) -> Result<Transfer, Error> {
        Device::download(self, from, to)
    }

    fn run(&self, job: &Job, shape: Shape, keys: &Buffer, values: Option<&Buffer>) -> Result<Kernels, Error> {
        let prepared = Prepared::new(self, job, shape)?;
        let arrays = Arrays { keys: keys.address(), values: values.map(Buffer::address) };
        let first = Moment::record(self, self.stream())?;
        // SAFETY: the buffers are the device's and, as the caller says, hold the job's elements; whoever else uses them
        // queues commands on the same stream.
        let queued = unsafe { prepared.enqueue(self.stream(), arrays) };
        let last = Moment::record(self, self.stream());
        // Also after an error: kernels queued before it may still use the buffers.
        let finished = self.finish();
        queued?;
        finished?;
        Ok(Kernels { span: first.until(self, &last?)?, launches: prepared.launches.len() })
    }

    fn copy_bandwidth(&self) -> Option<f64> {
        Device::copy_bandwidth(self).ok()
    }
}

/// The arrays of a job: keys, and values where its layout has them.
#[derive(Clone, Copy)]
pub(super) struct Arrays {
    pub(super) keys: CUdeviceptr,
    pub(super) values: Option<CUdeviceptr>,
}

/// A job whose kernels are loaded.
pub(super) struct Prepared {
    row_length: usize,
    launches: Vec<(Kernel, Launch)>,
}

impl Prepared {
    /// Takes the job's kernels from memory or disk, or compiles them.
    pub(super) fn new(device: &Device, job: &Job, shape: Shape) -> Result<Self, Error> {
        let launches = job.launches(shape).into_iter();
        let launches = launches.map(|launch| Ok((device.kernels().obtain(device, launch.kernel)?, launch)));
        Ok(Self { row_length: job.row_length, launches: launches.collect::<Result<_, Error>>()? })
    }

    /// Queues all kernels. Nothing is allocated and nothing is waited for, so that a stream can be captured meanwhile.
    ///
    /// # Safety
    ///
    /// The stream and the arrays must belong to the device's context; the arrays must hold the job's elements, and be used
    /// by nobody else until the last kernel is done.
    pub(super) unsafe fn enqueue(&self, stream: &CudaStream, arrays: Arrays) -> Result<(), Error> {
        for (kernel, launch) in &self.launches {
            let length = index(launch.kernel, self.row_length);
            let count = index(launch.kernel, launch.count);
            let last = Argument::U32(launch.last);
            let keys = Argument::Memory(arrays.keys);
            // SAFETY: these are the parameters of every kernel, by its layout; the caller vouches for the arrays, and kernels
            // stay inside them, as the tests see.
            unsafe {
                match arrays.values {
                    Some(values) => {
                        let arguments = [keys, Argument::Memory(values), length, count, last];
                        kernel.launch(stream, launch.groups, launch.group_size, &arguments)
                    }
                    None => {
                        kernel.launch(stream, launch.groups, launch.group_size, &[keys, length, count, last])
                    }
                }
            }?;
        }
        Ok(())
    }
}

/// A number of places, in the kernel's own width.
fn index(variant: Variant, number: usize) -> Argument<'static> {
    if variant.wide_index { Argument::U64(number as u64) } else { Argument::U32(number as u32) }
}

/// The kernels of a device that were needed so far.
#[derive(Default)]
pub(super) struct KernelSet {
    kernels: Mutex<HashMap<Variant, Kernel>>,
}

impl KernelSet {
    fn obtain(&self, device: &Device, variant: Variant) -> Result<Kernel, Error> {
        if let Some(kernel) = lock(&self.kernels).get(&variant) {
            return Ok(kernel.clone());
        }
        // Without the lock: others need not wait for this one's compiler.
        let name = variant.name();
        let kernel = device.program(name, &variant.source(Dialect::Cuda), &options(variant))?.kernel(name)?;
        lock(&self.kernels).insert(variant, kernel.clone());
        Ok(kernel)
    }
}

/// The compiler's options for a kernel. What is suppressed is that a part has functions which not every kernel uses.
pub(super) fn options(variant: Variant) -> String {
    format!("--diag-suppress=177 {}", variant.options())
}
