//! `bitonic bench gpu` on OpenCL devices, which every machine with the tests' tools has.

use super::{printed, refused, rows_of_sorts as rows};
use crate::{Folder, bitonic, without_driver};
use bitonic_ladder::{Rung, RunsOn};
use std::process::Stdio;
use std::time::{Duration, Instant};

#[test]
fn a_plain_copy_is_measured_beside_the_engine() {
    let said = printed("--sizes 2^16 --repetitions 2 --rungs none");
    let names: Vec<_> = super::rows(&said).iter().map(|row| row[1].to_owned()).collect();
    assert_eq!(names, ["bitonic", "copy"], "{said}");
}

#[test]
fn the_engine_and_every_rung_are_measured_on_the_same_keys() {
    let said = printed("--sizes 64,2^10 --repetitions 2 --longest 10");
    let rungs: Vec<&str> = Rung::ALL
        .iter()
        .filter(|rung| rung.runs_on().contains(&RunsOn::OpenCl))
        .map(|rung| rung.name())
        .collect();
    let rows = rows(&said);
    assert_eq!(rows.len(), 2 * (1 + rungs.len()), "{said}");
    for (n, rows) in [("64", &rows[..rows.len() / 2]), ("2^10", &rows[rows.len() / 2..])] {
        assert_eq!(rows[0][..2], [n, "bitonic"], "{said}");
        assert!(rows[0].last().unwrap().ends_with(", the best rung"), "{said}");
        assert_eq!(rows[1..].iter().map(|row| row[1]).collect::<Vec<_>>(), rungs, "{said}");
        for row in rows {
            assert!(row[0] == n && row[2].ends_with('s') && row[6].ends_with(" GB/s"), "{said}");
            assert!(row[3].ends_with(" %") && row[7].ends_with(" %") && row[8].ends_with('x'), "{said}");
            assert!(row[4].parse::<f64>().is_ok(), "{said}");
        }
    }
    // 2^10 keys have 10 merges of 1 to 10 steps, and this rung launches a kernel for every step.
    let naive = rows.iter().rfind(|row| row[1] == "naive_shifts").unwrap();
    assert_eq!(naive[5], "55", "{said}");
    assert!(said.contains("runs    2 of every sort, by turns, each after 5.00 ms of the same; "), "{said}");
    assert!(said.contains("engine  opencl\n"), "{said}");
}

#[test]
fn every_type_is_measured() {
    for key_type in bitonic::key::KeyType::ALL {
        let said = printed(&format!("--sizes 256 --repetitions 1 --rungs naive_shifts --type {key_type}"));
        assert!(said.contains(&format!("{key_type}, random")), "{said}");
        assert_eq!(rows(&said).len(), 2, "{said}");
    }
}

#[test]
fn rungs_are_chosen_by_name_by_pattern_or_not_at_all() {
    let names = |rungs: &str| -> Vec<String> {
        let said = printed(&format!("--sizes 16 --repetitions 1 --rungs {rungs}"));
        rows(&said).iter().map(|row| row[1].to_owned()).collect()
    };
    assert_eq!(names("none"), ["bitonic"]);
    assert_eq!(
        names("naive_scan,odd_even_*"),
        [
            "bitonic",
            "naive_scan",
            "odd_even_two_kernels",
            "odd_even_one_kernel",
            "odd_even_local",
            "odd_even_strided"
        ]
    );
    assert!(refused("--rungs naive_scann").contains("did you mean 'naive_scan'?"));
    assert_eq!(
        refused("--rungs recursive"),
        "recursive does not run on opencl: choose rungs whose place is opencl in `bitonic ladder list`"
    );
}

#[test]
fn what_a_rung_cannot_sort_or_not_in_time_is_left_out() {
    let said = printed("--sizes 2000 --repetitions 1 --longest 1e-6");
    for row in rows(&said).iter().skip(1) {
        let reason = match row[1].parse::<Rung>().unwrap().sizes() {
            bitonic_ladder::Sizes::Any => "left out: would take up to ",
            _ => "left out: sorts powers of two only",
        };
        assert!(row.last().unwrap().starts_with(reason), "{said}");
    }
    assert_eq!(rows(&said)[0][1], "bitonic", "{said}");
}

#[test]
fn rows_are_measured_for_the_engine_alone() {
    let said = printed("--rows 8,1000 --total 10000 --repetitions 1");
    let rows = rows(&said);
    let first: Vec<_> = rows.iter().map(|row| (row[0], row[1], row[2])).collect();
    assert_eq!(first, [("8", "1250", "bitonic"), ("1000", "10", "bitonic")]);
    assert!(said.contains("row length") && !said.contains("naive"), "{said}");
    let both = printed("--rows 8 --total 80 --sizes 100 --rungs none --repetitions 1");
    assert!(both.contains("row length") && both.contains("bitonic"), "{both}");
}

#[test]
fn types_and_distributions_are_told_where_there_are_several() {
    let said = printed("--sizes 64 --repetitions 1 --rungs none --type u32,f32 --distribution random,sorted");
    let labels: Vec<String> = rows(&said).iter().map(|row| row[0].to_owned()).collect();
    assert_eq!(labels, ["64 u32 random", "64 u32 sorted", "64 f32 random", "64 f32 sorted"], "{said}");
    assert!(said.contains("keys    u32 and f32, random and sorted, on the device"), "{said}");
    let said = printed("--sizes 64 --repetitions 1 --rungs none --pattern special");
    assert!(rows(&said)[0][0] == "64" && said.contains("keys    u32, special, "), "{said}");
}

#[test]
fn a_plot_has_a_line_for_every_sort_with_the_types_where_they_differ() {
    let folder = Folder::new();
    let file = folder.argument("lengths.svg");
    printed(&format!("--sizes 100,200 --type u32,f64 --repetitions 1 --rungs none --plot {file}"));
    let svg = String::from_utf8(folder.read("lengths.svg")).unwrap();
    assert!(svg.starts_with("<svg") && svg.contains("median time for a key"), "{svg}");
    for line in ["bitonic, u32", "bitonic, f64", "copy, u32"] {
        assert!(svg.contains(line), "{line}: {svg}");
    }
    printed(&format!("--rows 64,100 --total 2^12 --repetitions 1 --rungs none --plot {file}"));
    let svg = String::from_utf8(folder.read("lengths.svg")).unwrap();
    assert!(svg.contains("keys in a row") && !svg.contains("bitonic, "), "{svg}");
}

#[test]
fn results_are_written_for_programs_with_what_they_were_measured_on() {
    let folder = Folder::new();
    let file = folder.argument("results.csv");
    let line = "--sizes 100,2^7 --repetitions 3 --rungs naive_scan --csv";
    let shown = printed(&format!("{line} {file}"));
    assert_eq!(rows(&shown).len(), 4, "{shown}");
    let text = String::from_utf8(folder.read("results.csv")).unwrap();
    let lines: Vec<&str> = text.lines().filter(|line| !line.starts_with("copy,")).collect();
    // What was left out is not among them.
    assert_eq!(lines.len(), 4, "{text}");
    assert!(
        lines[0].starts_with("sort,type,n,row_length,values,distribution,verified,repetitions,"),
        "{text}"
    );
    assert!(lines[0].ends_with(",version,commit,date"), "{text}");
    assert!(lines[1].starts_with("bitonic,u32,100,100,,random,yes,3,"), "{text}");
    assert!(lines[2].starts_with("bitonic,u32,128,128,,random,yes,3,"), "{text}");
    assert!(lines[3].starts_with("naive_scan,u32,128,128,,random,yes,3,"), "{text}");
    let device = &bitonic::opencl::devices().unwrap()[0];
    assert!(lines[1..].iter().all(|line| line.contains(&device.driver)), "{text}");

    // Every run is a line of its own, too.
    let runs = String::from_utf8(folder.read("results.runs.csv")).unwrap();
    let copies = runs.lines().filter(|line| line.starts_with("copy,")).count();
    assert_eq!((runs.lines().count() - copies, copies), (1 + 3 * 3, 2 * 3), "{runs}");
    assert!(runs.starts_with("implementation,key_type,distribution,size,instance,repetition,"), "{runs}");
    let of_bitonic = runs.lines().filter(|line| line.starts_with("bitonic,u32,random,128,1,"));
    assert_eq!(of_bitonic.count(), 3, "{runs}");

    let to_standard_output = printed(&format!("{line} -"));
    assert_eq!(to_standard_output.lines().next(), Some(lines[0]), "the table is left out");
}

/// Waits until two cells are written, and kills the command in the middle of the third, whose keys take a while.
#[test]
fn a_run_that_is_killed_leaves_what_it_has_measured() {
    let folder = Folder::new();
    let file = folder.argument("results.csv");
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_bitonic"));
    command.args(["bench", "gpu", "--engine", "opencl", "--rungs", "none", "--repetitions", "3"]);
    command.args(["--sizes", "64,128,2^22", "--warm-up", "0", "--csv", &file]);
    command.env("BITONIC_CACHE_DIR", concat!(env!("CARGO_TARGET_TMPDIR"), "/cache"));
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let read = |name: &str| std::fs::read_to_string(folder.path(name)).unwrap_or_default();
    let until = Instant::now() + Duration::from_secs(120);
    // A heading, and for each length the engine and the copy.
    while read("results.csv").lines().count() < 5 {
        assert!(Instant::now() < until && child.try_wait().unwrap().is_none(), "it ended or wrote nothing");
        std::thread::sleep(Duration::from_millis(1));
    }
    // SIGKILL on Unix.
    child.kill().unwrap();
    child.wait().unwrap();
    let cells = read("results.csv");
    assert!(cells.ends_with('\n') && cells.lines().count() == 5, "{cells}");
    assert!(cells.lines().nth(1).unwrap().starts_with("bitonic,u32,64,64,,random,yes,3,"), "{cells}");
    assert!(cells.lines().nth(3).unwrap().starts_with("bitonic,u32,128,128,,random,yes,3,"), "{cells}");
    let columns = cells.lines().next().unwrap().split(',').count();
    assert_eq!(columns, 32);
    let runs = read("results.runs.csv");
    assert!(runs.ends_with('\n') && runs.lines().count() > 2 * 2 * 3, "{runs}");
}

#[test]
fn wrong_words_are_answered_in_one_line() {
    assert!(refused("--sizes 1000,x").starts_with("'x' is not a valid count"));
    assert_eq!(refused("--sizes 8,1"), "--sizes 1: there is nothing to sort: use at least 2 keys");
    assert!(refused("--rows 0").starts_with("--rows 0: 67108864 keys make no row of 0: "));
    assert!(refused("--rows 100 --total 99").starts_with("--rows 100: 99 keys make no row of 100: "));
    assert!(refused("--repetitions 0").contains("run at least once"));
    for time in ["0", "-1", "x", "inf"] {
        let message = refused(&format!("--longest {time}"));
        assert_eq!(message, format!("'{time}' is not a valid time: write seconds such as 10 or 0.5"));
    }
    assert!(refused("--total 100").contains("--rows"));
    assert!(refused("--type u31").contains("did you mean 'u32'"));
    assert!(refused("--device no-such-device").starts_with("no device is 'no-such-device': "));
    assert!(refused("--values u32").starts_with("--values is for the cuda engine, and the engine is opencl"));
    assert!(refused("--values u8").contains("Known: u32"));
    assert!(refused("--values u32 --rows 8").contains("--rows"));
}

#[test]
fn without_a_driver_the_engine_that_was_asked_for_is_named_and_otherwise_both_are() {
    let opencl = crate::refused(without_driver(["bench", "gpu", "--engine", "opencl"]));
    assert!(opencl.starts_with("the opencl engine is not available: "), "{opencl}");
    assert!(!opencl.contains("cuda engine is not"), "{opencl}");
    let without_both = |arguments: &[&'static str]| {
        let mut command = without_driver(["bench", "gpu"].into_iter().chain(arguments.iter().copied()));
        command.env("LD_LIBRARY_PATH", "/nonexistent").env("CUDA_VISIBLE_DEVICES", "");
        crate::refused(command)
    };
    let cuda = without_both(&["--engine", "cuda"]);
    assert!(cuda.starts_with("the cuda engine is not available: "), "{cuda}");
    let both = without_both(&[]);
    assert!(both.starts_with(&opencl) && both.ends_with(&format!("; and {cuda}")), "{both}");
    let mut command = bitonic(["bench", "gpu", "--sizes", "64", "--repetitions", "1", "--rungs", "none"]);
    command.env("LD_LIBRARY_PATH", "/nonexistent").env("CUDA_VISIBLE_DEVICES", "");
    let said = crate::printed(command);
    assert!(said.contains("engine  opencl, because the cuda engine is not available: "), "{said}");
}
