//! Segments of any lengths, which a table on the device tells. How they are sorted stands in `kernels/segments.c`.

use super::network::Network;
use super::{builder, copies_of, steps_of_sort, tile_fits};
use crate::gpu::facts::DeviceFacts;
use crate::gpu::job::{Job, Ragged};
use crate::gpu::kernel::{Arrays, Number, Spec, Tile};
use crate::gpu::tuning::{Measured, Tuning};
use crate::plan::{Algorithm, KernelPlan, Launch, Parameter, Place, WorkMemory};
use std::sync::Arc;

/// The groups that count and list segments, and the work-items of each.
const GROUP_COUNT: usize = 128;
const ITEMS: usize = 256;

/// The base-2 logarithm of a tile of short segments: enough for a group, and so few that where they are takes little local memory.
const SHORT_TILE_LOG2: u32 = 10;

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
    let long = Network::new(&Job { row_length: ragged.len, rows: 1, ..*job }, facts, tuning).shape;
    let tile = Tile::new(long.tile_log2, long.held_log2);
    let launches = Launches { job, ragged, facts, tile, unrolled: long.unrolled };
    Arc::new(KernelPlan {
        algorithm: Algorithm::Segments,
        launches: launches.all(),
        element_bytes: job.element.bytes(),
        work: launches.work(),
        measured_on: Measured::of(facts).device,
        limits: long.limits(),
        network_passes: None,
        fallback: None,
    })
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
}

impl Launches<'_> {
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
        let before_tiles = self.counts_at() + GROUP_COUNT * self.columns() + job.rows;
        let words = (before_tiles + 2 * tiles).next_multiple_of(2) + 2 * tiles;
        WorkMemory {
            keys: of_long(job.element.key_bytes()),
            values: of_long(job.element.value_bytes()),
            counters: words * size_of::<u32>(),
        }
    }

    /// A launch with so many work-items in a group, or those of its tile.
    fn launch(&self, items: Option<usize>, round: u32, mapping: u32, spec: Spec<'_>) -> Launch {
        let mut constants = vec![
            ("OFFSET_BITS", self.ragged.offset_bits),
            ("LARGEST_LOG2", self.tile.log2),
            ("GROUP_COUNT", GROUP_COUNT as u32),
            ("COUNTS", self.counts_at() as u32),
            ("CLASS_STEP", self.class_step()),
        ];
        constants.extend(items.map(|items| ("ITEMS", items as u32)));
        constants.extend(spec.constants);
        let numbers = [
            Number::Plain(self.job.rows as u32),
            Number::Index(self.ragged.len),
            Number::Plain(self.most_tiles() as u32),
            Number::Plain(round),
            Number::Plain(mapping),
        ];
        let spec = Spec { constants: &constants, numbers: &numbers, ..spec };
        let builder = builder(self.job, Arrays::WithCounters, 0);
        let mut launch = match items {
            Some(items) => builder.launch_with(spec, items, 0, 0),
            None => builder.launch(spec),
        };
        let behind_counters = launch.arguments.len() - numbers.len();
        launch.arguments.insert(behind_counters, Parameter::Offsets);
        launch
    }

    fn count(&self) -> Launch {
        let words = format!("count {} segments by length", self.job.rows);
        self.launch(Some(self.items()), 0, 0, plain("segments_count", GROUP_COUNT, words))
    }

    fn list(&self) -> Launch {
        let words = "list the segments of every class of lengths, and the tiles of longer ones".to_owned();
        self.launch(Some(self.items()), 0, 0, plain("segments_list", GROUP_COUNT, words))
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
        self.launch(None, 0, self.job.mapping.argument(true, true), spec)
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
        self.launch(None, 0, self.job.mapping.argument(true, false), spec)
    }

    fn splits(&self, round: u32) -> Launch {
        let words = "find where the runs of longer segments are cut, to be merged in tiles".to_owned();
        let groups = self.groups(self.most_tiles().div_ceil(self.items()), self.items());
        self.launch(Some(self.items()), round, 0, plain("segment_splits", groups, words))
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
        self.launch(None, round, self.job.mapping.argument(false, true), spec)
    }

    /// The tile that segments of a class are sorted in.
    fn tile_of(&self, class: u32) -> Tile {
        let log2 = class.max(SHORT_TILE_LOG2).min(self.tile.log2);
        let most_held = log2.saturating_sub(LEAST_ITEMS_LOG2).max(1);
        let held = (1..=self.tile.held_log2.min(most_held)).rev().map(|held_log2| Tile::new(log2, held_log2));
        held.into_iter().find(|&tile| tile_fits(tile, self.job, self.facts)).unwrap_or(self.tile)
    }
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
