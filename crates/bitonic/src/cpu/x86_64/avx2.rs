//! AVX2: 256-bit registers, 16 keys of 16 bits, 8 of 32 or 4 of 64.
//!
//! The tables at the end of this file and of those in its folder are the only way in, and a table is handed out for an
//! [`Available`](crate::instructions::Available) alone: whatever runs here runs on a processor with AVX2.

mod words;

pub(crate) use words::U16_KERNELS;

use super::partition::{PARTITION_4, PARTITION_8};
use crate::cpu::generic::vector::Vector;
use std::arch::x86_64::*;

/// 8 keys of 32 bits.
#[derive(Clone, Copy)]
struct U32x8(__m256i);

/// 4 keys of 64 bits, each with its highest bit turned: AVX2 compares 64-bit integers as signed ones only.
#[derive(Clone, Copy)]
struct U64x4(__m256i);

#[inline(always)]
unsafe fn all_ones() -> __m256i {
    // SAFETY: registers only, and the processor has AVX2 (see the top).
    unsafe { _mm256_set1_epi32(-1) }
}

/// All ones in the first `count` lanes of 32 bits.
#[inline(always)]
unsafe fn first_lanes(count: usize) -> __m256i {
    // SAFETY: registers only, and the processor has AVX2 (see the top).
    unsafe { _mm256_cmpgt_epi32(_mm256_set1_epi32(count as i32), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7)) }
}

/// Two keys of 32 bits of every half of `first`, then two of `second`.
#[inline(always)]
unsafe fn shuffle<const KEYS: i32>(first: __m256i, second: __m256i) -> __m256i {
    // SAFETY: registers only, and the processor has AVX2 (see the top).
    unsafe {
        let (first, second) = (_mm256_castsi256_ps(first), _mm256_castsi256_ps(second));
        _mm256_castps_si256(_mm256_shuffle_ps::<KEYS>(first, second))
    }
}

impl Vector for U32x8 {
    type Lane = u32;
    const LANES: usize = 8;

    #[inline(always)]
    unsafe fn load(from: *const u32) -> Self {
        // SAFETY: the processor has AVX2 (see the top), and the caller's pointer is good for a register of keys.
        unsafe { Self(_mm256_loadu_si256(from.cast())) }
    }

    #[inline(always)]
    unsafe fn load_partial(from: *const u32, count: usize) -> Self {
        // SAFETY: the processor has AVX2 (see the top), and the caller's pointer is good for `count` keys. Masked-out lanes are
        // not read.
        unsafe {
            let mask = first_lanes(count);
            Self(_mm256_or_si256(
                _mm256_maskload_epi32(from.cast(), mask),
                _mm256_xor_si256(mask, all_ones()),
            ))
        }
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut u32) {
        // SAFETY: the processor has AVX2 (see the top), and the caller's pointer is good for a register of keys.
        unsafe { _mm256_storeu_si256(to.cast(), self.0) }
    }

    #[inline(always)]
    unsafe fn store_partial(self, to: *mut u32, count: usize) {
        // SAFETY: the processor has AVX2 (see the top), and the caller's pointer is good for `count` keys. Masked-out lanes are
        // not written.
        unsafe { _mm256_maskstore_epi32(to.cast(), first_lanes(count), self.0) }
    }

    #[inline(always)]
    unsafe fn splat(key: u32) -> Self {
        // SAFETY: registers only, and the processor has AVX2 (see the top).
        unsafe { Self(_mm256_set1_epi32(key.cast_signed())) }
    }

    #[inline(always)]
    unsafe fn min(self, other: Self) -> Self {
        // SAFETY: registers only, and the processor has AVX2 (see the top).
        unsafe { Self(_mm256_min_epu32(self.0, other.0)) }
    }

    #[inline(always)]
    unsafe fn max(self, other: Self) -> Self {
        // SAFETY: registers only, and the processor has AVX2 (see the top).
        unsafe { Self(_mm256_max_epu32(self.0, other.0)) }
    }

    #[inline(always)]
    unsafe fn xor(self, mask: Self::Lane) -> Self {
        // SAFETY: registers only, and the processor has AVX2 (see the top).
        unsafe { Self(_mm256_xor_si256(self.0, _mm256_set1_epi32(mask.cast_signed()))) }
    }

    #[inline(always)]
    unsafe fn fold(self, mask: Self::Lane) -> Self {
        // SAFETY: registers only, and the processor has AVX2 (see the top).
        unsafe {
            let negative = _mm256_srai_epi32::<31>(self.0);
            let turned = _mm256_and_si256(negative, _mm256_set1_epi32(mask.cast_signed()));
            Self(_mm256_xor_si256(self.0, turned))
        }
    }

    #[inline(always)]
    unsafe fn wrapping_sub(self, key: Self::Lane) -> Self {
        // SAFETY: registers only, and the processor has AVX2 (see the top).
        unsafe { Self(_mm256_sub_epi32(self.0, _mm256_set1_epi32(key.cast_signed()))) }
    }

    #[inline(always)]
    unsafe fn xor_lanes<const MASK: usize>(self) -> Self {
        // SAFETY: registers only, and the processor has AVX2 (see the top).
        unsafe {
            Self(match MASK {
                1 => _mm256_shuffle_epi32::<0b10_11_00_01>(self.0),
                2 => _mm256_shuffle_epi32::<0b01_00_11_10>(self.0),
                3 => _mm256_shuffle_epi32::<0b00_01_10_11>(self.0),
                4 => _mm256_permute4x64_epi64::<0b01_00_11_10>(self.0),
                7 => _mm256_permutevar8x32_epi32(self.0, _mm256_setr_epi32(7, 6, 5, 4, 3, 2, 1, 0)),
                _ => unreachable!(),
            })
        }
    }

    #[inline(always)]
    unsafe fn order_by_bit<const BIT: usize>(self, other: Self) -> (Self, Self) {
        // SAFETY: registers only, and the processor has AVX2 (see the top).
        unsafe {
            let (min, max) = self.min_max(other);
            let (first, second) = match BIT {
                1 => (
                    _mm256_blend_epi32::<0b1010_1010>(min.0, max.0),
                    _mm256_blend_epi32::<0b1010_1010>(max.0, min.0),
                ),
                2 => (
                    _mm256_blend_epi32::<0b1100_1100>(min.0, max.0),
                    _mm256_blend_epi32::<0b1100_1100>(max.0, min.0),
                ),
                4 => (
                    _mm256_blend_epi32::<0b1111_0000>(min.0, max.0),
                    _mm256_blend_epi32::<0b1111_0000>(max.0, min.0),
                ),
                _ => unreachable!(),
            };
            (Self(first), Self(second))
        }
    }

    /// In the arrangements of [`arrangement`](super::arrangement), but for keys that are the other way round in a half of the register.
    #[inline(always)]
    unsafe fn merge_lanes<const MASK: usize>(self, lower: Self) -> (Self, Self) {
        // SAFETY: registers only, and the processor has AVX2 (see the top).
        unsafe {
            let partner = lower.xor_lanes::<MASK>();
            if MASK == 1 {
                let (upper, partner) = self.order_by_bit::<1>(partner);
                return (upper, partner.xor_lanes::<1>());
            }
            let (mut first, mut second) = self.min_max(partner);
            if MASK == 7 {
                // a0 a1 a2 a3 b3 b2 b1 b0 and b7 b6 b5 b4 a4 a5 a6 a7
                let low = Self(_mm256_unpacklo_epi64(first.0, second.0));
                let high = Self(_mm256_unpackhi_epi64(first.0, second.0));
                (first, second) = low.min_max(high);
            }
            let even = Self(shuffle::<0b10_00_10_00>(first.0, second.0));
            let odd = Self(shuffle::<0b11_01_11_01>(first.0, second.0));
            (first, second) = even.min_max(odd);
            let low = _mm256_unpacklo_epi32(first.0, second.0);
            let high = _mm256_unpackhi_epi32(first.0, second.0);
            if MASK == 3 {
                // a0 a1 b0 b1 .. and b2 b3 a2 a3 ..
                let upper = _mm256_blend_epi32::<0b1100_1100>(low, high);
                return (Self(upper), Self(_mm256_alignr_epi8::<8>(high, low)));
            }
            // a0 a1 b4 b5 b0 b1 a4 a5 and a2 a3 b6 b7 b2 b3 a6 a7
            let (low, high) = (_mm256_unpacklo_epi64(low, high), _mm256_unpackhi_epi64(low, high));
            let upper = _mm256_blend_epi32::<0b1111_0000>(low, high);
            (Self(upper), Self(_mm256_permute2x128_si256::<0x21>(low, high)))
        }
    }

    #[inline(always)]
    unsafe fn reverse(self) -> Self {
        // SAFETY: registers only, and the processor has AVX2 (see the top).
        unsafe { self.xor_lanes::<7>() }
    }

    #[inline(always)]
    unsafe fn interleave(self, other: Self) -> (Self, Self) {
        // SAFETY: registers only, and the processor has AVX2 (see the top).
        unsafe {
            let low = _mm256_unpacklo_epi32(self.0, other.0);
            let high = _mm256_unpackhi_epi32(self.0, other.0);
            (
                Self(_mm256_permute2x128_si256::<0x20>(low, high)),
                Self(_mm256_permute2x128_si256::<0x31>(low, high)),
            )
        }
    }

    #[inline(always)]
    unsafe fn partition(self, ranks: Self, pivot: Self, left: *mut u32, right: *mut u32) -> usize {
        // SAFETY: the processor has AVX2 (see the top), and a register of keys has room at either pointer, as the caller vouches.
        unsafe {
            let not_below = _mm256_cmpeq_epi32(_mm256_max_epu32(ranks.0, pivot.0), ranks.0);
            let below = !_mm256_movemask_ps(_mm256_castsi256_ps(not_below)) & 0xFF;
            let order = _mm_cvtsi64_si128(PARTITION_8[below as usize].cast_signed());
            let parted = _mm256_permutevar8x32_epi32(self.0, _mm256_cvtepu8_epi32(order));
            _mm256_storeu_si256(left.cast(), parted);
            _mm256_storeu_si256(right.sub(8).cast(), parted);
            below.count_ones() as usize
        }
    }

    #[inline(always)]
    unsafe fn no_counts() -> Self {
        // SAFETY: registers only, and the processor has AVX2 (see the top).
        unsafe { Self(_mm256_setzero_si256()) }
    }

    #[inline(always)]
    unsafe fn count_equal(self, keys: Self, value: Self) -> Self {
        // SAFETY: registers only, and the processor has AVX2 (see the top).
        unsafe { Self(_mm256_sub_epi32(self.0, _mm256_cmpeq_epi32(keys.0, value.0))) }
    }

    #[inline(always)]
    unsafe fn sum_of_counts(self) -> usize {
        // SAFETY: a register and an array of its lanes are the same bits.
        unsafe { std::mem::transmute::<__m256i, [u32; 8]>(self.0).iter().sum::<u32>() as usize }
    }

    #[inline(always)]
    unsafe fn all_at_most(self, other: Self) -> bool {
        // SAFETY: registers only, and the processor has AVX2 (see the top).
        unsafe { _mm256_movemask_epi8(_mm256_cmpeq_epi32(self.min(other).0, self.0)) == -1 }
    }
}

impl U64x4 {
    /// Between keys and what the register holds.
    #[inline(always)]
    unsafe fn turn(keys: __m256i) -> __m256i {
        // SAFETY: registers only, and the processor has AVX2 (see the top).
        unsafe { _mm256_xor_si256(keys, _mm256_set1_epi64x(i64::MIN)) }
    }

    /// All ones in the lanes where `self` is greater.
    #[inline(always)]
    unsafe fn greater(self, other: Self) -> __m256i {
        // SAFETY: registers only, and the processor has AVX2 (see the top).
        unsafe { _mm256_cmpgt_epi64(self.0, other.0) }
    }
}

impl Vector for U64x4 {
    type Lane = u64;
    const LANES: usize = 4;

    #[inline(always)]
    unsafe fn load(from: *const u64) -> Self {
        // SAFETY: the processor has AVX2 (see the top), and the caller's pointer is good for a register of keys.
        unsafe { Self(Self::turn(_mm256_loadu_si256(from.cast()))) }
    }

    #[inline(always)]
    unsafe fn load_partial(from: *const u64, count: usize) -> Self {
        // SAFETY: the processor has AVX2 (see the top), and the caller's pointer is good for `count` keys. Masked-out lanes are
        // not read.
        unsafe {
            let mask = first_lanes(2 * count);
            let keys = _mm256_maskload_epi64(from.cast(), mask);
            Self(Self::turn(_mm256_or_si256(keys, _mm256_xor_si256(mask, all_ones()))))
        }
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut u64) {
        // SAFETY: the processor has AVX2 (see the top), and the caller's pointer is good for a register of keys.
        unsafe { _mm256_storeu_si256(to.cast(), Self::turn(self.0)) }
    }

    #[inline(always)]
    unsafe fn store_partial(self, to: *mut u64, count: usize) {
        // SAFETY: the processor has AVX2 (see the top), and the caller's pointer is good for `count` keys. Masked-out lanes are
        // not written.
        unsafe { _mm256_maskstore_epi64(to.cast(), first_lanes(2 * count), Self::turn(self.0)) }
    }

    #[inline(always)]
    unsafe fn splat(key: u64) -> Self {
        // SAFETY: registers only, and the processor has AVX2 (see the top).
        unsafe { Self(Self::turn(_mm256_set1_epi64x(key.cast_signed()))) }
    }

    #[inline(always)]
    unsafe fn min(self, other: Self) -> Self {
        // SAFETY: registers only, and the processor has AVX2 (see the top).
        unsafe { Self(_mm256_blendv_epi8(self.0, other.0, self.greater(other))) }
    }

    #[inline(always)]
    unsafe fn max(self, other: Self) -> Self {
        // SAFETY: registers only, and the processor has AVX2 (see the top).
        unsafe { Self(_mm256_blendv_epi8(other.0, self.0, self.greater(other))) }
    }

    #[inline(always)]
    unsafe fn xor(self, mask: Self::Lane) -> Self {
        // SAFETY: registers only, and the processor has AVX2 (see the top).
        unsafe { Self(_mm256_xor_si256(self.0, _mm256_set1_epi64x(mask.cast_signed()))) }
    }

    #[inline(always)]
    unsafe fn fold(self, mask: Self::Lane) -> Self {
        // SAFETY: registers only, and the processor has AVX2 (see the top).
        unsafe {
            // The highest bit is held turned: where it is clear, the key has it.
            let not_negative = _mm256_cmpgt_epi64(_mm256_setzero_si256(), self.0);
            let turned = _mm256_andnot_si256(not_negative, _mm256_set1_epi64x(mask.cast_signed()));
            Self(_mm256_xor_si256(self.0, turned))
        }
    }

    #[inline(always)]
    unsafe fn wrapping_sub(self, key: Self::Lane) -> Self {
        // That the highest bit is held turned makes no difference: what is borrowed from it is lost either way.
        // SAFETY: registers only, and the processor has AVX2 (see the top).
        unsafe { Self(_mm256_sub_epi64(self.0, _mm256_set1_epi64x(key.cast_signed()))) }
    }

    #[inline(always)]
    unsafe fn xor_lanes<const MASK: usize>(self) -> Self {
        // SAFETY: registers only, and the processor has AVX2 (see the top).
        unsafe {
            Self(match MASK {
                1 => _mm256_shuffle_epi32::<0b01_00_11_10>(self.0),
                2 => _mm256_permute4x64_epi64::<0b01_00_11_10>(self.0),
                3 => _mm256_permute4x64_epi64::<0b00_01_10_11>(self.0),
                _ => unreachable!(),
            })
        }
    }

    #[inline(always)]
    unsafe fn order_by_bit<const BIT: usize>(self, other: Self) -> (Self, Self) {
        // SAFETY: registers only, and the processor has AVX2 (see the top).
        unsafe {
            let (min, max) = self.min_max(other);
            let (first, second) = match BIT {
                1 => (
                    _mm256_blend_epi32::<0b1100_1100>(min.0, max.0),
                    _mm256_blend_epi32::<0b1100_1100>(max.0, min.0),
                ),
                2 => (
                    _mm256_blend_epi32::<0b1111_0000>(min.0, max.0),
                    _mm256_blend_epi32::<0b1111_0000>(max.0, min.0),
                ),
                _ => unreachable!(),
            };
            (Self(first), Self(second))
        }
    }

    /// As for 8 lanes.
    #[inline(always)]
    unsafe fn merge_lanes<const MASK: usize>(self, lower: Self) -> (Self, Self) {
        // SAFETY: registers only, and the processor has AVX2 (see the top).
        unsafe {
            let partner = lower.xor_lanes::<MASK>();
            if MASK == 1 {
                let (upper, partner) = self.order_by_bit::<1>(partner);
                return (upper, partner.xor_lanes::<1>());
            }
            // a0 a1 b1 b0 and b3 b2 a2 a3
            let (first, second) = self.min_max(partner);
            let even = Self(_mm256_unpacklo_epi64(first.0, second.0));
            let odd = Self(_mm256_unpackhi_epi64(first.0, second.0));
            let (first, second) = even.min_max(odd);
            // a0 a1 b0 b1 and b2 b3 a2 a3
            let low = _mm256_unpacklo_epi64(first.0, second.0);
            let high = _mm256_unpackhi_epi64(first.0, second.0);
            let upper = _mm256_blend_epi32::<0b1111_0000>(low, high);
            (Self(upper), Self(_mm256_permute2x128_si256::<0x21>(low, high)))
        }
    }

    #[inline(always)]
    unsafe fn reverse(self) -> Self {
        // SAFETY: registers only, and the processor has AVX2 (see the top).
        unsafe { self.xor_lanes::<3>() }
    }

    #[inline(always)]
    unsafe fn interleave(self, other: Self) -> (Self, Self) {
        // SAFETY: registers only, and the processor has AVX2 (see the top).
        unsafe {
            let low = _mm256_unpacklo_epi64(self.0, other.0);
            let high = _mm256_unpackhi_epi64(self.0, other.0);
            (
                Self(_mm256_permute2x128_si256::<0x20>(low, high)),
                Self(_mm256_permute2x128_si256::<0x31>(low, high)),
            )
        }
    }

    #[inline(always)]
    unsafe fn partition(self, ranks: Self, pivot: Self, left: *mut u64, right: *mut u64) -> usize {
        // SAFETY: the processor has AVX2 (see the top), and a register of keys has room at either pointer, as the caller vouches.
        unsafe {
            let below = _mm256_movemask_pd(_mm256_castsi256_pd(pivot.greater(ranks)));
            let order = _mm256_loadu_si256(PARTITION_4[below as usize].as_ptr().cast());
            let parted = Self(_mm256_permutevar8x32_epi32(self.0, order));
            parted.store(left);
            parted.store(right.sub(4));
            below.count_ones() as usize
        }
    }

    #[inline(always)]
    unsafe fn no_counts() -> Self {
        // SAFETY: registers only, and the processor has AVX2 (see the top).
        unsafe { Self(_mm256_setzero_si256()) }
    }

    #[inline(always)]
    unsafe fn count_equal(self, keys: Self, value: Self) -> Self {
        // SAFETY: registers only, and the processor has AVX2 (see the top).
        unsafe { Self(_mm256_sub_epi64(self.0, _mm256_cmpeq_epi64(keys.0, value.0))) }
    }

    #[inline(always)]
    unsafe fn sum_of_counts(self) -> usize {
        // SAFETY: a register and an array of its lanes are the same bits.
        unsafe { std::mem::transmute::<__m256i, [u64; 4]>(self.0).iter().sum::<u64>() as usize }
    }

    #[inline(always)]
    unsafe fn all_at_most(self, other: Self) -> bool {
        // SAFETY: registers only, and the processor has AVX2 (see the top).
        unsafe { _mm256_movemask_pd(_mm256_castsi256_pd(self.greater(other))) == 0 }
    }
}

crate::cpu::kernels::instantiate! {
    /// Kernels for 32-bit keys.
    U32_KERNELS, U32x8, u32,
    #[target_feature(enable = "avx2,bmi2,popcnt")]
}

crate::cpu::kernels::instantiate! {
    /// Kernels for 64-bit keys.
    U64_KERNELS, U64x4, u64,
    #[target_feature(enable = "avx2,bmi2,popcnt")]
}
