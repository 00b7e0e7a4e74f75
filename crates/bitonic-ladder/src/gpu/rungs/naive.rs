//! `naive_scan`, `naive_folded` and `naive_shifts`: a launch for every step, one after the other.
//!
//! They differ in how a work-item finds its comparator, and so in nothing but the kernel. Nothing is waited for: the queue
//! is in order, and the end of a launch is the barrier between two steps.

use crate::cpu::one_thread::{log2, stages, steps};
use crate::gpu::DeviceRung;
use crate::gpu::run::Run;
use crate::gpu::source::{Source, source};
use bitonic::Error;

pub(crate) const SCAN: DeviceRung =
    DeviceRung { kernels: &["naive_scan"], sources: &[SCAN_SOURCE], host_loop: scan };
pub(crate) const FOLDED: DeviceRung =
    DeviceRung { kernels: &["naive_folded"], sources: &[FOLDED_SOURCE], host_loop: folded };
pub(crate) const SHIFTS: DeviceRung =
    DeviceRung { kernels: &["naive_shifts"], sources: &[SHIFTS_SOURCE], host_loop: shifts };

const SCAN_SOURCE: Source = source!("naive_scan");
const FOLDED_SOURCE: Source = source!("naive_folded");
const SHIFTS_SOURCE: Source = source!("naive_shifts");

/// Every device takes groups of this size, and it is a multiple of what any of them executes in lock step.
const GROUP: usize = 256;

/// A work-item for every key.
fn scan(run: &mut Run<'_>) -> Result<(), Error> {
    every_step(run, "naive_scan", SCAN_SOURCE, |len| len, |number| number)
}

/// A work-item for every comparator.
fn folded(run: &mut Run<'_>) -> Result<(), Error> {
    every_step(run, "naive_folded", FOLDED_SOURCE, |len| len / 2, |number| number)
}

/// A work-item for every comparator; block and distance by their logarithms.
fn shifts(run: &mut Run<'_>) -> Result<(), Error> {
    every_step(run, "naive_shifts", SHIFTS_SOURCE, |len| len / 2, |number| log2(number) as usize)
}

/// Launches the kernel for every step, with as many work-items as `items` says of the number of keys; `written` is how
/// the kernel takes block and distance.
fn every_step(
    run: &mut Run<'_>,
    name: &'static str,
    source: Source,
    items: fn(usize) -> usize,
    written: fn(usize) -> usize,
) -> Result<(), Error> {
    let kernel = run.kernel(name, source, GROUP)?;
    let items = items(run.len());
    let group = kernel.group_size(GROUP.min(items));
    for block in stages(run.len()) {
        for distance in steps(block) {
            run.launch(kernel, items / group, group, &[written(block), written(distance)])?;
        }
    }
    Ok(())
}
