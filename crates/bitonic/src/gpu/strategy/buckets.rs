//! Sorting by buckets: how many there are, and what tiles they are made and sorted in. What the passes do stands in
//! `kernels/buckets.c`.

use super::{Candidate, Strategy, builder, copies_of, rank, steps_of_sort, tile_fits};
use crate::gpu::facts::DeviceFacts;
use crate::gpu::job::Job;
use crate::gpu::kernel::{Arrays, Builder, Number, Spec, Tile};
use crate::gpu::tuning::{BucketRow, ClusterRow, Measured, Tuning};
use crate::plan::{Algorithm, Launch, Place, WorkMemory};

/// How an array is sorted by buckets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Buckets {
    /// How many there are.
    pub(crate) count: usize,
    /// The groups that sort the sample.
    pub(crate) sample: ClusterRow,
    /// The tile in which elements are put in the order of their buckets.
    pub(crate) scatter: Tile,
    /// The tile that most buckets fit. The others fit two.
    pub(crate) tile: Tile,
    /// The groups that sort the array if one does not. Without them, it would be left as it was, which only tests want to see.
    pub(crate) rescue: Option<ClusterRow>,
}

/// Elements of the sample for every bucket, at least. With so many, lengths of buckets differ by 1/sqrt(38) of the average, 16 %. A
/// bucket is the longest where an element is there so often that it is nearly two splitters and yet only one: two averages, give
/// or take a quarter, of the three and more that fit. The worst arrays are those whose elements are all as often as two averages: by
/// Poisson's distribution, one in 70 thousand of them overflows, and with elements of 8 bytes, whose tiles are fuller, one in 1200.
const SAMPLES: usize = 38;

/// Groups that scatter, for every unit of the device. One or two run there at a time, so that each builds its search tree for many
/// tiles.
const SCATTER_GROUPS_OF_UNIT: usize = 2;

/// The counters of `kernels/buckets.c`: places, and how many there are before the lengths of the buckets.
const FAILED: u32 = 0;
const LONG_COUNT: u32 = 1;
const LENGTHS: u32 = 2;

pub(super) fn fit(job: &Job, facts: &DeviceFacts, _: &Tuning) -> Option<Candidate> {
    let (measured, width) = (Measured::of(facts), Measured::width(job.element.bytes()));
    let is_long = job.rows == 1 && job.row_length > measured.buckets_above[width];
    if !is_long || job.in_place || !facts.has_work_memory {
        return None;
    }
    let buckets = Buckets::for_length(job, facts)?;
    Some(Candidate { rank: rank::BUCKETS, strategy: Box::new(buckets) })
}

impl Buckets {
    /// Buckets for an array of this length, if the device can have them.
    pub(crate) fn for_length(job: &Job, facts: &DeviceFacts) -> Option<Self> {
        let (measured, width) = (Measured::of(facts), Measured::width(job.element.bytes()));
        let row = measured.buckets[width].iter().find(|row| job.row_length <= row.up_to)?;
        let &BucketRow { tile, scatter, filled, .. } = row;
        let count = (job.row_length as f64 / (tile.len() as f64 * filled)).ceil() as usize;
        let is_enough = |row: &&ClusterRow| row.log2 <= facts.cluster_log2 && row.length() >= SAMPLES * count;
        let &sample = measured.samples.iter().find(is_enough)?;
        // It has no tile: these are 1024 work-items in a group, and as many groups as every device with clusters has.
        let rescue = ClusterRow { tile: Tile::new(14, 4), log2: facts.cluster_log2.min(3) };
        let buckets = Self { count, sample, scatter, tile, rescue: Some(rescue) };
        buckets.is_possible(job, facts).then_some(buckets)
    }

    fn is_possible(self, job: &Job, facts: &DeviceFacts) -> bool {
        self.count >= 2
            && job.row_length >= self.sample.length()
            && self.work_elements() < 1 << 31
            && self.scatter_bytes(job) <= facts.local_bytes
            && self.scatter.items() <= facts.group_size
            && tile_fits(self.tile, job, facts)
            && tile_fits(self.sample.tile, job, facts)
            && self.rescue.is_none_or(|rescue| rescue.tile.items() <= facts.group_size)
    }

    /// The most elements of a bucket.
    fn capacity(self) -> usize {
        2 * self.tile.len()
    }

    /// Places for all buckets, and for the splitters. Rounded, so that what follows is at a multiple of 16 bytes.
    fn work_elements(self) -> usize {
        (self.count * self.capacity() + self.count).next_multiple_of(16)
    }

    /// Whether the groups that sort buckets leave out the steps of parts of the tile that hold nothing: that makes room for other
    /// groups, and pays where there are some. Measured on an NVIDIA H200: 2^24 keys of 4 bytes take 399 instead of 429 µs, but 394
    /// buckets, which are sorted all at once, take 4 % longer, and so do groups of 1024 work-items, of which a unit runs one at a
    /// time.
    fn leaves_out(self, facts: &DeviceFacts) -> bool {
        let run_at_once = Measured::of(facts).bucket_groups_of_unit * facts.units;
        self.count > run_at_once && self.tile.items() < 1024
    }

    /// How many groups scatter an array.
    fn scatter_groups(self, length: usize, facts: &DeviceFacts) -> usize {
        length.div_ceil(self.scatter.len()).min(SCATTER_GROUPS_OF_UNIT * facts.units.max(1))
    }

    /// The base-2 logarithm of the nodes of the search tree.
    fn tree_log2(self) -> u32 {
        self.count.next_power_of_two().ilog2().max(1)
    }

    /// The local memory of a group that scatters: the splitters as a search tree, the elements by bucket, and for every bucket two
    /// words and a bit, for every element 16 bits. `kernels/scatter.c` checks that it is enough.
    fn scatter_bytes(self, job: &Job) -> usize {
        let (tree, tile, element) = (1_usize << self.tree_log2(), self.scatter.len(), job.element.bytes());
        let words = ((2 * tree + 1 + tree.div_ceil(32)) * 4 + tile * 2).div_ceil(element);
        (tree + tile + words) * element
    }

    /// What is the same in all launches.
    fn launch(self, builder: &Builder<'_>, step: BucketStep<'_>) -> Launch {
        let BucketStep { kernel, groups, tile, cluster_log2, local_bytes, mapping, constants, .. } = step;
        let mut all = vec![
            ("SHORT_ROWS", 0),
            ("RAGGED_ROWS", 0),
            ("UNROLLED", step.unrolled.into()),
            ("FAILED", FAILED),
            ("LONG_COUNT", LONG_COUNT),
            ("LENGTHS", LENGTHS),
        ];
        all.extend(constants);
        let spec = Spec {
            kernel,
            groups,
            tile: Some(tile),
            cluster_log2,
            constants: &all,
            numbers: &[
                Number::Index(builder.job.len()),
                Number::Plain(self.count as u32),
                Number::Plain(self.capacity() as u32),
                Number::Plain(mapping),
            ],
            place: step.place,
            steps: 0..0,
            copies: step.copies,
            words: step.words,
        };
        builder.launch_with(spec, tile.items(), tile.held_log2, local_bytes)
    }
}

/// What differs between the launches.
struct BucketStep<'a> {
    kernel: &'static str,
    groups: usize,
    tile: Tile,
    cluster_log2: u32,
    local_bytes: usize,
    mapping: u32,
    unrolled: bool,
    constants: &'a [(&'static str, u32)],
    place: Option<Place>,
    copies: f64,
    words: String,
}

impl Strategy for Buckets {
    fn algorithm(&self) -> Algorithm {
        Algorithm::Buckets
    }

    fn launches(&self, job: &Job, facts: &DeviceFacts) -> Vec<Launch> {
        let Self { count, sample, scatter, tile, rescue } = *self;
        let measured = Measured::of(facts);
        let builder = builder(job, Arrays::WithCounters, self.work_elements());
        let (first, last) = (job.mapping.argument(true, false), job.mapping.argument(false, true));
        let mut launches = vec![
            self.launch(
                &builder,
                BucketStep {
                    kernel: "sample",
                    groups: 1 << sample.log2,
                    tile: sample.tile,
                    cluster_log2: sample.log2,
                    local_bytes: sample.tile.local_bytes(job.element),
                    mapping: first,
                    unrolled: true,
                    constants: &[],
                    place: None,
                    copies: 0.0,
                    words: format!(
                        "sort a sample of {} keys; {count} of them bound the buckets",
                        sample.length()
                    ),
                },
            ),
            self.launch(
                &builder,
                BucketStep {
                    kernel: "scatter",
                    groups: self.scatter_groups(job.len(), facts),
                    tile: scatter,
                    cluster_log2: 0,
                    local_bytes: self.scatter_bytes(job),
                    mapping: first,
                    unrolled: false,
                    constants: &[("TREE_LOG2", self.tree_log2())],
                    place: Some(Place::Memory),
                    copies: measured.scatter_copies,
                    words: format!(
                        "every key to one of {count} buckets, whose bounds come from a sample of {} keys",
                        sample.length()
                    ),
                },
            ),
            self.launch(
                &builder,
                BucketStep {
                    kernel: "bucket_sort",
                    groups: count,
                    tile,
                    cluster_log2: 0,
                    local_bytes: tile.local_bytes(job.element),
                    mapping: last,
                    unrolled: true,
                    constants: &[("LEAVES_OUT", self.leaves_out(facts).into())],
                    place: Some(Place::Tile),
                    copies: copies_of(steps_of_sort(tile.log2), measured),
                    words: format!(
                        "sort every bucket, in a tile of {} keys; those of up to {} in two",
                        tile.len(),
                        self.capacity()
                    ),
                },
            ),
        ];
        launches.extend(rescue.map(|rescue| {
            self.launch(
                &builder,
                BucketStep {
                    kernel: "rescue",
                    groups: 1 << rescue.log2,
                    tile: rescue.tile,
                    cluster_log2: rescue.log2,
                    local_bytes: 0,
                    mapping: first | last,
                    unrolled: false,
                    constants: &[],
                    place: None,
                    copies: 0.0,
                    words: "nothing, unless a bucket was too long: then the plain network, slowly".to_owned(),
                },
            )
        }));
        launches
    }

    fn work(&self, job: &Job) -> WorkMemory {
        let elements = self.work_elements();
        WorkMemory {
            keys: elements * job.element.key_bytes(),
            values: elements * job.element.value_bytes(),
            counters: size_of::<u32>() * (LENGTHS as usize + 2 * self.count),
        }
    }
}

#[cfg(test)]
mod tests;
