//! `bitonic sort`.

mod check;
mod device;
mod external;
mod formats;
mod lines;
mod mistakes;
mod output;
mod parquet;
mod random;
mod rows;
mod text;
mod written;

use crate::{Folder, bitonic, with_name};
use assert_cmd::Command;

/// `bitonic sort` with these arguments.
fn sort<const N: usize>(arguments: [&str; N]) -> Command {
    bitonic(with_name("sort", arguments))
}

/// What the command prints for this standard input. It must succeed and say nothing else.
fn sorted<const N: usize>(arguments: [&str; N], input: &str) -> String {
    let mut command = sort(arguments);
    command.write_stdin(input);
    crate::printed(command)
}

/// The one line that the command says of this standard input.
fn refused<const N: usize>(arguments: [&str; N], input: impl Into<Vec<u8>>) -> String {
    let mut command = sort(arguments);
    command.write_stdin(input.into());
    crate::refused(command)
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
