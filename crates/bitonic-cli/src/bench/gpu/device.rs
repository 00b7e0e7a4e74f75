//! The device that is measured: memory on it, and this project's sorts there. One for all backends.

use super::contender::EngineMode;
use super::job::Rows;
use crate::failure::Failure;
use bitonic::device::{self, DeviceBuffer, Driver, OpenDevice};
use bitonic::key::KeyType;
use bitonic::{DeviceChoice, Error, Request, Segments};
use bitonic_lab::record::DeviceDescription;
use bitonic_ladder::{Rung, RunsOn};
use std::cell::RefCell;
use std::time::Duration;

/// An open device of a backend.
pub(super) struct MeasuredDevice<D: Driver> {
    device: D,
    /// Where the copy goes that keeps the device busy while a sort is queued.
    spare: RefCell<Option<D::Buffer>>,
}

impl<D: Driver> MeasuredDevice<D> {
    pub(super) fn open(choice: &DeviceChoice) -> Result<Self, Error> {
        Ok(Self { device: D::open(choice)?, spare: RefCell::default() })
    }

    /// The modes in which the engine sorts here: those that differ.
    pub(super) fn modes(&self) -> &'static [EngineMode] {
        match self.device.facts().has_work_memory {
            true => &[EngineMode::Default, EngineMode::Oblivious],
            false => &[EngineMode::Default],
        }
    }

    /// What is known about the device.
    pub(super) fn description(&self) -> DeviceDescription {
        let open = device::open(D::ENGINE, &DeviceChoice::Index(self.ordinal()));
        let copy = open.and_then(|open: OpenDevice| open.copy_bandwidth()).ok();
        DeviceDescription::of(self.device.facts(), copy)
    }

    /// The driver's number for the device: peers are told to use the same one.
    pub(super) fn ordinal(&self) -> usize {
        self.device.facts().index
    }

    pub(super) fn allocate(&self, bytes: usize) -> Result<D::Buffer, Failure> {
        Ok(self.device.allocate(bytes)?)
    }

    /// Host memory to the start of a buffer; returns when it is there.
    pub(super) fn upload(&self, from: &[u8], to: &D::Buffer) -> Result<(), Failure> {
        self.device.upload(from, to)?;
        Ok(())
    }

    /// The start of a buffer to host memory; returns when it is there.
    pub(super) fn download(&self, from: &D::Buffer, to: &mut [u8]) -> Result<(), Failure> {
        self.device.download(from, to)?;
        Ok(())
    }

    /// One buffer to another of the same size, and what that takes; returns when it is there.
    pub(super) fn copy(&self, from: &D::Buffer, to: &D::Buffer) -> Result<Duration, Failure> {
        self.keep_busy(from)?;
        let span = self.device.copy(from, to)?;
        self.device.finish()?;
        Ok(self.device.elapsed(&span, &span)?)
    }

    /// Sorts rows of keys, and returns when they are sorted. Values, where there are some, travel with their keys.
    pub(super) fn sort(
        &self,
        mode: EngineMode,
        key: KeyType,
        arrays: &Arrays<D::Buffer>,
        rows: Rows,
    ) -> Result<Run, Failure> {
        let segments = match rows.rows {
            1 => Segments::one(rows.len()),
            _ => Segments::rows(rows.len(), rows.row_length)?,
        };
        let request = match &arrays.values {
            Some(_) => Request::pairs::<u32, u32>(segments),
            None => Request::keys::<u32>(segments),
        };
        let request = Request { key, oblivious: mode == EngineMode::Oblivious, ..request };
        self.keep_busy(&arrays.keys)?;
        let kernels = device::sort_resident(&self.device, &request, &arrays.keys, arrays.values.as_ref())?;
        Ok(Run { span: kernels.span, launches: kernels.plan.passes() })
    }

    /// Whether a rung runs here.
    pub(super) fn has(rung: Rung) -> bool {
        RunsOn::of(D::ENGINE).is_some_and(|runs_on| rung.runs_on().contains(&runs_on))
    }

    /// Lets a rung sort keys that are ordered bits, and returns when they are sorted.
    pub(super) fn sort_with_rung(
        &self,
        rung: Rung,
        key_type: KeyType,
        keys: &D::Buffer,
        len: usize,
    ) -> Result<Run, Failure> {
        let sort = match key_type.bytes() {
            1 => Rung::sort_buffer::<u8, D>,
            2 => Rung::sort_buffer::<u16, D>,
            4 => Rung::sort_buffer::<u32, D>,
            8 => Rung::sort_buffer::<u64, D>,
            _ => Rung::sort_buffer::<u128, D>,
        };
        let times = sort(rung, &self.device, keys, len).map_err(Failure::new)?;
        let launches = times.each.iter().map(|kernel| kernel.launches).sum();
        Ok(Run { span: times.span, launches })
    }

    /// Queues a copy that is still under way when what is measured is queued: what the host takes to queue it does not count, as in
    /// a program that keeps the device busy.
    fn keep_busy(&self, buffer: &D::Buffer) -> Result<(), Failure> {
        let mut spare = self.spare.borrow_mut();
        if spare.as_ref().is_none_or(|spare| spare.bytes() < buffer.bytes()) {
            // The old one goes first, so that there is room.
            *spare = None;
            *spare = Some(self.device.allocate(buffer.bytes())?);
        }
        self.device.finish()?;
        if let Some(spare) = &*spare {
            self.device.copy(buffer, spare)?;
        }
        Ok(())
    }
}

/// What is sorted: keys, and maybe a value of 32 bits for each.
pub(super) struct Arrays<B> {
    pub(super) keys: B,
    pub(super) values: Option<B>,
}

/// What one sort took on the device.
#[derive(Clone, Copy, Debug)]
pub(super) struct Run {
    /// From the start of its first command on the device to the end of the last one.
    pub(super) span: Duration,
    /// How many kernels went over the keys.
    pub(super) launches: usize,
}
