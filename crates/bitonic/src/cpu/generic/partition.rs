//! Partitioning in place: keys below a pivot to the front, the others to the back.
//!
//! Bits in memory are compared by the ordered bits that a [`BitMap`] makes of them. What is moved are the bits as they were, or the
//! ordered bits: that saves a pass over memory for them.
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

use super::ordered::ordered;
use super::places::{Keys, read_rows};
use super::unrolled::unrolled;
use super::vector::Vector;
use crate::cpu::prefetch::{AHEAD, prefetch};
use crate::key::{BitMap, Bits};
use std::hint::select_unpredictable;
use std::mem::MaybeUninit;

/// How many registers are read at a time: as many as hide the latency from a read to the pointers that depend on it.
const UNROLL: usize = 8;

/// Keys that fill fewer registers are partitioned one by one.
pub(crate) const LEAST_REGISTERS: usize = 3 * UNROLL;

/// The bytes of a cache line; where lines are longer, some are asked for twice.
const CACHE_LINE: usize = 64;

/// What is compared with the pivot, and what is moved. The three ways are compiled apart.
#[derive(Clone, Copy)]
struct Ways<B, const RANKS: bool, const ORDERS: bool> {
    /// What is made of bits if `RANKS` or `ORDERS`.
    map: BitMap<B>,
}

impl<B: Bits, const RANKS: bool, const ORDERS: bool> Ways<B, RANKS, ORDERS> {
    /// What is moved, of bits that were read.
    #[inline(always)]
    unsafe fn moved<V: Vector<Lane = B>>(self, bits: V) -> V {
        // SAFETY: registers only, and the caller vouches for the instructions.
        if ORDERS { unsafe { ordered(bits, self.map) } } else { bits }
    }

    /// What is compared, of bits that are moved.
    #[inline(always)]
    unsafe fn ranks<V: Vector<Lane = B>>(self, moved: V) -> V {
        // SAFETY: registers only, and the caller vouches for the instructions.
        if RANKS { unsafe { ordered(moved, self.map) } } else { moved }
    }

    /// The same for a single key: what is moved, and whether it is below the pivot.
    #[inline(always)]
    fn key(self, bits: B, pivot: B) -> (B, bool) {
        let moved = if ORDERS { self.map.to_ordered(bits) } else { bits };
        let rank = if RANKS { self.map.to_ordered(moved) } else { moved };
        (moved, rank < pivot)
    }
}

/// Partitions the bits of `len` keys, and returns how many are below `pivot`, an ordered key. The bits stay as they are.
///
/// # Safety
///
/// As for [`Vector`]; `len` keys must be valid for reading and writing.
#[inline(always)]
pub(crate) unsafe fn partition<V: Vector>(
    keys: *mut V::Lane,
    len: usize,
    map: BitMap<V::Lane>,
    pivot: V::Lane,
) -> usize {
    // SAFETY: the caller's promise.
    unsafe {
        if map.is_identity() {
            partition_in::<V, false, false>(Ways { map }, keys, len, pivot)
        } else {
            partition_in::<V, true, false>(Ways { map }, keys, len, pivot)
        }
    }
}

/// The same, and makes ordered bits of all of them.
///
/// # Safety
///
/// As for [`partition`].
#[inline(always)]
pub(crate) unsafe fn order_and_partition<V: Vector>(
    keys: *mut V::Lane,
    len: usize,
    map: BitMap<V::Lane>,
    pivot: V::Lane,
) -> usize {
    // SAFETY: the caller's promise.
    unsafe { partition_in::<V, false, true>(Ways { map }, keys, len, pivot) }
}

#[inline(always)]
unsafe fn partition_in<V: Vector, const RANKS: bool, const ORDERS: bool>(
    ways: Ways<V::Lane, RANKS, ORDERS>,
    keys: *mut V::Lane,
    len: usize,
    pivot: V::Lane,
) -> usize {
    let batch = UNROLL * V::LANES;
    // SAFETY: all reads stay between `read_left` and `read_right`, all writes in the free room beside them, by the
    // invariant above.
    unsafe {
        if len < LEAST_REGISTERS * V::LANES {
            return partition_few(ways, keys, len, pivot);
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
            unrolled!(index below UNROLL => {
                let register = ways.moved(current[index]);
                let below = register.partition(ways.ranks(register), pivots, left, right);
                left = left.add(below);
                right = right.sub(V::LANES - below);
            });
            current = next;
        }

        // Less than a batch is left in the middle. It goes into a buffer, since all of its room is about to be written.
        let mut middle = MaybeUninit::<[V; UNROLL]>::uninit();
        let middle = middle.as_mut_ptr().cast::<V::Lane>();
        let middle_len = read_right.offset_from_unsigned(read_left);
        std::ptr::copy_nonoverlapping(read_left, middle, middle_len);
        let whole = middle_len / V::LANES;
        for index in whole * V::LANES..middle_len {
            let (key, is_below) = ways.key(middle.add(index).read(), pivot);
            if is_below {
                left.write(key);
                left = left.add(1);
            } else {
                right = right.sub(1);
                right.write(key);
            }
        }
        let middle_registers = (0..whole).map(|index| V::load(middle.add(index * V::LANES)));
        for register in middle_registers.chain(current).chain(aside_left).chain(aside_right) {
            let register = ways.moved(register);
            let ranks = ways.ranks(register);
            let below = if right.offset_from_unsigned(left) >= 2 * V::LANES {
                register.partition(ranks, pivots, left, right)
            } else {
                partition_tight(register, ranks, pivots, left, right)
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
    unsafe { read_rows(Keys::<V>(from.cast_mut()), 1) }
}

/// Where the room is too small for whole registers on both sides: by way of a buffer.
#[inline(always)]
unsafe fn partition_tight<V: Vector>(
    register: V,
    ranks: V,
    pivots: V,
    left: *mut V::Lane,
    right: *mut V::Lane,
) -> usize {
    let mut buffer = MaybeUninit::<[V; 2]>::uninit();
    let buffer = buffer.as_mut_ptr().cast::<V::Lane>();
    // SAFETY: the buffer has a register's room on either side; exactly as many keys are copied as were read.
    unsafe {
        let end = buffer.add(2 * V::LANES);
        let below = register.partition(ranks, pivots, buffer, end);
        let above = V::LANES - below;
        std::ptr::copy_nonoverlapping(buffer, left, below);
        std::ptr::copy_nonoverlapping(end.sub(above), right.sub(above), above);
        below
    }
}

/// Too few keys for registers.
#[inline(always)]
unsafe fn partition_few<B: Bits, const RANKS: bool, const ORDERS: bool>(
    ways: Ways<B, RANKS, ORDERS>,
    keys: *mut B,
    len: usize,
    pivot: B,
) -> usize {
    let mut below = 0;
    // SAFETY: both indices are below `len`.
    unsafe {
        for index in 0..len {
            let (key, is_below) = ways.key(keys.add(index).read(), pivot);
            keys.add(index).write(keys.add(below).read());
            keys.add(below).write(key);
            below += usize::from(is_below);
        }
    }
    below
}
