//! `bitonic network`: draw, export and prove networks that sort, merge or select, one's own and those of others.

mod is_bitonic;
mod picture;
mod proof;
mod values;

use crate::failure::Failure;
use crate::figures::counted;
use crate::input::Input;
use crate::output;
use crate::table::Plain;
use crate::word::Word;
use bitonic_network::{Claim, Kind, Merging, Network};
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
  bitonic network top-k 16 4 --prove                 the 4 largest of 16 keys
  bitonic network merge 5 3                          merge runs of 5 and of 3 keys
  bitonic network list                               every kind of network
  bitonic network check mine.txt                     does the network in this file sort?";

#[derive(clap::Args)]
struct Generate {
    /// Which network; `bitonic network list` says what each is
    #[arg(
        value_name = "KIND",
        required = true,
        hide_possible_values = true,
        value_parser = Word::network(&OF_TWO_NUMBERS.map(|(command, _, _)| command))
    )]
    kind: Option<Kind>,
    /// How many wires: 16, 2^4
    #[arg(value_name = "N", required = true, value_parser = Word::count(), allow_negative_numbers = true)]
    wires: Option<usize>,
    #[command(flatten)]
    use_of: Use,
}

/// What is done with a network that was generated.
#[derive(clap::Args)]
struct Use {
    #[command(flatten)]
    picture: Picture,
    /// Prove that the network does what it promises, for every input; draws only what is asked for besides
    #[arg(long)]
    prove: bool,
}

/// The commands that make a network of two numbers: name, numbers, and what it is.
const OF_TWO_NUMBERS: [(&str, &str, &str); 2] = [
    ("top-k", "N K", "selects the K largest of N keys, ascending, on its last K wires"),
    ("merge", "M N", "merges two ascending runs of any lengths, M and N"),
];

#[derive(clap::Subcommand)]
enum Action {
    /// List every kind of network
    List,
    /// The network that selects the K largest of N keys, ascending, on its last K wires
    ///
    /// It is a merge sort whose merges keep only the K largest keys of both runs, without the comparators that no longer lead
    /// to one of the last K wires: fewer than a sorting network has, if K is less than N/2.
    #[command(after_help = TOP_K_EXAMPLES)]
    TopK(TopK),
    /// The network that merges two ascending runs of any lengths
    Merge(Merge),
    /// Prove that the network in a file sorts, merges or selects, or find an input with which it fails
    ///
    /// Exit code: 0 proved, 1 refuted, 2 something is wrong; standard error says what.
    #[command(after_help = FILE_FORMS)]
    Check(Check),
    /// Say whether a sequence is bitonic, and show the rotation that rises and then falls
    ///
    /// Exit code: 0 it is, 1 it is not, 2 something is wrong.
    IsBitonic(is_bitonic::Arguments),
    /// Draw or convert the network in a file
    #[command(after_help = FILE_FORMS)]
    Draw(Draw),
}

#[derive(clap::Args)]
struct TopK {
    /// How many wires: 16, 2^4
    #[arg(value_name = "N", value_parser = Word::count(), allow_negative_numbers = true)]
    wires: usize,
    /// How many of the largest keys, at most N
    #[arg(value_name = "K", value_parser = Word::count(), allow_negative_numbers = true)]
    k: usize,
    #[command(flatten)]
    way: Way,
    #[command(flatten)]
    use_of: Use,
}

#[derive(clap::Args)]
struct Merge {
    /// How many wires the first run has, from wire 0 on
    #[arg(value_name = "M", value_parser = Word::count(), allow_negative_numbers = true)]
    first: usize,
    /// How many wires the second run has, behind the first
    #[arg(value_name = "N", value_parser = Word::count(), allow_negative_numbers = true)]
    second: usize,
    #[command(flatten)]
    way: Way,
    #[command(flatten)]
    use_of: Use,
}

/// How runs are merged.
#[derive(clap::Args)]
struct Way {
    /// Merge by Batcher's odd-even merge instead of a flip and half-cleaners: as few stages, and no more comparators
    #[arg(long)]
    odd_even: bool,
}

impl Way {
    fn merging(&self) -> Merging {
        if self.odd_even { Merging::OddEven } else { Merging::Bitonic }
    }
}

const TOP_K_EXAMPLES: &str = "\
Examples:
  bitonic network top-k 16 4                         draw it
  bitonic network top-k 16 4 --odd-even --prove      prove the smaller one
  bitonic network top-k 16 4 --list > four.txt       keep it, change it,
  bitonic network check four.txt --top-k 4           and prove it again";

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
        conflicts_with_all = ["bitonic", "top_k"]
    )]
    merge: Option<usize>,
    /// Prove that it selects the K largest keys, ascending, on its last K wires
    #[arg(
        long,
        value_name = "K",
        value_parser = Word::count(),
        allow_negative_numbers = true,
        conflicts_with = "bitonic"
    )]
    top_k: Option<usize>,
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
        Some(Action::TopK(arguments)) => top_k(arguments),
        Some(Action::Merge(arguments)) => merge(arguments),
        Some(Action::Check(arguments)) => check(arguments),
        Some(Action::IsBitonic(arguments)) => is_bitonic::run(&arguments),
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
    for (command, numbers, description) in OF_TWO_NUMBERS {
        table.add([format!("{command} {numbers}").as_str(), description]);
    }
    output::print(|out| write!(out, "{table}"))
}

fn generate(arguments: Generate) -> Result<(), Failure> {
    let Generate { kind: Some(kind), wires: Some(wires), use_of } = arguments else {
        return Err(Failure::new(
            "a network needs a kind and a number of wires: see 'bitonic network --help'",
        ));
    };
    let network = kind.generate(wires).map_err(Failure::new)?;
    use_of.put_out(&network, kind.name(), kind.claim(wires))
}

fn top_k(arguments: TopK) -> Result<(), Failure> {
    let TopK { wires, k, way, use_of } = arguments;
    let network = way.merging().top_k(wires, k).map_err(Failure::new)?;
    use_of.put_out_with_promise(&network, "top-k", Claim::SelectsLargest { k })
}

fn merge(arguments: Merge) -> Result<(), Failure> {
    let Merge { first, second, way, use_of } = arguments;
    let network = way.merging().merge(first, second).map_err(Failure::new)?;
    use_of.put_out_with_promise(&network, "merge", Claim::MergesTwoRuns { split: first })
}

impl Use {
    /// Draws the network, proves it, or both.
    fn put_out(&self, network: &Network, name: &str, claim: Claim) -> Result<(), Failure> {
        let Self { picture, prove } = self;
        if !prove {
            return picture.write(network);
        }
        let verdict = proof::prove(network, claim)?;
        match picture.is_asked_for() {
            true => picture.write(network)?,
            false => print_summary(network)?,
        }
        // Where standard output holds a document, the verdict must not end up in its middle.
        match picture.fills_standard_output() {
            true => output::note(&verdict),
            false => output::print(|out| write!(out, "{verdict}"))?,
        }
        answer(name, claim, &verdict)
    }

    /// The same, with a line that says what the network is for where no verdict says so: its wires do not show it.
    fn put_out_with_promise(&self, network: &Network, name: &str, claim: Claim) -> Result<(), Failure> {
        self.put_out(network, name, claim)?;
        match self.prove || self.picture.fills_standard_output() {
            true => Ok(()),
            false => output::print(|out| writeln!(out, "it {claim}")),
        }
    }
}

fn check(arguments: Check) -> Result<(), Failure> {
    let input = Input::read(Some(&arguments.file))?;
    let network = parse(&input)?;
    let claim = match &arguments {
        &Check { merge: Some(split), .. } => Claim::MergesTwoRuns { split },
        &Check { top_k: Some(k), .. } => Claim::SelectsLargest { k },
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
