//! Times of the ladder's rungs that were measured and published: what `bitonic ladder show` prints.
//!
//! A file of this folder has the columns `size`, `implementation`, `status` and `median` of the `summary.csv` of a run in `docs/results/`, for the
//! rungs whose program is today what was measured there. Three of them had other names then: `parallel_merges` was
//! `parallel_recursive`, `odd_even_barriers` was `odd_even_threads`, and `odd_even_strided` was `odd_even_one_kernel`.

use bitonic_ladder::{Rung, RunsOn};

/// The times of one machine.
struct Publication {
    machine: &'static str,
    command: &'static str,
    summary: &'static str,
}

const PUBLICATIONS: &[Publication] = &[
    Publication {
        machine: "an H200 and 16 cores",
        command: "bitonic lab run documents --gpu cuda",
        summary: include_str!("h200-cuda.csv"),
    },
    Publication {
        machine: "an H200",
        command: "bitonic lab run documents --gpu opencl",
        summary: include_str!("h200-opencl.csv"),
    },
    Publication {
        machine: "2 cores, PoCL",
        command: "bitonic lab run documents --gpu opencl",
        summary: include_str!("cpu-pocl.csv"),
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
    fn every_line_is_of_a_rung_and_every_file_has_some() {
        for Publication { machine, summary, .. } in PUBLICATIONS {
            let names = summary.lines().skip(1).map(|line| line.split(',').nth(1).unwrap_or_default());
            for name in names.clone() {
                let (runs_on, rung) = name.split_once(':').unwrap();
                let rung: Rung = rung.parse().unwrap();
                assert!(rung.runs_on().iter().any(|one| one.name() == runs_on), "{machine}: {name}");
            }
            assert!(names.count() > 0, "{machine}");
        }
        let found = of(Rung::OddEvenTwoKernels);
        assert!(
            found.iter().any(|one| one.runs_on == RunsOn::Cuda && one.times[0].0 == 1 << 15),
            "{found:?}"
        );
    }
}
