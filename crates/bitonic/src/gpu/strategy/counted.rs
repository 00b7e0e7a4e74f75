//! Sorting by counted buckets: how finely elements are counted, and what tiles they are moved and sorted in. What the passes do stands in
//! `kernels/counted.c`.

use super::{Candidate, Strategy, builder, rank, tile_fits};
use crate::gpu::facts::DeviceFacts;
use crate::gpu::job::Job;
use crate::gpu::kernel::{Arrays, Builder, Number, Spec, Tile, local_elements};
use crate::gpu::tuning::{CountedRow, Measured, Tuning};
use crate::plan::{Algorithm, Launch, Parameter, Place, WorkMemory};

/// How an array is sorted by counted buckets.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CountedBuckets {
    /// Tiles, cells and targets.
    pub(crate) row: CountedRow,
    /// The base-2 logarithm of the sample.
    pub(crate) samples_log2: u32,
    /// The work-items of the kernels that take the sample, and of the one that divides cells by it.
    pub(crate) sample_items: usize,
    pub(crate) divide_items: usize,
    /// The sections of divided cells, and the bounds between them, at most.
    pub(crate) sections: usize,
    /// Their parts. Of keys alone, a section is a part.
    pub(crate) parts: usize,
    /// How many cells can be divided: in all, and by a group that divides them.
    pub(crate) nodes: usize,
    pub(crate) slots: usize,
}

/// Arrays from this length on could have places that the counters of `kernels/arrange.c` cannot hold.
const TOO_LONG: usize = 1 << 30;
/// Pieces of equal elements are written by different groups; they have so many elements, or more. As in `kernels/arrange.c`.
const FILL_PIECE: usize = 1 << 13;
/// Elements of the sample that a group of `kernels/divide.c` keeps of a cell.
const POOL: usize = 64;
/// What it keeps of a cell besides, in words. As in `kernels/divide.c`.
const SLOT_WORDS: usize = 8;
/// The groups that divide cells.
const DIVIDING: usize = 32;
/// Parts that `kernels/settle.c` makes at a time.
const WAYS: usize = 16;
/// With fewer cells, logarithmic ones could not look at a bit below the highest one. As in `kernels/counted.c`.
const LEAST_CELLS_LOG2: u32 = 7;
/// Counters of a work-item that sorts a bucket. With twice as many, 2^24 keys of 4 bytes took as long on an NVIDIA H200.
const COUNTERS_EACH: usize = 4;

/// What a launch of `kernels/counted_sort.c` sorts. Numbers and limits as there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sorts {
    EvenBuckets = 0,
    UnevenBuckets = 1,
    LeftOver = 2,
}

impl Sorts {
    /// From more elements on, a cell is hot.
    fn many_in_cell(self, tile: Tile) -> usize {
        let many = if self == Self::EvenBuckets { 128 } else { 64 };
        many.min(tile.len() / 8)
    }

    /// From more elements on, a part is left over.
    fn many_in_part(self, tile: Tile) -> usize {
        let many = if self == Self::UnevenBuckets { 192 } else { 1024 };
        many.min(tile.len() / 4)
    }
}

pub(super) fn fit(job: &Job, facts: &DeviceFacts, _: &Tuning) -> Option<Candidate> {
    // Cells look at the upper half of 128 bits only, in which many keys may be equal.
    let is_wide = job.element.key_bits > 64;
    if job.rows != 1 || is_wide || job.in_place || !facts.has_work_memory {
        return None;
    }
    let buckets = CountedBuckets::for_length(job, facts)?;
    Some(Candidate { rank: rank::COUNTED, strategy: Box::new(buckets) })
}

impl CountedBuckets {
    /// Buckets for an array of this length: the first in the table that the device can have.
    pub(crate) fn for_length(job: &Job, facts: &DeviceFacts) -> Option<Self> {
        let (measured, width) = (Measured::of(facts), Measured::width(job.element.bytes()));
        let rows = measured.counted[width].iter();
        let suiting = rows.filter(|row| job.row_length > row.above && job.row_length <= row.up_to);
        suiting.map(|row| Self::of_row(*row, job)).find(|buckets| buckets.is_possible(job, facts))
    }

    fn of_row(row: CountedRow, job: &Job) -> Self {
        let has_indices = orders_values(job);
        let one_of_log2 = if has_indices { 8 } else { 9 };
        // A key with many indices may need as many parts as all of the array has buckets, and twice that as they are rounded. What is
        // less here is what the local memory leaves.
        let (sections, parts) = match (has_indices, row.cells_log2) {
            _ if row.is_small => (512, 512),
            (false, _) => (2048, 2048),
            (true, ..15) if job.element.bytes() <= 8 => (2048, 1 << 14),
            (true, ..15) => (1024, 1 << 14),
            (true, _) => (1024, 1 << 13),
        };
        Self {
            row,
            // One of 512 elements, within limits: what a few groups look at in a few microseconds. With indices, elements that are
            // close together are many more, and it is to be foreseen how many.
            samples_log2: (job.row_length.max(1).ilog2().saturating_sub(one_of_log2)).clamp(13, 16),
            sample_items: 256,
            divide_items: 1024,
            sections,
            parts,
            nodes: if row.is_small { 256 } else { 1024 },
            slots: if row.is_small { 8 } else { 32 },
        }
    }

    fn is_possible(self, job: &Job, facts: &DeviceFacts) -> bool {
        let local = [
            self.divide_bytes(job),
            self.count_bytes(job),
            self.arrange_bytes(job),
            self.distribute_bytes(job),
            self.even_distribute_bytes(job),
            self.sort_bytes(job, Sorts::UnevenBuckets),
            self.sort_bytes(job, Sorts::LeftOver),
            self.settle_bytes(job),
        ];
        let tiles = [self.row.moved, self.row.even_moved, self.row.tile, self.row.large_tile];
        let runs = |targets_log2: u32| 1_usize << (targets_log2 - 3);
        self.row.cells_log2 >= LEAST_CELLS_LOG2
            && job.row_length >= 1 << self.samples_log2
            && job.row_length < TOO_LONG
            && !job.wide_index
            && self.even_buckets(job) <= self.cells()
            && local.into_iter().all(|bytes| bytes <= facts.local_bytes)
            && tiles.iter().all(|tile| tile.items() <= facts.group_size)
            && self.divide_items <= facts.group_size
            && runs(self.row.targets_log2) <= self.row.moved.items()
            && runs(self.row.even_targets_log2) <= self.row.even_moved.items()
            && self.most() <= runs(self.row.targets_log2) << self.row.targets_log2
            && self.most() < FIRST_NODE
            && tile_fits(self.row.tile, job, facts)
    }

    /// The most cells.
    fn cells(self) -> usize {
        1 << self.row.cells_log2
    }

    /// The stretches of levelled cells. As in `kernels/counted.c`.
    fn stretches(self) -> usize {
        (self.cells() / 4).min(2048)
    }

    /// Buckets of even elements: so many that none of them is longer than the tile. Lengths differ by the square root of the average,
    /// and seven times that is not exceeded.
    fn even_buckets(self, job: &Job) -> usize {
        let tile = self.row.tile.len() as f64;
        (job.row_length as f64 / (tile - 6.6 * tile.sqrt())).ceil() as usize
    }

    /// The base-2 logarithm of the cells of such a bucket.
    fn fine(self, job: &Job) -> u32 {
        (self.cells() / self.even_buckets(job)).max(1).ilog2().min(3)
    }

    /// How many linear cells there are.
    fn cell_count(self, job: &Job) -> usize {
        (self.even_buckets(job) << self.fine(job)).min(self.cells())
    }

    fn samples(self) -> usize {
        1 << self.samples_log2
    }

    /// What an entry may have and be put into a bucket with others.
    fn small(self) -> usize {
        self.row.tile.len() / 4
    }

    /// The places in which entries of a bucket start.
    fn window(self) -> usize {
        self.row.tile.len() - self.small()
    }

    /// From so many elements of the sample on, a cell is divided: it may not fit the larger tile.
    fn heavy(self, job: &Job) -> usize {
        let quarters = if orders_values(job) { 2 } else { 3 };
        (self.row.large_tile.len() * quarters / 4 * self.samples() / job.row_length)
            .max(self.hot_by_chance(job))
    }

    /// No cell of even elements has so many in the sample: the average, and six times its square root.
    fn hot_by_chance(self, job: &Job) -> usize {
        let average = self.samples() as f64 / self.cell_count(job) as f64;
        (average + 6.0 * average.sqrt() + 2.0) as usize
    }

    /// So many elements of the sample fill a part of a key to three quarters of a tile.
    fn filling(self, job: &Job) -> usize {
        (self.window() * self.samples() / job.row_length).max(1)
    }

    /// How many buckets there are, at least, if elements are uneven.
    fn uneven_buckets(self, job: &Job) -> usize {
        job.row_length.div_ceil(self.window())
    }

    /// The most buckets there can be: one for every entry.
    fn most(self) -> usize {
        self.cells() + self.parts
    }

    /// The groups that take the sample.
    fn sample_groups(self) -> usize {
        self.samples() / self.sample_tile().len()
    }

    /// What such a group takes.
    fn sample_tile(self) -> Tile {
        Tile::new(self.sample_items.ilog2() + 2, 2)
    }

    /// The smallest and the largest element of the sample, and of every group's share.
    fn extremes(self) -> usize {
        2 + 2 * self.sample_groups()
    }

    /// Places for all elements, and for the sample, its extremes and the bounds. Rounded, so that what follows is at a multiple of 16
    /// bytes.
    fn work_elements(self, job: &Job) -> usize {
        let after = job.row_length.next_multiple_of(16);
        (after + self.samples() + self.extremes() + self.sections).next_multiple_of(16)
    }

    fn control(self, job: &Job) -> Control {
        let (cells, parts, most) = (self.cells(), self.parts, self.most());
        // The tables of all lengths up to the next power of two lie alike: kernels are compiled for their places.
        let length = job.row_length.next_power_of_two();
        let fewest = Sorts::UnevenBuckets.many_in_part(self.row.tile);
        let left_over = 3 * (most + length / fewest);
        let targets = 1 << self.row.targets_log2.max(self.row.even_targets_log2);
        let mut control = Control { tables: Vec::new(), words: 0 };
        for name in HEAD {
            control.table(name, 1);
        }
        control.table("WEIGHTS", 2 * cells);
        control.table("COUNTS", cells + parts);
        control.table("NODE_OF", cells);
        // What is before is cleared.
        control.tables.push(("CLEARED", control.words as u32));
        control.table("NODES", self.nodes);
        control.table("SECTIONS", section_words(job) * self.sections);
        control.table("VALUES_SEEN", 2 * self.sample_groups());
        control.table("LEVELS", self.stretches());
        control.table("BUCKET_OF", cells + parts);
        control.table("STARTS", most + 1);
        control.table("VALUE_OF", most);
        control.table("CURSORS", most);
        control.table("RUN_STARTS", targets);
        control.table("RUN_CURSORS", targets);
        control.table("AGAIN", left_over);
        control.table("LONG", left_over);
        control.table("FILLS", 3 * (length / FILL_PIECE + parts + 1));
        control
    }

    // The local memory of groups. The kernels check that it is enough.

    fn divide_bytes(self, job: &Job) -> usize {
        let weights = self.cells().max(self.divide_items + 1);
        let slot_words = 1 + SLOT_WORDS + if orders_values(job) { POOL } else { 0 };
        let words = self.slice() + self.slots * slot_words + 6 + self.stretches() + weights;
        self.slots * POOL * job.element.bytes() + 4 * words
    }

    fn count_bytes(self, job: &Job) -> usize {
        let map = 2 * self.cells().div_ceil(32);
        let words = self.cells() + self.parts + 1 + self.node_words(job) + self.stretches() + map;
        self.sections * job.element.bytes() + 4 * (words + self.row.moved.items() + 1)
    }

    fn arrange_bytes(self, job: &Job) -> usize {
        let padded = local_elements(self.row.cells_log2);
        (4 * (padded + self.parts + self.node_words(job) + 2 * self.arrange_items() + 8))
            .next_multiple_of(job.element.bytes())
    }

    fn even_distribute_bytes(self, job: &Job) -> usize {
        self.row.even_moved.len() * job.element.bytes() + target_bytes(self.row.even_targets_log2)
    }

    fn distribute_bytes(self, job: &Job) -> usize {
        let tile = self.row.moved.len();
        (tile + self.sections) * job.element.bytes()
            + target_bytes(self.row.targets_log2)
            + 4 * (self.node_words(job) + self.stretches())
            + 2 * (tile + self.cells() + self.parts)
    }

    /// What nodes and their sections take, in words.
    fn node_words(self, job: &Job) -> usize {
        self.nodes + section_words(job) * self.sections
    }

    /// The tile that buckets are sorted in.
    fn sort_tile(self, sorts: Sorts) -> Tile {
        if sorts == Sorts::LeftOver { self.row.large_tile } else { self.row.tile }
    }

    fn sort_bytes(self, job: &Job, sorts: Sorts) -> usize {
        let (tile, element) = (self.sort_tile(sorts), job.element.bytes());
        let (windows, hot_cells) = (tile.items() + 1, tile.len() / sorts.many_in_cell(tile) + 1);
        let counts_values = job.element.value_bits > 0 && sorts != Sorts::EvenBuckets;
        let value_counters = if counts_values { tile.len() / 8 + hot_cells } else { 0 };
        // At most 16 bytes between windows.
        windows * ((element << tile.held_log2) + element.max(16))
            + hot_cells * element
            + 4 * ((COUNTERS_EACH + 1) * tile.items() + 3 + 7 * hot_cells + value_counters)
    }

    fn settle_bytes(self, job: &Job) -> usize {
        self.row.tile.local_bytes(job.element)
            + WAYS * job.element.bytes()
            + 4 * (4 * WAYS + 1 + 3 * WAYS * 30)
    }

    /// The cells that a group of `kernels/divide.c` looks at.
    fn slice(self) -> usize {
        (self.cells() / DIVIDING).max(1)
    }

    /// The work-items that arrange the buckets.
    fn arrange_items(self) -> usize {
        self.row.moved.items().min(self.cells())
    }

    /// What is the same in all launches.
    fn launch(self, builder: &Builder<'_>, control: &Control, step: Step) -> Launch {
        let Step { kernel, groups, tile, local_bytes, mapping, numbers, .. } = step;
        let mut constants = vec![
            ("SHORT_ROWS", 0),
            ("RAGGED_ROWS", 0),
            ("UNROLLED", 0),
            ("CELLS_LOG2", self.row.cells_log2),
            ("SAMPLES_LOG2", self.samples_log2),
            ("TARGETS_LOG2", self.row.targets_log2),
            ("EVEN_TARGETS_LOG2", self.row.even_targets_log2),
            ("MOST_SECTIONS", self.sections as u32),
            ("PARTS", self.parts as u32),
            ("MOST_NODES", self.nodes as u32),
            ("EXTREMES", self.extremes() as u32),
            ("SLICE", self.slice() as u32),
            ("SLOTS", self.slots as u32),
            ("COUNTERS_EACH", COUNTERS_EACH as u32),
            ("FREE_VALUES", u32::from(builder.job.element.value_bits > 0 && !orders_values(builder.job))),
        ];
        constants.extend(&control.tables);
        constants.extend(step.constants);
        let job = builder.job;
        let mut all = vec![
            Number::Index(job.len()),
            Number::Plain(mapping),
            Number::Plain(self.cell_count(job) as u32),
            Number::Plain(self.fine(job)),
        ];
        all.extend(numbers.into_iter().map(Number::Plain));
        let local_bytes = local_bytes.next_multiple_of(builder.job.element.bytes());
        let keys = if step.only_reads { Parameter::Source } else { Parameter::Keys };
        let spec = Spec {
            kernel,
            groups,
            tile: Some(tile),
            cluster_log2: 0,
            constants: &constants,
            numbers: &all,
            place: step.place,
            steps: 0..0,
            copies: step.copies,
            words: step.words,
        };
        let mut launch = builder.launch_with(spec, tile.items(), tile.held_log2, local_bytes);
        launch.arguments[0] = keys;
        launch
    }
}

/// What a group that distributes has for each of its targets: two words, and one for each run. As in `kernels/distribute.c`.
fn target_bytes(targets_log2: u32) -> usize {
    let targets = 1 << targets_log2;
    4 * (2 * targets + 2 + targets / 8 + 1)
}

/// The words of a section. As in `kernels/counted.c`.
fn section_words(job: &Job) -> usize {
    if orders_values(job) { 2 } else { 0 }
}

/// Whether values are part of the order: indices are, those of the caller are in no order where keys are equal.
fn orders_values(job: &Job) -> bool {
    job.element.indexed
}

/// Numbers of buckets are below. As in `kernels/counted.c`.
const FIRST_NODE: usize = 0xf000;

/// The first words of the counters of `kernels/counted.c`.
const HEAD: [&str; 13] = [
    "KIND",
    "VALUE_WIDTH",
    "NODE_COUNT",
    "SECTION_COUNT",
    "PART_COUNT",
    "BUCKET_COUNT",
    "FILL_COUNT",
    "LONG_COUNT",
    "RUN_SHIFT",
    "RUN_COUNT",
    "AGAIN_COUNT",
    "EVEN",
    "MOVING",
];

/// The tables of `kernels/counted.c`, one behind the other.
struct Control {
    /// Their names and first words, as the kernels are told them.
    tables: Vec<(&'static str, u32)>,
    words: usize,
}

impl Control {
    fn table(&mut self, name: &'static str, words: usize) {
        self.tables.push((name, self.words as u32));
        self.words += words;
    }
}

/// What differs between the launches.
struct Step {
    kernel: &'static str,
    groups: usize,
    tile: Tile,
    local_bytes: usize,
    mapping: u32,
    /// Whether the array is read and not written.
    only_reads: bool,
    /// Constants that only this kernel has.
    constants: Vec<(&'static str, u32)>,
    numbers: Vec<u32>,
    place: Option<Place>,
    copies: f64,
    words: String,
}

impl Default for Step {
    fn default() -> Self {
        Self {
            kernel: "",
            groups: 1,
            tile: Tile::new(0, 0),
            local_bytes: 0,
            mapping: 0,
            only_reads: false,
            constants: Vec::new(),
            numbers: Vec::new(),
            place: None,
            copies: 0.0,
            words: String::new(),
        }
    }
}

impl Strategy for CountedBuckets {
    fn algorithm(&self) -> Algorithm {
        Algorithm::Buckets
    }

    fn launches(&self, job: &Job, facts: &DeviceFacts) -> Vec<Launch> {
        let CountedRow { tile, moved, even_moved, .. } = self.row;
        let measured = Measured::of(facts);
        let builder = builder(job, Arrays::WithCounters, self.work_elements(job));
        let control = self.control(job);
        let (first, last) = (job.mapping.argument(true, false), job.mapping.argument(false, true));
        let (units, element) = (facts.units.max(1), job.element.bytes());
        let (even, uneven) = (self.even_buckets(job), self.uneven_buckets(job));
        let distribute = |only_even: bool, round: u32, words: &str| {
            let tile = if only_even { even_moved } else { moved };
            let groups_of_unit =
                if only_even { self.row.even_groups_of_unit } else { self.row.groups_of_unit };
            Step {
                kernel: "distribute",
                groups: job.len().div_ceil(tile.len()).min(groups_of_unit * units),
                tile,
                local_bytes: if only_even {
                    self.even_distribute_bytes(job)
                } else {
                    self.distribute_bytes(job)
                },
                mapping: if round == 0 { first } else { 0 },
                only_reads: round == 0,
                constants: vec![("ONLY_EVEN", u32::from(only_even))],
                numbers: vec![round],
                place: only_even.then_some(Place::Memory),
                copies: if only_even { measured.distribute_copies } else { 0.0 },
                words: words.to_owned(),
            }
        };
        let sort = |sorts: Sorts, groups: usize, words: &str| Step {
            kernel: "counted_sort",
            groups,
            tile: self.sort_tile(sorts),
            local_bytes: self.sort_bytes(job, sorts),
            mapping: last,
            constants: vec![
                ("SORTS", sorts as u32),
                ("MANY_IN_CELL", sorts.many_in_cell(self.sort_tile(sorts)) as u32),
                ("MANY_IN_PART", sorts.many_in_part(self.sort_tile(sorts)) as u32),
            ],
            place: (sorts == Sorts::EvenBuckets).then_some(Place::Tile),
            copies: if sorts == Sorts::EvenBuckets { measured.counted_sort_copies } else { 0.0 },
            words: words.to_owned(),
            ..Step::default()
        };
        let mut steps = vec![
            Step {
                kernel: "survey",
                groups: self.sample_groups(),
                tile: self.sample_tile(),
                local_bytes: 2 * self.sample_items * element + 8,
                mapping: first,
                only_reads: true,
                words: format!("take a sample of {} keys", self.samples()),
                ..Step::default()
            },
            Step {
                kernel: "weigh",
                groups: self.sample_groups(),
                tile: self.sample_tile(),
                local_bytes: self.sample_items * element + 8,
                words: format!("count the sample by {} cells, linear and logarithmic", self.cell_count(job)),
                ..Step::default()
            },
            Step {
                kernel: "divide",
                groups: self.cells() / self.slice(),
                tile: Tile::new(self.divide_items.ilog2() + 2, 2),
                local_bytes: self.divide_bytes(job),
                numbers: vec![
                    self.heavy(job) as u32,
                    self.hot_by_chance(job) as u32,
                    self.filling(job) as u32,
                ],
                words: "divide cells that would not fit a tile".to_owned(),
                ..Step::default()
            },
            Step {
                kernel: "count",
                groups: job.len().div_ceil(moved.len()).min(self.row.groups_of_unit * units),
                tile: moved,
                local_bytes: self.count_bytes(job),
                mapping: first,
                only_reads: true,
                copies: 0.5,
                words: "count all keys by cell".to_owned(),
                ..Step::default()
            },
            Step {
                kernel: "arrange",
                tile: Tile::new(self.arrange_items().ilog2(), 0),
                local_bytes: self.arrange_bytes(job),
                numbers: vec![
                    // With so many, a window has at most one place more.
                    ((1_u64 << 32) / (self.window() as u64 - 1)) as u32,
                    self.small() as u32,
                    tile.len() as u32,
                    self.row.large_tile.len() as u32,
                ],
                words: format!("cells become {even} buckets of up to {} keys, if keys are even", tile.len()),
                ..Step::default()
            },
        ];
        if even <= 1 << self.row.even_targets_log2 {
            steps.push(distribute(true, 0, "even keys: every key to its bucket"));
        } else {
            steps.push(distribute(true, 0, "even keys: every key to a run of buckets"));
            steps.push(distribute(true, 1, "even keys: every key of a run to its bucket"));
        }
        steps.extend([
            distribute(false, 0, "uneven keys: every key to its bucket, or to a run of buckets"),
            distribute(false, 1, "uneven keys: every key of a run to its bucket"),
            sort(
                Sorts::EvenBuckets,
                even,
                "even keys: sort every bucket in a tile, by counting and in registers",
            ),
            sort(
                Sorts::UnevenBuckets,
                // With groups for a few more: if there are still more buckets, groups sort several.
                uneven + uneven / 16 + 8,
                "uneven keys: the same, with pivots where some keys are there often",
            ),
            sort(Sorts::LeftOver, uneven.min(2 * units), "sort what is left over in a larger tile"),
            Step {
                kernel: "settle",
                groups: uneven.min(4 * units),
                tile,
                local_bytes: self.settle_bytes(job),
                mapping: last,
                words: "sort what does not fit that tile, or is too uneven".to_owned(),
                ..Step::default()
            },
        ]);
        steps.into_iter().map(|step| self.launch(&builder, &control, step)).collect()
    }

    /// The working memory holds whole elements, in the buffer for keys.
    fn work(&self, job: &Job) -> WorkMemory {
        WorkMemory {
            keys: self.work_elements(job) * job.element.bytes(),
            values: job.element.value_bytes(),
            counters: size_of::<u32>() * self.control(job).words,
        }
    }
}

#[cfg(test)]
mod tests;
