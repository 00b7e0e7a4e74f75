//! A plot of what was measured: the time for a key over the length, a line for every sort.

use super::contender::{Cell, Contender};
use super::job::Job;
use super::table::Circumstances;
use crate::failure::Failure;
use bitonic_lab::plot::{Chart, Point, Series, Style, Unit};
use std::path::Path;

/// With more points than this, lines have no markers.
const MOST_MARKERS: usize = 40;

/// Writes the plot to a file.
pub(super) fn write(path: &Path, cells: &[Cell], circumstances: &Circumstances) -> Result<(), Failure> {
    let svg = chart(cells, &circumstances.device.name).svg();
    std::fs::write(path, svg).map_err(|error| Failure::new(format!("{}: {error}", path.display())))
}

fn chart(cells: &[Cell], device: &str) -> Chart {
    let in_rows = cells.iter().any(|cell| cell.job.rows.rows > 1);
    let mut lines: Vec<(&Contender, Job)> = Vec::new();
    for cell in cells.iter().filter(|cell| cell.median().is_some()) {
        if !lines.iter().any(|&line| is_on(line, cell)) {
            lines.push((&cell.contender, cell.job));
        }
    }
    let series = lines.iter().enumerate().map(|(number, &line)| {
        let mut points: Vec<Point> =
            cells.iter().filter(|cell| is_on(line, cell)).filter_map(point).collect();
        points.sort_by(|a, b| a.x.total_cmp(&b.x));
        let style = if points.len() > MOST_MARKERS { Style::Curve(number) } else { Style::Measured(number) };
        Series { name: name(line, cells), points, style }
    });
    let (what, x_label) = if in_rows { ("rows", "keys in a row") } else { ("arrays", "keys") };
    Chart {
        title: format!("Sorts of {what} on {device}"),
        x_label: x_label.to_owned(),
        y_label: "median time for a key".to_owned(),
        y_unit: Unit::Seconds,
        series: series.collect(),
    }
}

/// Whether a cell is a point of a line: the same sort of keys that differ in length only.
fn is_on((contender, job): (&Contender, Job), cell: &Cell) -> bool {
    cell.contender == *contender && Job { rows: job.rows, ..cell.job } == job
}

/// The name of the sort, with what else differs between lines.
fn name((contender, job): (&Contender, Job), cells: &[Cell]) -> String {
    let mut name = contender.name().into_owned();
    if cells.iter().any(|cell| cell.job.key_type != job.key_type) {
        name += &format!(", {}", job.key_type);
    }
    if cells.iter().any(|cell| cell.job.pattern != job.pattern) {
        name += &format!(", {}", job.pattern);
    }
    name
}

fn point(cell: &Cell) -> Option<Point> {
    let y = cell.median()?.as_secs_f64() / cell.job.len() as f64;
    Some(Point { x: cell.job.rows.row_length as f64, y, bar: None, extrapolated: false })
}
