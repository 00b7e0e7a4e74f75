//! Recorded times of whole sorts, for the plan view: read from the tables of `docs/benchmarks.md`, so that the page and the document
//! cannot disagree.

use serde_json::{Value, json};

/// A table of the document, and what its columns are to the page.
struct Source {
    /// The heading of the section that says where and when it was measured.
    section: &'static str,
    /// The heading of the table.
    heading: &'static str,
    /// The machine, by the name that `machine.rs` gives it.
    machine: &'static str,
    /// What the paragraph about the machine says of it.
    on: &'static str,
    /// What the page says more.
    remark: &'static str,
    /// The unit of numbers without one, in seconds; times n if it is a time for each key.
    unit: f64,
    for_each_key: bool,
    /// The bytes of a key, if the table has no column `keys` that says the type.
    key_bytes: Option<u32>,
    /// Columns: their name, and whether it is the network in place.
    columns: &'static [(&'static str, bool)],
}

const PROCESSOR: Source = Source {
    section: "On the processor",
    heading: "How fast are 32-bit keys?",
    machine: "avx512",
    on: "two cores of an Intel Xeon with AVX-512",
    remark: ", one thread",
    unit: 1e-9,
    for_each_key: true,
    key_bytes: Some(4),
    columns: &[("bitonic", false), ("bitonic, oblivious", true)],
};

const CUDA: Source = Source {
    section: "On a GPU, through CUDA",
    heading: "How fast are up to 2^20 keys, against CUB?",
    machine: "h200",
    on: "one NVIDIA H200",
    remark: "",
    unit: 1e-6,
    for_each_key: false,
    key_bytes: Some(4),
    columns: &[("bitonic", false), ("in place", true)],
};

const SOURCES: &[Source] = &[
    PROCESSOR,
    Source {
        heading: "How fast is it with AVX2 alone?",
        machine: "avx2",
        remark: ", one thread with AVX2 alone",
        columns: &[("u32", false)],
        ..PROCESSOR
    },
    Source {
        heading: "How fast is it with AVX2 alone?",
        machine: "avx2",
        remark: ", one thread with AVX2 alone",
        key_bytes: Some(8),
        columns: &[("u64", false)],
        ..PROCESSOR
    },
    Source {
        heading: "How fast are other types?",
        key_bytes: Some(8),
        columns: &[("u64", false)],
        ..PROCESSOR
    },
    CUDA,
    Source {
        heading: "How fast are up to 2^20 64-bit keys, against CUB?",
        key_bytes: Some(8),
        columns: &[("bitonic", false)],
        ..CUDA
    },
    Source { heading: "How fast are more than 2^20 keys, against CUB?", key_bytes: None, ..CUDA },
    Source {
        section: PROCESSOR.section,
        heading: "What does PoCL take, on a processor?",
        machine: "pocl",
        on: PROCESSOR.on,
        unit: 1e-3,
        // Through PoCL the network in place is the default.
        columns: &[("bitonic", true)],
        ..CUDA
    },
];

/// The times in the document: rows of machine, bytes of a key, keys, whether it is the network in place, and seconds; and where and
/// when each machine was measured.
///
/// # Errors
///
/// What the document lacks.
pub(crate) fn of_benchmarks(document: &str) -> Result<Value, String> {
    let mut rows = Vec::new();
    let mut places = serde_json::Map::new();
    for source in SOURCES {
        let before = rows.len();
        add_table(document, source, &mut rows)?;
        if rows.len() == before {
            return Err(format!("the table `{}` has no times", source.heading));
        }
        let date = date(document, source)?;
        places.insert(source.machine.to_owned(), json!(format!("{}{}, {date}", source.on, source.remark)));
    }
    Ok(json!({ "rows": rows, "where": places }))
}

/// The text from a heading to the next one of its level.
fn section<'a>(document: &'a str, level: &str, heading: &str) -> Result<&'a str, String> {
    let line = format!("\n{level} {heading}\n");
    let at = document.find(&line).ok_or_else(|| format!("there is no heading `{heading}`"))? + line.len();
    let rest = &document[at..];
    Ok(rest.split(&format!("\n{level} ")).next().unwrap_or(rest))
}

/// The day of the paragraph that says where a section was measured.
fn date(document: &str, source: &Source) -> Result<String, String> {
    let text = section(document, "##", source.section)?;
    let is_date = |line: &&str| line.len() > 11 && line.starts_with("20") && line.as_bytes()[10] == b':';
    let line = text.lines().find(is_date).ok_or_else(|| format!("`{}` has no date", source.section))?;
    match line.contains(source.on) {
        true => Ok(line[..10].to_owned()),
        false => Err(format!("`{}` was not measured on {}", source.section, source.on)),
    }
}

fn add_table(document: &str, source: &Source, rows: &mut Vec<Value>) -> Result<(), String> {
    let text = section(document, "###", source.heading)?;
    let mut lines = text.lines().filter_map(|line| line.strip_prefix("| ")?.strip_suffix(" |"));
    let cells = |line: &str| line.split(" | ").map(|cell| cell.trim().to_owned()).collect::<Vec<_>>();
    let header = cells(lines.next().ok_or_else(|| format!("`{}` has no table", source.heading))?);
    let column = |name: &str| header.iter().position(|cell| cell == name);
    let length = column("n").ok_or_else(|| format!("`{}` has no column n", source.heading))?;
    for line in lines {
        let cells = cells(line);
        let bytes = match (source.key_bytes, column("keys").and_then(|column| cells.get(column))) {
            (Some(bytes), _) => bytes,
            (None, Some(name)) if name == "u64" => 8,
            (None, _) => 4,
        };
        let Some(n) = cells.get(length).and_then(|cell| count(cell)) else { continue };
        for &(name, in_place) in source.columns {
            let place = column(name).ok_or_else(|| format!("`{}` has no column {name}", source.heading))?;
            let Some(time) = cells.get(place).and_then(|cell| seconds(cell, source.unit)) else { continue };
            let time = if source.for_each_key { time * n as f64 } else { time };
            rows.push(json!([source.machine, bytes, n, in_place, time]));
        }
    }
    Ok(())
}

/// A number of keys: `2^20`, `100000`.
fn count(cell: &str) -> Option<u64> {
    match cell.strip_prefix("2^") {
        Some(power) => Some(1 << power.parse::<u32>().ok().filter(|&power| power < 64)?),
        None => cell.parse().ok(),
    }
}

/// A time: `43.1`, `0.48 (23x)`, `2.7 ms`.
fn seconds(cell: &str, unit: f64) -> Option<f64> {
    let number: f64 = cell.split(' ').next()?.parse().ok()?;
    let time = number * unit;
    // Three digits are what the tables have.
    format!("{time:.2e}").parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tables_of_the_document_are_read() {
        let recorded = of_benchmarks(include_str!("../../../docs/benchmarks.md")).unwrap();
        let rows = recorded["rows"].as_array().unwrap();
        let found = |machine: &str, bytes: u32, n: u64, in_place: bool| {
            let key = [json!(machine), json!(bytes), json!(n), json!(in_place)];
            let mut same = rows.iter().filter(|row| row.as_array().unwrap()[..4] == key);
            let time = same.next().map(|row| row[4].as_f64().unwrap());
            assert!(same.next().is_none(), "{machine} {bytes} {n} stands twice");
            time
        };
        for (machine, bytes) in [("h200", 4), ("h200", 8), ("avx512", 4), ("avx2", 8)] {
            assert!(found(machine, bytes, 1 << 20, false).is_some(), "{machine} {bytes}");
        }
        assert!(found("pocl", 4, 1 << 16, true).is_some() && found("avx512", 4, 1 << 24, true).is_some());
        assert_eq!(found("h200", 16, 1 << 20, false), None);
        assert!(recorded["where"]["h200"].as_str().unwrap().starts_with("one NVIDIA H200, 20"));
    }

    #[test]
    fn numbers_have_units_and_remarks() {
        assert_eq!(seconds("43.1", 1e-6), Some(4.31e-5));
        assert_eq!(seconds("0.48 (23x)", 1e-9), Some(4.8e-10));
        assert_eq!(seconds("", 1e-6), None);
        assert_eq!((count("2^10"), count("3000"), count("many")), (Some(1024), Some(3000), None));
    }

    #[test]
    fn a_document_without_its_tables_is_refused() {
        let error = of_benchmarks("\n## On the processor\n\n### How fast are 32-bit keys?\n").unwrap_err();
        assert_eq!(error, "`How fast are 32-bit keys?` has no table");
    }
}
