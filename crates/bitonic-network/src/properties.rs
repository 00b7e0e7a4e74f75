//! The closed formulas for the size and the depth of the generated networks.
//!
//! [`Network::size`](crate::Network::size) and [`Network::depth`](crate::Network::depth) count; the functions
//! here say what the count must be without generating anything, exactly and for every `usize`. The tests hold
//! one against the other. Throughout, n is the number of wires and m = ceil(log2 n).

use crate::Kind;
use crate::best;
use crate::kind::greatest_power_of_two_below;

impl Kind {
    /// The number of comparators on `wires` wires by formula; `None` where there is no closed formula.
    ///
    /// ```
    /// use bitonic_network::Kind;
    ///
    /// assert_eq!(Kind::Bitonic.size(1 << 20), Some(210 * (1 << 19)));
    /// ```
    pub fn size(self, wires: usize) -> Option<u128> {
        let n = wires as u128;
        match self {
            Self::Bitonic => Some(bitonic_size(wires)),
            Self::BitonicAlternating => wires.is_power_of_two().then(|| bitonic_size(wires)),
            Self::OddEvenMergeSort => Some(odd_even_merge_sort_size(wires)),
            Self::OddEvenTransposition
            | Self::Insertion
            | Self::InsertionParallel
            | Self::Bubble
            | Self::BubbleParallel => Some(neighbour_sort_size(wires)),
            Self::BitonicMerge => Some(bitonic_merge_size(wires)),
            Self::BitonicCleaner => wires.is_power_of_two().then(|| bitonic_merge_size(wires)),
            Self::OddEvenMerge => Some(odd_even_merge_size(wires)),
            Self::HalfCleaner => wires.is_multiple_of(2).then_some(n / 2),
            Self::Smallest => best::SMALLEST_SIZES.get(wires).map(|&size| size as u128),
            Self::Shallowest => None,
        }
    }

    /// The number of stages on `wires` wires by formula; `None` where there is no closed formula.
    ///
    /// ```
    /// use bitonic_network::Kind;
    ///
    /// assert_eq!(Kind::Bitonic.depth(1 << 20), Some(210));
    /// ```
    pub fn depth(self, wires: usize) -> Option<u128> {
        match self {
            Self::Bitonic | Self::BitonicAlternating | Self::OddEvenMergeSort => Some(bitonic_depth(wires)),
            Self::OddEvenTransposition => Some(transposition_depth(wires)),
            Self::Insertion | Self::Bubble => Some(neighbour_sort_size(wires)),
            Self::InsertionParallel | Self::BubbleParallel => Some(parallel_insertion_depth(wires)),
            Self::BitonicMerge | Self::OddEvenMerge => Some(u128::from(ceil_log2(wires))),
            Self::BitonicCleaner => wires.is_power_of_two().then(|| u128::from(ceil_log2(wires))),
            Self::HalfCleaner => wires.is_multiple_of(2).then_some(u128::from(wires > 0)),
            Self::Smallest => None,
            Self::Shallowest => best::SMALLEST_DEPTHS.get(wires).map(|&depth| depth as u128),
        }
    }
}

/// ceil(log2 n), the number of merges in a row that sort n wires; 0 for n = 0 and n = 1.
pub fn ceil_log2(n: usize) -> u32 {
    if n < 2 { 0 } else { (n - 1).ilog2() + 1 }
}

/// The depth of both bitonic sorters and of odd-even merge sort: 1 + 2 + .. + m = m(m+1)/2.
pub fn bitonic_depth(n: usize) -> u128 {
    let m = u128::from(ceil_log2(n));
    m * (m + 1) / 2
}

/// The size of the bitonic sorter in flip form.
///
/// A stage at distance 2^j, and the flip stage of the merge of 2^(j+1) wires, has one comparator for every wire
/// number below n with bit j set, its upper end; there are m - j such stages. For n = 2^m that is n/2
/// comparators in each of m(m+1)/2 stages.
pub fn bitonic_size(n: usize) -> u128 {
    let m = ceil_log2(n);
    (0..m).map(|j| u128::from(m - j) * numbers_with_bit(n, j)).sum()
}

/// The size of the bitonic merge: one stage for each bit; (n/2) log2 n for a power of two.
pub fn bitonic_merge_size(n: usize) -> u128 {
    (0..ceil_log2(n)).map(|j| numbers_with_bit(n, j)).sum()
}

/// The size of Batcher's odd-even merge sort; for n = 2^m it is (m^2 - m + 4) 2^(m-2) - 1.
///
/// The merges of runs of p wires cost p log2 p + 1 each where both runs are whole, and
/// [`odd_even_merge_size`] of what is left at the end where that is more than one run.
pub fn odd_even_merge_sort_size(n: usize) -> u128 {
    (0..ceil_log2(n))
        .map(|log_run| {
            let run = 1_usize << log_run;
            let whole = (n >> log_run >> 1) as u128;
            let rest = n - (n >> log_run >> 1 << log_run << 1);
            let last = if rest > run { odd_even_merge_size(rest) } else { 0 };
            whole * (u128::from(log_run) * run as u128 + 1) + last
        })
        .sum()
}

/// The size of the odd-even merge of the greatest power of two p below n with the other n - p wires.
///
/// The first stage has n - p comparators. A stage at distance 2^j < p has one for every wire number from
/// 2^(j+1) on with bit j clear, its upper end.
pub fn odd_even_merge_size(n: usize) -> u128 {
    let run = greatest_power_of_two_below(n);
    if run == 0 {
        return 0;
    }
    let later = (0..run.ilog2()).map(|j| n as u128 - numbers_with_bit(n, j) - (1 << j));
    (n - run) as u128 + later.sum::<u128>()
}

/// The size of every sorter that compares neighbours only, without waste: one comparator for each pair of keys
/// that can be out of order, n(n-1)/2. Insertion, bubble and odd-even transposition have it.
pub fn neighbour_sort_size(n: usize) -> u128 {
    n as u128 * (n as u128).saturating_sub(1) / 2
}

/// The depth of parallelised insertion or bubble sort: 2n - 3 for n >= 2, when the last key starts its way at
/// stage n - 1 and passes n - 1 comparators.
pub fn parallel_insertion_depth(n: usize) -> u128 {
    (2 * n as u128).saturating_sub(3)
}

/// The depth of odd-even transposition: n phases, of which two wires or fewer leave one empty.
pub fn transposition_depth(n: usize) -> u128 {
    if n > 2 { n as u128 } else { (n as u128).saturating_sub(1) }
}

/// How many of the numbers 0..n have bit j set.
fn numbers_with_bit(n: usize, j: u32) -> u128 {
    let whole_periods = (n as u128) >> (j + 1) << j;
    let rest = n as u128 & ((2 << j) - 1);
    whole_periods + rest.saturating_sub(1 << j)
}
