//! A test once more, in a process of its own: drivers and settings are read once in a process, so that no test could change
//! its own.

use std::env;
use std::ffi::OsStr;
use std::process::Command;

/// The variable that says so to the second process.
const CHILD: &str = "BITONIC_TEST_CHILD";

/// Whether this is the second process.
pub fn is_child() -> bool {
    env::var_os(CHILD).is_some()
}

/// Runs the test of this name once more in a process of its own, with these variables, and returns whether it did; in
/// that process it does nothing.
///
/// ```no_run
/// #[test]
/// fn without_a_driver_nothing_happens() {
///     if bitonic_testkit::in_child("without_a_driver_nothing_happens", &[("OCL_ICD_VENDORS", "/nonexistent")]) {
///         return;
///     }
///     // .. what is to be seen without a driver.
/// }
/// # fn main() {}
/// ```
///
/// # Panics
///
/// If the test fails there, or there is no such test; with all that it said.
pub fn in_child<S: AsRef<OsStr>>(test: &str, variables: &[(&str, S)]) -> bool {
    if is_child() {
        return false;
    }
    let program = env::current_exe().expect("a test knows its own program");
    let mut command = Command::new(program);
    command.args(["--exact", test, "--nocapture"]).env(CHILD, "1");
    command.envs(variables.iter().map(|(name, value)| (name, value)));
    let output = command.output().expect("the program runs, for it does already");
    let text = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && text.contains("1 passed"), "{test} in a process of its own:\n{text}");
    true
}
