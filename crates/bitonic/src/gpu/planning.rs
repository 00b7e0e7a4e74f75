//! What an engine on a device will do, without doing it.

use super::backend::Backend;
use super::chunking::Chunking;
use super::launches::Job;
use super::layout::{Layout, Mapping};
use super::shape::Way;
use crate::key::{Key, Order};
use crate::plan::{Algorithm, Buckets, Matrix, Pass, Place, Plan, Step, WorkGroups};
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
        work_bytes: job.work_bytes(shape) as u64,
        cluster: 1,
        matrix: None,
        buckets: None,
        predicted: None,
    };
    let mut tile_passes = Vec::new();
    match shape.way {
        Way::Passes => {}
        Way::Cluster(cluster) => {
            // All of its tiles are as one.
            plan.limits.tile_log2 = cluster.tile_log2 + cluster.log2;
            groups.cluster = 1 << cluster.log2;
            groups.tile_items = cluster.items();
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
        Way::Buckets(buckets) => {
            plan.algorithm = Algorithm::Buckets;
            groups.tile_items = buckets.tile.items();
            groups.memory_items = buckets.scatter.items();
            groups.buckets = Some(Buckets {
                count: buckets.count,
                samples: buckets.sample.length(),
                usual: buckets.tile.len(),
                capacity: buckets.capacity(),
            });
            let sort = Step::first_of_merge(buckets.tile.log2 + 1).number();
            tile_passes.extend([SCATTER_STEPS, sort]);
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

/// Scattering elements to buckets takes about as long as so many steps of a tile: five copies, for 2^24 keys on an NVIDIA H200.
const SCATTER_STEPS: u32 = 110;

fn engine_of<D: Backend>(_: &D) -> Engine {
    D::ENGINE
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gpu::chunking::Cuts;
    use crate::gpu::shape::DeviceLimits;
    use crate::gpu::testing::HostDevice;

    /// The plan for so many `u32` keys on a device with these limits and enough memory.
    fn plan_on(limits: DeviceLimits, length: usize) -> Plan {
        let mut device = HostDevice::new(1 << 30);
        device.limits = limits;
        let chunking = Chunking::new(Some(1 << 30), Cuts::Nowhere, None).expect("the limit is a number");
        plan::<u32>(&device, length, 1, Order::Ascending, &chunking).expect("all keys fit")
    }

    fn work_groups(plan: &Plan) -> WorkGroups {
        plan.work_groups.expect("a device has work-groups")
    }

    /// What `bitonic explain` prints.
    fn lines(plan: &Plan) -> Vec<String> {
        plan.to_string().lines().map(str::to_owned).collect()
    }

    #[test]
    fn a_columnsort_says_its_passes_and_why_they_are_worth_a_second_array() {
        let plan = plan_on(DeviceLimits::FULL_GPU, 1 << 20);
        assert_eq!((plan.algorithm, plan.pass_count()), (Algorithm::Columnsort, 5));
        let groups = work_groups(&plan);
        assert_eq!(groups.work_bytes, 129 << 15, "a column more than the keys have");
        let matrix = Matrix { column_length: 1 << 13, columns: 128, new_columns: 64, shifts: 2, chunks: 1 };
        assert_eq!((groups.matrix, groups.cluster, groups.tile_items), (Some(matrix), 1, 256));
        assert_eq!(
            lines(&plan),
            [
                "1048576 u32 keys, ascending, on cpu: a device in host memory",
                "algorithm  columnsort, with the network in every column",
                "groups     256 work-items for a tile, 256 for a pass over memory",
                "elements   4 bytes each in registers, 4194304 bytes on the device at a time, and a second array of 4227072 \
                 bytes there",
                "memory     4194304 bytes beyond the arrays",
                "passes     5, each reading and writing 8388608 bytes in all",
                "why        5 passes; the network in place, which oblivious sorts use, takes 15",
                "",
                "  pass      steps  place   what",
                "     1             tile    sort 128 columns of 8192 keys; deal each to 64 new ones",
                "     2             tile    merge every new column; cut it into a piece for each column",
                "     3             tile    merge every column",
                "     4             tile    merge halves of neighbouring columns",
                "     5             tile    merge halves of neighbouring columns",
            ]
        );
    }

    #[test]
    fn what_columnsort_sorts_in_parts_is_merged_by_the_network() {
        let alone = DeviceLimits { most_cluster_log2: 0, ..DeviceLimits::FULL_GPU };
        let plan = plan_on(alone, 1 << 24);
        assert_eq!((plan.algorithm, plan.pass_count()), (Algorithm::Columnsort, 8));
        let groups = work_groups(&plan);
        assert_eq!(groups.work_bytes, (4 * 129) << 17, "a column more in every part");
        assert_eq!(groups.matrix.map(|matrix| (matrix.chunks, matrix.shifts)), Some((4, 1)));
        let lines = lines(&plan);
        let table = lines.iter().position(String::is_empty).expect("a table follows");
        assert_eq!(
            lines[table - 1],
            "why        8 passes; the network in place, which oblivious sorts use, takes 21"
        );
        assert_eq!(
            lines[table + 2..],
            [
                "     1             tile    in each of 4 parts, sort 128 columns of 32768 keys; deal each to 128 new ones",
                "     2             tile    merge every new column; cut it into a piece for each column",
                "     3             tile    merge every column",
                "     4             tile    merge halves of neighbouring columns",
                "     5    254-262  memory  merge 23: compare i with i xor 8388607, then 2097152, then 1048576, then 524288, \
                 then 262144, then 131072, then 65536, then 32768, then 16384",
                "     6    263-276  tile    finish merge 23 inside tiles of 2^14 keys",
                "     7    277-286  memory  merge 24: compare i with i xor 16777215, then 4194304, then 2097152, then 1048576, \
                 then 524288, then 262144, then 131072, then 65536, then 32768, then 16384",
                "     8    287-300  tile    finish merge 24 inside tiles of 2^14 keys",
            ]
        );
    }

    #[test]
    fn a_sort_by_buckets_says_how_many_there_are_and_where_their_bounds_come_from() {
        let plan = plan_on(DeviceLimits::FULL_GPU, 1 << 24);
        assert_eq!((plan.algorithm, plan.pass_count()), (Algorithm::Buckets, 2));
        let groups = work_groups(&plan);
        let buckets = Buckets { count: 1707, samples: 1 << 16, usual: 1 << 14, capacity: 1 << 15 };
        assert_eq!((groups.buckets, groups.matrix), (Some(buckets), None));
        let lines = lines(&plan);
        for line in [
            "algorithm  buckets, with the network in every one",
            "elements   4 bytes each in registers, 67108864 bytes on the device at a time, and a second array of 223760416 \
             bytes there",
            "why        2 passes; the network in place, which oblivious sorts use, takes 21",
            "     1             memory  every key to one of 1707 buckets, whose bounds come from a sample of 65536 keys",
            "     2             tile    sort every bucket, in a tile of 16384 keys; those of up to 32768 in two",
        ] {
            assert!(lines.iter().any(|said| said == line), "{line}\nis missing in\n{plan}");
        }
    }

    #[test]
    fn a_cluster_sorts_in_one_pass_with_all_its_groups() {
        let plan = plan_on(DeviceLimits::FULL_GPU, 1 << 13);
        assert_eq!((plan.algorithm, plan.pass_count()), (Algorithm::Network, 1));
        let groups = work_groups(&plan);
        assert_eq!((groups.cluster, groups.tile_items, groups.work_bytes), (4, 128, 0));
        assert_eq!(
            lines(&plan),
            [
                "8192 u32 keys, ascending, on cpu: a device in host memory",
                "algorithm  bitonic network in flip form",
                "groups     128 work-items for a tile, 4 groups sort together in local memory that they share",
                "elements   4 bytes each in registers, 32768 bytes on the device at a time",
                "memory     32768 bytes beyond the arrays",
                "passes     1, each reading and writing 65536 bytes in all",
                "network    13 merges, 91 steps, 372736 comparators",
                "",
                "  pass      steps  place   what",
                "     1       1-91  tile    sort all keys in the tiles of 4 groups",
            ]
        );
    }

    #[test]
    fn without_a_second_array_the_network_sorts_in_place() {
        let in_place = DeviceLimits { second_array: false, buckets: false, ..DeviceLimits::FULL_GPU };
        let plan = plan_on(in_place, 1 << 20);
        assert_eq!((plan.algorithm, plan.pass_count()), (Algorithm::Network, 15));
        let groups = work_groups(&plan);
        assert_eq!((groups.work_bytes, groups.matrix), (0, None));
        let lines = lines(&plan);
        for line in [
            "elements   4 bytes each in registers, 4194304 bytes on the device at a time",
            "passes     15, each reading and writing 8388608 bytes in all",
            "network    20 merges, 210 steps, 110100480 comparators",
            "     1       1-91  tile    sort every tile of 2^13 keys",
            "     2         92  memory  merge 14: compare i with i xor 16383",
            "     3     93-105  tile    finish merge 14 inside tiles of 2^13 keys",
            "    15    198-210  tile    finish merge 20 inside tiles of 2^13 keys",
        ] {
            assert!(lines.iter().any(|said| said == line), "{line}\nis missing in\n{plan}");
        }
    }
}
