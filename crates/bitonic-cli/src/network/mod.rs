//! `bitonic network`: draw, export and prove sorting networks, one's own and those of others.

mod picture;
mod proof;
mod read;
mod values;
mod whole_file;

use crate::completions::Word;
use crate::failure::Failure;
use bitonic_network::{Claim, Kind, Network};
use comfy_table::{Table, presets};
use picture::Picture;
use proof::Verdict;
use std::fmt::{self, Display};
use std::io::{self, BufWriter, Write};
use std::path::PathBuf;

/// What `bitonic network` is asked for.
#[derive(clap::Args)]
#[command(
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true,
    arg_required_else_help = true,
    override_usage = "bitonic network <KIND> <N> [OPTIONS]\n       bitonic network <COMMAND>",
    after_help = EXAMPLES
)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    action: Option<Action>,
    #[command(flatten)]
    generate: Generate,
}

const EXAMPLES: &str = "\
A network has wires, drawn from left to right, and comparators, drawn as strokes between two wires: each puts the \
smaller of its two keys on the one wire and the larger on the other. Comparators that can work at the same time make a \
stage.

Examples:
  bitonic network bitonic 8                          draw Batcher's bitonic sorter for 8 keys
  bitonic network bitonic 4 --input \"5 3 8 1\"        watch four keys being sorted
  bitonic network smallest 16 --svg smallest.svg     a picture for a document
  bitonic network odd-even-merge-sort 32 --prove     prove that it sorts everything
  bitonic network bitonic-merge 2^16 --prove         prove a large merge
  bitonic network list                               every kind of network
  bitonic network check mine.txt                     does the network in this file sort?";

#[derive(clap::Args)]
struct Generate {
    /// Which network; `bitonic network list` says what each is
    #[arg(
        value_name = "KIND",
        required = true,
        hide_possible_values = true,
        value_parser = Word::one_of("network", &Kind::ALL, Kind::name)
    )]
    kind: Option<Kind>,
    /// How many wires: 16, 2^4
    #[arg(value_name = "N", required = true, value_parser = Word::count())]
    wires: Option<usize>,
    #[command(flatten)]
    picture: Picture,
    /// Prove that the network does what its kind promises, for every input; draws only what is asked for besides
    #[arg(long)]
    prove: bool,
}

#[derive(clap::Subcommand)]
enum Action {
    /// List every kind of network
    List,
    /// Prove that the network in a file sorts, or find an input that it does not sort
    ///
    /// Exit code: 0 proved, 1 refuted, 2 something is wrong; standard error says what.
    #[command(after_help = FILE_FORMS)]
    Check(Check),
    /// Draw or convert the network in a file
    #[command(after_help = FILE_FORMS)]
    Draw(Draw),
}

#[derive(clap::Args)]
struct Check {
    /// The file with the network; `-` reads standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Prove that it merges two ascending runs, the first on this many wires
    #[arg(long, value_name = "SPLIT", value_parser = Word::count(), conflicts_with = "bitonic")]
    merge: Option<usize>,
    /// Prove that it sorts every bitonic input: one that rises, then falls, or falls, then rises
    #[arg(long)]
    bitonic: bool,
}

#[derive(clap::Args)]
struct Draw {
    /// The file with the network; `-` reads standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,
    #[command(flatten)]
    picture: Picture,
}

const FILE_FORMS: &str = "\
The file holds a list, one stage a line; a comparator puts the smaller key on its first wire:
  [(0,2),(1,3)]
  [(0,1),(2,3)]
  [(1,2)]
or the same as JSON:
  {\"wires\": 4, \"stages\": [[[0,2],[1,3]], [[0,1],[2,3]], [[1,2]]]}";

/// Does what is asked for.
pub(crate) fn run(arguments: Arguments) -> Result<(), Failure> {
    match arguments.action {
        Some(Action::List) => list(),
        Some(Action::Check(arguments)) => check(arguments),
        Some(Action::Draw(Draw { file, picture })) => picture.write(&read::network(&file)?),
        None => generate(arguments.generate),
    }
}

fn list() -> Result<(), Failure> {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_header(["kind", "what it is"]);
    table.add_rows(Kind::ALL.map(|kind| [kind.name(), kind.description()]));
    writeln!(io::stdout().lock(), "{}", table.trim_fmt()).map_err(Failure::output)
}

fn generate(arguments: Generate) -> Result<(), Failure> {
    let Generate { kind: Some(kind), wires: Some(wires), picture, prove } = arguments else {
        return Err(Failure::new(
            "a network needs a kind and a number of wires: see `bitonic network --help`",
        ));
    };
    let network = kind.generate(wires).map_err(Failure::new)?;
    if !prove {
        return picture.write(&network);
    }
    if picture.is_asked_for() {
        picture.write(&network)?;
    } else {
        writeln!(io::stdout(), "{}", Summary(&network)).map_err(Failure::output)?;
    }
    // Where the picture fills standard output, the proof must not end up in its middle.
    if picture.fills_standard_output() {
        report(kind, &network, kind.claim(wires), io::stderr().lock())
    } else {
        report(kind, &network, kind.claim(wires), io::stdout().lock())
    }
}

fn check(arguments: Check) -> Result<(), Failure> {
    let network = read::network(&arguments.file)?;
    let claim = match &arguments {
        &Check { merge: Some(split), .. } => Claim::MergesTwoRuns { split },
        Check { bitonic: true, .. } => Claim::MergesBitonic,
        _ => Claim::Sorts,
    };
    writeln!(io::stdout(), "{}", Summary(&network)).map_err(Failure::output)?;
    report(read::name(&arguments.file), &network, claim, io::stdout().lock())
}

/// Proves a claim about the network of this name and says how it went.
fn report(name: impl Display, network: &Network, claim: Claim, output: impl Write) -> Result<(), Failure> {
    let mut output = BufWriter::new(output);
    let verdict = proof::prove(network, claim)?;
    write!(output, "{verdict}").and_then(|()| output.flush()).map_err(Failure::output)?;
    match verdict {
        Verdict::Proved { .. } => Ok(()),
        Verdict::Refuted(_) => {
            Err(Failure::No(format!("{name}: refuted: it is not true that the network {claim}")))
        }
    }
}

/// `8 wires, 24 comparators, depth 6`
struct Summary<'a>(&'a Network);

impl Display for Summary<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plural = |count: usize| if count == 1 { "" } else { "s" };
        let (wires, comparators, depth) = (self.0.wires(), self.0.size(), self.0.depth());
        write!(
            f,
            "{wires} wire{}, {comparators} comparator{}, depth {depth}",
            plural(wires),
            plural(comparators)
        )
    }
}
