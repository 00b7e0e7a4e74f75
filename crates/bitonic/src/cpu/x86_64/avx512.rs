//! AVX-512: 512-bit registers, 32 keys of 16 bits, 16 of 32 or 8 of 64; of 128 bits, 8 in two registers.
//!
//! The tables at the end of this file and of those in its folder are the only way in, and a table is handed out for an
//! [`Available`](crate::instructions::Available) alone: whatever runs here runs on a processor with AVX-512.

use super::arrangement::Arrangement::{self, Distance, Flipped, Rows};
use super::partition::PARTITION_8;
use crate::cpu::generic::vector::Vector;
use std::arch::x86_64::*;

/// 16 keys of 32 bits.
#[derive(Clone, Copy)]
struct U32x16(__m512i);

/// 8 keys of 64 bits.
#[derive(Clone, Copy)]
struct U64x8(__m512i);

/// The mask with the first `count` bits set.
#[inline(always)]
fn first_lanes(count: usize) -> u32 {
    debug_assert!(count <= 32);
    ((1_u64 << count) - 1) as u32
}

/// The lanes whose number has this bit.
const fn bit_set(bit: usize) -> u32 {
    match bit {
        1 => 0xAAAA_AAAA,
        2 => 0xCCCC_CCCC,
        4 => 0xF0F0_F0F0,
        8 => 0xFF00_FF00,
        _ => 0xFFFF_0000,
    }
}

/// The mask, in a form that the compiler cannot see through. For a mask it knows, it computes both results and blends
/// them, one instruction more than the masked one.
#[inline(always)]
fn opaque(mut mask: u32) -> u32 {
    // SAFETY: no instruction at all.
    unsafe {
        std::arch::asm!("/* {0:e} */", inout(reg) mask, options(pure, nomem, nostack, preserves_flags))
    };
    mask
}

/// a xor b xor c.
const XOR3: i32 = 0x96;

/// For ternary logic: the first, with those bits turned that both others have.
const XOR_AND: i32 = 0x78;

/// An index for a permutation of lanes, as the instruction takes it.
const fn lanes_32(index: [usize; 16]) -> [u32; 16] {
    let mut lanes = [0; 16];
    let mut lane = 0;
    while lane < 16 {
        lanes[lane] = index[lane] as u32;
        lane += 1;
    }
    lanes
}

const fn lanes_64(index: [usize; 8]) -> [u64; 8] {
    let mut lanes = [0; 8];
    let mut lane = 0;
    while lane < 8 {
        lanes[lane] = index[lane] as u64;
        lane += 1;
    }
    lanes
}

/// The index for a permutation that puts the first `kept` lanes of every group right behind each other.
const fn kept_lanes<const LANES: usize>(kept: usize, of: usize) -> [usize; LANES] {
    let mut lanes = [0; LANES];
    let mut lane = 0;
    while lane < LANES {
        lanes[lane] = (lane / kept * of + lane % kept) % LANES;
        lane += 1;
    }
    lanes
}

/// Brings the keys of two registers from one arrangement to another, by a function that permutes the lanes of two of them.
macro_rules! rearrange {
    ($permute:path, $lanes:ident, $pair:expr, $from:expr => $to:expr) => {{
        let (first, second) = $pair;
        let indices =
            const { &[$lanes(Arrangement::index($from, $to, 0)), $lanes(Arrangement::index($from, $to, 1))] };
        (
            $permute(first, _mm512_loadu_si512(indices[0].as_ptr().cast()), second),
            $permute(first, _mm512_loadu_si512(indices[1].as_ptr().cast()), second),
        )
    }};
}

/// Leads from the first comparators of [`Vector::merge_lanes`] to rows. Keys of 16 bits, which are permuted in pairs, still lack the step
/// between neighbours.
macro_rules! steps_after_flip {
    ($permute:path, $lanes:ident, $pair:expr, $mask:expr) => {{
        let mut pair: (Self, Self) = $pair;
        if $mask == 15 {
            pair = rearrange!($permute, $lanes, pair, Flipped { mask: $mask } => Distance(4));
            pair = pair.0.min_max(pair.1);
            pair = rearrange!($permute, $lanes, pair, Distance(4) => Distance(2));
        }
        if $mask == 7 {
            pair = rearrange!($permute, $lanes, pair, Flipped { mask: $mask } => Distance(2));
        }
        if $mask >= 7 {
            pair = pair.0.min_max(pair.1);
            pair = rearrange!($permute, $lanes, pair, Distance(2) => Distance(1));
        }
        if $mask == 3 {
            pair = rearrange!($permute, $lanes, pair, Flipped { mask: $mask } => Distance(1));
        }
        if $mask >= 3 {
            pair = pair.0.min_max(pair.1);
            rearrange!($permute, $lanes, pair, Distance(1) => Rows)
        } else {
            rearrange!($permute, $lanes, pair, Flipped { mask: $mask } => Rows)
        }
    }};
}

/// The half-cleaners of [`Vector::clean_all_lanes`] between so many lanes. Keys of 16 bits lack the same step.
macro_rules! half_cleaners {
    ($permute:path, $lanes:ident, $pair:expr, $count:literal) => {{
        let mut pair: (Self, Self) = $pair;
        if $count == 16 {
            pair = rearrange!($permute, $lanes, pair, Rows => Distance(8));
            pair = pair.0.min_max(pair.1);
            pair = rearrange!($permute, $lanes, pair, Distance(8) => Distance(4));
        } else {
            pair = rearrange!($permute, $lanes, pair, Rows => Distance(4));
        }
        pair = pair.0.min_max(pair.1);
        pair = rearrange!($permute, $lanes, pair, Distance(4) => Distance(2));
        pair = pair.0.min_max(pair.1);
        pair = rearrange!($permute, $lanes, pair, Distance(2) => Distance(1));
        pair = pair.0.min_max(pair.1);
        rearrange!($permute, $lanes, pair, Distance(1) => Rows)
    }};
}

/// [`Vector::merge_lanes`] and [`Vector::clean_all_lanes`], by [`Arrangement`].
macro_rules! steps_between_lanes {
    ($permute:path, $lanes:ident, $count:literal) => {
        #[inline(always)]
        unsafe fn merge_lanes<const MASK: usize>(self, lower: Self) -> (Self, Self) {
            // SAFETY: registers only, and the processor has AVX-512 (see the top). An index is as long as a register.
            unsafe {
                let partner = lower.xor_lanes::<MASK>();
                if MASK == 1 {
                    let (upper, partner) = self.order_by_bit::<1>(partner);
                    return (upper, partner.xor_lanes::<1>());
                }
                steps_after_flip!($permute, $lanes, self.min_max(partner), MASK)
            }
        }

        #[inline(always)]
        unsafe fn clean_all_lanes(self, other: Self) -> (Self, Self) {
            // SAFETY: registers only, and the processor has AVX-512 (see the top). An index is as long as a register.
            unsafe { half_cleaners!($permute, $lanes, (self, other), $count) }
        }
    };
}

// They use the macros.
mod wide;
mod words;

pub(crate) use wide::U128_KERNELS;
pub(crate) use words::U16_KERNELS;

impl U32x16 {
    /// Lanes of two registers, counted on from the first to the second.
    #[inline(always)]
    unsafe fn lanes_of_two(first: Self, index: __m512i, second: Self) -> Self {
        // SAFETY: registers only, and the processor has AVX-512 (see the top).
        unsafe { Self(_mm512_permutex2var_epi32(first.0, index, second.0)) }
    }
}

impl U64x8 {
    /// Lanes of two registers, counted on from the first to the second.
    #[inline(always)]
    unsafe fn lanes_of_two(first: Self, index: __m512i, second: Self) -> Self {
        // SAFETY: registers only, and the processor has AVX-512 (see the top).
        unsafe { Self(_mm512_permutex2var_epi64(first.0, index, second.0)) }
    }
}

impl Vector for U32x16 {
    type Lane = u32;
    const LANES: usize = 16;

    #[inline(always)]
    unsafe fn load(from: *const u32) -> Self {
        // SAFETY: the processor has AVX-512 (see the top), and the caller's pointer is good for a register of keys.
        unsafe { Self(_mm512_loadu_si512(from.cast())) }
    }

    #[inline(always)]
    unsafe fn load_partial(from: *const u32, count: usize) -> Self {
        // SAFETY: the processor has AVX-512 (see the top), and the caller's pointer is good for `count` keys. Masked-out lanes
        // are not read.
        unsafe {
            Self(_mm512_mask_loadu_epi32(_mm512_set1_epi32(-1), first_lanes(count) as u16, from.cast()))
        }
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut u32) {
        // SAFETY: the processor has AVX-512 (see the top), and the caller's pointer is good for a register of keys.
        unsafe { _mm512_storeu_si512(to.cast(), self.0) }
    }

    #[inline(always)]
    unsafe fn store_partial(self, to: *mut u32, count: usize) {
        // SAFETY: the processor has AVX-512 (see the top), and the caller's pointer is good for `count` keys. Masked-out lanes
        // are not written.
        unsafe { _mm512_mask_storeu_epi32(to.cast(), first_lanes(count) as u16, self.0) }
    }

    // How far the keys of several columns reach into a register is a coin toss: no branch.
    #[inline(always)]
    unsafe fn store_up_to(self, to: *mut u32, count: usize) {
        // SAFETY: the processor has AVX-512 (see the top), and the caller's pointer is good for `count` keys.
        unsafe { self.store_partial(to, count.min(Self::LANES)) }
    }

    #[inline(always)]
    unsafe fn splat(key: u32) -> Self {
        // SAFETY: registers only, and the processor has AVX-512 (see the top).
        unsafe { Self(_mm512_set1_epi32(key.cast_signed())) }
    }

    #[inline(always)]
    unsafe fn min(self, other: Self) -> Self {
        // SAFETY: registers only, and the processor has AVX-512 (see the top).
        unsafe { Self(_mm512_min_epu32(self.0, other.0)) }
    }

    #[inline(always)]
    unsafe fn max(self, other: Self) -> Self {
        // SAFETY: registers only, and the processor has AVX-512 (see the top).
        unsafe { Self(_mm512_max_epu32(self.0, other.0)) }
    }

    #[inline(always)]
    unsafe fn min_max(self, other: Self) -> (Self, Self) {
        // The minimum runs on one port only; the xor of all three, which is the maximum, has a second one to go to.
        // SAFETY: registers only, and the processor has AVX-512 (see the top).
        unsafe {
            let min = _mm512_min_epu32(self.0, other.0);
            (Self(min), Self(_mm512_ternarylogic_epi32::<XOR3>(min, self.0, other.0)))
        }
    }

    #[inline(always)]
    unsafe fn xor(self, mask: Self::Lane) -> Self {
        // SAFETY: registers only, and the processor has AVX-512 (see the top).
        unsafe { Self(_mm512_xor_si512(self.0, _mm512_set1_epi32(mask.cast_signed()))) }
    }

    #[inline(always)]
    unsafe fn fold(self, mask: Self::Lane) -> Self {
        // SAFETY: registers only, and the processor has AVX-512 (see the top).
        unsafe {
            let negative = _mm512_srai_epi32::<31>(self.0);
            let mask = _mm512_set1_epi32(mask.cast_signed());
            Self(_mm512_ternarylogic_epi32::<XOR_AND>(self.0, negative, mask))
        }
    }

    #[inline(always)]
    unsafe fn wrapping_sub(self, key: Self::Lane) -> Self {
        // SAFETY: registers only, and the processor has AVX-512 (see the top).
        unsafe { Self(_mm512_sub_epi32(self.0, _mm512_set1_epi32(key.cast_signed()))) }
    }

    #[inline(always)]
    unsafe fn xor_lanes<const MASK: usize>(self) -> Self {
        // SAFETY: registers only, and the processor has AVX-512 (see the top).
        unsafe {
            Self(match MASK {
                1 => _mm512_shuffle_epi32::<0b10_11_00_01>(self.0),
                2 => _mm512_shuffle_epi32::<0b01_00_11_10>(self.0),
                3 => _mm512_shuffle_epi32::<0b00_01_10_11>(self.0),
                4 => _mm512_shuffle_i32x4::<0b10_11_00_01>(self.0, self.0),
                8 => _mm512_shuffle_i32x4::<0b01_00_11_10>(self.0, self.0),
                7 => _mm512_permutexvar_epi32(
                    _mm512_setr_epi32(7, 6, 5, 4, 3, 2, 1, 0, 15, 14, 13, 12, 11, 10, 9, 8),
                    self.0,
                ),
                15 => _mm512_permutexvar_epi32(
                    _mm512_setr_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0),
                    self.0,
                ),
                _ => unreachable!(),
            })
        }
    }

    #[inline(always)]
    unsafe fn order_by_bit<const BIT: usize>(self, other: Self) -> (Self, Self) {
        // SAFETY: registers only, and the processor has AVX-512 (see the top).
        unsafe {
            let min = _mm512_min_epu32(self.0, other.0);
            let set = opaque(const { bit_set(BIT) }) as u16;
            let first = _mm512_mask_ternarylogic_epi32::<XOR3>(min, set, self.0, other.0);
            (Self(first), Self(_mm512_ternarylogic_epi32::<XOR3>(first, self.0, other.0)))
        }
    }

    steps_between_lanes!(Self::lanes_of_two, lanes_32, 16);

    #[inline(always)]
    unsafe fn close_gaps<const KEPT: usize, const OF: usize>(self) -> Self {
        let index = const { &lanes_32(kept_lanes(KEPT, OF)) };
        // SAFETY: registers only, and the processor has AVX-512 (see the top). An index is as long as a register.
        unsafe { Self(_mm512_permutexvar_epi32(_mm512_loadu_si512(index.as_ptr().cast()), self.0)) }
    }

    #[inline(always)]
    unsafe fn reverse(self) -> Self {
        // SAFETY: registers only, and the processor has AVX-512 (see the top).
        unsafe { self.xor_lanes::<15>() }
    }

    #[inline(always)]
    unsafe fn interleave(self, other: Self) -> (Self, Self) {
        // SAFETY: registers only, and the processor has AVX-512 (see the top).
        unsafe {
            let first = _mm512_setr_epi32(0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
            let second = _mm512_setr_epi32(8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
            (
                Self(_mm512_permutex2var_epi32(self.0, first, other.0)),
                Self(_mm512_permutex2var_epi32(self.0, second, other.0)),
            )
        }
    }

    #[inline(always)]
    unsafe fn partition(self, ranks: Self, pivot: Self, left: *mut u32, right: *mut u32) -> usize {
        // SAFETY: the processor has AVX-512 (see the top), and a register of keys has room at either pointer, as the caller
        // vouches.
        unsafe {
            let below = _mm512_cmplt_epu32_mask(ranks.0, pivot.0);
            let count = below.count_ones() as usize;
            _mm512_storeu_si512(left.cast(), _mm512_maskz_compress_epi32(below, self.0));
            // Compress in registers: compressing to memory is slow on every processor but the newest.
            let others = _mm512_maskz_compress_epi32(!below, self.0);
            _mm512_mask_storeu_epi32(right.sub(16 - count).cast(), first_lanes(16 - count) as u16, others);
            count
        }
    }

    #[inline(always)]
    unsafe fn no_counts() -> Self {
        // SAFETY: registers only, and the processor has AVX-512 (see the top).
        unsafe { Self(_mm512_setzero_si512()) }
    }

    #[inline(always)]
    unsafe fn count_equal(self, keys: Self, value: Self) -> Self {
        // SAFETY: registers only, and the processor has AVX-512 (see the top).
        unsafe {
            Self(_mm512_mask_sub_epi32(
                self.0,
                _mm512_cmpeq_epi32_mask(keys.0, value.0),
                self.0,
                _mm512_set1_epi32(-1),
            ))
        }
    }

    #[inline(always)]
    unsafe fn sum_of_counts(self) -> usize {
        // SAFETY: registers only, and the processor has AVX-512 (see the top).
        unsafe { _mm512_reduce_add_epi32(self.0).cast_unsigned() as usize }
    }

    #[inline(always)]
    unsafe fn all_at_most(self, other: Self) -> bool {
        // SAFETY: registers only, and the processor has AVX-512 (see the top).
        unsafe { _mm512_cmpgt_epu32_mask(self.0, other.0) == 0 }
    }
}

impl Vector for U64x8 {
    type Lane = u64;
    const LANES: usize = 8;

    #[inline(always)]
    unsafe fn load(from: *const u64) -> Self {
        // SAFETY: the processor has AVX-512 (see the top), and the caller's pointer is good for a register of keys.
        unsafe { Self(_mm512_loadu_si512(from.cast())) }
    }

    #[inline(always)]
    unsafe fn load_partial(from: *const u64, count: usize) -> Self {
        // SAFETY: the processor has AVX-512 (see the top), and the caller's pointer is good for `count` keys. Masked-out lanes
        // are not read.
        unsafe { Self(_mm512_mask_loadu_epi64(_mm512_set1_epi32(-1), first_lanes(count) as u8, from.cast())) }
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut u64) {
        // SAFETY: the processor has AVX-512 (see the top), and the caller's pointer is good for a register of keys.
        unsafe { _mm512_storeu_si512(to.cast(), self.0) }
    }

    #[inline(always)]
    unsafe fn store_partial(self, to: *mut u64, count: usize) {
        // SAFETY: the processor has AVX-512 (see the top), and the caller's pointer is good for `count` keys. Masked-out lanes
        // are not written.
        unsafe { _mm512_mask_storeu_epi64(to.cast(), first_lanes(count) as u8, self.0) }
    }

    // How far the keys of several columns reach into a register is a coin toss: no branch.
    #[inline(always)]
    unsafe fn store_up_to(self, to: *mut u64, count: usize) {
        // SAFETY: the processor has AVX-512 (see the top), and the caller's pointer is good for `count` keys.
        unsafe { self.store_partial(to, count.min(Self::LANES)) }
    }

    #[inline(always)]
    unsafe fn splat(key: u64) -> Self {
        // SAFETY: registers only, and the processor has AVX-512 (see the top).
        unsafe { Self(_mm512_set1_epi64(key.cast_signed())) }
    }

    #[inline(always)]
    unsafe fn min(self, other: Self) -> Self {
        // SAFETY: registers only, and the processor has AVX-512 (see the top).
        unsafe { Self(_mm512_min_epu64(self.0, other.0)) }
    }

    #[inline(always)]
    unsafe fn max(self, other: Self) -> Self {
        // SAFETY: registers only, and the processor has AVX-512 (see the top).
        unsafe { Self(_mm512_max_epu64(self.0, other.0)) }
    }

    #[inline(always)]
    unsafe fn min_max(self, other: Self) -> (Self, Self) {
        // SAFETY: registers only, and the processor has AVX-512 (see the top).
        unsafe {
            let min = _mm512_min_epu64(self.0, other.0);
            (Self(min), Self(_mm512_ternarylogic_epi64::<XOR3>(min, self.0, other.0)))
        }
    }

    #[inline(always)]
    unsafe fn xor(self, mask: Self::Lane) -> Self {
        // SAFETY: registers only, and the processor has AVX-512 (see the top).
        unsafe { Self(_mm512_xor_si512(self.0, _mm512_set1_epi64(mask.cast_signed()))) }
    }

    #[inline(always)]
    unsafe fn fold(self, mask: Self::Lane) -> Self {
        // SAFETY: registers only, and the processor has AVX-512 (see the top).
        unsafe {
            let negative = _mm512_srai_epi64::<63>(self.0);
            let mask = _mm512_set1_epi64(mask.cast_signed());
            Self(_mm512_ternarylogic_epi64::<XOR_AND>(self.0, negative, mask))
        }
    }

    #[inline(always)]
    unsafe fn wrapping_sub(self, key: Self::Lane) -> Self {
        // SAFETY: registers only, and the processor has AVX-512 (see the top).
        unsafe { Self(_mm512_sub_epi64(self.0, _mm512_set1_epi64(key.cast_signed()))) }
    }

    #[inline(always)]
    unsafe fn xor_lanes<const MASK: usize>(self) -> Self {
        // SAFETY: registers only, and the processor has AVX-512 (see the top).
        unsafe {
            Self(match MASK {
                1 => _mm512_shuffle_epi32::<0b01_00_11_10>(self.0),
                2 => _mm512_permutex_epi64::<0b01_00_11_10>(self.0),
                3 => _mm512_permutex_epi64::<0b00_01_10_11>(self.0),
                4 => _mm512_shuffle_i64x2::<0b01_00_11_10>(self.0, self.0),
                7 => _mm512_permutexvar_epi64(_mm512_setr_epi64(7, 6, 5, 4, 3, 2, 1, 0), self.0),
                _ => unreachable!(),
            })
        }
    }

    #[inline(always)]
    unsafe fn order_by_bit<const BIT: usize>(self, other: Self) -> (Self, Self) {
        // SAFETY: registers only, and the processor has AVX-512 (see the top).
        unsafe {
            let min = _mm512_min_epu64(self.0, other.0);
            let set = opaque(const { bit_set(BIT) }) as u8;
            let first = _mm512_mask_ternarylogic_epi64::<XOR3>(min, set, self.0, other.0);
            (Self(first), Self(_mm512_ternarylogic_epi64::<XOR3>(first, self.0, other.0)))
        }
    }

    steps_between_lanes!(Self::lanes_of_two, lanes_64, 8);

    #[inline(always)]
    unsafe fn close_gaps<const KEPT: usize, const OF: usize>(self) -> Self {
        let index = const { &lanes_64(kept_lanes(KEPT, OF)) };
        // SAFETY: registers only, and the processor has AVX-512 (see the top). An index is as long as a register.
        unsafe { Self(_mm512_permutexvar_epi64(_mm512_loadu_si512(index.as_ptr().cast()), self.0)) }
    }

    #[inline(always)]
    unsafe fn reverse(self) -> Self {
        // SAFETY: registers only, and the processor has AVX-512 (see the top).
        unsafe { self.xor_lanes::<7>() }
    }

    #[inline(always)]
    unsafe fn interleave(self, other: Self) -> (Self, Self) {
        // SAFETY: registers only, and the processor has AVX-512 (see the top).
        unsafe {
            let first = _mm512_setr_epi64(0, 8, 1, 9, 2, 10, 3, 11);
            let second = _mm512_setr_epi64(4, 12, 5, 13, 6, 14, 7, 15);
            (
                Self(_mm512_permutex2var_epi64(self.0, first, other.0)),
                Self(_mm512_permutex2var_epi64(self.0, second, other.0)),
            )
        }
    }

    #[inline(always)]
    unsafe fn partition(self, ranks: Self, pivot: Self, left: *mut u64, right: *mut u64) -> usize {
        // SAFETY: the processor has AVX-512 (see the top), and a register of keys has room at either pointer, as the caller
        // vouches.
        unsafe {
            let below = _mm512_cmplt_epu64_mask(ranks.0, pivot.0);
            // Both kinds in one register and stored twice: compressing each kind, and a mask for the second, would keep the one port
            // that permutes twice as long.
            let order = _mm_loadl_epi64((&raw const PARTITION_8[below as usize]).cast());
            let parted = _mm512_permutexvar_epi64(_mm512_cvtepu8_epi64(order), self.0);
            _mm512_storeu_si512(left.cast(), parted);
            _mm512_storeu_si512(right.sub(8).cast(), parted);
            below.count_ones() as usize
        }
    }

    #[inline(always)]
    unsafe fn no_counts() -> Self {
        // SAFETY: registers only, and the processor has AVX-512 (see the top).
        unsafe { Self(_mm512_setzero_si512()) }
    }

    #[inline(always)]
    unsafe fn count_equal(self, keys: Self, value: Self) -> Self {
        // SAFETY: registers only, and the processor has AVX-512 (see the top).
        unsafe {
            Self(_mm512_mask_sub_epi64(
                self.0,
                _mm512_cmpeq_epi64_mask(keys.0, value.0),
                self.0,
                _mm512_set1_epi64(-1),
            ))
        }
    }

    #[inline(always)]
    unsafe fn sum_of_counts(self) -> usize {
        // SAFETY: registers only, and the processor has AVX-512 (see the top).
        unsafe { _mm512_reduce_add_epi64(self.0) as usize }
    }

    #[inline(always)]
    unsafe fn all_at_most(self, other: Self) -> bool {
        // SAFETY: registers only, and the processor has AVX-512 (see the top).
        unsafe { _mm512_cmpgt_epu64_mask(self.0, other.0) == 0 }
    }
}

crate::cpu::kernels::instantiate! {
    /// Kernels for 32-bit keys.
    U32_KERNELS, U32x16, u32,
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,bmi2,popcnt")]
}

crate::cpu::kernels::instantiate! {
    /// Kernels for 64-bit keys.
    U64_KERNELS, U64x8, u64,
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,bmi2,popcnt")]
}
