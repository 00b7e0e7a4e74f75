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

use super::OpenClRung;
use super::run::{Run, source};
use crate::cpu::one_thread::{stages, steps};
use bitonic::Error;

pub(crate) const RUNG: OpenClRung =
    OpenClRung { kernels: &["local_small_biton", "local_big_bucket", "local_big_biton"], host_loop };

/// Tiles of 512 keys: 8 KiB of the widest keys, so that a device with the 32 KiB that OpenCL demands holds several groups.
const GROUP: usize = 256;

fn host_loop(run: &mut Run<'_>) -> Result<(), Error> {
    let mut small_biton = run.kernel("local_small_biton", source!("local_small_biton"), GROUP)?;
    let mut big_bucket = run.kernel("local_big_bucket", source!("local_big_bucket"), GROUP)?;
    let mut big_biton = run.kernel("local_big_biton", source!("local_big_biton"), GROUP)?;

    let wanted = GROUP.min(run.len() / 2);
    let group =
        [&small_biton, &big_bucket, &big_biton].iter().fold(wanted, |group, kernel| kernel.group_size(group));
    let tile = 2 * group;
    for bucket in stages(run.len()) {
        for distance in steps(bucket) {
            let biton = 2 * distance;
            let kernel = match (bucket <= tile, biton <= tile) {
                (true, _) => &mut small_biton,
                (false, true) => &mut big_bucket,
                (false, false) => &mut big_biton,
            };
            run.launch(kernel, run.len() / tile, group, &[bucket, distance])?;
        }
    }
    Ok(())
}
