//! `bitonic network`: draw, export and prove sorting networks, one's own and those of others.

mod picture;
mod proof;
mod values;

use crate::failure::Failure;
use crate::figures::counted;
use crate::input::Input;
use crate::output;
use crate::table::Plain;
use crate::word::Word;
use bitonic_network::{Claim, Kind, Network};
use picture::Picture;
use proof::Verdict;
use std::fmt::{self, Display};
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
  bitonic network bitonic 16 --html bitonic.html     a page on which it plays
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
    #[arg(value_name = "N", required = true, value_parser = Word::count(), allow_negative_numbers = true)]
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
    #[arg(
        long,
        value_name = "SPLIT",
        value_parser = Word::count(),
        allow_negative_numbers = true,
        conflicts_with = "bitonic"
    )]
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
        Some(Action::Draw(Draw { file, picture })) => picture.write(&parse(&Input::read(Some(&file))?)?),
        None => generate(arguments.generate),
    }
}

/// The network that someone else wrote.
fn parse(input: &Input) -> Result<Network, Failure> {
    Network::parse(input.text()?).map_err(|error| input.refused(error))
}

fn list() -> Result<(), Failure> {
    let mut table = Plain::new(["kind", "what it is"]);
    for kind in Kind::ALL {
        table.add([kind.name(), kind.description()]);
    }
    output::print(|out| write!(out, "{table}"))
}

fn generate(arguments: Generate) -> Result<(), Failure> {
    let Generate { kind: Some(kind), wires: Some(wires), picture, prove } = arguments else {
        return Err(Failure::new(
            "a network needs a kind and a number of wires: see 'bitonic network --help'",
        ));
    };
    let network = kind.generate(wires).map_err(Failure::new)?;
    if !prove {
        return picture.write(&network);
    }
    let claim = kind.claim(wires);
    let verdict = proof::prove(&network, claim)?;
    match picture.is_asked_for() {
        true => picture.write(&network)?,
        false => print_summary(&network)?,
    }
    // Where standard output holds a document, the verdict must not end up in its middle.
    match picture.fills_standard_output() {
        true => output::note(&verdict),
        false => output::print(|out| write!(out, "{verdict}"))?,
    }
    answer(kind, claim, &verdict)
}

fn check(arguments: Check) -> Result<(), Failure> {
    let input = Input::read(Some(&arguments.file))?;
    let network = parse(&input)?;
    let claim = match &arguments {
        &Check { merge: Some(split), .. } => Claim::MergesTwoRuns { split },
        Check { bitonic: true, .. } => Claim::MergesBitonic,
        _ => Claim::Sorts,
    };
    let verdict = proof::prove(&network, claim)?;
    print_summary(&network)?;
    output::print(|out| write!(out, "{verdict}"))?;
    answer(&input.name, claim, &verdict)
}

/// What a verdict on the network of this name means for the exit code.
fn answer(name: impl Display, claim: Claim, verdict: &Verdict) -> Result<(), Failure> {
    match verdict {
        Verdict::Proved { .. } => Ok(()),
        Verdict::Refuted(_) => {
            Err(Failure::No(format!("{name}: refuted: it is not true that the network {claim}")))
        }
    }
}

fn print_summary(network: &Network) -> Result<(), Failure> {
    output::print(|out| writeln!(out, "{}", Summary(network)))
}

/// `8 wires, 24 comparators, depth 6`
struct Summary<'a>(&'a Network);

impl Display for Summary<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (wires, comparators) = (counted(self.0.wires(), "wire"), counted(self.0.size(), "comparator"));
        write!(f, "{wires}, {comparators}, depth {}", self.0.depth())
    }
}
