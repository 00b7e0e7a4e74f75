//! What a sort did.

use crate::Engine;
use crate::plan::PlanSummary;
use std::fmt;
use std::time::Duration;

/// What a sort did: where, how, and how long it took.
///
/// ```
/// let mut keys = vec![3_u32, 1, 2];
/// let report = bitonic::Sorter::new().sort(&mut keys)?;
/// println!("{report}");
/// assert_eq!(report.len, 3);
/// # Ok::<(), bitonic::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Report {
    /// How many keys were sorted.
    pub len: usize,
    /// The engine that sorted them; never [`Engine::Auto`].
    pub engine: Engine,
    /// What it ran on.
    pub device: &'static str,
    /// What was done.
    pub plan: PlanSummary,
    /// Wall time of the whole call.
    pub elapsed: Duration,
    /// Why another engine was not used, when `Auto` had to fall back.
    pub fallback: Option<String>,
}

impl Report {
    /// Keys sorted per second of wall time.
    pub fn keys_per_second(&self) -> f64 {
        self.len as f64 / self.elapsed.as_secs_f64().max(1e-9)
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { len, engine, device, plan, elapsed, fallback } = self;
        write!(f, "{len} keys in {elapsed:.2?} on {engine} ({device}): {plan}")?;
        match fallback {
            Some(reason) => write!(f, "; fell back: {reason}"),
            None => Ok(()),
        }
    }
}
