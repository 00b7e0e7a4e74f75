//! What is kept on disk between runs: built programs, measured speeds.
//!
//! A cache never fails. Whatever is wrong with an entry or with the folder, the answer is that nothing was found, and
//! the caller makes the thing again.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::{env, fs, io, process};

/// The variable that names the folder. Empty: nothing is kept.
const DIRECTORY_VARIABLE: &str = "BITONIC_CACHE_DIR";

/// The first line of every entry. The number changes with the layout of the file.
const MAGIC: &str = "bitonic cache entry 1\n";

/// The folder that built kernels and what was measured on devices are kept in: the one that the variable `BITONIC_CACHE_DIR`
/// names, else the user's cache folder for this library. `None` where the variable is empty, or there is no such folder: then
/// nothing is kept. It need not exist; whoever writes there makes it. Asks for the settings every time, and touches no disk.
///
/// ```
/// match bitonic::cache_folder() {
///     Some(folder) => println!("built kernels are kept in {}", folder.display()),
///     None => println!("kernels are built anew in every process"),
/// }
/// ```
pub fn cache_folder() -> Option<PathBuf> {
    folder_by_setting(env::var_os(DIRECTORY_VARIABLE))
}

fn folder_by_setting(setting: Option<OsString>) -> Option<PathBuf> {
    match setting {
        Some(folder) => (!folder.is_empty()).then(|| folder.into()),
        None => folder_of_user(),
    }
}

/// The user's cache folder for this library. Without a backend there is nothing to keep.
fn folder_of_user() -> Option<PathBuf> {
    #[cfg(any(feature = "opencl", feature = "cuda"))]
    return Some(directories::ProjectDirs::from("", "", "bitonic")?.cache_dir().to_owned());
    #[cfg(not(any(feature = "opencl", feature = "cuda")))]
    None
}

/// A folder of entries, or none.
///
/// An entry is a file: a first line that says what it is, the whole key, the payload's checksum, the payload. Its name
/// has only a hash of the key; the key inside decides.
#[derive(Debug)]
pub(crate) struct Cache {
    directory: Option<PathBuf>,
}

impl Cache {
    /// The folder that the user's settings say.
    pub(crate) fn of_user() -> Self {
        Self { directory: cache_folder() }
    }

    /// What was stored under this key, if it is whole.
    pub(crate) fn load(&self, name: &str, key: &str) -> Option<Vec<u8>> {
        let path = self.path(name, key)?;
        let entry = match fs::read(&path) {
            Ok(entry) => entry,
            Err(error) => {
                if error.kind() != io::ErrorKind::NotFound {
                    tracing::debug!(path = %path.display(), %error, "cache entry cannot be read");
                }
                return None;
            }
        };
        let payload = payload_of(&entry, key);
        if payload.is_none() {
            tracing::debug!(path = %path.display(), "cache entry is damaged or of another key");
        }
        payload.map(<[u8]>::to_vec)
    }

    /// Stores a payload under a key, in place of what was there; whether that worked, for those who want to tell.
    pub(crate) fn store(&self, name: &str, key: &str, payload: &[u8]) -> bool {
        let Some(path) = self.path(name, key) else { return false };
        match write_whole(&path, &entry_of(key, payload)) {
            Ok(()) => true,
            Err(error) => {
                tracing::debug!(path = %path.display(), %error, "cache entry cannot be written; going on without");
                false
            }
        }
    }

    fn path(&self, name: &str, key: &str) -> Option<PathBuf> {
        let plain: String =
            name.chars().map(|c| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' }).collect();
        Some(self.directory.as_ref()?.join(format!("{plain}-{:016x}", fnv_1a(key.as_bytes()))))
    }
}

fn entry_of(key: &str, payload: &[u8]) -> Vec<u8> {
    let mut entry = format!("{MAGIC}{key}\n{:016x}\n", fnv_1a(payload)).into_bytes();
    entry.extend_from_slice(payload);
    entry
}

fn payload_of<'a>(entry: &'a [u8], key: &str) -> Option<&'a [u8]> {
    let rest = entry.strip_prefix(MAGIC.as_bytes())?.strip_prefix(key.as_bytes())?.strip_prefix(b"\n")?;
    let (checksum, rest) = rest.split_at_checked(16)?;
    let payload = rest.strip_prefix(b"\n")?;
    (checksum == format!("{:016x}", fnv_1a(payload)).as_bytes()).then_some(payload)
}

/// Writes beside the file and renames, so that no reader, and no second writer, ever sees half an entry.
fn write_whole(path: &Path, contents: &[u8]) -> io::Result<()> {
    static WRITES: AtomicU64 = AtomicU64::new(0);

    if let Some(directory) = path.parent() {
        fs::create_dir_all(directory)?;
    }
    let write = WRITES.fetch_add(1, Ordering::Relaxed);
    let beside = path.with_extension(format!("{}-{write}.new", process::id()));
    let written = fs::write(&beside, contents).and_then(|()| fs::rename(&beside, path));
    if written.is_err() {
        // Nothing is lost if this fails as well.
        let _ = fs::remove_file(&beside);
    }
    written
}

/// The hash FNV-1a: fixed for all time, unlike the standard library's.
fn fnv_1a(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(0xcbf2_9ce4_8422_2325, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

#[cfg(test)]
pub(crate) mod testing {
    use super::*;

    /// A folder for one test, removed with it.
    pub(crate) struct TestDirectory {
        path: PathBuf,
    }

    impl TestDirectory {
        /// `test` is a name that no other test uses.
        pub(crate) fn new(test: &str) -> Self {
            let path = env::temp_dir().join(format!("bitonic-{test}-{}", process::id()));
            fs::create_dir_all(&path).expect("the folder for temporary files can be written");
            Self { path }
        }

        /// A cache in this folder.
        pub(crate) fn cache(&self) -> Cache {
            Cache { directory: Some(self.path.clone()) }
        }

        /// A cache in a folder that nobody can make, not even root: a file has its name.
        pub(crate) fn unwritable_cache(&self) -> Cache {
            let file = self.path.join("file");
            fs::write(&file, "in the way").expect("the folder was made for this test");
            Cache { directory: Some(file) }
        }

        /// The files in it.
        pub(crate) fn files(&self) -> Vec<PathBuf> {
            let entries = fs::read_dir(&self.path).expect("the folder was made for this test");
            entries.map(|entry| entry.expect("the folder can be read").path()).collect()
        }
    }

    impl Drop for TestDirectory {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::testing::TestDirectory;
    use super::*;

    const PAYLOAD: &[u8] = b"\x7fELF\n\0 and so on";

    #[test]
    fn what_was_stored_is_found_again_under_its_key_only() {
        let directory = TestDirectory::new("cache-key");
        let cache = directory.cache();
        assert_eq!(cache.load("kernel", "key"), None);
        cache.store("kernel", "key", PAYLOAD);
        assert_eq!(cache.load("kernel", "key").as_deref(), Some(PAYLOAD));
        assert_eq!(cache.load("kernel", "another key"), None);
        assert_eq!(cache.load("another kernel", "key"), None);
    }

    #[test]
    fn storing_again_replaces_and_leaves_one_file() {
        let directory = TestDirectory::new("cache-replace");
        let cache = directory.cache();
        cache.store("kernel", "key", b"first");
        cache.store("kernel", "key", PAYLOAD);
        assert_eq!(cache.load("kernel", "key").as_deref(), Some(PAYLOAD));
        assert_eq!(directory.files().len(), 1);
    }

    #[test]
    fn every_truncation_and_every_changed_byte_is_noticed() {
        let entry = entry_of("key", PAYLOAD);
        assert_eq!(payload_of(&entry, "key"), Some(PAYLOAD));
        for length in 0..entry.len() {
            assert_eq!(payload_of(&entry[..length], "key"), None, "cut to {length} bytes");
        }
        for place in 0..entry.len() {
            let mut changed = entry.clone();
            changed[place] ^= 1;
            assert_eq!(payload_of(&changed, "key"), None, "byte {place} changed");
        }
    }

    #[test]
    fn a_key_that_shares_the_hash_but_not_the_text_is_another_key() {
        let entry = entry_of("key", PAYLOAD);
        assert_eq!(payload_of(&entry, "ke"), None);
        assert_eq!(payload_of(&entry, "kez"), None);
        assert_eq!(payload_of(&entry, "key\n"), None);
    }

    #[test]
    fn damaged_entries_are_not_found_and_are_replaced() {
        let directory = TestDirectory::new("cache-damaged");
        let cache = directory.cache();
        for garbage in [&b""[..], b"garbage", MAGIC.as_bytes(), &[0xff; 4096]] {
            cache.store("kernel", "key", PAYLOAD);
            for file in directory.files() {
                fs::write(file, garbage).expect("the entry can be written");
            }
            assert_eq!(cache.load("kernel", "key"), None);
            cache.store("kernel", "key", PAYLOAD);
            assert_eq!(cache.load("kernel", "key").as_deref(), Some(PAYLOAD));
        }
    }

    #[test]
    fn a_folder_where_the_entry_should_be_is_no_entry() {
        let directory = TestDirectory::new("cache-folder");
        let cache = directory.cache();
        let path = cache.path("kernel", "key").expect("this cache has a folder");
        fs::create_dir_all(path.join("something")).expect("the folder can be written");
        assert_eq!(cache.load("kernel", "key"), None);
        cache.store("kernel", "key", PAYLOAD);
        assert_eq!(cache.load("kernel", "key"), None);
        assert_eq!(directory.files(), [path], "nothing is left of the attempt");
    }

    #[test]
    fn where_nothing_can_be_written_nothing_is_found() {
        let directory = TestDirectory::new("cache-unwritable");
        let cache = directory.unwritable_cache();
        cache.store("kernel", "key", PAYLOAD);
        assert_eq!(cache.load("kernel", "key"), None);
    }

    #[test]
    fn names_make_plain_file_names() {
        let directory = TestDirectory::new("cache-names");
        let cache = directory.cache();
        cache.store("../tile sort/u32", "key", PAYLOAD);
        let names: Vec<_> = directory
            .files()
            .iter()
            .filter_map(|path| path.file_name()?.to_str().map(str::to_owned))
            .collect();
        assert_eq!(names.len(), 1);
        assert!(names[0].starts_with("___tile_sort_u32-"), "{names:?}");
    }

    #[test]
    fn the_setting_names_the_folder_and_the_empty_setting_turns_the_cache_off() {
        assert_eq!(folder_by_setting(Some("/some/folder".into())), Some("/some/folder".into()));
        let off = Cache { directory: folder_by_setting(Some(OsString::new())) };
        assert_eq!(off.directory, None);
        off.store("kernel", "key", PAYLOAD);
        assert_eq!(off.load("kernel", "key"), None);
    }

    #[test]
    fn the_hash_is_fnv_1a() {
        assert_eq!(fnv_1a(b""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(fnv_1a(b"a"), 0xaf63_dc4c_8601_ec8c);
        assert_eq!(fnv_1a(b"foobar"), 0x8594_4171_f739_67e8);
    }
}
