//! Notes which compiler builds the benchmark: it is part of what a result was measured with.

use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let version = std::env::var_os("RUSTC")
        .and_then(|compiler| Command::new(compiler).arg("--version").output().ok())
        .map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned())
        .filter(|version| !version.is_empty())
        .unwrap_or_else(|| "rustc of unknown version".to_owned());
    println!("cargo::rustc-env=BITONIC_BENCH_COMPILER={version}");
}
