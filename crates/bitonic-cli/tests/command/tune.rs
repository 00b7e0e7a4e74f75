//! `bitonic tune`.

use crate::{Folder, bitonic, printed, refused, without_driver};
use assert_cmd::Command;
use std::process::Stdio;
use std::time::{Duration, Instant};

/// The command with a cache of its own: these tests tell what to use from now on.
fn tune<'a>(folder: &Folder, arguments: impl IntoIterator<Item = &'a str>) -> Command {
    let mut command = bitonic(["tune"].into_iter().chain(arguments));
    command.env("BITONIC_CACHE_DIR", folder.path("cache"));
    command
}

/// The names of the kept files that begin so.
fn kept(folder: &Folder, start: &str) -> Vec<String> {
    let Ok(files) = std::fs::read_dir(folder.path("cache")) else { return Vec::new() };
    let names = files.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.filter(|name| name.starts_with(start)).collect()
}

#[test]
fn what_was_tried_is_shown_and_kept_until_it_is_cleared() {
    let folder = Folder::new();
    let said = printed(tune(&folder, ["--show"]));
    assert!(said.starts_with("nothing was tuned yet: "), "{said}");

    let said = printed(tune(&folder, ["--seconds", "12", "--device", "cpu"]));
    let table = said.split("\n\n").nth(1).unwrap();
    let rows: Vec<&str> = table.lines().collect();
    assert!(rows[0].trim_start().starts_with("element ") && rows[0].contains(" gain "), "{said}");
    assert!(rows.len() > 1 && rows[1..].iter().all(|row| row.contains(" bytes  2^")), "{said}");
    assert!(said.contains("--engine auto does not take it"), "{said}");
    assert!(said.contains("no time was left for "), "twelve seconds are not enough\n{said}");
    assert!(said.contains(&format!("kept in {} ", folder.argument("cache"))), "{said}");
    assert!(kept(&folder, "auto-").is_empty(), "a processor is no rival of the cpu engine: {said}");
    let [file] = &kept(&folder, "tuning-")[..] else { panic!("one device was tuned") };

    let shown = printed(tune(&folder, ["--show"]));
    let device = said.lines().next().unwrap();
    for part in [device, "tuned on 2", "driver ", file, "4 bytes    2^16  ", &folder.argument("cache")] {
        assert!(shown.contains(part), "'{part}' is missing\n{shown}");
    }

    let kernels = kept(&folder, "tile_sort-");
    let cleared = printed(tune(&folder, ["--clear"]));
    assert!(cleared.lines().all(|line| line.starts_with("removed ")) && cleared.contains(file), "{cleared}");
    assert!(kept(&folder, "tuning-").is_empty() && !kernels.is_empty());
    assert_eq!(kept(&folder, "tile_sort-"), kernels, "built kernels stay");
    assert!(printed(tune(&folder, ["--show"])).starts_with("nothing was tuned yet: "));
    assert_eq!(printed(tune(&folder, ["--clear"])), "nothing was tuned, so nothing was removed\n");
}

/// Whether something was found for 2^16 keys of 4 bytes.
fn has_a_best_shape(folder: &Folder) -> bool {
    let files = kept(folder, "tuning-");
    let texts = files.iter().filter_map(|name| std::fs::read_to_string(folder.path("cache").join(name)).ok());
    texts.into_iter().any(|text| text.contains(" 4 16: "))
}

#[test]
fn what_was_found_before_it_is_killed_stays_and_is_used() {
    let folder = Folder::new();
    let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_bitonic"))
        .args(["tune", "--device", "cpu", "--seconds", "600"])
        .env("BITONIC_CACHE_DIR", folder.path("cache"))
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let started = Instant::now();
    // What came out wrong may be kept before anything that is best: PoCL gets some shapes wrong.
    while !has_a_best_shape(&folder) && started.elapsed() < Duration::from_secs(120) {
        std::thread::sleep(Duration::from_millis(20));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let shown = printed(tune(&folder, ["--show"]));
    assert!(shown.contains("4 bytes    2^16  "), "{shown}");
    let shape = shown.lines().find(|line| line.contains("2^16  ")).unwrap();
    let tile = shape.split("tile 2^").nth(1).unwrap().split(' ').next().unwrap();
    let mut explain = bitonic(["explain", "--engine", "opencl", "--device", "cpu", "--n", "64K"]);
    explain.env("BITONIC_CACHE_DIR", folder.path("cache"));
    let plan = printed(explain);
    assert!(plan.contains(&format!("2^{tile} ")), "the plan has tiles of 2^{tile} keys\n{plan}");
}

#[test]
fn a_time_that_is_too_short_keeps_nothing_and_says_so() {
    let folder = Folder::new();
    let said = printed(tune(&folder, ["--seconds", "0", "--device", "cpu"]));
    assert!(said.ends_with("the time was too short to compare anything: allow more --seconds\n"), "{said}");
    assert!(kept(&folder, "tuning-").is_empty());
}

#[test]
fn showing_and_clearing_are_done_alone() {
    for arguments in [["--show", "--quick"], ["--clear", "--show"], ["--quick", "--seconds=3"]] {
        let message = refused(tune(&Folder::new(), arguments));
        assert!(message.contains("cannot be used with"), "{message}");
    }
    let mut nowhere = bitonic(["tune", "--show"]);
    nowhere.env("BITONIC_CACHE_DIR", "");
    assert_eq!(printed(nowhere), "nothing is kept, because BITONIC_CACHE_DIR is empty\n");
}

#[test]
fn a_device_that_is_not_there_is_refused() {
    let message = refused(bitonic(["tune", "--device", "no such device"]));
    assert!(message.starts_with("no device is 'no such device': choose one of 0: "), "{message}");
    let message = refused(without_driver(["tune"]));
    assert!(message.starts_with("the opencl engine is not available: "), "{message}");
}
