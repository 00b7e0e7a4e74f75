//! `--random` without an output: how fast is a sort here, beside the standard library's?

use super::formats::FileKey;
use super::{Arguments, report};
use crate::failure::Failure;
use crate::figures::counted;
use crate::output;
use crate::race::{self, Contender, Race};
use std::num::NonZero;
use std::time::Duration;

/// Sorts the same keys with the library and with the standard library, by turns, compares the results bit for bit, and
/// prints what was measured. `what` says how the keys were made.
pub(super) fn run<K: FileKey>(what: &str, len: usize, arguments: &Arguments) -> Result<(), Failure> {
    let sorter = arguments.sorter()?;
    let plan = arguments.plan::<K>(&sorter, len)?;
    let race = Race::<K>::new(len, arguments.distribution, arguments.seed, arguments.options.order())?;
    let race = match arguments.rows {
        Some(row_length) => race.in_rows(row_length),
        None => race,
    };

    let mut contenders = vec![Contender::bitonic("bitonic", sorter.clone())];
    if plan.threads > 1 {
        contenders.push(Contender::bitonic("bitonic, 1 thread", sorter.threads(1)));
    }
    contenders.push(Contender::STANDARD);
    let runs = runs(race.standard_time);
    let times = race.run(&contenders, runs)?;

    output::print(|out| {
        if let Some(report) = &times[0].report {
            writeln!(out, "{}", report::lines(what, report, plan.instructions))?;
        }
        write!(out, "{}", race::render(len, &times, &[]))?;
        let runs = counted(runs.get(), "run");
        writeln!(
            out,
            "verified: {runs} each, and every result has the same keys in the same order, bit for bit"
        )
    })
}

/// How often each sort runs: as often as takes some seconds, or once where that alone takes as long.
fn runs(standard_time: Duration) -> NonZero<usize> {
    const LONG: Duration = Duration::from_secs(4);
    const ALL_TOGETHER: Duration = Duration::from_secs(3);
    if standard_time >= LONG {
        return NonZero::<usize>::MIN;
    }
    let runs = ALL_TOGETHER.as_nanos() / standard_time.as_nanos().max(1);
    NonZero::new(runs.clamp(3, 9) as usize).unwrap_or(NonZero::<usize>::MIN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_sorts_run_often_and_long_ones_once() {
        let runs = |milliseconds| runs(Duration::from_millis(milliseconds)).get();
        assert_eq!([0, 1, 500, 900, 3999, 4000, 60_000].map(runs), [9, 9, 6, 3, 3, 1, 1]);
    }
}
