//! Memory that is refused: whichever allocation of a sort fails, the caller's data are as before or fully sorted.
//!
//! The allocator of this program refuses the k-th allocation of an array, for every k, until a sort gets through without a
//! refusal. It grants what is small: the text of a report or of an error, and what a thread pool needs for itself. Where those
//! are refused the process ends, as every Rust program does.

use bitonic::key::f16;
use bitonic::{Engine, Error, Instructions, Order, Sorter};
use bitonic_testkit::{Pattern, TestKey};
use std::alloc::{GlobalAlloc, Layout, System};
use std::fmt::Debug;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Refuses one allocation out of those that are at least so large.
struct Refusing {
    is_armed: AtomicBool,
    at_least: AtomicUsize,
    still_granted: AtomicUsize,
    has_refused: AtomicBool,
}

#[global_allocator]
static ALLOCATOR: Refusing = Refusing {
    is_armed: AtomicBool::new(false),
    at_least: AtomicUsize::new(0),
    still_granted: AtomicUsize::new(0),
    has_refused: AtomicBool::new(false),
};

// SAFETY: a pointer is either null, which says that there is no memory, or the system allocator's.
unsafe impl GlobalAlloc for Refusing {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let counts =
            self.is_armed.load(Ordering::SeqCst) && layout.size() >= self.at_least.load(Ordering::SeqCst);
        let one_less = |granted: usize| granted.checked_sub(1);
        if counts
            && self.still_granted.fetch_update(Ordering::SeqCst, Ordering::SeqCst, one_less).is_err()
            && !self.has_refused.swap(true, Ordering::SeqCst)
        {
            return std::ptr::null_mut();
        }
        // SAFETY: the caller's promise is the same.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise is the same.
        unsafe { System.dealloc(pointer, layout) }
    }
}

/// What is refused to one kind of sort.
#[derive(Clone, Copy, Debug)]
struct Refusal {
    threads: usize,
    at_least: usize,
}

/// Everything that is larger than a few lines of text, on the calling thread alone.
const ONE_THREAD: Refusal = Refusal { threads: 1, at_least: 1024 };

/// Everything that is larger than what a thread pool asks for itself, on two threads.
const TWO_THREADS: Refusal = Refusal { threads: 2, at_least: 4096 };

/// One run of a sort, in which one allocation is refused.
struct Trial {
    refusal: Refusal,
    granted: usize,
}

impl Trial {
    /// Sorts while the allocator refuses. Nothing but the sort itself may allocate in `sort`.
    fn run<R: Debug>(&self, sort: impl FnOnce() -> Result<R, Error>) -> Result<R, Error> {
        ALLOCATOR.at_least.store(self.refusal.at_least, Ordering::SeqCst);
        ALLOCATOR.still_granted.store(self.granted, Ordering::SeqCst);
        ALLOCATOR.has_refused.store(false, Ordering::SeqCst);
        ALLOCATOR.is_armed.store(true, Ordering::SeqCst);
        let result = sort();
        ALLOCATOR.is_armed.store(false, Ordering::SeqCst);
        let may_fail = ALLOCATOR.has_refused.load(Ordering::SeqCst);
        assert!(result.is_ok() || may_fail, "{self}: {result:?} though nothing was refused");
        result
    }
}

impl std::fmt::Display for Trial {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?}, allocation {} refused", self.refusal, self.granted)
    }
}

/// Runs `work` once for every allocation that its sort makes, with that one refused, and then without a refusal. Returns
/// how many there were.
fn refuse_each(refusal: Refusal, mut work: impl FnMut(&Trial)) -> usize {
    // The first sorts of a process look at the machine and start threads.
    let mut keys: Vec<u32> = (0..100_000).rev().collect();
    sorter(refusal).sort(&mut keys).unwrap();
    (0..)
        .find(|&granted| {
            work(&Trial { refusal, granted });
            !ALLOCATOR.has_refused.load(Ordering::SeqCst)
        })
        .expect("a sort makes a finite number of allocations")
}

/// One test at a time: allocations of another one would be refused.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn sorter(refusal: Refusal) -> Sorter {
    Sorter::new().engine(Engine::Cpu).threads(refusal.threads)
}

/// Lengths for one thread and for more: around the sizes at which a sort changes its way, and enough keys for threads.
fn lengths(refusal: Refusal) -> &'static [usize] {
    if refusal.threads == 1 { &[300, 10_000, 20_000] } else { &[70_000] }
}

/// Every combination of options, each with a name.
fn sorters(refusal: Refusal) -> Vec<(String, Sorter)> {
    let mut sorters = Vec::new();
    for order in [Order::Ascending, Order::Descending] {
        for (stable, oblivious) in [(false, false), (true, false), (false, true), (true, true)] {
            let sorter = sorter(refusal).order(order).stable(stable).oblivious(oblivious);
            sorters.push((format!("{order:?}, stable {stable}, oblivious {oblivious}"), sorter));
        }
    }
    sorters
}

fn bits<K: TestKey>(keys: &[K]) -> Vec<K::Bits> {
    keys.iter().map(|key| key.to_raw_bits()).collect()
}

fn sorted<K: TestKey>(keys: &[K], sorter: &Sorter) -> Vec<K::Bits> {
    let mut keys = keys.to_vec();
    sorter.sort(&mut keys).unwrap();
    bits(&keys)
}

/// Keys alone, rows, and the first keys.
fn check_keys<K: TestKey>(refusal: Refusal) {
    for &len in lengths(refusal) {
        let before: Vec<K> = Pattern::Special.generate(len, 7);
        for (name, sorter) in sorters(refusal) {
            let name = format!("{len} {}, {name}", K::TYPE);
            let after = sorted(&before, &sorter);
            refuse_each(refusal, |trial| {
                let mut keys = before.clone();
                let result = trial.run(|| sorter.sort(&mut keys));
                let expected = if result.is_ok() { &after } else { &bits(&before) };
                assert!(bits(&keys) == *expected, "{name}, {trial}: {result:?}");
            });
            let row = len / 10;
            let rows: Vec<_> = before.chunks(row).flat_map(|row| sorted(row, &sorter)).collect();
            refuse_each(refusal, |trial| {
                let mut keys = before.clone();
                let result = trial.run(|| sorter.sort_rows(&mut keys, row));
                let expected = if result.is_ok() { &rows } else { &bits(&before) };
                assert!(bits(&keys) == *expected, "{name}, rows of {row}, {trial}: {result:?}");
            });
            // Keys are parted before the smallest are sorted.
            let smallest = len / 10 * 9;
            refuse_each(refusal, |trial| {
                let mut keys = before.clone();
                let result = trial.run(|| sorter.partial_sort(&mut keys, smallest));
                let keys = bits(&keys);
                let is_right = if result.is_ok() {
                    keys[..smallest] == after[..smallest]
                } else {
                    keys == bits(&before)
                };
                assert!(is_right, "{name}, the first {smallest}, {trial}: {result:?}");
            });
            refuse_each(refusal, |trial| {
                let result = trial.run(|| sorter.argsort(&before));
                let Ok(indices) = result else { return };
                let keys: Vec<K> = indices.iter().map(|&index| before[index]).collect();
                assert!(bits(&keys) == after, "{name}, argsort, {trial}");
            });
        }
    }
}

/// A value that says where its key was. `Copy` means that its bits are the value: `clone` is not to be called.
#[derive(Copy, Debug, PartialEq)]
struct Tag<const BYTES: usize> {
    index: u32,
    rest: [u8; BYTES],
}

#[allow(clippy::non_canonical_clone_impl, reason = "a library must not call it")]
impl<const BYTES: usize> Clone for Tag<BYTES> {
    fn clone(&self) -> Self {
        panic!("values are copied bit by bit")
    }
}

/// Values that remember the index of their key.
trait Value: Copy + Send + Debug + PartialEq {
    fn of(index: usize) -> Self;
    fn index(self) -> usize;
}

impl<const BYTES: usize> Value for Tag<BYTES> {
    fn of(index: usize) -> Self {
        Self { index: index as u32, rest: [index as u8; BYTES] }
    }
    fn index(self) -> usize {
        assert_eq!(self.rest, [self.index as u8; BYTES], "a value was torn");
        self.index as usize
    }
}

macro_rules! numbers {
    ($($type:ty),+) => {$(
        impl Value for $type {
            fn of(index: usize) -> Self {
                index as $type
            }
            fn index(self) -> usize {
                self as usize
            }
        }
    )+};
}
numbers!(u32, f32, u64, f64, u128);

/// Keys with values: afterwards every value is still with its key, and nothing moved unless all is sorted.
fn check_pairs<K: TestKey, V: Value>(refusal: Refusal) {
    for &len in lengths(refusal) {
        let before: Vec<K> = Pattern::Special.generate(len, 7);
        for (name, sorter) in sorters(refusal) {
            let name = format!("{len} {} with {}, {name}", K::TYPE, std::any::type_name::<V>());
            let after = sorted(&before, &sorter);
            refuse_each(refusal, |trial| {
                let mut keys = before.clone();
                let mut values: Vec<V> = (0..len).map(V::of).collect();
                let result = trial.run(|| sorter.sort_pairs(&mut keys, &mut values));
                let expected = if result.is_ok() { &after } else { &bits(&before) };
                assert!(bits(&keys) == *expected, "{name}, {trial}: {result:?}");
                let mut indices: Vec<usize> = values.iter().map(|&value| value.index()).collect();
                for (&index, key) in indices.iter().zip(&keys) {
                    let own = before[index].to_raw_bits();
                    assert_eq!(key.to_raw_bits(), own, "{name}, {trial}: a value left its key, {result:?}");
                }
                indices.sort_unstable();
                assert!(indices.into_iter().eq(0..len), "{name}, {trial}: a value was lost");
            });
        }
    }
}

fn check_pairs_of<K: TestKey>(refusal: Refusal) {
    check_pairs::<K, u32>(refusal);
    check_pairs::<K, u64>(refusal);
    check_pairs::<K, Tag<96>>(refusal);
}

#[test]
fn the_allocator_refuses() {
    let _alone = alone();
    let count = refuse_each(ONE_THREAD, |trial| {
        let mut large: Vec<u8> = Vec::new();
        let result = trial.run(|| {
            large.try_reserve_exact(10_000).map_err(|_| Error::OutOfMemory { bytes: 10_000 })?;
            large.try_reserve_exact(20_000).map_err(|_| Error::OutOfMemory { bytes: 20_000 })
        });
        assert_eq!(result.is_ok(), trial.granted >= 2, "{trial}");
    });
    assert_eq!(count, 2);
}

#[test]
fn keys_rows_and_indices() {
    let _alone = alone();
    check_keys::<u8>(ONE_THREAD);
    check_keys::<i16>(ONE_THREAD);
    check_keys::<f32>(ONE_THREAD);
    check_keys::<u64>(ONE_THREAD);
    check_keys::<i128>(ONE_THREAD);
}

/// The only memory that a sort of keys alone asks for, if they are many. Fewer are many to portable code.
#[test]
fn counters_of_16_bit_keys() {
    let _alone = alone();
    let before: Vec<i16> = Pattern::Special.generate(20_000, 7);
    let sorter = sorter(ONE_THREAD).instructions(Instructions::Portable);
    let after = sorted(&before, &sorter);
    let count = refuse_each(ONE_THREAD, |trial| {
        let mut keys = before.clone();
        let result = trial.run(|| sorter.sort(&mut keys));
        let expected = if result.is_ok() { &after } else { &bits(&before) };
        assert!(bits(&keys) == *expected, "{trial}: {result:?}");
    });
    assert_eq!(count, 1);
}

#[test]
fn pairs() {
    let _alone = alone();
    check_pairs_of::<u8>(ONE_THREAD);
    check_pairs_of::<f16>(ONE_THREAD);
    check_pairs_of::<u32>(ONE_THREAD);
    check_pairs_of::<char>(ONE_THREAD);
    check_pairs_of::<f64>(ONE_THREAD);
    check_pairs_of::<u128>(ONE_THREAD);
    check_pairs::<u32, f32>(ONE_THREAD);
    check_pairs::<u32, Tag<0>>(ONE_THREAD);
    check_pairs::<u32, Tag<1>>(ONE_THREAD);
    check_pairs::<u64, u128>(ONE_THREAD);
    check_pairs::<u64, f64>(ONE_THREAD);
}

#[test]
fn on_two_threads() {
    let _alone = alone();
    check_keys::<u16>(TWO_THREADS);
    check_keys::<u32>(TWO_THREADS);
    check_keys::<u128>(TWO_THREADS);
    check_pairs_of::<u32>(TWO_THREADS);
    check_pairs_of::<i64>(TWO_THREADS);
}

#[test]
fn an_oblivious_merge_that_is_refused_memory_has_written_nothing() {
    let _alone = alone();
    for refusal in [ONE_THREAD, TWO_THREADS] {
        let len = lengths(refusal)[0];
        let sorter = sorter(refusal).oblivious(true);
        // Two runs that ascend, and interleave.
        let keys: Vec<u64> = (0..len as u64).step_by(2).chain((1..len as u64).step_by(2)).collect();
        let (first, second) = keys.split_at(len / 2);
        let mut after = keys.clone();
        after.sort_unstable();
        let refused = refuse_each(refusal, |trial| {
            let (mut merged, mut values) = (vec![7; len], vec![7; len]);
            let result = trial
                .run(|| sorter.merge_pairs((first, first), (second, second), (&mut merged, &mut values)));
            let expected = if result.is_ok() { &after } else { &vec![7; len] };
            assert!(merged == *expected && values == *expected, "{trial}: {result:?}");
        });
        assert!(refused > 0, "keys have no room for their places");
    }
}
