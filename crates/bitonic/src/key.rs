//! A key is its ordered bits.
//!
//! Every key type maps to an unsigned integer of its own width whose order is the type's order:
//!
//! | type | ordered bits |
//! |---|---|
//! | `u8`..`u128`, `usize`, `bool`, `char` | the value itself |
//! | `i8`..`i128`, `isize` | the sign bit flipped |
//! | `F8E4M3`, `F8E5M2`, `f16`, `bf16`, `f32`, `f64` | IEEE 754 total order: negative values complemented, positive ones with the sign bit set |
//!
//! Descending order is the complement of all bits. Engines know widths only; the mapping is one formula with two
//! masks and a number ([`BitMap`]), cheap enough to do in the first load and the last store of a sort. It is a
//! bijection, so a sort returns the very bits it was given: every NaN payload, and -0.0 before +0.0.

mod float8;

pub use float8::{F8E4M3, F8E5M2};
#[doc(no_inline)]
pub use half::{bf16, f16};

/// The direction of a sort.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Order {
    /// Smallest key first.
    #[default]
    Ascending,
    /// Largest key first.
    Descending,
}

/// A type that can be sorted: an integer, a float, `bool` or `char`.
///
/// The trait is sealed, because engines work on the keys' memory as [`Key::Bits`] and so depend on every
/// implementation having the same size and alignment as its bits. To sort your own type, sort it by
/// one of its fields, or some of them: [`sort_by_key`](crate::sort_by_key).
///
/// ```
/// use bitonic::Key;
///
/// assert!((-1.0_f32).to_ordered_bits() < (-0.0_f32).to_ordered_bits());
/// assert!((-0.0_f32).to_ordered_bits() < 0.0_f32.to_ordered_bits());
/// assert!(f32::INFINITY.to_ordered_bits() < f32::NAN.to_ordered_bits());
/// assert_eq!(i16::from_ordered_bits((-7_i16).to_ordered_bits()), -7);
/// ```
pub trait Key: Copy + Send + Sync + 'static + sealed::Sealed {
    /// The unsigned integer of the same size and alignment.
    type Bits: Bits;

    /// The type as a value, for choosing types at run time.
    const TYPE: KeyType;

    /// The key's own bits, as they are in memory.
    fn to_raw_bits(self) -> Self::Bits;

    /// The key with these bits in memory. For `bool` and `char`, bits that no key has give `true` and
    /// U+FFFD; no sort ever makes such bits.
    fn from_raw_bits(bits: Self::Bits) -> Self;

    /// Keys as a value that says their type.
    fn any_mut(keys: &mut [Self]) -> KeysMut<'_>;

    /// An unsigned integer whose order is the key's order.
    #[inline(always)]
    fn to_ordered_bits(self) -> Self::Bits {
        BitMap::new(Self::TYPE.form(), Order::Ascending).to_ordered(self.to_raw_bits())
    }

    /// The inverse of [`Key::to_ordered_bits`].
    #[inline(always)]
    fn from_ordered_bits(bits: Self::Bits) -> Self {
        Self::from_raw_bits(BitMap::new(Self::TYPE.form(), Order::Ascending).from_ordered(bits))
    }
}

/// An unsigned integer that holds the bits of a key: `u8`, `u16`, `u32`, `u64` or `u128`.
pub trait Bits:
    Copy
    + Ord
    + Send
    + Sync
    + 'static
    + std::fmt::Debug
    + std::fmt::LowerHex
    + std::hash::Hash
    + std::ops::BitXor<Output = Self>
    + std::ops::BitAnd<Output = Self>
    + std::ops::Not<Output = Self>
    + sealed::SealedBits
{
    /// All bits zero.
    const ZERO: Self;
    /// All bits one.
    const MAX: Self;
    /// Only the highest bit set.
    const SIGN: Self;
    /// The number of bits.
    const WIDTH: u32;

    /// All ones if the highest bit is set, else zero.
    fn spread_sign(self) -> Self;

    /// The low bits of `value`.
    fn truncate(value: u128) -> Self;

    /// The value, zero-extended.
    fn widen(self) -> u128;

    /// The difference; below 0 it goes on from the highest value.
    fn wrapping_sub(self, other: Self) -> Self;

    /// How far the value is above `least`, without so many low bits; the low 64 bits of that.
    fn distance(self, least: Self, dropped: u32) -> u64;
}

/// How a type's bits relate to its order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum KeyForm {
    /// The bits are in order as they are.
    Unsigned,
    /// Two's complement.
    Signed,
    /// Sign and magnitude, as in IEEE 754.
    Float,
}

/// The mapping between a key's bits in memory and its ordered bits, for one form and one order.
///
/// `ordered = (raw ^ (spread_sign(raw) & magnitude) ^ flip) - skipped`: floats complement the magnitude of negative values
/// (`magnitude` = all bits but the sign), and `flip` turns the sign bit of signed types and floats, and every bit for
/// descending order. The first part is its own inverse, because it leaves the sign bit alone. Where NaNs of both signs are
/// to be last, `skipped` is the number of those that would be first: counted from behind them, they come last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BitMap<B> {
    /// The sign bit is set for floats, and so stands for `magnitude`; the bits below it are `skipped`. Two numbers are handed over in
    /// registers, three are not.
    floats: B,
    flip: B,
}

impl<B: Bits> BitMap<B> {
    /// The mapping that changes nothing.
    pub const IDENTITY: Self = Self { floats: B::ZERO, flip: B::ZERO };

    /// The mapping of a form and an order.
    #[inline(always)]
    pub fn new(form: KeyForm, order: Order) -> Self {
        let (floats, sign) = match form {
            KeyForm::Unsigned => (B::ZERO, B::ZERO),
            KeyForm::Signed => (B::ZERO, B::SIGN),
            KeyForm::Float => (B::SIGN, B::SIGN),
        };
        let flip = match order {
            Order::Ascending => sign,
            Order::Descending => !sign,
        };
        Self { floats, flip }
    }

    /// The mapping of a key type and an order, with NaNs of both signs last if asked for.
    #[inline(always)]
    pub(crate) fn of(key: KeyType, order: Order, nan_last: bool) -> Self {
        let nans = if nan_last { key.nans() } else { 0 };
        let Self { floats, flip } = Self::new(key.form(), order);
        Self { floats: floats ^ B::truncate(nans.into()), flip }
    }

    /// Whether the mapping changes nothing: unsigned keys in ascending order.
    #[inline(always)]
    pub fn is_identity(self) -> bool {
        self == Self::IDENTITY
    }

    /// The mapping of 16-bit keys whose highest bits are these.
    #[inline(always)]
    pub(crate) fn at_the_top(self) -> BitMap<u16> {
        let up = |bits: B| (bits.widen() as u16) << (u16::BITS - B::WIDTH);
        BitMap { floats: up(self.floats), flip: up(self.flip) }
    }

    /// The mask of the bits that are complemented where the sign bit is set.
    #[inline(always)]
    pub fn magnitude(self) -> B {
        self.floats.spread_sign() & !B::SIGN
    }

    /// The mask of the bits that are always complemented.
    #[inline(always)]
    pub fn flip(self) -> B {
        self.flip
    }

    /// How many keys that would be first come last.
    #[inline(always)]
    pub fn skipped(self) -> B {
        self.floats & !B::SIGN
    }

    /// From bits in memory to ordered bits.
    #[inline(always)]
    pub fn to_ordered(self, raw: B) -> B {
        (self.fold(raw) ^ self.flip).wrapping_sub(self.skipped())
    }

    /// From ordered bits to bits in memory.
    #[inline(always)]
    pub fn from_ordered(self, ordered: B) -> B {
        self.fold(ordered.wrapping_sub(B::ZERO.wrapping_sub(self.skipped())) ^ self.flip)
    }

    #[inline(always)]
    fn fold(self, raw: B) -> B {
        raw ^ (raw.spread_sign() & self.magnitude())
    }
}

/// Runs `work` on the keys' memory as ordered bits, and turns the bits back into keys afterwards, also when
/// `work` panics. What `work` leaves in ascending order, the keys have in `order`.
///
/// ```
/// use bitonic::key::with_ordered_bits;
/// use bitonic::Order;
///
/// let mut keys = [0.5_f32, -2.0, f32::NAN, -0.0];
/// with_ordered_bits(&mut keys, Order::Descending, |bits| bits.sort());
/// assert_eq!(keys.map(f32::to_bits), [f32::NAN, 0.5, -0.0, -2.0].map(f32::to_bits));
/// ```
pub fn with_ordered_bits<K: Key, R>(
    keys: &mut [K],
    order: Order,
    work: impl FnOnce(&mut [K::Bits]) -> R,
) -> R {
    /// Maps back on drop, so that the memory holds valid keys whatever happens in between.
    struct MapBack<'a, K: Key> {
        bits: &'a mut [K::Bits],
        map: BitMap<K::Bits>,
    }

    impl<K: Key> Drop for MapBack<'_, K> {
        fn drop(&mut self) {
            if self.map.is_identity() && !K::TYPE.has_invalid_bits() {
                return;
            }
            for bits in self.bits.iter_mut() {
                *bits = K::from_raw_bits(self.map.from_ordered(*bits)).to_raw_bits();
            }
        }
    }

    let map = BitMap::new(K::TYPE.form(), order);
    // SAFETY: dropping it makes keys of whatever bits are there, before anybody sees them as keys again.
    let back = MapBack::<K> { bits: unsafe { as_bits_mut(keys) }, map };
    if !map.is_identity() {
        for bits in back.bits.iter_mut() {
            *bits = map.to_ordered(*bits);
        }
    }
    work(back.bits)
}

/// The keys' memory as raw bits.
///
/// # Safety
///
/// When the result is given back, every one of its bits must be those of a key: for `bool` and `char` not every pattern is one.
pub(crate) unsafe fn as_bits_mut<K: Key>(keys: &mut [K]) -> &mut [K::Bits] {
    const {
        assert!(size_of::<K>() == size_of::<K::Bits>() && align_of::<K>() == align_of::<K::Bits>());
    }
    // SAFETY: size and alignment are equal (checked above at compile time); keys have no padding (`Sealed`), so all of their bytes
    // are initialised, and any bits are an integer; what is left in them, the caller answers for. Nobody else has the memory, as
    // the borrow of `keys` lasts as long as the result.
    unsafe { std::slice::from_raw_parts_mut(keys.as_mut_ptr().cast(), keys.len()) }
}

/// The keys' memory as raw bits, to read.
pub(crate) fn as_bits<K: Key>(keys: &[K]) -> &[K::Bits] {
    const {
        assert!(size_of::<K>() == size_of::<K::Bits>() && align_of::<K>() == align_of::<K::Bits>());
    }
    // SAFETY: as in `as_bits_mut`, and nothing is written. The crate `half` has its types cast by bytemuck with a feature that
    // brings one more crate, so the cast is ours.
    unsafe { std::slice::from_raw_parts(keys.as_ptr().cast(), keys.len()) }
}

/// The keys' memory as bytes, to read.
pub(crate) fn as_bytes<K: Key>(keys: &[K]) -> &[u8] {
    bits_as_bytes(as_bits(keys))
}

/// The memory of bits as bytes, to read.
pub(crate) fn bits_as_bytes<B: Bits>(bits: &[B]) -> &[u8] {
    bytemuck::cast_slice(bits)
}

/// The memory of bits as bytes.
pub(crate) fn bits_as_bytes_mut<B: Bits>(bits: &mut [B]) -> &mut [u8] {
    bytemuck::cast_slice_mut(bits)
}

/// Bytes that are the memory of keys, as keys.
///
/// # Safety
///
/// They are whole keys: for `bool` and `char` not every pattern is one ([`are_valid`]).
#[cfg(feature = "external")]
pub(crate) unsafe fn from_bytes<K: Key>(bytes: &[u8]) -> &[K] {
    let bits: &[K::Bits] = bytemuck::cast_slice(bytes);
    // SAFETY: keys have the size and the alignment of their bits (checked in `as_bits`), and the caller says that these are keys.
    unsafe { std::slice::from_raw_parts(bits.as_ptr().cast(), bits.len()) }
}

/// The bits of a key that has these bits, or of the one that [`Key::from_raw_bits`] makes of bits that no key has.
#[cfg(feature = "external")]
pub(crate) fn valid_bits<B: Bits>(key: KeyType, bits: B) -> B {
    match key {
        KeyType::Bool => B::truncate(u128::from(bits != B::ZERO)),
        KeyType::Char => B::truncate(u128::from(u32::from(char::from_raw_bits(bits.widen() as u32)))),
        _ => bits,
    }
}

/// Whether bytes are keys: for `bool` and `char` not all are. Other types have no invalid bits.
pub(crate) fn are_valid(key: KeyType, bytes: &[u8]) -> bool {
    match key {
        KeyType::Bool => bytes.iter().all(|&byte| byte <= 1),
        KeyType::Char => {
            bytes.as_chunks().0.iter().all(|&bits| char::from_u32(u32::from_ne_bytes(bits)).is_some())
        }
        _ => true,
    }
}

/// The size of V, if it is a number of 4 or 8 bytes: all of its bits mean something, so that they may travel as bits.
pub(crate) fn plain_number_bytes<V>() -> Option<usize> {
    let value = typeid::of::<V>();
    let is_one_of = |types: &[std::any::TypeId]| types.contains(&value).then_some(size_of::<V>());
    is_one_of(&[
        typeid::of::<u32>(),
        typeid::of::<i32>(),
        typeid::of::<f32>(),
        typeid::of::<u64>(),
        typeid::of::<i64>(),
        typeid::of::<f64>(),
        typeid::of::<usize>(),
        typeid::of::<isize>(),
    ])
}

mod sealed {
    /// Keys and their bits: integers, floats, `bool` and `char`, which have no padding.
    pub trait Sealed {}

    /// Bits: types that any bytes are a value of.
    pub trait SealedBits: bytemuck::Pod {}
}

macro_rules! bits {
    ($($bits:ty as $signed:ty),+) => {$(
        impl sealed::Sealed for $bits {}
        impl sealed::SealedBits for $bits {}
        impl Bits for $bits {
            const ZERO: Self = 0;
            const MAX: Self = <$bits>::MAX;
            const SIGN: Self = 1 << (<$bits>::BITS - 1);
            const WIDTH: u32 = <$bits>::BITS;
            #[inline(always)]
            fn spread_sign(self) -> Self {
                (self as $signed >> (<$bits>::BITS - 1)) as $bits
            }
            #[inline(always)]
            fn truncate(value: u128) -> Self {
                value as $bits
            }
            #[inline(always)]
            fn widen(self) -> u128 {
                self as u128
            }
            #[inline(always)]
            fn wrapping_sub(self, other: Self) -> Self {
                <$bits>::wrapping_sub(self, other)
            }
            #[inline(always)]
            fn distance(self, least: Self, dropped: u32) -> u64 {
                (<$bits>::wrapping_sub(self, least) >> dropped) as u64
            }
        }
    )+};
}
bits!(u8 as i8, u16 as i16, u32 as i32, u64 as i64, u128 as i128);

#[cfg(target_pointer_width = "64")]
type PointerBits = u64;
#[cfg(target_pointer_width = "32")]
type PointerBits = u32;
#[cfg(not(any(target_pointer_width = "32", target_pointer_width = "64")))]
compile_error!("bitonic sorts usize and isize as 32 or 64 bits; this target has neither");

/// What the names in the list below mean outside of this file.
mod names {
    pub use super::float8::{F8E4M3 as f8e4m3, F8E5M2 as f8e5m2};
    pub use half::{bf16, f16};
    pub use std::primitive::{
        bool, char, f32, f64, i8, i16, i32, i64, i128, isize, u8, u16, u32, u64, u128, usize,
    };
}

/// The list of key types: one row a type, and everything that enumerates them is made from it.
macro_rules! key_types {
    ($dollar:tt $($type:ident, $variant:ident, $bits:ty, $form:ident, $to:expr, $from:expr;)+) => {
        /// A key type as a value, for programs that choose the type at run time.
        ///
        /// [`with_key_type!`](crate::with_key_type) turns it back into a type.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum KeyType {
            $(
                #[doc = concat!("`", stringify!($type), "`")]
                $variant,
            )+
        }

        impl KeyType {
            /// Every key type.
            pub const ALL: &[Self] = &[$(Self::$variant),+];

            /// The type's name in small letters, such as `f32`.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => stringify!($type),)+ }
            }

            /// The size of a key in bytes.
            pub const fn bytes(self) -> usize {
                match self { $(Self::$variant => size_of::<$type>(),)+ }
            }

            /// How the type's bits relate to its order.
            pub const fn form(self) -> KeyForm {
                match self { $(Self::$variant => KeyForm::$form,)+ }
            }
        }

        /// Runs code with a type parameter that is only known at run time.
        ///
        /// ```
        /// use bitonic::key::KeyType;
        ///
        /// let key_type: KeyType = "f64".parse()?;
        /// let bytes = bitonic::with_key_type!(key_type, K => size_of::<K>());
        /// assert_eq!(bytes, 8);
        /// # Ok::<(), bitonic::Error>(())
        /// ```
        #[macro_export]
        macro_rules! with_key_type {
            ($dollar key_type:expr, $dollar K:ident => $dollar body:expr) => {{
                #[allow(unreachable_patterns, reason = "the enum is non-exhaustive outside its crate only")]
                match $dollar key_type {
                    $(
                        $crate::key::KeyType::$variant => {
                            type $dollar K = $crate::key::types::$type;
                            $dollar body
                        }
                    )+
                    other => unreachable!("{other:?} is no key type of the list"),
                }
            }};
        }

        /// Keys whose type is known at run time only: for code that is compiled once, and not for every type of a key.
        ///
        /// [`with_keys!`](crate::with_keys) turns it back into a slice.
        #[derive(Debug)]
        #[non_exhaustive]
        pub enum KeysMut<'a> {
            $(
                #[doc = concat!("Keys of the type `", stringify!($type), "`.")]
                $variant(&'a mut [$type]),
            )+
        }

        impl KeysMut<'_> {
            /// How many keys there are.
            pub fn len(&self) -> usize {
                match self { $(Self::$variant(keys) => keys.len(),)+ }
            }

            /// Whether there are none.
            pub fn is_empty(&self) -> bool {
                self.len() == 0
            }
        }

        /// Runs code with keys whose type is only known at run time.
        ///
        /// ```
        /// use bitonic::key::KeysMut;
        ///
        /// fn sort_any(keys: KeysMut<'_>) {
        ///     bitonic::with_keys!(keys, keys => bitonic::sort(keys))
        /// }
        ///
        /// let mut keys = [2.5_f32, -1.0, 0.0];
        /// sort_any(KeysMut::from(&mut keys[..]));
        /// assert_eq!(keys, [-1.0, 0.0, 2.5]);
        /// ```
        #[macro_export]
        macro_rules! with_keys {
            ($dollar any:expr, $dollar keys:ident => $dollar body:expr) => {{
                #[allow(unreachable_patterns, reason = "the enum is non-exhaustive outside its crate only")]
                match $dollar any {
                    $($crate::key::KeysMut::$variant($dollar keys) => $dollar body,)+
                    other => unreachable!("{other:?} are no keys of the list"),
                }
            }};
        }

        /// The key types by their names, for [`with_key_type!`](crate::with_key_type).
        #[doc(hidden)]
        pub mod types {
            $(pub use super::names::$type;)+
        }

        $(
            impl Key for $type {
                type Bits = $bits;
                const TYPE: KeyType = KeyType::$variant;
                #[inline(always)]
                fn to_raw_bits(self) -> $bits {
                    $to(self)
                }
                #[inline(always)]
                fn from_raw_bits(bits: $bits) -> Self {
                    $from(bits)
                }
                #[inline(always)]
                fn any_mut(keys: &mut [Self]) -> KeysMut<'_> {
                    KeysMut::$variant(keys)
                }
            }
        )+
    };
}

use names::{f8e4m3, f8e5m2};

key_types! {
    $
    u8, U8, u8, Unsigned, |key| key, |bits| bits;
    u16, U16, u16, Unsigned, |key| key, |bits| bits;
    u32, U32, u32, Unsigned, |key| key, |bits| bits;
    u64, U64, u64, Unsigned, |key| key, |bits| bits;
    u128, U128, u128, Unsigned, |key| key, |bits| bits;
    usize, Usize, PointerBits, Unsigned, |key| key as PointerBits, |bits| bits as usize;
    i8, I8, u8, Signed, i8::cast_unsigned, u8::cast_signed;
    i16, I16, u16, Signed, i16::cast_unsigned, u16::cast_signed;
    i32, I32, u32, Signed, i32::cast_unsigned, u32::cast_signed;
    i64, I64, u64, Signed, i64::cast_unsigned, u64::cast_signed;
    i128, I128, u128, Signed, i128::cast_unsigned, u128::cast_signed;
    isize, Isize, PointerBits, Signed, |key| key as PointerBits, |bits| bits as isize;
    f8e4m3, F8E4M3, u8, Float, F8E4M3::to_bits, F8E4M3::from_bits;
    f8e5m2, F8E5M2, u8, Float, F8E5M2::to_bits, F8E5M2::from_bits;
    f16, F16, u16, Float, f16::to_bits, f16::from_bits;
    bf16, Bf16, u16, Float, bf16::to_bits, bf16::from_bits;
    f32, F32, u32, Float, f32::to_bits, f32::from_bits;
    f64, F64, u64, Float, f64::to_bits, f64::from_bits;
    bool, Bool, u8, Unsigned, |key| key as u8, |bits| bits != 0;
    char, Char, u32, Unsigned, |key| key as u32, |bits| char::from_u32(bits).unwrap_or(char::REPLACEMENT_CHARACTER);
}

macro_rules! sealed_keys {
    ($($type:ty),+) => { $(impl sealed::Sealed for $type {})+ };
}
// The unsigned integers are sealed as `Bits` already.
sealed_keys!(usize, i8, i16, i32, i64, i128, isize, F8E4M3, F8E5M2, f16, bf16, f32, f64, bool, char);

impl<'a, K: Key> From<&'a mut [K]> for KeysMut<'a> {
    fn from(keys: &'a mut [K]) -> Self {
        K::any_mut(keys)
    }
}

impl KeyType {
    /// How many NaNs of one sign the type has.
    pub(crate) const fn nans(self) -> u64 {
        match self {
            Self::F8E4M3 => 1,
            Self::F8E5M2 => (1 << 2) - 1,
            Self::F16 => (1 << 10) - 1,
            Self::Bf16 => (1 << 7) - 1,
            Self::F32 => (1 << (f32::MANTISSA_DIGITS - 1)) - 1,
            Self::F64 => (1 << (f64::MANTISSA_DIGITS - 1)) - 1,
            _ => 0,
        }
    }

    /// Whether some bit patterns of the type's size are no value of the type.
    pub(crate) const fn has_invalid_bits(self) -> bool {
        matches!(self, Self::Bool | Self::Char)
    }
}

impl std::fmt::Display for KeyType {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.name())
    }
}

impl std::str::FromStr for KeyType {
    type Err = crate::Error;

    fn from_str(name: &str) -> Result<Self, crate::Error> {
        crate::error::find_by_name("key type", name, Self::ALL, |key_type| key_type.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::cmp::Ordering;

    fn agrees<K: Key>(a: K, b: K, expected: Ordering) {
        assert_eq!(a.to_ordered_bits().cmp(&b.to_ordered_bits()), expected);
        for key in [a, b] {
            let back = K::from_ordered_bits(key.to_ordered_bits());
            assert_eq!(back.to_raw_bits(), key.to_raw_bits());
        }
        let descending = BitMap::new(K::TYPE.form(), Order::Descending);
        let [x, y] = [a, b].map(|key| descending.to_ordered(key.to_raw_bits()));
        assert_eq!(x.cmp(&y), expected.reverse());
        assert_eq!(descending.from_ordered(x), a.to_raw_bits());
    }

    macro_rules! order_and_round_trip {
        ($($name:ident: $type:ty = $strategy:expr, $compare:expr;)+) => {
            proptest! {
                #![proptest_config(ProptestConfig::with_cases(4096))]
                $(
                    #[test]
                    fn $name(a in $strategy, b in $strategy) {
                        let compare: fn(&$type, &$type) -> Ordering = $compare;
                        agrees::<$type>(a, b, compare(&a, &b));
                        agrees::<$type>(a, a, Ordering::Equal);
                    }
                )+
            }
        };
    }

    order_and_round_trip! {
        u8_order: u8 = any::<u8>(), Ord::cmp;
        u16_order: u16 = any::<u16>(), Ord::cmp;
        u32_order: u32 = any::<u32>(), Ord::cmp;
        u64_order: u64 = any::<u64>(), Ord::cmp;
        u128_order: u128 = any::<u128>(), Ord::cmp;
        usize_order: usize = any::<usize>(), Ord::cmp;
        i8_order: i8 = any::<i8>(), Ord::cmp;
        i16_order: i16 = any::<i16>(), Ord::cmp;
        i32_order: i32 = any::<i32>(), Ord::cmp;
        i64_order: i64 = any::<i64>(), Ord::cmp;
        i128_order: i128 = any::<i128>(), Ord::cmp;
        isize_order: isize = any::<isize>(), Ord::cmp;
        f8e4m3_order: F8E4M3 = any::<u8>().prop_map(F8E4M3::from_bits), |a, b| a.to_f32().total_cmp(&b.to_f32());
        f8e5m2_order: F8E5M2 = any::<u8>().prop_map(F8E5M2::from_bits), |a, b| a.to_f32().total_cmp(&b.to_f32());
        f16_order: f16 = any::<u16>().prop_map(f16::from_bits), f16::total_cmp;
        bf16_order: bf16 = any::<u16>().prop_map(bf16::from_bits), bf16::total_cmp;
        f32_order: f32 = any::<u32>().prop_map(f32::from_bits), f32::total_cmp;
        f64_order: f64 = any::<u64>().prop_map(f64::from_bits), f64::total_cmp;
        bool_order: bool = any::<bool>(), Ord::cmp;
        char_order: char = any::<char>(), Ord::cmp;
    }

    /// 16-bit floats are few enough to check every neighbouring pair of the total order.
    #[test]
    fn every_f16_and_bf16_maps_to_its_own_place() {
        let mut seen = vec![[false; 2]; 1 << 16];
        for bits in 0..=u16::MAX {
            seen[f16::from_bits(bits).to_ordered_bits() as usize][0] = true;
            seen[bf16::from_bits(bits).to_ordered_bits() as usize][1] = true;
        }
        assert!(seen.iter().all(|&pair| pair == [true; 2]));
    }

    #[test]
    fn names_parse_back_and_the_macro_knows_every_type() {
        for &key_type in KeyType::ALL {
            assert_eq!(key_type.name().parse::<KeyType>().unwrap(), key_type);
            let (same, bytes) = with_key_type!(key_type, K => (K::TYPE, size_of::<K>()));
            assert_eq!((same, bytes), (key_type, key_type.bytes()));
        }
        assert!("u31".parse::<KeyType>().is_err());
    }

    #[test]
    fn a_panic_inside_leaves_valid_keys() {
        let mut keys = ['a', '\u{10FFFF}', 'z'];
        let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            with_ordered_bits(&mut keys, Order::Descending, |bits| {
                bits.fill(!0xD800);
                panic!("half way");
            })
        }));
        assert!(result.is_err());
        assert_eq!(keys, [char::REPLACEMENT_CHARACTER; 3]);
    }
}
