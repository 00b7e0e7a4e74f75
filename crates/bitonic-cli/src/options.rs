//! How to sort: the options that every sub-command with a sort in it has.

use crate::word::Word;
use bitonic::{Engine, Instructions, Order, Sorter};

/// The environment variable that the library reads, too: it chooses the instruction set where the option does not.
pub(crate) const INSTRUCTIONS_VARIABLE: &str = "BITONIC_INSTRUCTIONS";

/// How the library shall sort.
#[derive(clap::Args)]
#[command(next_help_heading = "Sort")]
pub(crate) struct SortOptions {
    /// Largest key first
    #[arg(short, long)]
    reverse: bool,

    /// Let no branch and no memory address depend on a key, so that timing tells nothing about secret keys
    #[arg(long)]
    oblivious: bool,

    /// What sorts; `bitonic devices` lists what is here
    #[arg(
        long,
        value_name = "NAME",
        value_parser = Word::one_of("engine", Engine::ALL, Engine::name),
        default_value = "auto"
    )]
    engine: Engine,

    /// The instruction set of the cpu engine; `bitonic devices` lists what is here [default: the fastest here]
    #[arg(
        long,
        value_name = "NAME",
        value_parser = Word::one_of("instruction set", Instructions::ALL, Instructions::name),
        env = INSTRUCTIONS_VARIABLE
    )]
    instructions: Option<Instructions>,

    /// Use at most this many processor threads; 0 is one for every core
    #[arg(
        long,
        value_name = "N",
        value_parser = Word::threads(),
        allow_negative_numbers = true,
        default_value = "0"
    )]
    pub(crate) threads: usize,
}

impl SortOptions {
    /// The direction asked for.
    pub(crate) fn order(&self) -> Order {
        if self.reverse { Order::Descending } else { Order::Ascending }
    }

    /// The sort asked for.
    pub(crate) fn sorter(&self) -> Sorter {
        let sorter = Sorter::new()
            .engine(self.engine)
            .order(self.order())
            .threads(self.threads)
            .oblivious(self.oblivious);
        match self.instructions {
            Some(instructions) => sorter.instructions(instructions),
            None => sorter,
        }
    }
}
