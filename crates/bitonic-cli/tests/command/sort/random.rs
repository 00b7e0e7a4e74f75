//! `--random`.

use super::{Folder, refused, sort};

fn printed<const N: usize>(arguments: [&str; N]) -> String {
    crate::printed(sort(arguments))
}

#[test]
fn without_an_output_it_verifies_and_measures() {
    let text = printed(["--random", "64K"]);
    let parts: Vec<&str> = text.split("\n\n").collect();
    let [facts, table, remarks] = parts[..] else { panic!("{text}") };
    let first_words = |part: &str| {
        part.lines().filter_map(|line| line.split(' ').next().map(str::to_owned)).collect::<Vec<_>>()
    };
    assert_eq!(first_words(facts), ["keys", "engine", "device", "instructions", "plan", "auto"], "{text}");
    assert!(facts.contains("takes cpu: no device was compared with it yet, for keys of 4 bytes; "), "{text}");
    assert!(facts.contains("65536 u32 keys, ascending, random, seed 1\n"), "{text}");
    let here = format!("instructions  {}\n", bitonic::Instructions::detected());
    assert!(facts.contains(&here), "{text}");

    let mut rows = first_words(table);
    assert_eq!(rows.remove(0), "sort", "{text}");
    assert_eq!((rows.first().unwrap().as_str(), rows.last().unwrap().as_str()), ("bitonic", "std"), "{text}");
    assert!(table.lines().skip(1).all(|row| row.ends_with('x')), "{text}");
    assert!(table.lines().last().unwrap().ends_with(" 1.00x"), "{text}");
    assert!(table.contains("\nbitonic, opencl "), "every engine that is here\n{text}");
    let verified = remarks.lines().last().unwrap();
    assert!(verified.starts_with("verified: ") && verified.ends_with("bit for bit"), "{text}");
}

#[test]
fn an_engine_that_is_not_here_takes_no_part() {
    let text = crate::printed(crate::without_driver(["sort", "--random", "64K"]));
    assert!(!text.contains("opencl"), "{text}");
    let text = printed(["--random", "64K", "--engine", "cpu"]);
    assert!(!text.contains("opencl") && !text.contains("auto"), "an engine was asked for\n{text}");
}

#[test]
fn the_oblivious_network_is_measured_too() {
    let text = printed(["--random", "1000", "--oblivious", "--threads", "1", "--instructions", "portable"]);
    assert!(
        text.contains("instructions  portable\n") && text.contains("bitonic network in flip form"),
        "{text}"
    );
    assert!(!text.contains("1 thread "), "one row for one thread\n{text}");
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
