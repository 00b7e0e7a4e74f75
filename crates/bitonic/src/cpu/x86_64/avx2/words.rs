//! 16 keys of 16 bits in a 256-bit register.

use super::super::partition::partition_words;
use super::*;

/// 16 keys of 16 bits.
#[derive(Clone, Copy)]
struct U16x16(__m256i);

/// The number of every lane.
#[inline(always)]
unsafe fn lane_numbers() -> __m256i {
    // SAFETY: registers only, and the processor has AVX2 (see the top of the parent).
    unsafe { _mm256_setr_epi16(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15) }
}

/// Bytes of both halves in the order of `bytes`.
#[inline(always)]
unsafe fn shuffle_bytes(keys: __m256i, bytes: [u8; 16]) -> __m256i {
    // SAFETY: registers only, and the processor has AVX2 (see the top of the parent). There are as many bytes as half a register has.
    unsafe { _mm256_shuffle_epi8(keys, _mm256_broadcastsi128_si256(_mm_loadu_si128(bytes.as_ptr().cast()))) }
}

/// The first of both where a lane's bit is clear, the second where it is set.
macro_rules! select_by_bit {
    ($bit:expr, $clear:expr, $set:expr) => {
        match $bit {
            1 => _mm256_blend_epi16::<0b1010_1010>($clear.0, $set.0),
            2 => _mm256_blend_epi16::<0b1100_1100>($clear.0, $set.0),
            4 => _mm256_blend_epi16::<0b1111_0000>($clear.0, $set.0),
            8 => _mm256_blend_epi32::<0b1111_0000>($clear.0, $set.0),
            _ => unreachable!(),
        }
    };
}

impl Vector for U16x16 {
    type Lane = u16;
    const LANES: usize = 16;

    #[inline(always)]
    unsafe fn load(from: *const u16) -> Self {
        // SAFETY: the processor has AVX2 (see the top of the parent), and the caller's pointer is good for a register of keys.
        unsafe { Self(_mm256_loadu_si256(from.cast())) }
    }

    /// Masks are of two keys: the last of an odd number is read alone.
    #[inline(always)]
    unsafe fn load_partial(from: *const u16, count: usize) -> Self {
        // SAFETY: the processor has AVX2 (see the top of the parent), and the caller's pointer is good for `count` keys. Masked-out
        // lanes are not read.
        unsafe {
            let pairs = _mm256_maskload_epi32(from.cast(), first_lanes(count / 2));
            let last = if count % 2 == 1 { from.add(count - 1).read() } else { u16::MAX };
            let numbers = lane_numbers();
            let behind = _mm256_cmpgt_epi16(numbers, _mm256_set1_epi16(count as i16 - 1));
            let in_pairs = _mm256_cmpgt_epi16(_mm256_set1_epi16((count & !1) as i16), numbers);
            let others = _mm256_or_si256(behind, _mm256_set1_epi16(last.cast_signed()));
            Self(_mm256_blendv_epi8(others, pairs, in_pairs))
        }
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut u16) {
        // SAFETY: the processor has AVX2 (see the top of the parent), and the caller's pointer is good for a register of keys.
        unsafe { _mm256_storeu_si256(to.cast(), self.0) }
    }

    #[inline(always)]
    unsafe fn store_partial(self, to: *mut u16, count: usize) {
        // SAFETY: the processor has AVX2 (see the top of the parent), and the caller's pointer is good for `count` keys. Masked-out
        // lanes are not written. A register and an array of its lanes are the same bits.
        unsafe {
            _mm256_maskstore_epi32(to.cast(), first_lanes(count / 2), self.0);
            if count % 2 == 1 {
                let lanes: [u16; 16] = std::mem::transmute(self.0);
                to.add(count - 1).write(lanes[count - 1]);
            }
        }
    }

    #[inline(always)]
    unsafe fn splat(key: u16) -> Self {
        // SAFETY: registers only, and the processor has AVX2 (see the top of the parent).
        unsafe { Self(_mm256_set1_epi16(key.cast_signed())) }
    }

    #[inline(always)]
    unsafe fn min(self, other: Self) -> Self {
        // SAFETY: registers only, and the processor has AVX2 (see the top of the parent).
        unsafe { Self(_mm256_min_epu16(self.0, other.0)) }
    }

    #[inline(always)]
    unsafe fn max(self, other: Self) -> Self {
        // SAFETY: registers only, and the processor has AVX2 (see the top of the parent).
        unsafe { Self(_mm256_max_epu16(self.0, other.0)) }
    }

    #[inline(always)]
    unsafe fn xor(self, mask: u16) -> Self {
        // SAFETY: registers only, and the processor has AVX2 (see the top of the parent).
        unsafe { Self(_mm256_xor_si256(self.0, _mm256_set1_epi16(mask.cast_signed()))) }
    }

    #[inline(always)]
    unsafe fn fold(self, mask: u16) -> Self {
        // SAFETY: registers only, and the processor has AVX2 (see the top of the parent).
        unsafe {
            let negative = _mm256_srai_epi16::<15>(self.0);
            let turned = _mm256_and_si256(negative, _mm256_set1_epi16(mask.cast_signed()));
            Self(_mm256_xor_si256(self.0, turned))
        }
    }

    #[inline(always)]
    unsafe fn wrapping_sub(self, key: u16) -> Self {
        // SAFETY: registers only, and the processor has AVX2 (see the top of the parent).
        unsafe { Self(_mm256_sub_epi16(self.0, _mm256_set1_epi16(key.cast_signed()))) }
    }

    #[inline(always)]
    unsafe fn xor_lanes<const MASK: usize>(self) -> Self {
        // SAFETY: registers only, and the processor has AVX2 (see the top of the parent).
        unsafe {
            Self(match MASK {
                1 => shuffle_bytes(self.0, [2, 3, 0, 1, 6, 7, 4, 5, 10, 11, 8, 9, 14, 15, 12, 13]),
                2 => _mm256_shuffle_epi32::<0b10_11_00_01>(self.0),
                3 => shuffle_bytes(self.0, [6, 7, 4, 5, 2, 3, 0, 1, 14, 15, 12, 13, 10, 11, 8, 9]),
                4 => _mm256_shuffle_epi32::<0b01_00_11_10>(self.0),
                7 => shuffle_bytes(self.0, [14, 15, 12, 13, 10, 11, 8, 9, 6, 7, 4, 5, 2, 3, 0, 1]),
                8 => _mm256_permute4x64_epi64::<0b01_00_11_10>(self.0),
                15 => self.xor_lanes::<7>().xor_lanes::<8>().0,
                _ => unreachable!(),
            })
        }
    }

    #[inline(always)]
    unsafe fn order_by_bit<const BIT: usize>(self, other: Self) -> (Self, Self) {
        // SAFETY: registers only, and the processor has AVX2 (see the top of the parent).
        unsafe {
            let (min, max) = self.min_max(other);
            (Self(select_by_bit!(BIT, min, max)), Self(select_by_bit!(BIT, max, min)))
        }
    }

    #[inline(always)]
    unsafe fn reverse(self) -> Self {
        // SAFETY: registers only, and the processor has AVX2 (see the top of the parent).
        unsafe { self.xor_lanes::<15>() }
    }

    #[inline(always)]
    unsafe fn interleave(self, other: Self) -> (Self, Self) {
        // SAFETY: registers only, and the processor has AVX2 (see the top of the parent).
        unsafe {
            let low = _mm256_unpacklo_epi16(self.0, other.0);
            let high = _mm256_unpackhi_epi16(self.0, other.0);
            (
                Self(_mm256_permute2x128_si256::<0x20>(low, high)),
                Self(_mm256_permute2x128_si256::<0x31>(low, high)),
            )
        }
    }

    #[inline(always)]
    unsafe fn partition(self, ranks: Self, pivot: Self, left: *mut u16, right: *mut u16) -> usize {
        // SAFETY: the processor has AVX2 (see the top of the parent), and a register of keys has room at either pointer, as the
        // caller vouches; halves are written within it.
        unsafe {
            let not_below = _mm256_cmpeq_epi16(_mm256_max_epu16(ranks.0, pivot.0), ranks.0);
            let halves = (_mm256_castsi256_si128(not_below), _mm256_extracti128_si256::<1>(not_below));
            let below = !_mm_movemask_epi8(_mm_packs_epi16(halves.0, halves.1)) as u32;
            let first = partition_words(_mm256_castsi256_si128(self.0), below as u8, left, right);
            let (left, right) = (left.add(first), right.sub(8 - first));
            let upper = _mm256_extracti128_si256::<1>(self.0);
            first + partition_words(upper, (below >> 8) as u8, left, right)
        }
    }

    #[inline(always)]
    unsafe fn no_counts() -> Self {
        // SAFETY: registers only, and the processor has AVX2 (see the top of the parent).
        unsafe { Self(_mm256_setzero_si256()) }
    }

    #[inline(always)]
    unsafe fn count_equal(self, keys: Self, value: Self) -> Self {
        // SAFETY: registers only, and the processor has AVX2 (see the top of the parent).
        unsafe { Self(_mm256_sub_epi16(self.0, _mm256_cmpeq_epi16(keys.0, value.0))) }
    }

    #[inline(always)]
    unsafe fn sum_of_counts(self) -> usize {
        // SAFETY: a register and an array of its lanes are the same bits.
        let counts = unsafe { std::mem::transmute::<__m256i, [u16; 16]>(self.0) };
        counts.into_iter().map(usize::from).sum()
    }

    #[inline(always)]
    unsafe fn all_at_most(self, other: Self) -> bool {
        // SAFETY: registers only, and the processor has AVX2 (see the top of the parent).
        unsafe { _mm256_movemask_epi8(_mm256_cmpeq_epi16(self.min(other).0, self.0)) == -1 }
    }
}

crate::cpu::kernels::instantiate! {
    /// Kernels for 16-bit keys.
    U16_KERNELS, U16x16, u16,
    #[target_feature(enable = "avx2,bmi2,popcnt")]
}
