//! Other sorts to compare with, and one that is wrong on purpose.

use bitonic::Order;
use bitonic::key::{Key, KeysMut};
use bitonic::with_keys;
use rayon::slice::ParallelSliceMut;
use std::cmp::Reverse;

/// A sort of somebody else's.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum OtherSort {
    /// `slice::sort_unstable`; floats by their total order.
    Standard,
    /// `slice::sort`, which is stable.
    StandardStable,
    /// rayon's `par_sort_unstable`, with all cores.
    Rayon,
    /// `slice::sort_unstable`, and then the last two keys change places.
    PlantedFault,
}

impl OtherSort {
    pub(super) const ALL: &[Self] = &[Self::Standard, Self::StandardStable, Self::Rayon, Self::PlantedFault];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Standard => "std",
            Self::StandardStable => "std_stable",
            Self::Rayon => "rayon",
            Self::PlantedFault => "planted_fault",
        }
    }

    pub(super) fn description(self) -> &'static str {
        match self {
            Self::Standard => "the standard library's sort_unstable",
            Self::StandardStable => "the standard library's stable sort",
            Self::Rayon => "rayon's par_sort_unstable, with all cores",
            Self::PlantedFault => "wrong on purpose, to see that verification finds it",
        }
    }

    pub(super) fn is_one_thread(self) -> bool {
        !matches!(self, Self::Rayon)
    }

    /// As fast as the same call without a function for the key: the compiler sees through the bits.
    pub(super) fn sort<K: Key>(self, keys: &mut [K]) {
        match self {
            Self::Standard => sort_unstable(keys, Order::Ascending),
            Self::StandardStable => keys.sort_by_key(|key| key.to_ordered_bits()),
            Self::Rayon => keys.par_sort_unstable_by_key(|key| key.to_ordered_bits()),
            Self::PlantedFault => {
                sort_unstable(keys, Order::Ascending);
                if let [.., last_but_one, last] = keys {
                    std::mem::swap(last_but_one, last);
                }
            }
        }
    }
}

/// Sorts every row of keys with the standard library: as fast as `sort_unstable()` alone, and for floats as
/// `sort_unstable_by(total_cmp)`, because the compiler sees through the bits.
pub fn sort_with_standard(keys: KeysMut<'_>, row_length: usize, order: Order) {
    with_keys!(keys, keys => keys.chunks_mut(row_length.max(1)).for_each(|row| sort_unstable(row, order)));
}

fn sort_unstable<K: Key>(keys: &mut [K], order: Order) {
    match order {
        Order::Ascending => keys.sort_unstable_by_key(|key| key.to_ordered_bits()),
        Order::Descending => keys.sort_unstable_by_key(|key| Reverse(key.to_ordered_bits())),
    }
}
