//! Segments of any lengths, which a table on the device tells. How they are sorted stands in `kernels/segments.c`.

use super::network::Network;
use super::{builder, copies_of, steps_of_sort, tile_fits};
use crate::gpu::facts::DeviceFacts;
use crate::gpu::job::{Job, Ragged};
use crate::gpu::kernel::{Arrays, Number, Spec, Tile};
use crate::gpu::tuning::{Measured, Tuning};
use crate::plan::{Algorithm, KernelPlan, Launch, Limits, Parameter, Place, WorkMemory};
use std::sync::Arc;

/// The groups that count and list segments, and the work-items of each. The most keep a large device busy, and are few enough that each can
/// add up what all have counted. There are three numbers, since kernels are built for each.
const GROUP_COUNTS: [usize; 3] = [1, 16, 512];
const ITEMS: usize = 256;

/// The base-2 logarithm of the largest tile of short segments: enough work-items for a group.
const SHORT_TILE_LOG2: u32 = 12;

/// The base-2 logarithms of the longest of the shortest segments, and of what a work-item holds of them at most: with more of them, too few
/// registers are left for where each goes. Measured on an H200: 80 instead of 118 µs for segments of 9 to 32 keys, and the other way
/// round for longer ones.
const SHORTEST_LOG2: u32 = 5;
const MOST_HELD_OF_SHORTEST_LOG2: u32 = 4;

/// What the place of a segment takes of local memory: where it begins, and how long it is.
const PLACE_BYTES: usize = size_of::<u64>() + size_of::<u32>();

/// What one place takes with what is left out around it.
const MOST_BESIDE: usize = PLACE_BYTES + 8 + 24;

/// A sub-group has so many work-items on most devices, and should have something to do for all.
const LEAST_ITEMS_LOG2: u32 = 5;

/// So many work-items keep a unit of a GPU busy.
const ITEMS_OF_UNIT: usize = 2048;

/// How far classes of lengths are apart, as base-2 logarithms. Every class has a kernel of its own: processors, whose compilers take
/// a second for one, get half as many.
const CLASS_STEP: u32 = 1;
const CLASS_STEP_OF_CPU: u32 = 2;

/// The kernels. There is no other way: lists need memory.
pub(super) fn kernel_plan(
    job: &Job,
    ragged: Ragged,
    facts: &DeviceFacts,
    tuning: &Tuning,
) -> Arc<KernelPlan> {
    if ragged.len == 0 || job.rows == 0 {
        return Arc::new(KernelPlan { algorithm: Algorithm::Segments, ..KernelPlan::nothing() });
    }
    Arc::new(Launches::new(job, ragged, facts, tuning).plan())
}

/// Makes the launches.
struct Launches<'a> {
    job: &'a Job,
    ragged: Ragged,
    facts: &'a DeviceFacts,
    /// Of longer segments, and the largest of short ones.
    tile: Tile,
    /// Whether the merges of a tile are written out one by one.
    unrolled: bool,
    limits: Limits,
}

impl<'a> Launches<'a> {
    fn new(job: &'a Job, ragged: Ragged, facts: &'a DeviceFacts, tuning: &Tuning) -> Self {
        let long = Network::new(&Job { row_length: ragged.len, rows: 1, ..*job }, facts, tuning).shape;
        // Beside a tile, there is room for where its segment is.
        let with_room =
            |log2: &u32| Tile::new(*log2, 0).local_bytes(job.element) + MOST_BESIDE <= facts.local_bytes;
        let tile_log2 = (2..=long.tile_log2).rev().find(with_room).unwrap_or(long.tile_log2);
        let tile = Tile::new(tile_log2, long.held_log2.min(tile_log2));
        Self { job, ragged, facts, tile, unrolled: long.unrolled, limits: long.limits() }
    }

    fn plan(&self) -> KernelPlan {
        KernelPlan {
            algorithm: Algorithm::Segments,
            launches: self.all(),
            element_bytes: self.job.element.bytes(),
            work: self.work(),
            measured_on: Measured::of(self.facts).device,
            limits: self.limits,
            network_passes: None,
            fallback: None,
        }
    }

    fn all(&self) -> Vec<Launch> {
        let mut launches = vec![self.count(), self.list()];
        let longest = self.job.row_length;
        let mut below = 0;
        for class in self.classes() {
            if longest > below {
                launches.push(self.sort(class, below));
            }
            below = 1 << class;
        }
        if longest > self.tile.len() {
            launches.push(self.sort_pieces());
            launches.extend((1..=self.rounds()).flat_map(|round| [self.splits(round), self.merge(round)]));
        }
        launches
    }

    fn class_step(&self) -> u32 {
        if self.facts.is_cpu() { CLASS_STEP_OF_CPU } else { CLASS_STEP }
    }

    /// The classes, by the base-2 logarithm of their longest segment.
    fn classes(&self) -> impl Iterator<Item = u32> {
        let (step, last) = (self.class_step(), self.tile.log2);
        (1..=last.div_ceil(step)).map(move |number| (number * step).min(last))
    }

    /// The rounds that the longest segment is merged in.
    fn rounds(&self) -> u32 {
        self.job.row_length.div_ceil(self.tile.len()).next_power_of_two().ilog2()
    }

    /// The tiles of all longer segments: each has less than one that is not full, and two tiles at least.
    fn most_tiles(&self) -> usize {
        if self.job.row_length <= self.tile.len() {
            return 0;
        }
        let full = self.ragged.len / self.tile.len();
        full + full.min(self.job.rows)
    }

    /// What a group counts, and where that is in `control`.
    fn columns(&self) -> usize {
        self.tile.log2 as usize + 2
    }

    fn counts_at(&self) -> usize {
        self.columns() + 1
    }

    fn work(&self) -> WorkMemory {
        let job = self.job;
        // Arrays that the kernels are given, but do not use, have some bytes.
        let of_long = |bytes: usize| {
            let elements = if self.most_tiles() > 0 { self.ragged.len } else { 1 };
            (elements * bytes).next_multiple_of(16)
        };
        let tiles = self.most_tiles();
        let before_tiles = self.counts_at() + self.group_count() * self.columns() + job.rows;
        let words = (before_tiles + 2 * tiles).next_multiple_of(2) + 2 * tiles;
        WorkMemory {
            keys: of_long(job.element.key_bytes()),
            values: of_long(job.element.value_bytes()),
            counters: words * size_of::<u32>(),
        }
    }

    fn launch(&self, group: Group, round: u32, mapping: u32, spec: Spec<'_>) -> Launch {
        let mut constants = vec![
            ("OFFSET_BITS", self.ragged.offset_bits),
            ("LARGEST_LOG2", self.tile.log2),
            ("GROUP_COUNT", self.group_count() as u32),
            ("COUNTS", self.counts_at() as u32),
            ("CLASS_STEP", self.class_step()),
        ];
        // Those with a tile know it from that.
        constants.extend(spec.tile.is_none().then_some(("ITEMS", group.items as u32)));
        constants.extend(spec.constants);
        let numbers = [
            Number::Plain(self.job.rows as u32),
            Number::Index(self.ragged.len),
            Number::Index(self.job.row_length),
            Number::Plain(self.most_tiles() as u32),
            Number::Plain(round),
            Number::Plain(mapping),
        ];
        let spec = Spec { constants: &constants, numbers: &numbers, ..spec };
        let builder = builder(self.job, Arrays::WithCounters, 0);
        let held_log2 = spec.tile.map_or(0, |tile| tile.held_log2);
        let mut launch = builder.launch_with(spec, group.items, held_log2, group.local_bytes);
        let behind_counters = launch.arguments.len() - numbers.len();
        launch.arguments.insert(behind_counters, Parameter::Offsets);
        launch
    }

    fn count(&self) -> Launch {
        let words = format!("count {} segments by length", self.job.rows);
        self.launch(self.plain_group(), 0, 0, plain("segments_count", self.group_count(), words))
    }

    fn list(&self) -> Launch {
        let words = "list the segments of every class of lengths, and the tiles of longer ones".to_owned();
        self.launch(self.plain_group(), 0, 0, plain("segments_list", self.group_count(), words))
    }

    fn plain_group(&self) -> Group {
        Group { items: self.items(), local_bytes: 0 }
    }

    /// A group for a tile of a long segment.
    fn tile_group(&self) -> Group {
        Group { items: self.tile.items(), local_bytes: self.tile.local_bytes(self.job.element) }
    }

    /// The least that give every work-item a segment, or the most.
    fn group_count(&self) -> usize {
        let needed = self.job.rows.div_ceil(self.items());
        GROUP_COUNTS.into_iter().find(|&count| needed <= count).unwrap_or(GROUP_COUNTS[2])
    }

    fn items(&self) -> usize {
        ITEMS.min(self.facts.group_size)
    }

    /// Groups for so many tiles at most: each takes one after the other, so that nobody has to know how many there are.
    fn groups(&self, tiles: usize, items: usize) -> usize {
        let of_unit = if self.facts.is_cpu() { 1 } else { (ITEMS_OF_UNIT / items).max(1) };
        tiles.clamp(1, self.facts.units.max(1) * of_unit)
    }

    /// Sorts the segments of a class: longer than `below`, up to 2^class elements.
    fn sort(&self, class: u32, below: usize) -> Launch {
        let tile = self.tile_of(class);
        let in_tile = 1_usize << (tile.log2 - class);
        let segments = self.job.rows.min(self.ragged.len / (below + 1));
        let is_first = below == 0;
        let spec = Spec {
            kernel: "segment_sort",
            groups: self.groups(segments.div_ceil(in_tile), tile.items()),
            tile: Some(tile),
            cluster_log2: 0,
            constants: &[("MERGES", class), ("PIECES", 0), ("UNROLLED", self.unrolled.into())],
            numbers: &[],
            // The sorts of all classes go through the data once, together: the first stands for that.
            place: is_first.then_some(Place::Tile),
            steps: 0..0,
            copies: if is_first {
                copies_of(steps_of_sort(self.tile.log2), Measured::of(self.facts))
            } else {
                0.0
            },
            words: format!("sort segments of {} to {} keys, {in_tile} in a tile", below + 1, 1 << class),
        };
        let group = Group { items: tile.items(), local_bytes: self.local_bytes(tile, class) };
        self.launch(group, 0, self.job.mapping.argument(true, true), spec)
    }

    /// Sorts the tiles of longer segments.
    fn sort_pieces(&self) -> Launch {
        let spec = Spec {
            kernel: "segment_sort",
            groups: self.groups(self.most_tiles(), self.tile.items()),
            tile: Some(self.tile),
            cluster_log2: 0,
            constants: &[("MERGES", self.tile.log2), ("PIECES", 1), ("UNROLLED", self.unrolled.into())],
            numbers: &[],
            place: None,
            steps: 0..0,
            copies: 0.0,
            words: format!("sort longer segments in tiles of {}", self.tile.len()),
        };
        self.launch(self.tile_group(), 0, self.job.mapping.argument(true, false), spec)
    }

    fn splits(&self, round: u32) -> Launch {
        let words = "find where the runs of longer segments are cut, to be merged in tiles".to_owned();
        let groups = self.groups(self.most_tiles().div_ceil(self.items()), self.items());
        self.launch(self.plain_group(), round, 0, plain("segment_splits", groups, words))
    }

    fn merge(&self, round: u32) -> Launch {
        let spec = Spec {
            kernel: "segment_tile_merge",
            groups: self.groups(self.most_tiles(), self.tile.items()),
            tile: Some(self.tile),
            cluster_log2: 0,
            constants: &[("UNROLLED", self.unrolled.into())],
            numbers: &[],
            place: Some(Place::Memory),
            steps: 0..0,
            copies: 1.0,
            words: format!("merge longer segments to runs of {}", self.tile.len() << round),
        };
        self.launch(self.tile_group(), round, self.job.mapping.argument(false, true), spec)
    }

    /// The tile that segments of a class are sorted in.
    fn tile_of(&self, class: u32) -> Tile {
        let largest = class.max(SHORT_TILE_LOG2).min(self.tile.log2);
        let tiles = (class..=largest).rev().map(|log2| {
            let most_held = log2.saturating_sub(LEAST_ITEMS_LOG2).max(1);
            let most_held =
                if class <= SHORTEST_LOG2 { most_held.min(MOST_HELD_OF_SHORTEST_LOG2) } else { most_held };
            Tile::new(log2, self.tile.held_log2.min(most_held))
        });
        let fits = |tile: &Tile| {
            tile_fits(*tile, self.job, self.facts) && self.local_bytes(*tile, class) <= self.facts.local_bytes
        };
        // A tile of one segment fits, as the largest does.
        tiles.into_iter().find(fits).unwrap_or(Tile::new(class, self.tile.held_log2.min(class)))
    }

    /// What a tile takes of local memory, with where its segments begin, at a multiple of 8 bytes, and how long they are.
    fn local_bytes(&self, tile: Tile, class: u32) -> usize {
        let element = self.job.element;
        let places = PLACE_BYTES << (tile.log2 - class);
        (tile.local_bytes(element).next_multiple_of(8) + places).next_multiple_of(element.bytes())
    }
}

/// The work-items of a group, and its local memory.
struct Group {
    items: usize,
    local_bytes: usize,
}

/// A launch without a tile.
fn plain<'a>(kernel: &'static str, groups: usize, words: String) -> Spec<'a> {
    Spec {
        kernel,
        groups,
        tile: None,
        cluster_log2: 0,
        constants: &[],
        numbers: &[],
        place: None,
        steps: 0..0,
        copies: 0.0,
        words,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::KeyType;
    use crate::request::{Request, Segments, What};
    use proptest::prelude::*;

    fn launches_of<'a>(job: &'a Job, facts: &'a DeviceFacts) -> Launches<'a> {
        Launches::new(job, job.ragged.unwrap(), facts, &Tuning::default())
    }

    #[test]
    fn lengths_that_no_segment_has_get_no_launch() {
        let facts = DeviceFacts::nvidia_h200();
        let kernels = |longest, len| {
            let job = Job::of(&Request::keys::<u32>(Segments::Offsets { segments: 1000, longest, len }));
            let plan = kernel_plan(&job, job.ragged.unwrap(), &facts, &Tuning::default());
            plan.launches.iter().map(|launch| launch.kernel).collect::<Vec<_>>()
        };
        assert_eq!(kernels(2, 1 << 20), ["segments_count", "segments_list", "segment_sort"]);
        assert_eq!(kernels(64, 1 << 20).iter().filter(|&&kernel| kernel == "segment_sort").count(), 6);
        let all = kernels(1 << 26, 1 << 26);
        let merges = all.iter().filter(|&&kernel| kernel == "segment_tile_merge").count();
        assert_eq!(merges, 26 - launches_of(&job_of(1 << 26), &facts).tile.log2 as usize);
        assert!(kernels(0, 0).is_empty());
    }

    fn job_of(len: usize) -> Job {
        Job::of(&Request::keys::<u32>(Segments::Offsets { segments: 1, longest: len, len }))
    }

    proptest! {
        /// Whatever lengths there are within what was said, lists, tiles and splits have room, and tiles fit.
        #[test]
        fn all_lists_have_room(
            lengths in prop::collection::vec(prop_oneof![0_usize..300, 0_usize..200_000], 1..200),
            more in 0_usize..1000,
            key in prop::sample::select(KeyType::ALL.to_vec()),
            what in prop::sample::select(vec![What::Keys, What::Argsort]),
            local_log2 in 12_u32..18,
            is_cpu: bool,
        ) {
            let facts = if is_cpu { DeviceFacts::pocl() } else { DeviceFacts::nvidia_h200() };
            let facts = DeviceFacts { local_bytes: 1 << local_log2, ..facts };
            let longest = lengths.iter().copied().max().unwrap_or(0) + more;
            let len = lengths.iter().sum::<usize>() + more;
            let segments = Segments::Offsets { segments: lengths.len(), longest: longest.min(len), len };
            let job = Job::of(&Request { what, key, ..Request::keys::<u8>(segments) });
            let launches = launches_of(&job, &facts);
            let tile = launches.tile.len();
            let tiles: usize = lengths.iter().filter(|&&length| length > tile).map(|length| length.div_ceil(tile)).sum();
            prop_assert!(tiles <= launches.most_tiles(), "{tiles} tiles");
            let rounds = lengths.iter().map(|length| length.div_ceil(tile).max(1).next_power_of_two().ilog2()).max();
            if longest.min(len) > tile {
                prop_assert!(rounds.unwrap_or(0) <= launches.rounds());
            }
            let lists = launches.counts_at() + launches.group_count() * launches.columns() + lengths.len();
            let words = (lists + 2 * launches.most_tiles()).next_multiple_of(2) + 2 * launches.most_tiles();
            prop_assert!(words * 4 <= launches.work().counters);
            for class in launches.classes() {
                let tile = launches.tile_of(class);
                prop_assert!(tile.log2 >= class && tile.items() <= facts.group_size);
                prop_assert!(launches.local_bytes(tile, class) <= facts.local_bytes, "{tile:?} of class {class}");
            }
            for launch in launches.all() {
                let with_table = launch.arguments.iter().filter(|&&argument| argument == Parameter::Offsets);
                prop_assert_eq!(with_table.count(), 1);
            }
        }
    }

    #[cfg(feature = "opencl")]
    mod on_opencl {
        use super::*;
        use crate::gpu::driver::Driver;
        use crate::gpu::execute::{Buffers, sort_buffers};
        use crate::gpu::opencl::testing;
        use crate::key::as_bytes;
        use bitonic_testkit::{Oclgrind, Pattern};

        /// Segments of every class and of several tiles; or such that overlap, as none should, and may do no harm then.
        fn sort_segments(wide_index: bool, overlap: bool) {
            let device = testing::device();
            let lengths = [3_usize, 0, 700, 1, 2, 64, 9, 300, 0, 17];
            let mut offsets = vec![0_u64];
            offsets.extend(lengths.iter().scan(0, |end, &length| {
                *end += length as u64;
                Some(*end)
            }));
            let len = *offsets.last().unwrap() as usize;
            let keys: Vec<u32> = Pattern::Random.generate(len, 5);
            if overlap {
                offsets = (0..offsets.len() as u64).map(|place| (place % 2) * len as u64).collect();
            }
            let segments = Segments::Offsets { segments: lengths.len(), longest: len, len };
            let job = Job::of(&Request::keys::<u32>(segments)).with_offsets_of::<u64>();
            let job = Job { wide_index, ..job };
            // Tiles so small that segments have several.
            let launches = Launches { tile: Tile::new(6, 2), ..launches_of(&job, device.facts()) };
            let plan = Arc::new(launches.plan());
            let buffer = device.allocate(job.array_bytes().0).unwrap();
            device.upload(as_bytes(&keys), &buffer).unwrap();
            let table = device.allocate(job.offset_bytes()).unwrap();
            device.upload(as_bytes(&offsets), &table).unwrap();
            let buffers = Buffers { offsets: Some(&table), ..Buffers::new(&buffer, None) };
            sort_buffers(&device, &job, &plan, buffers).expect("the kernels run");
            let mut found = vec![0_u32; len];
            device.download(&buffer, bytemuck::cast_slice_mut(&mut found)).unwrap();
            let mut expected = keys;
            for ends in offsets.windows(2).filter(|_| !overlap) {
                expected[ends[0] as usize..ends[1] as usize].sort_unstable();
            }
            assert!(overlap || found == expected, "{wide_index}");
        }

        #[test]
        fn segments_in_places_of_any_width() {
            sort_segments(false, false);
            sort_segments(true, false);
        }

        #[test]
        #[ignore = "run by segments_are_clean, in a process with Oclgrind"]
        fn sort_small_segments() {
            sort_segments(false, false);
        }

        #[test]
        #[ignore = "run by segments_are_clean, in a process with Oclgrind"]
        fn sort_segments_that_overlap() {
            sort_segments(false, true);
        }

        #[test]
        fn segments_are_clean() {
            let report = |test| {
                Oclgrind::find().report_of(&format!("gpu::strategy::segments::tests::on_opencl::{test}"))
            };
            let clean = report("sort_small_segments");
            assert!(clean.is_empty(), "{clean}");
            // Groups write to the same places then, but to none outside of the arrays.
            let racing = report("sort_segments_that_overlap");
            assert!(!racing.contains("Invalid"), "{racing}");
        }
    }
}
