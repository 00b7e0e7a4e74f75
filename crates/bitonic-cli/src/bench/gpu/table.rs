//! Results for people.

use super::machine::Machine;
use super::measure::{Cell, Contender, Measured};
use crate::figures::{gigabytes_per_second, percent, ratio, time};
use crate::lines::Lines;
use crate::quantity;
use crate::table::Plain;
use bitonic::key::KeyType;

/// What was measured on, a table of sorts of all keys, one of sorts in rows, and what the columns mean.
pub(super) fn render(cells: &[Cell], key_type: KeyType, machine: &Machine) -> String {
    let (in_rows, whole): (Vec<&Cell>, Vec<&Cell>) = cells.iter().partition(|cell| cell.rows.rows > 1);
    let mut text = heading(cells, key_type, machine).to_string();
    if !whole.is_empty() {
        text += &format!("\n{}", whole_table(&whole, machine));
    }
    if !in_rows.is_empty() {
        text += &format!("\n{}", row_table(&in_rows, machine));
    }
    text + "\nmedian: from the start of the first kernel to the end of the last one, by the device's clock\n\
            spread: how wide a range the middle half of the times lies in, relative to the median\n\
            bandwidth: every launch reads and writes every key; of copy: beside the device's plain copy\n"
}

fn heading(cells: &[Cell], key_type: KeyType, machine: &Machine) -> Lines {
    let Machine { device, kind, platform, driver, opencl, copy_bytes_per_second, .. } = machine;
    let mut lines = Lines::default();
    lines.add("device", format_args!("{device} ({kind}, {platform})"));
    lines.add("driver", format_args!("{driver}, {opencl}"));
    if let Some(copy) = copy_bytes_per_second {
        lines.add("copy", format_args!("{}, read plus written", gigabytes_per_second(*copy)));
    }
    lines.add("keys", format_args!("{key_type}, random, on the device before the clock starts"));
    if let Some(measured) = cells.iter().find_map(|cell| cell.outcome.as_ref().ok()) {
        let runs = measured.time.count;
        lines.add("runs", format_args!("{runs} of every sort, by turns; every result fetched and verified"));
    }
    lines
}

const FIGURES: usize = 5;

/// Median, spread, launches, bandwidth and its share of a copy's.
fn figures(measured: &Measured, machine: &Machine) -> [String; FIGURES] {
    let speed = measured.bytes_per_second();
    [
        time(measured.time.median),
        percent(measured.time.spread),
        measured.launches.to_string(),
        gigabytes_per_second(speed),
        machine.copy_bytes_per_second.map_or_else(|| "-".to_owned(), |copy| percent(speed / copy)),
    ]
}

fn whole_table(cells: &[&Cell], machine: &Machine) -> Plain {
    let heading = ["n", "sort", "median", "spread", "launches", "bandwidth", "of copy", ""];
    let mut table = Plain::new(heading).align_right(0..1).align_right(2..7);
    for cell in cells {
        let (figures, note) = match &cell.outcome {
            Ok(measured) => (figures(measured, machine), beside_best_rung(cells, cell, measured)),
            Err(reason) => (std::array::from_fn(|_| "-".to_owned()), format!("left out: {reason}")),
        };
        let [median, spread, launches, speed, share] = &figures;
        let n = quantity::name(cell.rows.len());
        table.add([&n, cell.contender.name(), median, spread, launches, speed, share, &note]);
    }
    table
}

/// For the engine: how it compares with the best rung on the same keys.
fn beside_best_rung(cells: &[&Cell], cell: &Cell, measured: &Measured) -> String {
    if cell.contender != Contender::Engine {
        return String::new();
    }
    let rungs = cells.iter().filter(|other| other.rows == cell.rows && other.contender != Contender::Engine);
    let times = rungs.filter_map(|rung| Some((rung.contender, rung.outcome.as_ref().ok()?.time.median)));
    match times.min_by_key(|(_, median)| *median) {
        Some((rung, median)) => {
            format!("{} as fast as {}, the best rung", ratio(median, measured.time.median), rung.name())
        }
        None => String::new(),
    }
}

fn row_table(cells: &[&Cell], machine: &Machine) -> Plain {
    let heading = ["row length", "rows", "median", "spread", "launches", "bandwidth", "of copy"];
    let mut table = Plain::new(heading).align_right(0..7);
    for cell in cells {
        let Ok(measured) = &cell.outcome else { continue };
        let [median, spread, launches, speed, share] = &figures(measured, machine);
        let (length, rows) = (quantity::name(cell.rows.row_length), quantity::name(cell.rows.rows));
        table.add([&length, &rows, median, spread, launches, speed, share]);
    }
    table
}
