//! Results for programs.

use crate::error::Error;
use crate::machine::Machine;
use crate::measure::{Cell, Place};
use crate::table::speedup;
use bitonic_testkit::record::quote;
use std::borrow::Cow;
use std::path::Path;

/// Writes a header and a line for every cell; every line ends with the machine's description.
pub fn write(path: &Path, cells: &[Cell], machine: &Machine) -> Result<(), Error> {
    std::fs::write(path, render(cells, machine))
        .map_err(|reason| Error::Output { path: path.to_owned(), reason })
}

const COLUMNS: [&str; 11] = [
    "contender",
    "mode",
    "type",
    "pattern",
    "n",
    "rows",
    "repetitions",
    "median_ns_per_key",
    "min_ns_per_key",
    "relative_interquartile_range",
    "times_as_fast_as_std",
];

/// The text of the file.
pub fn render(cells: &[Cell], machine: &Machine) -> String {
    let description = machine.fields();
    let header = COLUMNS.iter().copied().chain(description.iter().map(|(name, _)| *name));
    let mut text = line(header.map(Cow::Borrowed));
    for cell in cells {
        let machine = description.iter().map(|(_, value)| Cow::Borrowed(value.as_str()));
        text += &line(fields(cells, cell).into_iter().map(Cow::Owned).chain(machine));
    }
    text
}

fn fields(cells: &[Cell], cell: &Cell) -> [String; COLUMNS.len()] {
    let Place { contender, element, pattern, size } = cell.place;
    let nanoseconds = cell.nanoseconds;
    [
        contender.to_string(),
        contender.mode().name().to_owned(),
        element.to_string(),
        pattern.to_string(),
        size.to_string(),
        cell.rows.to_string(),
        nanoseconds.count.to_string(),
        format!("{:.4}", nanoseconds.median),
        format!("{:.4}", nanoseconds.least),
        format!("{:.4}", nanoseconds.spread),
        speedup(cells, cell).map_or_else(String::new, |speedup| format!("{speedup:.3}")),
    ]
}

fn line<'a>(fields: impl Iterator<Item = Cow<'a, str>>) -> String {
    let quoted: Vec<Cow<'a, str>> = fields.map(quote).collect();
    quoted.join(",") + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::element::Element;
    use crate::peers::Contender;
    use crate::statistics::Summary;
    use bitonic_testkit::Pattern;

    #[test]
    fn a_header_and_a_line_for_every_cell_with_the_machine() {
        let cell = |contender, median| Cell {
            place: Place { contender, element: Element::U32, pattern: Pattern::Random, size: 100 },
            rows: 656,
            nanoseconds: Summary { median, least: median, spread: 0.25, count: 9 },
        };
        let machine =
            Machine { processor: "A \"fast\" one, really".to_owned(), ..Machine::describe(Some("2.4")) };
        let text = render(&[cell(Contender::Bitonic, 1.5), cell(Contender::Standard, 15.0)], &machine);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 3);
        assert!(
            lines[0].starts_with("contender,mode,type,pattern,n,") && lines[0].ends_with(",numpy"),
            "{}",
            lines[0]
        );
        let first = "bitonic,default,u32,random,100,656,9,1.5000,1.5000,0.2500,10.000,\"A \"\"fast\"\" one, really\",";
        assert!(lines[1].starts_with(first), "{}", lines[1]);
        assert!(
            lines[2].starts_with("std,default,u32,random,100,656,9,15.0000,") && lines[2].ends_with(",2.4"),
            "{}",
            lines[2]
        );
    }
}
