//! `one_item_groups`: a work-group for every comparator.

use super::OpenClRung;
use super::run::{Run, source};
use crate::cpu::one_thread::{stages, steps};
use bitonic::Error;

pub(crate) const RUNG: OpenClRung = OpenClRung { kernels: &["one_item_groups"], host_loop };

fn host_loop(run: &mut Run<'_>) -> Result<(), Error> {
    let mut kernel = run.kernel("one_item_groups", source!("one_item_groups"), 1)?;
    for block in stages(run.len()) {
        for distance in steps(block) {
            run.launch(&mut kernel, run.len() / 2, 1, &[block, distance])?;
        }
    }
    Ok(())
}
