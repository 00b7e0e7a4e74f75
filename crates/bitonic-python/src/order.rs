//! NumPy's order, on ordered bits.
//!
//! The library's order is total. NumPy's differs in two points: -0.0 equals 0.0, and what is missing (NaN of either sign, NaT) comes
//! last. In the ordered bits of a float type, ascending:
//!
//! ```text
//!   0 ..       first ..               zero_from zero_to           .. last .. MAX
//!   negative   -inf   negative numbers     -0.0 0.0      numbers     inf     positive
//!   NaNs                                                                     NaNs
//! ```
//!
//! So the order of a type is four numbers. Integers have nothing missing and one zero: `first` is 0, `last` is MAX. NaT is the least
//! 64-bit integer: `first` is 1.
//!
//! Two mappings make NumPy's order the order of unsigned integers:
//! - [`NumpyOrder::turn`] subtracts `first`, so that the bits below it wrap around to the end. It is a bijection, so it serves sorts
//!   in place; -0.0 comes before 0.0.
//! - [`NumpyOrder::rank`] gives equal numbers to what NumPy holds equal, and MAX, which no value has then, to what is missing. It loses
//!   the sign of zero, so it serves comparisons.

use bitonic::Key;
use bitonic::key::{Bits, F8E4M3, F8E5M2, KeyType};
use half::{bf16, f16};

/// What a type has that comes last.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Missing {
    /// All bits are values, and all values differ: integers, and floats in total order.
    Nothing,
    /// Not a number.
    Nan,
    /// Not a time: the least integer.
    Nat,
}

/// The order of one type, ascending or descending. What is missing comes last in both.
#[derive(Clone, Copy)]
pub(crate) struct NumpyOrder<B> {
    first: B,
    last: B,
    zero_from: B,
    zero_to: B,
    descending: bool,
}

impl<B: Bits> NumpyOrder<B> {
    pub(crate) fn new<K: Key<Bits = B>>(missing: Missing, descending: bool) -> Self {
        let ordered = |raw: u128| K::from_raw_bits(B::truncate(raw)).to_ordered_bits();
        let all = Self { first: B::ZERO, last: B::MAX, zero_from: B::ZERO, zero_to: B::ZERO, descending };
        match missing {
            Missing::Nothing => all,
            Missing::Nat => Self { first: B::truncate(1), ..all },
            Missing::Nan => {
                let sign = B::SIGN.widen();
                let largest = largest(K::TYPE);
                Self {
                    first: ordered(sign | largest),
                    last: ordered(largest),
                    zero_from: ordered(sign),
                    zero_to: ordered(0),
                    descending,
                }
            }
        }
    }

    /// Whether this is the library's order: nothing is missing, and there is one zero.
    pub(crate) fn is_total(&self) -> bool {
        self.first == B::ZERO
    }

    #[inline(always)]
    pub(crate) fn is_missing<K: Key<Bits = B>>(&self, key: K) -> bool {
        let bits = key.to_ordered_bits();
        (bits < self.first) | (bits > self.last)
    }

    /// Whether a key is missing and the library puts it before all others: NaN of one sign. That of the other sign is behind them.
    #[inline(always)]
    pub(crate) fn is_missing_in_front<K: Key<Bits = B>>(&self, key: K) -> bool {
        let bits = key.to_ordered_bits();
        if self.descending { bits > self.last } else { bits < self.first }
    }

    #[inline(always)]
    pub(crate) fn is_zero<K: Key<Bits = B>>(&self, key: K) -> bool {
        self.zero_from != self.zero_to
            && (key.to_ordered_bits() == self.zero_from) | (key.to_ordered_bits() == self.zero_to)
    }

    /// Whether the library's order and NumPy's can differ on these keys: one of them is missing, or -0.0.
    pub(crate) fn differs_on<K: Key<Bits = B>>(&self, keys: &[K]) -> bool {
        let zero_from = if self.zero_from == self.zero_to { None } else { Some(self.zero_from) };
        self.any(keys, |key| self.is_missing(key) | (Some(key.to_ordered_bits()) == zero_from))
    }

    pub(crate) fn has_missing<K: Key<Bits = B>>(&self, keys: &[K]) -> bool {
        self.any(keys, |key| self.is_missing(key))
    }

    /// Whether one key is so. Chunk by chunk without a branch inside, so that the compiler makes vectors of it.
    fn any<K: Key<Bits = B>>(&self, keys: &[K], is_so: impl Fn(K) -> bool) -> bool {
        const CHUNK: usize = 1024;
        !self.is_total()
            && keys.chunks(CHUNK).any(|chunk| chunk.iter().fold(false, |any, &key| any | is_so(key)))
    }

    /// A number whose order is NumPy's, equal where NumPy holds keys equal.
    #[inline(always)]
    pub(crate) fn rank<K: Key<Bits = B>>(&self, key: K) -> B {
        let bits = key.to_ordered_bits();
        let turned = self.turn_bits(if bits == self.zero_from { self.zero_to } else { bits });
        if self.is_missing(key) { B::MAX } else { turned }
    }

    /// A number whose order is NumPy's, different for different keys: the distance from the first key in the order.
    #[inline(always)]
    pub(crate) fn turn<K: Key<Bits = B>>(&self, key: K) -> B {
        self.turn_bits(key.to_ordered_bits())
    }

    #[inline(always)]
    fn turn_bits(&self, bits: B) -> B {
        if self.descending { minus(self.last, bits) } else { minus(bits, self.first) }
    }

    /// The key with this number.
    #[inline(always)]
    pub(crate) fn turn_back<K: Key<Bits = B>>(&self, turned: B) -> K {
        let bits = if self.descending {
            minus(self.last, turned)
        } else {
            minus(turned, minus(B::ZERO, self.first))
        };
        K::from_ordered_bits(bits)
    }
}

/// The difference of two numbers of at most 64 bits, wrapping.
#[inline(always)]
fn minus<B: Bits>(from: B, what: B) -> B {
    B::truncate((from.widen() as u64).wrapping_sub(what.widen() as u64).into())
}

/// The bits of the largest value of a float type: infinity, where it has one.
fn largest(key: KeyType) -> u128 {
    match key {
        KeyType::F8E4M3 => F8E4M3::MAX.to_bits().into(),
        KeyType::F8E5M2 => F8E5M2::from_f64(f64::INFINITY).to_bits().into(),
        KeyType::Bf16 => bf16::INFINITY.to_bits().into(),
        KeyType::F16 => f16::INFINITY.to_bits().into(),
        KeyType::F32 => f32::INFINITY.to_bits().into(),
        KeyType::F64 => f64::INFINITY.to_bits().into(),
        other => unreachable!("{} has no NaN", other.name()),
    }
}
