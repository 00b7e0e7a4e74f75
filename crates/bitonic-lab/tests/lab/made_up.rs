//! A run that nobody made: times from formulas, so that everything a report can have is in it.

use bitonic_lab::experiment::{Entry, Experiment, LeftOut, Pair, file};
use bitonic_lab::record::{
    CellKey, Fact, InstructionCount, Journal, Machine, Record, Status, write_instructions,
};
use std::path::Path;

const SIZES: std::ops::RangeInclusive<u32> = 10..=16;

/// Writes the run to a folder, with all times so many times as long.
pub(crate) fn write(directory: &Path, factor: f64) {
    let experiment = experiment();
    let machine = machine();
    let mut journal = Journal::create(directory, &experiment, &machine).unwrap();
    for case in &experiment.cases {
        for (number, entry) in experiment.implementations.iter().enumerate() {
            let cell = CellKey::new(&entry.implementation, case);
            match time(&entry.implementation, case.size) {
                Some(seconds) => {
                    for repetition in 1..=case.repetitions {
                        let wobble =
                            noise(number as u64, case.size as u64, (case.instance * 100 + repetition) as u64);
                        let seconds = factor * seconds * (1.0 + wobble * spread(&entry.implementation));
                        journal.append(&record(&cell, case.instance, repetition, seconds)).unwrap();
                    }
                }
                None if case.instance == 1 => journal.append(&not_measured(&cell, factor)).unwrap(),
                None => {}
            }
        }
    }
    let count = |implementation: &str, instructions: Option<u64>| InstructionCount {
        implementation: implementation.to_owned(),
        key_type: "i32".to_owned(),
        distribution: "random".to_owned(),
        size: 4096,
        instructions,
        note: String::new(),
    };
    let counts = [count("cpu:recursive", Some((factor * 3_456_789.0) as u64)), count("cpu:odd_even", None)];
    write_instructions(directory, &counts).unwrap();
}

fn experiment() -> Experiment {
    let text = "implementations = [\"cpu:std\"]\nsizes = [\"2^10..2^16\"]\ninstances = 2\nrepetitions = 4\n\
                types = [\"i32\", \"f64\"]\n";
    let mut experiment = file::read(text, "made up & <odd>", None).unwrap();
    let names =
        ["cpu:recursive", "cpu:std", "cpu:odd_even", "opencl:compare_pair", "opencl:odd_even_one_kernel"];
    experiment.implementations =
        names.iter().map(|&name| Entry { implementation: name.to_owned(), label: name.to_owned() }).collect();
    let pair = |name: &str, first: &str, second: &str| Pair {
        name: name.to_owned(),
        first: first.to_owned(),
        second: second.to_owned(),
    };
    experiment.speedups = vec![
        pair("bitonic sort", "cpu:recursive", "opencl:compare_pair"),
        pair("odd-even sort", "cpu:odd_even", "opencl:odd_even_one_kernel"),
    ];
    experiment.optimisations = vec![pair("another algorithm", "cpu:recursive", "cpu:std")];
    let reason = "there is no driver here".to_owned();
    experiment.left_out = vec![LeftOut { implementation: "cuda:bitonic".to_owned(), reason }];
    experiment
}

fn machine() -> Machine {
    let facts = [
        ("processor", "a processor"),
        ("cores", "2"),
        ("date", "2025-01-02"),
        ("counters", "perf events"),
        ("cpu copy bytes per second", "18000000000"),
        ("opencl device", "a device"),
        ("opencl copy bytes per second", "400000000000"),
        ("opencl seconds per launch", "0.000004"),
    ];
    Machine {
        facts: facts.map(|(name, value)| Fact { name: name.to_owned(), value: value.to_owned() }).into(),
    }
}

/// What a sort takes; nothing if it was not measured.
fn time(implementation: &str, size: usize) -> Option<f64> {
    let n = size as f64;
    let log2 = n.log2();
    match implementation {
        "cpu:recursive" => Some(2e-9 * n * log2 * log2),
        "cpu:std" => Some(2e-6 + 4e-9 * n * log2),
        // Crosses the recursive form, and is left out where it would take long.
        "cpu:odd_even" => (size <= 1 << 13).then_some(1.2e-10 * n * n),
        "opencl:compare_pair" => Some(1.5e-4 + 1e-10 * n * log2 * log2),
        "opencl:odd_even_one_kernel" => (size <= 1 << 15).then_some(4e-6 * n + 2e-12 * n * n),
        other => panic!("{other} has no time"),
    }
}

fn spread(implementation: &str) -> f64 {
    if implementation.starts_with("opencl") { 0.2 } else { 0.05 }
}

/// A number from -1 to 1 that looks random and is the same everywhere.
fn noise(a: u64, b: u64, c: u64) -> f64 {
    let mut state = a.wrapping_mul(0x9E37_79B9_7F4A_7C15)
        ^ b.wrapping_mul(0xBF58_476D_1CE4_E5B9)
        ^ c.wrapping_mul(0x94D0_49BB_1331_11EB);
    state ^= state >> 31;
    state = state.wrapping_mul(0xD6E8_FEB8_6659_FD93);
    state ^= state >> 32;
    (state >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
}

fn record(cell: &CellKey, instance: usize, repetition: usize, seconds: f64) -> Record {
    let n = cell.size as u64;
    let mut record = Record { instance, repetition, seconds: Some(seconds), ..Record::of(cell) };
    if cell.implementation.starts_with("opencl") {
        record.upload_seconds = Some(seconds * 0.1);
        record.kernel_seconds = Some(seconds * 0.75);
        record.download_seconds = Some(seconds * 0.15);
        record.busy_seconds = Some(seconds * 0.5);
        record.launches = Some(if cell.implementation.contains("odd") { n } else { 105 });
        record.kernel_bytes = Some(105 * 8 * n);
    } else if cell.implementation != "cpu:odd_even" {
        let count = (seconds * 3e9) as u64;
        (record.cycles, record.instructions) = (Some(count), Some(2 * count + repetition as u64));
        (record.branches, record.branch_misses) = (Some(count / 5), Some(count / 90));
        record.cache_references = Some(count / 100);
    }
    record
}

fn not_measured(cell: &CellKey, factor: f64) -> Record {
    if cell.size.ilog2() == *SIZES.end() && cell.implementation == "cpu:odd_even" {
        return Record {
            status: Status::LeftOut,
            note: "the device went away".to_owned(),
            ..Record::of(cell)
        };
    }
    let seconds = Some(factor * 1e-9 * (cell.size as f64).powi(2));
    let note = "would take about an hour".to_owned();
    Record { status: Status::Extrapolated, seconds, note, ..Record::of(cell) }
}
