//! `odd_even_local`: as `odd_even_one_kernel`, with pairs staged in local memory.

use super::odd_even_one_kernel::GROUPS_A_UNIT;
use crate::gpu::DeviceRung;
use crate::gpu::run::Run;
use crate::gpu::source::source;
use bitonic::Error;

pub(crate) const RUNG: DeviceRung = DeviceRung { kernels: &["odd_even_local"], host_loop };

fn host_loop(run: &mut Run<'_>) -> Result<(), Error> {
    // Two keys for each work-item, and room for all groups of a unit.
    let fit = run.limits().local_bytes / (GROUPS_A_UNIT * 2 * run.key_bytes());
    let largest = run.limits().max_group_size.min(fit).max(1);
    let kernel = run.kernel("odd_even_local", source!("odd_even_local"), largest)?;
    let pairs = run.len() / 2;
    let group = kernel.group_size(largest.min(pairs.next_power_of_two()));
    let groups = pairs.div_ceil(group).min(GROUPS_A_UNIT * run.limits().compute_units.max(1));
    for phase in 0..run.len() {
        run.launch(kernel, groups, group, &[run.len(), phase % 2])?;
    }
    Ok(())
}
