//! `bitonic lab report` and `bitonic lab plot`.

use crate::explore;
use crate::failure::Failure;
use crate::output;
use crate::word::Word;
use bitonic_lab::analysis::{Analysis, Statistic};
use bitonic_lab::glob;
use bitonic_lab::plot::{NamedChart, charts, over_two_runs};
use bitonic_lab::report::{self, PLOTS, PlotFormat};
use std::path::PathBuf;

/// What `bitonic lab report` is asked for.
#[derive(clap::Args)]
pub(super) struct Arguments {
    /// The folder of the run
    #[arg(value_name = "DIR")]
    directory: PathBuf,
    /// What stands for the times of a cell in ratios, fits and plots: mean or median
    #[arg(long, value_name = "STATISTIC", value_parser = Word::one_of("statistic", Statistic::ALL, Statistic::name), default_value = "mean")]
    statistic: Statistic,
}

/// Writes the report of a run, which may still be going on.
pub(super) fn run(arguments: Arguments) -> Result<(), Failure> {
    let page = report::write_with_explorer(&arguments.directory, arguments.statistic, explore::beside_report)
        .map_err(Failure::new)?;
    output::print(|out| writeln!(out, "{}", page.display()))
}

/// What `bitonic lab plot` is asked for.
#[derive(clap::Args)]
pub(super) struct PlotArguments {
    /// The folder of the run
    #[arg(value_name = "DIR")]
    directory: PathBuf,
    /// Which plots, as patterns such as `all`, `cpu-gpu-*`, `before-after-*`, `ratio-*`, `fit-*`, `throughput`
    #[arg(value_name = "NAME", default_value = "*")]
    names: Vec<String>,
    /// What the files are
    #[arg(
        long,
        value_name = "FORMAT",
        value_parser = Word::one_of("format", PlotFormat::ALL, PlotFormat::ending),
        default_value = "svg"
    )]
    format: PlotFormat,
    /// Another run: draw each implementation that both measured over the two runs, and nothing else
    #[arg(long, value_name = "DIR")]
    with: Option<PathBuf>,
    /// What stands for the times of a cell: mean or median
    #[arg(long, value_name = "STATISTIC", value_parser = Word::one_of("statistic", Statistic::ALL, Statistic::name), default_value = "mean")]
    statistic: Statistic,
    /// The folder for the files [default: plots, in the folder of the run]
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,
}

/// Draws plots of a run.
pub(super) fn plot(arguments: PlotArguments) -> Result<(), Failure> {
    let read = |directory: &PathBuf| Analysis::read_by(directory, arguments.statistic).map_err(Failure::new);
    let analysis = read(&arguments.directory)?;
    let mut chosen = match &arguments.with {
        Some(other) => two_runs([&arguments.directory, other], [&analysis, &read(other)?]),
        None => charts(&analysis),
    };
    let known: Vec<String> = chosen.iter().map(|chart| chart.name.clone()).collect();
    chosen.retain(|chart| arguments.names.iter().any(|name| glob::matches(name, &chart.name)));
    if chosen.is_empty() {
        let message = format!("there is no such plot; this run has {}", known.join(", "));
        return Err(Failure::new(message));
    }
    let folder = arguments.output.unwrap_or_else(|| arguments.directory.join(PLOTS));
    let written = report::write_plots(&folder, &chosen, &[arguments.format]).map_err(Failure::new)?;
    output::print(|out| written.iter().try_for_each(|path| writeln!(out, "{}", path.display())))
}

/// A chart for every implementation that both runs measured, each run by the name of its folder.
pub(super) fn two_runs(directories: [&PathBuf; 2], runs: [&Analysis; 2]) -> Vec<NamedChart> {
    over_two_runs(directories.map(|directory| directory.display().to_string()), runs)
}
