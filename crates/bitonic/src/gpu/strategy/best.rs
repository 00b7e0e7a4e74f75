//! The best elements of every row. How they are found stands in `kernels/best.c`.

mod launches;
mod tiles;
mod way;

use super::network::Network;
use crate::Error;
use crate::gpu::facts::DeviceFacts;
use crate::gpu::job::Job;
use crate::gpu::tuning::Tuning;
use crate::plan::{Algorithm, KernelPlan};
use launches::Launches;
use std::sync::Arc;
use tiles::last_tiles;
use way::{Cells, Last, Lengths, List, Way, way};

/// The kernels; their fallback is one group for every row, which needs no memory.
pub(super) fn kernel_plan(job: &Job, facts: &DeviceFacts, tuning: &Tuning) -> Arc<KernelPlan> {
    let best = job.best.unwrap_or(0);
    if best == 0 || job.rows == 0 || job.len() == 0 {
        return Arc::new(KernelPlan { algorithm: Algorithm::Selection, ..KernelPlan::nothing() });
    }
    let plan = |lists: &[List], cells, last: Last, fallback| {
        let launches = Launches { job, best, lists, cells, last, facts };
        Arc::new(launches.plan(Network::new(job, facts, tuning).shape.limits(), fallback))
    };
    let Some(alone) = last_tiles(job, facts)
        .find(|tile| 4 * best <= tile.len())
        .or_else(|| last_tiles(job, facts).max_by_key(|tile| tile.log2))
    else {
        unreachable!("check_best was not asked about {job:?}")
    };
    let alone = Last::sorted(alone);
    if let Some(last) = Last::of_short_rows(job, best, facts) {
        return plan(&[], None, last, None);
    }
    if let Some(ragged) = job.ragged {
        let of_segments = |fallback| match Cells::new(job, ragged, best, facts) {
            Some((cells, last)) if !job.in_place => plan(&[cells.list], Some(cells), last, Some(fallback)),
            _ => fallback,
        };
        return of_segments(plan(&[], None, alone, None));
    }
    match way(Lengths::of_keys(job.row_length), job, best, facts) {
        Some(Way { lists, last, .. }) if !lists.is_empty() && !job.in_place => {
            plan(&lists, None, last, Some(plan(&[], None, alone, None)))
        }
        Some(Way { last, .. }) if job.row_length <= last.tile.len() => plan(&[], None, last, None),
        _ => plan(&[], None, alone, None),
    }
}

/// Whether the best elements of a row are few enough for a device.
///
/// # Errors
///
/// [`Error::TopTooLarge`] with the most that it can find.
pub(crate) fn check_best(job: &Job, facts: &DeviceFacts) -> Result<(), Error> {
    let fits = |best: usize| last_tiles(&Job { best: Some(best), ..*job }, facts).next().is_some();
    match job.best {
        Some(k) if !fits(k) => {
            let most = (0..=k.ilog2()).rev().map(|log2| 1 << log2).find(|&best| fits(best)).unwrap_or(0);
            Err(Error::TopTooLarge { device: facts.name.clone(), k, most })
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests;
