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

/// The ratio at one size.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Ratio {
    /// How many keys.
    pub size: usize,
    /// The ratio of the means.
    pub figure: Figure,
    /// Whether one of the two times is extrapolated.
    pub extrapolated: bool,
    /// Whether the confidence intervals of the two means keep apart, so that it is certain which is faster.
    pub certain: bool,
}

/// The tables of those pairs whose implementations both took part.
pub(super) fn tables(group: &Group, pairs: &[Pair], kind: RatioKind) -> Vec<RatioTable> {
    pairs.iter().map(|pair| table(group, pair, kind)).filter(|table| !table.ratios.is_empty()).collect()
}

fn table(group: &Group, pair: &Pair, kind: RatioKind) -> RatioTable {
    let ratio = |&size: &usize| {
        let (first, second) = (group.cell(&pair.first, size)?, group.cell(&pair.second, size)?);
        let value = first.seconds()? / second.seconds()?;
        let of =
            format!("ratio {} {} {} {} {size}", pair.first, pair.second, group.key_type, group.distribution);
        let both = first.measured().zip(second.measured());
        let certain = both.is_some_and(|(first, second)| first.differs_from(&second));
        let figure = Figure::new(value, significant(value), of);
        Some(Ratio { size, figure, extrapolated: both.is_none(), certain })
    };
    RatioTable {
        name: pair.name.clone(),
        kind,
        first: pair.first.clone(),
        second: pair.second.clone(),
        ratios: group.sizes.iter().filter_map(ratio).collect(),
    }
}

impl RatioTable {
    /// The ratios of two measured times.
    pub fn measured(&self) -> impl Iterator<Item = &Ratio> {
        self.ratios.iter().filter(|ratio| !ratio.extrapolated)
    }
}
