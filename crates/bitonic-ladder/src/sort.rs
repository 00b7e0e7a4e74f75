//! Sorting with a rung: what all of them check, and where they are sent.

use crate::gpu::DeviceRung;
use crate::times::{DeviceTimes, KernelTimes, Times};
use crate::{LadderError, Options, Rung, RunsOn};
use bitonic::device::{DeviceBuffer, Driver};
use bitonic::key::{Bits, KeysMut, with_ordered_bits};
use bitonic::{DeviceChoice, Key, cuda, opencl, with_keys};
use std::time::Instant;

impl Rung {
    /// Sorts keys in place.
    ///
    /// - Order: total; floats by IEEE 754 total order, as [`bitonic::sort`] has it.
    /// - Result: a permutation of the input, bit for bit.
    /// - Memory: in place on the processor. Rungs on a device need as much there as the keys have, and as much again here
    ///   for the result.
    /// - Errors: [`LadderError::NotAPowerOfTwo`] if the length is none of [`Rung::sizes`], before anything else is tried;
    ///   [`LadderError::NotThere`] if [`Options::runs_on`] is none of [`Rung::runs_on`]; [`LadderError::Threads`] if the
    ///   threads cannot be started, or are more than 4096; [`LadderError::Device`] if the device is missing or fails. The
    ///   keys are as they were then.
    ///
    /// ```
    /// use bitonic::Order;
    /// use bitonic_ladder::{Options, Rung};
    ///
    /// let mut keys = [2.5_f32, -1.0, f32::INFINITY, 0.0];
    /// Rung::IterativeShifts.sort(&mut keys, &Options { order: Order::Descending, ..Options::default() })?;
    /// assert_eq!(keys, [f32::INFINITY, 2.5, 0.0, -1.0]);
    /// # Ok::<(), bitonic_ladder::LadderError>(())
    /// ```
    pub fn sort<K: Key>(self, keys: &mut [K], options: &Options) -> Result<(), LadderError> {
        self.sort_timed(keys, options).map(|_| ())
    }

    /// Sorts keys in place as [`Rung::sort`] does, and says how long it took and what for.
    ///
    /// ```no_run
    /// use bitonic_ladder::{Options, Rung};
    ///
    /// let mut keys: Vec<u32> = (0..1 << 20).rev().collect();
    /// let times = Rung::LocalMemory.sort_timed(&mut keys, &Options::default())?;
    /// let device = times.device.expect("a rung on a device tells what the device did");
    /// println!("{:?} in all, {:?} of it kernels", times.total, device.kernels.span);
    /// for kernel in device.kernels.each {
    ///     println!("{}: {} launches, {:?}", kernel.name, kernel.launches, kernel.time);
    /// }
    /// # Ok::<(), bitonic_ladder::LadderError>(())
    /// ```
    pub fn sort_timed<K: Key>(self, keys: &mut [K], options: &Options) -> Result<Times, LadderError> {
        self.sort_any(keys.into(), options)
    }

    /// The same for keys of a type that is known at run time: every rung is compiled here, for every width, and not again by whoever
    /// calls it.
    fn sort_any(self, keys: KeysMut<'_>, options: &Options) -> Result<Times, LadderError> {
        self.check_len(keys.len())?;
        let runs_on = self.choose(options.runs_on)?;
        let started = Instant::now();
        let device = with_keys!(keys, keys => {
            with_ordered_bits(keys, options.order, |bits| self.sort_bits(bits, runs_on, options))
        })?;
        Ok(Times { total: started.elapsed(), device })
    }

    /// Sorts keys that are on a device already, in ascending order, and waits until they are sorted.
    ///
    /// The device is one of any backend of [`bitonic::device`]. The keys are the first `len` of the buffer, which is this
    /// device's, and unsigned integers: `B` is one of `u8`..`u128`. Other keys are brought to the device as their [ordered bits](bitonic::key). Nothing but the keys is
    /// written and nothing is copied.
    ///
    /// - Errors: [`LadderError::NotOnDevice`] for rungs on the processor, [`LadderError::NotAPowerOfTwo`] and
    ///   [`LadderError::BufferTooShort`] before the device is asked for anything; [`LadderError::Device`] if it fails, and
    ///   then the keys are in an order between the old and the new one.
    ///
    /// ```no_run
    /// use bitonic::opencl::{Device, DeviceChoice};
    /// use bitonic_ladder::Rung;
    ///
    /// let bytes: Vec<u8> = (0..4096_u32).rev().flat_map(u32::to_le_bytes).collect();
    /// let device = Device::open(&DeviceChoice::Best)?;
    /// let buffer = device.allocate(bytes.len())?;
    /// device.upload(&bytes, &buffer)?;
    /// let times = Rung::NaiveShifts.sort_buffer::<u32, _>(&device, &buffer, 4096)?;
    /// println!("{:?} for {} launches", times.span, times.each[0].launches);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn sort_buffer<B: Bits, D: Driver>(
        self,
        device: &D,
        keys: &D::Buffer,
        len: usize,
    ) -> Result<KernelTimes, LadderError> {
        let rung = self.on_device().ok_or(LadderError::NotOnDevice { rung: self })?;
        self.check_len(len)?;
        let (bytes, key_bytes) = (keys.bytes(), size_of::<B>());
        if len > bytes / key_bytes {
            return Err(LadderError::BufferTooShort { bytes, len, key_bytes });
        }
        rung.sort_buffer::<D, B>(device, keys, len)
            .map_err(|reason| LadderError::Device { rung: self, reason })
    }

    fn check_len(self, len: usize) -> Result<(), LadderError> {
        match self.sizes().contain(len) {
            true => Ok(()),
            false => Err(LadderError::NotAPowerOfTwo { rung: self, len }),
        }
    }

    /// What to run on: as asked for, or the first that the rung has.
    fn choose(self, wanted: Option<RunsOn>) -> Result<RunsOn, LadderError> {
        let runs_on = wanted.unwrap_or(self.runs_on()[0]);
        match self.runs_on().contains(&runs_on) {
            true => Ok(runs_on),
            false => Err(LadderError::NotThere { rung: self, runs_on }),
        }
    }

    /// Sorts in ascending order on the chosen device.
    pub(crate) fn sort_on_device<B: Bits>(
        self,
        rung: &DeviceRung,
        bits: &mut [B],
        runs_on: RunsOn,
        choice: &DeviceChoice,
    ) -> Result<DeviceTimes, LadderError> {
        let sorted = match runs_on {
            RunsOn::Cpu => return Err(LadderError::NotThere { rung: self, runs_on }),
            RunsOn::OpenCl => rung.sort::<opencl::Device, B>(bits, choice),
            RunsOn::Cuda => rung.sort::<cuda::Device, B>(bits, choice),
        };
        sorted.map_err(|reason| LadderError::Device { rung: self, reason })
    }
}
