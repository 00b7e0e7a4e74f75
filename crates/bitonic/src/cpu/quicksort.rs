//! The default for large arrays: partition in place until a part fits a tile, then the network.
//!
//! - Pivots are medians of a sample spread over the part, sorted by the network itself.
//! - A part that only gets smaller slowly, whatever the reason, is finished by the pure network, whose time does not
//!   depend on the keys: there is no quadratic case.
//! - While there are fewer parts than threads, several threads partition a part together.
//! - Keys equal to a pivot that comes up again are split off and done, so that many equal keys cost less, not more; a part of at
//!   most 16 values is counted instead of sorted.
//! - Bits in memory become ordered bits in the first partition, and what is in its place becomes keys again at once, while the cache
//!   still has it: neither takes a pass of its own.
//! - Keys in order, or in opposite order, are recognised by a scan that gives up at the first counterexample.

use super::generic::scan::COUNTED_VALUES;
use super::kernels::Kernels;
use super::network;
use super::threads::{PARALLEL_FROM, both, count};
use crate::key::{BitMap, Bits};

/// Sorts the bits of more keys than a tile holds so that what `map` makes of them ascends, fast rather than obliviously.
pub(super) fn sort<B: Bits>(bits: &mut [B], map: BitMap<B>, kernels: &Kernels<B>, parallel: bool) {
    let task = Task { kernels, map, parallel };
    if is_done_by_scan(bits, map, kernels) {
        return;
    }
    // Every partition that halves a part uses one; twice as many allow for uneven ones.
    let budget = 2 * (bits.len() / kernels.tile + 1).ilog2() + 4;
    let threads = if parallel { count(None) } else { 1 };
    sort_part(Part { keys: bits, map, least: None, budget, threads }, &task);
}

/// What is the same for all parts of a sort.
struct Task<'a, B: 'static> {
    kernels: &'a Kernels<B>,
    map: BitMap<B>,
    parallel: bool,
}

impl<B: Bits> Task<'_, B> {
    /// Turns ordered bits that are in their places into keys.
    fn finish(&self, bits: &mut [B]) {
        if !self.map.is_identity() {
            // SAFETY: the kernels were handed out for this processor; pointer and length are the slice's.
            unsafe { (self.kernels.from_ordered)(bits.as_mut_ptr(), bits.len(), self.map) }
        }
    }
}

/// Finishes keys that are in ascending or descending order already.
fn is_done_by_scan<B: Bits>(keys: &mut [B], map: BitMap<B>, kernels: &Kernels<B>) -> bool {
    // SAFETY: the kernels were handed out for this processor; pointer and length are the slice's.
    unsafe {
        if (kernels.is_ascending)(keys.as_ptr(), keys.len(), map) {
            return true;
        }
        if (kernels.is_descending)(keys.as_ptr(), keys.len(), map) {
            keys.reverse();
            return true;
        }
    }
    false
}

/// Keys that stand between others already in their places.
struct Part<'a, B> {
    keys: &'a mut [B],
    /// What makes ordered bits of them: the map of the sort before the first partition, nothing behind it.
    map: BitMap<B>,
    /// An ordered key that none of them is below, if one is known.
    least: Option<B>,
    /// How many more partitions may be tried.
    budget: u32,
    /// About as many threads have nothing to do but this part.
    threads: usize,
}

fn sort_part<B: Bits>(mut part: Part<'_, B>, task: &Task<'_, B>) {
    let kernels = task.kernels;
    loop {
        let len = part.keys.len();
        if len <= kernels.tile || part.budget == 0 {
            network::sort(part.keys, kernels, task.parallel);
            return task.finish(part.keys);
        }
        part.budget -= 1;
        let sample = Sample::take(part.keys, part.map, kernels);
        if let Some(values) = sample.few_values()
            && sort_by_counting(&mut part, values, task)
        {
            return;
        }
        let pivot = sample.key(SAMPLE / 2);
        let below = match part.least {
            // None is below the pivot: split off those that equal it.
            Some(least) if least == pivot => 0,
            _ => partition_on_threads(part.keys, part.threads, &|keys| {
                order_and_partition(keys, part.map, pivot, kernels)
            }),
        };
        part.map = BitMap::IDENTITY;
        if below == 0 {
            let Some(next) = successor(pivot) else { return task.finish(part.keys) };
            let equal = partition_on_threads(part.keys, part.threads, &|keys| {
                partition(keys, part.map, next, kernels)
            });
            let (equal, rest) = part.keys.split_at_mut(equal);
            task.finish(equal);
            part.keys = rest;
            part.least = Some(next);
            continue;
        }
        let (lower, upper) = part.keys.split_at_mut(below);
        let threads = part.threads.div_ceil(2);
        let lower = Part { keys: lower, threads, ..part };
        let upper = Part { keys: upper, least: Some(pivot), threads, ..part };
        if task.parallel && len >= PARALLEL_FROM {
            return both(true, || sort_part(lower, task), || sort_part(upper, task));
        }
        // The smaller part goes on the stack, the larger one round the loop.
        let (smaller, larger) = if below <= len / 2 { (lower, upper) } else { (upper, lower) };
        sort_part(smaller, task);
        part = larger;
    }
}

/// Moves the keys whose ordered bits are below the pivot to the front and returns their number.
pub(super) fn partition<B: Bits>(keys: &mut [B], map: BitMap<B>, pivot: B, kernels: &Kernels<B>) -> usize {
    // SAFETY: the kernels were handed out for this processor; pointer and length are the slice's.
    unsafe { (kernels.partition)(keys.as_mut_ptr(), keys.len(), map, pivot) }
}

/// The same, and turns the bits of all keys into ordered bits.
fn order_and_partition<B: Bits>(keys: &mut [B], map: BitMap<B>, pivot: B, kernels: &Kernels<B>) -> usize {
    if map.is_identity() {
        return partition(keys, map, pivot, kernels);
    }
    // SAFETY: the kernels were handed out for this processor; pointer and length are the slice's.
    unsafe { (kernels.order_and_partition)(keys.as_mut_ptr(), keys.len(), map, pivot) }
}

/// From this many keys on, threads partition together. Fewer are partitioned by one thread while another one wakes up.
const SHARED_FROM: usize = 4 * PARALLEL_FROM;

/// Partitions on so many threads: `partition` moves keys of a kind to the front and returns their number.
///
/// ```text
///   | front  back | front  back |     each half for itself
///   | front  front | back  back |     keys between the two borders change places, none twice
/// ```
fn partition_on_threads<B: Bits>(
    keys: &mut [B],
    threads: usize,
    partition: &(impl Fn(&mut [B]) -> usize + Sync),
) -> usize {
    if threads < 2 || keys.len() < SHARED_FROM {
        return partition(keys);
    }
    let middle = keys.len() / 2;
    let (one, other) = keys.split_at_mut(middle);
    let (mut of_one, mut of_other) = (0, 0);
    both(
        true,
        || of_one = partition_on_threads(one, threads.div_ceil(2), partition),
        || of_other = partition_on_threads(other, threads / 2, partition),
    );
    let misplaced = &mut keys[of_one..middle + of_other];
    let exchanged = of_other.min(middle - of_one);
    let (front, back) = misplaced.split_at_mut(misplaced.len() - exchanged);
    exchange(&mut front[..exchanged], back, threads);
    of_one + of_other
}

/// Has keys change places with others, on so many threads.
fn exchange<B: Bits>(some: &mut [B], others: &mut [B], threads: usize) {
    if threads < 2 || some.len() < PARALLEL_FROM {
        return some.swap_with_slice(others);
    }
    let middle = some.len() / 2;
    let ((some, more), (others, rest)) = (some.split_at_mut(middle), others.split_at_mut(middle));
    both(true, || exchange(some, others, threads.div_ceil(2)), || exchange(more, rest, threads / 2));
}

/// The next greater key, if there is one.
pub(super) fn successor<B: Bits>(key: B) -> Option<B> {
    (key != B::MAX).then(|| B::truncate(key.widen() + 1))
}

/// How many keys a sample has. The median of 128 is within 9 % of the true one in 19 of 20 cases, and sorting them takes less
/// than a tenth of the time of the partition it is for.
pub(super) const SAMPLE: usize = 128;

/// Ordered keys from all over a part, sorted.
pub(super) struct Sample<B> {
    keys: [B; SAMPLE],
}

impl<B: Bits> Sample<B> {
    pub(super) fn take(keys: &[B], map: BitMap<B>, kernels: &Kernels<B>) -> Self {
        // Even spacing with a jitter: patterns with a period would fool even spacing alone.
        let spacing = keys.len() / SAMPLE;
        let mut random = keys.len() as u64 | 1;
        let mut sample: [B; SAMPLE] = std::array::from_fn(|index| {
            random = random.wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(31);
            // The upper half of 32 random bits times the spacing: below it, and without a division.
            map.to_ordered(
                keys[index * spacing + ((random >> 32).wrapping_mul(spacing as u64) >> 32) as usize],
            )
        });
        kernels.sort_tile(&mut sample);
        Self { keys: sample }
    }

    /// The key of a rank in the sample.
    pub(super) fn key(&self, rank: usize) -> B {
        self.keys[rank]
    }

    /// The values in the sample, if they are few enough to be counted; the last one repeats.
    fn few_values(&self) -> Option<FewValues<B>> {
        let mut values = [self.keys[SAMPLE - 1]; COUNTED_VALUES];
        let mut count = 0;
        for (index, &key) in self.keys.iter().enumerate() {
            if index == 0 || key != self.keys[index - 1] {
                *values.get_mut(count)? = key;
                count += 1;
            }
        }
        Some(FewValues { values, count })
    }
}

/// Up to 16 values in ascending order.
struct FewValues<B> {
    values: [B; COUNTED_VALUES],
    count: usize,
}

/// Sorts by counting if the keys have no other values than these, and finishes them.
fn sort_by_counting<B: Bits>(part: &mut Part<'_, B>, few: FewValues<B>, task: &Task<'_, B>) -> bool {
    let bits = few.values.map(|value| part.map.from_ordered(value));
    // SAFETY: the kernels were handed out for this processor; pointer and length are the slice's.
    let counts =
        unsafe { (task.kernels.count_values)(part.keys.as_ptr(), part.keys.len(), &bits, few.count) };
    let Some(counts) = counts else { return false };
    let mut rest = &mut *part.keys;
    for (&value, &count) in few.values.iter().zip(&counts[..few.count]) {
        let (run, behind) = rest.split_at_mut(count);
        run.fill(task.map.from_ordered(value));
        rest = behind;
    }
    true
}

#[cfg(test)]
mod tests {
    use super::super::instructions::HasKernels;
    use super::*;
    use crate::instructions::Available;
    use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

    /// The portable kernels with two faults: the median of every sample is its least key, so that each partition splits off
    /// one key only; and partitioned keys are counted.
    fn adversary() -> Kernels<u32> {
        unsafe fn least_in_the_middle(keys: *mut u32, len: usize) {
            // SAFETY: the caller's promise.
            let keys = unsafe { std::slice::from_raw_parts_mut(keys, len) };
            keys.sort_unstable();
            if len == SAMPLE {
                keys.swap(0, SAMPLE / 2);
            }
        }

        unsafe fn count(keys: *mut u32, len: usize, map: BitMap<u32>, pivot: u32) -> usize {
            PARTITIONED.fetch_add(len, Relaxed);
            // SAFETY: the caller's promise.
            unsafe { (u32::kernels(Available::PORTABLE).partition)(keys, len, map, pivot) }
        }

        unsafe fn least_in_the_middle_of_a_buffer(keys: *mut u32, len: usize, _: u32) {
            // SAFETY: the caller's promise.
            unsafe { least_in_the_middle(keys, len) }
        }

        Kernels {
            sort_in_registers: [least_in_the_middle; 17],
            sort_in_buffer: [least_in_the_middle_of_a_buffer; 4],
            partition: count,
            ..*u32::kernels(Available::PORTABLE)
        }
    }

    static PARTITIONED: AtomicUsize = AtomicUsize::new(0);

    #[test]
    fn the_worst_pivots_there_are_cost_a_bounded_number_of_partitions() {
        let kernels = adversary();
        let n = 200_000;
        // All different, and never in ascending or descending order for long.
        let mut keys: Vec<u32> = (0..n as u32).map(|index| index.wrapping_mul(0x9E37_79B1)).collect();
        let mut expected = keys.clone();
        expected.sort_unstable();
        sort(&mut keys, BitMap::IDENTITY, &kernels, false);
        assert_eq!(keys, expected);
        let passes = PARTITIONED.load(Relaxed) / n;
        let allowed = 2 * (2 * (n / kernels.tile + 1).ilog2() as usize + 4);
        assert!(
            passes > 10 && passes <= allowed,
            "{passes} passes, {allowed} allowed: not the worst case, or no bound"
        );
    }

    #[test]
    fn threads_that_partition_together_put_every_key_on_its_side() {
        let kernels = u32::kernels(Available::detected());
        for n in [SHARED_FROM - 1, SHARED_FROM, 3 * SHARED_FROM + 17] {
            let keys: Vec<u32> = (0..n as u32).map(|index| index.wrapping_mul(0x9E37_79B1)).collect();
            let mut expected = keys.clone();
            expected.sort_unstable();
            // Borders in the middle, at either side and at the very ends.
            for below in [0, 1, n / 5, n / 2, n - n / 5, n - 1] {
                for arrange in [<[u32]>::reverse, <[u32]>::sort_unstable, |_: &mut [u32]| ()] {
                    for threads in 1..6 {
                        let mut keys = keys.clone();
                        arrange(&mut keys);
                        let (map, pivot) = (BitMap::IDENTITY, expected[below]);
                        let found = partition_on_threads(&mut keys, threads, &|keys| {
                            partition(keys, map, pivot, kernels)
                        });
                        assert_eq!(found, below, "{n} keys, {threads} threads");
                        assert!(keys[..below].iter().all(|&key| key < pivot));
                        keys.sort_unstable();
                        assert!(keys == expected, "{n} keys, {threads} threads: not the same keys");
                    }
                }
            }
        }
    }

    #[test]
    fn few_values_are_recognised_and_one_more_value_is_not_lost() {
        let kernels = u32::kernels(Available::detected());
        for extra in [None, Some(7), Some(u32::MAX), Some(1 << 19)] {
            let mut keys: Vec<u32> =
                (0..50_000_u32).map(|index| index.wrapping_mul(0x9E37_79B1) >> 28 << 20).collect();
            keys[31_415] = extra.unwrap_or(keys[31_415]);
            let mut expected = keys.clone();
            expected.sort_unstable();
            sort(&mut keys, BitMap::IDENTITY, kernels, false);
            assert!(keys == expected, "{extra:?}");
        }
    }
}
