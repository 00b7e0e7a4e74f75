//! Measures the few parameters of a plan on a device, and from which length on it beats the CPU: what `bitonic tune` does.

use super::against_cpu;
use super::budget::Budget;
use super::driver::Driver;
use super::facts::DeviceFacts;
use super::job::Job;
use super::strategy::{Network, each_strategy, kernel_plan, of_strategy};
use super::trial::{Trial, is_worth_a_change};
use super::tuning::{Crossover, NetworkShape, SortKind, Stored, StrategyName, TunedShape, Tuning};
use crate::Error;
use crate::key::Key;
use crate::plan::{KernelPlan, Step};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// What tuning found.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TuneReport {
    /// The device.
    pub device: String,
    /// What was best for which elements and lengths, of those that were tried this time.
    pub rows: Vec<TuneRow>,
    /// How many of these are left for another time, because the budget was spent.
    pub rows_left: usize,
    /// From which length on the device is faster than the CPU engine, for the kinds of sorts that were compared this time.
    /// [`Engine::Auto`](crate::Engine::Auto) goes by it. Empty where the device is a processor, of which the CPU engine is the better
    /// use.
    pub faster_from: Vec<FasterFrom>,
    /// How many kinds of sorts are left for another time.
    pub kinds_left: usize,
    /// Whether it was stored, so that later sorts go by it.
    pub stored: bool,
}

/// From which length on a device is faster than the CPU, for a kind of sorts.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FasterFrom {
    /// The kind of sorts, such as `keys of 4 bytes`.
    pub sorts: String,
    /// The shortest length at which the device, transfers included, was faster beyond the spread of the times; `None` if it never was.
    pub length: Option<usize>,
    /// The longest that was measured.
    pub measured_up_to: usize,
}

impl From<&Crossover> for FasterFrom {
    fn from(crossover: &Crossover) -> Self {
        let &Crossover { kind, faster_from, up_to, .. } = crossover;
        Self { sorts: kind.to_string(), length: faster_from, measured_up_to: up_to }
    }
}

/// The best way to cut sorts of one kind.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TuneRow {
    /// What an element takes: a key, with what travels with it.
    pub element_bytes: usize,
    /// How many keys were sorted.
    pub length: usize,
    /// The strategy, or the shape of the network, that is taken without tuning.
    pub default_shape: String,
    /// What the kernels took with it.
    pub default_time: Duration,
    /// The fastest way found.
    pub best_shape: String,
    /// What the kernels took with it.
    pub best_time: Duration,
    /// How many ways were tried.
    pub tried: usize,
    /// How many of them the device's compiler refused, or got wrong, now or in an earlier search: the result of each is checked, many
    /// times for those that are taken.
    pub refused: usize,
}

/// The lengths that are tuned, as powers of two, those that tell most first.
const LENGTHS: [u32; 8] = [16, 20, 24, 14, 18, 22, 12, 13];

/// Processors and simulators would take hours for longer ones.
const LONGEST_ON_CPU: u32 = 20;

/// The share of a budget that goes to shapes and strategies. The rest goes to comparisons with the CPU, which need fewer kernels.
const FOR_SHAPES: f64 = 0.6;

/// The least budget that is enough to measure the speed of copies, too. Processors take seconds for it.
const FOR_COPIES: Duration = Duration::from_secs(10);

/// Tries strategies and shapes on a device, stores the best for later sorts, and says what was found. `progress` hears what is tried.
///
/// What is found is stored at once, so that it stays when the process is killed; the rest of what was stored before stays, too. What
/// was not tuned before comes first. Devices that are open in this process go on with what they had.
pub(crate) fn tune<D: Driver>(
    device: &D,
    budget: Duration,
    progress: &mut dyn FnMut(&str),
) -> Result<TuneReport, Error> {
    let (whole, facts) = (Budget::new(budget), device.facts());
    let is_cpu = facts.is_cpu();
    if budget >= FOR_COPIES && !is_cpu {
        progress("the speed of copies");
        device.state().copy_bandwidth(device)?;
    }
    let tuning = Tuning::load(&device.identity()).unwrap_or_default();
    let mut works: Vec<(usize, usize)> = LENGTHS
        .into_iter()
        .filter(|&log2| !is_cpu || log2 <= LONGEST_ON_CPU)
        .flat_map(|log2| [4, 8, 16].map(|bytes| (bytes, 1 << log2)))
        .collect();
    works.sort_by_key(|&(bytes, length)| tuning.has(bytes, length));
    let budget = if is_cpu { whole } else { whole.share(FOR_SHAPES) };
    let store = |tuning: &Tuning| Stored::now(facts, tuning).store(&device.identity());
    let mut found = Found::new(device, tuning, &store, budget, progress);
    let mut rows_left = works.len();
    for (bytes, length) in works {
        // The default, and at least one other.
        if !found.budget.allows(2 * found.longest) {
            break;
        }
        let is_tuned = match bytes {
            4 => found.tune_length::<u32>(length)?,
            8 => found.tune_length::<u64>(length)?,
            _ => found.tune_length::<u128>(length)?,
        };
        if !is_tuned {
            break;
        }
        rows_left -= 1;
    }
    let Found { tuning, mut rows, mut stored, progress, .. } = found;
    rows.sort_by_key(|row| (row.element_bytes, row.length));
    let mut compared = Compared { faster_from: Vec::new(), kinds_left: 0, stored: true };
    // A processor is no rival of the CPU engine, which is the better use of it; what was measured for another device stays.
    if !is_cpu {
        compared = compare(device, &tuning, whole, progress);
    }
    let Compared { faster_from, kinds_left, .. } = compared;
    stored &= compared.stored;
    Ok(TuneReport { device: facts.name.clone(), rows, rows_left, faster_from, kinds_left, stored })
}

/// How a device did beside the CPU.
struct Compared {
    faster_from: Vec<FasterFrom>,
    kinds_left: usize,
    /// Whether all of it was stored.
    stored: bool,
}

/// Compares a device with the CPU, for one kind of sorts after the other, and stores what is found. What was not compared before comes
/// first.
fn compare<D: Driver>(
    device: &D,
    tuning: &Tuning,
    budget: Budget,
    progress: &mut dyn FnMut(&str),
) -> Compared {
    let known = Crossover::load_all();
    let name = &device.facts().name;
    let is_known = |kind: &SortKind| {
        known.iter().any(|known| (known.engine, known.kind) == (D::ENGINE, *kind) && known.device == *name)
    };
    let mut kinds = SortKind::MEASURED.to_vec();
    kinds.sort_by_key(is_known);
    let mut compared = Compared { faster_from: Vec::new(), kinds_left: kinds.len(), stored: true };
    for kind in kinds {
        progress(&format!("{kind}, against the cpu engine"));
        match against_cpu::crossover(device, kind, tuning, budget) {
            Ok(Some(crossover)) => {
                compared.faster_from.push(FasterFrom::from(&crossover));
                compared.stored &= crossover.update();
                compared.kinds_left -= 1;
            }
            Ok(None) => break,
            Err(error) => tracing::debug!(%kind, %error, "a kind of sorts cannot be compared"),
        }
    }
    compared
}

/// What was found so far.
struct Found<'a, D> {
    device: &'a D,
    tuning: Tuning,
    rows: Vec<TuneRow>,
    store: &'a dyn Fn(&Tuning) -> bool,
    /// Whether all of it was stored.
    stored: bool,
    budget: Budget,
    /// What the longest trial took, with building its kernels.
    longest: Duration,
    progress: &'a mut dyn FnMut(&str),
}

impl<'a, D: Driver> Found<'a, D> {
    fn new(
        device: &'a D,
        tuning: Tuning,
        store: &'a dyn Fn(&Tuning) -> bool,
        budget: Budget,
        progress: &'a mut dyn FnMut(&str),
    ) -> Self {
        Self {
            device,
            tuning,
            rows: Vec::new(),
            store,
            stored: true,
            budget,
            longest: Duration::ZERO,
            progress,
        }
    }

    /// Tries a way, and notes how long that took.
    fn try_way<T>(
        &mut self,
        job: &Job,
        name: &str,
        work: impl FnOnce() -> Result<T, Error>,
    ) -> Result<T, Error> {
        let (bytes, length) = (job.element.bytes(), job.row_length);
        (self.progress)(&format!("{bytes} bytes, 2^{} keys: {name}", length.ilog2()));
        let started = Instant::now();
        let done = work();
        self.longest = self.longest.max(started.elapsed());
        done
    }

    /// Whether another way may be tried. The first comparison of all is made as long as there is time at all: the first trial waits for
    /// a driver's compiler to start, and says little of the others.
    fn has_time(&self, tried: usize) -> bool {
        let is_first = self.rows.is_empty() && tried == 1;
        self.budget.allows(if is_first { Duration::ZERO } else { self.longest })
    }

    /// Keeps what is best so far.
    fn keep(&mut self, tuned: TunedShape) {
        self.tuning.insert(tuned);
        self.stored &= (self.store)(&self.tuning);
    }

    /// Finds the best way for arrays of a length. Whether that was done: without the time to try another way, nothing is kept.
    fn tune_length<K: Key>(&mut self, length: usize) -> Result<bool, Error> {
        let device = self.device;
        let facts = device.facts();
        let trial = Trial::<K, D>::new(device, length)?;
        let element = trial.job.element;
        let (element_bytes, from_merges) = (element.bytes(), Step::merges(length));
        let in_shape =
            |shape| move |job: &Job| Arc::new(of_strategy(&Network { shape }, job, facts, shape.limits()));
        let (mut tried, mut refused, mut is_cut_short) = (0, 0, false);
        // The shape that plans take where nothing was tuned; a smaller one if that comes out wrong.
        let (network, network_time) = loop {
            let shape = Network::new(&trial.job, facts, &self.tuning.condemned_alone()).shape;
            tried += 1;
            match self.try_way(&trial.job, &shape.to_string(), || trial.proven_time(&in_shape(shape))) {
                Ok(time) => break (shape, time),
                Err(error) if self.tuning.is_condemned(element_bytes, shape) => return Err(error),
                Err(error) => self.condemn(element_bytes, shape, error)?,
            }
            refused += 1;
        };
        let condemned = self.tuning.condemned_alone();
        let strategies = each_strategy(&trial.job, facts, &condemned);
        // The first is the one that is taken where nothing was tuned. The network fits every job.
        let default = strategies.first().map_or(StrategyName::Network, |(name, _)| *name);
        let mut default_time = (default == StrategyName::Network).then_some(network_time);
        let (mut strategy, mut strategy_time) = (StrategyName::Network, network_time);
        let others = strategies.iter().map(|(name, _)| *name).filter(|name| *name != StrategyName::Network);
        for name in others {
            if !self.has_time(tried) {
                is_cut_short = true;
                break;
            }
            tried += 1;
            let plan = |job: &Job| plan_of(name, job, facts, &condemned);
            match self.try_way(&trial.job, name.name(), || trial.proven_time(&plan)) {
                // The default stays unless another is faster beyond noise.
                Ok(time) if name == default => {
                    default_time = Some(time);
                    if !is_worth_a_change(strategy_time, time) {
                        (strategy, strategy_time) = (name, time);
                    }
                }
                Ok(time) if is_worth_a_change(time, strategy_time) => {
                    (strategy, strategy_time) = (name, time)
                }
                Ok(_) => {}
                Err(error @ Error::WrongResult { .. }) => {
                    tracing::warn!(strategy = name.name(), %error, "a strategy came out wrong and is left out");
                    refused += 1;
                }
                Err(error) => {
                    tracing::debug!(strategy = name.name(), %error, "a strategy is left out");
                    refused += 1;
                }
            }
        }
        let faster = |strategy| (strategy != default).then_some(strategy);
        let (mut best, mut best_time) = (network, network_time);
        if strategy != default && !(is_cut_short && tried == 1) {
            self.keep(TunedShape { element_bytes, from_merges, shape: best, strategy: faster(strategy) });
        }
        let mut known = vec![network];
        // One parameter after the other, each from the best so far: tile and registers belong together, the rest does not.
        for stage in [tiles(network, facts, &trial.job), passes(network)] {
            for change in stage {
                let shape = change(best);
                if known.contains(&shape) || !shape.is_possible(facts, element) {
                    continue;
                }
                known.push(shape);
                if self.tuning.is_condemned(element_bytes, shape) {
                    refused += 1;
                    continue;
                }
                if !self.has_time(tried) {
                    is_cut_short = true;
                    break;
                }
                tried += 1;
                let than = best_time;
                match self
                    .try_way(&trial.job, &shape.to_string(), || trial.time_if_better(&in_shape(shape), than))
                {
                    Ok(Some(time)) => {
                        (best, best_time) = (shape, time);
                        if is_worth_a_change(time, strategy_time) {
                            (strategy, strategy_time) = (StrategyName::Network, time);
                        }
                        let strategy = faster(strategy);
                        self.keep(TunedShape { element_bytes, from_merges, shape, strategy });
                    }
                    Ok(None) => {}
                    Err(error) => {
                        tracing::debug!(%shape, %error, "a shape is left out");
                        refused += 1;
                        // The compiler may refuse it for reasons that pass.
                        let _ = self.condemn(element_bytes, shape, error);
                    }
                }
            }
        }
        if is_cut_short && tried == 1 {
            return Ok(false);
        }
        self.keep(TunedShape { element_bytes, from_merges, shape: best, strategy: faster(strategy) });
        let words = |strategy: StrategyName, shape: NetworkShape| match strategy {
            StrategyName::Network => shape.to_string(),
            other => other.name().to_owned(),
        };
        let mut default_shape = words(default, network);
        if default_time.is_none() {
            default_shape.push_str(", which was not measured or came out wrong");
        }
        self.rows.push(TuneRow {
            element_bytes,
            length,
            default_shape,
            default_time: default_time.unwrap_or(network_time),
            best_shape: words(strategy, best),
            best_time: strategy_time,
            tried,
            refused,
        });
        Ok(true)
    }

    /// Leaves a shape out for good if that is the error of a wrong result; otherwise the error.
    fn condemn(&mut self, element_bytes: usize, shape: NetworkShape, error: Error) -> Result<(), Error> {
        let Error::WrongResult { device, driver, finding, .. } = error else { return Err(error) };
        tracing::warn!(device, driver, %shape, element_bytes, finding, "a shape came out wrong and is left out for good");
        self.tuning.condemned.push((element_bytes, shape));
        self.stored &= (self.store)(&self.tuning);
        Ok(())
    }
}

/// The kernels of a strategy; of the network where a job that is a little shorter has others.
fn plan_of(name: StrategyName, job: &Job, facts: &DeviceFacts, tuning: &Tuning) -> Arc<KernelPlan> {
    let plan = each_strategy(job, facts, tuning).into_iter().find(|(other, _)| *other == name);
    plan.map_or_else(|| kernel_plan(job, facts, tuning), |(_, plan)| plan)
}

type Change = Box<dyn Fn(NetworkShape) -> NetworkShape>;

/// Tiles of up to a quarter of the default's size, with about as many registers as the default.
fn tiles(default: NetworkShape, facts: &DeviceFacts, job: &Job) -> Vec<Change> {
    let mut changes: Vec<Change> = Vec::new();
    for smaller in 0..=2 {
        for held_log2 in default.held_log2.saturating_sub(2)..=default.held_log2 + 1 {
            let tile_log2 = default.tile_log2.saturating_sub(smaller);
            let (facts, element) = (facts.clone(), job.element);
            changes.push(Box::new(move |shape| shape.with_tile(&facts, element, tile_log2, held_log2)));
        }
    }
    changes
}

/// Fewer or more steps a pass over memory, smaller or larger groups for it.
fn passes(default: NetworkShape) -> Vec<Change> {
    let mut changes: Vec<Change> = Vec::new();
    for fused_steps in [default.fused_steps.saturating_sub(1), default.fused_steps + 1] {
        changes.push(Box::new(move |shape| NetworkShape { fused_steps, ..shape }));
    }
    for pass_items_log2 in [6, 7, 8] {
        changes.push(Box::new(move |shape| NetworkShape { pass_items_log2, ..shape }));
    }
    changes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gpu::testing::{Fault, FaultAt, HostDevice};
    use crate::gpu::trial::LAUNCHES;
    use crate::request::{Request, Segments};
    use std::cell::RefCell;

    fn host_device() -> HostDevice {
        let device = HostDevice::new(1 << 24);
        device.script().elapsed = Duration::from_secs(1);
        device
    }

    const LENGTH: usize = 1 << 8;

    /// Tunes one length. Every shape that is tried is faster than those before, and so is proved; a mistake is made in this launch.
    fn tune_with_fault(known: &Tuning, call: Option<usize>) -> (Tuning, TuneRow) {
        let device = host_device();
        device.script().fault = call.map(|call| Fault { at: FaultAt::Launch, call, random: 4 });
        let stored = RefCell::new(Tuning::default());
        let store = |tuning: &Tuning| {
            stored.replace(tuning.clone());
            true
        };
        let (budget, mut progress) = (Budget::new(Duration::from_secs(3600)), |_: &str| ());
        let mut found = Found::new(&device, known.condemned_alone(), &store, budget, &mut progress);
        found.tune_length::<u32>(LENGTH).expect("most sorts are right");
        assert_eq!(device.script().fault, None, "the mistake was made");
        assert_eq!(found.tuning, *stored.borrow());
        (found.tuning, found.rows.remove(0))
    }

    #[test]
    fn one_wrong_result_condemns_a_shape_for_good() {
        let (right, row) = tune_with_fault(&Tuning::default(), None);
        assert!(row.tried > 3 && row.refused == 0 && right.condemned.is_empty(), "{row:?}");
        // While it is timed, and while it is proved: the default, and the shape after it.
        for call in [0, LAUNCHES - 1, LAUNCHES, 2 * LAUNCHES - 1] {
            let (tuning, row) = tune_with_fault(&Tuning::default(), Some(call));
            let [(4, wrong)] = tuning.condemned[..] else { panic!("{:?}, launch {call}", tuning.condemned) };
            assert!(row.refused > 0, "launch {call}");
            let default = Network::new(
                &Job::of(&Request::keys::<u32>(Segments::one(LENGTH))),
                &host_device().facts,
                &Tuning::default(),
            );
            assert_eq!(wrong == default.shape, call < LAUNCHES, "launch {call}");
            assert!(tuning.shapes.iter().all(|tuned| tuned.shape != wrong), "launch {call}");
            // It is not tried again, and plans do not take it.
            let (again, row) = tune_with_fault(&tuning, None);
            assert_eq!(again.condemned, tuning.condemned);
            assert!(again.shapes.iter().all(|tuned| tuned.shape != wrong), "launch {call}");
            assert!(row.default_shape != wrong.to_string());
            let planned = Network::new(
                &Job::of(&Request::keys::<u32>(Segments::rows(2 * LENGTH, LENGTH).expect("whole rows"))),
                &host_device().facts,
                &tuning,
            );
            assert_ne!(planned.shape, wrong, "rows, launch {call}");
        }
    }

    #[cfg(feature = "opencl")]
    mod on_opencl {
        use super::*;
        use crate::gpu::opencl::testing;
        use bitonic_testkit::in_child;

        #[test]
        fn comparisons_are_kept_one_by_one_and_what_is_left_is_told() {
            let test =
                "gpu::search::tests::on_opencl::comparisons_are_kept_one_by_one_and_what_is_left_is_told";
            let cache = std::env::temp_dir().join(format!("bitonic-compared-{}", std::process::id()));
            if in_child(test, &[("BITONIC_CACHE_DIR", &cache)]) {
                // The child made it.
                let _ = std::fs::remove_dir_all(&cache);
                return;
            }
            let (device, mut told) = (testing::device(), Vec::new());
            let budget = Budget::new(Duration::from_secs(1));
            let compared =
                compare(&device, &Tuning::default(), budget, &mut |what| told.push(what.to_owned()));
            let done = compared.faster_from.len();
            assert!(done > 0 && compared.stored, "the first comparison is begun, and ended");
            assert_eq!(done + compared.kinds_left, SortKind::MEASURED.len());
            assert_eq!(told[0], "keys of 4 bytes, against the cpu engine");
            let kept: Vec<FasterFrom> = Crossover::load_all().iter().map(FasterFrom::from).collect();
            assert_eq!(kept, compared.faster_from);
            let again = compare(&device, &Tuning::default(), budget, &mut |what| told.push(what.to_owned()));
            assert_eq!(
                (again.faster_from.len(), again.kinds_left),
                (0, SortKind::MEASURED.len()),
                "no time is left"
            );
            assert!(
                told.last().is_some_and(|what| !what.starts_with("keys of 4")),
                "what is new comes first"
            );
        }
    }
}
