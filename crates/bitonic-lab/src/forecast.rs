//! How long a sort will take, before it has taken it.

use crate::implementation::Algorithm;
use std::collections::HashMap;
use std::hash::Hash;

/// What sorts took so far. A sort's time is predicted from the time of the most keys that were measured, and from what its
/// algorithm grows with.
#[derive(Debug)]
pub struct Forecast<Key> {
    probes: Probes,
    known: HashMap<Key, Known>,
}

/// How many sorts may be made to learn that a sort takes too long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Probes {
    /// Few: none where the time cannot become short enough, and none that takes longer than a quarter of the allowed time.
    Few,
    /// As many as fit the allowed time, so that the prediction is close.
    Many,
}

/// What is known of a sort.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Known {
    /// How many keys it sorted.
    pub keys: usize,
    /// What it took.
    pub seconds: f64,
}

/// What follows from it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Prediction {
    /// What the sort will take.
    pub seconds: f64,
    /// What it follows from.
    pub from: Known,
}

/// So few keys take nothing long.
const FEW: usize = 1 << 10;

impl<Key: Eq + Hash + Clone> Forecast<Key> {
    /// Knows nothing yet.
    pub fn new(probes: Probes) -> Self {
        Self { probes, known: HashMap::new() }
    }

    /// Remembers what a sort took, if it is of more keys than what is known, or faster.
    pub fn note(&mut self, key: &Key, keys: usize, seconds: f64) {
        let better = |known: &Known| keys > known.keys || keys == known.keys && seconds < known.seconds;
        if self.known.get(key).is_none_or(better) {
            self.known.insert(key.clone(), Known { keys, seconds });
        }
    }

    /// What so many keys are expected to take; `None` if nothing is known.
    pub fn expect(&self, key: &Key, algorithm: Algorithm, n: usize) -> Option<Prediction> {
        let from = *self.known.get(key)?;
        Some(Prediction { seconds: from.seconds * algorithm.work(n) / algorithm.work(from.keys), from })
    }

    /// What so many keys would take, if that is longer than allowed.
    ///
    /// Times hardly grow faster than the work, so that what follows from few keys is about the most that it can be. Often
    /// it is less: a device that waits for launches takes as long for twice the keys. Therefore `measure` is called with
    /// more and more keys, as long as that may not take too long itself. A first sort may build kernels, which no later one
    /// does: what takes longer than the work accounts for is measured twice.
    pub fn too_long<Failure>(
        &mut self,
        key: &Key,
        algorithm: Algorithm,
        n: usize,
        allowed: f64,
        mut measure: impl FnMut(usize) -> Result<f64, Failure>,
    ) -> Result<Option<Prediction>, Failure> {
        if n <= FEW {
            return Ok(None);
        }
        if self.known.get(key).is_none_or(|known| known.keys < FEW) {
            measure(FEW)?;
            let seconds = measure(FEW)?;
            self.note(key, FEW, seconds);
        }
        while let Some(predicted) =
            self.expect(key, algorithm, n).filter(|predicted| predicted.seconds > allowed)
        {
            let from = predicted.from;
            let next = from.keys.saturating_mul(2).next_power_of_two();
            let Some(expected) = self.expect(key, algorithm, next).filter(|_| next < n) else {
                return Ok(Some(predicted));
            };
            // What grows as slowly as can be, with n, is too long as well; or looking closer would take long itself.
            let hopeless = from.seconds * n as f64 / from.keys as f64 > allowed;
            let costly = from.seconds > allowed / 4.0;
            if expected.seconds > allowed || self.probes == Probes::Few && (hopeless || costly) {
                return Ok(Some(predicted));
            }
            let mut seconds = measure(next)?;
            if seconds > expected.seconds {
                seconds = seconds.min(measure(next)?);
            }
            self.note(key, next, seconds);
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is predicted where a sort takes this long, and the lengths that were measured for it.
    fn predicted(
        probes: Probes,
        n: usize,
        mut seconds: impl FnMut(usize) -> f64,
    ) -> (Option<f64>, Vec<usize>) {
        let mut measured = Vec::new();
        let time = |keys| {
            measured.push(keys);
            Ok::<f64, ()>(seconds(keys))
        };
        let too_long = Forecast::new(probes).too_long(&"it", Algorithm::OddEven, n, 1.0, time).unwrap();
        (too_long.map(|predicted| predicted.seconds), measured)
    }

    #[test]
    fn few_keys_are_never_too_many() {
        assert_eq!(predicted(Probes::Many, 1 << 10, |_| 1e9), (None, vec![]));
    }

    #[test]
    fn what_grows_with_the_square_is_predicted_from_few_keys() {
        let square = |keys: usize| (keys as f64 / 65_536.0).powi(2) / 2.0;
        for probes in [Probes::Few, Probes::Many] {
            assert_eq!(predicted(probes, 1 << 16, square), (None, vec![1 << 10; 2]));
            let (too_long, measured) = predicted(probes, 1 << 20, square);
            assert!((too_long.unwrap() - 128.0).abs() < 0.01, "{too_long:?}");
            assert!(measured.iter().all(|&keys| square(keys) <= 1.0), "{measured:?}");
        }
    }

    #[test]
    fn what_grows_less_is_looked_at_closer() {
        let launches = |keys: usize| keys as f64 * 5e-6;
        for probes in [Probes::Few, Probes::Many] {
            assert_eq!(predicted(probes, 1 << 16, launches).0, None, "a third of a second");
        }
        // It takes 5 seconds. From 1024 keys alone it would be an hour and a half.
        let (too_long, measured) = predicted(Probes::Many, 1 << 20, launches);
        assert!((5.0..100.0).contains(&too_long.unwrap()), "{too_long:?}");
        assert!(measured.iter().all(|&keys| launches(keys) <= 1.0), "{measured:?}");
        assert_eq!(predicted(Probes::Few, 1 << 20, launches).1, [1 << 10; 2], "it cannot become a second");
    }

    #[test]
    fn the_first_sort_of_a_kernel_does_not_count() {
        let mut built = false;
        let builds = |_: usize| if std::mem::replace(&mut built, true) { 1e-6 } else { 0.9 };
        assert_eq!(predicted(Probes::Few, 1 << 16, builds).0, None);
        // The kernel for more keys is another one.
        let mut built = false;
        let builds_later = |keys: usize| match keys {
            ..=1024 => 1e-3,
            _ if std::mem::replace(&mut built, true) => 2e-3,
            _ => 0.9,
        };
        assert_eq!(predicted(Probes::Few, 1 << 15, builds_later).0, None);
    }

    #[test]
    fn what_is_known_is_not_measured_again() {
        let mut forecast = Forecast::new(Probes::Many);
        forecast.note(&"it", 1 << 20, 0.02);
        let never = |_: usize| -> Result<f64, ()> { panic!("it is known") };
        assert_eq!(forecast.too_long(&"it", Algorithm::Bitonic, 1 << 22, 1.0, never), Ok(None));
    }
}
