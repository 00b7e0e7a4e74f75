//! Which lengths a rung takes.

use std::fmt;

/// The lengths that a rung can sort.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Sizes {
    /// Every length.
    Any,
    /// Powers of two, and the empty slice.
    PowerOfTwo,
}

impl Sizes {
    /// Whether a slice of this length can be sorted.
    pub const fn contain(self, len: usize) -> bool {
        match self {
            Self::Any => true,
            Self::PowerOfTwo => len == 0 || len.is_power_of_two(),
        }
    }
}

impl fmt::Display for Sizes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Any => "any",
            Self::PowerOfTwo => "powers of two",
        })
    }
}
