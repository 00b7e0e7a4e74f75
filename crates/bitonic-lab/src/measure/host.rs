//! Keys in the host's memory, and sorts that run in this process.

use super::contender::{Contender, Failed, Gauge, Sample, Timed};
use super::counters::Counts;
use crate::dropin::ErrorLog;
use crate::implementation::DeviceShare;
use crate::keys;
use bitonic::key::{KeyType, KeysMut, with_ordered_bits};
use bitonic::{Order, with_key_type, with_keys};
use bitonic_ladder::KernelTime;
use bitonic_testkit::{Pattern, TestKey};
use rayon::ThreadPool;
use rayon::slice::ParallelSliceMut;
use std::borrow::Cow;
use std::sync::Arc;

/// Keys that contenders sort in turns, and what must come out.
#[derive(Debug)]
pub struct HostInput<K> {
    /// The keys whose sort counts.
    measured: KeySet<K>,
    /// Other keys of the same kind for the warm-up. A branch predictor learns few keys by heart when they are sorted over and
    /// over; then a sort that branches looks faster than it is. `None` where there are too many to learn.
    for_warm_up: Option<KeySet<K>>,
    /// What contenders sort in place.
    work: Vec<K>,
    /// Whether `work` holds the keys of the warm-up.
    is_warm_up: bool,
    /// Every so many keys are sorted for themselves.
    row_length: usize,
    order: Order,
    renewals: u64,
}

#[derive(Debug)]
struct KeySet<K> {
    unsorted: Vec<K>,
    expected: Vec<K>,
}

/// More keys are sorted than a branch predictor remembers.
const MORE_THAN_A_PREDICTOR_LEARNS: usize = 1 << 16;

/// The seed of the warm-up's keys differs from that of the others in these bits.
const WARM_UP_SEED: u64 = 0x5EED << 48;

/// What a machine must hold at the same time: the keys as they are, as they should be, and as they become.
const COPIES: usize = 3;

impl<K: TestKey> HostInput<K> {
    /// Keys made from a pattern and a seed, sorted as a whole.
    ///
    /// # Errors
    ///
    /// If the machine does not have the memory.
    pub fn make(len: usize, pattern: Pattern, seed: u64, order: Order) -> Result<Self, String> {
        let unsorted = keys::make(len, pattern, seed, COPIES)?;
        let few = len < MORE_THAN_A_PREDICTOR_LEARNS;
        let others = few.then(|| pattern.generate(len, seed ^ WARM_UP_SEED));
        Ok(Self::new(unsorted, others, len, order))
    }

    /// These keys, in rows of this length, and maybe others of the same kind and number for the warm-up.
    pub fn new(unsorted: Vec<K>, for_warm_up: Option<Vec<K>>, row_length: usize, order: Order) -> Self {
        let set = |unsorted| KeySet::new(unsorted, row_length, order);
        let work = unsorted.clone();
        let (measured, for_warm_up) = (set(unsorted), for_warm_up.map(set));
        Self { measured, for_warm_up, work, is_warm_up: false, row_length, order, renewals: 0 }
    }

    /// The same keys in rows of this length, each of them sorted for itself.
    pub fn in_rows(self, row_length: usize) -> Self {
        let Self { measured, for_warm_up, order, .. } = self;
        Self::new(measured.unsorted, for_warm_up.map(|set| set.unsorted), row_length, order)
    }

    /// Takes other keys in rows of the same length; they warm up, too.
    pub fn renew(&mut self, unsorted: Vec<K>) {
        self.work.clone_from(&unsorted);
        self.for_warm_up = None;
        self.is_warm_up = false;
        self.measured = KeySet::new(unsorted, self.row_length, self.order);
        self.renewals += 1;
    }

    /// How often the keys were renewed.
    pub fn renewals(&self) -> u64 {
        self.renewals
    }

    /// How many keys there are.
    pub fn len(&self) -> usize {
        self.work.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.work.is_empty()
    }

    /// How many keys a row has.
    pub fn row_length(&self) -> usize {
        self.row_length
    }

    /// The keys of the last sort, before it.
    pub fn unsorted(&self) -> &[K] {
        &self.last().unsorted
    }

    /// What contenders sort in place, and what the last of them left.
    pub fn work(&mut self) -> &mut [K] {
        &mut self.work
    }

    /// What the last contender left.
    pub fn result(&self) -> &[K] {
        &self.work
    }

    /// Puts the unsorted keys of a sample in place.
    pub fn restore(&mut self, sample: Sample) {
        self.is_warm_up = sample == Sample::WarmsUp && self.for_warm_up.is_some();
        let unsorted = match &self.for_warm_up {
            Some(others) if self.is_warm_up => &others.unsorted,
            _ => &self.measured.unsorted,
        };
        self.work.copy_from_slice(unsorted);
    }

    /// Compares what the last contender left with what is expected, bit for bit.
    ///
    /// # Errors
    ///
    /// Where the first wrong key is.
    pub fn verify(&self) -> Result<(), Failed> {
        let expected = &self.last().expected;
        let differs = |(sorted, expected): (&K, &K)| sorted.to_raw_bits() != expected.to_raw_bits();
        let Some(index) = self.work.iter().zip(expected).position(differs) else { return Ok(()) };
        let (has, not) = (self.work[index], expected[index]);
        let place = match self.row_length {
            length if length < self.len() => format!("index {} of row {}", index % length, index / length),
            _ => format!("index {index}"),
        };
        Err(Failed::Wrong(format!("at {place} it has {has:?} and not {not:?}")))
    }

    fn last(&self) -> &KeySet<K> {
        self.for_warm_up.as_ref().filter(|_| self.is_warm_up).unwrap_or(&self.measured)
    }
}

impl<K: TestKey> KeySet<K> {
    fn new(unsorted: Vec<K>, row_length: usize, order: Order) -> Self {
        let mut expected = unsorted.clone();
        sort_rows(expected.as_mut_slice().into(), row_length, order);
        Self { unsorted, expected }
    }
}

/// Sorts every row. rayon's sort is code of its own: the standard library's, whose turn comes later, learns no branches from it.
fn sort_rows(keys: KeysMut<'_>, row_length: usize, order: Order) {
    with_keys!(keys, keys => with_ordered_bits(keys, order, |bits| {
        bits.chunks_mut(row_length.max(1)).for_each(|row| row.par_sort_unstable());
    }));
}

/// A [`HostInput`] of keys whose type is known at run time only: a measurement of it is compiled once, and not for every type of a key.
pub trait AnyInput: Send {
    /// The type of the keys.
    fn key_type(&self) -> KeyType;

    /// How many keys there are.
    fn len(&self) -> usize;

    /// Whether there are none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many keys a row has.
    fn row_length(&self) -> usize;

    /// See [`HostInput::restore`].
    fn restore(&mut self, sample: Sample);

    /// See [`HostInput::work`].
    fn work(&mut self) -> KeysMut<'_>;

    /// See [`HostInput::verify`].
    ///
    /// # Errors
    ///
    /// Where the first wrong key is.
    fn verify(&self) -> Result<(), Failed>;

    /// Calls `sort` with a copy of the first unsorted keys that count.
    ///
    /// # Errors
    ///
    /// Those of `sort`.
    fn try_out(
        &self,
        keys: usize,
        sort: &mut dyn FnMut(KeysMut<'_>) -> Result<Told, String>,
    ) -> Result<(), String>;

    /// What the last contender did wrong, under this name and in this repetition.
    fn error_log(&self, label: String, repetition: usize) -> ErrorLog;
}

impl<K: TestKey> AnyInput for HostInput<K> {
    fn key_type(&self) -> KeyType {
        K::TYPE
    }

    fn len(&self) -> usize {
        self.work.len()
    }

    fn row_length(&self) -> usize {
        self.row_length
    }

    fn restore(&mut self, sample: Sample) {
        self.restore(sample);
    }

    fn work(&mut self) -> KeysMut<'_> {
        self.work.as_mut_slice().into()
    }

    fn verify(&self) -> Result<(), Failed> {
        self.verify()
    }

    fn try_out(
        &self,
        keys: usize,
        sort: &mut dyn FnMut(KeysMut<'_>) -> Result<Told, String>,
    ) -> Result<(), String> {
        sort(self.measured.unsorted[..keys].to_vec().as_mut_slice().into()).map(drop)
    }

    fn error_log(&self, label: String, repetition: usize) -> ErrorLog {
        ErrorLog::new(label, repetition, self.unsorted(), self.result())
    }
}

/// [`HostInput::make`] for keys of this type, in rows of this length, each of them sorted for itself.
///
/// # Errors
///
/// If the machine does not have the memory.
pub fn make_input(
    key_type: KeyType,
    (len, row_length): (usize, usize),
    pattern: Pattern,
    seed: u64,
    order: Order,
) -> Result<Box<dyn AnyInput>, String> {
    with_key_type!(key_type, K => {
        let input = HostInput::<K>::make(len, pattern, seed, order)?;
        Ok(Box::new(if row_length == len { input } else { input.in_rows(row_length) }))
    })
}

/// A sort of keys of any type in the host's memory, called from this process.
pub trait AnySort: Send {
    /// Its name in records and messages.
    fn name(&self) -> Cow<'_, str>;

    /// Does what only the first sort of these keys does.
    ///
    /// # Errors
    ///
    /// Why it cannot sort.
    fn prepare(&mut self, _input: &dyn AnyInput) -> Result<(), String> {
        Ok(())
    }

    /// Sorts every row.
    ///
    /// # Errors
    ///
    /// Why it did not sort.
    fn sort(&mut self, keys: KeysMut<'_>, row_length: usize) -> Result<Told, String>;

    /// Whether all its work is done by the thread that calls it, so that counters of this thread see all of it.
    fn stays_on_its_thread(&self) -> bool {
        false
    }
}

impl<S: AnySort> Contender<Box<dyn AnyInput>> for InProcess<S> {
    fn name(&self) -> Cow<'_, str> {
        self.0.name()
    }

    fn prepare(&mut self, input: &mut Box<dyn AnyInput>) -> Result<(), Failed> {
        self.0.prepare(&**input).map_err(Failed::LeftOut)
    }

    fn run(&mut self, input: &mut Box<dyn AnyInput>, gauge: &mut Gauge<'_>) -> Result<Timed, Failed> {
        let sort = &mut self.0;
        gauge.for_thread(sort.stays_on_its_thread()).last_of(|sample, clock| {
            input.restore(sample);
            let row_length = input.row_length();
            let keys = input.work();
            timed(clock.time(|| sort.sort(keys, row_length)))
        })
    }

    fn verify(&mut self, input: &mut Box<dyn AnyInput>) -> Result<(), Failed> {
        input.verify()
    }
}

/// What the clock says of a sort.
fn timed((told, seconds, counts): (Result<Told, String>, f64, Counts)) -> Result<Timed, Failed> {
    let Told { device, kernels } = told.map_err(Failed::LeftOut)?;
    Ok(Timed { seconds, device, kernels, counts, note: String::new() })
}

/// A sort of keys of one type in the host's memory, called from this process.
pub trait HostSort<K>: Send {
    /// Its name in records and messages.
    fn name(&self) -> Cow<'_, str>;

    /// Does what only the first sort of these keys does.
    ///
    /// # Errors
    ///
    /// Why it cannot sort.
    fn prepare(&mut self, _keys: &[K], _row_length: usize) -> Result<(), String> {
        Ok(())
    }

    /// Sorts every row.
    ///
    /// # Errors
    ///
    /// Why it did not sort.
    fn sort(&mut self, keys: &mut [K], row_length: usize) -> Result<Told, String>;

    /// The threads that it is called from; `None` is the caller's own.
    fn pool(&self) -> Option<Arc<ThreadPool>> {
        None
    }

    /// Whether all its work is done by the thread that calls it, so that counters of this thread see all of it.
    fn stays_on_its_thread(&self) -> bool {
        false
    }
}

/// What a sort tells of itself.
#[derive(Clone, Debug, Default)]
pub struct Told {
    /// What the device did, if there is one.
    pub device: Option<DeviceShare>,
    /// Every kernel's part, where it is known.
    pub kernels: Vec<KernelTime>,
}

/// A [`HostSort`] or an [`AnySort`] that takes turns with others.
#[derive(Clone, Debug)]
pub struct InProcess<S>(pub S);

impl<K: TestKey, S: HostSort<K>> Contender<HostInput<K>> for InProcess<S> {
    fn name(&self) -> Cow<'_, str> {
        self.0.name()
    }

    fn prepare(&mut self, input: &mut HostInput<K>) -> Result<(), Failed> {
        self.0.prepare(&input.measured.unsorted, input.row_length).map_err(Failed::LeftOut)
    }

    fn run(&mut self, input: &mut HostInput<K>, gauge: &mut Gauge<'_>) -> Result<Timed, Failed> {
        let pool = self.0.pool();
        let sort = &mut self.0;
        let mut gauge = gauge.for_thread(sort.stays_on_its_thread());
        let mut run = || {
            gauge.last_of(|sample, clock| {
                input.restore(sample);
                let row_length = input.row_length;
                timed(clock.time(|| sort.sort(&mut input.work, row_length)))
            })
        };
        match pool {
            // Warm-up, copy and sort on the same thread, so that its core and its caches are the warm ones.
            Some(pool) => pool.install(run),
            None => run(),
        }
    }

    fn verify(&mut self, input: &mut HostInput<K>) -> Result<(), Failed> {
        input.verify()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::WarmUp;

    /// Sorts, but for the keys that the warm-up does not have.
    struct Standard;

    impl HostSort<f32> for Standard {
        fn name(&self) -> Cow<'_, str> {
            "std".into()
        }

        fn sort(&mut self, keys: &mut [f32], row_length: usize) -> Result<Told, String> {
            keys.chunks_mut(row_length).for_each(|row| row.sort_unstable_by(f32::total_cmp));
            Ok(Told::default())
        }
    }

    #[test]
    fn the_sort_that_counts_is_of_other_keys_than_the_warm_up() {
        let mut input =
            HostInput::<f32>::make(100, Pattern::Random, 1, Order::Ascending).unwrap().in_rows(10);
        let mut contender = InProcess(Standard);
        contender.run(&mut input, &mut Gauge::new(WarmUp::DEFAULT, None)).unwrap();
        assert_eq!(input.unsorted(), Pattern::Random.generate::<f32>(100, 1));
        assert_eq!(contender.verify(&mut input), Ok(()));
        input.restore(Sample::WarmsUp);
        assert_ne!(input.unsorted(), Pattern::Random.generate::<f32>(100, 1));
        assert!(input.verify().is_err());
        contender.0.sort(input.work(), 10).unwrap();
        assert_eq!(input.verify(), Ok(()), "the right result is known for both");
    }

    #[test]
    fn a_wrong_key_is_found_with_its_row_and_index() {
        let sorted = |input: &mut HostInput<f32>| {
            input.restore(Sample::Counts);
            let row_length = input.row_length();
            Standard.sort(input.work(), row_length).unwrap();
        };
        let mut input = HostInput::make(100, Pattern::Random, 1, Order::Ascending).unwrap();
        sorted(&mut input);
        input.work().swap(41, 42);
        let Err(Failed::Wrong(message)) = input.verify() else { panic!("not found") };
        assert!(message.starts_with("at index 41 it has "), "{message}");
        let mut input = input.in_rows(10);
        sorted(&mut input);
        input.work().swap(21, 22);
        let Err(Failed::Wrong(message)) = input.verify() else { panic!("not found") };
        assert!(message.starts_with("at index 1 of row 2 it has "), "{message}");
    }

    #[test]
    fn the_sign_of_zero_counts_and_so_does_the_order() {
        let mut input = HostInput::new(vec![0.0_f32, -0.0], None, 2, Order::Ascending);
        assert!(input.verify().is_err());
        input.work().copy_from_slice(&[-0.0, 0.0]);
        assert_eq!(input.verify(), Ok(()));
        let input = HostInput::new(vec![0.0_f32, -0.0], None, 2, Order::Descending);
        assert_eq!(input.verify(), Ok(()));
    }

    #[test]
    fn renewed_keys_are_the_ones_that_count() {
        let mut input = HostInput::new(vec![2_u8, 1], None, 2, Order::Ascending);
        input.renew(vec![9, 8]);
        assert_eq!((input.unsorted(), input.renewals()), (&[9, 8][..], 1));
        input.work().copy_from_slice(&[8, 9]);
        assert_eq!(input.verify(), Ok(()));
    }
}
