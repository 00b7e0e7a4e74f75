//! `bitonic tune`: finds out how a device sorts fastest, and remembers it.

use crate::failure::Failure;
use crate::figures::{counted, ratio, time};
use crate::output;
use crate::progress::Progress;
use crate::quantity;
use crate::table::Plain;
use crate::word::Word;
use bitonic::device::{self, DeviceChoice, Effort, TuneReport};
use bitonic::{Engine, Error};
use std::ffi::OsStr;
use std::io::{self, Write};

/// What `bitonic tune` is asked for.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The engine whose device is tuned: `opencl`, `cuda`, or `auto` for every one that has a device
    #[arg(long, value_name = "ENGINE", default_value = "auto", value_parser = Word::one_of("engine", Engine::ALL, Engine::name))]
    engine: Engine,
    /// The device: an index, `cpu`, `gpu`, a part of its name, or `best`; `bitonic devices` lists what is here
    #[arg(long, value_name = "DEVICE", default_value = "best", value_parser = Word::device())]
    device: DeviceChoice,
    /// Fewer lengths and 32-bit keys only: seconds instead of minutes
    #[arg(long)]
    quick: bool,
}

const EXAMPLES: &str = "\
Tries ways to cut a sort into passes, verifies the result of each, and keeps the fastest for all later sorts on the device. \
Then compares with the processor, transfers included: `--engine auto` takes the device where it was faster. Nothing \
has to be tuned; what is not is cut by rules that suit most devices.

Examples:
  bitonic tune
  bitonic tune --engine cuda --quick
  bitonic tune --device gpu --quick
  BITONIC_CACHE_DIR=here bitonic tune      keep the result in a folder of your choice";

/// Tunes, and prints what was found.
pub(crate) fn run(arguments: Arguments) -> Result<(), Failure> {
    let effort = if arguments.quick { Effort::Quick } else { Effort::Full };
    let mut is_tuned = false;
    let mut missing = None;
    for engine in engines(arguments.engine)? {
        let device = match device::open(engine, &arguments.device) {
            Ok(device) => device,
            // Not every machine has every engine, and not every engine every device; what was asked for by name must be there.
            Err(error @ (Error::EngineUnavailable { .. } | Error::NoSuchDevice { .. }))
                if arguments.engine == Engine::Auto =>
            {
                missing = Some(error);
                continue;
            }
            Err(error) => return Err(error.into()),
        };
        // How much there is to do is known when the first part is done.
        let progress = Progress::bar("tuning", 1);
        let report = device.tune(effort, &mut |done, amount| progress.reach(done, amount))?;
        drop(progress);
        is_tuned = true;
        output::print(|out| write_report(out, engine, &report))?;
    }
    match missing {
        Some(error) if !is_tuned => Err(error.into()),
        _ => Ok(()),
    }
}

/// The engines to tune.
fn engines(asked: Engine) -> Result<Vec<Engine>, Failure> {
    match asked {
        Engine::Auto => Ok(device::engines().collect()),
        Engine::Cpu => Err(Failure::new("the cpu engine needs no tuning: choose opencl, cuda or auto")),
        engine => Ok(vec![engine]),
    }
}

fn write_report(out: &mut dyn Write, engine: Engine, report: &TuneReport) -> io::Result<()> {
    let heading = ["element", "n", "default", "time", "best", "time", "gain", "tried", "refused"];
    let mut table = Plain::new(heading).align_right(0..2).align_right(3..4).align_right(5..9);
    for row in &report.rows {
        table.add([
            &counted(row.element_bytes, "byte"),
            &quantity::name(row.length),
            &row.default_shape,
            &time(row.default_time),
            &row.best_shape,
            &time(row.best_time),
            &ratio(row.default_time, row.best_time),
            &row.tried.to_string(),
            &row.refused.to_string(),
        ]);
    }
    writeln!(out, "{} ({engine})\n\n{table}", report.device)?;
    writeln!(
        out,
        "tile: keys that a work-group sorts in fast memory; held: keys in the registers of a work-item;"
    )?;
    writeln!(out, "fused: most steps of a pass over memory; items: work-items in a group of such a pass")?;
    writeln!(out, "refused: ways that the device's compiler does not take, or gets wrong\n")?;
    match report.faster_from {
        Some(length) => writeln!(
            out,
            "faster than the cpu engine from {} keys on, transfers included: --engine auto uses it from there on",
            quantity::name(length)
        )?,
        None => writeln!(out, "not faster than the cpu engine: --engine auto does not use it")?,
    }
    writeln!(out, "{}", kept(report.stored, std::env::var_os("BITONIC_CACHE_DIR").as_deref()))
}

/// Where the library keeps the result, as the variable has it, or that it could not.
fn kept(stored: bool, folder: Option<&OsStr>) -> String {
    match folder {
        Some(folder) if folder.is_empty() => {
            "not kept, because BITONIC_CACHE_DIR is empty: name a folder, or unset it".to_owned()
        }
        _ if !stored => {
            "not kept, because the cache folder cannot be written: name another in BITONIC_CACHE_DIR"
                .to_owned()
        }
        None => "kept in your cache folder, for all later sorts on this device".to_owned(),
        Some(folder) => {
            let folder = folder.display();
            format!("kept in {folder} (BITONIC_CACHE_DIR), for all later sorts with this folder")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_the_result_is_kept_is_what_the_variable_says() {
        assert!(kept(true, None).starts_with("kept in your cache folder"));
        assert!(
            kept(false, Some(OsStr::new(""))).starts_with("not kept, because BITONIC_CACHE_DIR is empty")
        );
        assert!(kept(true, Some(OsStr::new("a b"))).starts_with("kept in a b "));
        assert!(
            kept(false, Some(OsStr::new("a b"))).starts_with("not kept, because the cache folder cannot")
        );
        assert!(kept(false, None).starts_with("not kept, because the cache folder cannot"));
    }
}
