//! Rows somewhat longer than a power of two: the network in a head and a rest, and a merge of the two. See `kernels/row_merge_sort.c`.
//!
//! The network of [`rows`](super::rows) leaves out what is past the end of a row, but its steps on blocks are dearer than those of a power
//! of two: a row of 1025 keys took twice the time of one of 1024.

use super::{Candidate, Strategy, builder, copies_of, has_enough_rows, rank, steps_of_sort};
use crate::gpu::facts::DeviceFacts;
use crate::gpu::job::Job;
use crate::gpu::kernel::{Arrays, Number, Spec, Tile, padded};
use crate::gpu::tuning::{Measured, Tuning};
use crate::plan::{Algorithm, Launch, Place};

/// How rows lie in tiles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct MergedRows {
    /// The heads of a group's rows.
    tile: Tile,
    /// The base-2 logarithms of the places of a head and of a rest.
    head_log2: u32,
    rest_log2: u32,
}

/// The shortest head: work-items sort shorter rows by themselves.
const LEAST_HEAD_LOG2: u32 = 6;
/// Rests have places for an eighth of a head at least, as a base-2 logarithm: the work-items of fewer would be no whole sub-group.
const LEAST_PART_LOG2: u32 = 3;
/// And for as many keys at least, or their work-items would hold too few.
const LEAST_REST: usize = 1 << 4;
/// The longest rest that pays, as a base-2 logarithm, as measured on an H200; rows with a longer one are left to the blocks of
/// [`rows`](super::rows).
const fn most_rest_log2(head_log2: u32) -> Option<u32> {
    match head_log2 {
        LEAST_HEAD_LOG2..=12 => Some(head_log2 - 1),
        // A group of blocks has a multiprocessor to itself; two of this size share it as long as rests are short.
        14 => Some(head_log2 - 3),
        _ => None,
    }
}
/// The base-2 logarithm of the work-items that sort heads, at least. With half as many, rests have less than a sub-group.
const ITEMS_LOG2: u32 = 8;
/// Work-items that run together: those of the rests are whole ones.
const SUB_GROUP: usize = 32;

pub(super) fn fit(job: &Job, facts: &DeviceFacts, _: &Tuning) -> Option<Candidate> {
    let rows = MergedRows::of(job, facts)?;
    Some(Candidate { rank: rank::MERGED_ROWS, strategy: Box::new(rows) })
}

impl MergedRows {
    fn of(job: &Job, facts: &DeviceFacts) -> Option<Self> {
        let measured = Measured::of(facts);
        let head_log2 = job.row_length.max(1).ilog2();
        let rest = job.row_length.saturating_sub(1 << head_log2);
        let most_log2 = most_rest_log2(head_log2)?;
        if facts.is_cpu() || job.in_place || !has_enough_rows(job, facts) || rest == 0 {
            return None;
        }
        let least = (1 << (head_log2 - LEAST_PART_LOG2)).max(LEAST_REST);
        let rest_log2 = rest.max(least).next_power_of_two().ilog2();
        let bytes = job.element.bytes();
        let held_log2 = measured.held_log2[Measured::width(bytes)].min(rest_log2);
        let tile = Tile::new((ITEMS_LOG2 + held_log2).max(head_log2), held_log2);
        let rows = Self { tile, head_log2, rest_log2 };
        (rest_log2 <= most_log2 && rows.is_possible(bytes, facts)).then_some(rows)
    }

    fn is_possible(self, bytes: usize, facts: &DeviceFacts) -> bool {
        self.items() <= facts.group_size
            && self.items_behind().is_multiple_of(SUB_GROUP)
            && self.local_elements(bytes) * bytes <= facts.local_bytes
    }

    fn rows_log2(self) -> u32 {
        self.tile.log2 - self.head_log2
    }

    fn items_behind(self) -> usize {
        (1 << (self.rest_log2 + self.rows_log2())) >> self.tile.held_log2
    }

    fn items(self) -> usize {
        self.tile.items() + self.items_behind()
    }

    /// Heads, rests, and how much of the rest comes before the places of every work-item. The last work-item of a row looks up to as many
    /// places behind its rest as it holds, and that table is longer.
    fn local_elements(self, bytes: usize) -> usize {
        let places = self.items() << self.tile.held_log2;
        padded(places) + (self.items() * size_of::<u32>()).div_ceil(bytes)
    }
}

impl Strategy for MergedRows {
    fn algorithm(&self) -> Algorithm {
        Algorithm::MergedRows
    }

    fn launches(&self, job: &Job, facts: &DeviceFacts) -> Vec<Launch> {
        let Self { tile, head_log2, rest_log2 } = *self;
        let measured = Measured::of(facts);
        let steps = steps_of_sort(head_log2);
        let spec = Spec {
            kernel: "row_merge_sort",
            groups: job.rows.div_ceil(1 << self.rows_log2()),
            tile: Some(tile),
            cluster_log2: 0,
            constants: &[
                ("SHORT_ROWS", 0),
                ("RAGGED_ROWS", 0),
                ("MERGES", head_log2),
                ("REST_LOG2", rest_log2),
                ("ITEMS_BEHIND", self.items_behind() as u32),
                ("UNROLLED", measured.unrolled.into()),
            ],
            numbers: &[
                Number::Index(job.row_length),
                Number::Index(job.rows),
                Number::Plain(job.mapping.argument(true, true)),
            ],
            place: Some(Place::Tile),
            steps: 0..steps,
            copies: copies_of(steps, measured),
            words: format!("sort {} keys of every row, and the rest, and merge them", 1_usize << head_log2),
        };
        let bytes = job.element.bytes();
        let local_bytes = self.local_elements(bytes) * bytes;
        vec![builder(job, Arrays::InPlace, 0).launch_with(spec, self.items(), tile.held_log2, local_bytes)]
    }
}

#[cfg(test)]
mod tests;
