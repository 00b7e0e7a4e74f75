//! Devices with an OpenCL driver.

use super::{Arrays, Ground, Run};
use crate::bench::gpu::contender::Way;
use crate::bench::gpu::job::Rows;
use crate::bench::gpu::machine::Machine;
use crate::failure::Failure;
use bitonic::key::Bits;
use bitonic::opencl::{Buffer, Device, DeviceChoice};
use bitonic::{Engine, Error, Order};
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

impl Ground for OpenCl {
    type Buffer = Buffer;

    const ENGINE: Engine = Engine::OpenCl;

    // The network is all that this engine has.
    const WAYS: &'static [Way] = &[Way::Default];

    const COPIES: bool = false;

    fn machine(&self) -> Machine {
        let info = self.device.info();
        Machine {
            engine: Self::ENGINE,
            device: info.name.clone(),
            kind: info.kind.to_string(),
            platform: info.platform.clone(),
            driver: info.driver.clone(),
            interface: info.version.clone(),
            compute_units: info.compute_units,
            copy_bytes_per_second: self.device.copy_bandwidth().ok(),
            ..Machine::of_this_program()
        }
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

    fn sort<K: TestKey>(&self, _: Way, arrays: &Arrays<Buffer>, rows: Rows) -> Result<Run, Failure> {
        let order = Order::Ascending;
        let segments = bitonic::Segments::rows(rows.len(), rows.row_length)?;
        let request = bitonic::Request { order, ..bitonic::Request::keys::<K>(segments) };
        let kernels = bitonic::device::sort_resident(&self.device, &request, &arrays.keys, None)?;
        Ok(Run::new(kernels.span, kernels.plan.launches.len()))
    }

    fn has(rung: Rung) -> bool {
        rung.places().contains(&Place::OpenCl)
    }

    fn sort_with_rung<B: Bits>(&self, rung: Rung, keys: &Buffer, len: usize) -> Result<Run, Failure> {
        let times = rung.sort_buffer::<B, _>(&self.device, keys, len).map_err(Failure::new)?;
        Ok(Run::new(times.span, times.each.iter().map(|kernel| kernel.launches).sum()))
    }
}
