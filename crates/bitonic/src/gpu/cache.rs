//! What is kept on disk between runs: built programs, measured speeds.
//!
//! A cache never fails. Whatever is wrong with an entry or with the folder, the answer is that nothing was found, and
//! the caller makes the thing again.
//!
//! # Who is trusted
//!
//! A kept program is run, and a kept measurement decides how a sort runs. So an entry counts only if nobody but this user and
//! the system's administrator can have written it: folder and file belong to one of the two, and nobody else may write to
//! them. Others are ignored, with a warning. Hashes tell damage and mistaken identity, and bind an entry to what it was made
//! from; they are no secret, and keep nobody out.

use sha2::{Digest, Sha256};
use std::ffi::OsString;
use std::fs::File;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::{env, fs, io};

/// The variable that names the folder. Empty: nothing is kept.
const DIRECTORY_VARIABLE: &str = "BITONIC_CACHE_DIR";

/// The first line of every entry. The number changes with the layout of the file.
const MAGIC: &str = "bitonic cache entry 2\n";

/// Which library wrote an entry: another one may understand a key or a payload in another way.
const BUILD: &str = concat!(env!("CARGO_PKG_NAME"), " ", env!("CARGO_PKG_VERSION"));

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
        None => Some(directories::ProjectDirs::from("", "", "bitonic")?.cache_dir().to_owned()),
    }
}

/// A folder of entries, or none.
///
/// An entry is a file: a first line that says what it is, a hash of the key and of this library's version, a hash of both and
/// the payload, the payload. Keys have all that a payload depends on: source, options, device, driver.
#[derive(Debug)]
pub(crate) struct Cache {
    directory: Option<PathBuf>,
}

impl Cache {
    /// The folder that the user's settings say.
    pub(crate) fn of_user() -> Self {
        Self { directory: cache_folder() }
    }

    /// What was stored under this key, if it is whole, and nobody else can have written it.
    pub(crate) fn load(&self, name: &str, key: &str) -> Option<Vec<u8>> {
        let path = self.path(name, key)?;
        let entry = match read_trusted(&path) {
            Ok(entry) => entry?,
            Err(error) => {
                tracing::debug!(path = %path.display(), %error, "cache entry cannot be read");
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
            Ok(written) => written,
            Err(error) => {
                tracing::debug!(path = %path.display(), %error, "cache entry cannot be written; going on without");
                false
            }
        }
    }

    /// The files of all entries of a name, whatever their keys, in the order of their names.
    pub(crate) fn files(&self, name: &str) -> Vec<PathBuf> {
        let Some(entries) = self.directory.as_ref().and_then(|folder| fs::read_dir(folder).ok()) else {
            return Vec::new();
        };
        let start = format!("{}-", plain(name));
        let is_entry = |path: &PathBuf| {
            let hash = path.file_name().and_then(|name| name.to_str()?.strip_prefix(&start));
            hash.is_some_and(|hash| hash.len() == HASH_IN_NAME && hash.bytes().all(|c| c.is_ascii_hexdigit()))
        };
        let mut files: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).filter(is_entry).collect();
        files.sort();
        files
    }

    /// What a file has that [`Cache::files`] found, if it is whole, and nobody else can have written it.
    pub(crate) fn load_file(path: &Path) -> Option<Vec<u8>> {
        let entry = read_trusted(path).ok()??;
        let key = entry.strip_prefix(MAGIC.as_bytes())?.split(|&byte| byte == b'\n').next()?;
        payload_behind(&entry, std::str::from_utf8(key).ok()?).map(<[u8]>::to_vec)
    }

    fn path(&self, name: &str, key: &str) -> Option<PathBuf> {
        let hash = &hash_of_key(key)[..HASH_IN_NAME];
        Some(self.directory.as_ref()?.join(format!("{}-{hash}", plain(name))))
    }
}

/// The digits of a key's hash in the name of its file.
const HASH_IN_NAME: usize = 32;

/// A name that every file system takes.
fn plain(name: &str) -> String {
    name.chars().map(|c| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' }).collect()
}

fn entry_of(key: &str, payload: &[u8]) -> Vec<u8> {
    let key = hash_of_key(key);
    let mut entry = format!("{MAGIC}{key}\n{}\n", hash_of_payload(&key, payload)).into_bytes();
    entry.extend_from_slice(payload);
    entry
}

fn payload_of<'a>(entry: &'a [u8], key: &str) -> Option<&'a [u8]> {
    payload_behind(entry, &hash_of_key(key))
}

/// The payload of an entry whose key has this hash.
fn payload_behind<'a>(entry: &'a [u8], key: &str) -> Option<&'a [u8]> {
    let rest = entry.strip_prefix(MAGIC.as_bytes())?.strip_prefix(key.as_bytes())?.strip_prefix(b"\n")?;
    let (hash, rest) = rest.split_at_checked(key.len())?;
    let payload = rest.strip_prefix(b"\n")?;
    (hash == hash_of_payload(key, payload).as_bytes()).then_some(payload)
}

fn hash_of_key(key: &str) -> String {
    hash(&[BUILD.as_bytes(), b"\n", key.as_bytes()])
}

fn hash_of_payload(key: &str, payload: &[u8]) -> String {
    hash(&[key.as_bytes(), b"\n", payload])
}

/// SHA-256 of all parts after one another, in hexadecimal digits.
fn hash(parts: &[&[u8]]) -> String {
    let mut hasher = Sha256::new();
    parts.iter().for_each(|part| hasher.update(part));
    hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The bytes of a file; `None` if there is none, or others can have written it.
fn read_trusted(path: &Path) -> io::Result<Option<Vec<u8>>> {
    if !path.parent().is_some_and(is_trusted) {
        return Ok(None);
    }
    let mut options = File::options();
    options.read(true);
    #[cfg(unix)]
    {
        use rustix::fs::OFlags;
        // A link would be followed to files of others, and a pipe would be waited for.
        let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
        std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, flags.bits().cast_signed());
    }
    let mut file = match options.open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    // Of the file that was opened: another one may take its name meanwhile.
    let about = file.metadata()?;
    if !about.is_file() || !only_owner_writes(path, &about) {
        return Ok(None);
    }
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    Ok(Some(bytes))
}

/// Writes beside the file and renames, so that no reader, and no second writer, ever sees half an entry. Whether that was done: a
/// folder that others write to is left alone.
fn write_whole(path: &Path, contents: &[u8]) -> io::Result<bool> {
    let folder = path.parent().ok_or(io::ErrorKind::NotFound)?;
    create_private(folder)?;
    if !is_trusted(folder) {
        return Ok(false);
    }
    // For this user alone, under a name that nobody can foresee.
    let mut beside = tempfile::Builder::new().prefix(".new-").tempfile_in(folder)?;
    beside.write_all(contents)?;
    beside.persist(path).map_err(|error| error.error)?;
    Ok(true)
}

/// Makes a folder that is this user's alone, if there is none.
fn create_private(folder: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

/// Whether a file or folder is there that nobody but this user and the system's administrator can have written. If it is another
/// one's, there is a warning. For the `bitonic` command, which keeps programs in the same folder.
#[doc(hidden)]
pub fn is_trusted(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|about| only_owner_writes(path, &about))
}

#[cfg(unix)]
fn only_owner_writes(path: &Path, about: &fs::Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    /// Those who may write besides the owner: the group and all others.
    const WRITABLE_BY_OTHERS: u32 = 0o022;
    let is_ours = [0, rustix::process::geteuid().as_raw()].contains(&about.uid());
    let only_owner = about.mode() & WRITABLE_BY_OTHERS == 0;
    if !is_ours || !only_owner {
        let why = if is_ours { "others may write to it" } else { "it belongs to another user" };
        tracing::warn!(
            path = %path.display(),
            why,
            "the cache is ignored: remove it, or name a folder of your own in BITONIC_CACHE_DIR"
        );
    }
    is_ours && only_owner
}

/// Elsewhere a user's cache folder is the user's by inheritance.
#[cfg(not(unix))]
fn only_owner_writes(_: &Path, _: &fs::Metadata) -> bool {
    true
}

#[cfg(test)]
pub(crate) mod testing {
    use super::*;

    /// A folder for one test, removed with it.
    pub(crate) struct TestDirectory {
        pub(super) path: PathBuf,
    }

    impl TestDirectory {
        /// `test` is a name that no other test uses.
        pub(crate) fn new(test: &str) -> Self {
            let path = env::temp_dir().join(format!("bitonic-{test}-{}", std::process::id()));
            create_private(&path).expect("the folder for temporary files can be written");
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
    fn another_key_is_another_entry() {
        let entry = entry_of("key", PAYLOAD);
        for key in ["", "ke", "kez", "key\n", "key "] {
            assert_eq!(payload_of(&entry, key), None, "{key:?}");
        }
    }

    #[test]
    fn a_payload_moved_to_another_key_is_noticed() {
        let (one, other) = (entry_of("one", PAYLOAD), entry_of("other", PAYLOAD));
        let key_ends = MAGIC.len() + 64;
        let forged = [&other[..key_ends], &one[key_ends..]].concat();
        assert_eq!(payload_of(&forged, "other"), None);
    }

    #[test]
    fn the_files_of_a_name_are_found_and_read_without_their_keys() {
        let directory = TestDirectory::new("cache-files");
        let cache = directory.cache();
        assert!(cache.store("kernel", "one", PAYLOAD) && cache.store("kernel-2", "one", b"another's"));
        fs::write(directory.path.join("kernel-notes"), "not an entry").expect("the folder can be written");
        let files = cache.files("kernel");
        assert_eq!(files, [cache.path("kernel", "one").expect("this cache has a folder")]);
        assert_eq!(Cache::load_file(&files[0]).as_deref(), Some(PAYLOAD));
        fs::write(&files[0], "garbage").expect("the entry can be written");
        assert_eq!(Cache::load_file(&files[0]), None);
        assert!(Cache { directory: None }.files("kernel").is_empty());
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
    fn the_hash_is_sha_256() {
        let expected = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(hash(&[b"a", b"bc"]), expected);
    }

    #[cfg(unix)]
    mod hostile {
        use super::*;
        use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink};

        fn set_mode(path: &Path, mode: u32) {
            fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("the file is the test's own");
        }

        fn mode(path: &Path) -> u32 {
            fs::metadata(path).expect("it is there").mode() & 0o777
        }

        #[test]
        fn folder_and_entries_are_the_users_alone() {
            let directory = TestDirectory::new("cache-private");
            let cache = Cache { directory: Some(directory.path.join("new/folder")) };
            assert!(cache.store("kernel", "key", PAYLOAD));
            let path = cache.path("kernel", "key").expect("this cache has a folder");
            assert_eq!((mode(&directory.path.join("new/folder")), mode(&path)), (0o700, 0o600));
        }

        #[test]
        fn what_others_may_write_is_not_found() {
            let directory = TestDirectory::new("cache-writable");
            let cache = directory.cache();
            assert!(cache.store("kernel", "key", PAYLOAD));
            let path = cache.path("kernel", "key").expect("this cache has a folder");
            for (target, safe) in [(&directory.path, 0o755), (&path, 0o644)] {
                for writable in [0o020, 0o002] {
                    set_mode(target, safe | writable);
                    assert_eq!(cache.load("kernel", "key"), None, "{}", target.display());
                }
                set_mode(target, safe);
                assert_eq!(cache.load("kernel", "key").as_deref(), Some(PAYLOAD));
            }
        }

        #[test]
        fn nothing_is_written_to_a_folder_of_all() {
            let directory = TestDirectory::new("cache-shared");
            set_mode(&directory.path, 0o777);
            assert!(!directory.cache().store("kernel", "key", PAYLOAD));
            assert!(directory.files().is_empty());
        }

        #[test]
        fn what_belongs_to_another_user_is_not_found() {
            if !rustix::process::geteuid().is_root() {
                println!("skipped: what_belongs_to_another_user_is_not_found: only root can give files away");
                return;
            }
            let directory = TestDirectory::new("cache-foreign");
            let cache = directory.cache();
            assert!(cache.store("kernel", "key", PAYLOAD));
            let path = cache.path("kernel", "key").expect("this cache has a folder");
            for target in [&directory.path, &path] {
                chown(target, Some(1234), None).expect("root may give files away");
                assert_eq!(cache.load("kernel", "key"), None, "{}", target.display());
                chown(target, Some(0), None).expect("root may take files");
            }
            assert_eq!(cache.load("kernel", "key").as_deref(), Some(PAYLOAD));
        }

        #[test]
        fn links_and_pipes_are_no_entries() {
            let directory = TestDirectory::new("cache-links");
            let cache = directory.cache();
            let path = cache.path("kernel", "key").expect("this cache has a folder");
            let elsewhere = directory.path.join("elsewhere");
            fs::write(&elsewhere, entry_of("key", PAYLOAD)).expect("the folder can be written");
            symlink(&elsewhere, &path).expect("the folder can be written");
            assert_eq!(cache.load("kernel", "key"), None);
            fs::remove_file(&path).expect("the link can be removed");
            let pipe = rustix::fs::FileType::Fifo;
            let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
            rustix::fs::mknodat(rustix::fs::CWD, &path, pipe, mode, 0).expect("the folder can be written");
            assert_eq!(cache.load("kernel", "key"), None);
        }
    }
}
