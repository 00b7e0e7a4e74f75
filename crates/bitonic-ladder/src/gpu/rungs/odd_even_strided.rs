//! `odd_even_strided`: all phases by one kernel, with a grid of the device's size whose work-items take pairs in turn.

use crate::gpu::DeviceRung;
use crate::gpu::run::Run;
use crate::gpu::source::{Source, source};
use bitonic::Error;

pub(crate) const RUNG: DeviceRung =
    DeviceRung { kernels: &["odd_even_strided"], sources: &[SOURCE], host_loop };

const SOURCE: Source = source!("odd_even_strided");

/// How many groups of the largest size a compute unit gets. Two, because a unit of today's GPUs holds 2048 work-items and
/// a group 1024.
const GROUPS_A_UNIT: usize = 2;

fn host_loop(run: &mut Run<'_>) -> Result<(), Error> {
    let largest = run.limits().max_group_size;
    let kernel = run.kernel("odd_even_strided", SOURCE, largest)?;
    let pairs = run.len() / 2;
    let group = kernel.group_size(largest.min(pairs.next_power_of_two()));
    let groups = pairs.div_ceil(group).min(GROUPS_A_UNIT * run.limits().compute_units.max(1));
    for phase in 0..run.len() {
        run.launch(kernel, groups, group, &[run.len(), phase % 2])?;
    }
    Ok(())
}
