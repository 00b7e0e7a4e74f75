//! The command `bitonic-sql`.

use std::process::{Command, Output};

fn run(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_bitonic-sql")).args(arguments).output().unwrap()
}

fn file(name: &str, text: &str) -> String {
    let path = format!("{}/{name}", env!("CARGO_TARGET_TMPDIR"));
    std::fs::write(&path, text).unwrap();
    path
}

#[test]
fn queries_files() {
    let table = format!("--table=t={}", file("queries.csv", "a,b\n3,x\n1,y\n2,z\n"));
    let output = run(&["select b from t order by a", &table, "--time"]);
    let text = String::from_utf8(output.stdout).unwrap();
    let rows: Vec<_> = text.lines().filter(|line| line.starts_with("| ")).collect();
    assert_eq!(rows, ["| b |", "| y |", "| z |", "| x |"]);
    assert!(String::from_utf8(output.stderr).unwrap().ends_with(" s\n"));
}

#[test]
fn explains_with_and_without_the_rule() {
    let table = format!("--table=t={}", file("explains.csv", "a,b\n3,x\n1,y\n"));
    let plan = |arguments: &[&str]| String::from_utf8(run(arguments).stdout).unwrap();
    assert!(plan(&["select * from t order by a", &table, "--explain"]).contains("BitonicSortExec"));
    assert!(
        !plan(&["select * from t order by a", &table, "--explain", "--plain"]).contains("BitonicSortExec")
    );
}

#[test]
fn errors_say_what_to_do() {
    let other = format!("--table=t={}", file("errors.txt", "a\n"));
    let broken = format!("--table=t={}", file("broken.parquet", "no such thing"));
    for (arguments, words) in [
        (["select 1", "--table=t=missing.csv"], "Give --table t=FILE a file that can be read"),
        (["select 1", &other], "neither in .parquet nor in .csv"),
        (["select 1", &broken], "Is it a whole file"),
        (["select * from u", "--table=u"], "not NAME=FILE"),
        (["select * from u", "--time"], "Tables given with --table: none"),
    ] {
        let output = run(&arguments);
        let text = String::from_utf8(output.stderr).unwrap();
        assert!(!output.status.success() && text.contains(words), "{arguments:?}: {text}");
    }
}
