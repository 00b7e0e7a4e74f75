//! Which lists are made of a row, one of the other, and how the best elements are taken from the last.

use super::tiles::{LEAST_ITEMS, SAMPLES_LOG2, last_tiles, sample_tile};
use crate::gpu::facts::DeviceFacts;
use crate::gpu::job::{Job, Ragged};
use crate::gpu::kernel::Tile;
use crate::gpu::strategy::tile_fits;

/// Of so many elements of a sample the least may be held.
pub(super) const LEAST_OF: [u32; 6] = [1, 2, 4, 8, 16, 32];

/// What reading an element costs, and searching among it and others, as comparisons of a sort.
pub(super) const READ_COST: u64 = 16;
pub(super) const SEARCH_COST: u64 = 8;

/// What a launch costs a unit that has nothing else to do, and waiting for memory once.
pub(super) const LAUNCH_COST: u64 = 200_000;
pub(super) const WAIT_COST: u64 = 30_000;

/// What a step of a sort costs it.
pub(super) const STEP_COST: u64 = 5_000;

/// The base-2 logarithm of a tile that is sorted so soon that filtering once more would take longer.
pub(super) const SOON_LOG2: u32 = 11;

/// The least rank of a bound whose list is filtered again: the higher, the better it is known how long that list is.
pub(super) const KNOWN_WELL: f64 = 36.0;

/// The most keys that a work-item holds of a row whose bound is searched for, or elements of a list, and the base-2 logarithms of what it holds
/// in the sort behind that: see `kernels/select_best.c`.
pub(super) const SEARCHED: usize = 32;
pub(super) const SEARCHED_OF_LIST: usize = 16;
pub(super) const HELD_OF_SEARCHED_LOG2: [u32; 3] = [2, 1, 3];

/// A row of so few tiles is not filtered.
pub(super) const SHORT_ROW: usize = 2;

/// The base-2 logarithm of the shortest cells that the arrays of segments are cut into: see `kernels/best.c`. Every group looks for the owner
/// of its cell, which takes as long as reading some thousand elements.
pub(super) const LEAST_CELL_LOG2: u32 = 14;

/// How long rows are: keys are as many as they are, of a list only so much is known.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lengths {
    pub(super) least: f64,
    pub(super) expected: f64,
    pub(super) most: f64,
}

impl Lengths {
    pub(super) fn of_keys(row_length: usize) -> Self {
        let length = row_length as f64;
        Self { least: length, expected: length, most: length }
    }

    pub(super) fn most(&self) -> usize {
        self.most as usize
    }
}

/// A list of the elements of a row that come before a bound.
#[derive(Clone, Copy, Debug)]
pub(super) struct List {
    /// What a group holds to find the bound.
    pub(super) sample: Tile,
    /// Each of it is the least of so many elements of the row.
    pub(super) least_of: u32,
    /// The least rank of the bound in what is held.
    pub(super) rank: u32,
    /// How many elements pass.
    pub(super) lengths: Lengths,
}

impl List {
    /// The list of a row of so many elements.
    ///
    /// The bound is too low if as many of what is held as its rank are among the best elements of the row; about Poisson(l) are, l being
    /// their mean. What comes before the bound is the share of the row of which as many would be held.
    pub(super) fn new(row: Lengths, best: usize, sample: Tile, least_of: u32, least_rank: f64) -> Self {
        let (held, each) = (sample.len() as f64, f64::from(least_of));
        let of_best = held * (1.0 - (1.0 - (best as f64 / row.least).min(1.0)).powf(each));
        let rank = (of_best + 4.5 * of_best.sqrt() + 4.0).ceil().max(least_rank);
        // As in `kernels/best_bound.c`.
        let most = rank + (rank / 4.0).floor() + 2.0;
        let share = |rank: f64| 1.0 - (1.0 - (rank / held).min(1.0)).powf(1.0 / each);
        let deviation = 1.0 / rank.sqrt();
        let lengths = Lengths {
            least: (share(rank) * row.least * (-5.0 * deviation).exp()).max(best as f64),
            expected: share(0.5 * (rank + most)) * row.expected,
            most: (share(most) * row.most * (1.0 + 6.0 * deviation)).ceil(),
        };
        Self { sample, least_of, rank: rank as u32, lengths }
    }

    /// All lists of such a row that are worth it.
    pub(super) fn all<'a>(
        row: Lengths,
        least_rank: f64,
        best: usize,
        facts: &'a DeviceFacts,
    ) -> impl Iterator<Item = Self> + 'a {
        let samples = SAMPLES_LOG2.filter_map(|log2| sample_tile(log2, facts));
        let lists = samples.flat_map(move |sample| {
            LEAST_OF.map(|least_of| Self::new(row, best, sample, least_of, least_rank))
        });
        lists.filter(move |list| {
            let is_far_from_all = 2 * list.rank as usize <= list.sample.len();
            is_far_from_all && 4.0 * list.read() as f64 <= row.least && 2 * list.capacity() <= row.most()
        })
    }

    /// What is read of a row to find the bound.
    pub(super) fn read(&self) -> usize {
        self.sample.len() * self.least_of as usize
    }

    /// What finding the bound costs, with so many groups on a unit: while one waits for memory, others work.
    pub(super) fn cost(&self, groups_of_unit: u64) -> u64 {
        let waits = u64::from(self.least_of) * WAIT_COST / groups_of_unit;
        waits + READ_COST * self.read() as u64 + SEARCH_COST * self.sample.len() as u64
    }

    /// The places for it: enough nearly always.
    pub(super) fn capacity(&self) -> usize {
        self.lengths.most()
    }

    /// What it is shorter than in most cases: it may be longer than expected by so many deviations.
    pub(super) fn usual(&self, deviations: f64) -> usize {
        (self.lengths.expected * (1.0 + deviations / f64::from(self.rank).sqrt())) as usize
    }
}

/// What a sort of a tile takes, about.
pub(super) fn cost(tile: Tile) -> u64 {
    u64::from(tile.log2 * (tile.log2 + 1)) << tile.log2
}

/// The lists of a row, each made of the one before it, and how the last is taken.
pub(super) struct Way {
    pub(super) cost: u64,
    pub(super) lists: Vec<List>,
    pub(super) last: Last,
}

/// The best way for such a row, or for a list; `None` if there is none that is worth it.
pub(super) fn way(row: Lengths, job: &Job, best: usize, facts: &DeviceFacts) -> Option<Way> {
    let groups_of_unit = job.rows.div_ceil(facts.units) as u64;
    // A row has a part of them to bear.
    let launches = 2 * LAUNCH_COST / groups_of_unit;
    let whole = last_tiles(job, facts).find(|tile| row.most() <= SHORT_ROW * tile.len()).map(|tile| {
        let last = Last::sorted(tile);
        Way { cost: last.cost(row.most(), groups_of_unit), lists: Vec::new(), last }
    });
    let once = List::all(row, 0.0, best, facts).filter_map(|list| {
        let last = Last::of_list(&list, job, best, facts)?;
        let cost = launches + list.cost(groups_of_unit) + last.cost(list.usual(0.0), groups_of_unit);
        Some(Way { cost, lists: vec![list], last })
    });
    // A row may be so long that the list of it is filtered again.
    let list = List::all(row, KNOWN_WELL, best, facts)
        .min_by_key(|list| list.capacity() as u64 + list.cost(groups_of_unit));
    let again = list.and_then(|list| {
        let mut way = way(list.lengths, job, best, facts).filter(|way| !way.lists.is_empty())?;
        way.cost += launches + list.cost(groups_of_unit);
        way.lists.insert(0, list);
        Some(way)
    });
    whole.into_iter().chain(once).chain(again).min_by_key(|way| way.cost)
}

/// The cells of arrays whose rows are segments of different lengths.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cells {
    /// The elements of a cell.
    pub(super) length: usize,
    /// How many there are.
    pub(super) count: usize,
    /// The list of a segment of one cell. That of a longer one has as much room for each.
    pub(super) list: List,
}

impl Cells {
    /// The cells of a job, and how lists are taken; `None` if no segment is so long that filtering it pays.
    pub(super) fn new(job: &Job, ragged: Ragged, best: usize, facts: &DeviceFacts) -> Option<(Self, Last)> {
        let lengths = (LEAST_CELL_LOG2..usize::BITS).map(|log2| 1 << log2);
        lengths
            .take_while(|&length| length <= job.row_length)
            .find_map(|length| Self::of_length(length, job, ragged, best, facts))
    }

    /// Cells of this length, if segments so long are filtered once.
    pub(super) fn of_length(
        length: usize,
        job: &Job,
        ragged: Ragged,
        best: usize,
        facts: &DeviceFacts,
    ) -> Option<(Self, Last)> {
        let count = ragged.len / length;
        let job_of_cells = Job { row_length: length, rows: count, ragged: None, ..*job };
        let way = way(Lengths::of_keys(length), &job_of_cells, best, facts)?;
        let &[List { sample, least_of, .. }] = &way.lists[..] else { return None };
        // A segment of one cell may have nearly two.
        let lengths = Lengths { most: 2.0 * length as f64, ..Lengths::of_keys(length) };
        let list = List::new(lengths, best, sample, least_of, 0.0);
        Some((Self { length, count, list }, way.last))
    }
}

/// How a group takes the best elements of what is left of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Last {
    /// What is sorted.
    pub(super) tile: Tile,
    /// The elements that a work-item holds where a bound is searched for, before anything is sorted; or 0.
    pub(super) searched: usize,
}

impl Last {
    /// All is sorted, a tile after the other.
    pub(super) fn sorted(tile: Tile) -> Self {
        Self { tile, searched: 0 }
    }

    /// A group holds so many elements, up to `most` for a work-item, and sorts no more than a tile with room for `least`; `None` where they
    /// are too many, or would all be sorted anyway. Processors have not so many registers, and their compilers take seconds for it.
    pub(super) fn searched(
        length: usize,
        least: usize,
        most: usize,
        job: &Job,
        facts: &DeviceFacts,
    ) -> Option<Self> {
        if facts.is_cpu() {
            return None;
        }
        let log2 = least.next_power_of_two().ilog2().max(LEAST_ITEMS.ilog2() + 1);
        let holds = |tile: &Tile| tile.items() >= LEAST_ITEMS && length <= most * tile.items();
        let tile = (log2..log2 + 3)
            .filter(|&log2| length > 1 << log2)
            .flat_map(|log2| HELD_OF_SEARCHED_LOG2.map(|held_log2| Tile::new(log2, held_log2)))
            .find(|tile| holds(tile) && tile_fits(*tile, job, facts))?;
        // As many as are needed, because registers that hold nothing are looked at as well.
        Some(Self { tile, searched: length.div_ceil(tile.items()).next_power_of_two() })
    }

    /// For rows that are held as a whole.
    pub(super) fn of_short_rows(job: &Job, best: usize, facts: &DeviceFacts) -> Option<Self> {
        // Of keys of 128 bits the search sees half: where it finds no bound, there must be room for a round of others beside the best.
        let least = if job.element.key_bytes() > size_of::<u64>() { 2 * best } else { best };
        Self::searched(job.row_length, least, SEARCHED, job, facts)
    }

    /// For a list. Where it is spoilt, there must be room for a round of others beside the best.
    pub(super) fn of_list(list: &List, job: &Job, best: usize, facts: &DeviceFacts) -> Option<Self> {
        let has_narrow_indices = job.element.value_bytes() == size_of::<u32>();
        let length = list.usual(3.0).min(list.capacity());
        let searched =
            has_narrow_indices.then(|| Self::searched(length, 2 * best, SEARCHED_OF_LIST, job, facts));
        searched.flatten().or_else(|| {
            let tile = last_tiles(job, facts).find(|tile| list.usual(1.5) <= tile.len())?;
            let is_soon = tile.log2 <= SOON_LOG2 || tile.len() <= 4 * best.next_power_of_two();
            is_soon.then_some(Self::sorted(tile))
        })
    }

    /// What it costs for so many elements, with so many groups on a unit.
    pub(super) fn cost(&self, length: usize, groups_of_unit: u64) -> u64 {
        let each = if self.searched > 0 { READ_COST + SEARCH_COST } else { 0 };
        let steps = u64::from(self.tile.log2 * (self.tile.log2 + 1) / 2);
        steps * STEP_COST / groups_of_unit + cost(self.tile) + each * length as u64
    }
}
