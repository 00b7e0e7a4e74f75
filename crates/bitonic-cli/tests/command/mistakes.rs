//! Mistakes on the command line, whoever notices them: one line, exit code 2. And what is no mistake: asking for help.

use crate::{bitonic, printed, refused};

fn says(line: &str) -> String {
    refused(bitonic(line.split(' ')))
}

#[test]
fn an_unknown_command_or_option_gets_the_nearest_known_one() {
    assert_eq!(says("sotr"), "unrecognized subcommand 'sotr': did you mean 'sort'?");
    assert_eq!(says("ladder lits"), "unrecognized subcommand 'lits': did you mean 'list'?");
    assert_eq!(says("sort --revers"), "unexpected argument '--revers' found: did you mean '--reverse'?");
    assert_eq!(says("sort --quickly"), "unexpected argument '--quickly' found: see 'bitonic sort --help'");
}

#[test]
fn what_is_missing_or_too_much_is_named() {
    assert_eq!(
        says("network check"),
        "the following required arguments were not provided: <FILE>: see 'bitonic network check --help'"
    );
    assert_eq!(
        says("network bitonic"),
        "the following required arguments were not provided: <N>: see 'bitonic network --help'"
    );
    assert_eq!(
        says("completions"),
        "the following required arguments were not provided: <SHELL>: see 'bitonic completions --help'"
    );
    assert_eq!(says("devices 3"), "unexpected argument '3' found: see 'bitonic devices --help'");
    assert!(
        says("explain --type").starts_with("a value is required for '--type <TYPE>' but none was supplied ")
    );
}

#[test]
fn a_line_end_in_a_word_makes_no_second_line() {
    let message = refused(bitonic(["sort", "--type", "a\nb"]));
    assert!(message.starts_with("unknown key type 'a\\nb'"), "{message}");
}

#[test]
fn help_and_version_are_no_mistakes() {
    for line in [
        "--help",
        "help sort",
        "sort -h",
        "network --help",
        "ladder run --help",
        "tune -h",
        "bench gpu --help",
    ] {
        assert!(printed(bitonic(line.split(' '))).contains("Usage: bitonic"), "{line}");
    }
    let version = format!("bitonic {}\n", env!("CARGO_PKG_VERSION"));
    assert_eq!(printed(bitonic(["--version"])), version);
}

#[test]
fn nothing_asked_for_is_answered_with_the_help() {
    for arguments in [&[][..], &["network"], &["ladder"], &["bench"]] {
        let done = bitonic(arguments.iter().copied()).assert().code(2).stdout("");
        let said = String::from_utf8_lossy(&done.get_output().stderr).into_owned();
        assert!(said.contains("Usage: bitonic"), "{said}");
    }
}

#[test]
fn the_environment_s_instruction_set_is_read_like_the_option() {
    for arguments in [&["sort", "--random", "10"][..], &["explain"], &["ladder", "run", "recursive"]] {
        let mut command = bitonic(arguments.iter().copied());
        command.env("BITONIC_INSTRUCTIONS", "avx3");
        let message = refused(command);
        assert!(
            message.starts_with("unknown instruction set 'avx3': did you mean 'avx2'? Known: avx512, "),
            "{message}"
        );
    }
    let mut command = bitonic(["devices"]);
    command.env("BITONIC_INSTRUCTIONS", "avx3");
    assert!(refused(command).starts_with("BITONIC_INSTRUCTIONS: unknown instruction set 'avx3'"));
    let mut command = bitonic(["explain"]);
    command.env("BITONIC_INSTRUCTIONS", "portable");
    assert_eq!(printed(command), printed(bitonic(["explain", "--instructions", "portable"])));
}

#[test]
fn an_instruction_set_that_the_processor_lacks_is_refused_and_any_other_sorts_alike() {
    for &set in bitonic::Instructions::ALL {
        let mut command = bitonic(["sort", "--instructions", set.name(), "--threads", "1"]);
        command.write_stdin("3 1 2");
        match set.is_available() {
            true => assert_eq!(printed(command), "1\n2\n3\n"),
            false => assert!(refused(command).contains(&format!("this processor has no {set}"))),
        }
    }
}
