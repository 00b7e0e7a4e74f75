//! What is sorted.

use bitonic::key::{KeyForm, KeyType};
use bitonic_testkit::Pattern;

/// The bytes of a value that travels with a key.
pub(super) const VALUE_BYTES: usize = size_of::<u32>();

/// Keys that every sort of the measurement sorts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Job {
    pub(super) key_type: KeyType,
    /// What the keys are like before they are sorted.
    pub(super) pattern: Pattern,
    pub(super) rows: Rows,
    /// Whether a value of 32 bits travels with every key.
    pub(super) has_values: bool,
}

impl Job {
    /// How many keys there are.
    pub(super) fn len(self) -> usize {
        self.rows.len()
    }

    /// What keys and values take together.
    pub(super) fn bytes(self) -> usize {
        self.len() * (self.key_type.bytes() + if self.has_values { VALUE_BYTES } else { 0 })
    }

    /// Whether all sorts agree about the order: NaN and the two zeros have one by their bits, and none by `<`.
    pub(super) fn is_in_order_by_comparison(self) -> bool {
        let has_nan = matches!(self.pattern, Pattern::Special | Pattern::AllMax | Pattern::HalfMax);
        !(has_nan && self.key_type.form() == KeyForm::Float)
    }
}

/// Rows of keys, each sorted for itself. Most often it is one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Rows {
    pub(super) rows: usize,
    pub(super) row_length: usize,
}

impl Rows {
    /// All keys are one row.
    pub(super) fn one(len: usize) -> Self {
        Self { rows: 1, row_length: len }
    }

    /// As many rows as so many keys make, if that is any.
    pub(super) fn many(row_length: usize, total: usize) -> Option<Self> {
        let rows = total.checked_div(row_length).filter(|&rows| rows > 0)?;
        Some(Self { rows, row_length })
    }

    /// How many keys there are.
    pub(super) fn len(self) -> usize {
        self.rows * self.row_length
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_as_many_as_the_keys_make() {
        assert_eq!(Rows::many(1000, 4096).map(Rows::len), Some(4000));
        assert_eq!(Rows::many(0, 4096), None);
        assert_eq!(Rows::many(4097, 4096), None);
        assert_eq!(Rows::one(0).len(), 0);
    }

    #[test]
    fn values_count_as_bytes() {
        let job = |has_values| Job {
            key_type: KeyType::U64,
            pattern: Pattern::Random,
            rows: Rows::one(10),
            has_values,
        };
        assert_eq!((job(false).bytes(), job(true).bytes()), (80, 120));
    }

    #[test]
    fn keys_that_are_said_to_be_in_order_by_comparison_have_no_nan_and_no_negative_zero() {
        for &pattern in Pattern::ALL {
            let rows = Rows::one(10_000);
            let job = Job { key_type: KeyType::F32, pattern, rows, has_values: false };
            let keys: Vec<f32> = pattern.generate(rows.len(), 1);
            let plain = keys.iter().all(|key| !key.is_nan() && key.to_bits() != (-0.0_f32).to_bits());
            assert_eq!(job.is_in_order_by_comparison(), plain, "{pattern}");
            assert!(Job { key_type: KeyType::U32, ..job }.is_in_order_by_comparison(), "{pattern}");
        }
    }
}
