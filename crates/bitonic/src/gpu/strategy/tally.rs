//! Counting keys of 8 and 16 bits, and writing them anew. What the kernels do stands in `kernels/tally.c`.

use super::{Candidate, Strategy, builder, rank};
use crate::gpu::facts::DeviceFacts;
use crate::gpu::job::Job;
use crate::gpu::kernel::{Arrays, Builder, Number, Spec, Tile};
use crate::gpu::tuning::{Measured, Tuning};
use crate::plan::{Algorithm, Launch, Place, WorkMemory};

/// How keys are counted and written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Tally {
    /// What a group counts at a time.
    counted: Tile,
    /// How many counters each key has in the local memory of a group.
    copies: usize,
    /// The slices that all possible keys are cut into where the local memory has no counter for each. A group counts one.
    slices: usize,
    /// What a group writes.
    filled: Tile,
}

/// The base-2 logarithms of the work-items that count and that write keys, at most, and of the keys that each has at a time.
const COUNT_ITEMS_LOG2: u32 = 10;
const FILL_ITEMS_LOG2: u32 = 8;
const HELD_LOG2: u32 = 4;
/// The base-2 logarithms of a chunk of counters, at most, and of the work-items that make sums of it.
const CHUNK_LOG2: u32 = 10;
const SUM_ITEMS_LOG2: u32 = 6;
/// Work-items that access local memory together.
const NEIGHBOURS: usize = 32;

pub(super) fn fit(job: &Job, facts: &DeviceFacts, _: &Tuning) -> Option<Candidate> {
    let measured = Measured::of(facts);
    let is_narrow = job.element.key_bits <= 16 && job.element.value_bits == 0;
    if !is_narrow || job.rows != 1 || job.in_place || !facts.has_work_memory {
        return None;
    }
    // Counters have 32 bits.
    let is_long = job.row_length > measured.tally_above[usize::from(job.element.key_bits > 8)];
    if !is_long || u32::try_from(job.row_length).is_err() {
        return None;
    }
    Some(Candidate { rank: rank::TALLY, strategy: Box::new(Tally::new(job, facts)?) })
}

impl Tally {
    fn new(job: &Job, facts: &DeviceFacts) -> Option<Self> {
        let group_log2 = facts.group_size.max(1).ilog2();
        let possible = possible(job);
        // A counter for every neighbour, as long as two groups share a unit.
        let copies = if 8 * possible * NEIGHBOURS <= facts.local_bytes { NEIGHBOURS } else { 1 };
        let fits = |slices: &usize| local_bytes(possible, copies, *slices) <= facts.local_bytes;
        let slices = (0..=8).map(|log2| 1 << log2).find(fits)?;
        let counted = Tile::new(COUNT_ITEMS_LOG2.min(group_log2) + HELD_LOG2, HELD_LOG2);
        let filled = Tile::new(FILL_ITEMS_LOG2.min(group_log2) + HELD_LOG2, HELD_LOG2);
        let has_items = group_log2 >= SUM_ITEMS_LOG2;
        has_items.then_some(Self { counted, copies, slices, filled })
    }

    fn launch(self, builder: &Builder<'_>, step: Step) -> Launch {
        let job = builder.job;
        let Step { kernel, groups, tile, local_bytes, mapping, place, words } = step;
        let spec = Spec {
            kernel,
            groups,
            tile: Some(tile),
            cluster_log2: 0,
            constants: &[
                ("SHORT_ROWS", 0),
                ("RAGGED_ROWS", 0),
                ("UNROLLED", 0),
                ("CHUNK_LOG2", chunk_log2(job)),
                ("SLICES", self.slices as u32),
                ("COPIES", self.copies as u32),
            ],
            numbers: &[Number::Index(job.len()), Number::Plain(mapping)],
            place,
            steps: 0..0,
            // A pass reads, or writes.
            copies: if place.is_some() { 0.5 } else { 0.0 },
            words: words.to_owned(),
        };
        builder.launch_with(spec, tile.items(), tile.held_log2, local_bytes)
    }
}

/// What differs between the launches.
struct Step {
    kernel: &'static str,
    groups: usize,
    tile: Tile,
    local_bytes: usize,
    mapping: u32,
    place: Option<Place>,
    words: &'static str,
}

/// The keys that there can be.
fn possible(job: &Job) -> usize {
    1 << job.element.key_bits
}

fn chunk_log2(job: &Job) -> u32 {
    job.element.key_bits.min(CHUNK_LOG2)
}

fn local_bytes(possible: usize, copies: usize, slices: usize) -> usize {
    4 * (possible / slices * copies + NEIGHBOURS)
}

impl Strategy for Tally {
    fn algorithm(&self) -> Algorithm {
        Algorithm::Counting
    }

    fn work(&self, job: &Job) -> WorkMemory {
        let chunks = possible(job) >> chunk_log2(job);
        WorkMemory { counters: 4 * (possible(job) + chunks), ..WorkMemory::default() }
    }

    fn launches(&self, job: &Job, facts: &DeviceFacts) -> Vec<Launch> {
        let builder = builder(job, Arrays::AndCounters, 0);
        let (first, last) = (job.mapping.argument(true, false), job.mapping.argument(false, true));
        let units = facts.units.max(1);
        let counting = local_bytes(possible(job), self.copies, self.slices);
        let groups_of_unit = (facts.local_bytes / counting).clamp(1, 2);
        let parts = job.len().div_ceil(self.counted.len()).min((groups_of_unit * units / self.slices).max(1));
        let sums = Tile::new(SUM_ITEMS_LOG2, 0);
        let nothing =
            Step { kernel: "", groups: 1, tile: sums, local_bytes: 0, mapping: 0, place: None, words: "" };
        let steps = [
            Step { kernel: "tally_clear", groups: units, words: "set all counters to 0", ..nothing },
            Step {
                kernel: "tally_count",
                groups: parts * self.slices,
                tile: self.counted,
                local_bytes: counting,
                mapping: first,
                place: Some(Place::Tile),
                words: "count every key",
            },
            Step {
                kernel: "tally_sum",
                groups: possible(job) >> chunk_log2(job),
                words: "where the keys of every value start",
                ..nothing
            },
            Step {
                kernel: "tally_fill",
                groups: job.len().div_ceil(self.filled.len()),
                tile: self.filled,
                mapping: last,
                place: Some(Place::Tile),
                words: "write every key as often as it was counted",
                ..nothing
            },
        ];
        steps.into_iter().map(|step| self.launch(&builder, step)).collect()
    }
}

#[cfg(test)]
mod tests;
