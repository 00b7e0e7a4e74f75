//! Devices with an OpenCL driver.

use super::{Arrays, MeasuredDevice, Run};
use crate::bench::gpu::contender::EngineMode;
use crate::bench::gpu::job::Rows;
use crate::failure::Failure;
use bitonic::key::Bits;
use bitonic::opencl::{Buffer, Device, DeviceChoice};
use bitonic::{Engine, Error, Order};
use bitonic_lab::record::DeviceDescription;
use bitonic_ladder::{Place, Rung};
use bitonic_testkit::TestKey;
use std::time::Duration;

/// A device with an OpenCL driver.
pub(in crate::bench::gpu) struct OpenCl {
    device: Device,
}

impl OpenCl {
    pub(in crate::bench::gpu) fn open(choice: &DeviceChoice) -> Result<Self, Error> {
        Ok(Self { device: Device::open(choice)? })
    }
}

impl MeasuredDevice for OpenCl {
    type Buffer = Buffer;

    const ENGINE: Engine = Engine::OpenCl;

    // The network is all that this engine has.
    const MODES: &'static [EngineMode] = &[EngineMode::Default];

    const COPIES: bool = false;

    fn description(&self) -> DeviceDescription {
        DeviceDescription::of_opencl(&self.device)
    }

    // OpenCL does not tell which of CUDA's devices it is.
    fn ordinal(&self) -> usize {
        0
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

    fn copy(&self, _: &Buffer, _: &Buffer) -> Result<Duration, Failure> {
        Err(Failure::new("copies from buffer to buffer are not measured with the opencl engine"))
    }

    fn sort<K: TestKey>(&self, _: EngineMode, arrays: &Arrays<Buffer>, rows: Rows) -> Result<Run, Failure> {
        let order = Order::Ascending;
        let kernels = self.device.sort_buffer::<K>(&arrays.keys, rows.len(), rows.row_length, order)?;
        Ok(Run { span: kernels.span, launches: kernels.launches })
    }

    fn has(rung: Rung) -> bool {
        rung.places().contains(&Place::OpenCl)
    }

    fn sort_with_rung<B: Bits>(&self, rung: Rung, keys: &Buffer, len: usize) -> Result<Run, Failure> {
        let times = rung.sort_buffer::<B, _>(&self.device, keys, len).map_err(Failure::new)?;
        let launches = times.each.iter().map(|kernel| kernel.launches).sum();
        Ok(Run { span: times.span, launches })
    }
}
