//! What the command leaves behind when something goes wrong: full disks, signals, hostile caches, several at once.
//!
//! Every case looks at the data afterwards: a file has its old content or the complete new one, nobody else could read it
//! meanwhile, and nothing is left beside it.

#![cfg(target_os = "linux")]

mod caches;
mod disks;
mod external;
mod links;
mod privacy;
mod runs;
mod signals;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The command, with no cache but its own.
fn bitonic(folder: &Folder) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_bitonic"));
    command.env("BITONIC_CACHE_DIR", folder.path().join("cache")).env_remove("BITONIC_INSTRUCTIONS");
    command
}

/// The command as a line of a shell, where it has to be started by one.
const BITONIC: &str = env!("CARGO_BIN_EXE_bitonic");

fn shell(script: &str) -> Output {
    Command::new("sh").args(["-c", script]).output().expect("every Linux has a shell")
}

/// Whether this user may make file systems of their own: tests that need one are skipped elsewhere, and say so.
fn has_own_mounts(test: &str) -> bool {
    let has = shell("unshare --mount true").status.success();
    if !has {
        println!("skipped: {test}: this user may not mount file systems");
    }
    has
}

/// What a command said on standard error.
fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// A folder of its own for a test, and a file of keys in it.
struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    /// Writes a file of this many keys in no order, and gives its path.
    fn keys(&self, name: &str, count: u32) -> PathBuf {
        let path = self.path().join(name);
        fs::write(&path, unsorted(count)).unwrap();
        path
    }

    /// The names of all files but those of the cache, sorted.
    fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.path()).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<String> = names.filter(|name| name != "cache").collect();
        names.sort();
        names
    }
}

/// The keys 0, 1, .. in an order that is far from sorted, a line for each.
fn unsorted(count: u32) -> String {
    // Odd, so that every place below a power of two comes once.
    let scattered =
        (0..count.next_power_of_two()).map(|at| at.wrapping_mul(0x9E37_79B1) % count.next_power_of_two());
    lines(scattered.filter(|&key| key < count))
}

fn sorted(count: u32) -> String {
    lines(0..count)
}

fn lines(keys: impl Iterator<Item = u32>) -> String {
    keys.map(|key| format!("{key}\n")).collect()
}

/// The file has its old content or the complete new one.
fn assert_whole(path: &Path, count: u32, case: &str) {
    let content =
        fs::read_to_string(path).unwrap_or_else(|error| panic!("{case}: the file is lost: {error}"));
    assert!(
        content == unsorted(count) || content == sorted(count),
        "{case}: the file is neither old nor new"
    );
}
