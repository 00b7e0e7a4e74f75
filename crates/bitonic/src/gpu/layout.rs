//! What an element is: a key and what travels with it, as one unsigned integer. See `kernels/element.c`.

use crate::key::{Key, KeyForm, Order, plain_number_bytes};

/// The bits of an element, and where its value comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Layout {
    /// 8, 16, 32, 64 or 128.
    pub(crate) key_bits: u32,
    /// 0, 32 or 64.
    pub(crate) value_bits: u32,
    /// Whether the first pass makes the values: each the index of its key.
    pub(crate) indexed: bool,
}

impl Layout {
    /// Keys alone.
    pub(crate) fn keys<K: Key>() -> Self {
        Self { key_bits: 8 * size_of::<K>() as u32, value_bits: 0, indexed: false }
    }

    /// Keys with values of 4 or 8 bytes; `None` for other sizes.
    pub(crate) fn pairs<K: Key>(value_bytes: usize) -> Option<Self> {
        matches!(value_bytes, 4 | 8).then(|| Self { value_bits: 8 * value_bytes as u32, ..Self::keys::<K>() })
    }

    /// Keys with values that travel with them: plain numbers, in sorts that need not be stable. `None` for all others, which
    /// are put in place by the [indices](Self::indexed) of their keys.
    pub(crate) fn carrying<K: Key, V>(stable: bool) -> Option<Self> {
        plain_number_bytes::<V>().and_then(Self::pairs::<K>).filter(|_| !stable)
    }

    /// Keys with the index of each below it: sorted, they are in stable order.
    pub(crate) fn indexed<K: Key>(row_length: usize) -> Self {
        Self { indexed: true, ..Self::keys::<K>() }.for_rows_of(row_length)
    }

    /// The same for rows of another length, which may need wider or narrower indices.
    pub(crate) fn for_rows_of(self, row_length: usize) -> Self {
        let value_bits = match (self.indexed, u32::try_from(row_length)) {
            (false, _) => self.value_bits,
            (true, Ok(_)) => 32,
            (true, Err(_)) => 64,
        };
        Self { value_bits, ..self }
    }

    /// What an element takes in registers and local memory.
    pub(crate) fn element_bytes(self) -> usize {
        match (self.key_bits, self.value_bits) {
            (..=32, 0) => 4,
            (128, 1..) => 24,
            (128, 0) | (_, 64) | (64, 1..) => 16,
            _ => 8,
        }
    }

    pub(crate) fn key_bytes(self) -> usize {
        self.key_bits as usize / 8
    }

    pub(crate) fn value_bytes(self) -> usize {
        self.value_bits as usize / 8
    }

    /// What an element takes in the arrays.
    pub(crate) fn stored_bytes(self) -> usize {
        self.key_bytes() + self.value_bytes()
    }
}

/// How keys become ordered bits in the first load, and keys again in the last store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Mapping {
    bits: u32,
}

/// Bits of `mapping` in `kernels/element.c`.
const SIGNED_KEYS: u32 = 1;
const FLOAT_KEYS: u32 = 2;
const DESCENDING: u32 = 4;
const STORE_SHIFT: u32 = 3;

impl Mapping {
    pub(crate) fn new<K: Key>(order: Order) -> Self {
        let form = match K::TYPE.form() {
            KeyForm::Unsigned => 0,
            KeyForm::Signed => SIGNED_KEYS,
            KeyForm::Float => FLOAT_KEYS,
        };
        let direction = match order {
            Order::Ascending => 0,
            Order::Descending => DESCENDING,
        };
        Self { bits: form | direction }
    }

    /// The kernel's argument for a pass.
    pub(crate) fn argument(self, first: bool, last: bool) -> u32 {
        let load = if first { self.bits } else { 0 };
        let store = if last { self.bits << STORE_SHIFT } else { 0 };
        load | store
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_are_as_wide_as_key_and_value_need() {
        let bytes = |key_bits, value_bits| Layout { key_bits, value_bits, indexed: false }.element_bytes();
        assert_eq!([bytes(8, 0), bytes(16, 0), bytes(32, 0), bytes(64, 0), bytes(128, 0)], [4, 4, 4, 8, 16]);
        assert_eq!([bytes(8, 32), bytes(32, 32), bytes(64, 32), bytes(128, 32)], [8, 8, 16, 24]);
        assert_eq!([bytes(8, 64), bytes(32, 64), bytes(64, 64), bytes(128, 64)], [16, 16, 16, 24]);
    }
}
