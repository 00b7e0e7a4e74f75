//! Numbers for people: counts with their noun, times, sizes, speeds and ratios with three digits that matter.

use std::time::Duration;

/// `1 key`, `2 keys`, `2 launches`
pub fn counted(count: usize, noun: &str) -> String {
    let ending = match count {
        1 => "",
        _ if noun.ends_with("ch") => "es",
        _ => "s",
    };
    format!("{count} {noun}{ending}")
}

/// `867 ms`, `1.27 ms`, `72.7 µs`
pub fn time(time: Duration) -> String {
    time_of_seconds(time.as_secs_f64())
}

/// The same for a time in seconds: means and fitted factors may be less than a nanosecond.
pub fn time_of_seconds(seconds: f64) -> String {
    let units = [(1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"), (1e-12, "ps")];
    // What rounds to 1000 of a unit is 1 of the next.
    let found = units.iter().find(|(unit, _)| seconds >= 0.9995 * unit);
    let (unit, name) = found.copied().unwrap_or((1e-9, "ns"));
    format!("{} {name}", significant(seconds / unit))
}

/// A time that is only foreseen, in the unit that suits it.
pub fn long_time(seconds: f64) -> String {
    let units = [(86_400.0, "days"), (3_600.0, "hours"), (60.0, "minutes")];
    match units.iter().find(|(unit, _)| seconds >= 2.0 * unit) {
        Some((unit, name)) => format!("{:.0} {name}", seconds / unit),
        None => format!("{seconds:.1} seconds"),
    }
}

/// How many million keys a second were sorted. Not `M`, which is 2^20 where counts are read.
pub fn million_keys_per_second(keys: usize, time: Duration) -> String {
    significant(keys as f64 / seconds(time) / 1e6)
}

/// The same in billions, for devices that sort so many.
pub fn billion_keys_per_second(keys_per_second: f64) -> String {
    significant(keys_per_second / 1e9)
}

/// A speed of memory: `4290 GB/s`. 10^9 bytes, as makers of memory have it.
pub fn gigabytes_per_second(bytes_per_second: f64) -> String {
    format!("{} GB/s", significant(bytes_per_second / 1e9))
}

/// A size of memory: `48 KiB`, `139 GiB`.
pub fn bytes(bytes: u64) -> String {
    let units = [(40, "TiB"), (30, "GiB"), (20, "MiB"), (10, "KiB")];
    match units.iter().find(|(shift, _)| bytes >> shift > 0) {
        Some((shift, name)) if bytes.is_multiple_of(1 << shift) => format!("{} {name}", bytes >> shift),
        Some((shift, name)) => format!("{} {name}", significant(bytes as f64 / (1_u64 << shift) as f64)),
        None => format!("{bytes} B"),
    }
}

/// A share of the whole: `45 %`
pub fn percent(share: f64) -> String {
    format!("{:.0} %", 100.0 * share)
}

/// How many times as fast the second is as the first: `5.74x`
pub fn ratio(first: Duration, second: Duration) -> String {
    format!("{}x", significant(seconds(first) / seconds(second)))
}

/// Never zero: a clock may see no time pass.
fn seconds(time: Duration) -> f64 {
    time.as_secs_f64().max(1e-9)
}

/// Three significant digits, but no more than four after the point.
pub fn significant(value: f64) -> String {
    let decimals = match value {
        99.95.. => 0,
        9.995.. => 1,
        0.9995.. => 2,
        0.09995.. => 3,
        _ => 4,
    };
    format!("{value:.decimals$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_count_has_its_noun() {
        assert_eq!([0, 1, 2].map(|count| counted(count, "key")), ["0 keys", "1 key", "2 keys"]);
        assert_eq!([1, 7].map(|count| counted(count, "launch")), ["1 launch", "7 launches"]);
    }

    #[test]
    fn times_have_three_digits_and_the_unit_that_suits_them() {
        let of = |nanoseconds| time(Duration::from_nanos(nanoseconds));
        assert_eq!(of(0), "0.0000 ns");
        assert_eq!(of(7), "7.00 ns");
        assert_eq!(of(72_690), "72.7 µs");
        assert_eq!(of(999_900), "1.00 ms");
        assert_eq!(of(1_270_000), "1.27 ms");
        assert_eq!(of(867_510_000), "868 ms");
        assert_eq!(of(61_000_000_000), "61.0 s");
        assert_eq!(time_of_seconds(4.56e-13), "0.0005 ns");
        assert_eq!(time_of_seconds(4.56e-11), "45.6 ps");
    }

    #[test]
    fn foreseen_times_are_told_roughly() {
        assert_eq!(long_time(1.25), "1.2 seconds");
        assert_eq!(long_time(7200.0), "2 hours");
        assert_eq!(long_time(86_400.0 * 400.0), "400 days");
    }

    #[test]
    fn speeds_are_in_millions_or_billions() {
        assert_eq!(million_keys_per_second(16 << 20, Duration::from_secs(1)), "16.8");
        assert_eq!(million_keys_per_second(16 << 20, Duration::from_millis(100)), "168");
        assert_eq!(million_keys_per_second(1000, Duration::from_secs(1)), "0.0010");
        assert_eq!(million_keys_per_second(0, Duration::ZERO), "0.0000");
        assert_eq!(billion_keys_per_second(26.3e9), "26.3");
    }

    #[test]
    fn sizes_have_the_unit_that_suits_them() {
        let sizes = [0, 1023, 48 << 10, 3 << 19, 150_097_428_480];
        assert_eq!(sizes.map(bytes), ["0 B", "1023 B", "48 KiB", "1.50 MiB", "140 GiB"]);
        assert_eq!(gigabytes_per_second(4.29e12), "4290 GB/s");
        assert_eq!(percent(0.527), "53 %");
    }

    #[test]
    fn a_time_too_short_to_see_gives_no_infinite_ratio() {
        assert_eq!(ratio(Duration::ZERO, Duration::ZERO), "1.00x");
        assert_eq!(ratio(Duration::from_millis(574), Duration::from_millis(100)), "5.74x");
        assert_eq!(ratio(Duration::from_millis(2), Duration::from_secs(1)), "0.0020x");
    }
}
