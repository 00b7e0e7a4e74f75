//! A device against the CPU, transfers included: from which length on it is faster, for a kind of sorts.

use super::budget::Budget;
use super::cut::Cuts;
use super::driver::Driver;
use super::execute::{HostArrays, Means, execute};
use super::opened;
use super::plan::plan_with;
use super::strategy::kernel_plan;
use super::tuning::{Crossover, Operation, SortKind, Tuning};
use crate::Error;
use crate::cpu::{self, Settings};
use crate::key::{Bits, Key, bits_as_bytes, bits_as_bytes_mut};
use crate::plan::Plan;
use crate::request::{Request, Segments};
use std::ops::RangeInclusive;
use std::time::{Duration, Instant};

/// Sorts of each at a length, after one that does not count.
const ROUNDS: usize = 5;

/// The lengths that are tried, as powers of two.
pub(crate) const LENGTHS: RangeInclusive<u32> = 14..=26;

/// The first length: long enough for a device to show what it can do, and soon done.
const FIRST: u32 = 20;

/// A device that is faster at the first length must be so at this one, too, before shorter ones are tried.
const LONGER: u32 = 22;

/// Finds the shortest length from which on the device is faster than the CPU beyond the spread of the times, within a budget: from
/// [`FIRST`] on down while it is faster, or up until it is. Nothing if the budget ends before the first length is measured.
pub(crate) fn crossover<D: Driver>(
    device: &D,
    kind: SortKind,
    tuning: &Tuning,
    budget: Budget,
) -> Result<Option<Crossover>, Error> {
    let mut search = Search { faster_from: None, tried: 0, up_to: 0, gain: 0.0 };
    let mut spent = Duration::ZERO;
    let mut next = Some(FIRST);
    while let Some(log2) = next.filter(|_| budget.allows(spent)) {
        let started = Instant::now();
        let Some(times) = measure(device, kind, tuning, 1 << log2)? else { break };
        next = search.hears(log2, &times);
        // Twice as many keys take about twice as long; kernels that are built by now do not count again.
        spent = 2 * started.elapsed().min(4 * times.total());
    }
    Ok((search.tried > 0).then(|| search.result(device, kind)))
}

/// Compares at one length only: what is done for a device that nobody tuned.
pub(crate) fn at_length<D: Driver>(device: &D, kind: SortKind, log2: u32) -> Result<Crossover, Error> {
    let mut search = Search { faster_from: None, tried: 0, up_to: 1 << log2, gain: 0.0 };
    if let Some(times) = measure(device, kind, &Tuning::default(), 1 << log2)? {
        search.hears(log2, &times);
    }
    Ok(search.result(device, kind))
}

/// How far a search is.
struct Search {
    faster_from: Option<u32>,
    tried: usize,
    up_to: usize,
    gain: f64,
}

impl Search {
    /// Takes the times of a length in, and says which is next.
    fn hears(&mut self, log2: u32, times: &Times) -> Option<u32> {
        self.tried += 1;
        if 1 << log2 > self.up_to {
            self.up_to = 1 << log2;
            self.gain = times.gain() / f64::from(log2).exp2();
        }
        let next = match (times.device_is_faster(), self.faster_from) {
            (true, None) => {
                self.faster_from = Some(log2);
                (log2 == FIRST).then_some(LONGER)?
            }
            (true, Some(shortest)) => {
                self.faster_from = Some(shortest.min(log2));
                shortest.min(log2) - 1
            }
            // Not where it counts more.
            (false, Some(shortest)) if log2 > shortest => {
                self.faster_from = None;
                log2 + 1
            }
            (false, Some(_)) => return None,
            (false, None) => log2 + 1,
        };
        LENGTHS.contains(&next).then_some(next)
    }

    fn result<D: Driver>(&self, device: &D, kind: SortKind) -> Crossover {
        let (engine, name) = (D::ENGINE, &device.facts().name);
        Crossover {
            engine,
            device: name.clone(),
            kind,
            faster_from: self.faster_from.map(|log2| 1 << log2),
            up_to: self.up_to,
            gain: self.gain,
            opening: opened::waited_for(engine, name).unwrap_or_default(),
        }
    }
}

/// What sorts of one length took, in ascending order.
struct Times {
    cpu: Vec<Duration>,
    device: Vec<Duration>,
}

impl Times {
    fn new(mut cpu: Vec<Duration>, mut device: Vec<Duration>) -> Self {
        cpu.sort_unstable();
        device.sort_unstable();
        Self { cpu, device }
    }

    /// Whether the device is faster beyond the spread: the slower quarter of its times is left out, and the faster quarter of the
    /// CPU's, and all others of the device are below all others of the CPU.
    fn device_is_faster(&self) -> bool {
        let quarter = |times: &[Duration]| times.len() / 4;
        let slowest = self.device.len() - 1 - quarter(&self.device);
        self.device[slowest] < self.cpu[quarter(&self.cpu)]
    }

    /// How many nanoseconds the device saves, by the medians.
    fn gain(&self) -> f64 {
        let median = |times: &[Duration]| times[times.len() / 2].as_nanos() as f64;
        (median(&self.cpu) - median(&self.device)).max(0.0)
    }

    fn total(&self) -> Duration {
        self.cpu.iter().chain(&self.device).sum()
    }
}

/// Sorts in turns on both. `None` where the device does not hold so many keys.
fn measure<D: Driver>(
    device: &D,
    kind: SortKind,
    tuning: &Tuning,
    len: usize,
) -> Result<Option<Times>, Error> {
    match (kind.operation, kind.bytes) {
        (Operation::Pairs, 8) => measure_keys::<u32, u32, D>(device, kind, tuning, len),
        (Operation::Pairs, _) => measure_keys::<u64, u64, D>(device, kind, tuning, len),
        (_, 4) => measure_keys::<u32, u32, D>(device, kind, tuning, len),
        (_, 8) => measure_keys::<u64, u64, D>(device, kind, tuning, len),
        _ => measure_keys::<u128, u64, D>(device, kind, tuning, len),
    }
}

/// Keys that are their own bits.
fn measure_keys<K: Bits + Key, V: bytemuck::Pod + Send, D: Driver>(
    device: &D,
    kind: SortKind,
    tuning: &Tuning,
    len: usize,
) -> Result<Option<Times>, Error> {
    let request = request::<K, V>(kind.operation, len)?;
    let means = Means::new(None, Cuts::Nowhere, None)?;
    let facts = device.facts();
    let plan =
        plan_with(&request, None, facts, means.cuts, means.limit, |job| kernel_plan(job, facts, tuning));
    let plan = match plan {
        Ok(plan) => plan,
        Err(Error::LargerThanDevice { .. }) => return Ok(None),
        Err(error) => return Err(error),
    };
    let settings = Settings { oblivious: request.oblivious, ..Settings::usual() };
    let unsorted = super::trial::random_keys::<K>(len);
    let mut on_cpu = Arrays::<K, V>::new(kind.operation, &unsorted);
    let mut on_device = Arrays::<K, V>::new(kind.operation, &unsorted);
    let (mut cpu_times, mut device_times) = (Vec::new(), Vec::new());
    for round in 0..=ROUNDS {
        on_cpu.fill(&unsorted);
        let started = Instant::now();
        on_cpu.sort_on_cpu(&request, settings)?;
        let cpu_time = started.elapsed();
        on_device.fill(&unsorted);
        let started = Instant::now();
        on_device.sort_on(device, &plan, &means)?;
        let device_time = started.elapsed();
        if on_device.keys != on_cpu.keys || on_device.indices != on_cpu.indices {
            let reason = format!("{kind} came back in another order than the CPU's");
            return Err(Error::Device { device: facts.name.clone(), operation: "sort", reason });
        }
        if round > 0 {
            cpu_times.push(cpu_time);
            device_times.push(device_time);
        }
    }
    Ok(Some(Times::new(cpu_times, device_times)))
}

fn request<K: Key, V>(operation: Operation, len: usize) -> Result<Request, Error> {
    let one = Segments::one(len);
    Ok(match operation {
        Operation::Keys => Request::keys::<K>(one),
        Operation::Rows => Request::keys::<K>(Segments::rows(len, SortKind::ROW)?),
        Operation::Oblivious => Request { oblivious: true, ..Request::keys::<K>(one) },
        Operation::Pairs => Request::pairs::<K, V>(one),
        Operation::Argsort => Request::argsort::<K>(one),
    })
}

/// What is sorted: keys, and what the operation has beside them.
struct Arrays<K, V> {
    operation: Operation,
    keys: Vec<K>,
    values: Vec<V>,
    indices: Vec<usize>,
}

impl<K: Bits, V: bytemuck::Pod + Send> Arrays<K, V> {
    fn new(operation: Operation, keys: &[K]) -> Self {
        let only = |of: Operation| if operation == of { keys.len() } else { 0 };
        Self {
            operation,
            keys: keys.to_vec(),
            values: vec![V::zeroed(); only(Operation::Pairs)],
            indices: vec![0; only(Operation::Argsort)],
        }
    }

    fn fill(&mut self, unsorted: &[K]) {
        self.keys.copy_from_slice(unsorted);
        self.indices.fill(0);
    }

    fn sort_on_cpu(&mut self, request: &Request, settings: Settings) -> Result<(), Error> {
        let map = request.map();
        let Self { operation, keys, values, indices } = self;
        match operation {
            Operation::Argsort => {
                *indices = cpu::argsort_segments(keys, map, request.segments, settings)?;
                Ok(())
            }
            Operation::Pairs => cpu::sort_pairs(keys, values, map, false, settings),
            Operation::Keys | Operation::Rows | Operation::Oblivious => {
                cpu::sort_segments(keys, map, request.segments, settings)
            }
        }
    }

    fn sort_on<D: Driver>(&mut self, device: &D, plan: &Plan, means: &Means) -> Result<(), Error> {
        let Self { operation, keys, values, indices } = self;
        let arrays = match operation {
            Operation::Argsort => HostArrays::Indices { keys: bits_as_bytes(keys), indices },
            Operation::Pairs => {
                HostArrays::Pairs { keys: bits_as_bytes_mut(keys), values: bytemuck::cast_slice_mut(values) }
            }
            Operation::Keys | Operation::Rows | Operation::Oblivious => {
                HostArrays::Keys(bits_as_bytes_mut(keys))
            }
        };
        execute(device, plan, arrays.into(), means).map(|_| ())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn times(cpu: [u64; 5], device: [u64; 5]) -> Times {
        let durations = |times: [u64; 5]| times.map(Duration::from_micros).to_vec();
        Times::new(durations(cpu), durations(device))
    }

    #[test]
    fn faster_is_what_is_faster_beyond_the_spread() {
        let cpu = [100, 101, 102, 103, 104];
        assert!(times(cpu, [90, 91, 92, 93, 94]).device_is_faster());
        assert!(times(cpu, [90, 300, 92, 93, 94]).device_is_faster(), "one disturbed sort does not count");
        assert!(!times(cpu, [90, 91, 92, 101, 104]).device_is_faster(), "faster by the median only");
        assert!(!times([100, 80, 120, 85, 140], [90, 91, 92, 93, 94]).device_is_faster(), "a noisy CPU");
        assert!(!times(cpu, cpu).device_is_faster());
    }

    /// Searches where a device takes `fixed` µs and then as much for 1000 keys as the CPU for 2000.
    fn search(fixed: u64) -> (Option<u32>, Vec<u32>) {
        let mut search = Search { faster_from: None, tried: 0, up_to: 0, gain: 0.0 };
        let (mut tried, mut next) = (Vec::new(), Some(FIRST));
        while let Some(log2) = next {
            tried.push(log2);
            let cpu = (2_u64 << log2) / 1000;
            next = search.hears(log2, &times([cpu; 5], [fixed + cpu / 2; 5]));
        }
        (search.faster_from, tried)
    }

    #[test]
    fn the_search_goes_down_while_the_device_is_faster_and_up_until_it_is() {
        assert_eq!(search(100), (Some(17), vec![20, 22, 19, 18, 17, 16]));
        assert_eq!(search(3000), (Some(22), vec![20, 21, 22]));
        assert_eq!(search(0).0, Some(*LENGTHS.start()));
        assert_eq!(search(u64::MAX / 4).0, None);
    }

    #[test]
    fn what_is_faster_for_a_while_only_is_not_faster() {
        let mut search = Search { faster_from: None, tried: 0, up_to: 0, gain: 0.0 };
        let [faster, slower] = [90, 110].map(|device| times([100; 5], [device; 5]));
        assert_eq!(search.hears(FIRST, &faster), Some(LONGER));
        assert_eq!((search.hears(LONGER, &slower), search.faster_from), (Some(LONGER + 1), None));
        assert_eq!((search.hears(LONGER + 1, &faster), search.faster_from), (None, Some(LONGER + 1)));
    }

    #[cfg(feature = "opencl")]
    #[test]
    fn every_kind_is_measured_with_right_results() {
        let device = crate::gpu::opencl::testing::device();
        for &kind in SortKind::MEASURED {
            let times = measure(&device, kind, &Tuning::default(), 1 << 11).expect("PoCL sorts every kind");
            let times = times.expect("it holds so many keys");
            assert!(times.cpu.len() == ROUNDS && times.device.len() == ROUNDS && !times.total().is_zero());
        }
        let crossover = at_length(&device, SortKind::MEASURED[0], 11).expect("PoCL sorts keys");
        assert_eq!(crossover.up_to, 1 << 11);
    }

    #[cfg(feature = "opencl")]
    #[test]
    fn without_time_nothing_is_measured() {
        let device = crate::gpu::opencl::testing::device();
        let spent = Budget::new(Duration::ZERO);
        let found = crossover(&device, SortKind::MEASURED[0], &Tuning::default(), spent);
        assert_eq!(found, Ok(None));
    }
}
