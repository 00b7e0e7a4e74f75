//! `bitonic sort` from the outside: the real binary, its output, its exit codes and its messages.

mod check;
mod formats;
mod mistakes;
mod output;
mod random;
mod text;

use assert_cmd::Command;
use std::path::{Path, PathBuf};

/// `bitonic sort` with these arguments.
fn sort<const N: usize>(arguments: [&str; N]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_bitonic"));
    command.arg("sort").args(arguments);
    command
}

/// What the command prints for this standard input. It must succeed and say nothing else.
fn sorted<const N: usize>(arguments: [&str; N], input: &str) -> String {
    let done = sort(arguments).write_stdin(input).assert().success().stderr("");
    String::from_utf8(done.get_output().stdout.clone()).unwrap()
}

/// The one line that the command says on standard error; it must fail with exit code 2 and print nothing.
fn refused<const N: usize>(arguments: [&str; N], input: impl Into<Vec<u8>>) -> String {
    let done = sort(arguments).write_stdin(input.into()).assert().code(2).stdout("");
    let message = String::from_utf8(done.get_output().stderr.clone()).unwrap();
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

/// A `.npy` file as NumPy writes it.
fn npy(descr: &str, shape: &str, data: &[u8]) -> Vec<u8> {
    let mut header = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}");
    while (10 + header.len() + 1) % 64 != 0 {
        header.push(' ');
    }
    header.push('\n');
    let length = (header.len() as u16).to_le_bytes();
    [b"\x93NUMPY\x01\x00", &length[..], header.as_bytes(), data].concat()
}

fn exists(path: &Path) -> bool {
    path.symlink_metadata().is_ok()
}
