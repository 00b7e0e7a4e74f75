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
    unsafe { change::<V>(keys, len, |bits| ordered(bits, map)) }
}

/// Turns ordered bits into bits in memory.
///
/// # Safety
///
/// As for [`to_ordered`].
#[inline(always)]
pub(crate) unsafe fn from_ordered<V: Vector>(keys: *mut V::Lane, len: usize, map: BitMap<V::Lane>) {
    let back = V::Lane::ZERO.wrapping_sub(map.skipped());
    // SAFETY: the caller vouches for V's instructions, and for `len` keys.
    unsafe { change::<V>(keys, len, |bits| bits.wrapping_sub(back).xor(map.flip()).fold(map.magnitude())) }
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

#[inline(always)]
unsafe fn change<V: Vector>(keys: *mut V::Lane, len: usize, change: impl Fn(V) -> V) {
    let whole = len - len % V::LANES;
    // SAFETY: the caller vouches for V's instructions, and for `len` keys; the last register has the keys that are left.
    unsafe {
        for offset in (0..whole).step_by(V::LANES) {
            change(V::load(keys.add(offset))).store(keys.add(offset));
        }
        if whole < len {
            change(V::load_partial(keys.add(whole), len - whole)).store_partial(keys.add(whole), len - whole);
        }
    }
}
