//! The kernels of a plan, loaded: what is launched is what was planned.

use crate::Error;
use crate::gpu::driver::{Argument, Arguments, Command, DeviceBuffer, Driver, Grid, RepeatKey};
use crate::gpu::memory::Role;
use crate::plan::{KernelPlan, Parameter, WorkMemory};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Arrays on a device.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DeviceArrays<M> {
    pub(crate) keys: M,
    pub(crate) values: Option<M>,
    /// The keys as they come, where these are to stay as they are: those that only the best are taken from, or whose sorted copy `keys`
    /// gets.
    pub(crate) input: Option<M>,
    /// The table of segments, where these have different lengths.
    pub(crate) offsets: Option<M>,
    /// To work in: keys, values, counters.
    pub(crate) work: [Option<M>; 3],
}

impl<M: Copy> DeviceArrays<M> {
    /// Without memory to work in.
    pub(crate) fn in_place(keys: M, values: Option<M>) -> Self {
        Self { keys, values, input: None, offsets: None, work: [None; 3] }
    }

    /// What a kernel is given for a parameter; `None` for an array that there is not.
    fn argument(&self, parameter: Parameter) -> Option<Argument<M>> {
        let [work_keys, work_values, counters] = self.work;
        let memory = match parameter {
            Parameter::Keys => Some(self.keys),
            Parameter::Source => Some(self.input.unwrap_or(self.keys)),
            Parameter::Values => self.values,
            Parameter::Input => self.input,
            Parameter::Offsets => self.offsets,
            Parameter::WorkKeys => work_keys,
            Parameter::WorkValues => work_values,
            Parameter::Counters => counters,
            Parameter::Index32(number) | Parameter::Number(number) => return Some(Argument::U32(number)),
            Parameter::Index64(number) => return Some(Argument::U64(number)),
        };
        memory.map(Argument::Memory)
    }
}

/// How the kernels of a plan are queued.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Submission {
    /// With the times of all of them together.
    Timed,
    /// Without: taking times costs the device some microseconds.
    Untimed,
    /// Without, and with nothing kept for another time: the queue is being recorded.
    Once,
}

/// A plan whose kernels are loaded.
pub(crate) struct Loaded<D: Driver> {
    plan: Arc<KernelPlan>,
    kernels: Vec<D::Kernel>,
    /// No other has it.
    number: u64,
}

impl<D: Driver> Loaded<D> {
    /// Takes the kernels from memory or disk, or builds them; `None` if the device lacks what one asks for.
    pub(crate) fn new(device: &D, plan: &Arc<KernelPlan>) -> Result<Option<Self>, Error> {
        static NUMBERS: AtomicU64 = AtomicU64::new(0);

        let mut kernels = Vec::with_capacity(plan.launches.len());
        for launch in &plan.launches {
            let kernel = device.state().kernel(device, launch)?;
            if !device.prepare(&kernel, Grid::from(launch))? {
                return Ok(None);
            }
            kernels.push(kernel);
        }
        Ok(Some(Self { plan: plan.clone(), kernels, number: NUMBERS.fetch_add(1, Ordering::Relaxed) }))
    }

    pub(crate) fn plan(&self) -> &Arc<KernelPlan> {
        &self.plan
    }

    /// Queues all kernels. Nothing is waited for.
    ///
    /// # Safety
    ///
    /// The queue and the arrays must belong to the device's context; the arrays must hold the elements of the plan's job, or have
    /// the bytes of its work memory, and be used by nobody else until the last kernel is done.
    pub(crate) unsafe fn submit(
        &self,
        device: &D,
        queue: &D::Queue,
        arrays: &DeviceArrays<D::Memory>,
        how: Submission,
    ) -> Result<D::Span, Error> {
        if !self.is_complete(arrays) {
            let reason = "the plan needs an array that it was not given".to_owned();
            return Err(Error::Device { device: device.facts().name.clone(), operation: "sort", reason });
        }
        if how == Submission::Once {
            // SAFETY: the arguments are those of the kernels, as the plan lists them for this job; the caller vouches for the
            // arrays. Kernels stay inside them, as the tests see on every device.
            return unsafe { device.submit(queue, &self.commands(arrays), false) };
        }
        let [work_keys, work_values, counters] = arrays.work;
        let key = RepeatKey {
            kernels: self.number,
            arrays: [
                Some(arrays.keys),
                arrays.values,
                arrays.input,
                arrays.offsets,
                work_keys,
                work_values,
                counters,
            ],
        };
        // SAFETY: as above; the number stands for the kernels and the numbers that they are given, and the rest of the key for
        // the arrays.
        unsafe { device.submit_again(queue, key, &mut || self.commands(arrays), how == Submission::Timed) }
    }

    fn is_complete(&self, arrays: &DeviceArrays<D::Memory>) -> bool {
        let mut parameters = self.plan.launches.iter().flat_map(|launch| &launch.arguments);
        parameters.all(|&parameter| arrays.argument(parameter).is_some())
    }

    fn commands(&self, arrays: &DeviceArrays<D::Memory>) -> Vec<Command<'_, D>> {
        let launches = self.plan.launches.iter().zip(&self.kernels);
        let command = |(launch, kernel)| {
            let launch: &crate::plan::Launch = launch;
            let arguments: Arguments<_> =
                launch.arguments.iter().filter_map(|&parameter| arrays.argument(parameter)).collect();
            Command { kernel, grid: Grid::from(launch), arguments }
        };
        launches.map(command).collect()
    }
}

/// Buffers to work in, given back when dropped.
pub(super) struct WorkBuffers<'a, D: Driver> {
    device: &'a D,
    buffers: [Option<D::Buffer>; 3],
}

const WORK_ROLES: [Role; 3] = [Role::WorkKeys, Role::WorkValues, Role::Counters];

impl<'a, D: Driver> WorkBuffers<'a, D> {
    pub(super) fn take(device: &'a D, work: WorkMemory) -> Result<Self, Error> {
        let mut taken = Self { device, buffers: [const { None }; 3] };
        let WorkMemory { keys, values, counters } = work;
        for ((place, bytes), role) in taken.buffers.iter_mut().zip([keys, values, counters]).zip(WORK_ROLES) {
            if bytes > 0 {
                *place = Some(take(device, role, bytes)?);
            }
        }
        Ok(taken)
    }

    pub(super) fn memory(&self) -> [Option<D::Memory>; 3] {
        self.buffers.each_ref().map(|buffer| buffer.as_ref().map(DeviceBuffer::memory))
    }
}

impl<D: Driver> Drop for WorkBuffers<'_, D> {
    fn drop(&mut self) {
        for (buffer, role) in self.buffers.iter_mut().zip(WORK_ROLES) {
            if let Some(buffer) = buffer.take() {
                give(self.device, role, buffer);
            }
        }
    }
}

/// A kept buffer or a new one.
pub(super) fn take<D: Driver>(device: &D, role: Role, bytes: usize) -> Result<D::Buffer, Error> {
    device.state().buffers().take(role, bytes, || device.allocate(bytes))
}

/// Keeps a buffer for later, or frees it.
pub(super) fn give<D: Driver>(device: &D, role: Role, buffer: D::Buffer) {
    device.state().buffers().give(role, buffer, device.facts().memory_bytes);
}
