//! What an engine on a device will do, without doing it.

use super::backend::Backend;
use super::launches::Job;
use super::layout::{Layout, Mapping};
use super::shape::Way;
use crate::Engine;
use crate::key::{Key, Order, plain_number_bytes};
use crate::plan::{Algorithm, Matrix, Pass, Place, Plan, Step, WorkGroups};
use std::borrow::Cow;

/// The plan for `rows` rows of `row_length` keys.
pub(crate) fn plan<K: Key>(device: &impl Backend, row_length: usize, rows: usize, order: Order) -> Plan {
    let job = Job { layout: Layout::keys::<K>(), mapping: Mapping::new::<K>(order), row_length, rows };
    // Where the host can see the device's memory, results need no memory on the way.
    let landing = if device.shares_host_memory() { 0 } else { size_of::<K>() };
    of_job::<K>(device, &job, 0, landing, order)
}

/// The plan for keys with values.
pub(crate) fn plan_pairs<K: Key, V>(device: &impl Backend, len: usize, stable: bool, order: Order) -> Plan {
    let carried = plain_number_bytes::<V>().and_then(Layout::pairs::<K>).filter(|_| !stable);
    let layout = carried.unwrap_or_else(|| Layout::indexed::<K>(len));
    let gathered = if carried.is_some() { 0 } else { size_of::<V>() };
    let job = Job { layout, mapping: Mapping::new::<K>(order), row_length: len, rows: 1 };
    of_job::<K>(device, &job, size_of::<V>(), layout.stored_bytes() + gathered, order)
}

/// The plan for indices.
pub(crate) fn plan_argsort<K: Key>(device: &impl Backend, len: usize, order: Order) -> Plan {
    let layout = Layout::indexed::<K>(len);
    let job = Job { layout, mapping: Mapping::new::<K>(order), row_length: len, rows: 1 };
    of_job::<K>(device, &job, 0, layout.value_bytes(), order)
}

fn of_job<K: Key>(
    device: &impl Backend,
    job: &Job,
    value_bytes: usize,
    scratch_bytes_each: usize,
    order: Order,
) -> Plan {
    let shape = device.shape(job);
    let len = job.row_length * job.rows;
    let stored = len * job.layout.stored_bytes();
    let mut plan = Plan {
        len,
        rows: job.rows,
        key_type: K::TYPE,
        value_bytes,
        order,
        engine: engine_of(device),
        device: Cow::Owned(device.name().to_owned()),
        instructions: None,
        work_groups: None,
        algorithm: Algorithm::Network,
        limits: shape.limits(),
        threads: 1,
        scratch_bytes: len.saturating_mul(scratch_bytes_each),
    };
    let mut groups = WorkGroups {
        tile_items: shape.tile_items(),
        memory_items: shape.pass_items(),
        element_bytes: job.layout.element_bytes(),
        device_bytes: stored as u64,
        work_bytes: (job.work_elements(shape) * job.layout.stored_bytes()) as u64,
        cluster: 1,
        matrix: None,
        predicted: None,
    };
    let mut tile_passes = Vec::new();
    match shape.way {
        Way::Passes => {}
        Way::Cluster(cluster) => {
            // All of its tiles are as one.
            plan.limits.tile_log2 = cluster.tile_log2 + cluster.log2;
            groups.cluster = 1 << cluster.log2;
            groups.tile_items = 1 << (cluster.tile_log2 - cluster.held_log2);
        }
        Way::Columns(columns) => {
            plan.algorithm = Algorithm::Columnsort;
            let chunk = job.row_length.min(columns.length());
            groups.tile_items = 1 << (columns.tile_log2 - columns.held_log2[0]);
            groups.matrix = Some(Matrix {
                column_length: 1 << columns.tile_log2,
                columns: columns.columns(chunk),
                new_columns: 1 << columns.dealt_log2,
                shifts: columns.rounds as usize,
                chunks: len.div_ceil(chunk.max(1)),
            });
            let sort = Step::first_of_merge(columns.tile_log2 + 1).number();
            let runs = sort - Step::first_of_merge(columns.run_log2() + 1).number();
            tile_passes.extend([sort, runs, runs]);
            tile_passes.extend((0..columns.rounds).map(|_| columns.tile_log2));
        }
    }
    plan.work_groups = Some(groups);
    let before = tile_passes.iter().map(|&steps| Pass { place: Place::Tile, steps: 0..steps });
    let predicted = device
        .copy_bandwidth()
        .map(|copy| WorkGroups::predict(before.chain(plan.passes()), 2.0 * stored as f64, copy));
    plan.work_groups = Some(WorkGroups { predicted, ..groups });
    plan
}

fn engine_of<D: Backend>(_: &D) -> Engine {
    D::ENGINE
}
