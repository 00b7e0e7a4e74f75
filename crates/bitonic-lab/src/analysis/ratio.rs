//! Ratios of times: S = processor / device, O = before / after.

use super::{Figure, Group};
use crate::experiment::Pair;
use crate::figures::significant;
use serde::Serialize;

/// Which ratio it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum RatioKind {
    /// S = time on the processor / time on the device.
    Speedup,
    /// O = time before / time after an optimisation.
    Optimisation,
}

impl RatioKind {
    /// The letter of the ratio.
    pub const fn letter(self) -> &'static str {
        match self {
            Self::Speedup => "S",
            Self::Optimisation => "O",
        }
    }
}

/// The ratios of two implementations.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RatioTable {
    /// What the pair shows.
    pub name: String,
    /// Which ratio it is.
    pub kind: RatioKind,
    /// Whose time is divided.
    pub first: String,
    /// By whose.
    pub second: String,
    /// The ratios, by ascending size.
    pub ratios: Vec<Ratio>,
}

/// The ratio at one size, of two measured times: extrapolated ones enter no ratio.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Ratio {
    /// How many keys.
    pub size: usize,
    /// The ratio of the means, or of the medians if the analysis is by those.
    pub figure: Figure,
    /// Between which two values it lies, where both means have confidence intervals: that of the first divided by that of the
    /// second, end by end.
    pub interval: Option<(f64, f64)>,
    /// Whether the confidence intervals of the two means keep apart, so that it is certain which is faster.
    pub certain: bool,
}

/// The tables of those pairs whose implementations both took part.
pub(super) fn tables(group: &Group, pairs: &[Pair], kind: RatioKind) -> Vec<RatioTable> {
    pairs.iter().map(|pair| table(group, pair, kind)).filter(|table| !table.ratios.is_empty()).collect()
}

fn table(group: &Group, pair: &Pair, kind: RatioKind) -> RatioTable {
    let ratio = |&size: &usize| {
        let first = group.cell(&pair.first, size)?.measured()?;
        let second = group.cell(&pair.second, size)?.measured()?;
        let value = first.center(group.statistic) / second.center(group.statistic);
        let of =
            format!("ratio {} {} {} {} {size}", pair.first, pair.second, group.key_type, group.distribution);
        let interval = first.confidence.zip(second.confidence).and_then(|(one, two)| {
            let below = (first.mean - one).max(0.0) / (second.mean + two);
            (second.mean > two).then(|| (below, (first.mean + one) / (second.mean - two)))
        });
        let certain = first.differs_from(&second);
        Some(Ratio { size, figure: Figure::new(value, significant(value), of), interval, certain })
    };
    RatioTable {
        name: pair.name.clone(),
        kind,
        first: pair.first.clone(),
        second: pair.second.clone(),
        ratios: group.sizes.iter().filter_map(ratio).collect(),
    }
}
