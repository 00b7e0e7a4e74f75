//! The options of `bitonic sort`.

use super::formats::text::Digits;
use super::formats::{Format, InputFormat};
use super::lines::{Column, Separator};
use crate::failure::Failure;
use crate::options::SortOptions;
use crate::word::Word;
use bitonic::Sorter;
use bitonic::key::KeyType;
use bitonic_testkit::Pattern;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  bitonic sort numbers.txt                      print the numbers in order
  seq 100 | bitonic sort -r                     the other way, from standard input
  bitonic sort keys.npy -o keys.npy             sort a NumPy array in place
  bitonic sort keys.bin --type f32 -o out.txt   raw 32-bit floats in, text out
  bitonic sort a.txt b.txt -o all.txt           several files in one sort
  bitonic sort sales.csv --key price            lines by a column, each as it was
  bitonic sort t.parquet --key 2 -o out.parquet rows by a column (feature parquet)
  bitonic sort matrix.npy --rows -o out.npy     every row of a matrix; --axis 0: every column
  bitonic sort --check numbers.txt              is it sorted? exit code 0: yes, 1: no
  bitonic sort numbers.txt --unique             every number once
  bitonic sort sales.csv --key price -r --top 3 the three lines with the highest price
  bitonic sort keys.npy --argsort -o order.npy  the indices that would sort it
  bitonic sort --merge a.txt b.txt              files that are sorted become one
  bitonic sort --random 16M                     how fast is it here?
  bitonic sort --random 16M --engine opencl     and on a device with an OpenCL driver?
  bitonic sort keys.bin -t u16 --rows 256       every 256 keys for themselves
  bitonic sort --random 1e6 -t i64 -o a.npy     make a sorted file
  bitonic sort big.npy --memory 2G -o out.npy   more than memory holds
  bitonic sort big.dat --record 100 --key 0:bytes10 -o out.dat
                                                records of 100 bytes by their first ten

A file is replaced only when its new content is complete: the output may be the input.
Numbers are written 1000, 1_000, 0x3E8, 1.5, 1e3, nan or inf; from # to the end of its line is a comment.
Floats are in IEEE 754 total order: -nan, -inf, ..., -0, 0, ..., inf, nan.
Exit code: 0 done; 1 --check found keys out of order; 2 something is wrong, and standard error says what.";

/// What to sort, how, and where the result goes.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// What to sort, together if there are several; `-` or nothing is standard input.
    #[arg(value_name = "FILE")]
    pub(super) files: Vec<PathBuf>,

    /// Where to write the sorted keys; `-` or nothing is standard output. Bytes go to a terminal only with `-`.
    #[arg(short, long, value_name = "FILE")]
    pub(super) output: Option<PathBuf>,

    /// The input's format: numbers as text, raw little-endian bytes, a NumPy array, or an archive of them. [default: by
    /// extension (.npy, .npz; .txt, .csv and .tsv are text; .bin and .raw are raw), then by content, else text]
    #[arg(
        short,
        long,
        value_name = "FORMAT",
        value_parser = Word::one_of("format", InputFormat::ALL, InputFormat::name),
        help_heading = "Format"
    )]
    pub(super) format: Option<InputFormat>,

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

    /// Refuse numbers with more digits than their type holds, instead of rounding them.
    #[arg(long, conflicts_with = "random", help_heading = "Format")]
    pub(super) exact: bool,

    /// The array to take from an .npz archive that has several.
    #[arg(long, value_name = "NAME", conflicts_with = "random", help_heading = "Format")]
    pub(super) array: Option<String>,

    /// Sort the lines of a table by the numbers in this column: its number, from 1, or its name in the first line, which
    /// then stays first. Lines stay as they are, equal ones in their order; comments go with the line below them. Of a Parquet file,
    /// the column of numbers, dates or times by which its rows are sorted; nulls come last.
    #[arg(
        short,
        long,
        value_name = "COLUMN",
        value_parser = Word::open(Column::parse),
        conflicts_with_all = ["random", "output_format", "rows", "axis"],
        help_heading = "Lines"
    )]
    pub(super) key: Option<Column>,

    /// What stands between columns. [default: a tab, a semicolon or a comma if the first line has one, else white space]
    #[arg(
        long,
        value_name = "NAME",
        requires = "key",
        value_parser = Word::one_of("separator", Separator::ALL, Separator::name),
        help_heading = "Lines"
    )]
    pub(super) separator: Option<Separator>,

    /// The first line has the columns' names: leave it first.
    #[arg(long, requires = "key", help_heading = "Lines")]
    pub(super) header: bool,

    #[command(flatten)]
    pub(super) options: SortOptions,

    /// Keep equal keys in their order. Accepted for completeness: keys that are equal look the same, so the result is
    /// too.
    #[arg(long, help_heading = "Sort")]
    pub(super) stable: bool,

    /// The keys are rows of LEN: sort every row for itself. Their number must be a whole number of rows. A NumPy array has
    /// rows of its own, and needs no LEN.
    #[arg(
        long,
        value_name = "LEN",
        num_args = 0..=1,
        value_parser = Word::row_length(),
        allow_negative_numbers = true,
        help_heading = "Sort"
    )]
    pub(super) rows: Option<Option<usize>>,

    /// Sort a NumPy array along this axis: 0 is the first, -1 the last.
    #[arg(
        long,
        value_name = "N",
        value_parser = Word::axis(),
        allow_negative_numbers = true,
        conflicts_with_all = ["rows", "random"],
        help_heading = "Sort"
    )]
    pub(super) axis: Option<i64>,

    /// Take at most this much memory, such as 512M or 2G (2 x 2^30). What needs more is sorted in parts, which are kept in a
    /// temporary file and merged. [default: half of the memory that is free]
    #[arg(
        long,
        value_name = "BYTES",
        value_parser = Word::count(),
        allow_negative_numbers = true,
        conflicts_with_all = ["rows", "axis", "check", "random", "array"],
        help_heading = "Memory"
    )]
    pub(super) memory: Option<usize>,

    /// The folder for temporary files, which takes as much as the input. [default: the output's folder, else the system's]
    #[arg(long, value_name = "DIR", conflicts_with_all = ["check", "random"], help_heading = "Memory")]
    pub(super) temp: Option<PathBuf>,

    /// Sort records of this many bytes by the key in them that --key names: its offset, from 0, and its type, as in 0:u64, 4:f32be
    /// (highest byte first) or 0:bytes10 (bytes, compared one by one). Records with equal keys stay in their order.
    #[arg(
        long,
        value_name = "BYTES",
        value_parser = Word::count(),
        allow_negative_numbers = true,
        requires = "key",
        conflicts_with_all = ["random", "check", "format", "output_format", "key_type", "separator", "header", "array", "exact"],
        help_heading = "Records"
    )]
    pub(super) record: Option<usize>,

    /// Write only the first K of the sorted keys or lines: the smallest, or with --reverse the largest. Of rows, the first K of each.
    #[arg(
        long,
        value_name = "K",
        value_parser = Word::count(),
        allow_negative_numbers = true,
        conflicts_with_all = ["check", "memory", "record"],
        help_heading = "What is written"
    )]
    pub(super) top: Option<usize>,

    /// Write every key once; of lines with equal keys, the first. Keys are equal if their bits are: -0 and 0 differ.
    #[arg(
        short,
        long,
        conflicts_with_all = ["rows", "axis", "check", "memory", "record"],
        help_heading = "What is written"
    )]
    pub(super) unique: bool,

    /// Write the index that each key of the result has in the input, from 0, instead of the key; of rows, the index in its row. Equal
    /// keys stay in their order.
    #[arg(
        long,
        conflicts_with_all = ["unique", "key", "check", "memory", "record", "report"],
        help_heading = "What is written"
    )]
    pub(super) argsort: bool,

    /// The inputs are sorted: merge them. One that is not is refused.
    #[arg(
        short,
        long,
        conflicts_with_all = ["argsort", "rows", "axis", "key", "check", "memory", "record", "report", "random"],
        help_heading = "What is written"
    )]
    pub(super) merge: bool,

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
        conflicts_with_all = ["files", "format", "check"],
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

const TOP_EXAMPLES: &str = "\
Examples:
  bitonic top 10 numbers.txt                    the ten largest, largest first
  bitonic top 10 -r numbers.txt                 the ten smallest, smallest first
  bitonic top 3 sales.csv --key price           the three lines with the highest price
  bitonic top 50 scores.npy --rows -o best.npy  the fifty largest of every row

It is `bitonic sort --reverse --top K`, and takes the same options.";

/// How many keys to write, and of what.
#[derive(clap::Args)]
pub(crate) struct TopArguments {
    /// How many keys or lines
    #[arg(
        value_name = "K",
        value_parser = Word::count(),
        allow_negative_numbers = true,
        conflicts_with_all = ["top", "check", "memory", "record"]
    )]
    count: usize,

    #[command(flatten)]
    sort: Arguments,

    // Behind the options of `sort`, so that its examples are not shown in place of these.
    #[command(flatten)]
    examples: TopExamples,
}

#[derive(clap::Args)]
#[command(after_help = TOP_EXAMPLES)]
struct TopExamples {}

impl From<TopArguments> for Arguments {
    fn from(TopArguments { count, mut sort, examples: TopExamples {} }: TopArguments) -> Self {
        sort.top = Some(count);
        sort.options.turn_around();
        sort
    }
}

impl Arguments {
    /// The sort asked for.
    pub(super) fn sorter(&self) -> Result<Sorter, Failure> {
        Ok(self.options.sorter()?.stable(self.stable))
    }

    /// An option that says what to write, if there is one.
    pub(super) fn option_for_output(&self) -> Option<&'static str> {
        let options = [
            (self.output_format.is_some(), "--output-format"),
            (self.top.is_some(), "--top"),
            (self.unique, "--unique"),
            (self.argsort, "--argsort"),
        ];
        options.into_iter().find_map(|(is_given, name)| is_given.then_some(name))
    }

    /// Whether numbers may be rounded.
    pub(super) fn digits(&self) -> Digits {
        if self.exact { Digits::All } else { Digits::AsTheTypeHolds }
    }
}
