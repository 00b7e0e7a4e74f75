//! What an instruction set has to offer: a register of keys and two dozen operations on it.

use crate::key::Bits;

/// A register that holds [`Vector::LANES`] keys, compared as unsigned integers.
///
/// Lanes count from 0. The number of lanes is a power of two. Keys of 128 bits take two registers of the processor, which are one here.
///
/// # Safety
///
/// Every function may only be called on a processor that has the implementation's instructions, and must be inlined into
/// a function that enables them; the kernels of each architecture see to both. Pointers must be valid for as many
/// keys as are loaded or stored; they need no alignment beyond a key's.
pub(crate) trait Vector: Copy {
    /// One key.
    type Lane: Bits;

    /// How many keys a register holds.
    const LANES: usize;

    /// Reads a whole register.
    unsafe fn load(from: *const Self::Lane) -> Self;

    /// Reads `count` keys into the first lanes; the others get the greatest key.
    ///
    /// This way is for registers that hold keys as memory does.
    #[inline(always)]
    unsafe fn load_partial(from: *const Self::Lane, count: usize) -> Self {
        // SAFETY: the caller vouches for the instructions, and for `count` keys; `count` is less than a register has lanes.
        unsafe {
            let mut register = Self::splat(Self::Lane::MAX);
            std::ptr::copy_nonoverlapping(from, (&raw mut register).cast(), count);
            register
        }
    }

    /// Writes a whole register.
    unsafe fn store(self, to: *mut Self::Lane);

    /// Writes the first `count` lanes.
    ///
    /// This way is for registers that hold keys as memory does.
    #[inline(always)]
    unsafe fn store_partial(self, to: *mut Self::Lane, count: usize) {
        // SAFETY: as above.
        unsafe { std::ptr::copy_nonoverlapping((&raw const self).cast(), to, count) }
    }

    /// Writes the first `count` lanes of the lower or the upper half, which has as many.
    ///
    /// This way is for registers that hold keys as memory does.
    #[inline(always)]
    unsafe fn store_half<const UPPER: bool>(self, to: *mut Self::Lane, count: usize) {
        let first = if UPPER { Self::LANES / 2 } else { 0 };
        // SAFETY: as above; half a register of keys lies within it.
        unsafe { std::ptr::copy_nonoverlapping((&raw const self).cast::<Self::Lane>().add(first), to, count) }
    }

    /// [`Vector::load`] or [`Vector::load_partial`], whichever reads `count` keys.
    #[inline(always)]
    unsafe fn load_up_to(from: *const Self::Lane, count: usize) -> Self {
        // SAFETY: the caller vouches for the instructions, and for `count` keys.
        unsafe { if count >= Self::LANES { Self::load(from) } else { Self::load_partial(from, count) } }
    }

    /// [`Vector::store`] or [`Vector::store_partial`], whichever writes `count` keys.
    #[inline(always)]
    unsafe fn store_up_to(self, to: *mut Self::Lane, count: usize) {
        // SAFETY: the caller vouches for the instructions, and for `count` keys.
        unsafe { if count >= Self::LANES { self.store(to) } else { self.store_partial(to, count) } }
    }

    /// One key in every lane.
    unsafe fn splat(key: Self::Lane) -> Self;

    /// The smaller key of every lane.
    unsafe fn min(self, other: Self) -> Self;

    /// The larger key of every lane.
    unsafe fn max(self, other: Self) -> Self;

    /// Both at once, where that is cheaper than one after the other.
    #[inline(always)]
    unsafe fn min_max(self, other: Self) -> (Self, Self) {
        // SAFETY: registers only, and the caller vouches for the instructions.
        unsafe { (self.min(other), self.max(other)) }
    }

    /// Every lane with the bits of `mask` complemented.
    unsafe fn xor(self, mask: Self::Lane) -> Self;

    /// Every lane whose highest bit is set with the bits of `mask` complemented.
    unsafe fn fold(self, mask: Self::Lane) -> Self;

    /// `key` less in every lane; below 0 it goes on from the highest value.
    unsafe fn wrapping_sub(self, key: Self::Lane) -> Self;

    /// Lane i gets lane i xor `MASK`.
    unsafe fn xor_lanes<const MASK: usize>(self) -> Self;

    /// The larger key in the lanes whose number has bit `BIT` and the smaller key in the others; and the other key of every lane.
    unsafe fn order_by_bit<const BIT: usize>(self, other: Self) -> (Self, Self);

    /// The first of these.
    #[inline(always)]
    unsafe fn max_where_bit<const BIT: usize>(self, other: Self) -> Self {
        // SAFETY: registers only, and the caller vouches for the instructions.
        unsafe { self.order_by_bit::<BIT>(other).0 }
    }

    /// Merges neighbouring groups of lanes of two rows that mirror each other, `self` being the upper one: the first step
    /// compares lane i of the one with lane i xor `MASK` of the other, the others are [`clean_lanes`]'s. `MASK` is all ones up to
    /// the size of two groups.
    #[inline(always)]
    unsafe fn merge_lanes<const MASK: usize>(self, lower: Self) -> (Self, Self) {
        // SAFETY: registers only, and the caller vouches for the instructions.
        unsafe {
            let partner = lower.xor_lanes::<MASK>();
            let (upper, partner) = match MASK {
                1 => self.order_by_bit::<1>(partner),
                3 => self.order_by_bit::<2>(partner),
                7 => self.order_by_bit::<4>(partner),
                15 => self.order_by_bit::<8>(partner),
                _ => self.order_by_bit::<16>(partner),
            };
            let lower = partner.xor_lanes::<MASK>();
            match MASK {
                1 => (upper, lower),
                3 => (clean_lanes::<Self, 1>(upper), clean_lanes::<Self, 1>(lower)),
                7 => (clean_lanes::<Self, 2>(upper), clean_lanes::<Self, 2>(lower)),
                15 => (clean_lanes::<Self, 4>(upper), clean_lanes::<Self, 4>(lower)),
                _ => (clean_lanes::<Self, 8>(upper), clean_lanes::<Self, 8>(lower)),
            }
        }
    }

    /// [`clean_lanes`] from the highest bit on, for two registers at once.
    #[inline(always)]
    unsafe fn clean_all_lanes(self, other: Self) -> (Self, Self) {
        // SAFETY: registers only, and the caller vouches for the instructions.
        unsafe { (clean_lanes::<Self, 16>(self), clean_lanes::<Self, 16>(other)) }
    }

    /// The lanes in the opposite order.
    unsafe fn reverse(self) -> Self;

    /// The lanes of `self` and `other` in turn: the first half of them, and the second.
    unsafe fn interleave(self, other: Self) -> (Self, Self);

    /// The first `KEPT` lanes of every group of `OF`, one group right behind the other; what the last lanes get is open.
    ///
    /// This way is for registers that hold keys as memory does.
    #[inline(always)]
    unsafe fn close_gaps<const KEPT: usize, const OF: usize>(self) -> Self {
        let mut closed = self;
        let (from, to) = ((&raw const self).cast::<Self::Lane>(), (&raw mut closed).cast::<Self::Lane>());
        for group in 0..Self::LANES / OF {
            // SAFETY: both have as many lanes as a register, each as large as a key, and the group lies within them.
            unsafe { std::ptr::copy_nonoverlapping(from.add(group * OF), to.add(group * KEPT), KEPT) }
        }
        closed
    }

    /// Writes the keys whose ranks are below `pivot` from `left` on, and the others so that they end at `right`; returns how many
    /// were below. May write a whole register at either place: what lies behind the keys on the left and before those on the
    /// right is lost.
    unsafe fn partition(
        self,
        ranks: Self,
        pivot: Self,
        left: *mut Self::Lane,
        right: *mut Self::Lane,
    ) -> usize;

    /// Counters, one in every lane, of nothing yet. Nothing but the next two functions understands them.
    unsafe fn no_counts() -> Self;

    /// Adds one to the counters of the lanes where both are equal.
    unsafe fn count_equal(self, keys: Self, value: Self) -> Self;

    /// What was counted in all lanes together; up to 2^14 in each of them.
    unsafe fn sum_of_counts(self) -> usize;

    /// The same place, where a selection of keys is written back to. Where it is known that one of the two was read from there, a compiler may
    /// leave those lanes unwritten, and which ones depends on keys; so registers whose minima are selections hide it.
    #[inline(always)]
    unsafe fn written_back(place: *mut Self) -> *mut Self {
        place
    }

    /// Whether no lane of `self` is greater than the same lane of `other`.
    unsafe fn all_at_most(self, other: Self) -> bool;
}

/// The half-cleaner steps between lanes of a register whose numbers differ in bit `TOP`, then in the next lower one, and so on. Bits
/// that no lane has are left out.
///
/// # Safety
///
/// As for [`Vector`].
#[inline(always)]
pub(crate) unsafe fn clean_lanes<V: Vector, const TOP: usize>(register: V) -> V {
    let mut register = register;
    // SAFETY: registers only, and the caller vouches for the instructions.
    unsafe {
        if TOP >= 16 && V::LANES > 16 {
            register = register.max_where_bit::<16>(register.xor_lanes::<16>());
        }
        if TOP >= 8 && V::LANES > 8 {
            register = register.max_where_bit::<8>(register.xor_lanes::<8>());
        }
        if TOP >= 4 && V::LANES > 4 {
            register = register.max_where_bit::<4>(register.xor_lanes::<4>());
        }
        if TOP >= 2 && V::LANES > 2 {
            register = register.max_where_bit::<2>(register.xor_lanes::<2>());
        }
        if V::LANES > 1 {
            register = register.max_where_bit::<1>(register.xor_lanes::<1>());
        }
    }
    register
}
