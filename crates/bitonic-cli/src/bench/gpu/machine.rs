//! What was measured on and with.

use bitonic::opencl::Device;
use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};

/// What was measured on and with.
#[derive(Clone, Debug)]
pub(super) struct Machine {
    /// The device's name.
    pub(super) device: String,
    /// What sort of device it is.
    pub(super) kind: String,
    /// Its driver's OpenCL implementation.
    pub(super) platform: String,
    /// The driver's version.
    pub(super) driver: String,
    /// The version of OpenCL.
    pub(super) opencl: String,
    /// How many multiprocessors or cores it has.
    pub(super) compute_units: usize,
    /// How many bytes it reads plus writes a second when it copies its own memory, where that can be measured.
    pub(super) copy_bytes_per_second: Option<f64>,
    /// The version of bitonic.
    pub(super) version: &'static str,
    /// The commit of the sources, with `-dirty` if they were changed since; empty if git does not know.
    pub(super) commit: String,
    /// The day, in UTC.
    pub(super) date: String,
}

impl Machine {
    /// Describes a device and this program.
    pub(super) fn describe(device: &Device) -> Self {
        let info = device.info();
        Self {
            device: info.name.clone(),
            kind: info.kind.to_string(),
            platform: info.platform.clone(),
            driver: info.driver.clone(),
            opencl: info.version.clone(),
            compute_units: info.compute_units,
            copy_bytes_per_second: device.copy_bandwidth().ok(),
            version: env!("CARGO_PKG_VERSION"),
            commit: commit().unwrap_or_default(),
            date: date(SystemTime::now()),
        }
    }
}

fn commit() -> Option<String> {
    let commit = git(&["rev-parse", "--short=12", "HEAD"])?;
    let changed = git(&["status", "--porcelain"]).is_some_and(|changes| !changes.is_empty());
    Some(if changed { commit + "-dirty" } else { commit })
}

/// What git says about the sources of this crate, if they are where it was built from.
fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").current_dir(env!("CARGO_MANIFEST_DIR")).args(arguments).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// The day in UTC as year-month-day.
fn date(time: SystemTime) -> String {
    let mut days = time.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs() / 86_400);
    let mut year = 1970;
    while days >= days_of_year(year) {
        days -= days_of_year(year);
        year += 1;
    }
    let february = days_of_year(year) - 337;
    let mut month = 1;
    for length in [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30] {
        if days < length {
            break;
        }
        days -= length;
        month += 1;
    }
    format!("{year:04}-{month:02}-{:02}", days + 1)
}

fn days_of_year(year: u64) -> u64 {
    let is_leap = year.is_multiple_of(4) && !year.is_multiple_of(100) || year.is_multiple_of(400);
    if is_leap { 366 } else { 365 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn days_have_the_dates_of_the_calendar() {
        let days = [
            (0, "1970-01-01"),
            (58, "1970-02-28"),
            (59, "1970-03-01"),
            (364, "1970-12-31"),
            (11_016, "2000-02-29"),
            (11_322, "2000-12-31"),
            (20_000, "2024-10-04"),
            (47_540, "2100-02-28"),
            (47_541, "2100-03-01"),
        ];
        for (day, name) in days {
            assert_eq!(date(UNIX_EPOCH + Duration::from_secs(day * 86_400 + 3600)), name);
        }
    }
}
