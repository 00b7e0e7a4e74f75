//! The plan, executed: which kernels run one after the other, over how many work-groups.

use super::layout::{Layout, Mapping};
use super::shape::Shape;
use super::source::{Kind, TileRows, Variant};
use crate::plan::{Pass, Place, Step, passes};

/// What is to be sorted: `rows` rows of `row_length` elements each, one after the other in the arrays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Job {
    pub(crate) layout: Layout,
    pub(crate) mapping: Mapping,
    pub(crate) row_length: usize,
    pub(crate) rows: usize,
}

/// One run of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Launch {
    pub(crate) kernel: Variant,
    pub(crate) groups: usize,
    pub(crate) group_size: usize,
    /// The kernel's argument `count`: groups of a row, or rows where several share a tile.
    pub(crate) count: usize,
    /// The kernel's last argument: the mapping of a tile's keys, or the lowest bit of a pass over memory.
    pub(crate) last: u32,
}

impl Job {
    /// Every kernel of the sort, in order. None when there is nothing to sort.
    pub(crate) fn launches(&self, shape: Shape) -> Vec<Launch> {
        if self.row_length == 0 || self.rows == 0 {
            return Vec::new();
        }
        let merges = Step::merges(self.row_length);
        let passes: Vec<Pass> = if merges == 0 {
            // Rows of one element are sorted, but their values may have to be made, and their keys have to go through.
            vec![Pass { place: Place::Tile, steps: 0..0 }]
        } else {
            passes(self.row_length, shape.limits()).collect()
        };
        let last = passes.len() - 1;
        passes
            .iter()
            .enumerate()
            .map(|(index, pass)| self.launch(shape, pass, index == 0, index == last))
            .collect()
    }

    fn launch(&self, shape: Shape, pass: &Pass, first: bool, last: bool) -> Launch {
        let wide_index = self.needs_wide_index(shape);
        let variant = |kind| Variant { layout: self.layout, wide_index, kind };
        let tile = 1_usize << shape.tile_log2;
        let merges = Step::merges(self.row_length);
        match pass.place {
            Place::Tile if first && self.rows > 1 && merges <= shape.tile_log2 => Launch {
                kernel: Variant::tile_sort(self.layout, wide_index, shape, merges, self.short_rows()),
                groups: (self.rows << merges).div_ceil(tile),
                group_size: shape.tile_items(),
                count: self.rows,
                last: self.mapping.argument(first, last),
            },
            Place::Tile => {
                let tiles = self.row_length.div_ceil(tile);
                let kernel = if first {
                    // One short row is sorted as a whole tile: what is past its end is infinite.
                    Variant::tile_sort(self.layout, wide_index, shape, shape.tile_log2, TileRows::Long)
                } else {
                    variant(Kind::TileMerge { tile_log2: shape.tile_log2, held_log2: shape.held_log2 })
                };
                Launch {
                    kernel,
                    groups: tiles * self.rows,
                    group_size: shape.tile_items(),
                    count: tiles,
                    last: self.mapping.argument(first, last),
                }
            }
            Place::Memory => {
                let steps = pass.steps.len() as u32;
                let step = Step::new(pass.steps.start);
                let shift = step.span() - steps;
                let flip = step == Step::first_of_merge(step.merge());
                // Blocks of 2^span places, in each of them a work-item for every combination of the low bits.
                let items = self.row_length.div_ceil(1 << step.span()) << shift;
                let count = items >> shape.pass_items_log2;
                Launch {
                    kernel: variant(Kind::MemoryPass { steps, flip, items: shape.pass_items() as u32 }),
                    groups: count * self.rows,
                    group_size: shape.pass_items(),
                    count,
                    last: shift,
                }
            }
        }
    }

    fn short_rows(&self) -> TileRows {
        if self.row_length.is_power_of_two() { TileRows::Short } else { TileRows::Ragged }
    }

    /// Whether some place, or one that is looked at past the end, may need more than 32 bits. Short rows, which share tiles, are
    /// counted as if each had one: more than they need, and how tests come to run the wide kernels.
    fn needs_wide_index(&self, shape: Shape) -> bool {
        let padded = self.row_length.next_power_of_two().max(1 << shape.tile_log2);
        (self.rows as u128) * (padded as u128) > 1 << 31
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Order;
    use crate::gpu::shape::DeviceLimits;
    use proptest::prelude::*;

    fn job(row_length: usize, rows: usize) -> Job {
        Job {
            layout: Layout::keys::<u32>(),
            mapping: Mapping::new::<i32>(Order::Descending),
            row_length,
            rows,
        }
    }

    fn limits() -> impl Strategy<Value = DeviceLimits> {
        let groups = prop_oneof![Just(1_usize), Just(64), Just(256), Just(1024), Just(4096)];
        let local = prop_oneof![Just(1_usize << 10), Just(16 << 10), Just(48 << 10)];
        (groups, local, any::<bool>()).prop_map(|(group_size, local_bytes, is_cpu)| DeviceLimits {
            group_size,
            local_bytes,
            is_cpu,
        })
    }

    proptest! {
        /// The work-groups of every launch have just enough work-items for every element, and keys are mapped once each way.
        #[test]
        fn launches_cover_the_elements_once(
            limits in limits(),
            row_length in prop_oneof![1_usize..5000, 1_usize..(1 << 27)],
            rows in prop_oneof![Just(1_usize), 1_usize..50],
        ) {
            let job = job(row_length, rows);
            let shape = Shape::new(limits, job.layout, row_length, rows);
            let launches = job.launches(shape);
            let padded = row_length.next_power_of_two();
            for (index, launch) in launches.iter().enumerate() {
                prop_assert!(launch.group_size <= limits.group_size);
                prop_assert!(launch.groups > 0 && launch.count > 0);
                let held = match launch.kernel.kind {
                    Kind::TileSort { held_log2, .. } | Kind::TileMerge { held_log2, .. } => held_log2,
                    Kind::MemoryPass { steps, .. } => steps,
                };
                let elements = (launch.groups * launch.group_size) << held;
                prop_assert!(elements >= row_length * rows);
                let block = match launch.kernel.kind {
                    Kind::MemoryPass { .. } => 1_usize << (launch.last + held),
                    _ => 1 << shape.tile_log2,
                };
                prop_assert!(elements <= (rows * padded.max(block) + block), "{} for {} x {}", elements, rows, padded);
                let is_tile = !matches!(launch.kernel.kind, Kind::MemoryPass { .. });
                if is_tile {
                    let mapping = job.mapping.argument(index == 0, index + 1 == launches.len());
                    prop_assert_eq!(launch.last, mapping);
                }
            }
            let (first, last) = (launches[0].kernel.kind, launches[launches.len() - 1].kernel.kind);
            prop_assert!(matches!(first, Kind::TileSort { .. }), "{:?}", first);
            prop_assert!(!matches!(last, Kind::MemoryPass { .. }), "{:?}", last);
        }
    }

    #[test]
    fn nothing_is_launched_for_nothing() {
        let shape = Shape::new(
            DeviceLimits { group_size: 256, local_bytes: 16 << 10, is_cpu: false },
            Layout::keys::<u32>(),
            0,
            1,
        );
        assert!(job(0, 1).launches(shape).is_empty());
        assert!(job(5, 0).launches(shape).is_empty());
        assert_eq!(job(1, 1).launches(shape).len(), 1);
    }
}
