//! Machines that sorts are planned for: those that the page knows, and those that the command finds and puts into it.

use bitonic::device::{DeviceFacts, DeviceKind};
use bitonic::plan::{Limits, Place, Plan};
use bitonic::{Engine, Error};
use serde::{Deserialize, Serialize};

/// A machine, as far as plans depend on it.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(tag = "is", rename_all = "snake_case")]
pub enum Machine {
    /// A device: the library plans for it.
    Device(Device),
    /// A processor, through the library's CPU engine.
    Processor {
        /// The bytes of a vector register.
        vector_bytes: u32,
    },
    /// Kernels that somebody might write.
    Own(Own),
}

/// A machine with its name in the page's list.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Named {
    /// What the list says.
    pub name: String,
    /// The name under which the page has recorded times of it, if it has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recorded: Option<String>,
    /// The machine.
    pub machine: Machine,
}

/// What plans need to know of a device: [`DeviceFacts`] in words that JSON has.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Device {
    name: String,
    engine: String,
    kind: String,
    units: u64,
    group_size: u64,
    local_bytes: u64,
    own_local_bytes: u64,
    memory_bytes: u64,
    buffer_bytes: u64,
    shares_host_memory: bool,
    cluster_log2: u32,
    overlaps_kernels: bool,
    exchanges_in_passes: bool,
    has_work_memory: bool,
    copy_bytes_per_second: Option<f64>,
}

/// How kernels cut the network, and what a work-item holds.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, Serialize)]
pub struct Own {
    /// The base-2 logarithm of the keys in a tile.
    pub tile_log2: u32,
    /// The most steps of a pass over memory.
    pub fused_steps: u32,
    /// The base-2 logarithm of the keys that a work-item holds in a tile.
    pub held_log2: u32,
    /// The base-2 logarithm of the work-items that exchange keys without waiting for others; 0 for none.
    pub lanes_log2: u32,
}

impl Machine {
    /// The machine of a plan, cut as the plan cuts the network: for plans that were made elsewhere.
    pub fn of_plan(plan: &Plan) -> Self {
        let (limits, key_bytes) = (plan.limits, plan.request.key.bytes());
        match &plan.kernels {
            None => Self::Processor { vector_bytes: vector_bytes(limits, key_bytes) },
            Some(kernels) => {
                let tile = kernels.launches.iter().find(|launch| launch.place == Some(Place::Tile));
                let held = tile.map_or(2, |tile| tile.held_bytes / kernels.element_bytes.max(1));
                Self::Own(Own {
                    tile_log2: limits.tile_log2,
                    fused_steps: limits.fused_steps,
                    held_log2: held.max(2).ilog2(),
                    lanes_log2: lanes_log2(plan.engine),
                })
            }
        }
    }
}

/// The machines that every page knows.
pub(crate) fn known() -> Vec<Named> {
    let processor = |name: &str, recorded: &str, vector_bytes| Named {
        name: name.to_owned(),
        recorded: Some(recorded.to_owned()),
        machine: Machine::Processor { vector_bytes },
    };
    let device = |name: &str, recorded: Option<&str>, facts: &DeviceFacts| Named {
        name: name.to_owned(),
        recorded: recorded.map(str::to_owned),
        machine: Machine::Device(Device::of(facts)),
    };
    vec![
        processor("a laptop’s processor, with AVX2", "avx2", 32),
        processor("a processor with AVX-512", "avx512", 64),
        device("a processor through PoCL", Some("pocl"), &DeviceFacts::pocl()),
        device("a plain GPU, through OpenCL", None, &DeviceFacts::plain_gpu()),
        device("an NVIDIA H200, through CUDA", Some("h200"), &DeviceFacts::nvidia_h200()),
    ]
}

impl Named {
    /// A device with these facts, under its own name.
    pub fn device(facts: &DeviceFacts) -> Self {
        Self {
            name: format!("{}, through {}", facts.name, facts.platform),
            recorded: None,
            machine: Machine::Device(Device::of(facts)),
        }
    }
}

impl Device {
    fn of(facts: &DeviceFacts) -> Self {
        Self {
            name: facts.name.clone(),
            engine: facts.engine.name().to_owned(),
            kind: facts.kind.name().to_owned(),
            units: facts.units as u64,
            group_size: facts.group_size as u64,
            local_bytes: facts.local_bytes as u64,
            own_local_bytes: facts.own_local_bytes as u64,
            memory_bytes: facts.memory_bytes,
            buffer_bytes: facts.buffer_bytes,
            shares_host_memory: facts.shares_host_memory,
            cluster_log2: facts.cluster_log2,
            overlaps_kernels: facts.overlaps_kernels,
            exchanges_in_passes: facts.exchanges_in_passes,
            has_work_memory: facts.has_work_memory,
            copy_bytes_per_second: facts.copy_bytes_per_second,
        }
    }

    /// The same for the library's planner.
    pub(crate) fn facts(&self) -> Result<DeviceFacts, String> {
        let whole = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
        let kind = DeviceKind::ALL.iter().copied().find(|kind| kind.name() == self.kind);
        let mut facts = DeviceFacts::plain_gpu();
        facts.engine = self.engine.parse().map_err(|error: Error| error.to_string())?;
        facts.kind = kind.ok_or_else(|| format!("there is no kind of device called `{}`", self.kind))?;
        facts.name.clone_from(&self.name);
        facts.units = whole(self.units);
        facts.group_size = whole(self.group_size);
        facts.local_bytes = whole(self.local_bytes);
        facts.own_local_bytes = whole(self.own_local_bytes);
        facts.memory_bytes = self.memory_bytes;
        facts.buffer_bytes = self.buffer_bytes;
        facts.shares_host_memory = self.shares_host_memory;
        facts.cluster_log2 = self.cluster_log2;
        facts.overlaps_kernels = self.overlaps_kernels;
        facts.exchanges_in_passes = self.exchanges_in_passes;
        facts.has_work_memory = self.has_work_memory;
        facts.copy_bytes_per_second = self.copy_bytes_per_second;
        Ok(facts)
    }
}

/// The base-2 logarithm of the work-items that exchange keys without waiting for others: a warp of CUDA. Through OpenCL the kernels
/// let the whole group wait.
pub(crate) fn lanes_log2(engine: Engine) -> u32 {
    if engine == Engine::Cuda { 5 } else { 0 }
}

/// The most rows of registers in a tile of the CPU engine.
pub(crate) const ROWS_LOG2: u32 = 8;

/// The vector registers of a CPU engine that cuts the network like this. The scalar network, which fuses no steps, has a key in each.
fn vector_bytes(limits: Limits, key_bytes: usize) -> u32 {
    let keys_log2 = if limits.fused_steps == 1 { 0 } else { limits.tile_log2.saturating_sub(ROWS_LOG2) };
    (key_bytes as u32) << keys_log2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facts_of_a_device_come_back_from_json() {
        for facts in [DeviceFacts::nvidia_h200(), DeviceFacts::plain_gpu(), DeviceFacts::pocl()] {
            let text = serde_json::to_string(&Machine::Device(Device::of(&facts))).unwrap();
            let Ok(Machine::Device(device)) = serde_json::from_str(&text) else { panic!("{text}") };
            let back = device.facts().unwrap();
            let same = |facts: &DeviceFacts| Device::of(facts);
            assert_eq!(same(&back), same(&facts));
            assert_eq!((back.engine, back.kind), (facts.engine, facts.kind));
        }
    }

    #[test]
    fn what_is_not_a_device_is_refused() {
        let mut device = Device::of(&DeviceFacts::pocl());
        device.kind = "toaster".to_owned();
        assert_eq!(device.facts().unwrap_err(), "there is no kind of device called `toaster`");
        device.engine = "steam".to_owned();
        assert!(device.facts().unwrap_err().contains("steam"));
    }

    #[test]
    fn the_vector_registers_of_a_tile_are_those_of_the_cpu_engine() {
        for instructions in bitonic::Instructions::ALL.iter().filter(|set| set.is_available()) {
            let sorter =
                bitonic::Sorter::new().engine(Engine::Cpu).instructions(*instructions).oblivious(true);
            let bytes = |machine| match machine {
                Machine::Processor { vector_bytes } => vector_bytes,
                other => panic!("{other:?}"),
            };
            let of_u16 = bytes(Machine::of_plan(&sorter.plan::<u16>(1 << 20).unwrap()));
            let of_u32 = bytes(Machine::of_plan(&sorter.plan::<u32>(1 << 20).unwrap()));
            let of_u64 = bytes(Machine::of_plan(&sorter.plan::<u64>(1 << 20).unwrap()));
            let expected = match instructions.name() {
                "avx512" => 64,
                "avx2" => 32,
                _ => of_u32,
            };
            assert_eq!([of_u16, of_u32, of_u64], [expected; 3], "{instructions}");
            let of_u128 = bytes(Machine::of_plan(&sorter.plan::<u128>(1 << 20).unwrap()));
            assert_eq!(of_u128, if instructions.name() == "avx512" { 64 } else { 16 }, "{instructions}");
        }
    }
}
