//! The command line.

use crate::element::Element;
use crate::experiment::{Effort, Experiment, default_sizes};
use crate::named::List;
use crate::peers::{Mode, Sort};
use bitonic_lab::quantity;
use bitonic_testkit::Pattern;
use std::path::PathBuf;
use std::time::Duration;

/// Measures bitonic and the other CPU sorts in one run, interleaved, and verifies every result
///
/// Lists have commas between; `all` stands for all. The standard library always takes part: ratios are to its time.
#[derive(Debug, clap::Parser)]
#[command(name = "cpu", bin_name = "cargo bench -p bitonic-bench --bench cpu --", version)]
pub struct Arguments {
    /// What to sort: u32, i32, f32, u64, i64, f64, u8, u16, u128, pairs (u32 with u32)
    #[arg(long, value_name = "LIST", default_value = "u32")]
    pub types: List<Element>,

    /// How many keys at a time, as in 100,2^16,1M [default: 2^4..2^24 in steps of four, 100, 300, 1000, 3000, 100000]
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = length)]
    pub sizes: Vec<usize>,

    /// The keys before sorting: random, sorted, few-unique and others
    #[arg(long, value_name = "LIST", default_value = "random")]
    pub patterns: List<Pattern>,

    /// Kinds of sorts: default (one thread), oblivious (constant time), threads (all cores)
    #[arg(long, value_name = "LIST", default_value = "all")]
    pub modes: List<Mode>,

    /// Sorts by name, such as bitonic,rdst
    #[arg(long, value_name = "LIST", default_value = "all")]
    pub contenders: List<Sort>,

    /// The Python interpreter whose numpy takes part
    #[arg(long, value_name = "PROGRAM", default_value = "python3")]
    pub python: PathBuf,

    /// Leave the benchmark if numpy gives no answer for so many seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 120)]
    pub patience: u64,

    /// Measure every cell for at least so many milliseconds [default: 250, quick 20]
    #[arg(long, value_name = "MILLISECONDS")]
    pub time: Option<u64>,

    /// Repeat every measurement at least so often [default: 7, quick 3]
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..))]
    pub repetitions: Option<u32>,

    /// Where the random keys start
    #[arg(long, default_value_t = 1)]
    pub seed: u64,

    /// A first impression: lengths up to 2^20, few repetitions
    #[arg(long)]
    pub quick: bool,

    /// Write the results to this file, one line for every cell as soon as its size is measured; and every single run, as soon
    /// as it is done, to a file beside it that ends in `.runs.csv`. Cargo runs benchmarks in the folder of their crate
    #[arg(long, value_name = "FILE")]
    pub csv: Option<PathBuf>,

    /// Print the project's goals beside what was measured
    #[arg(long)]
    pub check_figures: bool,

    /// What `cargo bench` adds
    #[arg(long, hide = true)]
    bench: bool,
}

impl Arguments {
    /// What the arguments ask for.
    pub fn experiment(&self) -> Experiment {
        let effort = if self.quick { Effort::QUICK } else { Effort::THOROUGH };
        let takes_part = |sort: &Sort| {
            *sort == Sort::Standard || self.modes.0.contains(&sort.mode()) && self.contenders.0.contains(sort)
        };
        Experiment {
            elements: self.types.0.clone(),
            patterns: self.patterns.0.clone(),
            sizes: if self.sizes.is_empty() { default_sizes(self.quick) } else { self.sizes.clone() },
            sorts: Sort::ALL.iter().copied().filter(takes_part).collect(),
            effort: Effort {
                time: self.time.map_or(effort.time, Duration::from_millis),
                repetitions: self.repetitions.map_or(effort.repetitions, |count| count as usize),
                ..effort
            },
            seed: self.seed,
        }
    }
}

/// A length: 1000, 2^20, 16K, 1M.
fn length(text: &str) -> Result<usize, String> {
    match quantity::parse(text.trim())? {
        0 => Err("0 keys have no time per key: use at least 1".to_owned()),
        length => Ok(length),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::{CommandFactory, Parser};

    fn experiment(arguments: &[&str]) -> Experiment {
        Arguments::try_parse_from([&["cpu", "--bench"], arguments].concat()).unwrap().experiment()
    }

    #[test]
    fn the_command_line_is_consistent() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn without_options_every_contender_sorts_random_u32_keys() {
        let experiment = experiment(&[]);
        assert_eq!(experiment.elements, [Element::U32]);
        assert_eq!(experiment.patterns, [Pattern::Random]);
        assert_eq!(experiment.sorts, Sort::ALL);
        assert_eq!(experiment.effort, Effort::THOROUGH);
    }

    #[test]
    fn modes_and_names_choose_contenders_and_the_standard_library_always_takes_part() {
        let oblivious = experiment(&["--modes", "oblivious"]).sorts;
        assert_eq!(oblivious, [Sort::Standard, Sort::BitonicOblivious, Sort::Djbsort]);
        let both = experiment(&["--modes", "default", "--contenders", "radsort,djbsort"]).sorts;
        assert_eq!(both, [Sort::Standard, Sort::Radsort]);
    }

    #[test]
    fn lengths_are_read_as_people_write_them() {
        assert_eq!(experiment(&["--sizes", "100, 2^10,4K"]).sizes, [100, 1024, 4096]);
        for wrong in ["0", "x", "16,,32", "-1"] {
            assert!(Arguments::try_parse_from(["cpu", &format!("--sizes={wrong}")]).is_err(), "{wrong}");
        }
    }

    #[test]
    fn options_override_what_quick_sets() {
        let experiment = experiment(&["--quick", "--time", "5", "--sizes", "16,2^22"]);
        assert_eq!(experiment.effort.time, Duration::from_millis(5));
        assert_eq!(experiment.effort.repetitions, Effort::QUICK.repetitions);
        assert_eq!(experiment.sizes, [16, 1 << 22]);
    }
}
