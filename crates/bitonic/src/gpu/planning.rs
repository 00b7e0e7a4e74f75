//! What an engine on a device will do, without doing it.

use super::backend::Backend;
use super::chunking::Chunking;
use super::launches::Job;
use super::layout::{Layout, Mapping};
use super::shape::Way;
use crate::key::{Key, Order};
use crate::plan::{Algorithm, Matrix, Pass, Place, Plan, Step, WorkGroups};
use crate::{Engine, Error};
use std::borrow::Cow;

/// The plan for `rows` rows of `row_length` keys.
pub(crate) fn plan<K: Key>(
    device: &impl Backend,
    row_length: usize,
    rows: usize,
    order: Order,
    chunking: &Chunking,
) -> Result<Plan, Error> {
    let job = Job { layout: Layout::keys::<K>(), mapping: Mapping::new::<K>(order), row_length, rows };
    // Where the host can see the device's memory, results need no memory on the way.
    let whole = if device.shares_host_memory() { 0 } else { size_of::<K>() };
    of_job::<K>(device, &job, 0, HostBytes { whole, in_chunks: size_of::<K>() }, order, chunking)
}

/// The plan for keys with values.
pub(crate) fn plan_pairs<K: Key, V>(
    device: &impl Backend,
    len: usize,
    stable: bool,
    order: Order,
    chunking: &Chunking,
) -> Result<Plan, Error> {
    let carried = Layout::carrying::<K, V>(stable);
    let layout = carried.unwrap_or_else(|| Layout::indexed::<K>(len));
    let gathered = if carried.is_some() { 0 } else { size_of::<V>() };
    let job = Job { layout, mapping: Mapping::new::<K>(order), row_length: len, rows: 1 };
    let host =
        HostBytes { whole: layout.stored_bytes() + gathered, in_chunks: size_of::<K>() + size_of::<V>() };
    of_job::<K>(device, &job, size_of::<V>(), host, order, chunking)
}

/// The plan for indices.
pub(crate) fn plan_argsort<K: Key>(
    device: &impl Backend,
    len: usize,
    order: Order,
    chunking: &Chunking,
) -> Result<Plan, Error> {
    let layout = Layout::indexed::<K>(len);
    let job = Job { layout, mapping: Mapping::new::<K>(order), row_length: len, rows: 1 };
    // Keys and indices as they land, and the keys once more beside the result.
    let in_chunks = 2 * size_of::<K>() + size_of::<usize>();
    of_job::<K>(device, &job, 0, HostBytes { whole: layout.value_bytes(), in_chunks }, order, chunking)
}

/// What the host needs for every element beyond the caller's arrays. In chunks, the indices of one come to that.
struct HostBytes {
    whole: usize,
    in_chunks: usize,
}

fn of_job<K: Key>(
    device: &impl Backend,
    job: &Job,
    value_bytes: usize,
    host: HostBytes,
    order: Order,
    chunking: &Chunking,
) -> Result<Plan, Error> {
    let cut = chunking.cut(device, job)?;
    let (len, rows, chunks) = (cut.len(), job.rows, cut.chunks());
    let (job, scratch_bytes) = match chunks {
        None => (*job, len.saturating_mul(host.whole)),
        Some(chunks) => {
            let job = cut.job(chunks.len, job);
            let indices = if job.layout.indexed { chunks.len * job.layout.value_bytes() } else { 0 };
            (job, len.saturating_mul(host.in_chunks).saturating_add(indices))
        }
    };
    let shape = device.shape(&job);
    let at_a_time = job.row_length * job.rows;
    let stored = at_a_time * job.layout.stored_bytes();
    let mut plan = Plan {
        len,
        rows,
        key_type: K::TYPE,
        value_bytes,
        order,
        engine: engine_of(device),
        device: Cow::Owned(device.name().to_owned()),
        instructions: None,
        work_groups: None,
        chunks,
        algorithm: Algorithm::Network,
        limits: shape.limits(),
        threads: 1,
        scratch_bytes,
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
                chunks: at_a_time.div_ceil(chunk.max(1)),
            });
            let sort = Step::first_of_merge(columns.tile_log2 + 1).number();
            let runs = sort - Step::first_of_merge(columns.run_log2() + 1).number();
            tile_passes.extend([sort, runs, runs]);
            tile_passes.extend((0..columns.rounds).map(|_| columns.tile_log2));
        }
    }
    plan.work_groups = Some(groups);
    let before = tile_passes.iter().map(|&steps| Pass { place: Place::Tile, steps: 0..steps });
    let count = chunks.map_or(1, |chunks| u32::try_from(chunks.count).unwrap_or(u32::MAX));
    let predicted = device.copy_bandwidth().map(|copy| {
        WorkGroups::predict(before.chain(plan.passes()), 2.0 * stored as f64, copy).saturating_mul(count)
    });
    plan.work_groups = Some(WorkGroups { predicted, ..groups });
    Ok(plan)
}

fn engine_of<D: Backend>(_: &D) -> Engine {
    D::ENGINE
}
