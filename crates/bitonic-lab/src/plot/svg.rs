//! Charts as SVG.
//!
//! ```text
//!   title
//!   ┌──────────────────────┐  ── o ── first series
//!   │                      │  - - x - second series
//!   │  y label, turned     │
//!   └──────────────────────┘
//!          x label
//! ```

use super::scale::Scale;
use super::{Chart, Point, Series, Style, Unit};
use crate::figures;
use crate::markup::escape;
use std::fmt::Write;

const WIDTH: f64 = 960.0;
const HEIGHT: f64 = 540.0;
const LEFT: f64 = 92.0;
const TOP: f64 = 48.0;
const BOTTOM: f64 = 472.0;
/// Between the plot and the legend.
const GAP: f64 = 24.0;
/// The width of the font's letters, on average and generously, at the legend's size.
const LETTER: f64 = 7.4;
const LEGEND_LINE: f64 = 20.0;

/// The font that PNGs are drawn with, and what a browser may take instead.
const FONT: &str = "DejaVu Sans, Verdana, sans-serif";

/// Colours that colour-blind people tell apart, in an order in which neighbours differ in lightness, too.
const COLOURS: [&str; 8] =
    ["#0072b2", "#d55e00", "#009e73", "#7b3294", "#a6761d", "#222222", "#cc79a7", "#56a0d3"];

const DASHES: [&str; 4] = ["", "7 4", "2 3", "9 3 2 3"];

impl Chart {
    /// The chart as a drawing that stands for itself: no scripts, no links, no other file.
    pub fn svg(&self) -> String {
        let longest = self.series.iter().map(|series| series.name.chars().count()).max().unwrap_or(0);
        let right = WIDTH - GAP - 48.0 - LETTER * longest as f64;
        let points = || self.series.iter().flat_map(|series| &series.points);
        let heights = points().flat_map(|point| {
            let bar = point.bar.map_or([point.y; 2], |(low, high)| [low, high]);
            [point.y, bar[0], bar[1]]
        });
        let x = Scale::over(points().map(|point| point.x), LEFT, right);
        let y = Scale::over(heights, BOTTOM, TOP);
        let mut out = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" width=\"{WIDTH}\" height=\"{HEIGHT}\" \
             role=\"img\" aria-label=\"{title}\" font-family=\"{FONT}\" font-size=\"13\" fill=\"#222222\">\n\
             <rect width=\"{WIDTH}\" height=\"{HEIGHT}\" fill=\"#ffffff\"/>\n\
             <text x=\"{LEFT}\" y=\"28\" font-size=\"17\">{title}</text>\n",
            title = escape(&self.title)
        );
        if let (Some(x), Some(y)) = (x, y) {
            self.axes(&mut out, &x, &y, right);
            for series in &self.series {
                draw(&mut out, series, &x, &y);
            }
        }
        self.legend(&mut out, right + GAP);
        out + "</svg>\n"
    }

    fn axes(&self, out: &mut String, x: &Scale, y: &Scale, right: f64) {
        for mark in y.decimal_marks(9) {
            let place = y.place(mark);
            let _ = writeln!(
                out,
                "<path d=\"M{LEFT} {place:.1}H{right:.1}\" stroke=\"#dddddd\"/>\
                 <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
                LEFT - 8.0,
                place + 4.5,
                self.y_unit.name(mark)
            );
        }
        for mark in x.binary_marks(14) {
            let place = x.place(mark);
            let _ = writeln!(
                out,
                "<path d=\"M{place:.1} {TOP}V{BOTTOM}\" stroke=\"#dddddd\"/><text x=\"{place:.1}\" y=\"{:.1}\" \
                 text-anchor=\"middle\">2<tspan font-size=\"10\" dy=\"-5\">{}</tspan></text>",
                BOTTOM + 21.0,
                mark.log2().round()
            );
        }
        let _ = writeln!(
            out,
            "<path d=\"M{LEFT} {TOP}V{BOTTOM}H{right:.1}\" fill=\"none\" stroke=\"#222222\"/>\
             <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>\
             <text transform=\"translate(20 {:.1}) rotate(-90)\" text-anchor=\"middle\">{}</text>",
            (LEFT + right) / 2.0,
            BOTTOM + 48.0,
            escape(&self.x_label),
            (TOP + BOTTOM) / 2.0,
            escape(&self.y_label)
        );
    }

    fn legend(&self, out: &mut String, left: f64) {
        for (index, series) in self.series.iter().enumerate() {
            let middle = TOP + 8.0 + LEGEND_LINE * index as f64;
            let _ = write!(out, "<path d=\"M{left:.1} {middle:.1}h32\" {}/>", stroke(series.style));
            if let Style::Measured(number) = series.style {
                marker(out, number, left + 16.0, middle, false);
            }
            let _ = writeln!(
                out,
                "<text x=\"{:.1}\" y=\"{:.1}\" font-size=\"12\">{}</text>",
                left + 40.0,
                middle + 4.0,
                escape(&series.name)
            );
        }
    }
}

impl Unit {
    /// A round value of the unit.
    fn name(self, value: f64) -> String {
        match self {
            Self::Seconds => figures::time_of_seconds(value).replace(".00 ", " ").replace(".0 ", " "),
            Self::Times => format!("{}", (value * 1e4).round() / 1e4),
            Self::KeysPerSecond => {
                let units = [(1e9, "G/s"), (1e6, "M/s"), (1e3, "k/s")];
                let found = units.iter().find(|(unit, _)| value >= 0.999 * unit);
                let (unit, name) = found.copied().unwrap_or((1.0, "/s"));
                format!("{} {name}", (value / unit * 1e3).round() / 1e3)
            }
        }
    }
}

fn draw(out: &mut String, series: &Series, x: &Scale, y: &Scale) {
    let places: Vec<(f64, f64)> =
        series.points.iter().map(|point| (x.place(point.x), y.place(point.y))).collect();
    let path: Vec<String> = places.iter().map(|(x, y)| format!("{x:.1} {y:.1}")).collect();
    if !path.is_empty() {
        let _ = writeln!(out, "<path d=\"M{}\" {}/>", path.join("L"), stroke(series.style));
    }
    let Style::Measured(number) = series.style else { return };
    let colour = COLOURS[number % COLOURS.len()];
    for (&Point { bar, extrapolated, .. }, &(across, up)) in series.points.iter().zip(&places) {
        if let Some((low, high)) = bar {
            let (low, high) = (y.place(low), y.place(high));
            let (left, right) = (across - 4.0, across + 4.0);
            let _ = write!(
                out,
                "<path d=\"M{left:.1} {low:.1}H{right:.1}M{left:.1} {high:.1}H{right:.1}M{across:.1} {low:.1}V{high:.1}\" \
                 fill=\"none\" stroke=\"{colour}\"/>"
            );
        }
        marker(out, number, across, up, extrapolated);
        out.push('\n');
    }
}

fn stroke(style: Style) -> String {
    match style {
        Style::Measured(number) => format!(
            "fill=\"none\" stroke=\"{}\" stroke-width=\"1.8\" stroke-dasharray=\"{}\"",
            COLOURS[number % COLOURS.len()],
            // Every colour comes with every dash once before both repeat.
            DASHES[number / COLOURS.len() % DASHES.len()]
        ),
        Style::Curve(number) => format!(
            "fill=\"none\" stroke=\"{}\" stroke-width=\"1.8\" stroke-dasharray=\"{}\"",
            COLOURS[number % COLOURS.len()],
            DASHES[number % DASHES.len()]
        ),
        Style::Roof(number) => format!(
            "fill=\"none\" stroke=\"#888888\" stroke-width=\"4\" stroke-dasharray=\"{}\"",
            DASHES[number % DASHES.len()]
        ),
    }
}

/// The shape of this number around a place; an empty one for what is extrapolated.
fn marker(out: &mut String, number: usize, x: f64, y: f64, empty: bool) {
    let colour = COLOURS[number % COLOURS.len()];
    let fill = if empty { "#ffffff" } else { colour };
    let path = |points: &[(f64, f64)]| {
        let points: Vec<String> =
            points.iter().map(|(dx, dy)| format!("{:.1} {:.1}", x + dx, y + dy)).collect();
        format!("<path d=\"M{}Z\"", points.join("L"))
    };
    let shape = match number % 7 {
        0 => format!("<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"4.2\""),
        1 => path(&[(-4.0, -4.0), (4.0, -4.0), (4.0, 4.0), (-4.0, 4.0)]),
        2 => path(&[(0.0, -5.2), (4.8, 3.6), (-4.8, 3.6)]),
        3 => path(&[(0.0, -5.6), (5.6, 0.0), (0.0, 5.6), (-5.6, 0.0)]),
        4 => path(&[(0.0, 5.2), (4.8, -3.6), (-4.8, -3.6)]),
        5 => path(&[
            (-5.0, -1.6),
            (-1.6, -1.6),
            (-1.6, -5.0),
            (1.6, -5.0),
            (1.6, -1.6),
            (5.0, -1.6),
            (5.0, 1.6),
            (1.6, 1.6),
            (1.6, 5.0),
            (-1.6, 5.0),
            (-1.6, 1.6),
            (-5.0, 1.6),
        ]),
        _ => path(&[(-5.2, 0.0), (-2.6, -4.5), (2.6, -4.5), (5.2, 0.0), (2.6, 4.5), (-2.6, 4.5)]),
    };
    let _ = write!(out, "{shape} fill=\"{fill}\" stroke=\"{colour}\" stroke-width=\"1.4\"/>");
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chart(points: Vec<Point>) -> Chart {
        Chart {
            title: "a < b & c".to_owned(),
            x_label: "n".to_owned(),
            y_label: "time".to_owned(),
            y_unit: Unit::Seconds,
            series: vec![Series { name: "one".to_owned(), points, style: Style::Measured(0) }],
        }
    }

    fn point(x: f64, y: f64, extrapolated: bool) -> Point {
        Point { x, y, bar: Some((y * 0.9, y * 1.1)), extrapolated }
    }

    #[test]
    fn a_chart_is_well_formed_and_has_a_marker_for_every_point() {
        let svg = chart(vec![point(1024.0, 1e-3, false), point(2048.0, 2e-3, true)]).svg();
        #[cfg(feature = "png")]
        {
            let tree = resvg::usvg::Tree::from_str(&svg, &resvg::usvg::Options::default()).unwrap();
            assert_eq!((tree.size().width(), tree.size().height()), (960.0, 540.0));
        }
        // One in the legend, one for each point, of which one is empty.
        assert_eq!(svg.matches("<circle").count(), 3);
        assert_eq!(svg.matches("fill=\"#ffffff\" stroke").count(), 1);
        assert!(svg.contains("a &lt; b &amp; c"));
    }

    #[test]
    fn a_chart_without_points_has_its_title() {
        let svg = chart(Vec::new()).svg();
        assert!(svg.contains("a &lt; b") && !svg.contains("NaN"), "{svg}");
    }

    #[test]
    fn marks_are_round() {
        let seconds = [1e-6, 2e-4, 5e-2, 1.0, 1000.0].map(|value| Unit::Seconds.name(value));
        assert_eq!(seconds, ["1 µs", "200 µs", "50 ms", "1 s", "1000 s"]);
        let speeds = [1e3, 2e6, 5e8, 1e9].map(|value| Unit::KeysPerSecond.name(value));
        assert_eq!([0.05, 1.0, 20.0].map(|value| Unit::Times.name(value)), ["0.05", "1", "20"]);
        assert_eq!(speeds, ["1 k/s", "2 M/s", "500 M/s", "1 G/s"]);
    }
}
