//! The part of a plan that a device runs: kernels in order, the memory they work in, and what to do when it refuses.

use super::{Algorithm, Limits};
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

/// The kernels that sort an array on a device, one after the other.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct KernelPlan {
    /// How the keys get into order.
    pub algorithm: Algorithm,
    /// What is launched, in order.
    pub launches: Vec<Launch>,
    /// What a key, with what travels with it, takes in registers and local memory.
    pub element_bytes: usize,
    /// Memory on the device beyond the arrays.
    pub work: WorkMemory,
    /// The device on which the figures were measured that shaped it.
    pub measured_on: &'static str,
    /// How the network is cut on this device, in place.
    pub limits: Limits,
    /// How many passes over the data the network in place would make, where this is another algorithm.
    pub network_passes: Option<usize>,
    /// The next best, if the device refuses the memory or the clusters of this one.
    pub fallback: Option<Arc<KernelPlan>>,
}

impl KernelPlan {
    /// The plan for nothing to sort.
    pub(crate) fn nothing() -> Self {
        Self {
            algorithm: Algorithm::Network,
            launches: Vec::new(),
            element_bytes: 0,
            work: WorkMemory::default(),
            measured_on: "",
            limits: Limits { tile_log2: 0, fused_steps: 1 },
            network_passes: None,
            fallback: None,
        }
    }

    /// How many launches read and write all of the data.
    pub fn passes(&self) -> usize {
        self.launches.iter().filter(|launch| launch.place.is_some()).count()
    }

    /// The most work-groups that have to run at the same time and share their local memory; 1 for none.
    pub fn cluster(&self) -> u32 {
        self.launches.iter().map(|launch| launch.cluster).max().unwrap_or(1)
    }

    /// The keys that a group, or groups that sort together, hold in local memory at most.
    pub fn tile_keys(&self) -> usize {
        let tiles = self.launches.iter().filter(|launch| launch.place == Some(Place::Tile));
        let keys = |launch: &Launch| {
            launch.group_size * launch.held_bytes / self.element_bytes * launch.cluster as usize
        };
        tiles.map(keys).max().unwrap_or(0)
    }

    /// Whether it can sort the keys of one array to another.
    #[cfg(any(feature = "cuda", all(test, feature = "opencl")))]
    pub(crate) fn reads_source(&self) -> bool {
        self.launches.iter().any(|launch| launch.arguments.contains(&Parameter::Source))
    }

    /// The plans to go on with if this one is refused, the best first.
    pub fn fallbacks(&self) -> impl Iterator<Item = &Arc<KernelPlan>> {
        std::iter::successors(self.fallback.as_ref(), |plan| plan.fallback.as_ref())
    }
}

/// Memory on a device beyond the arrays, in bytes: a second place for keys and for values, and counters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct WorkMemory {
    /// For keys.
    pub keys: usize,
    /// For values.
    pub values: usize,
    /// For counters.
    pub counters: usize,
}

impl WorkMemory {
    /// All of it.
    pub fn bytes(self) -> usize {
        self.keys.saturating_add(self.values).saturating_add(self.counters)
    }

    /// Where keys, values and counters begin, if all lie in one piece of memory.
    pub fn offsets(self) -> [usize; 3] {
        [0, self.keys, self.keys + self.values]
    }
}

/// One run of a kernel.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Launch {
    /// The kernel's name.
    pub kernel: &'static str,
    /// The constants that it is built with.
    pub constants: Vec<(&'static str, u32)>,
    /// How many work-groups run.
    pub groups: usize,
    /// The work-items of a group.
    pub group_size: usize,
    /// What the elements that a work-item holds take in registers.
    pub held_bytes: usize,
    /// The local memory of a group, in bytes.
    pub local_bytes: usize,
    /// How many groups have to run at the same time and share their local memory; 1 for none.
    pub cluster: u32,
    /// Whether it may start before the launch before it has ended.
    pub overlaps: bool,
    /// What the kernel is given, in order.
    pub arguments: Vec<Parameter>,
    /// Where the data sits, if the launch reads and writes all of it. Others sort a sample, or do nothing unless one failed.
    pub place: Option<Place>,
    /// The steps of the network that it does, by their number, where it is the network.
    pub steps: Range<u32>,
    /// What it costs, in plain copies of the data.
    pub copies: f64,
    /// What it does, in words.
    pub words: String,
}

/// Where the data of a pass sits while its steps are done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Place {
    /// A tile: a block of keys that fits the fastest memory, sorted or merged there whole.
    Tile,
    /// The whole array, streamed through memory once for the pass.
    Memory,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Tile => "tile",
            Self::Memory => "memory",
        })
    }
}

/// One thing that a kernel is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Parameter {
    /// The array of keys.
    Keys,
    /// The keys as they come, which are only read: those of the array of keys, or of another one where that is to get the sorted ones.
    Source,
    /// The array of values.
    Values,
    /// The keys that only the best are taken from. They stay.
    Input,
    /// Where segments of different lengths begin and end.
    Offsets,
    /// Working memory for keys.
    WorkKeys,
    /// Working memory for values.
    WorkValues,
    /// Counters.
    Counters,
    /// A number of elements or a place among them, in 32 bits.
    Index32(u32),
    /// A number of elements or a place among them, in 64 bits.
    Index64(u64),
    /// A number of 32 bits.
    Number(u32),
}
