//! What a result was measured on and with.

use bitonic::{Instructions, Sorter};
use std::fmt;
use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};

/// What a result was measured on and with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Machine {
    /// The processor's name.
    pub processor: String,
    /// How many cores this process may use.
    pub cores: usize,
    /// The instruction set of our kernels.
    pub instructions: Instructions,
    /// The compiler that built the benchmark.
    pub compiler: &'static str,
    /// The version of bitonic.
    pub version: &'static str,
    /// The commit of the sources, with `-dirty` if they were changed since; empty if git does not know.
    pub commit: String,
    /// The day, in UTC.
    pub date: String,
    /// numpy's version; empty if it did not take part.
    pub numpy: String,
}

impl Machine {
    /// Describes this machine.
    pub fn describe(numpy: Option<&str>) -> Self {
        // A plan names the processor it is for.
        let plan = Sorter::new().plan::<u32>(0);
        Self {
            processor: plan
                .map_or_else(|_| std::env::consts::ARCH.to_owned(), |plan| plan.device.into_owned()),
            cores: std::thread::available_parallelism().map_or(1, usize::from),
            instructions: Instructions::detected(),
            compiler: env!("BITONIC_BENCH_COMPILER"),
            version: env!("CARGO_PKG_VERSION"),
            commit: commit().unwrap_or_default(),
            date: date(SystemTime::now()),
            numpy: numpy.unwrap_or_default().to_owned(),
        }
    }

    /// Everything, by name.
    pub fn fields(&self) -> [(&'static str, String); 8] {
        [
            ("processor", self.processor.clone()),
            ("cores", self.cores.to_string()),
            ("instructions", self.instructions.to_string()),
            ("compiler", self.compiler.to_owned()),
            ("version", self.version.to_owned()),
            ("commit", self.commit.clone()),
            ("date", self.date.clone()),
            ("numpy", self.numpy.clone()),
        ]
    }
}

/// A line for everything that is known.
impl fmt::Display for Machine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let fields = self.fields();
        let known: Vec<String> = fields
            .iter()
            .filter(|(_, value)| !value.is_empty())
            .map(|(name, value)| format!("{name:12}  {value}"))
            .collect();
        f.write_str(&known.join("\n"))
    }
}

fn commit() -> Option<String> {
    let commit = git(&["rev-parse", "--short=12", "HEAD"])?;
    let changed = git(&["status", "--porcelain"]).is_some_and(|changes| !changes.is_empty());
    Some(if changed { commit + "-dirty" } else { commit })
}

/// What git says about the sources of this crate; `None` if it cannot.
fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").current_dir(env!("CARGO_MANIFEST_DIR")).args(arguments).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// The day in UTC as year-month-day.
fn date(time: SystemTime) -> String {
    let days = time.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs() / 86_400);
    // Years that begin in March end with the leap day, so that a 400-year cycle of them divides evenly.
    let days = days + 719_468; // from 0000-03-01 to 1970-01-01
    let (cycle, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    // 153 days are the five months from March to July, and again from August to December.
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let (year, month) = if month < 10 { (year, month + 3) } else { (year + 1, month - 9) };
    format!("{:04}-{month:02}-{day:02}", cycle * 400 + year)
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
            (11_016, "2000-02-29"),
            (20_000, "2024-10-04"),
            (47_540, "2100-02-28"),
            (47_541, "2100-03-01"),
        ];
        for (day, name) in days {
            assert_eq!(date(UNIX_EPOCH + Duration::from_secs(day * 86_400 + 3600)), name);
        }
    }

    #[test]
    fn what_is_unknown_has_no_line() {
        let machine = Machine { commit: String::new(), ..Machine::describe(None) };
        let text = machine.to_string();
        assert!(text.contains("processor") && text.contains("compiler"), "{text}");
        assert!(!text.contains("commit") && !text.contains("numpy"), "{text}");
    }
}
