//! A run in progress.

use super::contender::{Failed, Timed, WarmUp};
use super::host::{AnyInput, AnySort, HostInput, InProcess, Told, make_input};
use super::progress::{Row, RowCell, Watch};
use super::rounds::{Rounds, View};
use super::{Counters, LabError, Stopped};
use crate::dropin::ResultFile;
use crate::experiment::{Case, Experiment};
use crate::figures::long_time;
use crate::forecast::{Forecast, Probes};
use crate::implementation::{Implementation, Settings};
use crate::quantity;
use crate::record::{CellKey, Journal, Record, Status, summary};
use bitonic::key::{Bits, Key, KeyType, KeysMut};
use bitonic::{Order, with_key_type};
use bitonic_testkit::Pattern;
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::str::FromStr;
use std::time::{Duration, Instant};

/// What times are predicted from: an implementation on keys of one kind.
type ForecastKey = (String, String, String);

pub(super) struct Session<'a> {
    experiment: &'a Experiment,
    implementations: Vec<Implementation>,
    settings: Settings,
    journal: Journal,
    results: ResultFile,
    counters: Option<Counters>,
    watch: &'a mut dyn Watch,
    records: Vec<Record>,
    /// Which sorts are recorded: cell, instance, repetition.
    done: HashSet<(CellKey, usize, usize)>,
    /// How many repetitions of an instance are recorded.
    counts: HashMap<(CellKey, usize), usize>,
    /// What was spent on a cell, and for how many runs.
    spent: HashMap<CellKey, (f64, usize)>,
    /// Cells with a line that says why they are not measured.
    closed: HashSet<CellKey>,
    forecast: Forecast<ForecastKey>,
    advanced: u64,
    amount: u64,
}

impl<'a> Session<'a> {
    pub(super) fn new(
        experiment: &'a Experiment,
        journal: Journal,
        records: Vec<Record>,
        counters: Option<Counters>,
        results: ResultFile,
        watch: &'a mut dyn Watch,
    ) -> Result<Self, LabError> {
        let mut session = Self {
            implementations: experiment.resolve().map_err(LabError::Experiment)?,
            settings: experiment.settings().map_err(|error| LabError::Experiment(error.to_string()))?,
            experiment,
            journal,
            results,
            counters,
            watch,
            records: Vec::new(),
            done: HashSet::new(),
            counts: HashMap::new(),
            spent: HashMap::new(),
            closed: HashSet::new(),
            forecast: Forecast::new(Probes::Few),
            advanced: 0,
            amount: 0,
        };
        for record in records {
            session.remember(record);
        }
        let all = session.implementations.iter();
        session.amount =
            all.flat_map(|one| experiment.cases.iter().map(|case| weight(one, case, experiment))).sum();
        Ok(session)
    }

    /// Measures an instance, as far as that is not done yet.
    pub(super) fn run_case(&mut self, case: &Case, key_type: KeyType) -> Result<(), Stopped> {
        let taking_part = self.admit(case, key_type)?;
        let open =
            |&index: &usize| (1..=case.repetitions).any(|repetition| !self.is_done(index, case, repetition));
        if taking_part.iter().any(open) {
            let input = self.input(case, key_type)?;
            self.measure(case, taking_part, input)?;
        }
        let weights = self.implementations.iter().map(|one| weight(one, case, self.experiment)).sum::<u64>();
        self.advanced += weights;
        self.watch.advanced(self.advanced, self.amount, "");
        Ok(())
    }

    /// Shows what was measured so far.
    pub(super) fn show(&mut self, case: &Case, last_of_its_size: bool) {
        let cells = |instance: Option<usize>| {
            let cell = |entry: &crate::experiment::Entry| {
                let key = CellKey::new(&entry.implementation, case);
                let of_cell: Vec<&Record> =
                    self.records.iter().filter(|record| record.belongs_to(&key)).collect();
                let extrapolated = of_cell.iter().find(|record| record.status == Status::Extrapolated);
                if let Some(seconds) = extrapolated.and_then(|record| record.seconds) {
                    return RowCell::Extrapolated(seconds);
                }
                let wanted = |record: &&&Record| instance.is_none_or(|instance| record.instance == instance);
                summary(of_cell.iter().filter(wanted).copied()).map_or(RowCell::Nothing, RowCell::Measured)
            };
            self.experiment.implementations.iter().map(cell).collect()
        };
        let row =
            Row { case, last_of_its_size, of_instance: cells(Some(case.instance)), of_size: cells(None) };
        self.watch.row(&row);
    }

    /// All records of the run.
    pub(super) fn finish(self) -> Vec<Record> {
        self.records
    }

    /// Who sorts this case, by index. Who does not gets a line that says why.
    fn admit(&mut self, case: &Case, key_type: KeyType) -> Result<Vec<usize>, Stopped> {
        let mut taking_part = Vec::new();
        for index in 0..self.implementations.len() {
            let implementation = self.implementations[index].clone();
            let cell = CellKey::new(&self.experiment.implementations[index].implementation, case);
            if self.closed.contains(&cell) {
                continue;
            }
            if !implementation.takes(case.size) && !self.settings.pad {
                self.close(&cell, Status::LeftOut, None, "sorts powers of two only".to_owned())?;
                continue;
            }
            let budget = self.experiment.budget_seconds.unwrap_or(f64::INFINITY);
            let forecast_key = forecast_key(&cell);
            let settings = &self.settings;
            let mut probe = |keys: usize| {
                let pattern = pattern(case)?;
                with_key_type!(key_type, K => {
                    let mut keys: Vec<K> = pattern.generate(keys, self.experiment.seed);
                    let started = Instant::now();
                    implementation.sort(&mut keys, settings).map_err(|error| error.to_string())?;
                    Ok(started.elapsed().as_secs_f64())
                })
            };
            let measured = self.spent.contains_key(&cell);
            let algorithm = implementation.algorithm();
            match self.forecast.too_long(&forecast_key, algorithm, case.size, budget, &mut probe) {
                Ok(Some(predicted)) if !measured => {
                    let note = format!(
                        "would take about {} a run, more than the budget of {}; from {} keys, growing as n^{:.2} as over the last sizes",
                        long_time(predicted.seconds),
                        long_time(budget),
                        quantity::name(predicted.from.keys),
                        predicted.exponent
                    );
                    self.close(&cell, Status::Extrapolated, Some(predicted.seconds), note)?;
                }
                Ok(_) => taking_part.push(index),
                Err(reason) => self.close(&cell, Status::LeftOut, None, reason)?,
            }
        }
        Ok(taking_part)
    }

    /// Lets those who take part sort in rounds, as far as that is not recorded yet.
    fn measure(
        &mut self,
        case: &Case,
        taking_part: Vec<usize>,
        mut input: Box<dyn AnyInput>,
    ) -> Result<(), Stopped> {
        let sort = |&index: &usize| {
            let implementation = self.implementations[index].clone();
            let builds_kernels = implementation.runs_on().is_device() && !self.is_slow(index, case);
            InProcess(Sort { implementation, settings: self.settings.clone(), builds_kernels })
        };
        let mut contenders: Vec<_> = taking_part.iter().map(sort).collect();
        // A warm-up may take no longer than all that it is for.
        let budget = Duration::try_from_secs_f64(self.experiment.budget_seconds.unwrap_or(f64::INFINITY));
        let most = budget.unwrap_or(Duration::MAX);
        let mut rounds = Rounds {
            warm_up: WarmUp { sorts: self.experiment.warm_up, most, ..WarmUp::DEFAULT },
            counters: self.counters.take(),
            verify: self.experiment.verify,
        };
        let open = vec![true; taking_part.len()];
        let mut view = CaseView { session: self, case, taking_part, open, turn: Vec::new() };
        let done = rounds.run(&mut input, &mut contenders, &mut view);
        self.counters = rounds.counters;
        done
    }

    /// Whether a single sort is known to take so long that none is made just to build kernels.
    fn is_slow(&self, index: usize, case: &Case) -> bool {
        let cell = CellKey::new(&self.experiment.implementations[index].implementation, case);
        let algorithm = self.implementations[index].algorithm();
        let predicted = self.forecast.expect(&forecast_key(&cell), algorithm, case.size);
        predicted.is_some_and(|predicted| predicted.seconds >= 1.0)
    }

    fn is_done(&self, index: usize, case: &Case, repetition: usize) -> bool {
        let cell = CellKey::new(&self.experiment.implementations[index].implementation, case);
        self.done.contains(&(cell, case.instance, repetition))
    }

    /// Whether the budget allows one more run. Every instance has its share of it; the first run of an instance may use
    /// the shares of others, and the first run of a cell is always made.
    fn affords(&self, index: usize, case: &Case) -> bool {
        let cell = CellKey::new(&self.experiment.implementations[index].implementation, case);
        // From the records alone, so that a run which was resumed decides as it would have without the interruption.
        let Some(&spent) = self.spent.get(&cell) else { return true };
        let first = !self.counts.contains_key(&(cell, case.instance));
        let share = if first { 1.0 } else { case.instance as f64 / case.instances as f64 };
        self.experiment.affords(spent, share)
    }

    fn close(
        &mut self,
        cell: &CellKey,
        status: Status,
        seconds: Option<f64>,
        note: String,
    ) -> Result<(), Stopped> {
        self.watch.note(&format!("{} of {} keys: {note}", cell.implementation, quantity::name(cell.size)));
        let record = Record { status, seconds, note, ..Record::of(cell) };
        self.journal.append(&record)?;
        self.remember(record);
        Ok(())
    }

    fn remember(&mut self, record: Record) {
        let cell = record.cell();
        match (record.status, record.seconds) {
            (Status::Measured, Some(seconds)) => {
                self.done.insert((cell.clone(), record.instance, record.repetition));
                *self.counts.entry((cell.clone(), record.instance)).or_default() += 1;
                self.forecast.note(&forecast_key(&cell), record.size, seconds);
                let (spent, runs) = self.spent.entry(cell).or_default();
                *spent += seconds;
                *runs += 1;
            }
            _ => {
                self.closed.insert(cell);
            }
        }
        self.records.push(record);
    }

    fn input(&self, case: &Case, key_type: KeyType) -> Result<Box<dyn AnyInput>, Stopped> {
        match &case.values {
            Some(values) => with_key_type!(key_type, K => {
                let key = |&value: &i64| K::from_raw_bits(Bits::truncate(value as u128));
                let keys = values.iter().map(key).collect();
                Ok(Box::new(HostInput::<K>::new(keys, None, case.size, Order::Ascending)))
            }),
            None => {
                // Far apart, so that the instances of neighbouring seeds are not the same ones in another order.
                let seed = self.experiment.seed.wrapping_add((case.instance as u64 - 1) << 32);
                let pattern = pattern(case).map_err(Stopped::Other)?;
                make_input(key_type, (case.size, case.size), pattern, seed, Order::Ascending)
                    .map_err(Stopped::Other)
            }
        }
    }
}

/// An instance on its way through the rounds.
struct CaseView<'s, 'a> {
    session: &'s mut Session<'a>,
    case: &'s Case,
    /// The implementations, in the order of the contenders.
    taking_part: Vec<usize>,
    /// Who of them still has a turn: who is not closed, and whose budget is not spent.
    open: Vec<bool>,
    /// What this round has measured.
    turn: Vec<Record>,
}

impl CaseView<'_, '_> {
    fn cell(&self, contender: usize) -> CellKey {
        let entry = &self.session.experiment.implementations[self.taking_part[contender]];
        CellKey::new(&entry.implementation, self.case)
    }
}

impl View<Box<dyn AnyInput>> for CaseView<'_, '_> {
    type Error = Stopped;

    fn starts_round(&mut self, round: usize, _: &mut Box<dyn AnyInput>) -> Result<bool, Stopped> {
        for contender in 0..self.open.len() {
            let closed = self.session.closed.contains(&self.cell(contender));
            let affords = self.session.affords(self.taking_part[contender], self.case);
            self.open[contender] &= !closed && affords;
        }
        Ok(round <= self.case.repetitions && self.open.contains(&true))
    }

    fn takes_turn(&mut self, contender: usize, round: usize) -> bool {
        self.open[contender] && !self.session.is_done(self.taking_part[contender], self.case, round)
    }

    fn hears(&mut self, name: &str) {
        let doing = format!("{name} of {}", quantity::name(self.case.size));
        self.session.watch.advanced(self.session.advanced, self.session.amount, &doing);
    }

    fn keeps(
        &mut self,
        contender: usize,
        round: usize,
        outcome: Result<Timed, Failed>,
        input: &Box<dyn AnyInput>,
    ) -> Result<(), Stopped> {
        let cell = self.cell(contender);
        match outcome {
            Ok(timed) => {
                let record = Record::measured(&cell, self.case.instance, round, &timed);
                self.session.journal.append(&record)?;
                self.turn.push(record.clone());
                self.session.remember(record);
                Ok(())
            }
            Err(Failed::LeftOut(reason)) => self.session.close(&cell, Status::LeftOut, None, reason),
            Err(Failed::Wrong(_)) => {
                let entry = &self.session.experiment.implementations[self.taking_part[contender]];
                Err(Stopped::Wrong(Box::new(input.error_log(entry.label.clone(), round))))
            }
        }
    }

    fn ends_round(&mut self, _: usize) -> Result<(), Stopped> {
        self.session.results.append(self.case.size, &std::mem::take(&mut self.turn))?;
        Ok(())
    }
}

/// An implementation with the experiment's settings.
struct Sort {
    implementation: Implementation,
    settings: Settings,
    /// Whether it sorts once before its first turn, so that kernels are built.
    builds_kernels: bool,
}

impl AnySort for Sort {
    fn name(&self) -> Cow<'_, str> {
        self.implementation.to_string().into()
    }

    fn prepare(&mut self, input: &dyn AnyInput) -> Result<(), String> {
        match self.builds_kernels {
            true => input.try_out(input.len(), &mut |keys| self.sort(keys, input.row_length())),
            false => Ok(()),
        }
    }

    fn sort(&mut self, keys: KeysMut<'_>, _: usize) -> Result<Told, String> {
        let device = self.implementation.sort_any(keys, &self.settings).map_err(|error| error.to_string())?;
        Ok(Told { device, ..Told::default() })
    }

    fn stays_on_its_thread(&self) -> bool {
        self.implementation.stays_on_its_thread()
    }
}

fn pattern(case: &Case) -> Result<Pattern, String> {
    Pattern::from_str(&case.distribution)
}

fn forecast_key(cell: &CellKey) -> ForecastKey {
    (cell.implementation.clone(), cell.key_type.clone(), cell.distribution.clone())
}

/// About how many milliseconds a case takes, for a bar that moves evenly: as if a step of any sort took a nanosecond.
fn weight(implementation: &Implementation, case: &Case, experiment: &Experiment) -> u64 {
    let seconds = implementation.algorithm().work(case.size) * case.repetitions as f64 * 1e-9;
    let budget = experiment.budget_seconds.unwrap_or(f64::INFINITY) / case.instances as f64;
    1 + (seconds.min(budget) * 1e3) as u64
}
