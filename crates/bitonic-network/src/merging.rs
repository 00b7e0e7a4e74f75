//! [`Merging`]: the two ways to merge, and the networks that are given by two numbers: merges of runs of any
//! lengths, and selections of the k largest keys.

use std::fmt;

use crate::generate::{merge, selection};
use crate::properties::ceil_log2;
use crate::{GenerateError, MAX_COMPARATORS, Network};

/// How two ascending runs are merged.
///
/// All comparators of its networks put the smaller key on the lower wire.
///
/// ```
/// use bitonic_network::Merging;
///
/// let merge = Merging::Bitonic.merge(3, 5)?;
/// merge.prove_merge(3)?;
///
/// let top = Merging::Bitonic.top_k(16, 4)?;
/// assert_eq!((top.size(), top.depth()), (48, 9));
/// assert_eq!(
///     top.prove_top_k(4)?.to_string(),
///     "proved: the network selects the 4 largest keys, ascending, on its last 4 wires \
///      (all 2^16 0-1 inputs, as 65536 cases)"
/// );
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Merging {
    /// By a flip and half-cleaners: regular, the form that runs on vector units and GPUs.
    #[default]
    Bitonic,
    /// By Batcher's odd-even merge: as few stages, and at most as many comparators.
    OddEven,
}

impl Merging {
    /// Both ways.
    pub const ALL: [Self; 2] = [Self::Bitonic, Self::OddEven];

    /// The network that merges an ascending run on the first `first` wires with one on the next `second` wires.
    ///
    /// The runs may be of any lengths. The depth is 1 + ceil(log2 of the longer), 0 if a run is empty.
    /// [`Network::prove_merge`] proves it, with `first` as the split.
    ///
    /// ```
    /// use bitonic_network::Merging;
    ///
    /// let mut keys = [2, 5, 8, 1, 3, 4, 9];
    /// Merging::OddEven.merge(3, 4)?.apply(&mut keys)?;
    /// assert_eq!(keys, [1, 2, 3, 4, 5, 8, 9]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`GenerateError::TooManyMerges`] where there could be more than [`MAX_COMPARATORS`] comparators.
    pub fn merge(self, first: usize, second: usize) -> Result<Network, GenerateError> {
        let wires = first.saturating_add(second);
        let depth = u128::from(ceil_log2(first.max(second))) + 1;
        // A stage has at most a comparator for two wires.
        check_size(wires, wires as u128 * depth / 2)?;
        Ok(merge::two_runs(first, second, self))
    }

    /// The network that puts the `k` largest of `wires` keys on its last `k` wires, in ascending order: what a
    /// sorting network would put there. What the other wires carry is not said.
    ///
    /// Both numbers may be any. It is a merge sort whose merges keep only the k largest keys of their two runs, without
    /// the comparators that no longer lead to one of the last k wires. A merge of runs whose lengths are no powers
    /// of two takes what is missing before its first wire as -infinity and what is missing behind its last as +infinity.
    /// Nothing moves these keys, so their comparators are left out, and nothing is padded.
    ///
    /// It has fewer comparators than the sorting network of the same merges for every k < n/2, and for k = n it is
    /// one. For n = 2^a and k = 2^b:
    ///
    /// - depth: b(b+1)/2 + (a - b)(b + 1), for blocks of k sorted and a - b merges in a row;
    /// - comparators, bitonic: n b(b+1)/4 + (n/k - 1)(k + k b/2), for n/k sorts and n/k - 1 merges that keep half.
    ///
    /// [`Network::prove_top_k`] proves it.
    ///
    /// ```
    /// use bitonic_network::Merging;
    ///
    /// let mut keys = [7, 1, 9, 4, 8, 2, 6];
    /// Merging::Bitonic.top_k(7, 3)?.apply(&mut keys)?;
    /// assert_eq!(keys[4..], [7, 8, 9]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`GenerateError::MoreThanAll`] if k is more than the number of wires; [`GenerateError::TooManyMerges`] where
    /// there could be more than [`MAX_COMPARATORS`] comparators.
    pub fn top_k(self, wires: usize, k: usize) -> Result<Network, GenerateError> {
        if k > wires {
            return Err(GenerateError::MoreThanAll { k, wires });
        }
        check_size(wires, most_to_select(wires, k))?;
        Ok(selection::largest(wires, k, self))
    }
}

impl fmt::Display for Merging {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Bitonic => "bitonic",
            Self::OddEven => "odd-even",
        })
    }
}

/// No fewer comparators than a selection has: bitonic sorts of k wires, then for every k wires a merge that keeps half.
fn most_to_select(wires: usize, k: usize) -> u128 {
    let m = u128::from(ceil_log2(k));
    wires as u128 * (m * (m + 1) + 2 * m + 4) / 4
}

fn check_size(wires: usize, comparators: u128) -> Result<(), GenerateError> {
    match wires as u128 > MAX_COMPARATORS || comparators > MAX_COMPARATORS {
        true => Err(GenerateError::TooManyMerges { wires }),
        false => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_selection_has_more_comparators_than_foretold() {
        for (wires, k) in (1..=100).flat_map(|wires| (0..=wires).map(move |k| (wires, k))) {
            for merging in Merging::ALL {
                let size = merging.top_k(wires, k).unwrap().size() as u128;
                assert!(size <= most_to_select(wires, k), "{merging} {wires} {k}: {size}");
            }
        }
    }
}
