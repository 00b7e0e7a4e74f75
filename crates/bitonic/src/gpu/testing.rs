//! For tests: a sort in a given shape, the CUDA device if there is one, and a device in host memory that sorts `u32` keys, counts
//! what is asked of it, and fails on demand.

use super::backend::{Backend, Kernels, Transfer};
use super::chunking::DeviceMemory;
use super::cuda;
use super::landing::Landing;
use super::launches::Job;
use super::layout::{Layout, Mapping};
use super::scratch::Memory;
use super::shape::{DeviceLimits, Shape};
use super::tuning::Tuning;
use crate::key::{BitMap, Key, KeyForm, Order, as_bytes, as_bytes_mut};
use crate::{Engine, Error};
use bitonic_testkit::device_or_skip;
use std::cell::{Cell, RefCell};

/// Sorts keys on a device in this shape; with values, which are the places of the keys, if the layout has any.
pub(crate) fn sort_in_shape<K: Key>(
    device: &impl Backend,
    keys: &[K],
    layout: Layout,
    order: Order,
    shape: Shape,
) -> (Vec<K>, Vec<u32>) {
    let job = Job { layout, mapping: Mapping::new::<K>(order), row_length: keys.len(), rows: 1 };
    let buffer = device.take_buffer(size_of_val(keys)).expect("there is memory for the keys");
    device.upload(as_bytes(keys), &buffer).expect("keys go up");
    let mut values: Vec<u32> = (0..keys.len() as u32).collect();
    let value_buffer = (layout.value_bits > 0).then(|| {
        let buffer = device.take_buffer(4 * keys.len()).expect("there is memory for the values");
        device.upload(as_bytes(&values), &buffer).expect("values go up");
        buffer
    });
    device.run(&job, shape, &buffer, value_buffer.as_ref()).expect("the kernels run");
    let mut sorted = keys.to_vec();
    device.download(&buffer, as_bytes_mut(&mut sorted)).expect("keys come down");
    if let Some(buffer) = &value_buffer {
        device.download(buffer, as_bytes_mut(&mut values)).expect("values come down");
    }
    [Some(buffer), value_buffer].into_iter().flatten().for_each(|buffer| device.give_buffer(buffer));
    (sorted, values)
}

/// A CUDA device; `None`, with a line that says so, where there is none and none is required.
pub(crate) fn cuda_device(test: &str) -> Option<cuda::Device> {
    device_or_skip(test, cuda::Device::open(&cuda::DeviceChoice::Best), "BITONIC_REQUIRE_CUDA")
}

/// The device in host memory.
pub(crate) struct HostDevice {
    /// What it allows.
    pub(crate) limits: DeviceLimits,
    /// What it says that it has.
    pub(crate) memory: DeviceMemory,
    /// The buffers that it does give, by how many were asked for before: the largest ones, the last for all that follow.
    pub(crate) grants: Vec<usize>,
    /// How many calls work before one fails; those after it work again.
    pub(crate) calls_before_failure: Cell<Option<usize>>,
    /// Whether it makes indices that no key has.
    pub(crate) wrong_indices: bool,
    /// The lengths that it sorted.
    pub(crate) sorted: RefCell<Vec<usize>>,
    asked: Cell<usize>,
    landing: Landing,
}

impl HostDevice {
    /// With this much memory.
    pub(crate) fn new(bytes: u64) -> Self {
        Self {
            limits: DeviceLimits::PLAIN_GPU,
            memory: DeviceMemory { bytes, buffer_bytes: bytes },
            grants: vec![usize::MAX],
            calls_before_failure: Cell::new(None),
            wrong_indices: false,
            sorted: RefCell::default(),
            asked: Cell::new(0),
            landing: Landing::default(),
        }
    }

    fn call(&self, operation: &'static str) -> Result<(), Error> {
        let left = self.calls_before_failure.get();
        self.calls_before_failure.set(left.and_then(|left| left.checked_sub(1)));
        match left {
            Some(0) => Err(Error::Device {
                device: self.name().to_owned(),
                operation,
                reason: "it was told to fail".to_owned(),
            }),
            _ => Ok(()),
        }
    }
}

/// Memory of the device.
pub(crate) struct HostBuffer {
    bytes: RefCell<Vec<u8>>,
}

impl HostBuffer {
    fn words(&self) -> Vec<u32> {
        self.bytes.borrow().as_chunks().0.iter().map(|&word| u32::from_ne_bytes(word)).collect()
    }

    fn set(&self, words: impl Iterator<Item = u32>) {
        let mut bytes = self.bytes.borrow_mut();
        bytes.clear();
        bytes.extend(words.flat_map(u32::to_ne_bytes));
    }
}

impl Memory for HostBuffer {
    fn bytes(&self) -> usize {
        self.bytes.borrow().len()
    }
}

impl Backend for HostDevice {
    type Buffer = HostBuffer;

    const ENGINE: Engine = Engine::Cpu;

    fn name(&self) -> &str {
        "a device in host memory"
    }

    fn limits(&self) -> DeviceLimits {
        self.limits
    }

    fn memory(&self) -> DeviceMemory {
        self.memory
    }

    fn tuning(&self) -> Option<&Tuning> {
        None
    }

    fn shares_host_memory(&self) -> bool {
        false
    }

    fn landing(&self) -> &Landing {
        &self.landing
    }

    fn take_buffer(&self, bytes: usize) -> Result<HostBuffer, Error> {
        self.call("allocate")?;
        let asked = self.asked.replace(self.asked.get() + 1);
        let granted = self.grants[asked.min(self.grants.len() - 1)];
        if bytes > granted {
            let device = self.name().to_owned();
            return Err(Error::DeviceMemory { device, bytes: bytes as u64, available: granted as u64 });
        }
        Ok(HostBuffer { bytes: RefCell::new(vec![0; bytes]) })
    }

    fn give_buffer(&self, _: HostBuffer) {}

    fn upload(&self, from: &[u8], to: &HostBuffer) -> Result<Transfer, Error> {
        self.call("upload")?;
        to.bytes.borrow_mut()[..from.len()].copy_from_slice(from);
        Ok(Transfer { bytes: from.len(), ..Transfer::default() })
    }

    fn download(&self, from: &HostBuffer, to: &mut [u8]) -> Result<Transfer, Error> {
        self.call("download")?;
        to.copy_from_slice(&from.bytes.borrow()[..to.len()]);
        Ok(Transfer { bytes: to.len(), ..Transfer::default() })
    }

    fn run(
        &self,
        job: &Job,
        _: Shape,
        keys: &HostBuffer,
        values: Option<&HostBuffer>,
    ) -> Result<Kernels, Error> {
        assert_eq!(job.layout.key_bits, 32, "this device knows u32 keys alone");
        self.call("sort")?;
        let is_descending = job.mapping == Mapping::new::<u32>(Order::Descending);
        let order = if is_descending { Order::Descending } else { Order::Ascending };
        let map = BitMap::new(KeyForm::Unsigned, order);
        let count = job.row_length * job.rows;
        let mut elements: Vec<(u32, u32)> = match values {
            Some(values) if !job.layout.indexed => keys.words().into_iter().zip(values.words()).collect(),
            _ => keys.words().into_iter().zip(0..).collect(),
        };
        assert_eq!(elements.len(), count, "the job is that of the buffers");
        for row in elements.chunks_mut(job.row_length.max(1)) {
            row.sort_by_key(|&(key, _)| map.to_ordered(key));
        }
        keys.set(elements.iter().map(|&(key, _)| key));
        let wrong = if self.wrong_indices { count as u32 } else { 0 };
        if let Some(values) = values {
            values.set(elements.iter().map(|&(_, value)| value + wrong));
        }
        self.sorted.borrow_mut().push(count);
        Ok(Kernels { launches: 1, ..Kernels::default() })
    }

    fn copy_bandwidth(&self) -> Option<f64> {
        None
    }
}
