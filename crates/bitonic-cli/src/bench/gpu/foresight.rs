//! How long a rung will take, before it has taken it.

use crate::failure::Failure;
use bitonic_ladder::Rung;
use std::collections::HashMap;
use std::time::Duration;

/// What rungs took so far, and how long they may take.
pub(super) struct Foresight {
    longest: f64,
    /// The last measurement of every rung: how many keys, and their time.
    known: HashMap<Rung, (usize, Duration)>,
}

/// So few keys take no rung long on any device.
const FEW: usize = 1 << 10;

impl Foresight {
    /// Lets rungs take up to so many seconds.
    pub(super) fn new(longest: f64) -> Self {
        Self { longest, known: HashMap::new() }
    }

    /// The seconds that a rung would take for `n` keys, if they are too many.
    ///
    /// Times hardly grow faster than the work, so that what follows from fewer keys is about the most that it can be. Often
    /// it is less: a device that waits for launches takes as long for twice the keys. Therefore `measure` is called with
    /// twice the keys, and again, as long as that may not take too long.
    pub(super) fn too_long(
        &mut self,
        rung: Rung,
        n: usize,
        mut measure: impl FnMut(usize) -> Result<Duration, Failure>,
    ) -> Result<Option<f64>, Failure> {
        if n <= FEW {
            return Ok(None);
        }
        let mut known = match self.known.get(&rung) {
            Some(&known) => known,
            None => (FEW, measure(FEW)?),
        };
        loop {
            let (keys, time) = known;
            self.known.insert(rung, known);
            let most = |n: usize| time.as_secs_f64() * work(rung, n) / work(rung, keys);
            if most(n) <= self.longest {
                return Ok(None);
            }
            let next = keys.saturating_mul(2);
            if next >= n || most(next) > self.longest {
                return Ok(Some(most(n)));
            }
            known = (next, measure(next)?);
        }
    }

    /// Remembers what a rung took.
    pub(super) fn note(&mut self, rung: Rung, n: usize, time: Duration) {
        if n >= FEW {
            self.known.insert(rung, (n, time));
        }
    }
}

/// What a rung's time grows with.
fn work(rung: Rung, n: usize) -> f64 {
    let n = n as f64;
    if rung.is_quadratic() { n * n } else { n * n.log2() * (n.log2() + 1.0) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is foreseen where a sort takes this long, and the lengths that were measured for it.
    fn foreseen(n: usize, seconds: impl Fn(usize) -> f64) -> (Option<f64>, Vec<usize>) {
        let mut measured = Vec::new();
        let time = |keys| {
            measured.push(keys);
            Ok(Duration::from_secs_f64(seconds(keys)))
        };
        (Foresight::new(1.0).too_long(Rung::OddEvenLocal, n, time).unwrap(), measured)
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
        let (too_long, measured) = foreseen(1 << 20, launches);
        assert!(too_long.unwrap() > 5.0);
        assert!(measured.iter().all(|&keys| launches(keys) <= 1.0), "{measured:?}");
    }

    #[test]
    fn what_was_measured_before_is_not_measured_again() {
        let mut foresight = Foresight::new(1.0);
        foresight.note(Rung::NaiveScan, 1 << 20, Duration::from_millis(20));
        let never = |_: usize| panic!("it is known");
        assert_eq!(foresight.too_long(Rung::NaiveScan, 1 << 22, never).unwrap(), None);
    }
}
