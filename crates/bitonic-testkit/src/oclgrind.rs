//! Kernels under Oclgrind, an OpenCL device that simulates every work-item and reports what goes unnoticed elsewhere: data
//! races, reads of memory that nobody wrote, accesses outside of a buffer, calls that OpenCL does not allow.
//!
//! A process takes its OpenCL drivers once, at its start. So the test that runs the kernels is one that is ignored
//! otherwise, and a second test runs it in a child process whose only driver is Oclgrind:
//!
//! ```no_run
//! use bitonic_testkit::Oclgrind;
//!
//! #[test]
//! #[ignore = "run by the_kernels_are_clean, in a process with Oclgrind"]
//! fn run_the_kernels() {
//!     // .. on the only OpenCL device there is.
//! }
//!
//! #[test]
//! fn the_kernels_are_clean() {
//!     assert_eq!(Oclgrind::find().report_of("run_the_kernels"), "");
//! }
//! # fn main() {}
//! ```
//!
//! That Oclgrind would have reported a fault is not taken for granted: [`PlantedFault::ALL`] are kernels with a fault each.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::{env, fs, process};

/// Oclgrind's driver, and the limits it shall pretend.
#[derive(Clone, Debug)]
pub struct Oclgrind {
    driver: PathBuf,
    max_group_size: Option<usize>,
}

/// The environment variable that names the driver where it is in none of the usual places.
const DRIVER_VARIABLE: &str = "OCLGRIND_ICD";

/// Where packages and builds from source put the driver.
const USUAL_PLACES: [&str; 5] = [
    "/usr/lib/oclgrind/liboclgrind-rt-icd.so",
    "/usr/lib64/oclgrind/liboclgrind-rt-icd.so",
    "/usr/lib/x86_64-linux-gnu/oclgrind/liboclgrind-rt-icd.so",
    "/usr/local/lib/oclgrind/liboclgrind-rt-icd.so",
    "/opt/homebrew/lib/oclgrind/liboclgrind-rt-icd.dylib",
];

/// The memory of the device: a few times what tests on small sizes need.
const MEMORY_BYTES: usize = 1 << 20;

impl Oclgrind {
    /// Finds the driver.
    ///
    /// # Panics
    ///
    /// If it is not installed; the message says what to install.
    pub fn find() -> Self {
        let named = env::var_os(DRIVER_VARIABLE).map(PathBuf::from);
        let mut places = named.into_iter().chain(USUAL_PLACES.map(PathBuf::from));
        let driver = places.find(|place| place.is_file()).unwrap_or_else(|| {
            panic!(
                "Oclgrind is not installed: install the package `oclgrind`, or set {DRIVER_VARIABLE} to the path of its \
                 driver, liboclgrind-rt-icd.so"
            )
        });
        Self { driver, max_group_size: None }
    }

    /// Lets the device allow no more work-items in a group than this, so that few keys make many groups: Oclgrind takes
    /// about a thousand times as long as a real device.
    pub fn max_group_size(mut self, items: usize) -> Self {
        self.max_group_size = Some(items);
        self
    }

    /// Runs the ignored test of this name, of the program that calls, in a process of its own whose only OpenCL driver is
    /// Oclgrind, and returns what Oclgrind has to report: nothing, if all is well.
    ///
    /// The test must use OpenCL from one thread only; Oclgrind's check for memory that nobody wrote fails otherwise. The
    /// check (of Oclgrind 21.10) also misses what kernels write to a buffer that has taken the place of a freed one, and
    /// then reports whoever reads it: a test of kernels that write what was never uploaded must be the first in its process.
    ///
    /// # Panics
    ///
    /// If the test fails, or there is no such test.
    pub fn report_of(&self, test: &str) -> String {
        let log = Log::new();
        let this = env::current_exe().expect("a program knows where it is");
        let mut child = Command::new(this);
        child
            .args(["--exact", test, "--ignored", "--nocapture", "--test-threads=1"])
            .env("OCL_ICD_VENDORS", &self.driver)
            .env("OCLGRIND_LOG", &log.path)
            .env("OCLGRIND_CHECK_API", "1")
            .env("OCLGRIND_DATA_RACES", "1")
            .env("OCLGRIND_UNINITIALIZED", "1")
            // What is written in the source is checked, and not what an optimiser leaves of it. Also, optimised programs
            // have instructions (freeze) that the check for memory that nobody wrote does not know.
            .env("OCLGRIND_BUILD_OPTIONS", "-cl-opt-disable")
            // What is measured over a share of the device's memory is measured quickly.
            .env("OCLGRIND_GLOBAL_MEM_SIZE", MEMORY_BYTES.to_string())
            // Built programs of a simulator are of use to nobody.
            .env("BITONIC_CACHE_DIR", "");
        if let Some(items) = self.max_group_size {
            child.env("OCLGRIND_MAX_WGSIZE", items.to_string());
        }
        let done = child.output().unwrap_or_else(|error| panic!("{test} was not started: {error}"));
        let said = String::from_utf8_lossy(&done.stdout);
        assert!(
            done.status.success() && said.contains("1 passed"),
            "{test} failed under Oclgrind, {}:\n{said}\n{}\n{}",
            done.status,
            String::from_utf8_lossy(&done.stderr),
            log.read()
        );
        log.read()
    }
}

/// A file for Oclgrind's report, deleted with this value.
struct Log {
    path: PathBuf,
}

impl Log {
    fn new() -> Self {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        Self { path: env::temp_dir().join(format!("bitonic-oclgrind-{}-{number}.log", process::id())) }
    }

    /// Nothing reported and nothing written are the same.
    fn read(&self) -> String {
        fs::read(Path::new(&self.path))
            .map_or_else(|_| String::new(), |bytes| String::from_utf8_lossy(&bytes).into_owned())
    }
}

impl Drop for Log {
    fn drop(&mut self) {
        // It may never have been made.
        let _ = fs::remove_file(&self.path);
    }
}

/// A kernel with a fault that Oclgrind must report, to show that it is looking.
///
/// Each takes a `global uint *` to [`PlantedFault::WORDS`] words that were written, and runs as
/// [`PlantedFault::GROUPS`] groups of [`PlantedFault::GROUP_SIZE`] work-items. None may run on a device that is no simulator.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct PlantedFault {
    /// The kernel's name.
    pub kernel: &'static str,
    /// Its source, OpenCL C.
    pub source: &'static str,
    /// Words of the report.
    pub reported: &'static str,
}

impl PlantedFault {
    /// How many words the buffer has.
    pub const WORDS: usize = 8;
    /// How many groups to launch.
    pub const GROUPS: usize = 2;
    /// How many work-items a group has.
    pub const GROUP_SIZE: usize = 4;

    /// Whether the report names the fault together with its kernel.
    pub fn is_in(&self, report: &str) -> bool {
        let findings = report.split("\n\n");
        findings.into_iter().any(|finding| finding.contains(self.reported) && finding.contains(self.kernel))
    }

    /// One for each kind of fault that is looked for.
    pub const ALL: &[Self] = &[
        Self {
            kernel: "two_groups_write_one_word",
            source: "__kernel void two_groups_write_one_word(__global uint *words) { words[0] = get_group_id(0); }",
            reported: "data race",
        },
        Self {
            kernel: "a_missing_barrier",
            source: "__kernel void a_missing_barrier(__global uint *words)
                {
                    __local uint tile[4];
                    tile[get_local_id(0)] = words[get_global_id(0)];
                    words[get_global_id(0)] = tile[3 - get_local_id(0)];
                }",
            reported: "data race",
        },
        Self {
            kernel: "local_memory_that_nobody_wrote",
            source: "__kernel void local_memory_that_nobody_wrote(__global uint *words)
                {
                    __local uint tile[4];
                    words[get_global_id(0)] = tile[get_local_id(0)];
                }",
            reported: "Uninitialized",
        },
        Self {
            kernel: "a_word_past_the_end",
            source: "__kernel void a_word_past_the_end(__global uint *words) { words[get_global_id(0) + 1] = 1; }",
            reported: "Invalid write",
        },
    ];
}
