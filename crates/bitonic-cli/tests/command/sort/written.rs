//! What is written of the sorted keys: `--top`, `--unique`, `--argsort`, `--merge`, and `bitonic top`.

use super::{Folder, npy, refused, sort, sorted};
use crate::bitonic;

#[test]
fn the_first_keys_are_the_smallest_or_the_largest() {
    assert_eq!(sorted(["--top", "2"], "3 1 2 1"), "1\n1\n");
    assert_eq!(sorted(["--top", "2", "-r"], "3 1 2 1"), "3\n2\n");
    assert_eq!(sorted(["--top", "9"], "3 1"), "1\n3\n", "there are no more");
    assert_eq!(sorted(["--top", "0"], "3 1"), "");
    assert_eq!(sorted(["--top", "1", "--rows", "3"], "3 1 2 9 7 8"), "1\n7\n");
    assert_eq!(sorted(["--random", "100", "--top", "3", "-t", "u8", "-o", "-"], "").lines().count(), 3);
}

#[test]
fn top_is_the_largest_first() {
    let top = |arguments: &[&str], input: &str| {
        let mut command = bitonic(["top"]);
        command.args(arguments).write_stdin(input);
        crate::printed(command)
    };
    assert_eq!(top(&["2"], "3 1 2"), "3\n2\n");
    assert_eq!(top(&["2", "-r"], "3 1 2"), "1\n2\n", "turned around: the smallest");
    let table = "name,price\na,3\nb,20\nc,1\n";
    assert_eq!(top(&["1", "--key", "price"], table), "name,price\nb,20\n");
    let help = crate::printed(bitonic(["top", "--help"]));
    assert!(help.contains("bitonic top 10 numbers.txt") && !help.contains("seq 100"), "{help}");
    assert!(help.contains("<K>"), "{help}");
    let help = crate::printed(bitonic(["sort", "--help"]));
    assert!(help.contains("seq 100") && !help.contains("bitonic top 10"), "{help}");
}

#[test]
fn every_key_is_written_once() {
    assert_eq!(sorted(["--unique"], "3 1 2 1 3"), "1\n2\n3\n");
    assert_eq!(sorted(["-u", "-t", "f32"], "0 -0 0 nan nan"), "-0\n0\nnan\n");
    assert_eq!(sorted(["-u", "--top", "2", "-r"], "5 5 4 3"), "5\n4\n", "two different ones");
    assert_eq!(sorted(["-u"], ""), "");
    let lines = "2 first\n1 a\n2 second\n";
    assert_eq!(sorted(["--key", "1", "--unique"], lines), "1 a\n2 first\n");
    assert_eq!(sorted(["--key", "1", "--top", "2"], lines), "1 a\n2 first\n");
}

#[test]
fn indices_are_written_as_numpy_would_have_them() {
    assert_eq!(sorted(["--argsort"], "30 10 20 10"), "1\n3\n2\n0\n");
    assert_eq!(sorted(["--argsort", "-r", "--top", "1"], "30 10 20"), "0\n");
    assert_eq!(sorted(["--argsort", "--rows", "2"], "2 1 3 4"), "1\n0\n0\n1\n");
    let folder = Folder::new();
    let keys = folder.file("keys.npy", npy("|u1", "(2, 3)", &[3, 1, 2, 0, 9, 1]));
    let out = folder.argument("out.npy");
    sort([&keys, "--argsort", "--axis", "0", "--top", "1", "-o", &out]).assert().success();
    let indices = [1_i64, 0, 1].map(i64::to_le_bytes).concat();
    let written = folder.read("out.npy");
    assert!(written.ends_with(&indices), "{written:?}");
    let head = String::from_utf8_lossy(&written[..written.len() - 24]).into_owned();
    assert!(head.contains("'<i8'") && head.contains("(1, 3)"), "{head}");
}

#[test]
fn the_shape_of_an_array_says_what_is_left() {
    let folder = Folder::new();
    let keys = folder.file("keys.npy", npy("|u1", "(2, 3)", &[3, 1, 2, 0, 9, 1]));
    let out = folder.argument("out.npy");
    sort([&keys, "--rows", "--top", "2", "-o", &out]).assert().success();
    let written = folder.read("out.npy");
    assert!(written.ends_with(&[1, 2, 0, 1]), "{written:?}");
    assert!(String::from_utf8_lossy(&written).contains("(2, 2)"));
    let flat = folder.file("flat.npy", npy("|u1", "(4,)", &[3, 1, 3, 1]));
    sort([&flat, "--unique", "-o", &out]).assert().success();
    assert!(String::from_utf8_lossy(&folder.read("out.npy")).contains("(2,)"));
}

#[test]
fn sorted_files_are_merged_and_others_refused() {
    let folder = Folder::new();
    let (a, b) = (folder.file("a.txt", "1 3 5\n"), folder.file("b.txt", "2\n3\n"));
    let c = folder.file("c.txt", "9 8\n");
    sort(["--merge", &a, &b]).assert().success().stdout("1\n2\n3\n3\n5\n");
    sort(["--merge", "-u", &a, &b, &a]).assert().success().stdout("1\n2\n3\n5\n");
    sort(["-m", "-r", &c]).assert().success().stdout("9\n8\n");
    let failure = crate::refused(sort(["--merge", &a, &c]));
    assert_eq!(
        failure,
        format!(
            "{c}: line 1, column 3: 8 comes after 9, so this input is not ascending: leave out --merge to sort it"
        )
    );
    // With several inputs before it, too.
    let failure = crate::refused(sort(["--merge", "-r", &c, &b]));
    assert!(failure.starts_with(&format!("{b}: line 2, column 1: 3 comes after 2, ")), "{failure}");
}

#[test]
fn what_cannot_be_asked_for_together_is_refused() {
    for arguments in [
        ["--unique", "--rows", "2"],
        ["--argsort", "--key", "1"],
        ["--merge", "--key", "1"],
        ["--top", "1", "--check"],
        ["--unique", "--memory", "1G"],
    ] {
        let message = refused(arguments, "2 1");
        assert!(message.contains("cannot be used with"), "{message}");
    }
    for option in ["--top=3", "--check", "--memory=1G"] {
        let message = crate::refused(bitonic(["top", "2", option]));
        assert!(message.contains("cannot be used with"), "{message}");
    }
    let message = refused(["--random", "10", "--unique"], "");
    assert_eq!(message, "--unique has nothing to write: add -o FILE, or -o - for standard output");
}
