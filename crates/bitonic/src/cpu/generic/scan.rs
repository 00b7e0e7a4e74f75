//! Looking at keys without moving them.

use super::vector::Vector;

/// Whether all keys are in ascending order. Gives up at the first register that shows otherwise.
///
/// # Safety
///
/// As for [`Vector`]; `len` keys must be valid for reading.
#[inline(always)]
pub(crate) unsafe fn is_ascending<V: Vector>(keys: *const V::Lane, len: usize) -> bool {
    // SAFETY: `index + 1 + LANES <= len` in the first loop, `index + 1 < len` in the second.
    unsafe {
        let mut index = 0;
        while index + V::LANES < len {
            if !V::load(keys.add(index)).all_at_most(V::load(keys.add(index + 1))) {
                return false;
            }
            index += V::LANES;
        }
        while index + 1 < len {
            if keys.add(index).read() > keys.add(index + 1).read() {
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
pub(crate) unsafe fn is_descending<V: Vector>(keys: *const V::Lane, len: usize) -> bool {
    // SAFETY: as in `is_ascending`.
    unsafe {
        let mut index = 0;
        while index + V::LANES < len {
            if !V::load(keys.add(index + 1)).all_at_most(V::load(keys.add(index))) {
                return false;
            }
            index += V::LANES;
        }
        while index + 1 < len {
            if keys.add(index).read() < keys.add(index + 1).read() {
                return false;
            }
            index += 1;
        }
    }
    true
}

/// How many distinct values [`count_values`] can count.
pub(crate) const COUNTED_VALUES: usize = 16;

/// How often each of the values occurs. Where there are fewer than the array holds, fill it with any of them and look at
/// as many counts as there are values.
///
/// # Safety
///
/// As for [`Vector`]; `len` keys must be valid for reading.
#[inline(always)]
pub(crate) unsafe fn count_values<V: Vector>(
    keys: *const V::Lane,
    len: usize,
    values: &[V::Lane; COUNTED_VALUES],
) -> [usize; COUNTED_VALUES] {
    let mut counts = [0; COUNTED_VALUES];
    // SAFETY: the caller's promise.
    unsafe {
        let registers: [V; COUNTED_VALUES] = std::array::from_fn(|index| V::splat(values[index]));
        let mut offset = 0;
        while offset + V::LANES <= len {
            let keys = V::load(keys.add(offset));
            for (count, &value) in counts.iter_mut().zip(&registers) {
                *count += keys.count_equal(value);
            }
            offset += V::LANES;
        }
        for index in offset..len {
            let key = keys.add(index).read();
            for (count, &value) in counts.iter_mut().zip(values) {
                *count += usize::from(key == value);
            }
        }
    }
    counts
}
