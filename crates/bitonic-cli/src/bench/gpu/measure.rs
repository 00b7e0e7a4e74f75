//! The measurement: every sort on the same keys, turn by turn.

use super::super::statistics::Summary;
use super::foresight::Foresight;
use super::keys::{Bytes, Keys};
use crate::failure::Failure;
use crate::figures::long_time;
use crate::progress::Progress;
use bitonic::Order;
use bitonic::opencl::{Buffer, Device};
use bitonic_ladder::Rung;
use bitonic_testkit::TestKey;
use std::num::NonZero;
use std::time::Duration;

/// Rows of keys, each sorted for itself. Most often it is one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Rows {
    pub(super) rows: usize,
    pub(super) row_length: usize,
}

impl Rows {
    /// All keys are one row.
    pub(super) fn one(len: usize) -> Self {
        Self { rows: 1, row_length: len }
    }

    /// As many rows as so many keys make, if that is any.
    pub(super) fn many(row_length: usize, total: usize) -> Option<Self> {
        let rows = total.checked_div(row_length).filter(|&rows| rows > 0)?;
        Some(Self { rows, row_length })
    }

    /// How many keys there are.
    pub(super) fn len(self) -> usize {
        self.rows * self.row_length
    }
}

/// A sort that takes part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Contender {
    /// The library's engine.
    Engine,
    /// A rung of the ladder.
    Rung(Rung),
}

impl Contender {
    /// The name in the table.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Engine => "bitonic",
            Self::Rung(rung) => rung.name(),
        }
    }
}

/// What became of a contender.
#[derive(Clone, Debug)]
pub(super) struct Cell {
    pub(super) contender: Contender,
    pub(super) rows: Rows,
    /// What was measured, or why nothing was.
    pub(super) outcome: Result<Measured, String>,
}

/// What the kernels of a sort took.
#[derive(Clone, Copy, Debug)]
pub(super) struct Measured {
    /// From the start of the first kernel to the end of the last one.
    pub(super) time: Summary,
    /// How many kernels were launched.
    pub(super) launches: usize,
    /// What they read and wrote, every kernel every key once.
    bytes: f64,
}

impl Measured {
    /// What the kernels read and wrote in a second.
    pub(super) fn bytes_per_second(&self) -> f64 {
        self.bytes / self.time.median.as_secs_f64().max(1e-9)
    }
}

/// A device, and the sorts that run on it.
pub(super) struct Bench<'a> {
    device: Device,
    rungs: Vec<Rung>,
    repetitions: NonZero<usize>,
    foresight: Foresight,
    progress: &'a Progress,
}

impl<'a> Bench<'a> {
    /// Lets the engine and these rungs sort on the device, each so often. A rung that would take longer than so many
    /// seconds is left out.
    pub(super) fn new(
        device: Device,
        rungs: Vec<Rung>,
        repetitions: NonZero<usize>,
        longest: f64,
        progress: &'a Progress,
    ) -> Self {
        Self { device, rungs, repetitions, foresight: Foresight::new(longest), progress }
    }

    /// Measures sorts of these rows. Fails on the first wrong result.
    pub(super) fn measure<K: TestKey>(&mut self, rows: Rows) -> Result<Vec<Cell>, Failure> {
        // No rung knows of rows.
        let rungs = if rows.rows == 1 { self.rungs.clone() } else { Vec::new() };
        self.progress.name("making keys");
        let keys = Keys::new::<K>(rows, !rungs.is_empty())?;
        let mut arena = Arena::new(self.device.clone(), keys.own().input.len())?;
        let mut taking_part = vec![(Contender::Engine, Vec::new())];
        let mut left_out = Vec::new();
        for rung in rungs {
            match self.why_not::<K>(rung, rows.len(), &keys, &arena)? {
                None => taking_part.push((Contender::Rung(rung), Vec::new())),
                Some(reason) => {
                    left_out.push(Cell { contender: Contender::Rung(rung), rows, outcome: Err(reason) });
                }
            }
        }
        for turn in 0..=self.repetitions.get() {
            for (contender, runs) in &mut taking_part {
                self.progress.name(contender.name());
                let run = arena.run::<K>(*contender, rows, &keys)?;
                // The first one warms up: it builds kernels, and the device's clock may be slow.
                if turn > 0 {
                    runs.push(run);
                }
            }
            self.progress.advance(1);
        }
        let mut cells = Vec::new();
        for (contender, runs) in taking_part {
            let Some(measured) = sum_up(&runs, 2 * keys.own().input.len()) else { continue };
            if let Contender::Rung(rung) = contender {
                self.foresight.note(rung, rows.len(), measured.time.median);
            }
            cells.push(Cell { contender, rows, outcome: Ok(measured) });
        }
        cells.extend(left_out);
        Ok(cells)
    }

    /// Why a rung does not take part.
    fn why_not<K: TestKey>(
        &mut self,
        rung: Rung,
        n: usize,
        keys: &Keys,
        arena: &Arena,
    ) -> Result<Option<String>, Failure> {
        if !rung.sizes().contain(n) {
            return Ok(Some(format!("sorts {} only", rung.sizes())));
        }
        self.progress.name(rung.name());
        let sort_some = |some: usize| {
            arena.device.upload(&keys.ordered().input[..some * size_of::<K>()], &arena.buffer)?;
            Ok(arena.sort_with_rung::<K>(rung, some)?.span)
        };
        let too_long = self.foresight.too_long(rung, n, sort_some)?;
        Ok(too_long.map(|seconds| format!("would take up to {} a run: see --longest", long_time(seconds))))
    }
}

/// One sort.
struct Run {
    span: Duration,
    launches: usize,
}

fn sum_up(runs: &[Run], bytes_of_launch: usize) -> Option<Measured> {
    let times: Vec<Duration> = runs.iter().map(|run| run.span).collect();
    let launches = runs.first()?.launches;
    Some(Measured { time: Summary::of(&times)?, launches, bytes: launches as f64 * bytes_of_launch as f64 })
}

/// A device and room for the keys there.
struct Arena {
    device: Device,
    buffer: Buffer,
    /// Where results are fetched to.
    fetched: Vec<u8>,
}

impl Arena {
    fn new(device: Device, bytes: usize) -> Result<Self, Failure> {
        Ok(Self { buffer: device.allocate(bytes)?, device, fetched: vec![0; bytes] })
    }

    /// Brings the keys to the device, sorts them, fetches them and compares.
    fn run<K: TestKey>(&mut self, contender: Contender, rows: Rows, keys: &Keys) -> Result<Run, Failure> {
        let bytes = match contender {
            Contender::Engine => keys.own(),
            Contender::Rung(_) => keys.ordered(),
        };
        self.device.upload(&bytes.input, &self.buffer)?;
        let run = match contender {
            Contender::Engine => {
                let (buffer, order) = (&self.buffer, Order::Ascending);
                let kernels = self.device.sort_buffer::<K>(buffer, rows.len(), rows.row_length, order)?;
                Run { span: kernels.span, launches: kernels.launches }
            }
            Contender::Rung(rung) => self.sort_with_rung::<K>(rung, rows.len())?,
        };
        self.device.download(&self.buffer, &mut self.fetched)?;
        verify(contender, rows, &self.fetched, bytes, size_of::<K>())?;
        Ok(run)
    }

    fn sort_with_rung<K: TestKey>(&self, rung: Rung, len: usize) -> Result<Run, Failure> {
        let times = rung.sort_buffer::<K::Bits, _>(&self.device, &self.buffer, len).map_err(Failure::new)?;
        Ok(Run { span: times.span, launches: times.each.iter().map(|kernel| kernel.launches).sum() })
    }
}

fn verify(
    contender: Contender,
    rows: Rows,
    result: &[u8],
    bytes: &Bytes,
    key_bytes: usize,
) -> Result<(), Failure> {
    match result.iter().zip(&bytes.expected).position(|(one, other)| one != other) {
        None => Ok(()),
        Some(place) => Err(Failure::new(format!(
            "{} sorted {} keys in rows of {} wrongly, the first at index {}; this is a defect of bitonic or of the \
             device's driver, please report it with this command line and `bitonic devices`",
            contender.name(),
            rows.len(),
            rows.row_length,
            place / key_bytes
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_as_many_as_the_keys_make() {
        assert_eq!(Rows::many(1000, 4096).map(Rows::len), Some(4000));
        assert_eq!(Rows::many(0, 4096), None);
        assert_eq!(Rows::many(4097, 4096), None);
        assert_eq!(Rows::one(0).len(), 0);
    }

    #[test]
    fn a_wrong_result_is_found_and_named() {
        let bytes = Bytes { input: vec![3, 0, 1, 0, 2, 0], expected: vec![1, 0, 2, 0, 3, 0] };
        let verdict = |result: &[u8]| verify(Contender::Engine, Rows::one(3), result, &bytes, 2);
        assert!(verdict(&[1, 0, 2, 0, 3, 0]).is_ok());
        let Err(Failure::Message(message)) = verdict(&[1, 0, 2, 1, 3, 0]) else { panic!("not found") };
        assert!(message.starts_with("bitonic sorted 3 keys in rows of 3 wrongly, the first at index 1;"));
    }
}
