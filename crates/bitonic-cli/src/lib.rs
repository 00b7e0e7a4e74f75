#![deny(unsafe_code)]
//! The `bitonic` command, for the program `bitonic` and for `python -m bitonic`.

mod bench;
mod completions;
mod devices;
mod explain;
mod explore;
mod failure;
mod flags;
mod input;
mod lab;
mod ladder;
mod lines;
mod network;
mod options;
mod output;
mod progress;
mod race;
mod random;
mod sort;
mod streams;
mod table;
mod text_position;
mod tune;
mod usage;
mod word;

use bitonic_lab::{figures, names, quantity};
use clap::{Parser, Subcommand};
use failure::Failure;
use std::ffi::OsString;
use std::sync::atomic::{AtomicBool, Ordering};

/// Sort with sorting networks, see them, prove them, measure them.
#[derive(Parser)]
#[command(
    name = "bitonic",
    bin_name = "bitonic",
    version,
    propagate_version = true,
    arg_required_else_help = true
)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Sort numbers from a file, from standard input, or made at random.
    Sort(sort::Arguments),
    /// Print the largest numbers of a file, or its lines with the largest numbers in a column.
    Top(sort::TopArguments),
    /// Draw, count, export or prove a sorting network.
    Network(network::Arguments),
    /// Open the explorer: a page on which networks are watched, edited and proved.
    Explore(explore::Arguments),
    /// List what a sort can run on here.
    Devices(devices::Arguments),
    /// List and run the ladder: every known way to write these sorts, from the first to the fastest.
    Ladder(ladder::Arguments),
    /// Print the plan of a sort: its passes, where they run, and the memory they need.
    Explain(explain::Arguments),
    /// Find out how a device sorts fastest, and remember it.
    Tune(tune::Arguments),
    /// Measure the engines.
    Bench(bench::Arguments),
    /// Measure sorts as an experiment: every result verified, with statistics, plots and a report.
    Lab(lab::Arguments),
    /// Print a script that completes this command's words in your shell.
    Completions(completions::Arguments),
}

/// What runs the command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Host {
    /// The program `bitonic`.
    Itself,
    /// Another program, such as Python. What the command starts itself for cannot be done there.
    Another,
}

/// Runs the command with these arguments, the first of which is its name, and gives its exit code.
///
/// The host must have a place for everything that a program has for itself: standard streams, signals, threads.
pub fn run(host: Host, arguments: impl IntoIterator<Item = OsString>) -> u8 {
    IS_GUEST.store(host == Host::Another, Ordering::Relaxed);
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    let done = match Cli::try_parse_from(&arguments) {
        Ok(Cli { command }) => run_command(command),
        Err(error) => usage::answer::<Cli>(error, arguments.into_iter().skip(1)),
    };
    match done {
        Ok(()) => 0,
        Err(failure) => failure.report(),
    }
}

static IS_GUEST: AtomicBool = AtomicBool::new(false);

/// The program that can be started with this command's arguments.
///
/// # Errors
///
/// That there is none, because another program runs the command.
fn program() -> Result<OsString, Failure> {
    if IS_GUEST.load(Ordering::Relaxed) {
        return Err(Failure::new(
            "this needs the program bitonic, and another one runs the command: install it with 'cargo install bitonic-cli'",
        ));
    }
    Ok(std::env::current_exe().map_err(Failure::new)?.into_os_string())
}

fn run_command(command: Command) -> Result<(), Failure> {
    match command {
        Command::Sort(arguments) => sort::run(arguments),
        Command::Top(arguments) => sort::run(arguments.into()),
        Command::Network(arguments) => network::run(arguments),
        Command::Explore(arguments) => explore::run(arguments),
        Command::Devices(arguments) => devices::run(arguments),
        Command::Ladder(arguments) => ladder::run(arguments),
        Command::Explain(arguments) => explain::run(arguments),
        Command::Tune(arguments) => tune::run(arguments),
        Command::Bench(arguments) => bench::run(arguments),
        Command::Lab(arguments) => lab::run(arguments),
        Command::Completions(arguments) => completions::run::<Cli>(arguments),
    }
}
