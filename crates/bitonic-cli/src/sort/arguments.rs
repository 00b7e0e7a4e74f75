//! The options of `bitonic sort`.

use super::formats::Format;
use crate::failure::Failure;
use crate::options::SortOptions;
use crate::word::Word;
use bitonic::key::{Key, KeyType};
use bitonic::plan::Plan;
use bitonic::{Error, Report, Sorter};
use bitonic_testkit::Pattern;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  bitonic sort numbers.txt                      print the numbers in order
  seq 100 | bitonic sort -r                     the other way, from standard input
  bitonic sort keys.npy -o keys.npy             sort a NumPy array in place
  bitonic sort keys.bin --type f32 -o out.txt   raw 32-bit floats in, text out
  bitonic sort --check numbers.txt              is it sorted? exit code 0: yes, 1: no
  bitonic sort --random 16M                     how fast is it here?
  bitonic sort --random 16M --engine opencl     and on a device with an OpenCL driver?
  bitonic sort keys.bin -t u16 --rows 256       every 256 keys for themselves
  bitonic sort --random 1e6 -t i64 -o a.npy     make a sorted file

The input is read whole, and a file is replaced only when its new content is complete: the output may be the input.
Floats are in IEEE 754 total order: -nan, -inf, ..., -0, 0, ..., inf, nan.
Exit code: 0 done; 1 --check found keys out of order; 2 something is wrong, and standard error says what.";

/// What to sort, how, and where the result goes.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// What to sort; `-` or nothing is standard input.
    pub(super) file: Option<PathBuf>,

    /// Where to write the sorted keys; `-` or nothing is standard output.
    #[arg(short, long, value_name = "FILE")]
    pub(super) output: Option<PathBuf>,

    /// The input's format: numbers as text, raw little-endian bytes, or a NumPy array. [default: by extension (.npy, .txt;
    /// .bin and .raw are raw), then by content, else text]
    #[arg(
        short,
        long,
        value_name = "FORMAT",
        value_parser = Word::one_of("format", Format::ALL, Format::name),
        help_heading = "Format"
    )]
    pub(super) format: Option<Format>,

    /// The output's format. [default: by the output's extension, else as the input's]
    #[arg(
        long,
        value_name = "FORMAT",
        value_parser = Word::one_of("format", Format::ALL, Format::name),
        help_heading = "Format"
    )]
    pub(super) output_format: Option<Format>,

    /// The keys' type. Raw input needs it; for text the default is the type that holds every number, for .npy the one
    /// the file names, for --random u32.
    #[arg(
        short = 't',
        long = "type",
        value_name = "TYPE",
        value_parser = Word::key_type(),
        help_heading = "Format"
    )]
    pub(super) key_type: Option<KeyType>,

    #[command(flatten)]
    pub(super) options: SortOptions,

    /// Keep equal keys in their order. Accepted for completeness: keys that are equal look the same, so the result is
    /// too.
    #[arg(long, help_heading = "Sort")]
    pub(super) stable: bool,

    /// The keys are rows of LEN: sort every row for itself. Their number must be a whole number of rows.
    #[arg(
        long,
        value_name = "LEN",
        value_parser = Word::count(),
        allow_negative_numbers = true,
        help_heading = "Sort"
    )]
    pub(super) rows: Option<usize>,

    /// Do not sort: say whether the input is sorted, and if not, where the first key out of order is.
    #[arg(short, long, conflicts_with_all = ["output", "output_format", "report"], help_heading = "Sort")]
    pub(super) check: bool,

    /// Tell on standard error what was done and how long it took.
    #[arg(long, help_heading = "Sort")]
    pub(super) report: bool,

    /// Sort N keys made at random, such as 1000, 16M (16 x 2^20), 2^24 or 1e6. With --output the sorted keys are written;
    /// without, they are compared with the standard library's result, and its time and this one's are printed.
    #[arg(
        long,
        value_name = "N",
        value_parser = Word::count(),
        allow_negative_numbers = true,
        conflicts_with_all = ["file", "format", "check"],
        help_heading = "Random keys"
    )]
    pub(super) random: Option<usize>,

    /// Where the random keys start from: the same seed makes the same keys.
    #[arg(
        long,
        requires = "random",
        value_parser = Word::seed(),
        allow_negative_numbers = true,
        default_value = "1",
        help_heading = "Random keys"
    )]
    pub(super) seed: u64,

    /// How the random keys are spread.
    #[arg(
        long,
        value_name = "NAME",
        requires = "random",
        value_parser = Word::distribution(),
        default_value = "random",
        help_heading = "Random keys"
    )]
    pub(super) distribution: Pattern,
}

impl Arguments {
    /// The sort asked for.
    pub(super) fn sorter(&self) -> Result<Sorter, Failure> {
        Ok(self.options.sorter()?.stable(self.stable))
    }

    /// What that sort will do with this many keys.
    pub(super) fn plan<K: Key>(&self, sorter: &Sorter, len: usize) -> Result<Plan, Error> {
        match self.rows {
            Some(row_length) => sorter.plan_rows::<K>(len, row_length),
            None => sorter.plan::<K>(len),
        }
    }

    /// Does it.
    pub(super) fn sort<K: Key>(&self, sorter: &Sorter, keys: &mut [K]) -> Result<Report, Error> {
        match self.rows {
            Some(row_length) => sorter.sort_rows(keys, row_length),
            None => sorter.sort(keys),
        }
    }

    /// The length of a row of this many keys: of all of them, unless it was asked for. Refuses rows that the keys do not
    /// make.
    pub(super) fn row_length(&self, len: usize) -> Result<usize, Error> {
        match self.rows {
            None => Ok(len),
            Some(row_length) if len.checked_rem(row_length).unwrap_or(len) == 0 => Ok(row_length),
            Some(row_length) => Err(Error::Rows { len, row_length }),
        }
    }
}
