//! Floats of 8 bits, as machine learning stores them: a sign, an exponent, and a mantissa of 3 or 2 bits.
//!
//! They are written here because the crate `half` has none. They convert and compare; programs calculate in `f32`.

use std::cmp::Ordering;

const SIGN: u8 = 0x80;

/// What the bits below the sign mean.
struct Format {
    mantissa_bits: u32,
    /// What the exponent has been increased by.
    bias: i32,
    /// The bits of the largest number.
    max: u8,
    /// The bits of infinity, if there is one.
    infinity: Option<u8>,
    /// The bits of a NaN without a payload.
    nan: u8,
}

const E4M3: Format = Format { mantissa_bits: 3, bias: 7, max: 0x7e, infinity: None, nan: 0x7f };
const E5M2: Format = Format { mantissa_bits: 2, bias: 15, max: 0x7b, infinity: Some(0x7c), nan: 0x7e };

impl Format {
    fn bits_of(&self, value: f64) -> u8 {
        let sign = if value.is_sign_negative() { SIGN } else { 0 };
        if value.is_nan() {
            return sign | self.nan;
        }
        // Numbers below the least normal one have its exponent, and fewer bits of mantissa.
        let exponent = ((value.to_bits() >> 52 & 0x7ff) as i32 - 1023).max(1 - self.bias);
        let unit = 2_f64.powi(exponent - self.mantissa_bits as i32);
        let mantissa = (value.abs() / unit).round_ties_even();
        // The first bit of a normal number's mantissa is not stored: it adds one to the exponent. So does a carry of the rounding.
        let magnitude = f64::from((exponent + self.bias - 1) << self.mantissa_bits) + mantissa;
        let is_above = magnitude > f64::from(self.max);
        sign | if is_above { self.infinity.unwrap_or(self.nan) } else { magnitude as u8 }
    }

    fn value_of(&self, bits: u8) -> f32 {
        let exponent = i32::from((bits & !SIGN) >> self.mantissa_bits);
        let mantissa = bits & ((1 << self.mantissa_bits) - 1);
        let magnitude = if self.is_nan(bits) || self.infinity == Some(bits & !SIGN) {
            // Infinity has no bit of mantissa set. Those of a NaN stay the highest, so that NaNs keep their order.
            f32::from_bits(0xff << 23 | u32::from(mantissa) << (23 - self.mantissa_bits))
        } else {
            let first_bit = if exponent > 0 { 1 << self.mantissa_bits } else { 0 };
            f32::from(first_bit | mantissa)
                * 2_f32.powi(exponent.max(1) - self.bias - self.mantissa_bits as i32)
        };
        f32::from_bits(magnitude.to_bits() | u32::from(bits & SIGN) << 24)
    }

    fn is_nan(&self, bits: u8) -> bool {
        bits & !SIGN > self.infinity.unwrap_or(self.max)
    }
}

macro_rules! floats {
    ($($(#[$about:meta])+ $type:ident, $format:ident;)+) => {$(
        $(#[$about])+
        ///
        /// Comparisons are those of floats: -0.0 equals 0.0, and no NaN equals anything. Sorts go by total order, as for all floats.
        #[derive(Clone, Copy, Default)]
        #[repr(transparent)]
        pub struct $type(u8);

        impl $type {
            /// The largest number.
            pub const MAX: Self = Self($format.max);
            /// The least number: `-MAX`.
            pub const MIN: Self = Self($format.max | SIGN);

            /// The key with these bits.
            #[inline(always)]
            pub const fn from_bits(bits: u8) -> Self {
                Self(bits)
            }

            /// The key's bits.
            #[inline(always)]
            pub const fn to_bits(self) -> u8 {
                self.0
            }

            /// The nearest number; of two that are as near, the one whose last bit is 0. What rounds to more than `MAX` becomes
            /// infinite, or NaN if the type has no infinity.
            pub fn from_f64(value: f64) -> Self {
                Self($format.bits_of(value))
            }

            /// The same value as `f32`, which has all of them.
            pub fn to_f32(self) -> f32 {
                $format.value_of(self.0)
            }

            /// Whether it is not a number.
            pub fn is_nan(self) -> bool {
                $format.is_nan(self.0)
            }

            /// Whether it is infinite.
            pub fn is_infinite(self) -> bool {
                $format.infinity == Some(self.0 & !SIGN)
            }

            /// Whether the sign bit is set, as that of -0.0 is.
            pub const fn is_sign_negative(self) -> bool {
                self.0 & SIGN != 0
            }
        }

        impl From<$type> for f64 {
            fn from(key: $type) -> Self {
                key.to_f32().into()
            }
        }

        impl PartialEq for $type {
            fn eq(&self, other: &Self) -> bool {
                self.to_f32() == other.to_f32()
            }
        }

        impl PartialOrd for $type {
            fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
                self.to_f32().partial_cmp(&other.to_f32())
            }
        }

        impl std::fmt::Debug for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                self.to_f32().fmt(f)
            }
        }
    )+};
}

floats! {
    /// A float of 8 bits with 4 bits of exponent and 3 of mantissa, up to 448: `float8_e4m3fn` of PyTorch and JAX. It has no
    /// infinity, and one NaN of each sign.
    ///
    /// ```
    /// use bitonic::key::F8E4M3;
    ///
    /// let mut weights = [2.5, -448.0, 0.1, f64::NAN].map(F8E4M3::from_f64);
    /// bitonic::sort(&mut weights);
    /// assert_eq!(weights[..3].iter().map(|key| key.to_f32()).collect::<Vec<_>>(), [-448.0, 0.1015625, 2.5]);
    /// assert!(weights[3].is_nan());
    /// ```
    F8E4M3, E4M3;
    /// A float of 8 bits with 5 bits of exponent and 2 of mantissa, up to 57344: the upper half of an `f16`, `float8_e5m2` of
    /// PyTorch and JAX. It has infinities, and three NaNs of each sign.
    F8E5M2, E5M2;
}

#[cfg(test)]
mod tests {
    use super::*;
    use half::f16;

    /// The values of the formats' definitions.
    #[test]
    fn known_bits_have_their_values() {
        for (bits, value) in [
            (0x00, 0.0),
            (0x01, 2_f32.powi(-9)),
            (0x07, 7.0 / 512.0),
            (0x08, 2_f32.powi(-6)),
            (0x38, 1.0),
            (0x39, 1.125),
            (0x78, 256.0),
            (0x7e, 448.0),
            (0xb8, -1.0),
        ] {
            assert_eq!(F8E4M3::from_bits(bits).to_f32(), value, "{bits:#x}");
        }
        assert_eq!(F8E4M3::from_bits(0x80).to_f32().to_bits(), (-0.0_f32).to_bits());
        let nans: Vec<u8> = (0..=u8::MAX).filter(|&bits| F8E4M3::from_bits(bits).is_nan()).collect();
        assert_eq!(nans, [0x7f, 0xff]);
        assert!((0..=u8::MAX).all(|bits| !F8E4M3::from_bits(bits).is_infinite()));
    }

    #[test]
    fn e5m2_is_the_upper_half_of_f16() {
        for bits in 0..=u8::MAX {
            let (key, half) = (F8E5M2::from_bits(bits), f16::from_bits(u16::from(bits) << 8));
            assert_eq!((key.is_nan(), key.is_infinite()), (half.is_nan(), half.is_infinite()), "{bits:#x}");
            assert_eq!(key.is_sign_negative(), half.is_sign_negative());
            assert!(key.is_nan() || key.to_f32().to_bits() == half.to_f32().to_bits(), "{bits:#x}");
        }
    }

    /// Between two neighbours, numbers go to the nearer one, and the middle goes to the one whose last bit is 0.
    #[test]
    fn numbers_are_rounded_to_the_nearest_even() {
        fn check(of: fn(f64) -> u8, value_of: fn(u8) -> f64, max: u8) {
            for bits in 0..max {
                let (low, high) = (value_of(bits), value_of(bits + 1));
                let middle = (low + high) / 2.0;
                let to_even = if bits % 2 == 0 { bits } else { bits + 1 };
                for sign in [0, SIGN] {
                    let signed = |value: f64| if sign == 0 { value } else { -value };
                    assert_eq!(of(signed(low)), bits | sign);
                    assert_eq!(of(signed(middle.next_down())), bits | sign);
                    assert_eq!(of(signed(middle)), to_even | sign);
                    assert_eq!(of(signed(middle.next_up())), (bits + 1) | sign);
                }
            }
            assert_eq!(of(value_of(max)), max);
        }
        check(|value| F8E4M3::from_f64(value).0, |bits| F8E4M3(bits).into(), 0x7e);
        check(|value| F8E5M2::from_f64(value).0, |bits| F8E5M2(bits).into(), 0x7b);
    }

    #[test]
    fn what_is_too_large_is_infinite_or_not_a_number() {
        assert_eq!(F8E4M3::from_f64(464.0), F8E4M3::MAX);
        for value in [464.5, 1e300, f64::INFINITY] {
            assert_eq!(F8E4M3::from_f64(value).to_bits(), 0x7f);
            assert_eq!(F8E4M3::from_f64(-value).to_bits(), 0xff);
        }
        assert_eq!(F8E5M2::from_f64(-61439.0), F8E5M2::MIN);
        for value in [61440.0, 1e300, f64::INFINITY] {
            assert_eq!(F8E5M2::from_f64(value).to_f32(), f32::INFINITY);
            assert_eq!(F8E5M2::from_f64(-value).to_f32(), f32::NEG_INFINITY);
        }
        assert!(
            F8E5M2::from_f64(f64::NAN).is_nan() && F8E5M2::from_f64(f64::NAN) != F8E5M2::from_f64(f64::NAN)
        );
        assert!(F8E5M2::from_f64(1.5) < F8E5M2::from_f64(1.75));
    }
}
