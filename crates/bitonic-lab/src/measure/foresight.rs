//! How long a sort will take, before it has taken it.

use crate::implementation::Algorithm;
use std::collections::HashMap;
use std::hash::Hash;

/// What sorts took so far. A sort's time is foreseen from that of the most keys which were measured, and what its algorithm
/// grows with.
#[derive(Debug)]
pub(super) struct Foresight<Key> {
    known: HashMap<Key, Known>,
}

/// What is known of an implementation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Known {
    pub(super) keys: usize,
    pub(super) seconds: f64,
}

/// What follows from it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Foreseen {
    pub(super) seconds: f64,
    /// What it follows from.
    pub(super) from: Known,
}

/// So few keys take nothing long.
const FEW: usize = 1 << 10;

impl<Key: Eq + Hash + Clone> Foresight<Key> {
    pub(super) fn new() -> Self {
        Self { known: HashMap::new() }
    }

    /// Remembers what a sort took, if it is of more keys than what is known, or faster.
    pub(super) fn note(&mut self, key: &Key, keys: usize, seconds: f64) {
        let better = |known: &Known| keys > known.keys || keys == known.keys && seconds < known.seconds;
        if self.known.get(key).is_none_or(better) {
            self.known.insert(key.clone(), Known { keys, seconds });
        }
    }

    /// What so many keys are expected to take; `None` if nothing is known.
    pub(super) fn expect(&self, key: &Key, algorithm: Algorithm, n: usize) -> Option<Foreseen> {
        let from = *self.known.get(key)?;
        Some(Foreseen { seconds: from.seconds * algorithm.work(n) / algorithm.work(from.keys), from })
    }

    /// What so many keys would take, if that is longer than allowed.
    ///
    /// Times hardly grow faster than the work, so that what follows from few keys is about the most that it can be. Often
    /// it is less: a device that waits for launches takes as long for twice the keys. Therefore `measure` is called with
    /// more and more keys, as long as that may not take too long itself.
    pub(super) fn too_long<Failure>(
        &mut self,
        key: &Key,
        algorithm: Algorithm,
        n: usize,
        allowed: f64,
        mut measure: impl FnMut(usize) -> Result<f64, Failure>,
    ) -> Result<Option<Foreseen>, Failure> {
        if n <= FEW {
            return Ok(None);
        }
        if self.known.get(key).is_none_or(|known| known.keys < FEW) {
            let seconds = measure(FEW)?;
            self.note(key, FEW, seconds);
        }
        while let Some(foreseen) =
            self.expect(key, algorithm, n).filter(|foreseen| foreseen.seconds > allowed)
        {
            let next = foreseen.from.keys.saturating_mul(2).next_power_of_two();
            let next_too_long = self.expect(key, algorithm, next).is_none_or(|next| next.seconds > allowed);
            // What grows as slowly as can be, with n, is too long as well; or looking closer would take long itself.
            let hopeless = foreseen.from.seconds * n as f64 / foreseen.from.keys as f64 > allowed;
            if next >= n || next_too_long || hopeless || foreseen.from.seconds > allowed / 4.0 {
                return Ok(Some(foreseen));
            }
            let seconds = measure(next)?;
            self.note(key, next, seconds);
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is foreseen where a sort takes this long, and the lengths that were measured for it.
    fn foreseen(n: usize, seconds: impl Fn(usize) -> f64) -> (Option<f64>, Vec<usize>) {
        let mut measured = Vec::new();
        let time = |keys| {
            measured.push(keys);
            Ok::<f64, ()>(seconds(keys))
        };
        let too_long = Foresight::new().too_long(&"it", Algorithm::OddEven, n, 1.0, time).unwrap();
        (too_long.map(|foreseen| foreseen.seconds), measured)
    }

    #[test]
    fn few_keys_are_never_too_many() {
        assert_eq!(foreseen(1 << 10, |_| 1e9), (None, vec![]));
    }

    #[test]
    fn what_grows_with_the_square_is_foreseen_from_few_keys() {
        let square = |keys: usize| (keys as f64 / 65_536.0).powi(2) / 2.0;
        assert_eq!(foreseen(1 << 16, square), (None, vec![1 << 10]));
        let (too_long, measured) = foreseen(1 << 20, square);
        assert!((too_long.unwrap() - 128.0).abs() < 0.01, "{too_long:?}");
        assert!(measured.iter().all(|&keys| square(keys) <= 1.0), "{measured:?}");
    }

    #[test]
    fn what_grows_less_is_looked_at_closer() {
        let launches = |keys: usize| keys as f64 * 5e-6;
        assert_eq!(foreseen(1 << 16, launches).0, None, "a third of a second");
    }

    #[test]
    fn what_is_known_is_not_measured_again() {
        let mut foresight = Foresight::new();
        foresight.note(&"it", 1 << 20, 0.02);
        let never = |_: usize| -> Result<f64, ()> { panic!("it is known") };
        assert_eq!(foresight.too_long(&"it", Algorithm::Bitonic, 1 << 22, 1.0, never), Ok(None));
    }
}
