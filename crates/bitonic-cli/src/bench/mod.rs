//! `bitonic bench`: what the engines take for their part of a sort, beside other sorts, every result verified.

mod gpu;

use crate::failure::Failure;

/// What `bitonic bench` is asked for.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES, arg_required_else_help = true)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    action: Action,
}

const EXAMPLES: &str = "\
To measure a whole sort, with everything that it takes from your keys to your keys, use `bitonic sort --random`.

Examples:
  bitonic bench gpu
  bitonic bench gpu --sizes 2^16,2^20,2^24 --rungs 'naive_*' --csv results.csv
  bitonic bench gpu --rows 64,1024 --total 64M";

#[derive(clap::Subcommand)]
enum Action {
    /// Measure sorts of keys that are on a device already: the engine's, those of other libraries, and the rungs of the ladder
    Gpu(gpu::Arguments),
}

/// Does what is asked for.
pub(crate) fn run(arguments: Arguments) -> Result<(), Failure> {
    match arguments.action {
        Action::Gpu(arguments) => gpu::run(arguments),
    }
}
