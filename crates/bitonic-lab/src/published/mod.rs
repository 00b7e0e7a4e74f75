//! Times of the ladder's rungs that were measured and published: what `bitonic ladder show` prints.
//!
//! A file of this folder is the `summary.csv` of a run of the laboratory, as it was written. A run that replaces it is made with the
//! command in [`Published::command`].

use bitonic_ladder::{Rung, RunsOn};

/// The times of one machine.
struct Publication {
    machine: &'static str,
    command: &'static str,
    summary: &'static str,
}

const PUBLICATIONS: &[Publication] = &[
    Publication {
        machine: "2 cores of a Xeon at 2.5 GHz, shared",
        command: "bitonic lab run ladder-cpu",
        summary: include_str!("cpu.csv"),
    },
    Publication {
        machine: "the same cores through PoCL",
        command: "bitonic lab run ladder-gpu --gpu opencl",
        summary: include_str!("pocl.csv"),
    },
];

/// What a rung took on a machine.
#[derive(Clone, Debug, PartialEq)]
pub struct Published {
    /// What it ran on.
    pub runs_on: RunsOn,
    /// The machine.
    pub machine: &'static str,
    /// What repeats it.
    pub command: &'static str,
    /// Numbers of keys, and the median of the times in seconds.
    pub times: Vec<(usize, f64)>,
}

/// What is published of a rung.
pub fn of(rung: Rung) -> Vec<Published> {
    let mut found = Vec::new();
    for &Publication { machine, command, summary } in PUBLICATIONS {
        for &runs_on in rung.runs_on() {
            let times = times(summary, &format!("{runs_on}:{rung}"));
            if !times.is_empty() {
                found.push(Published { runs_on, machine, command, times });
            }
        }
    }
    found
}

/// The measured medians of an implementation in the text of a `summary.csv`, by ascending size.
fn times(summary: &str, implementation: &str) -> Vec<(usize, f64)> {
    let mut table = csv::Reader::from_reader(summary.as_bytes());
    let Ok(headings) = table.headers().cloned() else { return Vec::new() };
    let column = |name: &str| headings.iter().position(|heading| heading == name);
    let columns = [column("implementation"), column("status"), column("size"), column("median")];
    let [Some(name), Some(status), Some(size), Some(median)] = columns else { return Vec::new() };
    let time = |line: csv::StringRecord| {
        let measured = line.get(name)? == implementation && line.get(status)? == "measured";
        let numbers = (line.get(size)?.parse().ok()?, line.get(median)?.parse().ok()?);
        measured.then_some(numbers)
    };
    let mut times: Vec<(usize, f64)> = table.records().filter_map(|line| time(line.ok()?)).collect();
    times.sort_by_key(|(size, _)| *size);
    times
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn measured_medians_are_found_by_name_and_size() {
        let summary = "size,implementation,status,median\n2048,cpu:recursive,measured,0.5\n1024,cpu:recursive,measured,0.2\n\
                       4096,cpu:recursive,extrapolated,\n1024,cpu:std,measured,0.1\n";
        assert_eq!(times(summary, "cpu:recursive"), [(1024, 0.2), (2048, 0.5)]);
        assert_eq!(times(summary, "cpu:odd_even"), []);
        assert_eq!(times("nothing", "cpu:std"), []);
    }

    #[test]
    fn every_rung_has_a_published_time_on_each_of_its_kinds_of_machine() {
        for &rung in Rung::ALL {
            assert!(!of(rung).is_empty(), "{rung}");
        }
    }
}
