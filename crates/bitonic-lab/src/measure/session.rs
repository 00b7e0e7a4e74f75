//! A run in progress.

use super::counters::Counts;
use super::progress::{Row, RowCell, Watch};
use super::{Counters, LabError, Stopped};
use crate::analysis::Summary;
use crate::dropin::{ErrorLog, ResultFile};
use crate::experiment::{Case, Experiment};
use crate::figures::long_time;
use crate::foresight::{Foresight, Look};
use crate::implementation::{DeviceShare, Implementation, Settings};
use crate::quantity;
use crate::record::{CellKey, Journal, Record, Status};
use bitonic::key::Bits;
use bitonic_testkit::{Pattern, TestKey};
use std::collections::{HashMap, HashSet};
use std::str::FromStr;
use std::time::Instant;

/// A sort that takes longer is not made once more to warm up: nothing is cold that long.
const WARM_SECONDS: f64 = 1.0;

/// What times are foreseen from: an implementation on keys of one kind.
type Kind = (String, String, String);

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
    foresight: Foresight<Kind>,
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
            foresight: Foresight::new(Look::Briefly),
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
    pub(super) fn run_case<K: TestKey>(&mut self, case: &Case) -> Result<(), Stopped> {
        let taking_part = self.admit::<K>(case)?;
        let open =
            |&index: &usize| (1..=case.repetitions).any(|repetition| !self.is_done(index, case, repetition));
        if taking_part.iter().any(open) {
            let keys = self.keys::<K>(case)?;
            let mut expected = keys.clone();
            expected.sort_unstable_by_key(|key| key.to_ordered_bits());
            self.measure(case, &taking_part, &keys, &expected)?;
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
                let seconds: Vec<f64> =
                    of_cell.iter().filter(wanted).filter_map(|record| record.seconds).collect();
                Summary::of(&seconds).map_or(RowCell::Nothing, RowCell::Measured)
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
    fn admit<K: TestKey>(&mut self, case: &Case) -> Result<Vec<usize>, Stopped> {
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
            let kind = kind(&cell);
            let settings = &self.settings;
            let probe = |keys: usize| {
                let mut keys = generate::<K>(&case.distribution, keys, self.experiment.seed)?;
                let started = Instant::now();
                implementation.sort(&mut keys, settings).map_err(|error| error.to_string())?;
                Ok(started.elapsed().as_secs_f64())
            };
            let measured = self.spent.contains_key(&cell);
            let algorithm = implementation.algorithm();
            match self.foresight.too_long(&kind, algorithm, case.size, budget, probe) {
                Ok(Some(foreseen)) if !measured => {
                    let note = format!(
                        "would take about {} a run, more than the budget of {}; from {} keys and {}",
                        long_time(foreseen.seconds),
                        long_time(budget),
                        quantity::name(foreseen.from.keys),
                        algorithm.growth()
                    );
                    self.close(&cell, Status::Extrapolated, Some(foreseen.seconds), note)?;
                }
                Ok(_) => taking_part.push(index),
                Err(reason) => self.close(&cell, Status::LeftOut, None, reason)?,
            }
        }
        Ok(taking_part)
    }

    fn measure<K: TestKey>(
        &mut self,
        case: &Case,
        all: &[usize],
        keys: &[K],
        expected: &[K],
    ) -> Result<(), Stopped> {
        let mut warm: HashSet<usize> = HashSet::new();
        let mut taking_part = all.to_vec();
        let mut scratch = keys.to_vec();
        for repetition in 1..=case.repetitions {
            let mut turn = Vec::new();
            taking_part.retain(|&index| {
                let cell = CellKey::new(&self.experiment.implementations[index].implementation, case);
                !self.closed.contains(&cell) && self.affords(index, case)
            });
            if taking_part.is_empty() {
                break;
            }
            for &index in &taking_part {
                if self.is_done(index, case, repetition) {
                    continue;
                }
                let cell = CellKey::new(&self.experiment.implementations[index].implementation, case);
                let doing = format!("{} of {}", cell.implementation, quantity::name(case.size));
                self.watch.advanced(self.advanced, self.amount, &doing);
                if warm.insert(index)
                    && self.expected_seconds(index, case).is_none_or(|seconds| seconds < WARM_SECONDS)
                {
                    let warming = Instant::now();
                    let budget = self.experiment.budget_seconds.unwrap_or(f64::INFINITY);
                    for _ in 0..self.experiment.warm_up {
                        if warming.elapsed().as_secs_f64() > budget {
                            break;
                        }
                        scratch.copy_from_slice(keys);
                        // If it fails, it fails again below, where the failure is recorded.
                        let _ = self.implementations[index].sort(&mut scratch, &self.settings);
                    }
                }
                scratch.copy_from_slice(keys);
                match self.sort(index, &mut scratch) {
                    Err(reason) => self.close(&cell, Status::LeftOut, None, reason)?,
                    Ok(_) if self.experiment.verify && !same_bits(&scratch, expected) => {
                        let label = self.experiment.implementations[index].label.clone();
                        return Err(Stopped::Wrong(Box::new(ErrorLog::new(
                            label, repetition, keys, &scratch,
                        ))));
                    }
                    Ok(sorted) => {
                        let record = sorted.record(&cell, case.instance, repetition);
                        self.journal.append(&record)?;
                        turn.push(record.clone());
                        self.remember(record);
                    }
                }
            }
            let entries = &self.experiment.implementations;
            let open = all.iter().map(|&index| entries[index].implementation.as_str());
            let closed = |name: &&str| self.closed.contains(&CellKey::new(name, case));
            self.results.append(case.size, &turn, open.filter(|name| !closed(name)))?;
        }
        Ok(())
    }

    /// One sort, with the clock and the counters around nothing but it.
    fn sort<K: TestKey>(&mut self, index: usize, keys: &mut [K]) -> Result<Sorted, String> {
        let implementation = &self.implementations[index];
        let counters = self.counters.as_mut().filter(|_| implementation.stays_on_its_thread());
        let mut counts = Counts::default();
        let (seconds, sorted) = match counters {
            None => timed(|| implementation.sort(keys, &self.settings)),
            Some(counters) => {
                counters.start();
                let timed = timed(|| implementation.sort(keys, &self.settings));
                counts = counters.stop();
                timed
            }
        };
        let device = sorted.map_err(|error| error.to_string())?;
        Ok(Sorted { seconds, device, counts })
    }

    fn is_done(&self, index: usize, case: &Case, repetition: usize) -> bool {
        let cell = CellKey::new(&self.experiment.implementations[index].implementation, case);
        self.done.contains(&(cell, case.instance, repetition))
    }

    fn expected_seconds(&self, index: usize, case: &Case) -> Option<f64> {
        let cell = CellKey::new(&self.experiment.implementations[index].implementation, case);
        let algorithm = self.implementations[index].algorithm();
        Some(self.foresight.expect(&kind(&cell), algorithm, case.size)?.seconds)
    }

    /// Whether the budget allows one more run. Every instance has its share of it; the first run of an instance may use
    /// the shares of others, and the first run of a cell is always made.
    fn affords(&self, index: usize, case: &Case) -> bool {
        let Some(budget) = self.experiment.budget_seconds else { return true };
        let cell = CellKey::new(&self.experiment.implementations[index].implementation, case);
        // From the records alone, so that a run which was resumed decides as it would have without the interruption.
        let Some(&(spent, runs)) = self.spent.get(&cell) else { return true };
        let next = spent / runs as f64;
        let first = !self.counts.contains_key(&(cell, case.instance));
        let share = if first { 1.0 } else { case.instance as f64 / case.instances as f64 };
        spent + next <= budget * share
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
                self.foresight.note(&kind(&cell), record.size, seconds);
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

    fn keys<K: TestKey>(&self, case: &Case) -> Result<Vec<K>, Stopped> {
        match &case.values {
            Some(values) => {
                Ok(values.iter().map(|&value| K::from_raw_bits(Bits::truncate(value as u128))).collect())
            }
            None => {
                // Far apart, so that the instances of neighbouring seeds are not the same ones in another order.
                let seed = self.experiment.seed.wrapping_add((case.instance as u64 - 1) << 32);
                generate(&case.distribution, case.size, seed).map_err(Stopped::Other)
            }
        }
    }
}

/// A sort that was made.
struct Sorted {
    seconds: f64,
    device: Option<DeviceShare>,
    counts: Counts,
}

impl Sorted {
    fn record(&self, cell: &CellKey, instance: usize, repetition: usize) -> Record {
        let Self { seconds, device, counts } = *self;
        Record {
            instance,
            repetition,
            seconds: Some(seconds),
            upload_seconds: device.map(|device| device.upload.as_secs_f64()),
            kernel_seconds: device.map(|device| device.kernels.as_secs_f64()),
            download_seconds: device.map(|device| device.download.as_secs_f64()),
            launches: device.map(|device| device.launches),
            kernel_bytes: device.map(|device| device.kernel_bytes),
            cycles: counts.cycles,
            instructions: counts.instructions,
            branches: counts.branches,
            branch_misses: counts.branch_misses,
            cache_references: counts.cache_references,
            cache_misses: counts.cache_misses,
            ..Record::of(cell)
        }
    }
}

fn timed<T>(work: impl FnOnce() -> T) -> (f64, T) {
    let started = Instant::now();
    let result = work();
    (started.elapsed().as_secs_f64(), result)
}

/// Makes keys; refuses what this machine cannot hold three times: as they are, as they should be, and as they become.
fn generate<K: TestKey>(distribution: &str, size: usize, seed: u64) -> Result<Vec<K>, String> {
    let bytes = size.saturating_mul(size_of::<K>()).saturating_mul(3);
    if Vec::<u8>::new().try_reserve_exact(bytes).is_err() {
        return Err(format!("no memory for {size} keys, which take {bytes} bytes: choose smaller sizes"));
    }
    Ok(Pattern::from_str(distribution)?.generate(size, seed))
}

fn same_bits<K: TestKey>(one: &[K], other: &[K]) -> bool {
    one.len() == other.len()
        && one.iter().zip(other).all(|(one, other)| one.to_raw_bits() == other.to_raw_bits())
}

fn kind(cell: &CellKey) -> Kind {
    (cell.implementation.clone(), cell.key_type.clone(), cell.distribution.clone())
}

/// About how many milliseconds a case takes, for a bar that moves evenly: as if a step of any sort took a nanosecond.
fn weight(implementation: &Implementation, case: &Case, experiment: &Experiment) -> u64 {
    let seconds = implementation.algorithm().work(case.size) * case.repetitions as f64 * 1e-9;
    let budget = experiment.budget_seconds.unwrap_or(f64::INFINITY) / case.instances as f64;
    1 + (seconds.min(budget) * 1e3) as u64
}
