//! `bitonic explain`: the plan of a sort, before anything runs.

use crate::explore;
use crate::failure::Failure;
use crate::options::SortOptions;
use crate::output;
use crate::word::Word;
use bitonic::Key;
use bitonic::key::KeyType;
use bitonic::plan::{Algorithm, Plan};
use bitonic_explorer::machine::Machine;
use bitonic_explorer::page;
use std::path::PathBuf;

/// What `bitonic explain` is asked for.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// How many keys: 1000, 16M, 2^24, 1e6
    #[arg(long, value_name = "N", default_value = "16M", value_parser = Word::count(), allow_negative_numbers = true)]
    n: usize,
    /// The type of the keys
    #[arg(long = "type", value_name = "TYPE", default_value = "u32", value_parser = Word::key_type())]
    key_type: KeyType,
    /// Every key takes a value of this many bytes along: 1, 2, 4, 8, 16, 32 or 64
    #[arg(long, value_name = "BYTES", value_parser = Word::count(), allow_negative_numbers = true)]
    pairs: Option<usize>,
    /// The keys are rows of this many, each sorted for itself
    #[arg(
        long,
        value_name = "LEN",
        value_parser = Word::count(),
        allow_negative_numbers = true,
        conflicts_with = "pairs"
    )]
    rows: Option<usize>,
    /// Values of equal keys keep their order; makes a difference with --pairs only
    #[arg(long)]
    stable: bool,
    /// Write the explorer's page with this plan as a picture to this file; `-` writes it to standard output
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    #[command(flatten)]
    options: SortOptions,
}

const EXAMPLES: &str = "\
Examples:
  bitonic explain                          the passes of a sort of 16M u32 keys
  bitonic explain --n 1e6 --type f64       of a million doubles
  bitonic explain --oblivious              of secret keys: the pure network, pass by pass
  bitonic explain --pairs 8 --stable       of keys with values, and the memory that stability takes
  bitonic explain --engine opencl          on a device: work-groups, passes and the time they should take
  bitonic explain --rows 1K                of 16K rows of 1024 keys
  bitonic explain --oblivious --html plan.html   the passes as a picture";

/// Prints the plan.
pub(crate) fn run(arguments: Arguments) -> Result<(), Failure> {
    let plan = bitonic::with_key_type!(arguments.key_type, K => plan::<K>(&arguments))?;
    let is_page = arguments.html.as_deref().is_some_and(output::is_standard_stream);
    if !is_page {
        output::print(|out| write!(out, "{plan}"))?;
    }
    match &arguments.html {
        Some(path) => explore::write(path, &page::open_with(&serde_json::json!({ "plan": for_page(&plan) }))),
        None => Ok(()),
    }
}

/// The plan as the page takes it; its `web/plan.js` describes the form.
fn for_page(plan: &Plan) -> serde_json::Value {
    serde_json::json!({
        "text": plan.to_string(),
        "keys": plan.sorted_length(),
        "key_bytes": plan.request.key.bytes(),
        "machine": Machine::of_plan(plan),
        "network": plan.algorithm == Algorithm::Network,
    })
}

fn plan<K: Key>(arguments: &Arguments) -> Result<Plan, Failure> {
    let (n, sorter) = (arguments.n, arguments.options.sorter()?.stable(arguments.stable));
    if let Some(row_length) = arguments.rows {
        return Ok(sorter.plan_rows::<K>(n, row_length)?);
    }
    let plan = match arguments.pairs {
        None => sorter.plan::<K>(n),
        Some(1) => sorter.plan_pairs::<K, [u8; 1]>(n),
        Some(2) => sorter.plan_pairs::<K, [u8; 2]>(n),
        Some(4) => sorter.plan_pairs::<K, u32>(n),
        Some(8) => sorter.plan_pairs::<K, u64>(n),
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
