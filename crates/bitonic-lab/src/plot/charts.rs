//! Which charts a run has.

use super::{Chart, Point, Series, Style, Unit};
use crate::analysis::{Analysis, Fit, Group, Outcome, RatioTable, Sentence};
use crate::record::COPY_SPEED;

/// A chart with the name of its file.
#[derive(Clone, Debug, PartialEq)]
pub struct NamedChart {
    /// The file's name without an ending.
    pub name: String,
    /// What it shows, in a sentence.
    pub caption: Sentence,
    /// The chart.
    pub chart: Chart,
}

const N: &str = "n, number of keys";

/// All charts of a run: everything, processor against device, before and after, fitted curves, and throughput.
pub fn charts(analysis: &Analysis) -> Vec<NamedChart> {
    let several = analysis.groups.len() > 1;
    let mut charts = Vec::new();
    for group in &analysis.groups {
        let mut of_group = of_group(analysis, group);
        for named in &mut of_group {
            named.chart.title = format!("{} ({})", named.chart.title, group.title());
            if several {
                named.name = format!("{}-{}-{}", named.name, group.key_type, group.distribution);
            }
        }
        charts.extend(
            of_group.into_iter().filter(|named| named.chart.series.iter().any(|one| !one.points.is_empty())),
        );
    }
    charts
}

fn of_group(analysis: &Analysis, group: &Group) -> Vec<NamedChart> {
    let mut charts = vec![NamedChart {
        name: "all".to_owned(),
        caption: Sentence::default().words(
            "Mean time of every implementation, with standard deviations; empty markers are extrapolated.",
        ),
        chart: times("All implementations", group, group.implementations.iter().map(String::as_str)),
    }];
    charts.extend(
        group.speedups.iter().map(|table| pair(group, table, "cpu-gpu", "The processor against a device")),
    );
    charts.extend(
        group
            .optimisations
            .iter()
            .map(|table| pair(group, table, "before-after", "Before and after an optimisation")),
    );
    charts.extend(fitted(group));
    charts.push(throughput(analysis, group));
    charts
}

fn times<'a>(title: &str, group: &Group, implementations: impl Iterator<Item = &'a str>) -> Chart {
    let series = implementations.enumerate().map(|(number, name)| series(group, name, number));
    Chart {
        title: title.to_owned(),
        x_label: N.to_owned(),
        y_label: "t(n), mean time of a sort".to_owned(),
        y_unit: Unit::Seconds,
        series: series.filter(|series| !series.points.is_empty()).collect(),
    }
}

fn series(group: &Group, implementation: &str, number: usize) -> Series {
    let point = |&size: &usize| {
        let cell = group.cell(implementation, size)?;
        let (y, bar, extrapolated) = match &cell.outcome {
            Outcome::Measured(summary) => {
                // A bar of logarithmic height cannot reach down to zero; it ends at the least time then.
                let low = (summary.mean - summary.deviation).max(summary.least.min(summary.mean));
                let bar = (summary.count > 1).then_some((low, summary.mean + summary.deviation));
                (summary.mean, bar, false)
            }
            Outcome::Extrapolated { seconds, .. } => (*seconds, None, true),
            _ => return None,
        };
        Some(Point { x: size as f64, y, bar, extrapolated })
    };
    Series {
        name: implementation.to_owned(),
        points: group.sizes.iter().filter_map(point).collect(),
        style: Style::Measured(number),
    }
}

fn pair(group: &Group, table: &RatioTable, kind: &str, caption: &str) -> NamedChart {
    let letter = table.kind.letter();
    NamedChart {
        name: format!("{kind}-{}", file_name(&table.name)),
        caption: Sentence::default().words(format!(
            "{caption}: {}. {letter} is the time of {} divided by that of {}.",
            table.name, table.first, table.second
        )),
        chart: times(&table.name, group, [table.first.as_str(), table.second.as_str()].into_iter()),
    }
}

/// The best curve beside what was measured, for the implementations of pairs, or else for the first on the processor and on
/// every kind of device.
fn fitted(group: &Group) -> Vec<NamedChart> {
    let mut names: Vec<&String> = Vec::new();
    let of_pairs = group.speedups.iter().flat_map(|table| [&table.first, &table.second]);
    let mut seen: Vec<&str> = Vec::new();
    for name in of_pairs.chain(&group.implementations) {
        let runs_on = name.split(':').next().unwrap_or_default();
        let of_pair = group.speedups.iter().any(|table| table.first == *name || table.second == *name);
        if !names.contains(&name) && (of_pair || !seen.contains(&runs_on)) {
            names.push(name);
            seen.push(runs_on);
        }
    }
    let chart = |name: &&String| {
        let fits: Vec<&Fit> = group.fits.iter().filter(|fit| fit.implementation == **name).collect();
        let best = fits.iter().find(|fit| fit.best)?;
        let mut chart =
            times(&format!("{name} and what its time grows with"), group, std::iter::once(name.as_str()));
        let sizes: Vec<f64> = group.measured(name).iter().map(|(size, _)| *size as f64).collect();
        for (number, fit) in (1..).zip(&fits) {
            let points =
                sizes.iter().map(|&x| Point { x, y: fit.at(x), bar: None, extrapolated: false }).collect();
            let name = format!("{} · {}", fit.factor, fit.model.name());
            chart.series.push(Series { name, points, style: Style::Curve(number) });
        }
        Some(NamedChart {
            name: format!("fit-{}", file_name(name)),
            caption: Sentence::default()
                .words(format!("{name} with fitted curves; {} fits best, R² = ", best.model.name()))
                .number(best.r_squared.clone())
                .words("."),
            chart,
        })
    };
    names.iter().filter_map(chart).collect()
}

/// Keys a second, with what memory allows: a sort reads and writes every key at least once.
fn throughput(analysis: &Analysis, group: &Group) -> NamedChart {
    let mut chart =
        times("Throughput against the roof", group, group.implementations.iter().map(String::as_str));
    chart.y_label = "keys sorted in a second".to_owned();
    chart.y_unit = Unit::KeysPerSecond;
    for point in chart.series.iter_mut().flat_map(|series| &mut series.points) {
        let speed = |seconds: f64| point.x / seconds;
        (point.y, point.bar) = (speed(point.y), point.bar.map(|(low, high)| (speed(high), speed(low))));
    }
    let ends: Vec<f64> =
        [group.sizes.first(), group.sizes.last()].into_iter().flatten().map(|&size| size as f64).collect();
    let key_bytes = key_bytes(&group.key_type);
    let mut roofs = 0;
    for fact in &analysis.machine {
        let Some(runs_on) = fact.name.strip_suffix(COPY_SPEED) else { continue };
        let runs_on = runs_on.trim();
        let measured = group.implementations.iter().any(|name| name.split(':').next() == Some(runs_on));
        if let Some(speed) = fact.value.parse::<f64>().ok().filter(|_| measured) {
            let y = speed / (2.0 * key_bytes);
            let points = ends.iter().map(|&x| Point { x, y, bar: None, extrapolated: false }).collect();
            chart.series.push(Series {
                name: format!("roof: a copy on {runs_on}"),
                points,
                style: Style::Roof(roofs),
            });
            roofs += 1;
        }
    }
    NamedChart {
        name: "throughput".to_owned(),
        caption: Sentence::default().words(
            "Keys a second, under the roof of a plain copy of all keys (read once, written once; one thread on the \
             processor). Transfers to and from a device are in the times.",
        ),
        chart,
    }
}

fn key_bytes(key_type: &str) -> f64 {
    let found = bitonic::key::KeyType::ALL.iter().find(|one| one.to_string() == key_type);
    found.map_or(4.0, |&key_type| bitonic::with_key_type!(key_type, K => size_of::<K>() as f64))
}

/// Letters and digits, with dashes for everything between them.
fn file_name(text: &str) -> String {
    let letter =
        |letter: char| if letter.is_ascii_alphanumeric() { letter.to_ascii_lowercase() } else { '-' };
    let name: String = text.chars().map(letter).collect();
    name.split('-').filter(|part| !part.is_empty()).collect::<Vec<_>>().join("-")
}
