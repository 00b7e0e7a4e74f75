//! `one_item_groups`: a work-group for every comparator.

use crate::cpu::one_thread::{stages, steps};
use crate::gpu::DeviceRung;
use crate::gpu::run::Run;
use crate::gpu::source::{Source, source};
use bitonic::Error;

pub(crate) const RUNG: DeviceRung =
    DeviceRung { kernels: &["one_item_groups"], sources: &[SOURCE], host_loop };

const SOURCE: Source = source!("one_item_groups");

fn host_loop(run: &mut Run<'_>) -> Result<(), Error> {
    let kernel = run.kernel("one_item_groups", SOURCE, 1)?;
    for block in stages(run.len()) {
        for distance in steps(block) {
            run.launch(kernel, run.len() / 2, 1, &[block, distance])?;
        }
    }
    Ok(())
}
