//! Mistakes on the command line.

use super::sort;

/// What standard error says of these arguments. They must be refused with exit code 2.
fn says<const N: usize>(arguments: [&str; N]) -> String {
    let done = sort(arguments).write_stdin("2 1").assert().code(2).stdout("");
    String::from_utf8(done.get_output().stderr.clone()).unwrap()
}

#[test]
fn an_unknown_name_gets_the_nearest_known_one() {
    let cases = [
        ("--type", "u31", "key type", "u32"),
        ("--engine", "cpuu", "engine", "cpu"),
        ("--format", "np", "format", "npy"),
        ("--output-format", "txt", "format", "text"),
        ("--distribution", "organpipe", "distribution", "organ-pipe"),
    ];
    for (option, name, what, nearest) in cases {
        let message = says([option, name]);
        assert_eq!(message.lines().count(), 1, "{message}");
        let expected = format!("error: unknown {what} '{name}': did you mean '{nearest}'? Known: ");
        assert!(message.starts_with(&expected), "{message}");
    }
}

#[test]
fn a_number_that_is_none_says_how_to_write_one() {
    assert_eq!(
        says(["--random", "many"]),
        "error: 'many' is no count: write 1000, 16M (16 x 2^20), 2^24 or 1e6\n"
    );
    assert!(says(["--threads", "1025"]).contains("1025 threads are too many: use at most 1024"));
    assert!(says(["--random", "1", "--seed", "x"]).contains("'x' is no seed"));
}

#[test]
fn options_that_contradict_each_other_are_refused() {
    for arguments in
        [["--random", "10", "numbers.txt"], ["--check", "-o", "out.txt"], ["--check", "--random", "10"]]
    {
        assert!(says(arguments).contains("cannot be used with"));
    }
    assert!(says(["--seed", "3"]).contains("--random <N>"));
}
