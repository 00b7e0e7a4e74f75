//! Arrays that the device does not hold: sorted chunk by chunk, merged on the host.
//!
//! ```text
//!   the caller's array   [       |       |       ]   untouched while the device is at work
//!                            ↓       ↓       ↓       up, sorted, down: one chunk after the other
//!   landed               [  run  |  run  |  run  ]
//!                                    ↓               merged into the caller's array: nothing can fail any more
//! ```

use super::arrays::{HostArrays, ValueBytes, indices};
use super::whole::OnDevice;
use super::wrong_result;
use crate::Error;
use crate::cpu::merge::{Elements, merge_runs};
use crate::cpu::{try_vec, with_threads_for};
use crate::gpu::cut::Cut;
use crate::gpu::driver::Driver;
use crate::gpu::job::Job;
use crate::gpu::memory::zeroed;
use crate::key::{BitMap, Bits};
use crate::plan::{Chunks, KernelPlan};
use crate::report::DeviceTimes;
use crate::request::Request;
use std::mem::MaybeUninit;
use std::ops::Range;
use std::sync::Arc;
use std::time::Instant;

/// Sorts arrays in chunks. They are as they were if anything fails.
pub(super) fn sort<D: Driver>(
    device: &D,
    request: &Request,
    job: &Job,
    cut: Cut,
    arrays: HostArrays<'_>,
    threads: Option<usize>,
) -> Result<Chunked, Error> {
    let sorter = ChunkSorter { device, request, job, cut, threads };
    match job.element.key_bits {
        8 => sorter.sort::<u8>(arrays),
        16 => sorter.sort::<u16>(arrays),
        32 => sorter.sort::<u32>(arrays),
        64 => sorter.sort::<u64>(arrays),
        _ => sorter.sort::<u128>(arrays),
    }
}

/// What a sort in chunks did.
pub(super) struct Chunked {
    /// The kernels of the first chunk.
    pub(super) kernels: Arc<KernelPlan>,
    pub(super) chunks: Chunks,
    pub(super) times: DeviceTimes,
}

/// A sort in chunks.
struct ChunkSorter<'a, D> {
    device: &'a D,
    request: &'a Request,
    /// Of all that is to be sorted.
    job: &'a Job,
    cut: Cut,
    /// Of the merge.
    threads: Option<usize>,
}

impl<D: Driver> ChunkSorter<'_, D> {
    fn sort<B: Bits + bytemuck::Pod>(&self, arrays: HostArrays<'_>) -> Result<Chunked, Error> {
        match arrays {
            HostArrays::Keys(keys) => self.keys::<B>(keys),
            HostArrays::Pairs { keys, values } => match self.job.element.value_bits {
                32 => self.pairs::<B, u32>(keys, values),
                _ => self.pairs::<B, u64>(keys, values),
            },
            HostArrays::Gathered { keys, values } => match values.size() {
                1 => self.gathered::<B, 1>(keys, values),
                2 => self.gathered::<B, 2>(keys, values),
                4 => self.gathered::<B, 4>(keys, values),
                8 => self.gathered::<B, 8>(keys, values),
                16 => self.gathered::<B, 16>(keys, values),
                _ => self.gathered_by_index::<B>(keys, values),
            },
            HostArrays::Indices { keys, indices } => {
                let mut landed = self.indexed::<B>(keys)?;
                let mut merged = zeroed::<B>(self.cut.len())?;
                let to = Elements::new(&mut merged, indices);
                self.merge(&mut landed.ran, Elements::new(&mut landed.keys, &mut landed.values), to)?;
                indices.iter_mut().for_each(|index| *index %= self.job.row_length);
                Ok(landed.ran.done(self.job.row_length))
            }
        }
    }

    fn keys<B: Bits + bytemuck::Pod>(&self, keys: &mut [u8]) -> Result<Chunked, Error> {
        let mut landed = zeroed::<B>(self.cut.len())?;
        let mut ran = self.each_chunk(|chunk, job, plan| {
            let part = bytes_of::<B>(&chunk);
            let mut sorted = OnDevice::sort(self.device, job, plan, &keys[part], None)?;
            sorted.land_keys(self.request.key, bytemuck::cast_slice_mut(&mut landed[chunk]))?;
            Ok(sorted.done())
        })?;
        // Vectors of `()` take no memory.
        let (mut no_values, mut none_either) = (vec![(); landed.len()], vec![(); landed.len()]);
        let to = Elements::new(bytemuck::cast_slice_mut(keys), &mut none_either);
        self.merge(&mut ran, Elements::new(&mut landed, &mut no_values), to)?;
        Ok(ran.done(self.job.row_length))
    }

    /// The values travel with the keys.
    fn pairs<B: Bits + bytemuck::Pod, V: Bits + bytemuck::Pod>(
        &self,
        keys: &mut [u8],
        values: &mut [u8],
    ) -> Result<Chunked, Error> {
        let (mut landed_keys, mut landed_values) =
            (zeroed::<B>(self.cut.len())?, zeroed::<V>(self.cut.len())?);
        let mut ran = self.each_chunk(|chunk, job, plan| {
            let (key_part, value_part) = (bytes_of::<B>(&chunk), bytes_of::<V>(&chunk));
            let mut sorted =
                OnDevice::sort(self.device, job, plan, &keys[key_part], Some(&values[value_part]))?;
            sorted.land_keys(self.request.key, bytemuck::cast_slice_mut(&mut landed_keys[chunk.clone()]))?;
            sorted.land_values(bytemuck::cast_slice_mut(&mut landed_values[chunk]))?;
            Ok(sorted.done())
        })?;
        let to = Elements::new(bytemuck::cast_slice_mut(keys), bytemuck::cast_slice_mut::<u8, V>(values));
        self.merge(&mut ran, Elements::new(&mut landed_keys, &mut landed_values), to)?;
        Ok(ran.done(self.job.row_length))
    }

    /// The values are put in the order of their chunk here, by the index of each key; the merge, which is stable, moves them on.
    fn gathered<B: Bits + bytemuck::Pod, const SIZE: usize>(
        &self,
        keys: &mut [u8],
        values: ValueBytes<'_>,
    ) -> Result<Chunked, Error> {
        let mut landed_keys = zeroed::<B>(self.cut.len())?;
        let mut landed_values: Vec<[MaybeUninit<u8>; SIZE]> = try_vec(self.cut.len())?;
        let (all, _) = values.into_memory().as_chunks_mut::<SIZE>();
        let mut ran = self.each_indexed_chunk::<B>(keys, &mut landed_keys, |places| {
            landed_values.extend(places.map(|place| all[place]));
        })?;
        let to = Elements::new(bytemuck::cast_slice_mut(keys), all);
        self.merge(&mut ran, Elements::new(&mut landed_keys, &mut landed_values), to)?;
        Ok(ran.done(self.job.row_length))
    }

    /// Values of other sizes: the merge moves the indices of their keys, and they follow these in the end.
    fn gathered_by_index<B: Bits + bytemuck::Pod>(
        &self,
        keys: &mut [u8],
        values: ValueBytes<'_>,
    ) -> Result<Chunked, Error> {
        let mut landed = self.indexed::<B>(keys)?;
        let mut places = zeroed_indices(self.cut.len())?;
        let gathered = values.reserve()?;
        let to = Elements::new(bytemuck::cast_slice_mut(keys), &mut places);
        self.merge(&mut landed.ran, Elements::new(&mut landed.keys, &mut landed.values), to)?;
        values.write(gathered, places.into_iter());
        Ok(landed.ran.done(self.job.row_length))
    }

    /// Keys with their indices, counted from the start of the array: sorted in chunks, not merged yet.
    fn indexed<B: Bits + bytemuck::Pod>(&self, keys: &[u8]) -> Result<Indexed<B>, Error> {
        let (mut landed, mut landed_indices) = (zeroed::<B>(self.cut.len())?, try_vec(self.cut.len())?);
        let ran = self.each_indexed_chunk::<B>(keys, &mut landed, |places| landed_indices.extend(places))?;
        Ok(Indexed { keys: landed, values: landed_indices, ran })
    }

    /// Sorts every chunk with its indices; calls `place` with those of each, counted from the start of the array, when everything of
    /// the chunk has worked.
    fn each_indexed_chunk<B: Bits + bytemuck::Pod>(
        &self,
        keys: &[u8],
        landed: &mut [B],
        mut place: impl FnMut(&mut dyn Iterator<Item = usize>),
    ) -> Result<Ran, Error> {
        self.each_chunk(|chunk, job, plan| {
            let (part, start) = (bytes_of::<B>(&chunk), chunk.start);
            let mut sorted = OnDevice::sort(self.device, job, plan, &keys[part], None)?;
            sorted.land_keys(self.request.key, bytemuck::cast_slice_mut(&mut landed[chunk]))?;
            let fetched = sorted.fetch_values()?;
            let mut places = indices(&fetched, job, start).ok_or_else(|| wrong_result(self.device))?;
            place(&mut places);
            drop(places);
            self.device.state().landing().give(fetched);
            Ok(sorted.done())
        })
    }

    /// Calls `sort` for every chunk, in order, with its job and the plan of it. A device that refuses memory gets smaller ones from
    /// there on.
    fn each_chunk(
        &self,
        mut sort: impl FnMut(
            Range<usize>,
            &Job,
            &Arc<KernelPlan>,
        ) -> Result<(Arc<KernelPlan>, DeviceTimes), Error>,
    ) -> Result<Ran, Error> {
        let mut cut = self.cut;
        let mut ran = Ran { chunks: Vec::new(), times: DeviceTimes::default(), plan: None };
        let mut start = 0;
        while start < cut.len() {
            let chunk = cut.next(start);
            let job = cut.job(chunk.len(), self.job);
            let plan = self.device.state().plan(self.device, &job);
            match sort(chunk.clone(), &job, &plan) {
                Ok((plan, times)) => {
                    ran.times.add(&times);
                    // The longest comes first, unless the device refuses memory.
                    ran.plan.get_or_insert(plan);
                    start = chunk.end;
                    ran.chunks.push(chunk);
                }
                Err(error) => cut = cut.after(error, chunk.len())?,
            }
        }
        Ok(ran)
    }

    /// Merges the landed chunks of every row into the caller's arrays.
    fn merge<B: Bits, V: Copy + Send + Sync>(
        &self,
        ran: &mut Ran,
        mut from: Elements<'_, B, V>,
        mut to: Elements<'_, B, V>,
    ) -> Result<(), Error> {
        let started = Instant::now();
        let (map, row_length) =
            (BitMap::new(self.request.key.form(), self.request.order), self.job.row_length);
        with_threads_for(self.cut.len(), self.threads, |parallel| {
            // A chunk that does not end where a row does goes on in the next.
            for row in ran.chunks.chunk_by(|chunk, _| !chunk.end.is_multiple_of(row_length)) {
                let lengths = row.iter().map(ExactSizeIterator::len);
                let (row_from, later_from) = from.split_at(lengths.clone().sum());
                let (row_to, later_to) = to.split_at(lengths.clone().sum());
                merge_runs(row_from, row_to, lengths, map, parallel);
                (from, to) = (later_from, later_to);
            }
        })?;
        ran.times.merge = started.elapsed();
        Ok(())
    }
}

/// Chunks that are sorted and have landed.
struct Ran {
    chunks: Vec<Range<usize>>,
    times: DeviceTimes,
    plan: Option<Arc<KernelPlan>>,
}

impl Ran {
    fn done(self, row_length: usize) -> Chunked {
        let chunks = Chunks {
            count: self.chunks.len(),
            len: self.chunks.iter().map(ExactSizeIterator::len).max().unwrap_or(0),
            row_pieces: self.chunks.iter().filter(|chunk| chunk.start < row_length).count(),
        };
        let kernels = self.plan.unwrap_or_else(|| Arc::new(KernelPlan::nothing()));
        Chunked { kernels, chunks, times: self.times }
    }
}

/// Keys with indices, of all chunks.
struct Indexed<B> {
    keys: Vec<B>,
    values: Vec<usize>,
    ran: Ran,
}

/// The bytes of elements.
fn bytes_of<B>(elements: &Range<usize>) -> Range<usize> {
    elements.start * size_of::<B>()..elements.end * size_of::<B>()
}

fn zeroed_indices(len: usize) -> Result<Vec<usize>, Error> {
    let mut indices = try_vec(len)?;
    indices.resize(len, 0);
    Ok(indices)
}
