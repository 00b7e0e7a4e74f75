#![forbid(unsafe_code)]
//! The CPU benchmark: bitonic beside the sorts that a Rust user can pick, in one run, every result verified.
//!
//! # How to repeat a measurement
//!
//! ```text
//! cargo bench -p bitonic-bench --bench cpu                         # u32, random keys, 2^4..2^24 and odd lengths
//! cargo bench -p bitonic-bench --bench cpu -- --quick              # a first impression
//! cargo bench -p bitonic-bench --bench cpu -- --types all --patterns all --csv cpu.csv
//! cargo bench -p bitonic-bench --bench cpu -- --modes oblivious --sizes 2^10,2^16 --types u32,u64
//! cargo bench -p bitonic-bench --bench cpu -- --check-figures      # the project's goals beside what was measured
//! BITONIC_INSTRUCTIONS=portable cargo bench -p bitonic-bench --bench cpu    # another instruction set
//! ```
//!
//! `-- --help` lists all options. The machine should have nothing else to do; where the times of a cell spread by more
//! than a tenth, the table marks it with `~`. numpy takes part if `python3 -c "import numpy"` works (or
//! the interpreter named by `--python` has it).
//!
//! # What is measured, and what that favours
//!
//! - **Fresh keys.** Every repetition makes new keys, and a short length fills a sample with many different arrays
//!   ([`experiment::KEYS_PER_SAMPLE`] keys in all). Sorting the same few keys over and over teaches them to the branch
//!   predictor, and a comparison sort then looks up to a third faster than it is on keys it has not seen. Networks do
//!   not branch on keys, so this choice favours them, rightly.
//! - **Interleaved.** In a repetition every contender sorts the same keys, in an order shuffled anew: what disturbs the
//!   machine for a while disturbs all alike. Ratios are only taken between times of the same run.
//! - **Warm caches.** The keys are copied into place right before the clock starts, by the thread that sorts them, so short
//!   samples lie in the second-level cache. In a program whose keys come from memory every sort is slower by the same time,
//!   and ratios are smaller.
//! - **One process**, so code and allocator are warm too; sorts that allocate reuse memory that an earlier repetition
//!   returned. numpy runs beside it in a process of its own, which sorts in place and uses its own clock: of the
//!   interpreter one call per sample is counted (not one per row), and of the transfer nothing.
//! - **The binary everybody gets**: built for the target's baseline, without `-C target-cpu=native`. Sorts that choose
//!   their instructions at run time (bitonic, djbsort, numpy) gain from that, as they do for their users.
//! - **Pairs**: bitonic sorts a slice of keys and a slice of values; the peers, which have no such sort, are given
//!   ready-made `u64`s of key and value and pay for no packing.
//! - **Verified.** Every result, of every repetition, is compared bit for bit with a reference outside the clock. Peers that
//!   lose or refuse NaNs are left out of patterns that contain them ([`peers::Contender::left_out`]).
//! - The number in the table is the **median**; least time, quartiles and the machine's description are in the CSV file.

pub mod arguments;
pub mod csv;
pub mod element;
pub mod error;
pub mod experiment;
pub mod figures;
pub mod machine;
pub mod measure;
pub mod named;
pub mod numpy;
pub mod peers;
pub mod quantity;
pub mod statistics;
pub mod table;
pub mod workload;

use arguments::Arguments;
use error::Error;
use machine::Machine;
use measure::{Arena, measure};
use numpy::Numpy;
use peers::Contender;

/// Measures what the arguments ask for; prints the tables to standard output and writes the CSV file.
pub fn run(arguments: &Arguments) -> Result<(), Error> {
    let mut experiment = arguments.experiment();
    let numpy = if experiment.contenders.contains(&Contender::Numpy) {
        Numpy::start(&arguments.python).map_err(|reason| println!("numpy is left out: {reason}")).ok()
    } else {
        None
    };
    if numpy.is_none() {
        experiment.contenders.retain(|&contender| contender != Contender::Numpy);
    }
    let machine = Machine::describe(numpy.as_ref().map(Numpy::version));
    println!("{machine}\n");

    let mut arena = Arena::new(numpy)?;
    let results = measure(&experiment, &mut arena, |group| {
        println!("{}", table::render(group, &experiment.contenders))
    })?;
    if arguments.check_figures {
        println!("{}", figures::render(&figures::check(&results, machine.instructions)));
    }
    if let Some(path) = &arguments.csv {
        csv::write(path, &results, &machine)?;
        println!("results written to {}", std::path::absolute(path).as_ref().unwrap_or(path).display());
    }
    Ok(())
}
