//! The plan, executed: which kernels run one after the other, over how many work-groups.

use super::buckets::{Buckets, Tile};
use super::cluster::Cluster;
use super::columns::Columns;
use super::layout::{Layout, Mapping};
use super::shape::{Shape, Way};
use super::source::{ColumnPass, Kind, TileRows, Variant};
use crate::plan::{Pass, Place, Step, passes};

/// What is to be sorted: `rows` rows of `row_length` elements each, one after the other in the arrays.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
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
    pub(crate) arguments: Arguments,
}

/// One thing that a kernel is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Parameter {
    /// The array of keys.
    Keys,
    /// That of values.
    Values,
    /// Working memory for keys.
    WorkKeys,
    /// And for values.
    WorkValues,
    /// Memory to keep account in.
    Control,
    /// A number of places, as wide as the kernel's index.
    Place(usize),
    /// A number of 32 bits.
    Number(u32),
}

/// All that a kernel is given, in order, without memory to allocate.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Parameters {
    list: [Parameter; 10],
    len: usize,
}

impl Parameters {
    fn push(&mut self, parameter: Parameter) {
        self.list[self.len] = parameter;
        self.len += 1;
    }

    fn extend(&mut self, parameters: impl IntoIterator<Item = Parameter>) {
        parameters.into_iter().for_each(|parameter| self.push(parameter));
    }

    pub(crate) fn as_slice(&self) -> &[Parameter] {
        &self.list[..self.len]
    }
}

impl Launch {
    /// What its kernel is given.
    pub(crate) fn parameters(&self) -> Parameters {
        use Parameter::{Control, Keys, Number, Place, Values, WorkKeys, WorkValues};

        let has_values = self.kernel.layout.value_bits > 0;
        let mut list = Parameters { list: [Number(0); 10], len: 0 };
        list.push(Keys);
        list.extend(has_values.then_some(Values));
        if !matches!(self.arguments, Arguments::Rows { .. }) {
            list.push(WorkKeys);
            list.extend(has_values.then_some(WorkValues));
        }
        match self.arguments {
            Arguments::Rows { row_length, count, last } => {
                list.extend([Place(row_length), Place(count), Number(last)]);
            }
            Arguments::Columns { total, chunk_length, most_columns, mapping, offset } => {
                list.extend([Place(total), Place(chunk_length), Place(most_columns)]);
                list.extend([Number(mapping), Number(offset)]);
            }
            Arguments::Buckets { total, buckets, capacity, mapping } => {
                list.extend([Control, Place(total), Number(buckets), Number(capacity), Number(mapping)]);
            }
        }
        list
    }

    /// Whether it reads and writes all elements: not if it sorts a sample, or does nothing unless others have failed.
    pub(crate) fn is_pass(&self) -> bool {
        !matches!(self.kernel.kind, Kind::Sample(_) | Kind::Rescue(_))
    }
}

/// What a kernel is given after the arrays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Arguments {
    /// The kernels of the network.
    Rows {
        row_length: usize,
        /// Groups of a row, or rows where several share a tile.
        count: usize,
        /// The mapping of a tile's keys, or the lowest bit of a pass over memory.
        last: u32,
    },
    /// The kernels of columnsort, which have a second set of arrays to work in.
    Columns { total: usize, chunk_length: usize, most_columns: usize, mapping: u32, offset: u32 },
    /// The kernels of a sort by buckets, which have memory to keep account in, too.
    Buckets { total: usize, buckets: u32, capacity: u32, mapping: u32 },
}

impl Job {
    /// Every kernel of the sort, in order. None when there is nothing to sort.
    pub(crate) fn launches(&self, shape: Shape) -> Vec<Launch> {
        if self.row_length == 0 || self.rows == 0 {
            return Vec::new();
        }
        match shape.way {
            Way::Passes => self.network(shape, 0, true),
            Way::Cluster(cluster) => vec![self.by_cluster(shape, cluster)],
            Way::Columns(columns) => {
                let merged = Step::merges(columns.length());
                let merges = self.network(shape, merged, false);
                let mut launches = self.by_columns(shape, columns, merges.is_empty());
                launches.extend(merges);
                launches
            }
            Way::Buckets(buckets) => self.by_buckets(shape, buckets),
        }
    }

    /// How many elements of working memory the launches need; 0 if they are in place.
    pub(crate) fn work_elements(&self, shape: Shape) -> usize {
        match shape.way {
            Way::Columns(columns) => {
                let chunk = self.chunk_length(columns);
                (self.row_length * self.rows).div_ceil(chunk) * columns.work(chunk)
            }
            // Rounded, so that what follows is at a multiple of 16 bytes.
            Way::Buckets(buckets) => buckets.work().next_multiple_of(16),
            Way::Passes | Way::Cluster(_) => 0,
        }
    }

    /// The bytes of that memory: of all keys, behind them of all values, and what kernels keep account in.
    pub(crate) fn work_bytes(&self, shape: Shape) -> usize {
        let control = match shape.way {
            Way::Buckets(buckets) => buckets.control_bytes(),
            _ => 0,
        };
        self.control_offset(shape).saturating_add(control)
    }

    /// Where in that memory kernels keep account.
    pub(crate) fn control_offset(&self, shape: Shape) -> usize {
        self.work_elements(shape).saturating_mul(self.layout.stored_bytes())
    }

    /// Passes for all merges above the first `sorted` ones, which are done.
    fn network(&self, shape: Shape, sorted: u32, first: bool) -> Vec<Launch> {
        let passes: Vec<Pass> = if Step::merges(self.row_length) == 0 {
            // Rows of one element are sorted, but their values may have to be made, and their keys have to go through.
            vec![Pass { place: Place::Tile, steps: 0..0 }]
        } else {
            passes(self.row_length, shape.limits())
                .filter(|pass| Step::new(pass.steps.start).merge() > sorted)
                .collect()
        };
        let end = passes.len();
        passes
            .iter()
            .enumerate()
            .map(|(index, pass)| self.launch(shape, pass, first && index == 0, index + 1 == end))
            .collect()
    }

    fn launch(&self, shape: Shape, pass: &Pass, first: bool, last: bool) -> Launch {
        let variant = |kind| self.variant(shape, kind);
        let wide_index = self.needs_wide_index(shape);
        let tile = 1_usize << shape.tile_log2;
        let merges = Step::merges(self.row_length);
        let row_length = self.row_length;
        match pass.place {
            Place::Tile if first && self.rows > 1 && merges <= shape.tile_log2 => Launch {
                kernel: Variant::tile_sort(self.layout, wide_index, shape, merges, self.short_rows()),
                groups: (self.rows << merges).div_ceil(tile),
                group_size: shape.tile_items(),
                arguments: Arguments::Rows {
                    row_length,
                    count: self.rows,
                    last: self.mapping.argument(first, last),
                },
            },
            Place::Tile => {
                let tiles = row_length.div_ceil(tile);
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
                    arguments: Arguments::Rows {
                        row_length,
                        count: tiles,
                        last: self.mapping.argument(first, last),
                    },
                }
            }
            Place::Memory => {
                let steps = pass.steps.len() as u32;
                let step = Step::new(pass.steps.start);
                let shift = step.span() - steps;
                let flip = step == Step::first_of_merge(step.merge());
                // Blocks of 2^span places, in each of them 2^shift with the same bits but those of the steps.
                let blocks = row_length.div_ceil(1 << step.span());
                let Shape { tile_log2, held_log2, .. } = shape;
                let (kind, count, group_size) = if steps <= shape.register_steps {
                    let items = shape.pass_items();
                    let kind = Kind::MemoryPass { steps, flip, items: items as u32 };
                    (kind, (blocks << shift) >> shape.pass_items_log2, items)
                } else {
                    let kind = Kind::StridedPass { tile_log2, held_log2, steps, flip };
                    (kind, (blocks << shift) >> (tile_log2 - steps), shape.tile_items())
                };
                Launch {
                    kernel: variant(kind),
                    groups: count * self.rows,
                    group_size,
                    arguments: Arguments::Rows { row_length, count, last: shift },
                }
            }
        }
    }

    fn by_cluster(&self, shape: Shape, cluster: Cluster) -> Launch {
        let groups = 1 << cluster.log2;
        Launch {
            kernel: self.variant(shape, Kind::ClusterSort(cluster)),
            groups: groups * self.rows,
            group_size: cluster.items(),
            arguments: Arguments::Rows {
                row_length: self.row_length,
                count: groups,
                last: self.mapping.argument(true, true),
            },
        }
    }

    /// Columnsort of every row, or of chunks of the one row; `last`, if no merges follow.
    fn by_columns(&self, shape: Shape, columns: Columns, last: bool) -> Vec<Launch> {
        let total = self.row_length * self.rows;
        let chunk_length = self.chunk_length(columns);
        let chunks = total.div_ceil(chunk_length);
        let most_columns = columns.columns(chunk_length);
        let launch = |pass, held_log2: u32, groups: usize, cluster_log2, mapping, offset| {
            let Columns { tile_log2, .. } = columns;
            let kind =
                Kind::Column { pass, tile_log2, held_log2, run_log2: columns.run_log2(), cluster_log2 };
            Launch {
                kernel: self.variant(shape, kind),
                groups: chunks * groups,
                group_size: 1 << (tile_log2 - held_log2),
                arguments: Arguments::Columns { total, chunk_length, most_columns, mapping, offset },
            }
        };
        let [deal, gather, spread, shift] = columns.held_log2;
        let new_columns = 1_usize << (columns.dealt_log2 + columns.cluster_log2);
        let mut launches = vec![
            launch(ColumnPass::Deal, deal, most_columns, 0, self.mapping.argument(true, false), 0),
            launch(ColumnPass::Gather, gather, new_columns, columns.cluster_log2, 0, 0),
            launch(ColumnPass::Spread, spread, most_columns, 0, 0, 0),
        ];
        for round in 0..columns.rounds {
            let offset = 1 - round % 2;
            let mapping = self.mapping.argument(false, last && round + 1 == columns.rounds);
            let groups = most_columns + offset as usize;
            launches.push(launch(ColumnPass::Shift, shift, groups, 0, mapping, offset));
        }
        launches
    }

    fn by_buckets(&self, shape: Shape, buckets: Buckets) -> Vec<Launch> {
        let total = self.row_length * self.rows;
        let launch = |kind, groups, group_size, mapping| Launch {
            kernel: self.variant(shape, kind),
            groups,
            group_size,
            arguments: Arguments::Buckets {
                total,
                buckets: buckets.count as u32,
                capacity: buckets.capacity() as u32,
                mapping,
            },
        };
        let Buckets { sample, scatter, tile, rescue, .. } = buckets;
        let (first, last) = (self.mapping.argument(true, false), self.mapping.argument(false, true));
        let by_cluster =
            |kind, cluster: Cluster, mapping| launch(kind, 1 << cluster.log2, cluster.items(), mapping);
        let Tile { log2: tile_log2, held_log2 } = scatter;
        let scatter_kind = Kind::Scatter { tile_log2, held_log2, tree_log2: buckets.tree_log2() };
        let sort_kind = Kind::BucketSort {
            tile_log2: tile.log2,
            held_log2: tile.held_log2,
            leaves_out: buckets.leaves_out(),
        };
        let mut launches = vec![
            by_cluster(Kind::Sample(sample), sample, first),
            launch(scatter_kind, buckets.scatter_groups(total), scatter.items(), first),
            launch(sort_kind, buckets.count, tile.items(), last),
        ];
        launches.extend(rescue.map(|cluster| by_cluster(Kind::Rescue(cluster), cluster, first | last)));
        launches
    }

    /// What is laid out in one matrix: a row, or as much of it as fits.
    fn chunk_length(&self, columns: Columns) -> usize {
        self.row_length.min(columns.length())
    }

    fn variant(&self, shape: Shape, kind: Kind) -> Variant {
        Variant { layout: self.layout, wide_index: self.needs_wide_index(shape), kind }
    }

    fn short_rows(&self) -> TileRows {
        if self.row_length.is_power_of_two() { TileRows::Short } else { TileRows::Ragged }
    }

    /// Whether some place, or one that is looked at past the end, may need more than 32 bits.
    fn needs_wide_index(&self, shape: Shape) -> bool {
        let padded = self.row_length.next_power_of_two();
        let in_rows = (self.rows as u128) * (padded as u128);
        // Tiles of long rows, and of a cluster's, reach past the end of each row; those of short rows past the end of all.
        let past_the_end = match self.rows {
            1 => 1 << shape.tile_log2.max(16),
            _ => 0,
        };
        let work = self.work_elements(shape) as u128;
        shape.wide_index || (in_rows + past_the_end).max(work) + (1 << 16) > 1 << 31
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Order;
    use crate::gpu::backend::Backend;
    use crate::gpu::opencl::testing;
    use crate::gpu::shape::DeviceLimits;
    use crate::gpu::testing::sort_in_shape;
    use bitonic_testkit::{Oclgrind, Pattern};
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
        let groups = prop_oneof![Just(1_usize), Just(64), Just(256), Just(512), Just(1024), Just(4096)];
        let local = prop_oneof![Just(1_usize << 10), Just(16 << 10), Just(48 << 10), Just(227 << 10)];
        (groups, local, any::<bool>(), any::<bool>(), prop_oneof![Just(0_u32), Just(3), Just(4)]).prop_map(
            |(group_size, local_bytes, is_cpu, second_array, most_cluster_log2)| DeviceLimits {
                group_size,
                local_bytes,
                is_cpu,
                exchanging_passes: !is_cpu,
                second_array: second_array && !is_cpu,
                buckets: second_array && !is_cpu,
                most_cluster_log2: if is_cpu { 0 } else { most_cluster_log2 },
            },
        )
    }

    /// The mapping that a launch is given; `None` for kernels that have none.
    fn mapping(launch: &Launch) -> Option<u32> {
        match (launch.arguments, launch.kernel.kind) {
            (_, Kind::MemoryPass { .. } | Kind::StridedPass { .. }) => None,
            (Arguments::Rows { last, .. }, _) => Some(last),
            (Arguments::Columns { mapping, .. } | Arguments::Buckets { mapping, .. }, _) => Some(mapping),
        }
    }

    proptest! {
        /// The work-groups of every launch have enough work-items for every element and not many more, and keys are mapped once
        /// each way.
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
            let work = job.work_elements(shape);
            prop_assert_eq!(work > 0, matches!(shape.way, Way::Columns(_) | Way::Buckets(_)));
            if let Way::Buckets(_) = shape.way {
                let [sample, scatter, sort, rescue] = &launches[..] else { panic!("{launches:?}") };
                let (read, write) = (job.mapping.argument(true, false), job.mapping.argument(false, true));
                prop_assert_eq!((mapping(sample), mapping(scatter)), (Some(read), Some(read)));
                prop_assert_eq!((mapping(sort), mapping(rescue)), (Some(write), Some(read | write)));
                prop_assert!(launches.iter().all(|launch| launch.group_size <= limits.group_size));
                prop_assert!(launches.iter().all(|launch| launch.kernel.local_bytes() <= limits.local_bytes));
                return Ok(());
            }
            for (index, launch) in launches.iter().enumerate() {
                prop_assert!(launch.group_size <= limits.group_size);
                prop_assert!(launch.kernel.local_bytes() <= limits.local_bytes);
                prop_assert!(launch.groups > 0);
                let (tile_log2, held) = launch.kernel.tile_and_held_log2();
                let elements = (launch.groups * launch.group_size) << held;
                prop_assert!(elements >= row_length * rows, "{:?}", launch);
                let block = match (launch.kernel.kind, launch.arguments) {
                    (Kind::MemoryPass { .. }, Arguments::Rows { last, .. }) => 1_usize << (last + held),
                    (Kind::StridedPass { steps, .. }, Arguments::Rows { last, .. }) => 1 << (last + steps),
                    (Kind::ClusterSort(cluster), _) => cluster.length(),
                    (Kind::Column { cluster_log2, .. }, _) => 4 << (tile_log2.unwrap() + cluster_log2),
                    _ => 1 << shape.tile_log2,
                };
                let most = 2 * (rows * padded.max(block) + block).max(work);
                prop_assert!(elements <= most, "{} for {} x {}: {:?}", elements, rows, padded, launch);
                let expected = job.mapping.argument(index == 0, index + 1 == launches.len());
                if let Some(mapping) = mapping(launch) {
                    prop_assert_eq!(mapping, expected, "{:?}", launch);
                } else {
                    prop_assert_eq!(expected, 0, "{:?} is first or last", launch);
                }
            }
        }

        /// Columnsort leaves what the network's later merges start from.
        #[test]
        fn merges_that_follow_a_columnsort_start_with_the_length_of_its_chunks(
            row_length in (1_usize << 22) + 1..(1 << 30),
        ) {
            let job = job(row_length, 1);
            let columns = Columns::largest(DeviceLimits::FULL_GPU, job.layout).unwrap();
            let network = Shape::network(DeviceLimits::FULL_GPU, job.layout, row_length, 1);
            let shape = Shape { way: Way::Columns(columns), ..network };
            let launches = job.launches(shape);
            let passes = 3 + columns.rounds as usize;
            for launch in &launches[..passes] {
                let Arguments::Columns { total, chunk_length, .. } = launch.arguments else {
                    panic!("{launch:?}")
                };
                prop_assert_eq!((total, chunk_length), (row_length, columns.length()));
            }
            let Arguments::Rows { last: shift, .. } = launches[passes].arguments else {
                panic!("{launches:?}")
            };
            let steps = match launches[passes].kernel.kind {
                Kind::MemoryPass { steps, flip: true, .. } | Kind::StridedPass { steps, flip: true, .. } => steps,
                other => panic!("{other:?}"),
            };
            prop_assert_eq!(1_usize << (shift + steps), 2 * columns.length());
        }
    }

    proptest! {
        /// So that a workspace for the most keys serves all: that of buckets may be larger than what more keys need, and then
        /// there is columnsort.
        #[test]
        fn what_more_keys_need_is_enough_for_fewer(
            fewer in 1_usize..(1 << 25),
            more in 1_usize..(1 << 26),
            wide in any::<bool>(),
        ) {
            let (fewer, more) = (fewer.min(more), fewer.max(more));
            let layout = if wide { Layout::keys::<u64>() } else { Layout::keys::<u32>() };
            let bytes = |length, buckets| {
                let limits = DeviceLimits { buckets, ..DeviceLimits::FULL_GPU };
                let job = Job { layout, ..job(length, 1) };
                job.work_bytes(Shape::new(limits, layout, length, 1))
            };
            prop_assert!(bytes(fewer, true).min(bytes(fewer, false)) <= bytes(more, true));
        }
    }

    #[test]
    fn nothing_is_launched_for_nothing() {
        let shape = Shape::new(DeviceLimits::PLAIN_GPU, Layout::keys::<u32>(), 0, 1);
        assert!(job(0, 1).launches(shape).is_empty());
        assert!(job(5, 0).launches(shape).is_empty());
        assert_eq!(job(1, 1).launches(shape).len(), 1);
    }

    #[test]
    fn places_have_64_bits_only_where_32_are_too_few() {
        let limits = DeviceLimits { group_size: 1024, local_bytes: 48 << 10, ..DeviceLimits::PLAIN_GPU };
        let wide = |row_length, rows| {
            let job = job(row_length, rows);
            let shape = Shape::new(limits, job.layout, row_length, rows);
            job.launches(shape).iter().all(|launch| launch.kernel.wide_index)
        };
        assert!(!wide(1 << 30, 1));
        assert!(wide((1 << 31) + 1, 1));
        assert!(!wide(8, 1 << 26));
        assert!(wide(8, 1 << 29));
        assert!(!wide(3, 1 << 26));
    }

    /// Passes that exchange elements in local memory, which the engine itself has on CUDA devices only: flips and others, of every
    /// number of steps that this many keys and a tile of 2^6 have. One length is a power of two, the others end inside a block. Not on
    /// PoCL 3.1, which sorts with them at one time and not at another.
    #[test]
    #[ignore = "run by passes_that_exchange_are_clean, in a process with Oclgrind"]
    fn exchange_in_passes() {
        let device = testing::device();
        for length in [2048, 1500, 1025] {
            let keys: Vec<u32> = Pattern::Random.generate(length, 9);
            let layout = Layout::keys::<u32>();
            let network = Shape::network(device.limits(), layout, length, 1);
            let (tile_log2, held_log2, fused_steps, register_steps) = (6, 3, 5, 2);
            let pass_items_log2 = tile_log2;
            let shape =
                Shape { tile_log2, held_log2, fused_steps, register_steps, pass_items_log2, ..network };
            assert!(shape.is_possible(device.limits(), layout), "{shape}");
            let mut sorted = keys.clone();
            sorted.sort_unstable();
            assert!(
                sort_in_shape(&device, &keys, layout, Order::Ascending, shape).0 == sorted,
                "{length} {shape}"
            );
        }
    }

    #[test]
    fn passes_that_exchange_are_clean() {
        let report = Oclgrind::find().report_of("gpu::launches::tests::exchange_in_passes");
        assert!(report.is_empty(), "{report}");
    }
}
