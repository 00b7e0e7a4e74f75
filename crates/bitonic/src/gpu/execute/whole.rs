//! Arrays that fit the device: up, sorted, and down again when whole.

use super::arrays::{HostArrays, HostData, are_indices, bounds, indices, numbers, write_indices};
use super::check::Check;
use super::loaded::{give, take};
use super::resident::{Buffers, sort_buffers};
use super::wrong_result;
use crate::Error;
use crate::cpu::Bounds;
use crate::gpu::driver::{Driver, Transfer};
use crate::gpu::job::Job;
use crate::gpu::memory::{Kept, Role, Shown, Words, copy};
use crate::plan::KernelPlan;
use crate::report::DeviceTimes;
use crate::request::Request;
use std::ops::Range;
use std::sync::Arc;

/// Sorts all arrays in one go. They are as they were if anything fails.
pub(super) fn sort<D: Driver>(
    device: &D,
    request: &Request,
    job: &Job,
    plan: &Arc<KernelPlan>,
    HostData { arrays, offsets }: &mut HostData<'_>,
) -> Result<(Arc<KernelPlan>, DeviceTimes), Error> {
    let sorter = WholeSorter { device, request, job, plan, offsets: *offsets };
    match arrays {
        HostArrays::Keys(keys) => sorter.sort_in_place(keys, None),
        HostArrays::Pairs { keys, values } => sorter.sort_in_place(keys, Some(values)),
        HostArrays::Gathered { keys, values } => {
            let landed = sorter.sort(keys)?;
            // What is asked for is asked for before anything is moved.
            let places = landed.sorted.places(landed.values.bytes(), job, *offsets, 0)?;
            let gathered = values.reserve()?;
            values.reborrow().write(gathered, places);
            copy(landed.keys.bytes(), keys, Shown::Nothing);
            Ok(landed.done())
        }
        HostArrays::Indices { keys, indices } => {
            let landed = sorter.sort(keys)?;
            if !write_indices(landed.values.bytes(), job, *offsets, indices) {
                return Err(landed.sorted.no_index());
            }
            Ok(landed.done())
        }
        HostArrays::Best { keys, k, best, indices } => {
            let landed = sorter.sort(keys)?;
            let (found_keys, found) = (landed.keys.bytes(), landed.values.bytes());
            let rows = BestOfRows::new(job, *k, *offsets);
            // Where all have landed, sums have told that each key has its index. Looking it up would show where it was.
            let are_right = match job.best {
                Some(_) => rows.are_the_keys(found_keys, found, keys),
                None => are_indices(found, job, *offsets),
            };
            if !are_right {
                return Err(landed.sorted.no_index());
            }
            rows.write(found_keys, found, best, indices);
            Ok(landed.done())
        }
    }
}

/// A sort in one go.
struct WholeSorter<'a, D> {
    device: &'a D,
    request: &'a Request,
    job: &'a Job,
    plan: &'a Arc<KernelPlan>,
    /// Where segments of different lengths begin and end.
    offsets: Option<&'a [usize]>,
}

/// What has landed in memory of our own, and was checked.
struct Landed<'a, D: Driver> {
    sorted: OnDevice<'a, D>,
    keys: Words,
    /// Values or indices.
    values: Words,
}

impl<'a, D: Driver> WholeSorter<'a, D> {
    /// Sorts keys to memory of our own.
    fn sort(&self, keys: &[u8]) -> Result<Landed<'a, D>, Error> {
        let mut sorted = self.sorted(Sent { offsets: self.offsets, ..Sent::keys(keys) })?;
        let [mut keys, mut values] = self.memory()?;
        sorted.land(keys.bytes_mut(), values.bytes_mut())?;
        Ok(Landed { sorted, keys, values })
    }

    /// Sorts arrays whose sorted elements take their place.
    ///
    /// The arrays are copied while they are sent, and results land in them at once: the copy costs little while the bus is busy.
    /// One of results that have landed elsewhere would come last, when there is nothing else to do. If anything fails, the
    /// copies are put back.
    fn sort_in_place(
        &self,
        keys: &mut [u8],
        values: Option<&mut [u8]>,
    ) -> Result<(Arc<KernelPlan>, DeviceTimes), Error> {
        let [mut old_keys, mut old_values] = self.memory()?;
        let kept = [Kept::new(old_keys.bytes_mut()), Kept::new(old_values.bytes_mut())];
        let mut sorted =
            self.sorted(Sent { keys, values: values.as_deref(), offsets: self.offsets, kept })?;
        let values = values.unwrap_or_default();
        if let Err(error) = sorted.land(keys, values) {
            copy(old_keys.bytes(), keys, Shown::Nothing);
            copy(old_values.bytes(), values, Shown::Nothing);
            return Err(error);
        }
        Ok(Landed { sorted, keys: old_keys, values: old_values }.done())
    }

    fn sorted(&self, sent: Sent<'_, 'a>) -> Result<OnDevice<'a, D>, Error> {
        OnDevice::sort(self.device, self.request, self.job, self.plan, sent)
    }

    /// Memory for keys and values.
    fn memory(&self) -> Result<[Words; 2], Error> {
        let (landing, (key_bytes, value_bytes)) = (self.device.state().landing(), self.job.array_bytes());
        Ok([landing.take(key_bytes)?, landing.take(value_bytes)?])
    }
}

impl<D: Driver> Landed<'_, D> {
    /// Gives the memory back. What ran, and what it took.
    fn done(self) -> (Arc<KernelPlan>, DeviceTimes) {
        let landing = self.sorted.device.state().landing();
        landing.give(self.keys);
        landing.give(self.values);
        self.sorted.done()
    }
}

/// Where the best elements of every row are that have landed.
struct BestOfRows<'a> {
    job: &'a Job,
    rows: Bounds<'a>,
    /// How many places each row has: for those that kernels looked for, or for all.
    places: usize,
    /// How many are asked for.
    k: usize,
}

impl<'a> BestOfRows<'a> {
    fn new(job: &'a Job, k: usize, offsets: Option<&'a [usize]>) -> Self {
        Self { job, rows: bounds(job, offsets), places: job.best.unwrap_or(job.row_length), k }
    }

    /// Every row in the array of keys, and the places of its best: fewer than there could be, where the row has fewer elements.
    fn each(&self) -> impl Iterator<Item = (Range<usize>, Range<usize>)> + '_ {
        let first = self.rows.covered().start;
        (0..self.rows.count()).map(move |number| {
            let row = self.rows.range(number);
            let start = number * self.places;
            (row.start - first..row.end - first, start..start + self.k.min(row.len()))
        })
    }

    /// Whether they are what their indices say.
    fn are_the_keys(&self, best: &[u8], indices: &[u8], keys: &[u8]) -> bool {
        let element = self.job.element;
        let of = |place: usize| in_bytes(&(place..place + 1), element.key_bytes());
        self.each().all(|(row, places)| {
            let found = numbers(&indices[in_bytes(&places, element.value_bytes())], element);
            places
                .zip(found)
                .all(|(place, index)| index < row.len() && best[of(place)] == keys[of(row.start + index)])
        })
    }

    /// Writes those of all rows one after the other.
    fn write(&self, landed: &[u8], landed_indices: &[u8], best: &mut [u8], indices: &mut [usize]) {
        let element = self.job.element;
        let mut written = 0;
        for (_, places) in self.each() {
            let end = written + places.len();
            best[in_bytes(&(written..end), element.key_bytes())]
                .copy_from_slice(&landed[in_bytes(&places, element.key_bytes())]);
            let found = numbers(&landed_indices[in_bytes(&places, element.value_bytes())], element);
            indices[written..end].iter_mut().zip(found).for_each(|(to, index)| *to = index);
            written = end;
        }
    }
}

/// The bytes of elements that have so many each.
fn in_bytes(places: &Range<usize>, each: usize) -> Range<usize> {
    places.start * each..places.end * each
}

/// What goes to a device.
pub(super) struct Sent<'k, 'o> {
    pub(super) keys: &'k [u8],
    pub(super) values: Option<&'k [u8]>,
    /// Where segments of different lengths begin and end.
    pub(super) offsets: Option<&'o [usize]>,
    /// Where keys and values are copied meanwhile, if they are.
    pub(super) kept: [Kept<'k>; 2],
}

impl<'k> Sent<'k, '_> {
    /// Keys, which are in rows, and copied nowhere else.
    pub(super) fn keys(keys: &'k [u8]) -> Self {
        Self { keys, values: None, offsets: None, kept: [Kept::new(&mut []), Kept::new(&mut [])] }
    }
}

/// A job whose arrays are sorted and still on the device, and what that has taken so far.
pub(super) struct OnDevice<'a, D: Driver> {
    device: &'a D,
    keys: Option<D::Buffer>,
    values: Option<D::Buffer>,
    input: Option<D::Buffer>,
    offsets: Option<D::Buffer>,
    plan: Arc<KernelPlan>,
    times: DeviceTimes,
    check: Check<'a>,
}

impl<'a, D: Driver> OnDevice<'a, D> {
    /// Uploads the arrays, sorts, and waits until that has worked.
    pub(super) fn sort(
        device: &'a D,
        request: &Request,
        job: &Job,
        plan: &Arc<KernelPlan>,
        Sent { keys, values, offsets, kept: [kept_keys, kept_values] }: Sent<'_, 'a>,
    ) -> Result<Self, Error> {
        let bytes = job.array_bytes();
        let mut this = Self {
            device,
            keys: None,
            values: None,
            input: None,
            offsets: None,
            plan: plan.clone(),
            times: DeviceTimes { chunks: 1, ..DeviceTimes::default() },
            check: Check::new(request, job, offsets),
        };
        let check = &this.check;
        let key_buffer = this.keys.insert(take(device, Role::Keys, bytes.0)?);
        if bytes.1 > 0 || job.best.is_some() {
            this.values = Some(take(device, Role::Values, bytes.1)?);
        }
        if job.best.is_some() {
            this.input = Some(take(device, Role::Input, job.input_bytes())?);
        }
        let mut up = match (values, &this.values) {
            (Some(values), Some(buffer)) => {
                let look = |offset, block: &[u8]| kept_keys.keep(offset, block);
                let up = device.upload_shown(keys, key_buffer, &look)?;
                let look = |offset, block: &[u8]| {
                    check.sent_values(keys, offset, block);
                    kept_values.keep(offset, block);
                };
                let more = device.upload_shown(values, buffer, &look)?;
                Transfer { elapsed: up.elapsed + more.elapsed, bytes: up.bytes + more.bytes }
            }
            _ => match &this.input {
                Some(input) => device.upload(keys, input)?,
                None => {
                    let look = |offset, block: &[u8]| {
                        check.sent_keys(offset, block);
                        kept_keys.keep(offset, block);
                    };
                    device.upload_shown(keys, key_buffer, &look)?
                }
            },
        };
        if let (Some(ragged), Some(offsets)) = (job.ragged, offsets) {
            let buffer = this.offsets.insert(take(device, Role::Offsets, job.offset_bytes())?);
            let more = device.upload(&ragged.table(offsets)?, buffer)?;
            up = Transfer { elapsed: up.elapsed + more.elapsed, bytes: up.bytes + more.bytes };
        }
        let buffers = Buffers {
            keys: key_buffer,
            values: this.values.as_ref(),
            input: this.input.as_ref(),
            offsets: this.offsets.as_ref(),
        };
        let kernels = sort_buffers(device, job, plan, buffers)?;
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

    /// Fetches all arrays, and checks them; the values have no bytes if there are none.
    pub(super) fn land(&mut self, keys: &mut [u8], values: &mut [u8]) -> Result<(), Error> {
        let (key_buffer, value_buffer) = (self.keys.take(), self.values.take());
        let Some(key_buffer) = key_buffer else { return Ok(()) };
        let (device, check) = (self.device, &self.check);
        let down = match value_buffer {
            None => {
                device.download_shown(&key_buffer, keys, &|offset, block| check.landed_keys(offset, block))?
            }
            Some(buffer) => {
                let down = device.download(&key_buffer, keys)?;
                let look = |offset, block: &[u8]| check.landed_values(keys, offset, block);
                let more = device.download_shown(&buffer, values, &look)?;
                give(device, Role::Values, buffer);
                Transfer { elapsed: down.elapsed + more.elapsed, bytes: down.bytes + more.bytes }
            }
        };
        give(device, Role::Keys, key_buffer);
        self.times.download = down.elapsed;
        self.times.downloaded_bytes = down.bytes as u64;
        match self.check.finding(keys, values) {
            None => Ok(()),
            Some(finding) => Err(wrong_result(device, &self.plan, finding)),
        }
    }

    /// The indices that have landed, counted from the start of an array whose element number `start` is the first one here.
    pub(super) fn places<'b>(
        &self,
        landed: &'b [u8],
        job: &'b Job,
        offsets: Option<&'b [usize]>,
        start: usize,
    ) -> Result<impl Iterator<Item = usize> + 'b, Error> {
        // Whatever the sums say: memory is read at these places.
        indices(landed, job, offsets, start).ok_or_else(|| self.no_index())
    }

    /// The error for indices that are none of their row.
    fn no_index(&self) -> Error {
        wrong_result(self.device, &self.plan, "an index is none of its row")
    }
}

/// Buffers go back to be used again.
impl<D: Driver> Drop for OnDevice<'_, D> {
    fn drop(&mut self) {
        let buffers = [
            (Role::Keys, self.keys.take()),
            (Role::Values, self.values.take()),
            (Role::Input, self.input.take()),
            (Role::Offsets, self.offsets.take()),
        ];
        for (role, buffer) in buffers {
            if let Some(buffer) = buffer {
                give(self.device, role, buffer);
            }
        }
    }
}
