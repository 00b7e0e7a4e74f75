//! The cache of a build without devices: there is nothing to keep.

use std::path::{Path, PathBuf};

/// The folder that built kernels and what was measured on devices are kept in. This build has no devices, so nothing is kept.
pub fn cache_folder() -> Option<PathBuf> {
    None
}

/// Whether nobody else can have written a file. Nobody asks in this build.
pub fn is_trusted(_: &Path) -> bool {
    false
}

/// A folder of entries; here, none.
pub(crate) struct Cache;

impl Cache {
    pub(crate) fn of_user() -> Self {
        Self
    }

    pub(crate) fn load(&self, _: &str, _: &str) -> Option<Vec<u8>> {
        None
    }

    pub(crate) fn store(&self, _: &str, _: &str, _: &[u8]) -> bool {
        false
    }

    pub(crate) fn files(&self, _: &str) -> Vec<PathBuf> {
        Vec::new()
    }

    pub(crate) fn load_file(_: &Path) -> Option<Vec<u8>> {
        None
    }
}
