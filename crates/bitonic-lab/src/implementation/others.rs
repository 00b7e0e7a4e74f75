//! Other sorts to compare with, and one that is wrong on purpose.

use bitonic::key::Key;
use rayon::slice::ParallelSliceMut;

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
            Self::Standard => keys.sort_unstable_by_key(|key| key.to_ordered_bits()),
            Self::StandardStable => keys.sort_by_key(|key| key.to_ordered_bits()),
            Self::Rayon => keys.par_sort_unstable_by_key(|key| key.to_ordered_bits()),
            Self::PlantedFault => {
                keys.sort_unstable_by_key(|key| key.to_ordered_bits());
                if let [.., last_but_one, last] = keys {
                    std::mem::swap(last_but_one, last);
                }
            }
        }
    }
}
