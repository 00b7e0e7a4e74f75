//! Tables for the terminal: columns with space between them and nothing else, so that other programs read them too.

use comfy_table::{CellAlignment, Table, presets};
use std::fmt;
use std::ops::Range;

/// A table with a heading, one line a row.
pub(crate) struct Plain(Table);

impl Plain {
    /// A table without rows.
    pub(crate) fn new<const COLUMNS: usize>(heading: [&str; COLUMNS]) -> Self {
        let mut table = Table::new();
        table.load_style(presets::NOTHING).set_header(heading);
        for column in table.column_iter_mut() {
            column.set_padding((0, 2));
        }
        Self(table)
    }

    /// Adds a row.
    pub(crate) fn add<const COLUMNS: usize>(&mut self, row: [&str; COLUMNS]) {
        self.0.add_row(row);
    }

    /// Aligns these columns on the right, as numbers are.
    pub(crate) fn align_right(mut self, columns: Range<usize>) -> Self {
        for column in self.0.column_iter_mut().skip(columns.start).take(columns.len()) {
            column.set_cell_alignment(CellAlignment::Right);
        }
        self
    }
}

impl fmt::Display for Plain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.0.trim_fmt())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_aligned_and_lines_end_where_their_text_ends() {
        let mut table = Plain::new(["name", "time", "note"]).align_right(1..2);
        table.add(["a", "12", ""]);
        table.add(["longer", "3", "x"]);
        assert_eq!(table.to_string(), "name    time  note\na         12\nlonger     3  x\n");
    }
}
