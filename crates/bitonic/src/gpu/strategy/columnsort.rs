//! Columnsort: which matrix an array is laid out in. What its passes do stands in `kernels/column.c`.

use super::network::Network;
use super::{Candidate, Strategy, builder, copies_of, rank, steps_of_sort, tile_fits};
use crate::gpu::facts::DeviceFacts;
use crate::gpu::job::Job;
use crate::gpu::kernel::{Arrays, Number, Spec, Tile};
use crate::gpu::tuning::{MatrixRow, Measured, Tuning};
use crate::plan::{Algorithm, Launch, Parameter, Place, Step, WorkMemory};

/// Columnsort of every row, or of parts of one long row as long as it can sort, and the network to merge those.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Columnsort {
    pub(crate) matrix: MatrixRow,
    /// How what was sorted in parts is merged.
    pub(crate) network: Network,
}

/// Not for rows that share tiles. The smallest matrix that holds a row; for one longer row, the largest that there is.
pub(super) fn fit(job: &Job, facts: &DeviceFacts, tuning: &Tuning) -> Option<Candidate> {
    let network = Network::new(job, facts, tuning);
    if job.in_place
        || !facts.has_work_memory
        || job.rows > 1 && job.row_length <= 1 << network.shape.tile_log2
    {
        return None;
    }
    let (measured, width) = (Measured::of(facts), Measured::width(job.element.bytes()));
    let table = measured.matrices[width];
    let lone = if job.rows == 1 { measured.lone_matrices[width] } else { &[] };
    let smallest = || {
        let holds = |matrix: &&MatrixRow| matrix.length() >= job.row_length && matrix.fits(job, facts);
        let smallest = lone.iter().chain(table).filter(holds).min_by_key(|matrix| matrix.length());
        smallest.filter(|matrix| matrix.is_worth(job.row_length))
    };
    let largest = || {
        let is_too_short = |matrix: &&MatrixRow| job.rows == 1 && job.row_length > matrix.length();
        table.iter().rev().find(|matrix| matrix.fits(job, facts)).filter(is_too_short)
    };
    let &matrix = smallest().or_else(largest)?;
    Some(Candidate { rank: rank::COLUMNSORT, strategy: Box::new(Columnsort { matrix, network }) })
}

impl MatrixRow {
    /// The most elements that it sorts.
    pub(crate) fn length(self) -> usize {
        self.most_columns() << self.tile_log2
    }

    /// The most columns: as many as fit a new column, a part of each of them, and as the theorem allows.
    fn most_columns(self) -> usize {
        let fit = 1_usize << (self.dealt_log2 + self.cluster_log2);
        let reached = (self.rounds as usize) << (self.tile_log2 - 1);
        fit.min(reached / ((1 << self.dealt_log2) - 1) + 1)
    }

    /// How many shifts the last part takes for so many columns: as the theorem says, and one at least.
    fn rounds(self, columns: usize) -> u32 {
        let reached = columns.saturating_sub(1) * ((1 << self.dealt_log2) - 1);
        (reached.div_ceil(1 << (self.tile_log2 - 1)) as u32).max(1)
    }

    /// The columns of a part of this length.
    fn columns(self, length: usize) -> usize {
        length.div_ceil(1 << self.tile_log2)
    }

    /// Elements of working memory for every part of this length: a column more than it has.
    fn work(self, length: usize) -> usize {
        (self.columns(length) + 1) << self.tile_log2
    }

    /// The base-2 logarithm of the sorted runs that a column is gathered in.
    fn run_log2(self) -> u32 {
        self.tile_log2 - self.dealt_log2
    }

    /// Whether at least half of every new column is filled.
    fn is_worth(self, length: usize) -> bool {
        2 * self.columns(length) >= 1 << self.dealt_log2
    }

    fn fits(self, job: &Job, facts: &DeviceFacts) -> bool {
        let tile = |held_log2| Tile::new(self.tile_log2, held_log2);
        self.cluster_log2 <= facts.cluster_log2
            && self.held_log2.iter().all(|&held_log2| tile_fits(tile(held_log2), job, facts))
    }
}

impl Columnsort {
    /// What is laid out in one matrix: a row, or as much of it as fits.
    fn part_length(&self, job: &Job) -> usize {
        job.row_length.min(self.matrix.length())
    }

    fn work_elements(&self, job: &Job) -> usize {
        let part = self.part_length(job);
        job.len().div_ceil(part) * self.matrix.work(part)
    }

    /// The passes of columnsort itself; `last`, if no merges follow.
    fn columns(&self, job: &Job, facts: &DeviceFacts, last: bool) -> Vec<Launch> {
        let matrix = self.matrix;
        let measured = Measured::of(facts);
        let builder = builder(job, Arrays::WithWork, self.work_elements(job));
        let part_length = self.part_length(job);
        let parts = job.len().div_ceil(part_length);
        let most_columns = matrix.columns(part_length);
        let chunks_are_rows = u32::from(job.rows > 1);
        let launch = |pass: ColumnPass, groups: usize, mapping: u32, offset: u32| {
            let cluster_log2 = if pass == ColumnPass::Gather { matrix.cluster_log2 } else { 0 };
            let steps = match pass {
                ColumnPass::Deal => steps_of_sort(matrix.tile_log2),
                ColumnPass::Gather | ColumnPass::Spread => {
                    steps_of_sort(matrix.tile_log2) - steps_of_sort(matrix.run_log2())
                }
                ColumnPass::Shift => matrix.tile_log2,
            };
            let mut launch = builder.launch(Spec {
                kernel: pass.kernel(),
                groups: parts * groups,
                tile: Some(Tile::new(matrix.tile_log2, matrix.held_log2[pass as usize])),
                cluster_log2,
                constants: &[
                    ("SHORT_ROWS", 0),
                    ("RAGGED_ROWS", 0),
                    ("UNROLLED", 1),
                    ("RUN_LOG2", matrix.run_log2()),
                    ("CHUNKS_ARE_ROWS", chunks_are_rows),
                ],
                numbers: &[
                    Number::Index(job.len()),
                    Number::Index(part_length),
                    Number::Index(most_columns),
                    Number::Plain(mapping),
                    Number::Plain(offset),
                ],
                place: Some(Place::Tile),
                steps: 0..0,
                copies: copies_of(steps, measured),
                words: pass.words(matrix, parts, most_columns),
            });
            // Dealt to the working memory: the array is only read.
            if pass == ColumnPass::Deal {
                launch.arguments[0] = Parameter::Source;
            }
            launch
        };
        let new_columns = 1_usize << (matrix.dealt_log2 + matrix.cluster_log2);
        let mut launches = vec![
            launch(ColumnPass::Deal, most_columns, job.mapping.argument(true, false), 0),
            launch(ColumnPass::Gather, new_columns, 0, 0),
            launch(ColumnPass::Spread, most_columns, 0, 0),
        ];
        let rounds = matrix.rounds(most_columns);
        for round in 0..rounds {
            let offset = 1 - round % 2;
            let mapping = job.mapping.argument(false, last && round + 1 == rounds);
            launches.push(launch(ColumnPass::Shift, most_columns + offset as usize, mapping, offset));
        }
        launches
    }
}

impl Strategy for Columnsort {
    fn algorithm(&self) -> Algorithm {
        Algorithm::Columnsort
    }

    fn launches(&self, job: &Job, facts: &DeviceFacts) -> Vec<Launch> {
        let sorted = Step::merges(self.matrix.length());
        let merges =
            if job.row_length > 1 { self.network.merges(job, facts, sorted, false) } else { Vec::new() };
        let mut launches = self.columns(job, facts, merges.is_empty());
        launches.extend(merges);
        launches
    }

    fn work(&self, job: &Job) -> WorkMemory {
        let elements = self.work_elements(job);
        WorkMemory {
            keys: elements.saturating_mul(job.element.key_bytes()),
            values: elements.saturating_mul(job.element.value_bytes()),
            counters: 0,
        }
    }
}

/// The passes of columnsort, in the order of [`MatrixRow::held_log2`]; see `kernels/column.c`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ColumnPass {
    Deal,
    Gather,
    Spread,
    Shift,
}

impl ColumnPass {
    fn kernel(self) -> &'static str {
        match self {
            Self::Deal => "deal",
            Self::Gather => "gather",
            Self::Spread => "spread",
            Self::Shift => "shift_columns",
        }
    }

    fn words(self, matrix: MatrixRow, parts: usize, columns: usize) -> String {
        match self {
            Self::Deal => {
                let within = if parts > 1 { format!("in each of {parts} parts, ") } else { String::new() };
                let (length, new_columns) = (1 << matrix.tile_log2, 1 << matrix.dealt_log2);
                format!(
                    "{within}sort {columns} columns of {length} keys; deal each to {new_columns} new ones"
                )
            }
            Self::Gather => "merge every new column; cut it into a piece for each column".to_owned(),
            Self::Spread => "merge every column".to_owned(),
            Self::Shift => "merge halves of neighbouring columns".to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use proptest::strategy::Strategy as _;

    fn matrix(tile_log2: u32, dealt_log2: u32, cluster_log2: u32, rounds: u32) -> MatrixRow {
        MatrixRow { tile_log2, dealt_log2, cluster_log2, rounds, held_log2: [1; 4] }
    }

    /// The passes on plain memory, with the places of the kernels.
    fn columnsort(matrix: MatrixRow, rounds: u32, values: &mut [u8]) {
        let tile = 1_usize << matrix.tile_log2;
        let (new_columns, run) = (1_usize << matrix.dealt_log2, 1_usize << matrix.run_log2());
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
        for round in 0..rounds {
            let offset = if round % 2 == 0 { tile / 2 } else { 0 };
            let end = values.len() - offset;
            values[offset..end].chunks_mut(tile).for_each(<[u8]>::sort_unstable);
        }
    }

    /// Small matrices with the same bounds as those of the tables, and some that need more rounds.
    fn small() -> impl proptest::strategy::Strategy<Value = MatrixRow> {
        (3_u32..8, 1_u32..4, 0_u32..3, 1_u32..4).prop_filter_map(
            "runs of at least one element",
            |(tile_log2, dealt_log2, cluster_log2, rounds)| {
                (dealt_log2 < tile_log2).then(|| matrix(tile_log2, dealt_log2, cluster_log2, rounds))
            },
        )
    }

    proptest! {
        /// By the 0-1 principle, what sorts zeros and ones sorts everything; these are random ones with every share of ones.
        #[test]
        fn as_many_columns_as_a_matrix_says_are_sorted(
            matrix in small(),
            share in 0_u32..=100,
            fewer in any::<usize>(),
            seed in any::<u64>(),
        ) {
            let mut state = seed | 1;
            let columns = matrix.most_columns() - fewer % matrix.most_columns();
            let mut values: Vec<u8> = (0..columns << matrix.tile_log2)
                .map(|_| {
                    state ^= state << 13;
                    state ^= state >> 7;
                    state ^= state << 17;
                    u8::from(state % 100 < u64::from(share))
                })
                .collect();
            let mut expected = values.clone();
            expected.sort_unstable();
            columnsort(matrix, matrix.rounds(columns), &mut values);
            prop_assert!(values == expected, "{} columns of {:?}", columns, matrix);
        }

        /// Columns that differ as much as they can in how their ones are dealt: the case of which the bound speaks.
        #[test]
        fn the_worst_zeros_and_ones_are_sorted(
            matrix in small(),
            zeros in prop::collection::vec(any::<u16>(), 64),
            fewer in any::<usize>(),
        ) {
            let tile = 1_usize << matrix.tile_log2;
            let columns = matrix.most_columns() - fewer % matrix.most_columns();
            let mut values = Vec::new();
            for column in 0..columns {
                let zeros = zeros[column % zeros.len()] as usize % (tile + 1);
                values.extend((0..tile).map(|place| u8::from(place >= zeros)));
            }
            let mut expected = values.clone();
            expected.sort_unstable();
            columnsort(matrix, matrix.rounds(columns), &mut values);
            prop_assert!(values == expected, "{} columns of {:?}", columns, matrix);
        }
    }

    #[test]
    fn more_columns_than_the_theorem_allows_need_more_rounds() {
        let matrix = matrix(3, 2, 1, 1);
        assert_eq!(matrix.most_columns(), 2);
        let values: Vec<u8> = (0..8 * 8).map(|place| u8::from(place % 8 > 0)).collect();
        let sorted_after = |rounds| {
            let mut result = values.clone();
            columnsort(matrix, rounds, &mut result);
            result.is_sorted()
        };
        assert!(!sorted_after(1));
        assert!(sorted_after(6), "half a column each, and all zeros within three columns");
    }

    #[test]
    fn every_matrix_of_the_tables_sorts_as_much_as_fits_it_and_they_grow() {
        let measured = Measured::of(&DeviceFacts::nvidia_h200());
        for table in measured.matrices {
            for matrix in table {
                assert_eq!(
                    matrix.most_columns(),
                    1 << (matrix.dealt_log2 + matrix.cluster_log2),
                    "{matrix:?}"
                );
            }
        }
        for table in measured.matrices.into_iter().chain(measured.lone_matrices) {
            assert!(table.windows(2).all(|pair| pair[0].length() < pair[1].length()));
        }
    }

    #[test]
    fn fewer_columns_need_fewer_rounds() {
        let matrix = matrix(12, 6, 1, 4);
        assert_eq!((matrix.rounds(1), matrix.rounds(33), matrix.rounds(34)), (1, 1, 2));
        assert_eq!((matrix.most_columns(), matrix.rounds(128)), (128, 4));
    }
}
