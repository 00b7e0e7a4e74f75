//! `bitonic lab`.

use crate::{Folder, bitonic, one_line, without_driver};
use std::collections::HashSet;
use std::io::Read;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const SMALL: &str = "implementations = [\"cpu:std\", \"cpu:recursive\"]\nsizes = [\"2^4..2^6\"]\nrepetitions = 2\ncounters = false\n";

/// `bitonic lab` with these arguments, in a folder.
fn lab<'a>(folder: &Folder, arguments: impl IntoIterator<Item = &'a str>) -> assert_cmd::Command {
    let mut command = bitonic(["lab"].into_iter().chain(arguments));
    command.current_dir(folder.path("."));
    command
}

#[test]
fn an_experiment_becomes_a_table_records_and_a_report() {
    let folder = Folder::new();
    folder.file("small.toml", SMALL);
    let done = lab(&folder, ["run", "small.toml", "--output", "out"]).assert().success();
    let table = String::from_utf8(done.get_output().stdout.clone()).unwrap();
    let lines: Vec<&str> = table.lines().collect();
    assert_eq!(lines.len(), 4, "{table}");
    assert!(lines[0].contains("cpu:std") && lines[0].contains("cpu:recursive"), "{table}");
    assert!(lines[1].trim_start().starts_with("16 ") && lines[1].ends_with(" %"), "{table}");
    let records = String::from_utf8(folder.read("out/records.csv")).unwrap();
    assert_eq!(records.lines().count(), 1 + 3 * 2 * 2);
    let report = String::from_utf8(folder.read("out/report.html")).unwrap();
    assert!(report.contains("href=\"explore.html#view=ladder&amp;rungs=recursive\">cpu:recursive</a>"));
    let explorer = String::from_utf8(folder.read("out/explore.html")).unwrap();
    assert!(explorer.contains(r#"id="opened">{"measured":{"rows":[["cpu:"#));

    let said = lab(&folder, ["run", "small.toml", "--output", "out"]).assert().code(2);
    assert!(one_line(&said.get_output().stderr).contains("lab resume"));
    lab(&folder, ["run", "small.toml"]).assert().success();
    lab(&folder, ["run", "small.toml"]).assert().success();
    assert_eq!(folder.names(), ["lab-small", "lab-small-2", "out", "small.toml"]);

    let compared = lab(&folder, ["compare", "out", "lab-small"]).assert().success();
    let compared = String::from_utf8(compared.get_output().stdout.clone()).unwrap();
    assert_eq!(compared.lines().filter(|line| line.contains("cpu:recursive")).count(), 3, "{compared}");
    let plotted =
        lab(&folder, ["plot", "out", "all", "--format", "png", "--output", "pictures"]).assert().success();
    plotted.stdout("pictures/all.png\n");
    assert!(folder.read("pictures/all.png").starts_with(b"\x89PNG"));
    let said = lab(&folder, ["plot", "out", "nothing"]).assert().code(2);
    assert!(one_line(&said.get_output().stderr).contains("this run has all, "));
    lab(&folder, ["report", "out"]).assert().success().stdout("out/report.html\n");
}

#[test]
fn two_runs_are_compared_by_medians_and_drawn_over_each_other() {
    let folder = Folder::new();
    folder.file("small.toml", SMALL.replace("repetitions = 2", "repetitions = 5"));
    for run in ["one", "two"] {
        lab(&folder, ["run", "small.toml", "--output", run]).assert().success();
    }
    for statistic in ["mean", "median"] {
        let compare =
            lab(&folder, ["compare", "one", "two", "--statistic", statistic, "--json", "--plots", "drawn"]);
        let compared: serde_json::Value = serde_json::from_str(&crate::printed(compare)).unwrap();
        let changes = compared["changes"].as_array().unwrap();
        assert_eq!(changes.len(), 6);
        for change in changes {
            let of = |run: &str| change[run][statistic].as_f64().unwrap();
            let ratio = change["ratio"].as_f64().unwrap();
            assert!((ratio / (of("first") / of("second")) - 1.0).abs() < 1e-12, "{change}");
        }
    }
    let drawn = ["runs-cpu-std-u32-random.svg", "runs-cpu-recursive-u32-random.svg"];
    assert!(drawn.iter().all(|name| folder.path("drawn").join(name).exists()));
    let plotted = lab(&folder, ["plot", "one", "--with", "two", "--output", "both"]).assert().success();
    plotted.stdout(format!("both/{}\nboth/{}\n", drawn[0], drawn[1]));
}

#[test]
fn a_configuration_leaves_its_results_where_it_is_run() {
    let folder = Folder::new();
    let switches = "measure_cpu=1\nmeasure_gpu=0\nmeasure_bitonic=1\nmeasure_odd_even=1\nverify_result=1\n";
    folder.file(
        "configuration.ini",
        format!("{switches}\nrandom_instance=100 3\npredefined_instance=2 3 1 2\n"),
    );
    let done = lab(&folder, ["run", "configuration.ini"]).assert().success();
    let table = String::from_utf8(done.get_output().stdout.clone()).unwrap();
    assert!(table.starts_with(">>> CONFIGURATION LOADED\n\nCPU measurement                 ON\n"), "{table}");
    assert!(
        table.contains("|           100 | ") && table.ends_with("\n>>> BENCHMARK COMPLETE!\n"),
        "{table}"
    );
    let results = String::from_utf8(folder.read("result.csv")).unwrap();
    assert_eq!(results.lines().count(), 1 + 3 + 2);
    assert!(results.starts_with("instance size;mean bitonic sort (CPU);"), "{results}");
}

#[test]
fn mistakes_are_told_before_anything_runs() {
    let folder = Folder::new();
    let switches = "measure_cpu=1\nmeasure_gpu=0\nmeasure_bitonic=1\nmeasure_odd_even=1\nverify_result=1\n";
    for (name, text, told) in [
        (
            "a.ini",
            format!("{switches}random_instance=x 3\n"),
            "a.ini, line 6: 'x' is no size: write a whole number from 1 on",
        ),
        (
            "b.ini",
            format!("{switches}random_instances=8 3\n"),
            "b.ini, line 6: unknown key 'random_instances': did you mean",
        ),
        (
            "c.ini",
            "measure_cpu=1\nrandom_instance=8 3\n".to_owned(),
            "c.ini: measure_gpu=1, measure_bitonic=1, ",
        ),
        (
            "d.toml",
            SMALL.replace("2^6", "100").replace("2^4..", ""),
            "d.toml, line 1: cpu:recursive sorts powers of two only, and 100",
        ),
        (
            "e.toml",
            SMALL.replace("cpu:std", "cpu:sdt"),
            "e.toml, line 1: unknown implementation 'cpu:sdt': did you mean 'cpu:std'?",
        ),
        ("f.toml", SMALL.replace("counters", "counter"), "f.toml, line 4: unknown field `counter`"),
    ] {
        folder.file(name, text);
        let done = lab(&folder, ["run", name, "--output", "out"]).assert().code(2).stdout("");
        let message = one_line(&done.get_output().stderr);
        assert!(message.starts_with(told), "{message}");
    }
    assert!(!folder.path("out").exists());
    let done = lab(&folder, ["report", "nothing"]).assert().code(2);
    assert!(one_line(&done.get_output().stderr).contains("give the folder of a run"));
}

#[test]
fn without_a_device_a_configuration_that_needs_one_says_so() {
    let folder = Folder::new();
    let switches = "measure_cpu=1\nmeasure_gpu=1\nmeasure_bitonic=1\nmeasure_odd_even=1\nverify_result=1\n";
    let file = folder.file("x.ini", format!("{switches}random_instance=8 1\n"));
    let done = without_driver(["lab", "run", &file]).current_dir(folder.path(".")).assert().code(2);
    let message = one_line(&done.get_output().stderr);
    assert!(
        message.contains("GPU Bitonic cannot run here: ") && message.ends_with("or set measure_gpu=0"),
        "{message}"
    );
}

#[test]
fn a_wrong_result_ends_with_exit_code_1_and_error_log() {
    let folder = Folder::new();
    folder.file("wrong.toml", "implementations = [\"cpu:planted_fault\"]\nsizes = [8]\n");
    let done = lab(&folder, ["run", "wrong.toml", "--output", "out"]).assert().code(1);
    let message = one_line(&done.get_output().stderr);
    assert!(
        message.contains("has given an invalid solution for instance size 8 in repetition 1."),
        "{message}"
    );
    let log = String::from_utf8(folder.read("out/error.log")).unwrap();
    assert!(
        log.starts_with(">>> The cpu:planted_fault has given") && log.contains("\n[Solution]: "),
        "{log}"
    );
}

#[test]
fn the_example_and_every_preset_can_be_written_and_read() {
    let folder = Folder::new();
    lab(&folder, ["init", "my.toml"]).assert().success();
    assert!(
        String::from_utf8(folder.read("my.toml")).unwrap().starts_with("# An experiment of the laboratory")
    );
    let said = lab(&folder, ["init", "my.toml"]).assert().code(2);
    assert!(one_line(&said.get_output().stderr).contains("exists already"));
    let listed = crate::printed(lab(&folder, ["list"]));
    for name in ["quick", "documents", "ladder-cpu", "ladder-gpu", "odd-even"] {
        assert!(listed.lines().any(|line| line.starts_with(name)), "{listed}");
        assert!(
            crate::printed(lab(&folder, ["init", "--preset", name])).contains(&format!("name = \"{name}\""))
        );
    }
    assert!(
        listed.contains("opencl:compare_pair") && listed.contains("zipf") && listed.contains("bf16"),
        "{listed}"
    );
}

/// A run of a preset is easily given a folder of the same name; what stands in it is no experiment.
#[test]
fn a_folder_does_not_hide_a_preset() {
    let folder = Folder::new();
    std::fs::create_dir(folder.path("ladder-cpu")).unwrap();
    folder.file("ladder-cpu/records.csv", "");
    let done = lab(&folder, ["run", "ladder-cpu", "--output", "ladder-cpu"]).assert().code(2);
    let message = one_line(&done.get_output().stderr);
    assert!(message.starts_with("ladder-cpu: there is a run in this folder already"), "{message}");
}

/// Kills a run in the middle as nothing can prepare for, goes on, and finds every record once.
#[test]
fn a_killed_run_loses_nothing() {
    let folder = Folder::new();
    folder.file(
        "long.toml",
        "implementations = [\"cpu:std\", \"cpu:recursive\", \"cpu:odd_even_threads\"]\nsizes = [\"2^6..2^9\"]\ninstances = 3\n\
         repetitions = 60\nbudget_seconds = inf\ncounters = false\n",
    );
    let expected = 3 * 4 * 3 * 60;
    let mut run = Command::new(env!("CARGO_BIN_EXE_bitonic"));
    run.args(["lab", "run", "long.toml", "--output", "out"]).current_dir(folder.path("."));
    let mut run = run.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let lines =
        || std::fs::read_to_string(folder.path("out/records.csv")).map_or(0, |text| text.lines().count());
    let started = Instant::now();
    while lines() < 200 {
        assert!(started.elapsed() < Duration::from_secs(60), "no records");
        std::thread::sleep(Duration::from_millis(1));
    }
    // SIGKILL.
    run.kill().unwrap();
    let mut said = String::new();
    run.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    assert!(!run.wait().unwrap().success(), "it was killed before it was done: {said}");
    let before = lines() - 1;
    assert!(before < expected, "{before} of {expected}");

    lab(&folder, ["resume", "out"]).assert().success();
    let text = String::from_utf8(folder.read("out/records.csv")).unwrap();
    let records: Vec<String> =
        text.lines().skip(1).map(|line| line.split(',').take(6).collect::<Vec<_>>().join(",")).collect();
    assert_eq!(records.len(), expected);
    assert_eq!(records.iter().collect::<HashSet<_>>().len(), expected, "none twice");
    assert!(folder.path("out/report.html").exists());
}

/// Instructions are the same on every machine with the same compiler, so one loop can be held against another.
#[test]
fn callgrind_counts_what_counters_cannot() {
    let folder = Folder::new();
    folder.file("small.toml", SMALL.replace("cpu:std", "cpu:iterative_scan"));
    lab(&folder, ["run", "small.toml", "--output", "out", "--callgrind", "256"]).assert().success();
    let text = String::from_utf8(folder.read("out/instructions.csv")).unwrap();
    let counts: Vec<u64> =
        text.lines().skip(1).map(|line| line.split(',').nth(4).unwrap().parse().unwrap()).collect();
    assert_eq!(counts.len(), 2, "{text}");
    // 256 keys have 36 steps; 128 comparators a step are 4,608, with a few instructions each, or some hundreds where nothing is optimised.
    assert!(counts.iter().all(|&count| (10_000..10_000_000).contains(&count)), "{text}");
    assert!(
        String::from_utf8(folder.read("out/report.html"))
            .unwrap()
            .contains("data-of=\"callgrind cpu:recursive")
    );
}
