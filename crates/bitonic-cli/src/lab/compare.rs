//! `bitonic lab compare`: two runs beside each other.

use super::report::two_runs;
use crate::failure::Failure;
use crate::figures::{counted, significant, time_of_seconds};
use crate::output;
use crate::table::Plain;
use crate::word::Word;
use bitonic_lab::analysis::{Analysis, Statistic, compare};
use bitonic_lab::quantity;
use bitonic_lab::report::{PlotFormat, write_plots};
use std::path::PathBuf;

/// What `bitonic lab compare` is asked for.
#[derive(clap::Args)]
#[command(
    after_help = "ratio is how many times as fast the second run is; it is marked with * where the 95 % confidence intervals of \
                  the two means keep apart."
)]
pub(super) struct Arguments {
    /// The folder of the first run
    #[arg(value_name = "DIR")]
    first: PathBuf,
    /// The folder of the second run
    #[arg(value_name = "DIR")]
    second: PathBuf,
    /// Draw a plot of each implementation over both runs, as SVG, into this folder
    #[arg(long, value_name = "DIR")]
    plots: Option<PathBuf>,
    /// What the ratio and the plots are of: mean or median
    #[arg(long, value_name = "STATISTIC", value_parser = Word::one_of("statistic", Statistic::ALL, Statistic::name), default_value = "mean")]
    statistic: Statistic,
    /// Print JSON instead of a table
    #[arg(long)]
    json: bool,
}

/// Prints what both measured.
pub(super) fn run(arguments: Arguments) -> Result<(), Failure> {
    let read = |directory: &PathBuf| Analysis::read_by(directory, arguments.statistic).map_err(Failure::new);
    let (first, second) = (read(&arguments.first)?, read(&arguments.second)?);
    let comparison = compare(&first, &second);
    if let Some(folder) = &arguments.plots {
        let charts = two_runs([&arguments.first, &arguments.second], [&first, &second]);
        write_plots(folder, &charts, &[PlotFormat::Svg]).map_err(Failure::new)?;
    }
    if arguments.json {
        let text = serde_json::to_string_pretty(&comparison).map_err(Failure::new)?;
        return output::print(|out| writeln!(out, "{text}"));
    }
    if comparison.changes.is_empty() {
        return Err(Failure::new(
            "the two runs have measured nothing in common: no implementation at the same size",
        ));
    }
    let mut table = Plain::new(["n", "keys", "implementation", "first", "second", "ratio", "", "medians"])
        .align_right(3..6);
    for change in &comparison.changes {
        table.add([
            &quantity::name(change.size),
            &format!("{} {}", change.key_type, change.distribution),
            &change.implementation,
            &time_of_seconds(change.first.mean),
            &time_of_seconds(change.second.mean),
            &format!("{}x", significant(change.ratio)),
            if change.certain { "*" } else { "" },
            &format!("{}, {}", time_of_seconds(change.first.median), time_of_seconds(change.second.median)),
        ]);
    }
    let mut machines = Plain::new(["what differs", "first", "second"]);
    for (name, one, other) in &comparison.machines {
        machines.add([name, one, other]);
    }
    output::print(|out| {
        if !comparison.machines.is_empty() {
            writeln!(out, "{machines}")?;
        }
        write!(out, "{table}")?;
        match comparison.only_in_one {
            0 => Ok(()),
            only => writeln!(out, "\n{} measured in one run only", counted(only, "cell")),
        }
    })
}
