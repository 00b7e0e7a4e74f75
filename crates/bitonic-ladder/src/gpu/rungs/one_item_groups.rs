//! `one_item_groups`: a work-group for every comparator.

use crate::cpu::one_thread::{stages, steps};
use crate::gpu::DeviceRung;
use crate::gpu::run::Run;
use crate::gpu::source::source;
use bitonic::Error;

pub(crate) const RUNG: DeviceRung = DeviceRung { kernels: &["one_item_groups"], host_loop };

fn host_loop(run: &mut Run<'_>) -> Result<(), Error> {
    let kernel = run.kernel("one_item_groups", source!("one_item_groups"), 1)?;
    for block in stages(run.len()) {
        for distance in steps(block) {
            run.launch(kernel, run.len() / 2, 1, &[block, distance])?;
        }
    }
    Ok(())
}
