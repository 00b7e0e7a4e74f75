//! Which charts a run has.

use super::{Chart, Point, Series, Style, Unit};
use crate::analysis::{Analysis, Fit, Group, Outcome, Ratio, RatioTable, Sentence};
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
            named.chart.title = format!("{}: {} ({})", analysis.name, named.chart.title, group.title());
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
    let mut charts = Vec::new();
    for (index, names) in group.implementations.chunks(MOST_SERIES).enumerate() {
        charts.push(NamedChart {
            name: numbered("all", index),
            caption: Sentence::default().words(format!(
                "{} time, with standard deviations; empty markers are extrapolated.",
                capital(group.statistic.name())
            )),
            chart: times("all implementations", group, names.iter().map(String::as_str)),
        });
    }
    charts.extend(
        group.speedups.iter().map(|table| pair(group, table, "cpu-gpu", "The processor against a device")),
    );
    charts.extend(
        group
            .optimisations
            .iter()
            .map(|table| pair(group, table, "before-after", "Before and after an optimisation")),
    );
    charts.extend(group.speedups.iter().chain(&group.optimisations).map(ratio));
    charts.extend(fitted(group));
    for (index, names) in group.implementations.chunks(MOST_SERIES).enumerate() {
        charts.push(throughput(analysis, group, names, index));
    }
    charts
}

/// A chart for every implementation that two runs measured on the same kind of keys: its times in both, by the names of the runs.
pub fn over_two_runs(names: [String; 2], runs: [&Analysis; 2]) -> Vec<NamedChart> {
    let [first, second] = runs;
    let mut charts = Vec::new();
    for group in &first.groups {
        let like =
            |other: &&Group| other.key_type == group.key_type && other.distribution == group.distribution;
        let Some(other) = second.groups.iter().find(like) else { continue };
        let measured = |name: &&String| !group.measured(name).is_empty() && !other.measured(name).is_empty();
        for implementation in group.implementations.iter().filter(measured) {
            let mut chart = times(&format!("{implementation} in two runs"), group, std::iter::empty());
            for (number, (run, name)) in [group, other].into_iter().zip(&names).enumerate() {
                chart.series.push(Series { name: name.clone(), ..series(run, implementation, number) });
            }
            chart.title = format!("{} ({})", chart.title, group.title());
            charts.push(NamedChart {
                name: format!("runs-{}-{}-{}", file_name(implementation), group.key_type, group.distribution),
                caption: Sentence::default()
                    .words(format!("{implementation} in {} and {}.", names[0], names[1])),
                chart,
            });
        }
    }
    charts
}

/// More series in one plot cannot be told apart; the others get a second one.
const MOST_SERIES: usize = 8;

/// The name of the first plot of a kind, or of one after it.
fn numbered(name: &str, index: usize) -> String {
    if index == 0 { name.to_owned() } else { format!("{name}-{}", index + 1) }
}

fn capital(word: &str) -> String {
    let (first, rest) = word.split_at(word.len().min(1));
    first.to_uppercase() + rest
}

/// S(n) or O(n), with the intervals of the two means.
fn ratio(table: &RatioTable) -> NamedChart {
    let letter = table.kind.letter();
    let point = |ratio: &Ratio| {
        let bar = ratio.interval.filter(|(low, _)| *low > 0.0);
        Point { x: ratio.size as f64, y: ratio.figure.value, bar, extrapolated: false }
    };
    let points: Vec<Point> = table.ratios.iter().map(point).collect();
    let ends = [points.first(), points.last()].into_iter().flatten();
    let even = ends.map(|end| Point { x: end.x, y: 1.0, bar: None, extrapolated: false }).collect();
    NamedChart {
        name: format!("ratio-{}-{}", letter.to_lowercase(), file_name(&table.name)),
        caption: Sentence::default().words(format!(
            "{letter}(n): the time of {} divided by that of {}. Bars: from the intervals of both means at 95 % confidence.",
            table.first, table.second
        )),
        chart: Chart {
            title: format!("{letter}(n), {}", table.name),
            x_label: N.to_owned(),
            y_label: format!("{letter}(n), {} / {}", table.first, table.second),
            y_unit: Unit::Times,
            series: vec![
                Series { name: table.name.clone(), points, style: Style::Measured(0) },
                Series { name: "as fast".to_owned(), points: even, style: Style::Roof(0) },
            ],
        },
    }
}

fn times<'a>(title: &str, group: &Group, implementations: impl Iterator<Item = &'a str>) -> Chart {
    let series = implementations.enumerate().map(|(number, name)| series(group, name, number));
    Chart {
        title: title.to_owned(),
        x_label: N.to_owned(),
        y_label: format!("t(n), {} time of a sort", group.statistic.name()),
        y_unit: Unit::Seconds,
        series: series.filter(|series| !series.points.is_empty()).collect(),
    }
}

fn series(group: &Group, implementation: &str, number: usize) -> Series {
    let point = |&size: &usize| {
        let cell = group.cell(implementation, size)?;
        let (y, bar, extrapolated) = match &cell.outcome {
            Outcome::Measured(summary) => {
                let middle = summary.center(group.statistic);
                // A bar of logarithmic height cannot reach down to zero; it ends at the least time then.
                let bar = summary.deviation.map(|deviation| {
                    ((middle - deviation).max(summary.least.min(middle)), middle + deviation)
                });
                (middle, bar, false)
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

/// The fitted curves beside what was measured, for every implementation that has some.
fn fitted(group: &Group) -> Vec<NamedChart> {
    let chart = |name: &String| {
        let fits: Vec<&Fit> = group.fits.iter().filter(|fit| fit.implementation == *name).collect();
        let best = fits.iter().find(|fit| fit.best);
        fits.first()?;
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
            caption: match best {
                Some(best) => Sentence::default()
                    .words(format!("{name} with fitted curves; {} fits best, R² = ", best.model.name()))
                    .number(best.r_squared.clone())
                    .words("."),
                None => Sentence::default()
                    .words(format!("{name} with curves none of which fits: every R² is below 0.9.")),
            },
            chart,
        })
    };
    group.implementations.iter().filter_map(chart).collect()
}

/// Keys a second, with what memory allows: a sort reads and writes every key at least once.
fn throughput(analysis: &Analysis, group: &Group, names: &[String], index: usize) -> NamedChart {
    let mut chart = times("throughput against the roof", group, names.iter().map(String::as_str));
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
        let measured = names.iter().any(|name| name.split(':').next() == Some(runs_on));
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
        name: numbered("throughput", index),
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
