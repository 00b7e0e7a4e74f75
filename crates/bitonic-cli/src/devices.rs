//! `bitonic devices`: what a sort can run on here, what each can do, and what is missing.

use crate::failure::Failure;
use crate::options::INSTRUCTIONS_VARIABLE;
use crate::output;
use crate::table::Plain;
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
  bitonic sort --engine cpu numbers.txt             sort on an engine of your choice
  bitonic sort --instructions avx2 --random 16M     with an instruction set of your choice";

/// Prints the devices, the engines that have none, and the instruction sets of the processor.
pub(crate) fn run(_: Arguments) -> Result<(), Failure> {
    // The library passes over a name that it does not know; who looks here wants to know why.
    if let Ok(name) = std::env::var(INSTRUCTIONS_VARIABLE) {
        name.parse::<Instructions>()
            .map_err(|error| Failure::new(format!("{INSTRUCTIONS_VARIABLE}: {error}")))?;
    }
    output::print(|out| {
        write_engines(out)?;
        writeln!(out, "\n{}", instructions())?;
        let types: Vec<&str> = KeyType::ALL.iter().map(|key_type| key_type.name()).collect();
        writeln!(out, "Each engine sorts any number of keys, up or down, alone or with values:")?;
        writeln!(out, "{}.", types.join(", "))?;
        writeln!(out, "All give the same result, bit for bit.")
    })
}

fn write_engines(out: &mut dyn Write) -> io::Result<()> {
    let devices = bitonic::devices();
    let mut table = Plain::new(["engine", "device", "units", "sorts in fast memory"]).align_right(2..3);
    for device in &devices {
        let units = device.units.to_string();
        table.add([device.engine.name(), &device.name, &units, &fast_memory(device.engine)]);
    }
    write!(out, "{table}")?;
    let missing = Engine::ALL.iter().filter(|&&engine| engine != Engine::Auto);
    for &engine in missing.filter(|&&engine| devices.iter().all(|device| device.engine != engine)) {
        writeln!(out, "not available: {engine}, {}", why_missing(engine))?;
    }
    Ok(())
}

/// How many keys an engine's plans sort without going back to main memory.
fn fast_memory(engine: Engine) -> String {
    match Sorter::new().engine(engine).plan::<u32>(1 << 30) {
        Ok(plan) => format!("2^{} u32 keys", plan.limits.tile_log2),
        Err(_) => String::new(),
    }
}

fn why_missing(engine: Engine) -> String {
    match Sorter::new().engine(engine).plan::<u32>(1) {
        Err(Error::EngineUnavailable { reason, advice, .. }) => format!("{reason}; {advice}"),
        Err(other) => other.to_string(),
        Ok(_) => "no device found".to_owned(),
    }
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
