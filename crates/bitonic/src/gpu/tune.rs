//! Measures the few parameters of a plan on a device, and from which length on it beats the CPU.

use super::backend::Backend;
use super::launches::Job;
use super::layout::{Layout, Mapping};
use super::shape::{DeviceLimits, Shape};
use super::sort::sort_rows;
use super::tuning::{TunedShape, Tuning};
use crate::cpu;
use crate::key::{Key, Order, as_bytes, as_bytes_mut};
use crate::plan::Step;
use crate::{Error, Sorter};
use std::time::{Duration, Instant};

/// How much is tried.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Effort {
    /// Two lengths, 32-bit keys only: seconds.
    Quick,
    /// Lengths from 2^12 to 2^24 and elements of 4, 8 and 16 bytes: minutes.
    #[default]
    Full,
}

/// What tuning found.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TuneReport {
    /// The device.
    pub device: String,
    /// What was best for which elements and lengths.
    pub rows: Vec<TuneRow>,
    /// From how many 32-bit keys on the device is faster than the CPU engine, transfers included; `None` if it never was.
    /// [`Engine::Auto`](crate::Engine::Auto) uses the device from there on.
    pub faster_from: Option<usize>,
    /// Whether it was stored, so that later sorts go by it.
    pub stored: bool,
}

/// The best way to cut sorts of one kind.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TuneRow {
    /// What an element takes: a key, with what travels with it.
    pub element_bytes: usize,
    /// How many keys were sorted.
    pub length: usize,
    /// How sorts are cut without tuning.
    pub default_shape: String,
    /// What the kernels took with it.
    pub default_time: Duration,
    /// The fastest way found.
    pub best_shape: String,
    /// What the kernels took with it.
    pub best_time: Duration,
    /// How many ways were tried.
    pub tried: usize,
    /// How many of them the device's compiler refused, or got wrong: the result of each is checked.
    pub refused: usize,
}

/// Tries shapes on a device: the best ones, what was found, and the length from which on it beats the CPU.
pub(crate) fn tune<D: Backend>(
    device: &D,
    effort: Effort,
    progress: &mut dyn FnMut(usize, usize),
) -> Result<(Tuning, TuneReport), Error> {
    let (lengths, wide): (&[u32], bool) = match effort {
        Effort::Quick => (&[16, 20], false),
        Effort::Full => (&[12, 13, 14, 16, 18, 20, 22, 24], true),
    };
    // Processors and simulators would take hours for the largest.
    let lengths: Vec<usize> = lengths
        .iter()
        .map(|&log2| 1_usize << log2)
        .filter(|&length| !device.limits().is_cpu || length <= 1 << 20)
        .collect();
    let mut steps = Steps { done: 0, total: lengths.len() * if wide { 3 } else { 1 } + 1, progress };
    let mut tuning = Tuning::default();
    let mut rows = Vec::new();
    for &length in &lengths {
        rows.push(tune_length::<u32, D>(device, length, &mut tuning)?);
        steps.step();
    }
    for &length in lengths.iter().filter(|_| wide) {
        rows.push(tune_length::<u64, D>(device, length, &mut tuning)?);
        steps.step();
        rows.push(tune_length::<u128, D>(device, length, &mut tuning)?);
        steps.step();
    }
    let faster_from = crossover(device, effort)?;
    steps.step();
    Ok((tuning, TuneReport { device: device.name().to_owned(), rows, faster_from, stored: false }))
}

struct Steps<'a> {
    done: usize,
    total: usize,
    progress: &'a mut dyn FnMut(usize, usize),
}

impl Steps<'_> {
    fn step(&mut self) {
        self.done += 1;
        (self.progress)(self.done, self.total);
    }
}

/// Better by less than this is noise.
const WORTH_A_CHANGE: f64 = 0.97;

fn tune_length<K: Key, D: Backend>(device: &D, length: usize, tuning: &mut Tuning) -> Result<TuneRow, Error> {
    let layout = Layout::keys::<K>();
    let limits = device.limits();
    let default = Shape::new(limits, layout, length, 1);
    let network = Shape::network(limits, layout, length, 1);
    let trial = Trial::<K, D>::new(device, length)?;
    let default_time = trial.time(default)?;
    let (mut tried, mut refused) = (1, 0);
    let (mut best, mut best_time) = (network, default_time);
    if network != default {
        best_time = trial.time(network)?;
        tried += 1;
    }
    // One parameter after the other, each from the best so far: tile and registers belong together, the rest does not.
    for stage in [tiles(network, limits, layout), passes(network)] {
        for change in stage {
            let shape = change(best);
            if shape == best || !shape.is_possible(limits, layout) {
                continue;
            }
            tried += 1;
            match trial.time(shape) {
                Ok(time) if time.as_secs_f64() < best_time.as_secs_f64() * WORTH_A_CHANGE => {
                    (best, best_time) = (shape, time);
                }
                Ok(_) => {}
                Err(error) => {
                    tracing::debug!(%shape, %error, "a shape is left out");
                    refused += 1;
                }
            }
        }
    }
    let from_merges = Step::merges(length);
    let passes_are_best =
        network != default && best_time.as_secs_f64() < default_time.as_secs_f64() * WORTH_A_CHANGE;
    let element_bytes = layout.element_bytes();
    tuning.shapes.push(TunedShape { element_bytes, from_merges, shape: best, passes_are_best });
    if network != default && !passes_are_best {
        // What is kept of the passes is for sorts in place.
        (best, best_time) = (default, default_time);
    }
    Ok(TuneRow {
        element_bytes,
        length,
        default_shape: default.to_string(),
        default_time,
        best_shape: best.to_string(),
        best_time,
        tried,
        refused,
    })
}

type Change = Box<dyn Fn(Shape) -> Shape>;

/// Tiles of up to a quarter of the default's size, with about as many registers as the default.
fn tiles(default: Shape, limits: DeviceLimits, layout: Layout) -> Vec<Change> {
    let mut changes: Vec<Change> = Vec::new();
    for smaller in 0..=2 {
        for held_log2 in default.held_log2.saturating_sub(2)..=default.held_log2 + 1 {
            let tile_log2 = default.tile_log2.saturating_sub(smaller);
            changes.push(Box::new(move |shape| shape.with_tile(limits, layout, tile_log2, held_log2)));
        }
    }
    changes
}

/// Fewer or more steps a pass over memory, smaller or larger groups for it.
fn passes(default: Shape) -> Vec<Change> {
    let mut changes: Vec<Change> = Vec::new();
    for fused_steps in [default.fused_steps.saturating_sub(1), default.fused_steps + 1] {
        changes.push(Box::new(move |shape| Shape { fused_steps, ..shape }));
    }
    for pass_items_log2 in [6, 7, 8] {
        changes.push(Box::new(move |shape| Shape { pass_items_log2, ..shape }));
    }
    changes
}

/// Keys to sort again and again, and the result that must come out.
struct Trial<'a, K: Key, D: Backend> {
    device: &'a D,
    job: Job,
    buffer: D::Buffer,
    unsorted: Vec<K>,
    sorted: Vec<K>,
}

const RUNS: usize = 5;

impl<'a, K: Key, D: Backend> Trial<'a, K, D> {
    fn new(device: &'a D, length: usize) -> Result<Self, Error> {
        let unsorted = random_keys::<K>(length);
        let mut sorted = unsorted.clone();
        Sorter::new().engine(crate::Engine::Cpu).sort(&mut sorted)?;
        let mapping = Mapping::new::<K>(Order::Ascending);
        let job = Job { layout: Layout::keys::<K>(), mapping, row_length: length, rows: 1 };
        Ok(Self { device, job, buffer: device.take_buffer(size_of_val(&unsorted[..]))?, unsorted, sorted })
    }

    /// The median time of the kernels. A wrong result is an error.
    fn time(&self, shape: Shape) -> Result<Duration, Error> {
        let mut times = Vec::with_capacity(RUNS);
        for run in 0..=RUNS {
            self.device.upload(as_bytes(&self.unsorted), &self.buffer)?;
            let time = self.device.run(&self.job, shape, &self.buffer, None)?.span;
            if run == 0 {
                self.verify(shape)?;
                self.check_without_the_last(shape)?;
            } else {
                times.push(time);
            }
        }
        times.sort_unstable();
        Ok(times[RUNS / 2])
    }

    /// A length that fills no tile goes other ways through the same kernels. The last key is made the greatest, so that the
    /// others are in order without it.
    fn check_without_the_last(&self, shape: Shape) -> Result<(), Error> {
        let mut keys = self.sorted.clone();
        keys.reverse();
        keys.rotate_left(1);
        self.device.upload(as_bytes(&keys), &self.buffer)?;
        let job = Job { row_length: self.job.row_length - 1, ..self.job };
        self.device.run(&job, shape, &self.buffer, None)?;
        self.verify(shape)
    }

    fn verify(&self, shape: Shape) -> Result<(), Error> {
        let mut result = self.unsorted.clone();
        self.device.download(&self.buffer, as_bytes_mut(&mut result))?;
        if as_bytes(&result) == as_bytes(&self.sorted) {
            return Ok(());
        }
        let reason = format!("its compiler got a kernel wrong, with {shape}");
        Err(Error::Device { device: self.device.name().to_owned(), operation: "sort", reason })
    }
}

/// The same keys every time, so that runs can be compared.
fn random_keys<K: Key>(length: usize) -> Vec<K> {
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    let mut word = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        u128::from(state)
    };
    let bits = (0..length).map(|_| crate::key::Bits::truncate(word() << 64 | word()));
    bits.map(K::from_ordered_bits).collect()
}

/// The shortest of the lengths tried from which on the device, transfers included, is always faster than the CPU.
fn crossover(device: &impl Backend, effort: Effort) -> Result<Option<usize>, Error> {
    if device.limits().is_cpu {
        // The CPU engine is the better use of the same processor.
        return Ok(None);
    }
    let largest = match effort {
        Effort::Quick => 24,
        Effort::Full => 26,
    };
    let mut faster_from = None;
    for log2 in (14..=largest).rev() {
        let unsorted = random_keys::<u32>(1 << log2);
        let mut keys = unsorted.clone();
        let mut best = [Duration::MAX; 2];
        for _ in 0..3 {
            keys.copy_from_slice(&unsorted);
            let started = Instant::now();
            cpu::sort(&mut keys, Sorter::new().settings())?;
            best[0] = best[0].min(started.elapsed());
            keys.copy_from_slice(&unsorted);
            let started = Instant::now();
            let length = keys.len();
            sort_rows(device, &mut keys, length, Order::Ascending)?;
            best[1] = best[1].min(started.elapsed());
        }
        if best[1] >= best[0] {
            break;
        }
        faster_from = Some(1 << log2);
    }
    Ok(faster_from)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gpu::columns::Columns;
    use crate::gpu::opencl::testing;
    use crate::gpu::shape::Way;
    use crate::gpu::testing::cuda_device;
    use crate::gpu::{cuda, lock};

    #[test]
    fn a_trial_gives_times_for_right_results_and_refuses_wrong_ones() {
        let device = testing::device();
        let mut trial = Trial::<u32, _>::new(&device, 5000).expect("a device has this much memory");
        let shape = Shape::new(device.limits(), trial.job.layout, 5000, 1);
        assert!(trial.time(shape).expect("the default works") > Duration::ZERO);
        trial.sorted[17] ^= 1;
        let refused = trial.time(shape);
        assert!(matches!(refused, Err(Error::Device { operation: "sort", .. })), "{refused:?}");
    }

    /// Sorts so many keys with a shape, and one less. A trial checks what comes out.
    fn check<K: Key>(device: &impl Backend, length: usize, shape: Shape) {
        let trial = Trial::<K, _>::new(device, length).expect("a device has this much memory");
        trial.time(shape).unwrap_or_else(|error| panic!("{length} {} with {shape}: {error}", K::TYPE));
    }

    #[test]
    fn wide_places_sort() {
        let device = testing::device();
        for length in [1 << 13, 40_001] {
            let shape = Shape::network(device.limits(), Layout::keys::<u32>(), length, 1);
            check::<u32>(&device, length, Shape { wide_index: true, ..shape });
        }
    }

    /// One after the other: each takes much of the device's memory.
    static LARGE: std::sync::Mutex<()> = std::sync::Mutex::new(());

    #[test]
    fn every_matrix_sorts_on_cuda() {
        let Some(device) = cuda_device("every_matrix_sorts_on_cuda") else { return };
        let _alone = lock::lock(&LARGE);
        fn check_all<K: Key>(device: &cuda::Device) {
            let layout = Layout::keys::<K>();
            for (number, &columns) in Columns::all(layout).iter().enumerate() {
                let wide_index = number == 0;
                for length in [columns.length(), columns.length() / 4 * 3 + 17] {
                    let network = Shape::network(device.limits(), layout, length, 1);
                    check::<K>(device, length, Shape { way: Way::Columns(columns), wide_index, ..network });
                }
            }
        }
        check_all::<u32>(&device);
        check_all::<f64>(&device);
        check_all::<i128>(&device);
    }

    #[test]
    fn wide_places_sort_on_cuda() {
        let Some(device) = cuda_device("wide_places_sort_on_cuda") else { return };
        let _alone = lock::lock(&LARGE);
        for length in [1000, 3 << 14, (5 << 20) + 3] {
            for device in [device.clone(), device.clone().in_place()] {
                let shape = Shape::new(device.limits(), Layout::keys::<u32>(), length, 1);
                check::<u32>(&device, length, Shape { wide_index: true, ..shape });
                let network = Shape::network(device.limits(), Layout::keys::<u32>(), length, 1);
                check::<u32>(&device, length, Shape { wide_index: true, ..network });
            }
        }
    }
}
