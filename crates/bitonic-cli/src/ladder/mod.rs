//! `bitonic ladder`: every known way to write these sorts, listed, explained and raced.

mod race;
mod run;
mod select;
mod table;

use crate::completions::Word;
use crate::failure::Failure;
use bitonic_ladder::Rung;
use comfy_table::{Table, presets};
use std::io::{self, BufWriter, Write};

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
  bitonic ladder run recursive iterative_scan --n 2^20
  bitonic ladder run 'parallel_*' --n 1M --type f32 --threads 2
  bitonic ladder run all";

#[derive(clap::Subcommand)]
enum Action {
    /// List every rung
    List,
    /// Say what a rung is and what it teaches
    Show {
        /// The rung's name
        #[arg(value_name = "NAME", hide_possible_values = true, value_parser = Word::one_of("rung", Rung::ALL, Rung::name))]
        rung: Rung,
    },
    /// Run rungs on the same keys as the standard library's sort and bitonic::sort, verify them, and compare their times
    Run(run::Arguments),
}

/// Does what is asked for.
pub(crate) fn run(arguments: Arguments) -> Result<(), Failure> {
    match arguments.action {
        Action::List => print(list),
        Action::Show { rung } => print(|output| show(output, rung)),
        Action::Run(arguments) => run::run(arguments),
    }
}

fn print(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), Failure> {
    let mut output = BufWriter::new(io::stdout().lock());
    write(&mut output).and_then(|()| output.flush()).map_err(Failure::output)
}

fn list(output: &mut dyn Write) -> io::Result<()> {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_header(["name", "sizes", "threads", "what it is"]);
    for &rung in Rung::ALL {
        table.add_row([rung.name(), &rung.sizes().to_string(), threads(rung), rung.description()]);
    }
    writeln!(output, "{}", table.trim_fmt())
}

fn show(output: &mut dyn Write, rung: Rung) -> io::Result<()> {
    let work = if rung.is_quadratic() { "n^2" } else { "n log^2 n" };
    writeln!(output, "{rung}: {}", rung.description())?;
    writeln!(output, "sizes    {}", rung.sizes())?;
    writeln!(output, "threads  {}", threads(rung))?;
    writeln!(output, "work     {work}\n")?;
    writeln!(output, "{}", rung.teaches())
}

fn threads(rung: Rung) -> &'static str {
    if rung.is_parallel() { "many" } else { "one" }
}
