//! What was measured on and with.

use super::device::DeviceDescription;
use crate::experiment::Experiment;
use crate::implementation::{Implementation, RunsOn, Settings};
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

/// The field with the speed of a copy, read plus written, in bytes a second; the name of what it ran on stands before it.
pub const COPY_SPEED: &str = "copy bytes per second";

/// The field with what one launch of a kernel takes when there is next to nothing to do; the same name stands before it.
pub const LAUNCH_SECONDS: &str = "seconds per launch";

/// The environment variable that names the commit of a program that was built elsewhere.
const COMMIT_VARIABLE: &str = "BITONIC_COMMIT";

/// This program: what every result was measured with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    /// The version of bitonic.
    pub version: &'static str,
    /// The commit of the sources, with `-dirty` if they were changed since; empty if nobody knows.
    pub commit: String,
    /// The day, in UTC.
    pub date: String,
}

impl Program {
    /// This program, today.
    pub fn of_today() -> Self {
        Self {
            version: env!("CARGO_PKG_VERSION"),
            commit: std::env::var(COMMIT_VARIABLE).unwrap_or_else(|_| record::commit()),
            date: record::today(),
        }
    }
}

/// The processor's name.
pub fn processor() -> String {
    // A plan names the processor it is for.
    let plan = Sorter::new().plan::<u32>(0);
    plan.map_or_else(|_| std::env::consts::ARCH.to_owned(), |plan| plan.device.into_owned())
}

/// How many cores this process may use.
pub fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

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
        let Program { version, commit, date } = Program::of_today();
        machine.add("processor", processor());
        machine.add("cores", cores());
        machine.add("instructions", Instructions::detected());
        if let Some(clock) = clock() {
            machine.add("clock", clock);
        }
        if let Some(caches) = caches() {
            machine.add("caches", caches);
        }
        machine.add("memory", memory().unwrap_or_default());
        machine.add("system", system());
        machine.add("bitonic", version);
        machine.add("commit", commit);
        machine.add("compiler", env!("BITONIC_COMPILER"));
        machine.add("build", if cfg!(debug_assertions) { "with assertions" } else { "release" });
        machine.add("date", date);
        machine.add("seed", experiment.seed);
        machine.add("counters", counters);
        machine.add(&format!("{} {COPY_SPEED}", RunsOn::Cpu), host_copy_speed());
        let used = |runs_on: RunsOn| {
            implementations.iter().any(|implementation| implementation.runs_on() == runs_on)
        };
        for runs_on in [RunsOn::OpenCl, RunsOn::Cuda].into_iter().filter(|&runs_on| used(runs_on)) {
            if let Ok(device) = DeviceDescription::open(runs_on, settings) {
                machine.add_device(runs_on, &device);
            }
        }
        for runs_on in [RunsOn::OpenCl, RunsOn::Cuda] {
            if let Some(seconds) = used(runs_on).then(|| launch_seconds(runs_on, settings)).flatten() {
                machine.add(&format!("{runs_on} {LAUNCH_SECONDS}"), seconds);
            }
        }
        machine
    }

    /// What a line says.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.facts.iter().find(|fact| fact.name == name).map(|fact| fact.value.as_str())
    }

    /// What the line `name` about `runs_on` says, if that is a number.
    pub fn number(&self, runs_on: &str, name: &str) -> Option<f64> {
        self.get(&format!("{runs_on} {name}"))?.parse().ok()
    }

    fn add(&mut self, name: &str, value: impl ToString) {
        self.facts.push(Fact { name: name.to_owned(), value: value.to_string() });
    }

    fn add_device(&mut self, runs_on: RunsOn, device: &DeviceDescription) {
        self.add(&format!("{runs_on} device"), &device.name);
        self.add(&format!("{runs_on} kind"), &device.kind);
        self.add(&format!("{runs_on} platform"), &device.platform);
        self.add(&format!("{runs_on} driver"), &device.driver);
        self.add(&format!("{runs_on} interface"), &device.interface);
        self.add(&format!("{runs_on} compute units"), device.compute_units);
        self.add(&format!("{runs_on} memory"), crate::figures::bytes(device.memory_bytes));
        self.add(&format!("{runs_on} local memory"), crate::figures::bytes(device.local_bytes as u64));
        if let Some(speed) = device.copy_bytes_per_second {
            self.add(&format!("{runs_on} {COPY_SPEED}"), speed);
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

/// The processor's clock as the system tells it: the most it reaches, or what it runs at now.
fn clock() -> Option<String> {
    let most = std::fs::read_to_string("/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq");
    if let Some(kilohertz) = most.ok().and_then(|text| text.trim().parse::<f64>().ok()) {
        return Some(format!("{:.2} GHz at most", kilohertz / 1e6));
    }
    let text = std::fs::read_to_string("/proc/cpuinfo").ok()?;
    let line = text.lines().find(|line| line.starts_with("cpu MHz"))?;
    let megahertz: f64 = line.split(':').nth(1)?.trim().parse().ok()?;
    Some(format!("{:.2} GHz", megahertz / 1e3))
}

/// The caches that the first core uses, such as `L1d 32K, L1i 32K, L2 1024K, L3 33792K`.
fn caches() -> Option<String> {
    let folder = std::path::Path::new("/sys/devices/system/cpu/cpu0/cache");
    let read = |index: usize, file: &str| {
        let text = std::fs::read_to_string(folder.join(format!("index{index}")).join(file)).ok()?;
        Some(text.trim().to_owned())
    };
    let cache = |index: usize| {
        let kind = match read(index, "type")?.as_str() {
            "Data" => "d",
            "Instruction" => "i",
            _ => "",
        };
        Some(format!("L{}{kind} {}", read(index, "level")?, read(index, "size")?))
    };
    let caches: Vec<String> = (0..8).map_while(cache).collect();
    (!caches.is_empty()).then(|| caches.join(", "))
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
fn launch_seconds(runs_on: RunsOn, settings: &Settings) -> Option<f64> {
    let rung = crate::implementation::all().into_iter().find(|implementation| {
        implementation.runs_on() == runs_on && implementation.name() == "naive_shifts"
    })?;
    let mut least: Option<f64> = None;
    for _ in 0..20 {
        let mut keys: Vec<u32> = (0..256).rev().collect();
        let share = rung.sort(&mut keys, settings).ok()??;
        let seconds = share.kernels.as_secs_f64() / share.launches.unwrap_or(1).max(1) as f64;
        least = Some(least.map_or(seconds, |least| least.min(seconds)));
    }
    least
}
