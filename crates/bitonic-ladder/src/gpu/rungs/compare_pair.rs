//! `compare_pair`: a work-item for every pair, in groups of 512, and the host waits after every launch.

use crate::cpu::one_thread::{stages, steps};
use crate::gpu::DeviceRung;
use crate::gpu::run::Run;
use crate::gpu::source::source;
use bitonic::Error;

pub(crate) const RUNG: DeviceRung = DeviceRung { kernels: &["compare_pair"], host_loop };

const GROUP: usize = 512;

fn host_loop(run: &mut Run<'_>) -> Result<(), Error> {
    let kernel = run.kernel("compare_pair", source!("compare_pair"), GROUP)?;
    let pairs = run.len() / 2;
    let group = kernel.group_size(GROUP.min(pairs));
    for block in stages(run.len()) {
        for distance in steps(block) {
            run.launch(kernel, pairs / group, group, &[block, distance])?;
            // What this rung is about.
            run.wait()?;
        }
    }
    Ok(())
}
