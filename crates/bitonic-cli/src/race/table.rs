//! The table of a race.

use super::Times;
use crate::figures::{million_keys_per_second, percent, ratio, time};
use crate::table::Plain;
use std::time::Duration;

/// A sort that was not run, and why.
pub(crate) struct LeftOut {
    pub(crate) name: &'static str,
    pub(crate) reason: String,
}

/// A row for every contender, one with the reason for everything that was left out, and what the columns mean. At least
/// one contender must be the standard library's sort. Where kernels ran, their times stand beside, and those of rungs
/// with several kernels once more below, for each of them.
pub(crate) fn render(keys: usize, all: &[Times], left_out: &[LeftOut]) -> String {
    let kernels_ran = all.iter().any(|times| times.span().is_some());
    let standard = all.iter().find(|times| times.is_standard).map(Times::median);
    let mut table = match kernels_ran {
        true => Plain::new(["sort", "median", "least", "kernels", "million keys/s", "vs std", ""])
            .align_right(1..6),
        false => Plain::new(["sort", "median", "least", "million keys/s", "vs std", ""]).align_right(1..5),
    };
    let mut add =
        |name: &str, [median, least, kernels, rate, against]: [&str; 5], note: &str| match kernels_ran {
            true => table.add([name, median, least, kernels, rate, against, note]),
            false => table.add([name, median, least, rate, against, note]),
        };
    for times in all {
        let median = times.median();
        let against = standard.map_or_else(String::new, |standard| ratio(standard, median));
        let rate = million_keys_per_second(keys, median);
        let span = times.span().map_or_else(|| "-".to_owned(), time);
        add(times.name, [&time(median), &time(times.least()), &span, &rate, &against], "");
    }
    for LeftOut { name, reason } in left_out {
        add(name, ["-"; 5], &format!("left out: {reason}"));
    }
    let mut text =
        format!("{table}\nvs std: how many times as fast as slice::sort_unstable, which uses one thread\n");
    if kernels_ran {
        text += "kernels: from the start of the first kernel to the end of the last one, by the device's clock; the median\n";
    }
    text + &render_kernels(all)
}

/// A row for every kernel of the rungs that have more than one.
fn render_kernels(all: &[Times]) -> String {
    let mut table = Plain::new(["kernel", "of", "launches", "time", "share"]).align_right(2..5);
    let mut rows = 0;
    for times in all {
        let (Some(span), shares) = (times.span(), times.shares()) else { continue };
        for share in shares.iter().filter(|_| shares.len() > 1) {
            let of_all = share_of(share.time, span);
            table.add([share.name, times.name, &share.launches.to_string(), &time(share.time), &of_all]);
            rows += 1;
        }
    }
    match rows {
        0 => String::new(),
        _ => format!("\n{table}\nshare: of the rung's kernels; what is missing, the device waited\n"),
    }
}

/// How much of the whole a part is: `45 %`
fn share_of(part: Duration, whole: Duration) -> String {
    // Never of nothing: a clock may see no time pass.
    percent(part.as_secs_f64() / whole.as_secs_f64().max(1e-9))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_a_whole_number_of_percent_also_of_nothing() {
        let of = |part, whole| share_of(Duration::from_millis(part), Duration::from_millis(whole));
        assert_eq!([of(45, 100), of(1, 3), of(2, 2), of(0, 0)], ["45 %", "33 %", "100 %", "0 %"]);
    }
}
