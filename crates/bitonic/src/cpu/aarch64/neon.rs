//! NEON: 128-bit registers, 8 keys of 16 bits, 4 of 32 or 2 of 64. Every AArch64 processor has it.
//!
//! The tables at the end of the file are the only way in, and a table is handed out for an [`Available`](crate::instructions::Available)
//! alone: whatever runs here runs on a processor with NEON.

use crate::cpu::generic::orders::bytes_of_sets;
use crate::cpu::generic::vector::Vector;
use std::arch::aarch64::*;

/// 8 keys of 16 bits.
#[derive(Clone, Copy)]
struct U16x8(uint16x8_t);

/// 4 keys of 32 bits.
#[derive(Clone, Copy)]
struct U32x4(uint32x4_t);

/// 2 keys of 64 bits.
#[derive(Clone, Copy)]
struct U64x2(uint64x2_t);

/// For every set of lanes, the order of bytes that puts the keys of those lanes first and the others last.
static PARTITION_8: [[u8; 16]; 256] = bytes_of_sets::<8, 256>();
static PARTITION_4: [[u8; 16]; 16] = bytes_of_sets::<4, 16>();
static PARTITION_2: [[u8; 16]; 4] = bytes_of_sets::<2, 4>();

/// All bits.
const ONES: u32 = u32::MAX;

impl Vector for U16x8 {
    type Lane = u16;
    const LANES: usize = 8;

    #[inline(always)]
    unsafe fn load(from: *const u16) -> Self {
        // SAFETY: the processor has NEON (see the top), and the caller's pointer is good for a register of keys.
        unsafe { Self(vld1q_u16(from)) }
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut u16) {
        // SAFETY: the processor has NEON (see the top), and the caller's pointer is good for a register of keys.
        unsafe { vst1q_u16(to, self.0) }
    }

    #[inline(always)]
    unsafe fn splat(key: u16) -> Self {
        // SAFETY: registers only, and the processor has NEON (see the top).
        unsafe { Self(vdupq_n_u16(key)) }
    }

    #[inline(always)]
    unsafe fn min(self, other: Self) -> Self {
        // SAFETY: registers only, and the processor has NEON (see the top).
        unsafe { Self(vminq_u16(self.0, other.0)) }
    }

    #[inline(always)]
    unsafe fn max(self, other: Self) -> Self {
        // SAFETY: registers only, and the processor has NEON (see the top).
        unsafe { Self(vmaxq_u16(self.0, other.0)) }
    }

    #[inline(always)]
    unsafe fn xor(self, mask: Self::Lane) -> Self {
        // SAFETY: registers only, and the processor has NEON (see the top).
        unsafe { Self(veorq_u16(self.0, vdupq_n_u16(mask))) }
    }

    #[inline(always)]
    unsafe fn fold(self, mask: Self::Lane) -> Self {
        // SAFETY: registers only, and the processor has NEON (see the top).
        unsafe {
            let negative = vreinterpretq_u16_s16(vshrq_n_s16::<15>(vreinterpretq_s16_u16(self.0)));
            Self(veorq_u16(self.0, vandq_u16(negative, vdupq_n_u16(mask))))
        }
    }

    #[inline(always)]
    unsafe fn wrapping_sub(self, key: Self::Lane) -> Self {
        // SAFETY: registers only, and the processor has NEON (see the top).
        unsafe { Self(vsubq_u16(self.0, vdupq_n_u16(key))) }
    }

    #[inline(always)]
    unsafe fn xor_lanes<const MASK: usize>(self) -> Self {
        // SAFETY: registers only, and the processor has NEON (see the top).
        unsafe {
            Self(match MASK {
                1 => vrev32q_u16(self.0),
                2 => vreinterpretq_u16_u32(vrev64q_u32(vreinterpretq_u32_u16(self.0))),
                3 => vrev64q_u16(self.0),
                4 => vextq_u16::<4>(self.0, self.0),
                7 => self.xor_lanes::<3>().xor_lanes::<4>().0,
                _ => unreachable!(),
            })
        }
    }

    #[inline(always)]
    unsafe fn order_by_bit<const BIT: usize>(self, other: Self) -> (Self, Self) {
        // SAFETY: registers only, and the processor has NEON (see the top). The lanes are a whole register.
        unsafe {
            const ONES: u16 = u16::MAX;
            let lanes = match BIT {
                1 => [0, ONES, 0, ONES, 0, ONES, 0, ONES],
                2 => [0, 0, ONES, ONES, 0, 0, ONES, ONES],
                4 => [0, 0, 0, 0, ONES, ONES, ONES, ONES],
                _ => unreachable!(),
            };
            let (min, max) = self.min_max(other);
            let lanes = vld1q_u16(lanes.as_ptr());
            (Self(vbslq_u16(lanes, max.0, min.0)), Self(vbslq_u16(lanes, min.0, max.0)))
        }
    }

    #[inline(always)]
    unsafe fn reverse(self) -> Self {
        // SAFETY: registers only, and the processor has NEON (see the top).
        unsafe { self.xor_lanes::<7>() }
    }

    #[inline(always)]
    unsafe fn interleave(self, other: Self) -> (Self, Self) {
        // SAFETY: registers only, and the processor has NEON (see the top).
        unsafe { (Self(vzip1q_u16(self.0, other.0)), Self(vzip2q_u16(self.0, other.0))) }
    }

    #[inline(always)]
    unsafe fn partition(self, ranks: Self, pivot: Self, left: *mut u16, right: *mut u16) -> usize {
        // SAFETY: the processor has NEON (see the top), and a register of keys has room at either pointer, as the caller vouches.
        unsafe {
            let below = vcltq_u16(ranks.0, pivot.0);
            let below = vaddvq_u16(vandq_u16(below, vld1q_u16([1, 2, 4, 8, 16, 32, 64, 128].as_ptr())));
            let order = vld1q_u8(PARTITION_8[below as usize].as_ptr());
            let parted = Self(vreinterpretq_u16_u8(vqtbl1q_u8(vreinterpretq_u8_u16(self.0), order)));
            parted.store(left);
            parted.store(right.sub(8));
            below.count_ones() as usize
        }
    }

    #[inline(always)]
    unsafe fn no_counts() -> Self {
        // SAFETY: registers only, and the processor has NEON (see the top).
        unsafe { Self(vdupq_n_u16(0)) }
    }

    #[inline(always)]
    unsafe fn count_equal(self, keys: Self, value: Self) -> Self {
        // SAFETY: registers only, and the processor has NEON (see the top).
        unsafe { Self(vsubq_u16(self.0, vceqq_u16(keys.0, value.0))) }
    }

    #[inline(always)]
    unsafe fn sum_of_counts(self) -> usize {
        // SAFETY: registers only, and the processor has NEON (see the top).
        unsafe { vaddlvq_u16(self.0) as usize }
    }

    #[inline(always)]
    unsafe fn all_at_most(self, other: Self) -> bool {
        // SAFETY: registers only, and the processor has NEON (see the top).
        unsafe { vmaxvq_u16(vcgtq_u16(self.0, other.0)) == 0 }
    }
}

impl Vector for U32x4 {
    type Lane = u32;
    const LANES: usize = 4;

    #[inline(always)]
    unsafe fn load(from: *const u32) -> Self {
        // SAFETY: the processor has NEON (see the top), and the caller's pointer is good for a register of keys.
        unsafe { Self(vld1q_u32(from)) }
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut u32) {
        // SAFETY: the processor has NEON (see the top), and the caller's pointer is good for a register of keys.
        unsafe { vst1q_u32(to, self.0) }
    }

    #[inline(always)]
    unsafe fn splat(key: u32) -> Self {
        // SAFETY: registers only, and the processor has NEON (see the top).
        unsafe { Self(vdupq_n_u32(key)) }
    }

    #[inline(always)]
    unsafe fn min(self, other: Self) -> Self {
        // SAFETY: registers only, and the processor has NEON (see the top).
        unsafe { Self(vminq_u32(self.0, other.0)) }
    }

    #[inline(always)]
    unsafe fn max(self, other: Self) -> Self {
        // SAFETY: registers only, and the processor has NEON (see the top).
        unsafe { Self(vmaxq_u32(self.0, other.0)) }
    }

    #[inline(always)]
    unsafe fn xor(self, mask: Self::Lane) -> Self {
        // SAFETY: registers only, and the processor has NEON (see the top).
        unsafe { Self(veorq_u32(self.0, vdupq_n_u32(mask))) }
    }

    #[inline(always)]
    unsafe fn fold(self, mask: Self::Lane) -> Self {
        // SAFETY: registers only, and the processor has NEON (see the top).
        unsafe {
            let negative = vreinterpretq_u32_s32(vshrq_n_s32::<31>(vreinterpretq_s32_u32(self.0)));
            Self(veorq_u32(self.0, vandq_u32(negative, vdupq_n_u32(mask))))
        }
    }

    #[inline(always)]
    unsafe fn wrapping_sub(self, key: Self::Lane) -> Self {
        // SAFETY: registers only, and the processor has NEON (see the top).
        unsafe { Self(vsubq_u32(self.0, vdupq_n_u32(key))) }
    }

    #[inline(always)]
    unsafe fn xor_lanes<const MASK: usize>(self) -> Self {
        // SAFETY: registers only, and the processor has NEON (see the top).
        unsafe {
            Self(match MASK {
                1 => vrev64q_u32(self.0),
                2 => vextq_u32::<2>(self.0, self.0),
                3 => self.xor_lanes::<1>().xor_lanes::<2>().0,
                _ => unreachable!(),
            })
        }
    }

    #[inline(always)]
    unsafe fn order_by_bit<const BIT: usize>(self, other: Self) -> (Self, Self) {
        // SAFETY: registers only, and the processor has NEON (see the top). The lanes are a whole register.
        unsafe {
            let lanes = match BIT {
                1 => [0, ONES, 0, ONES],
                2 => [0, 0, ONES, ONES],
                _ => unreachable!(),
            };
            let (min, max) = self.min_max(other);
            let lanes = vld1q_u32(lanes.as_ptr());
            (Self(vbslq_u32(lanes, max.0, min.0)), Self(vbslq_u32(lanes, min.0, max.0)))
        }
    }

    #[inline(always)]
    unsafe fn reverse(self) -> Self {
        // SAFETY: registers only, and the processor has NEON (see the top).
        unsafe { self.xor_lanes::<3>() }
    }

    #[inline(always)]
    unsafe fn interleave(self, other: Self) -> (Self, Self) {
        // SAFETY: registers only, and the processor has NEON (see the top).
        unsafe { (Self(vzip1q_u32(self.0, other.0)), Self(vzip2q_u32(self.0, other.0))) }
    }

    #[inline(always)]
    unsafe fn partition(self, ranks: Self, pivot: Self, left: *mut u32, right: *mut u32) -> usize {
        // SAFETY: the processor has NEON (see the top), and a register of keys has room at either pointer, as the caller vouches.
        unsafe {
            let below = vcltq_u32(ranks.0, pivot.0);
            let below = vaddvq_u32(vandq_u32(below, vld1q_u32([1, 2, 4, 8].as_ptr())));
            let order = vld1q_u8(PARTITION_4[below as usize].as_ptr());
            let parted = Self(vreinterpretq_u32_u8(vqtbl1q_u8(vreinterpretq_u8_u32(self.0), order)));
            parted.store(left);
            parted.store(right.sub(4));
            below.count_ones() as usize
        }
    }

    #[inline(always)]
    unsafe fn no_counts() -> Self {
        // SAFETY: registers only, and the processor has NEON (see the top).
        unsafe { Self(vdupq_n_u32(0)) }
    }

    #[inline(always)]
    unsafe fn count_equal(self, keys: Self, value: Self) -> Self {
        // SAFETY: registers only, and the processor has NEON (see the top).
        unsafe { Self(vsubq_u32(self.0, vceqq_u32(keys.0, value.0))) }
    }

    #[inline(always)]
    unsafe fn sum_of_counts(self) -> usize {
        // SAFETY: registers only, and the processor has NEON (see the top).
        unsafe { vaddvq_u32(self.0) as usize }
    }

    #[inline(always)]
    unsafe fn all_at_most(self, other: Self) -> bool {
        // SAFETY: registers only, and the processor has NEON (see the top).
        unsafe { vmaxvq_u32(vcgtq_u32(self.0, other.0)) == 0 }
    }
}

impl Vector for U64x2 {
    type Lane = u64;
    const LANES: usize = 2;

    #[inline(always)]
    unsafe fn load(from: *const u64) -> Self {
        // SAFETY: the processor has NEON (see the top), and the caller's pointer is good for a register of keys.
        unsafe { Self(vld1q_u64(from)) }
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut u64) {
        // SAFETY: the processor has NEON (see the top), and the caller's pointer is good for a register of keys.
        unsafe { vst1q_u64(to, self.0) }
    }

    #[inline(always)]
    unsafe fn splat(key: u64) -> Self {
        // SAFETY: registers only, and the processor has NEON (see the top).
        unsafe { Self(vdupq_n_u64(key)) }
    }

    #[inline(always)]
    unsafe fn min(self, other: Self) -> Self {
        // SAFETY: registers only, and the processor has NEON (see the top).
        unsafe { self.min_max(other).0 }
    }

    #[inline(always)]
    unsafe fn max(self, other: Self) -> Self {
        // SAFETY: registers only, and the processor has NEON (see the top).
        unsafe { self.min_max(other).1 }
    }

    /// There is no minimum of 64-bit integers: one comparison serves both.
    #[inline(always)]
    unsafe fn min_max(self, other: Self) -> (Self, Self) {
        // SAFETY: registers only, and the processor has NEON (see the top).
        unsafe {
            let greater = vcgtq_u64(self.0, other.0);
            (Self(vbslq_u64(greater, other.0, self.0)), Self(vbslq_u64(greater, self.0, other.0)))
        }
    }

    #[inline(always)]
    unsafe fn xor(self, mask: Self::Lane) -> Self {
        // SAFETY: registers only, and the processor has NEON (see the top).
        unsafe { Self(veorq_u64(self.0, vdupq_n_u64(mask))) }
    }

    #[inline(always)]
    unsafe fn fold(self, mask: Self::Lane) -> Self {
        // SAFETY: registers only, and the processor has NEON (see the top).
        unsafe {
            let negative = vreinterpretq_u64_s64(vshrq_n_s64::<63>(vreinterpretq_s64_u64(self.0)));
            Self(veorq_u64(self.0, vandq_u64(negative, vdupq_n_u64(mask))))
        }
    }

    #[inline(always)]
    unsafe fn wrapping_sub(self, key: Self::Lane) -> Self {
        // SAFETY: registers only, and the processor has NEON (see the top).
        unsafe { Self(vsubq_u64(self.0, vdupq_n_u64(key))) }
    }

    #[inline(always)]
    unsafe fn xor_lanes<const MASK: usize>(self) -> Self {
        // SAFETY: registers only, and the processor has NEON (see the top).
        unsafe {
            Self(match MASK {
                1 => vextq_u64::<1>(self.0, self.0),
                _ => unreachable!(),
            })
        }
    }

    #[inline(always)]
    unsafe fn order_by_bit<const BIT: usize>(self, other: Self) -> (Self, Self) {
        // SAFETY: registers only, and the processor has NEON (see the top). The lanes are a whole register.
        unsafe {
            let lanes = match BIT {
                1 => vld1q_u64([0, u64::MAX].as_ptr()),
                _ => unreachable!(),
            };
            let (min, max) = self.min_max(other);
            (Self(vbslq_u64(lanes, max.0, min.0)), Self(vbslq_u64(lanes, min.0, max.0)))
        }
    }

    #[inline(always)]
    unsafe fn reverse(self) -> Self {
        // SAFETY: registers only, and the processor has NEON (see the top).
        unsafe { self.xor_lanes::<1>() }
    }

    #[inline(always)]
    unsafe fn interleave(self, other: Self) -> (Self, Self) {
        // SAFETY: registers only, and the processor has NEON (see the top).
        unsafe { (Self(vzip1q_u64(self.0, other.0)), Self(vzip2q_u64(self.0, other.0))) }
    }

    #[inline(always)]
    unsafe fn partition(self, ranks: Self, pivot: Self, left: *mut u64, right: *mut u64) -> usize {
        // SAFETY: the processor has NEON (see the top), and a register of keys has room at either pointer, as the caller vouches.
        unsafe {
            let below = vcltq_u64(ranks.0, pivot.0);
            let below = vaddvq_u64(vandq_u64(below, vld1q_u64([1, 2].as_ptr())));
            let order = vld1q_u8(PARTITION_2[below as usize].as_ptr());
            let parted = Self(vreinterpretq_u64_u8(vqtbl1q_u8(vreinterpretq_u8_u64(self.0), order)));
            parted.store(left);
            parted.store(right.sub(2));
            below.count_ones() as usize
        }
    }

    #[inline(always)]
    unsafe fn no_counts() -> Self {
        // SAFETY: registers only, and the processor has NEON (see the top).
        unsafe { Self(vdupq_n_u64(0)) }
    }

    #[inline(always)]
    unsafe fn count_equal(self, keys: Self, value: Self) -> Self {
        // SAFETY: registers only, and the processor has NEON (see the top).
        unsafe { Self(vsubq_u64(self.0, vceqq_u64(keys.0, value.0))) }
    }

    #[inline(always)]
    unsafe fn sum_of_counts(self) -> usize {
        // SAFETY: registers only, and the processor has NEON (see the top).
        unsafe { vaddvq_u64(self.0) as usize }
    }

    #[inline(always)]
    unsafe fn all_at_most(self, other: Self) -> bool {
        // SAFETY: registers only, and the processor has NEON (see the top). One greater lane or two: the sum is -1 or -2, never
        // 0.
        unsafe { vaddvq_u64(vcgtq_u64(self.0, other.0)) == 0 }
    }
}

crate::cpu::kernels::instantiate! {
    /// Kernels for 16-bit keys.
    U16_KERNELS, U16x8, u16,
    #[target_feature(enable = "neon")]
}

crate::cpu::kernels::instantiate! {
    /// Kernels for 32-bit keys.
    U32_KERNELS, U32x4, u32,
    #[target_feature(enable = "neon")]
}

crate::cpu::kernels::instantiate! {
    /// Kernels for 64-bit keys.
    U64_KERNELS, U64x2, u64,
    #[target_feature(enable = "neon")]
}
