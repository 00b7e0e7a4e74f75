//! Runs the launches of a job on a stream, over arrays that are on the device already.

use super::buffer::Buffer;
use super::device::Device;
use super::graph::Sort;
use super::kernel::{Argument, Kernel, MOST_ARGUMENTS, Manner};
use super::timing::Moment;
use crate::gpu::backend::{Backend, Kernels, Transfer};
use crate::gpu::chunking::DeviceMemory;
use crate::gpu::landing::Landing;
use crate::gpu::launches::{Job, Launch, Parameter};
use crate::gpu::lock::lock;
use crate::gpu::shape::{DeviceLimits, Shape, Way};
use crate::gpu::source::{Dialect, Kind, Variant};
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
        DeviceLimits {
            group_size: info.max_group_size,
            local_bytes: info.max_shared_bytes,
            is_cpu: false,
            exchanging_passes: true,
            second_array: !self.is_in_place(),
            buckets: !self.is_in_place(),
            most_cluster_log2: if info.clusters { MOST_CLUSTER_LOG2 } else { 0 },
        }
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
        let (shape, work) = self.with_work(job, shape)?;
        let prepared = Prepared::new(self, job, shape)?;
        let arrays = Arrays {
            keys: keys.address(),
            values: values.map(Buffer::address),
            work: work.as_ref().map(Buffer::address),
        };
        let sort = Sort { job: *job, shape, arrays };
        let graph = self.graphs().obtain(self, sort, &prepared)?;
        let first = Moment::record(self, self.stream())?;
        // SAFETY: the buffers are the device's and, as the caller says, hold the job's elements; whoever else uses them
        // queues commands on the same stream.
        let queued = unsafe {
            match &graph {
                Some(graph) => graph.launch(self, self.stream()),
                None => prepared.enqueue(self.stream(), arrays),
            }
        };
        let last = Moment::record(self, self.stream());
        // Also after an error: kernels queued before it may still use the buffers.
        let finished = self.finish();
        if let Some(work) = work {
            self.give_buffer(work);
        }
        queued?;
        finished?;
        let passes = prepared.launches.iter().filter(|(_, launch, _)| launch.is_pass()).count();
        Ok(Kernels { span: first.until(self, &last?)?, launches: prepared.launches.len(), passes })
    }

    fn copy_bandwidth(&self) -> Option<f64> {
        Device::copy_bandwidth(self).ok()
    }
}

/// Blocks that can share their memory on devices that have clusters; more than 8 need the driver's leave, which
/// devices so far give. It can be asked only with the kernel at hand: where it refuses, plans say more than [`Prepared`] does.
const MOST_CLUSTER_LOG2: u32 = 4;

impl Device {
    /// The shape for a job that has less memory than buckets take.
    pub(super) fn shape_without_buckets(&self, job: &Job) -> Shape {
        self.shape_within(DeviceLimits { buckets: false, ..self.limits() }, job)
    }

    /// The memory to work in that a shape needs. Where there is none, the shape of a sort that needs less, and at last in place.
    fn with_work(&self, job: &Job, shape: Shape) -> Result<(Shape, Option<Buffer>), Error> {
        let bytes = job.work_bytes(shape);
        if bytes == 0 {
            return Ok((shape, None));
        }
        match self.take_buffer(bytes) {
            Ok(work) => Ok((shape, Some(work))),
            Err(Error::DeviceMemory { .. }) if matches!(shape.way, Way::Buckets(_)) => {
                tracing::info!(bytes, "the device has no memory for buckets: sorting without");
                self.with_work(job, self.shape_without_buckets(job))
            }
            Err(Error::DeviceMemory { .. }) => {
                tracing::info!(bytes, "the device has no memory for a second array: sorting in place");
                let in_place = self.clone().in_place();
                Ok((in_place.shape(job), None))
            }
            Err(error) => Err(error),
        }
    }
}

/// The arrays of a job: keys, values where its layout has them, and memory to work in where its shape needs it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Arrays {
    pub(super) keys: CUdeviceptr,
    pub(super) values: Option<CUdeviceptr>,
    pub(super) work: Option<CUdeviceptr>,
}

/// A job whose kernels are loaded.
pub(super) struct Prepared {
    launches: Vec<(Kernel, Launch, Manner)>,
    /// From the start of the working memory to where its values are.
    work_values: u64,
    /// To where kernels keep account.
    control: u64,
}

impl Prepared {
    /// Takes the job's kernels from memory or disk, or compiles them. Where the device has no cluster as large as the shape
    /// wants, it is columnsort instead of buckets, and passes instead of that, which need less memory.
    pub(super) fn new(device: &Device, job: &Job, shape: Shape) -> Result<Self, Error> {
        let launches = Self::load(device, job, shape)?;
        if !launches.iter().all(|(kernel, _, manner)| kernel.has_cluster(manner)) {
            let less = match shape.way {
                Way::Buckets(_) => device.shape_without_buckets(job),
                _ => Shape { way: Way::Passes, ..shape },
            };
            return Self::new(device, job, less);
        }
        let work_values = (job.work_elements(shape) * job.layout.key_bytes()) as u64;
        Ok(Self { launches, work_values, control: job.control_offset(shape) as u64 })
    }

    fn load(device: &Device, job: &Job, shape: Shape) -> Result<Vec<(Kernel, Launch, Manner)>, Error> {
        let manners = Manners::new(device, job);
        let launches = job.launches(shape).into_iter().enumerate().map(|(index, launch)| {
            let kernel = device.kernels().obtain(device, launch.kernel)?;
            let manner = manners.of(&launch, index == 0);
            kernel.allow(manner.shared_bytes, manner.cluster)?;
            Ok((kernel, launch, manner))
        });
        launches.collect()
    }

    /// Queues all kernels. Nothing is allocated and nothing is waited for, so that a stream can be captured meanwhile.
    ///
    /// # Safety
    ///
    /// The stream and the arrays must belong to the device's context; the arrays must hold the job's elements, or have
    /// [`Job::work_bytes`], and be used by nobody else until the last kernel is done.
    pub(super) unsafe fn enqueue(&self, stream: &CudaStream, arrays: Arrays) -> Result<(), Error> {
        // Where the shape says that there is working memory, and the layout that there are values, there are.
        let (values, work) = (arrays.values.unwrap_or(0), arrays.work.unwrap_or(0));
        for (kernel, launch, manner) in &self.launches {
            let parameters = launch.parameters();
            let mut arguments = [Argument::U32(0); MOST_ARGUMENTS];
            for (argument, parameter) in arguments.iter_mut().zip(parameters.as_slice()) {
                *argument = match *parameter {
                    Parameter::Keys => Argument::Memory(arrays.keys),
                    Parameter::Values => Argument::Memory(values),
                    Parameter::WorkKeys => Argument::Memory(work),
                    Parameter::WorkValues => Argument::Memory(work + self.work_values),
                    Parameter::Control => Argument::Memory(work + self.control),
                    Parameter::Place(number) if launch.kernel.wide_index => Argument::U64(number as u64),
                    Parameter::Place(number) => Argument::U32(number as u32),
                    Parameter::Number(number) => Argument::U32(number),
                };
            }
            let arguments = &arguments[..parameters.as_slice().len()];
            // SAFETY: these are the parameters of every kernel, by its layout and kind; the caller vouches for the arrays,
            // and kernels stay inside them and wait for the ones before, as the tests see.
            unsafe { kernel.launch_as(stream, manner, arguments) }?;
        }
        Ok(())
    }
}

/// How the launches of a job are made.
struct Manners {
    /// Whether kernels may start before the one before has ended.
    overlap: bool,
    multiprocessors: usize,
    max_shared_bytes: usize,
}

impl Manners {
    /// Up to this many elements, starting a kernel early saves a microsecond or two of some tens. With more, what is
    /// started early takes the place of what still has to run.
    const MOST_OVERLAPPED: usize = 1 << 22;

    fn new(device: &Device, job: &Job) -> Self {
        let info = device.info();
        Self {
            overlap: info.compute_capability >= (9, 0) && job.row_length * job.rows <= Self::MOST_OVERLAPPED,
            multiprocessors: info.multiprocessors,
            max_shared_bytes: info.max_shared_bytes,
        }
    }

    fn of(&self, launch: &Launch, first: bool) -> Manner {
        let mut shared_bytes = launch.kernel.local_bytes();
        // A block on every multiprocessor: by asking for more memory than two of them find. A kernel that is started early would
        // otherwise put two blocks there where the first have ended, and have others wait for them.
        if self.overlap && shared_bytes > 0 && launch.groups <= self.multiprocessors {
            shared_bytes = shared_bytes.max(self.max_shared_bytes / 2 + 1024).min(self.max_shared_bytes);
        }
        Manner {
            groups: launch.groups,
            group_size: launch.group_size,
            shared_bytes,
            cluster: 1 << launch.kernel.cluster_log2(),
            overlaps: self.overlap && !first,
        }
    }
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
    format!("--diag-suppress=177 -DRESIDENT_BLOCKS={} {}", resident_blocks(variant), variant.options())
}

/// How many blocks share the registers of a multiprocessor. Elements take half of a thread's at most, addresses and
/// what is computed the rest; with fewer, the compiler keeps elements in memory.
fn resident_blocks(variant: Variant) -> usize {
    const REGISTERS: usize = 1 << 16;
    let (tile_log2, held_log2) = variant.tile_and_held_log2();
    let words = (variant.layout.element_bytes() << held_log2) / 4;
    let (threads, enough) = match variant.kind {
        Kind::MemoryPass { items, .. } => (items as usize, words <= 16),
        // One block of a cluster has a multiprocessor to itself.
        _ if variant.cluster_log2() > 0 => return 1,
        _ => (1 << (tile_log2.unwrap_or(held_log2) - held_log2), words <= 32),
    };
    let registers = match words {
        _ if enough => 64,
        ..=64 => 128,
        _ => 255,
    };
    (REGISTERS / (registers * threads)).clamp(1, 16)
}
