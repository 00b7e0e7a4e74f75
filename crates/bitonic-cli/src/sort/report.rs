//! What a sort did, for people.

use crate::figures::{counted, gigabytes_per_second, percent, time};
use crate::flags::in_flags;
use crate::lines::Lines;
use bitonic::{DeviceTimes, Instructions, Report};
use std::time::Duration;

/// Which keys were sorted, where and how; and what a device took for its part.
pub(super) fn lines(what: &str, report: &Report, instructions: Option<Instructions>) -> Lines {
    let mut lines = Lines::default();
    lines.add("keys", what);
    lines.add("engine", report.engine());
    lines.add("device", report.device());
    if let Some(instructions) = instructions {
        lines.add("instructions", instructions);
    }
    lines.add("plan", report.plan.summary());
    if let Some(reason) = &report.fallback {
        lines.add("fallback", in_flags(reason));
    }
    if let Some(times) = &report.times {
        add_device_times(&mut lines, times);
    }
    lines
}

fn add_device_times(lines: &mut Lines, times: &DeviceTimes) {
    lines.add("upload", transfer(times.upload, times.uploaded_bytes));
    let launches = counted(times.launches, "launch");
    lines.add("kernels", format_args!("{}, {launches}", time(times.kernels)));
    lines.add("download", transfer(times.download, times.downloaded_bytes));
    if times.chunks > 1 {
        lines.add("merge", format_args!("{}, {}", time(times.merge), counted(times.chunks, "chunk")));
    }
    let speed = gigabytes_per_second(times.bytes_per_second());
    let share = times.share_of_copy().map_or_else(String::new, |share| {
        format!(", {} of what a plain copy on the device reaches", percent(share))
    });
    lines.add("bandwidth", format_args!("{speed} in the kernels{share}"));
}

fn transfer(elapsed: Duration, bytes: u64) -> String {
    let speed = gigabytes_per_second(bytes as f64 / elapsed.as_secs_f64().max(1e-9));
    format!("{}, {speed}", time(elapsed))
}

#[cfg(test)]
mod tests {
    use super::*;
    use bitonic::Sorter;

    #[test]
    fn a_sort_on_the_processor_says_why_no_device_did_it() {
        let mut report = Sorter::new().engine(bitonic::Engine::Cpu).sort(&mut [3, 1, 2]).unwrap();
        assert!(!lines("3 keys", &report, None).to_string().contains("fallback"));
        report.fallback = Some("the device is lost".to_owned());
        let text = lines("3 keys", &report, None).to_string();
        assert!(text.contains("\nfallback  the device is lost\n") && !text.contains("kernels"), "{text}");
    }

    #[test]
    fn a_sort_on_a_device_says_where_its_time_went() {
        let mut report = Sorter::new().engine(bitonic::Engine::Cpu).sort(&mut [3, 1, 2]).unwrap();
        let mut times = DeviceTimes::default();
        times.upload = Duration::from_millis(2);
        times.uploaded_bytes = 8_000_000;
        times.kernels = Duration::from_millis(10);
        times.launches = 3;
        times.kernel_bytes = 48_000_000;
        times.download = Duration::from_millis(4);
        times.downloaded_bytes = 8_000_000;
        report.times = Some(times);
        let text = lines("keys", &report, None).to_string();
        for line in [
            "upload     2.00 ms, 4.00 GB/s\n",
            "kernels    10.0 ms, 3 launches\n",
            "download   4.00 ms, 2.00 GB/s\n",
            "bandwidth  4.80 GB/s in the kernels\n",
        ] {
            assert!(text.contains(line), "{text}");
        }
        assert!(!text.contains("merge"), "{text}");
        times.chunks = 3;
        times.merge = Duration::from_millis(5);
        times.copy_bytes_per_second = Some(9.6e9);
        report.times = Some(times);
        let text = lines("keys", &report, None).to_string();
        assert!(
            text.ends_with("in the kernels, 50 % of what a plain copy on the device reaches\n"),
            "{text}"
        );
        assert!(text.contains("merge      5.00 ms, 3 chunks\n"), "{text}");
    }
}
