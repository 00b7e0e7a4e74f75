//! What a reader of a report must be able to rely on: nothing unfinished, noisy or extrapolated passes for a measured fact.

use crate::made_up;
use crate::silent::Silent;
use bitonic_lab::analysis::{Analysis, Outcome, Statistic, compare};
use bitonic_lab::experiment::{Entry, file};
use bitonic_lab::measure::run;
use bitonic_lab::plot::{Style, charts, over_two_runs};
use bitonic_lab::record::{RECORDS, read_run};
use bitonic_lab::report;
use std::path::Path;

/// The page of the run in a folder, without its plots.
fn page(folder: &Path) -> String {
    report::html(&Analysis::read(folder).unwrap(), &[], None)
}

#[test]
fn the_report_of_an_unfinished_run_says_so_and_how_to_go_on() {
    let folder = tempfile::tempdir().unwrap();
    made_up::write(folder.path(), 1.0);
    assert!(!page(folder.path()).contains("not finished"), "every cell has a record");

    let path = folder.path().join(RECORDS);
    let records = std::fs::read_to_string(&path).unwrap();
    // The four sorts of the last instance that one implementation made.
    let lines: Vec<&str> = records.lines().collect();
    std::fs::write(&path, lines[..lines.len() - 4].join("\n") + "\n").unwrap();
    let page = page(folder.path());
    assert!(page.contains("This run is not finished: 1 instances of implementations have no time yet."));
    assert!(page.contains("<code>bitonic lab resume</code> goes on."));
}

/// An instance that the budget left no time for is no work to go on with.
#[test]
fn a_run_that_its_budget_cut_short_is_finished() {
    let folder = tempfile::tempdir().unwrap();
    made_up::write(folder.path(), 1.0);
    let (mut experiment, machine, mut records) = read_run(folder.path()).unwrap();
    let cut = |record: &bitonic_lab::record::Record| {
        (record.implementation == "cpu:recursive" && record.size == 1 << 16 && record.key_type == "i32")
            .then_some(record.instance)
    };
    records.retain(|record| cut(record) != Some(2));
    let spent: f64 =
        records.iter().filter(|record| cut(record) == Some(1)).filter_map(|record| record.seconds).sum();
    let mut open = |budget: f64| {
        experiment.budget_seconds = Some(budget);
        Analysis::of(&experiment, &machine, &records, &[], Statistic::Mean).open
    };
    // Four runs of the first instance are there; a fifth of as long would be the first of the second.
    assert_eq!(open(spent * 1.2), 0);
    assert_eq!(open(spent * 1.3), 1);
}

#[test]
fn times_are_marked_as_noise_where_they_deviate_by_more_than_a_fifth_and_nowhere_else() {
    let folder = tempfile::tempdir().unwrap();
    made_up::write(folder.path(), 1.0);
    // One sort of one cell, disturbed: ten times as long as the others.
    let path = folder.path().join(RECORDS);
    let records = std::fs::read_to_string(&path).unwrap();
    let seconds = records.lines().next().unwrap().split(',').position(|name| name == "seconds").unwrap();
    let mut disturbed = 0;
    let lines = records.lines().map(|line| {
        let mut fields: Vec<String> = line.split(',').map(str::to_owned).collect();
        if disturbed == 0 && fields[0] == "cpu:std" {
            disturbed += 1;
            fields[seconds] = (fields[seconds].parse::<f64>().unwrap() * 10.0).to_string();
        }
        fields.join(",") + "\n"
    });
    let lines: String = lines.collect();
    std::fs::write(&path, lines).unwrap();
    assert_eq!(disturbed, 1);

    let noisy = |analysis: &Analysis| {
        let cells = analysis.groups.iter().flat_map(|group| &group.cells);
        let measured = cells.filter_map(|cell| cell.measured());
        measured.filter(|summary| summary.relative_deviation.is_some_and(|share| share > 0.2)).count()
    };
    let expected = noisy(&Analysis::read(folder.path()).unwrap());
    assert!(expected >= 1);
    let page = page(folder.path());
    assert_eq!(page.matches("<td class=\"noisy\">").count(), expected);
    assert_eq!(page.matches(", noise<br>").count(), expected);
}

#[test]
fn nothing_follows_from_extrapolated_times() {
    let folder = tempfile::tempdir().unwrap();
    made_up::write(folder.path(), 1.0);
    let analysis = Analysis::read(folder.path()).unwrap();
    let mut extrapolated = 0;
    for group in &analysis.groups {
        extrapolated +=
            group.cells.iter().filter(|cell| matches!(cell.outcome, Outcome::Extrapolated { .. })).count();
        let measured = |name: &str, size: usize| group.cell(name, size).unwrap().measured().is_some();
        for table in group.speedups.iter().chain(&group.optimisations) {
            let both: Vec<usize> = group
                .sizes
                .iter()
                .copied()
                .filter(|&size| measured(&table.first, size) && measured(&table.second, size))
                .collect();
            let sizes: Vec<usize> = table.ratios.iter().map(|ratio| ratio.size).collect();
            assert_eq!(sizes, both, "{}", table.name);
        }
        for crossover in &group.crossovers {
            for size in [crossover.last, crossover.first] {
                assert!(measured(&crossover.below, size) && measured(&crossover.above, size));
            }
        }
    }
    assert!(extrapolated > 0, "else nothing is tested");

    // Extrapolated times a thousand times as long change nothing but themselves.
    let (experiment, machine, mut records) = read_run(folder.path()).unwrap();
    for record in &mut records {
        if record.status == bitonic_lab::record::Status::Extrapolated {
            record.seconds = record.seconds.map(|seconds| 1000.0 * seconds);
        }
    }
    let other = Analysis::of(&experiment, &machine, &records, &[], Statistic::Mean);
    for (group, other) in analysis.groups.iter().zip(&other.groups) {
        let said = |group: &bitonic_lab::analysis::Group| {
            let parts = (&group.speedups, &group.optimisations, &group.fits, &group.two_terms);
            serde_json::to_string(&(parts, &group.crossovers, &group.hypotheses, &group.limits)).unwrap()
        };
        assert_eq!(said(group), said(other));
    }
}

#[test]
fn no_plot_has_more_than_eight_series_and_no_implementation_is_lost() {
    let folder = tempfile::tempdir().unwrap();
    made_up::write(folder.path(), 1.0);
    let (mut experiment, machine, mut records) = read_run(folder.path()).unwrap();
    // The same times under nine more names.
    let copies: Vec<_> =
        records.iter().filter(|record| record.implementation == "cpu:std").cloned().collect();
    for number in 1..=9 {
        let name = format!("cpu:copy_{number}");
        experiment.implementations.push(Entry { implementation: name.clone(), label: name.clone() });
        records.extend(copies.iter().cloned().map(|mut record| {
            record.implementation = name.clone();
            record
        }));
    }
    let analysis = Analysis::of(&experiment, &machine, &records, &[], Statistic::Mean);
    let charts = charts(&analysis);
    for kind in ["all", "throughput"] {
        let mut names = Vec::new();
        for named in
            charts.iter().filter(|named| named.name.starts_with(kind) && named.name.ends_with("i32-random"))
        {
            let measured = named.chart.series.iter().filter(|one| matches!(one.style, Style::Measured(_)));
            let before = names.len();
            names.extend(measured.map(|one| one.name.clone()));
            assert!(names.len() - before <= 8, "{}: {} series", named.name, names.len() - before);
        }
        names.sort();
        let mut expected: Vec<String> =
            experiment.implementations.iter().map(|entry| entry.implementation.clone()).collect();
        expected.sort();
        assert_eq!(names, expected, "{kind}");
    }
}

#[test]
fn two_runs_are_drawn_over_each_other_and_compared_by_mean_or_median() {
    let [one, two] = [1.0, 3.0].map(|factor| {
        let folder = tempfile::tempdir().unwrap();
        made_up::write(folder.path(), factor);
        folder
    });
    for statistic in [Statistic::Mean, Statistic::Median] {
        let [first, second] = [&one, &two].map(|folder| Analysis::read_by(folder.path(), statistic).unwrap());
        let charts = over_two_runs(["one".to_owned(), "two".to_owned()], [&first, &second]);
        assert_eq!(charts.len(), 2 * 5, "every implementation, for both types");
        for named in &charts {
            let [before, after] = &named.chart.series[..] else {
                panic!("{} series", named.chart.series.len())
            };
            assert_eq!((before.name.as_str(), after.name.as_str()), ("one", "two"));
            for (point, other) in before.points.iter().zip(&after.points) {
                assert!((other.y / point.y - 3.0).abs() < 1e-9, "{}", named.name);
            }
        }
        let comparison = compare(&first, &second);
        assert!(!comparison.changes.is_empty());
        for change in &comparison.changes {
            let expected = change.first.center(statistic) / change.second.center(statistic);
            assert_eq!(change.ratio, expected, "{} {}", change.implementation, change.size);
        }
    }
}

#[test]
fn the_machine_is_described_as_far_as_it_tells() {
    let folder = tempfile::tempdir().unwrap();
    let text = "implementations = [\"cpu:std\", \"opencl:naive_scan\"]\nsizes = [64]\nrepetitions = 1\n";
    let experiment = file::read(text, "test", None).unwrap();
    run(&experiment, folder.path(), &mut Silent::default()).unwrap();
    let (_, machine, _) = read_run(folder.path()).unwrap();
    let page = page(folder.path());
    let mut facts = vec![
        "processor",
        "cores",
        "memory",
        "system",
        "compiler",
        "opencl device",
        "opencl driver",
        "opencl memory",
    ];
    // Not every system tells its caches and clock; where it does, both are there.
    let there = |path: &str| Path::new(path).exists();
    facts.extend(there("/sys/devices/system/cpu/cpu0/cache/index0/size").then_some("caches"));
    let clock = std::fs::read_to_string("/proc/cpuinfo").is_ok_and(|text| text.contains("cpu MHz"));
    facts.extend(clock.then_some("clock"));
    for fact in facts {
        let value = machine.get(fact).unwrap_or_else(|| panic!("no {fact}"));
        assert!(!value.is_empty(), "{fact}");
        assert!(page.contains(fact), "{fact} is not in the report");
    }
    assert!(machine.get("compiler").unwrap().starts_with("rustc "));
}
