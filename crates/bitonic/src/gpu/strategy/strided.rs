//! The kernels that copy rows to where they lie one after the other, and back. How they do that stands in `kernels/copy_rows.c`.

use crate::gpu::facts::DeviceFacts;
use crate::gpu::job::Job;
use crate::gpu::kernel::{Arrays, Builder, Number, Spec};
use crate::gpu::strided::Strided;
use crate::plan::{KernelPlan, Place};
use std::sync::Arc;

/// The work-items of a group, and the base-2 logarithm of the longest side of its tile: lines of 32 keys fill the lines of memory, and
/// every work-item has four keys on their way.
const ITEMS: usize = 256;
const SIDE_LOG2: u32 = 5;

/// The kernel that brings rows of a job together in the working memory, and the one that brings them back.
pub(crate) fn copy_plans(job: &Job, rows: Strided, facts: &DeviceFacts) -> [Arc<KernelPlan>; 2] {
    let items = 1 << facts.group_size.clamp(1, ITEMS).ilog2();
    let local_bytes = |side: usize| side * (side + 1) * job.element.key_bytes();
    let fits = |&side: &usize| side <= items && local_bytes(side) <= facts.local_bytes;
    let side = (0..=SIDE_LOG2).rev().map(|log2| 1 << log2).find(fits).unwrap_or(1);
    let largest = rows.extent().max(rows.row_stride).max(rows.stride).max(rows.len());
    let wide_index = job.wide_index || largest > 1 << 30;
    [(1, "bring rows together"), (0, "bring rows back")].map(|(gather, words)| {
        let numbers = [rows.rows, rows.row_length, rows.row_stride, rows.stride].map(Number::Index);
        let spec = Spec {
            kernel: "copy_rows",
            groups: rows.rows.div_ceil(side) * rows.row_length.div_ceil(side),
            tile: None,
            cluster_log2: 0,
            constants: &[
                ("ITEMS", items as u32),
                ("SIDE", side as u32),
                ("ROWS_ARE_NEAR", u32::from(rows.row_stride < rows.stride)),
                ("GATHER", gather),
            ],
            numbers: &numbers,
            place: Some(Place::Memory),
            steps: 0..0,
            copies: 1.0,
            words: words.to_owned(),
        };
        let builder = Builder { job, wide_index, arrays: Arrays::WithWork };
        let launches = vec![builder.launch_with(spec, items, 0, local_bytes(side))];
        Arc::new(KernelPlan { launches, element_bytes: job.element.bytes(), ..KernelPlan::nothing() })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Launch;
    use crate::request::{Request, Segments};

    fn gather(rows: Strided, facts: &DeviceFacts) -> Launch {
        let segments = Segments::Rows { rows: rows.rows, row_length: rows.row_length };
        let [gather, scatter] = copy_plans(&Job::of(&Request::keys::<u128>(segments)), rows, facts);
        let launches =
            |plan: &KernelPlan| plan.launches.iter().map(|launch| launch.groups).collect::<Vec<_>>();
        assert_eq!(launches(&gather), launches(&scatter));
        gather.launches[0].clone()
    }

    fn constant(launch: &Launch, name: &str) -> u32 {
        launch.constants.iter().find(|(known, _)| *known == name).expect("it is given").1
    }

    #[test]
    fn tiles_cover_all_rows_and_fit_the_device() {
        let facts = DeviceFacts::nvidia_h200();
        let whole = gather(Strided::rows(33, 64, 100), &facts);
        assert_eq!((whole.groups, whole.group_size, whole.local_bytes), (4, 256, 32 * 33 * 16));
        assert_eq!((constant(&whole, "ROWS_ARE_NEAR"), constant(&whole, "INDEX_BITS")), (0, 32));
        assert_eq!(constant(&gather(Strided::columns(33, 64, 100), &facts), "ROWS_ARE_NEAR"), 1);
        let little = DeviceFacts { local_bytes: 8 << 10, group_size: 64, ..facts.clone() };
        let whole = gather(Strided::rows(33, 64, 100), &little);
        assert_eq!((whole.groups, whole.group_size, whole.local_bytes), (3 * 4, 64, 16 * 17 * 16));
        // Few keys that are far apart.
        assert_eq!(constant(&gather(Strided::rows(2, 3, 1 << 32), &facts), "INDEX_BITS"), 64);
    }
}
