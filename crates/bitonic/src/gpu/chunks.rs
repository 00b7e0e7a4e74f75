//! Arrays in host memory on a device that may be too small for them: whole where they fit, else chunk by chunk, merged on
//! the host.
//!
//! ```text
//!   the caller's array   [       |       |       ]   untouched while the device is at work
//!                            ↓       ↓       ↓       up, sorted, down: one chunk after the other
//!   landed               [  run  |  run  |  run  ]
//!                                    ↓               merged into the caller's array: nothing can fail any more
//! ```

use super::backend::Backend;
use super::chunking::{Chunking, Cut};
use super::landing::zeroed;
use super::launches::Job;
use super::layout::{Layout, Mapping};
use super::merge::{Elements, merge_runs};
use super::sort::{self, Work, read_indices};
use crate::Error;
use crate::cpu::{try_vec, with_threads_for};
use crate::key::{BitMap, Bits, Key, Order, as_bits_mut, as_bytes};
use crate::report::DeviceTimes;
use std::ops::Range;
use std::time::Instant;

/// Sorts every row of `row_length` keys. The keys are as they were, or all sorted, if anything fails.
pub(crate) fn sort_rows<K: Key, D: Backend>(
    device: &D,
    keys: &mut [K],
    row_length: usize,
    order: Order,
    chunking: &Chunking,
) -> Result<DeviceTimes, Error> {
    let rows = keys.len().checked_div(row_length).unwrap_or(0);
    let job = Job { layout: Layout::keys::<K>(), mapping: Mapping::new::<K>(order), row_length, rows };
    let mut cut = chunking.cut(device, &job)?;
    if cut.is_whole() {
        match sort::sort_rows(device, keys, row_length, order) {
            Err(error) => cut = cut.after(error, keys.len())?,
            sorted => return sorted,
        }
    }
    Chunked { device, job, cut, order, threads: chunking.threads() }.sort_rows(keys)
}

/// Sorts keys and moves every value with its key. Both are as they were if anything fails.
pub(crate) fn sort_pairs<K: Key, V: Copy + Send, D: Backend>(
    device: &D,
    keys: &mut [K],
    values: &mut [V],
    stable: bool,
    order: Order,
    chunking: &Chunking,
) -> Result<DeviceTimes, Error> {
    let carried = Layout::carrying::<K, V>(stable);
    let layout = carried.unwrap_or_else(|| Layout::indexed::<K>(keys.len()));
    let job = Job { layout, mapping: Mapping::new::<K>(order), row_length: keys.len(), rows: 1 };
    let mut cut = chunking.cut(device, &job)?;
    if cut.is_whole() {
        match sort::sort_pairs(device, keys, values, stable, order) {
            Err(error) => cut = cut.after(error, keys.len())?,
            sorted => return sorted,
        }
    }
    let chunked = Chunked { device, job, cut, order, threads: chunking.threads() };
    match carried.map(Layout::value_bytes) {
        Some(4) => {
            // SAFETY: V is a number of 4 bytes: aligned as a u32 is, and any bits are a V.
            let words = unsafe { std::slice::from_raw_parts_mut(values.as_mut_ptr().cast(), values.len()) };
            chunked.sort_with_values::<K, u32>(keys, words)
        }
        Some(_) => {
            // SAFETY: V is a number of 8 bytes: aligned as a u64 is, and any bits are a V.
            let words = unsafe { std::slice::from_raw_parts_mut(values.as_mut_ptr().cast(), values.len()) };
            chunked.sort_with_values::<K, u64>(keys, words)
        }
        None => chunked.sort_by_index(keys, values),
    }
}

/// The index of every key in sorted order; equal keys by index.
pub(crate) fn argsort<K: Key, D: Backend>(
    device: &D,
    keys: &[K],
    order: Order,
    chunking: &Chunking,
) -> Result<Vec<usize>, Error> {
    let layout = Layout::indexed::<K>(keys.len());
    let job = Job { layout, mapping: Mapping::new::<K>(order), row_length: keys.len(), rows: 1 };
    let mut cut = chunking.cut(device, &job)?;
    if cut.is_whole() {
        match sort::argsort(device, keys, order) {
            Err(error) => cut = cut.after(error, keys.len())?,
            sorted => return sorted,
        }
    }
    Chunked { device, job, cut, order, threads: chunking.threads() }.argsort(keys)
}

/// A sort in chunks.
struct Chunked<'a, D> {
    device: &'a D,
    /// Of all that is to be sorted.
    job: Job,
    cut: Cut,
    order: Order,
    /// Of the merge.
    threads: Option<usize>,
}

impl<D: Backend> Chunked<'_, D> {
    fn sort_rows<K: Key>(self, keys: &mut [K]) -> Result<DeviceTimes, Error> {
        let mut landed = zeroed::<K::Bits>(keys.len())?;
        let (chunks, times) = self.each_chunk(|chunk, job| {
            let mut work = Work::start(self.device, job, as_bytes(&keys[chunk.clone()]), None)?;
            work.land_keys::<K>(bytes_mut(&mut landed[chunk]))?;
            Ok(work.times)
        })?;
        // Vectors of `()` take no memory.
        let (mut no_values, mut none_either) = (vec![(); keys.len()], vec![(); keys.len()]);
        let from = Elements::new(&mut landed, &mut no_values);
        let to = Elements::new(as_bits_mut(keys), &mut none_either);
        self.merge::<K, _>(&chunks, from, to, times)
    }

    /// The values travel with the keys.
    fn sort_with_values<K: Key, V: Bits>(
        self,
        keys: &mut [K],
        values: &mut [V],
    ) -> Result<DeviceTimes, Error> {
        let (mut landed_keys, mut landed_values) = (zeroed::<K::Bits>(keys.len())?, zeroed(keys.len())?);
        let (chunks, times) = self.each_chunk(|chunk, job| {
            let (keys, values) = (&keys[chunk.clone()], bytes_mut(&mut values[chunk.clone()]));
            let mut work = Work::start(self.device, job, as_bytes(keys), Some(values))?;
            work.land_keys::<K>(bytes_mut(&mut landed_keys[chunk.clone()]))?;
            work.land_values(bytes_mut(&mut landed_values[chunk]))?;
            Ok(work.times)
        })?;
        let from = Elements::new(&mut landed_keys, &mut landed_values);
        self.merge::<K, _>(&chunks, from, Elements::new(as_bits_mut(keys), values), times)
    }

    /// The values of other types, and of stable sorts, are put in the order of their chunk here, by the index of each key;
    /// the merge keeps the order of chunks.
    fn sort_by_index<K: Key, V: Copy + Send>(
        self,
        keys: &mut [K],
        values: &mut [V],
    ) -> Result<DeviceTimes, Error> {
        let (mut landed_keys, mut landed_values) = (zeroed::<K::Bits>(keys.len())?, try_vec(keys.len())?);
        let (chunks, times) = self.each_chunk(|chunk, job| {
            let values = &values[chunk.clone()];
            let landed = bytes_mut(&mut landed_keys[chunk.clone()]);
            self.sort_indexed(&keys[chunk], job, landed, |index| landed_values.push(values[index]))
        })?;
        let from = Elements::new(&mut landed_keys, &mut landed_values);
        self.merge::<K, _>(&chunks, from, Elements::new(as_bits_mut(keys), values), times)
    }

    fn argsort<K: Key>(self, keys: &[K]) -> Result<Vec<usize>, Error> {
        let (mut landed_keys, mut landed_indices) = (zeroed::<K::Bits>(keys.len())?, try_vec(keys.len())?);
        let (mut merged_keys, mut merged_indices) = (zeroed::<K::Bits>(keys.len())?, try_vec(keys.len())?);
        let (chunks, times) = self.each_chunk(|chunk, job| {
            let landed = bytes_mut(&mut landed_keys[chunk.clone()]);
            let start = chunk.start;
            self.sort_indexed(&keys[chunk], job, landed, |index| landed_indices.push(start + index))
        })?;
        merged_indices.resize(keys.len(), 0);
        let from = Elements::new(&mut landed_keys, &mut landed_indices);
        self.merge::<K, _>(&chunks, from, Elements::new(&mut merged_keys, &mut merged_indices), times)?;
        Ok(merged_indices)
    }

    /// Sorts a chunk with its indices; calls `place` with each of them in order when everything has worked.
    fn sort_indexed<K: Key>(
        &self,
        keys: &[K],
        job: Job,
        landed: &mut [u8],
        place: impl FnMut(usize),
    ) -> Result<DeviceTimes, Error> {
        let mut work = Work::start(self.device, job, as_bytes(keys), None)?;
        work.land_keys::<K>(landed)?;
        let indices = work.fetch_values()?;
        if read_indices(&indices, job.layout).any(|index| index >= keys.len()) {
            return Err(work.wrong_result());
        }
        read_indices(&indices, job.layout).for_each(place);
        self.device.landing().give(indices);
        Ok(work.times)
    }

    /// Calls `sort` for every chunk, in order, with its job. A device that refuses memory gets smaller ones from there on.
    fn each_chunk(
        &self,
        mut sort: impl FnMut(Range<usize>, Job) -> Result<DeviceTimes, Error>,
    ) -> Result<(Vec<Range<usize>>, DeviceTimes), Error> {
        let mut cut = self.cut;
        let (mut chunks, mut times) = (Vec::new(), DeviceTimes::default());
        let mut start = 0;
        while start < cut.len() {
            let chunk = cut.next(start);
            match sort(chunk.clone(), cut.job(chunk.len(), &self.job)) {
                Ok(of_chunk) => {
                    times.add(&of_chunk);
                    start = chunk.end;
                    chunks.push(chunk);
                }
                Err(error) => cut = cut.after(error, chunk.len())?,
            }
        }
        Ok((chunks, times))
    }

    /// Merges the landed chunks of every row into the caller's arrays; returns the times with that of the merge.
    fn merge<K: Key, V: Copy + Send>(
        &self,
        chunks: &[Range<usize>],
        mut from: Elements<'_, K::Bits, V>,
        mut to: Elements<'_, K::Bits, V>,
        times: DeviceTimes,
    ) -> Result<DeviceTimes, Error> {
        let started = Instant::now();
        let (map, row_length) = (BitMap::new(K::TYPE.form(), self.order), self.job.row_length);
        with_threads_for(self.cut.len(), self.threads, |parallel| {
            // A chunk that does not end where a row does goes on in the next.
            for row in chunks.chunk_by(|chunk, _| !chunk.end.is_multiple_of(row_length)) {
                let lengths = row.iter().map(ExactSizeIterator::len);
                let (row_from, later_from) = from.split_at(lengths.clone().sum());
                let (row_to, later_to) = to.split_at(lengths.clone().sum());
                merge_runs(row_from, row_to, lengths, map, parallel);
                (from, to) = (later_from, later_to);
            }
        })?;
        Ok(DeviceTimes { merge: started.elapsed(), ..times })
    }
}

/// The memory of numbers.
fn bytes_mut<B: Bits>(bits: &mut [B]) -> &mut [u8] {
    // SAFETY: unsigned integers are initialised memory without padding, and any bytes are some; exclusive for as long as
    // the borrow.
    unsafe { std::slice::from_raw_parts_mut(bits.as_mut_ptr().cast(), size_of_val(bits)) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gpu::chunking::Cuts;
    use crate::gpu::planning;
    use crate::gpu::testing::HostDevice;

    const ORDERS: [Order; 2] = [Order::Ascending, Order::Descending];

    /// Few values, so that there are many ties.
    fn keys(len: usize) -> Vec<u32> {
        (0..len as u32).map(|index| index.wrapping_mul(0x9E37_79B1) >> 27).collect()
    }

    fn chunking(bytes: u64, cuts: Cuts) -> Chunking {
        Chunking::new(Some(bytes), cuts, Some(1)).expect("no variable is read")
    }

    fn device() -> HostDevice {
        HostDevice::new(1 << 20)
    }

    /// The places of the keys in order, equal keys by place.
    fn sorted_places(keys: &[u32], order: Order) -> Vec<usize> {
        let mut places: Vec<usize> = (0..keys.len()).collect();
        match order {
            Order::Ascending => places.sort_by_key(|&place| keys[place]),
            Order::Descending => places.sort_by_key(|&place| !keys[place]),
        }
        places
    }

    #[test]
    fn any_number_of_chunks_gives_the_stable_order() {
        let keys = keys(1000);
        for limit in [8, 13, 80, 800, 4000, 7999, 8000, 1 << 20] {
            for order in ORDERS {
                let (device, chunking) = (device(), chunking(limit, Cuts::Anywhere));
                let plan = planning::plan_argsort::<u32>(&device, 1000, order, &chunking).unwrap();
                let places = sorted_places(&keys, order);
                assert_eq!(argsort(&device, &keys, order, &chunking), Ok(places.clone()), "limit {limit}");
                let count = plan.chunks.map_or(1, |chunks| chunks.count);
                assert_eq!(device.sorted.borrow().len(), count, "limit {limit}");
                assert_eq!(count, 1000_usize.div_ceil((limit as usize / 8).min(1000)), "limit {limit}");

                let (mut sorted, mut values) = (keys.clone(), (0..1000).collect::<Vec<u16>>());
                let times = sort_pairs(&device, &mut sorted, &mut values, true, order, &chunking).unwrap();
                assert_eq!(times.chunks, count, "limit {limit}");
                assert!(values.iter().map(|&value| usize::from(value)).eq(places.iter().copied()));
                assert!(sorted.iter().eq(places.iter().map(|&place| &keys[place])));
            }
        }
    }

    #[test]
    fn rows_are_cut_between_rows_and_inside_only_if_not_one_fits() {
        let before = keys(12 * 100);
        for (row_length, limit) in [(100, 400), (100, 1000), (100, 399), (100, 40), (1, 44), (600, 404)] {
            for order in ORDERS {
                let (device, mut sorted) = (device(), before.clone());
                let chunking = chunking(limit, Cuts::Anywhere);
                sort_rows(&device, &mut sorted, row_length, order, &chunking).unwrap();
                let mut expected = before.clone();
                for row in expected.chunks_mut(row_length) {
                    row.sort_unstable();
                    if order == Order::Descending {
                        row.reverse();
                    }
                }
                assert_eq!(sorted, expected, "rows of {row_length}, limit {limit}");
                let fits = limit as usize >= 4 * row_length;
                assert!(device.sorted.borrow().iter().all(|len| len.is_multiple_of(row_length) == fits));
            }
        }
    }

    /// Calls a sort on devices that fail at the first call, at the second, and so on; data must be as it was each time,
    /// until one fails at none. Returns how many failed.
    fn fail_everywhere(mut sort: impl FnMut(&HostDevice) -> Result<(), Error>) -> usize {
        for calls in 0.. {
            let device = device();
            device.calls_before_failure.set(Some(calls));
            match sort(&device) {
                Ok(()) => return calls,
                Err(error) => assert!(matches!(error, Error::Device { .. }), "{error}"),
            }
        }
        unreachable!("numbers do not end")
    }

    #[test]
    fn a_failure_in_any_chunk_leaves_the_arrays_as_they_were() {
        let (before, indices) = (keys(100), (0..100).collect::<Vec<u32>>());
        // Three chunks. For each: a buffer, up, sorted, down; with values another buffer, up, down.
        let limit = chunking(4 * 40, Cuts::Anywhere);
        let failed = fail_everywhere(|device| {
            let mut keys = before.clone();
            let result = sort_rows(device, &mut keys, 100, Order::Ascending, &limit);
            assert!(result.is_ok() == keys.is_sorted() && (result.is_ok() || keys == before));
            result.map(drop)
        });
        assert_eq!(failed, 3 * 4);
        let limit = chunking(8 * 40, Cuts::Anywhere);
        for (stable, calls) in [(false, 7), (true, 6)] {
            let failed = fail_everywhere(|device| {
                let (mut keys, mut values) = (before.clone(), indices.clone());
                let result = sort_pairs(device, &mut keys, &mut values, stable, Order::Ascending, &limit);
                assert!(result.is_ok() == keys.is_sorted());
                assert!(result.is_ok() || keys == before && values == indices);
                result.map(drop)
            });
            assert_eq!(failed, 3 * calls, "stable: {stable}");
        }
        assert_eq!(
            fail_everywhere(|device| argsort(device, &before, Order::Ascending, &limit).map(drop)),
            3 * 6
        );
    }

    #[test]
    fn a_device_that_gives_less_than_it_has_gets_smaller_chunks() {
        let before = keys(1000);
        let mut expected = before.clone();
        expected.sort_unstable();
        // Refused as a whole; in chunks of half; and of a quarter, in the middle of the work.
        for (grants, sorted) in [
            (vec![2000], vec![500, 500]),
            (vec![1999], vec![250, 250, 250, 250]),
            (vec![4000, 1], vec![1000]),
            (vec![3999, 2000, 1000], vec![500, 250, 250]),
        ] {
            let (mut device, mut keys) = (device(), before.clone());
            device.grants = grants;
            let chunking = chunking(1 << 20, Cuts::Anywhere);
            let times = sort_rows(&device, &mut keys, 1000, Order::Ascending, &chunking).unwrap();
            assert_eq!((*device.sorted.borrow()).as_slice(), sorted);
            assert_eq!(times.chunks, sorted.len());
            assert_eq!(keys, expected);
        }
        let (mut device, mut keys) = (device(), before.clone());
        device.grants = vec![0];
        let result =
            sort_rows(&device, &mut keys, 1000, Order::Ascending, &chunking(1 << 20, Cuts::Anywhere));
        assert!(matches!(result, Err(Error::DeviceMemory { .. })), "{result:?}");
        assert_eq!(keys, before);
    }

    #[test]
    fn indices_that_no_key_has_are_an_error_and_nothing_is_moved() {
        let mut device = device();
        device.wrong_indices = true;
        let before = keys(100);
        let (mut keys, mut values) = (before.clone(), vec![(); 100]);
        let limit = chunking(400, Cuts::Anywhere);
        let result = sort_pairs(&device, &mut keys, &mut values, true, Order::Ascending, &limit);
        assert!(matches!(result, Err(Error::Device { operation: "sort", .. })), "{result:?}");
        assert_eq!(keys, before);
    }

    #[test]
    fn what_must_not_be_cut_is_refused_with_both_numbers_and_the_way_out() {
        let before = keys(100);
        let refused = |row_length, limit, cuts| {
            let (device, mut keys) = (device(), before.clone());
            let chunking = chunking(limit, cuts);
            let result = sort_rows(&device, &mut keys, row_length, Order::Ascending, &chunking);
            let planned =
                planning::plan::<u32>(&device, row_length, 100 / row_length, Order::Ascending, &chunking);
            assert_eq!(planned.err(), result.clone().err(), "a plan fails as its sort does");
            assert!(result.is_ok() || keys == before);
            match result {
                Err(Error::LargerThanDevice { bytes, limit, advice, .. }) => Some((bytes, limit, advice)),
                Err(error) => panic!("{error}"),
                Ok(_) => None,
            }
        };
        assert_eq!(refused(100, 400, Cuts::Nowhere), None);
        let (bytes, limit, advice) = refused(100, 399, Cuts::Nowhere).unwrap();
        assert!((bytes, limit) == (400, 399) && advice.contains("chunks()"), "{advice}");
        assert!(refused(1, 399, Cuts::Nowhere).is_some(), "rows are not cut either");

        assert_eq!(refused(50, 200, Cuts::BetweenRows), None);
        let (bytes, limit, advice) = refused(50, 199, Cuts::BetweenRows).unwrap();
        assert!((bytes, limit) == (200, 199) && advice.contains("oblivious"), "{advice}");

        assert_eq!(refused(100, 4, Cuts::Anywhere), None);
        let (bytes, limit, advice) = refused(100, 3, Cuts::Anywhere).unwrap();
        assert!((bytes, limit) == (4, 3) && advice.contains("BITONIC_DEVICE_MEMORY"), "{advice}");
    }
}
