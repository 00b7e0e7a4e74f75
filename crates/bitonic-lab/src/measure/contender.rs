//! What can be measured: one trait for sorts in this process, sorts on a device, and sorts in other programs.

use super::counters::{Counters, Counts};
use crate::implementation::DeviceShare;
use bitonic_ladder::KernelTime;
use std::borrow::Cow;
use std::time::{Duration, Instant};

/// A sort that takes turns with others. All contenders of a measurement share one input, which holds the keys and knows
/// the right result.
pub trait Contender<Input: ?Sized> {
    /// The contender's name in records and messages.
    fn name(&self) -> Cow<'_, str>;

    /// Does what only the first sort of these keys does: starts threads, builds kernels. It is not timed.
    ///
    /// # Errors
    ///
    /// Why the contender cannot take part.
    fn prepare(&mut self, _input: &mut Input) -> Result<(), Failed> {
        Ok(())
    }

    /// Warms up, restores the unsorted keys, sorts them, and returns what that sort took.
    ///
    /// # Errors
    ///
    /// Why the contender did not sort.
    fn run(&mut self, input: &mut Input, gauge: &mut Gauge<'_>) -> Result<Timed, Failed>;

    /// Compares what the last run left with the right result.
    ///
    /// # Errors
    ///
    /// What is wrong with it.
    fn verify(&mut self, input: &mut Input) -> Result<(), Failed>;
}

impl<Input: ?Sized, C: Contender<Input> + ?Sized> Contender<Input> for Box<C> {
    fn name(&self) -> Cow<'_, str> {
        (**self).name()
    }

    fn prepare(&mut self, input: &mut Input) -> Result<(), Failed> {
        (**self).prepare(input)
    }

    fn run(&mut self, input: &mut Input, gauge: &mut Gauge<'_>) -> Result<Timed, Failed> {
        (**self).run(input, gauge)
    }

    fn verify(&mut self, input: &mut Input) -> Result<(), Failed> {
        (**self).verify(input)
    }
}

/// What one sort took.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Timed {
    /// The time that counts: by the host's clock from the caller's keys to the caller's keys, or by the device's clock where
    /// the keys are on the device before and after.
    pub seconds: f64,
    /// What the device told, if there is one.
    pub device: Option<DeviceShare>,
    /// Every kernel's part, where it is known.
    pub kernels: Vec<KernelTime>,
    /// What the processor counted.
    pub counts: Counts,
    /// What a reader should know about how the keys were sorted.
    pub note: String,
}

/// Why a contender has no time.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Failed {
    /// It did not sort, and this is why.
    LeftOut(String),
    /// It sorted wrongly, and this is where.
    Wrong(String),
}

/// How long a contender sorts before the sort that counts, so that a slow neighbour does not leave it a sleeping core, a low
/// clock rate, or caches with somebody else's data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WarmUp {
    /// At least so many sorts come before; with 0 there is no warm-up at all.
    pub sorts: usize,
    /// The sorts before take at least so long together.
    pub time: Duration,
    /// However many sorts come before, they end after so long.
    pub most: Duration,
    /// A sort that takes so long counts without a warm-up: waking up is a negligible part of it.
    pub long: Duration,
}

impl WarmUp {
    /// One sort, and at least 200 µs: after that a core has its clock rate and its wide vector units. Of 100 ms waking up is
    /// less than a hundredth.
    pub const DEFAULT: Self = Self {
        sorts: 1,
        time: Duration::from_micros(200),
        most: Duration::MAX,
        long: Duration::from_millis(100),
    };

    /// The same for a contender's first turn, where threads start and memory is touched for the first time.
    pub(super) fn first(self) -> Self {
        Self { long: self.long.max(Duration::from_secs(1)), ..self }
    }
}

/// The instruments around a sort: the warm-up before it, and the processor's counters where there are some.
#[derive(Debug)]
pub struct Gauge<'a> {
    warm_up: WarmUp,
    counters: Option<&'a mut Counters>,
}

impl<'a> Gauge<'a> {
    /// Instruments with this warm-up.
    pub fn new(warm_up: WarmUp, counters: Option<&'a mut Counters>) -> Self {
        Self { warm_up, counters }
    }

    /// The same for a sort whose work the counters of this thread see, or do not see.
    pub fn for_thread(&mut self, counters_see_it: bool) -> Gauge<'_> {
        let counters = self.counters.as_deref_mut().filter(|_| counters_see_it);
        Gauge { warm_up: self.warm_up, counters }
    }

    /// The warm-up, for contenders that do it in a program of their own.
    pub fn warm_up(&self) -> WarmUp {
        self.warm_up
    }

    /// Sorts over and over until the contender is warm. What the last sort took is the result.
    ///
    /// `sort` gets a clock, puts the unsorted keys in place, and calls the clock with nothing but the sort. It is told whether
    /// the sort may count.
    ///
    /// # Errors
    ///
    /// The first error of `sort`.
    pub fn last_of<E>(
        &mut self,
        mut sort: impl FnMut(Sample, &mut Clock<'_>) -> Result<Timed, E>,
    ) -> Result<Timed, E> {
        let WarmUp { sorts, time, most, long } = self.warm_up;
        let started = Instant::now();
        let mut done = 0;
        loop {
            let elapsed = started.elapsed();
            let is_warm = sorts == 0 || done >= sorts && elapsed >= time || elapsed >= most;
            let sample = if is_warm { Sample::Counts } else { Sample::WarmsUp };
            let timed = sort(sample, &mut Clock { counters: self.counters.as_deref_mut() })?;
            // A warm-up that took so long is a measurement itself.
            if is_warm || timed.seconds >= long.as_secs_f64() {
                return Ok(timed);
            }
            done += 1;
        }
    }
}

/// What a sort is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sample {
    /// It counts.
    Counts,
    /// It comes before one that counts, unless it turns out to be [long](WarmUp::long).
    WarmsUp,
}

/// The host's clock, and the processor's counters.
#[derive(Debug)]
pub struct Clock<'a> {
    counters: Option<&'a mut Counters>,
}

impl Clock<'_> {
    /// What `sort` returns, how many seconds it took, and what the processor counted meanwhile.
    pub fn time<T>(&mut self, sort: impl FnOnce() -> T) -> (T, f64, Counts) {
        if let Some(counters) = &mut self.counters {
            counters.start();
        }
        let started = Instant::now();
        let result = sort();
        let seconds = started.elapsed().as_secs_f64();
        let counts = self.counters.as_mut().map_or_else(Counts::default, |counters| counters.stop());
        (result, seconds, counts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How many sorts are made, and which of them counts, where every one takes so long.
    fn sorts(warm_up: WarmUp, each: Duration) -> (usize, f64) {
        let mut made = 0;
        let timed = Gauge::new(warm_up, None).last_of(|_, _| {
            std::thread::sleep(each.min(Duration::from_millis(2)));
            made += 1;
            Ok::<_, ()>(Timed { seconds: each.as_secs_f64(), note: made.to_string(), ..Timed::default() })
        });
        (made, timed.unwrap().note.parse().unwrap())
    }

    #[test]
    fn the_last_sort_counts_and_others_come_before_it() {
        let long = Duration::from_secs(1);
        let warm_up = WarmUp { sorts: 2, time: Duration::ZERO, long, ..WarmUp::DEFAULT };
        assert_eq!(sorts(warm_up, Duration::ZERO), (3, 3.0));
        assert_eq!(sorts(WarmUp { sorts: 0, ..warm_up }, Duration::ZERO), (1, 1.0));
        let (made, counted) =
            sorts(WarmUp { time: Duration::from_millis(5), ..warm_up }, Duration::from_millis(1));
        assert!(made >= 3 && counted == made as f64, "{made} {counted}");
        let endless = WarmUp { sorts: usize::MAX, most: Duration::from_millis(5), ..warm_up };
        assert!(sorts(endless, Duration::from_millis(1)).0 <= 7);
    }

    #[test]
    fn a_long_sort_counts_at_once() {
        let long = Duration::from_millis(100);
        let warm_up = WarmUp { time: Duration::from_millis(1), long, ..WarmUp::DEFAULT };
        assert_eq!(sorts(warm_up, long).0, 1);
        assert_eq!(sorts(warm_up.first(), long).0, 2);
        assert_eq!(sorts(warm_up.first(), Duration::from_secs(1)).0, 1);
    }

    #[test]
    fn an_error_ends_it() {
        let failed = Gauge::new(WarmUp::DEFAULT, None).last_of(|_, _| Err::<Timed, _>("no"));
        assert_eq!(failed, Err("no"));
    }
}
