//! Results for programs.

use crate::machine::Machine;
use crate::measure::{Cell, CellId};
use crate::table::speedup;
use serde::Serialize;

/// One line: a cell and what it was measured on.
#[derive(Debug, Serialize)]
pub struct Line {
    contender: String,
    mode: &'static str,
    #[serde(rename = "type")]
    element: String,
    pattern: String,
    n: usize,
    rows: usize,
    repetitions: usize,
    median_ns_per_key: String,
    min_ns_per_key: String,
    relative_interquartile_range: String,
    times_as_fast_as_std: Option<String>,
    processor: String,
    cores: usize,
    instructions: String,
    compiler: &'static str,
    version: &'static str,
    commit: String,
    date: String,
    numpy: String,
}

/// A line for every cell of one size.
pub fn lines(cells: &[Cell], machine: &Machine) -> Vec<Line> {
    cells.iter().map(|cell| line(cells, cell, machine.clone())).collect()
}

fn line(cells: &[Cell], cell: &Cell, machine: Machine) -> Line {
    let CellId { sort, element, pattern, size } = cell.id;
    let nanoseconds = cell.nanoseconds;
    Line {
        contender: sort.to_string(),
        mode: sort.mode().name(),
        element: element.to_string(),
        pattern: pattern.to_string(),
        n: size,
        rows: cell.rows,
        repetitions: nanoseconds.count,
        median_ns_per_key: format!("{:.4}", nanoseconds.median),
        min_ns_per_key: format!("{:.4}", nanoseconds.least),
        relative_interquartile_range: format!("{:.4}", nanoseconds.spread()),
        times_as_fast_as_std: speedup(cells, cell).map(|speedup| format!("{speedup:.3}")),
        processor: machine.processor,
        cores: machine.cores,
        instructions: machine.instructions.to_string(),
        compiler: machine.compiler,
        version: machine.program.version,
        commit: machine.program.commit,
        date: machine.program.date,
        numpy: machine.numpy,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::element::Element;
    use crate::peers::Sort;
    use bitonic_lab::statistics::Summary;
    use bitonic_testkit::Pattern;

    #[test]
    fn a_heading_and_a_line_for_every_cell_with_the_machine() {
        let cell = |sort, median| Cell {
            id: CellId { sort, element: Element::U32, pattern: Pattern::Random, size: 100 },
            rows: 656,
            nanoseconds: Summary::of(&[median]).unwrap(),
        };
        let machine = Machine {
            processor: "A \"fast\" one, really".to_owned(),
            ..Machine::describe(Some("numpy 2.4"))
        };
        let lines = lines(&[cell(Sort::Bitonic, 1.5), cell(Sort::Standard, 15.0)], &machine);
        let text = String::from_utf8(bitonic_lab::record::text(&lines, true).unwrap()).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 3);
        assert!(
            lines[0].starts_with("contender,mode,type,pattern,n,") && lines[0].ends_with(",numpy"),
            "{}",
            lines[0]
        );
        let first = "bitonic,default,u32,random,100,656,1,1.5000,1.5000,0.0000,10.000,\"A \"\"fast\"\" one, really\",";
        assert!(lines[1].starts_with(first), "{}", lines[1]);
        assert!(
            lines[2].starts_with("std,default,u32,random,100,656,1,15.0000,") && lines[2].ends_with(",2.4"),
            "{}",
            lines[2]
        );
    }
}
