//! Programs: built once, kept in memory and on disk.

use super::device::Device;
use super::failure::reason;
use super::kernel::Kernel;
use crate::Error;
use crate::gpu::cache::Cache;
use crate::gpu::lock::lock;
use opencl3::error_codes::ClError;
use opencl3::program::Program as RawProgram;
use std::fmt;
use std::sync::{Arc, Mutex};

/// A program built for a device. Cheap to clone. Made by [`Device::program`].
#[derive(Clone)]
pub struct Program {
    device: Device,
    raw: Arc<RawProgram>,
}

impl Program {
    /// A kernel object of its own: its arguments are shared with nobody.
    ///
    /// # Errors
    ///
    /// [`Error::KernelMissing`] when the program has no kernel of this name.
    pub fn kernel(&self, name: &str) -> Result<Kernel, Error> {
        Kernel::create(&self.device, self, name)
    }

    pub(super) fn raw(&self) -> &RawProgram {
        &self.raw
    }
}

impl fmt::Debug for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kernels = self.raw.kernel_names();
        f.debug_struct("Program").field("kernels", &kernels).field("device", &self.device).finish()
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
    let raw =
        device.programs().obtain(source, options, || load_or_build(device, cache, name, source, options))?;
    Ok(Program { device: device.clone(), raw })
}

fn load_or_build(
    device: &Device,
    cache: &Cache,
    name: &str,
    source: &str,
    options: &str,
) -> Result<RawProgram, Error> {
    // One build at a time: a process in which several threads built for contexts of their own was once seen to die inside a
    // driver's compiler (NVIDIA 580), and not again.
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let _turn = lock(&ONE_AT_A_TIME);

    let key = format!("{}options {options}\n{source}", device.identity());
    if let Some(binary) = cache.load(name, &key) {
        match from_binary(device, &binary, options) {
            Ok(program) => return Ok(program),
            Err(error) => {
                tracing::debug!(name, %error, "the driver refuses a program it built before; building it again")
            }
        }
    }
    let program = from_source(device, name, source, options)?;
    match program.get_binaries() {
        Ok(binaries) => {
            if let Some(binary) = binaries.first().filter(|binary| !binary.is_empty()) {
                cache.store(name, &key, binary);
            }
        }
        Err(error) => tracing::debug!(name, %error, "the driver does not give the program's binary"),
    }
    Ok(program)
}

fn from_binary(device: &Device, binary: &[u8], options: &str) -> Result<RawProgram, ClError> {
    let context = device.context();
    // SAFETY: the binary is one that this driver gave for this device: the cache gives only what this user stored for this source
    // and these options, device and driver. Others cannot have written it, and its hash says that it is whole.
    let mut program = unsafe { RawProgram::create_from_binary(context, context.devices(), &[binary]) }?;
    program.build(context.devices(), options)?;
    Ok(program)
}

fn from_source(device: &Device, name: &str, source: &str, options: &str) -> Result<RawProgram, Error> {
    let refused =
        |log| Error::KernelBuild { kernel: name.to_owned(), device: device.info().name.clone(), log };
    if options.contains('\0') {
        return Err(refused("the options have a zero byte in them".to_owned()));
    }
    let context = device.context();
    let mut program = RawProgram::create_from_source(context, source)
        .map_err(|error| device.failure("take a program's source", &error))?;
    program.build(context.devices(), options).map_err(|error| {
        let log = program.get_build_log(context.default_device()).unwrap_or_default();
        refused(format!("{}\n{}", reason(&error), log.trim()).trim().to_owned())
    })?;
    Ok(program)
}

#[cfg(test)]
mod tests {
    use super::super::{Argument, testing};
    use super::*;
    use crate::gpu::cache::testing::TestDirectory;

    const SOURCE: &str = "kernel void triple(global uint *keys) { keys[get_global_id(0)] *= FACTOR; }";
    const OPTIONS: &str = "-DFACTOR=3";

    /// Builds the program on a device that has not seen it, and lets it show what it multiplies by.
    fn build_and_run(cache: &Cache) -> u8 {
        let device = testing::device();
        let program = obtain(&device, cache, "triple", SOURCE, OPTIONS).expect("the source is correct");
        let kernel = program.kernel("triple").expect("the program has this kernel");
        let buffer = device.allocate(8).expect("a device has this much memory");
        device.upload(&[1; 8], &buffer).expect("the buffer has 8 bytes");
        // SAFETY: two items, two words, and the kernel's only argument.
        unsafe { kernel.launch(device.queue(), 2, 1, &[Argument::Buffer(&buffer)]) }.expect("two items");
        let mut result = [0; 8];
        device.download(&buffer, &mut result).expect("the buffer has 8 bytes");
        assert_eq!(result, [result[0]; 8]);
        result[0]
    }

    fn key(options: &str) -> String {
        format!("{}options {options}\n{SOURCE}", testing::device().identity())
    }

    #[test]
    fn a_program_is_stored_when_built_and_taken_from_disk_later() {
        let directory = TestDirectory::new("program-stored");
        let cache = directory.cache();
        assert_eq!(build_and_run(&cache), 3);
        assert!(cache.load("triple", &key(OPTIONS)).is_some());

        // Another program in its place betrays where a program comes from.
        let other = "-DFACTOR=5";
        obtain(&testing::device(), &cache, "triple", SOURCE, other).expect("the source is correct");
        let times_five = cache.load("triple", &key(other)).expect("building stores the binary");
        cache.store("triple", &key(OPTIONS), &times_five);
        assert_eq!(build_and_run(&cache), 5);
    }

    #[test]
    fn a_binary_that_the_driver_refuses_is_built_again_and_replaced() {
        let directory = TestDirectory::new("program-refused");
        let cache = directory.cache();
        cache.store("triple", &key(OPTIONS), b"no binary of any driver");
        assert_eq!(build_and_run(&cache), 3);
        let replaced = cache.load("triple", &key(OPTIONS)).expect("building stores the binary");
        assert_ne!(replaced, b"no binary of any driver");
    }

    #[test]
    fn a_program_builds_where_nothing_can_be_stored() {
        let directory = TestDirectory::new("program-unwritable");
        assert_eq!(build_and_run(&directory.unwritable_cache()), 3);
    }

    #[test]
    fn a_program_is_built_once_for_all_threads() {
        let device = testing::device();
        let directory = TestDirectory::new("program-threads");
        let cache = directory.cache();
        let programs: Vec<_> = std::thread::scope(|scope| {
            let build = || obtain(&device, &cache, "triple", SOURCE, OPTIONS).expect("the source is correct");
            let threads: Vec<_> = (0..4).map(|_| scope.spawn(build)).collect();
            threads.into_iter().map(|thread| thread.join().expect("nothing panics")).collect()
        });
        assert!(programs.iter().all(|program| Arc::ptr_eq(&program.raw, &programs[0].raw)));
        let other = obtain(&device, &cache, "triple", SOURCE, "-DFACTOR=4").expect("the source is correct");
        assert!(!Arc::ptr_eq(&other.raw, &programs[0].raw));
    }
}
