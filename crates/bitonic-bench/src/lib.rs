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
//! - **Warm cores and caches.** Every contender sorts the sample at least once, and for at least 200 µs, right before the sort that
//!   counts. The keys are copied into place right before the clock starts, by the thread that sorts them, so short
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
//!   lose or refuse NaNs are left out of patterns that contain them ([`peers::Sort::left_out`]).
//! - The number in the table is the **median**; least time, quartiles and the machine's description are in the CSV file.

pub mod arguments;
pub mod contender;
pub mod csv;
pub mod element;
pub mod error;
pub mod experiment;
pub mod figures;
pub mod machine;
pub mod measure;
pub mod named;
pub mod peers;
pub mod table;

use arguments::Arguments;
use bitonic_lab::peer::{Library, Wanted};
use bitonic_lab::quantity;
use bitonic_lab::record::CsvFile;
use bitonic_testkit::Pattern;
use contender::Threads;
use csv::Line;
use element::Element;
use error::Error;
use indicatif::{ProgressBar, ProgressStyle};
use machine::Machine;
use measure::{Bench, Cell, Watch, measure};
use peers::Sort;
use std::time::Duration;

/// Measures what the arguments ask for; prints the tables to standard output and writes the CSV files.
///
/// # Errors
///
/// The first wrong result, or what kept the benchmark from going on. What was measured until then is in the files.
pub fn run(arguments: &Arguments) -> Result<(), Error> {
    let mut experiment = arguments.experiment();
    let wanted = Wanted {
        key_types: Vec::new(),
        ordinal: 0,
        python: arguments.python.clone(),
        patience: Duration::from_secs(arguments.patience),
    };
    let start = || Library::Numpy.start(&wanted, &mut |_| ());
    let numpy = if experiment.sorts.contains(&Sort::Numpy) {
        start().map_err(|reason| println!("numpy is left out: {reason}")).ok()
    } else {
        None
    };
    if numpy.is_none() {
        experiment.sorts.retain(|&sort| sort != Sort::Numpy);
    }
    let machine = Machine::describe(numpy.as_ref().map(|numpy| numpy.description.as_str()));
    println!("{machine}\n");

    let instructions = machine.instructions;
    let csv = arguments.csv.as_deref();
    let runs = csv.map(|path| CsvFile::new(&path.with_extension("runs.csv")));
    let mut bench = Bench { threads: Threads::start()?, numpy, runs };
    let mut printer = Printer {
        sorts: experiment.sorts.clone(),
        machine,
        lines: csv.map(CsvFile::new),
        progress: progress(experiment.elements.len() * experiment.patterns.len() * experiment.sizes.len()),
    };
    let results = measure(&experiment, &mut bench, &mut printer)?;
    printer.progress.finish_and_clear();
    if arguments.check_figures {
        println!("{}", figures::render(&figures::check(&results, instructions)));
    }
    if let Some(path) = &arguments.csv {
        println!("results written to {}", std::path::absolute(path).as_ref().unwrap_or(path).display());
    }
    Ok(())
}

/// Prints and writes what was measured, as soon as it is.
struct Printer {
    /// The sorts that were asked for.
    sorts: Vec<Sort>,
    machine: Machine,
    lines: Option<CsvFile<Line>>,
    progress: ProgressBar,
}

impl Watch for Printer {
    fn begins(&mut self, element: Element, pattern: Pattern, size: usize) {
        self.progress.set_message(format!("{element}, {pattern}, {}", quantity::name(size)));
    }

    fn size_done(&mut self, cells: &[Cell]) -> Result<(), Error> {
        self.progress.inc(1);
        let Some(file) = &mut self.lines else { return Ok(()) };
        let written = file.append(&csv::lines(cells, &self.machine));
        written.map_err(|reason| Error::Output { path: file.path().to_owned(), reason })
    }

    fn group_done(&mut self, cells: &[Cell]) {
        self.progress.suspend(|| println!("{}", table::render(cells, &self.sorts)));
    }
}

/// A bar on standard error, if that is a terminal.
fn progress(lengths: usize) -> ProgressBar {
    let style = ProgressStyle::with_template("{wide_bar} {pos}/{len} {msg:30}");
    ProgressBar::new(lengths as u64).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}
