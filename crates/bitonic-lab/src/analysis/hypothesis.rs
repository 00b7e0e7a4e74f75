//! The three hypotheses of the research that this laboratory continues, judged from the data.

use super::{Figure, Group, RatioTable, Sentence};
use crate::figures::significant;
use crate::quantity;
use crate::record::Machine;
use crate::statistics::student;
use serde::Serialize;

/// A hypothesis about a pair of implementations.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Hypothesis {
    /// What is claimed.
    pub claim: String,
    /// Which pair it is about.
    pub pair: String,
    /// What the data say.
    pub judgement: Judgement,
    /// Why, in words and numbers.
    pub reason: Sentence,
}

/// What the data say about a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Judgement {
    /// They support it.
    Supported,
    /// They speak against it.
    Contradicted,
    /// They do not decide.
    Undecided,
}

impl Judgement {
    /// The judgement in a word.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Supported => "supported",
            Self::Contradicted => "contradicted",
            Self::Undecided => "undecided",
        }
    }
}

const GROWS: &str = "advantage, S above 1, grows with n";
const PAYS: &str = "Optimisation pays";
const SPREADS: &str = "times spread more than the processor's";

/// All hypotheses for all pairs.
pub(super) fn hypotheses(group: &Group, machine: &Machine) -> Vec<Hypothesis> {
    let grows = group.speedups.iter().map(|table| grows(group, table, machine));
    let pays = group.optimisations.iter().map(|table| pays(group, table));
    let spreads = group.speedups.iter().map(|table| spreads(group, table, machine));
    grows.chain(pays).chain(spreads).collect()
}

/// What the device of a pair is called: a processor that has a driver for it is still a processor.
fn device(table: &RatioTable, machine: &Machine) -> &'static str {
    let runs_on = table.second.split(':').next().unwrap_or_default();
    match machine.get(&format!("{runs_on} kind")) {
        Some(kind) if kind.eq_ignore_ascii_case("cpu") || kind.to_lowercase().contains("processor") => {
            "the processor as a device"
        }
        Some(kind) if kind.to_lowercase().contains("gpu") => "the GPU",
        _ => "the device",
    }
}

/// A claim about the device, with a capital.
fn claim_of(device: &str, claim: &str) -> String {
    let mut letters = device.chars();
    let first = letters.next().map(|letter| letter.to_ascii_uppercase()).into_iter();
    first.chain(letters).chain("'s ".chars()).chain(claim.chars()).collect()
}

fn of(what: &str, group: &Group, table: &RatioTable) -> String {
    format!("{what} {} {} {} {}", table.first, table.second, group.key_type, group.distribution)
}

fn hypothesis(
    claim: impl Into<String>,
    table: &RatioTable,
    judgement: Judgement,
    reason: Sentence,
) -> Hypothesis {
    Hypothesis { claim: claim.into(), pair: table.name.clone(), judgement, reason }
}

/// A straight line through log2 S over log2 n: its slope says how S grows, its confidence interval whether that is certain. An advantage
/// is an S above 1, so without one at the largest size nothing that grows is one.
fn grows(group: &Group, table: &RatioTable, machine: &Machine) -> Hypothesis {
    let claim = claim_of(device(table, machine), GROWS);
    let points: Vec<(f64, f64)> =
        table.ratios.iter().map(|ratio| ((ratio.size as f64).log2(), ratio.figure.value.log2())).collect();
    let (Some(first), Some(last)) = (table.ratios.first(), table.ratios.last()) else {
        return hypothesis(
            claim,
            table,
            Judgement::Undecided,
            Sentence::default().words("no size was measured at both."),
        );
    };
    let mut reason = Sentence::default()
        .words("S is ")
        .number(first.figure.clone())
        .words(format!(" at {} keys and ", quantity::name(first.size)))
        .number(last.figure.clone())
        .words(format!(" at {}", quantity::name(last.size)));
    let Some((slope, confidence)) = slope(&points) else {
        let reason = reason.words("; for a judgement, three sizes have to be measured at both.");
        return hypothesis(claim, table, Judgement::Undecided, reason);
    };
    let has_advantage = last.certain && last.figure.value > 1.0;
    let judgement = match slope {
        slope if slope - confidence > 0.0 && has_advantage => Judgement::Supported,
        slope if slope + confidence < 0.0 => Judgement::Contradicted,
        _ => Judgement::Undecided,
    };
    let growth = slope.exp2();
    let limits = [(slope - confidence).exp2(), (slope + confidence).exp2()];
    reason = reason
        .words("; with every doubling of n it changes by a factor of ")
        .number(Figure::new(growth, significant(growth), of("growth", group, table)))
        .words(" (95 % confidence: ")
        .number(Figure::new(limits[0], significant(limits[0]), of("growth_low", group, table)))
        .words(" to ")
        .number(Figure::new(limits[1], significant(limits[1]), of("growth_high", group, table)))
        .words(if has_advantage { ")." } else { "). At the largest size there is no certain advantage." });
    hypothesis(claim, table, judgement, reason)
}

/// The slope of the line through points that fits best, and half of its confidence interval; at least three points.
fn slope(points: &[(f64, f64)]) -> Option<(f64, f64)> {
    let count = points.len();
    if count < 3 {
        return None;
    }
    let mean = |of: fn(&(f64, f64)) -> f64| points.iter().map(of).sum::<f64>() / count as f64;
    let (x_mean, y_mean) = (mean(|point| point.0), mean(|point| point.1));
    let squares: f64 = points.iter().map(|(x, _)| (x - x_mean).powi(2)).sum();
    let products: f64 = points.iter().map(|(x, y)| (x - x_mean) * (y - y_mean)).sum();
    if squares == 0.0 {
        return None;
    }
    let slope = products / squares;
    let off: f64 = points.iter().map(|(x, y)| (y - y_mean - slope * (x - x_mean)).powi(2)).sum();
    let error = (off / (count - 2) as f64 / squares).sqrt();
    Some((slope, student::two_sided_95(count - 2) * error))
}

/// At how many sizes the form after the optimisation is certainly faster, or certainly slower.
fn pays(group: &Group, table: &RatioTable) -> Hypothesis {
    let measured: Vec<_> = table.ratios.iter().collect();
    let faster = measured.iter().filter(|ratio| ratio.certain && ratio.figure.value > 1.0).count();
    let slower = measured.iter().filter(|ratio| ratio.certain && ratio.figure.value < 1.0).count();
    let judgement = match (faster, slower) {
        (0, 0) => Judgement::Undecided,
        (_, 0) => Judgement::Supported,
        (0, _) => Judgement::Contradicted,
        _ => Judgement::Undecided,
    };
    if measured.is_empty() {
        return hypothesis(
            PAYS,
            table,
            judgement,
            Sentence::default().words("no size was measured of both."),
        );
    }
    let mean = measured.iter().map(|ratio| ratio.figure.value.ln()).sum::<f64>() / measured.len() as f64;
    let mean = mean.exp();
    let count =
        |value: usize, what: &str| Figure::new(value as f64, value.to_string(), of(what, group, table));
    let reason = Sentence::default()
        .words("measured at both: ")
        .number(count(measured.len(), "sizes"))
        .words(" of the sizes. It is certainly faster at ")
        .number(count(faster, "faster"))
        .words(" and certainly slower at ")
        .number(count(slower, "slower"))
        .words("; the geometric mean of O is ")
        .number(Figure::new(mean, significant(mean), of("geometric_mean", group, table)))
        .words(".");
    hypothesis(PAYS, table, judgement, reason)
}

/// At how many sizes the device's relative deviation is the greater one, and how likely that is if it were chance.
fn spreads(group: &Group, table: &RatioTable, machine: &Machine) -> Hypothesis {
    let device = device(table, machine);
    let claim = claim_of(device, SPREADS);
    let (cpu, gpu) = (group.measured(&table.first), group.measured(&table.second));
    let pairs: Vec<(f64, f64)> = cpu
        .iter()
        .filter_map(|(size, summary)| {
            let (_, other) = gpu.iter().find(|(at, _)| at == size)?;
            summary.relative_deviation.zip(other.relative_deviation)
        })
        .collect();
    if pairs.is_empty() {
        let reason = Sentence::default().words("no size was measured more than once at both.");
        return hypothesis(claim, table, Judgement::Undecided, reason);
    }
    let more = pairs.iter().filter(|(cpu, gpu)| gpu > cpu).count();
    let chance = sign_test(more, pairs.len());
    let judgement = match (chance < 0.05, 2 * more > pairs.len()) {
        (false, _) => Judgement::Undecided,
        (true, true) => Judgement::Supported,
        (true, false) => Judgement::Contradicted,
    };
    let mean = |side: fn(&(f64, f64)) -> f64| pairs.iter().map(side).sum::<f64>() / pairs.len() as f64;
    let (cpu, gpu) = (mean(|pair| pair.0), mean(|pair| pair.1));
    let percent = |value: f64, what: &str| {
        Figure::new(value, format!("{} %", significant(100.0 * value)), of(what, group, table))
    };
    let count =
        |value: usize, what: &str| Figure::new(value as f64, value.to_string(), of(what, group, table));
    let reason = Sentence::default()
        .words("at ")
        .number(count(more, "spreads_more"))
        .words(" of ")
        .number(count(pairs.len(), "spread_sizes"))
        .words(format!(" sizes {device} has the greater relative deviation; on average it is "))
        .number(percent(gpu, "spread_gpu"))
        .words(" against ")
        .number(percent(cpu, "spread_cpu"))
        .words(" on the processor. If it were chance, so clear a count would come with a probability of ")
        .number(Figure::new(chance, significant(chance), of("sign_test", group, table)))
        .words(".");
    hypothesis(claim, table, judgement, reason)
}

/// The probability that a fair coin, thrown so often, falls at least as unevenly, to either side.
fn sign_test(heads: usize, throws: usize) -> f64 {
    let many = heads.max(throws - heads);
    let mut choose = 1.0_f64;
    let mut sum = 0.0;
    for tails in 0..=throws {
        if throws - tails >= many {
            sum += choose;
        }
        choose *= (throws - tails) as f64 / (tails + 1) as f64;
    }
    (2.0 * sum / 2_f64.powi(throws as i32)).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_found_with_its_certainty() {
        let (exact, confidence) = slope(&[(1.0, 3.0), (2.0, 5.0), (3.0, 7.0)]).unwrap();
        assert!((exact - 2.0).abs() < 1e-12 && confidence < 1e-9);
        // By hand: slope 0.5, residual sum 1.5, squares 2, one degree of freedom.
        let (slope_of, confidence) = slope(&[(1.0, 1.0), (2.0, 3.0), (3.0, 2.0)]).unwrap();
        assert!((slope_of - 0.5).abs() < 1e-12);
        assert!((confidence - 12.7062 * (1.5_f64 / 2.0).sqrt()).abs() < 1e-9);
        assert_eq!(slope(&[(1.0, 1.0), (2.0, 2.0)]), None);
    }

    fn table(ratios: &[(usize, f64)]) -> RatioTable {
        let ratios = ratios.iter().map(|&(size, value)| crate::analysis::Ratio {
            size,
            figure: Figure::new(value, "", ""),
            interval: None,
            certain: true,
        });
        RatioTable {
            name: "x".to_owned(),
            kind: crate::analysis::RatioKind::Speedup,
            first: "cpu:a".to_owned(),
            second: "opencl:b".to_owned(),
            ratios: ratios.collect(),
        }
    }

    #[test]
    fn a_ratio_that_grows_below_one_is_no_advantage() {
        let judged =
            |ratios: &[(usize, f64)]| grows(&Group::empty(), &table(ratios), &Machine::default()).judgement;
        assert_eq!(judged(&[(2, 0.1), (4, 0.2), (8, 0.4)]), Judgement::Undecided);
        assert_eq!(judged(&[(2, 0.5), (4, 1.0), (8, 2.0)]), Judgement::Supported);
        assert_eq!(judged(&[(2, 2.0), (4, 1.0), (8, 0.5)]), Judgement::Contradicted);
    }

    #[test]
    fn a_device_is_called_what_it_is() {
        let machine = |kind: &str| Machine {
            facts: vec![crate::record::Fact { name: "opencl kind".to_owned(), value: kind.to_owned() }],
        };
        let claim = |kind: &str| grows(&Group::empty(), &table(&[(2, 0.1)]), &machine(kind)).claim;
        assert_eq!(claim("GPU"), "The GPU's advantage, S above 1, grows with n");
        assert_eq!(claim("CPU"), "The processor as a device's advantage, S above 1, grows with n");
        assert!(grows(&Group::empty(), &table(&[]), &Machine::default()).claim.starts_with("The device's"));
    }

    #[test]
    fn the_sign_test_has_the_probabilities_of_a_coin() {
        assert_eq!(sign_test(8, 8), 2.0 / 256.0);
        assert_eq!(sign_test(0, 8), 2.0 / 256.0);
        assert_eq!(sign_test(7, 8), 2.0 * 9.0 / 256.0);
        assert_eq!(sign_test(4, 8), 1.0);
        assert_eq!(sign_test(1, 1), 1.0);
    }
}
