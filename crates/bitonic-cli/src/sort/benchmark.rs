//! `--random` without an output: how fast is a sort here, beside the standard library's?

use super::formats::FileKey;
use super::progress::Progress;
use super::report::{Lines, rate};
use crate::failure::Failure;
use bitonic::key::Order;
use bitonic::{Report, Sorter};
use std::cmp::Reverse;
use std::io::{self, Write};
use std::time::{Duration, Instant};

/// Both sorts run three times, by turns, when neither takes longer than this.
const QUICK: Duration = Duration::from_secs(1);

/// Sorts copies of the keys with `sorter` and with the standard library, compares the results bit for bit, and prints
/// what was measured. `what` says how the keys were made.
pub(super) fn run<K: FileKey>(what: &str, input: &[K], sorter: &Sorter, order: Order) -> Result<(), Failure> {
    let mut ours = Vec::new();
    let mut standard = Vec::new();
    let mut report = turn(input, sorter, order, &mut ours, &mut standard)?;
    if ours[0].max(standard[0]) <= QUICK {
        for _ in 0..2 {
            report = turn(input, sorter, order, &mut ours, &mut standard)?;
        }
    }
    let runs = ours.len();
    let (ours, standard) = (median(ours), median(standard));
    let ratio = standard.as_secs_f64() / ours.as_secs_f64().max(1e-9);

    let mut lines = Lines::default();
    lines.add("keys", what);
    lines.add("engine", report.engine);
    lines.add("device", report.device);
    lines.add("plan", report.plan);
    if let Some(reason) = report.fallback {
        lines.add("fallback", reason);
    }
    lines.add("time", format_args!("{ours:.2?}{}", if runs > 1 { ", median of 3" } else { "" }));
    lines.add("speed", rate(input.len(), ours));
    lines.add(
        "standard",
        format_args!("{standard:.2?}, {}, by sort_unstable on one thread", rate(input.len(), standard)),
    );
    lines.add("ratio", format_args!("{ratio:.2} times the speed of the standard library"));
    lines.add("verified", "same keys in the same order as the standard library's");
    let mut output = io::stdout().lock();
    write!(output, "{lines}").and_then(|()| output.flush()).map_err(Failure::output)
}

/// Runs each sort once.
fn turn<K: FileKey>(
    input: &[K],
    sorter: &Sorter,
    order: Order,
    ours: &mut Vec<Duration>,
    standard: &mut Vec<Duration>,
) -> Result<Report, Failure> {
    let mut keys = input.to_vec();
    let progress = Progress::spinner("sorting");
    let report = sorter.sort(&mut keys)?;
    ours.push(report.elapsed);
    drop(progress);

    let mut expected = input.to_vec();
    let _progress = Progress::spinner("sorting with the standard library");
    let started = Instant::now();
    standard_sort(&mut expected, order);
    standard.push(started.elapsed());

    match keys.iter().zip(&expected).position(|(key, expected)| key.to_raw_bits() != expected.to_raw_bits()) {
        None => Ok(report),
        Some(place) => Err(Failure::new(format!(
            "the {} engine sorted wrongly from key {} on, which is a defect: please report it with this command line",
            report.engine,
            place + 1
        ))),
    }
}

/// As fast as `sort_unstable()` alone, and for floats as `sort_unstable_by(total_cmp)`: the compiler sees through the bits.
fn standard_sort<K: FileKey>(keys: &mut [K], order: Order) {
    match order {
        Order::Ascending => keys.sort_unstable_by_key(|key| key.to_ordered_bits()),
        Order::Descending => keys.sort_unstable_by_key(|key| Reverse(key.to_ordered_bits())),
    }
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}
