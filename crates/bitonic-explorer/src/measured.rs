//! Measured times of the ladder's rungs, from a run of the laboratory.

use serde_json::{Value, json};

/// What a run's `summary.csv` says about mean times, as the page takes it: where it is from, and a row for each time that was
/// measured, with implementation, number of keys and seconds. Nothing if the text is not such a table, or holds no measured time.
///
/// ```
/// let summary = "size,implementation,status,mean,note\n1024,cuda:compare_pair,measured,0.002,\n2048,cuda:compare_pair,extrapolated,9,\n";
/// let measured = bitonic_explorer::measured::of_summary(summary, "lab-quick").unwrap();
/// assert_eq!(measured.to_string(), r#"{"rows":[["cuda:compare_pair",1024,0.002]],"where":"lab-quick"}"#);
/// ```
pub fn of_summary(summary: &str, from: &str) -> Option<Value> {
    let mut table = csv::Reader::from_reader(summary.as_bytes());
    let header = table.headers().ok()?.clone();
    let column = |name: &str| header.iter().position(|column| column == name);
    let (size, implementation) = (column("size")?, column("implementation")?);
    let (status, mean) = (column("status")?, column("mean")?);
    let row = |fields: &csv::StringRecord| {
        if fields.get(status)? != "measured" {
            return None;
        }
        let (keys, seconds): (u64, f64) = (fields.get(size)?.parse().ok()?, fields.get(mean)?.parse().ok()?);
        Some(json!([fields.get(implementation)?, keys, seconds]))
    };
    let rows: Vec<Value> = table.records().filter_map(|fields| row(&fields.ok()?)).collect();
    (!rows.is_empty()).then(|| json!({ "where": from, "rows": rows }))
}
