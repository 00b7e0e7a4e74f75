//! `odd_even_local`: as `odd_even_one_kernel`, with a work-item for every key and keys staged in local memory.

use super::odd_even_one_kernel::group_size;
use crate::gpu::DeviceRung;
use crate::gpu::run::Run;
use crate::gpu::source::{Source, source};
use bitonic::Error;

pub(crate) const RUNG: DeviceRung =
    DeviceRung { kernels: &["odd_even_local"], sources: &[SOURCE], host_loop };

const SOURCE: Source = source!("odd_even_local");

fn host_loop(run: &mut Run<'_>) -> Result<(), Error> {
    // A key for each work-item, and one beyond the edge.
    let fit = (run.limits().local_bytes / run.key_bytes()).saturating_sub(1).max(1);
    let group = group_size(run.limits(), run.len()).min(fit);
    let kernel = run.kernel("odd_even_local", SOURCE, group)?;
    let group = kernel.most(group);
    for phase in 0..run.len() {
        run.launch(kernel, run.len().div_ceil(group), group, &[run.len(), phase % 2])?;
    }
    Ok(())
}
