//! `bitonic tune`: finds out how a device sorts fastest, and remembers it.

use crate::failure::Failure;
use crate::figures::{counted, ratio, time};
use crate::output;
use crate::progress::Progress;
use crate::quantity;
use crate::table::Plain;
use crate::word::Word;
use bitonic::device::{self, DeviceChoice, FasterFrom, OpenDevice, TuneReport, TunedDevice};
use bitonic::{Engine, Error};
use bitonic_testkit::record::date;
use std::ffi::OsStr;
use std::io::{self, Write};
use std::time::{Duration, Instant};

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
    /// Take 5 seconds instead of 30
    #[arg(long)]
    quick: bool,
    /// Take this many seconds, for all engines together
    #[arg(long, value_name = "SECONDS", value_parser = Word::count(), allow_negative_numbers = true, conflicts_with = "quick")]
    seconds: Option<usize>,
    /// Show what was tuned and kept, and tune nothing
    #[arg(long, conflicts_with_all = ["clear", "quick", "seconds", "engine", "device"])]
    show: bool,
    /// Forget what was tuned and kept; built kernels stay
    #[arg(long, conflicts_with_all = ["quick", "seconds", "engine", "device"])]
    clear: bool,
}

const EXAMPLES: &str = "\
Tries the strategies and ways to cut a sort into passes, verifies the result of each, and keeps the fastest for all later sorts on \
the device. Then compares with the processor, transfers included: `--engine auto` takes the device where it was faster by more than \
the times differ among themselves. What is found is kept at once, and what there was no time for comes first the next time. \
Nothing has to be tuned: a device that is not is cut by rules that suit most devices, and compared by the first long sort.

Examples:
  bitonic tune
  bitonic tune --engine cuda --quick
  bitonic tune --device gpu --seconds 120
  bitonic tune --show                      what was tuned, and where it is kept
  BITONIC_CACHE_DIR=here bitonic tune      keep the result in a folder of your choice";

const USUAL: Duration = Duration::from_secs(30);
const QUICK: Duration = Duration::from_secs(5);

/// Tunes, and prints what was found; or shows or forgets it.
pub(crate) fn run(arguments: Arguments) -> Result<(), Failure> {
    if arguments.show {
        return output::print(|out| write_kept(out, &device::tuned()));
    }
    if arguments.clear {
        return clear();
    }
    let budget = match (arguments.seconds, arguments.quick) {
        (Some(seconds), _) => Duration::from_secs(seconds as u64),
        (None, true) => QUICK,
        (None, false) => USUAL,
    };
    let end = Instant::now() + budget;
    let devices = open_all(&arguments)?;
    for (place, (engine, device)) in devices.iter().enumerate() {
        // Devices that need less leave more to the others.
        let share = end.saturating_duration_since(Instant::now()) / (devices.len() - place) as u32;
        let progress = Progress::timed("tuning", share);
        let report = device.tune(share, &mut |what| {
            progress.name(what.to_owned());
            progress.follow_clock();
        })?;
        drop(progress);
        output::print(|out| write_report(out, *engine, &report))?;
    }
    Ok(())
}

/// The devices to tune. Not every machine has every engine, and not every engine every device; what was asked for by name must be there.
fn open_all(arguments: &Arguments) -> Result<Vec<(Engine, OpenDevice)>, Failure> {
    let mut devices = Vec::new();
    let mut missing = None;
    for engine in engines(arguments.engine)? {
        match device::open(engine, &arguments.device) {
            Ok(device) => devices.push((engine, device)),
            Err(error @ (Error::EngineUnavailable { .. } | Error::NoSuchDevice { .. }))
                if arguments.engine == Engine::Auto =>
            {
                missing = Some(error);
            }
            Err(error) => return Err(error.into()),
        }
    }
    match missing {
        Some(error) if devices.is_empty() => Err(error.into()),
        _ => Ok(devices),
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
    if report.rows.is_empty() && report.faster_from.is_empty() {
        let device = &report.device;
        return writeln!(
            out,
            "{device} ({engine}): the time was too short to compare anything: allow more --seconds"
        );
    }
    writeln!(out, "{} ({engine})\n\n{table}", report.device)?;
    writeln!(
        out,
        "tile: keys that a work-group sorts in fast memory; held: keys in the registers of a work-item;"
    )?;
    writeln!(out, "fused: most steps of a pass over memory; items: work-items in a group of such a pass")?;
    writeln!(out, "refused: ways that the device's compiler does not take, or gets wrong\n")?;
    if report.faster_from.is_empty() && report.kinds_left == 0 {
        writeln!(out, "it is a processor, which the cpu engine uses better: --engine auto does not take it")?;
    } else {
        write_faster_from(out, &report.faster_from)?;
    }
    if report.rows_left + report.kinds_left > 0 {
        let lengths = counted(report.rows_left, "length");
        let kinds = counted(report.kinds_left, "comparison");
        writeln!(out, "no time was left for {lengths} and {kinds}: run it again, or with more --seconds")?;
    }
    writeln!(out, "{}", kept(report.stored, std::env::var_os("BITONIC_CACHE_DIR").as_deref()))
}

/// From which length on a device is faster, for each kind of sorts.
fn write_faster_from(out: &mut dyn Write, all: &[FasterFrom]) -> io::Result<()> {
    let mut table = Plain::new(["sorts", "faster than the cpu engine, transfers included"]);
    for FasterFrom { sorts, length, measured_up_to, .. } in all {
        let from = match length {
            Some(length) => format!("from n = {} on: --engine auto takes it there", quantity::name(*length)),
            None => format!("not up to n = {}", quantity::name(*measured_up_to)),
        };
        table.add([sorts, &from]);
    }
    writeln!(out, "{table}")
}

fn write_kept(out: &mut dyn Write, devices: &[TunedDevice]) -> io::Result<()> {
    match bitonic::cache_folder() {
        None => return writeln!(out, "nothing is kept, because BITONIC_CACHE_DIR is empty"),
        Some(folder) if devices.is_empty() => {
            return writeln!(out, "nothing was tuned yet: {} has no figures of a device", folder.display());
        }
        Some(folder) => writeln!(out, "kept in {}", folder.display())?,
    }
    for tuned in devices {
        writeln!(out, "\n{} ({})", tuned.device, tuned.engine)?;
        let driver = tuned.driver.as_ref().map(|driver| format!("driver {driver}"));
        let when = tuned.when.map(|when| format!("tuned on {}", date(when)));
        let file = tuned.file.as_ref().and_then(|file| file.file_name());
        let file = file.map(|file| format!("file {}", file.display()));
        let about: Vec<String> = [when, driver, file].into_iter().flatten().collect();
        match about.is_empty() {
            true => writeln!(out, "compared with the cpu engine by a first long sort, and not tuned\n")?,
            false => writeln!(out, "{}\n", about.join(", "))?,
        }
        if !tuned.sorts.is_empty() {
            let mut table =
                Plain::new(["element", "from n", "strategy", "shape of the network"]).align_right(0..2);
            for sort in &tuned.sorts {
                let bytes = counted(sort.element_bytes, "byte");
                let strategy = sort.strategy.unwrap_or("the usual one");
                table.add([&bytes, &quantity::name(sort.length), strategy, &sort.shape]);
            }
            writeln!(out, "{table}")?;
        }
        if !tuned.wrong.is_empty() {
            writeln!(out, "results were wrong with this driver, so these are never taken:")?;
            let mut table = Plain::new(["element", "shape of the network"]).align_right(0..1);
            for wrong in &tuned.wrong {
                table.add([&counted(wrong.element_bytes, "byte"), &wrong.shape]);
            }
            writeln!(out, "{table}")?;
        }
        if !tuned.faster_from.is_empty() {
            write_faster_from(out, &tuned.faster_from)?;
        }
    }
    Ok(())
}

fn clear() -> Result<(), Failure> {
    let removed = device::forget_tuned()
        .map_err(|error| Failure::new(format!("what was tuned cannot be removed: {error}")))?;
    output::print(|out| match removed.is_empty() {
        true => writeln!(out, "nothing was tuned, so nothing was removed"),
        false => removed.iter().try_for_each(|file| writeln!(out, "removed {}", file.display())),
    })
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
