//! Kernels: arguments and launches.

use super::buffer::Buffer;
use super::failure::reason;
use crate::Error;
use crate::gpu::driver::{self, Grid, MOST_ARGUMENTS};
use crate::gpu::lock::lock;
use cudarc::driver::sys::{
    self, CUdeviceptr, CUfunction, CUlaunchAttribute, CUlaunchAttributeID, CUlaunchConfig, CUmodule,
    CUresult, CUstream,
};
use cudarc::driver::{CudaContext, CudaStream, DriverError, result};
use std::ffi::{CString, c_void};
use std::fmt;
use std::ptr;
use std::sync::{Arc, Mutex};

/// A kernel of a program. Cheap to clone, and safe to launch from several threads: arguments belong to a launch. Made by
/// [`Program::kernel`](super::Program::kernel).
#[derive(Clone)]
pub struct Kernel {
    module: Arc<Module>,
    function: CUfunction,
    name: Arc<str>,
    /// The shared memory that launches may have.
    allowed: Arc<Mutex<usize>>,
}

// SAFETY: a function belongs to its module, which lives as long as the kernel, and is tied to no thread.
unsafe impl Send for Kernel {}
// SAFETY: the driver's calls on functions may come from several threads at once.
unsafe impl Sync for Kernel {}

/// What a kernel is given.
#[derive(Clone, Copy, Debug)]
pub enum Argument<'a> {
    /// A buffer, for a pointer.
    Buffer(&'a Buffer),
    /// Device memory that was not allocated by this module, for a pointer.
    Memory(CUdeviceptr),
    /// An `unsigned int`.
    U32(u32),
    /// An `unsigned long long`.
    U64(u64),
}

impl From<driver::Argument<CUdeviceptr>> for Argument<'_> {
    fn from(argument: driver::Argument<CUdeviceptr>) -> Self {
        match argument {
            driver::Argument::Memory(address) => Self::Memory(address),
            driver::Argument::U32(number) => Self::U32(number),
            driver::Argument::U64(number) => Self::U64(number),
        }
    }
}

impl Kernel {
    pub(super) fn create(module: &Arc<Module>, name: &str) -> Result<Self, Error> {
        let missing = || Error::KernelMissing { kernel: name.to_owned(), device: module.device.clone() };
        let plain = CString::new(name).map_err(|_| missing())?;
        let found = module.context.bind_to_thread().and_then(|()| {
            // SAFETY: the module is loaded in the context that is current.
            unsafe { result::module::get_function(module.raw, plain) }
        });
        match found {
            Ok(function) => {
                let allowed = Arc::new(Mutex::new(PLAIN_SHARED_BYTES));
                Ok(Self { module: module.clone(), function, name: name.into(), allowed })
            }
            Err(DriverError(CUresult::CUDA_ERROR_NOT_FOUND)) => Err(missing()),
            Err(error) => Err(module.failure("take a kernel from a program", name, error)),
        }
    }

    /// Queues one run of `groups` blocks of `group_size` threads each, with all arguments in order; returns without waiting.
    ///
    /// # Errors
    ///
    /// [`Error::Device`] when the driver refuses the run, or an earlier one failed. A run that fails later shows in the next
    /// call that waits for the stream.
    ///
    /// # Safety
    ///
    /// The stream must be of the kernel's context; the arguments must be those of the kernel in number and type, and alive
    /// until the run is done; run with them, the kernel must stay inside its buffers.
    pub unsafe fn launch(
        &self,
        stream: &CudaStream,
        groups: usize,
        group_size: usize,
        arguments: &[Argument<'_>],
    ) -> Result<(), Error> {
        // SAFETY: as the caller says.
        unsafe { self.launch_as(stream, &Grid::plain(groups, group_size), arguments) }
    }

    /// The same, with all that a launch can ask for.
    ///
    /// # Safety
    ///
    /// As for [`Kernel::launch`]; a kernel that may overlap with the one before must wait for it before it touches what that
    /// one writes.
    pub(super) unsafe fn launch_as<'a, A: Copy + Into<Argument<'a>>>(
        &self,
        stream: &CudaStream,
        grid: &Grid,
        arguments: &[A],
    ) -> Result<(), Error> {
        let failed = |error| self.module.failure("run a kernel", &self.name, error);
        let mut attributes = NO_ATTRIBUTES;
        let configuration = configuration(grid, stream.cu_stream(), &mut attributes).map_err(failed)?;
        let mut values = [0_u64; MOST_ARGUMENTS];
        let mut places = [ptr::null_mut::<c_void>(); MOST_ARGUMENTS];
        if arguments.len() > MOST_ARGUMENTS {
            return Err(failed(DriverError(CUresult::CUDA_ERROR_INVALID_VALUE)));
        }
        for ((argument, value), place) in arguments.iter().zip(&mut values).zip(&mut places) {
            *value = match (*argument).into() {
                Argument::Buffer(buffer) => buffer.address(),
                Argument::Memory(address) => address,
                // The driver reads as many bytes as the parameter has, and all machines with CUDA are little-endian.
                Argument::U32(number) => u64::from(number),
                Argument::U64(number) => number,
            };
            *place = ptr::from_mut(value).cast();
        }
        self.module.context.bind_to_thread().map_err(failed)?;
        let (function, parameters) = (self.function, places.as_mut_ptr());
        // Drivers before CUDA 11.8 know only the plain form; what they have no devices for is not asked of them.
        let launched = if configuration.numAttrs == 0 {
            // SAFETY: the function is of a loaded module; there is a place for every argument, which the driver copies before
            // the call returns; the caller vouches for their types and for what the kernel does.
            unsafe {
                sys::cuLaunchKernel(
                    function,
                    configuration.gridDimX,
                    configuration.gridDimY,
                    configuration.gridDimZ,
                    configuration.blockDimX,
                    configuration.blockDimY,
                    configuration.blockDimZ,
                    configuration.sharedMemBytes,
                    configuration.hStream,
                    parameters,
                    ptr::null_mut(),
                )
            }
        } else {
            // SAFETY: as above, and the attributes are where the configuration says.
            unsafe { sys::cuLaunchKernelEx(&configuration, function, parameters, ptr::null_mut()) }
        };
        launched.result().map_err(failed)
    }

    /// Allows launches with this much shared memory, and in clusters of this many blocks. What was allowed before stays so: another
    /// thread may be about to launch.
    pub(super) fn allow(&self, shared_bytes: usize, cluster: u32) -> Result<(), Error> {
        use sys::CUfunction_attribute::{
            CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
            CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED,
        };
        let set = |attribute, value: i32| {
            // SAFETY: the function is of a loaded module.
            unsafe { sys::cuFuncSetAttribute(self.function, attribute, value) }.result()
        };
        let allowed = self.module.context.bind_to_thread().and_then(|()| {
            let mut most = lock(&self.allowed);
            if shared_bytes > *most {
                set(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, shared_bytes as i32)?;
                *most = shared_bytes;
            }
            if cluster > PORTABLE_CLUSTER {
                set(CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1)?;
            }
            Ok(())
        });
        allowed.map_err(|error| self.module.failure("prepare a kernel", &self.name, error))
    }
}

impl Kernel {
    /// Whether a cluster of the launch finds enough multiprocessors that share memory. Up to [`PORTABLE_CLUSTER`] blocks do on
    /// every device that has clusters; for more, the kernel must be allowed to.
    pub(super) fn has_cluster(&self, grid: Grid) -> bool {
        if grid.cluster <= PORTABLE_CLUSTER {
            return true;
        }
        let alone = Grid { overlaps: false, ..grid };
        let mut attributes = NO_ATTRIBUTES;
        let mut clusters = 0;
        let asked = self.module.context.bind_to_thread().and_then(|()| {
            let configuration = configuration(&alone, ptr::null_mut(), &mut attributes)?;
            // SAFETY: the function is of a loaded module, the attributes are where the configuration says, and there is a place
            // for the answer.
            unsafe { sys::cuOccupancyMaxActiveClusters(&mut clusters, self.function, &configuration) }
                .result()
        });
        asked.is_ok() && clusters > 0
    }
}

/// The shared memory and the cluster that every launch may have; for more, the kernel has to be told before.
const PLAIN_SHARED_BYTES: usize = 48 << 10;
const PORTABLE_CLUSTER: u32 = 8;

/// What the driver is told. It points to the attributes, which must stay where they are as long as it is used.
fn configuration(
    grid: &Grid,
    stream: CUstream,
    attributes: &mut Attributes,
) -> Result<CUlaunchConfig, DriverError> {
    let &Grid { groups, group_size, local_bytes, cluster, overlaps } = grid;
    let number = |number| u32::try_from(number).map_err(|_| DriverError(CUresult::CUDA_ERROR_INVALID_VALUE));
    let mut count = 0;
    if cluster > 1 {
        attributes[count].id = CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
        attributes[count].value.clusterDim =
            sys::CUlaunchAttributeValue_union__bindgen_ty_1 { x: cluster, y: 1, z: 1 };
        count += 1;
    }
    if overlaps {
        attributes[count].id = CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
        attributes[count].value.programmaticStreamSerializationAllowed = 1;
        count += 1;
    }
    Ok(CUlaunchConfig {
        gridDimX: number(groups)?,
        gridDimY: 1,
        gridDimZ: 1,
        blockDimX: number(group_size)?,
        blockDimY: 1,
        blockDimZ: 1,
        sharedMemBytes: local_bytes as u32,
        hStream: stream,
        attrs: attributes.as_mut_ptr(),
        numAttrs: count as u32,
    })
}

/// What a launch asks for beyond its sizes: a cluster, and to overlap.
type Attributes = [CUlaunchAttribute; 2];

const NO_ATTRIBUTES: Attributes = [CUlaunchAttribute {
    id: CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_IGNORE,
    pad: [0; 4],
    value: sys::CUlaunchAttributeValue { pad: [0; 64] },
}; 2];

impl fmt::Debug for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Kernel")
            .field("name", &self.name)
            .field("device", &self.module.device)
            .finish_non_exhaustive()
    }
}

/// A program that the driver has loaded; unloaded when dropped.
pub(super) struct Module {
    context: Arc<CudaContext>,
    raw: CUmodule,
    device: String,
}

// SAFETY: a module belongs to its context and is tied to no thread.
unsafe impl Send for Module {}
// SAFETY: the driver's calls on modules may come from several threads at once.
unsafe impl Sync for Module {}

impl Module {
    /// Loads what the compiler made; `device` is the name for messages.
    ///
    /// # Safety
    ///
    /// The image must be whole: the driver is not told how long it is.
    pub(super) unsafe fn load(
        context: &Arc<CudaContext>,
        device: &str,
        image: &[u8],
    ) -> Result<Self, DriverError> {
        context.bind_to_thread()?;
        // SAFETY: a context is current, and the caller vouches for the image.
        let raw = unsafe { result::module::load_data(image.as_ptr().cast()) }?;
        Ok(Self { context: context.clone(), raw, device: device.to_owned() })
    }

    fn failure(&self, operation: &'static str, kernel: &str, error: DriverError) -> Error {
        let reason = format!("kernel '{kernel}': {}", reason(error));
        Error::Device { device: self.device.clone(), operation, reason }
    }
}

impl Drop for Module {
    fn drop(&mut self) {
        let unloaded = self.context.bind_to_thread().and_then(|()| {
            // SAFETY: nobody has the module or a kernel of it any more.
            unsafe { result::module::unload(self.raw) }
        });
        if let Err(error) = unloaded {
            tracing::debug!(%error, "a CUDA module cannot be unloaded");
        }
    }
}
