//! Trials of a plan on a device: how long it takes, and whether it is always right.

use super::driver::Driver;
use super::execute::{Buffers, sort_buffers, wrong_result};
use super::job::Job;
use crate::Error;
use crate::cpu;
use crate::cpu::fingerprint::Fingerprint;
use crate::cpu::in_order::is_in_order;
use crate::cpu::stretch::{Nothing, Place};
use crate::key::{BitMap, Bits, Key, Order, as_bits, as_bytes, bits_as_bytes, bits_as_bytes_mut};
use crate::plan::KernelPlan;
use crate::request::{Request, Segments};
use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

/// Keys to sort again and again, and the result that must come out.
pub(crate) struct Trial<'a, K: Key, D: Driver> {
    device: &'a D,
    pub(crate) job: Job,
    buffer: D::Buffer,
    unsorted: Vec<K>,
    sorted: Vec<K>,
}

const RUNS: usize = 5;

impl<'a, K: Key, D: Driver> Trial<'a, K, D> {
    pub(crate) fn new(device: &'a D, length: usize) -> Result<Self, Error> {
        let unsorted = random_keys::<K>(length);
        let mut sorted = unsorted.clone();
        cpu::sort(&mut sorted, cpu::Settings::usual())?;
        let job = Job::of(&Request::keys::<K>(Segments::one(length)));
        Ok(Self { device, job, buffer: device.allocate(size_of_val(&unsorted[..]))?, unsorted, sorted })
    }

    /// The median time of the kernels, by the plan that `plan` makes of a job. A wrong result, in any run, is an error.
    pub(crate) fn time(&self, plan: Planner<'_>) -> Result<Duration, Error> {
        let whole = plan(&self.job);
        let mut times = Vec::with_capacity(RUNS);
        for run in 0..=RUNS {
            self.device.upload(as_bytes(&self.unsorted), &self.buffer)?;
            let time = sort_buffers(self.device, &self.job, &whole, Buffers::new(&self.buffer, None))?.span;
            self.verify(&whole)?;
            if run > 0 {
                times.push(time);
            }
        }
        let job = Job { row_length: self.job.row_length - 1, ..self.job };
        self.check_without_the_last(&job, &plan(&job))?;
        times.sort_unstable();
        Ok(times[RUNS / 2])
    }

    /// A length that fills no tile goes other ways through the same kernels. The last key is made the greatest, so that the
    /// others are in order without it.
    fn check_without_the_last(&self, job: &Job, plan: &Arc<KernelPlan>) -> Result<(), Error> {
        let mut keys = self.sorted.clone();
        keys.reverse();
        keys.rotate_left(1);
        self.device.upload(as_bytes(&keys), &self.buffer)?;
        sort_buffers(self.device, job, plan, Buffers::new(&self.buffer, None))?;
        self.verify(plan)
    }

    fn verify(&self, plan: &KernelPlan) -> Result<(), Error> {
        let mut result = vec![0; size_of_val(&self.sorted[..])];
        self.device.download(&self.buffer, &mut result)?;
        if result == as_bytes(&self.sorted) {
            Ok(())
        } else {
            Err(wrong_result(self.device, plan, "a trial fails"))
        }
    }

    /// The time, if it is better than this one; then it is proved, too.
    pub(super) fn time_if_better(
        &self,
        plan: Planner<'_>,
        than: Duration,
    ) -> Result<Option<Duration>, Error> {
        let time = self.time(plan)?;
        if !is_worth_a_change(time, than) {
            return Ok(None);
        }
        self.prove(plan)?;
        Ok(Some(time))
    }

    pub(super) fn proven_time(&self, plan: Planner<'_>) -> Result<Duration, Error> {
        let time = self.time(plan)?;
        self.prove(plan)?;
        Ok(time)
    }

    /// Sorts many times, on all threads at once: several lengths, several patterns. One wrong result is an error. What compilers and
    /// drivers get wrong, they get wrong now and then, and for some lengths.
    fn prove(&self, plan: Planner<'_>) -> Result<(), Error> {
        let (device, job, length) = (self.device, &self.job, self.job.row_length);
        let (unsorted, sorted) = (self.unsorted.as_slice(), self.sorted.as_slice());
        let lengths: [usize; PROVED_LENGTHS] =
            [length, length - length / 4 + 1, length / 2 + 1, length / 3].map(|tried| tried.min(length));
        let repeated = if length <= OFTEN_UP_TO { OFTEN } else { 1 };
        let count = lengths.len() * PATTERNS.len() * repeated;
        let bytes = size_of_val(unsorted).max(1);
        let threads = cpu::thread_count(None).min(count).min((MOST_BYTES / bytes).max(1));
        let next = AtomicUsize::new(0);
        let work = || -> Result<(), Error> {
            let buffer = device.allocate(bytes)?;
            let mut result = vec![K::Bits::ZERO; length];
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                if number >= count {
                    return Ok(());
                }
                let pattern = PATTERNS[number % PATTERNS.len()];
                let keys = pattern.keys(unsorted, sorted, lengths[number / PATTERNS.len() % lengths.len()]);
                let job = Job { row_length: keys.len(), ..*job };
                let plan = plan(&job);
                let result = &mut result[..keys.len()];
                device.upload(bits_as_bytes(&keys), &buffer)?;
                sort_buffers(device, &job, &plan, Buffers::new(&buffer, None))?;
                device.download(&buffer, bits_as_bytes_mut(result))?;
                let map = BitMap::new(K::TYPE.form(), Order::Ascending);
                let is_same = |keys: &[K::Bits]| Fingerprint::of_elements(Place::ALONE, keys, Nothing);
                if is_same(&keys) != is_same(result) || !is_in_order(Place::ALONE, result, map) {
                    return Err(wrong_result(device, &plan, "one of many sorts fails"));
                }
            }
        };
        thread::scope(|scope| {
            let threads: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
            let done =
                threads.into_iter().map(|thread| thread.join().unwrap_or_else(|panic| resume_unwind(panic)));
            // All are waited for.
            done.fold(Ok(()), Result::and)
        })
    }
}

/// Whether a time is below another one by more than noise.
pub(super) fn is_worth_a_change(time: Duration, than: Duration) -> bool {
    time.as_secs_f64() < than.as_secs_f64() * WORTH_A_CHANGE
}

/// Better by less than this is noise.
const WORTH_A_CHANGE: f64 = 0.97;

/// What makes a plan for a job.
type Planner<'a> = &'a (dyn Fn(&Job) -> Arc<KernelPlan> + Sync);

/// How many lengths are proved, of that of a trial.
const PROVED_LENGTHS: usize = 4;

/// Up to this length, every combination of length and pattern is sorted so often: it takes little time.
const OFTEN_UP_TO: usize = 1 << 16;
const OFTEN: usize = 4;

/// The launches of a plan with one kernel that is proved, of such a length: once to warm up, and once of a length that fills no tile.
#[cfg(test)]
pub(super) const LAUNCHES: usize = RUNS + 2 + PROVED_LENGTHS * PATTERNS.len() * OFTEN;

/// The most memory that threads take at the same time.
const MOST_BYTES: usize = 1 << 30;

/// Keys that are easy to get wrong.
#[derive(Clone, Copy, Debug)]
enum Pattern {
    Random,
    Sorted,
    Reversed,
    Equal,
    Few,
    /// Two sorted halves, the upper first.
    Rotated,
}

const PATTERNS: [Pattern; 6] =
    [Pattern::Random, Pattern::Sorted, Pattern::Reversed, Pattern::Equal, Pattern::Few, Pattern::Rotated];

impl Pattern {
    /// So many keys, from as many or more random ones and the same in order.
    fn keys<K: Key>(self, unsorted: &[K], sorted: &[K], length: usize) -> Vec<K::Bits> {
        let (unsorted, sorted) = (&as_bits(unsorted)[..length], &as_bits(sorted)[..length]);
        let mut keys = match self {
            Self::Sorted | Self::Reversed | Self::Rotated => sorted.to_vec(),
            Self::Random => unsorted.to_vec(),
            Self::Equal => vec![unsorted.first().copied().unwrap_or(K::Bits::ZERO); length],
            Self::Few => {
                (0..length).map(|place| unsorted[(unsorted[place].widen() % 5) as usize % length]).collect()
            }
        };
        match self {
            Self::Reversed => keys.reverse(),
            Self::Rotated => keys.rotate_left(length / 2),
            _ => {}
        }
        keys
    }
}

/// The same keys every time, so that runs can be compared.
pub(super) fn random_keys<K: Key>(length: usize) -> Vec<K> {
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    let mut word = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        u128::from(state)
    };
    let bits = (0..length).map(|_| Bits::truncate(word() << 64 | word()));
    bits.map(K::from_ordered_bits).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gpu::strategy::{Network, Strategy, kernel_plan, of_strategy};
    use crate::gpu::tuning::Tuning;
    #[cfg(feature = "cuda")]
    use crate::gpu::{lock, strategy::Columnsort, testing::cuda_device, tuning::Measured};

    /// Sorts so many keys by a strategy, and one less; with 64-bit places if they are to be wide. A trial checks what comes out.
    fn check<K: Key, D: Driver>(
        device: &D,
        length: usize,
        wide_index: bool,
        strategy: impl Fn(&Job) -> Box<dyn Strategy> + Sync,
    ) {
        let mut trial = Trial::<K, D>::new(device, length).expect("a device has this much memory");
        trial.job.wide_index = wide_index;
        let network = Network::new(&trial.job, device.facts(), &Tuning::default());
        let plan =
            |job: &Job| Arc::new(of_strategy(&*strategy(job), job, device.facts(), network.shape.limits()));
        trial.time(&plan).unwrap_or_else(|error| panic!("{length} {} keys: {error}", K::TYPE));
    }

    #[cfg(feature = "opencl")]
    mod on_opencl {
        use super::*;
        use crate::gpu::opencl::testing;
        use crate::gpu::testing::sort_by_strategy;
        use crate::gpu::tuning::NetworkShape;
        use bitonic_testkit::{Oclgrind, Pattern};

        #[test]
        fn a_trial_gives_times_for_right_results_and_refuses_wrong_ones() {
            let device = testing::device();
            let mut trial = Trial::<u32, _>::new(&device, 5000).expect("a device has this much memory");
            let plan = |job: &Job| kernel_plan(job, device.facts(), &Tuning::default());
            assert!(trial.time(&plan).expect("the default works") > Duration::ZERO);
            trial.sorted[17] ^= 1;
            let refused = trial.time(&plan);
            assert!(matches!(refused, Err(Error::WrongResult { .. })), "{refused:?}");
        }

        #[test]
        fn wide_places_sort() {
            let device = testing::device();
            for length in [1 << 13, 40_001] {
                check::<u32, _>(&device, length, true, |job| {
                    Box::new(Network::new(job, device.facts(), &Tuning::default()))
                });
            }
        }

        /// Sorts so many random keys by the network in this shape.
        fn sort_in_shape(shape: NetworkShape, length: usize) {
            let keys: Vec<u32> = Pattern::Random.generate(length, 9);
            let job = Job::of(&Request::keys::<u32>(Segments::one(length)));
            let mut sorted = keys.clone();
            sorted.sort_unstable();
            let found = sort_by_strategy(&testing::device(), &keys, &job, &Network { shape }).0;
            assert!(found == sorted, "{length} keys, {shape}");
        }

        /// A shape that came out wrong on PoCL in most runs, as long as functions that ask for the number of their work-item were not
        /// inlined there: work-items of several groups shared it.
        #[test]
        fn groups_on_several_threads_share_nothing() {
            let shape = NetworkShape {
                tile_log2: 10,
                held_log2: 3,
                fused_steps: 3,
                register_steps: 3,
                pass_items_log2: 7,
                unrolled: false,
            };
            for _ in 0..20 {
                sort_in_shape(shape, 1 << 16);
            }
        }

        /// Passes that exchange elements in local memory, which the engine itself has on GPUs only: flips and others, of every number of
        /// steps that this many keys and a tile of 2^6 have. One length is a power of two, the others end inside a block.
        #[test]
        #[ignore = "run by passes_that_exchange_are_clean, in a process with Oclgrind"]
        fn exchange_in_passes() {
            let shape = NetworkShape {
                tile_log2: 6,
                held_log2: 3,
                fused_steps: 5,
                register_steps: 2,
                pass_items_log2: 6,
                unrolled: true,
            };
            for length in [2048, 1500, 1025] {
                sort_in_shape(shape, length);
            }
        }

        #[test]
        fn passes_that_exchange_are_clean() {
            let report = Oclgrind::find().report_of("gpu::trial::tests::on_opencl::exchange_in_passes");
            assert!(report.is_empty(), "{report}");
        }
    }

    /// One after the other: each takes much of the device's memory.
    #[cfg(feature = "cuda")]
    static LARGE: std::sync::Mutex<()> = std::sync::Mutex::new(());

    #[test]
    #[cfg(feature = "cuda")]
    fn every_matrix_sorts_on_cuda() {
        fn check_all<K: Key, D: Driver>(device: &D) {
            let bytes = Job::of(&Request::keys::<K>(Segments::one(1))).element.bytes();
            let table = Measured::of(device.facts()).matrices[Measured::width(bytes)];
            for (number, &matrix) in table.iter().enumerate() {
                for length in [matrix.length(), matrix.length() / 4 * 3 + 17] {
                    check::<K, D>(device, length, number == 0, |job| {
                        let network = Network::new(job, device.facts(), &Tuning::default());
                        Box::new(Columnsort { matrix, network })
                    });
                }
            }
        }
        let Some(device) = cuda_device("every_matrix_sorts_on_cuda") else { return };
        let _alone = lock::lock(&LARGE);
        check_all::<u32, _>(&device);
        check_all::<f64, _>(&device);
        check_all::<i128, _>(&device);
    }

    #[test]
    #[cfg(feature = "cuda")]
    fn wide_places_sort_on_cuda() {
        let Some(device) = cuda_device("wide_places_sort_on_cuda") else { return };
        let _alone = lock::lock(&LARGE);
        for length in [1000, 3 << 14, (5 << 20) + 3] {
            for in_place in [false, true] {
                let mut trial = Trial::<u32, _>::new(&device, length).expect("it has this much memory");
                trial.job.wide_index = true;
                trial.job.in_place = in_place;
                let plan = |job: &Job| kernel_plan(job, device.facts(), &Tuning::default());
                trial.time(&plan).unwrap_or_else(|error| panic!("{length} keys: {error}"));
            }
            check::<u32, _>(&device, length, true, |job| {
                Box::new(Network::new(job, device.facts(), &Tuning::default()))
            });
        }
    }
}
