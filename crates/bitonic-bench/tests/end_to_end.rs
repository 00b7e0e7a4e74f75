//! A tiny run of everything: every sort, type and kind of result.

use bitonic_bench::contender::Threads;
use bitonic_bench::element::Element;
use bitonic_bench::error::Error;
use bitonic_bench::experiment::{Effort, Experiment};
use bitonic_bench::machine::Machine;
use bitonic_bench::measure::{Bench, Cell, CellId, Watch, find, measure};
use bitonic_bench::peers::Sort;
use bitonic_bench::{csv, table};
use bitonic_lab::peer::{Library, Wanted};
use bitonic_lab::record::{CsvFile, Record};
use bitonic_testkit::Pattern;
use std::path::Path;
use std::time::Duration;

/// Counts the cells that it is told of.
#[derive(Default)]
struct Counted {
    in_sizes: usize,
    in_groups: usize,
}

impl Watch for Counted {
    fn begins(&mut self, _: Element, _: Pattern, _: usize) {}

    fn size_done(&mut self, cells: &[Cell]) -> Result<(), Error> {
        self.in_sizes += cells.len();
        Ok(())
    }

    fn group_done(&mut self, cells: &[Cell]) {
        self.in_groups += cells.len();
    }
}

/// Runs every sort on every type; `measure` itself verifies every result. numpy takes part if it is installed.
fn run(patterns: &[Pattern], sizes: &[usize], runs: Option<&Path>) -> (Experiment, Vec<Cell>) {
    let patience = Duration::from_secs(60);
    let wanted = Wanted { key_types: Vec::new(), ordinal: 0, python: "python3".into(), patience };
    let numpy = Library::Numpy.start(&wanted, &mut |_| ());
    let numpy = numpy.map_err(|reason| println!("skipped: numpy: {reason}")).ok();
    let takes_part = |sort: &Sort| *sort != Sort::Numpy || numpy.is_some();
    let experiment = Experiment {
        elements: Element::ALL.to_vec(),
        patterns: patterns.to_vec(),
        sizes: sizes.to_vec(),
        sorts: Sort::ALL.iter().copied().filter(takes_part).collect(),
        effort: Effort { time: Duration::ZERO, repetitions: 1, keys: 1 << 12 },
        seed: 1,
    };
    let mut bench = Bench { threads: Threads::start().unwrap(), numpy, runs: runs.map(CsvFile::new) };
    let mut counted = Counted::default();
    let cells = measure(&experiment, &mut bench, &mut counted).unwrap();
    assert_eq!((counted.in_sizes, counted.in_groups), (cells.len(), cells.len()));
    (experiment, cells)
}

#[test]
fn every_sort_sorts_every_type_and_is_measured_recorded_and_reported() {
    let folder = tempfile::tempdir().unwrap();
    let runs = folder.path().join("cpu.runs.csv");
    let (experiment, cells) = run(&[Pattern::Random], &[100, 4096], Some(&runs));
    let mut expected = 0;
    for &element in &experiment.elements {
        for &size in &experiment.sizes {
            for &sort in &experiment.sorts {
                if sort.left_out(element, Pattern::Random, size).is_none() {
                    expected += 1;
                    let id = CellId { sort, element, pattern: Pattern::Random, size };
                    let cell = find(&cells, id).unwrap_or_else(|| panic!("{id} is missing"));
                    assert!(cell.nanoseconds.median > 0.0 && cell.nanoseconds.count == 1, "{id}");
                }
            }
        }
    }
    assert_eq!(cells.len(), expected);
    assert_eq!(csv::lines(&cells, &Machine::describe(None)).len(), expected);
    let first = table::render(&cells[..experiment.sorts.len()], &experiment.sorts);
    assert!(first.contains("u32, random") && first.contains("djbsort"), "{first}");

    let text = std::fs::read_to_string(runs).unwrap();
    assert_eq!(text.lines().count(), 1 + expected, "every run is a line");
    let heading = bitonic_lab::record::text(&[Record::default()], true).unwrap();
    let heading = String::from_utf8(heading).unwrap();
    assert_eq!(text.lines().next(), heading.lines().next(), "and a record of the laboratory");
}

#[test]
fn sorts_that_are_given_nans_keep_their_bits_and_order() {
    let (experiment, cells) = run(&[Pattern::Special], &[4096], None);
    let floats = [Element::F32, Element::F64];
    let took_part = |sort| {
        floats.iter().all(|&element| {
            find(&cells, CellId { sort, element, pattern: Pattern::Special, size: 4096 }).is_some()
        })
    };
    for &sort in &experiment.sorts {
        let refuses = matches!(sort, Sort::Voracious | Sort::VoraciousThreads | Sort::Numpy);
        assert_eq!(took_part(sort), !refuses, "{sort}");
    }
}
