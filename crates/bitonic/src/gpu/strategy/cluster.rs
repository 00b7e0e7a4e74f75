//! The network by one cluster: work-groups that share their local memory and sort an array together. See `kernels/cluster.c`.

use super::{Candidate, Strategy, builder, copies_of, rank, tile_fits};
use crate::gpu::facts::DeviceFacts;
use crate::gpu::job::Job;
use crate::gpu::kernel::{Arrays, Number, Spec};
use crate::gpu::tuning::{ClusterRow, Measured, Tuning};
use crate::plan::{Algorithm, Launch, Place, Step};

/// The cluster that sorts an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Cluster {
    groups: ClusterRow,
}

impl ClusterRow {
    /// The most elements that it sorts.
    pub(super) fn length(self) -> usize {
        1 << (self.tile.log2 + self.log2)
    }

    /// Whether the device has such a cluster.
    pub(super) fn fits(self, job: &Job, facts: &DeviceFacts) -> bool {
        self.log2 <= facts.cluster_log2 && tile_fits(self.tile, job, facts)
    }
}

/// One array at a time: the smallest cluster that holds it.
pub(super) fn fit(job: &Job, facts: &DeviceFacts, _: &Tuning) -> Option<Candidate> {
    let (measured, width) = (Measured::of(facts), Measured::width(job.element.bytes()));
    let fits = |row: &&ClusterRow| row.length() >= job.row_length && row.fits(job, facts);
    let &groups = measured.clusters[width].iter().find(fits).filter(|_| job.rows == 1)?;
    let is_short = job.row_length <= measured.cluster_up_to[width];
    let rank = if is_short { rank::SHORT_CLUSTER } else { rank::CLUSTER };
    Some(Candidate { rank, strategy: Box::new(Cluster { groups }) })
}

impl Strategy for Cluster {
    fn algorithm(&self) -> Algorithm {
        Algorithm::Network
    }

    fn launches(&self, job: &Job, facts: &DeviceFacts) -> Vec<Launch> {
        let ClusterRow { tile, log2 } = self.groups;
        let groups = 1_usize << log2;
        let steps = Step::count(job.row_length);
        vec![builder(job, Arrays::InPlace, 0).launch(Spec {
            kernel: "cluster_sort",
            groups: groups * job.rows,
            tile: Some(tile),
            cluster_log2: log2,
            constants: &[("SHORT_ROWS", 0), ("RAGGED_ROWS", 0), ("UNROLLED", 1)],
            numbers: &[
                Number::Index(job.row_length),
                Number::Index(groups),
                Number::Plain(job.mapping.argument(true, true)),
            ],
            place: Some(Place::Tile),
            steps: 0..steps,
            copies: copies_of(steps, Measured::of(facts)),
            words: format!("sort all keys in the tiles of {groups} groups"),
        })]
    }
}
