//! `bitonic devices`: what a sort can run on here, what each can do, and what is missing.

use crate::failure::Failure;
use bitonic::key::KeyType;
use bitonic::{Engine, Error, Sorter};
use comfy_table::{Table, presets};
use std::io::{self, BufWriter, Write};

/// What `bitonic devices` is asked for.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {}

const EXAMPLES: &str = "\
Example:
  bitonic devices
  bitonic sort --engine cpu numbers.txt     sort on an engine of your choice";

/// Prints the devices, then the engines that have none.
pub(crate) fn run(_: Arguments) -> Result<(), Failure> {
    let mut output = BufWriter::new(io::stdout().lock());
    write_devices(&mut output).and_then(|()| output.flush()).map_err(Failure::output)
}

fn write_devices(output: &mut impl Write) -> io::Result<()> {
    let devices = bitonic::devices();
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_header(["engine", "device", "units", "sorts in fast memory"]);
    for device in &devices {
        let units = device.units.to_string();
        table.add_row([device.engine.name(), &device.name, &units, &fast_memory(device.engine)]);
    }
    writeln!(output, "{}", table.trim_fmt())?;

    let missing = Engine::ALL.iter().filter(|&&engine| engine != Engine::Auto);
    for &engine in missing.filter(|&&engine| devices.iter().all(|device| device.engine != engine)) {
        writeln!(output, "not available: {engine}, {}", why_missing(engine))?;
    }

    let types: Vec<&str> = KeyType::ALL.iter().map(|key_type| key_type.name()).collect();
    writeln!(output, "\nEach sorts any number of {} keys,", types.join(", "))?;
    writeln!(output, "up or down, alone or with values, in place, and all give the same result bit for bit.")
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
