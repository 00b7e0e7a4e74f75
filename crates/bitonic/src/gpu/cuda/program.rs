//! Programs: compiled once, kept in memory and on disk.

use super::device::Device;
use super::failure::reason;
use super::kernel::{Kernel, Module};
use crate::Error;
use crate::gpu::cache::Cache;
use std::fmt;
use std::sync::Arc;

/// A program compiled for a device and loaded. Cheap to clone. Made by [`Device::program`].
#[derive(Clone)]
pub struct Program {
    module: Arc<Module>,
}

impl Program {
    /// A kernel of the program, by the name that its source gives it with `extern "C"`.
    ///
    /// # Errors
    ///
    /// [`Error::KernelMissing`] when the program has no kernel of this name.
    pub fn kernel(&self, name: &str) -> Result<Kernel, Error> {
        Kernel::create(&self.module, name)
    }
}

impl fmt::Debug for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Program").finish_non_exhaustive()
    }
}

/// The program from memory, else from disk, else from its source.
pub(super) fn obtain(
    device: &Device,
    cache: &Cache,
    name: &str,
    source: &str,
    options: &str,
) -> Result<Program, Error> {
    let module = device
        .programs()
        .obtain(source, options, || load_or_compile(device, cache, name, source, options))?;
    Ok(Program { module })
}

fn load_or_compile(
    device: &Device,
    cache: &Cache,
    name: &str,
    source: &str,
    options: &str,
) -> Result<Module, Error> {
    let info = device.info();
    let refused = |log| Error::KernelBuild { kernel: name.to_owned(), device: info.name.clone(), log };
    let compiler = device.compiler();
    let target = compiler.target(info.compute_capability).ok_or_else(|| {
        let (major, minor) = info.compute_capability;
        let version = &compiler.version;
        refused(format!(
            "NVRTC {version} compiles for no device as old as one of compute capability {major}.{minor}"
        ))
    })?;
    let key = format!("{}options {options} {}\n{source}", device.identity(), target.option());
    // SAFETY: the image is what the compiler made, from here or from the cache, which gives only what this user stored for this
    // source and these options, device, driver and compiler: others cannot have written it, and its hash says that it is whole.
    let load = |image: &[u8]| unsafe { Module::load(device.context(), &info.name, image) };
    if let Some(image) = cache.load(name, &key) {
        match load(&image) {
            Ok(module) => return Ok(module),
            Err(error) => {
                tracing::debug!(name, %error, "the driver refuses a program it took before; compiling it again")
            }
        }
    }
    let image = compiler.compile(name, source, options, target).map_err(refused)?;
    let module = load(&image).map_err(|error| {
        let (version, driver) = (&compiler.version, &info.driver);
        refused(format!(
            "the driver, of CUDA {driver}, does not load what NVRTC {version} made: {}; an NVRTC of the driver's version \
             or before it makes what it loads",
            reason(error)
        ))
    })?;
    cache.store(name, &key, &image);
    Ok(module)
}
