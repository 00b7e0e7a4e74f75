//! The two libraries, loaded at run time: the driver (`libcuda.so.1`, `nvcuda.dll`) and NVRTC, the compiler.
//!
//! cudarc panics when a library or a function in it is missing, so everything that is ever called is looked for first,
//! once in a process.

use super::failure::{no_compiler, unavailable};
use crate::Error;
use cudarc::driver::sys::{CUevent, CUresult};
use cudarc::driver::{result, sys as driver_sys};
use cudarc::nvrtc::sys as nvrtc_sys;
use std::sync::OnceLock;

/// Every function of the driver that this module or the parts of cudarc under it call. Drivers have them since CUDA 11.
const DRIVER_FUNCTIONS: &[&str] = &[
    "cuCtxGetCurrent",
    "cuCtxSetCurrent",
    "cuCtxSynchronize",
    "cuDeviceGet",
    "cuDeviceGetAttribute",
    "cuDeviceGetCount",
    "cuDeviceGetName",
    "cuDevicePrimaryCtxRelease_v2",
    "cuDevicePrimaryCtxRetain",
    "cuDeviceTotalMem_v2",
    "cuDriverGetVersion",
    "cuEventCreate",
    "cuEventDestroy_v2",
    "cuEventRecord",
    "cuEventSynchronize",
    "cuGetErrorName",
    "cuGetErrorString",
    "cuInit",
    "cuLaunchKernel",
    "cuMemAlloc_v2",
    "cuMemFreeHost",
    "cuMemFree_v2",
    "cuMemGetAddressRange_v2",
    "cuMemHostAlloc",
    "cuMemcpyDtoDAsync_v2",
    "cuMemcpyDtoHAsync_v2",
    "cuMemcpyHtoDAsync_v2",
    "cuMemsetD8Async",
    "cuModuleGetFunction",
    "cuModuleLoadData",
    "cuModuleUnload",
    "cuStreamCreate",
    "cuStreamDestroy_v2",
    "cuStreamSynchronize",
    "cuStreamWaitEvent",
];

/// The same for the compiler, which has them since CUDA 11.2.
const COMPILER_FUNCTIONS: &[&str] = &[
    "nvrtcCompileProgram",
    "nvrtcCreateProgram",
    "nvrtcDestroyProgram",
    "nvrtcGetCUBIN",
    "nvrtcGetCUBINSize",
    "nvrtcGetNumSupportedArchs",
    "nvrtcGetPTX",
    "nvrtcGetPTXSize",
    "nvrtcGetProgramLog",
    "nvrtcGetProgramLogSize",
    "nvrtcGetSupportedArchs",
    "nvrtcVersion",
];

/// Loads and starts the driver. After it returned `Ok`, every call to the driver is safe from panics.
pub(super) fn driver() -> Result<(), Error> {
    static LOADED: OnceLock<Result<(), Error>> = OnceLock::new();

    LOADED.get_or_init(load_driver).clone()
}

fn load_driver() -> Result<(), Error> {
    // SAFETY: loading the driver runs its initialisers, which are made for that.
    if !unsafe { driver_sys::is_culib_present() } {
        return Err(unavailable("the CUDA driver's library (libcuda.so.1) is not installed".to_owned()));
    }
    for &name in DRIVER_FUNCTIONS {
        // SAFETY: the library is there, and the address is not called.
        if unsafe { driver_sys::culib().get::<unsafe extern "C" fn()>(name.as_bytes()) }.is_err() {
            let reason = format!("the CUDA driver has no function {name}: it is older than CUDA 11");
            return Err(unavailable(reason));
        }
    }
    match result::init() {
        Ok(()) => Ok(()),
        Err(error) if error.0 == CUresult::CUDA_ERROR_NO_DEVICE => Err(no_device()),
        Err(error) => Err(unavailable(format!("the CUDA driver does not start: {:?}", error.0))),
    }
}

/// The error for a driver without a device.
pub(super) fn no_device() -> Error {
    unavailable("the CUDA driver has no device to use".to_owned())
}

/// Loads the compiler. After it returned `Ok`, every call to it is safe from panics.
pub(super) fn compiler() -> Result<(), Error> {
    static LOADED: OnceLock<Result<(), Error>> = OnceLock::new();

    LOADED.get_or_init(load_compiler).clone()
}

fn load_compiler() -> Result<(), Error> {
    // SAFETY: loading the compiler runs its initialisers, which are made for that.
    if !unsafe { nvrtc_sys::is_culib_present() } {
        return Err(no_compiler("the CUDA compiler's library (libnvrtc.so) is not installed".to_owned()));
    }
    for &name in COMPILER_FUNCTIONS {
        // SAFETY: the library is there, and the address is not called.
        if unsafe { nvrtc_sys::culib().get::<unsafe extern "C" fn()>(name.as_bytes()) }.is_err() {
            let reason = format!("the CUDA compiler has no function {name}: it is older than CUDA 11.2");
            return Err(no_compiler(reason));
        }
    }
    Ok(())
}

type ElapsedTime = unsafe extern "C" fn(*mut f32, CUevent, CUevent) -> CUresult;

/// The driver's function for the time between two events, `None` where it has none. cudarc binds the newer of its two names
/// alone, which drivers before CUDA 12.8 lack.
pub(super) fn elapsed_time() -> Option<ElapsedTime> {
    static FUNCTION: OnceLock<Option<ElapsedTime>> = OnceLock::new();

    *FUNCTION.get_or_init(|| {
        driver().ok()?;
        ["cuEventElapsedTime_v2", "cuEventElapsedTime"].into_iter().find_map(|name| {
            // SAFETY: the library is there, and both functions have this type.
            unsafe { driver_sys::culib().get::<ElapsedTime>(name.as_bytes()) }.ok().map(|function| *function)
        })
    })
}
