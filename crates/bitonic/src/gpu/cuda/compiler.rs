//! NVRTC: from source to what the driver loads.

use super::library;
use crate::Error;
use cudarc::nvrtc::result::{self, NvrtcError};
use cudarc::nvrtc::sys::{self, nvrtcProgram, nvrtcResult};
use std::ffi::{CString, c_char, c_int};

/// The architectures that NVRTC compiles for, each as ten times the major number of the compute capability plus the minor
/// one, in rising order. Needs no device and no driver.
///
/// # Errors
///
/// [`Error::EngineUnavailable`] without NVRTC.
pub fn architectures() -> Result<Vec<u32>, Error> {
    Ok(Compiler::load()?.architectures)
}

/// Compiles a program for devices of one architecture, such as 90, which need not be here: to see that it compiles.
///
/// Name, source and options are as for [`Device::program`](super::Device::program), which is what to call where the program
/// shall run. The result is the machine code that a driver loads. Nothing is kept. Needs no device and no driver.
///
/// # Errors
///
/// [`Error::EngineUnavailable`] without NVRTC, [`Error::KernelBuild`] with its log when it refuses the program, or does not
/// know the architecture.
///
/// ```no_run
/// use bitonic::cuda::{architectures, compile};
///
/// let source = r#"extern "C" __global__ void nothing() {}"#;
/// for architecture in architectures()? {
///     println!("sm_{architecture}: {} bytes", compile("nothing", source, "", architecture)?.len());
/// }
/// # Ok::<(), bitonic::Error>(())
/// ```
pub fn compile(name: &str, source: &str, options: &str, architecture: u32) -> Result<Vec<u8>, Error> {
    let compiled = Compiler::load()?.compile(name, source, options, Target::Machine(architecture));
    let device = || format!("a device of architecture sm_{architecture}");
    compiled.map_err(|log| Error::KernelBuild { kernel: name.to_owned(), device: device(), log })
}

/// The compiler, loaded.
#[derive(Clone, Debug)]
pub(super) struct Compiler {
    /// Such as `13.0`.
    pub(super) version: String,
    /// The architectures that it compiles for, each as ten times the major number plus the minor one, in rising order.
    architectures: Vec<u32>,
}

/// What a program is compiled for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Target {
    /// The device's own code, for just this architecture.
    Machine(u32),
    /// Code that the driver translates for its device: where the compiler is older than the device.
    Portable(u32),
}

impl Compiler {
    /// Loads the compiler.
    ///
    /// # Errors
    ///
    /// [`Error::EngineUnavailable`] when it is not there.
    pub(super) fn load() -> Result<Self, Error> {
        library::compiler()?;
        let broken =
            |error| super::failure::no_compiler(format!("the CUDA compiler does not answer: {error:?}"));
        Ok(Self {
            version: version().map_err(broken)?,
            architectures: known_architectures().map_err(broken)?,
        })
    }

    /// What to compile for a device of this compute capability; `None` when the compiler has left such devices behind.
    pub(super) fn target(&self, (major, minor): (u32, u32)) -> Option<Target> {
        let wanted = 10 * major + minor;
        if self.architectures.contains(&wanted) {
            return Some(Target::Machine(wanted));
        }
        self.architectures.iter().copied().filter(|&known| known < wanted).max().map(Target::Portable)
    }

    /// Whether it compiles for this architecture.
    #[cfg(test)]
    pub(super) fn knows(&self, architecture: u32) -> bool {
        self.architectures.contains(&architecture)
    }

    /// Compiles a program. The options are separated by spaces. What comes out, the driver can load; an error is the
    /// compiler's log.
    pub(super) fn compile(
        &self,
        name: &str,
        source: &str,
        options: &str,
        target: Target,
    ) -> Result<Vec<u8>, String> {
        let zero_byte = |_| "the source or the options have a zero byte in them".to_owned();
        let source = CString::new(source).map_err(zero_byte)?;
        let name = CString::new(name).map_err(zero_byte)?;
        let options: Vec<CString> = options
            .split_whitespace()
            .chain([target.option().as_str()])
            .map(CString::new)
            .collect::<Result<_, _>>()
            .map_err(zero_byte)?;
        let raw = result::create_program(&source, Some(&name)).map_err(text)?;
        let program = Program { raw, _texts: (source, name) };
        program.compile(&options)?;
        program.image(target).map_err(text)
    }
}

impl Target {
    /// As the compiler's option.
    pub(super) fn option(self) -> String {
        match self {
            Self::Machine(architecture) => format!("--gpu-architecture=sm_{architecture}"),
            Self::Portable(architecture) => format!("--gpu-architecture=compute_{architecture}"),
        }
    }
}

/// A program of the compiler's, and the texts that it may refer to.
struct Program {
    raw: nvrtcProgram,
    _texts: (CString, CString),
}

impl Program {
    fn compile(&self, options: &[CString]) -> Result<(), String> {
        let pointers: Vec<*const c_char> = options.iter().map(|option| option.as_ptr()).collect();
        // SAFETY: the program is alive, and there are as many options as said, each ending in a zero byte.
        let code = unsafe { sys::nvrtcCompileProgram(self.raw, pointers.len() as c_int, pointers.as_ptr()) };
        code.result().map_err(|error| format!("{}\n{}", text(error), self.log()).trim().to_owned())
    }

    fn log(&self) -> String {
        // SAFETY: the program is alive.
        let log = unsafe { result::get_program_log(self.raw) }.unwrap_or_default();
        let bytes: Vec<u8> = log.into_iter().map(|c| c as u8).take_while(|&byte| byte != 0).collect();
        String::from_utf8_lossy(&bytes).trim().to_owned()
    }

    fn image(&self, target: Target) -> Result<Vec<u8>, NvrtcError> {
        let (size_of, image_of): (SizeOf, ImageOf) = match target {
            Target::Machine(_) => (sys::nvrtcGetCUBINSize, sys::nvrtcGetCUBIN),
            Target::Portable(_) => (sys::nvrtcGetPTXSize, sys::nvrtcGetPTX),
        };
        let mut size = 0;
        // SAFETY: the program is alive, and there is a place for the size.
        unsafe { size_of(self.raw, &mut size) }.result()?;
        let mut image = vec![0; size];
        // SAFETY: the program is alive, and there are as many bytes as it asked for.
        unsafe { image_of(self.raw, image.as_mut_ptr().cast()) }.result()?;
        Ok(image)
    }
}

type SizeOf = unsafe fn(nvrtcProgram, *mut usize) -> nvrtcResult;
type ImageOf = unsafe fn(nvrtcProgram, *mut c_char) -> nvrtcResult;

impl Drop for Program {
    fn drop(&mut self) {
        // SAFETY: nobody has the program any more.
        if let Err(error) = unsafe { result::destroy_program(self.raw) } {
            tracing::debug!(?error, "the CUDA compiler does not free a program");
        }
    }
}

fn version() -> Result<String, NvrtcError> {
    let (mut major, mut minor) = (0, 0);
    // SAFETY: there are places for both numbers.
    unsafe { sys::nvrtcVersion(&mut major, &mut minor) }.result()?;
    Ok(format!("{major}.{minor}"))
}

fn known_architectures() -> Result<Vec<u32>, NvrtcError> {
    let mut count = 0;
    // SAFETY: there is a place for the number.
    unsafe { sys::nvrtcGetNumSupportedArchs(&mut count) }.result()?;
    let mut numbers = vec![0; usize::try_from(count).unwrap_or(0)];
    // SAFETY: there are as many places as the compiler asked for.
    unsafe { sys::nvrtcGetSupportedArchs(numbers.as_mut_ptr()) }.result()?;
    Ok(numbers.into_iter().filter_map(|number| u32::try_from(number).ok()).collect())
}

fn text(error: NvrtcError) -> String {
    format!("{:?}", error.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Engine;
    use crate::gpu::cuda::Device;
    use crate::gpu::cuda::driver::options;
    use crate::gpu::driver::Driver;
    use crate::gpu::facts::DeviceFacts;
    use crate::gpu::job::Job;
    use crate::gpu::kernel::{self, KERNELS, kernel};
    use crate::gpu::strategy::{check_plans, copy_plans, kernel_plan};
    use crate::gpu::strided::Strided;
    use crate::gpu::tuning::Tuning;
    use crate::key::KeyType;
    use crate::plan::Launch;
    use crate::request::{Request, Segments, ValueType, What};
    use rayon::prelude::*;
    use std::collections::{BTreeMap, BTreeSet};

    /// Those with lasting users, and the newest of the data centre.
    const ARCHITECTURES: [u32; 4] = [75, 80, 90, 100];

    /// The one for which all operations are compiled; the others see some of each kind.
    const MAIN_ARCHITECTURE: u32 = 90;

    /// The compiler; `None`, with a line that says so, where it is not installed.
    fn compiler_for(test: &str) -> Option<Compiler> {
        let compiler = Compiler::load();
        if let Err(error) = &compiler {
            println!("skipped: no NVRTC for {test}: {error}");
        }
        compiler.ok()
    }

    /// Every width of key, alone, with values of both widths, and with indices.
    fn operations() -> Vec<Request> {
        let values = |bytes| What::Pairs(ValueType { bytes, is_number: true });
        let keys = [KeyType::U8, KeyType::I16, KeyType::F32, KeyType::U64, KeyType::I128];
        let whats = [What::Keys, values(4), values(8), What::Argsort, What::Top(20)];
        let request = |key, what| Request { key, what, ..Request::keys::<u32>(Segments::one(0)) };
        keys.into_iter().flat_map(|key| whats.map(|what| request(key, what))).collect()
    }

    /// The first architecture with clusters.
    const CLUSTERS_FROM: u32 = 90;

    /// A launch of every kernel that an operation has on devices of an architecture; which of several launches, and how wide an
    /// index is, takes turns.
    fn launches(number: usize, operation: Request, architecture: u32) -> Vec<Launch> {
        let facts = DeviceFacts {
            cluster_log2: if architecture >= CLUSTERS_FROM { 4 } else { 0 },
            ..DeviceFacts::nvidia_h200()
        };
        let segments = [
            Segments::one(300),
            Segments::rows(64 * 50, 64).expect("whole rows"),
            Segments::rows(60 * 50, 60).expect("whole rows"),
            Segments::rows(600 * 50, 600).expect("whole rows"),
            Segments::one(10_000),
            Segments::one(100_000),
            Segments::one(3_000_000),
            Segments::one(1 << 26),
            Segments::Offsets { segments: 1000, longest: 500_000, len: 1 << 20 },
        ];
        let mut launches: Vec<Launch> = Vec::new();
        for (turn, segments) in segments.into_iter().enumerate() {
            for oblivious in [false, true] {
                let request = Request { segments, oblivious, ..operation };
                let has_offsets = matches!(segments, Segments::Offsets { .. });
                if has_offsets && request.check(Engine::Cuda).is_err() {
                    continue;
                }
                let mut job = Job::of(&request);
                job.wide_index = (number + turn).is_multiple_of(2);
                let plan = kernel_plan(&job, &facts, &Tuning::default());
                let checks = check_plans(&job, &facts);
                let copies = copy_plans(&job, Strided::columns(job.row_length, job.rows, job.rows), &facts);
                let sorting = plan.launches.iter().skip(number % 2).chain(plan.launches.first());
                let others = checks.iter().chain(copies.iter()).flat_map(|plan| &plan.launches);
                for launch in sorting.chain(others) {
                    // Segments of all classes are sorted by one text, pieces of longer ones by another; their best are found by others
                    // than those of rows; rows are brought together by one, and back by another.
                    let variant = |launch: &Launch| {
                        let ones = [("PIECES", 1), ("SEGMENTED", 1), ("GATHER", 1)];
                        ones.map(|one| launch.constants.contains(&one))
                    };
                    let known = |other: &&Launch| {
                        other.kernel == launch.kernel
                            && (!["tile_sort", "row_sort"].contains(&launch.kernel) || turn > 3)
                            && variant(other) == variant(launch)
                    };
                    if !launches.iter().any(|other| known(&other)) {
                        launches.push(launch.clone());
                    }
                }
            }
        }
        launches
    }

    /// The same kernel with a small tile and loops that are loops: the text that is compiled is the same, and takes a fraction of the
    /// time.
    fn small(mut launch: Launch) -> Launch {
        for (name, value) in &mut launch.constants {
            *value = match *name {
                "TILE_LOG2" => 8,
                "HELD_LOG2" => 3,
                "LOCAL_ELEMENTS" => 8192,
                "UNROLLED" => 0,
                "MERGES" => (*value).min(8),
                "RUN_LOG2" | "STEPS" => 5,
                "CELLS_LOG2" | "SAMPLES_LOG2" => 8,
                "TARGETS_LOG2" => 5,
                "PARTS" | "MOST_NODES" | "SLICE" => 64,
                "LARGEST_LOG2" => 8,
                "LOW_LOG2" | "REST_LOG2" => (*value).min(5),
                "ITEMS_BEHIND" => 32,
                "BLOCKS" => (*value).min(7),
                "CLUSTER_LOG2" => (*value).min(2),
                "ITEMS" => 64,
                _ => *value,
            };
        }
        launch.group_size = if launch.local_bytes == 0 { 64 } else { 32 };
        launch
    }

    fn text(launch: &Launch) -> String {
        kernel(launch.kernel).expect("plans have kernels of the table").text(Device::PRELUDE)
    }

    fn compile(compiler: &Compiler, launch: &Launch, target: Target) -> Vec<u8> {
        compile_text(compiler, launch, &text(launch), target)
    }

    /// All that a text is compiled with, but for the target.
    fn all_options(launch: &Launch) -> String {
        format!("{} {}", options(launch), kernel::options(&launch.constants))
    }

    fn compile_text(compiler: &Compiler, launch: &Launch, text: &str, target: Target) -> Vec<u8> {
        let image = compiler.compile(launch.kernel, text, &all_options(launch), target);
        image.unwrap_or_else(|log| panic!("{launch:?} for {}: {log}", target.option()))
    }

    #[test]
    fn every_kernel_compiles_for_every_architecture() {
        let Some(compiler) = compiler_for("every_kernel_compiles_for_every_architecture") else { return };
        // Operations have kernels in common: what is the same is compiled once.
        let mut work = BTreeMap::new();
        for architecture in ARCHITECTURES.into_iter().filter(|&architecture| compiler.knows(architecture)) {
            let step = if architecture == MAIN_ARCHITECTURE { 1 } else { 7 };
            for (number, operation) in operations().into_iter().enumerate().step_by(step) {
                for launch in launches(number, operation, architecture).into_iter().map(small) {
                    work.insert((architecture, launch.kernel, all_options(&launch)), launch);
                }
            }
        }
        let compiled: BTreeSet<_> = work.values().map(|launch| launch.kernel).collect();
        assert_eq!(compiled, KERNELS.iter().map(|row| row.name).collect(), "every kernel is compiled");
        assert!(!work.is_empty(), "NVRTC {} knows none of {ARCHITECTURES:?}", compiler.version);
        work.into_par_iter().for_each(|((architecture, ..), launch)| {
            let image = compile(&compiler, &launch, Target::Portable(architecture));
            let text = String::from_utf8_lossy(&image);
            assert!(text.contains(&format!(".target sm_{architecture}")), "{launch:?}");
            assert!(text.contains(&format!(".entry {}(", launch.kernel)), "{launch:?}");
        });
    }

    /// The conditional branches of a kernel for keys and values of so many bits, whose text is changed before.
    fn branches(
        compiler: &Compiler,
        launch: &Launch,
        bits: (u32, u32),
        change: impl Fn(String) -> String,
    ) -> usize {
        let mut launch = small(launch.clone());
        for (name, value) in &mut launch.constants {
            match *name {
                "KEY_BITS" => *value = bits.0,
                "VALUE_BITS" => *value = bits.1,
                _ => {}
            }
        }
        let text = change(text(&launch));
        let image = compile_text(compiler, &launch, &text, Target::Portable(MAIN_ARCHITECTURE));
        let is_branch = |line: &&str| line.trim_start().starts_with('@') && line.contains("bra");
        String::from_utf8_lossy(&image).lines().filter(is_branch).count()
    }

    /// NVIDIA's virtual machine has instructions for the smaller and the larger of two keys of 64 bits. Wider elements are ordered by
    /// comparisons and selections: if the compiler made branches of them, they would be more.
    #[test]
    fn kernels_of_oblivious_sorts_branch_no_more_for_wide_elements() {
        let test = "kernels_of_oblivious_sorts_branch_no_more_for_wide_elements";
        let Some(compiler) = compiler_for(test).filter(|compiler| compiler.knows(MAIN_ARCHITECTURE)) else {
            return;
        };
        let request = Request { oblivious: true, ..Request::keys::<u64>(Segments::one(1 << 26)) };
        let plan = kernel_plan(&Job::of(&request), &DeviceFacts::nvidia_h200(), &Tuning::default());
        let mut launches = plan.launches.clone();
        launches.sort_by_key(|launch| launch.kernel);
        launches.dedup_by_key(|launch| launch.kernel);
        assert!(launches.len() >= 3, "{launches:?}");
        launches.into_par_iter().for_each(|launch| {
            let narrow = branches(&compiler, &launch, (64, 0), |text| text);
            for bits in [(128, 0), (64, 64), (128, 64)] {
                let wide = branches(&compiler, &launch, bits, |text| text);
                assert_eq!(wide, narrow, "{} for {bits:?} bits", launch.kernel);
            }
            let planted = branches(&compiler, &launch, (128, 0), |text| {
                let leak =
                    r#"bool swap = is_less(*b, *a); if (!swap) { asm volatile("" ::: "memory"); return; }"#;
                let leaking = text.replace("bool swap = is_less(*b, *a);", leak);
                assert_ne!(leaking, text, "wide elements are ordered in another way now");
                leaking
            });
            assert!(planted > narrow, "a planted branch is not seen in {}", launch.kernel);
        });
    }

    #[test]
    fn machine_code_is_made_for_an_architecture_that_the_compiler_knows() {
        let test = "machine_code_is_made_for_an_architecture_that_the_compiler_knows";
        let Some(compiler) = compiler_for(test) else { return };
        let newest = *compiler.architectures.last().expect("a compiler compiles for something");
        let target = compiler.target((newest / 10, newest % 10));
        assert_eq!(target, Some(Target::Machine(newest)));
        for launch in launches(0, Request::keys::<u32>(Segments::one(0)), newest).into_iter().map(small) {
            let image = compile(&compiler, &launch, Target::Machine(newest));
            assert!(image.starts_with(b"\x7fELF"), "{launch:?}");
        }
    }

    #[test]
    fn a_refused_program_comes_with_the_compilers_log() {
        let Some(compiler) = compiler_for("a_refused_program_comes_with_the_compilers_log") else { return };
        let newest = *compiler.architectures.last().expect("a compiler compiles for something");
        let source = "#line 7 \"broken.c\"\nthis is no program";
        let log =
            compiler.compile("broken", source, "", Target::Portable(newest)).expect_err("it is no program");
        assert!(log.contains("NVRTC_ERROR_COMPILATION") && log.contains("broken.c(7)"), "{log}");
        let log =
            compiler.compile("broken", "a\0b", "", Target::Portable(newest)).expect_err("it has a zero");
        assert!(log.contains("zero byte"), "{log}");
    }

    #[test]
    fn a_program_compiles_for_a_device_that_is_not_here() {
        let Some(compiler) = compiler_for("a_program_compiles_for_a_device_that_is_not_here") else { return };
        assert_eq!(architectures(), Ok(compiler.architectures.clone()));
        let newest = *compiler.architectures.last().expect("a compiler compiles for something");
        let image = super::compile("nothing", "extern \"C\" __global__ void nothing() {}", "", newest);
        assert!(image.is_ok_and(|image| image.starts_with(b"\x7fELF")));
        let Err(Error::KernelBuild { kernel, device, log }) =
            super::compile("broken", "no program", "", newest)
        else {
            panic!("it is no program");
        };
        assert_eq!((kernel, device), ("broken".to_owned(), format!("a device of architecture sm_{newest}")));
        assert!(log.contains("NVRTC_ERROR_COMPILATION"), "{log}");
    }

    #[test]
    fn the_target_is_the_devices_own_or_the_nearest_before_it() {
        let compiler = Compiler { version: "12.0".to_owned(), architectures: vec![75, 80, 90] };
        assert_eq!(compiler.target((8, 0)), Some(Target::Machine(80)));
        assert_eq!(compiler.target((8, 9)), Some(Target::Portable(80)));
        assert_eq!(compiler.target((12, 0)), Some(Target::Portable(90)));
        assert_eq!(compiler.target((7, 0)), None);
        assert_eq!(Target::Machine(90).option(), "--gpu-architecture=sm_90");
        assert_eq!(Target::Portable(90).option(), "--gpu-architecture=compute_90");
    }
}
