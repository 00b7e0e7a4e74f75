//! Plots: charts with logarithmic axes, as SVG and, with the feature `png`, as PNG.
//!
//! A [`Chart`] is data; [`Chart::svg`] draws it, and `png` makes pixels of the drawing with a font of its own, so that it
//! looks the same on a machine without any. Series differ by colour, by marker and by dashes, and the colours by lightness,
//! so that a plot can be read in grey as well.

mod charts;
#[cfg(feature = "png")]
mod png;
mod scale;
mod svg;

pub use charts::{NamedChart, charts, over_two_runs};
#[cfg(feature = "png")]
pub use png::{PngError, png};

/// A chart with logarithmic axes.
#[derive(Clone, Debug, PartialEq)]
pub struct Chart {
    /// What it shows.
    pub title: String,
    /// What the horizontal axis is.
    pub x_label: String,
    /// What the vertical axis is.
    pub y_label: String,
    /// The units of the vertical axis.
    pub y_unit: Unit,
    /// What is drawn, in the order of the legend.
    pub series: Vec<Series>,
}

/// The units of an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Seconds: `1 ms`.
    Seconds,
    /// Keys a second: `1 M/s`.
    KeysPerSecond,
    /// How many times as fast: `10`.
    Times,
}

/// One thing that is drawn.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// Its name in the legend.
    pub name: String,
    /// Its points, by ascending x.
    pub points: Vec<Point>,
    /// How it is drawn.
    pub style: Style,
}

/// How a series is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// Markers with a line through them, in the colour, shape and dashes of this number.
    Measured(usize),
    /// A line without markers, in the colour of this number.
    Curve(usize),
    /// A thick grey line with the dashes of this number: what cannot be passed.
    Roof(usize),
}

/// A point of a series.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// To the right.
    pub x: f64,
    /// Up.
    pub y: f64,
    /// From where to where an error bar goes.
    pub bar: Option<(f64, f64)>,
    /// Whether it is extrapolated: then its marker is empty.
    pub extrapolated: bool,
}
