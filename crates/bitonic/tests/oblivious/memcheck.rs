//! The sorts under valgrind's memcheck, their keys marked undefined.

use crate::{build_probe, output};
use bitonic::Instructions;
use std::process::{Command, Output};

/// The exit status of a run in which memcheck reported something: none that the probe itself has.
const ERRORS_FOUND: i32 = 99;

#[test]
fn no_jump_and_no_address_of_an_oblivious_sort_depends_on_a_key() {
    let output = probe("oblivious");
    let cases = cases(&output);
    let leaking: Vec<_> = cases.iter().filter(|(_, errors)| *errors > 0).map(|(case, _)| case).collect();
    let report = String::from_utf8_lossy(&output.stderr);
    assert!(leaking.is_empty(), "{} of {} cases leak: {leaking:#?}\n{report}", leaking.len(), cases.len());
    assert!(output.status.success(), "the probe ended with {}:\n{report}", output.status);
    for instructions in Instructions::ALL {
        // Valgrind hides what it cannot run; `avx512` looks at that in another way.
        let is_covered = cases.iter().any(|(case, _)| case.starts_with(instructions.name()));
        let is_expected = instructions.is_available() && instructions.name() != "avx512";
        assert!(is_covered || !is_expected, "nothing was sorted with {instructions}");
    }
}

#[test]
fn the_same_check_catches_the_standard_sort_for_every_key_type() {
    let output = probe("control");
    assert_eq!(output.status.code(), Some(ERRORS_FOUND), "{}", String::from_utf8_lossy(&output.stderr));
    for (case, errors) in cases(&output) {
        assert!(errors > 0, "{case}: no error, so the marks do not work");
    }
}

fn probe(argument: &str) -> Output {
    let mut valgrind = Command::new("valgrind");
    // Without a limit to the number of errors; beyond one, valgrind no longer counts.
    valgrind.args(["--tool=memcheck", "--quiet", "--error-limit=no", "--num-callers=20"]);
    valgrind.arg(format!("--error-exitcode={ERRORS_FOUND}")).arg(build_probe()).arg(argument);
    output(&mut valgrind, "install it, on Debian and Ubuntu with 'sudo apt-get install valgrind'")
}

/// The probe's lines: what was sorted, and how many errors memcheck found in it.
fn cases(output: &Output) -> Vec<(String, usize)> {
    let text = String::from_utf8_lossy(&output.stdout);
    let cases: Vec<_> = text
        .lines()
        .map(|line| line.rsplit_once(": ").expect("a case and a number"))
        .map(|(case, errors)| (case.to_owned(), errors.parse().expect("a number of errors")))
        .collect();
    assert!(!cases.is_empty(), "nothing ran: {}", String::from_utf8_lossy(&output.stderr));
    cases
}
