//! `bitonic explain`: the plan of a sort, before anything runs.

use crate::completions::Word;
use crate::failure::Failure;
use bitonic::key::KeyType;
use bitonic::plan::Plan;
use bitonic::{Engine, Key, Order, Sorter};
use std::io::{self, Write};

/// What `bitonic explain` is asked for.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// How many keys: 1000, 16M, 2^24, 1e6
    #[arg(long, value_name = "N", default_value = "16M", value_parser = Word::count())]
    n: usize,
    /// The type of the keys
    #[arg(long = "type", value_name = "TYPE", default_value = "u32", value_parser = Word::one_of("key type", KeyType::ALL, KeyType::name))]
    key_type: KeyType,
    /// What does the sorting
    #[arg(long, value_name = "ENGINE", default_value = "auto", value_parser = Word::one_of("engine", Engine::ALL, Engine::name))]
    engine: Engine,
    /// At most how many CPU threads; 0 for one on every core
    #[arg(long, value_name = "T", default_value = "0", value_parser = Word::threads())]
    threads: usize,
    /// Every key takes a value of this many bytes along: 1, 2, 4, 8, 16, 32 or 64
    #[arg(long, value_name = "BYTES", value_parser = Word::count())]
    pairs: Option<usize>,
    /// Values of equal keys keep their order; makes a difference with --pairs only
    #[arg(long)]
    stable: bool,
    /// Largest key first
    #[arg(long)]
    reverse: bool,
    /// Let no branch and no address depend on a key
    #[arg(long)]
    oblivious: bool,
}

const EXAMPLES: &str = "\
Examples:
  bitonic explain                          the passes of a sort of 16M u32 keys
  bitonic explain --n 1e6 --type f64       of a million doubles
  bitonic explain --pairs 8 --stable       of keys with values, and the memory that stability takes";

/// More keys than an address space holds.
const TOO_MANY: usize = 1 << 48;

/// Prints the plan.
pub(crate) fn run(arguments: Arguments) -> Result<(), Failure> {
    if arguments.n >= TOO_MANY {
        return Err(Failure::new(format!(
            "{} keys fit no machine's memory: use --n below 2^48",
            arguments.n
        )));
    }
    let plan = bitonic::with_key_type!(arguments.key_type, K => plan::<K>(&arguments))?;
    write!(io::stdout().lock(), "{plan}").map_err(Failure::output)
}

fn plan<K: Key>(arguments: &Arguments) -> Result<Plan, Failure> {
    let &Arguments { n, engine, threads, stable, reverse, oblivious, .. } = arguments;
    let order = if reverse { Order::Descending } else { Order::Ascending };
    let sorter =
        Sorter::new().engine(engine).order(order).stable(stable).threads(threads).oblivious(oblivious);
    let plan = match arguments.pairs {
        None => sorter.plan::<K>(n),
        Some(1) => sorter.plan_pairs::<K, [u8; 1]>(n),
        Some(2) => sorter.plan_pairs::<K, [u8; 2]>(n),
        Some(4) => sorter.plan_pairs::<K, [u8; 4]>(n),
        Some(8) => sorter.plan_pairs::<K, [u8; 8]>(n),
        Some(16) => sorter.plan_pairs::<K, [u8; 16]>(n),
        Some(32) => sorter.plan_pairs::<K, [u8; 32]>(n),
        Some(64) => sorter.plan_pairs::<K, [u8; 64]>(n),
        Some(other) => {
            let reason =
                format!("--pairs {other}: values of 1, 2, 4, 8, 16, 32 or 64 bytes can be explained");
            return Err(Failure::new(reason));
        }
    };
    Ok(plan?)
}
