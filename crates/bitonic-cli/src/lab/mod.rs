//! `bitonic lab`: experiments with sorts, from a file to a report.

mod compare;
mod init;
mod list;
mod once;
mod report;
mod run;

use crate::failure::Failure;

/// What `bitonic lab` is asked for.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES, arg_required_else_help = true)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    action: Action,
}

const EXAMPLES: &str = "\
An experiment says which sorts are measured on which keys, how often and how long. It is a preset, a TOML file, or a \
configuration.ini of the research application that this laboratory continues. Every sort is recorded the moment it is \
done, so a run that was stopped can be resumed.

Examples:
  bitonic lab run quick
  bitonic lab init my.toml && bitonic lab run my.toml --output my-results
  bitonic lab run configuration.ini
  bitonic lab resume my-results
  bitonic lab report my-results
  bitonic lab compare my-results lab-quick
  bitonic lab plot my-results 'fit-*' --format png";

#[derive(clap::Subcommand)]
enum Action {
    /// Run an experiment
    Run(run::Arguments),
    /// Go on with a run that was stopped
    Resume(run::ResumeArguments),
    /// Write tables, plots and one page with everything about a run
    Report(report::Arguments),
    /// Draw plots of a run
    Plot(report::PlotArguments),
    /// Print two runs beside each other
    Compare(compare::Arguments),
    /// Write a commented experiment to start from
    Init(init::Arguments),
    /// List what an experiment can name: presets, implementations, key types, distributions
    List,
    /// Sort for callgrind
    #[command(hide = true)]
    Once(once::Arguments),
}

/// Does what is asked for.
pub(crate) fn run(arguments: Arguments) -> Result<(), Failure> {
    match arguments.action {
        Action::Run(arguments) => run::run(arguments),
        Action::Resume(arguments) => run::resume(arguments),
        Action::Report(arguments) => report::run(arguments),
        Action::Plot(arguments) => report::plot(arguments),
        Action::Compare(arguments) => compare::run(arguments),
        Action::Init(arguments) => init::run(arguments),
        Action::List => list::run(),
        Action::Once(arguments) => once::run(arguments),
    }
}
