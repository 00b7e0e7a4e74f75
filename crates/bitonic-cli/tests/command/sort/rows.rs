//! `--rows`.

use super::{Folder, refused, sort, sorted};

#[test]
fn every_row_is_sorted_for_itself_on_every_engine() {
    for engine in ["cpu", "opencl"] {
        let text = sorted(["--rows", "3", "--engine", engine], "3 1 2\n9 7 8");
        assert_eq!(text, "1\n2\n3\n7\n8\n9\n", "{engine}");
        let text = sorted(["--rows", "2", "-r", "--engine", engine], "1 2 3 4");
        assert_eq!(text, "2\n1\n4\n3\n", "{engine}");
    }
    assert_eq!(sorted(["--rows", "1"], "2 1"), "2\n1\n");
    assert_eq!(sorted(["--rows", "0"], ""), "", "no keys are no rows of any length");
}

#[test]
fn raw_files_and_numpy_arrays_have_rows_too() {
    let folder = Folder::new();
    let raw = folder.file("keys.bin", [4, 3, 2, 1]);
    let numpy = folder.argument("keys.npy");
    sort([&raw, "-t", "u8", "--rows", "2", "-o", &numpy]).assert().success();
    assert!(folder.read("keys.npy").ends_with(&[3, 4, 1, 2]));
    sort([&numpy, "--rows", "4", "-o", &raw]).assert().success();
    assert_eq!(folder.read("keys.bin"), [1, 2, 3, 4]);
}

#[test]
fn keys_that_make_no_rows_are_refused() {
    for rows in ["2", "0", "4"] {
        let reason = format!("3 keys are no whole number of rows of {rows}: give a row length that divides ");
        assert!(refused(["--rows", rows], "3 1 2").starts_with(&reason), "{rows}");
        assert!(refused(["--rows", rows, "--check"], "3 1 2").starts_with(&reason), "{rows}");
        assert!(refused(["--rows", rows, "--random", "3"], "").starts_with(&reason), "{rows}");
    }
    assert!(refused(["--rows", "x"], "3 1 2").starts_with("'x' is not a valid count"));
}

#[test]
fn rows_can_be_checked() {
    let folder = Folder::new();
    let file = folder.file("rows.txt", "1 2 3\n0 5 5\n");
    let sorted = format!("{file}: sorted: 6 u8 keys in 2 rows of 3, ascending\n");
    sort(["--check", "--rows", "3", "-t", "u8", &file]).assert().success().stdout(sorted);
    let done = sort(["--check", "--rows", "2", "-t", "u8", &file]).assert().code(1).stdout("");
    assert_eq!(
        crate::one_line(&done.get_output().stderr),
        format!("{file}: line 2, column 1: 0 comes after 3, so the row is not ascending")
    );
}

#[test]
fn random_rows_are_verified_beside_the_standard_library_s() {
    for engine in ["cpu", "opencl"] {
        let text = crate::printed(sort(["--random", "10000", "--rows", "100", "--engine", engine]));
        assert!(text.contains("10000 u32 keys in 100 rows of 100, ascending, random, seed 1\n"), "{text}");
        assert!(text.contains("\nverified: "), "{text}");
    }
}
