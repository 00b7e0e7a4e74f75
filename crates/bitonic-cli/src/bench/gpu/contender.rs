//! Who takes part, and what becomes of them.

use super::device::Run;
use super::input::DeviceInput;
use super::job::Job;
use crate::failure::Failure;
use bitonic::device::Driver;
use bitonic_lab::implementation::DeviceShare;
use bitonic_lab::measure::{self, Failed, Gauge, Timed};
use bitonic_lab::record::{self, Record};
use bitonic_lab::statistics::Summary;
use bitonic_ladder::Rung;
use std::borrow::Cow;
use std::time::Duration;

/// Something that takes part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Contender {
    /// What this program does itself.
    Own(Own),
    /// A sort of another library, in a program of its own.
    Peer {
        /// The program.
        peer: &'static str,
        /// The program's name for the sort; empty where it has offered none.
        sort: String,
    },
}

/// What this program does itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Own {
    /// A sort of the library's engine.
    Engine(EngineMode),
    /// A rung of the ladder.
    Rung(Rung),
    /// No sort: a plain copy of the same bytes. No sort that reads and writes its keys can be faster.
    Copy,
}

/// A mode in which the library's engine sorts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EngineMode {
    /// As it does when nothing is asked for.
    Default,
    /// By the pure network, in place: what it does when `oblivious` is asked for.
    Oblivious,
}

impl Contender {
    /// The library's engine as it is by default: what the others are compared with.
    pub(super) const BITONIC: Self = Self::Own(Own::Engine(EngineMode::Default));

    /// The name in the table.
    pub(super) fn name(&self) -> Cow<'static, str> {
        match self {
            Self::Own(own) => own.name().into(),
            Self::Peer { peer, sort } if sort.is_empty() => (*peer).into(),
            Self::Peer { peer, sort } => format!("{peer} {sort}").into(),
        }
    }

    /// Whether it is a sort of the library's engine.
    pub(super) fn is_engine(&self) -> bool {
        matches!(self, Self::Own(Own::Engine(_)))
    }

    /// Whether it is a sort of another library.
    pub(super) fn is_peer(&self) -> bool {
        matches!(self, Self::Peer { .. })
    }

    /// Whether it is a rung of the ladder.
    pub(super) fn is_rung(&self) -> bool {
        matches!(self, Self::Own(Own::Rung(_)))
    }
}

impl Own {
    /// The name in the table.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Engine(EngineMode::Default) => "bitonic",
            Self::Engine(EngineMode::Oblivious) => "bitonic oblivious",
            Self::Rung(rung) => rung.name(),
            Self::Copy => "copy",
        }
    }
}

impl<D: Driver> measure::Contender<DeviceInput<'_, D>> for Contender {
    fn name(&self) -> Cow<'_, str> {
        self.name()
    }

    /// The first sort builds kernels and makes choices. Peers warm up in their own program.
    fn prepare(&mut self, input: &mut DeviceInput<'_, D>) -> Result<(), Failed> {
        match self {
            Self::Own(own) => input.run(*own).map(drop).map_err(left_out),
            Self::Peer { .. } => Ok(()),
        }
    }

    fn run(&mut self, input: &mut DeviceInput<'_, D>, gauge: &mut Gauge<'_>) -> Result<Timed, Failed> {
        match self {
            Self::Own(own) => gauge.last_of(|_, _| input.run(*own).map(timed).map_err(left_out)),
            Self::Peer { peer, sort } => input.run_peer(peer, sort, gauge.warm_up()).map_err(Failed::LeftOut),
        }
    }

    fn verify(&mut self, input: &mut DeviceInput<'_, D>) -> Result<(), Failed> {
        let mistake = match self {
            Self::Own(own) => input.mistake(*own).map_err(left_out)?,
            Self::Peer { peer, .. } => input.mistake_of_peer(peer).map_err(Failed::LeftOut)?,
        };
        mistake.map_or(Ok(()), |mistake| Err(Failed::Wrong(mistake)))
    }
}

fn timed(Run { span, launches }: Run) -> Timed {
    let device = DeviceShare {
        upload: None,
        kernels: span,
        busy: None,
        download: None,
        launches: Some(launches as u64),
        kernel_bytes: None,
    };
    Timed { seconds: span.as_secs_f64(), device: Some(device), ..Timed::default() }
}

fn left_out(failure: Failure) -> Failed {
    Failed::LeftOut(match failure {
        Failure::Message(message) | Failure::No(message) => message,
        Failure::Nothing(_) | Failure::ClosedPipe => "it was interrupted".to_owned(),
    })
}

/// What became of a contender.
#[derive(Clone, Debug)]
pub(super) struct Cell {
    pub(super) contender: Contender,
    pub(super) job: Job,
    pub(super) outcome: Outcome,
}

impl Cell {
    /// What was measured, if it was.
    pub(super) fn measured(&self) -> Option<&Measured> {
        match &self.outcome {
            Outcome::Measured(measured) => Some(measured),
            Outcome::Wrong(_) | Outcome::LeftOut(_) => None,
        }
    }

    /// The median, if it was measured.
    pub(super) fn median(&self) -> Option<Duration> {
        self.measured().map(|measured| Duration::from_secs_f64(measured.time.median))
    }

    /// How many times as long as another it took for the same keys.
    pub(super) fn times_as_long_as(&self, other: Option<&Self>) -> Option<f64> {
        let other = other?.median()?.as_secs_f64();
        (other > 0.0).then_some(self.median()?.as_secs_f64() / other)
    }
}

/// What was measured, or why nothing was.
#[derive(Clone, Debug)]
pub(super) enum Outcome {
    Measured(Measured),
    /// It did not sort. What it took for that is of no interest.
    Wrong(String),
    LeftOut(String),
}

/// What a sort took.
#[derive(Clone, Debug)]
pub(super) struct Measured {
    /// From the start of its first command on the device to the end of the last one, in seconds.
    pub(super) time: Summary,
    /// How many kernels go over the keys, each reading and writing every one; `None` where that is not known.
    pub(super) launches: Option<u64>,
    /// What a reader should know about how it sorted.
    pub(super) note: String,
}

impl Measured {
    /// What follows from the records of a contender; `None` if there are none.
    pub(super) fn of(records: &[Record]) -> Option<Self> {
        let first = records.first()?;
        let time = record::summary(records)?;
        Some(Self { time, launches: first.launches, note: first.note.clone() })
    }

    /// How many keys of a job were sorted in a second.
    pub(super) fn keys_per_second(&self, job: Job) -> f64 {
        job.len() as f64 / self.time.median.max(1e-9)
    }

    /// What the kernels of a job read and wrote in a second, every kernel every key once.
    pub(super) fn bytes_per_second(&self, job: Job) -> Option<f64> {
        let launches = self.launches? as f64;
        Some(launches * 2.0 * job.bytes() as f64 / self.time.median.max(1e-9))
    }
}

/// The cell of a contender for the same keys.
pub(super) fn beside<'a>(cells: &'a [Cell], job: Job, contender: &Contender) -> Option<&'a Cell> {
    cells.iter().find(|cell| cell.job == job && cell.contender == *contender)
}

/// The fastest of the contenders that are chosen, for the same keys.
pub(super) fn best(cells: &[Cell], job: Job, is_chosen: impl Fn(&Contender) -> bool) -> Option<&Cell> {
    let chosen = cells.iter().filter(|cell| cell.job == job && is_chosen(&cell.contender));
    chosen.filter(|cell| cell.median().is_some()).min_by_key(|cell| cell.median())
}
