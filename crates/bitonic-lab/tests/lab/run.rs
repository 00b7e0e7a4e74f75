//! Runs for real, on small sizes.

use crate::silent::Silent;
use bitonic_lab::analysis::Statistic;
use bitonic_lab::experiment::{Experiment, file};
use bitonic_lab::measure::run;
use bitonic_lab::record::{Record, Status, read_run};
use bitonic_lab::report;
use std::collections::HashSet;

fn experiment(text: &str) -> Experiment {
    file::read(text, "test", None).unwrap_or_else(|error| panic!("{error}"))
}

fn records_of(experiment: &Experiment) -> (Vec<Record>, Silent) {
    let folder = tempfile::tempdir().unwrap();
    let mut watch = Silent::default();
    run(experiment, folder.path(), &mut watch).unwrap();
    (read_run(folder.path()).unwrap().2, watch)
}

#[test]
fn every_implementation_sorts_every_instance_as_often_as_asked_for() {
    let experiment = experiment(
        "implementations = [\"cpu:std\", \"cpu:recursive\", \"cpu:bitonic\"]\nsizes = [\"2^4..2^6\"]\ninstances = 2\n\
         repetitions = [3, 2, 1]\ntypes = [\"u32\", \"f64\"]\ndistributions = [\"random\", \"special\"]\n",
    );
    let (records, watch) = records_of(&experiment);
    assert_eq!(records.len(), 3 * (3 + 2 + 1) * 2 * 2 * 2);
    assert!(records.iter().all(|record| record.status == Status::Measured && record.seconds.unwrap() > 0.0));
    let different: HashSet<_> =
        records.iter().map(|record| (record.cell(), record.instance, record.repetition)).collect();
    assert_eq!(different.len(), records.len(), "none twice");
    // Turn by turn: three implementations of one repetition follow each other.
    for turn in records.chunks(3) {
        assert!(
            turn.iter().all(|record| record.repetition == turn[0].repetition && record.size == turn[0].size)
        );
        assert_eq!(turn.iter().map(|record| &record.implementation).collect::<HashSet<_>>().len(), 3);
    }
    assert_eq!(watch.rows, experiment.cases.len());
    assert_eq!(watch.furthest, watch.amount, "the bar ends where it should");
}

#[test]
fn a_device_tells_its_share() {
    let experiment = experiment(
        "implementations = [\"opencl:naive_scan\", \"opencl:bitonic\"]\nsizes = [64]\nrepetitions = 2\n",
    );
    let (records, _) = records_of(&experiment);
    assert_eq!(records.len(), 4);
    for record in &records {
        let parts = [record.upload_seconds, record.kernel_seconds, record.download_seconds];
        assert!(parts.iter().all(Option::is_some), "{record:?}");
        assert!(parts.into_iter().flatten().sum::<f64>() <= record.seconds.unwrap() * 1.5, "{record:?}");
    }
    let naive = records.iter().find(|record| record.implementation == "opencl:naive_scan").unwrap();
    assert_eq!((naive.launches, naive.kernel_bytes), (Some(21), Some(21 * 2 * 64 * 4)));
}

/// So many keys take an odd-even sort an hour on any processor, and few take none of them a minute.
#[test]
fn what_would_take_longer_than_the_budget_is_extrapolated_and_marked() {
    let experiment = experiment(
        "implementations = [\"cpu:odd_even\"]\nsizes = [256, \"2^24\"]\nrepetitions = 3\nbudget_seconds = 60.0\n",
    );
    let (records, watch) = records_of(&experiment);
    let (small, large): (Vec<&Record>, Vec<&Record>) = records.iter().partition(|record| record.size == 256);
    assert!(small.len() == 3 && small.iter().all(|record| record.status == Status::Measured));
    assert_eq!(large.len(), 1);
    assert_eq!((large[0].status, large[0].instance, large[0].repetition), (Status::Extrapolated, 0, 0));
    assert!(large[0].seconds.unwrap() > 60.0);
    assert!(large[0].note.contains("growing as n^"), "{}", large[0].note);
    assert!(watch.notes.iter().any(|note| note.contains("cpu:odd_even of 2^24 keys: would take about")));
}

/// A million sorts take more than the budget on any processor, and one takes less.
#[test]
fn a_budget_ends_the_repetitions_but_every_instance_has_its_turn() {
    let experiment = experiment(
        "implementations = [\"cpu:odd_even\"]\nsizes = [512]\nrepetitions = 1000000\ninstances = 3\nbudget_seconds = 0.5\n",
    );
    let (records, _) = records_of(&experiment);
    assert!(records.len() < 3_000_000, "{} runs", records.len());
    for instance in 1..=3 {
        assert!(records.iter().any(|record| record.instance == instance), "instance {instance}");
    }
}

#[test]
fn what_patterns_choose_and_a_size_does_not_suit_is_left_out_with_the_reason() {
    let experiment =
        experiment("implementations = [\"cpu:iterative_s*\", \"cpu:std\"]\nsizes = [100]\nrepetitions = 1\n");
    let (records, _) = records_of(&experiment);
    let left_out: Vec<&Record> = records.iter().filter(|record| record.status == Status::LeftOut).collect();
    assert_eq!(left_out.len(), 2);
    assert!(
        left_out.iter().all(|record| record.note == "sorts powers of two only" && record.seconds.is_none())
    );
}

#[test]
fn the_same_seed_makes_the_same_keys_and_another_makes_others() {
    // What is wrong is written down, and with it the keys.
    let text = "implementations = [\"cpu:planted_fault\"]\nsizes = [50]\nrepetitions = 1\n";
    let keys = |seed: u64| {
        let folder = tempfile::tempdir().unwrap();
        let experiment = Experiment { seed, ..experiment(text) };
        run(&experiment, folder.path(), &mut Silent::default()).unwrap_err();
        std::fs::read_to_string(folder.path().join("error.log")).unwrap()
    };
    assert_eq!(keys(1), keys(1));
    assert_ne!(keys(1), keys(2));
}

#[test]
fn a_report_has_all_its_files() {
    let folder = tempfile::tempdir().unwrap();
    let experiment = experiment(
        "implementations = [\"cpu:std\", \"cpu:recursive\", \"cpu:iterative_scan\"]\nsizes = [\"2^4..2^7\"]\nrepetitions = 3\n",
    );
    run(&experiment, folder.path(), &mut Silent::default()).unwrap();
    let page = report::write(folder.path()).unwrap();
    assert_eq!(page, folder.path().join("report.html"));
    for file in ["summary.csv", "summary.json", "plots/all.svg", "plots/all.png", "plots/throughput.png"] {
        assert!(folder.path().join(file).metadata().unwrap().len() > 100, "{file}");
    }
    let summary = std::fs::read_to_string(folder.path().join("summary.csv")).unwrap();
    assert_eq!(summary.lines().count(), 1 + 3 * 4);
    let json = std::fs::read(folder.path().join("summary.json")).unwrap();
    let json: serde_json::Value = serde_json::from_slice(&json).unwrap();
    assert_eq!(json["groups"][0]["cells"].as_array().unwrap().len(), 12);
}

#[test]
fn the_report_links_the_rungs_it_measured_into_the_explorer_if_there_is_one() {
    let folder = tempfile::tempdir().unwrap();
    let experiment = experiment(
        "implementations = [\"cpu:std\", \"cpu:recursive\"]\nsizes = [\"2^4..2^5\"]\nrepetitions = 1\n",
    );
    run(&experiment, folder.path(), &mut Silent::default()).unwrap();
    let read = |file: &str| std::fs::read_to_string(folder.path().join(file)).unwrap();
    report::write(folder.path()).unwrap();
    assert!(!read("report.html").contains(report::EXPLORER), "no link to a page that is not there");
    assert!(!folder.path().join(report::EXPLORER).exists());

    let page = |summary: &str| summary.contains("cpu:recursive").then(|| "a page".to_owned());
    report::write_with_explorer(folder.path(), Statistic::Mean, page).unwrap();
    assert_eq!(read(report::EXPLORER), "a page");
    let report = read("report.html");
    assert!(report.contains("<a href=\"explore.html#view=ladder&amp;rungs=recursive\">cpu:recursive</a>"));
    assert_eq!(report.matches("explore.html#").count(), 1, "each rung once, and cpu:std is not a rung");
}
