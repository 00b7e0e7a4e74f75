//! The sorts under valgrind's memcheck, their keys marked undefined.

use crate::{build_probe, output};
use bitonic::Instructions;
use std::path::Path;
use std::process::{Command, Output};

/// The exit status of a run in which memcheck reported something: none that the probe itself has.
const ERRORS_FOUND: i32 = 99;

#[test]
fn no_jump_and_no_address_of_an_oblivious_sort_depends_on_a_key() {
    let cases = clean_cases("oblivious");
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

#[test]
fn values_of_every_size_and_shape_move_without_showing_where() {
    let cases = clean_cases("values");
    for kind in ["[u8; 1],", "[u8; 64],", "[u64; 64],", "Padded", "&u64"] {
        assert!(cases.iter().any(|(case, _)| case.contains(kind)), "no case with {kind}");
    }
}

/// The probe's cases, none of which may have caused an error.
fn clean_cases(argument: &str) -> Vec<(String, usize)> {
    let output = probe(argument);
    let cases = cases(&output);
    let leaking: Vec<_> = cases.iter().filter(|(_, errors)| *errors > 0).collect();
    let report = String::from_utf8_lossy(&output.stderr);
    let report: String = report.chars().take(20_000).collect();
    assert!(leaking.is_empty(), "{} of {} cases leak: {leaking:#?}\n{report}", leaking.len(), cases.len());
    assert!(output.status.success(), "the probe ended with {}:\n{report}", output.status);
    cases
}

#[test]
fn the_addresses_that_are_accessed_are_the_same_for_all_keys() {
    let probe = build_probe();
    let first = trace(&probe, "trace", "1");
    assert!(first == trace(&probe, "trace", "2"), "addresses or instructions depend on the keys");
    let control = ["1", "2"].map(|number| trace(&probe, "trace-control", number));
    assert!(control[0] != control[1], "the trace shows nothing");
}

/// Every instruction and every access to memory of the sorts in one run of the probe, a line for each.
fn trace(probe: &Path, argument: &str, number: &str) -> Vec<String> {
    let mut valgrind = Command::new("valgrind");
    valgrind.args(["--tool=lackey", "--trace-mem=yes", "--basic-counts=no"]);
    valgrind.arg(probe).args([argument, number]);
    let output =
        output(&mut valgrind, "install it, on Debian and Ubuntu with 'sudo apt-get install valgrind'");
    assert!(output.status.success(), "the probe ended with {}", output.status);
    // The probe prints the address of a number that it writes to before and after every sort.
    let address = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    let is_mark =
        |line: &&str| line.trim_start_matches([' ', 'S', 'L', 'M', '0']).split(',').next() == Some(&address);
    let text = String::from_utf8_lossy(&output.stderr);
    let lines: Vec<&str> = text.lines().filter(|line| !line.starts_with("==")).collect();
    let first = lines.iter().position(&is_mark).expect("the trace has the beginning of the sorts");
    let last = lines.iter().rposition(is_mark).expect("the trace has the end of the sorts");
    assert!(last - first > 10_000, "{} lines are no trace", last - first);
    lines[first..last].iter().map(|&line| line.to_owned()).collect()
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
