//! `bitonic ladder run`: the options, and what is refused.

use super::select::{self, Chosen};
use crate::failure::Failure;
use crate::figures::{counted, long_time};
use crate::options::SortOptions;
use crate::output;
use crate::race::{self, Contender, LeftOut, Race, RaceKeys, Repeat};
use crate::word::Word;
use bitonic::key::KeyType;
use bitonic::{DeviceChoice, Engine, with_key_type};
use bitonic_ladder::{LadderError, Options, Rung, RunsOn};
use bitonic_testkit::Pattern;
use std::fmt;
use std::num::NonZero;

/// What `bitonic ladder run` is asked for.
#[derive(clap::Args)]
#[command(
    after_help = "Direction, threads and device are for every sort; the other options of a sort are for the row \
                  `bitonic`. With --engine cuda, rungs on devices run through CUDA, too; else through OpenCL. The name of \
                  a kernel chooses the rung that it is a part of."
)]
pub(super) struct Arguments {
    /// Names of rungs, patterns such as `iterative_*`, or `all`
    #[arg(value_name = "NAME", required = true)]
    rungs: Vec<String>,
    /// How many keys: 1000, 16M, 2^24, 1e6
    #[arg(long, value_name = "N", default_value = "2^14", value_parser = Word::count(), allow_negative_numbers = true)]
    n: usize,
    /// The type of the keys
    #[arg(long = "type", value_name = "TYPE", default_value = "u32", value_parser = Word::key_type())]
    key_type: KeyType,
    /// What the keys look like
    #[arg(long, value_name = "PATTERN", default_value = "random", value_parser = Word::distribution())]
    distribution: Pattern,
    /// The same seed gives the same keys
    #[arg(long, value_name = "SEED", default_value = "1", value_parser = Word::seed(), allow_negative_numbers = true)]
    seed: u64,
    /// How often every sort runs
    #[arg(long, value_name = "R", default_value = "5", value_parser = Word::count(), allow_negative_numbers = true)]
    repeat: usize,
    /// Run rungs whose time grows with the square of N for more than 2^16 keys too
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    options: SortOptions,
}

/// The most keys that quadratic rungs sort unless forced: there they take about a second.
const MOST_FOR_QUADRATIC: usize = 1 << 16;

/// Runs the race and prints its table.
pub(super) fn run(arguments: Arguments) -> Result<(), Failure> {
    let chosen = select::select(&arguments.rungs)?;
    let table = race(&arguments, &chosen)?;
    output::print(|out| out.write_all(table.as_bytes()))
}

fn race(arguments: &Arguments, chosen: &[Chosen]) -> Result<String, Failure> {
    let &Arguments { n, key_type, distribution, seed, ref options, .. } = arguments;
    let repeat =
        NonZero::new(arguments.repeat).ok_or_else(|| Failure::new("--repeat 0: run at least once"))?;
    let sorter = options.sorter_beside_rungs();
    // What the library refuses, it refuses before the keys are made.
    with_key_type!(key_type, K => sorter.plan::<K>(n))?;

    let order = options.order();
    let keys = |len| RaceKeys { key_type, len, row_length: len, distribution, seed, order };
    let contender = |rung: Rung| {
        let threads = NonZero::new(options.threads);
        let runs_on = is_on_device(rung).then(|| kind_of_device(options.engine));
        Contender::rung(rung, Options { order, threads, runs_on, device: options.device() })
    };
    let mut contenders = vec![Contender::standard(order), Contender::bitonic("bitonic", sorter)];
    let mut left_out = Vec::new();
    let device = device(chosen, options)?;
    for &Chosen { rung, by_name } in chosen {
        let refusal = if !rung.sizes().contain(n) {
            Some(Refusal::NotAPowerOfTwo)
        } else if let Some(Err(reason)) = device.as_ref().filter(|_| is_on_device(rung)) {
            Some(Refusal::NoDevice { reason: reason.clone() })
        } else if rung.is_quadratic() && n > MOST_FOR_QUADRATIC && !arguments.force {
            let mut sample = Race::new(keys(MOST_FOR_QUADRATIC / 4))?;
            Some(Refusal::TooSlow { seconds: predict(n, &mut sample, contender(rung))? })
        } else {
            None
        };
        match refusal {
            None => contenders.push(contender(rung)),
            Some(refusal) if by_name => return Err(refusal.of(rung, n)),
            Some(refusal) => left_out.push(LeftOut { name: rung.name(), reason: refusal.to_string() }),
        }
    }
    let mut race = Race::new(keys(n))?;
    let times = race.run(&contenders, Repeat::Times(repeat))?;
    let device = match device {
        Some(Ok(name)) => format!("{}: {name}\n", kind_of_device(options.engine)),
        _ => String::new(),
    };
    Ok(format!(
        "{}, {distribution}, {} each; every result verified\n{device}\n{}",
        counted(n, &format!("{key_type} key")),
        counted(repeat.get(), "run"),
        race::render(n, &times, &left_out)
    ))
}

fn is_on_device(rung: Rung) -> bool {
    !rung.runs_on().contains(&RunsOn::Cpu)
}

/// Which kind of device rungs on devices run on.
fn kind_of_device(engine: Engine) -> RunsOn {
    match engine {
        Engine::Cuda => RunsOn::Cuda,
        _ => RunsOn::OpenCl,
    }
}

/// The name of the device, where a chosen rung needs one; or why there is none. It is an error only if the device itself was
/// asked for: else the rungs that need none still run.
fn device(
    chosen: &[Chosen],
    options: &SortOptions,
) -> Result<Option<Result<String, bitonic::Error>>, Failure> {
    if !chosen.iter().any(|chosen| is_on_device(chosen.rung)) {
        return Ok(None);
    }
    let choice = options.device();
    let engine = kind_of_device(options.engine).engine();
    let opened = bitonic::device::open(engine, &choice).map(|device| device.facts().name);
    match opened {
        Err(reason) if choice != DeviceChoice::Best => Err(Failure::from(reason)),
        opened => Ok(Some(opened)),
    }
}

/// How long a quadratic rung would take: the time of the sample, scaled.
fn predict(n: usize, sample: &mut Race, rung: Contender) -> Result<f64, Failure> {
    let times = sample.run(&[rung], Repeat::Times(NonZero::<usize>::MIN))?;
    Ok(times[0].median().as_secs_f64() * (n as f64 / sample.len() as f64).powi(2))
}

/// Why a rung is not run.
enum Refusal {
    NotAPowerOfTwo,
    NoDevice { reason: bitonic::Error },
    TooSlow { seconds: f64 },
}

impl Refusal {
    /// The error for a rung that was asked for by its name.
    fn of(&self, rung: Rung, n: usize) -> Failure {
        match self {
            Self::NotAPowerOfTwo => Failure::new(LadderError::NotAPowerOfTwo { rung, len: n }),
            Self::NoDevice { reason } => Failure::new(LadderError::Device { rung, reason: reason.clone() }),
            Self::TooSlow { .. } => Failure::new(format!("{rung} of {n} keys {self}")),
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotAPowerOfTwo => f.write_str("sorts powers of two only"),
            Self::NoDevice { reason } => write!(f, "{reason}"),
            Self::TooSlow { seconds } => {
                let time = long_time(*seconds);
                write!(f, "would take about {time} a run: use --n 2^16 or less, or --force")
            }
        }
    }
}
