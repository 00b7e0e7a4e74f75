//! What every record of a measurement has, whatever was measured: which sources, on which day.

use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};

/// The commit of the project's sources, with `-dirty` if they were changed since; empty if git does not know, or they are
/// no longer where the program was built from.
pub fn commit() -> String {
    let commit = git(&["rev-parse", "--short=12", "HEAD"]).unwrap_or_default();
    let changed = git(&["status", "--porcelain"]).is_some_and(|changes| !changes.is_empty());
    if changed && !commit.is_empty() { commit + "-dirty" } else { commit }
}

fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").current_dir(env!("CARGO_MANIFEST_DIR")).args(arguments).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// The day in UTC as year-month-day.
pub fn today() -> String {
    date(SystemTime::now())
}

/// The day of a time, in UTC, as year-month-day.
pub fn date(time: SystemTime) -> String {
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
