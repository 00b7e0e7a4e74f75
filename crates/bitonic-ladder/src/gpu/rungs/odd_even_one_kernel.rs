//! `odd_even_one_kernel`: all phases by one kernel, a work-item for every pair, groups that fill the device, and no wait between them.

use crate::gpu::DeviceRung;
use crate::gpu::queue::Limits;
use crate::gpu::run::Run;
use crate::gpu::source::{Source, source};
use bitonic::Error;

pub(crate) const RUNG: DeviceRung =
    DeviceRung { kernels: &["odd_even_one_kernel"], sources: &[SOURCE], host_loop };

const SOURCE: Source = source!("odd_even_one_kernel");

/// How many groups a unit holds at a time. CUDA's devices say 16 to 32, those of data centres 32; OpenCL has no question for it.
const RESIDENT_GROUPS: usize = 32;

/// What a unit executes in lock step: groups are whole multiples of it.
const LOCK_STEP: usize = 32;

fn host_loop(run: &mut Run<'_>) -> Result<(), Error> {
    let pairs = run.len() / 2;
    let group = group_size(run.limits(), pairs);
    let kernel = run.kernel("odd_even_one_kernel", SOURCE, group)?;
    let group = kernel.most(group);
    for phase in 0..run.len() {
        run.launch(kernel, pairs.div_ceil(group), group, &[run.len(), phase % 2])?;
    }
    Ok(())
}

/// The smallest groups with which so many work-items take all the places that the device has for groups, as far as it allows them.
pub(super) fn group_size(limits: Limits, items: usize) -> usize {
    let places = RESIDENT_GROUPS * limits.compute_units.max(1);
    items.div_ceil(places).next_multiple_of(LOCK_STEP).min(limits.max_group_size)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_grow_when_all_places_are_taken() {
        let limits = Limits { max_group_size: 1024, local_bytes: 48 << 10, compute_units: 132 };
        let places = 132 * 32;
        assert_eq!(group_size(limits, 1), 32);
        assert_eq!(group_size(limits, places * 32), 32, "every place has a group");
        assert_eq!(group_size(limits, places * 32 + 1), 64);
        assert_eq!(group_size(limits, places * 100), 128);
        assert_eq!(group_size(limits, places * 5000), 1024, "and the rest is scheduled later");
        assert_eq!(group_size(Limits { max_group_size: 16, ..limits }, 75), 16);
    }
}
