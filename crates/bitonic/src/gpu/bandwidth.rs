//! How fast a device copies its own memory: measured once, when somebody asks, and kept. Plans take it where it is known.

use super::cache::Cache;
use super::driver::Driver;
use crate::Error;
use std::time::Duration;

/// Large enough that no device keeps two such buffers in its caches, and that the start of a copy does not count.
const MOST_BYTES: u64 = 256 << 20;

/// Two buffers take at most a quarter of what the device gives at once.
const SHARE: u64 = 8;

/// Enough for a median that one disturbed copy does not move.
const COPIES: usize = 7;

/// The first copies find memory that was never touched, and a device that is still raising its clock.
const WARM_UP_COPIES: usize = 2;

const NAME: &str = "copy-bandwidth";

/// The speed of the device with this identity from the cache: bytes read plus written, per second.
pub(super) fn load(cache: &Cache, identity: &str) -> Option<f64> {
    cache.load(NAME, identity).and_then(|payload| parse(&payload))
}

/// The files of all devices.
pub(super) fn files(cache: &Cache) -> Vec<std::path::PathBuf> {
    cache.files(NAME)
}

/// Keeps the speed of a device.
pub(super) fn store(cache: &Cache, identity: &str, bytes_per_second: f64) {
    tracing::debug!(identity, bytes_per_second, "measured the copy bandwidth");
    cache.store(NAME, identity, bytes_per_second.to_string().as_bytes());
}

/// Measures the speed of a device, in well under a second.
pub(super) fn measure_copies<D: Driver>(device: &D) -> Result<f64, Error> {
    let bytes = MOST_BYTES.min(device.facts().buffer_bytes / SHARE) as usize;
    let (from, to) = (device.allocate(bytes)?, device.allocate(bytes)?);
    device.upload(&vec![0x5a; bytes], &from)?;
    measure(bytes, || {
        let span = device.copy(&from, &to)?;
        device.finish()?;
        device.elapsed(&span, &span)
    })
}

/// The speed of copies of so many bytes. `copy` makes one and says how long it took.
fn measure(bytes: usize, mut copy: impl FnMut() -> Result<Duration, Error>) -> Result<f64, Error> {
    let mut times = Vec::with_capacity(COPIES);
    for copy_number in 0..WARM_UP_COPIES + COPIES {
        let time = copy()?;
        if copy_number >= WARM_UP_COPIES {
            times.push(time);
        }
    }
    times.sort_unstable();
    // A clock that ticks slower than the copy is no reason to divide by zero.
    let median = times[COPIES / 2].max(Duration::from_nanos(1));
    Ok(2.0 * bytes as f64 / median.as_secs_f64())
}

fn parse(payload: &[u8]) -> Option<f64> {
    let speed: f64 = std::str::from_utf8(payload).ok()?.parse().ok()?;
    (speed.is_finite() && speed > 0.0).then_some(speed)
}

#[cfg(all(test, feature = "devices"))]
mod tests {
    use super::*;
    use crate::gpu::cache::testing::TestDirectory;

    #[test]
    fn a_speed_on_disk_is_taken_unless_it_is_no_speed() {
        let directory = TestDirectory::new("bandwidth");
        let cache = directory.cache();
        cache.store(NAME, "device", b"123.5");
        assert_eq!(load(&cache, "device"), Some(123.5));
        assert_eq!(load(&cache, "another device"), None);
        cache.store(NAME, "device", b"-1");
        assert_eq!(load(&cache, "device"), None);
        store(&cache, "device", 42.5);
        assert_eq!(load(&cache, "device"), Some(42.5));
    }

    #[test]
    fn the_speed_is_the_median_after_a_warm_up() {
        let mut milliseconds = [500, 500, 1, 4, 2, 4, 9, 9, 4].into_iter().map(Duration::from_millis);
        let speed = measure(1000, || Ok(milliseconds.next().expect("there are nine copies")));
        assert_eq!(speed, Ok(2000.0 / 0.004));
        let stopped_clock = measure(1000, || Ok(Duration::ZERO));
        assert!(stopped_clock.is_ok_and(f64::is_finite));
    }

    #[test]
    fn only_finite_positive_numbers_are_speeds() {
        assert_eq!(parse(b"4.3e12"), Some(4.3e12));
        for text in ["", "fast", "0", "-4", "inf", "NaN", "\u{fffd}"] {
            assert_eq!(parse(text.as_bytes()), None, "{text}");
        }
    }
}
