//! A network as an SVG document.
//!
//! ```text
//!                     1                  2           stage numbers
//!   0 ──── padding ───┬─── padding ┊ padding ───┬─── wire 0
//!   1 ────────────────┴────────────┊────────────┴─── wire 1
//! ```
//!
//! The edges of blocks stand in the padding of stages. Values on the wires stand between the padding of one stage
//! and that of the next, and the wires pause there.

use std::fmt::{self, Write};

use super::Drawing;
use crate::{Block, Comparator, Network};

/// The SVG document of a drawing.
pub(super) fn draw(drawing: &Drawing<'_>) -> String {
    let mut svg = String::new();
    Picture::new(drawing).write(&mut svg).expect("writing to a string does not fail");
    svg
}

const MARGIN: f64 = 20.0;
const WIRE_DISTANCE: f64 = 24.0;
const COLUMN_DISTANCE: f64 = 14.0;
const STAGE_PADDING: f64 = 14.0;
/// The edge of an outermost block is at most this far from the wires and columns in it: less than half the
/// distance of two wires, and less than a stage's padding, so that neighbours stay apart.
const BLOCK_PADDING: f64 = 10.5;
/// The edge of an innermost block is at least this far from them: it clears the ends of comparators.
const INNERMOST_BLOCK_PADDING: f64 = 6.0;
const FONT_SIZE: f64 = 12.0;
const TITLE_SIZE: f64 = 15.0;
/// The width of a character as a share of the font's size: that of the common fonts of one width, and an upper
/// bound for most others.
const CHARACTER_WIDTH: f64 = 0.61;
/// How far below its middle a line of digits has its base line, as a share of the font's size.
const BASE_LINE: f64 = 0.36;

const BACKGROUND: &str = "#ffffff";
const FRAME: &str = "#d0d7de";
const INK: &str = "#1f2328";
const FAINT_INK: &str = "#6e7781";
const WIRE: &str = "#9aa4af";
const BLOCK: &str = "#0b5cad";
const ASCENDING: &str = "#0b5cad";
const DESCENDING: &str = "#c2410c";

/// A drawing with the place of everything in it.
struct Picture<'drawing> {
    drawing: &'drawing Drawing<'drawing>,
    network: &'drawing Network,
    stages: Vec<PlacedStage>,
    /// The width of the values on the wires; 0 without values.
    values_width: f64,
    first_wire: f64,
    wires_left: f64,
    wires_right: f64,
    width: f64,
    height: f64,
}

/// A stage, from the x of its first column to that of its last.
struct PlacedStage {
    columns: Vec<Vec<Comparator>>,
    left: f64,
    right: f64,
}

impl<'drawing> Picture<'drawing> {
    fn new(drawing: &'drawing Drawing<'drawing>) -> Self {
        let network = drawing.network;
        let last_wire = network.wires().saturating_sub(1);
        let values = drawing.states.iter().flatten().flatten();
        let longest_value = values.map(|value| value.chars().count()).max();
        let values_width = longest_value.map_or(0.0, |length| text_width(length, FONT_SIZE) + 8.0);

        let wires_left = MARGIN + text_width(last_wire.to_string().len(), FONT_SIZE) + 8.0;
        let mut x = wires_left;
        let stages = network.stages().iter().map(|stage| {
            let columns = stage.columns();
            let left = x + values_width + STAGE_PADDING;
            let right = left + COLUMN_DISTANCE * columns.len().saturating_sub(1) as f64;
            x = right + STAGE_PADDING;
            PlacedStage { columns, left, right }
        });
        let stages = stages.collect();
        let wires_right = x + values_width;

        let title = drawing.title.as_deref();
        let title_width = title.map_or(0.0, |title| text_width(title.chars().count(), TITLE_SIZE));
        let title_height = title.map_or(0.0, |_| TITLE_SIZE + 12.0);
        let first_wire = MARGIN + title_height + FONT_SIZE + 12.0;
        Self {
            drawing,
            network,
            stages,
            values_width,
            first_wire,
            wires_left,
            wires_right,
            width: (wires_right + MARGIN).max(title_width + 2.0 * MARGIN),
            height: first_wire + WIRE_DISTANCE * last_wire as f64 + MARGIN,
        }
    }

    fn wire_y(&self, wire: usize) -> f64 {
        self.first_wire + WIRE_DISTANCE * wire as f64
    }

    fn write(&self, svg: &mut String) -> fmt::Result {
        let (width, height) = (Number(self.width), Number(self.height));
        writeln!(
            svg,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" version=\"1.1\" role=\"img\" width=\"{width}\" \
             height=\"{height}\" viewBox=\"0 0 {width} {height}\" font-size=\"{FONT_SIZE}\" \
             font-family=\"ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace\">"
        )?;
        let description = self.drawing.title.clone().unwrap_or_else(|| self.description());
        writeln!(svg, "<title>{}</title>", Escaped(&description))?;
        writeln!(
            svg,
            "<rect x=\"0.5\" y=\"0.5\" width=\"{}\" height=\"{}\" rx=\"8\" fill=\"{BACKGROUND}\" stroke=\"{FRAME}\"/>",
            Number(self.width - 1.0),
            Number(self.height - 1.0)
        )?;
        self.write_title(svg)?;
        self.write_blocks(svg)?;
        self.write_borders(svg)?;
        self.write_wires(svg)?;
        self.write_numbers(svg)?;
        self.write_comparators(svg)?;
        self.write_values(svg)?;
        svg.push_str("</svg>\n");
        Ok(())
    }

    fn description(&self) -> String {
        let (wires, stages, comparators) = (self.network.wires(), self.network.depth(), self.network.size());
        format!("A comparator network: {wires} wires, {stages} stages, {comparators} comparators")
    }

    fn write_title(&self, svg: &mut String) -> fmt::Result {
        let Some(title) = &self.drawing.title else { return Ok(()) };
        writeln!(
            svg,
            "<text x=\"{MARGIN}\" y=\"{}\" font-size=\"{TITLE_SIZE}\" font-weight=\"bold\" fill=\"{INK}\" \
             font-family=\"system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', sans-serif\">{}</text>",
            Number(MARGIN + TITLE_SIZE * 0.8),
            Escaped(title)
        )
    }

    fn write_blocks(&self, svg: &mut String) -> fmt::Result {
        let blocks = nested_blocks(self.network);
        let Some(deepest) = blocks.iter().map(|&(depth, _)| depth).max() else { return Ok(()) };
        let room = BLOCK_PADDING - INNERMOST_BLOCK_PADDING;
        let step = if deepest == 0 { 0.0 } else { (room / deepest as f64).min(room / 2.0) };
        // A single level leaves a wider gap between neighbours.
        let outermost = (BLOCK_PADDING - room / 2.0 + step * deepest as f64).min(BLOCK_PADDING);
        writeln!(
            svg,
            "<g class=\"blocks\" fill=\"{BLOCK}\" fill-opacity=\"0.07\" stroke=\"{BLOCK}\" stroke-opacity=\"0.3\">"
        )?;
        for (depth, block) in blocks {
            let padding = outermost - step * depth as f64;
            let left = self.stages[block.stages.start].left - padding;
            let right = self.stages[block.stages.end - 1].right + padding;
            let top = self.wire_y(block.wires.start) - padding;
            let bottom = self.wire_y(block.wires.end - 1) + padding;
            writeln!(
                svg,
                "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"6\"/>",
                Number(left),
                Number(top),
                Number(right - left),
                Number(bottom - top)
            )?;
        }
        svg.push_str("</g>\n");
        Ok(())
    }

    /// Lines between the stages. Values, where there are any, separate them well enough.
    fn write_borders(&self, svg: &mut String) -> fmt::Result {
        if self.drawing.states.is_some() || self.network.wires() == 0 {
            return Ok(());
        }
        let (top, bottom) =
            (self.wire_y(0) - WIRE_DISTANCE / 2.0, self.height - MARGIN + WIRE_DISTANCE / 2.0);
        writeln!(svg, "<g class=\"borders\" stroke=\"{FRAME}\" stroke-dasharray=\"2 3\">")?;
        for stage in self.stages.iter().skip(1) {
            let x = Number(stage.left - STAGE_PADDING);
            writeln!(svg, "<path d=\"M{x} {}V{}\"/>", Number(top), Number(bottom))?;
        }
        svg.push_str("</g>\n");
        Ok(())
    }

    fn write_wires(&self, svg: &mut String) -> fmt::Result {
        writeln!(svg, "<g class=\"wires\" stroke=\"{WIRE}\" stroke-width=\"1.2\">")?;
        for wire in 0..self.network.wires() {
            let y = Number(self.wire_y(wire));
            svg.push_str("<path d=\"");
            if self.drawing.states.is_some() {
                for stage in &self.stages {
                    let (left, right) = (stage.left - STAGE_PADDING, stage.right + STAGE_PADDING);
                    write!(svg, "M{} {y}H{}", Number(left), Number(right))?;
                }
            } else {
                write!(svg, "M{} {y}H{}", Number(self.wires_left), Number(self.wires_right))?;
            }
            svg.push_str("\"/>\n");
        }
        svg.push_str("</g>\n");
        Ok(())
    }

    /// The numbers of wires at the left, and of stages above.
    fn write_numbers(&self, svg: &mut String) -> fmt::Result {
        writeln!(svg, "<g class=\"numbers\" fill=\"{FAINT_INK}\">\n<g text-anchor=\"end\">")?;
        for wire in 0..self.network.wires() {
            let y = Number(self.wire_y(wire) + FONT_SIZE * BASE_LINE);
            writeln!(svg, "<text x=\"{}\" y=\"{y}\">{wire}</text>", Number(self.wires_left - 8.0))?;
        }
        svg.push_str("</g>\n<g text-anchor=\"middle\">\n");
        let y = Number(self.first_wire - WIRE_DISTANCE / 2.0 - 6.0);
        for (index, stage) in self.stages.iter().enumerate() {
            let x = Number((stage.left + stage.right) / 2.0);
            writeln!(svg, "<text x=\"{x}\" y=\"{y}\">{}</text>", index + 1)?;
        }
        svg.push_str("</g>\n</g>\n");
        Ok(())
    }

    fn write_comparators(&self, svg: &mut String) -> fmt::Result {
        let with_arrows = !self.network.is_ascending();
        for (ascending, colour) in [(true, ASCENDING), (false, DESCENDING)] {
            if self.network.comparators().all(|comparator| comparator.is_ascending() != ascending) {
                continue;
            }
            writeln!(
                svg,
                "<g class=\"comparators\" fill=\"{colour}\" stroke=\"{colour}\" stroke-width=\"1.6\" \
                 stroke-linejoin=\"round\">"
            )?;
            for stage in &self.stages {
                for (column, comparators) in stage.columns.iter().enumerate() {
                    let x = stage.left + COLUMN_DISTANCE * column as f64;
                    let chosen =
                        comparators.iter().filter(|comparator| comparator.is_ascending() == ascending);
                    for &comparator in chosen {
                        self.write_comparator(svg, comparator, x, with_arrows)?;
                    }
                }
            }
            svg.push_str("</g>\n");
        }
        Ok(())
    }

    fn write_comparator(
        &self,
        svg: &mut String,
        comparator: Comparator,
        x: f64,
        with_arrow: bool,
    ) -> fmt::Result {
        let (min, max) = (self.wire_y(comparator.min()), self.wire_y(comparator.max()));
        write!(svg, "<path d=\"M{} {}V{}", Number(x), Number(min), Number(max))?;
        if with_arrow {
            let base = if comparator.is_ascending() { max - 7.0 } else { max + 7.0 };
            let (left, right) = (Number(x - 3.5), Number(x + 3.5));
            write!(svg, "L{left} {base}H{right}L{} {}Z", Number(x), Number(max), base = Number(base))?;
        }
        writeln!(svg, "\"/>")?;
        let dots = if with_arrow { &[min][..] } else { &[min, max] };
        for &y in dots {
            writeln!(svg, "<circle cx=\"{}\" cy=\"{}\" r=\"2.8\"/>", Number(x), Number(y))?;
        }
        Ok(())
    }

    fn write_values(&self, svg: &mut String) -> fmt::Result {
        let Some(states) = &self.drawing.states else { return Ok(()) };
        let before = self.wires_left + self.values_width / 2.0;
        let after = |stage: &PlacedStage| stage.right + STAGE_PADDING + self.values_width / 2.0;
        let places = std::iter::once(before).chain(self.stages.iter().map(after));
        writeln!(svg, "<g class=\"values\" fill=\"{INK}\" text-anchor=\"middle\">")?;
        for (x, state) in places.zip(states) {
            for (wire, value) in state.iter().enumerate() {
                let y = Number(self.wire_y(wire) + FONT_SIZE * BASE_LINE);
                writeln!(svg, "<text x=\"{}\" y=\"{y}\">{}</text>", Number(x), Escaped(value))?;
            }
        }
        svg.push_str("</g>\n");
        Ok(())
    }
}

/// The network's blocks, cut to the network, each with the number of blocks around it; outer ones first, so that
/// inner ones are painted over them.
fn nested_blocks(network: &Network) -> Vec<(usize, Block)> {
    let cut = |block: &Block| Block {
        stages: block.stages.start..block.stages.end.min(network.depth()),
        wires: block.wires.start..block.wires.end.min(network.wires()),
    };
    let is_visible = |block: &Block| !block.stages.is_empty() && !block.wires.is_empty();
    let blocks: Vec<Block> = network.blocks().iter().map(cut).filter(is_visible).collect();
    let depth = |block: &Block| blocks.iter().filter(|outer| encloses(outer, block)).count();
    let mut nested: Vec<(usize, Block)> = blocks.iter().map(|block| (depth(block), block.clone())).collect();
    nested.sort_by_key(|&(depth, _)| depth);
    nested
}

fn encloses(outer: &Block, inner: &Block) -> bool {
    outer != inner
        && outer.stages.start <= inner.stages.start
        && inner.stages.end <= outer.stages.end
        && outer.wires.start <= inner.wires.start
        && inner.wires.end <= outer.wires.end
}

fn text_width(characters: usize, font_size: f64) -> f64 {
    characters as f64 * font_size * CHARACTER_WIDTH
}

/// A length, written to a tenth of a pixel.
struct Number(f64);

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", (self.0 * 10.0).round() / 10.0)
    }
}

/// Text with the characters that XML reserves written as entities, and those it forbids as the replacement
/// character.
struct Escaped<'text>(&'text str);

impl fmt::Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.chars().try_for_each(|character| match character {
            '&' => f.write_str("&amp;"),
            '<' => f.write_str("&lt;"),
            '>' => f.write_str("&gt;"),
            '\0'..='\u{8}' | '\u{b}' | '\u{c}' | '\u{e}'..='\u{1f}' | '\u{fffe}' | '\u{ffff}' => {
                f.write_char(char::REPLACEMENT_CHARACTER)
            }
            other => f.write_char(other),
        })
    }
}
