//! `--key`: lines sorted by a column.

use super::{Folder, refused, sort, sorted};

#[test]
fn lines_are_moved_as_they_are_whatever_separates_their_columns() {
    assert_eq!(sorted(["--key", "2"], "b, 10 ,x\na,9,y\n"), "a,9,y\nb, 10 ,x\n");
    assert_eq!(sorted(["--key", "2"], "b;2;10\na;1e0;9\n"), "a;1e0;9\nb;2;10\n");
    assert_eq!(sorted(["--key", "2"], "b b\t10\na\t9\n"), "a\t9\nb b\t10\n");
    assert_eq!(sorted(["-k", "2"], "  b   10\na 9"), "a 9\n  b   10\n");
    assert_eq!(sorted(["--key", "1", "--separator", "space"], "10 a,b\n9 c,d\n"), "9 c,d\n10 a,b\n");
    assert_eq!(sorted(["--key", "2"], "\"a, b\",\"3\"\n\"c\",2\n"), "\"c\",2\n\"a, b\",\"3\"\n");
    assert_eq!(sorted(["--key", "1"], ""), "");
}

#[test]
fn equal_lines_keep_their_order_in_both_directions() {
    let input = "b 1\na 0x1\nc 1.0\nd 0\n";
    assert_eq!(sorted(["--key", "2"], input), "d 0\nb 1\na 0x1\nc 1.0\n");
    assert_eq!(sorted(["--key", "2", "-r"], input), "b 1\na 0x1\nc 1.0\nd 0\n");
    let many: String = (0..3000).map(|line| format!("{},{line}\n", line * 7919 % 10)).collect();
    let mut expected: Vec<&str> = many.lines().collect();
    expected.sort_by_key(|line| line.split(',').next().unwrap().parse::<u32>().unwrap());
    let expected: String = expected.iter().map(|line| format!("{line}\n")).collect();
    for engine in ["cpu", "opencl"] {
        assert!(sorted(["--key", "1", "--engine", engine], &many) == expected, "{engine}");
    }
}

#[test]
fn names_of_columns_and_comments_stay_in_place() {
    let input = "# sales\nname,price\n# pricey\nx,30\n# cheap\ny,4\n# end\n";
    let expected = "# sales\nname,price\n# pricey\n# cheap\ny,4\nx,30\n# end\n";
    assert_eq!(sorted(["--key", "price"], input), expected);
    assert_eq!(sorted(["--key", "2", "--header"], input), expected);
    assert_eq!(sorted(["--key", "1"], "2\r\n1"), "1\r\n2\r\n");
}

#[test]
fn several_tables_become_one() {
    let folder = Folder::new();
    let [one, other] = [folder.file("one.csv", "k,v\n3,a"), folder.file("other.csv", "k,v\n2,b\n")];
    let out = folder.argument("out.csv");
    sort(["--key", "k", &one, &other, "-o", &out]).assert().success().stdout("").stderr("");
    assert_eq!(String::from_utf8(folder.read("out.csv")).unwrap(), "k,v\n2,b\n3,a\n");
}

#[test]
fn lines_can_be_checked_reported_and_have_a_type() {
    let folder = Folder::new();
    let file = folder.file("table.csv", "a,1\nb,2\n");
    let yes = format!("{file}: sorted: 2 lines by 2 i64 keys, ascending\n");
    sort(["--check", "--key", "2", &file]).assert().success().stdout(yes);
    let done = sort(["--check", "--key", "2", "-r", &file]).assert().code(1);
    assert_eq!(
        crate::one_line(&done.get_output().stderr),
        format!("{file}: line 2, column 3: 2 comes after 1, so the lines are not descending")
    );
    let done =
        sort(["--key", "2", "--type", "u8", "--report", &file]).assert().success().stdout("a,1\nb,2\n");
    let report = String::from_utf8_lossy(&done.get_output().stderr).into_owned();
    assert!(report.contains("2 lines by 2 u8 keys, ascending"), "{report}");
    assert_eq!(sorted(["--key", "1", "--type", "char"], "b 1\n\u{e4} 2\na 3\n"), "a 3\nb 1\n\u{e4} 2\n");
}

#[test]
fn what_cannot_be_sorted_by_names_file_line_and_way_out() {
    let folder = Folder::new();
    let file = folder.file("table.csv", "name,price\nx,3\n");
    assert_eq!(
        refused(["--key", "2", &file], ""),
        format!(
            "{file}: line 1, column 6: 'price' is no number: if the first line has the columns' names, say --header or name the \
             column with --key NAME"
        )
    );
    assert_eq!(
        refused(["--key", "cost", &file], ""),
        format!("{file}: line 1, column 1: no column is named 'cost': choose one of 'name, price'")
    );
    assert!(
        refused(["--key", "3", "--header", &file], "")
            .contains("line 2, column 1: the line has 2 of the columns")
    );
    assert!(refused(["--key", "1", "--header", &file], "").contains("line 2, column 1: 'x' is no number"));
    assert!(refused(["--key", "0"], "1").starts_with("columns are counted from 1"));
    assert!(
        refused(["--key", "1"], b"\xff\n".to_vec()).contains("line 1, column 1: byte 0xff is no UTF-8 text")
    );
    let array = folder.file("a.npy", super::npy("|u1", "(1,)", &[1]));
    assert!(
        refused(["--key", "1", &array], "").contains("--key sorts the lines of a text, and this is none")
    );
    assert!(refused(["--key", "2", "--header", &file, "-o", &array], "").contains("choose another name"));
    assert!(refused(["--key", "1", "--rows", "2"], "1").contains("cannot be used with"));
    assert!(refused(["--header"], "1").contains("--key <COLUMN>"));
}

#[test]
fn other_columns_may_hold_any_bytes() {
    let done = sort(["--key", "1"]).write_stdin(b"2 \xff\n1 \xfe\n".to_vec()).assert().success();
    assert_eq!(done.get_output().stdout, b"1 \xfe\n2 \xff\n");
}

#[test]
fn digits_that_decide_nothing_are_rounded_with_a_note_here_too() {
    let input = "a 0.1234567890123456789\nb 0.1\n";
    let done = sort(["--key", "2"]).write_stdin(input).assert().success();
    assert_eq!(done.get_output().stdout, b"b 0.1\na 0.1234567890123456789\n");
    assert!(crate::one_line(&done.get_output().stderr).contains("is rounded"));
    assert!(refused(["--key", "2", "--exact"], input).contains("line 1, column 3: "));
}
