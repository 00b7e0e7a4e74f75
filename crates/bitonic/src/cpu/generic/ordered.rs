//! Between bits in memory and ordered bits, a register at a time: see [`BitMap`].

use super::vector::Vector;
use crate::key::{BitMap, Bits};

/// Turns bits in memory into ordered bits.
///
/// # Safety
///
/// As for [`Vector`]; `len` keys must be valid for reading and writing.
#[inline(always)]
pub(crate) unsafe fn to_ordered<V: Vector>(keys: *mut V::Lane, len: usize, map: BitMap<V::Lane>) {
    // SAFETY: the caller vouches for V's instructions, and for `len` keys.
    unsafe { change::<V, false>(keys, len, map) }
}

/// Turns ordered bits into bits in memory.
///
/// # Safety
///
/// As for [`to_ordered`].
#[inline(always)]
pub(crate) unsafe fn from_ordered<V: Vector>(keys: *mut V::Lane, len: usize, map: BitMap<V::Lane>) {
    // SAFETY: the caller vouches for V's instructions, and for `len` keys.
    unsafe { change::<V, true>(keys, len, map) }
}

/// The ordered bits of a register.
///
/// # Safety
///
/// As for [`Vector`].
#[inline(always)]
pub(super) unsafe fn ordered<V: Vector>(bits: V, map: BitMap<V::Lane>) -> V {
    // SAFETY: registers only, and the caller vouches for the instructions.
    unsafe { bits.fold(map.magnitude()).xor(map.flip()).wrapping_sub(map.skipped()) }
}

/// The bits in memory of a register of ordered bits.
#[inline(always)]
unsafe fn in_memory<V: Vector>(bits: V, map: BitMap<V::Lane>) -> V {
    let back = V::Lane::ZERO.wrapping_sub(map.skipped());
    // SAFETY: registers only, and the caller vouches for the instructions.
    unsafe { bits.wrapping_sub(back).xor(map.flip()).fold(map.magnitude()) }
}

/// One of these, or `BACK` the other.
#[inline(always)]
unsafe fn changed<V: Vector, const BACK: bool>(bits: V, map: BitMap<V::Lane>) -> V {
    // SAFETY: registers only, and the caller vouches for the instructions.
    unsafe { if BACK { in_memory(bits, map) } else { ordered(bits, map) } }
}

// No closure: one that is not inlined would lack the vector instructions, and call a function for each.
#[inline(always)]
unsafe fn change<V: Vector, const BACK: bool>(keys: *mut V::Lane, len: usize, map: BitMap<V::Lane>) {
    let whole = len - len % V::LANES;
    // SAFETY: the caller vouches for V's instructions, and for `len` keys; the last register has the keys that are left.
    unsafe {
        for offset in (0..whole).step_by(V::LANES) {
            changed::<V, BACK>(V::load(keys.add(offset)), map).store(keys.add(offset));
        }
        if whole < len {
            let (rest, left) = (keys.add(whole), len - whole);
            changed::<V, BACK>(V::load_partial(rest, left), map).store_partial(rest, left);
        }
    }
}
