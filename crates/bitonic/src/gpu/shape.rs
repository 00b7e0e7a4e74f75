//! How work is cut for a device: how many elements a tile, a work-item and a pass hold.
//!
//! Planning reads limits and assumes none. What is best within them was measured; each constant says what it rests on.

use super::layout::Layout;
use crate::plan::{Limits, Step};
use std::fmt;

/// What a device allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DeviceLimits {
    /// Work-items in a group.
    pub(crate) group_size: usize,
    /// Local memory of a group, in bytes.
    pub(crate) local_bytes: usize,
    /// Whether work-items are lanes of a processor's vector units: few registers, and caches instead of local memory.
    pub(crate) is_cpu: bool,
}

/// How a sort is cut into work-groups and passes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Shape {
    /// The base-2 logarithm of the elements in a tile.
    pub(crate) tile_log2: u32,
    /// The base-2 logarithm of the elements that a work-item holds in a tile.
    pub(crate) held_log2: u32,
    /// The most steps of one pass over memory; each work-item holds 2^steps elements.
    pub(crate) fused_steps: u32,
    /// The base-2 logarithm of the work-items in a group of a pass over memory.
    pub(crate) pass_items_log2: u32,
    /// Whether the merges of a tile are written out one by one, so that all addresses are constants: faster on a GPU by
    /// a tenth, more to compile.
    pub(crate) unrolled: bool,
}

/// How many elements a work-item holds in a tile, and how many steps a pass over memory does: base-2 logarithms, for
/// elements of 4, 8, 16 and 24 bytes. `bitonic tune` on an NVIDIA H200 found these best for large arrays. One bit more
/// spills registers or leaves too few work-items to hide latencies, one less means more trips through local memory, or
/// more passes: 6 steps of 4-byte elements take 1.3 times as long as 5, not twice.
fn registers(element_bytes: usize) -> (u32, u32) {
    match element_bytes {
        4 => (5, 6),
        8 => (4, 6),
        16 => (4, 5),
        _ => (3, 4),
    }
}

/// The largest tile. Larger ones would save passes, but no device with 48 KiB of local memory holds them.
const MAX_TILE_LOG2: u32 = 13;

/// On CPUs the elements of a work-item are context that is kept in memory over every barrier: on PoCL, 4 of them took half
/// to two thirds of the time of 8. With 16 and more, PoCL 3.1 compiles wrong code.
const CPU_HELD_LOG2: u32 = 2;
const CPU_MOST_HELD_LOG2: u32 = 3;
const CPU_TILE_LOG2: u32 = 12;

impl Shape {
    /// A good shape for so many rows of this length, within the limits.
    pub(crate) fn new(limits: DeviceLimits, layout: Layout, row_length: usize, rows: usize) -> Self {
        let element = layout.element_bytes();
        let group_log2 = limits.group_size.max(1).ilog2();
        let (most_held, fused_steps) =
            if limits.is_cpu { (CPU_HELD_LOG2, CPU_MOST_HELD_LOG2) } else { registers(element) };
        let largest = if limits.is_cpu { CPU_TILE_LOG2 } else { MAX_TILE_LOG2 };
        // Many short rows share tiles; one short row has a tile to itself. A small tile is over before its latencies are
        // hidden; fewer elements for each work-item make them shorter.
        let needed = Step::merges(row_length.saturating_mul(rows)).max(1);
        let held = if needed < 12 { most_held.min(3) } else { most_held };
        let fits = |tile_log2: u32| local_bytes(tile_log2, element) <= limits.local_bytes;
        let mut tile = largest.min(needed.max(SMALLEST_TILE_LOG2)).min(held + group_log2);
        while tile > 1 && !fits(tile) {
            tile -= 1;
        }
        Self {
            tile_log2: tile,
            held_log2: held.min(tile),
            fused_steps,
            pass_items_log2: 8.min(group_log2).min(tile),
            unrolled: !limits.is_cpu,
        }
    }

    /// Whether a device can run it, and a kernel exists for it.
    pub(crate) fn is_possible(self, limits: DeviceLimits, layout: Layout) -> bool {
        let group_log2 = limits.group_size.max(1).ilog2();
        let most = if limits.is_cpu { CPU_MOST_HELD_LOG2 } else { 8 };
        (1..=most).contains(&self.held_log2)
            && self.held_log2 <= self.tile_log2
            && self.tile_log2 <= 16
            && self.tile_log2 - self.held_log2 <= group_log2
            && (1..=most).contains(&self.fused_steps)
            && self.pass_items_log2 <= group_log2
            && self.pass_items_log2 <= self.tile_log2
            && local_bytes(self.tile_log2, layout.element_bytes()) <= limits.local_bytes
    }

    /// Work-items in the group of a tile.
    pub(crate) fn tile_items(self) -> usize {
        1 << (self.tile_log2 - self.held_log2)
    }

    /// Work-items in the group of a pass over memory.
    pub(crate) fn pass_items(self) -> usize {
        1 << self.pass_items_log2
    }

    /// What cuts the network into passes.
    pub(crate) fn limits(self) -> Limits {
        Limits { tile_log2: self.tile_log2, fused_steps: self.fused_steps }
    }
}

/// Fewer kernels to build: arrays below this length share a tile of this size.
const SMALLEST_TILE_LOG2: u32 = 8;

/// What a tile takes of local memory: one unused element after every 32, as `kernels/tile.c` has it.
fn local_bytes(tile_log2: u32, element_bytes: usize) -> usize {
    let elements = 1_usize << tile_log2;
    (elements + elements / 32) * element_bytes
}

/// As `bitonic tune` shows and stores it, and [`Shape::parse`] reads it.
impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { tile_log2, held_log2, fused_steps, pass_items_log2, unrolled } = self;
        write!(
            f,
            "tile 2^{tile_log2} held 2^{held_log2} fused {fused_steps} items 2^{pass_items_log2} {}",
            if *unrolled { "unrolled" } else { "looped" }
        )
    }
}

impl Shape {
    /// Reads what `Display` writes.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let words: Vec<&str> = text.split(' ').collect();
        let ["tile", tile, "held", held, "fused", fused, "items", items, merges] = words[..] else {
            return None;
        };
        let power = |word: &str| word.strip_prefix("2^")?.parse().ok();
        Some(Self {
            tile_log2: power(tile)?,
            held_log2: power(held)?,
            fused_steps: fused.parse().ok()?,
            pass_items_log2: power(items)?,
            unrolled: match merges {
                "unrolled" => true,
                "looped" => false,
                _ => return None,
            },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LAYOUTS: [Layout; 12] = {
        const fn layout(key_bits: u32, value_bits: u32) -> Layout {
            Layout { key_bits, value_bits, indexed: false }
        }
        [
            layout(8, 0),
            layout(16, 0),
            layout(32, 0),
            layout(64, 0),
            layout(128, 0),
            layout(8, 32),
            layout(32, 32),
            layout(64, 32),
            layout(32, 64),
            layout(64, 64),
            layout(128, 32),
            layout(128, 64),
        ]
    };

    #[test]
    fn every_device_gets_a_shape_within_its_limits() {
        for group_size in [1, 2, 16, 64, 256, 1000, 1024, 4096] {
            for local_bytes in [1 << 10, 16 << 10, 32 << 10, 48 << 10, 64 << 10, 2 << 20] {
                for is_cpu in [false, true] {
                    let limits = DeviceLimits { group_size, local_bytes, is_cpu };
                    for layout in LAYOUTS {
                        for row_length in [0, 1, 2, 255, 1000, 1024, 4096, 100_000, 1 << 30] {
                            let shape = Shape::new(limits, layout, row_length, 1);
                            assert!(
                                shape.is_possible(limits, layout),
                                "{limits:?} {layout:?} {row_length}: {shape}"
                            );
                            assert_eq!(Shape::parse(&shape.to_string()), Some(shape));
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn known_devices_get_the_shapes_that_were_measured_best() {
        let shape = |group_size, local_kib: usize, is_cpu, layout| {
            let limits = DeviceLimits { group_size, local_bytes: local_kib << 10, is_cpu };
            let shape = Shape::new(limits, layout, 1 << 24, 1);
            (shape.tile_log2, shape.held_log2, shape.fused_steps)
        };
        let (keys, pairs, wide) = (LAYOUTS[2], LAYOUTS[6], LAYOUTS[4]);
        assert_eq!(shape(1024, 48, false, keys), (13, 5, 6), "a large GPU");
        assert_eq!(shape(1024, 48, false, pairs), (12, 4, 6));
        assert_eq!(shape(1024, 48, false, wide), (11, 4, 5));
        assert_eq!(shape(256, 16, false, keys), (11, 5, 6), "a small GPU");
        assert_eq!(shape(1024, 32, false, keys), (12, 5, 6), "a simulator");
        assert_eq!(shape(4096, 2048, true, keys), (12, 2, 3), "a CPU");
    }

    #[test]
    fn texts_that_are_no_shapes_are_refused() {
        for text in [
            "",
            "tile 2^13",
            "tile 13 held 2^5 fused 6 items 2^8 looped",
            "garbage of nine words in a row is none",
        ] {
            assert_eq!(Shape::parse(text), None, "{text}");
        }
    }
}
