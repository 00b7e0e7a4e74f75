//! Every number of a report, computed once more from the CSV files by plain formulas that share no code with the laboratory.

use crate::made_up;
use bitonic_lab::report;
use std::collections::HashMap;
use std::path::Path;

/// A line of a CSV file by the names of its columns.
type Line = HashMap<String, String>;

fn lines(path: &Path) -> Vec<Line> {
    let mut reader = csv::Reader::from_path(path).unwrap();
    let headings: Vec<String> = reader.headers().unwrap().iter().map(str::to_owned).collect();
    reader
        .records()
        .map(|record| headings.iter().cloned().zip(record.unwrap().iter().map(str::to_owned)).collect())
        .collect()
}

/// A number of a page: its value, what is shown, and what it says that it is.
struct Shown {
    value: f64,
    text: String,
    of: Vec<String>,
}

/// All numbers of a page, and the page without them.
fn numbers(page: &str) -> (Vec<Shown>, String) {
    let mut numbers = Vec::new();
    let mut rest = String::new();
    let mut pieces = page.split("<data value=\"");
    rest += pieces.next().unwrap();
    for piece in pieces {
        let (value, piece) = piece.split_once("\" data-of=\"").unwrap();
        let (of, piece) = piece.split_once("\">").unwrap();
        let (text, piece) = piece.split_once("</data>").unwrap();
        let of = of.split(' ').map(str::to_owned).collect();
        numbers.push(Shown { value: value.parse().unwrap(), text: text.to_owned(), of });
        rest += piece;
    }
    (numbers, rest)
}

/// The records of a run, to compute with.
struct Records {
    records: Vec<Line>,
    machine: HashMap<String, String>,
    instructions: Vec<Line>,
}

impl Records {
    fn read(directory: &Path) -> Self {
        let machine = lines(&directory.join("machine.csv"));
        Self {
            records: lines(&directory.join("records.csv")),
            machine: machine.into_iter().map(|line| (line["name"].clone(), line["value"].clone())).collect(),
            instructions: lines(&directory.join("instructions.csv")),
        }
    }

    /// A column of the measured lines of a cell.
    fn column(&self, column: &str, [implementation, key_type, distribution, size]: [&str; 4]) -> Vec<f64> {
        let here = |line: &&Line| {
            line["status"] == "measured"
                && line["implementation"] == implementation
                && line["key_type"] == key_type
                && line["distribution"] == distribution
                && line["size"] == size
        };
        let values = self.records.iter().filter(here).map(|line| line[column].as_str());
        values.filter(|value| !value.is_empty()).map(|value| value.parse().unwrap()).collect()
    }

    fn mean(&self, column: &str, cell: [&str; 4]) -> Option<f64> {
        let values = self.column(column, cell);
        (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
    }

    fn deviation(&self, cell: [&str; 4]) -> f64 {
        let values = self.column("seconds", cell);
        let mean = self.mean("seconds", cell).unwrap();
        (values.iter().map(|value| (value - mean) * (value - mean)).sum::<f64>()
            / (values.len() as f64 - 1.0))
            .sqrt()
    }

    fn extrapolated(&self, [implementation, key_type, distribution, size]: [&str; 4]) -> Option<f64> {
        let line = self.records.iter().find(|line| {
            line["status"] == "extrapolated"
                && line["implementation"] == implementation
                && line["key_type"] == key_type
                && line["distribution"] == distribution
                && line["size"] == size
        });
        line.map(|line| line["seconds"].parse().unwrap())
    }

    /// Sizes at which all of these were measured, ascending, with their means.
    fn common<const N: usize>(
        &self,
        names: [&str; N],
        key_type: &str,
        distribution: &str,
    ) -> Vec<(f64, [f64; N])> {
        let mut sizes: Vec<usize> = self.records.iter().map(|line| line["size"].parse().unwrap()).collect();
        sizes.sort_unstable();
        sizes.dedup();
        let of_size = |size: usize| {
            let means =
                names.map(|name| self.mean("seconds", [name, key_type, distribution, &size.to_string()]));
            means.iter().all(Option::is_some).then(|| (size as f64, means.map(Option::unwrap)))
        };
        sizes.into_iter().filter_map(of_size).collect()
    }

    fn spread(&self, name: &str, kind: [&str; 2], size: f64) -> f64 {
        let size = size.to_string();
        let cell = [name, kind[0], kind[1], &size];
        self.deviation(cell) / self.mean("seconds", cell).unwrap()
    }

    /// From the means of the two instances that every cell has.
    fn half_width(&self, cell: [&str; 4]) -> f64 {
        let instances = self.column("instance", cell);
        let seconds = self.column("seconds", cell);
        let mean = |instance: f64| {
            let own: Vec<f64> = seconds
                .iter()
                .zip(&instances)
                .filter(|(_, of)| **of == instance)
                .map(|(seconds, _)| *seconds)
                .collect();
            own.iter().sum::<f64>() / own.len() as f64
        };
        // The deviation of two values is their distance over the root of 2, and the root of their number is another one.
        student(1) * (mean(1.0) - mean(2.0)).abs() / 2.0
    }

    fn terms(&self, what: &str, name: &str, [key_type, distribution]: [&str; 2]) -> f64 {
        let points: Vec<[f64; 3]> = self
            .common([name], key_type, distribution)
            .iter()
            .map(|(n, [t])| {
                let size = n.to_string();
                let of = |column: &str| self.mean(column, [name, key_type, distribution, &size]).unwrap();
                [of("launches") / t, of("kernel_bytes") / t, *t]
            })
            .collect();
        // Two equations for the least squares of 1 - a x - b y, by elimination.
        let sum = |of: &dyn Fn(&[f64; 3]) -> f64| points.iter().map(of).sum::<f64>();
        let (xx, xy, yy) = (sum(&|p| p[0] * p[0]), sum(&|p| p[0] * p[1]), sum(&|p| p[1] * p[1]));
        let (x, y) = (sum(&|p| p[0]), sum(&|p| p[1]));
        let mut b = (y - x * xy / xx) / (yy - xy * xy / xx);
        let mut a = (x - b * xy) / xx;
        if a <= 0.0 {
            (a, b) = (0.0, y / yy);
        } else if b <= 0.0 {
            (a, b) = (x / xx, 0.0);
        }
        let count = points.len() as f64;
        let middle = sum(&|p| p[2].ln()) / count;
        let spread = sum(&|p| (p[2].ln() - middle).powi(2));
        let off = sum(&|p| (a * p[0] + b * p[1]).ln().powi(2));
        match what {
            "term_launch" => a,
            "term_speed" => 1.0 / b,
            _ => 1.0 - off / spread,
        }
    }

    /// What a number that says it is this must be.
    fn compute(&self, of: &[String]) -> f64 {
        let words: Vec<&str> = of.iter().map(String::as_str).collect();
        match words[..] {
            ["ratio", first, second, key_type, distribution, size] => {
                let seconds = |name: &str| {
                    let cell = [name, key_type, distribution, size];
                    self.mean("seconds", cell).unwrap()
                };
                seconds(first) / seconds(second)
            }
            [what @ ("term_launch" | "term_speed" | "term_r2"), name, key_type, distribution, "terms"] => {
                self.terms(what, name, [key_type, distribution])
            }
            [what @ ("factor" | "r2" | "typical"), model, name, key_type, distribution] => {
                self.fit(what, model, name, [key_type, distribution])
            }
            [what, implementation, key_type, distribution, size] if size.parse::<usize>().is_ok() => {
                let cell = [implementation, key_type, distribution, size];
                self.of_cell(what, cell, size.parse().unwrap())
            }
            [what, first, second, key_type, distribution] => {
                self.of_pair(what, [first, second], [key_type, distribution])
            }
            _ => panic!("nobody knows what {of:?} is"),
        }
    }

    fn of_cell(&self, what: &str, cell: [&str; 4], size: f64) -> f64 {
        let mut seconds = self.column("seconds", cell);
        seconds.sort_by(f64::total_cmp);
        let runs_on = cell[0].split(':').next().unwrap();
        let device = |column: &str| self.mean(column, cell).unwrap();
        let machine = |name: &str| self.machine[&format!("{runs_on} {name}")].parse::<f64>().unwrap();
        match what {
            "count" => seconds.len() as f64,
            "mean" => self.mean("seconds", cell).unwrap(),
            "deviation" => self.deviation(cell),
            "relative_deviation" => self.deviation(cell) / self.mean("seconds", cell).unwrap(),
            "confidence" => self.half_width(cell),
            "median" => (seconds[(seconds.len() - 1) / 2] + seconds[seconds.len() / 2]) / 2.0,
            "least" => seconds[0],
            "greatest" => seconds[seconds.len() - 1],
            "extrapolated" => self.extrapolated(cell).unwrap(),
            "upload" => device("upload_seconds"),
            "kernels" => device("kernel_seconds"),
            "download" => device("download_seconds"),
            "launches" => device("launches"),
            "kernel_bytes" => device("kernel_bytes"),
            "speed" => device("kernel_bytes") / device("kernel_seconds"),
            "share_of_copy" => {
                device("kernel_bytes") / device("kernel_seconds") / machine("copy bytes per second")
            }
            "share_of_gaps" => 1.0 - device("busy_seconds") / device("kernel_seconds"),
            "share_of_launches" => {
                device("launches") * machine("seconds per launch") / device("kernel_seconds")
            }
            "callgrind" => {
                let line = self.instructions.iter().find(|line| line["implementation"] == cell[0]).unwrap();
                line["instructions"].parse::<f64>().unwrap() / size
            }
            counter => device(counter) / size,
        }
    }

    fn fit(&self, what: &str, model: &str, name: &str, [key_type, distribution]: [&str; 2]) -> f64 {
        let curve = |n: f64| match model {
            "log2n" => n.log2() * n.log2(),
            "nlog2n" => n * n.log2() * n.log2(),
            "nlogn" => n * n.log2(),
            "n2" => n * n,
            other => panic!("{other} is no curve"),
        };
        let points = self.common([name], key_type, distribution);
        let count = points.len() as f64;
        let factor = points.iter().map(|(n, [t])| (t / curve(*n)).powf(1.0 / count)).product::<f64>();
        let off: f64 = points.iter().map(|(n, [t])| (t / (factor * curve(*n))).ln().powi(2)).sum();
        let middle = points.iter().map(|(_, [t])| t.powf(1.0 / count)).product::<f64>();
        let spread: f64 = points.iter().map(|(_, [t])| (t / middle).ln().powi(2)).sum();
        match what {
            "factor" => factor,
            "r2" => 1.0 - off / spread,
            _ => (off / count).sqrt().exp(),
        }
    }

    fn of_pair(&self, what: &str, [first, second]: [&str; 2], kind: [&str; 2]) -> f64 {
        let points = self.common([first, second], kind[0], kind[1]);
        let ratios: Vec<(f64, f64)> = points.iter().map(|(n, [a, b])| (n.log2(), (a / b).log2())).collect();
        let certain = |sign: f64| {
            let is = |(n, [a, b]): &&(f64, [f64; 2])| {
                let size = n.to_string();
                let widths = self.half_width([first, kind[0], kind[1], &size])
                    + self.half_width([second, kind[0], kind[1], &size]);
                (a - b) * sign > widths
            };
            points.iter().filter(is).count() as f64
        };
        let spreads: Vec<(f64, f64)> = points
            .iter()
            .map(|(n, _)| (self.spread(first, kind, *n), self.spread(second, kind, *n)))
            .collect();
        let count = points.len() as f64;
        let more = spreads.iter().filter(|(cpu, gpu)| gpu > cpu).count();
        match what {
            "growth" => line(&ratios).0.exp2(),
            "growth_low" => (line(&ratios).0 - line(&ratios).1).exp2(),
            "growth_high" => (line(&ratios).0 + line(&ratios).1).exp2(),
            "sizes" | "spread_sizes" => count,
            "faster" => certain(1.0),
            "slower" => certain(-1.0),
            "geometric_mean" => ratios.iter().map(|(_, ratio)| ratio.exp2().powf(1.0 / count)).product(),
            "spreads_more" => more as f64,
            "spread_cpu" => spreads.iter().map(|(cpu, _)| cpu).sum::<f64>() / count,
            "spread_gpu" => spreads.iter().map(|(_, gpu)| gpu).sum::<f64>() / count,
            "sign_test" => coin(more, points.len()),
            other => panic!("nobody knows what {other} is"),
        }
    }
}

/// The slope of the best line, and half of its confidence interval.
fn line(points: &[(f64, f64)]) -> (f64, f64) {
    let count = points.len() as f64;
    let (x, y): (f64, f64) = points.iter().fold((0.0, 0.0), |sum, point| (sum.0 + point.0, sum.1 + point.1));
    let (xx, xy): (f64, f64) =
        points.iter().fold((0.0, 0.0), |sum, point| (sum.0 + point.0 * point.0, sum.1 + point.0 * point.1));
    let slope = (count * xy - x * y) / (count * xx - x * x);
    let start = (y - slope * x) / count;
    let off: f64 = points.iter().map(|point| (point.1 - start - slope * point.0).powi(2)).sum();
    let error = (off / (count - 2.0) / (xx - x * x / count)).sqrt();
    (slope, student(points.len() - 2) * error)
}

/// From a printed table, for the degrees of freedom that occur here.
fn student(degrees: usize) -> f64 {
    match degrees {
        1 => 12.7062,
        2 => 4.3027,
        3 => 3.1824,
        4 => 2.7764,
        5 => 2.5706,
        7 => 2.3646,
        other => panic!("the table has no line for {other}"),
    }
}

/// How likely a fair coin falls so unevenly, counted out.
fn coin(heads: usize, throws: usize) -> f64 {
    let uneven = |count: usize| count.abs_diff(throws - count);
    let all = 0..1_u32 << throws;
    let as_uneven = all.filter(|fall| uneven(fall.count_ones() as usize) >= uneven(heads)).count();
    as_uneven as f64 / f64::from(1_u32 << throws)
}

/// What a text that is shown stands for.
fn read_shown(text: &str) -> f64 {
    let text = text.trim_start_matches(['±', ' ']);
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.' && c != '-').unwrap_or(text.len());
    let number: f64 = text[..end].parse().unwrap_or_else(|_| panic!("'{text}' begins with no number"));
    let unit = match text[end..].trim() {
        "" | "s" | "x" | "B" => 1.0,
        "ms" => 1e-3,
        "µs" => 1e-6,
        "ns" => 1e-9,
        "ps" => 1e-12,
        "%" => 1e-2,
        "GB/s" => 1e9,
        "KiB" => 1024.0,
        "MiB" => 1024.0 * 1024.0,
        "GiB" => 1024.0 * 1024.0 * 1024.0,
        other => panic!("'{other}' is no unit"),
    };
    number * unit
}

/// How far a shown number may be from the whole one: half of its last digit.
fn rounding(text: &str) -> f64 {
    let digits = text.trim_start_matches(['±', ' ']);
    let end = digits.find(|c: char| !c.is_ascii_digit() && c != '.' && c != '-').unwrap_or(digits.len());
    let decimals = digits[..end].split_once('.').map_or(0, |(_, decimals)| decimals.len());
    let one = read_shown(&format!("1{}", &digits[end..]));
    0.501 * one * 10_f64.powi(-(decimals as i32))
}

#[test]
fn every_number_follows_from_the_records() {
    let folder = tempfile::tempdir().unwrap();
    made_up::write(folder.path(), 1.0);
    let page = std::fs::read_to_string(report::write(folder.path()).unwrap()).unwrap();
    let records = Records::read(folder.path());
    let (numbers, _) = numbers(&page);
    let mut kinds: Vec<&str> = Vec::new();
    for Shown { value, text, of } in &numbers {
        let computed = records.compute(of);
        let close = (value - computed).abs() <= 1e-9 * computed.abs().max(1e-300);
        assert!(close, "{}: the report says {value}, the records {computed}", of.join(" "));
        let shown = read_shown(text);
        assert!((shown - value).abs() <= rounding(text), "{}: {value} is shown as {text}", of.join(" "));
        if !kinds.contains(&of[0].as_str()) {
            kinds.push(&of[0]);
        }
    }
    // Nothing that a report can say is missing from this one.
    for kind in [
        "count",
        "mean",
        "deviation",
        "relative_deviation",
        "confidence",
        "median",
        "least",
        "greatest",
        "extrapolated",
        "ratio",
        "factor",
        "r2",
        "typical",
        "term_launch",
        "term_r2",
        "share_of_gaps",
        "growth",
        "growth_low",
        "growth_high",
        "sizes",
        "faster",
        "slower",
        "geometric_mean",
        "spreads_more",
        "spread_sizes",
        "spread_cpu",
        "spread_gpu",
        "sign_test",
        "upload",
        "kernels",
        "download",
        "launches",
        "kernel_bytes",
        "speed",
        "share_of_copy",
        "share_of_launches",
        "cycles",
        "instructions",
        "branches",
        "branch_misses",
        "cache_references",
        "callgrind",
    ] {
        assert!(kinds.contains(&kind), "there is no {kind}");
    }
    assert!(numbers.len() > 500, "{} numbers", numbers.len());
}

/// The page without its numbers and drawings does not change when all times do: no number that depends on what was
/// measured stands outside a `data` element.
#[test]
fn no_measured_number_is_without_its_origin() {
    let words = |factor: f64| {
        let folder = tempfile::tempdir().unwrap();
        made_up::write(folder.path(), factor);
        let page = std::fs::read_to_string(report::write(folder.path()).unwrap()).unwrap();
        let (_, rest) = numbers(&page);
        let mut pieces = rest.split("<svg ");
        let mut text = pieces.next().unwrap().to_owned();
        pieces.for_each(|piece| text += piece.split_once("</svg>").unwrap().1);
        text
    };
    let (one, other) = (words(1.0), words(1.0001));
    let different = one.lines().zip(other.lines()).find(|(one, other)| one != other);
    assert_eq!(different, None);
    assert_eq!(one.lines().count(), other.lines().count());
}

/// The points of the plots are the means of the tables.
#[test]
fn plots_show_the_means() {
    let folder = tempfile::tempdir().unwrap();
    made_up::write(folder.path(), 1.0);
    let records = Records::read(folder.path());
    let analysis = bitonic_lab::analysis::Analysis::read(folder.path()).unwrap();
    let charts = bitonic_lab::plot::charts(&analysis);
    let all = charts.iter().find(|chart| chart.name == "all-i32-random").unwrap();
    assert_eq!(all.chart.series.len(), 5);
    for series in &all.chart.series {
        for point in &series.points {
            let size = point.x.to_string();
            let cell = [series.name.as_str(), "i32", "random", &size];
            let expected = match point.extrapolated {
                true => records.extrapolated(cell).unwrap(),
                false => records.mean("seconds", cell).unwrap(),
            };
            assert!((point.y / expected - 1.0).abs() < 1e-12, "{} at {}", series.name, point.x);
        }
    }
    let names: Vec<&str> = charts.iter().map(|chart| chart.name.as_str()).collect();
    for name in [
        "cpu-gpu-bitonic-sort",
        "before-after-another-algorithm",
        "ratio-s-bitonic-sort",
        "ratio-o-another-algorithm",
        "fit-cpu-recursive",
        "throughput",
    ] {
        assert!(names.contains(&format!("{name}-i32-random").as_str()), "{name} of {names:?}");
    }
}
