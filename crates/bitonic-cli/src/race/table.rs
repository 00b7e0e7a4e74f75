//! The table of a race.

use super::Times;
use crate::figures::{million_keys_per_second, ratio, time};
use crate::table::Plain;

/// A sort that was not run, and why.
pub(crate) struct LeftOut {
    pub(crate) name: &'static str,
    pub(crate) reason: String,
}

/// A row for every contender, one with the reason for everything that was left out, and what the columns mean. At least
/// one contender must be the standard library's sort.
pub(crate) fn render(keys: usize, all: &[Times], left_out: &[LeftOut]) -> String {
    let standard = all.iter().find(|times| times.contender.is_standard()).map(Times::median);
    let heading = ["sort", "median", "least", "million keys/s", "vs std", ""];
    let mut table = Plain::new(heading).align_right(1..5);
    for times in all {
        let median = times.median();
        let against = standard.map_or_else(String::new, |standard| ratio(standard, median));
        let rate = million_keys_per_second(keys, median);
        table.add([times.contender.name, &time(median), &time(times.least()), &rate, &against, ""]);
    }
    for LeftOut { name, reason } in left_out {
        table.add([name, "-", "-", "-", "-", &format!("left out: {reason}")]);
    }
    format!("{table}\nvs std: how many times as fast as slice::sort_unstable, which uses one thread\n")
}
