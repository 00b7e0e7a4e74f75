//! Where comparators stand: the columns of every stage, shared by all drawings.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::{Comparator, Stage};

impl Stage {
    /// The comparators of this stage in as few columns as possible, such that no two in a column overlap: how they
    /// stand side by side in a drawing.
    ///
    /// From the top wire down, each comparator goes into the leftmost column that is free there: nested comparators
    /// form a fan with the longest at the left, and interleaved ones a diagonal.
    ///
    /// ```
    /// use bitonic_network::{Comparator, Stage};
    ///
    /// let c = Comparator::new;
    /// let flip = Stage::new(vec![c(0, 3), c(1, 2)])?;
    /// assert_eq!(flip.columns(), [[c(0, 3)], [c(1, 2)]]);
    /// # Ok::<(), bitonic_network::NetworkError>(())
    /// ```
    pub fn columns(&self) -> Vec<Vec<Comparator>> {
        let mut comparators = self.comparators().to_vec();
        comparators.sort_unstable_by_key(|comparator| comparator.top());

        let mut columns: Vec<Vec<Comparator>> = Vec::new();
        let mut occupied_until: BinaryHeap<Reverse<(usize, usize)>> = BinaryHeap::new();
        let mut free: BinaryHeap<Reverse<usize>> = BinaryHeap::new();
        for comparator in comparators {
            while let Some(&Reverse((bottom, column))) = occupied_until.peek()
                && bottom < comparator.top()
            {
                occupied_until.pop();
                free.push(Reverse(column));
            }
            let column = free.pop().map_or(columns.len(), |Reverse(column)| column);
            if column == columns.len() {
                columns.push(Vec::new());
            }
            columns[column].push(comparator);
            occupied_until.push(Reverse((comparator.bottom(), column)));
        }
        columns
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn stage(pairs: &[(usize, usize)]) -> Stage {
        Stage::new(pairs.iter().map(|&(min, max)| Comparator::new(min, max)).collect()).unwrap()
    }

    #[test]
    fn comparators_side_by_side_share_a_column() {
        let c = Comparator::new;
        assert_eq!(stage(&[(2, 3), (0, 1)]).columns(), [[c(0, 1), c(2, 3)]]);
    }

    #[test]
    fn a_column_is_used_again_below_the_comparators_it_holds() {
        let c = Comparator::new;
        let nested = stage(&[(0, 3), (1, 2), (7, 4), (5, 6)]);
        assert_eq!(nested.columns(), [[c(0, 3), c(7, 4)], [c(1, 2), c(5, 6)]]);
    }

    proptest! {
        #[test]
        fn every_comparator_stands_once_and_none_overlap(
            order in Just((0..40_usize).collect::<Vec<_>>()).prop_shuffle(),
            size in 0..=20_usize,
        ) {
            let pairs: Vec<Comparator> =
                order.chunks_exact(2).take(size).map(|pair| Comparator::new(pair[0], pair[1])).collect();
            let columns = Stage::new(pairs.clone()).unwrap().columns();
            for column in &columns {
                for pair in column.windows(2) {
                    prop_assert!(pair[0].bottom() < pair[1].top(), "{} overlaps {}", pair[0], pair[1]);
                }
            }
            let most_over_a_wire = (0..40).map(|wire| {
                pairs.iter().filter(|comparator| (comparator.top()..=comparator.bottom()).contains(&wire)).count()
            });
            prop_assert_eq!(columns.len(), most_over_a_wire.max().unwrap());

            let mut drawn: Vec<Comparator> = columns.concat();
            let mut given = pairs;
            drawn.sort_by_key(|c| (c.min(), c.max()));
            given.sort_by_key(|c| (c.min(), c.max()));
            prop_assert_eq!(drawn, given);
        }
    }
}
