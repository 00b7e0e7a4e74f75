//! A cluster on this machine: one scheduler and some executors, each a process of its own, that talk over the loopback.

use std::fs::{self, File};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Ends its processes when it is dropped.
pub(crate) struct Cluster {
    scheduler: Child,
    executors: Vec<Child>,
    port: u16,
    folder: PathBuf,
}

impl Cluster {
    /// Starts the programs in the folder `programs`. Shuffled data and messages go to `folder`.
    pub(crate) fn start(programs: &Path, folder: PathBuf, executors: usize, memory_mib: u64) -> Self {
        fs::create_dir_all(&folder).unwrap();
        let log = |name: &str| Stdio::from(File::create(folder.join(format!("{name}.log"))).unwrap());
        let port = free_port();
        let scheduler = Command::new(programs.join("bitonic-scheduler"))
            .args(["--port", &port.to_string(), "--executor-timeout", "8"])
            .stderr(log("scheduler"))
            .spawn()
            .unwrap();
        wait_for(port);
        let mut ports = vec![];
        let start = |number: usize| {
            let own = free_port();
            ports.push(own);
            let folder = folder.join(format!("executor-{number}"));
            Command::new(programs.join("bitonic-executor"))
                .args(["--scheduler", &format!("127.0.0.1:{port}"), "--cores", "1"])
                .args(["--port", &own.to_string()])
                .args(["--memory-mib", &memory_mib.to_string(), "--folder"])
                .arg(folder)
                .stderr(log(&format!("executor-{number}")))
                .spawn()
                .unwrap()
        };
        let executors = (0..executors).map(start).collect();
        let cluster = Self { scheduler, executors, port, folder };
        ports.into_iter().for_each(wait_for);
        cluster
    }

    /// The scheduler's address.
    pub(crate) fn address(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// Where an executor has what it shuffled.
    pub(crate) fn executor_folder(&self, executor: usize) -> PathBuf {
        self.folder.join(format!("executor-{executor}"))
    }

    /// Ends an executor as a power cut would.
    pub(crate) fn kill(&mut self, executor: usize) {
        self.executors[executor].kill().unwrap();
        self.executors[executor].wait().unwrap();
    }

    /// The most memory that each executor had, in bytes, as the kernel counts it. Measured, not tested.
    #[allow(dead_code, reason = "examples/measure.rs, which shares this file, is its only user")]
    pub(crate) fn peak_memory(&self) -> Vec<u64> {
        let peak = |child: &Child| {
            let status = fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
            let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
            let kib = line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<u64>().ok());
            kib.unwrap_or(0) << 10
        };
        self.executors.iter().map(peak).collect()
    }

    /// What the processes said, to be shown where a test fails.
    pub(crate) fn messages(&self) -> String {
        let mut logs: Vec<_> =
            fs::read_dir(&self.folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        logs.retain(|path| path.extension().is_some_and(|ending| ending == "log"));
        logs.sort();
        let end = |path: &PathBuf| {
            let text = fs::read_to_string(path).unwrap_or_default();
            let lines: Vec<&str> = text.lines().rev().take(40).collect();
            format!("{}:\n{}\n", path.display(), lines.into_iter().rev().collect::<Vec<_>>().join("\n"))
        };
        logs.iter().map(end).collect()
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        for child in self.executors.iter_mut().chain([&mut self.scheduler]) {
            // One that was killed already is not there to be killed.
            let _ = child.kill();
            let _ = child.wait();
        }
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// Bytes of all files in a folder, at any depth.
pub(crate) fn bytes_in(folder: &Path) -> u64 {
    let Ok(entries) = fs::read_dir(folder) else { return 0 };
    let bytes = entries.flatten().map(|entry| match entry.metadata() {
        Ok(of) if of.is_dir() => bytes_in(&entry.path()),
        Ok(of) => of.len(),
        Err(_) => 0,
    });
    bytes.sum()
}

fn free_port() -> u16 {
    TcpListener::bind(("127.0.0.1", 0)).unwrap().local_addr().unwrap().port()
}

fn wait_for(port: u16) {
    let start = Instant::now();
    while TcpStream::connect(("127.0.0.1", port)).is_err() {
        assert!(start.elapsed() < Duration::from_secs(60), "nothing listens on port {port} after 60 s");
        std::thread::sleep(Duration::from_millis(20));
    }
}
