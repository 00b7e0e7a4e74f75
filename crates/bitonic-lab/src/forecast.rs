//! How long a sort will take, before it has taken it.

use crate::implementation::Algorithm;
use std::collections::HashMap;
use std::hash::Hash;

/// What sorts took so far. A sort's time is predicted from the time of the most keys that were measured, and from how times grew
/// over the last sizes.
#[derive(Debug)]
pub struct Forecast<Key> {
    probes: Probes,
    /// By ascending number of keys.
    known: HashMap<Key, Vec<Known>>,
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
    /// What it is taken to grow with: n to this power.
    pub exponent: f64,
}

/// So many of the last sizes say how times grow.
const LAST_SIZES: usize = 3;

/// So few keys take nothing long.
const FEW: usize = 1 << 10;

impl<Key: Eq + Hash + Clone> Forecast<Key> {
    /// Knows nothing yet.
    pub fn new(probes: Probes) -> Self {
        Self { probes, known: HashMap::new() }
    }

    /// Remembers what a sort took; of as many keys, the least counts.
    pub fn note(&mut self, key: &Key, keys: usize, seconds: f64) {
        let known = self.known.entry(key.clone()).or_default();
        match known.binary_search_by_key(&keys, |known| known.keys) {
            Ok(at) => known[at].seconds = known[at].seconds.min(seconds),
            Err(at) => known.insert(at, Known { keys, seconds }),
        }
    }

    /// What is known of the most keys.
    fn last(&self, key: &Key) -> Option<Known> {
        self.known.get(key)?.last().copied()
    }

    /// What so many keys are expected to take; `None` if nothing is known. Times are taken to grow as they did over the last three
    /// sizes, by the line through their logarithms, but not faster than the work: what does is noise. Where a single size is known,
    /// the algorithm's growth has to do. Sizes below `FEW` take too little time to say anything.
    pub fn expect(&self, key: &Key, algorithm: Algorithm, n: usize) -> Option<Prediction> {
        let known = self.known.get(key)?;
        let from = *known.last()?;
        let more = n as f64 / from.keys as f64;
        let of_work = (algorithm.work(n) / algorithm.work(from.keys)).ln() / more.ln();
        let telling = &known[known.partition_point(|known| known.keys < FEW)..];
        let exponent = match exponent(&telling[telling.len().saturating_sub(LAST_SIZES)..]) {
            _ if n == from.keys => 1.0,
            Some(exponent) if n > from.keys => exponent.min(of_work),
            _ => of_work,
        };
        Some(Prediction { seconds: from.seconds * more.powf(exponent), from, exponent })
    }

    /// The most that so many keys can be expected to take: as much more as the work is more.
    fn at_most(&self, key: &Key, algorithm: Algorithm, n: usize) -> Option<f64> {
        let from = self.last(key)?;
        Some(from.seconds * algorithm.work(n) / algorithm.work(from.keys))
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
        measure: &mut dyn FnMut(usize) -> Result<f64, Failure>,
    ) -> Result<Option<Prediction>, Failure> {
        if n <= FEW {
            return Ok(None);
        }
        if self.last(key).is_none_or(|known| known.keys < FEW) {
            measure(FEW)?;
            let seconds = measure(FEW)?;
            self.note(key, FEW, seconds);
        }
        while self.at_most(key, algorithm, n).is_some_and(|most| most > allowed) {
            let Some(from) = self.last(key) else { break };
            let too_long = self.expect(key, algorithm, n).filter(|predicted| predicted.seconds > allowed);
            let next = from.keys.saturating_mul(2).next_power_of_two();
            let Some(most) = self.at_most(key, algorithm, next).filter(|_| next < n) else {
                return Ok(too_long);
            };
            // What grows as slowly as can be, with n, is too long as well; or looking closer would take long itself. Two sizes
            // are measured in any case, because one says nothing about growth. What seems short enough is looked at closer:
            // few keys may take no longer than it takes to start threads, and then growth has not begun.
            let hopeless = from.seconds * n as f64 / from.keys as f64 > allowed;
            let costly = from.seconds > allowed / 4.0;
            let telling = self.known[key].iter().filter(|known| known.keys >= FEW).count();
            let few = self.probes == Probes::Few && telling > 1 && too_long.is_some();
            if most > allowed || few && (hopeless || costly) {
                return Ok(too_long);
            }
            let mut seconds = measure(next)?;
            if seconds > most {
                seconds = seconds.min(measure(next)?);
            }
            self.note(key, next, seconds);
        }
        Ok(None)
    }
}

/// The slope of the line through the logarithms; `None` for fewer than two sizes.
fn exponent(known: &[Known]) -> Option<f64> {
    let points = known.iter().map(|known| ((known.keys.max(1) as f64).ln(), known.seconds.max(1e-9).ln()));
    let points: Vec<(f64, f64)> = points.collect();
    let count = points.len() as f64;
    let (x, y) =
        (points.iter().map(|p| p.0).sum::<f64>() / count, points.iter().map(|p| p.1).sum::<f64>() / count);
    let squares: f64 = points.iter().map(|p| (p.0 - x).powi(2)).sum();
    let products: f64 = points.iter().map(|p| (p.0 - x) * (p.1 - y)).sum();
    (squares > 0.0).then(|| products / squares)
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
        let mut time = |keys| {
            measured.push(keys);
            Ok::<f64, ()>(seconds(keys))
        };
        let too_long = Forecast::new(probes).too_long(&"it", Algorithm::OddEven, n, 1.0, &mut time).unwrap();
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
        // It takes 5.24 seconds; with the square of n it would be an hour and a half.
        for probes in [Probes::Few, Probes::Many] {
            let (too_long, measured) = predicted(probes, 1 << 20, launches);
            assert!((too_long.unwrap() - 5.24).abs() < 0.01, "{too_long:?}");
            assert!(measured.iter().all(|&keys| launches(keys) <= 1.0), "{measured:?}");
        }
        let (_, measured) = predicted(Probes::Few, 1 << 20, launches);
        assert_eq!(measured, [1 << 10, 1 << 10, 1 << 11], "it cannot become a second");
    }

    #[test]
    fn starting_threads_does_not_hide_a_square() {
        let threads = |keys: usize| 1e-4 + (keys as f64).powi(2) * 1e-10;
        for probes in [Probes::Few, Probes::Many] {
            let (too_long, measured) = predicted(probes, 1 << 24, threads);
            assert!(too_long.is_some(), "it takes eight hours");
            assert!(measured.iter().all(|&keys| threads(keys) <= 1.0), "{measured:?}");
        }
    }

    #[test]
    fn times_go_on_as_they_grew_over_the_last_sizes() {
        let mut forecast = Forecast::new(Probes::Few);
        // First launches take the time, then the square of n: the last sizes decide.
        for (keys, seconds) in [(1 << 10, 0.01), (1 << 11, 0.02), (1 << 12, 0.08), (1 << 13, 0.32)] {
            forecast.note(&"it", keys, seconds);
        }
        let predicted = forecast.expect(&"it", Algorithm::OddEven, 1 << 14).unwrap();
        assert!(
            (predicted.exponent - 2.0).abs() < 1e-9 && (predicted.seconds - 1.28).abs() < 1e-9,
            "{predicted:?}"
        );
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
        let mut never = |_: usize| -> Result<f64, ()> { panic!("it is known") };
        assert_eq!(forecast.too_long(&"it", Algorithm::Bitonic, 1 << 22, 1.0, &mut never), Ok(None));
    }
}
