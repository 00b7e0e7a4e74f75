//! `bitonic explore`: the page on which networks are watched, edited and proved.

use crate::failure::Failure;
use crate::output::{self, is_standard_stream};
use crate::word::Word;
use bitonic::device::{self, DeviceChoice, DeviceFacts};
use bitonic::{Engine, Error};
use bitonic_explorer::machine::Named;
use bitonic_explorer::{measured, page};
use serde_json::{Value, json};
use std::env;
use std::fs;
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// What `bitonic explore` is asked for.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The folder of a run of the laboratory, such as lab-quick: the page shows its times beside the ladder's rungs
    #[arg(value_name = "FOLDER")]
    run: Option<PathBuf>,
    /// The plan view shows sorts on this device: an index, `cpu`, `gpu`, a part of its name, or `best`; `bitonic devices`
    /// lists what is here
    #[arg(long, value_name = "DEVICE", value_parser = Word::device())]
    device: Option<DeviceChoice>,
    /// The engine whose device it is: `opencl`, `cuda`, or `auto` for the first one that has such a device
    #[arg(
        long,
        value_name = "ENGINE",
        default_value = "auto",
        requires = "device",
        value_parser = Word::one_of("engine", Engine::ALL, Engine::name)
    )]
    engine: Engine,
    /// Write the page to this file instead of opening it; `-` writes it to standard output
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

const EXAMPLES: &str = "\
The page is one file. It needs no network and no other file, so it can be kept, sent and opened anywhere.

Examples:
  bitonic explore                                   open it in the browser
  bitonic explore --output explorer.html            keep it
  bitonic explore lab-quick                         with the times that a laboratory run has measured
  bitonic explore --device gpu                      with plans for a device that is here
  bitonic network bitonic 16 --html bitonic.html    the page with this network
  bitonic explain --oblivious --html plan.html      the page with this plan";

/// Opens the page, or writes it.
pub(crate) fn run(arguments: Arguments) -> Result<(), Failure> {
    let content = content(&arguments)?;
    let page = match content.as_object().is_some_and(serde_json::Map::is_empty) {
        true => page::PAGE.to_owned(),
        false => page::open_with(&content),
    };
    if let Some(path) = arguments.output {
        return write(&path, &page);
    }
    let path = keep_in_temporary_folder(&page)?;
    output::print(|out| writeln!(out, "{}", path.display()))?;
    if io::stdout().is_terminal() && has_display() && !open(&path) {
        output::note("Open it in a browser: no program here could be asked to.\n");
    }
    Ok(())
}

/// Writes a page to a file, and says where it is unless it went to standard output.
pub(crate) fn write(path: &Path, page: &str) -> Result<(), Failure> {
    output::write(Some(path), |out| out.write_all(page.as_bytes()))?;
    match is_standard_stream(path) {
        true => Ok(()),
        false => output::print(|out| writeln!(out, "page written to {}", path.display())),
    }
}

/// What the page is opened with.
fn content(arguments: &Arguments) -> Result<Value, Failure> {
    let mut content = json!({});
    if let Some(choice) = &arguments.device {
        content["machines"] = json!([Named::device(&facts(arguments.engine, choice)?)]);
    }
    if let Some(folder) = &arguments.run {
        content["view"] = json!("ladder");
        content["measured"] = times_of(folder)?;
    }
    Ok(content)
}

/// The facts about a device that is here, and how fast it copies if somebody has measured that.
fn facts(engine: Engine, choice: &DeviceChoice) -> Result<DeviceFacts, Failure> {
    let engines: Vec<Engine> = match engine {
        Engine::Auto => device::engines().collect(),
        Engine::Cpu => {
            let reason = "--engine cpu: the processor is in the page's list; --device is for the opencl and cuda engines";
            return Err(Failure::new(reason));
        }
        engine => vec![engine],
    };
    let mut missing = None;
    for engine in engines {
        match device::open(engine, choice) {
            Ok(device) => return Ok(device.facts()),
            Err(error @ (Error::EngineUnavailable { .. } | Error::NoSuchDevice { .. })) => {
                // What is said in the end: a list of devices is of more use than an engine that is not here.
                let is_better = matches!(error, Error::NoSuchDevice { .. });
                if is_better || missing.is_none() {
                    missing = Some(error);
                }
            }
            Err(error) => return Err(error.into()),
        }
    }
    match missing {
        Some(error) => Err(error.into()),
        None => Err(Failure::new("--device: this command was built without the opencl and cuda engines")),
    }
}

/// The times of a run, as the page takes them.
fn times_of(folder: &Path) -> Result<Value, Failure> {
    let name = folder.display();
    let file = folder.join("summary.csv");
    let summary = fs::read_to_string(&file).map_err(|error| {
        let way_out = "name the folder of a run of 'bitonic lab run'";
        Failure::new(format!("cannot read {}: {error}: {way_out}", file.display()))
    })?;
    measured::of_summary(&summary, &format!("the machine of the run {name}")).ok_or_else(|| {
        Failure::new(format!(
            "{} has no measured times: finish the run with 'bitonic lab resume {name}'",
            file.display()
        ))
    })
}

/// The page that stands beside the report of a run, open at the ladder; nothing if no time was measured.
pub(crate) fn beside_report(summary: &str) -> Option<String> {
    let measured = measured::of_summary(summary, "the machine of this run")?;
    Some(page::open_with(&json!({ "view": "ladder", "measured": measured })))
}

/// A file that stays when the command ends, because the browser reads it later. Its name cannot be foreseen by others.
fn keep_in_temporary_folder(page: &str) -> Result<PathBuf, Failure> {
    let folder = env::temp_dir();
    let failed = |error: &io::Error| output::failure(folder.display(), error);
    let mut builder = tempfile::Builder::new();
    let mut file = builder
        .prefix("bitonic-explorer-")
        .suffix(".html")
        .tempfile_in(&folder)
        .map_err(|error| failed(&error))?;
    file.write_all(page.as_bytes()).map_err(|error| failed(&error))?;
    let (_, path) = file.keep().map_err(|error| failed(&error.error))?;
    Ok(path)
}

/// Whether a browser could show a window.
fn has_display() -> bool {
    cfg!(any(target_os = "macos", windows))
        || ["DISPLAY", "WAYLAND_DISPLAY"]
            .iter()
            .any(|name| env::var_os(name).is_some_and(|value| !value.is_empty()))
}

/// Asks the system to open the file with the program of the user's choice.
fn open(path: &Path) -> bool {
    let program = match env::consts::OS {
        "macos" => "open",
        "windows" => "explorer",
        _ => "xdg-open",
    };
    let mut command = Command::new(program);
    command.arg(path).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().is_ok()
}
