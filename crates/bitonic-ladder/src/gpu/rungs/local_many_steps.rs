//! `local_many_steps`: tiles are sorted in one launch; then every stage has a launch for each step that reaches beyond a tile, and one
//! for all the others.

use crate::cpu::one_thread::{stages, steps};
use crate::gpu::DeviceRung;
use crate::gpu::run::Run;
use crate::gpu::source::{Source, source};
use bitonic::Error;

pub(crate) const RUNG: DeviceRung =
    DeviceRung { kernels: &["sort_tiles", "global_step", "finish_tiles"], sources: &[SOURCE], host_loop };

const SOURCE: Source = source!("local_many_steps");

/// Tiles of 512 keys, as those of `local_memory`, so that the two can be compared.
const GROUP: usize = 256;

fn host_loop(run: &mut Run<'_>) -> Result<(), Error> {
    let sort_tiles = run.kernel("sort_tiles", SOURCE, GROUP)?;
    let global_step = run.kernel("global_step", SOURCE, GROUP)?;
    let finish_tiles = run.kernel("finish_tiles", SOURCE, GROUP)?;

    let wanted = GROUP.min(run.len() / 2);
    let kernels = [sort_tiles, global_step, finish_tiles];
    let group = kernels.iter().fold(wanted, |group, kernel| kernel.group_size(group));
    let tile = 2 * group;
    let groups = run.len() / tile;
    run.launch(sort_tiles, groups, group, &[])?;
    for block in stages(run.len()).filter(|block| *block > tile) {
        for distance in steps(block).filter(|distance| *distance >= tile) {
            run.launch(global_step, groups, group, &[block, distance])?;
        }
        run.launch(finish_tiles, groups, group, &[block])?;
    }
    Ok(())
}
