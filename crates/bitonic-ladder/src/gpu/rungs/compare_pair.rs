//! `compare_pair`: a work-item for every key, in groups of 512, and the host waits after every launch.

use crate::cpu::one_thread::{stages, steps};
use crate::gpu::DeviceRung;
use crate::gpu::run::Run;
use crate::gpu::source::{Source, source};
use bitonic::Error;

pub(crate) const RUNG: DeviceRung = DeviceRung { kernels: &["compare_pair"], sources: &[SOURCE], host_loop };

const SOURCE: Source = source!("compare_pair");
const GROUP: usize = 512;

fn host_loop(run: &mut Run<'_>) -> Result<(), Error> {
    let kernel = run.kernel("compare_pair", SOURCE, GROUP)?;
    let group = kernel.group_size(GROUP);
    let groups = run.len().div_ceil(group);
    for block in stages(run.len()) {
        for distance in steps(block) {
            run.launch(kernel, groups, group, &[run.len(), block, distance])?;
            // What this rung is about.
            run.wait()?;
        }
    }
    Ok(())
}
