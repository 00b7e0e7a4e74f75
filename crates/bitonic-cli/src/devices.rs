//! `bitonic devices`: what a sort can run on here, what each can do, and what is missing.

use crate::failure::Failure;
use crate::figures;
use crate::flags::in_flags;
use crate::options::INSTRUCTIONS_VARIABLE;
use crate::output;
use crate::table::Plain;
use bitonic::device::{self, DeviceChoice, DeviceFacts};
use bitonic::key::KeyType;
use bitonic::{Engine, Error, Instructions, Sorter};
use std::io::{self, Write};

/// What `bitonic devices` is asked for.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {}

const EXAMPLES: &str = "\
Examples:
  bitonic devices
  bitonic sort --engine opencl numbers.txt          sort on an engine of your choice
  bitonic sort --engine opencl --device 0 a.npy     on a device of your choice
  bitonic sort --instructions avx2 --random 16M     with an instruction set of your choice";

/// Prints the devices, the engines that have none, what devices allow, and the instruction sets of the processor.
pub(crate) fn run(_: Arguments) -> Result<(), Failure> {
    // The library passes over a name that it does not know; who looks here wants to know why.
    if let Ok(name) = std::env::var(INSTRUCTIONS_VARIABLE) {
        name.parse::<Instructions>()
            .map_err(|error| Failure::new(format!("{INSTRUCTIONS_VARIABLE}: {error}")))?;
    }
    // An engine without a driver has no devices; why is told with the engines.
    let facts = device::list();
    output::print(|out| {
        write_engines(out, &facts)?;
        if !facts.is_empty() {
            writeln!(out, "\n{}", limits(&facts))?;
            write!(out, "--device takes the index, the kind, or a part of the name or the platform.")?;
            writeln!(out, " Largest group: the most work-items that run together and share local memory.")?;
        }
        writeln!(out, "\n{}", instructions())?;
        let types: Vec<&str> = KeyType::ALL.iter().map(|key_type| key_type.name()).collect();
        writeln!(out, "Each engine sorts any number of keys, up or down, alone or with values:")?;
        writeln!(out, "{}.", types.join(", "))?;
        writeln!(out, "All give the same result, bit for bit.")
    })
}

fn write_engines(out: &mut dyn Write, facts: &[DeviceFacts]) -> io::Result<()> {
    let devices = bitonic::devices();
    let mut table = Plain::new(["engine", "device", "units", "sorts in fast memory"]).align_right(2..3);
    // Both lists have the devices in the same order.
    let mut indices = facts.iter().map(|facts| facts.index);
    for device in &devices {
        let sorter = Sorter::new().engine(device.engine);
        let sorter = match device.engine {
            Engine::Cpu => sorter,
            _ => sorter.device(indices.next().map_or(DeviceChoice::Best, DeviceChoice::Index)),
        };
        let units = device.units.to_string();
        table.add([device.engine.name(), &device.name, &units, &fast_memory(&sorter)]);
    }
    write!(out, "{table}")?;
    let missing = Engine::ALL.iter().filter(|&&engine| engine != Engine::Auto);
    for &engine in missing.filter(|&&engine| devices.iter().all(|device| device.engine != engine)) {
        writeln!(out, "not available: {engine}, {}", why_missing(engine))?;
    }
    Ok(())
}

/// How many keys a sort's plans bring in order without going back to main memory.
fn fast_memory(sorter: &Sorter) -> String {
    match sorter.plan::<u32>(1 << 30) {
        Ok(plan) => format!("2^{} u32 keys", plan.tile_keys().max(1).ilog2()),
        Err(_) => String::new(),
    }
}

fn why_missing(engine: Engine) -> String {
    match Sorter::new().engine(engine).plan::<u32>(1) {
        Err(Error::EngineUnavailable { reason, advice, .. }) => in_flags(format_args!("{reason}; {advice}")),
        Err(other) => in_flags(other),
        Ok(_) => "no device found".to_owned(),
    }
}

/// What the devices have and allow.
fn limits(devices: &[DeviceFacts]) -> Plain {
    let heading = [
        "engine",
        "index",
        "device",
        "kind",
        "memory",
        "largest buffer",
        "largest group",
        "local memory",
        "driver",
    ];
    let mut table = Plain::new(heading).align_right(4..8);
    for info in devices {
        table.add([
            info.engine.name(),
            &info.index.to_string(),
            &info.name,
            info.kind.name(),
            &figures::bytes(info.memory_bytes),
            &figures::bytes(info.buffer_bytes),
            &info.group_size.to_string(),
            &figures::bytes(info.local_bytes as u64),
            &format!("{}, {}", info.driver, info.interface),
        ]);
    }
    table
}

/// The instruction sets that the cpu engine has kernels for, fastest first.
fn instructions() -> Plain {
    let mut table = Plain::new(["instructions", "of the cpu engine, fastest first"]);
    for &set in Instructions::ALL {
        let state = match set.is_available() {
            true if set == Instructions::detected() => "available, used unless --instructions says otherwise",
            true => "available",
            false => "not available: this processor lacks them",
        };
        table.add([set.name(), state]);
    }
    table
}
