//! `bitonic bench gpu`: keys on a device, sorted there by the engine and by the ladder's rungs.

mod csv;
mod foresight;
mod keys;
mod machine;
mod measure;
mod table;

use crate::failure::Failure;
use crate::ladder::select;
use crate::output;
use crate::progress::Progress;
use crate::word::Word;
use bitonic::key::KeyType;
use bitonic::opencl::{Device, DeviceChoice};
use bitonic_ladder::{Place, Rung};
use machine::Machine;
use measure::{Bench, Rows};
use std::num::NonZero;
use std::path::PathBuf;

/// What `bitonic bench gpu` is asked for.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Arguments {
    /// The OpenCL device: an index, `cpu`, `gpu`, a part of its name, or `best`; `bitonic devices` lists what is here
    #[arg(long, value_name = "DEVICE", default_value = "best", value_parser = Word::device())]
    device: DeviceChoice,
    /// How many keys to sort: 1000, 16M, 2^24, 1e6, with commas between [default: 2^10,2^12,...,2^24, unless there
    /// are --rows]
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = Word::count(), allow_negative_numbers = true)]
    sizes: Vec<usize>,
    /// Sort rows, each for itself, of these lengths; the rungs have no rows
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = Word::count(), allow_negative_numbers = true)]
    rows: Vec<usize>,
    /// How many keys all rows have together; less what makes no whole row
    #[arg(
        long,
        value_name = "N",
        default_value = "2^26",
        requires = "rows",
        value_parser = Word::count(),
        allow_negative_numbers = true
    )]
    total: usize,
    /// The type of the keys
    #[arg(long = "type", value_name = "TYPE", default_value = "u32", value_parser = Word::key_type())]
    key_type: KeyType,
    /// The rungs beside the engine: `all`, `none`, names, or patterns such as `naive_*`, with commas between
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "all")]
    rungs: Vec<String>,
    /// Leave out a rung that would take longer than this for one sort
    #[arg(
        long,
        value_name = "SECONDS",
        default_value = "1",
        value_parser = Word::seconds(),
        allow_negative_numbers = true
    )]
    longest: f64,
    /// How often every sort runs; once more before, which does not count
    #[arg(long, value_name = "N", default_value = "9", value_parser = Word::count(), allow_negative_numbers = true)]
    repetitions: usize,
    /// Write the results to this file, too, every line with what they were measured on; `-` is standard output, and then
    /// there is no table
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,
}

const EXAMPLES: &str = "\
Times are from the start of the first kernel to the end of the last one, by the device's own clock. Before every run the \
same unsorted keys are brought to the device; after it they are fetched and compared with the standard library's result. \
All sorts take turns.

Examples:
  bitonic bench gpu --device gpu --csv results.csv
  bitonic bench gpu --sizes 1e6,2^20 --type f64 --rungs none
  bitonic bench gpu --sizes 2^16 --rungs 'odd_even*' --longest 10
  bitonic bench gpu --rows 8,64,512,4096 --total 2^24";

/// Measures, and prints what was found.
pub(super) fn run(arguments: Arguments) -> Result<(), Failure> {
    let jobs = jobs(&arguments)?;
    let repetitions = NonZero::new(arguments.repetitions)
        .ok_or_else(|| Failure::new("--repetitions 0: run at least once"))?;
    let rungs = rungs(&arguments.rungs)?;
    let device = Device::open(&arguments.device)?;
    let machine = Machine::describe(&device);

    let progress = Progress::bar("sorting", jobs.len() * (1 + repetitions.get()));
    let mut bench = Bench::new(device, rungs, repetitions, arguments.longest, &progress);
    let mut cells = Vec::new();
    for &rows in &jobs {
        cells.extend(bitonic::with_key_type!(arguments.key_type, K => bench.measure::<K>(rows))?);
    }
    drop(progress);

    let key_type = arguments.key_type;
    let to_file = arguments.csv.as_deref();
    if !to_file.is_some_and(output::is_standard_stream) {
        output::print(|out| out.write_all(table::render(&cells, key_type, &machine).as_bytes()))?;
    }
    match to_file {
        Some(path) => {
            output::write(Some(path), |out| out.write_all(csv::render(&cells, key_type, &machine).as_bytes()))
        }
        None => Ok(()),
    }
}

/// What is sorted, one after the other.
fn jobs(arguments: &Arguments) -> Result<Vec<Rows>, Failure> {
    if let Some(few) = arguments.sizes.iter().find(|&&len| len < 2) {
        return Err(Failure::new(format!("--sizes {few}: there is nothing to sort: use at least 2 keys")));
    }
    let mut jobs: Vec<Rows> = arguments.sizes.iter().map(|&len| Rows::one(len)).collect();
    if jobs.is_empty() && arguments.rows.is_empty() {
        jobs.extend((10..=24).step_by(2).map(|log2| Rows::one(1 << log2)));
    }
    for &length in &arguments.rows {
        jobs.push(Rows::many(length, arguments.total).ok_or_else(|| {
            Failure::new(format!(
                "--rows {length}: {} keys make no row of {length}: use rows of at least 1 key, and at most --total",
                arguments.total
            ))
        })?);
    }
    Ok(jobs)
}

/// The rungs that the words choose, of those on OpenCL.
fn rungs(words: &[String]) -> Result<Vec<Rung>, Failure> {
    if words == ["none"] {
        return Ok(Vec::new());
    }
    let chosen = select::select(words)?;
    let on_device = |rung: Rung| rung.places().contains(&Place::OpenCl);
    match chosen.iter().find(|chosen| chosen.by_name && !on_device(chosen.rung)) {
        Some(chosen) => Err(Failure::new(format!(
            "{} works on the processor: choose rungs whose place is opencl in `bitonic ladder list`",
            chosen.rung
        ))),
        None => Ok(chosen.iter().map(|chosen| chosen.rung).filter(|&rung| on_device(rung)).collect()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(words: &[&str]) -> Vec<&'static str> {
        let words: Vec<String> = words.iter().map(|&word| word.to_owned()).collect();
        rungs(&words).unwrap().iter().map(|rung| rung.name()).collect()
    }

    #[test]
    fn words_choose_rungs_on_the_device_only() {
        assert_eq!(names(&["none"]), [""; 0]);
        assert_eq!(names(&["naive_shifts", "naive_scan"]), ["naive_scan", "naive_shifts"]);
        let on_device = Rung::ALL.iter().filter(|rung| rung.places().contains(&Place::OpenCl));
        assert_eq!(names(&["all"]).len(), on_device.count());
        assert!(names(&["odd_even*"]).iter().all(|name| *name != "odd_even"));
        assert!(rungs(&["recursive".to_owned()]).is_err());
    }
}
