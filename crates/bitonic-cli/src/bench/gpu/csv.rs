//! Results for programs.

use super::contender::{self, Cell, Contender, Measured, Outcome};
use super::machine::Machine;
use bitonic_testkit::record::quote;

const COLUMNS: [&str; 32] = [
    "sort",
    "type",
    "n",
    "row_length",
    "values",
    "distribution",
    "verified",
    "repetitions",
    "median_ns",
    "min_ns",
    "lower_quartile_ns",
    "upper_quartile_ns",
    "relative_interquartile_range",
    "gigakeys_per_second",
    "launches",
    "gigabytes_per_second",
    "share_of_copy",
    "times_as_long_as_bitonic",
    "times_as_long_as_best_peer",
    "note",
    "peer",
    "engine",
    "device",
    "kind",
    "platform",
    "driver",
    "interface",
    "compute_units",
    "copy_gigabytes_per_second",
    "version",
    "commit",
    "date",
];

/// A header and a line for everybody who sorted, rightly or wrongly; every line ends with what it was measured on. `peers`
/// describes the peers by their names.
pub(super) fn render(cells: &[Cell], machine: &Machine, peers: &[(&'static str, String)]) -> String {
    let mut text = line(COLUMNS);
    for cell in cells {
        match &cell.outcome {
            Outcome::Measured(measured) => {
                text += &line(fields(cells, cell, Ok(measured), machine, peers));
            }
            Outcome::Wrong(reason) => text += &line(fields(cells, cell, Err(reason), machine, peers)),
            Outcome::LeftOut(_) => {}
        }
    }
    text
}

fn fields(
    cells: &[Cell],
    cell: &Cell,
    measured: Result<&Measured, &str>,
    machine: &Machine,
    peers: &[(&'static str, String)],
) -> [String; COLUMNS.len()] {
    let job = cell.job;
    let copy = machine.copy_bytes_per_second;
    let speed = measured.ok().and_then(|measured| measured.bytes_per_second(job));
    let figure = |figure: &dyn Fn(&Measured) -> String| measured.map_or_else(|_| String::new(), figure);
    let peer = match &cell.contender {
        Contender::Peer { peer, .. } => peers.iter().find(|(name, _)| name == peer),
        Contender::Own(_) => None,
    };
    let bitonic = contender::beside(cells, job, &Contender::BITONIC);
    let best_peer = contender::best(cells, job, Contender::is_peer);
    [
        cell.contender.name().into_owned(),
        job.key_type.to_string(),
        job.len().to_string(),
        job.rows.row_length.to_string(),
        if job.has_values { "u32" } else { "" }.to_owned(),
        job.pattern.to_string(),
        if measured.is_ok() { "yes" } else { "no" }.to_owned(),
        figure(&|measured| measured.time.count.to_string()),
        figure(&|measured| measured.time.median.as_nanos().to_string()),
        figure(&|measured| measured.time.least.as_nanos().to_string()),
        figure(&|measured| measured.time.lower_quartile.as_nanos().to_string()),
        figure(&|measured| measured.time.upper_quartile.as_nanos().to_string()),
        figure(&|measured| format!("{:.4}", measured.time.spread)),
        figure(&|measured| format!("{:.4}", measured.keys_per_second(job) / 1e9)),
        figure(&|measured| optional(measured.launches, |launches| launches.to_string())),
        optional(speed, |speed| format!("{:.3}", speed / 1e9)),
        optional(speed.zip(copy), |(speed, copy)| format!("{:.4}", speed / copy)),
        optional(cell.times_as_long_as(bitonic), |times| format!("{times:.3}")),
        optional(cell.times_as_long_as(best_peer), |times| format!("{times:.3}")),
        measured.map_or_else(str::to_owned, |measured| measured.note.clone()),
        optional(peer, |(_, description)| description.clone()),
        machine.engine.to_string(),
        machine.device.clone(),
        machine.kind.clone(),
        machine.platform.clone(),
        machine.driver.clone(),
        machine.interface.clone(),
        machine.compute_units.to_string(),
        optional(copy, |copy| format!("{:.3}", copy / 1e9)),
        machine.version.to_owned(),
        machine.commit.clone(),
        machine.date.clone(),
    ]
}

fn optional<T>(value: Option<T>, text: impl FnOnce(T) -> String) -> String {
    value.map_or_else(String::new, text)
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
