//! A kernel's text: prelude of the dialect, shared parts, the kernel itself; and the constants of the plan as options.

use super::buckets::scatter_local_bytes;
use super::cluster::Cluster;
use super::layout::Layout;
use super::shape::{Shape, local_bytes};
use std::fmt::Write;

/// One kernel with its constants: what is built, cached and run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Variant {
    pub(crate) layout: Layout,
    /// Whether places in the arrays need more than 32 bits.
    pub(crate) wide_index: bool,
    pub(crate) kind: Kind,
}

/// Which kernel, with the constants that only it has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Kind {
    /// Sorts tiles; with fewer merges than the tile has bits, the rows inside each tile.
    TileSort { tile_log2: u32, held_log2: u32, merges: u32, rows: TileRows, unrolled: bool },
    /// Finishes a merge inside tiles.
    TileMerge { tile_log2: u32, held_log2: u32 },
    /// Steps of a merge that are wider than a tile, in registers.
    MemoryPass { steps: u32, flip: bool, items: u32 },
    /// Steps of a merge that are wider than a tile, with an exchange in local memory.
    StridedPass { tile_log2: u32, held_log2: u32, steps: u32, flip: bool },
    /// Sorts an array by a cluster.
    ClusterSort(Cluster),
    /// A pass of columnsort.
    Column { pass: ColumnPass, tile_log2: u32, held_log2: u32, run_log2: u32, cluster_log2: u32 },
    /// Sorts a sample of an array and takes splitters from it.
    Sample(Cluster),
    /// Puts elements into buckets.
    Scatter { tile_log2: u32, held_log2: u32, tree_log2: u32 },
    /// Sorts buckets; steps of parts of a tile that hold nothing may be left out.
    BucketSort { tile_log2: u32, held_log2: u32, leaves_out: bool },
    /// Sorts the array if a bucket was too long.
    Rescue(Cluster),
}

/// The passes of columnsort; see `kernels/column.c`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum ColumnPass {
    Deal,
    Gather,
    Spread,
    Shift,
}

/// How rows lie in the tiles of a sort.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum TileRows {
    /// A tile or more for every row.
    Long,
    /// Several in a tile, which they fill.
    Short,
    /// Several in a tile, each shorter than its power of two.
    Ragged,
}

/// The languages that kernels are built in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dialect {
    OpenCl,
    Cuda,
}

impl Variant {
    /// The kernel's name in its source.
    pub(crate) fn name(self) -> &'static str {
        match self.kind {
            Kind::TileSort { .. } => "tile_sort",
            Kind::TileMerge { .. } => "tile_merge",
            Kind::MemoryPass { .. } => "memory_pass",
            Kind::StridedPass { .. } => "strided_pass",
            Kind::ClusterSort(_) => "cluster_sort",
            Kind::Column { pass: ColumnPass::Deal, .. } => "deal",
            Kind::Column { pass: ColumnPass::Gather, .. } => "gather",
            Kind::Column { pass: ColumnPass::Spread, .. } => "spread",
            Kind::Column { pass: ColumnPass::Shift, .. } => "shift_columns",
            Kind::Sample(_) => "sample",
            Kind::Scatter { .. } => "scatter",
            Kind::BucketSort { .. } => "bucket_sort",
            Kind::Rescue(_) => "rescue",
        }
    }

    /// The whole source. Line numbers in a compiler's log are those of the part that it names.
    pub(crate) fn source(self, dialect: Dialect) -> String {
        let prelude = match dialect {
            Dialect::OpenCl => PRELUDE_OPENCL,
            Dialect::Cuda => PRELUDE_CUDA,
        };
        let parts: &[&Part] = match self.kind {
            Kind::TileSort { .. } => &[&TILE, &TILE_SORT],
            Kind::TileMerge { .. } => &[&TILE, &TILE_MERGE],
            Kind::MemoryPass { .. } => &[&MEMORY_PASS],
            Kind::StridedPass { .. } => &[&TILE, &STRIDED_PASS],
            Kind::ClusterSort(_) => &[&TILE, &CLUSTER, &CLUSTER_SORT],
            Kind::Column { pass: ColumnPass::Deal, .. } => &[&TILE, &COLUMN, &DEAL],
            Kind::Column { pass: ColumnPass::Gather, cluster_log2: 0, .. } => &[&TILE, &COLUMN, &GATHER],
            Kind::Column { pass: ColumnPass::Gather, .. } => &[&TILE, &CLUSTER, &COLUMN, &GATHER],
            Kind::Column { pass: ColumnPass::Spread, .. } => &[&TILE, &COLUMN, &SPREAD],
            Kind::Column { pass: ColumnPass::Shift, .. } => &[&TILE, &COLUMN, &SHIFT],
            Kind::Sample(Cluster { log2: 0, .. }) => &[&TILE, &BUCKETS, &SAMPLE],
            Kind::Sample(_) => &[&TILE, &CLUSTER, &BUCKETS, &SAMPLE],
            Kind::Scatter { .. } => &[&TILE, &BUCKETS, &SCATTER],
            Kind::BucketSort { .. } => &[&TILE, &BUCKETS, &BUCKET_SORT],
            Kind::Rescue(Cluster { log2: 0, .. }) => &[&TILE, &BUCKETS, &RESCUE],
            Kind::Rescue(_) => &[&TILE, &CLUSTER, &BUCKETS, &RESCUE],
        };
        let mut source = String::new();
        for part in [&prelude, &ELEMENT, &REGISTERS].iter().chain(parts) {
            // Writing to a string cannot fail.
            let _ = writeln!(source, "#line 1 \"{}\"\n{}", part.name, part.text);
        }
        source
    }

    /// The constants, as options for the compiler.
    pub(crate) fn options(self) -> String {
        let Layout { key_bits, value_bits, indexed } = self.layout;
        // Only the first pass makes values of indices.
        let indexed = indexed && self.is_first();
        let index_bits = if self.wide_index { 64 } else { 32 };
        let mut options = format!(
            "-DKEY_BITS={key_bits} -DVALUE_BITS={value_bits} -DINDEX_BITS={index_bits} -DINDEXED={}",
            u32::from(indexed)
        );
        let mut define = |name: &str, value: u32| {
            // Writing to a string cannot fail.
            let _ = write!(options, " -D{name}={value}");
        };
        let (tile_log2, held_log2) = self.tile_and_held_log2();
        define("HELD_LOG2", held_log2);
        if let Some(tile_log2) = tile_log2 {
            define("TILE_LOG2", tile_log2);
            let rows = match self.kind {
                Kind::TileSort { rows, .. } => rows,
                _ => TileRows::Long,
            };
            define("SHORT_ROWS", (rows != TileRows::Long).into());
            define("RAGGED_ROWS", (rows == TileRows::Ragged).into());
        }
        match self.kind {
            Kind::TileSort { merges, .. } => define("MERGES", merges),
            Kind::StridedPass { steps, flip, .. } => {
                define("STEPS", steps);
                define("FLIP", flip.into());
            }
            Kind::ClusterSort(cluster) | Kind::Sample(cluster) | Kind::Rescue(cluster) => {
                define("CLUSTER_LOG2", cluster.log2);
            }
            Kind::Column { run_log2, cluster_log2, .. } => {
                define("RUN_LOG2", run_log2);
                define("CLUSTER_LOG2", cluster_log2);
            }
            Kind::Scatter { tree_log2, .. } => define("TREE_LOG2", tree_log2),
            Kind::MemoryPass { flip, items, .. } => {
                define("FLIP", flip.into());
                define("ITEMS", items);
            }
            Kind::BucketSort { leaves_out, .. } => define("LEAVES_OUT", leaves_out.into()),
            Kind::TileMerge { .. } => {}
        }
        options.push_str(if self.unrolls_merges() { " -DUNROLL_MERGES=UNROLL" } else { " -DUNROLL_MERGES=" });
        options
    }

    /// Whether the merges of a tile are written out one by one.
    fn unrolls_merges(self) -> bool {
        match self.kind {
            Kind::TileSort { unrolled, .. } => unrolled,
            Kind::ClusterSort(_) | Kind::Column { .. } | Kind::Sample(_) | Kind::BucketSort { .. } => true,
            _ => false,
        }
    }

    /// Whether it reads what is to be sorted as it was.
    fn is_first(self) -> bool {
        match self.kind {
            Kind::TileSort { .. }
            | Kind::ClusterSort(_)
            | Kind::Sample(_)
            | Kind::Scatter { .. }
            | Kind::Rescue(_) => true,
            Kind::Column { pass, .. } => pass == ColumnPass::Deal,
            Kind::TileMerge { .. }
            | Kind::MemoryPass { .. }
            | Kind::StridedPass { .. }
            | Kind::BucketSort { .. } => false,
        }
    }

    /// The base-2 logarithms of the tile, if the kernel has one, and of the elements that a work-item holds.
    pub(crate) fn tile_and_held_log2(self) -> (Option<u32>, u32) {
        match self.kind {
            Kind::TileSort { tile_log2, held_log2, .. }
            | Kind::TileMerge { tile_log2, held_log2 }
            | Kind::StridedPass { tile_log2, held_log2, .. }
            | Kind::ClusterSort(Cluster { tile_log2, held_log2, .. })
            | Kind::Sample(Cluster { tile_log2, held_log2, .. })
            | Kind::Rescue(Cluster { tile_log2, held_log2, .. })
            | Kind::Scatter { tile_log2, held_log2, .. }
            | Kind::BucketSort { tile_log2, held_log2, .. }
            | Kind::Column { tile_log2, held_log2, .. } => (Some(tile_log2), held_log2),
            Kind::MemoryPass { steps, .. } => (None, steps),
        }
    }

    /// The local memory of a group.
    pub(crate) fn local_bytes(self) -> usize {
        let element = self.layout.element_bytes();
        match (self.kind, self.tile_and_held_log2().0) {
            (Kind::Scatter { tile_log2, tree_log2, .. }, _) => {
                scatter_local_bytes(tile_log2, tree_log2, element)
            }
            (Kind::Rescue(_), _) => 0,
            (_, tile_log2) => tile_log2.map_or(0, |tile_log2| local_bytes(tile_log2, element)),
        }
    }

    /// The base-2 logarithm of the groups that have to run at the same time.
    pub(crate) fn cluster_log2(self) -> u32 {
        match self.kind {
            Kind::ClusterSort(cluster) | Kind::Sample(cluster) | Kind::Rescue(cluster) => cluster.log2,
            Kind::Column { cluster_log2, .. } => cluster_log2,
            _ => 0,
        }
    }

    /// A kernel's variants for a shape: the sort of tiles with all merges, or with those of short rows.
    pub(crate) fn tile_sort(
        layout: Layout,
        wide_index: bool,
        shape: Shape,
        merges: u32,
        rows: TileRows,
    ) -> Self {
        let Shape { tile_log2, held_log2, unrolled, .. } = shape;
        let kind = Kind::TileSort { tile_log2, held_log2, merges, rows, unrolled };
        Self { layout, wide_index, kind }
    }
}

/// A file of kernel source.
struct Part {
    name: &'static str,
    text: &'static str,
}

macro_rules! part {
    ($file:literal) => {
        Part { name: $file, text: include_str!(concat!("kernels/", $file)) }
    };
}

const PRELUDE_OPENCL: Part = part!("prelude_opencl.c");
const PRELUDE_CUDA: Part = part!("prelude_cuda.c");
const ELEMENT: Part = part!("element.c");
const REGISTERS: Part = part!("registers.c");
const TILE: Part = part!("tile.c");
const CLUSTER: Part = part!("cluster.c");
const CLUSTER_SORT: Part = part!("cluster_sort.c");
const COLUMN: Part = part!("column.c");
const DEAL: Part = part!("deal.c");
const GATHER: Part = part!("gather.c");
const SPREAD: Part = part!("spread.c");
const SHIFT: Part = part!("shift.c");
const BUCKETS: Part = part!("buckets.c");
const SAMPLE: Part = part!("sample.c");
const SCATTER: Part = part!("scatter.c");
const BUCKET_SORT: Part = part!("bucket_sort.c");
const RESCUE: Part = part!("rescue.c");
const STRIDED_PASS: Part = part!("strided_pass.c");
const TILE_SORT: Part = part!("tile_sort.c");
const TILE_MERGE: Part = part!("tile_merge.c");
const MEMORY_PASS: Part = part!("memory_pass.c");
