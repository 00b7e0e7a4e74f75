//! `bitonic lab`: experiments with sorts, from a file to a report.

mod init;
mod list;
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
  bitonic lab resume my-results";

#[derive(clap::Subcommand)]
enum Action {
    /// Run an experiment
    Run(run::Arguments),
    /// Go on with a run that was stopped
    Resume(run::ResumeArguments),
    /// Write a commented experiment to start from
    Init(init::Arguments),
    /// List what an experiment can name: presets, implementations, key types, distributions
    List,
}

/// Does what is asked for.
pub(crate) fn run(arguments: Arguments) -> Result<(), Failure> {
    match arguments.action {
        Action::Run(arguments) => run::run(arguments),
        Action::Resume(arguments) => run::resume(arguments),
        Action::Init(arguments) => init::run(arguments),
        Action::List => list::run(),
    }
}
