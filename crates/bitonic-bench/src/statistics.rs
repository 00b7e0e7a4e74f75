//! Many times in a few numbers.

/// A sample in a few numbers. The unit is the sample's.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Summary {
    /// The value in the middle.
    pub median: f64,
    /// The smallest value.
    pub least: f64,
    /// The distance between the quartiles, relative to the median: half of all values lie in a range so wide.
    pub spread: f64,
    /// How many values there are.
    pub count: usize,
}

impl Summary {
    /// Sums a sample up; `None` if it is empty.
    ///
    /// ```
    /// use bitonic_bench::statistics::Summary;
    ///
    /// let summary = Summary::of(&[4.0, 1.0, 2.0, 3.0, 100.0]).unwrap();
    /// assert_eq!((summary.median, summary.least), (3.0, 1.0));
    /// assert_eq!(summary.spread, (4.0 - 2.0) / 3.0);
    /// ```
    pub fn of(values: &[f64]) -> Option<Self> {
        let mut sorted = values.to_vec();
        sorted.sort_unstable_by(f64::total_cmp);
        let least = *sorted.first()?;
        let [lower, median, upper] = [0.25, 0.5, 0.75].map(|share| quantile(&sorted, share));
        Some(Self { median, least, spread: (upper - lower) / median, count: sorted.len() })
    }
}

/// The value below which this share of a sorted sample lies, between two values in proportion.
fn quantile(sorted: &[f64], share: f64) -> f64 {
    let place = share * (sorted.len() - 1) as f64;
    let (below, above) = (sorted[place.floor() as usize], sorted[place.ceil() as usize]);
    below + (above - below) * place.fract()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn an_even_count_has_its_median_between_the_two_in_the_middle() {
        assert_eq!(Summary::of(&[1.0, 9.0, 2.0, 4.0]).unwrap().median, 3.0);
    }

    #[test]
    fn one_value_has_no_spread_and_none_has_no_summary() {
        assert_eq!(Summary::of(&[7.0]), Some(Summary { median: 7.0, least: 7.0, spread: 0.0, count: 1 }));
        assert_eq!(Summary::of(&[]), None);
    }

    proptest! {
        #[test]
        fn half_of_the_values_are_at_most_the_median(values in proptest::collection::vec(1.0..1e9_f64, 1..50)) {
            let summary = Summary::of(&values).unwrap();
            let below = values.iter().filter(|&&value| value <= summary.median).count();
            let above = values.iter().filter(|&&value| value >= summary.median).count();
            prop_assert!(2 * below >= values.len() && 2 * above >= values.len());
            prop_assert!(values.iter().all(|&value| value >= summary.least));
            prop_assert!(summary.spread >= 0.0);
        }
    }
}
