//! The builder, and the choice of an engine.

use crate::cpu::{self, Instructions, KeysPlan, Settings};
use crate::error::find_by_name;
use crate::key::{Key, Order};
use crate::plan::Plan;
use crate::{Error, Report};
use std::fmt;
use std::time::Instant;

/// What does the sorting.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Engine {
    /// The best engine here for the keys at hand; the CPU when there is nothing else.
    #[default]
    Auto,
    /// The processor.
    Cpu,
}

impl Engine {
    /// Every engine.
    pub const ALL: &[Self] = &[Self::Auto, Self::Cpu];

    /// The engine's name, as `Display` writes it and `FromStr` reads it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Cpu => "cpu",
        }
    }
}

impl fmt::Display for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl std::str::FromStr for Engine {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self, Error> {
        find_by_name("engine", name, Self::ALL, Self::name)
    }
}

/// A sort with options. It holds no resources: make one wherever it is needed, or keep it.
///
/// ```
/// use bitonic::{Order, Sorter};
///
/// let mut scores = [0.5_f32, f32::NAN, -1.0, 2.0];
/// let mut names = ["b", "?", "c", "a"];
/// Sorter::new().order(Order::Descending).sort_pairs(&mut scores, &mut names)?;
/// assert_eq!(names, ["?", "a", "b", "c"]);
/// # Ok::<(), bitonic::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Sorter {
    engine: Engine,
    order: Order,
    stable: bool,
    threads: Option<usize>,
    oblivious: bool,
    instructions: Option<Instructions>,
}

impl Sorter {
    /// Ascending, unstable, on the best engine here, with all cores.
    pub fn new() -> Self {
        Self::default()
    }

    /// The engine to use. Default: [`Engine::Auto`].
    pub fn engine(mut self, engine: Engine) -> Self {
        self.engine = engine;
        self
    }

    /// The direction. Default: ascending.
    pub fn order(mut self, order: Order) -> Self {
        self.order = order;
        self
    }

    /// Whether values of equal keys keep their order in [`Sorter::sort_pairs`]. Default: no. Keys alone look the same
    /// either way, because keys that are equal have equal bits; [`Sorter::argsort`] always breaks ties by index.
    pub fn stable(mut self, stable: bool) -> Self {
        self.stable = stable;
        self
    }

    /// At most how many CPU threads to use; 0 means the current rayon pool, which has all cores unless the program says
    /// otherwise. Default: 0. Small inputs never use a second thread.
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = (threads > 0).then_some(threads);
        self
    }

    /// Whether no branch and no address may depend on a key, so that time and memory accesses tell nothing about secret
    /// keys. Default: no. What does depend on the input is its length, its type and these options.
    pub fn oblivious(mut self, oblivious: bool) -> Self {
        self.oblivious = oblivious;
        self
    }

    /// The instruction set of the CPU engine. Default: [`Instructions::detected`]. One that this processor lacks makes
    /// every sort an [`Error::EngineUnavailable`].
    pub fn instructions(mut self, instructions: Instructions) -> Self {
        self.instructions = Some(instructions);
        self
    }

    /// Sorts keys in place.
    ///
    /// - Order: total, and the same on every engine. Floats by IEEE 754 total order; -0.0 comes before +0.0, NaNs
    ///   with the sign bit set come first and the others last.
    /// - Result: a permutation of the input, bit for bit.
    /// - Memory: in place, and for 32- and 64-bit keys without any allocation at any length; what other widths need,
    ///   [`Sorter::plan`] says.
    pub fn sort<K: Key>(&self, keys: &mut [K]) -> Result<Report, Error> {
        let started = Instant::now();
        let plan = self.plan::<K>(keys.len())?;
        cpu::sort(keys, self.settings())?;
        Ok(self.report(&plan, started))
    }

    /// Sorts keys in place and moves every value with its key. Order and result as in [`Sorter::sort`].
    ///
    /// - Stability: values of equal keys keep their order with [`stable(true)`](Sorter::stable) only.
    /// - Memory: what [`Sorter::plan_pairs`] says: 8 bytes a pair where key and value pack into 64 bits, more otherwise, and
    ///   nothing with [`oblivious(true)`](Sorter::oblivious) where they do not pack and the sort is not stable.
    /// - Errors: [`Error::LengthMismatch`] if there is not one value for every key; nothing is moved then.
    pub fn sort_pairs<K: Key, V: Copy + Send>(
        &self,
        keys: &mut [K],
        values: &mut [V],
    ) -> Result<Report, Error> {
        if keys.len() != values.len() {
            return Err(Error::LengthMismatch { keys: keys.len(), values: values.len() });
        }
        let started = Instant::now();
        let plan = self.plan_pairs::<K, V>(keys.len())?;
        cpu::sort_pairs(keys, values, self.stable, self.settings())?;
        Ok(self.report(&plan, started))
    }

    /// The index of every key in sorted order: `keys[result[0]]` is the first. Equal keys come by lowest index, in
    /// descending order too. The keys stay as they are.
    pub fn argsort<K: Key>(&self, keys: &[K]) -> Result<Vec<usize>, Error> {
        self.plan_argsort::<K>(keys.len())?;
        cpu::argsort(keys, self.settings())
    }

    /// What [`Sorter::sort`] would do with this many keys.
    pub fn plan<K: Key>(&self, len: usize) -> Result<Plan, Error> {
        self.plan_with::<K>(len, 0, cpu::plan::<K>(len, self.settings()))
    }

    /// What [`Sorter::sort_pairs`] would do with this many keys and values.
    pub fn plan_pairs<K: Key, V>(&self, len: usize) -> Result<Plan, Error> {
        let sort = cpu::plan_pairs::<K, V>(len, self.stable, self.settings());
        self.plan_with::<K>(len, size_of::<V>(), sort)
    }

    /// What [`Sorter::argsort`] would do with this many keys.
    pub fn plan_argsort<K: Key>(&self, len: usize) -> Result<Plan, Error> {
        self.plan_with::<K>(len, 0, cpu::plan_argsort::<K>(len, self.settings()))
    }

    fn plan_with<K: Key>(&self, len: usize, value_bytes: usize, sort: KeysPlan) -> Result<Plan, Error> {
        let settings = self.settings();
        if !settings.instructions.is_available() {
            return Err(Error::EngineUnavailable {
                engine: Engine::Cpu,
                reason: format!("this processor has no {}", settings.instructions),
                advice: format!("leave the choice to bitonic, which takes {} here", Instructions::detected()),
            });
        }
        // Auto and Cpu are the same while there is one engine.
        Ok(Plan {
            len,
            key_type: K::TYPE,
            value_bytes,
            order: self.order,
            engine: Engine::Cpu,
            device: cpu::device(),
            instructions: settings.instructions,
            algorithm: sort.algorithm,
            limits: sort.limits,
            threads: cpu::thread_count_for(len, self.threads),
            scratch_bytes: sort.scratch_bytes,
        })
    }

    pub(crate) fn settings(&self) -> Settings {
        Settings {
            order: self.order,
            threads: self.threads,
            oblivious: self.oblivious,
            instructions: self.instructions.unwrap_or_else(Instructions::detected),
        }
    }

    fn report(&self, plan: &Plan, started: Instant) -> Report {
        let report = Report {
            len: plan.len,
            engine: plan.engine,
            device: plan.device,
            plan: plan.summary(),
            elapsed: started.elapsed(),
            fallback: None,
        };
        tracing::debug!(%report, "sorted");
        report
    }
}
