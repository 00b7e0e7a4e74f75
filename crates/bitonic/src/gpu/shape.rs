//! How work is cut for a device: how many elements a tile, a work-item and a pass hold.
//!
//! Planning reads limits and assumes none. What is best within them was measured; each constant says what it rests on.

use super::buckets::Buckets;
use super::cluster::Cluster;
use super::columns::Columns;
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
    /// Whether passes over memory may exchange elements in local memory, and so have more steps. So far where that was seen to
    /// work.
    pub(crate) exchanging_passes: bool,
    /// Whether a sort may have as much memory again as its arrays take, for passes from one to the other.
    pub(crate) second_array: bool,
    /// Whether it may have four times as much, for buckets.
    pub(crate) buckets: bool,
    /// The base-2 logarithm of the work-groups that can share their local memory; 0 where they cannot.
    pub(crate) most_cluster_log2: u32,
}

/// Devices of tests; struct update makes others of them.
#[cfg(test)]
impl DeviceLimits {
    /// What every GPU has, whose sorts are in place.
    pub(crate) const PLAIN_GPU: Self = Self {
        group_size: 256,
        local_bytes: 16 << 10,
        is_cpu: false,
        exchanging_passes: true,
        second_array: false,
        buckets: false,
        most_cluster_log2: 0,
    };

    /// What an NVIDIA H200 has: memory for a second array, too, and the largest clusters.
    pub(crate) const FULL_GPU: Self = Self {
        group_size: 1024,
        local_bytes: 227 << 10,
        is_cpu: false,
        exchanging_passes: true,
        second_array: true,
        buckets: true,
        most_cluster_log2: 4,
    };
}

/// How a sort is cut into work-groups and passes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Shape {
    /// The base-2 logarithm of the elements in a tile.
    pub(crate) tile_log2: u32,
    /// The base-2 logarithm of the elements that a work-item holds in a tile.
    pub(crate) held_log2: u32,
    /// The most steps of one pass over memory.
    pub(crate) fused_steps: u32,
    /// The most steps of a pass whose work-items hold all elements that its steps compare, 2^steps of them, in registers.
    /// Passes of more steps go through local memory once, as tiles do.
    pub(crate) register_steps: u32,
    /// The base-2 logarithm of the work-items in a group of a pass over memory.
    pub(crate) pass_items_log2: u32,
    /// Whether the merges of a tile are written out one by one, so that all addresses are constants: faster on a GPU by
    /// a tenth, more to compile.
    pub(crate) unrolled: bool,
    /// What is done where a tile is not enough.
    pub(crate) way: Way,
    /// Whether places are numbered with 64 bits where 32 would do, too. Slower, and only for tests: arrays that need it are
    /// larger than what tests sort.
    pub(crate) wide_index: bool,
}

/// How an array that is longer than a tile is sorted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Way {
    /// The network, in passes over memory.
    Passes,
    /// The network, by one cluster of work-groups.
    Cluster(Cluster),
    /// Columnsort, of chunks as long as it can sort if the array is longer, and the network to merge those.
    Columns(Columns),
    /// Buckets, each of them sorted in a tile.
    Buckets(Buckets),
}

/// How many elements a work-item holds in a tile: base-2 logarithms, for elements of 4, 8, 16 and 24 bytes. Measured on an
/// NVIDIA H200, best for large arrays. One bit more spills registers or leaves too few work-items to hide latencies, one less
/// means more trips through local memory.
fn most_held(element_bytes: usize) -> u32 {
    match element_bytes {
        4 => 5,
        8 | 16 => 4,
        _ => 3,
    }
}

/// The same for a lone tile of this size, which is over before its latencies are hidden: with fewer elements for each
/// work-item they are shorter.
fn lone_held(element_bytes: usize, tile_log2: u32) -> u32 {
    match (element_bytes, tile_log2) {
        (4, ..=10) => 3,
        (4, ..=12) => 4,
        (8.., ..=11) => 3,
        _ => most_held(element_bytes),
    }
}

/// The most steps of a pass over memory, and of one in registers alone. One exchange in local memory doubles the steps that
/// registers have bits for, and takes an eighth to a half longer, as measured on an NVIDIA H200. Without it, one step more
/// than these would be slower than two passes.
fn steps_of_pass(limits: DeviceLimits, element_bytes: usize, tile_log2: u32, held_log2: u32) -> (u32, u32) {
    if limits.exchanging_passes && held_log2 >= 3 && tile_log2 >= 2 * held_log2 + PIECE_LOG2 {
        return (2 * held_log2, held_log2.min(4));
    }
    let alone = match element_bytes {
        4 | 8 => 6,
        16 => 5,
        _ => 4,
    };
    (alone, alone)
}

/// Neighbouring elements that a pass through local memory takes from one place, at least: 32 bytes, what devices load at
/// once, for elements of 4 bytes.
const PIECE_LOG2: u32 = 3;

/// Up to this length a tile is faster than a cluster, and up to the second a cluster is faster than columnsort.
fn best_up_to(element_bytes: usize) -> (usize, usize) {
    match element_bytes {
        4 => (1 << 12, 1 << 14),
        8 => (1 << 11, 1 << 13),
        _ => (1 << 10, 1 << 13),
    }
}

/// Above this length buckets are faster than anything else.
fn buckets_above(element_bytes: usize) -> usize {
    match element_bytes {
        4 => 1 << 21,
        _ => 1 << 18,
    }
}

/// What tiles take of local memory at most, so that several work-groups run side by side; and for large arrays, where
/// larger tiles save passes.
const LOCAL_BYTES: usize = 48 << 10;
const LARGE_LOCAL_BYTES: usize = 72 << 10;

/// The largest tile, and the largest for arrays that are large.
const MAX_TILE_LOG2: u32 = 13;
const LARGE_TILE_LOG2: u32 = 14;
const LARGE_ARRAY_LOG2: u32 = 23;

/// On CPUs the elements of a work-item are context that is kept in memory over every barrier: on PoCL, 4 of them took half
/// to two thirds of the time of 8. With 16 and more, PoCL 3.1 compiles wrong code.
const CPU_HELD_LOG2: u32 = 2;
const CPU_MOST_HELD_LOG2: u32 = 3;
const CPU_TILE_LOG2: u32 = 12;

impl Shape {
    /// A good shape for so many rows of this length, within the limits.
    pub(crate) fn new(limits: DeviceLimits, layout: Layout, row_length: usize, rows: usize) -> Self {
        let network = Self::network(limits, layout, row_length, rows);
        network.by_the_best_way(limits, layout, row_length, rows)
    }

    /// A good shape for the network in passes.
    pub(crate) fn network(limits: DeviceLimits, layout: Layout, row_length: usize, rows: usize) -> Self {
        let element = layout.element_bytes();
        let group_log2 = limits.group_size.max(1).ilog2();
        // Many short rows share tiles; one short row has a tile to itself.
        let needed = Step::merges(row_length.saturating_mul(rows)).max(1);
        let merges = Step::merges(row_length);
        let large = if rows > 1 { merges == LARGE_TILE_LOG2 } else { merges >= LARGE_ARRAY_LOG2 };
        let (largest, budget) = match (limits.is_cpu, large) {
            (true, _) => (CPU_TILE_LOG2, limits.local_bytes),
            (false, true) => (LARGE_TILE_LOG2, LARGE_LOCAL_BYTES),
            (false, false) => (MAX_TILE_LOG2, LOCAL_BYTES),
        };
        let held = if limits.is_cpu { CPU_HELD_LOG2 } else { lone_held(element, needed) };
        let fits = |tile_log2: u32| local_bytes(tile_log2, element) <= limits.local_bytes.min(budget);
        let mut tile = largest.min(needed.max(SMALLEST_TILE_LOG2)).min(held + group_log2);
        while tile > 1 && !fits(tile) {
            tile -= 1;
        }
        let held = held.min(tile);
        let (fused_steps, register_steps) = if limits.is_cpu {
            (CPU_MOST_HELD_LOG2, CPU_MOST_HELD_LOG2)
        } else {
            steps_of_pass(limits, element, tile, held)
        };
        Self {
            tile_log2: tile,
            held_log2: held,
            fused_steps,
            register_steps,
            pass_items_log2: 8.min(group_log2).min(tile),
            unrolled: !limits.is_cpu,
            way: Way::Passes,
            wide_index: false,
        }
    }

    /// The same, but by a cluster, by columnsort or by buckets where that is faster and the device can do it.
    pub(crate) fn by_the_best_way(
        self,
        limits: DeviceLimits,
        layout: Layout,
        row_length: usize,
        rows: usize,
    ) -> Self {
        let (by_tile, by_cluster) = best_up_to(layout.element_bytes());
        if rows > 1 && row_length <= 1 << self.tile_log2 || row_length <= by_tile.min(1 << self.tile_log2) {
            return self;
        }
        let cluster = Cluster::of_length(limits, layout, row_length).filter(|_| rows == 1).map(Way::Cluster);
        let of_length = Columns::of_length(limits, layout, row_length);
        let chunks = |columns: &Columns| rows == 1 && row_length > columns.length();
        let largest = || Columns::largest(limits, layout).filter(chunks);
        let columns = of_length.or_else(largest).map(Way::Columns);
        let by_buckets = rows == 1 && row_length > buckets_above(layout.element_bytes());
        let buckets = Buckets::of_length(limits, layout, row_length).filter(|_| by_buckets).map(Way::Buckets);
        let best =
            buckets.or(if row_length <= by_cluster { cluster.or(columns) } else { columns.or(cluster) });
        Self { way: best.unwrap_or(Way::Passes), ..self }
    }

    /// The same with a tile of another size, or other numbers of elements held.
    pub(crate) fn with_tile(
        self,
        limits: DeviceLimits,
        layout: Layout,
        tile_log2: u32,
        held_log2: u32,
    ) -> Self {
        let (fused_steps, register_steps) = if limits.is_cpu {
            (self.fused_steps, self.register_steps)
        } else {
            steps_of_pass(limits, layout.element_bytes(), tile_log2, held_log2)
        };
        Self { tile_log2, held_log2, fused_steps, register_steps, ..self }
    }

    /// Whether a device can run it, and a kernel exists for it.
    pub(crate) fn is_possible(self, limits: DeviceLimits, layout: Layout) -> bool {
        let group_log2 = limits.group_size.max(1).ilog2();
        let most = if limits.is_cpu { CPU_MOST_HELD_LOG2 } else { 8 };
        (1..=most).contains(&self.held_log2)
            && self.held_log2 <= self.tile_log2
            && self.tile_log2 <= 16
            && self.tile_log2 - self.held_log2 <= group_log2
            && (1..=most).contains(&self.register_steps)
            && (self.fused_steps == self.register_steps || self.can_exchange())
            && self.pass_items_log2 <= group_log2
            && self.pass_items_log2 <= self.tile_log2
            && local_bytes(self.tile_log2, layout.element_bytes()) <= limits.local_bytes
    }

    /// Whether passes with more steps than registers alone allow have what they need.
    fn can_exchange(self) -> bool {
        let Self { tile_log2, held_log2, fused_steps, register_steps, .. } = self;
        fused_steps > register_steps
            && register_steps + 1 >= held_log2
            && fused_steps <= 2 * held_log2
            && 2 * held_log2 <= tile_log2
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
pub(crate) fn local_bytes(tile_log2: u32, element_bytes: usize) -> usize {
    let elements = 1_usize << tile_log2;
    (elements + elements / 32) * element_bytes
}

/// As `bitonic tune` shows and stores it, and [`Shape::parse`] reads it, if it is the network's in passes.
impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            tile_log2,
            held_log2,
            fused_steps,
            register_steps,
            pass_items_log2,
            unrolled,
            way,
            wide_index: _,
        } = self;
        write!(
            f,
            "tile 2^{tile_log2} held 2^{held_log2} fused {fused_steps} registers {register_steps} items \
             2^{pass_items_log2} {}",
            if *unrolled { "unrolled" } else { "looped" }
        )?;
        match way {
            Way::Passes => Ok(()),
            Way::Cluster(cluster) => write!(f, " cluster 2^{}", cluster.log2),
            Way::Columns(columns) => write!(f, " columns 2^{}", columns.tile_log2),
            Way::Buckets(buckets) => write!(f, " buckets {}", buckets.count),
        }
    }
}

impl Shape {
    /// Reads what `Display` writes.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let words: Vec<&str> = text.split(' ').collect();
        let ["tile", tile, "held", held, "fused", fused, "registers", registers, "items", items, merges] =
            words[..]
        else {
            return None;
        };
        let power = |word: &str| word.strip_prefix("2^")?.parse().ok();
        Some(Self {
            tile_log2: power(tile)?,
            held_log2: power(held)?,
            fused_steps: fused.parse().ok()?,
            register_steps: registers.parse().ok()?,
            pass_items_log2: power(items)?,
            unrolled: match merges {
                "unrolled" => true,
                "looped" => false,
                _ => return None,
            },
            way: Way::Passes,
            wide_index: false,
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

    fn limits(group_size: usize, local_bytes: usize, is_cpu: bool) -> DeviceLimits {
        DeviceLimits {
            group_size,
            local_bytes,
            is_cpu,
            exchanging_passes: !is_cpu,
            ..DeviceLimits::PLAIN_GPU
        }
    }

    #[test]
    fn every_device_gets_a_shape_within_its_limits() {
        for group_size in [1, 2, 16, 64, 256, 1000, 1024, 4096] {
            for local_bytes in [1 << 10, 16 << 10, 32 << 10, 48 << 10, 64 << 10, 2 << 20] {
                for is_cpu in [false, true] {
                    let limits = limits(group_size, local_bytes, is_cpu);
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
            let limits = limits(group_size, local_kib << 10, is_cpu);
            let shape = Shape::new(limits, layout, 1 << 24, 1);
            (shape.tile_log2, shape.held_log2, shape.fused_steps)
        };
        let (keys, pairs, wide) = (LAYOUTS[2], LAYOUTS[6], LAYOUTS[4]);
        assert_eq!(shape(1024, 48, false, keys), (13, 5, 10), "a large GPU");
        assert_eq!(shape(1024, 48, false, pairs), (12, 4, 8));
        assert_eq!(shape(1024, 48, false, wide), (11, 4, 8));
        assert_eq!(shape(1024, 227, false, keys), (14, 5, 10), "one with more local memory");
        assert_eq!(shape(256, 16, false, keys), (11, 5, 6), "a small GPU");
        assert_eq!(shape(1024, 32, false, keys), (12, 5, 6), "a simulator");
        assert_eq!(shape(4096, 2048, true, keys), (12, 2, 3), "a CPU");
    }

    #[test]
    fn arrays_longer_than_a_tile_are_sorted_in_the_way_that_was_measured_best() {
        let everything = DeviceLimits::FULL_GPU;
        let in_place = DeviceLimits { second_array: false, buckets: false, ..everything };
        let alone = DeviceLimits { most_cluster_log2: 0, ..in_place };
        let way = |limits, row_length, rows| {
            let shape = Shape::new(limits, Layout::keys::<u32>(), row_length, rows);
            match shape.way {
                Way::Passes => "passes",
                Way::Cluster(_) => "cluster",
                Way::Columns(_) => "columns",
                Way::Buckets(_) => "buckets",
            }
        };
        assert_eq!(way(everything, 1 << 12, 1), "passes", "of which there is one: a tile");
        assert_eq!(way(everything, (1 << 12) + 1, 1), "cluster");
        assert_eq!(way(everything, (1 << 14) + 1, 1), "columns");
        assert_eq!(way(everything, 1 << 21, 1), "columns");
        assert_eq!(way(everything, (1 << 21) + 1, 1), "buckets");
        assert_eq!(way(everything, 1 << 25, 1), "buckets");
        assert_eq!(way(DeviceLimits { buckets: false, ..everything }, 1 << 24, 1), "columns");
        assert_eq!(
            way(everything, 1 << 26, 1),
            "columns",
            "a sample for so many buckets does not fit a cluster"
        );
        assert_eq!(way(in_place, 1 << 22, 1), "passes");
        assert_eq!(way(everything, 1 << 13, 1000), "passes");
        assert_eq!(way(everything, 1 << 16, 1000), "columns");
        assert_eq!(way(in_place, 1 << 16, 1), "cluster");
        assert_eq!(way(in_place, (1 << 16) + 1, 1), "passes");
        assert_eq!(way(in_place, 1 << 16, 2), "passes");
        assert_eq!(way(alone, 1 << 13, 1), "passes");
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
