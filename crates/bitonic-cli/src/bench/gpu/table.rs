//! Results for people.

use super::contender::{self, Cell, Contender, Measured, Outcome};
use super::job::Job;
use crate::figures::{billion_keys_per_second, gigabytes_per_second, percent, ratio, time, time_of_seconds};
use crate::lines::Lines;
use crate::quantity;
use crate::table::Plain;
use bitonic::Engine;
use bitonic_lab::record::{DeviceDescription, Program};
use std::time::Duration;

/// What is told beside the figures.
pub(super) struct Circumstances {
    /// The engine that uses the device.
    pub(super) engine: Engine,
    /// Why the engine is this one, if it was not asked for.
    pub(super) engine_note: String,
    pub(super) device: DeviceDescription,
    pub(super) program: Program,
    /// Every peer that was asked for: what it is, or why it is missing.
    pub(super) peers: Vec<(&'static str, String)>,
    /// How long everybody sorts before the sort that counts.
    pub(super) warm_up: Duration,
}

/// What was measured on, a table of sorts of all keys, one of sorts in rows, and what the columns mean.
pub(super) fn render(cells: &[Cell], circumstances: &Circumstances) -> String {
    let device = &circumstances.device;
    let (in_rows, whole): (Vec<&Cell>, Vec<&Cell>) = cells.iter().partition(|cell| cell.job.rows.rows > 1);
    let mut text = heading(cells, circumstances).to_string();
    if !whole.is_empty() {
        text += &format!("\n{}", whole_table(cells, &whole, device));
    }
    if !in_rows.is_empty() {
        text += &format!("\n{}", row_table(cells, &in_rows, device));
    }
    text + "\nmedian: from the start of the first command on the device to the end of the last one, by the device's clock\n\
            spread: how wide a range the middle half of the times lies in, relative to the median\n\
            bandwidth: every launch reads and writes every key; of copy: beside the device's plain copy\n\
            times: how many times as long as bitonic it took\n"
}

fn heading(cells: &[Cell], circumstances: &Circumstances) -> Lines {
    let Circumstances { engine, engine_note, device, peers, warm_up, .. } = circumstances;
    let DeviceDescription { name, kind, platform, driver, interface, copy_bytes_per_second, .. } = device;
    let mut lines = Lines::default();
    lines.add("device", format_args!("{name} ({kind}, {platform})"));
    lines.add("engine", format_args!("{engine}{engine_note}"));
    let versions: Vec<&str> =
        [driver, interface].into_iter().map(String::as_str).filter(|version| !version.is_empty()).collect();
    lines.add("driver", versions.join(", "));
    if let Some(copy) = copy_bytes_per_second {
        lines.add("copy", format_args!("{}, read plus written", gigabytes_per_second(*copy)));
    }
    for (name, state) in peers {
        lines.add(name, state);
    }
    lines.add("keys", format_args!("{}, on the device before the clock starts", kinds_of_keys(cells)));
    if let Some(measured) = cells.iter().find_map(Cell::measured) {
        lines.add(
            "runs",
            format_args!(
                "{} of every sort, by turns, each after {} of the same; every result fetched and verified",
                measured.time.count,
                time(*warm_up)
            ),
        );
    }
    lines
}

/// The types of all keys, their values and what they are like: `u32 and f32, random`.
fn kinds_of_keys(cells: &[Cell]) -> String {
    let types = distinct(cells, |job| job.key_type.to_string());
    let patterns = distinct(cells, |job| job.pattern.to_string());
    let with_values = if cells.iter().any(|cell| cell.job.has_values) { " with u32 values" } else { "" };
    format!("{}{with_values}, {}", types.join(" and "), patterns.join(" and "))
}

/// The different answers for all jobs, in their order.
fn distinct(cells: &[Cell], answer: impl Fn(Job) -> String) -> Vec<String> {
    let mut answers: Vec<String> = Vec::new();
    for cell in cells {
        let answer = answer(cell.job);
        if !answers.contains(&answer) {
            answers.push(answer);
        }
    }
    answers
}

/// What tells a job's keys from others of the same length, where that is anything: ` f32 sorted`.
fn kind_of_keys(cells: &[Cell], job: Job) -> String {
    let mut text = String::new();
    for answer in [|job: Job| job.key_type.to_string(), |job: Job| job.pattern.to_string()] {
        if distinct(cells, answer).len() > 1 {
            text += " ";
            text += &answer(job);
        }
    }
    text
}

const FIGURES: usize = 7;

/// Median, spread, speed, launches, bandwidth, its share of a copy's, and the time beside the engine's; and what else there is
/// to say.
fn figures(cells: &[Cell], cell: &Cell, device: &DeviceDescription) -> ([String; FIGURES], String) {
    let none = || "-".to_owned();
    let measured = match &cell.outcome {
        Outcome::Measured(measured) => measured,
        Outcome::Wrong(reason) => return (std::array::from_fn(|_| none()), reason.clone()),
        Outcome::LeftOut(reason) => {
            return (std::array::from_fn(|_| none()), format!("left out: {reason}"));
        }
    };
    let Measured { time: summary, launches, .. } = measured;
    let speed = measured.bytes_per_second(cell.job);
    let share = speed.zip(device.copy_bytes_per_second).map(|(speed, copy)| speed / copy);
    let bitonic = contender::beside(cells, cell.job, &Contender::BITONIC);
    let figures = [
        time_of_seconds(summary.median),
        percent(summary.spread()),
        billion_keys_per_second(measured.keys_per_second(cell.job)),
        launches.map_or_else(none, |launches| launches.to_string()),
        speed.map_or_else(none, gigabytes_per_second),
        share.map_or_else(none, percent),
        bitonic
            .and_then(Cell::median)
            .zip(cell.median())
            .map_or_else(none, |(bitonic, own)| ratio(own, bitonic)),
    ];
    (figures, note(cells, cell, measured))
}

/// For the engine: how it compares with the best peer on the same keys or, where there is none, with the best rung.
fn note(cells: &[Cell], cell: &Cell, measured: &Measured) -> String {
    if !cell.contender.is_engine() {
        return measured.note.clone();
    }
    let peer = contender::best(cells, cell.job, Contender::is_peer).map(|peer| (peer, "peer"));
    let best =
        peer.or_else(|| contender::best(cells, cell.job, Contender::is_rung).map(|rung| (rung, "rung")));
    match best.and_then(|(best, kind)| Some((best.contender.name(), best.median()?, cell.median()?, kind))) {
        Some((name, median, own, kind)) => {
            format!("{} as fast as {name}, the best {kind}", ratio(median, own))
        }
        None => String::new(),
    }
}

fn whole_table(all: &[Cell], cells: &[&Cell], device: &DeviceDescription) -> Plain {
    let heading =
        ["n", "sort", "median", "spread", "Gkeys/s", "launches", "bandwidth", "of copy", "times", ""];
    let mut table = Plain::new(heading).align_right(0..1).align_right(2..9);
    for cell in cells {
        let ([median, spread, keys, launches, speed, share, times], note) = &figures(all, cell, device);
        let n = quantity::name(cell.job.len()) + &kind_of_keys(all, cell.job);
        table.add([&n, &cell.contender.name(), median, spread, keys, launches, speed, share, times, note]);
    }
    table
}

fn row_table(all: &[Cell], cells: &[&Cell], device: &DeviceDescription) -> Plain {
    let heading = [
        "row length",
        "rows",
        "sort",
        "median",
        "spread",
        "Gkeys/s",
        "launches",
        "bandwidth",
        "of copy",
        "times",
        "",
    ];
    let mut table = Plain::new(heading).align_right(0..2).align_right(3..10);
    for cell in cells {
        let ([median, spread, keys, launches, speed, share, times], note) = &figures(all, cell, device);
        let length = quantity::name(cell.job.rows.row_length) + &kind_of_keys(all, cell.job);
        let (rows, name) = (quantity::name(cell.job.rows.rows), cell.contender.name());
        table.add([&length, &rows, &name, median, spread, keys, launches, speed, share, times, note]);
    }
    table
}
