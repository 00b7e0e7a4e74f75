//! Looking at keys without moving them.

use super::ordered::ordered;
use super::vector::Vector;
use crate::cpu::prefetch::{AHEAD, prefetch};
use crate::key::BitMap;

/// Whether the ordered bits of all keys are in ascending order. Gives up at the first register that shows otherwise.
///
/// # Safety
///
/// As for [`Vector`]; `len` keys must be valid for reading.
#[inline(always)]
pub(crate) unsafe fn is_ascending<V: Vector>(keys: *const V::Lane, len: usize, map: BitMap<V::Lane>) -> bool {
    // SAFETY: `index + 1 + LANES <= len` in the first loop, `index + 1 < len` in the second.
    unsafe {
        let mut index = 0;
        while index + V::LANES < len {
            let (these, next) = (V::load(keys.add(index)), V::load(keys.add(index + 1)));
            if !ordered(these, map).all_at_most(ordered(next, map)) {
                return false;
            }
            index += V::LANES;
        }
        while index + 1 < len {
            if map.to_ordered(keys.add(index).read()) > map.to_ordered(keys.add(index + 1).read()) {
                return false;
            }
            index += 1;
        }
    }
    true
}

/// As [`is_ascending`], for descending order.
///
/// # Safety
///
/// As for [`is_ascending`].
#[inline(always)]
pub(crate) unsafe fn is_descending<V: Vector>(
    keys: *const V::Lane,
    len: usize,
    map: BitMap<V::Lane>,
) -> bool {
    // SAFETY: as in `is_ascending`.
    unsafe {
        let mut index = 0;
        while index + V::LANES < len {
            let (these, next) = (V::load(keys.add(index)), V::load(keys.add(index + 1)));
            if !ordered(next, map).all_at_most(ordered(these, map)) {
                return false;
            }
            index += V::LANES;
        }
        while index + 1 < len {
            if map.to_ordered(keys.add(index).read()) < map.to_ordered(keys.add(index + 1).read()) {
                return false;
            }
            index += 1;
        }
    }
    true
}

/// So many registers are looked at together, so that one branch serves them all.
const AT_ONCE: usize = 4;

/// Where the first key is whose ordered bits are below the bound; `len` if none is.
///
/// # Safety
///
/// As for [`Vector`]; `len` keys must be valid for reading.
#[inline(always)]
pub(crate) unsafe fn first_below<V: Vector>(
    keys: *const V::Lane,
    len: usize,
    map: BitMap<V::Lane>,
    bound: V::Lane,
) -> usize {
    let mut index = 0;
    // SAFETY: registers are read as long as so many whole ones are left, keys as long as one is.
    unsafe {
        let bounds = V::splat(bound);
        while index + AT_ONCE * V::LANES <= len {
            let mut least = ordered(V::load(keys.add(index)), map);
            for register in 1..AT_ONCE {
                let keys = keys.add(index + register * V::LANES);
                least = least.min(ordered(V::load(keys), map));
            }
            if !bounds.all_at_most(least) {
                break;
            }
            index += AT_ONCE * V::LANES;
        }
        // Keys one by one take longer than all the others: look for the register first.
        while index + V::LANES <= len && bounds.all_at_most(ordered(V::load(keys.add(index)), map)) {
            index += V::LANES;
        }
        while index < len && map.to_ordered(keys.add(index).read()) >= bound {
            index += 1;
        }
    }
    index
}

/// How many distinct values [`count_values`] can count.
pub(crate) const COUNTED_VALUES: usize = 16;

/// As many registers of keys are counted before the counts are looked at.
const COUNTED_BLOCK: usize = 256;

/// As many values are counted at a time: their counters are in registers, and on processors with many the values as well.
const COUNTED_AT_A_TIME: usize = COUNTED_VALUES / 2;

/// How often each of the first `count` values occurs; `None` as soon as keys with other values are seen. Where there are fewer
/// values than the array holds, fill it with any.
///
/// # Safety
///
/// As for [`Vector`]; `len` keys must be valid for reading.
#[inline(always)]
pub(crate) unsafe fn count_values<V: Vector>(
    keys: *const V::Lane,
    len: usize,
    values: &[V::Lane; COUNTED_VALUES],
    count: usize,
) -> Option<[usize; COUNTED_VALUES]> {
    let mut counts = [0; COUNTED_VALUES];
    let (lower, upper) = counts.split_at_mut(COUNTED_AT_A_TIME);
    let (lower_values, upper_values) = values.split_at(COUNTED_AT_A_TIME);
    // SAFETY: registers are read as long as a whole one is left, keys as long as one is.
    unsafe {
        let whole = len / V::LANES;
        let mut first = 0;
        let mut expected = 0;
        while first < whole {
            let registers = COUNTED_BLOCK.min(whole - first);
            let block = keys.add(first * V::LANES);
            count_block::<V>(block, registers, lower_values, lower);
            if count > COUNTED_AT_A_TIME {
                count_block::<V>(block, registers, upper_values, upper);
            }
            first += registers;
            expected += registers * V::LANES;
            let seen = lower.iter().chain(&*upper).take(count).sum::<usize>();
            if seen != expected {
                return None;
            }
        }
        for index in whole * V::LANES..len {
            let key = keys.add(index).read();
            counts[values[..count].iter().position(|&value| value == key)?] += 1;
        }
    }
    Some(counts)
}

/// Adds to the counts how often the values occur in so many registers of keys.
#[inline(always)]
unsafe fn count_block<V: Vector>(
    keys: *const V::Lane,
    registers: usize,
    values: &[V::Lane],
    counts: &mut [usize],
) {
    // SAFETY: the caller vouches for V's instructions, and for keys that are `registers` registers.
    unsafe {
        // No closure: one that is not inlined would lack the vector instructions.
        let mut splats = [V::splat(values[0]); COUNTED_AT_A_TIME];
        for (splat, &value) in splats.iter_mut().zip(values) {
            *splat = V::splat(value);
        }
        let mut counters = [V::no_counts(); COUNTED_AT_A_TIME];
        for register in 0..registers {
            let keys = keys.add(register * V::LANES);
            prefetch(keys.wrapping_byte_add(AHEAD));
            let keys = V::load(keys);
            for (counter, &value) in counters.iter_mut().zip(&splats) {
                *counter = counter.count_equal(keys, value);
            }
        }
        for (count, counter) in counts.iter_mut().zip(counters) {
            *count += counter.sum_of_counts();
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::cpu::generic::scan::COUNTED_VALUES;
    use crate::cpu::instructions::{HasKernels, kernels_of_128_bits};
    use crate::cpu::kernels::Kernels;
    use crate::instructions::{Available, Instructions};
    use crate::key::Bits;

    /// Holds the kernel's counts against counts one by one; and with one key that is none of the values, there are none.
    fn check<B: Bits>(kernels: &Kernels<B>, instructions: Instructions, count: usize, len: usize) {
        let value =
            |number: usize| B::truncate((number as u128 + 1) * 0x0102_0408_1020_4081_0102_0408_1020_4081);
        let values: [B; COUNTED_VALUES] = std::array::from_fn(|number| value(number.min(count - 1)));
        let mut keys: Vec<B> = (0..len).map(|index| value(index * 7919 / 3 % count)).collect();
        let expected: Vec<usize> =
            values[..count].iter().map(|value| keys.iter().filter(|key| *key == value).count()).collect();
        // SAFETY: the instruction set is available; pointer and length are the vector's.
        let counted =
            |keys: &[B]| unsafe { (kernels.count_values)(keys.as_ptr(), keys.len(), &values, count) };
        let counts = counted(&keys).expect("there are no other values");
        assert_eq!(counts[..count], expected, "{instructions}, {count} values, {len} keys");
        for place in [0, len / 2, len.saturating_sub(1)].into_iter().filter(|&place| place < len) {
            let key = std::mem::replace(&mut keys[place], B::MAX);
            assert_eq!(counted(&keys), None, "{instructions}, another value at {place} of {len}");
            keys[place] = key;
        }
    }

    #[test]
    fn values_are_counted_as_one_by_one() {
        for available in Instructions::ALL.iter().filter_map(|&set| Available::of(set)) {
            for count in [1, 2, 7, 8, 9, 16] {
                for len in [0, 1, 15, 16, 17, 100, 4095, 4096, 4097, 10_000] {
                    check(u16::kernels(available), available.set(), count, len);
                    check(u32::kernels(available), available.set(), count, len);
                    check(u64::kernels(available), available.set(), count, len);
                    if let Some(kernels) = kernels_of_128_bits(available) {
                        check(kernels, available.set(), count, len);
                    }
                }
            }
        }
    }
}
