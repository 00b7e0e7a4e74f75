//! A kernel's text: prelude of the dialect, shared parts, the kernel itself; and the constants of the plan as options.

use super::layout::Layout;
use super::shape::Shape;
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
    /// Steps of a merge that are wider than a tile.
    MemoryPass { steps: u32, flip: bool, items: u32 },
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
        }
    }

    /// The whole source. Line numbers in a compiler's log are those of the part that it names.
    pub(crate) fn source(self, dialect: Dialect) -> String {
        let prelude = match dialect {
            Dialect::OpenCl => PRELUDE_OPENCL,
            Dialect::Cuda => PRELUDE_CUDA,
        };
        let parts: &[&Part] = match self.kind {
            Kind::TileSort { .. } => &[&prelude, &ELEMENT, &REGISTERS, &TILE, &TILE_SORT],
            Kind::TileMerge { .. } => &[&prelude, &ELEMENT, &REGISTERS, &TILE, &TILE_MERGE],
            Kind::MemoryPass { .. } => &[&prelude, &ELEMENT, &REGISTERS, &MEMORY_PASS],
        };
        let mut source = String::new();
        for part in parts {
            // Writing to a string cannot fail.
            let _ = writeln!(source, "#line 1 \"{}\"\n{}", part.name, part.text);
        }
        source
    }

    /// The constants, as options for the compiler.
    pub(crate) fn options(self) -> String {
        let Layout { key_bits, value_bits, indexed } = self.layout;
        // Only the first pass makes values of indices.
        let indexed = indexed && matches!(self.kind, Kind::TileSort { .. });
        let index_bits = if self.wide_index { 64 } else { 32 };
        let mut options = format!(
            "-DKEY_BITS={key_bits} -DVALUE_BITS={value_bits} -DINDEX_BITS={index_bits} -DINDEXED={}",
            u32::from(indexed)
        );
        let mut define = |name: &str, value: u32| {
            // Writing to a string cannot fail.
            let _ = write!(options, " -D{name}={value}");
        };
        match self.kind {
            Kind::TileSort { tile_log2, held_log2, merges, rows, unrolled } => {
                define("TILE_LOG2", tile_log2);
                define("HELD_LOG2", held_log2);
                define("MERGES", merges);
                define("SHORT_ROWS", (rows != TileRows::Long).into());
                define("RAGGED_ROWS", (rows == TileRows::Ragged).into());
                options.push_str(if unrolled { " -DUNROLL_MERGES=UNROLL" } else { " -DUNROLL_MERGES=" });
            }
            Kind::TileMerge { tile_log2, held_log2 } => {
                define("TILE_LOG2", tile_log2);
                define("HELD_LOG2", held_log2);
                define("SHORT_ROWS", 0);
                define("RAGGED_ROWS", 0);
            }
            Kind::MemoryPass { steps, flip, items } => {
                define("HELD_LOG2", steps);
                define("FLIP", flip.into());
                define("ITEMS", items);
            }
        }
        options
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
        Self { layout, wide_index, kind: Kind::TileSort { tile_log2, held_log2, merges, rows, unrolled } }
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
const TILE_SORT: Part = part!("tile_sort.c");
const TILE_MERGE: Part = part!("tile_merge.c");
const MEMORY_PASS: Part = part!("memory_pass.c");
