//! What a sort did.

use crate::Engine;
use crate::plan::Plan;
use std::fmt;
use std::time::Duration;

/// What a sort did: the plan that ran, where, and how long it took.
///
/// ```
/// let mut keys = vec![3_u32, 1, 2];
/// let report = bitonic::Sorter::new().sort(&mut keys)?;
/// println!("{report}");
/// assert_eq!(report.len(), 3);
/// # Ok::<(), bitonic::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Report {
    /// The plan that ran. It is the one that was made before, unless a device refused something and its fallback went on.
    pub plan: Plan,
    /// Wall time of the whole call. Zero where the CPU sorted [`Report::UNTIMED`] keys or fewer: reading the clock twice would take
    /// longer than the sort.
    pub elapsed: Duration,
    /// Where the time went, if it was a device with memory of its own or kernels to wait for.
    pub times: Option<DeviceTimes>,
    /// Why another engine was not used: `Auto` had to fall back, or a device brought back a result that is wrong, whatever engine was
    /// asked for; then device, driver and plan are named here.
    pub fallback: Option<String>,
}

impl Report {
    /// So many keys, or fewer, the CPU sorts without taking the time. A clock takes from 20 ns a reading on bare machines to more than
    /// 100 on virtual ones, and sorting 64 keys of 32 bits about 50.
    pub const UNTIMED: usize = 64;

    /// How many keys were sorted.
    pub fn len(&self) -> usize {
        self.plan.request.len()
    }

    /// Whether there was nothing to sort.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The engine that sorted them; never [`Engine::Auto`].
    pub fn engine(&self) -> Engine {
        self.plan.engine
    }

    /// What it ran on.
    pub fn device(&self) -> &str {
        &self.plan.device
    }

    /// Keys sorted per second of wall time; 0 where no time was taken.
    pub fn keys_per_second(&self) -> f64 {
        if self.elapsed.is_zero() { 0.0 } else { self.len() as f64 / self.elapsed.as_secs_f64() }
    }
}

/// What a device took for its part of a sort. Upload and download are between the caller's arrays and the device;
/// kernels are the sort itself.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct DeviceTimes {
    /// To the device.
    pub upload: Duration,
    /// How much.
    pub uploaded_bytes: u64,
    /// From the start of the first kernel to the end of the last, by the device's clock.
    pub kernels: Duration,
    /// How many kernels ran.
    pub launches: usize,
    /// What the kernels read and wrote in the device's memory.
    pub kernel_bytes: u64,
    /// From the device.
    pub download: Duration,
    /// How much.
    pub downloaded_bytes: u64,
    /// How fast the device copies its own memory, bytes read plus written, where that is known.
    pub copy_bytes_per_second: Option<f64>,
    /// In how many chunks the arrays went to the device, whose times are summed up here: 1 if they fitted as a whole. A
    /// device that refuses memory makes them more than were planned.
    pub chunks: usize,
    /// Merging the chunks on the host.
    pub merge: Duration,
}

impl DeviceTimes {
    /// What the kernels read and wrote in a second.
    pub fn bytes_per_second(&self) -> f64 {
        self.kernel_bytes as f64 / self.kernels.as_secs_f64().max(1e-9)
    }

    /// Counts another chunk in.
    pub(crate) fn add(&mut self, chunk: &Self) {
        self.upload += chunk.upload;
        self.uploaded_bytes += chunk.uploaded_bytes;
        self.kernels += chunk.kernels;
        self.launches += chunk.launches;
        self.kernel_bytes += chunk.kernel_bytes;
        self.download += chunk.download;
        self.downloaded_bytes += chunk.downloaded_bytes;
        self.copy_bytes_per_second = chunk.copy_bytes_per_second;
        self.chunks += chunk.chunks;
        self.merge += chunk.merge;
    }

    /// The same as a share of the speed of a plain copy: 1 is as fast as memory allows.
    pub fn share_of_copy(&self) -> Option<f64> {
        self.copy_bytes_per_second.map(|copy| self.bytes_per_second() / copy)
    }
}

impl fmt::Display for DeviceTimes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { upload, kernels, launches, download, chunks, merge, .. } = self;
        write!(f, "upload {upload:.2?}, {launches} kernels {kernels:.2?}, download {download:.2?}")?;
        if *chunks > 1 {
            write!(f, ", merge of {chunks} chunks {merge:.2?}")?;
        }
        f.write_str("; ")?;
        write!(f, "kernels at {:.1} GB/s", self.bytes_per_second() / 1e9)?;
        match self.share_of_copy() {
            Some(share) => write!(f, ", {:.0} % of a copy", 100.0 * share),
            None => Ok(()),
        }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { plan, elapsed, times, fallback } = self;
        let (len, engine, device) = (self.len(), self.engine(), self.device());
        write!(f, "{len} keys")?;
        if !elapsed.is_zero() {
            write!(f, " in {elapsed:.2?}")?;
        }
        write!(f, " on {engine} ({device}): {}", plan.summary())?;
        if let Some(times) = times {
            write!(f, "; {times}")?;
        }
        match fallback {
            Some(reason) => write!(f, "; fell back: {reason}"),
            None => Ok(()),
        }
    }
}
