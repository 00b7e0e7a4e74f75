//! Sorting networks over the rows of an array of registers, unrolled.
//!
//! The lists of sorting networks are the smallest known ones, as in `bitonic-network`. Tests prove every list by the 0-1
//! principle.

use super::vector::Vector;

/// Puts the smaller keys into row `low` and the larger ones into row `high`.
///
/// # Safety
///
/// As for [`Vector`].
#[inline(always)]
unsafe fn exchange<V: Vector, const R: usize>(rows: &mut [V; R], low: usize, high: usize) {
    // SAFETY: registers only, and the caller vouches for the instructions.
    (rows[low], rows[high]) = unsafe { rows[low].min_max(rows[high]) };
}

macro_rules! row_networks {
    (
        $(#[$documentation:meta])* $function:ident, $lists:ident:
        $($rows:literal, $size:literal: $(($low:literal $high:literal))+)+
    ) => {
        $(#[$documentation])*
        ///
        /// # Safety
        ///
        /// As for [`Vector`].
        #[inline(always)]
        pub(super) unsafe fn $function<V: Vector, const R: usize>(rows: &mut [V; R]) {
            const { assert!(R == 1 $(|| R == $rows)+) };
            match R {
                $(
                    $rows => {
                        // SAFETY: registers only, and the caller vouches for the instructions.
                        unsafe { $(exchange(rows, $low, $high);)+ }
                    }
                )+
                _ => {}
            }
        }

        #[cfg(test)]
        const $lists: &[(usize, usize, &[(usize, usize)])] = &[$(($rows, $size, &[$(($low, $high)),+])),+];
    };
}

row_networks! {
    /// Sorts every lane over `R` rows, R = 1 to 16, by the smallest known network.
    sort_rows, SORTERS:
    2, 1:
        (0 1)
    3, 3:
        (0 2)
        (0 1)
        (1 2)
    4, 5:
        (0 2) (1 3)
        (0 1) (2 3)
        (1 2)
    5, 9:
        (0 3) (1 4)
        (0 2) (1 3)
        (0 1) (2 4)
        (1 2) (3 4)
        (2 3)
    6, 12:
        (0 5) (1 3) (2 4)
        (1 2) (3 4)
        (0 3) (2 5)
        (0 1) (2 3) (4 5)
        (1 2) (3 4)
    7, 16:
        (0 6) (2 3) (4 5)
        (0 2) (1 4) (3 6)
        (0 1) (2 5) (3 4)
        (1 2) (4 6)
        (2 3) (4 5)
        (1 2) (3 4) (5 6)
    8, 19:
        (0 2) (1 3) (4 6) (5 7)
        (0 4) (1 5) (2 6) (3 7)
        (0 1) (2 3) (4 5) (6 7)
        (2 4) (3 5)
        (1 4) (3 6)
        (1 2) (3 4) (5 6)
    9, 25:
        (0 3) (1 7) (2 5) (4 8)
        (0 7) (2 4) (3 8) (5 6)
        (0 2) (1 3) (4 5) (7 8)
        (1 4) (3 6) (5 7)
        (0 1) (2 4) (3 5) (6 8)
        (2 3) (4 5) (6 7)
        (1 2) (3 4) (5 6)
    10, 29:
        (0 8) (1 9) (2 7) (3 5) (4 6)
        (0 2) (1 4) (5 8) (7 9)
        (0 3) (2 4) (5 7) (6 9)
        (0 1) (3 6) (8 9)
        (1 5) (2 3) (4 8) (6 7)
        (1 2) (3 5) (4 6) (7 8)
        (2 3) (4 5) (6 7)
        (3 4) (5 6)
    11, 35:
        (0 9) (1 6) (2 4) (3 7) (5 8)
        (0 1) (3 5) (4 10) (6 9) (7 8)
        (1 3) (2 5) (4 7) (8 10)
        (0 4) (1 2) (3 7) (5 9) (6 8)
        (0 1) (2 6) (4 5) (7 8) (9 10)
        (2 4) (3 6) (5 7) (8 9)
        (1 2) (3 4) (5 6) (7 8)
        (2 3) (4 5) (6 7)
    12, 39:
        (0 8) (1 7) (2 6) (3 11) (4 10) (5 9)
        (0 1) (2 5) (3 4) (6 9) (7 8) (10 11)
        (0 2) (1 6) (5 10) (9 11)
        (0 3) (1 2) (4 6) (5 7) (8 11) (9 10)
        (1 4) (3 5) (6 8) (7 10)
        (1 3) (2 5) (6 9) (8 10)
        (2 3) (4 5) (6 7) (8 9)
        (4 6) (5 7)
        (3 4) (5 6) (7 8)
    13, 45:
        (0 12) (1 10) (2 9) (3 7) (5 11) (6 8)
        (1 6) (2 3) (4 11) (7 9) (8 10)
        (0 4) (1 2) (3 6) (7 8) (9 10) (11 12)
        (4 6) (5 9) (8 11) (10 12)
        (0 5) (3 8) (4 7) (6 11) (9 10)
        (0 1) (2 5) (6 9) (7 8) (10 11)
        (1 3) (2 4) (5 6) (9 10)
        (1 2) (3 4) (5 7) (6 8)
        (2 3) (4 5) (6 7) (8 9)
        (3 4) (5 6)
    14, 51:
        (0 1) (2 3) (4 5) (6 7) (8 9) (10 11) (12 13)
        (0 2) (1 3) (4 8) (5 9) (10 12) (11 13)
        (0 4) (1 2) (3 7) (5 8) (6 10) (9 13) (11 12)
        (0 6) (1 5) (3 9) (4 10) (7 13) (8 12)
        (2 10) (3 11) (4 6) (7 9)
        (1 3) (2 8) (5 11) (6 7) (10 12)
        (1 4) (2 6) (3 5) (7 11) (8 10) (9 12)
        (2 4) (3 6) (5 8) (7 10) (9 11)
        (3 4) (5 6) (7 8) (9 10)
        (6 7)
    15, 56:
        (1 2) (3 10) (4 14) (5 8) (6 13) (7 12) (9 11)
        (0 14) (1 5) (2 8) (3 7) (6 9) (10 12) (11 13)
        (0 7) (1 6) (2 9) (4 10) (5 11) (8 13) (12 14)
        (0 6) (2 4) (3 5) (7 11) (8 10) (9 12) (13 14)
        (0 3) (1 2) (4 7) (5 9) (6 8) (10 11) (12 13)
        (0 1) (2 3) (4 6) (7 9) (10 12) (11 13)
        (1 2) (3 5) (8 10) (11 12)
        (3 4) (5 6) (7 8) (9 10)
        (2 3) (4 5) (6 7) (8 9) (10 11)
        (5 6) (7 8)
    16, 60:
        (0 13) (1 12) (2 15) (3 14) (4 8) (5 6) (7 11) (9 10)
        (0 5) (1 7) (2 9) (3 4) (6 13) (8 14) (10 15) (11 12)
        (0 1) (2 3) (4 5) (6 8) (7 9) (10 11) (12 13) (14 15)
        (0 2) (1 3) (4 10) (5 11) (6 7) (8 9) (12 14) (13 15)
        (1 2) (3 12) (4 6) (5 7) (8 10) (9 11) (13 14)
        (1 4) (2 6) (5 8) (7 10) (9 13) (11 14)
        (2 4) (3 6) (9 12) (11 13)
        (3 5) (6 8) (7 9) (10 12)
        (3 4) (5 6) (7 8) (9 10) (11 12)
        (6 7) (8 9)
}

row_networks! {
    /// Sorts every lane over `R` rows if its keys are bitonic: rising then falling, falling then rising, or a
    /// rotation of that. R = 1 to 8, 10, 12, 14 or 16.
    ///
    /// Half-cleaners as long as R is even, then, for an odd number of rows, the smallest network that a
    /// search found for bitonic inputs of that length.
    clean_rows, CLEANERS:
    2, 1:
        (0 1)
    3, 3:
        (0 2) (0 1) (1 2)
    4, 4:
        (0 2) (1 3) (0 1) (2 3)
    5, 8:
        (0 2) (1 3) (0 1) (2 3) (0 4) (1 4) (2 4) (3 4)
    6, 9:
        (0 3) (1 4) (2 5) (0 2) (0 1) (1 2) (3 5) (3 4) (4 5)
    7, 12:
        (0 2) (3 6) (4 5) (0 4) (1 5) (2 6) (1 3) (2 4) (5 6) (0 1) (2 3) (4 5)
    8, 12:
        (0 4) (1 5) (2 6) (3 7) (0 2) (1 3) (0 1) (2 3) (4 6) (5 7) (4 5) (6 7)
    10, 21:
        (0 5) (1 6) (2 7) (3 8) (4 9) (0 2) (1 3) (0 1) (2 3) (0 4) (1 4) (2 4) (3 4) (5 7) (6 8) (5 6)
        (7 8) (5 9) (6 9) (7 9) (8 9)
    12, 24:
        (0 6) (1 7) (2 8) (3 9) (4 10) (5 11) (0 3) (1 4) (2 5) (0 2) (0 1) (1 2) (3 5) (3 4) (4 5) (6 9)
        (7 10) (8 11) (6 8) (6 7) (7 8) (9 11) (9 10) (10 11)
    14, 31:
        (0 7) (1 8) (2 9) (3 10) (4 11) (5 12) (6 13) (0 2) (3 6) (4 5) (0 4) (1 5) (2 6) (1 3) (2 4) (5 6)
        (0 1) (2 3) (4 5) (7 9) (10 13) (11 12) (7 11) (8 12) (9 13) (8 10) (9 11) (12 13) (7 8) (9 10)
        (11 12)
    16, 32:
        (0 8) (1 9) (2 10) (3 11) (4 12) (5 13) (6 14) (7 15) (0 4) (1 5) (2 6) (3 7) (0 2) (1 3) (0 1)
        (2 3) (4 6) (5 7) (4 5) (6 7) (8 12) (9 13) (10 14) (11 15) (8 10) (9 11) (8 9) (10 11) (12 14)
        (13 15) (12 13) (14 15)
}

row_networks! {
    /// Merges in every lane two ascending runs of R/2 rows each: a flip, then half-cleaners. R = 1, 2, 4, 8 or 16.
    merge_rows, MERGERS:
    2, 1:
        (0 1)
    4, 4:
        (0 3) (1 2) (0 1) (2 3)
    8, 12:
        (0 7) (1 6) (2 5) (3 4) (0 2) (1 3) (4 6) (5 7) (0 1) (2 3) (4 5) (6 7)
    16, 32:
        (0 15) (1 14) (2 13) (3 12) (4 11) (5 10) (6 9) (7 8) (0 4) (1 5) (2 6) (3 7) (8 12) (9 13) (10 14)
        (11 15) (0 2) (1 3) (4 6) (5 7) (8 10) (9 11) (12 14) (13 15) (0 1) (2 3) (4 5) (6 7) (8 9) (10 11)
        (12 13) (14 15)
}

#[cfg(test)]
mod tests {
    use super::*;
    use bitonic_network::{Comparator, Network};

    fn network(rows: usize, size: usize, list: &[(usize, usize)]) -> Network {
        let comparators = list.iter().map(|&(low, high)| Comparator::new(low, high));
        let network = Network::parallelised(rows, comparators).unwrap();
        assert_eq!(network.size(), size);
        network
    }

    #[test]
    fn every_list_sorts_and_has_the_size_it_says() {
        assert_eq!(SORTERS.iter().map(|list| list.0).collect::<Vec<_>>(), (2..=16).collect::<Vec<_>>());
        for &(rows, size, list) in SORTERS {
            assert!(network(rows, size, list).prove().is_ok(), "{rows} rows");
        }
    }

    #[test]
    fn every_cleaner_sorts_all_bitonic_inputs() {
        for &(rows, size, list) in CLEANERS {
            assert!(network(rows, size, list).prove_bitonic_merge().is_ok(), "{rows} rows");
        }
    }

    #[test]
    fn every_merger_merges_all_pairs_of_runs() {
        for &(rows, size, list) in MERGERS {
            assert!(network(rows, size, list).prove_merge(rows / 2).is_ok(), "{rows} rows");
        }
    }
}
