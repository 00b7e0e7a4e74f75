//! Raw and NumPy files.

use super::{Folder, npy, refused, sort, sorted};

#[test]
fn raw_bytes_are_sorted_as_the_type_says() {
    let folder = Folder::new();
    let keys = [3_i16, -1, 2].map(i16::to_le_bytes).concat();
    let file = folder.file("keys.bin", keys);
    sort([&file, "--type", "i16", "-o", &file]).assert().success().stdout("").stderr("");
    assert_eq!(folder.read("keys.bin"), [-1_i16, 2, 3].map(i16::to_le_bytes).concat());
    sort([&file, "--type", "i16", "--output-format", "text"]).assert().success().stdout("-1\n2\n3\n");
    sort(["--format", "raw", "--type", "u8"])
        .write_stdin([3, 1, 2])
        .assert()
        .success()
        .stdout(&[1, 2, 3][..]);
}

#[test]
fn a_numpy_array_says_its_own_type() {
    let folder = Folder::new();
    let cases = [
        ("<u4", [2_u32, 1].map(u32::to_le_bytes).concat(), "1\n2\n"),
        ("|u1", vec![200, 100], "100\n200\n"),
        ("<f2", vec![0, 0x3c, 0, 0xc0], "-2\n1\n"),
        ("<f8", [0.1_f64, -0.5].map(f64::to_le_bytes).concat(), "-0.5\n0.1\n"),
        ("|b1", vec![1, 0], "false\ntrue\n"),
        (">i4", [7_i32, -7].map(i32::to_be_bytes).concat(), "-7\n7\n"),
        ("<U1", ['b', 'a'].map(|letter| u32::from(letter).to_le_bytes()).concat(), "a\nb\n"),
    ];
    for (descr, data, text) in cases {
        let file = folder.file("keys.npy", npy(descr, "(2,)", &data));
        assert_eq!(sorted([&file, "--output-format", "text"], ""), text, "{descr}");
    }
}

#[test]
fn a_numpy_array_is_known_by_its_content_and_comes_out_as_one() {
    let input = npy("<i4", "(3,)", &[3_i32, -1, 2].map(i32::to_le_bytes).concat());
    let expected = npy("<i4", "(3,)", &[-1_i32, 2, 3].map(i32::to_le_bytes).concat());
    sort([]).write_stdin(input).assert().success().stdout(expected);
    let big_endian = npy(">i4", "(3,)", &[3_i32, -1, 2].map(i32::to_be_bytes).concat());
    let expected = npy("<i4", "(3,)", &[-1_i32, 2, 3].map(i32::to_le_bytes).concat());
    sort([]).write_stdin(big_endian).assert().success().stdout(expected);
    sort([]).write_stdin(npy("<f8", "(0,)", &[])).assert().success().stdout(npy("<f8", "(0,)", &[]));
}

#[test]
fn every_type_goes_through_every_format_and_back() {
    let folder = Folder::new();
    let path = |name: &str| folder.argument(name);
    let [raw, raw_again, numpy, text] = ["a.bin", "b.bin", "a.npy", "a.txt"].map(path);
    let types = [
        "u8", "u16", "u32", "u64", "u128", "usize", "i8", "i16", "i32", "i64", "i128", "isize", "f16",
        "bf16", "f32", "f64", "bool", "char",
    ];
    for key_type in types {
        sort(["--random", "1000", "--type", key_type, "-o", &raw]).assert().success();
        let bytes = folder.read("a.bin");
        assert!(bytes.len() >= 1000, "{key_type}");
        // Text, then raw again.
        sort([&raw, "--type", key_type, "-o", &text]).assert().success();
        sort([&text, "--type", key_type, "-o", &raw_again]).assert().success();
        assert!(folder.read("b.bin") == bytes, "{key_type} as text");
        // NumPy, then raw again.
        if ["u128", "i128", "bf16"].contains(&key_type) {
            assert_eq!(
                refused([&raw, "--type", key_type, "-o", &numpy], ""),
                format!("NumPy has no type for {key_type} keys: choose --output-format text or raw")
            );
        } else {
            sort([&raw, "--type", key_type, "-o", &numpy]).assert().success();
            sort([&numpy, "-o", &raw_again]).assert().success();
            assert!(folder.read("b.bin") == bytes, "{key_type} as NumPy");
        }
    }
}

#[test]
fn raw_input_needs_a_type_and_whole_keys() {
    let folder = Folder::new();
    let file = folder.file("keys.raw", [1, 2, 3, 4, 5, 6, 7]);
    assert_eq!(
        refused([&file], ""),
        format!("{file}: raw bytes do not say what they are: add --type, such as --type u32")
    );
    assert_eq!(
        refused([&file, "--type", "u32", "-o", &file], ""),
        format!(
            "{file}: 7 bytes are no whole number of u32 keys of 4 bytes, 3 too many: the file is cut off or has another \
             --type"
        )
    );
    assert_eq!(
        refused([&file, "--type", "bool"], ""),
        format!("{file}: byte 1: 0x2 is no bool, only 0 and 1 are: read it as u8")
    );
    assert_eq!(folder.read("keys.raw"), [1, 2, 3, 4, 5, 6, 7]);
}

#[test]
fn a_numpy_file_that_is_not_what_it_says_is_refused() {
    let folder = Folder::new();
    let cases = [
        (
            npy("<u4", "(3,)", &[0; 8]),
            "the header says 3 keys of 4 bytes, 12 bytes in all, but 8 follow it: the file is cut off or damaged, save \
             it again",
        ),
        (
            npy("<u4", "(4611686018427387905,)", &[0; 4]),
            "the header says 4611686018427387905 keys of 4 bytes, 18446744073709551620 bytes in all, but 4 follow it: \
             the file is cut off or damaged, save it again",
        ),
        (
            npy("<u4", "(2, 3)", &[0; 24]),
            "the array has shape (2, 3), and only one dimension can be sorted: flatten it in Python with \
             numpy.save('flat.npy', array.ravel())",
        ),
        (
            npy("<c8", "(1,)", &[0; 8]),
            "NumPy type '<c8' cannot be sorted: convert it with array.astype() to one of b1, u1, u2, u4, u8, i1, i2, i4, \
             i8, f2, f4, f8, U1",
        ),
        (b"\x93NUMPY\x01".to_vec(), "the file ends after 7 bytes, within its header: save it again"),
        (b"1 2 3".to_vec(), "byte 0: no NumPy array starts here: name the format with --format text or raw"),
    ];
    for (content, message) in cases {
        let file = folder.file("keys.npy", content);
        assert_eq!(refused([&file], ""), format!("{file}: {message}"));
    }
    let file = folder.file("keys.npy", npy("<u4", "(1,)", &[0; 4]));
    assert_eq!(
        refused([&file, "--type", "f32"], ""),
        format!("{file}: the array holds u32 and not f32: leave out --type")
    );
}

#[test]
fn a_named_format_overrides_the_extension() {
    let folder = Folder::new();
    let file = folder.file("keys.bin", "2 1");
    assert_eq!(sorted([&file, "--format", "text"], ""), "1\n2\n");
    let file = folder.file("keys.txt", [2, 1]);
    assert_eq!(sorted([&file, "--format", "raw", "--type", "u8", "--output-format", "text"], ""), "1\n2\n");
}
