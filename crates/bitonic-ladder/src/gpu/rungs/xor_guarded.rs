//! `xor_guarded`: a work-item for every key, in groups of 1024 whatever the number of keys.

use crate::cpu::one_thread::{stages, steps};
use crate::gpu::DeviceRung;
use crate::gpu::run::Run;
use crate::gpu::source::{Source, source};
use bitonic::Error;

pub(crate) const RUNG: DeviceRung = DeviceRung { kernels: &["xor_guarded"], sources: &[SOURCE], host_loop };

const SOURCE: Source = source!("xor_guarded");

/// The most that many devices allow; smaller where one allows less.
const GROUP: usize = 1024;

fn host_loop(run: &mut Run<'_>) -> Result<(), Error> {
    let kernel = run.kernel("xor_guarded", SOURCE, GROUP)?;
    let group = kernel.group_size(GROUP);
    let groups = run.len().div_ceil(group);
    for block in stages(run.len()) {
        for distance in steps(block) {
            run.launch(kernel, groups, group, &[run.len(), block, distance])?;
        }
    }
    Ok(())
}
