//! The measurement: every sort on the same keys, turn by turn.

use super::super::statistics::Summary;
use super::arena::Arena;
use super::contender::{Cell, Contender, Measured, Outcome, Own};
use super::ground::{Ground, Run};
use super::job::Job;
use super::keys::Keys;
use super::peers::Peer;
use crate::failure::Failure;
use crate::figures::long_time;
use crate::progress::Progress;
use bitonic_lab::foresight::Foresight;
use bitonic_lab::implementation::Algorithm;
use bitonic_ladder::Rung;
use bitonic_testkit::TestKey;
use std::num::NonZero;
use std::time::Duration;

/// A device, and all that sorts on it.
pub(super) struct Bench<'a, G> {
    pub(super) ground: &'a G,
    pub(super) rungs: Vec<Rung>,
    pub(super) peers: Vec<Peer>,
    /// How often everybody sorts.
    pub(super) repetitions: NonZero<usize>,
    /// How long everybody sorts before the sort that counts.
    pub(super) warm_up: Duration,
    /// What rungs will take.
    pub(super) foresight: Foresight<Rung>,
    /// The seconds that a rung may take.
    pub(super) longest: f64,
    pub(super) progress: &'a Progress,
}

/// Somebody who takes part, and what came of it so far.
struct Entrant {
    contender: Contender,
    runs: Vec<Run>,
    /// Why it takes part no longer.
    out: Option<Outcome>,
}

impl<G: Ground> Bench<'_, G> {
    /// Measures sorts of these keys. Fails on the first wrong result of this project's; a peer's is a part of the answer.
    pub(super) fn measure<K: TestKey>(&mut self, job: Job) -> Result<Vec<Cell>, Failure> {
        // No rung knows of rows or values.
        let rungs = if job.rows.rows == 1 && !job.has_values { self.rungs.clone() } else { Vec::new() };
        self.progress.name("making keys");
        let keys = Keys::new::<K>(job, !rungs.is_empty())?;
        let mut arena = Arena::new(self.ground, job, &keys)?;
        let mut entrants: Vec<Entrant> = Vec::new();
        entrants.extend(G::WAYS.iter().map(|&way| Entrant::own(Own::Engine(way))));
        entrants.extend(self.peers.iter_mut().flat_map(|peer| offers(peer, job, &keys)));
        for rung in rungs {
            let out = self.why_not::<K>(rung, job, &arena)?.map(Outcome::LeftOut);
            entrants.push(Entrant { out, ..Entrant::own(Own::Rung(rung)) });
        }
        entrants.extend(G::COPIES.then(|| Entrant::own(Own::Copy)));
        for turn in 0..=self.repetitions.get() {
            for entrant in entrants.iter_mut().filter(|entrant| entrant.out.is_none()) {
                let run = self.run::<K>(&entrant.contender, job, &keys, &mut arena)?;
                match run {
                    // The first turn builds kernels and makes choices: it does not count.
                    Ok(run) if turn > 0 => entrant.runs.push(run),
                    Ok(_) => {}
                    Err(outcome) => entrant.out = Some(outcome),
                }
            }
            self.progress.advance(1);
        }
        Ok(self.cells(entrants, job))
    }

    /// One turn of a contender, or why it takes part no longer.
    fn run<K: TestKey>(
        &mut self,
        contender: &Contender,
        job: Job,
        keys: &Keys,
        arena: &mut Arena<'_, G>,
    ) -> Result<Result<Run, Outcome>, Failure> {
        match contender {
            Contender::Own(own) => {
                self.progress.name(own.name());
                arena.run::<K>(*own, self.warm_up).map(Ok)
            }
            Contender::Peer { peer: name, sort } => {
                self.progress.name(name.to_owned());
                let peer = self.peers.iter_mut().find(|peer| peer.name == *name);
                let peer = peer.ok_or_else(|| Failure::new(format!("there is no peer {name}")))?;
                Ok(run_peer(peer, sort, self.warm_up, job, keys))
            }
        }
    }

    /// Why a rung does not take part.
    fn why_not<K: TestKey>(
        &mut self,
        rung: Rung,
        job: Job,
        arena: &Arena<'_, G>,
    ) -> Result<Option<String>, Failure> {
        if !rung.sizes().contain(job.len()) {
            return Ok(Some(format!("sorts {} only", rung.sizes())));
        }
        self.progress.name(rung.name());
        let time = |len: usize| arena.time_rung::<K>(rung, len).map(|time| time.as_secs_f64());
        let algorithm = Algorithm::of(rung);
        let too_long = self.foresight.too_long(&rung, algorithm, job.len(), self.longest, time)?;
        Ok(too_long
            .map(|foreseen| format!("would take up to {} a run: see --longest", long_time(foreseen.seconds))))
    }

    /// What came of everybody, those who did not sort last.
    fn cells(&mut self, entrants: Vec<Entrant>, job: Job) -> Vec<Cell> {
        let (out, sorted): (Vec<Entrant>, Vec<Entrant>) =
            entrants.into_iter().partition(|entrant| entrant.out.is_some());
        let mut cells = Vec::new();
        for Entrant { contender, runs, out } in sorted.into_iter().chain(out) {
            let Some(outcome) = out.or_else(|| sum_up(&runs).map(Outcome::Measured)) else { continue };
            if let (Contender::Own(Own::Rung(rung)), Outcome::Measured(measured)) = (&contender, &outcome) {
                self.foresight.note(rung, job.len(), measured.time.median.as_secs_f64());
            }
            cells.push(Cell { contender, job, outcome });
        }
        cells
    }
}

impl Entrant {
    fn own(own: Own) -> Self {
        Self { contender: Contender::Own(own), runs: Vec::new(), out: None }
    }
}

/// What a peer sorts these keys with; or itself, with the reason why it does not.
fn offers(peer: &mut Peer, job: Job, keys: &Keys) -> Vec<Entrant> {
    let name = peer.name;
    let entrant = |sort: String, out| Entrant {
        contender: Contender::Peer { peer: name, sort },
        runs: Vec::new(),
        out,
    };
    let left_out = |reason: String| vec![entrant(String::new(), Some(Outcome::LeftOut(reason)))];
    if !job.is_in_order_by_comparison() {
        return left_out(format!("{} keys have NaN, which peers compare otherwise", job.pattern));
    }
    match peer.offer(job, keys.own()) {
        Ok(sorts) if sorts.is_empty() => left_out("has no sort for such keys".to_owned()),
        Ok(sorts) => sorts.into_iter().map(|sort| entrant(sort, None)).collect(),
        Err(reason) => left_out(reason),
    }
}

/// Lets a peer sort, fetches what it has made and compares.
fn run_peer(peer: &mut Peer, sort: &str, warm_up: Duration, job: Job, keys: &Keys) -> Result<Run, Outcome> {
    let timed = peer.run(sort, warm_up).map_err(Outcome::LeftOut)?;
    let fetched = peer.fetch(job).map_err(Outcome::LeftOut)?;
    match keys.own().mistake(&fetched) {
        None => Ok(Run { span: timed.span, launches: None, note: timed.note }),
        Some(mistake) => Err(Outcome::Wrong(format!("sorted wrongly: {mistake}"))),
    }
}

fn sum_up(runs: &[Run]) -> Option<Measured> {
    let times: Vec<Duration> = runs.iter().map(|run| run.span).collect();
    let first = runs.first()?;
    Some(Measured { time: Summary::of(&times)?, launches: first.launches, note: first.note.clone() })
}
