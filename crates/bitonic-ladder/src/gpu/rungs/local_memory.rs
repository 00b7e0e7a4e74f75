//! `local_memory`: a launch for every step, by one of three kernels that stage their keys in local memory.
//!
//! ```text
//!   bucket  the block that the stage sorts        tile  the keys of a work-group, two for each work-item
//!   biton   the bitonic block of the step
//!
//!   which kernel                   biton <= tile         biton > tile
//!   bucket <= tile                 local_small_biton     (a biton is never larger than its bucket)
//!   bucket > tile                  local_big_bucket      local_big_biton
//! ```
//!
//! A sort of more keys than a tile uses all three, each for the steps that only it can do, so they are one rung; the
//! times of a run are told for each of them.

use crate::cpu::one_thread::{stages, steps};
use crate::gpu::DeviceRung;
use crate::gpu::run::Run;
use crate::gpu::source::source;
use bitonic::Error;

pub(crate) const RUNG: DeviceRung =
    DeviceRung { kernels: &["local_small_biton", "local_big_bucket", "local_big_biton"], host_loop };

/// Tiles of 512 keys: 8 KiB of the widest keys, so that a device with the 32 KiB that OpenCL demands holds several groups.
const GROUP: usize = 256;

fn host_loop(run: &mut Run<'_>) -> Result<(), Error> {
    let small_biton = run.kernel("local_small_biton", source!("local_small_biton"), GROUP)?;
    let big_bucket = run.kernel("local_big_bucket", source!("local_big_bucket"), GROUP)?;
    let big_biton = run.kernel("local_big_biton", source!("local_big_biton"), GROUP)?;

    let wanted = GROUP.min(run.len() / 2);
    let kernels = [small_biton, big_bucket, big_biton];
    let group = kernels.iter().fold(wanted, |group, kernel| kernel.group_size(group));
    let tile = 2 * group;
    for bucket in stages(run.len()) {
        for distance in steps(bucket) {
            let biton = 2 * distance;
            let kernel = match (bucket <= tile, biton <= tile) {
                (true, _) => small_biton,
                (false, true) => big_bucket,
                (false, false) => big_biton,
            };
            run.launch(kernel, run.len() / tile, group, &[bucket, distance])?;
        }
    }
    Ok(())
}
