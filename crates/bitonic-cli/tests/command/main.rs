//! The `bitonic` command from the outside: the real binary, its output, its exit codes and its messages.

mod bench;
mod completions;
mod devices;
mod explain;
mod explore;
mod lab;
mod ladder;
mod mistakes;
mod network;
mod sort;
mod tune;

use assert_cmd::Command;
use std::path::PathBuf;

/// The command with these arguments.
fn bitonic<'a>(arguments: impl IntoIterator<Item = &'a str>) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_bitonic"));
    command.args(arguments).env_remove("BITONIC_INSTRUCTIONS");
    // Kernels built by one test serve the others, and what the user has tuned does not count.
    command.env("BITONIC_CACHE_DIR", concat!(env!("CARGO_TARGET_TMPDIR"), "/cache"));
    command
}

/// The sub-command's name before its arguments.
fn with_name<'a, const N: usize>(name: &'a str, arguments: [&'a str; N]) -> impl Iterator<Item = &'a str> {
    [name].into_iter().chain(arguments)
}

/// What the command prints. It must succeed and say nothing else.
fn printed(mut command: Command) -> String {
    let done = command.assert().success().stderr("");
    String::from_utf8(done.get_output().stdout.clone()).unwrap()
}

/// The one line that the command says on standard error, without its own name; it must fail with exit code 2 and
/// print nothing.
fn refused(mut command: Command) -> String {
    let done = command.assert().code(2).stdout("");
    one_line(&done.get_output().stderr)
}

/// The command where no OpenCL driver is installed.
fn without_driver<'a>(arguments: impl IntoIterator<Item = &'a str>) -> Command {
    let mut command = bitonic(arguments);
    command.env("OCL_ICD_VENDORS", "/nonexistent");
    command
}

/// A message without the command's name.
fn one_line(stderr: &[u8]) -> String {
    let message = String::from_utf8(stderr.to_vec()).unwrap();
    assert_eq!(message.lines().count(), 1, "{message}");
    let message = message.strip_prefix("bitonic: ").expect("messages begin with the command's name");
    message.trim_end().to_owned()
}

/// A directory of its own for a test.
struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Writes a file and gives its path as an argument.
    fn file(&self, name: &str, content: impl AsRef<[u8]>) -> String {
        std::fs::write(self.path(name), content).unwrap();
        self.argument(name)
    }

    fn argument(&self, name: &str) -> String {
        self.path(name).to_str().unwrap().to_owned()
    }

    fn read(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.path(name)).unwrap()
    }

    /// The names of all files, sorted: nothing may be left over.
    fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.0.path()).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}
