//! `bitonic ladder`: every known way to write these sorts, listed, explained and raced.

mod run;
pub(crate) mod select;
mod show;

use crate::failure::Failure;
use crate::output;
use crate::table::Plain;
use bitonic_ladder::{Rung, RunsOn};

/// What `bitonic ladder` is asked for.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES, arg_required_else_help = true)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    action: Action,
}

const EXAMPLES: &str = "\
Each rung of the ladder is one way to write a sort; read from the first to the last, every rung answers what the one \
before it left open. They are for learning and measuring. To sort, use `bitonic sort`.

Examples:
  bitonic ladder list
  bitonic ladder show iterative_scan
  bitonic ladder show 'local_*' | less
  bitonic ladder run recursive iterative_scan --n 2^20
  bitonic ladder run 'parallel_*' --n 1M --type f32 --threads 2
  bitonic ladder run 'naive_*' local_memory --n 2^20 --device gpu
  bitonic ladder run 'naive_*' compare_pair --n 2^20 --engine cuda
  bitonic ladder run all";

#[derive(clap::Subcommand)]
enum Action {
    /// List every rung
    List,
    /// Show what rungs are, what they teach, what they took, and their source
    Show(show::Arguments),
    /// Run rungs on the same keys as the standard library's sort and bitonic::sort, verify them, and compare their times
    Run(run::Arguments),
}

/// Does what is asked for.
pub(crate) fn run(arguments: Arguments) -> Result<(), Failure> {
    match arguments.action {
        Action::List => list(),
        Action::Show(arguments) => show::run(arguments),
        Action::Run(arguments) => run::run(arguments),
    }
}

fn list() -> Result<(), Failure> {
    let mut table = Plain::new(["name", "place", "threads", "sizes", "what it is"]);
    for &rung in Rung::ALL {
        let sizes = rung.sizes().to_string();
        table.add([rung.name(), &runs_on(rung), threads(rung), &sizes, rung.description()]);
    }
    output::print(|out| write!(out, "{table}"))
}

fn runs_on(rung: Rung) -> String {
    rung.runs_on().iter().map(|runs_on| runs_on.name()).collect::<Vec<_>>().join(", ")
}

/// The processor's threads; what a device has instead is not for the caller to choose.
fn threads(rung: Rung) -> &'static str {
    match rung.runs_on().contains(&RunsOn::Cpu) {
        true if rung.is_parallel() => "many",
        true => "one",
        false => "-",
    }
}
