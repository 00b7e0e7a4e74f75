//! The table of a race.

use super::race::{Contender, Times};
use bitonic_ladder::Rung;
use comfy_table::{CellAlignment, Table, presets};
use std::num::NonZero;
use std::time::Duration;

/// The heading, a row for every contender, and a row with the reason for every rung that was left out.
pub(super) fn render(heading: &str, keys: usize, all: &[Times], left_out: &[(Rung, String)]) -> String {
    let standard = all.iter().find(|times| times.contender == Contender::Standard).map(Times::median);
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_header(["name", "median", "least", "keys/s", "vs std", ""]);
    for times in all {
        let median = times.median();
        let against =
            standard.map_or_else(String::new, |standard| format!("{:.2}x", ratio(standard, median)));
        let rate = rate(keys as f64 / seconds(median));
        let (median, least) = (format!("{median:.2?}"), format!("{:.2?}", times.least()));
        table.add_row([times.contender.name(), &median, &least, &rate, &against, ""]);
    }
    for (rung, reason) in left_out {
        table.add_row([rung.name(), "-", "-", "-", "-", &format!("left out: {reason}")]);
    }
    for column in table.column_iter_mut().skip(1).take(4) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    format!(
        "{heading}; every result verified\n\n{}\n\nvs std: how many times as fast as slice::sort_unstable\n",
        table.trim_fmt()
    )
}

/// `5 runs each`
pub(super) fn repetitions(repeat: NonZero<usize>) -> String {
    format!("{repeat} run{} each", if repeat == NonZero::<usize>::MIN { "" } else { "s" })
}

/// A predicted time in the unit that suits it.
pub(super) fn long_time(seconds: f64) -> String {
    let units = [(86_400.0, "days"), (3_600.0, "hours"), (60.0, "minutes")];
    match units.iter().find(|(unit, _)| seconds >= 2.0 * unit) {
        Some((unit, name)) => format!("{:.0} {name}", seconds / unit),
        None => format!("{seconds:.1} seconds"),
    }
}

fn ratio(standard: Duration, time: Duration) -> f64 {
    seconds(standard) / seconds(time)
}

/// Never zero: a clock may see no time pass.
fn seconds(time: Duration) -> f64 {
    time.as_secs_f64().max(1e-9)
}

fn rate(keys_per_second: f64) -> String {
    let units = [(1e9, "G"), (1e6, "M"), (1e3, "k")];
    match units.iter().find(|(unit, _)| keys_per_second >= *unit) {
        Some((unit, letter)) => format!("{:.1} {letter}", keys_per_second / unit),
        None => format!("{keys_per_second:.1}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_shown_in_units_that_suit_them() {
        assert_eq!(rate(1_234_567.0), "1.2 M");
        assert_eq!(rate(2.5e9), "2.5 G");
        assert_eq!(rate(0.0), "0.0");
        assert_eq!(long_time(1.25), "1.2 seconds");
        assert_eq!(long_time(7200.0), "2 hours");
        assert_eq!(long_time(86_400.0 * 400.0), "400 days");
    }

    #[test]
    fn a_time_too_short_to_see_gives_no_infinite_ratio() {
        assert!(ratio(Duration::ZERO, Duration::ZERO).is_finite());
    }
}
