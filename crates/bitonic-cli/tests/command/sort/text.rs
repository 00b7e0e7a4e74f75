//! Numbers as text.

use super::{Folder, refused, sort, sorted};

#[test]
fn numbers_from_standard_input_come_out_one_a_line() {
    assert_eq!(sorted([], "3 1\t2\r\n-7\n"), "-7\n1\n2\n3\n");
    assert_eq!(sorted(["-"], "3 1 2"), "1\n2\n3\n");
}

#[test]
fn a_file_is_sorted_and_left_as_it_was() {
    let folder = Folder::new();
    let file = folder.file("numbers.txt", "2\n1\n");
    assert_eq!(sorted([&file], ""), "1\n2\n");
    assert_eq!(folder.read("numbers.txt"), b"2\n1\n");
}

#[test]
fn reverse_puts_the_largest_first() {
    assert_eq!(sorted(["-r"], "3 1 2"), "3\n2\n1\n");
    assert_eq!(sorted(["--reverse"], "nan -0 0 -nan inf"), "nan\ninf\n0\n-0\n-nan\n");
}

#[test]
fn nothing_in_gives_nothing_out() {
    assert_eq!(sorted([], ""), "");
    assert_eq!(sorted([], " \n\t"), "");
}

#[test]
fn floats_are_in_total_order_and_read_back() {
    let input = "nan 1e300 0.1 -inf -0.0 0 inf -nan 2.5 -1 5e-324";
    let once = sorted([], input);
    assert_eq!(once, "-nan\n-inf\n-1\n-0\n0\n5e-324\n0.1\n2.5\n1e300\ninf\nnan\n");
    assert_eq!(sorted([], &once), once);
}

#[test]
fn large_whole_numbers_keep_every_digit() {
    let texts = [
        "9223372036854775807\n18446744073709551615\n",
        "-1\n18446744073709551615\n",
        "-170141183460469231731687303715884105728\n9007199254740993\n",
        "0\n340282366920938463463374607431768211455\n",
    ];
    for text in texts {
        let backwards: Vec<&str> = text.lines().rev().collect();
        assert_eq!(sorted([], &backwards.join(" ")), text);
    }
}

#[test]
fn a_type_makes_numbers_that_type() {
    assert_eq!(sorted(["--type", "f32"], "0.1 16777217 -0"), "-0\n0.1\n16777216\n");
    assert_eq!(sorted(["--type", "f16"], "0.1 2049"), "0.1\n2048\n");
    assert_eq!(sorted(["--type", "bf16"], "0.1 257 -1"), "-1\n0.1\n256\n");
    assert_eq!(sorted(["--type", "u8"], "255 0 +7"), "0\n7\n255\n");
    assert_eq!(sorted(["--type", "isize"], "5 -5"), "-5\n5\n");
}

#[test]
fn truth_values_and_characters_sort_too() {
    assert_eq!(sorted([], "true false true"), "false\ntrue\ntrue\n");
    assert_eq!(sorted(["--type", "bool"], "1 false 0 true"), "false\nfalse\ntrue\ntrue\n");
    assert_eq!(sorted(["--type", "char"], "ä b U+0020 a 7"), "U+0020\n7\na\nb\nä\n");
}

#[test]
fn a_byte_order_mark_is_no_number_and_no_mistake() {
    assert_eq!(sorted([], "\u{FEFF}2 1"), "1\n2\n");
}

#[test]
fn every_way_to_sort_gives_the_same_keys() {
    let input: String =
        (0..5000_u64).map(|index| format!("{} ", index.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40)).collect();
    let mut expected: Vec<u64> = input.split_whitespace().map(|word| word.parse().unwrap()).collect();
    expected.sort_unstable();
    let expected: String = expected.iter().map(|key| format!("{key}\n")).collect();
    assert_eq!(sorted([], &input), expected);
    assert_eq!(sorted(["--stable"], &input), expected);
    assert_eq!(sorted(["--oblivious"], &input), expected);
    assert_eq!(sorted(["--engine", "cpu", "--threads", "2"], &input), expected);
    assert_eq!(sorted(["--threads", "1"], &input), expected);
}

#[test]
fn a_report_goes_to_standard_error_and_keys_to_standard_output() {
    let done = sort(["--report"]).write_stdin("2 1").assert().success().stdout("1\n2\n");
    let report = String::from_utf8_lossy(&done.get_output().stderr).into_owned();
    let names: Vec<&str> = report.lines().filter_map(|line| line.split_whitespace().next()).collect();
    assert_eq!(
        names,
        ["keys", "engine", "device", "instructions", "plan", "read", "sort", "write"],
        "{report}"
    );
    assert!(report.contains("2 i64 keys, ascending") && report.contains(" million keys/s\n"), "{report}");
}

#[test]
fn what_is_no_number_is_named_with_its_position() {
    let cases = [
        (
            "1\n2\n12345 abc\n",
            "line 3, column 7: 'abc' is no number: write numbers with white space between them",
        ),
        (
            "1,2",
            "line 1, column 1: '1,2' is no number: write numbers with white space between them, or sort lines by one of their \
             columns with --key",
        ),
        (
            "true 3",
            "line 1, column 6: '3' stands among keys of another type, as 'true' on line 1 is: write numbers only, or \
             true and false only",
        ),
        (
            "0.5\n9007199254740993",
            "line 2, column 1: '9007199254740993' has more digits than f64 holds: say --type f64 to round it",
        ),
        (
            "1e999",
            "line 1, column 1: '1e999' does not fit f64, numbers from -1.7976931348623157e308 to 1.7976931348623157e308, inf and nan: choose another --type",
        ),
    ];
    for (input, message) in cases {
        assert_eq!(refused([], input), format!("standard input: {message}"));
    }
}

#[test]
fn what_does_not_fit_the_type_is_named_with_the_range() {
    assert_eq!(
        refused(["--type", "u8"], "1\n300"),
        "standard input: line 2, column 1: '300' does not fit u8, whole numbers from 0 to 255: choose another --type"
    );
    assert_eq!(
        refused(["--type", "u32"], "-1"),
        "standard input: line 1, column 1: '-1' does not fit u32, whole numbers from 0 to 4294967295: choose another \
         --type"
    );
    assert_eq!(
        refused(["--type", "char"], "a bc"),
        "standard input: line 1, column 3: 'bc' does not fit char, one character or its number, as in U+0041: choose \
         another --type"
    );
}

#[test]
fn bytes_that_are_no_text_are_named_with_their_position() {
    assert_eq!(
        refused([], b"1 2\n3 \xff".to_vec()),
        "standard input: line 2, column 3: byte 0xff is no UTF-8 text: say --format raw if the file holds bytes and \
         not numbers as text"
    );
    assert_eq!(refused(["--type", "u8"], b"\x80".to_vec()).split(": ").nth(1), Some("line 1, column 1"));
}

#[test]
fn zero_with_a_sign_has_no_digits_too_many() {
    assert_eq!(sorted([], "0.5 +0"), "0\n0.5\n");
    assert_eq!(sorted([], "0.5 +0000000000000000000"), "0\n0.5\n");
    assert_eq!(sorted([], "+0 -1"), "-1\n0\n");
}

#[test]
fn hexadecimal_numbers_separators_and_comments_are_read() {
    assert_eq!(sorted([], "0x10 1_000 # nine: 9\n# 3\n-0xff 7#8\n"), "-255\n7\n16\n1000\n");
    assert_eq!(sorted(["--type", "u8"], "0xFF 1_0"), "10\n255\n");
    assert_eq!(sorted([], "0xffff_ffff_ffff_ffff 1"), "1\n18446744073709551615\n");
    assert_eq!(sorted(["--type", "char"], "b # a"), "#\na\nb\n");
    assert!(refused([], "1__0").contains("'1__0' is no number"));
    assert!(refused(["--type", "u8"], "0x100").contains("'0x100' does not fit u8"));
}

#[test]
fn a_file_with_comments_is_not_replaced_by_its_numbers_alone() {
    let folder = Folder::new();
    let file = folder.file("numbers.txt", "# my numbers\n2\n1\n");
    assert_eq!(
        refused([&file, "-o", &file], ""),
        format!(
            "{file}: it has comments, which sorting it in place would lose: write to another file, or say --key 1 to keep its \
             lines as they are"
        )
    );
    assert_eq!(folder.read("numbers.txt"), b"# my numbers\n2\n1\n");
    sort([&file, "--key", "1", "-o", &file]).assert().success();
    assert_eq!(folder.read("numbers.txt"), b"# my numbers\n1\n2\n");
}

#[test]
fn rounding_is_told_once_and_can_be_refused() {
    let input = "2.5 0.1234567890123456789\n0.50000000000000000001";
    let done = sort([]).write_stdin(input).assert().success().stdout("0.12345678901234568\n0.5\n2.5\n");
    assert_eq!(
        crate::one_line(&done.get_output().stderr),
        "standard input: line 1, column 5: '0.1234567890123456789' has more digits than f64 holds and is rounded, and so are \
         others like it: say --type f64 to round without this note, or --exact to refuse"
    );
    assert_eq!(sorted(["--type", "f64"], "0.50000000000000000001"), "0.5\n");
    let message = "standard input: line 1, column 5: '0.1234567890123456789' has more digits than f64 holds: leave out --exact \
                   to round it, or choose another --type";
    assert_eq!(refused(["--exact"], input), message);
    assert_eq!(refused(["--exact", "--type", "f64"], input), message);
    assert!(refused(["--exact", "--type", "f32"], "16777217").contains("has more digits than f32 holds"));
    assert_eq!(
        sorted(["--exact"], "0.1 1e300 5e-324 nan 0.30000000000000004"),
        "5e-324\n0.1\n0.30000000000000004\n1e300\nnan\n"
    );
}
