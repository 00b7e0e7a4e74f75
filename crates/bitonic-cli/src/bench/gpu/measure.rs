//! What `bench gpu` shows of the laboratory's measurement: all sorts of the keys of one job.

use super::contender::{Cell, Contender, Measured, Outcome, Own};
use super::csv::Files;
use super::device::MeasuredDevice;
use super::input::DeviceInput;
use super::job::Job;
use super::keys::Keys;
use crate::failure::Failure;
use crate::figures::long_time;
use crate::progress::Progress;
use bitonic::device::Driver;
use bitonic_lab::forecast::Forecast;
use bitonic_lab::implementation::Algorithm;
use bitonic_lab::measure::{Failed, Rounds, Timed, View, WarmUp};
use bitonic_lab::peer::Peer;
use bitonic_lab::record::{CellKey, Record};
use bitonic_ladder::Rung;
use std::num::NonZero;

/// A device, and all that sorts on it.
pub(super) struct Bench<'a, D: Driver> {
    pub(super) device: &'a MeasuredDevice<D>,
    pub(super) rungs: Vec<Rung>,
    pub(super) peers: Vec<Peer>,
    /// How often everybody sorts.
    pub(super) repetitions: NonZero<usize>,
    /// How everybody warms up before the sort that counts.
    pub(super) warm_up: WarmUp,
    /// What rungs will take.
    pub(super) forecast: Forecast<Rung>,
    /// The seconds that a rung may take.
    pub(super) longest: f64,
    pub(super) progress: &'a Progress,
    /// Where every run is recorded.
    pub(super) files: &'a mut Files,
}

impl<D: Driver> Bench<'_, D> {
    /// Measures sorts of these keys. Fails on the first wrong result of this project's; a peer's is a part of the answer.
    pub(super) fn measure(&mut self, job: Job) -> Result<Vec<Cell>, Failure> {
        // No rung knows of rows or values.
        let rungs = if job.rows.rows == 1 && !job.has_values { self.rungs.clone() } else { Vec::new() };
        self.progress.name("making keys");
        let keys = Keys::new(job, !rungs.is_empty())?;
        let mut input = DeviceInput::new(self.device, job, &keys, &mut self.peers)?;
        let mut contenders: Vec<Contender> =
            self.device.modes().iter().map(|&mode| Contender::Own(Own::Engine(mode))).collect();
        let mut left_out: Vec<Cell> = Vec::new();
        let mut leave_out = |contender: Contender, reason: String| {
            left_out.push(Cell { contender, job, outcome: Outcome::LeftOut(reason) });
        };
        for (peer, sorts) in input.offers() {
            match sorts {
                Ok(sorts) => {
                    contenders.extend(sorts.into_iter().map(|sort| Contender::Peer { peer, sort }));
                }
                Err(reason) => leave_out(Contender::Peer { peer, sort: String::new() }, reason),
            }
        }
        for rung in rungs {
            self.progress.name(rung.name());
            match why_not(&mut self.forecast, rung, job, &input, self.longest)? {
                None => contenders.push(Contender::Own(Own::Rung(rung))),
                Some(reason) => leave_out(Contender::Own(Own::Rung(rung)), reason),
            }
        }
        contenders.push(Contender::Own(Own::Copy));
        let mut view = JobView {
            job,
            repetitions: self.repetitions.get(),
            entrants: contenders.iter().cloned().map(Entrant::new).collect(),
            progress: self.progress,
            files: self.files,
        };
        Rounds::new(self.warm_up).run(&mut input, &mut contenders, &mut view)?;
        let (measured, failed) = view.cells();
        for cell in &measured {
            if let (Contender::Own(Own::Rung(rung)), Some(median)) = (&cell.contender, cell.median()) {
                self.forecast.note(rung, job.len(), median.as_secs_f64());
            }
        }
        // Those who did not sort come last.
        Ok(measured.into_iter().chain(failed).chain(left_out).collect())
    }
}

/// Why a rung does not take part.
fn why_not<D: Driver>(
    forecast: &mut Forecast<Rung>,
    rung: Rung,
    job: Job,
    input: &DeviceInput<'_, D>,
    longest: f64,
) -> Result<Option<String>, Failure> {
    if !rung.sizes().contain(job.len()) {
        return Ok(Some(format!("sorts {} only", rung.sizes())));
    }
    let mut time = |len: usize| input.time_rung(rung, len).map(|time| time.as_secs_f64());
    let too_long = forecast.too_long(&rung, Algorithm::of(rung), job.len(), longest, &mut time)?;
    Ok(too_long
        .map(|predicted| format!("would take up to {} a run: see --longest", long_time(predicted.seconds))))
}

/// A job on its way through the rounds.
struct JobView<'a> {
    job: Job,
    repetitions: usize,
    entrants: Vec<Entrant>,
    progress: &'a Progress,
    files: &'a mut Files,
}

/// Somebody who takes part, and what came of it so far.
struct Entrant {
    contender: Contender,
    records: Vec<Record>,
    /// Why it takes part no longer.
    out: Option<Outcome>,
}

impl Entrant {
    fn new(contender: Contender) -> Self {
        Self { contender, records: Vec::new(), out: None }
    }
}

impl JobView<'_> {
    /// What came of those who sorted, and of those who did not.
    fn cells(self) -> (Vec<Cell>, Vec<Cell>) {
        let job = self.job;
        let (mut measured, mut failed) = (Vec::new(), Vec::new());
        for Entrant { contender, records, out } in self.entrants {
            match (out, Measured::of(&records).map(Outcome::Measured)) {
                (Some(outcome), _) => failed.push(Cell { contender, job, outcome }),
                (None, Some(outcome)) => measured.push(Cell { contender, job, outcome }),
                (None, None) => {}
            }
        }
        (measured, failed)
    }
}

impl<D: Driver> View<DeviceInput<'_, D>> for JobView<'_> {
    type Error = Failure;

    fn starts_round(&mut self, round: usize, _: &mut DeviceInput<'_, D>) -> Result<bool, Failure> {
        Ok(round <= self.repetitions)
    }

    fn hears(&mut self, name: &str) {
        self.progress.name(name.to_owned());
    }

    fn keeps(
        &mut self,
        contender: usize,
        round: usize,
        outcome: Result<Timed, Failed>,
        _: &DeviceInput<'_, D>,
    ) -> Result<(), Failure> {
        let job = self.job;
        let entrant = &mut self.entrants[contender];
        match outcome {
            Ok(timed) => {
                let record = Record::measured(&cell_key(&entrant.contender, job), 1, round, &timed);
                self.files.record(&record)?;
                entrant.records.push(record);
            }
            Err(Failed::LeftOut(reason)) if entrant.contender.is_peer() => {
                entrant.out = Some(Outcome::LeftOut(reason));
            }
            Err(Failed::Wrong(mistake)) if entrant.contender.is_peer() => {
                entrant.out = Some(Outcome::Wrong(format!("sorted wrongly: {mistake}")));
            }
            Err(Failed::LeftOut(reason)) => return Err(Failure::new(reason)),
            Err(Failed::Wrong(mistake)) => {
                return Err(Failure::new(format!(
                    "{} sorted {} {} keys in rows of {} wrongly, {mistake}; this is a defect of bitonic or of the device's \
                     driver, please report it with this command line and `bitonic devices`",
                    entrant.contender.name(),
                    job.len(),
                    job.key_type,
                    job.rows.row_length,
                )));
            }
        }
        Ok(())
    }

    fn ends_round(&mut self, _: usize) -> Result<(), Failure> {
        self.progress.advance(1);
        Ok(())
    }
}

fn cell_key(contender: &Contender, job: Job) -> CellKey {
    CellKey {
        implementation: contender.name().into_owned(),
        key_type: job.key_type.to_string(),
        distribution: job.pattern.to_string(),
        size: job.len(),
        row_length: (job.rows.rows > 1).then_some(job.rows.row_length),
        values: job.has_values.then(|| "u32".to_owned()),
    }
}
