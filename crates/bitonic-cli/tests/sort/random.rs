//! `--random`.

use super::{Folder, refused, sort};

fn printed<const N: usize>(arguments: [&str; N]) -> String {
    let done = sort(arguments).assert().success().stderr("");
    String::from_utf8(done.get_output().stdout.clone()).unwrap()
}

#[test]
fn without_an_output_it_verifies_and_measures() {
    let text = printed(["--random", "64K"]);
    let names: Vec<&str> = text.lines().filter_map(|line| line.split_whitespace().next()).collect();
    assert_eq!(
        names,
        ["keys", "engine", "device", "plan", "time", "speed", "standard", "ratio", "verified"],
        "{text}"
    );
    assert!(text.contains("65536 u32 keys, ascending, random, seed 1"), "{text}");
    assert!(text.contains("times the speed of the standard library"), "{text}");
    let columns: Vec<usize> = text.lines().map(|line| line.len() - line[10..].trim_start().len()).collect();
    assert!(columns.iter().all(|&column| column == columns[0]), "{text}");
}

#[test]
fn it_works_for_every_type_distribution_and_length() {
    for key_type in ["u8", "i128", "f16", "f64", "bool", "char"] {
        let text = printed([
            "--random",
            "3000",
            "--type",
            key_type,
            "--distribution",
            "special",
            "-r",
            "--seed",
            "9",
        ]);
        assert!(text.contains(&format!("3000 {key_type} keys, descending, special, seed 9")), "{text}");
    }
    for count in ["0", "1", "1e3", "2^10"] {
        assert!(printed(["--random", count]).contains("verified"));
    }
}

#[test]
fn with_an_output_the_keys_are_written_and_the_seed_repeats_them() {
    let folder = Folder::new();
    let path = folder.argument("keys.npy");
    let arguments = ["--random", "1000", "--type", "i32", "--distribution", "few-unique", "-o", &path];
    sort(arguments).assert().success().stdout("").stderr("");
    let first = folder.read("keys.npy");
    sort(arguments).assert().success();
    assert!(folder.read("keys.npy") == first);
    sort(["--random", "1000", "--type", "i32", "--seed", "2", "-o", &path]).assert().success();
    assert!(folder.read("keys.npy") != first);
    sort(["--check", &path]).assert().success().stdout(format!("{path}: sorted: 1000 i32 keys, ascending\n"));
    let lines = printed(["--random", "10", "-o", "-"]);
    assert_eq!(lines.lines().count(), 10);
}

#[test]
fn a_report_with_an_output_names_the_seed() {
    let done = sort(["--random", "10", "--report", "-o", "-"]).assert().success();
    let report = String::from_utf8_lossy(&done.get_output().stderr).into_owned();
    assert!(report.contains("10 u32 keys, ascending, random, seed 1\n"), "{report}");
}

#[test]
fn more_keys_than_the_machine_holds_are_refused() {
    let message = refused(["--random", "2^60"], "");
    assert!(message.starts_with("no memory for 1152921504606846976 keys, which take "), "{message}");
    assert!(message.ends_with(" bytes: ask for fewer"), "{message}");
}

#[test]
fn an_output_format_without_an_output_is_refused() {
    assert_eq!(
        refused(["--random", "10", "--output-format", "text"], ""),
        "--output-format has nothing to write: add -o FILE, or -o - for standard output"
    );
    assert_eq!(
        refused(["--random", "10", "--type", "u128", "-o", "out.npy"], ""),
        "NumPy has no type for u128 keys: choose --output-format text or raw"
    );
}
