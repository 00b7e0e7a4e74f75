//! `bitonic lab run` and `bitonic lab resume`.

use super::once;
use crate::explore;
use crate::failure::Failure;
use crate::output;
use crate::program;
use crate::progress::Progress;
use crate::word::Word;
use bitonic_lab::analysis::Statistic;
use bitonic_lab::callgrind::{self, Job};
use bitonic_lab::dropin::{Console, ERROR_LOG, RESULTS, configuration};
use bitonic_lab::experiment::{Experiment, Format};
use bitonic_lab::implementation::RunsOn;
use bitonic_lab::measure::{self, LabError, Row, Watch};
use bitonic_lab::report;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// What `bitonic lab run` is asked for.
#[derive(clap::Args)]
#[command(
    after_help = "A configuration.ini also leaves its result.csv, and error.log after a wrong result, in the current \
                  folder, unless there is --output. A wrong result has exit code 1."
)]
pub(super) struct Arguments {
    /// A preset, a TOML file, or a configuration that ends in .ini; `bitonic lab list` names the presets
    #[arg(value_name = "EXPERIMENT")]
    experiment: PathBuf,
    /// The folder for everything that is measured [default: lab-NAME, with a number if there is one already]
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,
    /// What `gpu:` stands for: opencl or cuda [default: cuda where there is a CUDA device, else opencl]
    #[arg(long, value_name = "PLACE", value_parser = Word::one_of("place", &[RunsOn::OpenCl, RunsOn::Cuda], RunsOn::name))]
    gpu: Option<RunsOn>,
    /// How long an implementation may take for one size, instead of what the experiment says
    #[arg(long, value_name = "SECONDS", value_parser = Word::seconds(), allow_negative_numbers = true)]
    budget: Option<f64>,
    /// Count the instructions of this many keys with valgrind's callgrind, too
    #[arg(long, value_name = "N", value_parser = Word::count(), allow_negative_numbers = true)]
    callgrind: Option<usize>,
    /// Make other random keys than the experiment says
    #[arg(long, value_name = "SEED", value_parser = Word::seed(), allow_negative_numbers = true)]
    seed: Option<u64>,
}

/// What `bitonic lab resume` is asked for.
#[derive(clap::Args)]
pub(super) struct ResumeArguments {
    /// The folder of the run
    #[arg(value_name = "DIR")]
    directory: PathBuf,
}

/// Runs an experiment.
pub(super) fn run(arguments: Arguments) -> Result<(), Failure> {
    let mut experiment = Experiment::load(&arguments.experiment, arguments.gpu).map_err(Failure::new)?;
    if let Some(budget) = arguments.budget {
        experiment.budget_seconds = Some(budget);
    }
    experiment.callgrind_size = arguments.callgrind.or(experiment.callgrind_size);
    if let Some(seed) = arguments.seed {
        experiment.seed = seed;
    }
    let directory = arguments.output.clone().unwrap_or_else(|| free_name(&experiment.name));
    if experiment.format == Format::Ini {
        output::print(|out| out.write_all(configuration(&experiment).as_bytes()))?;
    }
    for left_out in &experiment.left_out {
        output::note(format_args!("{} is left out: {}\n", left_out.implementation, left_out.reason));
    }
    let done = watched(&experiment, |watch| measure::run(&experiment, &directory, watch));
    if experiment.format == Format::Ini && arguments.output.is_none() {
        for file in [RESULTS, ERROR_LOG] {
            bring_here(&directory, file)?;
        }
    }
    finish(done, &experiment, &directory)
}

/// Goes on with a run.
pub(super) fn resume(arguments: ResumeArguments) -> Result<(), Failure> {
    let directory = &arguments.directory;
    let (experiment, _, _) = bitonic_lab::record::read_run(directory).map_err(Failure::new)?;
    let done = watched(&experiment, |watch| measure::resume(directory, watch).map(|_| ()));
    finish(done, &experiment, directory)
}

/// Measures, and shows what is measured.
fn watched(
    experiment: &Experiment,
    work: impl FnOnce(&mut dyn Watch) -> Result<(), LabError>,
) -> Result<(), LabError> {
    let console = Console::new(experiment);
    let mut shown = Shown { progress: Progress::bar("", 1), console, broken: None };
    shown.print(shown.console.heading());
    let done = work(&mut shown);
    match &done {
        Ok(()) => shown.print(shown.console.end()),
        Err(LabError::WrongResult { message, .. }) if experiment.format == Format::Ini => {
            shown.print(shown.console.wrong(message));
        }
        Err(_) => {}
    }
    done
}

/// What comes after the measurement: instructions, if they are wanted, and the report.
fn finish(done: Result<(), LabError>, experiment: &Experiment, directory: &Path) -> Result<(), Failure> {
    match done {
        Ok(()) => {
            if let Some(size) = experiment.callgrind_size {
                count_instructions(experiment, size, directory)?;
            }
            let page = report::write_with_explorer(directory, Statistic::Mean, explore::beside_report)
                .map_err(Failure::new)?;
            output::note(format_args!("the report is {}\n", page.display()));
            Ok(())
        }
        Err(LabError::WrongResult { message, log }) => {
            Err(Failure::No(format!("{message} Please check {}", log.display())))
        }
        Err(other) => Err(Failure::new(other)),
    }
}

fn count_instructions(experiment: &Experiment, size: usize, directory: &Path) -> Result<(), Failure> {
    let program = program()?;
    let progress = Progress::spinner("callgrind");
    let watch = |name: &str| progress.name(format!("callgrind: {name}"));
    let command = |job: &Job, sorts: usize| once::command(&program, job, sorts);
    callgrind::count_all(experiment, size, directory, command, watch).map_err(Failure::new)
}

/// A folder's name that is not taken.
fn free_name(name: &str) -> PathBuf {
    let name: String =
        name.chars().map(|letter| if letter.is_alphanumeric() { letter } else { '-' }).collect();
    let numbered = (2..).map(|number| PathBuf::from(format!("lab-{name}-{number}")));
    let mut names = std::iter::once(PathBuf::from(format!("lab-{name}"))).chain(numbered);
    names.find(|name| !name.exists()).unwrap_or_default()
}

/// Copies a file of the run, if there is one, to where the research application puts it.
fn bring_here(directory: &Path, file: &str) -> Result<(), Failure> {
    let from = directory.join(file);
    if !from.exists() {
        return Ok(());
    }
    let text = std::fs::read(&from).map_err(|error| Failure::new(format!("{}: {error}", from.display())))?;
    output::write(Some(Path::new(file)), |out| out.write_all(&text))
}

/// A run on the console.
struct Shown<'a> {
    progress: Progress,
    console: Console<'a>,
    /// Why nothing more can be printed.
    broken: Option<io::Error>,
}

impl Shown<'_> {
    /// Rows are printed when they are done, whether or not somebody still reads them: the run is worth its records.
    fn print(&mut self, text: String) {
        if self.broken.is_none() && !text.is_empty() {
            let mut out = io::stdout().lock();
            let printed = self.progress.aside(|| out.write_all(text.as_bytes()).and_then(|()| out.flush()));
            self.broken = printed.err();
        }
    }
}

impl Watch for Shown<'_> {
    fn advanced(&mut self, done: u64, amount: u64, doing: &str) {
        self.progress.reach(done as usize, amount as usize);
        if !doing.is_empty() {
            self.progress.name(doing.to_owned());
        }
    }

    fn row(&mut self, row: &Row<'_>) {
        let text = self.console.row(row);
        self.print(text);
    }

    fn note(&mut self, note: &str) {
        self.progress.aside(|| output::note(format_args!("{note}\n")));
    }
}
