//! `--random` without an output: how fast is a sort here, beside the standard library's?

use super::grouping::Grouping;
use super::{Arguments, report};
use crate::failure::Failure;
use crate::figures::counted;
use crate::output;
use crate::race::{self, Contender, Race, RaceKeys, Repeat};
use bitonic::key::KeyType;

/// Sorts the same keys with the library and with the standard library, by turns, compares the results bit for bit, and
/// prints what was measured. `what` says how the keys were made.
pub(super) fn run(
    what: &str,
    key_type: KeyType,
    len: usize,
    grouping: Grouping,
    arguments: &Arguments,
) -> Result<(), Failure> {
    let sorter = arguments.sorter()?;
    let plan = grouping.plan(&sorter, key_type, len)?;
    let order = arguments.options.order();
    let row_length = grouping.length(len)?;
    let &Arguments { distribution, seed, .. } = arguments;
    let mut race = Race::new(RaceKeys { key_type, len, row_length, distribution, seed, order })?;

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
