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
    let expected = npy(">i4", "(3,)", &[-1_i32, 2, 3].map(i32::to_be_bytes).concat());
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
        "bf16", "f8e4m3", "f8e5m2", "f32", "f64", "bool", "char",
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
        if ["u128", "i128", "bf16", "f8e4m3", "f8e5m2"].contains(&key_type) {
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
            "the array has shape (2, 3): say --rows to sort every row, --axis 0 for every column, or flatten it in Python \
             with array.ravel()",
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

/// An archive as `numpy.savez` writes it, without compression.
fn npz(files: &[(&str, Vec<u8>)]) -> Vec<u8> {
    let (mut bytes, mut directory) = (Vec::new(), Vec::new());
    for (name, content) in files {
        let mut checksum = flate2::Crc::new();
        checksum.update(content);
        let length = (content.len() as u32).to_le_bytes();
        let about =
            [&[20, 0, 0, 0, 0, 0, 0, 0, 0, 0][..], &checksum.sum().to_le_bytes(), &length, &length].concat();
        let name_length = (name.len() as u16).to_le_bytes();
        let offset = (bytes.len() as u32).to_le_bytes();
        bytes.extend([&b"PK\x03\x04"[..], &about, &name_length, &[0, 0], name.as_bytes(), content].concat());
        let entry = [&b"PK\x01\x02"[..], &[20, 0], &about, &name_length, &[0; 12], &offset, name.as_bytes()];
        directory.extend(entry.concat());
    }
    let count = (files.len() as u16).to_le_bytes();
    let [length, start] = [directory.len(), bytes.len()].map(|value| (value as u32).to_le_bytes());
    [bytes, directory, [&b"PK\x05\x06"[..], &[0; 4], &count, &count, &length, &start, &[0, 0]].concat()]
        .concat()
}

#[test]
fn an_archive_names_its_arrays_and_one_can_be_chosen() {
    let folder = Folder::new();
    let small = ("small.npy", npy("|u1", "(2,)", &[2, 1]));
    let large = ("large.npy", npy("<i4", "(2,)", &[2_i32, -1].map(i32::to_le_bytes).concat()));
    let both = folder.file("both.npz", npz(&[small.clone(), large]));
    assert_eq!(
        refused([&both], ""),
        format!("{both}: the archive holds the arrays small, large: choose one with --array")
    );
    assert_eq!(
        refused([&both, "--array", "other"], ""),
        format!("{both}: the archive holds no array 'other': choose one of small, large")
    );
    assert_eq!(sorted([&both, "--array", "large", "--output-format", "text"], ""), "-1\n2\n");
    let output = folder.argument("out.npy");
    sort([&both, "--array", "small", "-o", &output]).assert().success();
    assert_eq!(folder.read("out.npy"), npy("|u1", "(2,)", &[1, 2]));
    let archive = folder.argument("out.npz");
    let message = refused([&both, "--array", "small", "-o", &archive], "");
    assert_eq!(
        message,
        format!("archives are not written, and {archive} is named as one: name it .npy for one array")
    );
    // By its content, and alone in its archive.
    sort(["--output-format", "text"]).write_stdin(npz(&[small])).assert().success().stdout("1\n2\n");
    let damaged = folder.file("damaged.npz", "PK\x03\x04");
    assert!(
        refused([&damaged], "")
            .starts_with(&format!("{damaged}: the archive has no directory at its end, after 4"))
    );
    assert!(
        refused(["--array", "a"], "2 1")
            .ends_with("--array chooses from an archive of arrays, and this is none: leave it out")
    );
}

#[test]
fn several_files_are_sorted_together() {
    let folder = Folder::new();
    let [one, other] = [folder.file("one.txt", "3 1"), folder.file("other.txt", "2\n-5 2.5")];
    assert_eq!(sorted([&one, &other], ""), "-5\n1\n2\n2.5\n3\n");
    assert_eq!(sorted([&one, "-", "-r"], "2 4"), "4\n3\n2\n1\n");
    // The type of an array is that of the numbers beside it, and its bytes stay in their order.
    let array = folder.file("array.npy", npy(">u2", "(2,)", &[0, 9, 0, 2]));
    sort([&array, &one]).assert().success().stdout(npy(">u2", "(4,)", &[0, 1, 0, 2, 0, 3, 0, 9]));
    let raw = folder.file("keys.bin", [4, 0]);
    assert_eq!(sorted([&raw, &one, &array, "-t", "u16", "--output-format", "text"], ""), "1\n2\n3\n4\n9\n");
    sort(["--check", &one]).assert().code(1);
    let ascending = folder.file("ascending.txt", "4 5");
    let [first, second] = [folder.file("a.txt", "1 2"), folder.file("b.txt", "3")];
    sort(["--check", &first, &second, &ascending])
        .assert()
        .success()
        .stdout(format!("{first}, {second}, {ascending}: sorted: 5 i64 keys, ascending\n"));
    let done = sort(["--check", &first, &ascending, &second]).assert().code(1);
    assert_eq!(
        crate::one_line(&done.get_output().stderr),
        format!("{second}: line 1, column 1: 3 comes after 5, so the keys are not ascending")
    );
}

#[test]
fn files_that_do_not_go_together_are_refused_by_name() {
    let folder = Folder::new();
    let [good, bad] = [folder.file("good.txt", "1 2"), folder.file("bad.txt", "3\nx")];
    assert!(refused([&good, &bad], "").starts_with(&format!("{bad}: line 2, column 1: 'x' is no number")));
    let truth = folder.file("truth.txt", "true");
    assert!(
        refused([&good, &truth], "")
            .starts_with(&format!("{truth}: line 1, column 1: 'true' stands among keys"))
    );
    let [bytes, wide] = [("b.npy", "|u1", 1), ("w.npy", "<u2", 2)]
        .map(|(name, descr, size)| folder.file(name, npy(descr, "(1,)", &vec![0; size])));
    let message = refused([&bytes, &wide], "");
    assert!(message.starts_with(&format!("{wide}: the keys are u16, and those before it u8: ")), "{message}");
    let matrix = folder.file("m.npy", npy("|u1", "(1, 2)", &[0, 0]));
    assert!(
        refused([&bytes, &matrix], "")
            .contains("only arrays of one dimension are sorted together: sort it alone")
    );
    assert_eq!(refused(["-", "-"], "1"), "standard input can be read only once: name '-' once");
}
