//! Which engine `Auto` takes for a sort, and why.
//!
//! ```text
//!   few keys, or a kind of sorts that nobody compares      the CPU
//!   measured by `bitonic tune`, or by a first comparison   the device, from the length on at which it was faster; and if it is not
//!                                                          open yet, once all sorts that it would have won make up for opening it
//!   nothing measured, and many keys                        a first comparison, whose result is kept on disk
//! ```

use super::backends::{BACKENDS, Backend};
use super::cache::Cache;
use super::choice::DeviceChoice;
use super::engine::DeviceEngine;
use super::lock::lock;
use super::opened;
use super::tuning::{Crossover, NoDevice, SortKind};
use crate::request::Request;
use crate::{Engine, Error};
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

/// Fewer keys than this no device sorts sooner than the CPU: two transfers and a launch take longer.
const FEWEST: usize = 1 << 9;

/// With so many keys, 2^22, the first comparison is made: the CPU takes long enough for a device to pay, if it ever does.
const FIRST_COMPARISON_LOG2: u32 = 22;

/// A device that was measured to sort this faster than the CPU, if there is one; or why none can be used now.
///
/// Short sorts cost nothing: not even a driver is loaded. Of several devices, the first in the list of backends counts; where that
/// lacks its compiler, another backend of the same driver may serve.
#[inline]
pub(crate) fn worthwhile(request: &Request) -> Option<Result<Arc<dyn DeviceEngine>, Error>> {
    if request.len() < FEWEST { None } else { worthwhile_of_many(request, For::Sort) }
}

/// The same for a plan: nothing is measured, and nothing counts as forgone.
pub(crate) fn worthwhile_to_plan(request: &Request) -> Option<Result<Arc<dyn DeviceEngine>, Error>> {
    if request.len() < FEWEST { None } else { worthwhile_of_many(request, For::Plan) }
}

/// What the answer is for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum For {
    Sort,
    Plan,
}

fn worthwhile_of_many(request: &Request, purpose: For) -> Option<Result<Arc<dyn DeviceEngine>, Error>> {
    let (len, kept) = (request.len(), kept());
    let is_long = len >> FIRST_COMPARISON_LOG2 > 0;
    if kept.is_empty() && !is_long {
        return None;
    }
    let kind = SortKind::of(request)?;
    let compared;
    let known = match is_long && purpose == For::Sort && kept.iter().all(|known| known.kind != kind) {
        true => {
            compared = first_comparison(kind);
            &compared
        }
        false => kept,
    };
    let mut refused = None;
    for crossover in known.iter().filter(|known| known.kind == kind && is_reached(known, len)) {
        if !pays(crossover, len, purpose) {
            continue;
        }
        match open_by_full_name(crossover) {
            Ok(device) => return Some(Ok(device)),
            Err(error) => {
                tracing::debug!(device = crossover.device, %error, "a device that was tuned cannot be used");
                refused.get_or_insert(error);
            }
        }
    }
    refused.map(Err)
}

/// What is kept on disk, read once.
fn kept() -> &'static [Crossover] {
    static KEPT: OnceLock<Vec<Crossover>> = OnceLock::new();

    KEPT.get_or_init(|| {
        let mut crossovers = Crossover::load_all();
        let place = |crossover: &Crossover| BACKENDS.iter().position(|row| row.engine == crossover.engine);
        crossovers.sort_by_key(|crossover| (place(crossover), crossover.faster_from));
        crossovers
    })
}

fn is_reached(crossover: &Crossover, len: usize) -> bool {
    crossover.faster_from.is_some_and(|from| len >= from)
}

/// What sorts of this process would have gained on devices that are not open, in nanoseconds.
static FORGONE: AtomicU64 = AtomicU64::new(0);

/// Whether a device is open, or opening it now pays. A process that sorts once waits for a driver longer than it gains; one that goes
/// on sorting gains it back. So a device is opened when what was forgone makes up for it: then at most as much was lost as opening
/// takes, whatever comes.
fn pays(crossover: &Crossover, len: usize, purpose: For) -> bool {
    if opened::waited_for(crossover.engine, &crossover.device).is_some() {
        return true;
    }
    let gain = crossover.gain_of(len).as_nanos() as u64;
    let before = match purpose {
        For::Sort => FORGONE.fetch_add(gain, Ordering::Relaxed),
        For::Plan => FORGONE.load(Ordering::Relaxed),
    };
    makes_up(Duration::from_nanos(before.saturating_add(gain)), crossover)
}

fn makes_up(forgone: Duration, crossover: &Crossover) -> bool {
    forgone >= crossover.opening
}

/// Compares the best device here with the CPU, for a kind of sorts that nobody measured, and keeps the result for all processes. Once
/// in a process for each kind; nothing where the result cannot be kept, and where a look within the last day found no device.
fn first_comparison(kind: SortKind) -> Vec<Crossover> {
    static COMPARED: Mutex<Vec<(SortKind, Vec<Crossover>)>> = Mutex::new(Vec::new());

    // Others that come meanwhile go on with the CPU: comparing may itself sort.
    let Ok(mut compared) = COMPARED.try_lock() else { return Vec::new() };
    if let Some((_, known)) = compared.iter().find(|(known, _)| *known == kind) {
        return known.clone();
    }
    let found = if super::cache::cache_folder().is_none() || NoDevice::is_recent(&Cache::of_user()) {
        None
    } else {
        compare_best(kind)
    };
    let found: Vec<Crossover> = found.into_iter().collect();
    compared.push((kind, found.clone()));
    found
}

/// The first device in the list of backends that is no processor, compared.
fn compare_best(kind: SortKind) -> Option<Crossover> {
    for backend in BACKENDS {
        let has_device = (backend.list)().is_ok_and(|facts| facts.iter().any(|facts| !facts.is_cpu()));
        let Some(device) = has_device.then(|| (backend.open)(&DeviceChoice::Best).ok()).flatten() else {
            continue;
        };
        let facts = device.facts();
        if facts.is_cpu() {
            continue;
        }
        tracing::debug!(device = facts.name, %kind, "nobody tuned this device: it is compared with the CPU once");
        match device.compare(kind, FIRST_COMPARISON_LOG2) {
            Ok(crossover) => {
                crossover.clone().update();
                return Some(crossover);
            }
            Err(error) => tracing::debug!(device = facts.name, %error, "a device cannot be compared"),
        }
    }
    NoDevice::note(&Cache::of_user());
    None
}

/// A choice by name would take any device whose name has this one in it. Opening a device by its index again is cheap.
fn open_by_full_name(crossover: &Crossover) -> Result<Arc<dyn DeviceEngine>, Error> {
    static FOUND: Mutex<Vec<(Engine, String, DeviceChoice)>> = Mutex::new(Vec::new());

    let backend = Backend::find(crossover.engine)?;
    let name = &crossover.device;
    let is_known =
        |(engine, known, _): &&(Engine, String, DeviceChoice)| *engine == crossover.engine && known == name;
    let known = lock(&FOUND).iter().find(is_known).map(|(_, _, choice)| choice.clone());
    if let Some(choice) = known {
        return (backend.open)(&choice);
    }
    let index = (backend.list)()?.iter().find(|facts| facts.name == *name).map(|facts| facts.index);
    match index {
        Some(index) => {
            let choice = DeviceChoice::Index(index);
            let device = (backend.open)(&choice)?;
            lock(&FOUND).push((crossover.engine, name.clone(), choice));
            Ok(device)
        }
        // The error lists the devices there are.
        None => (backend.open)(&DeviceChoice::Name(name.clone())),
    }
}

/// What [`Engine::Auto`] takes for a sort, and why. Made by [`auto_choice`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct AutoChoice {
    /// The engine; never [`Engine::Auto`].
    pub engine: Engine,
    /// The device's name, where it is not the processor.
    pub device: Option<String>,
    /// Why, in a sentence.
    pub reason: String,
}

impl fmt::Display for AutoChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.device {
            Some(device) => write!(f, "{} ({device}): {}", self.engine, self.reason),
            None => write!(f, "{}: {}", self.engine, self.reason),
        }
    }
}

/// What [`Engine::Auto`] takes for such a sort in this process now, and why. Opens no device, measures nothing and counts nothing.
///
/// ```
/// use bitonic::device::auto_choice;
/// use bitonic::{Engine, Request, Segments};
///
/// let choice = auto_choice(&Request::keys::<u32>(Segments::one(100)));
/// assert_eq!(choice.engine, Engine::Cpu);
/// println!("{choice}"); // cpu: no device sorts 100 keys sooner than ..
/// ```
pub fn auto_choice(request: &Request) -> AutoChoice {
    let forgone = Duration::from_nanos(FORGONE.load(Ordering::Relaxed));
    let is_open = |known: &Crossover| opened::waited_for(known.engine, &known.device).is_some();
    choose(request, kept(), forgone, &is_open)
}

fn choose(
    request: &Request,
    known: &[Crossover],
    forgone: Duration,
    is_open: &dyn Fn(&Crossover) -> bool,
) -> AutoChoice {
    let len = request.len();
    let cpu = |reason: String| AutoChoice { engine: Engine::Cpu, device: None, reason };
    if len < FEWEST {
        return cpu(format!("no device sorts {len} keys sooner than they are sent to it and back"));
    }
    let Some(kind) = SortKind::of(request) else {
        return cpu("sorts of this kind are not compared with devices".to_owned());
    };
    let known: Vec<&Crossover> = known.iter().filter(|known| known.kind == kind).collect();
    if known.is_empty() {
        let many = 1 << FIRST_COMPARISON_LOG2;
        let first = if len >= many { "the first sort".to_owned() } else { format!("the first of {many}") };
        return cpu(format!(
            "no device was compared with it yet, for {kind}; `bitonic tune` does that, and {first}, where there is a GPU"
        ));
    }
    let mut reason = None;
    for crossover in known {
        let Crossover { engine, device, faster_from, up_to, opening, .. } = crossover;
        match faster_from {
            Some(from) if len < *from => {
                reason
                    .get_or_insert(format!("{device} ({engine}) is faster from {from} keys on, for {kind}"));
            }
            Some(from) if is_open(crossover) || makes_up(forgone + crossover.gain_of(len), crossover) => {
                let reason = format!("it was measured to be faster from {from} keys on, for {kind}");
                return AutoChoice { engine: *engine, device: Some(device.clone()), reason };
            }
            Some(_) => {
                let gain = crossover.gain_of(len);
                reason.get_or_insert(format!(
                    "{device} ({engine}) would be {gain:.1?} faster, but opening it takes {opening:.1?}"
                ));
            }
            None => {
                reason.get_or_insert(format!(
                    "{device} ({engine}) was not faster, for {kind}, up to {up_to} of them"
                ));
            }
        }
    }
    cpu(reason.unwrap_or_default())
}

#[cfg(all(test, feature = "devices"))]
mod tests {
    use super::*;
    use crate::request::Segments;

    fn crossover(engine: Engine, faster_from: Option<usize>) -> Crossover {
        Crossover {
            engine,
            device: "A GPU".to_owned(),
            kind: SortKind::MEASURED[0],
            faster_from,
            up_to: 1 << 24,
            gain: 10.0,
            opening: Duration::from_millis(100),
        }
    }

    fn keys(len: usize) -> Request {
        Request::keys::<u32>(Segments::one(len))
    }

    fn chosen(len: usize, known: &[Crossover], forgone: u64, is_open: bool) -> (Engine, String) {
        let choice = choose(&keys(len), known, Duration::from_millis(forgone), &|_| is_open);
        (choice.engine, choice.reason)
    }

    #[test]
    fn a_device_is_taken_where_it_was_measured_to_be_faster_and_every_choice_has_its_reason() {
        let known = [crossover(Engine::Cuda, Some(1 << 20))];
        for (len, known, start) in [
            (100, &known[..], "no device sorts 100 keys"),
            (1 << 19, &known, "A GPU (cuda) is faster from 1048576 keys on"),
            (1 << 19, &[], "no device was compared with it yet, for keys of 4 bytes"),
            (1 << 23, &[], "no device was compared with it yet, for keys of 4 bytes"),
            (1 << 23, &[crossover(Engine::Cuda, None)], "A GPU (cuda) was not faster"),
        ] {
            let (engine, reason) = chosen(len, known, 0, true);
            assert!(engine == Engine::Cpu && reason.starts_with(start), "{len}: {reason}");
        }
        let (engine, reason) = chosen(1 << 21, &known, 0, true);
        assert!(engine == Engine::Cuda && reason.starts_with("it was measured to be faster from 1048576"));
        let bytes = Request::keys::<u8>(Segments::one(1 << 24));
        assert_eq!(choose(&bytes, &known, Duration::ZERO, &|_| true).engine, Engine::Cpu);
    }

    #[test]
    fn a_device_that_is_not_open_is_opened_when_that_pays() {
        let known = [crossover(Engine::Cuda, Some(1 << 20))];
        // 2^20 keys beyond the crossover gain 10 ms; opening takes 100.
        let (engine, reason) = chosen(1 << 21, &known, 0, false);
        assert!(engine == Engine::Cpu && reason.contains("opening it takes 100"), "{reason}");
        assert_eq!(chosen(1 << 21, &known, 95, false).0, Engine::Cuda, "after ten of them");
        assert_eq!(chosen(1 << 24, &known, 0, false).0, Engine::Cuda, "a long one is worth it");
    }
}
