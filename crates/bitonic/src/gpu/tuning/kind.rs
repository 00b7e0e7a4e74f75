//! The kinds of sorts that a device is compared with the CPU for.

use crate::request::{Request, Segments, What};
use std::fmt;

/// A kind of sorts: those that are measured by one of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct SortKind {
    pub(crate) operation: Operation,
    /// The bytes of a key or, for pairs, of a key and its value together.
    pub(crate) bytes: usize,
}

/// What is done with the keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Operation {
    Keys,
    /// Many rows, each short.
    Rows,
    Oblivious,
    /// Keys with numbers as values.
    Pairs,
    /// The order of the keys, and what the host puts in place by it: stable pairs, and values that are no numbers.
    Argsort,
}

impl Operation {
    const ALL: [Self; 5] = [Self::Keys, Self::Rows, Self::Oblivious, Self::Pairs, Self::Argsort];

    const fn name(self) -> &'static str {
        match self {
            Self::Keys => "keys",
            Self::Rows => "rows",
            Self::Oblivious => "oblivious",
            Self::Pairs => "pairs",
            Self::Argsort => "argsort",
        }
    }
}

impl SortKind {
    /// Those that are measured, the most common first. Keys of 8 and 16 bits are not: the CPU counts them, as fast as they could be
    /// sent anywhere.
    pub(crate) const MEASURED: &[Self] = &[
        Self::new(Operation::Keys, 4),
        Self::new(Operation::Keys, 8),
        Self::new(Operation::Pairs, 8),
        Self::new(Operation::Argsort, 4),
        Self::new(Operation::Rows, 4),
        Self::new(Operation::Pairs, 16),
        Self::new(Operation::Argsort, 8),
        Self::new(Operation::Keys, 16),
        Self::new(Operation::Rows, 8),
        Self::new(Operation::Oblivious, 4),
        Self::new(Operation::Oblivious, 8),
    ];

    /// The longest row that counts as short: longer ones are sorted in another way on devices.
    const SHORT_ROW: usize = 1 << 13;

    /// The rows that short ones are measured with.
    pub(crate) const ROW: usize = 1 << 10;

    pub(crate) const fn new(operation: Operation, bytes: usize) -> Self {
        Self { operation, bytes }
    }

    /// The kind of a sort, if it is one that is measured.
    pub(crate) fn of(request: &Request) -> Option<Self> {
        if matches!(request.segments, Segments::Offsets { .. }) {
            return None;
        }
        let key = request.key.bytes();
        let is_one = request.segments.count() == 1;
        let kind = match request.what {
            // The CPU reads all keys in less time than it takes to send them to a device.
            What::Top(_) => return None,
            What::Keys if is_one && request.oblivious => Self::new(Operation::Oblivious, key),
            _ if request.oblivious => return None,
            What::Keys if is_one => Self::new(Operation::Keys, key),
            What::Keys if request.segments.longest() <= Self::SHORT_ROW => Self::new(Operation::Rows, key),
            What::Pairs(value) if is_one && request.carries_values() && (4..=8).contains(&key) => {
                Self::new(Operation::Pairs, (key + value.bytes).next_power_of_two())
            }
            What::Pairs(_) | What::Argsort if is_one => Self::new(Operation::Argsort, key),
            _ => return None,
        };
        Self::MEASURED.contains(&kind).then_some(kind)
    }

    /// Reads what [`SortKind::word`] writes.
    pub(crate) fn parse(word: &str) -> Option<Self> {
        let (name, bytes) = word.split_once('-')?;
        let operation = Operation::ALL.into_iter().find(|operation| operation.name() == name)?;
        let kind = Self::new(operation, bytes.parse().ok()?);
        Self::MEASURED.contains(&kind).then_some(kind)
    }

    /// As it is stored.
    pub(crate) fn word(self) -> String {
        format!("{}-{}", self.operation.name(), self.bytes)
    }
}

impl fmt::Display for SortKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { operation, bytes } = self;
        let what = match operation {
            Operation::Keys => "keys",
            Operation::Rows => "short rows of keys",
            Operation::Oblivious => "oblivious sorts of keys",
            Operation::Pairs => "pairs",
            Operation::Argsort => "argsort of keys",
        };
        f.pad(&format!("{what} of {bytes} bytes"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::Segments;

    #[test]
    fn requests_belong_to_the_kind_that_was_measured_for_them_or_to_none() {
        let one = Segments::one(1 << 20);
        let rows = |row_length| Segments::rows(1 << 20, row_length).unwrap();
        let keys = Request::keys::<f32>(one);
        let pairs = Request::pairs::<u32, f32>(one);
        for (request, word) in [
            (keys, Some("keys-4")),
            (Request::keys::<i64>(rows(1 << 20)), Some("keys-8")),
            (Request::keys::<u16>(one), None),
            (Request { oblivious: true, ..keys }, Some("oblivious-4")),
            (Request { oblivious: true, ..pairs }, None),
            (Request::keys::<u32>(rows(64)), Some("rows-4")),
            (Request::keys::<u32>(rows(1 << 19)), None),
            (pairs, Some("pairs-8")),
            (Request::pairs::<u32, u64>(one), Some("pairs-16")),
            (Request::pairs::<f64, u32>(one), Some("pairs-16")),
            (Request::pairs::<u128, u32>(one), None),
            (Request { stable: true, ..pairs }, Some("argsort-4")),
            (Request::pairs::<u64, [u8; 3]>(one), Some("argsort-8")),
            (Request::argsort::<u128>(one), None),
            (Request::top::<f32>(one, 50), None),
        ] {
            assert_eq!(SortKind::of(&request).map(SortKind::word).as_deref(), word, "{request:?}");
        }
    }

    #[test]
    fn words_are_read_again() {
        for &kind in SortKind::MEASURED {
            assert_eq!(SortKind::parse(&kind.word()), Some(kind));
        }
        for word in ["", "keys", "keys-3", "keys-x", "other-4"] {
            assert_eq!(SortKind::parse(word), None, "{word}");
        }
    }
}
