//! The builder, and the choice of an engine.

use crate::cpu::{self, Instructions, KeysPlan, Settings};
use crate::gpu::auto::worthwhile;
use crate::gpu::chosen::ChosenDevice;
use crate::gpu::chunking::{Chunking, Cuts};
use crate::key::{Key, Order, plain_number_bytes};
use crate::opencl::DeviceChoice;
use crate::plan::Plan;
use crate::report::DeviceTimes;
use crate::{Engine, Error, Report};
use std::borrow::Cow;
use std::time::Instant;

/// A sort with options. It holds no resources: make one wherever it is needed, or keep it.
///
/// ```
/// use bitonic::{Order, Sorter};
///
/// let mut scores = [0.5_f32, f32::NAN, -1.0, 2.0];
/// let mut names = ["b", "?", "c", "a"];
/// Sorter::new().order(Order::Descending).sort_pairs(&mut scores, &mut names)?;
/// assert_eq!(names, ["?", "a", "b", "c"]);
/// # Ok::<(), bitonic::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Sorter {
    engine: Engine,
    device: DeviceChoice,
    order: Order,
    stable: bool,
    threads: Option<usize>,
    oblivious: bool,
    instructions: Option<Instructions>,
    device_memory: Option<u64>,
    no_chunks: bool,
}

impl Sorter {
    /// Ascending, unstable, on the best engine here, with all cores.
    pub fn new() -> Self {
        Self::default()
    }

    /// The engine to use. Default: [`Engine::Auto`].
    pub fn engine(mut self, engine: Engine) -> Self {
        self.engine = engine;
        self
    }

    /// The device of [`Engine::OpenCl`] or [`Engine::Cuda`]. Default: the best one.
    ///
    /// ```
    /// use bitonic::{Engine, Sorter};
    ///
    /// let sorter = Sorter::new().engine(Engine::OpenCl).device("gpu".parse()?);
    /// let mut keys = [3_u32, 1, 2];
    /// match sorter.sort(&mut keys) {
    ///     Ok(report) => println!("{report}"),
    ///     Err(error) => println!("{error}"), // such as: there is no GPU here
    /// }
    /// # Ok::<(), bitonic::Error>(())
    /// ```
    pub fn device(mut self, device: DeviceChoice) -> Self {
        self.device = device;
        self
    }

    /// The direction. Default: ascending.
    pub fn order(mut self, order: Order) -> Self {
        self.order = order;
        self
    }

    /// Whether values of equal keys keep their order in [`Sorter::sort_pairs`]. Default: no. Keys alone look the same
    /// either way, because keys that are equal have equal bits; [`Sorter::argsort`] always breaks ties by index.
    pub fn stable(mut self, stable: bool) -> Self {
        self.stable = stable;
        self
    }

    /// At most how many CPU threads to use; 0 means the current rayon pool, which has all cores unless the program says
    /// otherwise. Default: 0. Small inputs never use a second thread, and neither does the forked child of a process that
    /// sorted on threads: it has none of them.
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = (threads > 0).then_some(threads);
        self
    }

    /// Whether no branch and no address may depend on a key, so that time and memory accesses tell nothing about secret
    /// keys. Default: no. What does depend on the input is its length, its type and these options.
    pub fn oblivious(mut self, oblivious: bool) -> Self {
        self.oblivious = oblivious;
        self
    }

    /// The instruction set of the CPU engine. Default: [`Instructions::detected`]. One that this processor lacks makes
    /// every sort an [`Error::EngineUnavailable`].
    pub fn instructions(mut self, instructions: Instructions) -> Self {
        self.instructions = Some(instructions);
        self
    }

    /// At most how many bytes the arrays of a sort may take of a device's memory. Default: what the environment variable
    /// `BITONIC_DEVICE_MEMORY` says, such as `4000000000`, `512M` or `4G` (4 x 2^30); without it, all but a reserve of a
    /// sixteenth, and of no more than 1 GiB. The largest buffer that the device gives is a limit, too. Arrays that need
    /// more: see [`Sorter::chunks`].
    pub fn device_memory(mut self, bytes: u64) -> Self {
        self.device_memory = Some(bytes);
        self
    }

    /// Whether arrays that need more of a device's memory than there is are sorted on it in chunks, one after the other, and
    /// merged on the host. Default: yes. Otherwise they are an [`Error::LargerThanDevice`].
    ///
    /// - Result: the same as from one piece, stable sorts included. Rows are cut only if not even one fits.
    /// - Memory: on the host as much as the caller's arrays, for `argsort` more; [`Sorter::plan`] says how much, and how many
    ///   chunks there will be.
    /// - Threads: the merge uses those of [`Sorter::threads`].
    /// - A device that refuses memory which it should have gets smaller chunks.
    /// - Oblivious sorts are cut between rows only, since the addresses of a merge depend on keys.
    ///
    /// ```
    /// use bitonic::{Engine, Sorter};
    ///
    /// let sorter = Sorter::new().engine(Engine::OpenCl).device_memory(4096);
    /// let mut keys: Vec<u32> = (0..10_000).rev().collect();
    /// match sorter.sort(&mut keys) {
    ///     Ok(report) => assert_eq!(report.times.map(|times| times.chunks), Some(10)),
    ///     Err(error) => println!("{error}"), // such as: there is no device here
    /// }
    /// ```
    pub fn chunks(mut self, chunks: bool) -> Self {
        self.no_chunks = !chunks;
        self
    }

    /// Sorts keys in place.
    ///
    /// - Order: total, and the same on every engine. Floats by IEEE 754 total order; -0.0 comes before +0.0, NaNs
    ///   with the sign bit set come first and the others last.
    /// - Result: a permutation of the input, bit for bit.
    /// - Memory: on the CPU in place, for 32- and 64-bit keys without any allocation at any length; what other widths and
    ///   devices need, [`Sorter::plan`] says.
    /// - Errors: the keys are as they were. With [`Engine::Auto`] a device that fails is no error: the CPU goes on, and the
    ///   report says so.
    pub fn sort<K: Key>(&self, keys: &mut [K]) -> Result<Report, Error> {
        let started = Instant::now();
        let mut fallback = None;
        if let Some(device) = self.device_for(keys.len(), &mut fallback)? {
            match self.rows_on(&device, keys, keys.len(), 1) {
                Ok((plan, times)) => return Ok(self.device_report(plan, times, started)),
                Err(error) => self.fall_back(error, &mut fallback)?,
            }
        }
        let plan = self.cpu_plan::<K>(keys.len(), 1, 0, cpu::plan::<K>(keys.len(), self.settings()))?;
        cpu::sort(keys, self.settings())?;
        Ok(self.report(plan, None, fallback, started))
    }

    /// Sorts every row of keys for itself, in place: the first `row_length` keys, then the next, and so on.
    ///
    /// - Order, result and errors: as in [`Sorter::sort`], and [`Error::Rows`] if the keys are no whole number of rows.
    /// - Memory: on the CPU in place for 32- and 64-bit keys; what others need, [`Sorter::plan_rows`] says.
    ///
    /// ```
    /// let mut keys = [3, 1, 2, 9, 7, 8];
    /// bitonic::Sorter::new().sort_rows(&mut keys, 3)?;
    /// assert_eq!(keys, [1, 2, 3, 7, 8, 9]);
    /// # Ok::<(), bitonic::Error>(())
    /// ```
    pub fn sort_rows<K: Key>(&self, keys: &mut [K], row_length: usize) -> Result<Report, Error> {
        let started = Instant::now();
        let rows = rows(keys.len(), row_length)?;
        let mut fallback = None;
        if let Some(device) = self.device_for(keys.len(), &mut fallback)? {
            match self.rows_on(&device, keys, row_length, rows) {
                Ok((plan, times)) => return Ok(self.device_report(plan, times, started)),
                Err(error) => self.fall_back(error, &mut fallback)?,
            }
        }
        let plan = self.cpu_rows_plan::<K>(keys.len(), rows)?;
        cpu::sort_rows(keys, row_length, self.settings())?;
        Ok(self.report(plan, None, fallback, started))
    }

    /// Sorts keys in place and moves every value with its key. Order and result as in [`Sorter::sort`].
    ///
    /// - Stability: values of equal keys keep their order with [`stable(true)`](Sorter::stable) only.
    /// - Memory: what [`Sorter::plan_pairs`] says: 8 bytes a pair where key and value pack into 64 bits, more otherwise, and
    ///   nothing with [`oblivious(true)`](Sorter::oblivious) where they do not pack and the sort is not stable.
    /// - Errors: [`Error::LengthMismatch`] if there is not one value for every key; nothing is moved then.
    pub fn sort_pairs<K: Key, V: Copy + Send>(
        &self,
        keys: &mut [K],
        values: &mut [V],
    ) -> Result<Report, Error> {
        if keys.len() != values.len() {
            return Err(Error::LengthMismatch { keys: keys.len(), values: values.len() });
        }
        let started = Instant::now();
        let mut fallback = None;
        if let Some(device) = self.device_for_pairs::<V>(keys.len(), &mut fallback)? {
            match self.pairs_on(&device, keys, values) {
                Ok((plan, times)) => return Ok(self.device_report(plan, times, started)),
                Err(error) => self.fall_back(error, &mut fallback)?,
            }
        }
        let sort = cpu::plan_pairs::<K, V>(keys.len(), self.stable, self.settings());
        let plan = self.cpu_plan::<K>(keys.len(), 1, size_of::<V>(), sort)?;
        cpu::sort_pairs(keys, values, self.stable, self.settings())?;
        Ok(self.report(plan, None, fallback, started))
    }

    /// The index of every key in sorted order: `keys[result[0]]` is the first. Equal keys come by lowest index, in
    /// descending order too. The keys stay as they are.
    pub fn argsort<K: Key>(&self, keys: &[K]) -> Result<Vec<usize>, Error> {
        let mut fallback = None;
        if let Some(device) = self.device_for(keys.len(), &mut fallback)? {
            match self.chunking().and_then(|chunking| device.argsort(keys, self.order, &chunking)) {
                Ok(indices) => return Ok(indices),
                Err(error) => self.fall_back(error, &mut fallback)?,
            }
        }
        self.check_instructions()?;
        cpu::argsort(keys, self.settings())
    }

    /// What [`Sorter::sort`] would do with this many keys.
    pub fn plan<K: Key>(&self, len: usize) -> Result<Plan, Error> {
        let device = self.device_for(len, &mut None)?;
        match self.plan_on(device, |device, chunking| device.plan::<K>(len, 1, self.order, chunking))? {
            Some(plan) => Ok(plan),
            None => self.cpu_plan::<K>(len, 1, 0, cpu::plan::<K>(len, self.settings())),
        }
    }

    /// What [`Sorter::sort_rows`] would do with this many keys.
    pub fn plan_rows<K: Key>(&self, len: usize, row_length: usize) -> Result<Plan, Error> {
        let rows = rows(len, row_length)?;
        let device = self.device_for(len, &mut None)?;
        let plan = |device: &ChosenDevice, chunking: &Chunking| {
            device.plan::<K>(row_length, rows, self.order, chunking)
        };
        match self.plan_on(device, plan)? {
            Some(plan) => Ok(plan),
            None => self.cpu_rows_plan::<K>(len, rows),
        }
    }

    /// What [`Sorter::sort_pairs`] would do with this many keys and values.
    pub fn plan_pairs<K: Key, V>(&self, len: usize) -> Result<Plan, Error> {
        let device = self.device_for_pairs::<V>(len, &mut None)?;
        let plan = |device: &ChosenDevice, chunking: &Chunking| {
            device.plan_pairs::<K, V>(len, self.stable, self.order, chunking)
        };
        match self.plan_on(device, plan)? {
            Some(plan) => Ok(plan),
            None => {
                let sort = cpu::plan_pairs::<K, V>(len, self.stable, self.settings());
                self.cpu_plan::<K>(len, 1, size_of::<V>(), sort)
            }
        }
    }

    /// What [`Sorter::argsort`] would do with this many keys.
    pub fn plan_argsort<K: Key>(&self, len: usize) -> Result<Plan, Error> {
        let device = self.device_for(len, &mut None)?;
        match self.plan_on(device, |device, chunking| device.plan_argsort::<K>(len, self.order, chunking))? {
            Some(plan) => Ok(plan),
            None => self.cpu_plan::<K>(len, 1, 0, cpu::plan_argsort::<K>(len, self.settings())),
        }
    }

    /// The plan and the sort of rows on a device.
    fn rows_on<K: Key>(
        &self,
        device: &ChosenDevice,
        keys: &mut [K],
        row_length: usize,
        rows: usize,
    ) -> Result<(Plan, DeviceTimes), Error> {
        let chunking = self.chunking()?;
        let plan = device.plan::<K>(row_length, rows, self.order, &chunking)?;
        Ok((plan, device.sort_rows(keys, row_length, self.order, &chunking)?))
    }

    /// The plan and the sort of pairs on a device.
    fn pairs_on<K: Key, V: Copy + Send>(
        &self,
        device: &ChosenDevice,
        keys: &mut [K],
        values: &mut [V],
    ) -> Result<(Plan, DeviceTimes), Error> {
        let chunking = self.chunking()?;
        let plan = device.plan_pairs::<K, V>(keys.len(), self.stable, self.order, &chunking)?;
        Ok((plan, device.sort_pairs(keys, values, self.stable, self.order, &chunking)?))
    }

    /// The plan of a sort on a device; `None` if the CPU is to go on, as it would with the sort.
    fn plan_on(
        &self,
        device: Option<ChosenDevice>,
        plan: impl FnOnce(&ChosenDevice, &Chunking) -> Result<Plan, Error>,
    ) -> Result<Option<Plan>, Error> {
        let Some(device) = device else { return Ok(None) };
        match self.chunking().and_then(|chunking| plan(&device, &chunking)) {
            Ok(plan) => Ok(Some(plan)),
            Err(error) => self.fall_back(error, &mut None).map(|()| None),
        }
    }

    /// What to do with arrays that a device does not hold.
    fn chunking(&self) -> Result<Chunking, Error> {
        let cuts = match (self.no_chunks, self.oblivious) {
            (true, _) => Cuts::Nowhere,
            (false, true) => Cuts::BetweenRows,
            (false, false) => Cuts::Anywhere,
        };
        Chunking::new(self.device_memory, cuts, self.threads)
    }

    fn cpu_rows_plan<K: Key>(&self, len: usize, rows: usize) -> Result<Plan, Error> {
        let row_length = len.checked_div(rows).unwrap_or(0);
        self.cpu_plan::<K>(len, rows, 0, cpu::plan::<K>(row_length, self.settings()))
    }

    fn cpu_plan<K: Key>(
        &self,
        len: usize,
        rows: usize,
        value_bytes: usize,
        sort: KeysPlan,
    ) -> Result<Plan, Error> {
        self.check_instructions()?;
        Ok(Plan {
            len,
            rows,
            key_type: K::TYPE,
            value_bytes,
            order: self.order,
            engine: Engine::Cpu,
            device: Cow::Borrowed(cpu::device()),
            instructions: Some(self.settings().instructions),
            work_groups: None,
            chunks: None,
            algorithm: sort.algorithm,
            limits: sort.limits,
            threads: cpu::thread_count_for(len, self.threads),
            scratch_bytes: sort.scratch_bytes,
        })
    }

    fn check_instructions(&self) -> Result<(), Error> {
        let instructions = self.settings().instructions;
        if instructions.is_available() {
            return Ok(());
        }
        Err(Error::EngineUnavailable {
            engine: Engine::Cpu,
            reason: format!("this processor has no {instructions}"),
            advice: format!("leave the choice to bitonic, which takes {} here", Instructions::detected()),
        })
    }

    /// The device that is to sort this many keys, if it is not the CPU. With [`Engine::Auto`], a device that cannot be
    /// opened is a reason to fall back, not an error.
    fn device_for(&self, len: usize, fallback: &mut Option<String>) -> Result<Option<ChosenDevice>, Error> {
        let device = match self.engine {
            Engine::Auto => match worthwhile(len) {
                None => None,
                Some(Ok(device)) => Some(device),
                Some(Err(error)) => self.fall_back(error, fallback).map(|()| None)?,
            },
            engine => ChosenDevice::open(engine, &self.device)?,
        };
        Ok(if self.oblivious { device.map(ChosenDevice::in_place) } else { device })
    }

    /// The same for pairs. What the device cannot move obliviously, the CPU can.
    fn device_for_pairs<V>(
        &self,
        len: usize,
        fallback: &mut Option<String>,
    ) -> Result<Option<ChosenDevice>, Error> {
        let gathers = self.stable || plain_number_bytes::<V>().is_none();
        match self.engine {
            engine @ (Engine::OpenCl | Engine::Cuda) if self.oblivious && gathers => Err(Error::EngineUnavailable {
                engine,
                reason: "it puts these values in place by index, and that shows where each key went".to_owned(),
                advice: "sort obliviously on the cpu engine, or with values that are numbers of 32 or 64 bits and \
                         without stable()"
                    .to_owned(),
            }),
            Engine::Auto if self.oblivious && gathers => Ok(None),
            _ => self.device_for(len, fallback),
        }
    }

    /// Notes why the CPU goes on; an engine that was asked for by name has no substitute.
    fn fall_back(&self, error: Error, fallback: &mut Option<String>) -> Result<(), Error> {
        if self.engine != Engine::Auto {
            return Err(error);
        }
        tracing::warn!(%error, "the device failed; the CPU sorts instead");
        *fallback = Some(error.to_string());
        Ok(())
    }

    pub(crate) fn settings(&self) -> Settings {
        Settings {
            order: self.order,
            threads: self.threads,
            oblivious: self.oblivious,
            instructions: self.instructions.unwrap_or_else(Instructions::detected),
        }
    }

    fn device_report(&self, plan: Plan, times: DeviceTimes, started: Instant) -> Report {
        self.report(plan, Some(times), None, started)
    }

    fn report(
        &self,
        plan: Plan,
        times: Option<DeviceTimes>,
        fallback: Option<String>,
        started: Instant,
    ) -> Report {
        let report = Report {
            len: plan.len,
            engine: plan.engine,
            plan: plan.summary(),
            device: plan.device,
            elapsed: started.elapsed(),
            times,
            fallback,
        };
        tracing::debug!(%report, "sorted");
        report
    }
}

/// How many rows the keys make.
pub(crate) fn rows(len: usize, row_length: usize) -> Result<usize, Error> {
    match len.checked_rem(row_length) {
        Some(0) => Ok(len / row_length),
        None if len == 0 => Ok(0),
        _ => Err(Error::Rows { len, row_length }),
    }
}
