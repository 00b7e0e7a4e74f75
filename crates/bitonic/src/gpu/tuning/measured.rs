//! What was measured best on some devices. A device that nobody measured gets the figures of the one that is most like it, within
//! the limits of its own facts.

use crate::gpu::facts::DeviceFacts;
use crate::gpu::kernel::Tile;
use std::time::Duration;

/// Figures of one device. Arrays have a place for elements of 4, 8, 16 and 24 bytes.
#[derive(Debug)]
pub(crate) struct Measured {
    /// The device.
    pub(crate) device: &'static str,
    /// What starting a kernel costs.
    pub(crate) launch: Duration,
    /// Steps of a tile in the time in which a copy moves the tile.
    pub(crate) steps_per_copy: f64,
    /// The base-2 logarithm of the elements that a work-item holds in a tile.
    pub(crate) held_log2: [u32; 4],
    /// The same for a lone tile of up to 2^first elements, which is over before its latencies are hidden: with fewer elements
    /// for each work-item they are shorter.
    pub(crate) lone_held_log2: [&'static [(u32, u32)]; 4],
    /// The most elements that a work-item can hold, as a base-2 logarithm: with more, results were wrong or slow.
    pub(crate) most_held_log2: u32,
    /// The largest tile, and what it takes of local memory at most, so that several work-groups run side by side.
    pub(crate) tile_log2: u32,
    pub(crate) tile_bytes: usize,
    /// The same for arrays from 2^large_array_log2 elements on, where larger tiles save passes.
    pub(crate) large_tile_log2: u32,
    pub(crate) large_tile_bytes: usize,
    pub(crate) large_array_log2: u32,
    /// The most steps of a pass over memory in registers alone: with one more, two passes were faster.
    pub(crate) pass_steps: [u32; 4],
    /// Whether one exchange in local memory, which doubles the steps of a pass, takes less time than another pass.
    pub(crate) exchange_pays: bool,
    /// Whether merges of a tile are written out one by one: faster on a GPU by a tenth, more to compile.
    pub(crate) unrolled: bool,
    /// Up to this length a tile is faster than a cluster, and up to the second a cluster is faster than columnsort.
    pub(crate) tile_up_to: [usize; 4],
    pub(crate) cluster_up_to: [usize; 4],
    /// Clusters, from small to large.
    pub(crate) clusters: [&'static [ClusterRow]; 4],
    /// Matrices for columnsort, from small to large.
    pub(crate) matrices: [&'static [MatrixRow]; 4],
    /// Those for one array alone, whose columns leave multiprocessors idle: smaller columns, which take more rounds.
    pub(crate) lone_matrices: [&'static [MatrixRow]; 4],
    /// Tiles and cells for counted buckets, by the longest array. The first ones that a device has room for are taken.
    pub(crate) counted: [&'static [CountedRow]; 4],
    /// Above this length, counting keys of 8 bits, and of 16, is faster than anything else.
    pub(crate) tally_above: [usize; 2],
    /// What distributing elements to counted buckets, and sorting these, takes, in copies.
    pub(crate) distribute_copies: f64,
    pub(crate) counted_sort_copies: f64,
    /// Up to this many elements, starting a kernel early pays. With more, what is started early takes the place of what still
    /// has to run.
    pub(crate) overlapped_up_to: usize,
}

/// Work-groups that sort an array together, a tile each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct ClusterRow {
    pub(crate) tile: Tile,
    /// The base-2 logarithm of the groups.
    pub(crate) log2: u32,
}

/// The matrix of a columnsort.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct MatrixRow {
    /// The base-2 logarithm of the elements in a column: a tile.
    pub(crate) tile_log2: u32,
    /// The base-2 logarithm of the new columns that every column is dealt to.
    pub(crate) dealt_log2: u32,
    /// The base-2 logarithm of the work-groups that share a new column.
    pub(crate) cluster_log2: u32,
    /// The most shifts that the last part may take.
    pub(crate) rounds: u32,
    /// The base-2 logarithm of the elements that a work-item holds when a column is dealt, gathered, spread, and shifted.
    pub(crate) held_log2: [u32; 4],
}

/// Tiles and cells of a sort by counted buckets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct CountedRow {
    /// Above this length they are faster than anything else, and up to this length there are no better ones.
    pub(crate) above: usize,
    pub(crate) up_to: usize,
    /// The tile that a bucket fits, and the one for what does not fit.
    pub(crate) tile: Tile,
    pub(crate) large_tile: Tile,
    /// The tile in which elements are counted, and uneven ones put in the order of their buckets.
    pub(crate) moved: Tile,
    /// The groups that do so on a unit at a time.
    pub(crate) groups_of_unit: usize,
    /// The tile in which even elements are put in the order of their buckets, and the groups that do so.
    pub(crate) even_moved: Tile,
    pub(crate) even_groups_of_unit: usize,
    /// The base-2 logarithm of the most cells that elements are counted by.
    pub(crate) cells_log2: u32,
    /// The base-2 logarithms of the targets that a group tells apart: for uneven and for even elements.
    pub(crate) targets_log2: u32,
    pub(crate) even_targets_log2: u32,
    /// Whether tables are smaller, too: for devices that give a group 48 KiB of local memory, as OpenCL does on GPUs that have more.
    pub(crate) is_small: bool,
}

impl Measured {
    /// The figures of the device that is most like this one.
    pub(crate) fn of(facts: &DeviceFacts) -> &'static Self {
        if facts.is_cpu() { const { &POCL } } else { const { &H200 } }
    }

    /// The place of an element width in the arrays.
    pub(crate) fn width(element_bytes: usize) -> usize {
        match element_bytes {
            ..=4 => 0,
            5..=8 => 1,
            9..=16 => 2,
            _ => 3,
        }
    }
}

const fn cluster(tile_log2: u32, held_log2: u32, log2: u32) -> ClusterRow {
    ClusterRow { tile: Tile::new(tile_log2, held_log2), log2 }
}

const fn matrix(
    tile_log2: u32,
    dealt_log2: u32,
    cluster_log2: u32,
    rounds: u32,
    held_log2: [u32; 4],
) -> MatrixRow {
    MatrixRow { tile_log2, dealt_log2, cluster_log2, rounds, held_log2 }
}

/// Counted buckets for elements of 4 bytes: millions of them, and from tens of millions on.
const COUNTED_4: CountedRow = CountedRow {
    above: 1 << 20,
    up_to: 6 << 20,
    tile: Tile::new(13, 5),
    large_tile: Tile::new(14, 5),
    moved: Tile::new(14, 4),
    groups_of_unit: 1,
    even_moved: Tile::new(15, 5),
    even_groups_of_unit: 1,
    cells_log2: 12,
    targets_log2: 11,
    even_targets_log2: 11,
    is_small: false,
};
const FEW_COUNTED_4: CountedRow = CountedRow { up_to: 9 << 18, cells_log2: 11, ..COUNTED_4 };
/// For arrays of more keys than `above`: with fewer, keys that are not even took longer so than with columnsort.
const SMALL_COUNTED_4: CountedRow = CountedRow {
    above: 6 << 20,
    up_to: 30 << 20,
    tile: Tile::new(13, 5),
    large_tile: Tile::new(13, 5),
    moved: Tile::new(11, 2),
    groups_of_unit: 4,
    even_moved: Tile::new(12, 3),
    even_groups_of_unit: 4,
    cells_log2: 12,
    targets_log2: 10,
    even_targets_log2: 11,
    is_small: true,
};
const MANY_COUNTED_4: CountedRow = CountedRow {
    up_to: 24 << 20,
    tile: Tile::new(14, 5),
    large_tile: Tile::new(15, 5),
    cells_log2: 14,
    ..COUNTED_4
};
const MOST_COUNTED_4: CountedRow = CountedRow {
    up_to: usize::MAX,
    even_moved: Tile::new(14, 5),
    even_groups_of_unit: 2,
    cells_log2: 15,
    targets_log2: 12,
    ..MANY_COUNTED_4
};

/// The same for elements of 8 bytes.
const COUNTED_8: CountedRow = CountedRow {
    above: 1 << 18,
    up_to: 6 << 20,
    tile: Tile::new(12, 4),
    large_tile: Tile::new(13, 4),
    moved: Tile::new(13, 3),
    even_moved: Tile::new(14, 4),
    cells_log2: 13,
    ..COUNTED_4
};
const FEW_COUNTED_8: CountedRow =
    CountedRow { up_to: 2 << 20, even_moved: Tile::new(13, 3), cells_log2: 12, ..COUNTED_8 };
const FEWER_COUNTED_8: CountedRow = CountedRow { up_to: 5 << 18, cells_log2: 11, ..FEW_COUNTED_8 };
const MANY_COUNTED_8: CountedRow = CountedRow {
    up_to: 24 << 20,
    tile: Tile::new(14, 4),
    large_tile: Tile::new(14, 4),
    cells_log2: 14,
    ..COUNTED_8
};

/// The same for elements of 16 bytes: keys of 64 bits with an index or a value, and shorter keys with values of 64 bits.
const COUNTED_16: CountedRow = CountedRow {
    above: 1 << 17,
    up_to: 3 << 20,
    tile: Tile::new(11, 3),
    large_tile: Tile::new(12, 3),
    moved: Tile::new(12, 2),
    even_moved: Tile::new(12, 2),
    ..COUNTED_8
};
const FEW_COUNTED_16: CountedRow = CountedRow { up_to: 5 << 18, cells_log2: 12, ..COUNTED_16 };
const FEWER_COUNTED_16: CountedRow = CountedRow { up_to: 5 << 17, cells_log2: 11, ..COUNTED_16 };
const MANY_COUNTED_16: CountedRow = CountedRow {
    up_to: 12 << 20,
    tile: Tile::new(13, 3),
    large_tile: Tile::new(13, 3),
    even_moved: Tile::new(13, 3),
    cells_log2: 14,
    ..COUNTED_16
};

/// An NVIDIA H200, November 2026, through CUDA; the cost of a launch through OpenCL.
///
/// - Elements held: one bit more spills registers or leaves too few work-items to hide latencies, one less means more trips
///   through local memory.
/// - Clusters: the steps between the tiles take as long as those inside, so tiles are as small as 8 or 16 of them allow. Elements
///   of 16 and 24 bytes have the clusters of 8 bytes but the largest; they were not measured.
/// - Matrices: the smaller a column, the more multiprocessors have one; the larger, the fewer rounds. New columns that two groups share
///   take little longer than others; four groups take more than twice as long where tiles have 2^12 elements. Elements of 16 and 24 bytes
///   were not measured.
/// - Counted buckets: up to 2^20 keys of 4 bytes, columnsort takes less time. Cells cost as much for few elements as for many, and one
///   group goes through all of them alone; with too few, cells of uneven keys are divided twice, which takes half as long again.
///   Elements of 24 bytes were not measured.
const H200: Measured = Measured {
    device: "NVIDIA H200",
    launch: Duration::from_micros(5),
    steps_per_copy: 22.0,
    held_log2: [5, 4, 4, 3],
    lone_held_log2: [&[(10, 3), (12, 4)], &[(11, 3)], &[(11, 3)], &[(11, 3)]],
    most_held_log2: 8,
    tile_log2: 13,
    tile_bytes: 48 << 10,
    large_tile_log2: 14,
    large_tile_bytes: 72 << 10,
    large_array_log2: 23,
    pass_steps: [6, 6, 5, 4],
    exchange_pays: true,
    unrolled: true,
    tile_up_to: [1 << 12, 1 << 11, 1 << 10, 1 << 10],
    cluster_up_to: [1 << 14, 1 << 13, 1 << 13, 1 << 13],
    clusters: [
        &[cluster(11, 4, 2), cluster(11, 4, 3), cluster(12, 5, 3), cluster(12, 4, 4)],
        &[cluster(10, 3, 2), cluster(10, 3, 3), cluster(11, 3, 3), cluster(12, 4, 4)],
        &[cluster(10, 3, 2), cluster(10, 3, 3), cluster(11, 3, 3)],
        &[cluster(10, 3, 2), cluster(10, 3, 3), cluster(11, 3, 3)],
    ],
    matrices: [
        &[
            matrix(11, 4, 0, 1, [4; 4]),
            matrix(11, 5, 0, 1, [4; 4]),
            matrix(12, 5, 0, 1, [4; 4]),
            matrix(12, 5, 1, 1, [4; 4]),
            matrix(13, 6, 0, 1, [5, 5, 5, 4]),
            matrix(13, 6, 1, 2, [5, 5, 5, 4]),
            matrix(14, 7, 0, 2, [5; 4]),
            matrix(15, 7, 0, 1, [5; 4]),
        ],
        &[
            matrix(10, 4, 0, 1, [3; 4]),
            matrix(11, 5, 0, 1, [3; 4]),
            matrix(12, 5, 0, 1, [4; 4]),
            matrix(12, 5, 1, 1, [4; 4]),
            matrix(13, 6, 0, 1, [4; 4]),
            matrix(13, 6, 1, 2, [4; 4]),
            matrix(14, 7, 0, 2, [4; 4]),
        ],
        &WIDE_MATRICES,
        &WIDE_MATRICES,
    ],
    lone_matrices: [
        &[matrix(11, 5, 1, 2, [4; 4]), matrix(12, 6, 0, 1, [4; 4]), matrix(12, 6, 1, 4, [4; 4])],
        &[
            matrix(10, 4, 1, 1, [3; 4]),
            matrix(10, 4, 2, 2, [3; 4]),
            matrix(11, 4, 2, 1, [3; 4]),
            matrix(11, 6, 1, 6, [3; 4]),
        ],
        &[matrix(10, 4, 1, 1, [3; 4])],
        &[matrix(10, 4, 1, 1, [3; 4])],
    ],
    counted: [
        &[
            FEW_COUNTED_4,
            COUNTED_4,
            MANY_COUNTED_4,
            CountedRow { up_to: 56 << 20, targets_log2: 12, even_targets_log2: 12, ..MANY_COUNTED_4 },
            MOST_COUNTED_4,
            // From 509 million keys on, the row before has more buckets than cells.
            CountedRow { tile: Tile::new(15, 5), ..MOST_COUNTED_4 },
            SMALL_COUNTED_4,
        ],
        &[
            FEWER_COUNTED_8,
            FEW_COUNTED_8,
            COUNTED_8,
            MANY_COUNTED_8,
            CountedRow { up_to: 56 << 20, targets_log2: 12, even_targets_log2: 12, ..MANY_COUNTED_8 },
            CountedRow { up_to: usize::MAX, cells_log2: 15, targets_log2: 12, ..MANY_COUNTED_8 },
        ],
        &[
            FEWER_COUNTED_16,
            FEW_COUNTED_16,
            COUNTED_16,
            MANY_COUNTED_16,
            CountedRow { up_to: 28 << 20, targets_log2: 12, even_targets_log2: 12, ..MANY_COUNTED_16 },
            CountedRow { up_to: usize::MAX, cells_log2: 15, targets_log2: 12, ..MANY_COUNTED_16 },
        ],
        &[],
    ],
    tally_above: [1 << 15, 1 << 19],
    distribute_copies: 3.0,
    counted_sort_copies: 3.0,
    overlapped_up_to: 1 << 22,
};

const WIDE_MATRICES: [MatrixRow; 4] = [
    matrix(10, 4, 0, 1, [3; 4]),
    matrix(11, 5, 0, 1, [3; 4]),
    matrix(12, 5, 0, 1, [3; 4]),
    matrix(13, 6, 0, 1, [3; 4]),
];

/// A processor with AVX-512 as an OpenCL device, through PoCL 3.1. The elements of a work-item are context that is kept in memory
/// over every barrier: 4 of them took half to two thirds of the time of 8. With 16 and more, results were wrong before every function was
/// inlined there (`opencl/prelude.c`); that was not tried again. What nobody measured there is the H200's.
const POCL: Measured = Measured {
    device: "a processor through PoCL 3.1",
    held_log2: [2; 4],
    lone_held_log2: [&[]; 4],
    most_held_log2: 3,
    tile_log2: 12,
    tile_bytes: usize::MAX,
    large_tile_log2: 12,
    large_tile_bytes: usize::MAX,
    pass_steps: [3; 4],
    exchange_pays: false,
    unrolled: false,
    clusters: [&[]; 4],
    matrices: [&[]; 4],
    lone_matrices: [&[]; 4],
    counted: [&[]; 4],
    ..H200
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gpu::kernel::local_bytes;

    #[test]
    fn work_items_of_a_cluster_hold_an_element_of_every_tile_at_least() {
        for table in H200.clusters {
            assert!(table.iter().all(|cluster| cluster.log2 <= cluster.tile.held_log2));
            let length = |cluster: &ClusterRow| cluster.tile.log2 + cluster.log2;
            assert!(table.windows(2).all(|pair| length(&pair[0]) < length(&pair[1])));
        }
    }

    #[test]
    fn every_matrix_has_whole_runs_in_registers_and_fits_the_local_memory_it_was_measured_in() {
        for (element_bytes, table) in [4, 8, 16, 24].into_iter().zip(H200.matrices) {
            for matrix in table {
                let run_log2 = matrix.tile_log2 - matrix.dealt_log2;
                assert!(matrix.held_log2.iter().all(|&held| held <= run_log2), "{matrix:?}");
                assert!(matrix.held_log2[1] >= matrix.cluster_log2, "{matrix:?}");
                let limit = DeviceFacts::nvidia_h200().local_bytes;
                assert!(local_bytes(matrix.tile_log2, element_bytes) <= limit, "{matrix:?}");
            }
        }
    }
}
