//! The console's table: a row for every instance or size, the moment it is done.

use crate::analysis::Summary;
use crate::experiment::ini::COLUMNS;
use crate::experiment::{Experiment, Format};
use crate::figures::{significant, time_of_seconds};
use crate::measure::{Row, RowCell};
use crate::quantity;
use std::fmt::Write;

/// The application's widths of the four columns.
const WIDTHS: [usize; 4] = [23, 23, 24, 24];

/// More implementations than stand beside each other on a console.
const MOST_COLUMNS: usize = 4;

/// The table of a run, piece by piece.
#[derive(Debug)]
pub struct Console<'a> {
    experiment: &'a Experiment,
}

/// What a configuration says, as the application prints it.
pub fn configuration(experiment: &Experiment) -> String {
    let has = |part: &str| experiment.implementations.iter().any(|entry| entry.label.contains(part));
    let mut text = ">>> CONFIGURATION LOADED\n\n".to_owned();
    for (label, value) in [
        ("CPU measurement", has("CPU")),
        ("GPU measurement", has("GPU")),
        ("Bitonic Sort measurement", has("Bitonic")),
        ("Odd-Even Sort measurement", has("Odd-Even")),
        ("Results verification", experiment.verify),
    ] {
        let _ = writeln!(text, "{label:<32}{}", if value { "ON" } else { "OFF" });
    }
    let _ = write!(text, "\n{:<32}{}\n\n", "Defined instances", experiment.cases.len());
    text
}

impl<'a> Console<'a> {
    /// The table of a run of this experiment.
    pub fn new(experiment: &'a Experiment) -> Self {
        Self { experiment }
    }

    /// What comes before the first row.
    pub fn heading(&self) -> String {
        match self.layout() {
            Layout::Dropin => {
                let mut heading = "| Instance size |".to_owned();
                for (column, width) in COLUMNS.iter().zip(WIDTHS) {
                    let _ = write!(heading, " {:^width$} |", column.label);
                }
                format!(">>> STARTING BENCHMARK...\n\n{0}{heading}\n{0}", rule())
            }
            Layout::Columns => {
                let mut heading = format!("{:>13}", "n");
                for entry in &self.experiment.implementations {
                    let _ = write!(heading, "  {:>24}", entry.label);
                }
                heading + "\n"
            }
            Layout::Lines => format!("{:>13}  {:<28}  {:>24}\n", "n", "implementation", "mean ± deviation"),
        }
    }

    /// A row; empty where a row is for a size, and the instance is not the last one of it.
    pub fn row(&self, row: &Row<'_>) -> String {
        match self.layout() {
            Layout::Dropin => {
                let mut text = format!("| {:>13} |", row.case.size);
                for (column, width) in COLUMNS.iter().zip(WIDTHS) {
                    let entries = &self.experiment.implementations;
                    let index = entries.iter().position(|entry| entry.label == column.label);
                    let cell =
                        index.map_or_else(String::new, |index| cell_in_seconds(&row.of_instance[index]));
                    let _ = write!(text, " {cell:>width$} |");
                }
                text + "\n"
            }
            _ if !row.last_of_its_size => String::new(),
            Layout::Columns => {
                let mut text = format!("{:>13}", self.size(row));
                for one in &row.of_size {
                    let _ = write!(text, "  {:>24}", cell(one));
                }
                text + "\n"
            }
            Layout::Lines => {
                let mut text = String::new();
                for (entry, one) in self.experiment.implementations.iter().zip(&row.of_size) {
                    let _ = writeln!(text, "{:>13}  {:<28}  {:>24}", self.size(row), entry.label, cell(one));
                }
                text
            }
        }
    }

    /// What comes after the last row.
    pub fn end(&self) -> String {
        match self.layout() {
            Layout::Dropin => format!("{}\n>>> BENCHMARK COMPLETE!\n", rule()),
            _ => String::new(),
        }
    }

    /// What comes instead after a wrong result.
    pub fn wrong(&self, message: &str) -> String {
        format!("\n>>> BENCHMARK TERMINATED!\n>>> {message}\n>>> Please check the \"error.log\" file.\n")
    }

    /// The size, with what else tells rows apart.
    fn size(&self, row: &Row<'_>) -> String {
        let mut size = quantity::name(row.case.size);
        let differs = |of: fn(&crate::experiment::Case) -> &String| {
            self.experiment.cases.iter().any(|case| of(case) != of(row.case))
        };
        if differs(|case| &case.key_type) {
            size = format!("{size} {}", row.case.key_type);
        }
        if differs(|case| &case.distribution) {
            size = format!("{size} {}", row.case.distribution);
        }
        size
    }

    fn layout(&self) -> Layout {
        match self.experiment.format {
            Format::Ini => Layout::Dropin,
            Format::Toml if self.experiment.implementations.len() <= MOST_COLUMNS => Layout::Columns,
            Format::Toml => Layout::Lines,
        }
    }
}

enum Layout {
    /// As the application has it.
    Dropin,
    /// A column for every implementation.
    Columns,
    /// A line for every implementation.
    Lines,
}

fn rule() -> String {
    let mut rule = format!("#{}#", "=".repeat(15));
    for width in WIDTHS {
        rule += &format!("{}#", "=".repeat(width + 2));
    }
    rule + "\n"
}

/// As everywhere else: `6.97 µs ± 3.10 %`.
fn cell(cell: &RowCell) -> String {
    match cell {
        RowCell::Nothing => String::new(),
        RowCell::Measured(Summary { mean, relative_deviation: None, .. }) => time_of_seconds(*mean),
        RowCell::Measured(Summary { mean, relative_deviation: Some(relative), .. }) => {
            format!("{} ± {} %", time_of_seconds(*mean), significant(100.0 * relative))
        }
        RowCell::Extrapolated(seconds) => format!("~{}", time_of_seconds(*seconds)),
    }
}

/// As the application prints it. Its deviation of a single sort is 0; here there is none.
fn cell_in_seconds(cell: &RowCell) -> String {
    match cell {
        RowCell::Nothing => String::new(),
        RowCell::Measured(Summary { mean, deviation: None, .. }) => format!("{} s", scientific(*mean)),
        RowCell::Measured(Summary { mean, deviation: Some(deviation), .. }) => {
            format!("{} ({}) s", scientific(*mean), scientific(*deviation))
        }
        RowCell::Extrapolated(seconds) => format!("~{} s", scientific(*seconds)),
    }
}

/// As C's `%.2e`: at least two digits of the exponent, with its sign.
fn scientific(value: f64) -> String {
    let text = format!("{value:.2e}");
    let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    format!("{digits}e{}{:02}", if exponent < 0 { '-' } else { '+' }, exponent.abs())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::{Case, file};

    fn summary(mean: f64, deviation: f64) -> RowCell {
        RowCell::Measured(Summary {
            deviation: Some(deviation),
            ..Summary { mean, ..Summary::of(&[mean]).unwrap() }
        })
    }

    fn case() -> Case {
        let (key_type, distribution) = ("i32".to_owned(), "random".to_owned());
        Case { key_type, distribution, size: 10, instance: 1, instances: 1, repetitions: 1, values: None }
    }

    #[test]
    fn the_table_of_a_configuration_is_the_application_s() {
        let text = "implementations = [\"cpu:parallel_recursive\", \"cpu:odd_even_threads\"]\nsizes = [8]\n";
        let mut experiment = Experiment { format: Format::Ini, ..file::read(text, "x", None).unwrap() };
        experiment.implementations[0].label = "CPU Bitonic".to_owned();
        experiment.implementations[1].label = "CPU Odd-Even".to_owned();
        let console = Console::new(&experiment);
        let cells = vec![summary(1.5, 1.5), summary(3.6e-3, 0.36e-10)];
        let case = case();
        let row = Row { case: &case, last_of_its_size: true, of_instance: cells.clone(), of_size: cells };
        let rule = "#===============#=========================#=========================#==========================\
                    #==========================#\n";
        assert_eq!(
            console.heading() + &console.row(&row) + &console.end(),
            format!(
                ">>> STARTING BENCHMARK...\n\n{rule}| Instance size |       CPU Bitonic       |       GPU Bitonic       \
                 |       CPU Odd-Even       |       GPU Odd-Even       |\n{rule}|            10 |   1.50e+00 (1.50e+00) s \
                 |                         |    3.60e-03 (3.60e-11) s |                          |\n{rule}\
                 \n>>> BENCHMARK COMPLETE!\n"
            )
        );
        assert_eq!(
            configuration(&experiment),
            ">>> CONFIGURATION LOADED\n\nCPU measurement                 ON\nGPU measurement                 OFF\n\
             Bitonic Sort measurement        ON\nOdd-Even Sort measurement       ON\n\
             Results verification            ON\n\nDefined instances               1\n\n"
        );
    }

    #[test]
    fn times_have_their_unit_and_one_sort_has_no_deviation() {
        let of = |sample: &[f64]| RowCell::Measured(Summary::of(sample).unwrap());
        assert_eq!(cell(&of(&[6.97e-6])), "6.97 µs");
        assert_eq!(cell(&of(&[1e-3, 1e-3, 1.3e-3])), "1.10 ms ± 15.7 %");
        assert_eq!(cell_in_seconds(&of(&[6.97e-6])), "6.97e-06 s");
    }

    #[test]
    fn extrapolated_times_are_marked() {
        assert_eq!(cell_in_seconds(&RowCell::Extrapolated(7200.0)), "~7.20e+03 s");
        assert_eq!(cell(&RowCell::Extrapolated(7200.0)), "~7200 s");
        assert_eq!(cell(&RowCell::Nothing), "");
    }
}
