//! What was measured on and with.

use crate::experiment::Experiment;
use crate::implementation::{Implementation, Place, Settings};
use bitonic::{Instructions, Sorter};
use bitonic_testkit::record;
use serde::{Deserialize, Serialize};
use std::time::Instant;

/// What was measured on and with.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Machine {
    /// The lines of `machine.csv`.
    pub facts: Vec<Fact>,
}

/// One line of `machine.csv`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fact {
    /// What it is.
    pub name: String,
    /// What it is here.
    pub value: String,
}

/// The field with the speed of a copy at a place, read plus written, in bytes a second; the place stands before it.
pub const COPY_SPEED: &str = "copy bytes per second";

/// The field with what one launch of a kernel takes at a place when there is next to nothing to do.
pub const LAUNCH_SECONDS: &str = "seconds per launch";

/// The environment variable that names the commit of a program that was built elsewhere.
const COMMIT_VARIABLE: &str = "BITONIC_COMMIT";

impl Machine {
    /// Describes this machine, its devices as far as the implementations use them, and this program. Measures how fast
    /// memory is copied, and what a launch takes, which is seconds of work.
    pub fn describe(
        experiment: &Experiment,
        implementations: &[Implementation],
        settings: &Settings,
        counters: &str,
    ) -> Self {
        let mut machine = Self::default();
        let processor = Sorter::new().plan::<u32>(0).map(|plan| plan.device.into_owned());
        machine.add("processor", processor.unwrap_or_else(|_| std::env::consts::ARCH.to_owned()));
        machine.add("cores", std::thread::available_parallelism().map_or(1, usize::from));
        machine.add("instructions", Instructions::detected());
        machine.add("memory", memory().unwrap_or_default());
        machine.add("system", system());
        machine.add("bitonic", env!("CARGO_PKG_VERSION"));
        machine.add("commit", std::env::var(COMMIT_VARIABLE).unwrap_or_else(|_| record::commit()));
        machine.add("build", if cfg!(debug_assertions) { "with assertions" } else { "release" });
        machine.add("date", record::today());
        machine.add("seed", experiment.seed);
        machine.add("counters", counters);
        machine.add(&format!("{} {COPY_SPEED}", Place::Cpu), host_copy_speed());
        let used =
            |place: Place| implementations.iter().any(|implementation| implementation.place() == place);
        if used(Place::OpenCl) {
            machine.describe_opencl(settings);
        }
        if used(Place::Cuda) {
            machine.describe_cuda(settings);
        }
        for place in [Place::OpenCl, Place::Cuda] {
            if let Some(seconds) = used(place).then(|| launch_seconds(place, settings)).flatten() {
                machine.add(&format!("{place} {LAUNCH_SECONDS}"), seconds);
            }
        }
        machine
    }

    /// What a line says.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.facts.iter().find(|fact| fact.name == name).map(|fact| fact.value.as_str())
    }

    /// A line about a place that is a number.
    pub fn number(&self, place: &str, name: &str) -> Option<f64> {
        self.get(&format!("{place} {name}"))?.parse().ok()
    }

    fn add(&mut self, name: &str, value: impl ToString) {
        self.facts.push(Fact { name: name.to_owned(), value: value.to_string() });
    }

    fn describe_opencl(&mut self, settings: &Settings) {
        let Ok(device) = bitonic::opencl::Device::open(&settings.device) else { return };
        let info = device.info();
        self.add("opencl device", &info.name);
        self.add("opencl kind", info.kind);
        self.add("opencl platform", &info.platform);
        self.add("opencl driver", &info.driver);
        self.add("opencl version", &info.version);
        self.add("opencl compute units", info.compute_units);
        if let Ok(speed) = device.copy_bandwidth() {
            self.add(&format!("{} {COPY_SPEED}", Place::OpenCl), speed);
        }
    }

    fn describe_cuda(&mut self, settings: &Settings) {
        let Ok(device) = bitonic::cuda::Device::open(&settings.device) else { return };
        let info = device.info();
        let (major, minor) = info.compute_capability;
        self.add("cuda device", &info.name);
        self.add("cuda driver", &info.driver);
        self.add("cuda compute capability", format!("{major}.{minor}"));
        self.add("cuda multiprocessors", info.multiprocessors);
        if let Ok(speed) = device.copy_bandwidth() {
            self.add(&format!("{} {COPY_SPEED}", Place::Cuda), speed);
        }
    }
}

/// The machine's memory, where the system tells.
fn memory() -> Option<String> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let kibibytes =
        text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?.trim().strip_suffix("kB")?;
    Some(crate::figures::bytes(kibibytes.trim().parse::<u64>().ok()? * 1024))
}

/// The system and its version, where it tells.
fn system() -> String {
    let release = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    format!("{} {} {}", std::env::consts::OS, std::env::consts::ARCH, release.trim()).trim().to_owned()
}

/// How many bytes a second the processor reads plus writes when one thread copies memory that no cache holds.
fn host_copy_speed() -> f64 {
    const BYTES: usize = 128 << 20;
    let from = vec![0x5a_u8; BYTES];
    let mut to = vec![0_u8; BYTES];
    let least = (0..5)
        .map(|_| {
            let started = Instant::now();
            std::hint::black_box(&mut to).copy_from_slice(std::hint::black_box(&from));
            started.elapsed().as_secs_f64()
        })
        .fold(f64::INFINITY, f64::min);
    2.0 * BYTES as f64 / least.max(1e-9)
}

/// What a launch takes: the time of a rung with a launch for every step, on so few keys that nothing else counts.
fn launch_seconds(place: Place, settings: &Settings) -> Option<f64> {
    let rung = crate::implementation::all()
        .into_iter()
        .find(|implementation| implementation.place() == place && implementation.name() == "naive_shifts")?;
    let mut least: Option<f64> = None;
    for _ in 0..20 {
        let mut keys: Vec<u32> = (0..256).rev().collect();
        let share = rung.sort(&mut keys, settings).ok()??;
        let seconds = share.kernels.as_secs_f64() / share.launches.max(1) as f64;
        least = Some(least.map_or(seconds, |least| least.min(seconds)));
    }
    least
}
