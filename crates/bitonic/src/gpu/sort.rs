//! Arrays in host memory: up, sorted, and down again when whole.

use super::backend::{Backend, Kernels, Transfer};
use super::copy::copy;
use super::launches::Job;
use super::layout::{Layout, Mapping};
use super::scratch::Memory;
use crate::cpu;
use crate::key::{Key, Order, as_bytes, as_bytes_mut};
use crate::report::DeviceTimes;
use crate::sorter::rows;
use crate::{Error, key};
use std::time::Duration;

/// Sorts every row of `row_length` keys. The keys are as they were, or all sorted, if anything fails.
pub(crate) fn sort_rows<K: Key, D: Backend>(
    device: &D,
    keys: &mut [K],
    row_length: usize,
    order: Order,
) -> Result<DeviceTimes, Error> {
    let job = Job {
        layout: Layout::keys::<K>(),
        mapping: Mapping::new::<K>(order),
        row_length,
        rows: keys.len().checked_div(row_length).unwrap_or(0),
    };
    let mut work = Work::start(device, job, as_bytes(keys), None)?;
    if device.shares_host_memory() && !K::TYPE.has_invalid_bits() {
        work.fetch_in_place(as_bytes_mut(keys))?;
    } else {
        let landed = work.fetch_keys::<K>()?;
        copy(&landed, as_bytes_mut(keys));
        device.landing().give(landed);
    }
    Ok(work.times)
}

/// Sorts keys and moves every value with its key. Both are as they were if anything fails.
pub(crate) fn sort_pairs<K: Key, V: Copy, D: Backend>(
    device: &D,
    keys: &mut [K],
    values: &mut [V],
    stable: bool,
    order: Order,
) -> Result<DeviceTimes, Error> {
    match Layout::carrying::<K, V>(stable) {
        Some(layout) => sort_with_values(device, keys, values, layout, order),
        None => sort_by_index(device, keys, values, order),
    }
}

/// Sorts every row of `row_length` keys among the first `len` keys of a buffer, and waits.
pub(crate) fn sort_buffer<K: Key, D: Backend>(
    device: &D,
    keys: &D::Buffer,
    len: usize,
    row_length: usize,
    order: Order,
) -> Result<Kernels, Error> {
    let rows = rows(len, row_length)?;
    let needed = len.saturating_mul(size_of::<K>());
    if keys.bytes() < needed {
        let reason = format!("{needed} bytes are to be sorted, but the buffer has {}", keys.bytes());
        return Err(Error::Device { device: device.name().to_owned(), operation: "sort the buffer", reason });
    }
    let job = Job { layout: Layout::keys::<K>(), mapping: Mapping::new::<K>(order), row_length, rows };
    device.run(&job, device.shape(&job), keys, None)
}

/// The values travel with the keys.
fn sort_with_values<K: Key, V: Copy, D: Backend>(
    device: &D,
    keys: &mut [K],
    values: &mut [V],
    layout: Layout,
    order: Order,
) -> Result<DeviceTimes, Error> {
    // SAFETY: V is a plain number, all of whose bytes are initialised, and any bytes are a V.
    let value_bytes =
        unsafe { std::slice::from_raw_parts_mut(values.as_mut_ptr().cast::<u8>(), size_of_val(values)) };
    let mapping = Mapping::new::<K>(order);
    let job = Job { layout, mapping, row_length: keys.len(), rows: 1 };
    let mut work = Work::start(device, job, as_bytes(keys), Some(value_bytes))?;
    let landed_keys = work.fetch_keys::<K>()?;
    let landed_values = work.fetch_values()?;
    copy(&landed_keys, as_bytes_mut(keys));
    copy(&landed_values, value_bytes);
    device.landing().give(landed_keys);
    device.landing().give(landed_values);
    Ok(work.times)
}

/// The values of other types, and of stable sorts, are put in order here, by the index of each key.
fn sort_by_index<K: Key, V: Copy, D: Backend>(
    device: &D,
    keys: &mut [K],
    values: &mut [V],
    order: Order,
) -> Result<DeviceTimes, Error> {
    let layout = Layout::indexed::<K>(keys.len());
    let job = Job { layout, mapping: Mapping::new::<K>(order), row_length: keys.len(), rows: 1 };
    let mut work = Work::start(device, job, as_bytes(keys), None)?;
    let landed_keys = work.fetch_keys::<K>()?;
    let indices = work.fetch_values()?;
    if read_indices(&indices, layout).any(|index| index >= keys.len()) {
        return Err(work.wrong_result());
    }
    cpu::gather(values, read_indices(&indices, layout))?;
    copy(&landed_keys, as_bytes_mut(keys));
    device.landing().give(landed_keys);
    device.landing().give(indices);
    Ok(work.times)
}

/// The index of every key in sorted order; equal keys by index.
pub(crate) fn argsort<K: Key, D: Backend>(device: &D, keys: &[K], order: Order) -> Result<Vec<usize>, Error> {
    let layout = Layout::indexed::<K>(keys.len());
    let job = Job { layout, mapping: Mapping::new::<K>(order), row_length: keys.len(), rows: 1 };
    let mut work = Work::start(device, job, as_bytes(keys), None)?;
    let indices = work.fetch_values()?;
    let mut result = Vec::new();
    let bytes = keys.len().saturating_mul(size_of::<usize>());
    result.try_reserve_exact(keys.len()).map_err(|_| Error::OutOfMemory { bytes })?;
    result.extend(read_indices(&indices, layout));
    device.landing().give(indices);
    Ok(result)
}

/// The indices of a job with this layout.
pub(super) fn read_indices(bytes: &[u8], layout: Layout) -> impl Iterator<Item = usize> {
    bytes.chunks_exact(layout.value_bytes()).map(|bytes| {
        let mut word = [0; 8];
        word[..bytes.len()].copy_from_slice(bytes);
        u64::from_le_bytes(word) as usize
    })
}

/// A job under way: its arrays on the device, and what it has taken so far.
pub(super) struct Work<'a, D: Backend> {
    device: &'a D,
    keys: Option<D::Buffer>,
    values: Option<D::Buffer>,
    bytes: (usize, usize),
    pub(super) times: DeviceTimes,
}

impl<'a, D: Backend> Work<'a, D> {
    /// Uploads the arrays, sorts, and waits until that has worked.
    pub(super) fn start(device: &'a D, job: Job, keys: &[u8], values: Option<&[u8]>) -> Result<Self, Error> {
        let count = job.row_length * job.rows;
        let (key_bytes, value_bytes) = (keys.len(), count * job.layout.value_bytes());
        let key_buffer = device.take_buffer(key_bytes)?;
        let value_buffer = if value_bytes > 0 { Some(device.take_buffer(value_bytes)?) } else { None };
        let mut up = device.upload(keys, &key_buffer)?;
        if let (Some(values), Some(buffer)) = (values, &value_buffer) {
            up = sum(up, device.upload(values, buffer)?);
        }
        let kernels = device.run(&job, device.shape(&job), &key_buffer, value_buffer.as_ref())?;
        let pass_bytes = 2 * (count * job.layout.stored_bytes()) as u64;
        let times = DeviceTimes {
            upload: up.elapsed,
            uploaded_bytes: up.bytes as u64,
            kernels: kernels.span,
            launches: kernels.launches,
            kernel_bytes: kernels.passes as u64 * pass_bytes,
            download: Duration::ZERO,
            downloaded_bytes: 0,
            copy_bytes_per_second: device.copy_bandwidth(),
            chunks: 1,
            merge: Duration::ZERO,
        };
        Ok(Self {
            device,
            keys: Some(key_buffer),
            values: value_buffer,
            bytes: (key_bytes, value_bytes),
            times,
        })
    }

    /// Downloads the keys to where they came from, if the host can see the device's memory: then mapping is what can fail, and
    /// the copy after it cannot.
    fn fetch_in_place(&mut self, to: &mut [u8]) -> Result<(), Error> {
        if let Some(buffer) = &self.keys {
            let down = self.device.download(buffer, to)?;
            self.note(down);
        }
        Ok(())
    }

    /// The keys' bytes, which are keys of this type: a device that went wrong must not make others of them.
    fn fetch_keys<K: Key>(&mut self) -> Result<Vec<u8>, Error> {
        let buffer = self.keys.take();
        let landed = self.fetch(buffer, self.bytes.0)?;
        if key::are_valid::<K>(&landed) { Ok(landed) } else { Err(self.wrong_result()) }
    }

    /// The same, to memory of the caller's own.
    pub(super) fn land_keys<K: Key>(&mut self, to: &mut [u8]) -> Result<(), Error> {
        let buffer = self.keys.take();
        self.land(buffer, to)?;
        if key::are_valid::<K>(to) { Ok(()) } else { Err(self.wrong_result()) }
    }

    /// The error for a result that no sort can have.
    pub(super) fn wrong_result(&self) -> Error {
        let reason = "what came back is not what was sent: its driver or its memory is faulty".to_owned();
        Error::Device { device: self.device.name().to_owned(), operation: "sort", reason }
    }

    pub(super) fn fetch_values(&mut self) -> Result<Vec<u8>, Error> {
        let buffer = self.values.take();
        self.fetch(buffer, self.bytes.1)
    }

    /// The values' bytes, to memory of the caller's own.
    pub(super) fn land_values(&mut self, to: &mut [u8]) -> Result<(), Error> {
        let buffer = self.values.take();
        self.land(buffer, to)
    }

    fn fetch(&mut self, buffer: Option<D::Buffer>, bytes: usize) -> Result<Vec<u8>, Error> {
        let mut landed = self.device.landing().take(bytes)?;
        self.land(buffer, &mut landed)?;
        Ok(landed)
    }

    fn land(&mut self, buffer: Option<D::Buffer>, to: &mut [u8]) -> Result<(), Error> {
        if let Some(buffer) = buffer {
            let down = self.device.download(&buffer, to)?;
            self.note(down);
            self.device.give_buffer(buffer);
        }
        Ok(())
    }

    fn note(&mut self, down: Transfer) {
        self.times.download += down.elapsed;
        self.times.downloaded_bytes += down.bytes as u64;
    }
}

/// Buffers go back to be used again.
impl<D: Backend> Drop for Work<'_, D> {
    fn drop(&mut self) {
        for buffer in [self.keys.take(), self.values.take()].into_iter().flatten() {
            self.device.give_buffer(buffer);
        }
    }
}

fn sum(one: Transfer, other: Transfer) -> Transfer {
    Transfer { elapsed: one.elapsed + other.elapsed, bytes: one.bytes + other.bytes }
}
