//! What is sorted.

use bitonic::key::{KeyForm, KeyType};
use bitonic_testkit::Pattern;
use std::fmt;

/// What is sorted: keys of a type, or pairs of a key and a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Element {
    /// `u32` keys.
    U32,
    /// `i32` keys.
    I32,
    /// `f32` keys, in IEEE 754 total order.
    F32,
    /// `u64` keys.
    U64,
    /// `i64` keys.
    I64,
    /// `f64` keys, in IEEE 754 total order.
    F64,
    /// `u8` keys.
    U8,
    /// `u16` keys.
    U16,
    /// `u128` keys.
    U128,
    /// `u32` keys, each with a `u32` value.
    Pairs,
}

impl Element {
    /// Everything that can be sorted.
    pub const ALL: &[Self] = &[
        Self::U32,
        Self::I32,
        Self::F32,
        Self::U64,
        Self::I64,
        Self::F64,
        Self::U8,
        Self::U16,
        Self::U128,
        Self::Pairs,
    ];

    /// The name on the command line and in results.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Pairs => "pairs",
            key => key.key_type().name(),
        }
    }

    /// The type of the keys.
    pub const fn key_type(self) -> KeyType {
        match self {
            Self::U32 | Self::Pairs => KeyType::U32,
            Self::I32 => KeyType::I32,
            Self::F32 => KeyType::F32,
            Self::U64 => KeyType::U64,
            Self::I64 => KeyType::I64,
            Self::F64 => KeyType::F64,
            Self::U8 => KeyType::U8,
            Self::U16 => KeyType::U16,
            Self::U128 => KeyType::U128,
        }
    }

    /// Whether keys of this pattern have NaNs among them.
    pub fn has_nan(self, pattern: Pattern) -> bool {
        // The greatest key of a float type is a NaN.
        let takes_special_keys = matches!(pattern, Pattern::Special | Pattern::AllMax | Pattern::HalfMax);
        takes_special_keys && self.key_type().form() == KeyForm::Float
    }
}

impl fmt::Display for Element {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_said_to_be_without_nan_have_none_and_no_negative_zero_either() {
        for &pattern in Pattern::ALL {
            let keys = pattern.generate::<f32>(1000, 3);
            assert_eq!(keys.iter().any(|key| key.is_nan()), Element::F32.has_nan(pattern), "{pattern}");
            // Sorts by partial order may mix up the zeros.
            let negative_zero = keys.iter().any(|key| key.to_bits() == (-0.0_f32).to_bits());
            assert!(!negative_zero || Element::F32.has_nan(pattern), "{pattern}");
        }
        assert!(!Element::U32.has_nan(Pattern::Special));
    }
}
