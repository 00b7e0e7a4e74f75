//! Arrays that the device does not hold: sorted chunk by chunk, merged on the host.
//!
//! ```text
//!   the caller's array   [       |       |       ]   untouched while the device is at work
//!                            ↓       ↓       ↓       up, sorted, down: one chunk after the other
//!   landed               [  run  |  run  |  run  ]
//!                                    ↓               merged into the caller's array: nothing can fail any more
//! ```
//!
//! Rows that are whole in their chunk are copied where others are merged. Where a chunk ends is the matter of [`Cut`].

use super::arrays::{HostArrays, HostData, ValueBytes, bounds};
use super::landed::{ByteElements, Merging, in_rows, moves_values_of};
use super::whole::{self, OnDevice, Sent};
use crate::Error;
use crate::cpu::{Bounds, try_vec};
use crate::gpu::cut::{Cut, Part};
use crate::gpu::driver::Driver;
use crate::gpu::job::Job;
use crate::gpu::memory::Words;
use crate::plan::{Chunks, KernelPlan};
use crate::report::DeviceTimes;
use crate::request::Request;
use std::ops::Range;
use std::sync::Arc;
use std::time::Instant;

/// Sorts arrays in chunks. They are as they were if anything fails.
pub(super) fn sort<D: Driver>(
    device: &D,
    request: &Request,
    job: &Job,
    cut: Cut<'_>,
    HostData { arrays, offsets }: HostData<'_>,
    threads: Option<usize>,
) -> Result<Chunked, Error> {
    ChunkSorter { device, request, job, cut, rows: bounds(job, offsets), threads }.sort(arrays)
}

/// What a sort in chunks did.
pub(super) struct Chunked {
    /// The kernels of the longest chunk.
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
    cut: Cut<'a>,
    rows: Bounds<'a>,
    /// Of the merge.
    threads: Option<usize>,
}

impl<D: Driver> ChunkSorter<'_, D> {
    fn sort(&self, arrays: HostArrays<'_>) -> Result<Chunked, Error> {
        match arrays {
            HostArrays::Keys(keys) => self.keys(keys),
            HostArrays::Pairs { keys, values } => self.pairs(keys, values),
            HostArrays::Gathered { keys, values } if moves_values_of(values.size()) => {
                self.gathered(keys, values)
            }
            HostArrays::Gathered { keys, values } => self.gathered_by_index(keys, values),
            HostArrays::Best { keys, k, best, indices } => self.best(keys, k, best, indices),
            HostArrays::Indices { keys, indices } => {
                let mut landed = self.indexed(keys)?;
                let mut merged = self.room_for_keys()?;
                landed.merge(self, merged.bytes_mut(), indices)?;
                self.count_from_rows(indices);
                Ok(landed.ran.done(&self.cut))
            }
        }
    }

    fn keys(&self, keys: &mut [u8]) -> Result<Chunked, Error> {
        let mut landed = self.room_for_keys()?;
        let mut ran = self.each_chunk(|chunk, Part { job, offsets }, plan| {
            let part = self.key_bytes(&chunk);
            let sent = Sent { offsets, ..Sent::keys(&keys[part.clone()]) };
            let mut sorted = OnDevice::sort(self.device, self.request, &job, plan, sent)?;
            sorted.land(&mut landed.bytes_mut()[part], &mut [])?;
            Ok(sorted.done())
        })?;
        let from = ByteElements { keys: landed.bytes_mut(), values: &mut [], value_bytes: 0 };
        self.merge(&mut ran, from, ByteElements { keys, values: &mut [], value_bytes: 0 })?;
        Ok(ran.done(&self.cut))
    }

    /// The values travel with the keys.
    fn pairs(&self, keys: &mut [u8], values: &mut [u8]) -> Result<Chunked, Error> {
        let value_bytes = self.job.element.value_bytes();
        let mut landed_keys = self.room_for_keys()?;
        let mut landed_values = Words::zeroed(self.cut.len(), value_bytes)?;
        let mut ran = self.each_chunk(|chunk, Part { job, offsets }, plan| {
            let (key_part, value_part) = (self.key_bytes(&chunk), bytes_of(&chunk, value_bytes));
            let sent = Sent {
                values: Some(&values[value_part.clone()]),
                offsets,
                ..Sent::keys(&keys[key_part.clone()])
            };
            let mut sorted = OnDevice::sort(self.device, self.request, &job, plan, sent)?;
            sorted
                .land(&mut landed_keys.bytes_mut()[key_part], &mut landed_values.bytes_mut()[value_part])?;
            Ok(sorted.done())
        })?;
        let landed_values = ValueBytes::new(landed_values.bytes_mut()).into_memory();
        let from = ByteElements { keys: landed_keys.bytes_mut(), values: landed_values, value_bytes };
        let values = ValueBytes::new(values).into_memory();
        self.merge(&mut ran, from, ByteElements { keys, values, value_bytes })?;
        Ok(ran.done(&self.cut))
    }

    /// The values are put in the order of their chunk here, by the index of each key; the merge, which is stable, moves them on.
    fn gathered(&self, keys: &mut [u8], values: ValueBytes<'_>) -> Result<Chunked, Error> {
        let value_bytes = values.size();
        let (mut landed_keys, mut landed_values) = (self.room_for_keys()?, values.reserve()?);
        let mut ran = self.each_indexed_chunk(keys, &mut landed_keys, |places| {
            values.gather(&mut landed_values, places);
        })?;
        let from =
            ByteElements { keys: landed_keys.bytes_mut(), values: landed_values.memory(), value_bytes };
        let to = ByteElements { keys, values: values.into_memory(), value_bytes };
        self.merge(&mut ran, from, to)?;
        Ok(ran.done(&self.cut))
    }

    /// Values of other sizes: the merge moves the indices of their keys, and they follow these in the end.
    fn gathered_by_index(&self, keys: &mut [u8], values: ValueBytes<'_>) -> Result<Chunked, Error> {
        let mut landed = self.indexed(keys)?;
        let mut places = zeroed_indices(self.cut.len())?;
        let gathered = values.reserve()?;
        landed.merge(self, keys, &mut places)?;
        values.write(gathered, places.into_iter());
        Ok(landed.ran.done(&self.cut))
    }

    /// Rows are not cut here, so that what is found in a chunk is the result.
    fn best(&self, keys: &[u8], k: usize, best: &mut [u8], indices: &mut [usize]) -> Result<Chunked, Error> {
        let mut written = 0;
        let ran = self.each_chunk(|chunk, Part { job, offsets }, plan| {
            let rows = bounds(&job, offsets);
            let of_row = |number: usize| k.min(rows.range(number).len());
            let found = written..written + (0..rows.count()).map(of_row).sum::<usize>();
            let arrays = HostArrays::Best {
                keys: &keys[self.key_bytes(&chunk)],
                k,
                best: &mut best[self.key_bytes(&found)],
                indices: &mut indices[found.clone()],
            };
            let done = whole::sort(self.device, self.request, &job, plan, &mut HostData { arrays, offsets })?;
            written = found.end;
            Ok(done)
        })?;
        Ok(ran.done(&self.cut))
    }

    /// Keys with their indices, counted from the start of the array: sorted in chunks, not merged yet.
    fn indexed(&self, keys: &[u8]) -> Result<Indexed, Error> {
        let (mut landed, mut landed_indices) = (self.room_for_keys()?, try_vec(self.cut.len())?);
        let ran = self.each_indexed_chunk(keys, &mut landed, |places| landed_indices.extend(places))?;
        Ok(Indexed { keys: landed, values: landed_indices, ran })
    }

    /// Sorts every chunk with its indices; calls `place` with those of each, counted from the start of the array, when everything of
    /// the chunk has worked.
    fn each_indexed_chunk(
        &self,
        keys: &[u8],
        landed: &mut Words,
        mut place: impl FnMut(&mut dyn Iterator<Item = usize>),
    ) -> Result<Ran, Error> {
        self.each_chunk(|chunk, Part { job, offsets }, plan| {
            let (part, start) = (self.key_bytes(&chunk), chunk.start);
            let landing = self.device.state().landing();
            let sent = Sent { offsets, ..Sent::keys(&keys[part.clone()]) };
            let mut sorted = OnDevice::sort(self.device, self.request, &job, plan, sent)?;
            let mut fetched = landing.take(job.array_bytes().1)?;
            sorted.land(&mut landed.bytes_mut()[part], fetched.bytes_mut())?;
            place(&mut sorted.places(fetched.bytes(), &job, offsets, start)?);
            landing.give(fetched);
            Ok(sorted.done())
        })
    }

    /// Makes indices that count from the start of the array count from the start of their row.
    fn count_from_rows(&self, indices: &mut [usize]) {
        let first = self.rows.covered().start;
        for row in (0..self.rows.count()).map(|number| self.rows.range(number)) {
            let start = row.start - first;
            indices[start..row.end - first].iter_mut().for_each(|index| *index -= start);
        }
    }

    /// Memory for all keys.
    fn room_for_keys(&self) -> Result<Words, Error> {
        Words::zeroed(self.cut.len(), self.request.key.bytes())
    }

    /// Where the keys of a chunk are.
    fn key_bytes(&self, chunk: &Range<usize>) -> Range<usize> {
        bytes_of(chunk, self.request.key.bytes())
    }

    /// Calls `sort` for every chunk, in order, with what it is to the device and the plan of that. A device that refuses memory gets
    /// smaller ones from there on.
    fn each_chunk(
        &self,
        mut sort: impl FnMut(
            Range<usize>,
            Part<'_>,
            &Arc<KernelPlan>,
        ) -> Result<(Arc<KernelPlan>, DeviceTimes), Error>,
    ) -> Result<Ran, Error> {
        let mut cut = self.cut;
        let mut ran = Ran { chunks: Vec::new(), times: DeviceTimes::default(), longest: 0, plan: None };
        let mut start = 0;
        while start < cut.len() {
            let chunk = cut.next(start);
            let part = cut.part(&chunk);
            let plan = self.device.state().plan(self.device, &part.job);
            match sort(chunk.clone(), part, &plan) {
                Ok((plan, times)) => {
                    ran.times.add(&times);
                    if chunk.len() > ran.longest {
                        (ran.longest, ran.plan) = (chunk.len(), Some(plan));
                    }
                    start = chunk.end;
                    ran.chunks.push(chunk);
                }
                Err(error) => cut = cut.after(error, chunk.len())?,
            }
        }
        Ok(ran)
    }

    /// Merges the landed chunks of every row into the caller's arrays.
    fn merge(&self, ran: &mut Ran, from: ByteElements<'_>, to: ByteElements<'_>) -> Result<(), Error> {
        let started = Instant::now();
        let (request, cut, chunks) = (self.request, &self.cut, ran.chunks.as_slice());
        Merging { request, cut, chunks, threads: self.threads }.run(from, to)?;
        ran.times.merge = started.elapsed();
        Ok(())
    }
}

/// Chunks that are sorted and have landed.
struct Ran {
    chunks: Vec<Range<usize>>,
    times: DeviceTimes,
    /// The elements of the longest, and its plan.
    longest: usize,
    plan: Option<Arc<KernelPlan>>,
}

impl Ran {
    fn done(self, cut: &Cut<'_>) -> Chunked {
        let chunks = Chunks {
            count: self.chunks.len(),
            len: self.longest,
            row_pieces: in_rows(&self.chunks, cut).map(<[_]>::len).max().unwrap_or(1),
        };
        let kernels = self.plan.unwrap_or_else(|| Arc::new(KernelPlan::nothing()));
        Chunked { kernels, chunks, times: self.times }
    }
}

/// Keys with indices, of all chunks.
struct Indexed {
    keys: Words,
    values: Vec<usize>,
    ran: Ran,
}

impl Indexed {
    /// Merges the chunks of every row into these arrays.
    fn merge<D: Driver>(
        &mut self,
        sorter: &ChunkSorter<'_, D>,
        keys: &mut [u8],
        indices: &mut [usize],
    ) -> Result<(), Error> {
        let [from, to] = [&mut self.values, indices].map(|indices| ValueBytes::new(indices).into_memory());
        let value_bytes = size_of::<usize>();
        let from = ByteElements { keys: self.keys.bytes_mut(), values: from, value_bytes };
        sorter.merge(&mut self.ran, from, ByteElements { keys, values: to, value_bytes })
    }
}

/// The bytes of elements that have so many each.
fn bytes_of(elements: &Range<usize>, each: usize) -> Range<usize> {
    elements.start * each..elements.end * each
}

fn zeroed_indices(len: usize) -> Result<Vec<usize>, Error> {
    let mut indices = try_vec(len)?;
    indices.resize(len, 0);
    Ok(indices)
}
