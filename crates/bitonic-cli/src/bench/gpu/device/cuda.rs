//! Devices with a CUDA driver.

use super::{Arrays, MeasuredDevice, Run};
use crate::bench::gpu::contender::EngineMode;
use crate::bench::gpu::job::{Rows, VALUE_BYTES};
use crate::failure::Failure;
use bitonic::cuda::cudarc::driver::sys::{CUdeviceptr, CUevent_flags};
use bitonic::cuda::cudarc::driver::{
    CudaStream, DevicePtr, DevicePtrMut, DeviceSlice, DriverError, SyncOnDrop,
};
use bitonic::cuda::{Buffer, Device, DeviceChoice, ResidentSorter};
use bitonic::key::Bits;
use bitonic::{Engine, Error, Sorter};
use bitonic_lab::record::DeviceDescription;
use bitonic_ladder::{Place, Rung};
use bitonic_testkit::TestKey;
use std::cell::RefCell;
use std::marker::PhantomData;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

/// A device with a CUDA driver.
pub(in crate::bench::gpu) struct Cuda {
    device: Device,
    sorter: ResidentSorter,
    /// Memory that sorts work in, and memory that a copy before each goes to. Kept, since sorts of the same arrays with the
    /// same workspace are launched faster.
    workspace: RefCell<Option<Rc<Buffer>>>,
    spare: RefCell<Option<Rc<Buffer>>>,
}

impl Cuda {
    pub(in crate::bench::gpu) fn open(choice: &DeviceChoice) -> Result<Self, Error> {
        let device = Device::open(choice)?;
        let driver = &device.info().driver;
        if has_clock(driver) {
            let sorter = ResidentSorter::new(device.context())?;
            return Ok(Self { device, sorter, workspace: RefCell::default(), spare: RefCell::default() });
        }
        Err(Error::EngineUnavailable {
            engine: Engine::Cuda,
            reason: format!("the driver is one of CUDA {driver}, and measuring needs one of 12.8 or newer"),
            advice: "install a newer driver, or measure with --engine opencl".to_owned(),
        })
    }

    /// A kept buffer, made anew when it is too small.
    fn kept(&self, place: &RefCell<Option<Rc<Buffer>>>, bytes: usize) -> Result<Rc<Buffer>, Failure> {
        let mut place = place.borrow_mut();
        match &*place {
            Some(buffer) if buffer.bytes() >= bytes => Ok(buffer.clone()),
            _ => {
                // The old one goes first, so that there is room.
                *place = None;
                Ok(place.insert(Rc::new(self.device.allocate(bytes)?)).clone())
            }
        }
    }

    /// How many times the engine goes over the keys.
    fn launches<K: TestKey>(&self, mode: EngineMode, rows: Rows, has_values: bool) -> Result<usize, Failure> {
        let sorter = Sorter::new()
            .engine(Self::ENGINE)
            .device(DeviceChoice::Index(self.device.info().index))
            .oblivious(mode == EngineMode::Oblivious);
        let plan = match has_values {
            true => sorter.plan_pairs::<K, u32>(rows.len())?,
            false => sorter.plan_rows::<K>(rows.len(), rows.row_length)?,
        };
        Ok(plan.pass_count())
    }

    /// What the commands take that `queue` queues on the device's stream: from an event before them to one behind them, as
    /// anybody would measure it whose arrays are on the device. A copy of `busy` is still under mode when they are queued: what
    /// the host takes to queue them does not count, as in a program that keeps the device busy.
    fn measure(
        &self,
        busy: &Buffer,
        queue: impl FnOnce(&Arc<CudaStream>) -> Result<(), Failure>,
    ) -> Result<Duration, Failure> {
        let stream = self.device.stream();
        let record = || stream.record_event(Some(CUevent_flags::CU_EVENT_DEFAULT));
        let spare = self.kept(&self.spare, busy.bytes())?;
        let (from, mut to) = (self.array::<u8>(busy), self.array::<u8>(&spare));
        self.device.finish()?;
        stream.memcpy_dtod(&from, &mut to).map_err(|error| self.failure(error))?;
        let first = record().map_err(|error| self.failure(error))?;
        let queued = queue(stream);
        let last = record();
        // Also after an error: what was queued before it may still use the arrays.
        let finished = self.device.finish();
        queued?;
        finished?;
        let milliseconds = last.and_then(|last| first.elapsed_ms(&last));
        let milliseconds = milliseconds.map_err(|error| self.failure(error))?;
        Ok(Duration::from_secs_f64(f64::from(milliseconds.max(0.0)) / 1e3))
    }

    fn array<'a, T>(&'a self, buffer: &'a Buffer) -> Array<'a, T> {
        Array { buffer, stream: self.device.stream(), elements: PhantomData }
    }

    fn failure(&self, error: DriverError) -> Failure {
        Failure::new(format!("{}: the CUDA driver does not measure a time: {error}", self.device.info().name))
    }
}

impl MeasuredDevice for Cuda {
    type Buffer = Buffer;

    const ENGINE: Engine = Engine::Cuda;

    const MODES: &'static [EngineMode] = &[EngineMode::Default, EngineMode::Oblivious];

    const COPIES: bool = true;

    fn description(&self) -> DeviceDescription {
        DeviceDescription::of_cuda(&self.device)
    }

    fn ordinal(&self) -> usize {
        self.device.info().index
    }

    fn allocate(&self, bytes: usize) -> Result<Buffer, Failure> {
        Ok(self.device.allocate(bytes)?)
    }

    fn upload(&self, from: &[u8], to: &Buffer) -> Result<(), Failure> {
        self.device.upload(from, to)?;
        Ok(())
    }

    fn download(&self, from: &Buffer, to: &mut [u8]) -> Result<(), Failure> {
        self.device.download(from, to)?;
        Ok(())
    }

    fn copy(&self, from: &Buffer, to: &Buffer) -> Result<Duration, Failure> {
        let (from, mut to) = (self.array::<u8>(from), self.array::<u8>(to));
        if from.len() > to.len() {
            return Err(Failure::new(format!("{} bytes do not fit a buffer of {}", from.len(), to.len())));
        }
        let busy = from.buffer;
        self.measure(busy, |stream| stream.memcpy_dtod(&from, &mut to).map_err(|error| self.failure(error)))
    }

    fn sort<K: TestKey>(
        &self,
        mode: EngineMode,
        arrays: &Arrays<Buffer>,
        rows: Rows,
    ) -> Result<Run, Failure> {
        let (sorter, Rows { row_length, .. }) = (&self.sorter, rows);
        let mut keys = self.array::<K>(&arrays.keys);
        let size = match (mode, &arrays.values) {
            (EngineMode::Oblivious, _) => 0,
            (EngineMode::Default, None) => {
                sorter.workspace_size_rows::<K>(rows.len() / row_length.max(1), row_length)
            }
            (EngineMode::Default, Some(_)) => sorter.workspace_size_pairs::<K, u32>(rows.len())?,
        };
        let workspace = self.kept(&self.workspace, size)?;
        let mut workspace = self.array::<u8>(&workspace);
        let span = self.measure(&arrays.keys, |stream| {
            match (mode, &arrays.values) {
                (EngineMode::Oblivious, None) => sorter.sort_rows(stream, &mut keys, row_length),
                (EngineMode::Oblivious, Some(values)) => {
                    sorter.sort_pairs(stream, &mut keys, &mut self.array::<u32>(values))
                }
                (EngineMode::Default, None) => {
                    sorter.with_workspace(&mut workspace).sort_rows(stream, &mut keys, row_length)
                }
                (EngineMode::Default, Some(values)) => {
                    let mut values = self.array::<u32>(values);
                    sorter.with_workspace(&mut workspace).sort_pairs(stream, &mut keys, &mut values)
                }
            }
            .map_err(Failure::from)
        })?;
        let launches = self.launches::<K>(mode, rows, arrays.values.is_some())?;
        Ok(Run { span, launches })
    }

    fn has(rung: Rung) -> bool {
        rung.places().contains(&Place::Cuda)
    }

    fn sort_with_rung<B: Bits>(&self, rung: Rung, keys: &Buffer, len: usize) -> Result<Run, Failure> {
        let times = rung.sort_buffer::<B, _>(&self.device, keys, len).map_err(Failure::new)?;
        let launches = times.each.iter().map(|kernel| kernel.launches).sum();
        Ok(Run { span: times.span, launches })
    }
}

/// Whether a driver has the function that reads its events.
fn has_clock(driver: &str) -> bool {
    let mut numbers = driver.split('.').map_while(|number| number.parse::<u32>().ok());
    (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0)) >= (12, 8)
}

/// A buffer as an array of cudarc's. All that happens to it happens on the device's stream, one after the other, so that
/// nothing has to wait for anything.
struct Array<'a, T> {
    buffer: &'a Buffer,
    stream: &'a Arc<CudaStream>,
    elements: PhantomData<T>,
}

impl<T> DeviceSlice<T> for Array<'_, T> {
    fn len(&self) -> usize {
        self.buffer.bytes() / size_of::<T>()
    }

    fn stream(&self) -> &Arc<CudaStream> {
        self.stream
    }
}

impl<T> DevicePtr<T> for Array<'_, T> {
    fn device_ptr<'a>(&'a self, _: &'a CudaStream) -> (CUdeviceptr, SyncOnDrop<'a>) {
        (self.buffer.address(), SyncOnDrop::Sync(None))
    }
}

impl<T> DevicePtrMut<T> for Array<'_, T> {
    fn device_ptr_mut<'a>(&'a mut self, _: &'a CudaStream) -> (CUdeviceptr, SyncOnDrop<'a>) {
        (self.buffer.address(), SyncOnDrop::Sync(None))
    }
}

const _: () = assert!(size_of::<u32>() == VALUE_BYTES, "values are sorted as numbers of this type");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drivers_from_12_8_on_have_a_clock() {
        assert!(["12.8", "12.10", "13.0"].into_iter().all(has_clock));
        assert!(!["11.8", "12.7", "", "new"].into_iter().any(has_clock));
    }
}
