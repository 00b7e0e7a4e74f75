//! `--check`.

use super::{Folder, npy, refused, sort};

/// What the check says when the answer is no.
fn says_no<const N: usize>(arguments: [&str; N], input: impl Into<Vec<u8>>) -> String {
    let done = sort(arguments).write_stdin(input.into()).assert().code(1).stdout("");
    String::from_utf8(done.get_output().stderr.clone()).unwrap()
}

#[test]
fn sorted_input_has_exit_code_0() {
    let yes = |key_words: &str| format!("standard input: sorted: {key_words}\n");
    sort(["--check"])
        .write_stdin("1 2 2 3")
        .assert()
        .success()
        .stdout(yes("4 i64 keys, ascending"))
        .stderr("");
    sort(["-c", "-r"])
        .write_stdin("inf 2.5 -0")
        .assert()
        .success()
        .stdout(yes("3 f64 keys, descending"))
        .stderr("");
    sort(["--check"]).write_stdin("").assert().success().stdout(yes("0 i64 keys, ascending"));
    sort(["--check"]).write_stdin("7").assert().success().stdout(yes("1 i64 key, ascending"));
}

#[test]
fn the_first_key_out_of_order_is_named() {
    assert_eq!(
        says_no(["--check"], "1 5\n  2 0"),
        "bitonic: standard input: line 2, column 3: 2 comes after 5, so the keys are not ascending\n"
    );
    assert_eq!(
        says_no(["--check", "-r"], "0 0.5"),
        "bitonic: standard input: line 1, column 3: 0.5 comes after 0, so the keys are not descending\n"
    );
    assert_eq!(
        says_no(["--check", "--format", "raw", "--type", "u16"], [1, 0, 2, 0, 1, 0]),
        "bitonic: standard input: key 3 (byte 4): 1 comes after 2, so the keys are not ascending\n"
    );
    assert_eq!(
        says_no(["--check"], npy("|i1", "(2,)", &[0, 255])),
        "bitonic: standard input: index 1: -1 comes after 0, so the keys are not ascending\n"
    );
}

#[test]
fn input_that_cannot_be_read_has_exit_code_2() {
    assert!(refused(["--check"], "1 x").starts_with("standard input: line 1, column 3: 'x' is no number"));
}

#[test]
fn the_checked_file_stays_as_it_was() {
    let folder = Folder::new();
    let file = folder.file("numbers.txt", "2 1");
    says_no(["--check", &file], "");
    assert_eq!(folder.read("numbers.txt"), b"2 1");
    assert_eq!(folder.names(), ["numbers.txt"]);
}
