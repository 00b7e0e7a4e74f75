//! `bitonic ladder`.

use crate::{bitonic, with_name, without_driver};
use bitonic::cuda;
use bitonic_ladder::{Rung, RunsOn};

fn printed<const N: usize>(arguments: [&str; N]) -> String {
    crate::printed(bitonic(with_name("ladder", arguments)))
}

fn refused<const N: usize>(arguments: [&str; N]) -> String {
    crate::refused(bitonic(with_name("ladder", arguments)))
}

/// The rows of a race's table, without its heading: the first word of each, and the rest.
fn rows(printed: &str) -> Vec<(&str, &str)> {
    let table = printed.split("\n\n").nth(1).expect("heading, table and key stand apart");
    table.lines().skip(1).map(|line| line.trim().split_once(' ').unwrap()).collect()
}

fn names(printed: &str) -> Vec<&str> {
    rows(printed).iter().map(|(name, _)| *name).collect()
}

#[test]
fn every_rung_is_listed_with_its_facts() {
    let list = printed(["list"]);
    for &rung in Rung::ALL {
        let line = list.lines().find(|line| line.split_whitespace().next() == Some(rung.name())).unwrap();
        assert!(line.contains(&rung.sizes().to_string()) && line.ends_with(rung.description()), "{line}");
        assert_eq!(line.contains(" many "), rung.is_parallel(), "{line}");
        let runs_on: Vec<&str> = rung.runs_on().iter().map(|runs_on| runs_on.name()).collect();
        assert!(line.contains(&format!(" {} ", runs_on.join(", "))), "{line}");
    }
}

#[test]
fn a_rung_shows_its_lesson_its_document_its_times_and_its_source() {
    for &rung in Rung::ALL {
        let said = printed(["show", rung.name()]);
        assert!(said.starts_with(&format!("{rung}: {}\n", rung.description())), "{said}");
        assert!(said.contains(rung.teaches()) && said.contains(rung.document().subject()), "{said}");
        assert!(rung.kernels().iter().all(|kernel| said.contains(&format!("KERNEL {kernel}("))), "{said}");
        assert!(rung.sources().iter().all(|source| said.contains(source.text.trim_end())), "{said}");
        let told = said.contains("\nmeasured on ") || said.contains("no time of it is published");
        assert!(told, "{said}");
        assert!(!said.contains('\u{1b}'), "colours are for terminals: {said}");
    }
    let measured = printed(["show", "odd_even_two_kernels"]);
    assert!(
        measured.contains("measured on cuda, an H200 and 16 cores (") && measured.contains("2^15 "),
        "{measured}"
    );
    let message = refused(["show", "iterativ_scan"]);
    assert!(message.contains("unknown rung 'iterativ_scan': did you mean 'iterative_scan'?"), "{message}");
}

#[test]
fn patterns_kernels_and_all_show_several_rungs() {
    let heads = |said: &str| {
        Rung::ALL.iter().filter(|rung| said.contains(&format!("{rung}: {}\n", rung.description()))).count()
    };
    assert_eq!(heads(&printed(["show", "naive_*"])), 3);
    assert_eq!(heads(&printed(["show", "recursive", "local_big_biton"])), 2);
    assert_eq!(heads(&printed(["show", "all"])), Rung::ALL.len());
}

#[test]
fn named_rungs_race_against_the_standard_library_and_the_library() {
    let said = printed(["run", "iterative_scan", "recursive", "--n", "1k", "--repeat", "2"]);
    assert!(said.starts_with("1024 u32 keys, random, 2 runs each; every result verified\n"), "{said}");
    assert_eq!(names(&said), ["std", "bitonic", "recursive", "iterative_scan"]);
    for (name, rest) in rows(&said) {
        assert!(rest.contains("s ") && rest.trim().ends_with('x'), "{name} {rest}");
    }
    assert!(rows(&said)[0].1.ends_with("1.00x"), "{said}");
}

#[test]
fn all_rungs_run_on_every_type_in_both_directions() {
    for key_type in bitonic::key::KeyType::ALL {
        for direction in [None, Some("--reverse")] {
            let line = ["ladder", "run", "all", "--n=256", "--repeat=1", "--distribution=special", "--type"];
            let said = crate::printed(bitonic(line.into_iter().chain([key_type.name()]).chain(direction)));
            assert_eq!(rows(&said).len(), 2 + Rung::ALL.len(), "{said}");
            assert!(!said.contains("left out"), "{said}");
        }
    }
}

#[test]
fn the_row_of_the_library_sorts_as_the_options_say() {
    let line = "run recursive --n 1k --repeat 1 --oblivious --engine cpu --instructions portable";
    let said = crate::printed(bitonic(["ladder"].into_iter().chain(line.split(' '))));
    assert_eq!(names(&said), ["std", "bitonic", "recursive"]);
}

#[test]
fn patterns_choose_rungs() {
    let said = printed(["run", "iterative_*", "--n", "16", "--repeat", "1"]);
    let expected = Rung::ALL.iter().map(|rung| rung.name()).filter(|name| name.starts_with("iterative_"));
    assert_eq!(names(&said)[2..], expected.collect::<Vec<_>>());
}

#[test]
fn a_length_that_is_no_power_of_two_is_an_error_by_name_and_a_row_by_pattern() {
    let message = refused(["run", "recursive", "--n", "1000"]);
    assert!(message.contains("recursive sorts powers of two only, and 1000 is none"), "{message}");
    let said = printed(["run", "all", "--n", "1000", "--repeat", "1"]);
    assert_eq!(rows(&said).len(), 2 + Rung::ALL.len());
    for (name, rest) in rows(&said).into_iter().skip(2) {
        let takes_any = bitonic_ladder::Sizes::Any == name.parse::<Rung>().unwrap().sizes();
        assert_eq!(rest.ends_with("left out: sorts powers of two only"), !takes_any, "{said}");
    }
}

#[test]
fn a_quadratic_rung_is_not_run_for_hours_by_mistake() {
    let message = refused(["run", "odd_even", "--n", "16M"]);
    assert!(message.contains("odd_even of 16777216 keys would take about "), "{message}");
    assert!(message.contains("use --n 2^16 or less, or --force"), "{message}");
    let said = printed(["run", "odd_even*", "--n", "65537", "--repeat", "1", "--type", "u8"]);
    assert!(
        rows(&said).iter().skip(2).all(|(_, rest)| rest.contains("left out: would take about ")),
        "{said}"
    );
    // In order already, so that it is quick.
    let forced =
        ["run", "odd_even_threads", "--n", "65538", "--repeat", "1", "--distribution", "sorted", "--force"];
    assert_eq!(names(&printed(forced)), ["std", "bitonic", "odd_even_threads"]);
}

#[test]
fn no_keys_at_all_are_sorted_too() {
    assert_eq!(rows(&printed(["run", "all", "--n", "0"])).len(), 2 + Rung::ALL.len());
}

#[test]
fn threads_can_be_chosen() {
    printed(["run", "parallel_*", "odd_even_threads", "--n", "1024", "--threads", "3", "--repeat", "1"]);
    assert!(refused(["run", "parallel_steps", "--threads", "1e6"]).contains("use at most 1024"));
}

#[test]
fn wrong_words_are_answered_in_one_line() {
    let message = refused(["run", "recursiv"]);
    assert!(
        message.contains("unknown rung 'recursiv': did you mean 'recursive'? Known: recursive, "),
        "{message}"
    );
    assert!(refused(["run", "nothing_*"]).contains("unknown rung 'nothing_*'"));
    assert!(refused(["run", "all", "--type", "u31"]).contains("did you mean 'u32'"));
    assert!(refused(["run", "all", "--distribution", "organpipe"]).contains("did you mean 'organ-pipe'"));
    assert!(refused(["run", "all", "--n", "x"]).contains("'x' is not a valid count"));
    assert!(refused(["run", "all", "--seed", "x"]).contains("'x' is not a valid seed"));
    assert!(refused(["run", "all", "--repeat", "0"]).contains("run at least once"));
    assert!(refused(["run", "recursive", "--n", "2^60"]).ends_with(": ask for fewer"));
}

#[test]
fn rungs_on_a_device_tell_what_their_kernels_took() {
    let said = printed(["run", "naive_scan", "recursive", "--n", "1k", "--repeat", "2"]);
    assert_eq!(names(&said), ["std", "bitonic", "recursive", "naive_scan"]);
    assert!(said.lines().nth(1).unwrap().starts_with("opencl: "), "{said}");
    let column = |line: &str| {
        line.split("  ").filter(|cell| !cell.is_empty()).nth(3).map(|cell| cell.trim().to_owned())
    };
    let table: Vec<&str> = said.split("\n\n").nth(1).unwrap().lines().collect();
    assert_eq!(column(table[0]).as_deref(), Some("kernels"), "{said}");
    let times: Vec<String> = table[1..].iter().map(|line| column(line).unwrap()).collect();
    assert_eq!(times[..3], ["-", "-", "-"], "{said}");
    assert!(times[3].ends_with('s'), "{said}");
}

#[test]
fn a_rung_with_several_kernels_tells_the_share_of_each() {
    for name in ["local_memory", "local_big_bucket", "local_big_biton", "local_small_biton"] {
        let said = printed(["run", name, "naive_shifts", "--n", "2^12", "--repeat", "1"]);
        assert_eq!(names(&said)[2..], ["naive_shifts", "local_memory"]);
        let shares = said.split("\n\n").nth(3).unwrap();
        let launches: Vec<Vec<&str>> =
            shares.lines().skip(1).map(|line| line.split_whitespace().take(3).collect()).collect();
        let of = "local_memory";
        let expected =
            [["local_small_biton", of, "45"], ["local_big_biton", of, "27"], ["local_big_bucket", of, "6"]];
        assert_eq!(launches, expected, "{said}");
    }
}

#[test]
fn the_device_can_be_chosen() {
    let said = printed(["run", "naive_scan", "--n", "16", "--repeat", "1", "--device", "0"]);
    assert_eq!(names(&said), ["std", "bitonic", "naive_scan"]);
    for rungs in ["naive_scan", "all"] {
        let message = refused(["run", rungs, "--n", "16", "--device", "no such device"]);
        assert!(message.contains("no device is 'no such device': choose one of 0: "), "{message}");
    }
    // Who races on the processor alone needs no device.
    printed(["run", "recursive", "--n", "16", "--repeat", "1", "--device", "no such device"]);
}

#[test]
fn without_a_driver_the_rungs_on_the_processor_still_run() {
    let run = |line: &'static str| without_driver(["ladder", "run"].into_iter().chain(line.split(' ')));
    let said = crate::printed(run("all --n 16 --repeat 1"));
    for (name, rest) in rows(&said).into_iter().skip(2) {
        let on_device = name.parse::<Rung>().unwrap().runs_on().contains(&RunsOn::OpenCl);
        assert_eq!(rest.contains("left out: the opencl engine is not available: "), on_device, "{said}");
    }
    let message = crate::refused(run("naive_scan recursive --n 16"));
    assert!(
        message.starts_with("naive_scan did not sort: the opencl engine is not available: "),
        "{message}"
    );
    assert!(message.contains("install"), "{message}");
}

#[test]
fn the_row_of_the_library_runs_on_the_device_with_its_engine() {
    let line = "run naive_scan --n 1k --repeat 1 --engine opencl --device 0";
    let said = crate::printed(bitonic(["ladder"].into_iter().chain(line.split(' '))));
    let cells = |row: &str| row.split("  ").filter(|cell| !cell.is_empty()).count();
    let table: Vec<&str> = said.split("\n\n").nth(1).unwrap().lines().collect();
    assert!(table.iter().all(|row| cells(row) == cells(table[0])), "{said}");
    let kernels = |row: &str| row.split("  ").filter(|cell| !cell.is_empty()).nth(3).map(str::to_owned);
    assert_eq!(kernels(table[1]).unwrap().trim(), "-", "the standard library has no kernels\n{said}");
    assert!(kernels(table[2]).unwrap().ends_with('s'), "{said}");
}

#[test]
fn rungs_on_devices_run_through_cuda_where_that_is_the_engine() {
    let test = "rungs_on_devices_run_through_cuda_where_that_is_the_engine";
    let opened = cuda::Device::open(&cuda::DeviceChoice::Best);
    let Some(device) = bitonic_testkit::device_or_skip(test, opened, "BITONIC_REQUIRE_CUDA") else { return };
    let said = printed([
        "run",
        "naive_scan",
        "odd_even_two_kernels",
        "recursive",
        "--n=1k",
        "--repeat=1",
        "--engine=cuda",
    ]);
    assert_eq!(said.lines().nth(1), Some(format!("cuda: {}", device.info().name).as_str()), "{said}");
    assert_eq!(names(&said), ["std", "bitonic", "recursive", "naive_scan", "odd_even_two_kernels"]);
    let shares = said.split("\n\n").nth(3).unwrap();
    assert!(shares.contains("even_phase") && shares.contains("odd_phase"), "{said}");
}

#[test]
fn without_cuda_its_engine_is_refused_and_no_other_takes_its_place() {
    let line = "ladder run naive_scan --n 16 --repeat 1 --engine cuda";
    // Libraries that are found by this variable are not found, and a driver that the system has shows no device.
    let hidden = [("LD_LIBRARY_PATH", "/nonexistent"), ("CUDA_VISIBLE_DEVICES", "")];
    let mut command = bitonic(line.split(' '));
    command.envs(hidden);
    let message = crate::refused(command);
    assert!(message.starts_with("the cuda engine is not available: the CUDA driver"), "{message}");
    assert!(message.contains("install NVIDIA's driver"), "{message}");
}
