//! Running sorts on the same keys, turn by turn, and verifying every result.

use crate::failure::Failure;
use bitonic::Sorter;
use bitonic::key::with_ordered_bits;
use bitonic_ladder::{Options, Rung};
use bitonic_testkit::{Pattern, TestKey};
use indicatif::{ProgressBar, ProgressStyle};
use std::num::NonZero;
use std::time::{Duration, Instant};

/// A sort that takes part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Contender {
    /// `slice::sort_unstable`, on the keys' ordered bits.
    Standard,
    /// The library's own sort.
    Bitonic,
    /// A rung of the ladder.
    Rung(Rung),
}

impl Contender {
    /// The name in the table.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Standard => "std",
            Self::Bitonic => "bitonic",
            Self::Rung(rung) => rung.name(),
        }
    }

    fn sort<K: TestKey>(self, keys: &mut [K], options: Options) -> Result<(), Failure> {
        match self {
            Self::Standard => with_ordered_bits(keys, options.order, |bits| bits.sort_unstable()),
            Self::Bitonic => {
                let threads = options.threads.map_or(0, NonZero::get);
                Sorter::new().order(options.order).threads(threads).sort(keys)?;
            }
            Self::Rung(rung) => rung.sort(keys, options).map_err(Failure::new)?,
        }
        Ok(())
    }
}

/// The times of a contender, shortest first; there is at least one.
pub(super) struct Times {
    pub(super) contender: Contender,
    sorted: Vec<Duration>,
}

impl Times {
    pub(super) fn least(&self) -> Duration {
        self.sorted[0]
    }

    /// The time in the middle, or half way between the two in the middle.
    pub(super) fn median(&self) -> Duration {
        let count = self.sorted.len();
        (self.sorted[(count - 1) / 2] + self.sorted[count / 2]) / 2
    }
}

/// Keys to sort, and what must come out.
pub(super) struct Race<K> {
    input: Vec<K>,
    expected: Vec<K>,
    options: Options,
}

impl<K: TestKey> Race<K> {
    /// Makes the keys. Fails if the system refuses the memory.
    pub(super) fn new(len: usize, pattern: Pattern, seed: u64, options: Options) -> Result<Self, Failure> {
        // The input, what is expected of it, and the keys being sorted.
        let all = len.saturating_mul(3);
        Vec::<K>::new().try_reserve_exact(all).map_err(|_| {
            let bytes = all.saturating_mul(size_of::<K>());
            Failure::new(format!("{len} keys take {bytes} bytes to make, sort and verify, more than there is: use fewer with --n"))
        })?;
        let input = pattern.generate::<K>(len, seed);
        let mut expected = input.clone();
        Contender::Standard.sort(&mut expected, options)?;
        Ok(Self { input, expected, options })
    }

    /// How many keys there are.
    pub(super) fn len(&self) -> usize {
        self.input.len()
    }

    /// Runs all contenders one after the other, as often as asked: what disturbs the machine for a while disturbs them
    /// alike. Fails on the first wrong result.
    pub(super) fn run(
        &self,
        contenders: &[Contender],
        repeat: NonZero<usize>,
    ) -> Result<Vec<Times>, Failure> {
        let progress = progress(contenders.len().saturating_mul(repeat.get()));
        let start = |&contender| Times { contender, sorted: Vec::new() };
        let mut all: Vec<Times> = contenders.iter().map(start).collect();
        let mut keys = self.input.clone();
        for _ in 0..repeat.get() {
            for times in &mut all {
                progress.set_message(times.contender.name());
                keys.copy_from_slice(&self.input);
                let started = Instant::now();
                times.contender.sort(&mut keys, self.options)?;
                times.sorted.push(started.elapsed());
                self.verify(times.contender, &keys)?;
                progress.inc(1);
            }
        }
        progress.finish_and_clear();
        for times in &mut all {
            times.sorted.sort_unstable();
        }
        Ok(all)
    }

    fn verify(&self, contender: Contender, keys: &[K]) -> Result<(), Failure> {
        let differs = |(sorted, expected): (&K, &K)| sorted.to_raw_bits() != expected.to_raw_bits();
        match keys.iter().zip(&self.expected).position(differs) {
            None => Ok(()),
            Some(index) => Err(Failure::new(format!(
                "{} sorted {} keys wrongly: at index {index} it has {:?} and not {:?}; please report this",
                contender.name(),
                self.len(),
                keys[index],
                self.expected[index]
            ))),
        }
    }
}

/// A bar on standard error, if that is a terminal.
fn progress(runs: usize) -> ProgressBar {
    let style = ProgressStyle::with_template("{wide_bar} {pos}/{len} {msg:24}");
    ProgressBar::new(runs as u64).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn times(milliseconds: &[u64]) -> Times {
        let sorted = milliseconds.iter().map(|&time| Duration::from_millis(time)).collect();
        Times { contender: Contender::Standard, sorted }
    }

    #[test]
    fn the_median_is_the_middle_or_half_way_between_the_middles() {
        assert_eq!(times(&[1, 2, 9]).median(), Duration::from_millis(2));
        assert_eq!(times(&[1, 2, 4, 9]).median(), Duration::from_millis(3));
        assert_eq!(times(&[5]).median(), Duration::from_millis(5));
        assert_eq!(times(&[1, 2, 9]).least(), Duration::from_millis(1));
    }

    #[test]
    fn a_wrong_result_is_found_and_named() {
        let race = Race::<f32>::new(100, Pattern::Random, 1, Options::default()).unwrap();
        let mut keys = race.expected.clone();
        assert!(race.verify(Contender::Bitonic, &keys).is_ok());
        keys.swap(41, 42);
        let Err(Failure::Message(message)) = race.verify(Contender::Bitonic, &keys) else {
            panic!("not found")
        };
        assert!(message.starts_with("bitonic sorted 100 keys wrongly: at index 41"), "{message}");
    }

    #[test]
    fn the_sign_of_zero_counts() {
        let race =
            Race { input: vec![0.0_f32, -0.0], expected: vec![-0.0, 0.0], options: Options::default() };
        assert!(race.verify(Contender::Standard, &[-0.0, 0.0]).is_ok());
        assert!(race.verify(Contender::Standard, &[0.0, -0.0]).is_err());
    }
}
