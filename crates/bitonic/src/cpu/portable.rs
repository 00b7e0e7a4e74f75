//! Vectors in plain Rust: arrays that the compiler turns into whatever registers the target has (SSE2, NEON, ..).

use super::generic::vector::Vector;
use crate::key::Bits;

/// `N` keys, 128 bits in all.
#[derive(Clone, Copy)]
struct Array<B, const N: usize>([B; N]);

impl<B: Bits, const N: usize> Array<B, N> {
    #[inline(always)]
    fn zip_with(self, other: Self, combine: impl Fn(usize, B, B) -> B) -> Self {
        Self(std::array::from_fn(|lane| combine(lane, self.0[lane], other.0[lane])))
    }
}

impl<B: Bits, const N: usize> Vector for Array<B, N> {
    type Lane = B;
    const LANES: usize = N;

    #[inline(always)]
    unsafe fn load(from: *const B) -> Self {
        // SAFETY: the caller vouches for N keys at the pointer; they need no alignment.
        Self(unsafe { from.cast::<[B; N]>().read_unaligned() })
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut B) {
        // SAFETY: the caller vouches for room for N keys at the pointer; it needs no alignment.
        unsafe { to.cast::<[B; N]>().write_unaligned(self.0) }
    }

    #[inline(always)]
    unsafe fn splat(key: B) -> Self {
        Self([key; N])
    }

    #[inline(always)]
    unsafe fn min(self, other: Self) -> Self {
        self.zip_with(other, |_, a, b| select(b < a, b, a))
    }

    #[inline(always)]
    unsafe fn max(self, other: Self) -> Self {
        self.zip_with(other, |_, a, b| select(b < a, a, b))
    }

    #[inline(always)]
    unsafe fn xor(self, mask: B) -> Self {
        Self(self.0.map(|bits| bits ^ mask))
    }

    #[inline(always)]
    unsafe fn fold(self, mask: B) -> Self {
        Self(self.0.map(|bits| bits ^ (bits.spread_sign() & mask)))
    }

    #[inline(always)]
    unsafe fn wrapping_sub(self, key: B) -> Self {
        Self(self.0.map(|bits| bits.wrapping_sub(key)))
    }

    #[inline(always)]
    unsafe fn xor_lanes<const MASK: usize>(self) -> Self {
        Self(std::array::from_fn(|lane| self.0[(lane ^ MASK) % N]))
    }

    #[inline(always)]
    unsafe fn order_by_bit<const BIT: usize>(self, other: Self) -> (Self, Self) {
        let smaller = |a, b| select(b < a, b, a);
        let larger = |a, b| select(b < a, a, b);
        (
            self.zip_with(other, |lane, a, b| if lane & BIT != 0 { larger(a, b) } else { smaller(a, b) }),
            self.zip_with(other, |lane, a, b| if lane & BIT != 0 { smaller(a, b) } else { larger(a, b) }),
        )
    }

    #[inline(always)]
    unsafe fn reverse(self) -> Self {
        Self(std::array::from_fn(|lane| self.0[N - 1 - lane]))
    }

    #[inline(always)]
    unsafe fn interleave(self, other: Self) -> (Self, Self) {
        let pick =
            |place: usize| if place.is_multiple_of(2) { self.0[place / 2] } else { other.0[place / 2] };
        (Self(std::array::from_fn(pick)), Self(std::array::from_fn(|place| pick(N + place))))
    }

    #[inline(always)]
    unsafe fn partition(self, ranks: Self, pivot: Self, left: *mut B, right: *mut B) -> usize {
        // Every key is written at both ends; the end it belongs to moves on, the other one is overwritten.
        let mut below = 0;
        for lane in 0..N {
            let key = self.0[lane];
            // SAFETY: a register of keys has room at either pointer, as the caller vouches; a lane is written inside it.
            unsafe {
                left.add(below).write(key);
                right.sub(lane - below + 1).write(key);
            }
            below += usize::from(ranks.0[lane] < pivot.0[lane]);
        }
        below
    }

    #[inline(always)]
    unsafe fn no_counts() -> Self {
        Self([B::ZERO; N])
    }

    #[inline(always)]
    unsafe fn count_equal(self, keys: Self, value: Self) -> Self {
        let equal = keys.zip_with(value, |_, a, b| B::truncate(u128::from(a == b)));
        self.zip_with(equal, |_, count, one| B::truncate(count.widen() + one.widen()))
    }

    #[inline(always)]
    unsafe fn sum_of_counts(self) -> usize {
        self.0.iter().map(|count| count.widen() as usize).sum()
    }

    #[inline(always)]
    unsafe fn all_at_most(self, other: Self) -> bool {
        self.0.iter().zip(&other.0).all(|(a, b)| a <= b)
    }
}

/// A choice without a branch.
#[inline(always)]
fn select<B: Bits>(condition: bool, yes: B, no: B) -> B {
    std::hint::select_unpredictable(condition, yes, no)
}

super::kernels::instantiate! {
    /// Kernels for 16-bit keys.
    U16_KERNELS, Array<u16, 8>, u16,
}

super::kernels::instantiate! {
    /// Kernels for 32-bit keys.
    U32_KERNELS, Array<u32, 4>, u32,
}

super::kernels::instantiate! {
    /// Kernels for 64-bit keys.
    U64_KERNELS, Array<u64, 2>, u64,
}
