//! Curves that times follow: t(n) = c · f(n).

use super::{Figure, Group};
use crate::figures::{significant, time_of_seconds};
use serde::Serialize;

/// What a time may grow with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum Model {
    /// log² n: the steps of bitonic sort, where every step takes as long whatever the length.
    #[serde(rename = "log² n")]
    LogSquaredN,
    /// n log² n: bitonic sort.
    #[serde(rename = "n log² n")]
    NLogSquaredN,
    /// n log n: the best that comparisons can do.
    #[serde(rename = "n log n")]
    NLogN,
    /// n²: odd-even transposition sort.
    #[serde(rename = "n²")]
    NSquared,
}

impl Model {
    /// Every model.
    pub const ALL: &[Self] = &[Self::LogSquaredN, Self::NLogSquaredN, Self::NLogN, Self::NSquared];

    /// The function in writing.
    pub const fn name(self) -> &'static str {
        match self {
            Self::LogSquaredN => "log² n",
            Self::NLogSquaredN => "n log² n",
            Self::NLogN => "n log n",
            Self::NSquared => "n²",
        }
    }

    /// The function, with logarithms to base 2.
    pub fn at(self, n: f64) -> f64 {
        match self {
            Self::LogSquaredN => n.log2().powi(2),
            Self::NLogSquaredN => n * n.log2().powi(2),
            Self::NLogN => n * n.log2(),
            Self::NSquared => n * n,
        }
    }

    /// The function in a word, for the origin of numbers.
    const fn word(self) -> &'static str {
        match self {
            Self::LogSquaredN => "log2n",
            Self::NLogSquaredN => "nlog2n",
            Self::NLogN => "nlogn",
            Self::NSquared => "n2",
        }
    }
}

/// Below this R² no curve is said to fit.
pub const FITS: f64 = 0.9;

/// A curve fitted to the mean times of an implementation.
///
/// Times span orders of magnitude, so the curve is fitted to their logarithms: every size counts the same, and c is the
/// geometric mean of t(n) / f(n). R² is of the logarithms as well.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Fit {
    /// Who was measured.
    pub implementation: String,
    /// What the time is held against.
    pub model: Model,
    /// c, in seconds.
    pub factor: Figure,
    /// The share of the spread of the logarithms that the curve explains: 1 is all of it; below 0, a constant fits better.
    pub r_squared: Figure,
    /// By what factor times are off the curve, typically: the root of the mean square of the logarithms' differences.
    pub typical_error: Figure,
    /// Whether no other model fits better, and it does fit: R² is at least [`FITS`].
    pub best: bool,
}

impl Fit {
    /// The curve at a size.
    pub fn at(&self, n: f64) -> f64 {
        self.factor.value * self.model.at(n)
    }
}

/// Every model for every implementation with at least three measured sizes from 2 keys on.
pub(super) fn fits(group: &Group) -> Vec<Fit> {
    let mut fits = Vec::new();
    for implementation in &group.implementations {
        let points: Vec<(f64, f64)> = group
            .measured(implementation)
            .into_iter()
            .map(|(size, summary)| (size as f64, summary.center(group.statistic)))
            .filter(|(size, seconds)| *size >= 2.0 && *seconds > 0.0)
            .collect();
        if points.len() < 3 {
            continue;
        }
        let mut of_implementation: Vec<Fit> =
            Model::ALL.iter().map(|&model| fit(implementation, model, &points, group)).collect();
        let best = of_implementation.iter().map(|fit| fit.r_squared.value).fold(f64::NEG_INFINITY, f64::max);
        for fit in &mut of_implementation {
            fit.best = best >= FITS && fit.r_squared.value == best;
        }
        fits.extend(of_implementation);
    }
    fits
}

fn fit(implementation: &str, model: Model, points: &[(f64, f64)], group: &Group) -> Fit {
    let count = points.len() as f64;
    let logarithm = points.iter().map(|(n, t)| (t / model.at(*n)).ln()).sum::<f64>() / count;
    let off: f64 = points.iter().map(|(n, t)| ((t / model.at(*n)).ln() - logarithm).powi(2)).sum();
    let middle = points.iter().map(|(_, t)| t.ln()).sum::<f64>() / count;
    let spread: f64 = points.iter().map(|(_, t)| (t.ln() - middle).powi(2)).sum();
    let r_squared = if spread > 0.0 { 1.0 - off / spread } else { 0.0 };
    let typical = (off / count).sqrt().exp();
    let of = |what: &str| {
        format!("{what} {} {implementation} {} {}", model.word(), group.key_type, group.distribution)
    };
    Fit {
        implementation: implementation.to_owned(),
        model,
        factor: Figure::new(logarithm.exp(), time_of_seconds(logarithm.exp()), of("factor")),
        r_squared: Figure::new(r_squared, format!("{r_squared:.4}"), of("r2")),
        typical_error: Figure::new(typical, format!("{}x", significant(typical)), of("typical")),
        best: false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_curve_fits_best_where_none_fits() {
        let points = |times: [f64; 4]| {
            let mut group = Group {
                implementations: vec!["x".to_owned()],
                sizes: vec![16, 64, 256, 1024],
                ..Group::empty()
            };
            group.cells = group
                .sizes
                .iter()
                .zip(times)
                .map(|(&size, time)| crate::analysis::Cell {
                    implementation: "x".to_owned(),
                    size,
                    outcome: crate::analysis::Outcome::Measured(
                        crate::analysis::Summary::of(&[time]).unwrap(),
                    ),
                    device: None,
                })
                .collect();
            fits(&group).into_iter().filter(|fit| fit.best).map(|fit| fit.model).collect::<Vec<_>>()
        };
        assert_eq!(points([1.0, 5.0, 0.5, 2.0]), [], "noise");
        assert_eq!(points([16.0, 36.0, 64.0, 100.0]), [Model::LogSquaredN]);
    }

    #[test]
    fn a_curve_that_is_followed_exactly_is_found_exactly() {
        let points: Vec<(f64, f64)> =
            (4..12).map(|log2| f64::from(1 << log2)).map(|n| (n, 3e-9 * Model::NSquared.at(n))).collect();
        let square = fit("x", Model::NSquared, &points, &Group::empty());
        assert!((square.factor.value / 3e-9 - 1.0).abs() < 1e-12);
        assert!(
            (square.r_squared.value - 1.0).abs() < 1e-12 && (square.typical_error.value - 1.0).abs() < 1e-12
        );
        let other = fit("x", Model::NLogN, &points, &Group::empty());
        assert!(other.r_squared.value < 0.9, "{}", other.r_squared.value);
    }
}
