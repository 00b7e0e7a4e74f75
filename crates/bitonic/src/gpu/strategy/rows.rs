//! Rows of any length in tiles, without places for what is past their ends. See `kernels/row_sort.c`.
//!
//! In a tile of [`network`](super::network), a row takes the next power of two of places, and a row of 513 keys as much time as one of 1024.

use super::{Candidate, Strategy, builder, copies_of, has_enough_rows, rank};
use crate::gpu::facts::DeviceFacts;
use crate::gpu::job::Job;
use crate::gpu::kernel::{Arrays, Number, PAD_LOG2, Spec, Tile, padded};
use crate::gpu::tuning::{Measured, Tuning};
use crate::plan::{Algorithm, Launch, Place, Step};

/// How rows lie in tiles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Rows {
    /// The tile, if rows were as long as the next power of two.
    tile: Tile,
    /// The base-2 logarithm of that.
    merges: u32,
    /// The base-2 logarithm of a block.
    low_log2: u32,
    /// The blocks of a row.
    blocks: usize,
}

/// The base-2 logarithm of the longest row, whose places a group of 1024 work-items holds.
const LONGEST_LOG2: u32 = 15;
/// The base-2 logarithm of the work-items of a group, at most, where a tile has several rows.
const ITEMS_LOG2: u32 = 8;
/// Half as many wait for each other less, but more of a smaller tile is lost to rounding.
const WAITING: f64 = 1.05;
/// The base-2 logarithm of neighbouring work-items that load and store neighbouring keys of a row.
const NEIGHBOURS_LOG2: u32 = 5;
/// A work-item sorts rows of up to this many bytes by itself.
const ROW_OF_ITEM: usize = 256;
/// What loading, storing and sorting in registers take, in exchanges of all elements through local memory.
const EXCHANGES_BESIDES: usize = 22;

pub(super) fn fit(job: &Job, facts: &DeviceFacts, _: &Tuning) -> Option<Candidate> {
    let rows = Rows::of(job, facts)?;
    Some(Candidate { rank: rank::ROWS, strategy: Box::new(rows) })
}

impl Rows {
    /// For many rows that leave places of the network's tiles empty, or are longer than a tile.
    fn of(job: &Job, facts: &DeviceFacts) -> Option<Self> {
        let measured = Measured::of(facts);
        let bytes = job.element.bytes();
        let merges = Step::merges(job.row_length);
        let is_longer = merges > measured.large_tile_log2;
        let is_full = job.row_length.is_power_of_two();
        if facts.is_cpu() || !has_enough_rows(job, facts) || is_full && !is_longer || merges > LONGEST_LOG2 {
            return None;
        }
        let held_log2 = measured.held_log2[Measured::width(bytes)];
        let group_log2 = facts.group_size.max(1).ilog2();
        let rows = if bytes << merges <= ROW_OF_ITEM {
            // Few kernels for all lengths of a power of two.
            let rounded = 1 << merges.saturating_sub(4);
            let blocks = job.row_length.next_multiple_of(rounded);
            let items_log2 = group_log2.min(ITEMS_LOG2).min(ITEMS_LOG2 + 5 - merges);
            Self { tile: Tile::new(items_log2 + merges, merges), merges, low_log2: 0, blocks }
        } else {
            let shape = |items_log2: u32, low_log2: u32| {
                let tile = Tile::new((group_log2.min(items_log2) + held_log2).max(merges), held_log2);
                let rows = Self { tile, merges, low_log2, blocks: job.row_length.div_ceil(1 << low_log2) };
                rows.in_local_memory(bytes, facts.local_bytes.min(measured.tile_bytes))
            };
            let lows = merges.saturating_sub(held_log2).max(PAD_LOG2)..merges;
            let shapes = lows.flat_map(|low| [shape(ITEMS_LOG2 - 1, low), shape(ITEMS_LOG2, low)]);
            shapes.min_by(|a, b| a.cost().total_cmp(&b.cost()))?
        };
        let saves = rows.row_places() < 1 << merges || is_longer;
        (saves && rows.is_possible(bytes, facts)).then_some(rows)
    }

    /// With fewer rows in a tile, if that is what fits so much memory.
    fn in_local_memory(mut self, bytes: usize, limit: usize) -> Self {
        let least = self.merges.max(self.tile.held_log2 + NEIGHBOURS_LOG2);
        while self.tile.log2 > least && self.local_elements() * bytes > limit {
            self.tile = Tile::new(self.tile.log2 - 1, self.tile.held_log2);
        }
        self
    }

    fn is_possible(self, bytes: usize, facts: &DeviceFacts) -> bool {
        let places = self.row_places() << self.rows_log2();
        (1 << NEIGHBOURS_LOG2..=facts.group_size).contains(&self.tile.items())
            && self.local_elements() * bytes <= facts.local_bytes
            && (self.low_log2 == 0 || places.is_multiple_of(1 << self.tile.held_log2))
            && self.tile.held_log2 + self.low_log2 >= self.merges
            && self.tile.held_log2 <= self.merges
    }

    fn rows_log2(self) -> u32 {
        self.tile.log2 - self.merges
    }

    fn row_places(self) -> usize {
        self.blocks << self.low_log2
    }

    fn local_elements(self) -> usize {
        if self.low_log2 == 0 {
            (self.blocks | 1) << self.rows_log2()
        } else {
            padded(self.row_places() << self.rows_log2())
        }
    }

    /// What a row takes: about the places that are exchanged through local memory, as often as they are.
    fn cost(self) -> f64 {
        let held = self.tile.held_log2;
        let to_clean = |bits: u32| bits.div_ceil(held) as usize;
        let in_blocks = (held + 1..=self.low_log2).map(|bits| 1 + to_clean(bits - held)).sum::<usize>();
        let of_blocks = (self.merges - self.low_log2) as usize * (1 + to_clean(self.low_log2));
        // Steps inside of blocks are done by whole sub-groups.
        let places = self.row_places() << self.rows_log2();
        let of_sub_groups = places.next_multiple_of(1 << (held + NEIGHBOURS_LOG2));
        let waiting = if self.tile.items() >= 1 << ITEMS_LOG2 { WAITING } else { 1.0 };
        let a_row = (places + of_sub_groups) as f64 / f64::from(2 << self.rows_log2());
        a_row * waiting * (EXCHANGES_BESIDES + in_blocks + of_blocks) as f64
    }
}

impl Strategy for Rows {
    fn algorithm(&self) -> Algorithm {
        Algorithm::Network
    }

    fn launches(&self, job: &Job, facts: &DeviceFacts) -> Vec<Launch> {
        let Self { tile, merges, low_log2, blocks } = *self;
        let steps = Step::count(job.row_length);
        let working = (self.row_places() << self.rows_log2()) >> tile.held_log2;
        let inverse = (1_u64 << 32).div_ceil(job.row_length as u64);
        let spec = Spec {
            kernel: "row_sort",
            groups: job.rows.div_ceil(1 << self.rows_log2()),
            tile: Some(tile),
            cluster_log2: 0,
            constants: &[
                ("SHORT_ROWS", 0),
                ("RAGGED_ROWS", 0),
                ("MERGES", merges),
                ("LOW_LOG2", low_log2),
                ("BLOCKS", blocks as u32),
                ("WORKING_ITEMS", working as u32),
                ("UNROLLED", Measured::of(facts).unrolled.into()),
            ],
            numbers: &[
                Number::Index(job.row_length),
                Number::Index(job.rows),
                Number::Plain(inverse as u32),
                Number::Plain(job.mapping.argument(true, true)),
            ],
            place: Some(Place::Tile),
            steps: 0..steps,
            copies: copies_of(steps, Measured::of(facts)),
            words: format!("sort every row, in {} places", self.row_places()),
        };
        let local_bytes = self.local_elements() * job.element.bytes();
        vec![builder(job, Arrays::InPlace, 0).launch_with(spec, tile.items(), tile.held_log2, local_bytes)]
    }
}

#[cfg(test)]
mod tests;
