//! Many times in a few numbers.

use std::time::Duration;

/// A sample of times in a few numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Summary {
    /// The time in the middle.
    pub(super) median: Duration,
    /// The shortest time.
    pub(super) least: Duration,
    /// A quarter of the times is shorter.
    pub(super) lower_quartile: Duration,
    /// A quarter of the times is longer.
    pub(super) upper_quartile: Duration,
    /// The distance between the quartiles, relative to the median: half of all times lie in a range so wide.
    pub(super) spread: f64,
    /// How many times there are.
    pub(super) count: usize,
}

impl Summary {
    /// Sums a sample up; `None` if it is empty.
    pub(super) fn of(times: &[Duration]) -> Option<Self> {
        let mut sorted = times.to_vec();
        sorted.sort_unstable();
        let least = *sorted.first()?;
        let [lower_quartile, median, upper_quartile] =
            [0.25, 0.5, 0.75].map(|share| quantile(&sorted, share));
        // Never of nothing: a clock may see no time pass.
        let spread = (upper_quartile - lower_quartile).as_secs_f64() / median.as_secs_f64().max(1e-9);
        Some(Self { median, least, lower_quartile, upper_quartile, spread, count: sorted.len() })
    }
}

/// The time below which this share of a sorted sample lies, between two times in proportion.
fn quantile(sorted: &[Duration], share: f64) -> Duration {
    let place = share * (sorted.len() - 1) as f64;
    let (below, above) = (sorted[place.floor() as usize], sorted[place.ceil() as usize]);
    below + (above - below).mul_f64(place.fract())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn summary(milliseconds: &[u64]) -> Option<Summary> {
        let times: Vec<Duration> = milliseconds.iter().map(|&time| Duration::from_millis(time)).collect();
        Summary::of(&times)
    }

    #[test]
    fn the_middle_the_shortest_and_the_width_of_the_middle_half() {
        let found = summary(&[4, 1, 2, 3, 100]).unwrap();
        assert_eq!((found.median, found.least), (Duration::from_millis(3), Duration::from_millis(1)));
        let quartiles = (found.lower_quartile, found.upper_quartile);
        assert_eq!(quartiles, (Duration::from_millis(2), Duration::from_millis(4)));
        assert!((found.spread - 2.0 / 3.0).abs() < 1e-9);
        assert_eq!(found.count, 5);
    }

    #[test]
    fn an_even_count_has_its_median_between_the_two_in_the_middle() {
        assert_eq!(summary(&[1, 9, 2, 4]).unwrap().median, Duration::from_millis(3));
    }

    #[test]
    fn no_time_has_no_spread_and_no_times_have_no_summary() {
        assert_eq!(summary(&[0, 0]).unwrap().spread, 0.0);
        assert_eq!(summary(&[]), None);
    }
}
