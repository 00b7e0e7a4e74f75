//! That there is no device here that could be compared with the CPU.

use crate::gpu::cache::Cache;
use std::path::PathBuf;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// That a look for devices found none, kept for a day, so that not every process loads every driver.
pub(crate) struct NoDevice;

impl NoDevice {
    const NAME: &'static str = "no-device";
    const KEY: &'static str = "seconds since 1970";
    const RECENT: Duration = Duration::from_secs(86_400);

    /// The files that say so.
    pub(crate) fn files(cache: &Cache) -> Vec<PathBuf> {
        cache.files(Self::NAME)
    }

    pub(crate) fn note(cache: &Cache) {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        cache.store(Self::NAME, Self::KEY, now.as_secs().to_string().as_bytes());
    }

    pub(crate) fn is_recent(cache: &Cache) -> bool {
        let seconds = |payload: Vec<u8>| std::str::from_utf8(&payload).ok()?.parse().ok();
        let Some(when) = cache.load(Self::NAME, Self::KEY).and_then(seconds) else { return false };
        let age = UNIX_EPOCH.checked_add(Duration::from_secs(when)).map(|when| when.elapsed());
        // What lies in the future was written by a clock that was wrong.
        matches!(age, Some(Ok(age)) if age < Self::RECENT)
    }
}

#[cfg(all(test, feature = "devices"))]
mod tests {
    use super::*;
    use crate::gpu::cache::testing::TestDirectory;

    #[test]
    fn that_there_is_no_device_is_known_for_a_day() {
        let directory = TestDirectory::new("no-device");
        let cache = directory.cache();
        assert!(!NoDevice::is_recent(&cache));
        NoDevice::note(&cache);
        assert!(NoDevice::is_recent(&cache));
        for old in ["1000", "99999999999999999", "yesterday"] {
            cache.store(NoDevice::NAME, NoDevice::KEY, old.as_bytes());
            assert!(!NoDevice::is_recent(&cache), "{old}");
        }
    }
}
