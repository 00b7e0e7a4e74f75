//! Running sorts on the same keys, turn by turn, and verifying every result.

mod table;

pub(crate) use table::{LeftOut, render};

use crate::failure::Failure;
use crate::progress::Progress;
use crate::random;
use bitonic::{Order, Report, Sorter};
use bitonic_ladder::{Options, Rung};
use bitonic_testkit::{Pattern, TestKey};
use std::cmp::Reverse;
use std::num::NonZero;
use std::time::{Duration, Instant};

/// A sort that takes part.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Contender {
    /// The name in the table.
    name: &'static str,
    sort: Sort,
}

#[derive(Clone, Copy, Debug)]
enum Sort {
    Standard,
    Bitonic(Sorter),
    Rung(Rung),
}

impl Contender {
    /// `slice::sort_unstable` or, for floats, what a program with the standard library alone writes instead.
    pub(crate) const STANDARD: Self = Self { name: "std", sort: Sort::Standard };

    /// The library's own sort.
    pub(crate) fn bitonic(name: &'static str, sorter: Sorter) -> Self {
        Self { name, sort: Sort::Bitonic(sorter) }
    }

    /// A rung of the ladder.
    pub(crate) fn rung(rung: Rung) -> Self {
        Self { name: rung.name(), sort: Sort::Rung(rung) }
    }

    fn is_standard(&self) -> bool {
        matches!(self.sort, Sort::Standard)
    }

    /// Sorts; the library's own sort tells how.
    fn sort<K: TestKey>(self, keys: &mut [K], options: Options) -> Result<Option<Report>, Failure> {
        match self.sort {
            Sort::Standard => standard_sort(keys, options.order),
            Sort::Bitonic(sorter) => return Ok(Some(sorter.sort(keys)?)),
            Sort::Rung(rung) => rung.sort(keys, options).map_err(Failure::new)?,
        }
        Ok(None)
    }
}

/// As fast as `sort_unstable()` alone, and for floats as `sort_unstable_by(total_cmp)`: the compiler sees through the bits.
fn standard_sort<K: TestKey>(keys: &mut [K], order: Order) {
    match order {
        Order::Ascending => keys.sort_unstable_by_key(|key| key.to_ordered_bits()),
        Order::Descending => keys.sort_unstable_by_key(|key| Reverse(key.to_ordered_bits())),
    }
}

/// How a contender did.
pub(crate) struct Times {
    contender: Contender,
    /// Shortest first; there is at least one.
    sorted: Vec<Duration>,
    /// What the library said of its last sort.
    pub(crate) report: Option<Report>,
}

impl Times {
    /// The shortest time.
    fn least(&self) -> Duration {
        self.sorted[0]
    }

    /// The time in the middle, or half way between the two in the middle.
    pub(crate) fn median(&self) -> Duration {
        let count = self.sorted.len();
        (self.sorted[(count - 1) / 2] + self.sorted[count / 2]) / 2
    }
}

/// Keys to sort, and what must come out.
pub(crate) struct Race<K> {
    input: Vec<K>,
    expected: Vec<K>,
    options: Options,
    /// How long the standard library took for what is expected; rough, because it was the first to touch the memory.
    pub(crate) standard_time: Duration,
}

impl<K: TestKey> Race<K> {
    /// Makes the keys. Fails if the system refuses the memory.
    pub(crate) fn new(
        len: usize,
        distribution: Pattern,
        seed: u64,
        options: Options,
    ) -> Result<Self, Failure> {
        // The input, what is expected of it, and the keys being sorted.
        let input = random::make(len, distribution, seed, 3)?;
        let _progress = Progress::spinner("sorting with the standard library");
        let mut expected = input.clone();
        let started = Instant::now();
        standard_sort(&mut expected, options.order);
        Ok(Self { input, expected, options, standard_time: started.elapsed() })
    }

    /// How many keys there are.
    pub(crate) fn len(&self) -> usize {
        self.input.len()
    }

    /// Runs all contenders one after the other, as often as asked: what disturbs the machine for a while disturbs them
    /// alike. Fails on the first wrong result.
    pub(crate) fn run(
        &self,
        contenders: &[Contender],
        repeat: NonZero<usize>,
    ) -> Result<Vec<Times>, Failure> {
        let progress = Progress::bar("sorting", contenders.len().saturating_mul(repeat.get()));
        let start = |&contender| Times { contender, sorted: Vec::new(), report: None };
        let mut all: Vec<Times> = contenders.iter().map(start).collect();
        let mut keys = self.input.clone();
        for _ in 0..repeat.get() {
            for times in &mut all {
                progress.name(times.contender.name);
                keys.copy_from_slice(&self.input);
                let started = Instant::now();
                times.report = times.contender.sort(&mut keys, self.options)?;
                times.sorted.push(started.elapsed());
                self.verify(times.contender, &keys)?;
                progress.advance(1);
            }
        }
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
                "{} sorted {} keys wrongly: at index {index} it has {:?} and not {:?}; this is a defect, please report it \
                 with this command line",
                contender.name,
                self.len(),
                keys[index],
                self.expected[index]
            ))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn times(milliseconds: &[u64]) -> Times {
        let sorted = milliseconds.iter().map(|&time| Duration::from_millis(time)).collect();
        Times { contender: Contender::STANDARD, sorted, report: None }
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
        let bitonic = Contender::bitonic("bitonic", Sorter::new());
        assert!(race.verify(bitonic, &keys).is_ok());
        keys.swap(41, 42);
        let Err(Failure::Message(message)) = race.verify(bitonic, &keys) else { panic!("not found") };
        assert!(message.starts_with("bitonic sorted 100 keys wrongly: at index 41"), "{message}");
    }

    #[test]
    fn the_sign_of_zero_counts() {
        let race = Race {
            input: vec![0.0_f32, -0.0],
            expected: vec![-0.0, 0.0],
            options: Options::default(),
            standard_time: Duration::ZERO,
        };
        assert!(race.verify(Contender::STANDARD, &[-0.0, 0.0]).is_ok());
        assert!(race.verify(Contender::STANDARD, &[0.0, -0.0]).is_err());
    }
}
