//! A tiny run of everything: every contender, type and kind of result.

use bitonic_bench::element::Element;
use bitonic_bench::experiment::{Effort, Experiment};
use bitonic_bench::machine::Machine;
use bitonic_bench::measure::{Arena, Cell, Place, find, measure};
use bitonic_bench::numpy::Numpy;
use bitonic_bench::peers::Contender;
use bitonic_bench::{csv, table};
use bitonic_testkit::Pattern;
use std::path::Path;
use std::time::Duration;

/// Runs every contender on every type; `measure` itself verifies every result. numpy takes part if it is installed.
fn run(patterns: &[Pattern], sizes: &[usize]) -> (Experiment, Vec<Cell>) {
    let numpy = Numpy::start(Path::new("python3")).ok();
    let takes_part = |contender: &Contender| *contender != Contender::Numpy || numpy.is_some();
    let experiment = Experiment {
        elements: Element::ALL.to_vec(),
        patterns: patterns.to_vec(),
        sizes: sizes.to_vec(),
        contenders: Contender::ALL.iter().copied().filter(takes_part).collect(),
        effort: Effort { time: Duration::ZERO, repetitions: 1, keys: 1 << 12 },
        seed: 1,
    };
    let mut arena = Arena::new(numpy).unwrap();
    let cells = measure(&experiment, &mut arena, |_| ()).unwrap();
    (experiment, cells)
}

#[test]
fn every_contender_sorts_every_type_and_is_measured_and_reported() {
    let (experiment, cells) = run(&[Pattern::Random], &[100, 4096]);
    let mut expected = 0;
    for &element in &experiment.elements {
        for &size in &experiment.sizes {
            for &contender in &experiment.contenders {
                if contender.left_out(element, Pattern::Random, size).is_none() {
                    expected += 1;
                    let place = Place { contender, element, pattern: Pattern::Random, size };
                    let cell = find(&cells, place).unwrap_or_else(|| panic!("{place} is missing"));
                    assert!(cell.nanoseconds.median > 0.0 && cell.nanoseconds.count == 1, "{place}");
                }
            }
        }
    }
    assert_eq!(cells.len(), expected);
    assert_eq!(csv::render(&cells, &Machine::describe(None)).lines().count(), expected + 1);
    let first = table::render(&cells[..experiment.contenders.len()], &experiment.contenders);
    assert!(first.contains("u32, random") && first.contains("djbsort"), "{first}");
}

#[test]
fn contenders_that_are_given_nans_keep_their_bits_and_order() {
    let (experiment, cells) = run(&[Pattern::Special], &[4096]);
    let floats = [Element::F32, Element::F64];
    let took_part = |contender| {
        floats.iter().all(|&element| {
            find(&cells, Place { contender, element, pattern: Pattern::Special, size: 4096 }).is_some()
        })
    };
    for &contender in &experiment.contenders {
        let refuses =
            matches!(contender, Contender::Voracious | Contender::VoraciousThreads | Contender::Numpy);
        assert_eq!(took_part(contender), !refuses, "{contender}");
    }
}
