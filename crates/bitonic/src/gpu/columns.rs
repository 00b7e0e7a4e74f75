//! Columnsort: which matrix an array is laid out in. What its passes do stands in `kernels/column.c`.

use super::layout::Layout;
use super::shape::{DeviceLimits, local_bytes};

/// The matrix of a columnsort.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Columns {
    /// The base-2 logarithm of the elements in a column: a tile.
    pub(crate) tile_log2: u32,
    /// The base-2 logarithm of the new columns that every column is dealt to.
    pub(crate) dealt_log2: u32,
    /// The base-2 logarithm of the work-groups that share a new column.
    pub(crate) cluster_log2: u32,
    /// How many shifts the last part takes.
    pub(crate) rounds: u32,
    /// The base-2 logarithm of the elements that a work-item holds when a column is dealt, gathered, spread, and shifted.
    pub(crate) held_log2: [u32; 4],
}

impl Columns {
    const fn new(
        tile_log2: u32,
        dealt_log2: u32,
        cluster_log2: u32,
        rounds: u32,
        held_log2: [u32; 4],
    ) -> Self {
        Self { tile_log2, dealt_log2, cluster_log2, rounds, held_log2 }
    }

    /// The smallest matrix for an array of this length; none if the device has none, or the array is so short that more than
    /// half of every new column would be empty.
    pub(crate) fn of_length(limits: DeviceLimits, layout: Layout, length: usize) -> Option<Self> {
        let table = table(layout.element_bytes());
        table
            .iter()
            .copied()
            .find(|columns| columns.length() >= length && columns.is_possible(limits, layout))
            .filter(|columns| 2 * columns.columns(length) >= 1 << columns.dealt_log2)
    }

    /// All matrices for elements of a width.
    #[cfg(test)]
    pub(crate) fn all(layout: Layout) -> &'static [Self] {
        table(layout.element_bytes())
    }

    /// The largest matrix of a device.
    pub(crate) fn largest(limits: DeviceLimits, layout: Layout) -> Option<Self> {
        let table = table(layout.element_bytes());
        table.iter().copied().rev().find(|columns| columns.is_possible(limits, layout))
    }

    /// The most elements that it sorts.
    pub(crate) fn length(self) -> usize {
        self.most_columns() << self.tile_log2
    }

    /// The most columns: as many as fit a new column, a part of each of them, and as the theorem allows.
    pub(crate) fn most_columns(self) -> usize {
        let fit = 1_usize << (self.dealt_log2 + self.cluster_log2);
        let reached = (self.rounds as usize) << (self.tile_log2 - 1);
        fit.min(reached / ((1 << self.dealt_log2) - 1) + 1)
    }

    /// The columns of a chunk.
    pub(crate) fn columns(self, length: usize) -> usize {
        length.div_ceil(1 << self.tile_log2)
    }

    /// Elements of working memory for every chunk of this length.
    pub(crate) fn work(self, length: usize) -> usize {
        (self.columns(length) + 1) << self.tile_log2
    }

    /// The base-2 logarithm of the sorted runs that a column is gathered in.
    pub(crate) fn run_log2(self) -> u32 {
        self.tile_log2 - self.dealt_log2
    }

    fn is_possible(self, limits: DeviceLimits, layout: Layout) -> bool {
        limits.second_array
            && (self.cluster_log2 == 0 || limits.most_cluster_log2 >= self.cluster_log2)
            && local_bytes(self.tile_log2, layout.element_bytes()) <= limits.local_bytes
            && self.held_log2.iter().all(|held| 1 << (self.tile_log2 - held) <= limits.group_size)
    }
}

/// The matrices for elements of a width, from small to large: the smaller a column, the more multiprocessors have one; the
/// larger, the fewer rounds. Those for 4 and 8 bytes were measured best on an NVIDIA H200; wider elements
/// have the smaller of these, with fewer elements to a work-item, which were not measured.
fn table(element_bytes: usize) -> &'static [Columns] {
    const WORDS: [Columns; 8] = [
        Columns::new(11, 4, 0, 1, [4; 4]),
        Columns::new(11, 5, 0, 1, [4; 4]),
        Columns::new(12, 5, 0, 1, [4; 4]),
        Columns::new(12, 5, 1, 1, [4; 4]),
        Columns::new(13, 6, 0, 1, [5, 5, 5, 4]),
        Columns::new(13, 6, 1, 2, [5, 5, 5, 4]),
        Columns::new(14, 7, 0, 2, [5; 4]),
        Columns::new(15, 7, 0, 1, [5; 4]),
    ];
    const DOUBLE_WORDS: [Columns; 7] = [
        Columns::new(10, 4, 0, 1, [3; 4]),
        Columns::new(11, 5, 0, 1, [3; 4]),
        Columns::new(12, 5, 0, 1, [4; 4]),
        Columns::new(12, 5, 1, 1, [4; 4]),
        Columns::new(13, 6, 0, 1, [4; 4]),
        Columns::new(13, 6, 1, 2, [4; 4]),
        Columns::new(14, 7, 0, 2, [4; 4]),
    ];
    const LARGER: [Columns; 4] = [
        Columns::new(10, 4, 0, 1, [3; 4]),
        Columns::new(11, 5, 0, 1, [3; 4]),
        Columns::new(12, 5, 0, 1, [3; 4]),
        Columns::new(13, 6, 0, 1, [3; 4]),
    ];
    match element_bytes {
        4 => &WORDS,
        8 => &DOUBLE_WORDS,
        _ => &LARGER,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const ALL: DeviceLimits = DeviceLimits::FULL_GPU;

    /// The passes on plain memory, with the places of the kernels.
    fn columnsort(columns: Columns, values: &mut [u8]) {
        let tile = 1_usize << columns.tile_log2;
        let (new_columns, run) = (1_usize << columns.dealt_log2, 1_usize << columns.run_log2());
        let count = values.len() / tile;
        let mut work = vec![0; values.len()];
        for (column, elements) in values.chunks_mut(tile).enumerate() {
            elements.sort_unstable();
            for (place, &element) in elements.iter().enumerate() {
                work[(place % new_columns * count + column) * run + place / new_columns] = element;
            }
        }
        for (new_column, elements) in work.chunks_mut(count * run).enumerate() {
            elements.sort_unstable();
            for (place, &element) in elements.iter().enumerate() {
                values[place / run * tile + new_column * run + place % run] = element;
            }
        }
        values.chunks_mut(tile).for_each(<[u8]>::sort_unstable);
        for round in 0..columns.rounds {
            let offset = if round % 2 == 0 { tile / 2 } else { 0 };
            let end = values.len() - offset;
            values[offset..end].chunks_mut(tile).for_each(<[u8]>::sort_unstable);
        }
    }

    /// Small matrices with the same bounds as those of the tables, and some that need more rounds.
    fn small() -> impl Strategy<Value = Columns> {
        (3_u32..8, 1_u32..4, 0_u32..3, 1_u32..4).prop_filter_map(
            "runs of at least one element",
            |(tile_log2, dealt_log2, cluster_log2, rounds)| {
                (dealt_log2 < tile_log2)
                    .then(|| Columns::new(tile_log2, dealt_log2, cluster_log2, rounds, [1; 4]))
            },
        )
    }

    proptest! {
        /// By the 0-1 principle, what sorts zeros and ones sorts everything; these are random ones with every share of ones.
        #[test]
        fn as_many_columns_as_a_matrix_says_are_sorted(
            columns in small(),
            share in 0_u32..=100,
            seed in any::<u64>(),
        ) {
            let mut state = seed | 1;
            let mut values: Vec<u8> = (0..columns.most_columns() << columns.tile_log2)
                .map(|_| {
                    state ^= state << 13;
                    state ^= state >> 7;
                    state ^= state << 17;
                    u8::from(state % 100 < u64::from(share))
                })
                .collect();
            let mut expected = values.clone();
            expected.sort_unstable();
            columnsort(columns, &mut values);
            prop_assert!(values == expected, "{:?}", columns);
        }

        /// Columns that differ as much as they can in how their ones are dealt: the case of which the bound speaks.
        #[test]
        fn the_worst_zeros_and_ones_are_sorted(
            columns in small(),
            zeros in prop::collection::vec(any::<u16>(), 64),
        ) {
            let tile = 1_usize << columns.tile_log2;
            let mut values = Vec::new();
            for column in 0..columns.most_columns() {
                let zeros = zeros[column % zeros.len()] as usize % (tile + 1);
                values.extend((0..tile).map(|place| u8::from(place >= zeros)));
            }
            let mut expected = values.clone();
            expected.sort_unstable();
            columnsort(columns, &mut values);
            prop_assert!(values == expected, "{:?}", columns);
        }
    }

    #[test]
    fn more_columns_than_the_theorem_allows_need_more_rounds() {
        let columns = Columns::new(3, 2, 1, 1, [1; 4]);
        assert_eq!(columns.most_columns(), 2);
        let values: Vec<u8> = (0..8 * 8).map(|place| u8::from(place % 8 > 0)).collect();
        let sorted_after = |rounds| {
            let mut result = values.clone();
            columnsort(Columns { rounds, ..columns }, &mut result);
            result.is_sorted()
        };
        assert!(!sorted_after(1));
        assert!(sorted_after(6), "half a column each, and all zeros within three columns");
    }

    #[test]
    fn every_matrix_of_the_tables_has_whole_runs_in_registers_and_grows() {
        for element_bytes in [4, 8, 16, 24] {
            let table = table(element_bytes);
            for columns in table {
                assert_eq!(
                    columns.most_columns(),
                    1 << (columns.dealt_log2 + columns.cluster_log2),
                    "{columns:?}"
                );
                assert!(columns.held_log2.iter().all(|&held| held <= columns.run_log2()), "{columns:?}");
                assert!(columns.held_log2[1] >= columns.cluster_log2, "{columns:?}");
                assert!(local_bytes(columns.tile_log2, element_bytes) <= ALL.local_bytes, "{columns:?}");
            }
            assert!(table.windows(2).all(|pair| pair[0].length() < pair[1].length()));
        }
    }

    #[test]
    fn the_smallest_matrix_that_the_device_can_run_is_taken() {
        let keys = Layout::keys::<u32>();
        let log2 = |limits, length| {
            Columns::of_length(limits, keys, length).map(|columns| (columns.tile_log2, columns.cluster_log2))
        };
        assert_eq!(log2(ALL, 7 << 11), None, "seven of sixteen columns");
        assert_eq!(log2(ALL, 1 << 14), Some((11, 0)));
        assert_eq!(log2(ALL, 1 << 16), Some((11, 0)));
        assert_eq!(log2(ALL, (1 << 16) + 1), Some((12, 0)));
        assert_eq!(log2(ALL, 1 << 20), Some((13, 1)));
        assert_eq!(log2(DeviceLimits { most_cluster_log2: 0, ..ALL }, 1 << 20), Some((14, 0)));
        assert_eq!(log2(DeviceLimits { local_bytes: 48 << 10, ..ALL }, 1 << 20), Some((13, 1)));
        assert_eq!(log2(DeviceLimits { local_bytes: 48 << 10, ..ALL }, (1 << 20) + 1), None);
        assert_eq!(log2(DeviceLimits { second_array: false, ..ALL }, 1 << 16), None);
        assert_eq!(Columns::largest(ALL, keys).map(Columns::length), Some(1 << 22));
    }
}
