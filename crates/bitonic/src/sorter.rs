//! The builder: typed doors to the one way from a request to a sorted array.

mod segments;
mod select;

pub use select::TopK;

use crate::cpu::{self, Bounds, KeysPlan, Settings};
use crate::gpu::auto::{worthwhile, worthwhile_to_plan};
use crate::gpu::backends::Backend;
use crate::gpu::choice::DeviceChoice;
use crate::gpu::cut::Cuts;
use crate::gpu::engine::DeviceEngine;
use crate::gpu::execute::{HostArrays, HostData, Means, ValueBytes};
use crate::instructions::{Available, Instructions};
use crate::key::{Bits, Key, KeyType, Order, as_bits, as_bits_mut, bits_as_bytes, bits_as_bytes_mut};
use crate::plan::Plan;
use crate::report::DeviceTimes;
use crate::request::{Index, Request, Segments};
use crate::{Engine, Error, Report};
use std::sync::Arc;
use std::time::{Duration, Instant};

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
#[must_use]
pub struct Sorter {
    engine: Engine,
    device: DeviceChoice,
    order: Option<Order>,
    nan_last: bool,
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

    /// The direction. Default: ascending, and for [`Sorter::top_k`] descending.
    pub fn order(mut self, order: Order) -> Self {
        self.order = Some(order);
        self
    }

    /// Puts NaNs of both signs last, whatever the direction, as NumPy and PyTorch do. Default: the total order, in which NaNs with a
    /// negative sign come before all numbers and others behind them, or the other way round.
    ///
    /// - Order: numbers in total order, -0.0 before 0.0. Behind them the NaNs that the total order has last, then those that it has
    ///   first, both in total order.
    /// - Where: in every sort, order, selection and merge of this sorter, on every engine; in [`Sorter::sort_by_key`] if the key is a
    ///   float alone. Other keys have no NaN.
    /// - Time: the same instructions run as without it.
    ///
    /// ```
    /// use bitonic::{Order, Sorter};
    ///
    /// let mut keys = [1.5_f32, -f32::NAN, f32::INFINITY, f32::NAN];
    /// Sorter::new().order(Order::Descending).nan_last(true).sort(&mut keys)?;
    /// assert_eq!(keys[..2], [f32::INFINITY, 1.5]);
    /// # Ok::<(), bitonic::Error>(())
    /// ```
    pub fn nan_last(mut self, nan_last: bool) -> Self {
        self.nan_last = nan_last;
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
    /// - Result: the same as from one piece, stable sorts included. Rows and segments are cut only where one alone does not fit; those
    ///   that only the best keys are taken from, never.
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
    ///   with the sign bit set come first and the others last. [`Sorter::nan_last`] puts all of them last.
    /// - Result: a permutation of the input, bit for bit.
    /// - Memory: on the CPU in place, without any allocation at any length but for 512 KiB of counters for many keys of 16 bits; what
    ///   devices need, [`Sorter::plan`] says.
    /// - Errors: the keys are as they were. With [`Engine::Auto`] a device that fails is no error: the CPU goes on, and the
    ///   report says so.
    pub fn sort<K: Key>(&self, keys: &mut [K]) -> Result<Report, Error> {
        let request = Request::keys::<K>(Segments::one(keys.len()));
        // SAFETY: see `Keys`.
        self.run(request, &mut Keys(unsafe { as_bits_mut(keys) }))
    }

    /// Sorts every row of keys for itself, in place: the first `row_length` keys, then the next, and so on.
    ///
    /// - Order, result and errors: as in [`Sorter::sort`], and [`Error::Rows`] if the keys are no whole number of rows.
    /// - Memory: as in [`Sorter::sort`]; what devices need, [`Sorter::plan_rows`] says.
    ///
    /// ```
    /// let mut keys = [3, 1, 2, 9, 7, 8];
    /// bitonic::Sorter::new().sort_rows(&mut keys, 3)?;
    /// assert_eq!(keys, [1, 2, 3, 7, 8, 9]);
    /// # Ok::<(), bitonic::Error>(())
    /// ```
    pub fn sort_rows<K: Key>(&self, keys: &mut [K], row_length: usize) -> Result<Report, Error> {
        let request = Request::keys::<K>(Segments::rows(keys.len(), row_length)?);
        // SAFETY: see `Keys`.
        self.run(request, &mut Keys(unsafe { as_bits_mut(keys) }))
    }

    /// Sorts keys in place and moves every value with its key. Order and result as in [`Sorter::sort`].
    ///
    /// - Stability: values of equal keys keep their order with [`stable(true)`](Sorter::stable) only.
    /// - Memory: what [`Sorter::plan_pairs`] says: 8 bytes a pair where key and value pack into 64 bits, more otherwise. With
    ///   [`oblivious(true)`](Sorter::oblivious) 16 where they pack into 128 bits, and nothing where they do not and the sort is not stable.
    /// - Errors: [`Error::LengthMismatch`] if there is not one value for every key; nothing is moved then.
    pub fn sort_pairs<K: Key, V: Copy + Send>(
        &self,
        keys: &mut [K],
        values: &mut [V],
    ) -> Result<Report, Error> {
        check_lengths(keys, values)?;
        let request = Request::pairs::<K, V>(Segments::one(keys.len()));
        // SAFETY: see `Keys`.
        self.run(request, &mut Pairs(unsafe { as_bits_mut(keys) }, values))
    }

    /// Sorts every row of keys for itself, in place, and moves every value with its key: the first `row_length` keys, then the
    /// next, and so on.
    ///
    /// - Order, result and stability: as in [`Sorter::sort_pairs`].
    /// - Memory: what [`Sorter::plan_pairs_rows`] says.
    /// - Errors: [`Error::LengthMismatch`], and [`Error::Rows`] if the keys are not a whole number of rows; nothing is moved then.
    ///
    /// ```
    /// let (mut keys, mut values) = ([3, 1, 2, 9, 7, 8], ["c", "a", "b", "z", "x", "y"]);
    /// bitonic::Sorter::new().sort_pairs_rows(&mut keys, &mut values, 3)?;
    /// assert_eq!(values, ["a", "b", "c", "x", "y", "z"]);
    /// # Ok::<(), bitonic::Error>(())
    /// ```
    pub fn sort_pairs_rows<K: Key, V: Copy + Send>(
        &self,
        keys: &mut [K],
        values: &mut [V],
        row_length: usize,
    ) -> Result<Report, Error> {
        check_lengths(keys, values)?;
        let request = Request::pairs::<K, V>(Segments::rows(keys.len(), row_length)?);
        // SAFETY: see `Keys`.
        self.run(request, &mut PairsOfRows(Pairs(unsafe { as_bits_mut(keys) }, values)))
    }

    /// The index of every key in sorted order: `keys[result[0]]` is the first. Equal keys come by lowest index, in
    /// descending order too. The keys stay as they are.
    pub fn argsort<K: Key>(&self, keys: &[K]) -> Result<Vec<usize>, Error> {
        self.indices(keys, Segments::one(keys.len()))
    }

    /// The index of every key within its row, in the order of the row: the first `row_length` keys, then the next, and so on. Equal
    /// keys come by lowest index. The keys stay as they are.
    ///
    /// ```
    /// let order = bitonic::Sorter::new().argsort_rows(&[30, 10, 20, 9, 8, 7], 3)?;
    /// assert_eq!(order, [1, 2, 0, 2, 1, 0]);
    /// # Ok::<(), bitonic::Error>(())
    /// ```
    pub fn argsort_rows<K: Key>(&self, keys: &[K], row_length: usize) -> Result<Vec<usize>, Error> {
        self.indices(keys, Segments::rows(keys.len(), row_length)?)
    }

    /// As [`Sorter::argsort`], into a slice of as many indices as there are keys, of 32 or 64 bits.
    ///
    /// - Errors: [`Error::OutputLength`] if the slice has another length, [`Error::NoSuchPlace`] if there are more keys than its
    ///   indices can count; the slice is as it was then.
    ///
    /// ```
    /// let mut order = [0_u32; 4];
    /// bitonic::Sorter::new().argsort_into(&[30, 10, 20, 10], &mut order)?;
    /// assert_eq!(order, [1, 3, 2, 0]);
    /// # Ok::<(), bitonic::Error>(())
    /// ```
    pub fn argsort_into<K: Key, I: Index>(&self, keys: &[K], indices: &mut [I]) -> Result<(), Error> {
        if indices.len() != keys.len() {
            return Err(Error::OutputLength { needed: keys.len(), given: indices.len() });
        }
        let last = keys.len().saturating_sub(1);
        if I::from_usize(last).is_none() {
            return Err(Error::NoSuchPlace { index: last, len: keys.len() });
        }
        let mut places = indices.iter_mut();
        self.argsort_bits(as_bits(keys), K::TYPE, |index| {
            if let (Some(place), Some(index)) = (places.next(), I::from_usize(index)) {
                *place = index;
            }
        })
    }

    /// As [`Sorter::sort`], of the bits of keys of this type. What comes back is a permutation of them.
    #[cfg(feature = "external")]
    pub(crate) fn sort_bits<B: Bits>(&self, bits: &mut [B], key: KeyType) -> Result<Report, Error> {
        let request = Request { key, ..Request::keys::<u8>(Segments::one(bits.len())) };
        self.run(request, &mut Keys(bits))
    }

    /// As [`Sorter::argsort`], of the bits of keys of this type; hands over one index after the other.
    pub(crate) fn argsort_bits<B: Bits>(
        &self,
        bits: &[B],
        key: KeyType,
        take: impl FnMut(usize),
    ) -> Result<(), Error> {
        let request = Request { key, ..Request::argsort::<u8>(Segments::one(bits.len())) };
        let complete = self.complete(request);
        if self.device_for(&complete, &mut None)?.is_some() {
            let mut indices = Vec::new();
            self.run(request, &mut Argsort(bits, &mut indices))?;
            indices.into_iter().for_each(take);
            return Ok(());
        }
        cpu::for_each_index(bits, complete.map(), self.settings()?, take)
    }

    fn indices<K: Key>(&self, keys: &[K], segments: Segments) -> Result<Vec<usize>, Error> {
        let mut indices = Vec::new();
        self.run(Request::argsort::<K>(segments), &mut Argsort(as_bits(keys), &mut indices))?;
        Ok(indices)
    }

    /// What [`Sorter::sort`] would do with this many keys.
    pub fn plan<K: Key>(&self, len: usize) -> Result<Plan, Error> {
        self.plan_of(Request::keys::<K>(Segments::one(len)), cpu::plan_keys::<K::Bits>)
    }

    /// What [`Sorter::sort_rows`] would do with this many keys.
    pub fn plan_rows<K: Key>(&self, len: usize, row_length: usize) -> Result<Plan, Error> {
        self.plan_of(Request::keys::<K>(Segments::rows(len, row_length)?), cpu::plan_keys::<K::Bits>)
    }

    /// What [`Sorter::sort_pairs`] would do with this many keys and values.
    pub fn plan_pairs<K: Key, V>(&self, len: usize) -> Result<Plan, Error> {
        self.plan_of(Request::pairs::<K, V>(Segments::one(len)), cpu::plan_pairs::<K::Bits, V>)
    }

    /// What [`Sorter::sort_pairs_rows`] would do with this many keys and values.
    pub fn plan_pairs_rows<K: Key, V>(&self, len: usize, row_length: usize) -> Result<Plan, Error> {
        self.plan_of(Request::pairs::<K, V>(Segments::rows(len, row_length)?), cpu::plan_pairs::<K::Bits, V>)
    }

    /// What [`Sorter::argsort`] would do with this many keys.
    pub fn plan_argsort<K: Key>(&self, len: usize) -> Result<Plan, Error> {
        self.plan_of(Request::argsort::<K>(Segments::one(len)), cpu::plan_argsort::<K::Bits>)
    }

    /// What [`Sorter::argsort_rows`] would do with this many keys.
    pub fn plan_argsort_rows<K: Key>(&self, len: usize, row_length: usize) -> Result<Plan, Error> {
        self.plan_of(Request::argsort::<K>(Segments::rows(len, row_length)?), cpu::plan_argsort::<K::Bits>)
    }

    /// The one way: a request, an engine, its plan, the sort.
    fn run(&self, request: Request, operation: &mut dyn Operation) -> Result<Report, Error> {
        let is_timed = request.len() > Report::UNTIMED || self.engine.has_devices();
        let started = is_timed.then(Instant::now);
        let request = self.complete(request);
        let mut fallback = None;
        let device = self.device_for(&request, &mut fallback)?;
        self.run_with(device.as_deref(), &request, operation, fallback, started)
    }

    /// The sort on this device; or on the CPU if there is none, or it fails.
    #[inline(always)]
    fn run_with(
        &self,
        device: Option<&dyn DeviceEngine>,
        request: &Request,
        operation: &mut dyn Operation,
        mut fallback: Option<String>,
        started: Option<Instant>,
    ) -> Result<Report, Error> {
        if let Some(device) = device {
            match self.run_on(device, request, operation) {
                Ok((plan, times)) => return report(|| plan, Some(times), None, started),
                Err(error) => self.fall_back(error, &mut fallback)?,
            }
        }
        let settings = self.settings()?;
        let of_segment = operation.plan_for_cpu(request, settings);
        operation.run_on_cpu(request, settings)?;
        report(|| cpu::plan_request(request, settings, of_segment), None, fallback, started)
    }

    fn run_on(
        &self,
        device: &dyn DeviceEngine,
        request: &Request,
        operation: &mut dyn Operation,
    ) -> Result<(Plan, DeviceTimes), Error> {
        let means = self.means()?;
        let plan = device.plan(request, operation.offsets(), &means)?;
        let done = device.execute(&plan, operation.data(request)?, &means)?;
        Ok((done.plan, done.times))
    }

    fn plan_of(&self, request: Request, for_cpu: CpuPlanner) -> Result<Plan, Error> {
        self.plan_of_segments(request, None, for_cpu)
    }

    /// The same with the offsets of segments of different lengths.
    fn plan_of_segments(
        &self,
        request: Request,
        offsets: Option<&[usize]>,
        for_cpu: CpuPlanner,
    ) -> Result<Plan, Error> {
        let request = self.complete(request);
        if let Some(device) = self.device_by(worthwhile_to_plan, &request, &mut None)? {
            match self.means().and_then(|means| device.plan(&request, offsets, &means)) {
                Ok(plan) => return Ok(plan),
                Err(error) => self.fall_back(error, &mut None)?,
            }
        }
        let settings = self.settings()?;
        Ok(cpu::plan_request(&request, settings, for_cpu(&request, settings)))
    }

    /// The request with the options of this sorter.
    fn complete(&self, request: Request) -> Request {
        Request {
            order: self.order.unwrap_or_default(),
            nan_last: self.nan_last,
            stable: self.stable,
            oblivious: self.oblivious,
            ..request
        }
    }

    /// What a sort on a device may use.
    fn means(&self) -> Result<Means, Error> {
        let cuts = if self.no_chunks { Cuts::Nowhere } else { Cuts::Anywhere };
        Means::new(self.device_memory, cuts, self.threads)
    }

    /// The device that is to sort this, if it is not the CPU. With [`Engine::Auto`], a device that cannot be opened is a reason to
    /// fall back, not an error, and what it cannot do obliviously, the CPU can.
    fn device_for(
        &self,
        request: &Request,
        fallback: &mut Option<String>,
    ) -> Result<Option<Arc<dyn DeviceEngine>>, Error> {
        self.device_by(worthwhile, request, fallback)
    }

    /// The same, with [`Engine::Auto`] by this rule.
    fn device_by(
        &self,
        worthwhile: impl FnOnce(&Request) -> Option<Result<Arc<dyn DeviceEngine>, Error>>,
        request: &Request,
        fallback: &mut Option<String>,
    ) -> Result<Option<Arc<dyn DeviceEngine>>, Error> {
        match self.engine {
            Engine::Cpu => Ok(None),
            Engine::Auto => match worthwhile(request) {
                None => Ok(None),
                Some(Ok(device)) => Ok(request.check(device.facts().engine).is_ok().then_some(device)),
                Some(Err(error)) => self.fall_back(error, fallback).map(|()| None),
            },
            engine => {
                request.check(engine)?;
                (Backend::find(engine)?.open)(&self.device).map(Some)
            }
        }
    }

    /// Notes why the CPU goes on. An engine that was asked for by name has no substitute, unless what it did is wrong: nobody asked
    /// for that.
    fn fall_back(&self, error: Error, fallback: &mut Option<String>) -> Result<(), Error> {
        match &error {
            Error::WrongResult { device, driver, plan, finding } => {
                tracing::warn!(device, driver, plan, finding, "the result is wrong; the CPU sorts instead");
            }
            _ if self.engine != Engine::Auto => return Err(error),
            _ => tracing::warn!(%error, "the device failed; the CPU sorts instead"),
        }
        *fallback = Some(error.to_string());
        Ok(())
    }

    pub(crate) fn settings(&self) -> Result<Settings, Error> {
        let instructions = self.instructions.map_or_else(|| Ok(Available::detected()), Available::require)?;
        let order = self.order.unwrap_or_default();
        let Self { nan_last, threads, oblivious, .. } = *self;
        Ok(Settings { order, nan_last, threads, oblivious, instructions })
    }
}

fn check_lengths<K, V>(keys: &[K], values: &[V]) -> Result<(), Error> {
    if keys.len() == values.len() {
        return Ok(());
    }
    Err(Error::LengthMismatch { keys: keys.len(), values: values.len() })
}

/// The report of a sort that is done. Inlined, and with a plan that is made in its place, for the reason that [`cpu::plan_request`] is.
#[inline(always)]
fn report(
    plan: impl FnOnce() -> Plan,
    times: Option<DeviceTimes>,
    fallback: Option<String>,
    started: Option<Instant>,
) -> Result<Report, Error> {
    let elapsed = started.map_or(Duration::ZERO, |started| started.elapsed());
    let done = Ok(Report { plan: plan(), elapsed, times, fallback });
    if let Ok(report) = &done {
        tracing::debug!(%report, "sorted");
    }
    done
}

/// What the CPU would do with a segment.
type CpuPlanner = fn(&Request, Settings) -> KeysPlan;

/// The caller's arrays, as bits: what an operation does with them on the CPU, and as bytes for a device. The request says of which type
/// the keys are.
trait Operation {
    fn plan_for_cpu(&self, request: &Request, settings: Settings) -> KeysPlan;

    fn run_on_cpu(&mut self, request: &Request, settings: Settings) -> Result<(), Error>;

    fn data(&mut self, request: &Request) -> Result<HostData<'_>, Error>;

    /// Where segments of different lengths begin and end.
    fn offsets(&self) -> Option<&[usize]> {
        None
    }
}

/// The bits of keys. The CPU gives back a permutation of them, and so keys. An executor writes nothing but whole results, and checks
/// that they are keys (`key::are_valid`).
struct Keys<'a, B>(&'a mut [B]);

impl<B: Bits> Operation for Keys<'_, B> {
    fn plan_for_cpu(&self, request: &Request, settings: Settings) -> KeysPlan {
        cpu::plan_keys::<B>(request, settings)
    }

    fn run_on_cpu(&mut self, request: &Request, settings: Settings) -> Result<(), Error> {
        cpu::sort_segments(self.0, request.map(), request.segments, settings)
    }

    fn data(&mut self, _: &Request) -> Result<HostData<'_>, Error> {
        Ok(HostArrays::Keys(bits_as_bytes_mut(self.0)).into())
    }
}

struct Pairs<'a, B, V>(&'a mut [B], &'a mut [V]);

impl<B: Bits, V: Copy + Send> Operation for Pairs<'_, B, V> {
    fn plan_for_cpu(&self, request: &Request, settings: Settings) -> KeysPlan {
        cpu::plan_pairs::<B, V>(request, settings)
    }

    fn run_on_cpu(&mut self, request: &Request, settings: Settings) -> Result<(), Error> {
        cpu::sort_pairs(self.0, self.1, request.map(), request.stable, settings)
    }

    fn data(&mut self, request: &Request) -> Result<HostData<'_>, Error> {
        Ok(arrays_of_pairs(self.0, self.1, request).into())
    }
}

/// Keys and values for a device.
fn arrays_of_pairs<'a, B: Bits, V: Copy>(
    keys: &'a mut [B],
    values: &'a mut [V],
    request: &Request,
) -> HostArrays<'a> {
    let keys = bits_as_bytes_mut(keys);
    if !request.carries_values() {
        return HostArrays::Gathered { keys, values: ValueBytes::new(values) };
    }
    // SAFETY: values that are carried are plain numbers, all of whose bytes are initialised, and any bytes are a value.
    let values =
        unsafe { std::slice::from_raw_parts_mut(values.as_mut_ptr().cast(), size_of_val::<[V]>(values)) };
    HostArrays::Pairs { keys, values }
}

/// Apart, so that programs without rows are built without the code for them.
struct PairsOfRows<'a, B, V>(Pairs<'a, B, V>);

impl<B: Bits, V: Copy + Send> Operation for PairsOfRows<'_, B, V> {
    fn plan_for_cpu(&self, request: &Request, settings: Settings) -> KeysPlan {
        self.0.plan_for_cpu(request, settings)
    }

    fn run_on_cpu(&mut self, request: &Request, settings: Settings) -> Result<(), Error> {
        let Pairs(keys, values) = &mut self.0;
        let bounds = Bounds::rows(keys.len(), request.segments.longest());
        cpu::sort_pairs_of_parts(keys, values, request.map(), bounds, request.stable, settings)
    }

    fn data(&mut self, request: &Request) -> Result<HostData<'_>, Error> {
        self.0.data(request)
    }
}

struct Argsort<'a, B>(&'a [B], &'a mut Vec<usize>);

impl<B: Bits> Operation for Argsort<'_, B> {
    fn plan_for_cpu(&self, request: &Request, settings: Settings) -> KeysPlan {
        cpu::plan_argsort::<B>(request, settings)
    }

    fn run_on_cpu(&mut self, request: &Request, settings: Settings) -> Result<(), Error> {
        *self.1 = cpu::argsort_segments(self.0, request.map(), request.segments, settings)?;
        Ok(())
    }

    fn data(&mut self, _: &Request) -> Result<HostData<'_>, Error> {
        Ok(arrays_of_indices(self.0, self.1)?.into())
    }
}

/// Keys for a device, and a place for the index of each.
fn arrays_of_indices<'a, B: Bits>(
    keys: &'a [B],
    indices: &'a mut Vec<usize>,
) -> Result<HostArrays<'a>, Error> {
    let bytes = keys.len().saturating_mul(size_of::<usize>());
    indices.try_reserve_exact(keys.len()).map_err(|_| Error::OutOfMemory { bytes })?;
    indices.resize(keys.len(), 0);
    Ok(HostArrays::Indices { keys: bits_as_bytes(keys), indices })
}

#[cfg(test)]
mod tests;
