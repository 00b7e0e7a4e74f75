//! How many elements a group sorts, holds of a sample, or keeps where it filters.

use crate::gpu::facts::DeviceFacts;
use crate::gpu::job::Job;
use crate::gpu::kernel::Tile;
use crate::gpu::strategy::tile_fits;

/// The base-2 logarithms of tiles that what is left of a row is sorted in, and of what a group holds of a sample.
pub(super) const TILES_LOG2: std::ops::RangeInclusive<u32> = 8..=14;
pub(super) const SAMPLES_LOG2: std::ops::RangeInclusive<u32> = 7..=13;

/// The base-2 logarithm of what a work-item holds of a sample, at most.
pub(super) const HELD_OF_SAMPLE_LOG2: u32 = 4;

/// The base-2 logarithms of what a work-item holds in a sort: the first that makes a group of a size that the device has.
pub(super) const HELD_LOG2: [u32; 5] = [3, 4, 5, 2, 1];

/// Where groups are so few that units would have little else to do, a work-item holds as little as this.
pub(super) const LEAST_HELD_LOG2: u32 = 1;

/// In a tile larger than this, so little would make a group that fills a unit alone, and nothing else would work there while it waits at
/// a barrier: a work-item holds more.
pub(super) const LARGE_LOG2: u32 = 10;
pub(super) const LEAST_HELD_OF_LARGE_LOG2: u32 = 2;

/// So many work-items keep a unit busy.
pub(super) const ITEMS_OF_UNIT: usize = 1024;

/// The work-items of a group that filters, what each reads at once, and the base-2 logarithm of what it can keep.
pub(super) const FILTER_ITEMS: usize = 256;
pub(super) const READ: usize = 4;
pub(super) const KEPT_LOG2: u32 = 10;

/// A sub-group has so many work-items on most devices, and should have something to do for all.
pub(super) const LEAST_ITEMS: usize = 32;

/// A group that filters reads so many rounds at least, or it does little else than begin and end.
pub(super) const LEAST_ROUNDS: usize = 4;

/// The tile that a group sorts, with as many work-items as there are units for; `None` if it does not fit the device.
pub(super) fn sorted_tile(log2: u32, job: &Job, facts: &DeviceFacts) -> Option<Tile> {
    let tile = |held_log2: u32| {
        Some(Tile::new(log2, held_log2)).filter(|&tile| held_log2 < log2 && tile_fits(tile, job, facts))
    };
    let is_whole = |tile: &Tile| tile.items() >= LEAST_ITEMS;
    let fitting = || HELD_LOG2.into_iter().filter_map(tile);
    let mut found = fitting().find(is_whole).or_else(|| fitting().next())?;
    let groups_of_unit = job.rows.div_ceil(facts.units);
    let least_held_log2 = if log2 > LARGE_LOG2 { LEAST_HELD_OF_LARGE_LOG2 } else { LEAST_HELD_LOG2 };
    while !facts.is_cpu() && found.held_log2 > least_held_log2 {
        match tile(found.held_log2 - 1) {
            Some(next) if groups_of_unit * next.items() <= ITEMS_OF_UNIT => found = next,
            _ => break,
        }
    }
    Some(found)
}

/// What a group holds of a sample: much in few work-items, because they meet in every round of a search.
pub(super) fn sample_tile(log2: u32, facts: &DeviceFacts) -> Option<Tile> {
    let tiles = || {
        let held = LEAST_HELD_LOG2..=HELD_OF_SAMPLE_LOG2;
        held.map(|held_log2| Tile::new(log2, held_log2)).filter(|tile| tile.items() <= facts.group_size)
    };
    // Groups may be smaller on some devices.
    tiles().rev().find(|tile| tile.items() >= LEAST_ITEMS).or_else(|| tiles().next())
}

/// What a group that filters rows of this length can keep.
pub(super) fn kept_tile(row_length: usize, job: &Job, facts: &DeviceFacts) -> Tile {
    let items = FILTER_ITEMS.min(row_length / (READ * LEAST_ROUNDS)).max(LEAST_ITEMS).min(facts.group_size);
    let items_log2 = items.ilog2();
    let fitting = (items_log2..=KEPT_LOG2).rev().map(|log2| Tile::new(log2, log2 - items_log2));
    fitting.into_iter().find(|&tile| tile_fits(tile, job, facts)).unwrap_or(Tile::new(items_log2, 0))
}

/// The tiles that have room for twice the best elements, the smallest first.
pub(super) fn last_tiles<'a>(job: &'a Job, facts: &'a DeviceFacts) -> impl Iterator<Item = Tile> + 'a {
    let best = job.best.unwrap_or(job.row_length).max(1);
    // The smallest ones come last: they are for devices whose local memory or groups are too small for any other.
    let fitting = TILES_LOG2.chain(4..*TILES_LOG2.start());
    fitting.filter(move |&log2| best <= 1 << (log2 - 1)).filter_map(move |log2| sorted_tile(log2, job, facts))
}
