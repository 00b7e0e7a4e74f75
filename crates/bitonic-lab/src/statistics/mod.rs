//! Many times in a few numbers: the one place where medians, means and spreads are computed.

pub(crate) mod student;

use serde::Serialize;

/// Which number stands for a sample.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Statistic {
    /// The mean, as in the research that this laboratory continues.
    #[default]
    Mean,
    /// The median, which a few disturbed sorts do not move.
    Median,
}

impl Statistic {
    /// Both.
    pub const ALL: &[Self] = &[Self::Mean, Self::Median];

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Mean => "mean",
            Self::Median => "median",
        }
    }
}

/// From this share of the mean on, a standard deviation is told as noise.
pub const NOISY: f64 = 0.2;

/// A sample in a few numbers.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Summary {
    /// How many there are.
    pub count: usize,
    /// How many instances they are of.
    pub instances: usize,
    /// Their mean.
    pub mean: f64,
    /// Their standard deviation: of a sample, so the sum of squares is divided by one less than their number; `None` for one.
    pub deviation: Option<f64>,
    /// The deviation as a share of the mean.
    pub relative_deviation: Option<f64>,
    /// The one in the middle, or between the two in the middle.
    pub median: f64,
    /// A quarter of them is less.
    pub lower_quartile: f64,
    /// A quarter of them is more.
    pub upper_quartile: f64,
    /// The least.
    pub least: f64,
    /// The greatest.
    pub greatest: f64,
    /// Half the width of the interval around the mean that holds the true mean with a confidence of 95 %, by Student's
    /// distribution. Repetitions on one instance are no independent samples of what is asked, so with several instances the interval
    /// is that of their means; with one it is of its repetitions, and says nothing about others. `None` for fewer than two.
    pub confidence: Option<f64>,
}

impl Summary {
    /// Sums a sample of one instance up; `None` if it is empty.
    pub fn of(sample: &[f64]) -> Option<Self> {
        Self::of_instances(&[sample.to_vec()])
    }

    /// Sums up samples, one of each instance; `None` if all are empty.
    pub fn of_instances(samples: &[Vec<f64>]) -> Option<Self> {
        let samples: Vec<&Vec<f64>> = samples.iter().filter(|sample| !sample.is_empty()).collect();
        let mut sorted: Vec<f64> = samples.iter().copied().flatten().copied().collect();
        sorted.sort_by(f64::total_cmp);
        let (&least, &greatest) = (sorted.first()?, sorted.last()?);
        let count = sorted.len();
        let (mean, deviation) = mean_and_deviation(&sorted);
        let [lower_quartile, median, upper_quartile] =
            [0.25, 0.5, 0.75].map(|share| quantile(&sorted, share));
        let means: Vec<f64> = samples.iter().map(|sample| mean_and_deviation(sample).0).collect();
        let independent = if means.len() > 1 { &means } else { &sorted };
        let confidence = mean_and_deviation(independent).1.map(|deviation| {
            student::two_sided_95(independent.len() - 1) * deviation / (independent.len() as f64).sqrt()
        });
        let relative_deviation = deviation.map(|deviation| if mean > 0.0 { deviation / mean } else { 0.0 });
        Some(Self {
            count,
            instances: samples.len(),
            mean,
            deviation,
            relative_deviation,
            median,
            lower_quartile,
            upper_quartile,
            least,
            greatest,
            confidence,
        })
    }

    /// The distance between the quartiles as a share of the median: the middle half of the sample lies in a range so wide.
    pub fn spread(&self) -> f64 {
        // Never of nothing: a clock may see no time pass.
        (self.upper_quartile - self.lower_quartile) / self.median.max(1e-9)
    }

    /// The same in another unit.
    pub fn scaled(&self, factor: f64) -> Self {
        Self {
            mean: self.mean * factor,
            deviation: self.deviation.map(|deviation| deviation * factor),
            median: self.median * factor,
            lower_quartile: self.lower_quartile * factor,
            upper_quartile: self.upper_quartile * factor,
            least: self.least * factor,
            greatest: self.greatest * factor,
            confidence: self.confidence.map(|confidence| confidence * factor),
            ..*self
        }
    }

    /// The number that stands for the sample.
    pub fn center(&self, statistic: Statistic) -> f64 {
        match statistic {
            Statistic::Mean => self.mean,
            Statistic::Median => self.median,
        }
    }

    /// Whether the deviation is so large that the mean says little.
    pub fn is_noisy(&self) -> bool {
        self.relative_deviation.is_some_and(|relative| relative > NOISY)
    }

    /// Whether the confidence intervals of the two means keep apart, so that it is certain which is greater.
    pub fn differs_from(&self, other: &Self) -> bool {
        let widths = self.confidence.zip(other.confidence);
        widths.is_some_and(|(one, two)| (self.mean - other.mean).abs() > one + two)
    }
}

/// The mean, and the deviation of a sample; of one value there is none.
fn mean_and_deviation(values: &[f64]) -> (f64, Option<f64>) {
    let count = values.len();
    let mean = values.iter().sum::<f64>() / count as f64;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (mean, (count > 1).then(|| (squares / (count - 1) as f64).sqrt()))
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
    fn the_middle_the_quartiles_and_the_width_of_the_middle_half() {
        let found = Summary::of(&[4.0, 1.0, 2.0, 3.0, 100.0]).unwrap();
        assert_eq!((found.median, found.least), (3.0, 1.0));
        assert_eq!((found.lower_quartile, found.upper_quartile), (2.0, 4.0));
        assert_eq!(found.spread(), 2.0 / 3.0);
        assert_eq!(Summary::of(&[1.0, 9.0, 2.0, 4.0]).unwrap().median, 3.0);
        assert_eq!(Summary::of(&[0.0, 0.0]).unwrap().spread(), 0.0);
    }

    #[test]
    fn another_unit_changes_times_and_no_shares() {
        let seconds = Summary::of(&[1.0, 2.0, 4.0]).unwrap();
        let milliseconds = Summary::of(&[1e3, 2e3, 4e3]).unwrap();
        assert_eq!(seconds.scaled(1e3).median, milliseconds.median);
        assert_eq!(seconds.scaled(1e3).spread(), milliseconds.spread());
        assert_eq!(seconds.scaled(1e3).relative_deviation, seconds.relative_deviation);
    }

    proptest! {
        #[test]
        fn half_of_the_values_are_at_most_the_median(values in proptest::collection::vec(1.0..1e9_f64, 1..50)) {
            let summary = Summary::of(&values).unwrap();
            let below = values.iter().filter(|&&value| value <= summary.median).count();
            let above = values.iter().filter(|&&value| value >= summary.median).count();
            prop_assert!(2 * below >= values.len() && 2 * above >= values.len());
            prop_assert!(values.iter().all(|&value| value >= summary.least));
            prop_assert!(summary.spread() >= 0.0);
        }
    }

    #[test]
    fn a_sample_has_the_numbers_of_a_textbook() {
        let summary = Summary::of(&[2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0]).unwrap();
        assert_eq!((summary.count, summary.mean, summary.median), (8, 5.0, 4.5));
        let deviation = summary.deviation.unwrap();
        assert!((deviation - (32.0_f64 / 7.0).sqrt()).abs() < 1e-12);
        // t for 7 degrees of freedom is 2.365.
        assert!((summary.confidence.unwrap() - 2.3646 * deviation / 8_f64.sqrt()).abs() < 1e-3);
        assert_eq!((summary.least, summary.greatest), (2.0, 9.0));
    }

    #[test]
    fn means_differ_when_their_intervals_keep_apart() {
        let [near, far] =
            [1.0, 9.0].map(|offset| Summary::of(&[1.0, 2.0, 3.0].map(|value| value + offset)).unwrap());
        assert!(near.differs_from(&far) && far.differs_from(&near) && !near.differs_from(&near));
        assert!(!near.differs_from(&Summary::of(&[100.0]).unwrap()), "one value has no interval");
    }

    #[test]
    fn repetitions_of_one_instance_make_no_mean_of_all_more_certain() {
        // Three instances that differ, each repeated a hundred times with next to no spread.
        let samples =
            [1.0, 2.0, 3.0].map(|of| (0..100).map(|i| of + 1e-3 * f64::from(i % 2)).collect::<Vec<_>>());
        let summary = Summary::of_instances(&samples).unwrap();
        assert_eq!((summary.count, summary.instances), (300, 3));
        // t for 2 degrees of freedom is 4.303, the deviation of the means 1.
        assert!((summary.confidence.unwrap() - 4.3027 / 3_f64.sqrt()).abs() < 1e-3, "{summary:?}");
        let pooled = Summary::of(&samples.concat()).unwrap();
        assert!(pooled.confidence.unwrap() < 0.1, "as if 300 instances had been sorted");
        assert_eq!(Summary::of_instances(&[vec![], vec![2.0]]).unwrap().instances, 1);
    }

    #[test]
    fn a_deviation_above_a_fifth_is_noise_and_a_median_does_not_move() {
        let quiet = Summary::of(&[1.0, 1.1, 0.9]).unwrap();
        let noisy = Summary::of(&[1.0, 1.0, 1.0, 9.0]).unwrap();
        assert!(!quiet.is_noisy() && noisy.is_noisy());
        assert_eq!((noisy.center(Statistic::Mean), noisy.center(Statistic::Median)), (3.0, 1.0));
    }

    #[test]
    fn one_value_has_no_spread_and_none_have_no_summary() {
        let one = Summary::of(&[3.0]).unwrap();
        assert_eq!(
            (one.mean, one.deviation, one.relative_deviation, one.confidence),
            (3.0, None, None, None)
        );
        assert!(!one.is_noisy());
        assert_eq!(Summary::of(&[]), None);
    }
}
