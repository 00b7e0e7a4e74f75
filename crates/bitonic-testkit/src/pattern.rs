//! Named inputs.

use crate::TestKey;
use bitonic::key::KeysMut;
use rand::rngs::Xoshiro256PlusPlus;
use rand::{Rng, RngExt, SeedableRng};
use std::fmt;

/// A named kind of input. The same pattern, length and seed give the same keys on every machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Pattern {
    /// Uniform over the type's range; floats uniform in -1..1.
    Random,
    /// Ascending.
    Sorted,
    /// Descending.
    Reversed,
    /// Ascending but for one key in a hundred.
    NearlySorted,
    /// One value only.
    AllEqual,
    /// Sixteen values.
    FewUnique,
    /// Rising, then falling.
    OrganPipe,
    /// Rising over and over.
    Saw,
    /// Random bits, with every special value of the type: NaNs, infinities, both zeros, extremes.
    Special,
    /// The greatest value only: the key that a padding sort would confuse with its padding.
    AllMax,
    /// Random, every second key the greatest value.
    HalfMax,
    /// Uniform in the logarithm: about as many small keys as large ones in every octave.
    LogUniform,
    /// A few keys are very common: rank k with weight 1/k.
    Zipf,
    /// Nearly normally distributed: most keys lie around the middle, floats around zero.
    Normal,
}

impl Pattern {
    /// Every pattern.
    pub const ALL: &[Self] = &[
        Self::Random,
        Self::Sorted,
        Self::Reversed,
        Self::NearlySorted,
        Self::AllEqual,
        Self::FewUnique,
        Self::OrganPipe,
        Self::Saw,
        Self::Special,
        Self::AllMax,
        Self::HalfMax,
        Self::LogUniform,
        Self::Zipf,
        Self::Normal,
    ];

    /// The pattern's name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Random => "random",
            Self::Sorted => "sorted",
            Self::Reversed => "reversed",
            Self::NearlySorted => "nearly-sorted",
            Self::AllEqual => "all-equal",
            Self::FewUnique => "few-unique",
            Self::OrganPipe => "organ-pipe",
            Self::Saw => "saw",
            Self::Special => "special",
            Self::AllMax => "all-max",
            Self::HalfMax => "half-max",
            Self::LogUniform => "log-uniform",
            Self::Zipf => "zipf",
            Self::Normal => "normal",
        }
    }

    /// Makes `len` keys.
    ///
    /// ```
    /// use bitonic_testkit::Pattern;
    ///
    /// let keys: Vec<u32> = Pattern::Sorted.generate(1000, 7);
    /// assert!(keys.is_sorted());
    /// ```
    pub fn generate<K: TestKey>(self, len: usize, seed: u64) -> Vec<K> {
        let mut keys = vec![K::at(0); len];
        self.fill_any(keys.as_mut_slice().into(), seed);
        keys
    }

    /// Makes as many keys as there are, of a type that is known at run time. Compiled here, and not again by whoever wants keys.
    fn fill_any(self, keys: KeysMut<'_>, seed: u64) {
        bitonic::with_keys!(keys, keys => self.fill(keys, seed));
    }

    fn fill<K: TestKey>(self, keys: &mut [K], seed: u64) {
        let len = keys.len();
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed ^ len as u64);
        // The place of index `i` on a slope from the least to the greatest key over `steps` indices.
        let slope =
            |index: usize, steps: usize| K::at((u64::MAX / steps.max(1) as u64).saturating_mul(index as u64));
        match self {
            Self::Random => each(keys, |_| K::at(random.next_u64())),
            Self::Sorted => each(keys, |index| slope(index, len)),
            Self::Reversed => each(keys, |index| slope(len - 1 - index, len)),
            Self::NearlySorted => {
                each(keys, |index| slope(index, len));
                for _ in 0..len.div_ceil(100) {
                    keys[random.random_range(0..len)] = K::at(random.next_u64());
                }
            }
            Self::AllEqual => keys.fill(K::at(random.next_u64())),
            Self::FewUnique => {
                let values: [K; 16] = std::array::from_fn(|_| K::at(random.next_u64()));
                each(keys, |_| values[random.random_range(0..16)]);
            }
            Self::OrganPipe => each(keys, |index| slope(index.min(len - 1 - index), len / 2 + 1)),
            Self::Saw => {
                let tooth = len.isqrt().max(2);
                each(keys, |index| slope(index % tooth, tooth));
            }
            Self::Special => {
                let special = K::special();
                each(keys, |_| match random.random_range(0..2_u32) {
                    0 => special[random.random_range(0..special.len())],
                    _ => K::any(u128::from(random.next_u64()) << 64 | u128::from(random.next_u64())),
                });
            }
            Self::AllMax => keys.fill(greatest()),
            Self::HalfMax => {
                each(keys, |index| if index % 2 == 0 { greatest() } else { K::at(random.next_u64()) });
            }
            Self::LogUniform => {
                each(keys, |_| K::at(random.next_u64() >> random.random_range(0..64_u32)));
            }
            Self::Zipf => {
                // Rank by inverting the harmonic sum: rank = distinct^u for uniform u; then scatter the ranks.
                let distinct = (len.max(2)) as f64;
                each(keys, |_| {
                    let rank = distinct.powf(random.random::<f64>()) as u64;
                    K::at(rank.wrapping_mul(0x9E37_79B9_7F4A_7C15))
                });
            }
            // The mean of twelve uniform ones.
            Self::Normal => each(keys, |_| K::at((0..12).map(|_| random.next_u64() / 12).sum())),
        }
    }
}

/// Makes the key of every index, one after the other.
fn each<K>(keys: &mut [K], mut key: impl FnMut(usize) -> K) {
    keys.iter_mut().enumerate().for_each(|(index, place)| *place = key(index));
}

/// The greatest value of a type by its total order: a NaN for floats.
fn greatest<K: TestKey>() -> K {
    K::special().into_iter().max_by_key(|key| key.to_ordered_bits()).expect("every type has special values")
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// The error lists the names there are.
impl std::str::FromStr for Pattern {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        Self::ALL.iter().copied().find(|pattern| pattern.name() == name).ok_or_else(|| {
            let known: Vec<&str> = Self::ALL.iter().map(|pattern| pattern.name()).collect();
            format!("unknown distribution '{name}': use one of {}", known.join(", "))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pattern_makes_the_length_asked_for_and_the_same_keys_again() {
        for &pattern in Pattern::ALL {
            for len in [0, 1, 2, 3, 100] {
                let keys: Vec<u64> = pattern.generate(len, 5);
                assert_eq!(keys.len(), len, "{pattern}");
                assert_eq!(keys, pattern.generate::<u64>(len, 5), "{pattern}");
            }
            assert_eq!(pattern.name().parse(), Ok(pattern));
        }
    }

    #[test]
    fn patterns_have_the_shape_their_name_says() {
        use std::collections::HashSet;
        let keys = |pattern: Pattern| pattern.generate::<u32>(1000, 1);
        assert!(keys(Pattern::Sorted).is_sorted());
        assert!(keys(Pattern::Reversed).is_sorted_by(|a, b| a >= b));
        assert!(!keys(Pattern::NearlySorted).is_sorted());
        assert_eq!(keys(Pattern::FewUnique).into_iter().collect::<HashSet<_>>().len(), 16);
        assert_eq!(keys(Pattern::AllEqual).into_iter().collect::<HashSet<_>>().len(), 1);
        let pipe = keys(Pattern::OrganPipe);
        assert!(pipe[..500].is_sorted() && pipe[500..].is_sorted_by(|a, b| a >= b));
        assert_eq!(keys(Pattern::HalfMax).iter().filter(|&&key| key == u32::MAX).count(), 500);
        let near_zero =
            Pattern::Normal.generate::<f32>(1000, 1).into_iter().filter(|key| key.abs() < 1.0 / 6.0).count();
        assert!(
            (600..760).contains(&near_zero),
            "{near_zero} of 1000 within one deviation: 683 are expected"
        );
        let floats = Pattern::Special.generate::<f32>(1000, 1);
        assert!(floats.iter().any(|key| key.is_nan()) && floats.iter().any(|key| key.is_infinite()));
    }
}
