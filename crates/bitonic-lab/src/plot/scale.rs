//! Logarithmic axes: from values to places, and where the marks are.

/// A logarithmic axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Scale {
    low: f64,
    high: f64,
    /// Where the lowest and the highest value are.
    from: f64,
    to: f64,
}

impl Scale {
    /// An axis for these values, with a little room at both ends. `None` without values above zero.
    pub(super) fn over(values: impl Iterator<Item = f64>, from: f64, to: f64) -> Option<Self> {
        let positive = values.filter(|value| value.is_finite() && *value > 0.0);
        let (low, high) =
            positive.fold((f64::INFINITY, 0.0_f64), |(low, high), value| (low.min(value), high.max(value)));
        if high == 0.0 {
            return None;
        }
        let (low, high) = (low.ln(), high.ln());
        // One value alone gets a whole power of ten around it.
        let room = if high > low { 0.04 * (high - low) } else { 1.15 };
        Some(Self { low: low - room, high: high + room, from, to })
    }

    /// The place of a value.
    pub(super) fn place(&self, value: f64) -> f64 {
        self.from + (value.ln() - self.low) / (self.high - self.low) * (self.to - self.from)
    }

    fn contains(&self, value: f64) -> bool {
        (self.low..=self.high).contains(&value.ln())
    }

    /// Powers of ten, and 2 and 5 times them where there are few; so many at most.
    pub(super) fn decimal_marks(&self, most: usize) -> Vec<f64> {
        let powers = (self.low / std::f64::consts::LN_10).floor() as i32
            ..=(self.high / std::f64::consts::LN_10).ceil() as i32;
        let marks = |factors: &[f64]| -> Vec<f64> {
            let all = powers
                .clone()
                .flat_map(|power| factors.iter().map(move |factor| factor * 10_f64.powi(power)));
            all.filter(|&mark| self.contains(mark)).collect()
        };
        let few = marks(&[1.0]);
        if few.len() < 3 { marks(&[1.0, 2.0, 5.0]) } else { thin(few, most) }
    }

    /// Powers of two; so many at most.
    pub(super) fn binary_marks(&self, most: usize) -> Vec<f64> {
        let two = std::f64::consts::LN_2;
        let powers = (self.low / two).ceil() as i32..=(self.high / two).floor() as i32;
        thin(powers.map(|power| 2_f64.powi(power)).collect(), most)
    }
}

/// Every mark, or every second, or every third ..
fn thin(marks: Vec<f64>, most: usize) -> Vec<f64> {
    let step = marks.len().div_ceil(most.max(1)).max(1);
    marks.into_iter().step_by(step).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_ratios_are_equal_distances() {
        let scale = Scale::over([1.0, 100.0].into_iter(), 0.0, 100.0).unwrap();
        let [one, ten, hundred] = [1.0, 10.0, 100.0].map(|value| scale.place(value));
        assert!((ten - one - (hundred - ten)).abs() < 1e-9 && one > 0.0 && hundred < 100.0);
        assert_eq!(scale.decimal_marks(10), [1.0, 10.0, 100.0]);
        assert_eq!(scale.binary_marks(10), [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0]);
        assert_eq!(scale.binary_marks(4), [1.0, 4.0, 16.0, 64.0]);
    }

    #[test]
    fn one_value_has_an_axis_and_none_have_none() {
        assert!(Scale::over([5.0].into_iter(), 0.0, 1.0).unwrap().decimal_marks(10).len() >= 2);
        assert_eq!(Scale::over([0.0, f64::NAN].into_iter(), 0.0, 1.0), None);
    }
}
