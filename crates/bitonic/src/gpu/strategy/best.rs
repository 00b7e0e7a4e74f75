//! The best elements of every row, by groups that keep what may still be among them. What a group does stands in
//! `kernels/select_best.c`.

use super::network::Network;
use super::{builder, tile_fits};
use crate::Error;
use crate::gpu::element::Element;
use crate::gpu::facts::DeviceFacts;
use crate::gpu::job::Job;
use crate::gpu::kernel::{Arrays, Number, Spec, Tile};
use crate::gpu::tuning::{Measured, Tuning};
use crate::plan::{Algorithm, KernelPlan, Launch, Parameter, Place, WorkMemory};
use std::sync::Arc;

/// The base-2 logarithm of the least tile of a group that has a unit nearly for itself, and of one of very many groups: there the sort of
/// the tile is what takes the time.
const LEAST_TILE_LOG2: u32 = 10;
const LEAST_TILE_OF_MANY_LOG2: u32 = 8;

/// Where there are so many rows for every unit of the device, their groups are many.
const MANY_ROWS: usize = 16;

/// The base-2 logarithms of what a work-item holds: the first that makes a group of a size that the device has.
const HELD_LOG2: [u32; 3] = [3, 4, 5];

/// So many work-items at the least go through the keys on every unit, where there are keys for them.
const ITEMS_OF_UNIT: usize = 1024;

/// A part of a row has so many tiles at least: fewer would leave more to the next launch than they save.
const TILES_OF_PART: usize = 2;

/// What is left of a row is no longer shared when it has so many tiles at most.
const TILES_OF_LAST: usize = 4;

/// The tile of the groups; `None` if the best elements of a row are more than half of the largest that the device has.
fn tile(job: &Job, facts: &DeviceFacts) -> Option<Tile> {
    let best = job.best.unwrap_or(job.row_length).max(1);
    let is_many = !facts.is_cpu() && job.rows >= MANY_ROWS * facts.units;
    let least = if is_many { LEAST_TILE_OF_MANY_LOG2 } else { LEAST_TILE_LOG2 };
    let best_log2 = best.checked_next_power_of_two()?.ilog2();
    // A sort of the tile leaves room for three times the best, or at least for as many.
    let wanted = (best_log2 + 2).max(least);
    let tiles = (best_log2 + 1..=wanted).rev().flat_map(|log2| {
        HELD_LOG2
            .into_iter()
            .filter(move |&held_log2| held_log2 < log2)
            .map(move |held_log2| Tile::new(log2, held_log2))
    });
    tiles.into_iter().find(|&tile| tile.log2 < usize::BITS - 8 && tile_fits(tile, job, facts))
}

/// Whether the best elements of a row are few enough for a device.
///
/// # Errors
///
/// [`Error::TopTooLarge`] with the most that it can find.
pub(crate) fn check_best(job: &Job, facts: &DeviceFacts) -> Result<(), Error> {
    let fits = |best: usize| tile(&Job { best: Some(best), ..*job }, facts).is_some();
    match job.best {
        Some(k) if !fits(k) => {
            let most = (0..k.ilog2()).rev().map(|log2| 1 << log2).find(|&best| fits(best)).unwrap_or(0);
            Err(Error::TopTooLarge { device: facts.name.clone(), k, most })
        }
        _ => Ok(()),
    }
}

/// The rows of one launch.
#[derive(Clone, Copy, Debug)]
struct Level {
    /// The elements of a row.
    row_length: usize,
    parts: usize,
}

impl Level {
    fn part_length(self) -> usize {
        self.row_length.div_ceil(self.parts)
    }
}

/// The launches: each goes through what the one before it has left, until a row is one part.
fn levels(job: &Job, best: usize, tile: Tile, facts: &DeviceFacts) -> Vec<Level> {
    let groups = facts.units * (ITEMS_OF_UNIT / tile.items()).max(2);
    let mut most = (groups / job.rows).max(1);
    let mut row_length = job.row_length;
    let mut levels = Vec::new();
    loop {
        let parts = row_length.div_ceil(TILES_OF_PART * tile.len()).min(most);
        let is_last = parts <= 1 || row_length <= TILES_OF_LAST * tile.len();
        let parts = if is_last { 1 } else { parts };
        levels.push(Level { row_length, parts });
        if is_last {
            return levels;
        }
        row_length = parts * best;
        most = usize::MAX;
    }
}

/// The kernels; their fallback is one group for every row, which needs no memory.
pub(super) fn kernel_plan(job: &Job, facts: &DeviceFacts, tuning: &Tuning) -> Arc<KernelPlan> {
    let best = job.best.unwrap_or(0);
    if best == 0 || job.rows == 0 {
        return Arc::new(KernelPlan { algorithm: Algorithm::Selection, ..KernelPlan::nothing() });
    }
    let Some(tile) = tile(job, facts) else { unreachable!("check_best was not asked about {job:?}") };
    let plan = |levels: &[Level], fallback| {
        let work_elements: usize = levels.iter().map(|level| job.rows * level.parts * best).sum();
        let last = levels.last().map_or(0, |level| job.rows * level.parts * best);
        let work = work_elements - last;
        Arc::new(KernelPlan {
            algorithm: Algorithm::Selection,
            launches: launches(job, best, tile, levels),
            element_bytes: job.element.bytes(),
            work: WorkMemory {
                keys: (work * job.element.key_bytes()).next_multiple_of(16),
                values: work * job.element.value_bytes(),
                counters: 0,
            },
            measured_on: Measured::of(facts).device,
            limits: Network::new(job, facts, tuning).shape.limits(),
            network_passes: None,
            fallback,
        })
    };
    let alone = [Level { row_length: job.row_length, parts: 1 }];
    let shared = levels(job, best, tile, facts);
    if shared.len() == 1 || job.in_place {
        return plan(&alone, None);
    }
    plan(&shared, Some(plan(&alone, None)))
}

fn launches(job: &Job, best: usize, tile: Tile, levels: &[Level]) -> Vec<Launch> {
    // What a launch has left are elements, whose indices are there.
    let later = Job { element: Element { indexed: false, ..job.element }, ..*job };
    let mut from = 0;
    let mut to = 0;
    let last = levels.len() - 1;
    let launch = |(number, level): (usize, &Level)| {
        let (is_first, is_last) = (number == 0, number == last);
        let work_elements = job.rows * levels[0].parts * best * 2;
        let builder = builder(if is_first { job } else { &later }, Arrays::WithWork, work_elements);
        let groups = job.rows * level.parts;
        let keys = if is_first { "keys" } else { "left elements" };
        let mut launch = builder.launch(Spec {
            kernel: "select_best",
            groups,
            tile: Some(tile),
            cluster_log2: 0,
            constants: &[("SHORT_ROWS", 0), ("RAGGED_ROWS", 0), ("UNROLLED", 1)],
            numbers: &[
                Number::Index(level.row_length),
                Number::Index(level.part_length()),
                Number::Index(level.parts),
                Number::Index(from),
                Number::Index(if is_last { 0 } else { to }),
                Number::Plain(best as u32),
                Number::Plain(job.mapping.argument(is_first, is_last)),
            ],
            place: is_first.then_some(Place::Memory),
            steps: 0..0,
            // All keys are read, and few written.
            copies: if is_first { 0.5 } else { 0.0 },
            words: format!("keep the first {best} of up to {} {keys} in every group", level.part_length()),
        });
        let read = if is_first {
            [Parameter::Input, Parameter::Values]
        } else {
            [Parameter::WorkKeys, Parameter::WorkValues]
        };
        let written = if is_last {
            [Parameter::Keys, Parameter::Values]
        } else {
            [Parameter::WorkKeys, Parameter::WorkValues]
        };
        launch.arguments.splice(0..4, read.into_iter().chain(written));
        from = to;
        to += groups * best;
        launch
    };
    levels.iter().enumerate().map(launch).collect()
}
