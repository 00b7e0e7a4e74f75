//! A device of whichever engine was chosen.

use super::chunking::Chunking;
use super::{chunks, cuda, opencl, planning};
use crate::key::{Key, Order};
use crate::plan::Plan;
use crate::report::DeviceTimes;
use crate::{Engine, Error};

/// A device of one of the engines that have devices. Its methods are those of the engine, whichever it is.
pub(crate) enum ChosenDevice {
    OpenCl(opencl::Device),
    Cuda(cuda::Device),
}

/// The same expression for the device of every engine.
macro_rules! on_device {
    ($chosen:expr, $device:ident => $result:expr) => {
        match $chosen {
            ChosenDevice::OpenCl($device) => $result,
            ChosenDevice::Cuda($device) => $result,
        }
    };
}

impl ChosenDevice {
    /// Opens a device of the engine; `None` for engines that have none.
    pub(crate) fn open(engine: Engine, choice: &opencl::DeviceChoice) -> Result<Option<Self>, Error> {
        match engine {
            Engine::OpenCl => opencl::Device::open(choice).map(|device| Some(Self::OpenCl(device))),
            Engine::Cuda => cuda::Device::open(choice).map(|device| Some(Self::Cuda(device))),
            Engine::Auto | Engine::Cpu => Ok(None),
        }
    }

    /// The same device, for sorts in place. Those through OpenCL always are.
    pub(crate) fn in_place(self) -> Self {
        match self {
            Self::Cuda(device) => Self::Cuda(device.in_place()),
            opencl @ Self::OpenCl(_) => opencl,
        }
    }

    pub(crate) fn sort_rows<K: Key>(
        &self,
        keys: &mut [K],
        row_length: usize,
        order: Order,
        chunking: &Chunking,
    ) -> Result<DeviceTimes, Error> {
        on_device!(self, device => chunks::sort_rows(device, keys, row_length, order, chunking))
    }

    pub(crate) fn sort_pairs<K: Key, V: Copy + Send>(
        &self,
        keys: &mut [K],
        values: &mut [V],
        stable: bool,
        order: Order,
        chunking: &Chunking,
    ) -> Result<DeviceTimes, Error> {
        on_device!(self, device => chunks::sort_pairs(device, keys, values, stable, order, chunking))
    }

    pub(crate) fn argsort<K: Key>(
        &self,
        keys: &[K],
        order: Order,
        chunking: &Chunking,
    ) -> Result<Vec<usize>, Error> {
        on_device!(self, device => chunks::argsort(device, keys, order, chunking))
    }

    pub(crate) fn plan<K: Key>(
        &self,
        row_length: usize,
        rows: usize,
        order: Order,
        chunking: &Chunking,
    ) -> Result<Plan, Error> {
        on_device!(self, device => planning::plan::<K>(device, row_length, rows, order, chunking))
    }

    pub(crate) fn plan_pairs<K: Key, V>(
        &self,
        len: usize,
        stable: bool,
        order: Order,
        chunking: &Chunking,
    ) -> Result<Plan, Error> {
        on_device!(self, device => planning::plan_pairs::<K, V>(device, len, stable, order, chunking))
    }

    pub(crate) fn plan_argsort<K: Key>(
        &self,
        len: usize,
        order: Order,
        chunking: &Chunking,
    ) -> Result<Plan, Error> {
        on_device!(self, device => planning::plan_argsort::<K>(device, len, order, chunking))
    }
}
