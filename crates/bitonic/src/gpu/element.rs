//! What an element is: a key and what travels with it, as one unsigned integer. See `kernels/element.c`.

use crate::key::{KeyForm, KeyType, Order};
use crate::request::index_bytes;

/// The bits of an element, and where its value comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Element {
    /// 8, 16, 32, 64 or 128.
    pub(crate) key_bits: u32,
    /// 0, 32 or 64.
    pub(crate) value_bits: u32,
    /// Whether the first pass makes the values: each the index of its key in its segment.
    pub(crate) indexed: bool,
}

impl Element {
    /// Keys alone.
    pub(crate) const fn keys(key: KeyType) -> Self {
        Self { key_bits: 8 * key.bytes() as u32, value_bits: 0, indexed: false }
    }

    /// Keys with values of 4 or 8 bytes.
    pub(crate) const fn pairs(key: KeyType, value_bytes: usize) -> Self {
        Self { value_bits: 8 * value_bytes as u32, ..Self::keys(key) }
    }

    /// Keys with the index of each below it: sorted, they are in stable order.
    pub(crate) fn indexed(key: KeyType, segment_length: usize) -> Self {
        Self { indexed: true, ..Self::keys(key) }.for_segments_of(segment_length)
    }

    /// The same for segments of another length, which may need wider or narrower indices.
    pub(crate) fn for_segments_of(self, segment_length: usize) -> Self {
        let value_bits = if self.indexed { 8 * index_bytes(segment_length) as u32 } else { self.value_bits };
        Self { value_bits, ..self }
    }

    /// What an element takes in registers and local memory.
    pub(crate) const fn bytes(self) -> usize {
        match (self.key_bits, self.value_bits) {
            (..=32, 0) => 4,
            (128, 1..) => 24,
            (128, 0) | (_, 64) | (64, 1..) => 16,
            _ => 8,
        }
    }

    pub(crate) const fn key_bytes(self) -> usize {
        self.key_bits as usize / 8
    }

    pub(crate) const fn value_bytes(self) -> usize {
        self.value_bits as usize / 8
    }

    /// What an element takes in the arrays.
    pub(crate) const fn stored_bytes(self) -> usize {
        self.key_bytes() + self.value_bytes()
    }
}

/// How keys become ordered bits in the first load, and keys again in the last store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Mapping {
    bits: u32,
}

/// The bits of a mapping, as the kernels are told them.
const SIGNED_KEYS: u32 = 1;
const FLOAT_KEYS: u32 = 2;
const DESCENDING: u32 = 4;
const NAN_LAST: u32 = 8;
const FEW_NANS: u32 = 16;
/// Mappings on store are this many bits above those on load.
const STORE_SHIFT: u32 = 5;

impl Mapping {
    /// What `kernels/element.c` needs to know of these bits.
    pub(crate) const CONSTANTS: [(&'static str, u32); 6] = [
        ("SIGNED_KEYS", SIGNED_KEYS),
        ("FLOAT_KEYS", FLOAT_KEYS),
        ("DESCENDING", DESCENDING),
        ("NAN_LAST", NAN_LAST),
        ("FEW_NANS", FEW_NANS),
        ("STORE_SHIFT", STORE_SHIFT),
    ];

    /// The mapping of keys of this type for an order, with NaNs of both signs last if asked for.
    pub(crate) fn new(key: KeyType, order: Order, nan_last: bool) -> Self {
        let form = match key.form() {
            KeyForm::Unsigned => 0,
            KeyForm::Signed => SIGNED_KEYS,
            KeyForm::Float => FLOAT_KEYS,
        };
        let direction = match order {
            Order::Ascending => 0,
            Order::Descending => DESCENDING,
        };
        let nans = match key {
            _ if !nan_last || key.nans() == 0 => 0,
            KeyType::Bf16 | KeyType::F8E4M3 => NAN_LAST | FEW_NANS,
            _ => NAN_LAST,
        };
        Self { bits: form | direction | nans }
    }

    /// The kernel's argument for a pass.
    pub(crate) const fn argument(self, first: bool, last: bool) -> u32 {
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
        let bytes = |key_bits, value_bits| Element { key_bits, value_bits, indexed: false }.bytes();
        assert_eq!([bytes(8, 0), bytes(16, 0), bytes(32, 0), bytes(64, 0), bytes(128, 0)], [4, 4, 4, 8, 16]);
        assert_eq!([bytes(8, 32), bytes(32, 32), bytes(64, 32), bytes(128, 32)], [8, 8, 16, 24]);
        assert_eq!([bytes(8, 64), bytes(32, 64), bytes(64, 64), bytes(128, 64)], [16, 16, 16, 24]);
    }
}
