//! The forms in which a network is put out: text, SVG, JSON, list.

use super::{Summary, values};
use crate::failure::Failure;
use crate::output::{self, is_standard_stream};
use bitonic_explorer::page;
use bitonic_network::{Comparator, Network, Stage};
use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};

/// How a network is put out. Without any of these it is drawn as text.
#[derive(clap::Args)]
pub(super) struct Picture {
    /// Draw with ASCII characters alone
    #[arg(long, conflicts_with_all = ["svg", "html", "json", "list"])]
    ascii: bool,
    /// Write an SVG picture to this file; `-` writes it to standard output
    #[arg(long, value_name = "FILE", conflicts_with_all = ["html", "json", "list"])]
    svg: Option<PathBuf>,
    /// Write the explorer's page with this network to this file; `-` writes it to standard output
    #[arg(long, value_name = "FILE", conflicts_with_all = ["json", "list"])]
    html: Option<PathBuf>,
    /// Print the network as JSON
    #[arg(long, conflicts_with = "list")]
    json: bool,
    /// Print the network as a list, one stage a line: [(0,1),(2,3)]
    #[arg(long)]
    list: bool,
    /// Show these values on the wires before the first stage and after every stage
    #[arg(long, value_name = "VALUES", allow_hyphen_values = true, conflicts_with_all = ["json", "list"])]
    input: Option<String>,
}

impl Picture {
    /// Whether any form was chosen by name.
    pub(super) fn is_asked_for(&self) -> bool {
        self.ascii
            || self.svg.is_some()
            || self.html.is_some()
            || self.json
            || self.list
            || self.input.is_some()
    }

    /// Whether standard output carries a document that nothing else may be mixed with.
    pub(super) fn fills_standard_output(&self) -> bool {
        let file = self.svg.as_deref().or(self.html.as_deref());
        self.json || self.list || file.is_some_and(is_standard_stream)
    }

    /// Puts the network out, with a line that counts it where that does not spoil a document.
    pub(super) fn write(&self, network: &Network) -> Result<(), Failure> {
        if let Some(path) = &self.html {
            return self.write_page(network, path);
        }
        let document = match &self.svg {
            _ if self.json => network.to_json(),
            _ if self.list => network.to_list(),
            Some(path) => {
                let svg = self.draw_svg(network)?;
                output::write(Some(path), |out| out.write_all(svg.as_bytes()))?;
                if is_standard_stream(path) {
                    return Ok(());
                }
                format!("{}, drawn in {}\n", Summary(network), path.display())
            }
            None => format!("{}{}\n", self.draw_text(network)?, Summary(network)),
        };
        output::print(|out| out.write_all(document.as_bytes()))
    }

    fn write_page(&self, network: &Network, path: &Path) -> Result<(), Failure> {
        let keys =
            self.input.as_deref().map_or(Ok(Vec::new()), |text| values::numbers(text, network.wires()))?;
        let page =
            page::of_network(network, &keys).map_err(|error| Failure::new(format!("--html: {error}")))?;
        output::write(Some(path), |out| out.write_all(page.as_bytes()))?;
        match is_standard_stream(path) {
            true => Ok(()),
            false => {
                output::print(|out| writeln!(out, "{}, on the page {}", Summary(network), path.display()))
            }
        }
    }

    fn draw_svg(&self, network: &Network) -> Result<String, Failure> {
        let states = if self.input.is_some() { network.depth().saturating_add(1) } else { 1 };
        let marks = network.size().saturating_add(network.wires().saturating_mul(states));
        if marks > MOST_MARKS {
            return Err(Failure::new(format!(
                "a picture of {} would have {marks} marks, more than {MOST_MARKS}: draw fewer wires, or use --list or --json",
                Summary(network)
            )));
        }
        let drawing = network.draw();
        Ok(match &self.input {
            Some(text) => values::show(drawing, text)?,
            None => drawing,
        }
        .to_svg())
    }

    /// The drawing, or nothing but a word on standard error if a terminal cannot show it.
    fn draw_text(&self, network: &Network) -> Result<String, Failure> {
        let longest =
            self.input.as_deref().map(|text| text.split_whitespace().map(str::len).max().unwrap_or(0));
        let size = TextSize::of(network, longest);
        if size.columns.saturating_mul(size.lines) > MOST_CHARACTERS {
            return Err(Failure::new(format!(
                "a drawing of {} would have {} columns and {} lines: draw fewer wires, or use --svg FILE, --list or --json",
                Summary(network),
                size.columns,
                size.lines
            )));
        }
        let drawing = network.draw().ascii(self.ascii);
        let drawing = match &self.input {
            Some(text) => values::show(drawing, text)?,
            None => drawing,
        };
        if io::stdout().is_terminal() && size.columns > MOST_TERMINAL_COLUMNS {
            output::note(format_args!(
                "The drawing has {} columns, too many for a terminal: make a picture with --svg FILE, or send the text to \
                 a file or to `less -S`.\n",
                size.columns
            ));
            return Ok(String::new());
        }
        Ok(drawing.to_text())
    }
}

/// An SVG of so many lines, strokes and dots takes 100 megabytes, and no viewer opens a larger one.
const MOST_MARKS: usize = 1 << 20;

/// Text beyond this size is a slip of the keyboard.
const MOST_CHARACTERS: usize = 1 << 26;

/// As wide as terminals usually get; wrapped lines would show nothing.
const MOST_TERMINAL_COLUMNS: usize = 200;

/// About how large a drawing as text is. Known without making it, because it may be too large to make.
#[derive(Debug, PartialEq, Eq)]
struct TextSize {
    columns: usize,
    lines: usize,
}

impl TextSize {
    /// The size for a network, with values of this many characters on the wires.
    fn of(network: &Network, value_width: Option<usize>) -> Self {
        // Between two stages is a border or the values with a space on either side; around every comparator is wire.
        let between = value_width.map_or(1, |width| width + 2);
        let stages = network.stages().iter().map(|stage| 2 * most_overlapping(stage) + 1 + between);
        let numbers = network.wires().to_string().len() + 2;
        Self { columns: numbers + stages.sum::<usize>(), lines: network.wires().saturating_mul(2) }
    }
}

/// How many comparators of a stage pass over the same place, and so must be drawn side by side.
fn most_overlapping(stage: &Stage) -> usize {
    let ends = |comparator: &Comparator| [(comparator.top(), 1_isize), (comparator.bottom() + 1, -1)];
    let mut ends: Vec<(usize, isize)> = stage.comparators().iter().flat_map(ends).collect();
    ends.sort_unstable();
    let overlapping = ends.iter().scan(0, |open, (_, change)| {
        *open += change;
        Some(*open)
    });
    overlapping.max().unwrap_or(0).unsigned_abs()
}

#[cfg(test)]
mod tests {
    use super::*;
    use bitonic_network::Kind;

    #[test]
    fn the_size_of_a_drawing_is_known_beforehand() {
        for kind in Kind::ALL {
            for wires in [2, 4, 8, 16, 20] {
                let network = kind.generate(wires).unwrap();
                let text = network.draw().to_text();
                let size = TextSize::of(&network, None);
                let columns = text.lines().map(|line| line.chars().count()).max().unwrap();
                assert!(
                    columns.abs_diff(size.columns) <= 2,
                    "{kind} {wires}: {columns} columns, not {}",
                    size.columns
                );
                assert_eq!(text.lines().count(), size.lines, "{kind} {wires}");
            }
        }
    }

    #[test]
    fn values_widen_a_drawing_as_foreseen() {
        let network = Kind::Bitonic.generate(4).unwrap();
        let text = network.draw().input(&[100, 200, 300, 400]).unwrap().to_text();
        let columns = text.lines().map(|line| line.chars().count()).max().unwrap();
        assert!(columns.abs_diff(TextSize::of(&network, Some(3)).columns) <= 8, "{columns}\n{text}");
    }
}
