//! 32 keys of 16 bits in a 512-bit register.
//!
//! Permutations of 16-bit lanes take twice as long as those of 32-bit lanes, so two neighbouring keys move together, as one lane of 32
//! bits, for all steps but the last. That one is between the two of them and needs no permutation: halves of 32-bit lanes
//! change places by rotations and selections, which run on another port.

use super::super::partition::partition_words;
use super::*;

/// 32 keys of 16 bits.
#[derive(Clone, Copy)]
struct U16x32(__m512i);

/// For ternary logic: where the first has ones, the second, elsewhere the third.
const SELECT: i32 = 0xCA;

/// Keys of even lanes of the first register, and of odd lanes of the second.
#[inline(always)]
unsafe fn even_and_odd(even: __m512i, odd: __m512i) -> __m512i {
    // SAFETY: registers only, and the processor has AVX-512 (see the top of the parent).
    unsafe {
        let upper_halves = _mm512_set1_epi32(0xFFFF_0000_u32.cast_signed());
        _mm512_ternarylogic_epi32::<SELECT>(upper_halves, odd, even)
    }
}

/// Neighbouring keys change places.
#[inline(always)]
unsafe fn turned(keys: __m512i) -> __m512i {
    // SAFETY: registers only, and the processor has AVX-512 (see the top of the parent).
    unsafe { _mm512_rol_epi32::<16>(keys) }
}

impl U16x32 {
    /// Pairs of lanes of two registers, counted on from the first to the second.
    #[inline(always)]
    unsafe fn pairs_of_two(first: Self, index: __m512i, second: Self) -> Self {
        // SAFETY: registers only, and the processor has AVX-512 (see the top of the parent).
        unsafe { Self(_mm512_permutex2var_epi32(first.0, index, second.0)) }
    }

    /// The comparators between neighbouring lanes of two rows. Neighbours in `lower` have changed places; they change back.
    #[inline(always)]
    unsafe fn order_neighbours(upper: Self, lower: Self) -> (Self, Self) {
        // SAFETY: registers only, and the processor has AVX-512 (see the top of the parent).
        unsafe {
            // a0 b0 a2 b2 .. and a1 b1 a3 b3 ..
            let even = Self(even_and_odd(upper.0, lower.0));
            let odd = Self(turned(even_and_odd(lower.0, upper.0)));
            let (smaller, larger) = even.min_max(odd);
            let larger = turned(larger.0);
            (Self(even_and_odd(smaller.0, larger)), Self(turned(even_and_odd(larger, smaller.0))))
        }
    }
}

impl Vector for U16x32 {
    type Lane = u16;
    const LANES: usize = 32;

    #[inline(always)]
    unsafe fn load(from: *const u16) -> Self {
        // SAFETY: the processor has AVX-512 (see the top of the parent), and the caller's pointer is good for a register of keys.
        unsafe { Self(_mm512_loadu_si512(from.cast())) }
    }

    #[inline(always)]
    unsafe fn load_partial(from: *const u16, count: usize) -> Self {
        // SAFETY: the processor has AVX-512 (see the top of the parent), and the caller's pointer is good for `count` keys.
        // Masked-out lanes are not read.
        unsafe { Self(_mm512_mask_loadu_epi16(_mm512_set1_epi32(-1), first_lanes(count), from.cast())) }
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut u16) {
        // SAFETY: the processor has AVX-512 (see the top of the parent), and the caller's pointer is good for a register of keys.
        unsafe { _mm512_storeu_si512(to.cast(), self.0) }
    }

    #[inline(always)]
    unsafe fn store_partial(self, to: *mut u16, count: usize) {
        // SAFETY: the processor has AVX-512 (see the top of the parent), and the caller's pointer is good for `count` keys.
        // Masked-out lanes are not written.
        unsafe { _mm512_mask_storeu_epi16(to.cast(), first_lanes(count), self.0) }
    }

    #[inline(always)]
    unsafe fn store_half<const UPPER: bool>(self, to: *mut u16, count: usize) {
        // SAFETY: the processor has AVX-512 (see the top of the parent), and the caller's pointer is good for `count` keys.
        // Masked-out lanes are not written.
        unsafe {
            let half =
                if UPPER { _mm512_extracti64x4_epi64::<1>(self.0) } else { _mm512_castsi512_si256(self.0) };
            if count == Self::LANES / 2 {
                _mm256_storeu_si256(to.cast(), half);
            } else {
                _mm256_mask_storeu_epi16(to.cast(), first_lanes(count) as u16, half);
            }
        }
    }

    // How far the keys of several columns reach into a register is a coin toss: no branch.
    #[inline(always)]
    unsafe fn store_up_to(self, to: *mut u16, count: usize) {
        // SAFETY: the processor has AVX-512 (see the top of the parent), and the caller's pointer is good for `count` keys.
        unsafe { self.store_partial(to, count.min(Self::LANES)) }
    }

    #[inline(always)]
    unsafe fn splat(key: u16) -> Self {
        // SAFETY: registers only, and the processor has AVX-512 (see the top of the parent).
        unsafe { Self(_mm512_set1_epi16(key.cast_signed())) }
    }

    #[inline(always)]
    unsafe fn min(self, other: Self) -> Self {
        // SAFETY: registers only, and the processor has AVX-512 (see the top of the parent).
        unsafe { Self(_mm512_min_epu16(self.0, other.0)) }
    }

    #[inline(always)]
    unsafe fn max(self, other: Self) -> Self {
        // SAFETY: registers only, and the processor has AVX-512 (see the top of the parent).
        unsafe { Self(_mm512_max_epu16(self.0, other.0)) }
    }

    #[inline(always)]
    unsafe fn min_max(self, other: Self) -> (Self, Self) {
        // SAFETY: registers only, and the processor has AVX-512 (see the top of the parent).
        unsafe {
            let min = _mm512_min_epu16(self.0, other.0);
            (Self(min), Self(_mm512_ternarylogic_epi32::<XOR3>(min, self.0, other.0)))
        }
    }

    #[inline(always)]
    unsafe fn xor(self, mask: u16) -> Self {
        // SAFETY: registers only, and the processor has AVX-512 (see the top of the parent).
        unsafe { Self(_mm512_xor_si512(self.0, _mm512_set1_epi16(mask.cast_signed()))) }
    }

    #[inline(always)]
    unsafe fn fold(self, mask: u16) -> Self {
        // SAFETY: registers only, and the processor has AVX-512 (see the top of the parent).
        unsafe {
            let negative = _mm512_srai_epi16::<15>(self.0);
            let mask = _mm512_set1_epi16(mask.cast_signed());
            Self(_mm512_ternarylogic_epi32::<XOR_AND>(self.0, negative, mask))
        }
    }

    #[inline(always)]
    unsafe fn wrapping_sub(self, key: u16) -> Self {
        // SAFETY: registers only, and the processor has AVX-512 (see the top of the parent).
        unsafe { Self(_mm512_sub_epi16(self.0, _mm512_set1_epi16(key.cast_signed()))) }
    }

    #[inline(always)]
    unsafe fn xor_lanes<const MASK: usize>(self) -> Self {
        let pairs = U32x16(self.0);
        // SAFETY: registers only, and the processor has AVX-512 (see the top of the parent).
        unsafe {
            Self(match MASK {
                1 => turned(self.0),
                2 => pairs.xor_lanes::<1>().0,
                3 => turned(pairs.xor_lanes::<1>().0),
                4 => pairs.xor_lanes::<2>().0,
                7 => turned(pairs.xor_lanes::<3>().0),
                8 => pairs.xor_lanes::<4>().0,
                15 => turned(pairs.xor_lanes::<7>().0),
                16 => pairs.xor_lanes::<8>().0,
                31 => turned(pairs.xor_lanes::<15>().0),
                _ => unreachable!(),
            })
        }
    }

    #[inline(always)]
    unsafe fn order_by_bit<const BIT: usize>(self, other: Self) -> (Self, Self) {
        // SAFETY: registers only, and the processor has AVX-512 (see the top of the parent).
        unsafe {
            let min = _mm512_min_epu16(self.0, other.0);
            let set = opaque(const { bit_set(BIT) });
            let first = _mm512_mask_max_epu16(min, set, self.0, other.0);
            (Self(first), Self(_mm512_ternarylogic_epi32::<XOR3>(first, self.0, other.0)))
        }
    }

    #[inline(always)]
    unsafe fn merge_lanes<const MASK: usize>(self, lower: Self) -> (Self, Self) {
        // SAFETY: registers only, and the processor has AVX-512 (see the top of the parent). An index is as long as a register.
        unsafe {
            let partner = lower.xor_lanes::<MASK>();
            let (smaller, larger) = self.min_max(partner);
            if MASK == 1 {
                let upper = even_and_odd(smaller.0, larger.0);
                return (Self(upper), Self(turned(even_and_odd(larger.0, smaller.0))));
            }
            // Pairs of keys go back to their rows; those of the lower row are still turned.
            let pairs = steps_after_flip!(Self::pairs_of_two, lanes_32, (smaller, larger), MASK / 2);
            Self::order_neighbours(pairs.0, pairs.1)
        }
    }

    #[inline(always)]
    unsafe fn clean_all_lanes(self, other: Self) -> (Self, Self) {
        // SAFETY: registers only, and the processor has AVX-512 (see the top of the parent). An index is as long as a register.
        unsafe {
            let pairs = half_cleaners!(Self::pairs_of_two, lanes_32, (self, other), 16);
            Self::order_neighbours(pairs.0, Self(turned(pairs.1.0)))
        }
    }

    #[inline(always)]
    unsafe fn close_gaps<const KEPT: usize, const OF: usize>(self) -> Self {
        let index = const {
            let lanes = kept_lanes::<32>(KEPT, OF);
            let mut index = [0_u16; 32];
            let mut lane = 0;
            while lane < 32 {
                index[lane] = lanes[lane] as u16;
                lane += 1;
            }
            &{ index }
        };
        // SAFETY: registers only, and the processor has AVX-512 (see the top of the parent). An index is as long as a register.
        unsafe { Self(_mm512_permutexvar_epi16(_mm512_loadu_si512(index.as_ptr().cast()), self.0)) }
    }

    #[inline(always)]
    unsafe fn reverse(self) -> Self {
        // SAFETY: registers only, and the processor has AVX-512 (see the top of the parent).
        unsafe { self.xor_lanes::<31>() }
    }

    #[inline(always)]
    unsafe fn interleave(self, other: Self) -> (Self, Self) {
        // SAFETY: registers only, and the processor has AVX-512 (see the top of the parent).
        unsafe {
            // Within every quarter of the registers, then quarters to their places.
            let low = _mm512_unpacklo_epi16(self.0, other.0);
            let high = _mm512_unpackhi_epi16(self.0, other.0);
            let first = _mm512_setr_epi64(0, 1, 8, 9, 2, 3, 10, 11);
            let second = _mm512_setr_epi64(4, 5, 12, 13, 6, 7, 14, 15);
            (
                Self(_mm512_permutex2var_epi64(low, first, high)),
                Self(_mm512_permutex2var_epi64(low, second, high)),
            )
        }
    }

    #[inline(always)]
    unsafe fn partition(self, ranks: Self, pivot: Self, left: *mut u16, right: *mut u16) -> usize {
        // SAFETY: the processor has AVX-512 (see the top of the parent), and a register of keys has room at either pointer, as the
        // caller vouches; quarters are written within it.
        unsafe {
            // Shifts of a mask register would take the port that shuffles.
            let below = opaque(_mm512_cmplt_epu16_mask(ranks.0, pivot.0));
            let (mut left_end, mut right_end) = (left, right);
            // A quarter at a time, by a table: not every AVX-512 processor compresses 16-bit lanes.
            let quarters = [
                _mm512_castsi512_si128(self.0),
                _mm512_extracti32x4_epi32::<1>(self.0),
                _mm512_extracti32x4_epi32::<2>(self.0),
                _mm512_extracti32x4_epi32::<3>(self.0),
            ];
            for (quarter, below) in quarters.into_iter().zip(below.to_le_bytes()) {
                let count = partition_words(quarter, below, left_end, right_end);
                left_end = left_end.add(count);
                right_end = right_end.sub(8 - count);
            }
            below.count_ones() as usize
        }
    }

    #[inline(always)]
    unsafe fn no_counts() -> Self {
        // SAFETY: registers only, and the processor has AVX-512 (see the top of the parent).
        unsafe { Self(_mm512_setzero_si512()) }
    }

    #[inline(always)]
    unsafe fn count_equal(self, keys: Self, value: Self) -> Self {
        // SAFETY: registers only, and the processor has AVX-512 (see the top of the parent).
        unsafe {
            let equal = _mm512_cmpeq_epi16_mask(keys.0, value.0);
            Self(_mm512_mask_sub_epi16(self.0, equal, self.0, _mm512_set1_epi16(-1)))
        }
    }

    #[inline(always)]
    unsafe fn sum_of_counts(self) -> usize {
        // SAFETY: registers only, and the processor has AVX-512 (see the top of the parent).
        unsafe {
            let pairs = _mm512_madd_epi16(self.0, _mm512_set1_epi16(1));
            _mm512_reduce_add_epi32(pairs).cast_unsigned() as usize
        }
    }

    #[inline(always)]
    unsafe fn all_at_most(self, other: Self) -> bool {
        // SAFETY: registers only, and the processor has AVX-512 (see the top of the parent).
        unsafe { _mm512_cmpgt_epu16_mask(self.0, other.0) == 0 }
    }
}

crate::cpu::kernels::instantiate! {
    /// Kernels for 16-bit keys.
    U16_KERNELS, U16x32, u16,
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,bmi2,popcnt")]
}
