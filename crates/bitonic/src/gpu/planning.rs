//! What an engine on a device will do, without doing it.

use super::backend::Backend;
use super::launches::Job;
use super::layout::{Layout, Mapping};
use crate::Engine;
use crate::key::{Key, Order, plain_number_bytes};
use crate::plan::{Algorithm, Plan, WorkGroups};
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
    let passes = crate::plan::passes(job.row_length, shape.limits());
    let predicted =
        device.copy_bandwidth().map(|copy| WorkGroups::predict(passes, 2.0 * stored as f64, copy));
    Plan {
        len,
        rows: job.rows,
        key_type: K::TYPE,
        value_bytes,
        order,
        engine: engine_of(device),
        device: Cow::Owned(device.name().to_owned()),
        instructions: None,
        work_groups: Some(WorkGroups {
            tile_items: shape.tile_items(),
            memory_items: shape.pass_items(),
            element_bytes: job.layout.element_bytes(),
            device_bytes: stored as u64,
            predicted,
        }),
        algorithm: Algorithm::Network,
        limits: shape.limits(),
        threads: 1,
        scratch_bytes: len.saturating_mul(scratch_bytes_each),
    }
}

fn engine_of<D: Backend>(_: &D) -> Engine {
    D::ENGINE
}
