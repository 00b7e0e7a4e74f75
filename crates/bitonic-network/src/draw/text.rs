//! A network as lines of text: a line for every wire, and one between two wires.
//!
//! ```text
//!     1    2    3       stage numbers
//! 0 ──●─┊─●───┊─●─      a stage: its columns, with a piece of wire around each
//!     │ ┊ │   ┊ │       between two stages: a border, or the values on the wires
//! 1 ──●─┊─┼─●─┊─●─
//!       ┊ │ │ ┊
//! ```

use super::Drawing;
use crate::Comparator;

/// The text of a drawing.
pub(super) fn draw(drawing: &Drawing<'_>) -> String {
    let network = drawing.network;
    let with_arrows = !network.is_ascending();
    let states = drawing.states.as_deref();
    let mut page = Page::new(network.wires(), if drawing.ascii { ASCII } else { UNICODE });

    let numbers: Vec<String> = (0..network.wires()).map(|wire| wire.to_string()).collect();
    page.words(&numbers);
    page.blank();
    page.piece_of_wire();
    if let Some(states) = states {
        page.values(&states[0]);
    }
    for (index, stage) in network.stages().iter().enumerate() {
        if index > 0 && states.is_none() {
            page.border();
        }
        let start = page.width;
        page.piece_of_wire();
        for column in stage.columns() {
            page.column(&column, with_arrows);
            page.piece_of_wire();
        }
        page.heading(&(index + 1).to_string(), start);
        if let Some(states) = states {
            page.values(&states[index + 1]);
        }
    }
    let title = drawing.title.iter().map(|title| format!("{title}\n\n"));
    title.chain(page.into_lines()).collect()
}

/// The characters a picture is made of.
#[derive(Clone, Copy)]
struct Glyphs {
    wire: char,
    stroke: char,
    crossing: char,
    end: char,
    down: char,
    up: char,
    border: char,
}

const UNICODE: Glyphs =
    Glyphs { wire: '─', stroke: '│', crossing: '┼', end: '●', down: '▼', up: '▲', border: '┊' };

const ASCII: Glyphs =
    Glyphs { wire: '-', stroke: '|', crossing: '+', end: 'o', down: 'v', up: '^', border: ':' };

/// The picture, growing from left to right. All rows are equally wide; the row of wire `w` is `2 * w`.
struct Page {
    glyphs: Glyphs,
    heading: String,
    rows: Vec<String>,
    width: usize,
}

impl Page {
    fn new(wires: usize, glyphs: Glyphs) -> Self {
        let rows = vec![String::new(); (2 * wires).saturating_sub(1)];
        Self { glyphs, heading: String::new(), rows, width: 0 }
    }

    fn push(&mut self, glyph: impl Fn(usize) -> char) {
        for (row, line) in self.rows.iter_mut().enumerate() {
            line.push(glyph(row));
        }
        self.width += 1;
    }

    fn blank(&mut self) {
        self.push(|_| ' ');
    }

    fn border(&mut self) {
        let Glyphs { border, .. } = self.glyphs;
        self.push(|_| border);
    }

    fn piece_of_wire(&mut self) {
        let Glyphs { wire, .. } = self.glyphs;
        self.push(|row| if row % 2 == 0 { wire } else { ' ' });
    }

    fn column(&mut self, comparators: &[Comparator], with_arrows: bool) {
        let Glyphs { wire, stroke, crossing, end, down, up, .. } = self.glyphs;
        let mut glyphs: Vec<char> =
            (0..self.rows.len()).map(|row| if row % 2 == 0 { wire } else { ' ' }).collect();
        for comparator in comparators {
            let (top, bottom) = (2 * comparator.top(), 2 * comparator.bottom());
            for (row, glyph) in glyphs.iter_mut().enumerate().take(bottom).skip(top + 1) {
                *glyph = if row % 2 == 0 { crossing } else { stroke };
            }
            (glyphs[top], glyphs[bottom]) = match (with_arrows, comparator.is_ascending()) {
                (false, _) => (end, end),
                (true, true) => (end, down),
                (true, false) => (up, end),
            };
        }
        self.push(|row| glyphs[row]);
    }

    /// A word for every wire, aligned at the right.
    fn words(&mut self, words: &[String]) {
        let width = words.iter().map(|word| word.chars().count()).max().unwrap_or(0);
        for (row, line) in self.rows.iter_mut().enumerate() {
            let word = if row % 2 == 0 { words[row / 2].as_str() } else { "" };
            line.extend(std::iter::repeat_n(' ', width - word.chars().count()));
            line.push_str(word);
        }
        self.width += width;
    }

    fn values(&mut self, values: &[String]) {
        self.blank();
        self.words(values);
        self.blank();
    }

    /// Puts a word above the middle of what was drawn from column `start` on.
    fn heading(&mut self, word: &str, start: usize) {
        let middle = (start + self.width).saturating_sub(word.len()) / 2;
        let used = self.heading.chars().count();
        self.heading.extend(std::iter::repeat_n(' ', middle.saturating_sub(used).max(1)));
        self.heading.push_str(word);
    }

    fn into_lines(self) -> impl Iterator<Item = String> {
        let heading = Some(self.heading).filter(|heading| !heading.is_empty());
        heading.into_iter().chain(self.rows).map(|line| format!("{}\n", line.trim_end()))
    }
}
