//! For tests: a sort by a given strategy, the CUDA device if there is one, and a device in host memory that sorts keys of any type,
//! counts what is asked of it, fails on demand, and makes mistakes on demand.

use super::DeviceState;
use super::choice::DeviceChoice;
use super::driver::{Argument, Command, DeviceBuffer, Driver, Grid, RepeatKey, Source, Transfer};
use super::element::Mapping;
use super::execute::{Buffers, sort_buffers};
use super::facts::DeviceFacts;
use super::job::Job;
use super::kernel::Part;
use super::lock::lock;
use super::strategy::{Network, Strategy, of_strategy};
use super::tuning::Tuning;
use crate::key::{BitMap, Bits, Key, KeyType, Order, as_bytes};
use crate::request::{Request, Segments};
use crate::{Engine, Error, Sorter};
use bitonic_testkit::{Pattern, TestKey};
use proptest::prelude::{Just, any, prop_oneof};
use proptest::strategy::Strategy as _;
use std::ops::Range;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// What is sorted with each key.
#[derive(Clone, Copy, Debug)]
pub(crate) enum With {
    Nothing,
    Values,
    Indices,
}

/// The request to sort segments so.
pub(crate) fn request_with<K: Key>(segments: Segments, with: With) -> Request {
    match with {
        With::Nothing => Request::keys::<K>(segments),
        With::Values => Request::pairs::<K, u32>(segments),
        With::Indices => Request::argsort::<K>(segments),
    }
}

/// The job of sorting one array so.
pub(crate) fn job_with<K: Key>(len: usize, with: With, order: Order) -> Job {
    Job::of(&Request { order, ..request_with::<K>(Segments::one(len), with) })
}

/// The keys as the CPU sorts them.
pub(crate) fn sorted<K: Key>(keys: &[K], order: Order) -> Vec<K> {
    let mut sorted = keys.to_vec();
    Sorter::new().engine(Engine::Cpu).order(order).sort(&mut sorted).expect("the CPU sorts");
    sorted
}

/// The places of the keys in stable order.
pub(crate) fn places<K: Key>(keys: &[K], order: Order) -> Vec<u32> {
    let stable = Sorter::new().engine(Engine::Cpu).order(order).argsort(keys);
    stable.expect("the CPU sorts").iter().map(|&place| place as u32).collect()
}

/// Sorts keys on a device by a strategy; with values, which are the places of the keys, if the job's elements have any.
pub(crate) fn sort_by_strategy<K: Key, D: Driver>(
    device: &D,
    keys: &[K],
    job: &Job,
    strategy: &dyn Strategy,
) -> (Vec<K>, Vec<u32>) {
    let limits = Network::new(job, device.facts(), &Tuning::default()).shape.limits();
    let plan = Arc::new(of_strategy(strategy, job, device.facts(), limits));
    let key_buffer = || device.allocate(size_of_val(keys)).expect("there is memory for the keys");
    let buffer = key_buffer();
    // Keys alone are sorted to another array by the plans that can, which may not read there what they have not written.
    let source = (plan.reads_source() && job.element.value_bits == 0).then(key_buffer);
    device.upload(as_bytes(keys), source.as_ref().unwrap_or(&buffer)).expect("keys go up");
    let mut values: Vec<u32> = (0..keys.len() as u32).collect();
    let value_buffer = (job.element.value_bits > 0).then(|| {
        let buffer = device.allocate(4 * keys.len()).expect("there is memory for the values");
        device.upload(as_bytes(&values), &buffer).expect("values go up");
        buffer
    });
    let buffers = Buffers { input: source.as_ref(), ..Buffers::new(&buffer, value_buffer.as_ref()) };
    sort_buffers(device, job, &plan, buffers).expect("the kernels run");
    let mut sorted = vec![0; size_of_val(keys)];
    if let Some(source) = &source {
        device.download(source, &mut sorted).expect("keys come down");
        assert!(sorted == as_bytes(keys), "the keys that are sorted to another array changed");
    }
    device.download(&buffer, &mut sorted).expect("keys come down");
    let sorted = sorted.chunks_exact(size_of::<K>());
    let sorted = sorted.map(|bytes| K::from_raw_bits(bytemuck::pod_read_unaligned(bytes))).collect();
    if let Some(buffer) = &value_buffer {
        device.download(buffer, bytemuck::cast_slice_mut(&mut values)).expect("values come down");
    }
    (sorted, values)
}

/// Rows to sort.
pub(crate) fn job_of_rows<K: Key>(rows: usize, row_length: usize, with: With, order: Order) -> Job {
    Job::of(&Request { order, ..request_with::<K>(Segments::Rows { rows, row_length }, with) })
}

/// Rows of these lengths and numbers, with and without values, and a device with limits of its own.
pub(crate) fn any_rows(
    lengths: Range<usize>,
    rows: Range<usize>,
) -> impl proptest::strategy::Strategy<Value = (Job, DeviceFacts)> {
    let local_kib = prop_oneof![Just(16_usize), Just(48), Just(227)];
    let any_of_all = (lengths, rows, any::<bool>(), any::<bool>(), 6_u32..11, local_kib);
    any_of_all.prop_map(|(row_length, rows, wide, values, group_log2, local_kib)| {
        let limits = DeviceFacts::nvidia_h200();
        let facts = DeviceFacts { group_size: 1 << group_log2, local_bytes: local_kib << 10, ..limits };
        let with = if values { With::Values } else { With::Nothing };
        let job_of = if wide { job_of_rows::<u64> } else { job_of_rows::<u32> };
        (job_of(rows, row_length, with, Order::Ascending), facts)
    })
}

/// Sorts rows on a device, and compares each with the CPU.
pub(crate) fn check_rows<K: Key + TestKey>(
    device: &impl Driver,
    rows: usize,
    row_length: usize,
    with: With,
    order: Order,
    strategy: &dyn Strategy,
) {
    let job = job_of_rows::<K>(rows, row_length, with, order);
    let mut keys: Vec<K> = Pattern::Random.generate(rows * row_length, 7);
    // Keys that are equal, and the last one of the order, which is what is past the end of a row.
    let last = sorted(&keys, order)[keys.len() - 1];
    keys.iter_mut().step_by(3).for_each(|key| *key = last);
    let (result, values) = sort_by_strategy(device, &keys, &job, strategy);
    for (row, row_keys) in keys.chunks_exact(row_length).enumerate() {
        let range = row * row_length..(row + 1) * row_length;
        let what =
            format!("row {row} of {row_length} {}-bit keys, {with:?}, {strategy:?}", job.element.key_bits);
        assert!(as_bytes(&result[range.clone()]) == as_bytes(&sorted(row_keys, order)), "{what}");
        let start = if matches!(with, With::Values) { range.start as u32 } else { 0 };
        let expected: Vec<u32> = places(row_keys, order).iter().map(|place| start + place).collect();
        assert!(matches!(with, With::Nothing) || values[range] == expected, "the values of {what}");
    }
}

/// A CUDA device; `None`, with a line that says so, where there is none and none is required.
#[cfg(feature = "cuda")]
pub(crate) fn cuda_device(test: &str) -> Option<super::cuda::Device> {
    let opened = super::cuda::Device::open(&DeviceChoice::Best);
    bitonic_testkit::device_or_skip(test, opened, "BITONIC_REQUIRE_CUDA")
}

/// The device in host memory. It takes the first kernel of a sequence that sorts for all of them, and sorts as its arguments say.
#[derive(Clone)]
pub(crate) struct HostDevice {
    pub(crate) facts: DeviceFacts,
    pub(crate) script: Arc<Mutex<Script>>,
    state: Arc<DeviceState<HostDevice>>,
}

/// What the device does besides sorting.
#[derive(Default)]
pub(crate) struct Script {
    /// The buffers that it gives, by how many were asked for before: the largest ones, the last for all that follow.
    pub(crate) grants: Vec<usize>,
    /// How many calls work before one fails; those after it work again.
    pub(crate) calls_before_failure: Option<usize>,
    /// Whether it makes indices that no key has.
    pub(crate) wrong_indices: bool,
    /// What the next sort takes by its clock; each takes a little less than the one before.
    pub(crate) elapsed: Duration,
    /// A mistake that it makes once.
    pub(crate) fault: Option<Fault>,
    /// Whether it has no groups that share their memory.
    pub(crate) refuses_clusters: bool,
    /// The lengths that it sorted.
    pub(crate) sorted: Vec<usize>,
    /// The kernels that were launched, and how.
    pub(crate) launched: Vec<(String, Grid)>,
    asked: usize,
    memory: Vec<Arc<Mutex<Vec<u8>>>>,
    /// How many bytes of each were last written by the host.
    used: Vec<usize>,
}

/// A mistake of the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    pub(crate) at: FaultAt,
    /// In which call of this kind it is made, counted from 0.
    pub(crate) call: usize,
    /// What is wrong, by chance.
    pub(crate) random: u64,
}

/// Where a mistake is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FaultAt {
    /// A kernel exchanges two elements, writes one twice, changes one, or does nothing.
    Launch,
    /// A bit changes on the way up.
    Upload,
    /// A bit changes on the way down.
    Download,
}

/// Changes one bit.
fn flip(bytes: &mut [u8], random: u64) {
    let bit = (random % (8 * bytes.len() as u64)) as usize;
    bytes[bit / 8] ^= 1 << (bit % 8);
}

impl HostDevice {
    /// With this much memory.
    pub(crate) fn new(bytes: u64) -> Self {
        let facts = DeviceFacts {
            engine: Engine::OpenCl,
            name: "a device in host memory".to_owned(),
            memory_bytes: bytes,
            buffer_bytes: bytes,
            ..DeviceFacts::plain_gpu()
        };
        Self::with_facts(facts)
    }

    pub(crate) fn with_facts(facts: DeviceFacts) -> Self {
        let script = Script { grants: vec![usize::MAX], ..Script::default() };
        Self { facts, script: Arc::new(Mutex::new(script)), state: Arc::default() }
    }

    pub(crate) fn script(&self) -> std::sync::MutexGuard<'_, Script> {
        lock(&self.script)
    }

    fn call(&self, operation: &'static str) -> Result<(), Error> {
        let mut script = self.script();
        let left = script.calls_before_failure;
        script.calls_before_failure = left.and_then(|left| left.checked_sub(1));
        match left {
            Some(0) => Err(Error::Device {
                device: self.facts.name.clone(),
                operation,
                reason: "it was told to fail".to_owned(),
            }),
            _ => Ok(()),
        }
    }

    /// The random number of the mistake, if it is to be made in this call.
    fn fault(&self, at: FaultAt) -> Option<u64> {
        let mut script = self.script();
        let fault = script.fault.as_mut().filter(|fault| fault.at == at)?;
        let random = fault.random;
        match fault.call.checked_sub(1) {
            Some(left) => {
                fault.call = left;
                None
            }
            None => {
                script.fault = None;
                Some(random)
            }
        }
    }

    /// The start of a buffer, as numbers of so many bytes.
    fn numbers(&self, memory: usize, each: usize) -> Vec<u128> {
        let bytes = self.script().memory[memory].clone();
        let bytes = lock(&bytes);
        let number = |bytes: &[u8]| {
            let mut number = [0; 16];
            number[..each].copy_from_slice(bytes);
            u128::from_le_bytes(number)
        };
        bytes.chunks_exact(each).map(number).collect()
    }

    fn set(&self, memory: usize, each: usize, numbers: impl Iterator<Item = u128>) {
        let bytes = self.script().memory[memory].clone();
        let mut bytes = lock(&bytes);
        for (place, number) in bytes.chunks_exact_mut(each).zip(numbers) {
            place.copy_from_slice(&number.to_le_bytes()[..each]);
        }
    }

    /// Sorts as the first kernel of the network would be told, or the first one that sorts segments of different lengths.
    fn sort(&self, kernel: &HostKernel, arguments: &[Argument<usize>]) {
        let memory: Vec<usize> = arguments
            .iter()
            .filter_map(|argument| match argument {
                Argument::Memory(memory) => Some(*memory),
                _ => None,
            })
            .collect();
        let numbers: Vec<u64> = arguments
            .iter()
            .filter_map(|argument| match argument {
                Argument::U32(number) => Some(u64::from(*number)),
                Argument::U64(number) => Some(*number),
                Argument::Memory(_) => None,
            })
            .collect();
        let (key_bytes, value_bytes) = (kernel.constant("KEY_BITS") / 8, kernel.constant("VALUE_BITS") / 8);
        let mapping = numbers.last().map_or(0, |&mapping| mapping as u32);
        let ordered = |key: u128| ordered_bits(key_bytes, mapping, key);
        let mut keys = self.numbers(memory[0], key_bytes);
        keys.truncate(self.script().used[memory[0]] / key_bytes);
        let indexed = kernel.constant("INDEXED") == 1;
        let ends: Vec<usize> = if kernel.name == SORTS_SEGMENTS {
            let (table, each) = (memory[memory.len() - 1], kernel.constant("OFFSET_BITS") / 8);
            let offsets = self.script().used[table] / each;
            self.numbers(table, each)[..offsets].iter().map(|&offset| offset as usize).collect()
        } else {
            (0..=keys.len() / numbers[0] as usize).map(|row| row * numbers[0] as usize).collect()
        };
        let rows = || ends.windows(2).map(|ends| ends[0]..ends[1]);
        let value_memory = memory.get(1).filter(|_| value_bytes > 0);
        let values: Vec<u128> = match value_memory {
            Some(&values) if !indexed => self.numbers(values, value_bytes),
            _ => rows().flat_map(|row| 0..row.len() as u128).collect(),
        };
        let unsorted: Vec<(u128, u128)> = keys.into_iter().zip(values).collect();
        let mut elements = unsorted.clone();
        for row in rows() {
            elements[row].sort_by_key(|&(key, value)| (ordered(key), if indexed { value } else { 0 }));
        }
        if let Some(random) = self.fault(FaultAt::Launch) {
            go_wrong(&mut elements, &unsorted, 8 * key_bytes as u32, random);
        }
        self.set(memory[0], key_bytes, elements.iter().map(|&(key, _)| key));
        if let Some(&values) = value_memory {
            let wrong = if self.script().wrong_indices { elements.len() as u128 } else { 0 };
            self.set(values, value_bytes, elements.iter().map(|&(_, value)| value + wrong));
        }
        self.script().sorted.push(elements.len());
    }
}

/// The kernel that sorts segments of different lengths.
const SORTS_SEGMENTS: &str = "segment_sort";

/// Makes a wrong result of a right one, whose elements are not all equal or have bits to change.
fn go_wrong(elements: &mut [(u128, u128)], unsorted: &[(u128, u128)], key_bits: u32, random: u64) {
    let (kind, random) = (random % 4, random / 4);
    let one = random as usize % elements.len();
    let other = elements.iter().position(|&(key, _)| key != elements[one].0);
    let is_sorted = elements.iter().zip(unsorted).all(|(sorted, unsorted)| sorted.0 == unsorted.0);
    match (kind, other) {
        (0, Some(other)) => elements.swap(one, other),
        (1, Some(other)) => elements[one] = elements[other],
        (2, _) if !is_sorted => elements.copy_from_slice(unsorted),
        _ => elements[one].0 ^= 1 << ((random >> 20) % u64::from(key_bits)),
    }
}

/// The ordered bits of a key, as a mapping of a kernel that loads and stores says.
fn ordered_bits(key_bytes: usize, mapping: u32, key: u128) -> u128 {
    let orders = [Order::Ascending, Order::Descending];
    let of_type = |&key: &KeyType| {
        orders.into_iter().flat_map(move |order| [false, true].map(|nan_last| (key, order, nan_last)))
    };
    // Types that have the same mapping have the same ordered bits.
    let mut all = KeyType::ALL.iter().filter(|key| key.bytes() == key_bytes).flat_map(of_type);
    let is = |&(key, order, nan_last): &_| Mapping::new(key, order, nan_last).argument(true, true) == mapping;
    let found = all.find(is).expect("a mapping is one of these");
    fn map<B: Bits>((key_type, order, nan_last): (KeyType, Order, bool), key: u128) -> u128 {
        BitMap::<B>::of(key_type, order, nan_last).to_ordered(B::truncate(key)).widen()
    }
    match key_bytes {
        1 => map::<u8>(found, key),
        2 => map::<u16>(found, key),
        4 => map::<u32>(found, key),
        8 => map::<u64>(found, key),
        _ => map::<u128>(found, key),
    }
}

/// Memory of the device.
pub(crate) struct HostBuffer {
    number: usize,
    bytes: Arc<Mutex<Vec<u8>>>,
}

impl DeviceBuffer for HostBuffer {
    type Memory = usize;

    fn bytes(&self) -> usize {
        lock(&self.bytes).len()
    }

    fn memory(&self) -> usize {
        self.number
    }
}

/// A kernel of the device.
#[derive(Clone)]
pub(crate) struct HostKernel {
    name: String,
    options: String,
}

impl HostKernel {
    /// A constant that it was built with.
    fn constant(&self, name: &str) -> usize {
        let mut all = self.options.split(' ').filter_map(|option| option.strip_prefix("-D")?.split_once('='));
        all.find(|(known, _)| *known == name).and_then(|(_, number)| number.parse().ok()).unwrap_or(0)
    }
}

// SAFETY: copies are those of slices.
unsafe impl Driver for HostDevice {
    type Buffer = HostBuffer;
    type Memory = usize;
    type Kernel = HostKernel;
    type Queue = ();
    type Span = ();

    const ENGINE: Engine = Engine::OpenCl;

    const PRELUDE: Part = Part { name: "prelude", text: "" };

    fn list() -> Result<Vec<DeviceFacts>, Error> {
        Ok(Vec::new())
    }

    fn open(_: &DeviceChoice) -> Result<Self, Error> {
        Ok(Self::new(1 << 20))
    }

    fn facts(&self) -> &DeviceFacts {
        &self.facts
    }

    fn identity(&self) -> String {
        "a device in host memory, for tests".to_owned()
    }

    fn state(&self) -> &DeviceState<Self> {
        &self.state
    }

    fn queue(&self) -> &() {
        &()
    }

    fn allocate(&self, bytes: usize) -> Result<HostBuffer, Error> {
        self.call("allocate")?;
        let mut script = self.script();
        let granted = script.grants[script.asked.min(script.grants.len() - 1)];
        script.asked += 1;
        if bytes > granted {
            let device = self.facts.name.clone();
            return Err(Error::DeviceMemory { device, bytes: bytes as u64, available: granted as u64 });
        }
        let buffer = HostBuffer { number: script.memory.len(), bytes: Arc::new(Mutex::new(vec![0; bytes])) };
        script.memory.push(buffer.bytes.clone());
        script.used.push(0);
        Ok(buffer)
    }

    fn upload(&self, from: &[u8], to: &HostBuffer) -> Result<Transfer, Error> {
        self.call("upload")?;
        self.script().used[to.number] = from.len();
        let mut bytes = lock(&to.bytes);
        bytes[..from.len()].copy_from_slice(from);
        if let Some(random) = self.fault(FaultAt::Upload) {
            flip(&mut bytes[..from.len()], random);
        }
        Ok(Transfer { bytes: from.len(), ..Transfer::default() })
    }

    fn download(&self, from: &HostBuffer, to: &mut [u8]) -> Result<Transfer, Error> {
        self.call("download")?;
        to.copy_from_slice(&lock(&from.bytes)[..to.len()]);
        if let Some(random) = self.fault(FaultAt::Download) {
            flip(to, random);
        }
        Ok(Transfer { bytes: to.len(), ..Transfer::default() })
    }

    fn copy(&self, _: &HostBuffer, _: &HostBuffer) -> Result<(), Error> {
        Ok(())
    }

    fn finish(&self) -> Result<(), Error> {
        Ok(())
    }

    fn build(&self, source: &Source<'_>) -> Result<HostKernel, Error> {
        Ok(HostKernel { name: source.kernel.to_owned(), options: format!("{} ", source.options) })
    }

    fn most_items(&self, _: &HostKernel) -> usize {
        self.facts.group_size
    }

    fn prepare(&self, _: &HostKernel, grid: Grid) -> Result<bool, Error> {
        Ok(grid.cluster == 1 || !self.script().refuses_clusters)
    }

    unsafe fn submit(&self, (): &(), commands: &[Command<'_, Self>], _: bool) -> Result<(), Error> {
        self.call("sort")?;
        let launched = commands.iter().map(|command| (command.kernel.name.clone(), command.grid));
        self.script().launched.extend(launched);
        let sorts_segments = commands.iter().find(|command| command.kernel.name == SORTS_SEGMENTS);
        if let Some(first) = sorts_segments.or(commands.first()) {
            self.sort(first.kernel, first.arguments.as_slice());
        }
        Ok(())
    }

    unsafe fn submit_again<'a>(
        &self,
        queue: &(),
        _: RepeatKey<usize>,
        commands: &mut dyn FnMut() -> Vec<Command<'a, Self>>,
        timed: bool,
    ) -> Result<(), Error> {
        // SAFETY: this device runs no kernels.
        unsafe { self.submit(queue, &commands(), timed) }
    }

    fn elapsed(&self, (): &(), (): &()) -> Result<Duration, Error> {
        let mut script = self.script();
        let less = script.elapsed.mul_f64(0.99);
        Ok(std::mem::replace(&mut script.elapsed, less))
    }
}

/// A device that notes what is launched on it, and refuses memory on demand.
#[derive(Clone)]
pub(crate) struct Recorded<D: Driver> {
    inner: D,
    /// The kernels that were launched, and how.
    pub(crate) launched: Arc<Mutex<Vec<(String, Grid)>>>,
    /// Which of the buffers that are asked for is refused, counted from 0.
    pub(crate) refused: Arc<Mutex<Option<usize>>>,
    state: Arc<DeviceState<Self>>,
}

impl<D: Driver> Recorded<D> {
    pub(crate) fn new(inner: D) -> Self {
        Self { inner, launched: Arc::default(), refused: Arc::default(), state: Arc::default() }
    }
}

/// A kernel with its name.
#[derive(Clone)]
pub(crate) struct Named<K> {
    name: String,
    kernel: K,
}

// SAFETY: everything is done by a device for which it holds.
unsafe impl<D: Driver> Driver for Recorded<D> {
    type Buffer = D::Buffer;
    type Memory = D::Memory;
    type Kernel = Named<D::Kernel>;
    type Queue = D::Queue;
    type Span = D::Span;

    const ENGINE: Engine = D::ENGINE;

    const PRELUDE: Part = D::PRELUDE;

    fn list() -> Result<Vec<DeviceFacts>, Error> {
        D::list()
    }

    fn open(choice: &DeviceChoice) -> Result<Self, Error> {
        D::open(choice).map(Self::new)
    }

    fn facts(&self) -> &DeviceFacts {
        self.inner.facts()
    }

    fn identity(&self) -> String {
        self.inner.identity()
    }

    fn state(&self) -> &DeviceState<Self> {
        &self.state
    }

    fn queue(&self) -> &D::Queue {
        self.inner.queue()
    }

    fn allocate(&self, bytes: usize) -> Result<D::Buffer, Error> {
        let mut refused = lock(&self.refused);
        let is_refused = *refused == Some(0);
        *refused = refused.and_then(|left| left.checked_sub(1));
        if is_refused {
            let device = self.facts().name.clone();
            return Err(Error::DeviceMemory { device, bytes: bytes as u64, available: 0 });
        }
        self.inner.allocate(bytes)
    }

    fn upload(&self, from: &[u8], to: &D::Buffer) -> Result<Transfer, Error> {
        self.inner.upload(from, to)
    }

    fn download(&self, from: &D::Buffer, to: &mut [u8]) -> Result<Transfer, Error> {
        self.inner.download(from, to)
    }

    fn copy(&self, from: &D::Buffer, to: &D::Buffer) -> Result<D::Span, Error> {
        self.inner.copy(from, to)
    }

    fn finish(&self) -> Result<(), Error> {
        self.inner.finish()
    }

    fn build(&self, source: &Source<'_>) -> Result<Named<D::Kernel>, Error> {
        Ok(Named { name: source.kernel.to_owned(), kernel: self.inner.build(source)? })
    }

    fn options(&self, launch: &crate::plan::Launch) -> String {
        self.inner.options(launch)
    }

    fn most_items(&self, kernel: &Named<D::Kernel>) -> usize {
        self.inner.most_items(&kernel.kernel)
    }

    fn prepare(&self, kernel: &Named<D::Kernel>, grid: Grid) -> Result<bool, Error> {
        self.inner.prepare(&kernel.kernel, grid)
    }

    unsafe fn submit(
        &self,
        queue: &D::Queue,
        commands: &[Command<'_, Self>],
        timed: bool,
    ) -> Result<D::Span, Error> {
        lock(&self.launched)
            .extend(commands.iter().map(|command| (command.kernel.name.clone(), command.grid)));
        let commands: Vec<Command<'_, D>> = commands
            .iter()
            .map(|&Command { kernel, grid, arguments }| Command { kernel: &kernel.kernel, grid, arguments })
            .collect();
        // SAFETY: as the caller says.
        unsafe { self.inner.submit(queue, &commands, timed) }
    }

    unsafe fn submit_again<'a>(
        &self,
        queue: &D::Queue,
        _: RepeatKey<D::Memory>,
        commands: &mut dyn FnMut() -> Vec<Command<'a, Self>>,
        timed: bool,
    ) -> Result<D::Span, Error> {
        // SAFETY: as the caller says.
        unsafe { self.submit(queue, &commands(), timed) }
    }

    fn elapsed(&self, first: &D::Span, last: &D::Span) -> Result<Duration, Error> {
        self.inner.elapsed(first, last)
    }
}
