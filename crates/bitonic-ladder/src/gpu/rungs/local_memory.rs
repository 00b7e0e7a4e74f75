//! `local_memory` and `local_memory_queued`: a launch for every step, by one of three kernels that stage their keys in local memory.
//!
//! ```text
//!   biton   the block that the stage sorts: doubled from stage to stage
//!   bucket  the part of it within which a step compares: first as large as the biton, halved at each step
//!   tile    the keys of a work-group, two for each work-item
//!
//!   which kernel                   biton <= tile         biton > tile
//!   bucket <= tile                 local_small_biton     local_big_biton
//!   bucket > tile                  (a bucket is never    local_big_bucket
//!                                   larger than its biton)
//! ```
//!
//! A sort of more keys than a tile uses all three, each for the steps that only it can do, so they are one rung; the
//! times of a run are told for each of them. `local_memory` waits for the event of every step, as the program did that it is
//! taken from; `local_memory_queued` waits for none. What lies between their times is the price of the waits.

use crate::cpu::one_thread::stages;
use crate::gpu::DeviceRung;
use crate::gpu::run::Run;
use crate::gpu::source::{Source, source};
use bitonic::Error;
use std::iter::successors;

const KERNELS: &[&str] = &["local_small_biton", "local_big_biton", "local_big_bucket"];
const SMALL_BITON: Source = source!("local_small_biton");
const BIG_BITON: Source = source!("local_big_biton");
const BIG_BUCKET: Source = source!("local_big_bucket");
const SOURCES: &[Source] = &[SMALL_BITON, BIG_BITON, BIG_BUCKET];

pub(crate) const RUNG: DeviceRung = DeviceRung { kernels: KERNELS, sources: SOURCES, host_loop: waiting };
pub(crate) const QUEUED: DeviceRung = DeviceRung { kernels: KERNELS, sources: SOURCES, host_loop: queued };

/// Tiles of 512 keys: 8 KiB of the widest keys, so that a device with the 32 KiB that OpenCL demands holds several groups.
const GROUP: usize = 256;

fn waiting(run: &mut Run<'_>) -> Result<(), Error> {
    every_step(run, |run| run.wait())
}

fn queued(run: &mut Run<'_>) -> Result<(), Error> {
    every_step(run, |_| Ok(()))
}

fn every_step(run: &mut Run<'_>, after_each: fn(&mut Run<'_>) -> Result<(), Error>) -> Result<(), Error> {
    let small_biton = run.kernel("local_small_biton", SMALL_BITON, GROUP)?;
    let big_biton = run.kernel("local_big_biton", BIG_BITON, GROUP)?;
    let big_bucket = run.kernel("local_big_bucket", BIG_BUCKET, GROUP)?;

    let wanted = GROUP.min(run.len() / 2);
    let kernels = [small_biton, big_biton, big_bucket];
    let group = kernels.iter().fold(wanted, |group, kernel| kernel.group_size(group));
    let tile = 2 * group;
    for biton in stages(run.len()) {
        for bucket in successors(Some(biton), |bucket| (*bucket > 2).then_some(bucket / 2)) {
            let kernel = match (biton <= tile, bucket <= tile) {
                (true, _) => small_biton,
                (false, true) => big_biton,
                (false, false) => big_bucket,
            };
            run.launch(kernel, run.len() / tile, group, &[biton, bucket])?;
            after_each(run)?;
        }
    }
    Ok(())
}
