//! Running sorts on the same keys, turn by turn, and verifying every result.

mod table;

pub(crate) use table::{LeftOut, render};

use crate::failure::Failure;
use crate::progress::Progress;
use crate::random;
use bitonic::{Engine, Order, Report, Sorter};
use bitonic_ladder::{KernelTime, KernelTimes, Options, Rung};
use bitonic_testkit::{Pattern, TestKey};
use std::cmp::Reverse;
use std::num::NonZero;
use std::time::{Duration, Instant};

/// A sort that takes part.
#[derive(Clone, Debug)]
pub(crate) struct Contender {
    /// The name in the table.
    name: &'static str,
    sort: Sort,
}

#[derive(Clone, Debug)]
enum Sort {
    Standard,
    Bitonic(Sorter),
    Rung(Rung, Options),
}

impl Contender {
    /// `slice::sort_unstable` or, for floats, what a program with the standard library alone writes instead.
    pub(crate) const STANDARD: Self = Self { name: "std", sort: Sort::Standard };

    /// The library's own sort.
    pub(crate) fn bitonic(name: &'static str, sorter: Sorter) -> Self {
        Self { name, sort: Sort::Bitonic(sorter) }
    }

    /// A rung of the ladder. The direction in its options must be the race's.
    pub(crate) fn rung(rung: Rung, options: Options) -> Self {
        Self { name: rung.name(), sort: Sort::Rung(rung, options) }
    }

    fn is_standard(&self) -> bool {
        matches!(self.sort, Sort::Standard)
    }

    /// Lets the sort do what only its first call does: start threads, open a device, build kernels.
    fn prepare<K: TestKey>(&self, race: &Race<K>) -> Result<(), Failure> {
        let &Race { ref input, row_length, order, .. } = race;
        match &self.sort {
            Sort::Rung(rung, _) if !rung.kernels().is_empty() => {
                // A power of two, if all the keys are.
                let few = input.len().min(1 << 10);
                self.sort(&mut input[..few].to_vec(), few, order).map(|_| ())
            }
            // Which kernels there are depends on the length.
            Sort::Bitonic(sorter) if sorter.plan::<K>(input.len())?.engine != Engine::Cpu => {
                self.sort(&mut input.clone(), row_length, order).map(|_| ())
            }
            _ => Ok(()),
        }
    }

    /// Sorts every row of keys, and tells how. To rungs, all keys are one row.
    fn sort<K: TestKey>(&self, keys: &mut [K], row_length: usize, order: Order) -> Result<Told, Failure> {
        match &self.sort {
            Sort::Standard => {
                standard_sort(keys, row_length, order);
                Ok(Told::Nothing)
            }
            Sort::Bitonic(sorter) if row_length == keys.len() => Ok(Told::Report(sorter.sort(keys)?)),
            Sort::Bitonic(sorter) => Ok(Told::Report(sorter.sort_rows(keys, row_length)?)),
            Sort::Rung(rung, options) => match rung.sort_timed(keys, options).map_err(Failure::new)?.device {
                Some(device) => Ok(Told::Kernels(device.kernels)),
                None => Ok(Told::Nothing),
            },
        }
    }
}

/// What a sort tells of itself.
#[expect(
    clippy::large_enum_variant,
    reason = "there is one at a time, and a box would be made while time is taken"
)]
enum Told {
    Nothing,
    /// The library's own sort: how it sorted.
    Report(Report),
    /// A rung on a device: what its kernels took.
    Kernels(KernelTimes),
}

/// As fast as `sort_unstable()` alone, and for floats as `sort_unstable_by(total_cmp)`: the compiler sees through the bits.
fn standard_sort<K: TestKey>(keys: &mut [K], row_length: usize, order: Order) {
    for row in keys.chunks_mut(row_length.max(1)) {
        match order {
            Order::Ascending => row.sort_unstable_by_key(|key| key.to_ordered_bits()),
            Order::Descending => row.sort_unstable_by_key(|key| Reverse(key.to_ordered_bits())),
        }
    }
}

/// How a contender did.
pub(crate) struct Times {
    contender: Contender,
    /// Shortest first; there is at least one.
    sorted: Vec<Duration>,
    /// What the library said of its last sort.
    pub(crate) report: Option<Report>,
    /// From the start of the first kernel to the end of the last one, every time; none where no kernels ran.
    spans: Vec<Duration>,
    /// What each kernel of a rung took, every time.
    kernels: Vec<KernelTimes>,
}

/// One kernel's part in the sorts of a contender.
struct KernelShare {
    name: &'static str,
    launches: usize,
    /// The median of what its launches took together.
    time: Duration,
}

impl Times {
    fn new(contender: Contender) -> Self {
        Self { contender, sorted: Vec::new(), report: None, spans: Vec::new(), kernels: Vec::new() }
    }

    /// The time from the start of the first kernel to the end of the last one, the median; `None` where there are none.
    fn span(&self) -> Option<Duration> {
        let mut spans = self.spans.clone();
        spans.sort_unstable();
        (!spans.is_empty()).then(|| middle(&spans))
    }

    /// Every kernel's part.
    fn shares(&self) -> Vec<KernelShare> {
        let Some(first) = self.kernels.first() else { return Vec::new() };
        let share = |(place, kernel): (usize, &KernelTime)| {
            let mut times: Vec<Duration> = self.kernels.iter().map(|run| run.each[place].time).collect();
            times.sort_unstable();
            KernelShare { name: kernel.name, launches: kernel.launches, time: middle(&times) }
        };
        first.each.iter().enumerate().map(share).collect()
    }

    /// The shortest time.
    fn least(&self) -> Duration {
        self.sorted[0]
    }

    /// The time in the middle, or half way between the two in the middle.
    pub(crate) fn median(&self) -> Duration {
        middle(&self.sorted)
    }
}

/// The one in the middle of some times in order, or half way between the two in the middle.
fn middle(sorted: &[Duration]) -> Duration {
    let count = sorted.len();
    (sorted[(count - 1) / 2] + sorted[count / 2]) / 2
}

/// Keys to sort, and what must come out.
pub(crate) struct Race<K> {
    input: Vec<K>,
    expected: Vec<K>,
    /// Every so many keys are sorted for themselves; all of them, most often.
    row_length: usize,
    order: Order,
    /// How long the standard library took for what is expected; rough, because it was the first to touch the memory.
    pub(crate) standard_time: Duration,
}

impl<K: TestKey> Race<K> {
    /// Makes the keys. Fails if the system refuses the memory.
    pub(crate) fn new(len: usize, distribution: Pattern, seed: u64, order: Order) -> Result<Self, Failure> {
        // The input, what is expected of it, and the keys being sorted.
        let input = random::make(len, distribution, seed, 3)?;
        let _progress = Progress::spinner("sorting with the standard library");
        let mut expected = input.clone();
        let started = Instant::now();
        standard_sort(&mut expected, len, order);
        Ok(Self { input, expected, row_length: len, order, standard_time: started.elapsed() })
    }

    /// The same keys as rows of this many, each of them sorted for itself. Not for rungs.
    pub(crate) fn in_rows(self, row_length: usize) -> Self {
        let mut expected = self.input.clone();
        let started = Instant::now();
        standard_sort(&mut expected, row_length, self.order);
        Self { expected, row_length, standard_time: started.elapsed(), ..self }
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
        let mut all: Vec<Times> = contenders.iter().cloned().map(Times::new).collect();
        let mut keys = self.input.clone();
        for contender in contenders {
            progress.name(contender.name);
            contender.prepare(self)?;
        }
        for _ in 0..repeat.get() {
            for times in &mut all {
                progress.name(times.contender.name);
                keys.copy_from_slice(&self.input);
                let started = Instant::now();
                let told = times.contender.sort(&mut keys, self.row_length, self.order)?;
                times.sorted.push(started.elapsed());
                match told {
                    Told::Nothing => {}
                    Told::Report(report) => {
                        times.spans.extend(report.times.map(|device| device.kernels));
                        times.report = Some(report);
                    }
                    Told::Kernels(kernels) => {
                        times.spans.push(kernels.span);
                        times.kernels.push(kernels);
                    }
                }
                self.verify(&times.contender, &keys)?;
                progress.advance(1);
            }
        }
        for times in &mut all {
            times.sorted.sort_unstable();
        }
        Ok(all)
    }

    fn verify(&self, contender: &Contender, keys: &[K]) -> Result<(), Failure> {
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
        Times { sorted, ..Times::new(Contender::STANDARD) }
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
        let race = Race::<f32>::new(100, Pattern::Random, 1, Order::Ascending).unwrap();
        let mut keys = race.expected.clone();
        let bitonic = Contender::bitonic("bitonic", Sorter::new());
        assert!(race.verify(&bitonic, &keys).is_ok());
        keys.swap(41, 42);
        let Err(Failure::Message(message)) = race.verify(&bitonic, &keys) else { panic!("not found") };
        assert!(message.starts_with("bitonic sorted 100 keys wrongly: at index 41"), "{message}");
    }

    #[test]
    fn the_sign_of_zero_counts() {
        let race = Race {
            input: vec![0.0_f32, -0.0],
            expected: vec![-0.0, 0.0],
            row_length: 2,
            order: Order::Ascending,
            standard_time: Duration::ZERO,
        };
        assert!(race.verify(&Contender::STANDARD, &[-0.0, 0.0]).is_ok());
        assert!(race.verify(&Contender::STANDARD, &[0.0, -0.0]).is_err());
    }
}
