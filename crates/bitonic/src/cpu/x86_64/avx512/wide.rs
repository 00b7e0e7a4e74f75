//! 8 keys of 128 bits in two 512-bit registers: the upper halves of the keys in one, their lower halves in the other.
//!
//! No instruction compares 128 bits. Halves apart, three comparisons and four selections are eight comparators: the lower
//! halves are compared where the upper ones are equal. In memory a key's halves are neighbours, so a load or a store takes two
//! permutations.

use super::super::partition::PARTITION_WIDE;
use super::*;

/// 8 keys of 128 bits.
#[derive(Clone, Copy)]
struct U128x8 {
    upper: __m512i,
    lower: __m512i,
}

/// The halves of a key.
#[inline(always)]
fn halves(key: u128) -> (i64, i64) {
    ((key >> 64) as i64, key as i64)
}

impl U128x8 {
    /// Registers of halves as they lie in memory: keys 0 to 3 and keys 4 to 7.
    #[inline(always)]
    unsafe fn in_memory(self) -> [__m512i; 2] {
        // SAFETY: registers only, and the processor has AVX-512 (see the top of the parent).
        unsafe {
            let first = _mm512_setr_epi64(0, 8, 1, 9, 2, 10, 3, 11);
            let second = _mm512_setr_epi64(4, 12, 5, 13, 6, 14, 7, 15);
            [
                _mm512_permutex2var_epi64(self.lower, first, self.upper),
                _mm512_permutex2var_epi64(self.lower, second, self.upper),
            ]
        }
    }

    /// The inverse.
    #[inline(always)]
    unsafe fn from_memory(first: __m512i, second: __m512i) -> Self {
        // SAFETY: registers only, and the processor has AVX-512 (see the top of the parent).
        unsafe {
            let lower = _mm512_setr_epi64(0, 2, 4, 6, 8, 10, 12, 14);
            let upper = _mm512_setr_epi64(1, 3, 5, 7, 9, 11, 13, 15);
            Self {
                upper: _mm512_permutex2var_epi64(first, upper, second),
                lower: _mm512_permutex2var_epi64(first, lower, second),
            }
        }
    }

    /// The lanes where this key is below the other.
    #[inline(always)]
    unsafe fn below(self, other: Self) -> u8 {
        // SAFETY: registers only, and the processor has AVX-512 (see the top of the parent).
        unsafe {
            let equal = _mm512_cmpeq_epi64_mask(self.upper, other.upper);
            _mm512_cmplt_epu64_mask(self.upper, other.upper)
                | _mm512_mask_cmplt_epu64_mask(equal, self.lower, other.lower)
        }
    }

    /// The other's keys in these lanes, and its own elsewhere.
    #[inline(always)]
    unsafe fn or_where(self, lanes: u8, other: Self) -> Self {
        // SAFETY: registers only, and the processor has AVX-512 (see the top of the parent).
        unsafe {
            Self {
                upper: _mm512_mask_blend_epi64(lanes, self.upper, other.upper),
                lower: _mm512_mask_blend_epi64(lanes, self.lower, other.lower),
            }
        }
    }

    /// Lanes of two registers, counted on from the first to the second.
    #[inline(always)]
    unsafe fn lanes_of_two(first: Self, index: __m512i, second: Self) -> Self {
        // SAFETY: registers only, and the processor has AVX-512 (see the top of the parent).
        unsafe {
            Self {
                upper: _mm512_permutex2var_epi64(first.upper, index, second.upper),
                lower: _mm512_permutex2var_epi64(first.lower, index, second.lower),
            }
        }
    }
}

impl Vector for U128x8 {
    type Lane = u128;
    const LANES: usize = 8;

    #[inline(always)]
    unsafe fn load(from: *const u128) -> Self {
        // SAFETY: the processor has AVX-512 (see the top of the parent), and the caller's pointer is good for as many keys as there are
        // lanes.
        unsafe { Self::from_memory(_mm512_loadu_si512(from.cast()), _mm512_loadu_si512(from.add(4).cast())) }
    }

    #[inline(always)]
    unsafe fn load_partial(from: *const u128, count: usize) -> Self {
        let [first, second] = (first_lanes(2 * count) as u16).to_le_bytes();
        // SAFETY: the processor has AVX-512 (see the top of the parent), and the caller's pointer is good for `count` keys.
        // Masked-out lanes are not read.
        unsafe {
            let ones = _mm512_set1_epi64(-1);
            Self::from_memory(
                _mm512_mask_loadu_epi64(ones, first, from.cast()),
                _mm512_mask_loadu_epi64(ones, second, from.wrapping_add(4).cast()),
            )
        }
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut u128) {
        // SAFETY: the processor has AVX-512 (see the top of the parent), and the caller's pointer is good for as many keys as there are
        // lanes.
        unsafe {
            let [first, second] = self.in_memory();
            _mm512_storeu_si512(to.cast(), first);
            _mm512_storeu_si512(to.add(4).cast(), second);
        }
    }

    #[inline(always)]
    unsafe fn store_partial(self, to: *mut u128, count: usize) {
        let [first_mask, second_mask] = (first_lanes(2 * count) as u16).to_le_bytes();
        // SAFETY: the processor has AVX-512 (see the top of the parent), and the caller's pointer is good for `count` keys.
        // Masked-out lanes are not written.
        unsafe {
            let [first, second] = self.in_memory();
            _mm512_mask_storeu_epi64(to.cast(), first_mask, first);
            // Even a store of nothing holds up a load from its place, until what was stored there before is in the cache.
            if second_mask != 0 {
                _mm512_mask_storeu_epi64(to.add(4).cast(), second_mask, second);
            }
        }
    }

    #[inline(always)]
    unsafe fn store_half<const UPPER: bool>(self, _: *mut u128, _: usize) {
        unreachable!("a column of a tile has at least as many rows as there are lanes")
    }

    // How far the keys of several columns reach into a register is a coin toss: no branch.
    #[inline(always)]
    unsafe fn store_up_to(self, to: *mut u128, count: usize) {
        // SAFETY: the processor has AVX-512 (see the top of the parent), and the caller's pointer is good for `count` keys.
        unsafe { self.store_partial(to, count.min(Self::LANES)) }
    }

    #[inline(always)]
    unsafe fn splat(key: u128) -> Self {
        let (upper, lower) = halves(key);
        // SAFETY: registers only, and the processor has AVX-512 (see the top of the parent).
        unsafe { Self { upper: _mm512_set1_epi64(upper), lower: _mm512_set1_epi64(lower) } }
    }

    #[inline(always)]
    unsafe fn min(self, other: Self) -> Self {
        // SAFETY: registers only, and the processor has AVX-512 (see the top of the parent).
        unsafe { self.or_where(other.below(self), other) }
    }

    #[inline(always)]
    unsafe fn max(self, other: Self) -> Self {
        // SAFETY: registers only, and the processor has AVX-512 (see the top of the parent).
        unsafe { other.or_where(other.below(self), self) }
    }

    #[inline(always)]
    unsafe fn min_max(self, other: Self) -> (Self, Self) {
        // SAFETY: registers only, and the processor has AVX-512 (see the top of the parent).
        unsafe {
            let below = other.below(self);
            (self.or_where(below, other), other.or_where(below, self))
        }
    }

    #[inline(always)]
    unsafe fn xor(self, mask: u128) -> Self {
        // SAFETY: registers only, and the processor has AVX-512 (see the top of the parent).
        unsafe {
            let mask = Self::splat(mask);
            Self {
                upper: _mm512_xor_si512(self.upper, mask.upper),
                lower: _mm512_xor_si512(self.lower, mask.lower),
            }
        }
    }

    #[inline(always)]
    unsafe fn fold(self, mask: u128) -> Self {
        // SAFETY: registers only, and the processor has AVX-512 (see the top of the parent).
        unsafe {
            let negative = _mm512_srai_epi64::<63>(self.upper);
            let mask = Self::splat(mask);
            Self {
                upper: _mm512_ternarylogic_epi64::<XOR_AND>(self.upper, negative, mask.upper),
                lower: _mm512_ternarylogic_epi64::<XOR_AND>(self.lower, negative, mask.lower),
            }
        }
    }

    #[inline(always)]
    unsafe fn wrapping_sub(self, key: u128) -> Self {
        // SAFETY: registers only, and the processor has AVX-512 (see the top of the parent).
        unsafe {
            let key = Self::splat(key);
            let borrows = _mm512_cmplt_epu64_mask(self.lower, key.lower);
            let upper = _mm512_sub_epi64(self.upper, key.upper);
            Self {
                upper: _mm512_mask_sub_epi64(upper, borrows, upper, _mm512_set1_epi64(1)),
                lower: _mm512_sub_epi64(self.lower, key.lower),
            }
        }
    }

    #[inline(always)]
    unsafe fn xor_lanes<const MASK: usize>(self) -> Self {
        // SAFETY: registers only, and the processor has AVX-512 (see the top of the parent).
        unsafe {
            Self {
                upper: U64x8(self.upper).xor_lanes::<MASK>().0,
                lower: U64x8(self.lower).xor_lanes::<MASK>().0,
            }
        }
    }

    #[inline(always)]
    unsafe fn order_by_bit<const BIT: usize>(self, other: Self) -> (Self, Self) {
        // SAFETY: registers only, and the processor has AVX-512 (see the top of the parent).
        unsafe {
            let others = other.below(self) ^ const { bit_set(BIT) as u8 };
            (self.or_where(others, other), other.or_where(others, self))
        }
    }

    steps_between_lanes!(Self::lanes_of_two, lanes_64, 8);

    #[inline(always)]
    unsafe fn close_gaps<const KEPT: usize, const OF: usize>(self) -> Self {
        // SAFETY: registers only, and the processor has AVX-512 (see the top of the parent).
        unsafe {
            Self {
                upper: U64x8(self.upper).close_gaps::<KEPT, OF>().0,
                lower: U64x8(self.lower).close_gaps::<KEPT, OF>().0,
            }
        }
    }

    #[inline(always)]
    unsafe fn reverse(self) -> Self {
        // SAFETY: registers only, and the processor has AVX-512 (see the top of the parent).
        unsafe { self.xor_lanes::<7>() }
    }

    #[inline(always)]
    unsafe fn interleave(self, other: Self) -> (Self, Self) {
        // SAFETY: registers only, and the processor has AVX-512 (see the top of the parent).
        unsafe {
            let upper = U64x8(self.upper).interleave(U64x8(other.upper));
            let lower = U64x8(self.lower).interleave(U64x8(other.lower));
            (Self { upper: upper.0.0, lower: lower.0.0 }, Self { upper: upper.1.0, lower: lower.1.0 })
        }
    }

    #[inline(always)]
    unsafe fn partition(self, ranks: Self, pivot: Self, left: *mut u128, right: *mut u128) -> usize {
        // SAFETY: the processor has AVX-512 (see the top of the parent), and as many keys as there are lanes have room at either
        // pointer, as the caller vouches; four keys at a time are written within it.
        unsafe {
            let below = ranks.below(pivot);
            let (mut left_end, mut right_end) = (left, right);
            for (keys, set) in self.in_memory().into_iter().zip([below & 0xF, below >> 4]) {
                // As for keys of 64 bits: both kinds in one register, stored twice.
                let order = _mm512_loadu_si512(PARTITION_WIDE[usize::from(set)].as_ptr().cast());
                let parted = _mm512_permutexvar_epi64(order, keys);
                _mm512_storeu_si512(left_end.cast(), parted);
                _mm512_storeu_si512(right_end.sub(4).cast(), parted);
                let count = set.count_ones() as usize;
                left_end = left_end.add(count);
                right_end = right_end.sub(4 - count);
            }
            below.count_ones() as usize
        }
    }

    #[inline(always)]
    unsafe fn no_counts() -> Self {
        // SAFETY: the processor has AVX-512 (see the top of the parent).
        unsafe { Self::splat(0) }
    }

    #[inline(always)]
    unsafe fn count_equal(self, keys: Self, value: Self) -> Self {
        // SAFETY: registers only, and the processor has AVX-512 (see the top of the parent).
        unsafe {
            let upper = _mm512_cmpeq_epi64_mask(keys.upper, value.upper);
            let equal = _mm512_mask_cmpeq_epi64_mask(upper, keys.lower, value.lower);
            let counts = _mm512_mask_sub_epi64(self.lower, equal, self.lower, _mm512_set1_epi64(-1));
            Self { lower: counts, ..self }
        }
    }

    #[inline(always)]
    unsafe fn sum_of_counts(self) -> usize {
        // SAFETY: registers only, and the processor has AVX-512 (see the top of the parent).
        unsafe { _mm512_reduce_add_epi64(self.lower) as usize }
    }

    #[expect(clippy::pointers_in_nomem_asm_block, reason = "the place is neither read nor written")]
    #[inline(always)]
    unsafe fn written_back(mut place: *mut Self) -> *mut Self {
        // SAFETY: no instruction at all.
        unsafe {
            std::arch::asm!("/* {0} */", inout(reg) place, options(pure, nomem, nostack, preserves_flags))
        };
        place
    }

    #[inline(always)]
    unsafe fn all_at_most(self, other: Self) -> bool {
        // SAFETY: registers only, and the processor has AVX-512 (see the top of the parent).
        unsafe { other.below(self) == 0 }
    }
}

crate::cpu::kernels::instantiate! {
    /// Kernels for 128-bit keys.
    U128_KERNELS, U128x8, u128,
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,bmi2,popcnt")]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::instructions::{Available, Instructions};

    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,bmi2,popcnt")]
    fn differences(keys: &[u128; 8], key: u128) -> [u128; 8] {
        let mut differences = [0; 8];
        // SAFETY: both arrays have as many keys as there are lanes, and the caller has AVX-512.
        unsafe { U128x8::load(keys.as_ptr()).wrapping_sub(key).store(differences.as_mut_ptr()) }
        differences
    }

    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,bmi2,popcnt")]
    fn least(keys: &[u128; 8], key: u128) -> [u128; 8] {
        let mut least = [0; 8];
        // SAFETY: as above.
        unsafe { U128x8::load(keys.as_ptr()).min(U128x8::splat(key)).store(least.as_mut_ptr()) }
        least
    }

    #[test]
    fn halves_borrow_and_compare_as_one_number() {
        if Available::of(Instructions::Avx512).is_none() {
            return;
        }
        let high = 1_u128 << 127 | 1 << 63;
        let keys = [0, 1, u128::MAX, 1 << 64, (1 << 64) - 1, high, high - 1, high + 1];
        for key in [0, 1, u128::MAX, 1 << 64, 1 << 63, (1 << 64) + 1, high, high ^ 1 << 63] {
            // SAFETY: the processor has AVX-512.
            let (differences, least) = unsafe { (differences(&keys, key), least(&keys, key)) };
            assert_eq!(differences, keys.map(|other| other.wrapping_sub(key)));
            assert_eq!(least, keys.map(|other| other.min(key)));
        }
    }
}
