//! Key values for instances: how a pattern's abstract places become keys of a type.

use bitonic::Key;
use bitonic::key::{F8E4M3, F8E5M2, KeyForm, bf16, f16};

/// A [`Key`] that instances can be made of.
pub trait TestKey: Key + std::fmt::Debug {
    /// The key at a place of the type's range, 0 the least and `u64::MAX` the greatest. Monotone: a larger place gives no
    /// smaller key. Floats run from -1 to 1, so that sums and pictures of them make sense.
    fn at(place: u64) -> Self;

    /// Any value of the type from random bits: for floats every NaN, infinity and subnormal is among them.
    fn any(random: u128) -> Self;

    /// The values that go wrong first: extremes, both zeros, infinities, NaNs of either sign and with payloads.
    fn special() -> Vec<Self>;
}

/// Spreads a place over the type's ordered bits.
fn spread<K: Key>(place: u64) -> K {
    let width = size_of::<K>() as u32 * 8;
    let bits = if width <= 64 {
        u128::from(place >> (64 - width))
    } else {
        // The high half has the highest byte of the place, eight times over, and the low half the others and that byte last: many keys
        // have the same high half, and their low halves begin with any bit.
        u128::from((place >> 56) * 0x0101_0101_0101_0101) << 64 | u128::from(place.rotate_left(8))
    };
    K::from_ordered_bits(bitonic::key::Bits::truncate(bits))
}

fn any_bits<K: Key>(random: u128) -> K {
    K::from_raw_bits(bitonic::key::Bits::truncate(random))
}

macro_rules! integers {
    ($($type:ty),+) => {$(
        impl TestKey for $type {
            fn at(place: u64) -> Self {
                spread(place)
            }
            fn any(random: u128) -> Self {
                any_bits(random)
            }
            fn special() -> Vec<Self> {
                vec![Self::MIN, Self::MAX, 0, 1, Self::MAX - 1, Self::MIN + 1, Self::MAX / 2, (0 as Self).wrapping_sub(1)]
            }
        }
    )+};
}
integers!(u8, u16, u32, u64, u128, usize, i8, i16, i32, i64, i128, isize);

macro_rules! floats {
    ($($type:ty, $mantissa_bits:literal, $from:expr;)+) => {$(
        impl TestKey for $type {
            fn at(place: u64) -> Self {
                $from(unit(place))
            }
            fn any(random: u128) -> Self {
                any_bits(random)
            }
            fn special() -> Vec<Self> {
                special_floats($mantissa_bits)
            }
        }
    )+};
}
floats! {
    F8E4M3, 3, F8E4M3::from_f64;
    F8E5M2, 2, F8E5M2::from_f64;
    f16, 10, f16::from_f64;
    bf16, 7, bf16::from_f64;
    f32, 23, |unit| unit as f32;
    f64, 52, |unit| unit;
}

impl TestKey for bool {
    fn at(place: u64) -> Self {
        place > u64::MAX / 2
    }
    fn any(random: u128) -> Self {
        random & 1 == 1
    }
    fn special() -> Vec<Self> {
        vec![false, true]
    }
}

impl TestKey for char {
    fn at(place: u64) -> Self {
        // The scalar values without the gap of the surrogates.
        const COUNT: u128 = 0x11_0000 - 0x800;
        let number = ((u128::from(place) * COUNT) >> 64) as u32;
        let scalar = if number < 0xD800 { number } else { number + 0x800 };
        char::from_u32(scalar).expect("a scalar value outside the surrogates")
    }
    fn any(random: u128) -> Self {
        Self::at(random as u64)
    }
    fn special() -> Vec<Self> {
        vec!['\0', '\u{D7FF}', '\u{E000}', char::MAX, 'a', 'Z', '\u{1}']
    }
}

/// A place as a number from -1 to 1.
fn unit(place: u64) -> f64 {
    place as f64 / u64::MAX as f64 * 2.0 - 1.0
}

/// The special values of an IEEE 754 format, from the number of its mantissa bits. `F8E4M3` has numbers where others have infinity.
fn special_floats<K: Key>(mantissa_bits: u32) -> Vec<K> {
    debug_assert_eq!(K::TYPE.form(), KeyForm::Float);
    let width = size_of::<K>() as u32 * 8;
    let sign = 1_u128 << (width - 1);
    let infinity = (sign - 1) & !((1 << mantissa_bits) - 1);
    let quiet = infinity | 1 << (mantissa_bits - 1);
    let positive = [
        0,                  // zero
        1,                  // the least subnormal
        1 << mantissa_bits, // the least normal number
        infinity - 1,       // the greatest finite number
        infinity,
        infinity | 1, // a signalling NaN
        quiet,
        quiet | 5, // a NaN with a payload
        sign - 1,  // the last NaN
    ];
    positive.iter().flat_map(|&bits| [bits, bits | sign]).map(any_bits).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_monotone_for_every_type() {
        for &key_type in bitonic::key::KeyType::ALL {
            bitonic::with_key_type!(key_type, K => {
                let step = u64::MAX / 1000;
                let keys: Vec<K> = (0..=1000).map(|index| K::at(index * step)).collect();
                assert!(bitonic::is_sorted(&keys, bitonic::Order::Ascending), "{key_type}");
                assert!(keys.first().unwrap().to_ordered_bits() < keys.last().unwrap().to_ordered_bits(), "{key_type}");
            });
        }
    }

    #[test]
    fn special_floats_have_infinities_and_nans_of_both_signs() {
        let special = f32::special();
        assert_eq!(special.iter().filter(|key| key.is_nan()).count(), 8);
        assert!(special.contains(&f32::INFINITY) && special.contains(&f32::NEG_INFINITY));
        assert_eq!(special.iter().filter(|key| **key == 0.0).count(), 2);
        assert!(f64::special().contains(&f64::MIN_POSITIVE) && f64::special().contains(&f64::MAX));
    }
}
