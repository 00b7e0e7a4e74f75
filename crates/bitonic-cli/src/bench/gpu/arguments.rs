//! What `bitonic bench gpu` is asked for.

use super::device::MeasuredDevice;
use super::job::{Job, Rows};
use crate::failure::Failure;
use crate::ladder::select;
use crate::word::Word;
use bitonic::device::Driver;
use bitonic::key::KeyType;
use bitonic::{DeviceChoice, Engine};
use bitonic_lab::measure::WarmUp;
use bitonic_lab::peer::Library;
use bitonic_ladder::Rung;
use bitonic_testkit::Pattern;
use std::num::NonZero;
use std::path::PathBuf;
use std::time::Duration;

/// What `bitonic bench gpu` is asked for.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(in crate::bench) struct Arguments {
    /// The engine: `auto` is cuda where it is available, else opencl
    #[arg(
        long,
        value_name = "NAME",
        value_parser = Word::one_of("engine", &[Engine::Auto, Engine::Cuda, Engine::OpenCl], Engine::name),
        default_value = "auto"
    )]
    pub(super) engine: Engine,
    /// The device: an index, `cpu`, `gpu`, a part of its name, or `best`; `bitonic devices` lists what is here
    #[arg(long, value_name = "DEVICE", default_value = "best", value_parser = Word::device())]
    pub(super) device: DeviceChoice,
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
    /// The types of the keys, with commas between
    #[arg(
        long = "type",
        value_name = "LIST",
        value_delimiter = ',',
        default_value = "u32",
        value_parser = Word::key_type()
    )]
    pub(super) key_types: Vec<KeyType>,
    /// Let a value of this type travel with every key; for the cuda engine and its peers
    #[arg(
        long,
        value_name = "TYPE",
        conflicts_with = "rows",
        value_parser = Word::one_of("type of values", &[KeyType::U32], KeyType::name)
    )]
    values: Option<KeyType>,
    /// What the keys are like before they are sorted, with commas between
    #[arg(
        long = "distribution",
        alias = "pattern",
        value_name = "LIST",
        value_delimiter = ',',
        default_value = "random",
        value_parser = Word::distribution()
    )]
    patterns: Vec<Pattern>,
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
    pub(super) longest: f64,
    /// The other libraries beside the engine: `cub`, `torch`, `all` or `none`, with commas between [default: all with the
    /// cuda engine, else none]
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    peers: Vec<String>,
    /// Leave out a library whose program gives no answer for so long
    #[arg(
        long,
        value_name = "SECONDS",
        default_value = "120",
        value_parser = Word::seconds(),
        allow_negative_numbers = true
    )]
    patience: f64,
    /// How often every sort runs
    #[arg(long, value_name = "N", default_value = "9", value_parser = Word::count(), allow_negative_numbers = true)]
    repetitions: usize,
    /// Before every run that counts, sort at least once and for so many milliseconds, so that the device is awake
    #[arg(long, value_name = "MILLISECONDS", default_value = "5", value_parser = Word::count(), allow_negative_numbers = true)]
    warm_up: usize,
    /// Write the results to this file, too, every line with what they were measured on, as soon as all sorts of the same keys
    /// are done; and every single run, as soon as it is done, to a file beside it that ends in `.runs.csv`. `-` is standard
    /// output, and then there is neither a table nor a file
    #[arg(long, value_name = "FILE")]
    pub(super) csv: Option<PathBuf>,
    /// Draw the time for a key over the length to this file, as SVG: a line for every sort
    #[arg(long, value_name = "FILE")]
    pub(super) plot: Option<PathBuf>,
}

const EXAMPLES: &str = "\
Times are from the start of the first command on the device to the end of the last one, by the device's own clock. Before \
every run the same unsorted keys are brought back; after it they are fetched and compared with the standard library's \
result. All sorts take turns.

Other libraries sort the same keys on the same device in programs of their own. That for CUB is built with nvcc on first use \
and kept in your cache folder; that for PyTorch needs python3 with torch. What is missing is left out with a line that says \
so. BITONIC_CUB_PEER and BITONIC_TORCH_PEER name other programs in their place.

Examples:
  bitonic bench gpu --device gpu --csv results.csv
  bitonic bench gpu --sizes 2^10,2^16,2^20 --repetitions 101 --rungs none
  bitonic bench gpu --sizes 2^20 --type u32,i32,f32 --distribution random,sorted,reversed
  bitonic bench gpu --sizes 2^20 --values u32 --peers cub
  bitonic bench gpu --engine opencl --sizes 2^16 --rungs 'odd_even*' --longest 10
  bitonic bench gpu --rows 8,64,512,4096 --total 2^24 --plot rows.svg";

impl Arguments {
    /// What is sorted, one after the other.
    pub(super) fn jobs(&self, engine: Engine) -> Result<Vec<Job>, Failure> {
        if self.values.is_some() && engine != Engine::Cuda {
            return Err(Failure::new(format!(
                "--values is for the cuda engine, and the engine is {engine}: leave it out"
            )));
        }
        let mut jobs = Vec::new();
        for rows in self.all_rows()? {
            for &key_type in &self.key_types {
                for &pattern in &self.patterns {
                    jobs.push(Job { key_type, pattern, rows, has_values: self.values.is_some() });
                }
            }
        }
        Ok(jobs)
    }

    fn all_rows(&self) -> Result<Vec<Rows>, Failure> {
        if let Some(few) = self.sizes.iter().find(|&&len| len < 2) {
            return Err(Failure::new(format!(
                "--sizes {few}: there is nothing to sort: use at least 2 keys"
            )));
        }
        if let Some(many) = self.sizes.iter().find(|&&len| self.values.is_some() && len > 1 << 32) {
            return Err(Failure::new(format!("--sizes {many}: values of 32 bits are for at most 2^32 keys")));
        }
        let mut all: Vec<Rows> = self.sizes.iter().map(|&len| Rows::one(len)).collect();
        if all.is_empty() && self.rows.is_empty() {
            all.extend((10..=24).step_by(2).map(|log2| Rows::one(1 << log2)));
        }
        for &length in &self.rows {
            all.push(Rows::many(length, self.total).ok_or_else(|| {
                Failure::new(format!(
                    "--rows {length}: {} keys make no row of {length}: use rows of at least 1 key, and at most --total",
                    self.total
                ))
            })?);
        }
        Ok(all)
    }

    /// The rungs that the words choose, of those that run on this device.
    pub(super) fn rungs<D: Driver>(&self) -> Result<Vec<Rung>, Failure> {
        if self.rungs == ["none"] {
            return Ok(Vec::new());
        }
        let chosen = select::select(&self.rungs)?;
        match chosen.iter().find(|chosen| chosen.by_name && !MeasuredDevice::<D>::has(chosen.rung)) {
            Some(chosen) => Err(Failure::new(format!(
                "{} does not run on {engine}: choose rungs whose place is {engine} in `bitonic ladder list`",
                chosen.rung,
                engine = D::ENGINE
            ))),
            None => Ok(chosen
                .iter()
                .map(|chosen| chosen.rung)
                .filter(|&rung| MeasuredDevice::<D>::has(rung))
                .collect()),
        }
    }

    /// The libraries beside the engine.
    pub(super) fn libraries(&self, engine: Engine) -> Result<Vec<Library>, Failure> {
        match self.peers.is_empty() {
            true if engine == Engine::Cuda => Ok(Library::ON_DEVICES.to_vec()),
            true => Ok(Vec::new()),
            false => Library::select(&self.peers).map_err(Failure::new),
        }
    }

    pub(super) fn repetitions(&self) -> Result<NonZero<usize>, Failure> {
        NonZero::new(self.repetitions).ok_or_else(|| Failure::new("--repetitions 0: run at least once"))
    }

    pub(super) fn warm_up(&self) -> WarmUp {
        WarmUp { time: Duration::from_millis(self.warm_up as u64), ..WarmUp::DEFAULT }
    }

    pub(super) fn patience(&self) -> Duration {
        Duration::from_secs_f64(self.patience)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bitonic::cuda::Device as Cuda;
    use bitonic::opencl::Device as OpenCl;
    use clap::Parser;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        arguments: Arguments,
    }

    fn read(line: &str) -> Arguments {
        Line::parse_from(["gpu"].into_iter().chain(line.split_whitespace())).arguments
    }

    fn names<D: Driver>(line: &str) -> Vec<&'static str> {
        read(line).rungs::<D>().unwrap().iter().map(|rung| rung.name()).collect()
    }

    #[test]
    fn words_choose_rungs_on_the_device_only() {
        assert_eq!(names::<OpenCl>("--rungs none"), [""; 0]);
        assert_eq!(names::<OpenCl>("--rungs naive_shifts,naive_scan"), ["naive_scan", "naive_shifts"]);
        let on_device = Rung::ALL.iter().filter(|&&rung| MeasuredDevice::<OpenCl>::has(rung));
        assert_eq!(names::<OpenCl>("--rungs all").len(), on_device.count());
        assert!(names::<OpenCl>("--rungs odd_even*").iter().all(|name| *name != "odd_even"));
        for refused in
            [read("--rungs recursive").rungs::<OpenCl>(), read("--rungs recursive").rungs::<Cuda>()]
        {
            assert!(refused.is_err());
        }
    }

    #[test]
    fn every_length_is_sorted_with_every_type_and_every_distribution() {
        let jobs =
            read("--sizes 8,16 --type u32,f32 --pattern sorted,random --rows 4 --total 8").jobs(Engine::Cuda);
        let jobs = jobs.unwrap();
        assert_eq!(jobs.len(), 3 * 2 * 2);
        assert_eq!((jobs[0].len(), jobs[0].key_type, jobs[0].pattern), (8, KeyType::U32, Pattern::Sorted));
        assert_eq!((jobs[3].len(), jobs[3].key_type, jobs[3].pattern), (8, KeyType::F32, Pattern::Random));
        assert_eq!(jobs[8].rows, Rows::many(4, 8).unwrap());
        assert!(jobs.iter().all(|job| !job.has_values));
    }

    #[test]
    fn values_are_for_cuda() {
        assert!(read("--sizes 8 --values u32").jobs(Engine::Cuda).unwrap()[0].has_values);
        assert!(read("--sizes 8 --values u32").jobs(Engine::OpenCl).is_err());
        assert!(read("--sizes 2^33 --values u32").jobs(Engine::Cuda).is_err());
    }

    #[test]
    fn other_libraries_are_there_by_default_where_cuda_is() {
        assert_eq!(read("").libraries(Engine::Cuda).unwrap(), Library::ON_DEVICES);
        assert_eq!(read("").libraries(Engine::OpenCl).unwrap(), []);
        assert_eq!(read("--peers cub").libraries(Engine::OpenCl).unwrap(), [Library::Cub]);
        assert_eq!(read("--peers none").libraries(Engine::Cuda).unwrap(), []);
    }
}
