//! Arrays that fit the device: up, sorted, and down again when whole.

use super::arrays::{HostArrays, indices, numbers};
use super::loaded::{give, take};
use super::resident::{select_buffers, sort_buffers};
use super::wrong_result;
use crate::Error;
use crate::gpu::driver::{Driver, Transfer};
use crate::gpu::job::Job;
use crate::gpu::memory::{Role, copy};
use crate::key::{self, KeyType};
use crate::plan::KernelPlan;
use crate::report::DeviceTimes;
use crate::request::Request;
use std::sync::Arc;

/// Sorts all arrays in one go. They are as they were if anything fails.
pub(super) fn sort<D: Driver>(
    device: &D,
    request: &Request,
    job: &Job,
    plan: &Arc<KernelPlan>,
    arrays: &mut HostArrays<'_>,
) -> Result<(Arc<KernelPlan>, DeviceTimes), Error> {
    let key = request.key;
    let ran = match arrays {
        HostArrays::Keys(keys) => {
            let mut sorted = OnDevice::sort(device, job, plan, keys, None)?;
            if device.facts().shares_host_memory && !key.has_invalid_bits() {
                // Mapping is what can fail, and the copy after it cannot.
                sorted.download_keys(keys)?;
            } else {
                let landed = sorted.fetch_keys(key)?;
                copy(&landed, keys);
                device.state().landing().give(landed);
            }
            sorted.done()
        }
        HostArrays::Pairs { keys, values } => {
            let mut sorted = OnDevice::sort(device, job, plan, keys, Some(values))?;
            let landed_keys = sorted.fetch_keys(key)?;
            let landed_values = sorted.fetch_values()?;
            copy(&landed_keys, keys);
            copy(&landed_values, values);
            device.state().landing().give(landed_keys);
            device.state().landing().give(landed_values);
            sorted.done()
        }
        HostArrays::Gathered { keys, values } => {
            let mut sorted = OnDevice::sort(device, job, plan, keys, None)?;
            let landed_keys = sorted.fetch_keys(key)?;
            let landed_indices = sorted.fetch_values()?;
            let places = indices(&landed_indices, job, 0).ok_or_else(|| wrong_result(device))?;
            let gathered = values.reserve()?;
            values.reborrow().write(gathered, places);
            copy(&landed_keys, keys);
            device.state().landing().give(landed_keys);
            device.state().landing().give(landed_indices);
            sorted.done()
        }
        HostArrays::Indices { keys, indices: result } => {
            let mut sorted = OnDevice::sort(device, job, plan, keys, None)?;
            let landed = sorted.fetch_values()?;
            let places = indices(&landed, job, 0).ok_or_else(|| wrong_result(device))?;
            for (place, index) in result.iter_mut().zip(places) {
                *place = index % job.row_length;
            }
            device.state().landing().give(landed);
            sorted.done()
        }
        HostArrays::Best { keys, best, indices } => {
            let mut found = OnDevice::sort(device, job, plan, keys, None)?;
            let landed_keys = found.fetch_keys(key)?;
            let landed_indices = found.fetch_values()?;
            if !are_the_keys(&landed_keys, &landed_indices, keys, job) {
                return Err(wrong_result(device));
            }
            best.copy_from_slice(&landed_keys);
            indices.iter_mut().zip(numbers(&landed_indices, job.element)).for_each(|(to, index)| *to = index);
            device.state().landing().give(landed_keys);
            device.state().landing().give(landed_indices);
            found.done()
        }
    };
    Ok(ran)
}

/// Whether the best elements of every row are what their indices say.
fn are_the_keys(best: &[u8], indices: &[u8], keys: &[u8], job: &Job) -> bool {
    let (bytes, of_row) = (job.element.key_bytes(), job.best.unwrap_or(job.row_length).max(1));
    let mut found = best.chunks_exact(bytes).zip(numbers(indices, job.element)).enumerate();
    found.all(|(number, (key, index))| {
        let at = (number / of_row * job.row_length + index) * bytes;
        index < job.row_length && keys.get(at..at + bytes) == Some(key)
    })
}

/// A job whose arrays are sorted and still on the device, and what that has taken so far.
pub(super) struct OnDevice<'a, D: Driver> {
    device: &'a D,
    keys: Option<D::Buffer>,
    values: Option<D::Buffer>,
    input: Option<D::Buffer>,
    bytes: (usize, usize),
    plan: Arc<KernelPlan>,
    times: DeviceTimes,
}

impl<'a, D: Driver> OnDevice<'a, D> {
    /// Uploads the arrays, sorts, and waits until that has worked.
    pub(super) fn sort(
        device: &'a D,
        job: &Job,
        plan: &Arc<KernelPlan>,
        keys: &[u8],
        values: Option<&[u8]>,
    ) -> Result<Self, Error> {
        let bytes = job.array_bytes();
        let mut this = Self {
            device,
            keys: None,
            values: None,
            input: None,
            bytes,
            plan: plan.clone(),
            times: DeviceTimes { chunks: 1, ..DeviceTimes::default() },
        };
        let key_buffer = this.keys.insert(take(device, Role::Keys, bytes.0)?);
        if bytes.1 > 0 || job.best.is_some() {
            this.values = Some(take(device, Role::Values, bytes.1)?);
        }
        if job.best.is_some() {
            this.input = Some(take(device, Role::Input, job.input_bytes())?);
        }
        let mut up = device.upload(keys, this.input.as_ref().unwrap_or(key_buffer))?;
        if let (Some(values), Some(buffer)) = (values, &this.values) {
            let more = device.upload(values, buffer)?;
            up = Transfer { elapsed: up.elapsed + more.elapsed, bytes: up.bytes + more.bytes };
        }
        let kernels = match (&this.input, &this.values) {
            (Some(input), Some(values)) => select_buffers(device, job, plan, input, key_buffer, values)?,
            (_, values) => sort_buffers(device, job, plan, key_buffer, values.as_ref())?,
        };
        this.times.upload = up.elapsed;
        this.times.uploaded_bytes = up.bytes as u64;
        this.times.kernels = kernels.span;
        this.times.launches = kernels.plan.launches.len();
        this.times.kernel_bytes = kernels.plan.passes() as u64 * 2 * job.stored_bytes() as u64;
        this.plan = kernels.plan;
        Ok(this)
    }

    /// What ran, and what it took.
    pub(super) fn done(mut self) -> (Arc<KernelPlan>, DeviceTimes) {
        (self.plan.clone(), std::mem::take(&mut self.times))
    }

    /// The keys' bytes, straight to where they came from.
    fn download_keys(&mut self, to: &mut [u8]) -> Result<(), Error> {
        let buffer = self.keys.take();
        self.land(Role::Keys, buffer, to)
    }

    /// The keys' bytes, which are keys of this type: a device that went wrong must not make others of them.
    fn fetch_keys(&mut self, key: KeyType) -> Result<Vec<u8>, Error> {
        let mut landed = self.device.state().landing().take(self.bytes.0)?;
        self.land_keys(key, &mut landed)?;
        Ok(landed)
    }

    /// The same, to memory that the caller has.
    pub(super) fn land_keys(&mut self, key: KeyType, to: &mut [u8]) -> Result<(), Error> {
        let buffer = self.keys.take();
        self.land(Role::Keys, buffer, to)?;
        if key::are_valid(key, to) { Ok(()) } else { Err(wrong_result(self.device)) }
    }

    pub(super) fn fetch_values(&mut self) -> Result<Vec<u8>, Error> {
        let mut landed = self.device.state().landing().take(self.bytes.1)?;
        self.land_values(&mut landed)?;
        Ok(landed)
    }

    /// The values' bytes, to memory that the caller has.
    pub(super) fn land_values(&mut self, to: &mut [u8]) -> Result<(), Error> {
        let buffer = self.values.take();
        self.land(Role::Values, buffer, to)
    }

    fn land(&mut self, role: Role, buffer: Option<D::Buffer>, to: &mut [u8]) -> Result<(), Error> {
        if let Some(buffer) = buffer {
            let down = self.device.download(&buffer, to)?;
            self.times.download += down.elapsed;
            self.times.downloaded_bytes += down.bytes as u64;
            give(self.device, role, buffer);
        }
        Ok(())
    }
}

/// Buffers go back to be used again.
impl<D: Driver> Drop for OnDevice<'_, D> {
    fn drop(&mut self) {
        let buffers = [
            (Role::Keys, self.keys.take()),
            (Role::Values, self.values.take()),
            (Role::Input, self.input.take()),
        ];
        for (role, buffer) in buffers {
            if let Some(buffer) = buffer {
                give(self.device, role, buffer);
            }
        }
    }
}
