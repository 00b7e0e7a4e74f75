//! `--random` without an output: how fast is a sort here, beside the standard library's?

use super::formats::FileKey;
use super::grouping::Grouping;
use super::{Arguments, report};
use crate::failure::Failure;
use crate::figures::counted;
use crate::output;
use crate::race::{self, Contender, Race, Repeat};

/// Sorts the same keys with the library and with the standard library, by turns, compares the results bit for bit, and
/// prints what was measured. `what` says how the keys were made.
pub(super) fn run<K: FileKey>(
    what: &str,
    len: usize,
    grouping: Grouping,
    arguments: &Arguments,
) -> Result<(), Failure> {
    let sorter = arguments.sorter()?;
    let plan = grouping.plan::<K>(&sorter, len)?;
    let order = arguments.options.order();
    let mut race = Race::<K>::new(len, arguments.distribution, arguments.seed, order)?;
    if let Grouping::Rows(row_length) = grouping {
        race = race.in_rows(row_length);
    }

    let mut contenders = vec![Contender::bitonic("bitonic", sorter.clone())];
    if plan.threads > 1 {
        contenders.push(Contender::bitonic("bitonic, 1 thread", sorter.threads(1)));
    }
    contenders.push(Contender::standard(order));
    let times = race.run(&contenders, Repeat::ForSomeSeconds)?;

    output::print(|out| {
        if let Some(report) = &times[0].report {
            writeln!(out, "{}", report::lines(what, report, plan.instructions))?;
        }
        write!(out, "{}", race::render(len, &times, &[]))?;
        let runs = counted(times[0].runs(), "run");
        writeln!(
            out,
            "verified: {runs} each, and every result has the same keys in the same order, bit for bit"
        )
    })
}
