//! `--rows` and `--axis`.

use super::{Folder, npy, refused, sort, sorted};

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
        let reason =
            format!("3 keys are no whole number of rows of {rows}: give --rows a length that divides ");
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

/// The bytes of a `.npy` file with a matrix of 2 rows and 3 columns.
fn matrix(order: &str, keys: [u8; 6]) -> Vec<u8> {
    let mut file = npy("|u1", "(2, 3)", &keys);
    let at = file.windows(5).position(|part| part == b"False").unwrap();
    // As long as the other word.
    file[at..at + 5].copy_from_slice(if order == "C" { b"False" } else { b"True " });
    file
}

#[test]
fn a_matrix_is_sorted_along_either_axis_and_keeps_its_shape() {
    /// The header's order and shape, the flags, the keys as they are stored before and after.
    type Case = (&'static str, &'static [&'static str], [u8; 6], [u8; 6]);
    let cases: [Case; 7] = [
        ("C", &["--rows"], [6, 5, 4, 1, 3, 2], [4, 5, 6, 1, 2, 3]),
        ("C", &["--rows", "3"], [6, 5, 4, 1, 3, 2], [4, 5, 6, 1, 2, 3]),
        ("C", &["--axis", "-1"], [6, 5, 4, 1, 3, 2], [4, 5, 6, 1, 2, 3]),
        ("C", &["--axis", "0"], [6, 5, 1, 2, 3, 4], [2, 3, 1, 6, 5, 4]),
        ("C", &["--axis", "0", "-r"], [6, 5, 1, 2, 3, 4], [6, 5, 4, 2, 3, 1]),
        // Stored column by column: 6 4 5 over 1 2 3.
        ("F", &["--rows"], [6, 1, 4, 2, 5, 3], [4, 1, 5, 2, 6, 3]),
        ("F", &["--axis", "0"], [6, 1, 4, 2, 5, 3], [1, 6, 2, 4, 3, 5]),
    ];
    for (order, arguments, keys, expected) in cases {
        let mut command = crate::bitonic(["sort"].into_iter().chain(arguments.iter().copied()));
        let done = command.write_stdin(matrix(order, keys)).assert().success().stderr("");
        let written = &done.get_output().stdout;
        assert!(written.ends_with(&expected), "{order} {arguments:?}: {:?}", &written[128..]);
        let header = String::from_utf8_lossy(&written[..128]).into_owned();
        let fortran = if order == "C" { "'fortran_order': False" } else { "'fortran_order': True" };
        assert!(header.contains("'shape': (2, 3)") && header.contains(fortran), "{header}");
    }
}

#[test]
fn a_matrix_can_be_checked_and_an_array_of_no_dimension_is_one_key() {
    let sorted = matrix("C", [1, 5, 9, 2, 6, 7]);
    let said = "standard input: sorted: 6 u8 keys in 3 rows of 2, ascending\n";
    let check = |arguments, input: &[u8]| sort(arguments).write_stdin(input).assert();
    check(["--check", "--axis=0"], &matrix("C", [1, 5, 2, 2, 6, 3])).success().stdout(said);
    let done = check(["--check", "--axis=0"], &sorted).code(1);
    assert_eq!(
        crate::one_line(&done.get_output().stderr),
        "standard input: index (1, 2): 7 comes after 9, so the row is not ascending"
    );
    check(["--check", "--rows"], &sorted).success();
    let one = npy("<i4", "()", &[7, 0, 0, 0]);
    sort([]).write_stdin(one.clone()).assert().success().stdout(one);
}

#[test]
fn keys_without_rows_or_axes_of_their_own_are_refused() {
    let message = refused([], matrix("C", [0; 6]));
    assert!(
        message.contains("the array has shape (2, 3): say --rows to sort every row, --axis 0 for "),
        "{message}"
    );
    assert!(refused(["--rows"], "2 1").ends_with(": say it with --rows LEN"));
    assert!(refused(["--random", "8", "--rows"], "").ends_with(": say it with --rows LEN"));
    assert!(
        refused(["--axis", "0"], "2 1")
            .ends_with("only an array of NumPy has axes: say --rows LEN for rows of other keys")
    );
    assert!(refused(["--axis", "2"], matrix("C", [0; 6])).ends_with("no axis 2: choose one from -2 to 1"));
    assert!(refused(["--axis", "x"], "").starts_with("'x' is not a valid axis"));
    assert!(refused(["--rows", "keys.npy"], "").ends_with("; name files before --rows if it has no length"));
}
