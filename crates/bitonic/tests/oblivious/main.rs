//! Oblivious mode, checked in the machine code that ships: no branch and no address depends on a key.
//!
//! Both checks build the example `oblivious_probe` in the release profile and look at what the compiler made of the
//! sorts, because it is the compiler that decides whether a comparison becomes a selection or a jump.
//!
//! - [`memcheck`] runs the sorts under valgrind with their keys and values marked undefined. Memcheck then reports every
//!   conditional jump and every address that depends on them. Every key type, order and kind of sort, from no keys
//!   to some tiles, on one thread and on two, with every instruction set that valgrind can run.
//! - [`avx512`] covers the kernels that valgrind cannot run: it follows keys through the disassembled functions ([`flow`]).
//!   The code around them, which hands out pieces of arrays and never looks at a key, is the same for all instruction sets
//!   and runs under valgrind, with keys of up to 64 bits: those of 128 bits have kernels on AVX-512 alone.
//!
//! Each check is also applied to something that does depend on keys and has to be caught there.
//!
//! # What this does not show
//!
//! - Lengths, types, options and the addresses of the arrays are public, and so are the lengths asked of the allocator.
//! - The processor is taken at its word: that minima, selections, masked stores, multiplications and shifts take the same
//!   time for all operands. Effects below the instruction set (power, frequency, speculation, prefetchers that look at
//!   data) are out of reach. So are the kernel and the C library; of the latter the kernels call `memcpy` alone.
//! - Another compiler, profile or target may make other code of the same source: the checks speak of the build they ran
//!   on, and have to run again for another. Code compiled for processors with AVX-512 only (`-C target-cpu`) does not
//!   run under valgrind.
//!
//! Valgrind and binutils have to be installed; a check that cannot run fails.

#![cfg(all(target_arch = "x86_64", target_os = "linux", not(miri)))]

mod avx512;
mod effects;
mod flow;
mod inlining;
mod machine_code;
mod memcheck;
mod snippets;

use std::path::PathBuf;
use std::process::Command;

/// Builds the probe as it would be shipped and returns where it is.
fn build_probe() -> PathBuf {
    let mut build = Command::new(env!("CARGO"));
    build.args(["build", "--release", "--locked", "--message-format=json-render-diagnostics"]);
    build.args(["--package", env!("CARGO_PKG_NAME"), "--example", "oblivious_probe"]);
    // The machine code is found by the names of its functions.
    build.args(["--config", "profile.release.strip=false"]);
    build.current_dir(env!("CARGO_MANIFEST_DIR"));
    let messages = standard_output(&mut build, "cargo comes with Rust: https://rustup.rs");
    let path = messages.lines().filter_map(|message| message.split_once(r#""executable":""#)).next_back();
    let (path, _) =
        path.and_then(|(_, rest)| rest.split_once('"')).expect("cargo names the executable it built");
    PathBuf::from(path)
}

/// What a successful command prints.
fn standard_output(command: &mut Command, how_to_install: &str) -> String {
    let output = output(command, how_to_install);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {}\n{errors}", output.status);
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Runs a command; that it is missing is a failure, not a reason to skip the check.
fn output(command: &mut Command, how_to_install: &str) -> std::process::Output {
    let result = command.output();
    result.unwrap_or_else(|error| {
        panic!("{:?} did not start ({error}): {how_to_install}", command.get_program())
    })
}
