//! Results for programs.

use super::machine::Machine;
use super::measure::{Cell, Contender, Measured};
use bitonic::key::KeyType;
use bitonic_testkit::record::quote;

const COLUMNS: [&str; 22] = [
    "sort",
    "type",
    "n",
    "row_length",
    "repetitions",
    "median_ns",
    "min_ns",
    "relative_interquartile_range",
    "launches",
    "gigabytes_per_second",
    "share_of_copy",
    "times_as_long_as_bitonic",
    "device",
    "kind",
    "platform",
    "driver",
    "opencl",
    "compute_units",
    "copy_gigabytes_per_second",
    "version",
    "commit",
    "date",
];

/// A header and a line for everything that was measured; every line ends with what it was measured on.
pub(super) fn render(cells: &[Cell], key_type: KeyType, machine: &Machine) -> String {
    let mut text = line(COLUMNS);
    for cell in cells {
        if let Ok(measured) = &cell.outcome {
            text += &line(fields(cells, cell, measured, key_type, machine));
        }
    }
    text
}

fn fields(
    cells: &[Cell],
    cell: &Cell,
    measured: &Measured,
    key_type: KeyType,
    machine: &Machine,
) -> [String; COLUMNS.len()] {
    let Measured { time, launches, .. } = measured;
    let speed = measured.bytes_per_second();
    let copy = machine.copy_bytes_per_second;
    [
        cell.contender.name().to_owned(),
        key_type.to_string(),
        cell.rows.len().to_string(),
        cell.rows.row_length.to_string(),
        time.count.to_string(),
        time.median.as_nanos().to_string(),
        time.least.as_nanos().to_string(),
        format!("{:.4}", time.spread),
        launches.to_string(),
        format!("{:.3}", speed / 1e9),
        copy.map_or_else(String::new, |copy| format!("{:.4}", speed / copy)),
        times_as_long(cells, cell, measured).map_or_else(String::new, |times| format!("{times:.3}")),
        machine.device.clone(),
        machine.kind.clone(),
        machine.platform.clone(),
        machine.driver.clone(),
        machine.opencl.clone(),
        machine.compute_units.to_string(),
        copy.map_or_else(String::new, |copy| format!("{:.3}", copy / 1e9)),
        machine.version.to_owned(),
        machine.commit.clone(),
        machine.date.clone(),
    ]
}

/// How many times as long as the engine a sort took for the same keys.
fn times_as_long(cells: &[Cell], cell: &Cell, measured: &Measured) -> Option<f64> {
    let engine =
        cells.iter().find(|other| other.rows == cell.rows && other.contender == Contender::Engine)?;
    let engine = engine.outcome.as_ref().ok()?.time.median.as_secs_f64();
    (engine > 0.0).then(|| measured.time.median.as_secs_f64() / engine)
}

fn line<S: AsRef<str>>(fields: [S; COLUMNS.len()]) -> String {
    fields.each_ref().map(|field| quote(field.as_ref().into())).join(",") + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_that_would_be_read_as_something_else_are_quoted() {
        let mut fields = COLUMNS.map(|_| "plain".to_owned());
        fields[0] = "A \"fast\" one, really".to_owned();
        assert!(line(fields).starts_with("\"A \"\"fast\"\" one, really\",plain,plain"));
    }
}
