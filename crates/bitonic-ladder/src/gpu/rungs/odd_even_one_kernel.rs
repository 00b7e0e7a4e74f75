//! `odd_even_one_kernel`: all phases by one kernel, with a grid that fills the device, and without a wait between them.

use crate::gpu::DeviceRung;
use crate::gpu::run::Run;
use crate::gpu::source::source;
use bitonic::Error;

pub(crate) const RUNG: DeviceRung = DeviceRung { kernels: &["odd_even_one_kernel"], host_loop };

/// How many groups of the largest size a compute unit gets. Two, because a unit of today's GPUs holds 2048 work-items and
/// a group 1024.
pub(super) const GROUPS_A_UNIT: usize = 2;

fn host_loop(run: &mut Run<'_>) -> Result<(), Error> {
    let largest = run.limits().max_group_size;
    let kernel = run.kernel("odd_even_one_kernel", source!("odd_even_one_kernel"), largest)?;
    let pairs = run.len() / 2;
    let group = kernel.group_size(largest.min(pairs.next_power_of_two()));
    let groups = pairs.div_ceil(group).min(GROUPS_A_UNIT * run.limits().compute_units.max(1));
    for phase in 0..run.len() {
        run.launch(kernel, groups, group, &[run.len(), phase % 2])?;
    }
    Ok(())
}
