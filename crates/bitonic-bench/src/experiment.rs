//! What to measure, as data.

use crate::element::Element;
use crate::peers::Sort;
use bitonic_testkit::Pattern;
use std::time::Duration;

/// Every combination of these is measured, but for what a sort is [left out](Sort::left_out) of.
#[derive(Clone, Debug, PartialEq)]
pub struct Experiment {
    /// What is sorted.
    pub elements: Vec<Element>,
    /// In which state it is before.
    pub patterns: Vec<Pattern>,
    /// How many at a time.
    pub sizes: Vec<usize>,
    /// By what.
    pub sorts: Vec<Sort>,
    /// How thoroughly.
    pub effort: Effort,
    /// Where the random keys start: the same seed gives the same keys on every machine.
    pub seed: u64,
}

/// How thoroughly to measure. A length is measured until both time and repetitions are reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Effort {
    /// At least this long for every contender on average, with making and verifying keys.
    pub time: Duration,
    /// At least this often.
    pub repetitions: usize,
    /// A sample has at least this many keys, in as many rows as that takes.
    pub keys: usize,
}

/// Long enough for the clock (some tens of microseconds), far more than a branch predictor remembers, and still in the
/// second-level cache.
pub const KEYS_PER_SAMPLE: usize = 1 << 16;

impl Effort {
    /// For figures to be published.
    pub const THOROUGH: Self =
        Self { time: Duration::from_millis(250), repetitions: 7, keys: KEYS_PER_SAMPLE };
    /// For a first impression.
    pub const QUICK: Self = Self { time: Duration::from_millis(20), repetitions: 3, keys: KEYS_PER_SAMPLE };
}

/// The largest length of a quick run.
const QUICK_MOST: usize = 1 << 20;

/// 2^4 to 2^24 in steps of four, and lengths between that are no power of two, in ascending order.
pub fn default_sizes(quick: bool) -> Vec<usize> {
    let powers = (4..=24).step_by(2).map(|exponent| 1 << exponent);
    let mut sizes: Vec<usize> = powers.chain([100, 300, 1000, 3000, 100_000]).collect();
    sizes.retain(|&size| !quick || size <= QUICK_MOST);
    sizes.sort_unstable();
    sizes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn default_sizes_ascend_and_a_quick_run_leaves_out_the_largest() {
        let all = default_sizes(false);
        assert!(all.is_sorted() && all.contains(&3000));
        assert_eq!((all[0], all[all.len() - 1]), (16, 1 << 24));
        let quick = default_sizes(true);
        assert_eq!(quick, all[..quick.len()]);
        assert_eq!(quick.last(), Some(&(1 << 20)));
    }
}
