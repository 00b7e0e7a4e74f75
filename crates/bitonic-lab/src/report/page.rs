//! The building blocks of a page: numbers with their origin, tables.

use crate::analysis::{Figure, Part, Sentence};
use crate::markup::escape;
use std::fmt::Write;

/// A number as it is shown, with its whole value and what it is of.
pub(super) fn number(figure: &Figure) -> String {
    let Figure { value, shown, of } = figure;
    format!("<data value=\"{value:e}\" data-of=\"{}\">{}</data>", escape(of), escape(shown))
}

/// A sentence with its numbers.
pub(super) fn sentence(sentence: &Sentence) -> String {
    let part = |part: &Part| match part {
        Part::Words(words) => escape(words),
        Part::Number(figure) => number(figure),
    };
    sentence.0.iter().map(part).collect()
}

/// Headings of columns with words in them, which begin on the left.
const WORDS: [&str; 4] = ["of", "faster above", "what limits the kernels", "here"];

/// A table, row by row. Cells are tags already.
pub(super) struct Table {
    caption: String,
    head: String,
    rows: String,
}

impl Table {
    pub(super) fn new(caption: &str, headings: &[String]) -> Self {
        let heading = |heading: &String| {
            let class = if WORDS.contains(&heading.as_str()) { " class=\"words\"" } else { "" };
            format!("<th scope=\"col\"{class}>{}</th>", escape(heading))
        };
        let head: String = headings.iter().map(heading).collect();
        Self { caption: escape(caption), head, rows: String::new() }
    }

    /// Adds a row: what it is of, and its cells.
    pub(super) fn row(&mut self, heading: &str, cells: impl IntoIterator<Item = String>) {
        let cells: String = cells.into_iter().collect();
        let _ =
            writeln!(self.rows, "<tr><th scope=\"row\" class=\"words\">{}</th>{cells}</tr>", escape(heading));
    }

    pub(super) fn finish(self) -> String {
        let Self { caption, head, rows } = self;
        match rows.is_empty() {
            true => String::new(),
            false => format!(
                "<div class=\"table\"><table><caption>{caption}</caption><thead><tr>{head}</tr></thead><tbody>\n{rows}</tbody></table></div>\n"
            ),
        }
    }
}

/// A cell with something in it.
pub(super) fn cell(content: impl AsRef<str>) -> String {
    format!("<td>{}</td>", content.as_ref())
}

/// A cell with a number, or with nothing.
pub(super) fn maybe(figure: Option<&Figure>) -> String {
    cell(figure.map_or_else(String::new, number))
}

/// A cell with words that may need several lines.
pub(super) fn words(content: impl AsRef<str>) -> String {
    format!("<td class=\"words\">{}</td>", content.as_ref())
}
