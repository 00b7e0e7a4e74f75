//! Sorts beside each other on the same keys: what `ladder run` and `sort --random` show of the laboratory's measurement.

mod table;

pub(crate) use table::{LeftOut, render};

use crate::failure::Failure;
use crate::flags::in_flags;
use crate::progress::Progress;
use bitonic::key::{KeyType, KeysMut};
use bitonic::{Engine, Order, Report, Sorter, with_key_type, with_keys};
use bitonic_lab::implementation::{DeviceShare, sort_with_standard};
use bitonic_lab::measure::{
    AnyInput, AnySort, Failed, InProcess, Rounds, Timed, Told, View, WarmUp, make_input,
};
use bitonic_lab::record::{self, CellKey, Record};
use bitonic_lab::statistics::Summary;
use bitonic_ladder::{KernelTime, Options, Rung};
use bitonic_testkit::Pattern;
use std::borrow::Cow;
use std::num::NonZero;
use std::time::Duration;

/// A sort that takes part.
#[derive(Clone, Debug)]
pub(crate) struct Contender {
    /// The name in the table.
    name: &'static str,
    sort: Sort,
    /// What the library said of its last sort.
    report: Option<Report>,
}

#[derive(Clone, Debug)]
enum Sort {
    Standard(Order),
    Bitonic(Sorter),
    Rung(Rung, Options),
}

impl Contender {
    /// `slice::sort_unstable` or, for floats, what a program with the standard library alone writes instead.
    pub(crate) fn standard(order: Order) -> Self {
        Self::new("std", Sort::Standard(order))
    }

    /// The library's own sort.
    pub(crate) fn bitonic(name: &'static str, sorter: Sorter) -> Self {
        Self::new(name, Sort::Bitonic(sorter))
    }

    /// A rung of the ladder. The direction in its options must be the race's.
    pub(crate) fn rung(rung: Rung, options: Options) -> Self {
        Self::new(rung.name(), Sort::Rung(rung, options))
    }

    fn new(name: &'static str, sort: Sort) -> Self {
        Self { name, sort, report: None }
    }
}

impl AnySort for Contender {
    fn name(&self) -> Cow<'_, str> {
        self.name.into()
    }

    /// Opens a device and builds kernels: that may take longer than many sorts.
    fn prepare(&mut self, input: &dyn AnyInput) -> Result<(), String> {
        match &self.sort {
            Sort::Rung(rung, _) if !rung.kernels().is_empty() => {
                // A power of two, if all the keys are.
                let few = input.len().min(1 << 10);
                input.try_out(few, &mut |keys| self.sort(keys, few))
            }
            // Which kernels there are depends on the length.
            Sort::Bitonic(sorter) if engine(sorter, input)? != Engine::Cpu => {
                input.try_out(input.len(), &mut |keys| self.sort(keys, input.row_length()))
            }
            _ => Ok(()),
        }
    }

    /// Sorts every row of keys. To rungs, all keys are one row.
    fn sort(&mut self, keys: KeysMut<'_>, row_length: usize) -> Result<Told, String> {
        match &self.sort {
            Sort::Standard(order) => {
                sort_with_standard(keys, row_length, *order);
                Ok(Told::default())
            }
            Sort::Bitonic(sorter) => {
                let sorted = with_keys!(keys, keys => match row_length == keys.len() {
                    true => sorter.sort(keys),
                    false => sorter.sort_rows(keys, row_length),
                });
                let report = self.report.insert(sorted.map_err(in_flags)?);
                Ok(Told { device: report.times.as_ref().map(DeviceShare::from), ..Told::default() })
            }
            Sort::Rung(rung, options) => with_keys!(keys, keys => {
                let times = rung.sort_timed(keys, options).map_err(|error| error.to_string())?;
                Ok(times.device.map_or_else(Told::default, |device| Told {
                    device: Some(DeviceShare::of_rung(&device, size_of_val(keys))),
                    kernels: device.kernels.each,
                }))
            }),
        }
    }
}

/// What the library would sort this with.
fn engine(sorter: &Sorter, input: &dyn AnyInput) -> Result<Engine, String> {
    let plan = with_key_type!(input.key_type(), K => sorter.plan::<K>(input.len()));
    Ok(plan.map_err(in_flags)?.engine)
}

/// How a contender did.
pub(crate) struct Times {
    name: &'static str,
    is_standard: bool,
    /// Every sort that counts; there is at least one.
    records: Vec<Record>,
    /// What each kernel of a rung took, every time.
    kernels: Vec<Vec<KernelTime>>,
    /// What the library said of its last sort.
    pub(crate) report: Option<Report>,
}

/// One kernel's part in the sorts of a contender.
struct KernelShare {
    name: &'static str,
    launches: usize,
    /// The median of what its launches took together.
    time: Duration,
}

impl Times {
    fn of(contender: &Contender) -> Self {
        let is_standard = matches!(contender.sort, Sort::Standard(_));
        Self { name: contender.name, is_standard, records: Vec::new(), kernels: Vec::new(), report: None }
    }

    /// How often it ran.
    pub(crate) fn runs(&self) -> usize {
        self.records.len()
    }

    /// The time in the middle.
    pub(crate) fn median(&self) -> Duration {
        record::summary(&self.records).map_or(Duration::ZERO, |summary| seconds(summary.median))
    }

    /// The shortest time.
    fn least(&self) -> Duration {
        record::summary(&self.records).map_or(Duration::ZERO, |summary| seconds(summary.least))
    }

    /// The time from the start of the first kernel to the end of the last one, the median; `None` where there are none.
    fn span(&self) -> Option<Duration> {
        median(self.records.iter().filter_map(|record| record.kernel_seconds))
    }

    /// Every kernel's part.
    fn shares(&self) -> Vec<KernelShare> {
        let Some(first) = self.kernels.first() else { return Vec::new() };
        let share = |(place, kernel): (usize, &KernelTime)| {
            let times = self.kernels.iter().map(|run| run[place].time.as_secs_f64());
            let time = median(times).unwrap_or_default();
            KernelShare { name: kernel.name, launches: kernel.launches, time }
        };
        first.iter().enumerate().map(share).collect()
    }
}

fn median(sample: impl Iterator<Item = f64>) -> Option<Duration> {
    Summary::of(&sample.collect::<Vec<f64>>()).map(|summary| seconds(summary.median))
}

fn seconds(seconds: f64) -> Duration {
    Duration::from_secs_f64(seconds.max(0.0))
}

/// How often every contender runs.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Repeat {
    /// So often.
    Times(NonZero<usize>),
    /// As often as takes some seconds, or once where the standard library takes as long for one sort.
    ForSomeSeconds,
}

/// Keys that contenders sort in turns.
pub(crate) struct Race {
    input: Box<dyn AnyInput>,
    keys: RaceKeys,
}

/// What the keys of a race are.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RaceKeys {
    pub(crate) key_type: KeyType,
    pub(crate) len: usize,
    /// Every so many keys are sorted for themselves; all of them for rungs.
    pub(crate) row_length: usize,
    pub(crate) distribution: Pattern,
    pub(crate) seed: u64,
    pub(crate) order: Order,
}

impl Race {
    /// Makes the keys. Fails if the system refuses the memory.
    pub(crate) fn new(keys: RaceKeys) -> Result<Self, Failure> {
        let _progress = Progress::spinner("making keys");
        let RaceKeys { key_type, len, row_length, distribution, seed, order } = keys;
        let input =
            make_input(key_type, (len, row_length), distribution, seed, order).map_err(Failure::new)?;
        Ok(Self { input, keys })
    }

    /// How many keys there are.
    pub(crate) fn len(&self) -> usize {
        self.input.len()
    }

    /// Lets the contenders take turns. Fails on the first wrong result.
    pub(crate) fn run(&mut self, contenders: &[Contender], repeat: Repeat) -> Result<Vec<Times>, Failure> {
        let turns = match repeat {
            Repeat::Times(repeat) => repeat.get(),
            Repeat::ForSomeSeconds => MOST_RUNS,
        };
        let mut view = RaceView {
            progress: Progress::bar("sorting", contenders.len().saturating_mul(turns)),
            cell: CellKey {
                key_type: self.keys.key_type.to_string(),
                distribution: self.keys.distribution.to_string(),
                size: self.input.len(),
                row_length: Some(self.input.row_length()).filter(|&length| length != self.input.len()),
                ..CellKey::default()
            },
            times: contenders.iter().map(Times::of).collect(),
            repeat,
        };
        let mut contenders: Vec<_> = contenders.iter().cloned().map(InProcess).collect();
        Rounds::new(WarmUp::DEFAULT).run(&mut self.input, &mut contenders, &mut view)?;
        let mut all = view.times;
        for (times, contender) in all.iter_mut().zip(contenders) {
            times.report = contender.0.report;
        }
        Ok(all)
    }
}

struct RaceView {
    progress: Progress,
    /// What all records have in common.
    cell: CellKey,
    times: Vec<Times>,
    repeat: Repeat,
}

impl View<Box<dyn AnyInput>> for RaceView {
    type Error = Failure;

    fn starts_round(&mut self, round: usize, _: &mut Box<dyn AnyInput>) -> Result<bool, Failure> {
        let most = match self.repeat {
            Repeat::Times(repeat) => repeat.get(),
            Repeat::ForSomeSeconds => {
                let standard = self.times.iter().find(|times| times.is_standard && times.runs() > 0);
                standard.map_or(1, |standard| runs(standard.median()))
            }
        };
        Ok(round <= most)
    }

    fn hears(&mut self, name: &str) {
        self.progress.name(name.to_owned());
    }

    fn keeps(
        &mut self,
        contender: usize,
        round: usize,
        outcome: Result<Timed, Failed>,
        input: &Box<dyn AnyInput>,
    ) -> Result<(), Failure> {
        let times = &mut self.times[contender];
        self.progress.advance(1);
        match outcome {
            Ok(timed) => {
                let cell = CellKey { implementation: times.name.to_owned(), ..self.cell.clone() };
                times.records.push(Record::measured(&cell, 1, round, &timed));
                if !timed.kernels.is_empty() {
                    times.kernels.push(timed.kernels);
                }
                Ok(())
            }
            Err(Failed::LeftOut(reason)) => Err(Failure::new(reason)),
            Err(Failed::Wrong(mistake)) => Err(Failure::new(format!(
                "{} sorted {} keys wrongly: {mistake}; this is a defect, please report it with this command line",
                times.name,
                input.len(),
            ))),
        }
    }
}

const MOST_RUNS: usize = 9;

/// How often each sort runs: as often as takes some seconds, or once where that alone takes as long.
fn runs(standard_time: Duration) -> usize {
    const LONG: Duration = Duration::from_secs(4);
    const ALL_TOGETHER: Duration = Duration::from_secs(3);
    if standard_time >= LONG {
        return 1;
    }
    let runs = ALL_TOGETHER.as_nanos() / standard_time.as_nanos().max(1);
    runs.clamp(3, MOST_RUNS as u128) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_sorts_run_often_and_long_ones_once() {
        let runs = |milliseconds| runs(Duration::from_millis(milliseconds));
        assert_eq!([0, 1, 500, 900, 3999, 4000, 60_000].map(runs), [9, 9, 6, 3, 3, 1, 1]);
    }

    fn keys(key_type: KeyType, len: usize, row_length: usize, order: Order) -> RaceKeys {
        RaceKeys { key_type, len, row_length, distribution: Pattern::Random, seed: 1, order }
    }

    #[test]
    fn a_wrong_result_is_told_with_its_place() {
        // A rung that sorts the other way.
        let options = Options { order: Order::Descending, ..Options::default() };
        let wrong = Contender::rung("recursive".parse().unwrap(), options);
        let mut race = Race::new(keys(KeyType::U32, 128, 128, Order::Ascending)).unwrap();
        let Err(Failure::Message(message)) = race.run(&[wrong], Repeat::Times(NonZero::<usize>::MIN)) else {
            panic!("not found")
        };
        assert!(message.starts_with("recursive sorted 128 keys wrongly: at index 0 it has "), "{message}");
    }

    #[test]
    fn every_run_is_a_record() {
        let mut race = Race::new(keys(KeyType::F32, 100, 10, Order::Descending)).unwrap();
        let sorter = Sorter::new().order(Order::Descending);
        let contenders = [Contender::standard(Order::Descending), Contender::bitonic("bitonic", sorter)];
        let times = race.run(&contenders, Repeat::Times(NonZero::new(3).unwrap())).unwrap();
        for (times, name) in times.iter().zip(["std", "bitonic"]) {
            let records: Vec<_> = times
                .records
                .iter()
                .map(|record| (record.implementation.as_str(), record.repetition, record.row_length))
                .collect();
            assert_eq!(records, [(name, 1, Some(10)), (name, 2, Some(10)), (name, 3, Some(10))]);
            assert!(times.least() <= times.median() && times.span().is_none());
        }
        assert!(times[0].report.is_none() && times[1].report.is_some());
    }
}
