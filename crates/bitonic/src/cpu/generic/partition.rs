//! Partitioning in place: keys below a pivot to the front, the others to the back.
//!
//! ```text
//!   | below  | free |   not yet read   | free | not below |
//!            ^left  ^read_left         ^read_right        ^right        (free keys are held in registers or a buffer)
//! ```
//!
//! Eight registers, a batch, from either end are put aside first, so that there is room to write. Then a batch at a time is
//! read from the side with less free room, and each register's keys are written to the end of the front part and the
//! beginning of the back part. What was put aside, and what is left in the middle, comes last.
//!
//! Which side a batch comes from is decided one batch ahead: the address of a read must not wait for the counts of the
//! batch before it. With the rooms counted in batches, they are 3 in all after every write: the smaller is at most 1.5,
//! and one batch more is read from there, so both are at least 1 when the next batch is written, and at least 0
//! afterwards.

use super::columns::read_rows;
use super::vector::Vector;
use crate::cpu::prefetch::{AHEAD, prefetch};
use std::hint::select_unpredictable;
use std::mem::MaybeUninit;

/// How many registers are read at a time: as many as hide the latency from a read to the pointers that depend on it.
const UNROLL: usize = 8;

/// The bytes of a cache line; where lines are longer, some are asked for twice.
const CACHE_LINE: usize = 64;

/// Partitions `len` keys, and returns how many are below `pivot`.
///
/// # Safety
///
/// As for [`Vector`]; `len` keys must be valid for reading and writing.
#[inline(always)]
pub(crate) unsafe fn partition<V: Vector>(keys: *mut V::Lane, len: usize, pivot: V::Lane) -> usize {
    let batch = UNROLL * V::LANES;
    // SAFETY: all reads stay between `read_left` and `read_right`, all writes in the free room beside them, by the
    // invariant above.
    unsafe {
        if len < 3 * batch {
            return partition_few(keys, len, pivot);
        }
        let pivots = V::splat(pivot);
        let aside_left = load_batch::<V>(keys);
        let aside_right = load_batch::<V>(keys.add(len - batch));
        let (mut left, mut right) = (keys, keys.add(len));
        let mut current = load_batch::<V>(keys.add(batch));
        let (mut read_left, mut read_right) = (keys.add(2 * batch), keys.add(len - batch));
        while read_right.offset_from_unsigned(read_left) >= batch {
            // Which side it is, is a coin toss: no branch.
            let from_left = read_left.offset_from_unsigned(left) <= right.offset_from_unsigned(read_right);
            let from = select_unpredictable(from_left, read_left, read_right.sub(batch));
            let next = load_batch::<V>(from);
            let ahead = select_unpredictable(from_left, AHEAD, AHEAD.wrapping_neg());
            for line in (0..UNROLL * size_of::<V>()).step_by(CACHE_LINE) {
                prefetch(from.wrapping_byte_add(ahead.wrapping_add(line)));
            }
            read_left = select_unpredictable(from_left, read_left.add(batch), read_left);
            read_right = select_unpredictable(from_left, read_right, read_right.sub(batch));
            for register in current {
                let below = register.partition(pivots, left, right);
                left = left.add(below);
                right = right.sub(V::LANES - below);
            }
            current = next;
        }

        // Less than a batch is left in the middle. It goes into a buffer, since all of its room is about to be written.
        let mut middle = MaybeUninit::<[V; UNROLL]>::uninit();
        let middle = middle.as_mut_ptr().cast::<V::Lane>();
        let middle_len = read_right.offset_from_unsigned(read_left);
        std::ptr::copy_nonoverlapping(read_left, middle, middle_len);
        let whole = middle_len / V::LANES;
        for index in whole * V::LANES..middle_len {
            let key = middle.add(index).read();
            if key < pivot {
                left.write(key);
                left = left.add(1);
            } else {
                right = right.sub(1);
                right.write(key);
            }
        }
        let middle_registers = (0..whole).map(|index| V::load(middle.add(index * V::LANES)));
        for register in middle_registers.chain(current).chain(aside_left).chain(aside_right) {
            let below = if right.offset_from_unsigned(left) >= 2 * V::LANES {
                register.partition(pivots, left, right)
            } else {
                partition_tight(register, pivots, left, right)
            };
            left = left.add(below);
            right = right.sub(V::LANES - below);
        }
        debug_assert_eq!(left, right);
        left.offset_from_unsigned(keys)
    }
}

#[inline(always)]
unsafe fn load_batch<V: Vector>(from: *const V::Lane) -> [V; UNROLL] {
    // No closure: one that is not inlined would lack the vector instructions, and call a function for each.
    // SAFETY: the caller vouches for V's instructions, and for `UNROLL` registers of keys.
    unsafe { read_rows(from, 1) }
}

/// Where the room is too small for whole registers on both sides: by way of a buffer.
#[inline(always)]
unsafe fn partition_tight<V: Vector>(
    register: V,
    pivots: V,
    left: *mut V::Lane,
    right: *mut V::Lane,
) -> usize {
    let mut buffer = MaybeUninit::<[V; 2]>::uninit();
    let buffer = buffer.as_mut_ptr().cast::<V::Lane>();
    // SAFETY: the buffer has a register's room on either side; exactly as many keys are copied as were read.
    unsafe {
        let end = buffer.add(2 * V::LANES);
        let below = register.partition(pivots, buffer, end);
        let above = V::LANES - below;
        std::ptr::copy_nonoverlapping(buffer, left, below);
        std::ptr::copy_nonoverlapping(end.sub(above), right.sub(above), above);
        below
    }
}

/// Too few keys for registers.
#[inline(always)]
unsafe fn partition_few<T: Ord + Copy>(keys: *mut T, len: usize, pivot: T) -> usize {
    let mut below = 0;
    // SAFETY: both indices are below `len`.
    unsafe {
        for index in 0..len {
            let key = keys.add(index).read();
            keys.add(index).write(keys.add(below).read());
            keys.add(below).write(key);
            below += usize::from(key < pivot);
        }
    }
    below
}
