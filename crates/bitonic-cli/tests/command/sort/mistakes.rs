//! Options of `bitonic sort` that are wrong or contradict each other.

use super::refused;

/// What is said of these arguments; the input is all right.
fn says<const N: usize>(arguments: [&str; N]) -> String {
    refused(arguments, "2 1")
}

#[test]
fn an_unknown_name_gets_the_nearest_known_one() {
    let cases = [
        ("--type", "u31", "key type", "u32"),
        ("--engine", "cpuu", "engine", "cpu"),
        ("--instructions", "avx51", "instruction set", "avx512"),
        ("--format", "np", "format", "npy"),
        ("--output-format", "txt", "format", "text"),
        ("--distribution", "organpipe", "distribution", "organ-pipe"),
    ];
    for (option, name, what, nearest) in cases {
        let message = says([option, name]);
        let expected = format!("unknown {what} '{name}': did you mean '{nearest}'? Known: ");
        assert!(message.starts_with(&expected), "{message}");
    }
}

#[test]
fn a_number_that_is_none_says_how_to_write_one() {
    assert_eq!(
        says(["--random", "many"]),
        "'many' is not a valid count: write 1000, 16M (16 x 2^20), 2^24 or 1e6"
    );
    // More than memory holds, but a count.
    assert!(says(["--random", "1e17"]).starts_with("no memory for 100000000000000000 keys"));
    assert!(says(["--threads", "-1"]).starts_with("'-1' is not a valid count"));
    assert!(says(["--threads", "1025"]).starts_with("1025 threads are too many: use at most 1024"));
    assert!(says(["--random", "1", "--seed", "x"]).starts_with("'x' is not a valid seed"));
}

#[test]
fn options_that_contradict_each_other_are_refused() {
    for arguments in
        [["--random", "10", "numbers.txt"], ["--check", "-o", "out.txt"], ["--check", "--random", "10"]]
    {
        let message = says(arguments);
        assert!(message.contains("cannot be used with"), "{message}");
        assert!(message.ends_with(": see 'bitonic sort --help'"), "{message}");
    }
    assert!(says(["--seed", "3"]).contains("--random <N>"));
}
