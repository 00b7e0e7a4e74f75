//! `odd_even_two_kernels`: even and odd phases by turns, in groups of 32, and the host waits after each pair.

use crate::gpu::DeviceRung;
use crate::gpu::run::Run;
use crate::gpu::source::{Source, source};
use bitonic::Error;

pub(crate) const RUNG: DeviceRung =
    DeviceRung { kernels: &["even_phase", "odd_phase"], sources: &[SOURCE], host_loop };

const SOURCE: Source = source!("odd_even_two_kernels");

const GROUP: usize = 32;

fn host_loop(run: &mut Run<'_>) -> Result<(), Error> {
    let even_phase = run.kernel("even_phase", SOURCE, GROUP)?;
    let odd_phase = run.kernel("odd_phase", SOURCE, GROUP)?;
    let group = odd_phase.group_size(even_phase.group_size(GROUP));
    let groups = (run.len() / 2).div_ceil(group);
    // As many phases as keys, or one more.
    for _ in 0..run.len().div_ceil(2) {
        run.launch(even_phase, groups, group, &[run.len()])?;
        run.launch(odd_phase, groups, group, &[run.len()])?;
        run.wait()?;
    }
    Ok(())
}
